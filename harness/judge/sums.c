#include "judge/sums.h"
#include <stdlib.h>

/* ---- roundings ---- */

arithmetic arithmetic_of(ln_type type, bool flushes)
{
    double unit = unit_roundoff(type), normal = dtype_least_normal(type);
    return (arithmetic){unit, flushes ? normal : 2 * unit * normal, 2 / normal};
}

bool rstd_is_ordinary(ln_type accumulator, ln_type storage, double rstd)
{
    arithmetic sums = arithmetic_of(accumulator, true), kept = arithmetic_of(LN_F32, true);
    bool shorter = accumulator == LN_F64 && storage != LN_F64;
    return 4 * rstd * rstd * sums.tiny < 1 &&
           (!shorter || (4 * rstd < kept.largest && rstd > 4 * kept.tiny));
}

double gamma_of(double n, double u)
{
    return n * u < 0.5 ? n * u / (1 - n * u) : INFINITY;
}

/* The same with probability 1 - chance; never more than the certain one. */
double gamma_with(double n, double u, double chance)
{
    double certain = gamma_of(n, u);
    if (chance <= 0)
        return certain;
    double l = sqrt(2 * log(2 * n / chance)) / (1 - u);
    return fmin(certain, expm1(l * sqrt(n) * u + n * u * u / (1 - u)));
}

double unit_behind(const order_question *asked)
{
    bool short_rows = asked->storage == LN_BF16 || asked->storage == LN_F16;
    return fmax(unit_roundoff(asked->accumulator),
                unit_roundoff(short_rows ? LN_F32 : asked->storage));
}

double rstd_error(const ln_convention *convention, double S, double lost, double u)
{
    double q;
    lost += 4 * u * S;
    if (convention->eps_place == LN_EPS_STD) {
        if (!(lost < S))
            return INFINITY;
        q = lost / sqrt(S) / (sqrt(S) + convention->eps);
        return q < 0.5 ? q / (1 - q) + 6 * u : INFINITY;
    }
    double eps = convention->eps_place == LN_EPS_VAR ? convention->eps : 0;
    q = lost / (S + eps) * (1 + 4 * u) + 4 * u;
    return q < 0.5 ? 1 / sqrt(1 - q) - 1 + 4 * u : INFINITY;
}

double largest_power(ln_type type)
{
    return type == LN_F64 ? 0x1p1023 : type == LN_F16 ? 0x1p15 : 0x1p127;
}

/* ---- orders ---- */

/* terms[0], terms[step], ... below count, in one chain. */
static double chain(ln_type type, const double *terms, size_t count, size_t step)
{
    double sum = 0;
    if (type == LN_F32) {
        float single = 0;
        for (size_t i = 0; i < count; i += step)
            single += (float)terms[i];
        return (double)single;
    }
    for (size_t i = 0; i < count; i += step)
        sum = rounded_to(type, sum + terms[i]);
    return sum;
}

static double backwards(ln_type type, const double *terms, size_t count)
{
    double sum = 0;
    for (size_t i = count; i > 0; i--)
        sum = rounded_to(type, sum + terms[i - 1]);
    return sum;
}

static double in_lanes(ln_type type, const double *terms, size_t count, size_t lanes)
{
    double sum = 0;
    for (size_t lane = 0; lane < lanes && lane < count; lane++)
        sum = rounded_to(type, sum + chain(type, terms + lane, count - lane, lanes));
    return sum;
}

static double pairwise(ln_type type, const double *terms, size_t count)
{
    enum { LEAF = 8 };
    if (count <= LEAF)
        return chain(type, terms, count, 1);
    return rounded_to(type, pairwise(type, terms, count / 2) +
                                pairwise(type, terms + count / 2, count - count / 2));
}

double add_up(ln_type type, const double *terms, size_t count, int order)
{
    switch (order) {
    case 0:
        return chain(type, terms, count, 1);
    case 1:
        return backwards(type, terms, count);
    case 2:
        return in_lanes(type, terms, count, 4);
    case 3:
        return in_lanes(type, terms, count, 16);
    case 4:
        return in_lanes(type, terms, count, 64);
    default:
        return pairwise(type, terms, count);
    }
}

bool textbook_reserve(textbook *book, size_t terms)
{
    double *grown = terms > book->room ? realloc(book->terms, terms * sizeof *grown) : book->terms;
    if (!grown)
        return false;
    book->room = terms > book->room ? terms : book->room;
    book->terms = grown;
    return true;
}
