/* The proofs of all error bounds: for mean and variance by each statistics, then for rstd, xhat by each apply, the
 * affine form and storing. */
#include "bounds/bounds.h"

const number_type ln_numbers[] = {
    [LN_F32] = {UNIT_f32, TINY_f32, MAX_f32, MIN_f32, 0x1p24, SCALES_f32},
    [LN_F64] = {UNIT_f64, TINY_f64, MAX_f64, MIN_f64, 0x1p53, SCALES_f64},
    [LN_BF16] = {.unit = UNIT_bf16},
    [LN_F16] = {.unit = UNIT_f16},
};

/* ---- Mean and variance: statistics/<name>.h ---- */

/* Returns the largest number of roundings of a term of a sum without SWEEP_CHAIN, including that of its product:
 * at most LN_CHUNK in its chunk (the first is added to zero, exactly), log2(BLOCK) over accumulators
 * and lanes, and one for each chunk but the first (which is added to zero as well). */
static double sweep_depth(const bounded_row *row)
{
    double blocks = ceil(row->n / block_of(row)), chunk = row->chunk;
    if (chunk == 0 || blocks <= chunk)
        return bound_depth(row);
    return chunk + ceil(blocks / chunk) - 1 + bound_levels(row);
}

/* This also holds for a schedule that processes a short row in two steps with half as many accumulators, since their
 * sums are the same. */
static row_sums sums_of_sweep(const bounded_row *row)
{
    row_sums sums = sums_of_blocks(row);
    double chunk = row->chunk;
    sums.depth = sweep_depth(row);
    if (chunk > 0 && sums.steps > chunk) {
        sums.chunks = ceil(sums.steps / chunk);
        sums.steps = chunk;
    }
    return sums;
}

/* Returns whether 16-bit elements are added to f64 sums by chains (SWEEP_CHAIN of one_sweep.h). */
static bool has_chains(const bounded_row *row)
{
    return is_wide(row) && row->storage->unit > UNIT_f32;
}

/* Return whether one instruction adds two products to a lane, and the largest error of the subnormals it flushes. */
static bool has_dots(const bounded_row *row)
{
    return row->lanes == DOT_LANES;
}

static double chain_flushed(const bounded_row *row)
{
    return has_dots(row) ? 0x1p-124 : 0;
}

/* Returns the error of a sum by chains relative to the sum of its terms' sizes. A term of an item's sum has
 * P C - 1 roundings, with P = 1 or 2 products in one instruction and C = `chain` blocks: one of the first P is an
 * addition to zero, in any order of the two products. Then it has log2(unroll), and log2(lanes / 8) if there are more
 * than eight lanes; then, in accumulators, those of the chains and over the lanes. */
static double sweep_chain_share(const bounded_row *row, double chain)
{
    double chains = ceil(ceil(row->n / block_of(row)) / chain);
    double folds = fmax(0, log2(row->lanes) - 3);
    double items = item_gamma(row, (has_dots(row) ? 2 : 1) * chain - 1 + log2(row->unroll) + folds);
    return (1 + items) * (1 + bound_gamma(row, chains + log2(row->lanes) + 1)) - 1;
}

/* Bound. D = bound_depth(N), A = sum|x| / N, V the exact biased variance, mu the exact mean.
 *   S = fl(sum x):    S = N (mu + s), |s| <= gamma(D) A.
 *   mean = fl(S / N): N may be rounded, and then the quotient: |mean - mu| <= delta
 *                     = |s| + gamma(2) (|mu| + |s|) + tiny.
 *   Q = fl(sum x^2):  |Q / N - (V + mu^2)| <= gamma(D) (V + mu^2) + 2 tiny, the product's rounding
 *                     being one of the D; each of N products may be subnormal.
 *   P = fl(S * mean): |P / N - mu^2| <= |mu| (s + delta) + s delta + u (|mu| + s)(|mu| + delta) +
 *                     tiny.
 *   m2 = fl(Q - P):   |m2 / N - V| <= E + u (V + E), where E is the sum of the two.
 * The product is rounded before it is subtracted, even if the ISA could fuse: so a row of one element has
 * m2 = fl(x^2) - fl(x^2) = 0 exactly, and is NaN under ddof 1. S and Q may be sums whose roundings cancel (bounds.h).
 * There is no bound if N A or N (V + mu^2) is near the largest number. */
moments_bound ln_moments_naive(const bounded_row *row)
{
    double n = row->n;
    const row_sums sums = sums_of_blocks(row);
    double mu = fabs(row->mean);
    double square = row->var + mu * mu;
    double s = sum_error(row, &sums, 0, row->mean_abs, sqrt(square), 1);
    double delta = s + bound_gamma(row, 2) * (mu + s) + row->sum->tiny;
    double peak = row->max_abs * row->max_abs / square;
    double error = sum_error(row, &sums, 0, square, square, peak) + 2 * row->sum->tiny +
                   mu * (s + delta) + s * delta + row->sum->unit * (mu + s) * (mu + delta) +
                   row->sum->tiny;
    error += row->sum->unit * (row->var + error);
    /* Also true for a NaN or an infinity. */
    if (!(2 * n * row->mean_abs < row->sum->max && 2 * n * (square + error) < row->sum->max))
        return bound_none;
    return bound_around(row->var, error, delta, 0);
}

/* Bound. D = the number of roundings of a term of a sum, including that of its product; A =
 * sum|x| / N, V the exact biased variance.
 *   mean: |mean - mu| <= delta = gamma(D + 2) A + tiny, for the sum, N if it is not exact, and the
 *         quotient.
 *   With the computed mean, sum (x - mean)^2 = N (V + (mean - mu)^2) in exact arithmetic, since
 *   sum (x - mu) = 0. Each computed term is the square of a rounded difference, then D roundings
 *   (including the product's): a factor within 1 +- gamma(D + 2); and it may be subnormal. So
 *         V (1 - gamma(D + 2)) - 2 tiny <= m2 / N <= (V + delta^2)(1 + gamma(D + 2)) + 2 tiny,
 *   and m2 >= 0, since it is a sum of squares.
 * Both may be sums whose roundings cancel (bounds.h), with M <= max_dev + delta, R^2 >= V.
 * There is no bound if N A, a difference or N (V + delta^2) is near the largest number. */
static moments_bound two_pass_bound(const bounded_row *row, const row_sums *sums)
{
    double n = row->n, rms = sqrt(row->var + row->mean * row->mean);
    double delta = sum_error(row, sums, 2, row->mean_abs, rms, 1) + row->sum->tiny;
    double most = row->max_dev + delta;
    double gamma = sum_error(row, sums, 2, 1, 1, most * most / row->var);
    double lo = row->var * (1 - gamma) - 2 * row->sum->tiny;
    double hi = (row->var + delta * delta) * (1 + gamma) + 2 * row->sum->tiny;
    if (!(2 * n * row->mean_abs < row->sum->max && 2 * (row->max_dev + delta) < row->sum->max &&
          2 * n * hi < row->sum->max))
        return bound_none;
    return bound_between(row, lo, hi, delta, 0);
}

moments_bound ln_moments_two_pass(const bounded_row *row)
{
    const row_sums sums = sums_of_blocks(row);
    return two_pass_bound(row, &sums);
}

/* Returns the largest number of roundings of a term in a cascade, including that of its product: at most
 * LN_CHUNK in its chunk (the first is added to zero, exactly), log2(BLOCK) over accumulators and
 * lanes, and for C > 1 chunks, floor(log2(C)) + 1: a term at level l has had l of these, and at most one for each
 * level above l and one more will follow. */
static double cascade_depth(const bounded_row *row)
{
    double steps = ceil(row->n / block_of(row)), chunks = ceil(steps / row->chunk);
    return fmin(steps, row->chunk) + bound_levels(row) + (chunks > 1 ? floor(log2(chunks)) + 1 : 0);
}

moments_bound ln_moments_pairwise(const bounded_row *row)
{
    const row_sums sums = {.depth = cascade_depth(row)};
    return two_pass_bound(row, &sums);
}

