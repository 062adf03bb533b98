/* The honest kernels of f64: sums in double. */
#define HONEST_F64
#include "honest.c"
