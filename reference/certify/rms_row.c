/* RMSNorm is LayerNorm with a mean of 0: with sum(x) = 0 the exact row's variance is the mean square, and the elements
 * are certified as in reference.c. In addition there are three roundings, each of an exact number:
 *
 *     1 + w to w's type.
 *     The root to T: eps + sqrt(q) or sqrt(q) with a rational q, rounded by root_sum.c. The row is then
 *         divided by that number: x / root is rational, and is computed as with an eps on a
 *         std of 0.
 *     xhat to T: a row without a weight. Its product with the weight has at most 48 bits for all
 *         types but f64 and 1 + w, and is a double; else the product is computed with all its
 *         bits. */
#include "certify/rms_row.h"

#include "certify/row_task.h"
#include "exact/root_sum.h"
#include "metrics/storage.h"

#include <float.h>
#include <math.h>

enum { FACTOR_BITS = 1152, PRODUCT_BITS = FACTOR_BITS + 64 };

/* Stores a real number as element i of a type. For 16 bits, `value` is the number rounded to double and `side` the sign
 * of the rest. */
static void store_rounded(ln_type type, void *values, size_t i, double value, int side)
{
    if (!isfinite(value)) {
        storage_store(type, values, i, value);
    } else if (type == LN_F64) {
        ((double *)values)[i] = value;
    } else if (type == LN_F32) {
        ((float *)values)[i] = (float)value;
    } else {
        ((uint16_t *)values)[i] = storage_round(type, value, side);
    }
}

/* Stores 1 + w rounded to the type of w, of p bits: first to double, which changes nothing for the shorter
 * types. Midpoints are 1 + k 2^-p or farther apart, and a w of 2^-p or more is a multiple of 2^(1-2p), at
 * least 2^-47: its distance from a midpoint is 0 or more than the rounding error of double. */
static void store_offset(ln_type type, void *values, size_t i, double w)
{
    store_rounded(type, values, i, 1.0 + w, 0);
}

/* Computes the sum that is normalised or squared, before it is rounded to 16 bits, as floats. The sum of two
 * doubles is rounded twice, which changes nothing (reference.c). */
static bool take_unrounded(const row_task *task, row_room *room, const void *x,
                           const void *residual)
{
    if (!row_reserve(room, task->hidden * sizeof(float))) {
        return false;
    }
    for (size_t i = 0; i < task->hidden; i++) {
        ((float *)room->data)[i] =
            (float)(storage_load(task->storage, x, i) + storage_load(task->storage, residual, i));
    }
    return true;
}

static bool take_weight(const ln_convention *convention, row_task *task, row_room *room,
                        const void *weight)
{
    static const ln_affine forms[] = {[LN_RMS_WEIGHT_NONE] = LN_AFFINE_NONE,
                                      [LN_RMS_WEIGHT] = LN_AFFINE_GAMMA,
                                      [LN_RMS_WEIGHT_OFFSET] = LN_AFFINE_GAMMA1,
                                      [LN_RMS_WEIGHT_OFFSET_ROUNDED] = LN_AFFINE_GAMMA};
    task->affine = forms[convention->weight];
    task->gamma = weight;
    if (convention->weight != LN_RMS_WEIGHT_OFFSET_ROUNDED) {
        return true;
    }
    if (!row_reserve(room, task->hidden * sizeof(double))) {
        return false;
    }
    for (size_t i = 0; i < task->hidden; i++) {
        store_offset(task->param, room->data, i, storage_load(task->param, weight, i));
    }
    task->gamma = room->data;
    return true;
}

