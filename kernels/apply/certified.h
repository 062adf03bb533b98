/* certified: y in double, rounded to the storage type if its error cannot change the result. (16-bit storage is first
 * tried in f32 on ISAs that have it, see below.)
 *
 *     t = (x - p) rstd + c      y = t gamma + beta
 *
 * With the errors of the estimate (statistics/exact.h: |t - xhat| <= r |t| + a, where r includes the roundings here)
 *     |y - exact| <= r (|y| + |beta|) + |gamma| a + underflow <= E for all elements of a row
 * The storage numbers divide the real numbers into cells. With its last DROPPED bits inverted, y becomes y', which is
 * its mirror image about z, the middle of its cell, except for one unit in double's last place. So y - y' is exact, and
 * |y - z| is half of |y - y'| or 2^-53 |y| less. y is certain if
 *     |y - y'| >= least = 4 E (1 + 2^-5)      (so that |y - z| >= 2 E, since E >= 24 2^-53 |y|)
 * Proof. All numbers closer to y than the nearest middle of a cell are rounded as y is. z is more than 2 E away. The
 * next middle away from zero is farther than z, since cells do not become smaller away from zero. The next middle
 * towards zero is half of its cell away from the end of y's cell. Its cell is at least half as large as y's, and
 * |y - z| is at most half of y's cell: so it is at least |y - z| / 2 > E away. If |y| is subnormal in the storage type,
 * cells are larger than y's exponent suggests, and |y - y'| is less than a unit of the smallest normal number, which is
 * at most `least`: then y is never certain. 16-bit results are rounded to f32 first, which changes them by at most
 * 2^-24 |y|: 2^-22 |y| is subtracted from |y - y'| for that.
 *
 * E. |t| is at most h = max |x - p| rstd + |c|, where max (x - p)^2 is bounded by sums of some squares, so that
 * |y| <= h max |gamma| + max |beta| and
 *     E = r (h max |gamma| + 2 max |beta|) + max |gamma| a + underflow
 * The factor 1 + 2^-5 covers the roundings of h, y and E.
 *
 * Vectors that are not certain, fewer than one in 1000 in normal rows, are computed again with the errors of their own
 * elements: y is certain if both ends of the interval are the same storage number. The rest, some elements in 10^6,
 * goes to exact/exact.c one by one. So do all elements if gamma or beta has a NaN or an infinity. */
#ifndef LN_APPLY_H
#define LN_APPLY_H

#ifndef LN_LANE_FILE
#include "statistics/exact.h"
#endif
#include "moments.h"

#define APPLY_CERTIFIED

typedef double factor;

#define DROPPED_f32 29
#define DROPPED_bf16 45
#define DROPPED_f16 42
#define NORMAL_f32 0x1p-126
#define NORMAL_bf16 0x1p-126
#define NORMAL_f16 0x1p-14
#define PARAM_IS_STORAGE (LN_PASTE(UNIT_, LN_PARAM) == LN_PASTE(UNIT_, LN_STORAGE))
#define DROPPED LN_PASTE(DROPPED_, LN_STORAGE)
#define NORMAL LN_PASTE(NORMAL_, LN_STORAGE)

/* 16-bit results are rounded to f32 first; four such roundings of y. */
#define IS_ROUNDED_TWICE (sizeof(storage) < sizeof(float))
#define F32_ROUNDINGS 0x1p-22

/* The largest r with which vectors are tested. */
#define MOST_RELATIVE 0x1p-37

/* Returns the distance of y from its mirror image in its cell, minus the rounding of 16-bit results to f32. */
LN_INLINE vec distance_of(vec y)
{
    vec distance = lane_absolute(lane_subtract(y, lane_mirrored(y, DROPPED)));
    return IS_ROUNDED_TWICE
               ? multiply_add(lane_absolute(y), lane_set(-(real)F32_ROUNDINGS), distance)
               : distance;
}

/* Returns the smaller of `nearest` and the distance of y. */
LN_INLINE vec nearest_of(vec nearest, vec y)
{
    return IS_ROUNDED_TWICE ? lane_minimum(nearest, distance_of(y))
                            : lane_nearer(nearest, lane_subtract(y, lane_mirrored(y, DROPPED)));
}

/* ---- y of 16-bit storage in f32 ----
 *
 * Each element has its own error. If both ends of its interval are stored as the same number, so is the exact result.
 * Uncertain elements are computed again in double.
 *
 *     t = (x - m) r + c     y = t gamma + beta     |y - exact| + a rounding < e = E |y| + e_j
 *
 * u = 2^-24; h and s are the mean and rstd of the estimate in double (statistics/exact.h), with the errors `relative`,
 * at most 2^-37, and `absolute`. m = fl(h) and r = fl(s); c = fl(C), C = (m - h) s + quotient, in double. x and beta
 * are f32 numbers, and so is gamma, except that 1 + gamma has one rounding. Six roundings, to first order:
 *     (x - m) r    of x - m and of r:      2 u (|xhat| + |C|)
 *     t            c's, and its own:       u |C| + u |xhat|
 *     y            of gamma, and its own:  u |gamma xhat| + u |y|
 *     the ends     y - e and y + e:        u (|y| + e)
 * With |gamma xhat| <= |y| + |beta| and a = 3 u |C| + absolute these are less than
 *     6 u |y| + 4 u |beta| + |gamma| a;     E = 6.25 u,  e_j = 4.25 u |beta_j| + 2^-29 |gamma_j| + 2^-100
 * includes the second order, `relative` and the roundings of e. A row is computed in f32 if (is_single) |h| s <= 2^6
 * and quotient <= 2^-8, so that |C| <= 2^-7.9, and absolute <= 2^-31: a < 2^-29.5.
 *
 * Nothing overflows: 2^-60 <= s <= 2^60, |gamma| <= 2^40, |beta| <= 2^60, |xhat| <= 2^30 (N < 2^60). Subnormal results
 * have errors of at most 2^-150 and 2^-150 |gamma|, which 2^-100 covers. It also gives the two ends different signs,
 * and so different bits, if y is 0 or subnormal in bf16. */

