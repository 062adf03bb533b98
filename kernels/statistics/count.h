/* For statistics that need to know N, and nothing else of a problem. */
#ifndef LN_COUNT_H
#define LN_COUNT_H

#include "moments.h"

typedef struct statistics {
    real count;
} statistics;

LN_INLINE statistics statistics_prepare(const ln_problem *problem)
{
    return (statistics){(real)problem->hidden};
}

#endif
