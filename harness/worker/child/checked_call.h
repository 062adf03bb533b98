/* One call of a kernel, after which the registers that a function must keep are compared with what
 * they held: as checkasm does it, on x86-64 and 64-bit ARM. */
#ifndef LNBENCH_CHECKED_CALL_H
#define LNBENCH_CHECKED_CALL_H

#include "layernorm_plugin.h"
#include <stdbool.h>

/* NULL, or what the call did ("changed rbx, which a function must keep"). *upper_halves: it left
 * something in the upper halves of vector registers, which makes SSE code slow on some processors. */
const char *checked_call(void (*run)(const void *, const ln_tensors *), const void *state,
                         const ln_tensors *tensors, bool *upper_halves);

#endif
