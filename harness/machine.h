/* The context of a run: machine, build and environment, as name and value, in a fixed order. */
#ifndef LNBENCH_MACHINE_H
#define LNBENCH_MACHINE_H

#include "error.h"
#include <stddef.h>

/* Names are snake_case keys ("cpu_model", "microcode", "l1d_bytes", "governor", ...). What cannot
 * be read is "unknown". */
typedef struct machine_fact {
    char name[32];
    char value[256];
} machine_fact;

typedef struct machine {
    machine_fact *facts;
    size_t count;
    size_t l1d_bytes, l2_bytes, l3_bytes; /* of the CPU we run on; 0: unknown */
    unsigned cores;                       /* that this process may use */
} machine;

bool machine_read(machine *machine, error *error);
const char *machine_fact_value(const machine *machine,
                               const char *name); /* "unknown" when absent */
void machine_free(machine *machine);

/* What makes timings here untrustworthy, and how to mend it. */
typedef enum finding_grade { FINDING_FINE, FINDING_NOTE, FINDING_WARNING } finding_grade;
typedef struct finding {
    finding_grade grade;
    char what[192];
    char remedy[256];
} finding;
/* Fills at most `most`, returns how many. */
size_t machine_findings(const machine *machine, finding *findings, size_t most);

#endif