/* Bound. D = bound_depth(N), A = sum|x| / N, V the exact biased variance.
 *  - A term has at most D additions, so the errors e, each at most u times its partial sum,
 *    are together at most gamma(D) sum|x|, and the exact sum is s + sum e. Each e then has
 *    at most ceil(N / BLOCK) + 2 log2(BLOCK) <= 2 D additions: the error of low is at most H sum|x|,
 *    H = gamma(2 D) gamma(D), and sum = fl(s + low) adds u |sum| (Ogita, Rump, Oishi, "Accurate
 *    Sum and Dot Product", SIAM J. Sci. Comput. 26, 2005).
 *  - mean, with the roundings of N if it is not exact and of the quotient: delta = gamma(3) |mu| + (1 + gamma(3)) H A +
 *    tiny.
 *  - A term of m2 is the product of a rounded difference with itself: a factor 1 + g, |g| <=
 *    gamma(3); and it may be subnormal. As in two_sweeps.h, with G = gamma(5) + (1 + gamma(5)) H,
 *    V (1 - G) - 2 tiny <= m2 / N <= (V + delta^2)(1 + G) + 2 tiny, and a negative m2 is set to 0.
 * There is no bound if N A, a difference or N (V + delta^2) is near the largest number. */
moments_bound ln_moments_compensated(const bounded_row *row)
{
    double n = row->n, depth = bound_depth(row);
    double second_order = bound_gamma(row, 2 * depth) * bound_gamma(row, depth);
    double delta = bound_gamma(row, 3) * fabs(row->mean) +
                   (1 + bound_gamma(row, 3)) * second_order * row->mean_abs + row->sum->tiny;
    double g = bound_gamma(row, 5) + (1 + bound_gamma(row, 5)) * second_order;
    double lo = row->var * (1 - g) - 2 * row->sum->tiny;
    double hi = (row->var + delta * delta) * (1 + g) + 2 * row->sum->tiny;
    if (!(2 * n * row->mean_abs < row->sum->max && 2 * (row->max_dev + delta) < row->sum->max &&
          2 * n * hi < row->sum->max))
        return bound_none;
    return bound_between(row, lo, hi, delta, 0);
}

/* Bound. V, mu exact; X = max|x|; S = sqrt(sum x^2 / N) = sqrt(V + mu^2). At most n elements are added to each
 * accumulator, and L levels merge. Errors of means are bounded in the mean square, counting each element with the error
 * of the mean of its group, since m2 depends on these.
 *  1. One accumulator, exact running mean mu_k, a_k = x_k - mu_{k-1}, e_k = |mean_k - mu_k|. Three
 *     roundings (difference, 1/k, product) and that of the sum give, since
 *     mu_k = mu_{k-1} + a_k / k, and since the first step is exact (e_1 = 0),
 *         k e_k <= (k-1)(1 + u) e_{k-1} + gamma(4) (|a_k| + e_{k-1}) + k u |mu_k| + k tiny,
 *     where gamma(4) instead of gamma(3) covers u times their errors. So k e_k <= g sum_{2<=j<=k}
 *     (gamma(4) |a_j| + j u |mu_j| + j tiny) with g = exp(n u + gamma(4) (1 + log n)).
 *  2. Q, the accumulator's exact m2, is sum a_k b_k with b_k = x_k - mu_k = a_k (k-1)/k, so that
 *     sum_{k>=2} a_k^2 <= 2 Q, sum b_k^2 <= Q. Hardy's inequality,
 *         sum_k (1/k sum_{j<=k} |a_j|)^2 <= 4 sum a_j^2,
 *     and k |mu_k| <= min(k X, sum of its |x|) give over all accumulators together
 *         sum e_k^2 <= N e^2,    e = g (2 sqrt(2) gamma(4) sqrt(V) + u P + tiny (n + 1)/2),
 *         P = min(n S, X (n + 1)/2),
 *     and the sum over accumulators of n e_n^2 is <= N e^2 too.
 *  3. The products, without their roundings, are (a_k +- e_{k-1})(b_k +- e_k): their sum over all
 *     accumulators differs from the exact Q_w by at most (1 + sqrt 2) sqrt(Q_w N) e + N e^2
 *     (Cauchy-Schwarz).
 *  4. A merge, D = mean_b - mean_a exactly, w = nb / n <= 1/2 (lower accumulators hold as many
 *     elements or one more), W = na nb / n, group errors e_a, e_b:
 *         e' <= (1 + u)((1 - w) e_a + w e_b) + gamma(4) w (|D| + e_a + e_b) + u |mu'| + tiny.
 *     With n e'^2 summed over a level: convexity for the first term, n w^2 <= W, 2 n w^2 <= nb for
 *     the second, n mu'^2 <= sum x^2 for the third; B_l = the level's sum of W D^2:
 *         E' <= (1 + gamma(5)) E + gamma(4) sqrt(B_l / N) + u S + tiny,
 *     and so after all levels, as sum sqrt(B_l) <= sqrt(L N V),
 *         E = (1 + gamma(5))^L (e + gamma(4) sqrt(L V) + L (u S + tiny)),
 *     which is also the error of the row's mean.
 *  5. It adds W (D +- (e_a + e_b))^2 to m2. As W (e_a + e_b)^2 <= na e_a^2 + nb e_b^2, the error of a level is
 *     at most 2 sqrt(B_l N) E + N E^2, and that of all levels 2 sqrt(L B N) E + L N E^2, B = sum B_l. As
 *     Q_w + B = N V, 3 and 5 together are (Cauchy-Schwarz) at most
 *         F = N E sqrt(V) sqrt((1 + sqrt 2)^2 + 4 L) + (1 + L) N E^2.
 *  6. Roundings of m2: a product has 3, then at most n additions and two for each level; a
 *     merge's term has at most 7 and two for each level. All terms' absolute values sum to at most
 *     N V + F, so
 *         |m2 / N - V| <= F/N + gamma(n + 2 L + 7) (V + F/N) + 4 tiny.
 * A constant row is exact: every difference is 0, or is x - 0 with the weights 1 or 0. There is no bound if counts are
 * not exact (N > 2^24), or if a difference or N V + F is near the largest number. */

/* steps: n = ceil(N / BLOCK), levels: L = log2(BLOCK) of the proof. */
moments_bound ln_moments_welford(const bounded_row *row)
{
    const double n = row->n, steps = ceil(n / block_of(row)), levels = bound_levels(row);
    if (row->var == 0.0 && row->max_dev == 0.0)
        return (moments_bound){0, 0, 0, 0, 1};
    double largest = row->max_abs, square = row->var + row->mean * row->mean;
    if (n > row->sum->exact_integers)
        return bound_none;
    double path = fmin(steps * sqrt(square), largest * (steps + 1) / 2);
    double growth = exp(steps * row->sum->unit + bound_gamma(row, 4) * (1 + log(steps)));
    double mean = growth * (2 * sqrt(2.0 * row->var) * bound_gamma(row, 4) + row->sum->unit * path +
                            row->sum->tiny * (steps + 1) / 2);
    mean += bound_gamma(row, 4) * sqrt(levels * row->var) +
            levels * (row->sum->unit * sqrt(square) + row->sum->tiny);
    mean *= pow(1 + bound_gamma(row, 5), levels) * bound_slack;
    double root = 1 + sqrt(2.0);
    double f = mean * sqrt(row->var) * sqrt(root * root + 4 * levels) + (1 + levels) * mean * mean;
    double error =
        f + bound_gamma(row, steps + 2 * levels + 7) * (row->var + f) + 4 * row->sum->tiny;
    if (!(4 * (largest + sqrt(n) * mean) < row->sum->max &&
          4 * n * (row->var + error) < row->sum->max))
        return bound_none;
    return bound_around(row->var, error, mean, 0);
}