/* Computes the row's root, rounded to the storage type. Returns false if memory runs out. */
static bool round_root(const exact_row *row, ln_type storage, double *rounded)
{
    root_sum sum;
    mpq_t eps, one, square;
    if (!root_sum_init(&sum, 1)) {
        return false;
    }
    mpq_inits(eps, one, square, NULL);
    mpz_set(mpq_numref(square), row->radicand); /* N^2 of them: reference.h's N - ddof is N */
    mpz_set_ui(mpq_denref(square), row->hidden);
    mpz_mul_ui(mpq_denref(square), mpq_denref(square), row->hidden);
    mpq_canonicalize(square);
    long unit = row->radicand_unit;
    if (unit >= 0) {
        mpq_mul_2exp(square, square, (mp_bitcnt_t)unit);
    } else {
        mpq_div_2exp(square, square, (mp_bitcnt_t)-unit);
    }
    mpq_set_d(eps, row->place == LN_EPS_STD ? row->eps : 0.0);
    mpq_set_ui(one, 1, 1);
    root_sum_add(&sum, eps, one, square);
    rounded_pair root = root_sum_round(&sum);
    double value = storage == LN_F32 ? (double)root.to_float : root.to_double;
    if (storage != LN_F32 && storage != LN_F64 && isfinite(value)) {
        int side = storage_is_midpoint(storage, value) ? root_sum_side(&sum, value) : 0;
        uint16_t bits = storage_round(storage, value, side);
        value = storage_load(storage, &bits, 0);
    }
    *rounded = value;
    mpq_clears(eps, one, square, NULL);
    root_sum_clear(&sum);
    return true;
}

/* Computes the product of the rounded xhat and the weight if it may not be a double. */
static void multiply_out(double xhat, double weight, bool plus_one, size_t i, const row_task *task,
                         ln_reference_result *result)
{
    mpfr_t factor, product;
    mpfr_init2(factor, FACTOR_BITS);
    mpfr_init2(product, PRODUCT_BITS);
    mpfr_set_d(factor, weight, MPFR_RNDN);
    if (plus_one) {
        mpfr_add_ui(factor, factor, 1, MPFR_RNDN); /* exact */
    }
    mpfr_mul_d(product, factor, xhat, MPFR_RNDN);                           /* exact */
    double y = mpfr_zero_p(product) ? 0.0 : mpfr_get_d(product, MPFR_RNDN); /* no -0 */
    bool finite = isfinite(y) != 0;
    result->exact[i] = y;
    if (task->storage == LN_F32) {
        ((float *)result->rounded)[i] = mpfr_zero_p(product) ? 0 : mpfr_get_flt(product, MPFR_RNDN);
    } else {
        store_rounded(task->storage, result->rounded, i, y, finite ? mpfr_cmp_d(product, y) : 0);
    }
    if (task->storage == LN_F64 && result->rest != NULL) {
        double rest = isnan(y) ? (double)NAN : 0.0;
        if (finite) {
            bool lost = y == 0 && !mpfr_zero_p(product);
            int sign = mpfr_sgn(product);
            mpfr_sub_d(product, product, y, MPFR_RNDN);
            mpfr_mul_2si(product, product, -exponent_of_ulp(y), MPFR_RNDN);
            rest = mpfr_get_d(product, MPFR_RNDN);
            rest = lost && rest == 0 ? copysign(DBL_TRUE_MIN, sign) : rest;
        }
        result->rest[i] = rest;
    }
    mpfr_clears(factor, product, (mpfr_ptr)0);
}

/* Computes weight * result->rounded, which is xhat rounded to the storage type. */
static void apply_weight(const row_task *task, ln_reference_result *result)
{
    bool plus_one = task->affine == LN_AFFINE_GAMMA1;
    bool exact = !plus_one && task->storage != LN_F64 && task->param != LN_F64;
    for (size_t i = 0; i < task->hidden; i++) {
        double xhat = storage_load(task->storage, result->rounded, i);
        double weight = storage_load(task->param, task->gamma, i);
        if (!exact) {
            multiply_out(xhat, weight, plus_one, i, task, result);
            continue;
        }
        result->exact[i] = xhat * weight + 0.0; /* no -0 */
        store_rounded(task->storage, result->rounded, i, result->exact[i], 0);
    }
}

/* Computes xhat as x / root by IEEE 754, for a root that is rounded to 0 or to infinity, or an infinite x. */
static void fill_quotients(const row_task *task, double root, ln_reference_result *result)
{
    bool wide = task->storage == LN_F64;
    result->facts.rstd = 1 / root;
    result->rstd_rounded = (float)result->facts.rstd;
    result->rstd_rest = result->max_xhat = result->max_xhat_rest = 0;
    for (size_t i = 0; i < task->hidden; i++) {
        double x = wide ? ((const double *)task->x)[i] : (double)((const float *)task->x)[i];
        double weight =
            ln_has_gamma(task->affine) ? storage_load(task->param, task->gamma, i) : 1.0;
        double y = x / root * (weight + (task->affine == LN_AFFINE_GAMMA1 ? 1.0 : 0.0)) + 0.0;
        result->exact[i] = y;
        store_rounded(task->storage, result->rounded, i, y, 0);
        if (wide && result->rest != NULL) {
            result->rest[i] = isnan(y) ? (double)NAN : 0.0;
        }
    }
}

