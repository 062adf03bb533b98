/* The certified reference: exact sums, then certified rounding.
 *
 * 1. Sum(x), sum|x| and sum(x^2) are exact integers (exact_sums.c), so N x - sum(x) and
 *    N sum(x^2) - sum(x)^2 are exact whatever cancels (exact_row.c).
 * 2. An element of an f32, bf16 or f16 row is evaluated in double-double arithmetic with a proven
 *    bound of the error (fast_row.c). Where the bound leaves one rounding to double, and that is no
 *    midpoint of the type, the element is certified.
 * 3. Else, and for f64, it is enclosed in an interval with MPFR at the first precision; the width
 *    has a proof (enclosure.c).
 * 4. Where all of the interval rounds alike, the element is certified (rounding.c). 5. Where it does not, the interval
 * holds a number at which the rounding changes: zero, or a
 *    midpoint of neighbours. If the element equals that number exactly (exact_row.c: comparison of
 *    squares of rationals), its rounding is known.
 * 6. Else the precision is doubled and 3. begins again (Ziv 1991, "Fast evaluation of elementary
 *    mathematical functions with correctly rounded last bit"). That ends: the numbers at which
 *    roundings change are isolated, so an element that is none of them has a positive distance from
 *    the nearest, and the interval shrinks below it.
 *
 * A 16-bit result is the rounding of the certified double; where that is a midpoint of the 16-bit type, an exact
 * comparison with it tells the side (storage.c).
 *
 * Special values, beyond those of the header:
 *     - A NaN or infinity in x (or in x + residual): everything of the row is NaN.
 *     - N <= ddof, 0 / 0, eps that is not finite, eps < 0 on the std or <= -var in the variance:
 *       xhat is undefined, so y, rstd and max_xhat are NaN; the mean and the other facts stand.
 *     - gamma and beta that are not finite follow IEEE 754 with the exact xhat: NaN gives NaN, an
 *       infinite gamma gives an infinity with the sign of their product, or NaN if xhat is 0, and infinities that
 *       cancel give NaN.
 *     - A result that is exactly 0 is +0.
 *
 * The workspace's own buffers are checked; inside GMP and MPFR (a few KiB a row) exhaustion of memory ends the process,
 * as those libraries define it. */
#include "certify/reference.h"

#include "certify/row_task.h"
#include "exact/facts.h"
#include "metrics/storage.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { CHUNK = 128 };

ln_reference *ln_reference_create(void)
{
    ln_reference *reference = calloc(1, sizeof *reference);
    if (reference != NULL) {
        certifier_init(&reference->certifier);
    }
    return reference;
}

void ln_reference_destroy(ln_reference *reference)
{
    if (reference == NULL) {
        return;
    }
    certifier_clear(&reference->certifier);
    free(reference->row.data);
    free(reference->second.data);
    free(reference);
}

ln_reference_counts ln_reference_count(const ln_reference *reference)
{
    return reference->certifier.counts;
}

const char *ln_reference_versions(void)
{
    static _Thread_local char text[80];
    snprintf(text, sizeof text, "MPFR %s, GMP %s", mpfr_get_version(), gmp_version);
    return text;
}

static bool is_special(const row_element *element)
{
    return !isfinite(element->gamma) || !isfinite(element->beta);
}

/* Returns an element whose gamma or beta is not finite: an infinity or a NaN. */
static double evaluate_special(row_certifier *certifier, const row_element *element)
{
    certifier->counts.special++;
    double product = 0.0; /* stands for any finite number */
    if (!isfinite(element->gamma)) {
        product = element->gamma * (double)sign_of_xhat(certifier, element->x);
    }
    return product + element->beta;
}

static rounded_pair evaluate(row_certifier *certifier, const row_element *element)
{
    if (is_special(element)) {
        double y = evaluate_special(certifier, element);
        return (rounded_pair){(float)y, y};
    }
    return certify(certifier, element);
}

static void fill_rstd(row_certifier *certifier, bool wide, ln_reference_result *result)
{
    const row_element element = {.is_rstd = true};
    ln_reference_counts counts = certifier->counts;
    rounded_pair rstd = certify(certifier, &element);
    result->facts.rstd = rstd.to_double;
    result->rstd_rounded = rstd.to_float;
    result->rstd_rest = wide ? certify_rest(certifier, &element).rest : 0.0;
    certifier->counts = counts;
}

/* Returns |xhat|, which does not count as an element. */
static rounded_rest size_of_xhat(row_certifier *certifier, double x)
{
    const row_element xhat = {.x = x, .gamma = 1.0};
    ln_reference_counts counts = certifier->counts;
    rounded_rest found = certify_rest(certifier, &xhat);
    certifier->counts = counts;
    return signbit(found.rounded) ? (rounded_rest){-found.rounded, -found.rest} : found;
}

