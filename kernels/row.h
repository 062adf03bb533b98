/* A row as the algorithms see it: x, or x + residual rounded to the storage type. What a row is, is
 * what is stored: where items are longer than the storage type, the sum is rounded to it at once.
 * Items are so much longer that it comes out as if rounded once (Figueroa, "When is Double Rounding
 * Innocuous?", SIGNUM Newsletter 30, 1995: twice the digits and one more).
 *
 * The sum is written by the first touch of an element, where nobody wants it to y; later touches
 * read it. An element of x and residual is loaded before the same element of sum or y is stored, and
 * not loaded after, so that sum may be x or residual, and y may be x. Kernels that store y around
 * the caches add up anew instead of writing to y twice. */
#ifndef LN_ROW_H
#define LN_ROW_H

#include "lane/memory.h"

/* A constant of always-inline bodies: no loop tests it. */
typedef enum residual_form { RESIDUAL_NONE, RESIDUAL_ADDED } residual_form;

typedef struct row {
    const storage *x;
    const storage *residual;
    storage *sum;
    storage *y;
    size_t hidden;
    residual_form form;
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

LN_INLINE vec row_add_up(const row *view, size_t i, size_t n)
{
    vec x = row_load(view->x + i, n);
    return view->form == RESIDUAL_NONE ? x
                                       : lane_stored(lane_add(x, row_load(view->residual + i, n)));
}

LN_INLINE int row_has_sum(const row *view)
{
    return view->form == RESIDUAL_ADDED && (!LN_NONTEMPORAL || view->sum);
}

/* The first touch of these elements. */
LN_INLINE vec row_first(const row *view, size_t i, size_t n)
{
    vec x = row_add_up(view, i, n);
    if (row_has_sum(view))
        row_store(view->sum + i, x, n);
    return x;
}

/* A later touch. */
LN_INLINE vec row_again(const row *view, size_t i, size_t n)
{
    return row_has_sum(view) ? row_load(view->sum + i, n) : row_add_up(view, i, n);
}

#endif
