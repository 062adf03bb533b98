#include "naive_oracle.h"

#include "audit_types.h"

#include <math.h>

typedef struct statistics {
    double mean, factor, addend; /* y = gamma ((x - mean) factor + addend) + beta */
} statistics;

static statistics take_statistics(const audit_row *row, const audit_values *x)
{
    const ln_convention *c = &row->convention;
    double n = (double)row->hidden, sum = 0, squares = 0;
    for (size_t i = 0; i < row->hidden; i++) {
        double value = audit_load(row->storage, x, i);
        sum += value;
        squares += value * value;
    }
    double mean = sum / n;
    double var = (squares / n - mean * mean) * (n / (n - c->ddof));
    double deviation = sqrt(c->eps_place == LN_EPS_VAR ? var + c->eps : var);
    deviation += c->eps_place == LN_EPS_STD ? c->eps : 0.0;
    return (statistics){mean, 1 / deviation, c->eps_place == LN_EPS_QUOTIENT ? c->eps : 0.0};
}

static double element(const audit_row *row, const statistics *s, const audit_values *x, size_t i)
{
    ln_affine affine = row->convention.affine;
    size_t p = affine == LN_AFFINE_SCALAR ? 0 : i;
    double y = (audit_load(row->storage, x, i) - s->mean) * s->factor + s->addend;
    if (affine != LN_AFFINE_NONE) {
        y *= audit_load(row->param, &row->gamma, p) + (affine == LN_AFFINE_GAMMA1 ? 1.0 : 0.0);
    }
    if (affine != LN_AFFINE_NONE && affine != LN_AFFINE_GAMMA) {
        y += audit_load(row->param, &row->beta, p);
    }
    return y;
}

/* Whether value would be rounded to the type as the right answer is, but for a tie. */
static bool rounds_to(ln_type type, double value, double right)
{
    audit_neighbours n = audit_neighbours_of(type, right);
    double low = 0.5 * n.below + 0.5 * n.value, high = 0.5 * n.value + 0.5 * n.above;
    return type == LN_F64 ? value == right : low <= value && value <= high;
}

void naive_errors_add(naive_errors *errors, const audit_row *row, const audit_values *x,
                      const ln_reference_result *result)
{
    statistics s = take_statistics(row, x);
    double largest = 0, size = 0;
    for (size_t i = 0; i < row->hidden; i++) {
        double right = audit_load(row->storage, result->rounded, i), exact = result->exact[i];
        if (!isfinite(right)) {
            continue;
        }
        double y = element(row, &s, x, i);
        errors->elements++;
        errors->misrounded += rounds_to(row->storage, y, right) ? 0 : 1;
        largest = isfinite(y) ? fmax(largest, fabs(y - exact)) : (double)INFINITY;
        size = fmax(size, fabs(exact));
    }
    if (size > 0) {
        errors->norm_max = fmax(errors->norm_max, largest / size);
    }
}