static void fill_max_xhat(row_certifier *certifier, row_extremes extremes,
                          ln_reference_result *result)
{
    rounded_rest most = size_of_xhat(certifier, extremes.low);
    rounded_rest high = size_of_xhat(certifier, extremes.high);
    if (high.rounded > most.rounded || (high.rounded == most.rounded && high.rest > most.rest)) {
        most = high;
    }
    result->max_xhat = most.rounded;
    result->max_xhat_rest = most.rest;
}

static row_extremes extremes_of_task(const row_task *task)
{
    return task->storage == LN_F64 ? extremes_of_f64(task->hidden, task->x)
                                   : extremes_of(task->hidden, task->x);
}

/* Sets everything that depends on xhat to NaN. */
static void fill_nan(row_certifier *certifier, const row_task *task, ln_reference_result *result)
{
    for (size_t i = 0; i < task->hidden; i++) {
        storage_store(task->storage, result->rounded, i, (double)NAN);
        result->exact[i] = (double)NAN;
    }
    for (size_t i = 0; task->storage == LN_F64 && result->rest != NULL && i < task->hidden; i++) {
        result->rest[i] = (double)NAN;
    }
    certifier->counts.special += task->hidden;
    result->facts.rstd = (double)NAN;
    result->rstd_rest = (double)NAN;
    result->rstd_rounded = NAN;
    result->max_xhat = (double)NAN;
    result->max_xhat_rest = 0.0;
}

void row_fill_nan(row_certifier *certifier, const row_task *task, ln_reference_result *result)
{
    const double nan = (double)NAN;
    result->facts = (ln_row_facts){nan, nan, nan, nan, nan, nan};
    result->kappa = nan;
    result->mean_rest = nan;
    result->mean_rounded = NAN;
    fill_nan(certifier, task, result);
}

static void store_f32(row_certifier *certifier, const row_element *element, size_t i,
                      float *rounded, double *exact)
{
    if (rounding_is_clear(exact[i])) { /* never for a NaN */
        certifier->counts.fast++;
        rounded[i] = (float)exact[i];
        return;
    }
    rounded_pair y = evaluate(certifier, element);
    rounded[i] = y.to_float;
    exact[i] = y.to_double;
}

/* Stores an element of bf16 or f16. */
static void store_short(row_certifier *certifier, const row_element *element, ln_type type,
                        size_t i, uint16_t *rounded, double *exact)
{
    int side = 0;
    bool fast = !isnan(exact[i]);
    if (!fast) {
        exact[i] = evaluate(certifier, element).to_double;
    }
    bool compared = storage_is_midpoint(type, exact[i]);
    if (compared) {
        side = exact_row_compare(&certifier->row, element, (row_target){exact[i], 0.0, 0.0, 0.0});
    }
    if (fast) {
        certifier->counts.fast += !compared;
        certifier->counts.exact += compared;
    }
    rounded[i] = storage_round(type, exact[i], side);
}

static void load_parameters(const void *values, bool present, double absent, const row_task *task,
                            size_t begin, size_t count, double *loaded)
{
    if (!present || task->affine == LN_AFFINE_SCALAR) {
        double value = present ? storage_load(task->param, values, 0) : absent;
        for (size_t i = 0; i < count; i++) {
            loaded[i] = value;
        }
    } else if (task->param == LN_F32) {
        for (size_t i = 0; i < count; i++) {
            loaded[i] = (double)((const float *)values)[begin + i];
        }
    } else {
        for (size_t i = 0; i < count; i++) {
            loaded[i] = storage_load(task->param, values, begin + i);
        }
    }
}

/* Computes elements begin to begin + count - 1, count <= CHUNK, of any type but f64. */
static void fill_chunk(row_certifier *certifier, const row_task *task, size_t begin, size_t count,
                       ln_reference_result *result)
{
    double x[CHUNK], gamma[CHUNK], beta[CHUNK];
    for (size_t i = 0; i < count; i++) {
        x[i] = (double)((const float *)task->x)[begin + i];
    }
    load_parameters(task->gamma, ln_has_gamma(task->affine), 1.0, task, begin, count, gamma);
    load_parameters(task->beta, task->beta != NULL, 0.0, task, begin, count, beta);
    fast_row_decide(&certifier->fast, count, x, gamma, beta, result->exact + begin);
    for (size_t i = 0; i < count; i++) {
        row_element element = {x[i], gamma[i], beta[i], task->affine == LN_AFFINE_GAMMA1, false};
        if (task->storage == LN_F32) {
            store_f32(certifier, &element, begin + i, result->rounded, result->exact);
        } else {
            store_short(certifier, &element, task->storage, begin + i, result->rounded,
                        result->exact);
        }
    }
}