/* Bound. D = sweep_depth(N), V the exact biased variance, a = mu - p for the computed pivot.
 *  1. One sweep, given a bound on |a|: bound_sweep() of bounds.h. The errors of d (delta) and of m2
 *     (called F) grow with |a|.
 *  2. The distance of the first pivot. The mean of any b = P of the N elements is within
 *     min(max_dev, sqrt(V (N - b) / b)) of mu (Cauchy-Schwarz). This includes medians of
 *     three, which are elements of different columns. So with the roundings of the pivot,
 *     |a| <= a1 = that + gamma(log2(BLOCK) + 3) max_abs + tiny.
 *  3. If the check passed, fl(d^2) <= fl(4 fl(m2 fl(1/N))), hence with |a| <= |d| + delta
 *         |a| <= g(|a|) = sqrt(4 (V + F(a)) (1 + gamma(8)) + 2^10 tiny) + delta(a).
 *     g(a) / a decreases as a grows (F is at most quadratic in a, delta at most linear), so g(b) < b
 *     excludes every a >= b: any such b bounds |a|. Inserted again, g(b) is a bound too.
 *  4. If it did not pass, the second pivot is fl(p + d): |a| <= delta(a1) + u (|mu| + delta(a1)).
 *  The bound is that for the largest |a| that 3 (or 2, if that is smaller) and 4 allow.
 * There is no bound if N (V + a^2) or N max_abs is near the largest number. */

/* Step 3: returns the largest |mu - pivot| that passes the check, infinite if every one might. */
static double passed_bound(const bounded_row *row, const row_sums *sums, double var)
{
    double b = 2.5 * sqrt(var) + 64 * sqrt(row->sum->tiny), best = INFINITY;
    for (int tries = 0; tries < 60; tries++) {
        moments_bound at = bound_sweep(row, sums, var, b);
        double g =
            (sqrt(4 * at.var_hi * (1 + bound_gamma(row, 8)) + 0x1p10 * row->sum->tiny) + at.mean) *
            bound_slack;
        if (!(g < b)) {
            if (isfinite(best))
                return best;
            b *= 1.5;
        } else {
            best = b;
            if (g > 0.999 * b)
                return best;
            b = 1.0001 * g;
        }
    }
    return best;
}

moments_bound ln_moments_shifted(const bounded_row *row)
{
    const row_sums sums = sums_of_sweep(row);
    double n = row->n, var = row->var;
    double pivots = row->lanes * PIVOT_VECTORS_OF(row->lanes, row->unroll);
    double subset = n > pivots ? fmin(row->max_dev, sqrt(var * (n - pivots) / pivots)) : 0.0;
    double first =
        (subset + bound_gamma(row, bound_levels(row) + 3) * row->max_abs + row->sum->tiny) *
        bound_slack;
    moments_bound first_sweep = bound_sweep(row, &sums, var, first);
    double second =
        (first_sweep.mean + row->sum->unit * (fabs(row->mean) + first_sweep.mean)) * bound_slack;
    if (!(4 * n * row->max_abs < row->sum->max && 32 * n * (var + first * first) < row->sum->max &&
          first_sweep.var_hi < row->sum->max))
        return bound_none;
    return bound_sweep(row, &sums, var, fmax(second, fmin(first, passed_bound(row, &sums, var))));
}

/* Bound. V the exact biased variance, mu the exact mean, u = REAL_UNIT, k = retry_most().
 *  1. The first sweep is bound_sweep() of bounds.h with pivot 0, hence a = |mu|, with two exceptions
 *     for f32 items. A lane may add two products in one instruction, each rounded: the depth is at most
 *     2 (sweep_depth(N) - log2(BLOCK)) + log2(BLOCK). And numbers below 2^-126 (x, a product or a sum) may be
 *     flushed, at most 4 times for each element: this adds f = 2^-124 to the error of d,
 *     and f + 2 |mu| f + f^2 to that of m2 / N, times its rounding (1 + u).
 *  2. If the check passed, |d| <= sqrt(k m2 / N) (1 + gamma(8)), as in step 3 of ln_moments_shifted(): with
 *     |mu| <= |d| + delta(|mu|) and m2 / N <= V + F(|mu|) this excludes every row whose |mu| is
 *     more than g(|mu|) there. Such rows were swept again.
 *  3. If not, the pivot is d: |mu - d| <= delta(|mu|), and the second sweep is without products of
 *     pairs: bound_sweep() holds for it.
 *     If items are long, the pivot is p, the f32 nearest to d. No element is nearer to d, since all are f32 numbers:
 *     |x - mu| >= |p - d| - delta for all of them, so that sqrt(V) is at least that, and |mu - p| <=
 *     sqrt(V) + 2 delta. For a constant row (one of zeros, or one that was swept again by 2) p is
 *     the element if delta < 2^-26 |mu|, a quarter of the smallest gap next to it: then all x - p are
 *     0, and all results are exact.
 *  4. Chains: with e = sweep_chain_share(), the errors of sums are e R N and e R^2 N: bound_of_sums(). A square is
 *     exact, or, below 2^-126, has an error of half of the smallest number, or with two products in one instruction
 *     is flushed as in 1. If a sum of items overflows, so does that of their squares,
 *     which stays infinite: the row does not pass. The condition for passing is that of 2, with k = CHAIN_MOST;
 *     a row that does not pass is computed as in 1 to 3, with the first sweep by sweep_long(), whose block is a vector.
 * The bound is the larger of 1, unless excluded, and 3; and of 4, unless excluded. There is no bound if N (V + mu^2) or
 * N max_abs is near the largest number. */

/* Step 1. */
static moments_bound retry_first(const bounded_row *row, row_sums sums, double var, double mu)
{
    const double flushed = has_long_sums(row) ? 0 : 0x1p-124;
    sums.depth = (has_long_sums(row) ? 1 : 2) * (sums.depth - bound_levels(row)) +
                 bound_levels(row) + is_wide(row);
    moments_bound sweep = bound_sweep(row, &sums, var, mu);
    double more =
        (flushed + 2 * mu * flushed + flushed * flushed) * (1 + row->sum->unit) * bound_slack;
    sweep.mean += flushed;
    sweep.rest += flushed;
    sweep.var_lo = fmax(0.0, sweep.var_lo - more);
    sweep.var_hi += more + DOUBLE_UNIT * sweep.var_hi;
    return sweep;
}

/* Step 3: returns the largest |mu - pivot|. */
static double retry_again(const bounded_row *row, const moments_bound *first, double var, double mu)
{
    double off = has_long_sums(row) ? sqrt(var) + 2 * first->mean
                                    : first->mean + row->sum->unit * (mu + first->mean);
    return off * bound_slack;
}

/* Step 2: returns the largest |mu| of a row that passes. */
static double retry_passes(const bounded_row *row, const moments_bound *found, double most)
{
    return (sqrt(most * found->var_hi) * (1 + bound_gamma(row, 8)) + found->mean) * bound_slack;
}

static moments_bound retry_either(const moments_bound *a, const moments_bound *b)
{
    return (moments_bound){fmax(a->mean, b->mean), fmax(a->rest, b->rest),
                           fmin(a->var_lo, b->var_lo), fmax(a->var_hi, b->var_hi), 1};
}

/* Step 4. */
static moments_bound retry_chained(const bounded_row *row, double var, double mu)
{
    const double chain =
        (row->storage->unit == UNIT_bf16 ? CHAIN_OF_bf16 : CHAIN_OF_f16) / row->unroll;
    double share = sweep_chain_share(row, chain), square = var + mu * mu;
    const double flushed = chain_flushed(row);
    return bound_of_sums(row, var, mu, share * sqrt(square) + flushed,
                         share * square + 4 * row->item->tiny + flushed);
}

/* Steps 1 to 3. */
static moments_bound retry_bound(const bounded_row *row)
{
    double n = row->n, mu = fabs(row->mean), var = row->var;
    /* Products of pairs and chains are added in another order, so that there is no probable bound. */
    row_sums sums = sums_of_sweep(row);
    if (row->storage->unit > UNIT_f32)
        sums.lambda = 0;
    if (has_chains(row))
        sums.depth = ceil(n / row->lanes) + log2(row->lanes);
    moments_bound first = retry_first(row, sums, var, mu);
    if (!(4 * n * row->max_abs < row->sum->max && 32 * n * (var + mu * mu) < row->sum->max &&
          first.var_hi < row->sum->max))
        return bound_none;
    moments_bound second = bound_sweep(row, &sums, var, retry_again(row, &first, var, mu));
    double passes = retry_passes(row, &first,
                                 retry_most(n / (has_chains(row) ? row->lanes : block_of(row)),
                                            row->storage->unit, row->sum->unit));
    if (has_long_sums(row) && row->max_dev == 0 &&
        (mu == 0 || (mu > passes && first.mean < 0x1p-26 * mu)))
        return (moments_bound){0, 0, 0, 0, 1};
    return mu > passes ? second : retry_either(&first, &second);
}

