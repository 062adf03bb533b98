/* What sums cost, whatever is summed: roundings of a type, orders of addition, and what a sum of squares that
 * is off does to a root. The proofs are in layernorm/layernorm.c. */
#ifndef LNBENCH_SUMS_H
#define LNBENCH_SUMS_H

#include "exact/scale.h"
#include "judge/row_limits.h"

/* What rounding costs in a type. */
typedef struct arithmetic {
    double unit, tiny, largest;
} arithmetic;

arithmetic arithmetic_of(ln_type type, bool flushes);
/* Whether rstd, and the variance that it is the root of, are ordinary numbers where a kernel keeps
 * them: estimates of a root take a subnormal variance for 0, and a kernel with sums in f64 may keep
 * rstd as the rows' f32. */
bool rstd_is_ordinary(ln_type accumulator, ln_type storage, double rstd);
/* n roundings, one after another: n u / (1 - n u), or with probability 1 - chance; infinite: no claim. */
double gamma_of(double n, double u);
double gamma_with(double n, double u, double chance);
/* |rstd' / rstd - 1| of a mean square S that is `lost` off; infinite: no claim. */
double rstd_error(const ln_convention *convention, double S, double lost, double u);
/* The unit of what is done once the sums are known. */
double unit_behind(const order_question *asked);

/* One operation's result in the accumulator's type. Two roundings are one here: 53 >= 2 p + 2
 * (Figueroa 1995). */
static inline double rounded_to(ln_type type, double value)
{
    if (type == LN_F32)
        return (double)(float)value;
    return type == LN_F64 || !isfinite(value) ? value : stored_in(type, value);
}

/* The largest power of two of a type. */
double largest_power(ln_type type);

/* A sum in one of the orders that people write: in one chain, backwards, in 4, 16, 64 lanes, pairwise. */
enum { ORDERS = 6 };
double add_up(ln_type type, const double *terms, size_t count, int order);
/* Room for so many terms. False: memory. */
bool textbook_reserve(textbook *book, size_t terms);

#endif
