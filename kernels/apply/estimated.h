/* estimated: direct, with rstd from the CPU's estimate of 1 / sqrt(a) and Newton's steps instead of
 * a square root and a division.
 *
 *     t = a y        b = 1 - t y        y' = y + (y / 2) b     (fused: the last two round once)
 *
 * (Newton's iteration for 1 / y^2 = a, with fused residuals as in Markstein, "Computation of
 * Elementary Functions on the IBM RISC System/6000 Processor", IBM J. Res. Dev. 34, 1990.)
 * AVX-512's estimate is good to 2^-14, which one step doubles; AVX2's, to 1.5 2^-12, takes two. An
 * eps on the std stands between root and reciprocal: there both are computed as elsewhere.
 *
 * Bound: direct.h's; rstd's own roundings, two of u elsewhere, are E(e) of a step after an estimate
 * y = (1 + e) / sqrt(a). t = a y (1 + e1), b = (1 - t y)(1 + e2), y' = (y + y b / 2)(1 + e3), each
 * |ei| <= u. Exactly, (1 + e)(1 + (1 - (1 + e)^2) / 2) = 1 - 1.5 e^2 - 0.5 e^3. e1 adds
 * (1 + e)^3 u / 2,
 * e2 less than (1 + e)(|e| + e^2 / 2 + u) u, e3 u of the result: for |e| < 2^-9, E(e) = 1.5 e^2 +
 * |e|^3 + u (1.5 + 4 |e| + 4 u). a must be a normal number: AVX2 takes the others for 0. */
#ifndef LN_APPLY_ESTIMATED_H
#define LN_APPLY_ESTIMATED_H

#define RSTD_ESTIMATED
#include "apply/direct.h"

enum { ESTIMATE_STEPS = LN_LANES == 16 ? 1 : 2 };
enum { ESTIMATE_PARTS = ESTIMATE_STEPS == 1 ? 1 : 6 }; /* of 2^-14 */

_Static_assert(LN_FMA && sizeof(factor) == sizeof(item), "Newton's steps round as in the proof");

#ifndef LN_BOUND_ONLY
_Static_assert(ITEM_ESTIMATE_PARTS <= ESTIMATE_PARTS, "as good an estimate as in the proof");

/* 1 / sqrt(a); a NaN for 0, infinity and what is negative. */
LN_INLINE factor reciprocal_root(factor a)
{
    factor y = item_estimate_reciprocal_root(a);
    LN_UNROLLED
    for (int step = 0; step < ESTIMATE_STEPS; step++) {
        factor b = fmaf(-(a * y), y, 1);
        y = fmaf(y / 2, b, y);
    }
    return y;
}
#endif

/* Its relative error. */
LN_INLINE double reciprocal_root_error(void)
{
    double e = ESTIMATE_PARTS * 0x1p-14;
    for (int step = 0; step < ESTIMATE_STEPS; step++)
        e = 1.5 * e * e + e * e * e + FACTOR_UNIT * (1.5 + 4 * e + 4 * FACTOR_UNIT);
    return e;
}

#endif
