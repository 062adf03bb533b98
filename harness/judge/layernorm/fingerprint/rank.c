/* The candidates, their order, and which of them the data can't tell apart. */
#include "domain/convention.h"
#include "judge/layernorm/fingerprint/internal.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double common_eps[] = {1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10, 1e-11, 1e-12};

enum {
    COMMON = sizeof common_eps / sizeof *common_eps,
    PLACES = 3,
    DIVISORS = 2,
    /* every common eps and an estimate at each place, and none at all */
    MOST_CANDIDATES = AFFINE_FORMS * DIVISORS * (PLACES * (COMMON + 1) + 1)
};

/* The smallest distance, in row ULP of f32, that means anything for y's type: y's own rounding, or
 * what the exact answers are known to (rows.c). */
static double unit_of(const fingerprint_input *input)
{
    return input->y_is_f64 ? 0x1p-25 : 1;
}

static void judge(const fingerprint_rows *rows, fingerprint_candidate *candidate)
{
    fingerprint_distance found = fingerprint_measure(rows, &candidate->convention, 1, 1);
    candidate->mismatches = found.mismatches;
    candidate->row_ulp_max = found.row_ulp_max;
    candidate->rel_l2 = found.rel_l2;
    candidate->possible =
        !fingerprint_printed(rows->input) || (found.excess <= 1 && found.mismatches == 0);
}

static void add(const fingerprint_rows *rows, ln_convention convention, fingerprint *found)
{
    fingerprint_candidate *made = &found->candidates[found->count++];
    *made = (fingerprint_candidate){.convention = convention};
    judge(rows, made);
}

static void add_common(const fingerprint_rows *rows, fingerprint *found)
{
    for (int affine = 0; affine < AFFINE_FORMS; affine++)
        for (int ddof = 0; rows->gamma[affine] && ddof < DIVISORS; ddof++) {
            ln_convention convention = {.ddof = ddof, .affine = (ln_affine)affine};
            add(rows, convention, found);
            for (int place = LN_EPS_VAR; place <= LN_EPS_QUOTIENT; place++)
                for (size_t e = 0; e < COMMON; e++) {
                    convention.eps_place = (ln_eps_place)place;
                    convention.eps = common_eps[e];
                    add(rows, convention, found);
                }
        }
}

static int order(double a, double b)
{
    return (a > b) - (a < b);
}

static int by_distance(const void *left, const void *right)
{
    const fingerprint_candidate *a = left, *b = right;
    if (a->possible != b->possible)
        return a->possible ? -1 : 1;
    if (a->mismatches != b->mismatches)
        return a->mismatches < b->mismatches ? -1 : 1;
    int way = order(a->row_ulp_max, b->row_ulp_max);
    return way ? way : order(a->rel_l2, b->rel_l2);
}

static void rank(fingerprint *found)
{
    qsort(found->candidates, found->count, sizeof *found->candidates, by_distance);
}

/* An eps of one's own always fits noise a little better: it is taken for real only where nothing
 * common explains the data, and it explains them four times as well. */
static void add_estimates(const fingerprint_rows *rows, fingerprint *found)
{
    const fingerprint_candidate best = found->candidates[0];
    bool printed = fingerprint_printed(rows->input);
    if (printed ? best.possible
                : best.mismatches == 0 && best.row_ulp_max <= 4 * unit_of(rows->input))
        return;
    for (int affine = 0; affine < AFFINE_FORMS; affine++)
        for (int ddof = 0; rows->gamma[affine] && ddof < DIVISORS; ddof++)
            for (int place = LN_EPS_VAR; place <= LN_EPS_QUOTIENT; place++) {
                fingerprint_candidate made = {
                    .convention = {ddof, (ln_eps_place)place, 0, (ln_affine)affine}};
                bool tells = rows->input->rows > 1 || place != LN_EPS_QUOTIENT;
                if (!tells || !fingerprint_fit_eps(rows, &made))
                    continue;
                judge(rows, &made);
                bool better = made.mismatches == best.mismatches
                                  ? made.row_ulp_max < best.row_ulp_max / 4
                                  : made.mismatches < best.mismatches;
                if (printed ? made.possible : better)
                    found->candidates[found->count++] = made;
            }
}

static bool is_preset(const ln_convention *convention)
{
    char label[CONVENTION_MAX_LENGTH], list[CONVENTION_MAX_LENGTH];
    return strcmp(convention_label(convention, label), convention_format(convention, list)) != 0;
}

/* Whether the form takes every parameter that was given. */
static bool uses_all(const fingerprint_input *input, const ln_convention *convention)
{
    return ln_has_gamma(convention->affine) >= (input->inputs[ROLE_GAMMA] != NULL) &&
           ln_has_beta(convention->affine) >= (input->inputs[ROLE_BETA] != NULL);
}

/* Of candidates that are as near as the nearest, as far as y's type or digits can show, those that
 * somebody uses come first, and of these the ones that use what was given. */
static bool prefer_known(const fingerprint_rows *rows, fingerprint *found, error *err)
{
    fingerprint_candidate *all = found->candidates;
    fingerprint_candidate *sorted = malloc(found->count * sizeof *sorted);
    double limit = all[0].row_ulp_max + unit_of(rows->input) / 8;
    size_t ties = 0, placed = 0;
    if (!sorted)
        return fail_memory(err, "the ranking of conventions");
    while (ties < found->count && all[ties].possible && all[ties].mismatches == all[0].mismatches &&
           (fingerprint_printed(rows->input) || all[ties].row_ulp_max <= limit))
        ties++;
    for (int class = 0; class < 4; class ++)
        for (size_t i = 0; i < ties; i++) {
            const ln_convention *convention = &all[i].convention;
            if (2 * !is_preset(convention) + !uses_all(rows->input, convention) == class)
                sorted[placed++] = all[i];
        }
    memcpy(all, sorted, ties * sizeof *all);
    free(sorted);
    return true;
}