moments_bound ln_moments_retry(const bounded_row *row)
{
    moments_bound claim = retry_bound(row);
    if (!has_chains(row))
        return claim;
    double most = row->storage->unit == UNIT_bf16 ? CHAIN_MOST_bf16 : CHAIN_MOST_f16;
    double mu = fabs(row->mean);
    moments_bound chained = retry_chained(row, row->var, mu);
    if (chained.var_hi >= RETRY_VAR_MIN * (1 - bound_gamma(row, 8)) &&
        mu <= retry_passes(row, &chained, most))
        return retry_either(&claim, &chained);
    return claim;
}

/* Bound at scale 1. As p is an element, |mu - p| <= max_dev; so bound_sweep() with bound_depth(N) gives the error of
 * p + d, and rounding that to mean adds u (|mu| + that): together, |mu - mean| <= a. The second sweep is bound_sweep()
 * with cascade_depth(N) and this a. At another scale the row is x * scale, with an error of at most tiny in each
 * element. This changes the mean by tiny, the root of var by tiny, hence var by 2 sqrt(V) tiny + tiny^2; and a by less
 * than 4 tiny. Converting mean and rest back to scale 1 is exact, or within tiny each. */
static moments_bound residual_bound(const bounded_row *row, double scale)
{
    double tiny = scale == 1 ? 0 : row->sum->tiny, var = row->var * scale * scale;
    if (row->max_dev == 0 && row->var == 0)
        return (moments_bound){0, 0, 0, 0, 1};
    moments_bound first =
        bound_sweep(row, &(row_sums){.depth = bound_depth(row)}, var, row->max_dev * scale);
    double a = first.mean + row->sum->unit * (fabs(row->mean) * scale + first.mean) + 4 * tiny;
    moments_bound found =
        bound_sweep(row, &(row_sums){.depth = cascade_depth(row)}, var, a * bound_slack);
    double moved = 2 * sqrt(var) * tiny + tiny * tiny;
    found.mean = (found.mean + tiny) / scale + 2 * tiny;
    found.rest = found.rest / scale + tiny;
    if (moved > 0)
        moved = moved * bound_slack + 2 * DOUBLE_UNIT * found.var_hi; /* rounding of the sum */
    found.var_lo = fmax(0, (found.var_lo - moved) / (scale * scale));
    found.var_hi = (found.var_hi + moved) / (scale * scale);
    found.scale = scale;
    return found;
}

/* Bound: that of residuals.h at scale 1 (U) or at the row's scale (S).
 *  - An overflow anywhere gives t^2 = inf, or a NaN, so that m2 is not below HIGHEST and the row
 *    is computed again. If it is below, nothing overflowed and U holds.
 *  - If N times U's interval of var is within [LOWEST, HIGHEST) (or below HIGHEST, if eps
 *    hides the low end), the bound is U; if it is outside, S. If an end is in between, both
 *    are possible: the bound is the wider one, at scale 1; that covers S's roundings of
 *    rstd at its scale, which are the same except for underflows below 2^-90 of the result.
 *  - "eps hides the low end": lost products change m2 by N tiny, hence var by tiny, which U includes. */
moments_bound ln_moments_corrected(const bounded_row *row)
{
    const ln_convention *wanted = row->convention;
    const number_type *sum = row->sum;
    double n = row->n, floor = wanted->eps_place == LN_EPS_VAR   ? sqrt(wanted->eps)
                               : wanted->eps_place == LN_EPS_STD ? wanted->eps
                                                                 : 0;
    if (sum->unit == UNIT_f32)
        floor = (float)floor;
    double scale = scale_of(row->max_abs, floor, row->item->max, row->item->scales);
    double lowest = corrected_lowest(floor, sum->min), highest = CORRECTED_HIGHEST(sum->max);
    moments_bound once = residual_bound(row, 1);
    double lo = n * once.var_lo, hi = n * once.var_hi;
    if (lo >= lowest && hi < highest)
        return once;
    moments_bound again = residual_bound(row, scale);
    if (hi < lowest || lo >= highest)
        return again;
    if (!(hi < row->sum->max / 4))
        return bound_none;
    return (moments_bound){fmax(once.mean, again.mean), fmax(once.rest, again.rest),
                           fmin(once.var_lo, again.var_lo), fmax(once.var_hi, again.var_hi), 1};
}

/* Bound. A term has at most D = ceil(N / 64) + 6 roundings. The mean is within
 * gamma(D + 2) A + tiny of mu, A = sum|x| / N; the second sweep is bound_sweep() with that. There is no bound
 * if N A or N (V + a^2) is near the largest number. */
moments_bound ln_moments_reproducible(const bounded_row *row)
{
    double n = row->n, steps = ceil(n / row->tile), levels = log2(row->tile);
    const row_sums sums = {steps + levels, row->lambda, n, row->max_dev, steps, row->tile, 1, 1};
    double rms = sqrt(row->var + row->mean * row->mean);
    double a = (sum_error(row, &sums, 2, row->mean_abs, rms, 1) + row->sum->tiny) * bound_slack;
    moments_bound found = bound_sweep(row, &sums, row->var, a);
    if (!(2 * n * row->mean_abs < row->sum->max && 4 * n * (row->var + a * a) < row->sum->max &&
          2 * n * (row->max_dev + a) < row->sum->max && found.var_hi < row->sum->max / (2 * n)))
        return bound_none;
    return found;
}

/* Bound. V = sum(x^2) / N. Q = fl(sum x^2): |Q / N - V| <= gamma(D) V + 2 tiny, the product's rounding
 * being one of the D = sweep_depth(N); each of N products may be subnormal. Nothing is negative. There is no bound
 * if N V is near the largest number.
 *
 * With chains this is the second sweep, whose block is one vector. The error of the first is sweep_chain_share(N) V;
 * squares below 2^-126 have errors of 4 tiny of f32, or are flushed as in step 1 of ln_moments_retry(). A sum of items
 * that overflows stays infinite, and the row is swept again; so is a row whose Q / N is below CHAINED_MIN. */
moments_bound ln_moments_rms(const bounded_row *row)
{
    row_sums sums = sums_of_sweep(row);
    double n = row->n, var = row->var;
    double peak = row->max_abs * row->max_abs / var;
    double chained = 0;
    if (has_chains(row)) {
        sums.depth = ceil(n / row->lanes) + log2(row->lanes);
        chained =
            sweep_chain_share(row, RMS_CHAIN) * var + 4 * row->item->tiny + chain_flushed(row);
        if (!((var + chained) * (1 + bound_gamma(row, 8)) >= CHAINED_MIN))
            chained = 0;
    }
    double error = fmax(sum_error(row, &sums, 0, var, var, peak) + 2 * row->sum->tiny, chained);
    if (var == 0) /* all are 0 */
        error = 0;
    if (!(2 * n * (var + error) < row->sum->max))
        return bound_none;
    return bound_between(row, var - error, var + error, 0, 0);
}

/* Bound: that of ln_moments_rms(), with D = ceil(N / 64) + 6 for the additions of a term and its product. */
moments_bound ln_moments_rms_tiled(const bounded_row *row)
{
    double n = row->n, steps = ceil(n / row->tile), var = row->var;
    const row_sums sums = {
        steps + log2(row->tile), row->lambda, n, row->max_dev, steps, row->tile, 1, 1};
    double peak = row->max_abs * row->max_abs / var;
    double error = var == 0 ? 0 : sum_error(row, &sums, 1, var, var, peak) + 2 * row->sum->tiny;
    if (!(2 * n * (var + error) < row->sum->max))
        return bound_none;
    return bound_between(row, var - error, var + error, 0, 0);
}

