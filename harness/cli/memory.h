/* Memory that runs out ends lnbench with one line and exit code 7. */
#ifndef LNBENCH_MEMORY_H
#define LNBENCH_MEMORY_H

/* For jansson, GMP and MPFR; what the harness allocates is watched by the linker. */
void memory_watch(void);

#endif
