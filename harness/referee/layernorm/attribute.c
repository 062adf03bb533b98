#include "referee/layernorm/attribute.h"
#include "exact/double_double.h"
#include "referee/internal.h"
#include "exact/scale.h"
#include "metrics/storage.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *stage_name(error_stage stage)
{
    static const char *const names[STAGES] = {"mean",  "variance", "rstd",
                                              "apply", "rounding", "total"};
    return names[stage];
}

/* A row with what is exact about it. */
typedef struct row_view {
    const judge_block *block;
    const ln_reference_result *result;
    const void *x, *residual, *computed;
} row_view;

static row_view view_of(const judge_block *block, const void *computed, size_t row)
{
    const void *residual = block->inputs[ROLE_RESIDUAL];
    return (row_view){block, &block->results[row], judge_row_of(block, block->inputs[ROLE_X], row),
                      residual ? judge_row_of(block, residual, row) : NULL,
                      judge_row_of(block, computed, row)};
}

/* Rounded to the type, a tie of high broken by low. */
static double round_to(ln_type type, double_double value)
{
    uint16_t bits;
    if (type == LN_F64)
        return value.hi;
    if (type == LN_F32)
        return (double)(float)value.hi;
    bits = storage_round(type, value.hi, (value.lo > 0) - (value.lo < 0));
    return storage_load(type, &bits, 0);
}

/* What the exact mean has beyond a double. */
static double mean_left(const row_view *row)
{
    return (double)left_of(row->result->facts.mean, row->result->mean_rest);
}

/* What was normalised, x + residual rounded first, less the mean. */
static double stage_result(const row_view *row, size_t i)
{
    ln_type type = row->block->storage;
    double x = storage_load(type, row->x, i);
    if (row->residual)
        x = round_to(type, two_sum(x, storage_load(type, row->residual, i)));
    return (x - row->result->facts.mean) - mean_left(row);
}

static double computed_of(const row_view *row, size_t i)
{
    return storage_load(row->block->storage, row->computed, i);
}

static metrics_row metrics_row_of(const row_view *row)
{
    const judge_block *block = row->block;
    return judge_metrics_row(block, (size_t)(row->result - block->results));
}

static double ulp_of_scale(const row_view *row, size_t i)
{
    const metrics_row judged = metrics_row_of(row);
    return ln_ulp(judged.storage, element_scale(&judged, i));
}

static double off_in_row_ulp(const row_view *row, size_t i)
{
    const metrics_row judged = metrics_row_of(row);
    return row_ulp_of(&judged, i, computed_of(row, i));
}

/* What the exact answer has beyond a double. */
static double answer_left(const row_view *row, size_t i)
{
    const metrics_row judged = metrics_row_of(row);
    return (double)left_of(row->result->exact[i], rest_of(&judged, i));
}

static bool is_finite_row(const row_view *row)
{
    if (!isfinite(row->result->facts.rstd))
        return false;
    for (size_t i = 0; i < row->block->hidden; i++)
        if (!isfinite(computed_of(row, i)) ||
            !isfinite(storage_load(row->block->storage, row->result->rounded, i)))
            return false;
    return true;
}

/* What the statistics of a kernel are off by: mean' - mean in units of xhat, and the relative
 * errors of rstd, its own rounding apart. */
typedef struct statistics_error {
    double mean, variance, rstd;
} statistics_error;

static statistics_error given_error(const row_view *row, const row_statistics *given,
                                    ln_type accumulator)
{
    double exact = row->result->facts.rstd;
    double held = accumulator == LN_F64 ? exact : (double)(float)exact;
    double mean = (row->result->facts.mean - given->mean) + mean_left(row);
    return (statistics_error){.mean = mean * given->rstd,
                              .variance = given->rstd - held,
                              .rstd =
                                  (held - exact) - (double)left_of(exact, row->result->rstd_rest)};
}

static double gamma_of(const row_view *row, size_t i)
{
    const metrics_row judged = metrics_row_of(row);
    return gamma_at(&judged, i);
}

/* The errors' weighted least squares on gamma * (x - mean) and gamma: a 2 x 2 system, whose two
 * columns are nearly orthogonal. */
static statistics_error fitted_error(const row_view *row)
{
    double gg = 0, gh = 0, hh = 0, ge = 0, he = 0, rstd = row->result->facts.rstd;
    for (size_t i = 0; i < row->block->hidden; i++) {
        double ulp = ulp_of_scale(row, i), gamma = gamma_of(row, i) / ulp;
        double g = gamma * stage_result(row, i) * rstd, h = gamma;
        double e = off_in_row_ulp(row, i);
        gg += g * g;
        gh += g * h;
        hh += h * h;
        ge += g * e;
        he += h * e;
    }
    if (!operation_has(operations[convention_operation(&row->block->convention)], ROLE_MEAN))
        gh = he = 0;
    double determinant = gg * hh - gh * gh;
    if (!(determinant > 1e-12 * gg * hh))
        return (statistics_error){.mean = hh > 0 ? he / hh : 0};
    return (statistics_error){.mean = (gg * he - gh * ge) / determinant,
                              .variance = rstd * (hh * ge - gh * he) / determinant};
}