/* ---- y ---- */

static const ln_bound no_claim = {INFINITY, 0};

static bool is_rms(const bounded_row *row)
{
    return row->convention->operation == LN_OPERATION_RMSNORM;
}

/* Returns the relative error of rounding to the storage type: 0 if that is the type of items. */
static double storing_unit(const bounded_row *row)
{
    return row->storage->unit == row->item->unit ? 0 : row->storage->unit;
}

/* Returns whether xhat is two items (CENTRE_IN_TWO). */
static bool is_in_two(const bounded_row *row)
{
    const bool has_f32 = row->storage->unit == UNIT_f32;
    return has_f32 && is_wide(row) &&
           (row->apply == BOUND_APPLY_split || row->apply == BOUND_APPLY_scaled);
}

/* Return the type in which rstd is computed, and the type that holds it. */
static const number_type *factor_of(const bounded_row *row)
{
    const bool is_f64 = row->apply == BOUND_APPLY_split || row->apply == BOUND_APPLY_two_rstd;
    return is_f64 ? &ln_numbers[LN_F64] : row->sum;
}

static const number_type *rstd_of(const bounded_row *row)
{
    const bool is_checked =
        row->apply == BOUND_APPLY_split || (row->apply == BOUND_APPLY_scaled && is_wide(row));
    return is_checked ? factor_of(row) : row->item;
}

/* Returns whether RMSNorm's xhat is rounded to the storage type before the weight, and may change by that. */
static bool rounds_xhat(const bounded_row *row)
{
    return is_rms(row) && row->convention->cast && row->convention->weight != LN_RMS_WEIGHT_NONE &&
           (is_in_two(row) || storing_unit(row) > 0);
}

/* Returns the error of xhat = fl(d' r' + q), where deviations d' are within `deviation` = D of the exact d, and
 * r' is rstd (relative error rho) rounded to an item:
 *     |xhat - (d r + q)|
 *         <= r (1 + rho) D + max|d| r rho         the errors of d' and r'
 *          + u r (1 + rho)(max|d| + D) + tiny     one rounding, or the product's; and if eps is
 *          + u eps + tiny                         on the quotient, eps and a sum
 *          + u (r (1 + rho)(max|d| + D)(1 + u) + eps (1 + u)) + tiny. */
static double bound_product(const bounded_row *row, double deviation, double rho)
{
    double r = row->rstd, eps = row->convention->eps;
    if (is_wide(row))
        rho += row->item->unit * (1 + rho);
    double product = r * (1 + rho) * (row->max_dev + deviation);
    double error = r * (1 + rho) * deviation + row->max_dev * r * rho + row->item->unit * product +
                   row->item->tiny;
    if (row->convention->eps_place == LN_EPS_QUOTIENT)
        error += row->item->unit * (2 + row->item->unit) * eps +
                 row->item->unit * (1 + row->item->unit) * product + 2 * row->item->tiny;
    return 2 * (product + eps) < row->item->max ? error * bound_slack : INFINITY;
}

/* Bound. A mean in two parts is rounded to one number here: m = fl(mean + rest), which adds an error of u |mean + rest|
 * (also if items are shorter than accumulators). Then fl(x - m) is within (1 + u) |m - mu| + u |x - mu| of x - mu. */
static double direct_deviation(const bounded_row *row, const moments_bound *found)
{
    double delta = found->mean;
    if (found->rest > 0)
        delta += row->sum->unit * (fabs(row->mean) + delta);
    if (is_wide(row))
        delta += row->item->unit * (fabs(row->mean) + delta) + row->item->tiny;
    if (!(2 * (fabs(row->mean) + row->max_dev + delta) < row->item->max))
        return INFINITY;
    return ((1 + row->item->unit) * delta + row->item->unit * row->max_dev) * bound_slack;
}

/* Bound. r' = r_exact (1 + rho) is the rstd that was computed, delta the error of mean + rest; S =
 * max|x - mu| + |rest| + delta is the largest |x - mean|, A = |rest| r' + eps (eps where it is on
 * the quotient), k = 1 where multiply_add rounds once, else 2.
 *     (x - mean) r' - rest r' + q   is within   r' delta + max|d| r_exact rho   of d r_exact + q.
 *     s = (x - mean)(1 + e)                        u S r'
 *     r' is rounded to an item if items are shorter        u S r' (1 + u)
 *     a: roundings of eps, product and difference          u eps + 2 u (1 + u) A + 2 tiny
 *     fl(s r' + a)                                 k u (1 + u)(S r' (1 + 3 u) + A (1 + 4 u)) +
 *                                                  k tiny, and tiny for the product's rounding */
static double folded_bound(const bounded_row *row, const moments_bound *found, double rho)
{
    double u = row->item->unit, k = row->fuses ? 1 : 2, delta = found->mean, rest = found->rest;
    double eps = row->quotient;
    if (is_wide(row)) { /* the mean is split again: see two_mean_deviation() */
        rest += u * (fabs(row->mean) + delta + rest) + row->item->tiny;
        delta += row->sum->unit * rest * (1 + row->sum->unit);
    }
    double r = row->rstd * (1 + rho), s = row->max_dev + rest + delta, a = rest * r + eps;
    double error = r * delta + row->max_dev * row->rstd * rho;
    error += (is_wide(row) ? 2 : 1) * u * (1 + u) * s * r;
    error += u * eps + 2 * u * (1 + u) * a + 2 * row->item->tiny;
    error += k * u * (1 + u) * (s * r * (1 + 3 * u) + a * (1 + 4 * u)) + 2 * k * row->item->tiny;
    if (!(2 * (fabs(row->mean) + s) < row->item->max && 2 * (s * r + 2 * a) < row->item->max))
        return INFINITY;
    return error * bound_slack;
}

/* Bound. With s = x - mean in exact arithmetic, |s| <= |x - mu| + |rest| + delta, where delta is the error of
 * mean + rest: fl(s) = s (1 + e), and fl(fl(s) - rest) is within
 *     (1 + u)(u |s| + delta) + u |x - mu|   of   x - mu.
 * If items are shorter than accumulators, the mean is split again: h = fl(mean) is within u |mean| of it, and
 * mean - h + rest, at most that plus |rest|, is rounded in the accumulator's type and then to an item. */
static double two_mean_deviation(const bounded_row *row, const moments_bound *found)
{
    double delta = found->mean, rest = found->rest;
    if (is_wide(row)) {
        rest += row->item->unit * (fabs(row->mean) + delta + rest) + row->item->tiny;
        delta += (row->sum->unit + row->item->unit) * rest * (1 + row->sum->unit) + row->item->tiny;
        rest *= 1 + 2 * row->item->unit;
    }
    double s = row->max_dev + rest + delta;
    if (!(2 * (fabs(row->mean) + s) < row->item->max))
        return INFINITY;
    double error =
        (1 + row->item->unit) * (row->item->unit * s + delta) + row->item->unit * row->max_dev;
    return error * bound_slack;
}

/* Bound. r' = r_exact (1 + rho) is the rstd that was computed, delta the error of mean + rest; S =
 * max|x - mu| + |rest| + delta is the largest |x - mean|, A = |rest| r' + eps (eps where it is on
 * the quotient), k = 1 where multiply_add rounds once, else 2.
 *     (x - mean) r' - rest r' + q   is within   r' delta + max|d| r_exact rho   of d r_exact + q.
 *     s = (x - mean)(1 + e)                          u S r'
 *     r + l = r' (1 + e), |e| <= u^2, l may be       S (1 + u)(u^2 r' + tiny)
 *     subnormal
 *     eps and a are rounded to items                 u eps + u A (1 + u) + tiny
 *     fl(s l + a), with |s l| <= u (1 + 3 u) S r'    k u (1 + u) B + tiny,
 *                                                    B = 2 u S r' + A (1 + 2 u)
 *     fl(s r + that)                                 k u (1 + u)(S r' (1 + 4 u) + 2 B) + tiny.
 * (The 4 u and 2 B are larger than necessary.) */
