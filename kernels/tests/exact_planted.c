/* exact.c with a fault: where squares have to be compared, the comparison is left out. */
#include "exact/big.h"
#define big_compare(a, b) ((void)(a), (void)(b), 1)
#include "exact/exact.c"
