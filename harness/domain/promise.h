/* What layernorm.h and rmsnorm.h promise of a call's errors. A test compares the former, and both with what was
 * judged (results/judged/cells.tsv). */
#ifndef LNBENCH_PROMISE_H
#define LNBENCH_PROMISE_H

#include "domain/kernel.h"

/* The class of a call such as library_fast_f32; false: it is none. */
bool call_class(const kernel_facts *kernel, ln_accuracy *accuracy);

/* Whether a class may be held to rows of an input family: `fast` and `reproducible` have squares, which
 * overflow in some. */
bool promise_covers(ln_accuracy accuracy, const char *family);

/* In row ULP, of the families that the class covers; infinite: nothing is promised under this
 * convention, as `fast` does under PyTorch's alone, and no class where RMSNorm rounds on the way. */
double promised_row_ulp(ln_accuracy accuracy, ln_type storage, const ln_convention *convention);

#endif