/* The five stages of one element, and their sum. */
static void split_error(const row_view *row, const statistics_error *off, size_t i,
                        double parts[STAGES])
{
    double gamma = gamma_of(row, i), from_mean = stage_result(row, i);
    double exact = row->result->exact[i], ulp = ulp_of_scale(row, i);
    parts[STAGE_MEAN] = gamma * off->mean;
    parts[STAGE_VARIANCE] = gamma * from_mean * off->variance;
    parts[STAGE_RSTD] = gamma * from_mean * off->rstd;
    double off_by = parts[STAGE_MEAN] + parts[STAGE_VARIANCE] + parts[STAGE_RSTD];
    double_double unrounded = two_sum(exact, off_by + answer_left(row, i));
    double rounded = round_to(row->block->storage, unrounded);
    parts[STAGE_ROUNDING] = (rounded - unrounded.hi) - unrounded.lo;
    parts[STAGE_APPLY] = computed_of(row, i) - rounded;
    for (int stage = 0; stage < STAGES; stage++)
        parts[stage] /= ulp;
    parts[STAGE_TOTAL] = off_in_row_ulp(row, i);
}

static void add_element(attribution *found, const double parts[STAGES], size_t row, size_t column,
                        bool first)
{
    bool worst = first || fabs(parts[STAGE_TOTAL]) > found->stages[STAGE_TOTAL].max;
    if (worst) {
        found->worst_row = row;
        found->worst_column = column;
    }
    for (int stage = 0; stage < STAGES; stage++) {
        stage_error *stage_result = &found->stages[stage];
        stage_result->max = fmax(stage_result->max, fabs(parts[stage]));
        stage_result->rms += parts[stage] * parts[stage]; /* the sum, until all are there */
        if (worst)
            stage_result->at_worst = parts[stage];
    }
}

void attribute_outputs(const judge_block *block, const void *computed,
                       const row_statistics *statistics, ln_type accumulator, attribution *found)
{
    *found = (attribution){.fitted = statistics == NULL, .verdict.kind = VERDICT_RIGHT};
    for (size_t r = 0; r < block->rows; r++) {
        row_view row = view_of(block, computed, r);
        double parts[STAGES];
        if (!is_finite_row(&row)) {
            found->left_out++;
            continue;
        }
        statistics_error off =
            statistics ? given_error(&row, &statistics[r], accumulator) : fitted_error(&row);
        for (size_t i = 0; i < block->hidden; i++) {
            split_error(&row, &off, i, parts);
            add_element(found, parts, r, i, found->rows == 0 && i == 0);
        }
        found->rows++;
    }
    double count = (double)(found->rows * block->hidden);
    for (int stage = 0; stage < STAGES; stage++)
        found->stages[stage].rms = count > 0 ? sqrt(found->stages[stage].rms / count) : NAN;
}

bool attribute_kernel(row_judge *judge, const judge_block *block, const kernel_entry *kernel,
                      attribution *found, error *err)
{
    case_verdict verdict = {.kind = VERDICT_RIGHT};
    ln_type accumulator = kernel->facts.accumulator;
    bool there = (accumulator == LN_F32 || accumulator == LN_F64) &&
                 strcmp(kernel->facts.apply, "direct") == 0;
    *found = (attribution){.verdict.kind = VERDICT_RIGHT};
    if (!judge_reserve(judge, block, err))
        return false;
    if (!judge_run(judge, block, kernel, LAYOUT_BEFORE, judge->other, &verdict, err)) {
        found->verdict = verdict;
        return err->code == EXIT_CODE_FINE;
    }
    row_statistics *statistics = calloc(block->rows, sizeof *statistics);
    if (!statistics)
        return fail_memory(err, "mean and rstd");
    for (size_t row = 0; row < block->rows; row++) {
        statistics[row] =
            (row_statistics){judge->given[ROLE_MEAN][row], judge->given[ROLE_RSTD][row]};
        /* What was not given is NaN; so is what a NaN row has, which is left out anyway. */
        there = there && (!isnan(statistics[row].mean) || isnan(block->results[row].facts.mean));
    }
    attribute_outputs(block, judge->other, there ? statistics : NULL, accumulator, found);
    free(statistics);
    return true;
}