static double two_rstd_bound(const bounded_row *row, const moments_bound *found, double rho)
{
    double u = row->item->unit, k = row->fuses ? 1 : 2, delta = found->mean, rest = found->rest;
    double eps = row->quotient;
    if (is_wide(row)) {
        rest += u * (fabs(row->mean) + delta + rest) + row->item->tiny;
        delta += row->sum->unit * rest * (1 + row->sum->unit);
    }
    double r = row->rstd * (1 + rho), s = row->max_dev + rest + delta;
    double a = rest * r + eps, b = 2 * u * s * r + a * (1 + 2 * u);
    double error = r * delta + row->max_dev * row->rstd * rho;
    error += u * s * r + s * (1 + u) * (u * u * r + row->item->tiny) + u * eps + u * a * (1 + u);
    error += k * u * (1 + u) * (b + s * r * (1 + 4 * u) + 2 * b) + 3 * k * row->item->tiny;
    if (!(2 * (fabs(row->mean) + s) < row->item->max && 2 * (s * r + 3 * b) < row->item->max))
        return INFINITY;
    return error * bound_slack;
}

/* Bound, u = ITEM_UNIT, u' = 2^-53, tiny = ITEM_TINY. r' = r_exact (1 + rho) is the rstd that was computed, m = rest
 * the mean (mean itself is 0), delta its error, q the eps on the quotient, D = max|d| r_exact, X = max|xhat| <= D + q,
 * A >= |a|, P >= max|x| r', e1 to e4 the errors of the steps.
 *  1. (x - m) r' + q is within delta r' + D rho of xhat. The product m r' and the
 *     difference are rounded in double: the error of a is 4 u' A, A = (|mu| + delta) r' + q.
 *  2. r + l = r' (1 + e), |e| <= u^2 + 2^-60 as r' >= 2^-90; b + c = a (1 + u^2) + tiny: (2 u^2) (P + A)
 *     + tiny.
 *  3. w = fl(x l + c), |l| <= u r', |c| <= u A: |w| <= W = u (1 + 2 u)(P + A) + 2 tiny, with an error of u W + tiny.
 *  4. s = fl(x r + b). x r + b = xhat - (x l + c), apart from 1 to 3, is at most X' = X + W + e1 + e2 + e3,
 *     and P <= X' + A. Its rounding is half a unit in its last place, h = u 2^floor(log2 X'), and tiny.
 *     So s + w = xhat + e, |e| <= h + E with E = the sum of 1 to 3, and tiny.
 *  5. The affine form before its last rounding. (Subnormal products, and a subnormal y, are covered by twice the
 *     smallest number in ln_bound.)
 *     none              s + w
 *     gamma             s g + fl(w g)                u W |g|
 *     gamma and beta    s g + fl(w g + beta)         u (|beta| + W |g|)
 *     gamma1            g = G + H (Knuth's two_sum), |H| <= u |G|, |G| <= |g| (1 + 2 u). s G + fl(t +
 *                       beta), t = fl(s H + fl(w G)): u W |G| for w H, which is omitted, u W |G| for
 *                       w G, u (1 + u)(u X' + W) |G| for t, and as much and u |beta| for the sum
 *     Together, |g| (h + E + 5 u W + 3 u^2 X') + u |beta|.
 *  6. The last rounding is at most half a unit in the last place, or u times |g| X + |beta| and the error in 5.
 * ln_bound has one factor for |gamma| X and |beta|: if beta is added, u X of h is in affine_rel, and the rest of h is
 * in xhat_abs, for example if there is a power of two between X and X'. X >= D - q. u (|g| X + |beta|) is at most one
 * unit in the last place of that, so that the total is 1.5 row ULP plus the errors of statistics
 * (LN_TRAIT_ROUNDED_LAST), at most 2^-8; but 2 plus 2^-8 if |g| X + |beta| is so little (2^-8 units) below a power of
 * two that y may be rounded to the second number beyond it. In a row that is not strange only y may overflow, and w
 * gamma + beta if |beta| is within 2^-12 of the largest number. Without l and c (16-bit storage), a is computed with r:
 * its error in 1 is again 4 u' A; that of r is u, which applies to x - m, that of b is u A, and s is rounded once, u
 * X'. 1 + gamma is rounded, and the last sum. */
static ln_bound split_items_bound(const bounded_row *row, const moments_bound *found, double rho)
{
    double u = row->item->unit, delta = found->mean, r = row->rstd * (1 + rho);
    double q = row->quotient;
    double deviation = row->max_dev * row->rstd, a = (fabs(row->mean) + delta) * r + q;
    double off = delta * r + deviation * rho + 4 * DOUBLE_UNIT * a;
    if (!is_in_two(row)) {
        off += u * (deviation + off) + u * a + 2 * row->item->tiny;
        double error = off + u * (deviation + q + off);
        return (ln_bound){error * (1 + 4 * u) * bound_slack, u * (2 + 4 * u)};
    }
    double p = (deviation + q + off) * (1 + 0x1p-10) + a * (1 + 0x1p-10);
    double w = u * (1 + 4 * u) * (p + a) + 2 * row->item->tiny;
    off += 2 * u * u * (p + a) + u * w + 4 * row->item->tiny;
    double most = (deviation + q + off + w) * bound_slack, half = u * exp2(floor(log2(most)));
    int has_beta = ln_has_beta(row->convention->affine);
    if (has_beta)
        half = fmax(0.0, half - u * (deviation - q) * (1 - 0x1p-40)); /* facts are rounded */
    double error = half + off + 5 * u * w + 3 * u * u * most;
    return (ln_bound){error * (1 + 4 * u), has_beta ? u * (2 + 4 * u) : u};
}

/* Bound of a strange row, with r', delta and D as above; all steps but the last are in double. x - mean, the
 * next difference, the product and the sum: 4 u' (S r' + q) with S = max_dev + |rest| + delta; the
 * affine form: 3 u' of its value; y is rounded to an item. */
static ln_bound split_double_bound(const bounded_row *row, const moments_bound *found, double rho)
{
    double r = row->rstd * (1 + rho), s = row->max_dev + 2 * found->rest + found->mean;
    double error = r * found->mean + row->max_dev * row->rstd * rho;
    error += 8 * DOUBLE_UNIT * (s * r + row->quotient);
    double affine = row->convention->affine == LN_AFFINE_NONE ? 0 : 4 * DOUBLE_UNIT;
    return (ln_bound){error * (1 + 2 * row->item->unit), row->item->unit + affine};
}

/* Adds the rounding of y to a storage type that is shorter than items (convention_bound()). */
static ln_bound split_stored(const bounded_row *row, ln_bound y)
{
    double stored = storing_unit(row);
    if (stored > 0 && row->convention->affine == LN_AFFINE_NONE) { /* relative to max|xhat| */
        y.xhat_abs += y.affine_rel * (row->max_dev * row->rstd + row->quotient);
        y.affine_rel = 0;
    }
    return (ln_bound){y.xhat_abs * (1 + stored) * bound_slack,
                      y.affine_rel * (1 + stored) + stored};
}

/* Near a limit a row may be strange or not: the bound is the wider one. */
static ln_bound split_bound(const bounded_row *row, const moments_bound *found, double rho)
{
    double near = 1 + 0x1p-4, mean = fabs(row->mean), r = row->rstd, n = row->n;
    if (!(rho < 0x1p-6))
        return no_claim;
    int strange =
        mean - 2 * found->mean > SPLIT_MEAN_MOST * near * sqrt(found->var_hi) + 0x1p-149 ||
        n * found->var_hi * r * r * near < SPLIT_SQUARES_LEAST ||
        row->quotient > SPLIT_QUOTIENT_MOST;
    ln_bound apart = split_double_bound(row, found, rho);
    if (strange)
        return split_stored(row, apart);
    ln_bound items = split_items_bound(row, found, rho);
    return split_stored(row, (ln_bound){fmax(items.xhat_abs, apart.xhat_abs),
                                        fmax(items.affine_rel, apart.affine_rel)});
}