/* On one row an eps on the quotient is what a rounded mean is: all elements are off by the same. So
 * one row never settles it. */
static bool differ_by_quotient(const ln_convention *a, const ln_convention *b)
{
    bool plain_a = a->eps_place == LN_EPS_NONE || a->eps_place == LN_EPS_QUOTIENT;
    bool plain_b = b->eps_place == LN_EPS_NONE || b->eps_place == LN_EPS_QUOTIENT;
    return plain_a && plain_b && a->ddof == b->ddof && a->affine == b->affine;
}

static bool alike(const fingerprint_rows *rows, double resolution, const fingerprint_candidate *a,
                  const fingerprint_candidate *b)
{
    if (rows->input->rows == 1 && differ_by_quotient(&a->convention, &b->convention))
        return true;
    for (size_t row = 0; row < rows->input->rows; row++) {
        exact_view view = fingerprint_row(rows, row);
        if (fingerprint_apart(rows, &view, resolution, &a->convention, &b->convention, 1, 1) > 1)
            return false;
    }
    return true;
}

/* A group: its nearest candidate, and all whose exact answers are the same as that one's as far as
 * the data goes. With digits, all that are possible make the first. */
static void make_groups(const fingerprint_rows *rows, fingerprint *found)
{
    const size_t none = SIZE_MAX;
    fingerprint_candidate *all = found->candidates;
    bool printed = fingerprint_printed(rows->input);
    size_t groups = 0;
    for (size_t i = 0; i < found->count; i++)
        all[i].group = none;
    for (size_t i = 0; i < found->count; i++) {
        if (all[i].group != none)
            continue;
        all[i].group = groups;
        for (size_t j = i + 1; j < found->count; j++) {
            if (all[j].group != none)
                continue;
            if (printed && (all[i].possible || all[j].possible)
                    ? all[i].possible == all[j].possible
                    : alike(rows, found->resolution, &all[i], &all[j]))
                all[j].group = groups;
        }
        groups++;
    }
}

/* The members of the first group to the front, with the order left as it is. */
static bool gather_first(fingerprint *found, error *err)
{
    fingerprint_candidate *all = malloc(found->count * sizeof *all);
    if (!all)
        return fail_memory(err, "the ranking of conventions");
    size_t placed = 0;
    for (int later = 0; later < 2; later++) {
        for (size_t i = 0; i < found->count; i++)
            if ((found->candidates[i].group != 0) == later)
                all[placed++] = found->candidates[i];
        if (!later)
            found->first_group = placed;
    }
    free(found->candidates);
    found->candidates = all;
    return true;
}

/* A box whose best explanation is off by b may be off as far in the other direction. On one row
 * nothing shows how far its mean was rounded, which moves all elements by kappa units at most. */
static double resolution_of(const fingerprint_rows *rows, const fingerprint *found)
{
    double unit = unit_of(rows->input);
    if (rows->input->rows == 1 && isfinite(rows->kappa_max))
        unit *= fmax(1, rows->kappa_max);
    return fmax(unit, 2 * found->candidates[0].row_ulp_max);
}

/* A listed eps may explain y and another one, which is not listed, too. */
static void find_eps_range(const fingerprint_rows *rows, fingerprint *found)
{
    const fingerprint_candidate *best = found->candidates;
    double limit = fingerprint_printed(rows->input) ? 1 : best->row_ulp_max + unit_of(rows->input);
    if (best->convention.eps > 0 && best->mismatches == 0)
        fingerprint_eps_range(rows, &best->convention, limit, &found->eps_low, &found->eps_high);
}

bool fingerprint_eps_is_settled(const fingerprint *found)
{
    double eps = found->candidates[0].convention.eps;
    return eps == 0 || (found->eps_low > 0.75 * eps && found->eps_high < 1.25 * eps);
}

bool fingerprint_make(const fingerprint_input *input, fingerprint *found, error *err)
{
    fingerprint_rows rows;
    *found = (fingerprint){.rows = input->rows, .hidden = input->hidden};
    if (!fingerprint_rows_make(input, &rows, err))
        return false;
    found->candidates = malloc(MOST_CANDIDATES * sizeof *found->candidates);
    bool fine = found->candidates || fail_memory(err, "the ranking of conventions");
    if (fine) {
        add_common(&rows, found);
        rank(found);
        add_estimates(&rows, found);
        rank(found);
        found->resolution = resolution_of(&rows, found);
        found->rounding_reach =
            rows.kappa_max > 0 ? 2 * (double)input->hidden * rows.kappa_max : INFINITY;
        found->printed = fingerprint_printed(input);
        fine = prefer_known(&rows, found, err);
    }
    if (fine) {
        make_groups(&rows, found);
        fine = gather_first(found, err) && fingerprint_find_probes(&rows, found, err);
    }
    if (fine) {
        find_eps_range(&rows, found);
    }
    fingerprint_rows_free(&rows);
    if (!fine)
        fingerprint_free(found);
    return fine;
}

void fingerprint_free(fingerprint *found)
{
    free(found->candidates);
    *found = (fingerprint){0};
}
