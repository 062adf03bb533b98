/* Which rows of a tensor beyond 2^31 elements are looked at: what parent and worker agree on.
 *
 * No machine holds such a tensor. x is one block of rows, mapped again and again, and so is y; but
 * y has pages of its own where a row is looked at: the first and the last ones, those about row
 * 2^16 and 2^23 and about element 2^31 and 2^32, and some drawn from the seed. */
#ifndef LNBENCH_LARGE_ROWS_H
#define LNBENCH_LARGE_ROWS_H

#include "layernorm.h"

enum {
    /* Rows of the block: whole pages of any type, and no power of two, so that a row whose number
     * lost its upper bits is another one. */
    LARGE_PERIOD = 6144,
    /* The row of the block with which the residual begins: whole pages too. */
    LARGE_RESIDUAL_ROW = 2048,
    LARGE_ROWS = 48, /* at most */
};

/* In rising order; how many. The stride is a multiple of hidden. */
size_t large_rows(const ln_problem *problem, uint64_t seed, size_t rows[LARGE_ROWS]);

/* The row of the block that lies at row `row`. */
static inline size_t large_row_of_block(const ln_problem *problem, size_t row)
{
    return row * (problem->x_stride / problem->hidden) % LARGE_PERIOD;
}

#endif