/* Bound, u = 2^-53, N elements in B accumulators of n = ceil(N / B) terms, D = max|x - mu|, a = |mu -
 * m| for the first mean m, A = a / D.
 *  1. As p is an element, |x - p| <= 2 D: with the depth of one turn, as in bound_sweep(),
 *     A <= 2 gamma(n + log2(B) + 4) + u |mu| / D (1 + u) + terms like the first.
 *  2. A sum of terms t in pairs. Its roundings are kept exactly: n + B partial sums, each with an error of u times
 *     at most sum|t|, and the errors of t itself or of a product, at most 4 u of that. These
 *     rests are added with at most k = n + 2 B + 8 roundings:
 *         |S' - S| <= E sum|t|,  E = gamma(k) u (n + B + 8) + 8 u^2.
 *  3. mean: sum|t| <= N D (1 + A), and S / N has roundings of 5 u^2 times at most D (A + E (1 + A)): all parts are
 *     kept, so that |mean - mu| <= D f, f = E (1 + A) + 5 u^2 (A + E (1 + A)).
 *  4. m2: Q' and S'^2 / N are pairs. sum t^2 = N (V + a^2), V >= D^2 / N the variance: relative to N V
 *     the error of Q' is (E + 32 u^2)(1 + N A^2), and that of S^2 / N is 2 N A (1 + A) E + N (E (1 + A))^2; its
 *     roundings are in the first term. Their sum h <= 1/4 bounds the relative error of rstd, which is half of it plus
 *     the second order, and 64 u^2 more cover quotient, root and reciprocal in pairs; eps only
 *     reduces it. (A row that is `far` neglects 2^-250.)
 *  5. (d + e): x minus the first part of m is exact in two numbers. Subtracting the second part rounds only if the
 *     first difference did: then x - m is more than half of m, and this is 3 u^2 |x - m|. Subtracting the third costs
 *     u^2 D (1 + A). The product keeps the rounding of d rstd, and has an error of 8 u^2 of itself. With M = max|xhat|,
 *     including an eps on the quotient (which is also added in a pair),
 *         |p + l - xhat| <= X = M (h + f + 64 u^2 (1 + A)) + tiny.
 *  6. y = p + l is rounded once. So is p gamma + (l gamma), apart from u^2. In p gamma + (l gamma + beta) the sum in
 *     parentheses, |beta| plus less than 3 u |gamma| M, is rounded, and then the whole. gamma1 is 1 + gamma in two
 *     parts, the second of which is treated like l. Rows that are `far` round gamma xhat, and the sum.
 *  Only infinite results overflow: a row has a scale at which x - m and squares do not.
 * All errors are relative to |gamma| M + |beta|, and are in affine_rel. Two roundings of at most half
 * a unit in the last place of that are one row ULP, apart from a few u^2; affine_rel can only express them as 2 u,
 * which may be two row ULP. */
static ln_bound in_pairs_bound(const bounded_row *row)
{
    ln_affine affine = row->convention->affine;
    double u = row->sum->unit, n = row->n, turn = ceil(n / block_of(row)), off = 0;
    double dev = row->max_dev, mu = fabs(row->mean), doubt = 1;
    if (isnan(row->rstd)) /* equal elements, whose 0 is divided by 0 */
        return (ln_bound){dev == 0 ? 0 : INFINITY, 0};
    if (dev < 0x1p-960 && row->max_abs < 0x1p-900) {
        doubt = 2; /* dev may be twice its exact value, and mu 0 */
        mu += 0x1p-1074;
    }
    if (dev > 0)
        off = (2 * bound_gamma(row, turn + bound_levels(row) + 4) + doubt * u * (mu / dev)) *
              (1 + 4 * u);
    double sums =
        bound_gamma(row, turn + 2 * block_of(row) + 8) * u * (turn + block_of(row) + 8) + 8 * u * u;
    double mean = sums * (1 + off) + 5 * u * u * (off + sums * (1 + off));
    double more = sums * (1 + off),
           m2 = (sums + 32 * u * u) * (1 + n * off * off) + 2 * n * off * more + n * more * more;
    double relative = (m2 + mean + 128 * u * u * (1 + off)) * (1 + 8 * u) + 16 * u * u;
    double roundings = affine == LN_AFFINE_NONE || affine == LN_AFFINE_GAMMA ? 1 : 2;
    if (!(m2 < 0.25))
        return no_claim;
    return (ln_bound){0, (roundings * u + relative) * bound_slack};
}

/* Return an end of an interval after `roundings` outward roundings and an underflow. They also include at most four
 * roundings of double: two in `value` (a ratio and a product, or a sum or a root), one in the
 * factor's sum and a last one. */
static double bound_below(const number_type *factor, double value, double roundings)
{
    double below = value -
                   fabs(value) * (bound_gamma_of(factor->unit, roundings) + 5 * DOUBLE_UNIT) -
                   factor->tiny;
    return value >= 0 ? fmax(below, 0.0) : below; /* rounding never crosses zero */
}

static double bound_above(const number_type *factor, double value, double roundings)
{
    return value + fabs(value) * (bound_gamma_of(factor->unit, roundings) + 5 * DOUBLE_UNIT) +
           factor->tiny;
}

/* Returns the error of a root that is rounded to the storage type (unit v), if the root before had the error rho. The
 * exact root and the computed one are both rounded: 4 v covers both and the second order. There is no bound for a
 * subnormal root. */
static double rounded_root_bound(const bounded_row *row, double rho)
{
    double v = row->storage->unit;
    double least = row->storage->unit == UNIT_f16 ? 0x1p-14
                   : row->item->unit == UNIT_f64  ? 0x1p-1022
                                                  : 0x1p-126;
    return row->rstd * least < 0.5 && rho < 1 ? rho * (1 + 4 * v) + 4 * v : INFINITY;
}

/* Returns rho, a bound of |rstd / exact - 1|; infinite: there is none. */
static double convention_rstd_bound(const bounded_row *row, const moments_bound *found)
{
    const ln_convention *wanted = row->convention;
    const number_type *factor = factor_of(row), *rstd = rstd_of(row);
    double n = row->n, scale = found->scale;
    double ratio = n / (n - (double)wanted->ddof) * scale * scale;
    double in_variance = wanted->eps_place == LN_EPS_VAR ? wanted->eps * scale * scale : 0.0;
    double on_std = wanted->eps_place == LN_EPS_STD ? wanted->eps * scale : 0.0;
    double lo = bound_below(factor, found->var_lo * ratio, 2),
           hi = bound_above(factor, found->var_hi * ratio, 2);
    if (in_variance > 0) {
        lo = bound_below(factor, lo + bound_below(factor, in_variance, 2), 1);
        hi = bound_above(factor, hi + bound_above(factor, in_variance, 2), 1);
    }
    if (!(lo >= 0 && hi < factor->max / 2))
        return INFINITY;
    double root_lo = bound_below(factor, sqrt(lo), 1), root_hi = bound_above(factor, sqrt(hi), 1);
    if (on_std > 0) {
        root_lo = bound_below(factor, root_lo + bound_below(factor, on_std, 1), 1);
        root_hi = bound_above(factor, root_hi + bound_above(factor, on_std, 1), 1);
    }
    if (!(2 / root_lo < factor->max && root_hi < factor->max / 2 && 1 / root_hi > 2 * factor->min))
        return INFINITY;
    double largest = scale / root_lo * (1 + factor->unit);
    double smallest = scale / root_hi * (1 - factor->unit);
    if (!(2 * largest < rstd->max && smallest > 2 * rstd->min))
        return INFINITY;
    /* The ratios have six roundings, including that of the fact. */
    double above = largest / row->rstd, below = smallest / row->rstd;
    double rho = fmax(above - 1 + 8 * DOUBLE_UNIT * above, 1 - below + 8 * DOUBLE_UNIT);
    if (is_rms(row) && row->convention->root)
        rho = rounded_root_bound(row, rho);
    return rho * bound_slack;
}

