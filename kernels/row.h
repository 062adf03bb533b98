/* A row as the algorithms see it: x, or x + residual rounded to the storage type.
 *
 * A sum that is wanted is written either by the first touch of an element (fused: later touches
 * then read the sum), or by the last, in the apply loop, while all earlier touches add up again.
 * What a row is, is what is stored: where items are longer than the storage type, the sum is
 * rounded to it at once. Items are so much longer that it comes out as if rounded once (Figueroa,
 * "When is Double Rounding Innocuous?", SIGNUM Newsletter 30, 1995: twice the digits and one more).
 *
 * Either way an element of x and residual is loaded before the same element of sum or y is stored,
 * and not loaded after, so that sum may be x or residual, and y may be x. */
#ifndef LN_ROW_H
#define LN_ROW_H

/* form and sum_early are constants of always-inline bodies: no loop tests them. */
typedef enum residual_form { RESIDUAL_NONE, RESIDUAL_READ, RESIDUAL_WRITTEN } residual_form;

typedef struct row {
    const storage *x;
    const storage *residual;
    storage *sum;
    storage *y;
    size_t hidden;
    residual_form form;
    int sum_early;
} row;

/* In all of these n is the number of elements from i on that count: LANES of them, or, where n is
 * less, n and zeros behind them. */
LN_INLINE vec row_load(const storage *p, size_t n)
{
    return n >= LANES ? lane_load(p) : lane_load_first(p, n);
}

LN_INLINE void row_store(storage *p, vec a, size_t n)
{
    if (n >= LANES)
        lane_store(p, a);
    else
        lane_store_first(p, a, n);
}

LN_INLINE vec row_add_up(const row *row, size_t i, size_t n)
{
    vec x = row_load(row->x + i, n);
    return row->form == RESIDUAL_NONE ? x
                                      : lane_stored(lane_add(x, row_load(row->residual + i, n)));
}

/* The first touch of these elements. */
LN_INLINE vec row_first(const row *row, size_t i, size_t n)
{
    vec x = row_add_up(row, i, n);
    if (row->form == RESIDUAL_WRITTEN && row->sum_early)
        row_store(row->sum + i, x, n);
    return x;
}

/* A later touch. */
LN_INLINE vec row_again(const row *row, size_t i, size_t n)
{
    if (row->form == RESIDUAL_WRITTEN && row->sum_early)
        return row_load(row->sum + i, n);
    return row_add_up(row, i, n);
}

/* The last touch, just before y is stored. */
LN_INLINE vec row_last(const row *row, size_t i, size_t n)
{
    vec x = row_again(row, i, n);
    if (row->form == RESIDUAL_WRITTEN && !row->sum_early)
        row_store(row->sum + i, x, n);
    return x;
}

#endif
