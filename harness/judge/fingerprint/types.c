/* The type, or types, that an output may have been rounded to. */
#include "judge/fingerprint/internal.h"

/* Whether every y is a number of the type; *telling: how many of them are no powers of two, which all types
 * have. */
static bool holds_all(const double *y, size_t count, ln_type type, size_t *telling)
{
    int exponent;
    *telling = 0;
    for (size_t i = 0; i < count; i++) {
        if (isnan(y[i]))
            continue;
        if (stored_in(type, y[i]) != y[i])
            return false;
        *telling += isfinite(y[i]) && fabs(frexp(y[i], &exponent)) != 0.5 && y[i] != 0 &&
                    (i == 0 || fabs(y[i]) != fabs(y[i - 1]));
    }
    return true;
}

/* Whether every y may be a printed f32: else the black box computed in f64. */
static bool may_be_f32(const which_input *input, size_t count)
{
    double half = 0.5 * pow(10, -input->digits) * (1 + 1e-6);
    for (size_t i = 0; i < count; i++)
        if (fabs(input->y[i] - (double)(float)input->y[i]) > half)
            return false;
    return true;
}

/* An output may have been rounded to a shorter type than it is kept in. Where too few elements tell which,
 * all types that hold them stay: a longer one goes where that chance is below 2^-48. */
size_t rounded_types(const which_input *input, size_t count, ln_type made[4])
{
    static const ln_type types[] = {LN_BF16, LN_F16, LN_F32, LN_F64};
    enum { SURE = 48 };
    size_t telling, kept = 0, bits[4];
    if (input->digits != WHICH_EXACT) {
        made[0] = may_be_f32(input, count) ? LN_F32 : LN_F64;
        return 1;
    }
    for (size_t t = 0; t < 4; t++) {
        bool own = types[t] == input->y_type, known = true;
        if ((!own && dtype_size(types[t]) >= dtype_size(input->y_type)) ||
            (!holds_all(input->y, count, types[t], &telling) && !own))
            continue;
        for (size_t k = 0; k < kept; k++)
            known = known && bits[k] * (size_t)(format_of(types[t]).precision -
                                                format_of(made[k]).precision) <
                                 SURE;
        if (!known)
            continue;
        bits[kept] = telling;
        made[kept++] = types[t];
    }
    return kept;
}