/* Returns the number of roundings of the affine form after xhat. */
static double convention_roundings(const bounded_row *row)
{
    double sum = row->fuses ? 1 : 2;
    if (is_rms(row))
        return row->convention->weight == LN_RMS_WEIGHT_NONE     ? 0
               : row->convention->weight == LN_RMS_WEIGHT_OFFSET ? 2
                                                                 : 1;
    switch (row->convention->affine) {
    case LN_AFFINE_NONE:
        return 0;
    case LN_AFFINE_GAMMA:
        return 1;
    case LN_AFFINE_SCALAR:
    case LN_AFFINE_VECTOR:
        return sum;
    case LN_AFFINE_GAMMA1:
        return sum + 1;
    }
    return INFINITY;
}

/* Bound of apply/scaled.h with rstd in two items, u = ITEM_UNIT, tiny = ITEM_TINY. r' = r_exact (1 + rho) is the rstd
 * that was computed, D = max|x| r_exact, P >= max|x| r', X >= max|xhat|.
 *  1. r + l = r' (1 + e), |e| <= u^2 + 2^-60, since r' >= 2^-90.
 *  2. w = fl(x l): |w| <= W = u (1 + 4 u) P + 2 tiny, with an error of u W + tiny.
 *  3. The error of s = fl(x r) is half a unit in its last place, h = u 2^floor(log2 X), and tiny.
 *  4. The weight before the last rounding: step 5 of split_items_bound() with an addend of 0. Together,
 *     |weight| (h + D rho + 2 u^2 P + 6 u W + 3 u^2 X + 4 tiny).
 *  5. If xhat is rounded to an item, so is the exact one: this adds 2 u X to their difference; 1 + weight is then
 *     rounded, too.
 *  6. A strange row is computed in double, except 1 + weight, which is rounded to an item: u X. */
static ln_bound scaled_bound(const bounded_row *row, double rho)
{
    double u = row->item->unit, deviation = row->max_dev * row->rstd;
    if (!(rho < 0x1p-6) || !isfinite(row->rstd))
        return no_claim;
    double off = deviation * rho, p = (deviation + off) * (1 + 0x1p-10);
    double w = u * (1 + 4 * u) * p + 2 * row->item->tiny;
    double in_double = off + (u + 8 * DOUBLE_UNIT) * (deviation + off) * bound_slack;
    off += 2 * u * u * p + u * w + 4 * row->item->tiny;
    double most = (deviation + off + w) * bound_slack, half = u * exp2(floor(log2(most)));
    double error = half + off + 5 * u * w + 3 * u * u * most;
    error = fmax(error, in_double);
    const bool is_cast = rounds_xhat(row);
    if (is_cast)
        error += 2 * u * (1 + u) * (deviation + error) + 2 * row->item->tiny;
    const int rounds_weight = is_cast && row->convention->weight == LN_RMS_WEIGHT_OFFSET;
    return (ln_bound){error * (1 + 4 * u), u * (1 + rounds_weight) * (1 + 4 * u)};
}

/* Returns the absolute error of xhat, from the bound of the moments. */
static double xhat_bound(const bounded_row *row, const moments_bound *found, double rho)
{
    switch (row->apply) {
    case BOUND_APPLY_direct:
        return bound_product(row, direct_deviation(row, found), rho);
    case BOUND_APPLY_two_mean:
        return bound_product(row, two_mean_deviation(row, found), rho);
    case BOUND_APPLY_scaled:
        return bound_product(row, 0, rho);
    case BOUND_APPLY_folded:
        return folded_bound(row, found, rho);
    case BOUND_APPLY_two_rstd:
        return two_rstd_bound(row, found, rho);
    default:
        return INFINITY;
    }
}

/* Bound. Each step of rstd is monotone, so the interval of m2 / N gives one of rstd: N - ddof, the quotient, eps (to
 * rstd's type, factor), the sum, the root, the second sum and the reciprocal are rounded; a scale, which is a power of
 * two, is exact except for underflow. If items are shorter, rstd is rounded to one in apply. The result is r (1 + rho),
 * from which the error of xhat in apply follows. Affine: fl(gamma xhat + beta) is rounded once if it is fused or there
 * is no beta, else twice; 1 + gamma once more. These roundings are relative to |gamma xhat| + |beta|, with the computed
 * xhat: the exact xhat gives affine_rel, its error a factor on xhat_abs. Subnormal products, at most two with tiny
 * each, are covered by ln_bound's twice the smallest number of the storage type, which is four tiny. Storing: if the
 * storage type is shorter, |stored - y| <= v |y| + tiny_s, v its unit and tiny_s half of its smallest number, where |y|
 * differs from at most |gamma xhat| + |beta| by the error so far. So both terms grow by 1 + v, affine_rel by v too;
 * tiny_s and (1 + v) 2 tiny are less than four tiny_s. */
static ln_bound convention_bound(const bounded_row *row, const moments_bound *found)
{
    /* In a row of equal elements, computed without rounding, 0 is multiplied by 1 / 0, or by 1 / eps, so that
     * y is NaN, or beta. */
    if (found->mean == 0 && found->rest == 0 && found->var_hi == 0) {
        if (isnan(row->rstd))
            return (ln_bound){0.0, 0.0};
        const bool holds_rstd =
            row->apply == BOUND_APPLY_split || is_in_two(row) || row->item->unit == UNIT_f64;
        if (has_long_sums(row) && holds_rstd)
            return (ln_bound){0.0, storing_unit(row)};
    }
    double rho = convention_rstd_bound(row, found);
    if (row->apply == BOUND_APPLY_split)
        return isfinite(row->rstd) ? split_bound(row, found, rho) : no_claim;
    if (is_in_two(row))
        return scaled_bound(row, rho);
    double affine = item_gamma(row, convention_roundings(row));
    double error = INFINITY, stored = storing_unit(row);
    if (isfinite(rho) && isfinite(row->rstd))
        error = xhat_bound(row, found, rho);
    /* xhat and the exact one are rounded to the storage type, which adds at most one unit to their difference. */
    if (rounds_xhat(row)) {
        const double smallest = row->storage->unit == UNIT_f16 ? 0x1p-24 : 0x1p-133;
        error += 2 * stored * (1 + stored) * (row->max_dev * row->rstd + error) + smallest;
    }
    return (ln_bound){error * (1 + affine) * (1 + stored) * bound_slack,
                      affine * (1 + stored) + stored};
}

/* Returns the kernel's bound (layernorm_plugin.h), from those of its parts. */
ln_bound ln_bound_of(const bounded_row *kernel, const ln_problem *problem,
                     const ln_row_facts *facts, double lambda)
{
    /* A NaN, an infinity, or one element under ddof 1 makes the whole row NaN, without error. */
    const ln_convention *convention = &problem->convention;
    if (!isfinite(facts->max_abs) || problem->hidden == (size_t)convention->ddof)
        return (ln_bound){0.0, 0.0};
    bounded_row copy = *kernel;
    const bounded_row *row = &copy;
    copy.convention = convention;
    copy.quotient = convention->eps_place == LN_EPS_QUOTIENT ? convention->eps : 0;
    copy.lambda = lambda, copy.n = (double)problem->hidden;
    copy.mean = facts->mean, copy.mean_abs = facts->mean_abs, copy.max_abs = facts->max_abs;
    copy.var = facts->var, copy.max_dev = facts->max_dev, copy.rstd = facts->rstd;
    ln_bound bound;
    if (row->apply == BOUND_APPLY_certified) {
        bound = (ln_bound){0, storing_unit(row)}; /* y has only one rounding */
    } else if (row->apply == BOUND_APPLY_in_pairs) {
        bound = in_pairs_bound(row);
    } else {
        /* Facts are doubles: the variance of f64 rows may overflow or underflow. */
        if (row->max_dev > 0 && !(row->var >= DBL_MIN && row->var <= DBL_MAX))
            return no_claim;
        moments_bound found = row->moments(row);
        bound = convention_bound(row, &found);
    }
    /* Each of about fifty products of facts may lose half of the smallest double. */
    if (bound.xhat_abs > 0)
        bound.xhat_abs += 64 * 0x1p-1074;
    return bound;
}
