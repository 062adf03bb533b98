/* rstd in the accumulators' type, for the forms in which that is enough. */
#ifndef LN_FACTOR_H
#define LN_FACTOR_H

#include "moments.h"

typedef real factor;
#define FACTOR_UNIT REAL_UNIT
#define FACTOR_TINY REAL_TINY
#define FACTOR_MAX REAL_MAX
#define FACTOR_MIN REAL_MIN

#endif