static void fill_f64(row_certifier *certifier, const row_task *task, ln_reference_result *result)
{
    row_element element = {.gamma_plus_one = task->affine == LN_AFFINE_GAMMA1};
    for (size_t i = 0; i < task->hidden; i++) {
        element.x = ((const double *)task->x)[i];
        load_parameters(task->gamma, ln_has_gamma(task->affine), 1.0, task, i, 1, &element.gamma);
        load_parameters(task->beta, task->beta != NULL, 0.0, task, i, 1, &element.beta);
        rounded_rest y = is_special(&element)
                             ? (rounded_rest){evaluate_special(certifier, &element), 0.0}
                             : certify_rest(certifier, &element);
        ((double *)result->rounded)[i] = y.rounded;
        result->exact[i] = y.rounded;
        if (result->rest != NULL) {
            result->rest[i] = isnan(y.rounded) ? (double)NAN : y.rest;
        }
    }
}

void row_fill_facts(row_certifier *certifier, const row_task *task, ln_reference_result *result)
{
    exact_row *row = &certifier->row;
    facts_take(&result->facts, row, extremes_of_task(task));
    result->kappa = kappa_of(row);
    result->mean_rounded = mean_of(row).to_float;
    result->mean_rest = task->storage == LN_F64 ? rest_of_mean(row, result->facts.mean) : 0.0;
}

void row_fill(row_certifier *certifier, const row_task *task, ln_reference_result *result)
{
    bool wide = task->storage == LN_F64;
    if (!certifier->row.defined) {
        fill_nan(certifier, task, result);
        return;
    }
    certifier_take(certifier, wide ? CERTIFIER_PRECISION_F64 : CERTIFIER_PRECISION, task->affine);
    fill_rstd(certifier, wide, result);
    fill_max_xhat(certifier, extremes_of_task(task), result);
    if (wide) {
        fill_f64(certifier, task, result);
        return;
    }
    for (size_t begin = 0; begin < task->hidden; begin += CHUNK) {
        size_t left = task->hidden - begin;
        fill_chunk(certifier, task, begin, left < CHUNK ? left : CHUNK, result);
    }
}

bool row_reserve(row_room *room, size_t bytes)
{
    if (bytes > room->capacity) {
        void *data = realloc(room->data, bytes);
        if (data == NULL) {
            return false;
        }
        *room = (row_room){data, bytes};
    }
    return true;
}

/* Returns x + residual rounded to a 16-bit type. The sum is rounded to double first, which changes nothing, since
 * 53 >= 2 p + 2 (Figueroa 1995, "When is double rounding innocuous?") and subnormal sums are exact. */
static double add_short(ln_type type, const void *x, const void *residual, size_t i)
{
    double sum = storage_load(type, x, i) + storage_load(type, residual, i);
    uint16_t rounded = storage_round(type, sum, 0);
    return storage_load(type, &rounded, 0);
}

bool row_take_x(ln_reference *reference, row_task *task, const void *x, const void *residual)
{
    task->x = x;
    bool has_own_type = task->storage == LN_F32 || task->storage == LN_F64;
    if (residual == NULL && has_own_type) {
        return true;
    }
    bool wide = task->storage == LN_F64;
    if (task->hidden > SIZE_MAX / sizeof(double) ||
        !row_reserve(&reference->row, task->hidden * sizeof(double))) {
        return false;
    }
    for (size_t i = 0; i < task->hidden; i++) {
        if (wide) {
            ((double *)reference->row.data)[i] =
                ((const double *)x)[i] + ((const double *)residual)[i];
        } else if (residual != NULL && task->storage == LN_F32) {
            ((float *)reference->row.data)[i] =
                ((const float *)x)[i] + ((const float *)residual)[i];
        } else {
            ((float *)reference->row.data)[i] =
                (float)(residual != NULL ? add_short(task->storage, x, residual, i)
                                         : storage_load(task->storage, x, i));
        }
    }
    task->x = reference->row.data;
    return true;
}

bool ln_reference_row(ln_reference *reference, const ln_convention *convention, ln_type storage,
                      ln_type param, size_t hidden, const void *x, const void *residual,
                      const void *gamma, const void *beta, ln_reference_result *result)
{
    row_task task = {convention->affine,
                     storage,
                     param,
                     hidden,
                     x,
                     gamma,
                     ln_has_beta(convention->affine) ? beta : NULL};
    if (hidden == 0 || x == NULL || (ln_has_gamma(task.affine) && gamma == NULL) ||
        (ln_has_beta(task.affine) && beta == NULL) || !row_take_x(reference, &task, x, residual)) {
        return false;
    }
    row_certifier *certifier = &reference->certifier;
    certifier->counts.elements += hidden;
    bool finite = storage == LN_F64
                      ? exact_row_take_f64(&certifier->row, convention, hidden, task.x)
                      : exact_row_take(&certifier->row, convention, hidden, task.x);
    if (finite) {
        row_fill_facts(certifier, &task, result);
        row_fill(certifier, &task, result);
    } else {
        row_fill_nan(certifier, &task, result);
    }
    return true;
}
