/* A row's mean and rstd in two doubles each: integers are left to what lies within some 2^-40 of a last
 * place of a midpoint.
 *
 * Sums (Ogita, Rump, Oishi, "Accurate sum and dot product", SIAM J. Sci. Comput. 26, 2005): each
 * addition's error is found exactly and added up beside the sum, D additions in a row at most; squares
 * of f32 are exact. With u = 2^-53, D <= 2^15, R = sqrt(Q / N):
 *     |s - S| <= D^2 u^2 (1 + 2^-30) sum |x| <= 2^-75 N R       |q - Q| <= 2^-75 Q
 * An operation on two doubles each is off by 2^-100 of its result at most (Joldes, Muller, Popescu,
 * "Tight and rigorous error bounds for basic building blocks of double-word arithmetic", ACM TOMS 44,
 * 2017: 15 u^2 for the worst of these).
 *     h = s / N                    |h - mean| <= 2^-74.9 R
 *     m2 = q - s h                 |m2 - M2| <= (1 + 1 + 1) 2^-75 Q + ... <= 2^-73 Q
 *     rstd, k = Q / m2             |rstd / exact - 1| <= 2^-74 k + 5 2^-100 <= 2^-73 k
 *     t = (x - h) rstd + quotient  |t - xhat| <= 2^-72 k (|t| + |quotient| + rstd R)
 *     y = t gamma + beta           |y - exact| <= 2^-71 k (|gamma| (|t| + |quotient| + rstd R) + |beta|)
 * and `relative` = 2^-70 k. Underflow is covered by LN_EXACT_UNDERFLOW (statistics/exact.h). */
#include "exact/exact.h"

#include <math.h>

#define DEEPEST 0x1p15

/* a + b, a being the larger. */
static ln_two ordered_sum(double a, double b)
{
    double sum = a + b;
    return (ln_two){sum, b - (sum - a)};
}

ln_two ln_two_sum(double a, double b)
{
    double sum = a + b, of_b = sum - a;
    return (ln_two){sum, (a - (sum - of_b)) + (b - of_b)};
}

static ln_two add(ln_two a, ln_two b)
{
    ln_two high = ln_two_sum(a.high, b.high), low = ln_two_sum(a.low, b.low);
    high = ordered_sum(high.high, high.low + low.high);
    return ordered_sum(high.high, high.low + low.low);
}

static ln_two product(ln_two a, ln_two b)
{
    double high = a.high * b.high, low = fma(a.high, b.high, -high);
    return ordered_sum(high, low + (a.high * b.low + a.low * b.high));
}

static ln_two negative(ln_two a)
{
    return (ln_two){-a.high, -a.low};
}

static ln_two one_of(double a)
{
    return (ln_two){a, 0};
}

static ln_two quotient_of(ln_two a, ln_two b)
{
    double first = a.high / b.high;
    ln_two rest = add(a, negative(product(b, one_of(first))));
    return ordered_sum(first, rest.high / b.high);
}

static ln_two root_of(ln_two a)
{
    double first = sqrt(a.high), square = first * first;
    ln_two rest = add(a, (ln_two){-square, -fma(first, first, -square)});
    return ordered_sum(first, rest.high / (2 * first));
}

static double eps_at(const ln_problem *problem, ln_eps_place where)
{
    return problem->convention.eps_place == where ? problem->convention.eps : 0;
}

ln_exact_fine ln_exact_refine(const ln_problem *problem, const ln_exact_sums *sums)
{
    const ln_two count = one_of((double)problem->hidden);
    const ln_two divisor = one_of((double)(problem->hidden - (size_t)problem->convention.ddof));
    ln_exact_fine fine = {.relative = INFINITY};
    fine.mean = quotient_of(sums->sum, count);
    fine.size = sqrt(sums->square.high / count.high);
    ln_two m2 = add(sums->square, negative(product(sums->sum, fine.mean)));
    double relative = 0x1p-70 * (sums->square.high / m2.high);
    if (!(sums->depth <= DEEPEST && m2.high > 0 && divisor.high > 0 && relative <= 0x1p-45))
        return fine;
    ln_two std = add(quotient_of(m2, divisor), one_of(eps_at(problem, LN_EPS_VAR)));
    std = add(root_of(std), one_of(eps_at(problem, LN_EPS_STD)));
    fine.rstd = quotient_of(one_of(1), std);
    fine.relative = fine.rstd.high >= 0x1p-500 && fine.rstd.high <= 0x1p500 ? relative : INFINITY;
    return fine;
}

int ln_exact_fine_side(const ln_exact_fine *fine, double x, double quotient, ln_two gamma,
                       double beta, double t)
{
    ln_two xhat = product(add(one_of(x), negative(fine->mean)), fine->rstd);
    xhat = add(xhat, one_of(quotient));
    ln_two y = add(product(xhat, gamma), one_of(beta));
    double error = fabs(xhat.high) + fabs(quotient) + fine->rstd.high * fine->size;
    error = fine->relative * (fabs(gamma.high) * error + fabs(beta)) + LN_EXACT_UNDERFLOW;
    double distance = (y.high - t) + y.low;
    return (distance > error) - (distance < -error);
}
