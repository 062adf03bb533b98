#include "judge/judging.h"
#include "judge/sums.h"
#include "base/arena.h"
#include "exact/scale.h"

/* What a kernel of the same types may have: four times the worst way. Four, since the ways are a
 * sample of the orders there are, and a kernel may round xhat, the product and the sum each to the
 * storage type. A way counts as 1 row ULP at least. */
static const double factor = 4;

/* What gamma, gamma rstd, the products and y may lose below the least normal number, in row ULP; the proofs
 * of xhat leave it out. */
static double below_normal(const order_question *asked, const metrics_row *row)
{
    const ln_type type = dtype_size(asked->storage) == 2 ? LN_F32 : asked->storage;
    double least = INFINITY;
    for (size_t i = 0; i < row->hidden; i++)
        if (element_scale(row, i) > 0)
            least = fmin(least, ulp_in(format_of(row->storage), element_scale(row, i)));
    return arithmetic_of(type, asked->flushes).tiny *
           (row->answer->facts.max_abs + row->answer->max_xhat + 3) / least;
}

void limits_of_row(const operation_judging *judging, textbook *book, const order_question *asked,
                   const metrics_row *row, const double *x, row_limits *limits)
{
    static const double rare = 1e-9;
    const ln_row_facts *facts = &row->answer->facts;
    order_question probable = *asked, certain = *asked, plain = *asked;
    certain.chance = plain.chance = 0;
    plain.flushes = false;
    probable.chance = rare;
    limits->order = judging->any_order(&certain, facts);
    order_answer likely = judging->any_order(&probable, facts);
    const double below = below_normal(asked, row);
    limits->order_ulp = ln_bound_row_ulp(&limits->order.bound, row) + below;
    limits->likely_ulp = ln_bound_row_ulp(&likely.bound, row) + below;
    if (!judging->textbook(book, row, x, asked->accumulator, &limits->textbook))
        memory_is_out(asked->hidden);
    /* The ways of the textbook do not flush: what that costs is what it adds to any order's bound;
     * infinity less infinity is no figure. */
    order_answer unflushed = asked->flushes ? judging->any_order(&plain, facts) : limits->order;
    bool flushing = asked->flushes, endless = flushing && !isfinite(limits->order_ulp);
    double most = factor * fmax(limits->textbook.row_ulp, 1);
    if (flushing)
        most += limits->order_ulp - ln_bound_row_ulp(&unflushed.bound, row);
    limits->row_ulp = fmin(limits->order_ulp, endless ? INFINITY : most);
    for (size_t i = 0; i < ROLES_MOST; i++) {
        most = factor * limits->textbook.statistics[i];
        if (flushing)
            most += limits->order.statistics[i] - unflushed.statistics[i];
        limits->statistics[i] = fmin(limits->order.statistics[i], endless ? INFINITY : most);
    }
}

row_limits limits_poorest(const operation_judging *judging, textbook *book, ln_type accumulator,
                          const metrics_row *row, const double *x, const row_limits *limits)
{
    row_limits poorest = *limits;
    if (!judging->poorest)
        return poorest;
    if (!judging->poorest(book, row, x, accumulator, &poorest.textbook))
        memory_is_out(row->hidden);
    poorest.row_ulp = fmin(limits->order_ulp, fmax(limits->row_ulp, poorest.textbook.row_ulp));
    for (size_t i = 0; i < ROLES_MOST; i++)
        poorest.statistics[i] =
            fmin(limits->order.statistics[i],
                 fmax(limits->statistics[i], factor * poorest.textbook.statistics[i]));
    return poorest;
}

bool limits_tell(const row_limits *limits)
{
    return isfinite(limits->row_ulp);
}

double limits_error(const metrics_row *row, const void *y)
{
    double worst = 0;
    for (size_t i = 0; i < row->hidden; i++) {
        double value = load(row->storage, y, i);
        if (isfinite(value) && isfinite(load(row->storage, row->answer->rounded, i)))
            worst = fmax(worst, fabs(row_ulp_of(row, i, value)));
    }
    return worst;
}

bool limits_hold(const row_limits *limits, const metrics_row *row, const void *y)
{
    return !limits_tell(limits) || limits_error(row, y) <= limits->row_ulp;
}