/* Computes a row with an element that is not finite. */
static void fill_not_finite(row_certifier *certifier, const row_task *task, const void *squared,
                            ln_reference_result *result)
{
    double all = 0.0;
    for (size_t i = 0; i < task->hidden; i++) {
        all += fabs(task->storage == LN_F64 ? ((const double *)squared)[i]
                                            : (double)((const float *)squared)[i]);
    }
    row_fill_nan(certifier, task, result);
    if (!isnan(all)) {
        fill_quotients(task, INFINITY, result);
    }
}

/* Rounds the root if the convention says so, for the divisions. Returns false if memory runs out. *degenerate is not 0
 * if the row is computed by IEEE 754. */
static bool take_root(row_certifier *certifier, const row_task *task, double *degenerate)
{
    double root;
    *degenerate = NAN;
    if (!round_root(&certifier->row, task->storage, &root)) {
        return false;
    }
    if (root > 0 && isfinite(root)) {
        exact_row_divide_by(&certifier->row, root);
    } else {
        *degenerate = root;
    }
    return true;
}

static bool fill_finite(row_certifier *certifier, const ln_convention *convention, row_task *task,
                        ln_reference_result *result)
{
    double degenerate = NAN;
    ln_affine affine = task->affine;
    row_fill_facts(certifier, task, result);
    bool casts = convention->cast && affine != LN_AFFINE_NONE;
    if (convention->root && certifier->row.defined && !take_root(certifier, task, &degenerate)) {
        return false;
    }
    if (!isnan(degenerate)) {
        certifier->counts.special += task->hidden;
        fill_quotients(task, degenerate, result);
        return true;
    }
    task->affine = casts ? LN_AFFINE_NONE : affine;
    row_fill(certifier, task, result);
    task->affine = affine;
    if (casts && certifier->row.defined) {
        apply_weight(task, result);
    }
    return true;
}

bool ln_rms_reference_row(ln_reference *reference, const ln_convention *convention, ln_type storage,
                          ln_type param, size_t hidden, const void *x, const void *residual,
                          const void *weight, ln_reference_result *result)
{
    row_task task = {.storage = storage, .param = param, .hidden = hidden};
    const ln_convention about = {.eps_place = convention->eps_place, .eps = convention->eps};
    bool short_type = storage == LN_BF16 || storage == LN_F16, wide = storage == LN_F64;
    bool unrounded = residual != NULL && short_type && convention->sum != LN_RMS_SUM_ROUNDED;
    bool apart = unrounded && convention->sum == LN_RMS_SUM_SQUARES;
    if (hidden == 0 || hidden > SIZE_MAX / sizeof(double) || x == NULL ||
        (convention->weight != LN_RMS_WEIGHT_NONE && weight == NULL) ||
        !row_take_x(reference, &task, x, residual)) {
        return false;
    }
    if (unrounded && !apart) {
        if (!take_unrounded(&task, &reference->row, x, residual)) {
            return false;
        }
        task.x = reference->row.data;
    }
    if (apart && !take_unrounded(&task, &reference->second, x, residual)) {
        return false;
    }
    row_certifier *certifier = &reference->certifier;
    const void *squared = apart ? reference->second.data : task.x;
    certifier->counts.elements += hidden;
    bool finite = wide ? exact_row_take_f64(&certifier->row, &about, hidden, squared)
                       : exact_row_take(&certifier->row, &about, hidden, squared);
    for (size_t i = 0; apart && i < hidden; i++) { /* a rounded sum may be infinite */
        finite &= isfinite(((const float *)task.x)[i]) != 0;
    }
    if (!take_weight(convention, &task, &reference->second, weight)) {
        return false;
    }
    if (!finite) {
        fill_not_finite(certifier, &task, apart ? task.x : squared, result);
        return true;
    }
    exact_row_about_zero(&certifier->row, &about);
    return fill_finite(certifier, convention, &task, result);
}