/* The numbers from which y of a row is computed. */
typedef struct terms_of_row {
    vec pivot;
    vec rstd;
    vec addend;
    vec least;
} terms_of_row;

/* The number of columns whose gamma and beta are kept in the types of the computation. */
enum { COLUMNS = 1024 };

#ifndef LANE_SINGLE
enum { IS_SINGLE = 0 };

typedef struct column_terms {
    item gamma[COLUMNS];
    item beta[COLUMNS];
} column_terms;

LN_INLINE void column_terms_keep(column_terms *terms, size_t i, vec gamma, vec beta)
{
    item_store(terms->gamma + i, gamma);
    item_store(terms->beta + i, beta);
}

LN_INLINE vec item_at(const item *p)
{
    return LN_PASTE(lane_load_, LN_ITEM)(p);
}

typedef terms_of_row row_terms;

LN_INLINE void store_y(storage *y, vec a)
{
#if LN_NONTEMPORAL
    LN_PASTE(lane_stream_, LN_STORAGE)(y, a);
#else
    lane_store(y, a);
#endif
}

/* Computes the columns i to end of y, whole vectors, with the terms of the columns from `begin` on. Returns whether any
 * is uncertain. */
LN_INLINE int store_columns(const row *view, const row_terms *by, const column_terms *terms,
                            size_t begin, size_t i, size_t end)
{
    vec nearest = lane_set(INFINITY);
    for (; i < end; i += LANES) {
        vec t = multiply_add(exact_again(view, i, LANES), by->rstd, by->addend);
        vec found = multiply_add(t, item_at(terms->gamma + (i - begin)),
                                 item_at(terms->beta + (i - begin)));
        store_y(view->y + i, found);
        nearest = nearest_of(nearest, found);
    }
    return lane_below(nearest, by->least) != 0;
}
#else
enum { IS_SINGLE = 1 };
#define SINGLE_UNIT 0x1p-24

/* The number of columns that are computed again if one is uncertain: 1 in 2^13 for bf16, 1 in 2^10 for f16. */
#define SINGLE_STEP_bf16 64
#define SINGLE_STEP_f16 32

/* Gamma, beta and e_j. */
typedef struct column_terms {
    float gamma[COLUMNS];
    float beta[COLUMNS];
    float error[COLUMNS];
} column_terms;

LN_INLINE void column_terms_keep(column_terms *terms, size_t i, vec gamma, vec beta)
{
    vec error = multiply_add(lane_absolute(beta), lane_set(4.25 * SINGLE_UNIT), lane_set(0x1p-100));
    single_keep(terms->gamma + i, gamma);
    single_keep(terms->beta + i, beta);
    single_keep(terms->error + i, multiply_add(lane_absolute(gamma), lane_set(0x1p-29), error));
}

LN_INLINE int is_single(ln_exact_estimate near, double quotient, double gamma_most,
                        double beta_most)
{
    return near.relative <= 0x1p-37 && near.absolute <= 0x1p-31 && near.rstd >= 0x1p-60 &&
           near.rstd <= 0x1p60 && fabs(near.mean) * near.rstd <= 0x1p6 && quotient <= 0x1p-8 &&
           gamma_most <= 0x1p40 && beta_most <= 0x1p60;
}

/* m, r and c of a row. */
typedef struct row_terms {
    single mean;
    single rstd;
    single addend;
} row_terms;

LN_INLINE row_terms single_terms_of(ln_exact_estimate near, double quotient)
{
    float mean = (float)near.mean;
    return (row_terms){single_set(mean), single_set((float)near.rstd),
                       single_set((float)(((double)mean - near.mean) * near.rstd + quotient))};
}

LN_INLINE int store_columns(const row *view, const row_terms *by, const column_terms *terms,
                            size_t begin, size_t i, size_t end)
{
    const storage *x = view->form == RESIDUAL_NONE ? view->x : view->sum;
    const single relative = single_set((float)(6.25 * SINGLE_UNIT));
    LN_PASTE(LN_STORAGE, _ends) ends = LN_PASTE(single_ends_, LN_STORAGE)();
    for (; i < end; i += SINGLE_LANES) {
        single d = single_subtract(LN_PASTE(single_load_, LN_STORAGE)(x + i), by->mean);
        single t = single_multiply_add(d, by->rstd, by->addend);
        single y = single_multiply_add(t, single_load_f32(terms->gamma + (i - begin)),
                                       single_load_f32(terms->beta + (i - begin)));
        single error = single_multiply_add(single_absolute(y), relative,
                                           single_load_f32(terms->error + (i - begin)));
        ends = LN_PASTE(single_store_, LN_STORAGE)(view->y + i, single_subtract(y, error),
                                                   single_add(y, error), ends);
    }
    return LN_PASTE(single_ends_differ_, LN_STORAGE)(ends);
}
#endif

#endif
