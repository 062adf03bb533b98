/* Which convention made this output? judge/layernorm/fingerprint/ finds out. */
#include "internal.h"
#include "judge/layernorm/fingerprint/fingerprint.h"
#include <stdlib.h>

static bool check_box(const lnjudge_box *box, error *err)
{
    size_t elements;
    if (!box || !box->x || !box->y || box->rows == 0 || box->hidden == 0)
        return fail(err, EXIT_CODE_USAGE, "x and y of at least one row of one were expected");
    if (__builtin_mul_overflow(box->rows, box->hidden, &elements) || elements > SIZE_MAX / 64)
        return fail(err, EXIT_CODE_USAGE, "%zu rows of %zu are too many", box->rows, box->hidden);
    if (!(box->noise >= 0))
        return fail(err, EXIT_CODE_USAGE, "noise %g: at least 0 was expected", box->noise);
    if ((box->gamma && box->gamma_count != 1 && box->gamma_count != box->hidden) ||
        (box->beta && box->beta_count != 1 && box->beta_count != box->hidden) ||
        (box->gamma && box->beta && box->gamma_count != box->beta_count))
        return fail(err, EXIT_CODE_USAGE,
                    "gamma of %zu and beta of %zu elements: %zu, or 1, of each was expected",
                    box->gamma_count, box->beta_count, box->hidden);
    return (box->digits >= LNJUDGE_EXACT && box->digits <= FINGERPRINT_MOST_DIGITS &&
            box->x_digits >= LNJUDGE_EXACT && box->x_digits <= FINGERPRINT_MOST_DIGITS) ||
           fail(err, EXIT_CODE_USAGE, "0 to %d decimals, or LNJUDGE_EXACT, were expected",
                FINGERPRINT_MOST_DIGITS);
}

static bool take_ranking(const fingerprint *found, lnjudge_fingerprint *made, error *err)
{
    *made = (lnjudge_fingerprint){.count = found->count,
                                  .alike = found->first_group,
                                  .candidates = calloc(found->count, sizeof *made->candidates),
                                  .fits = fingerprint_fits(found),
                                  .eps_is_settled = fingerprint_eps_is_settled(found),
                                  .eps_low = found->eps_low,
                                  .eps_high = found->eps_high,
                                  .probe_count = found->probe_count,
                                  .pairs_left = found->pairs_left};
    if (!made->candidates)
        return fail_memory(err, "the ranking");
    for (size_t i = 0; i < found->count; i++) {
        const fingerprint_candidate *from = &found->candidates[i];
        made->candidates[i] = (lnjudge_candidate){
            from->convention, from->row_ulp_max, from->rel_l2,   from->eps_low,  from->eps_high,
            from->mismatches, from->group,       from->possible, from->estimated};
    }
    for (size_t i = 0; i < found->probe_count; i++) {
        made->probes[i] = found->probes[i].scale;
        made->probe_pairs[i] = found->probes[i].pairs;
        made->probe_margins[i] = found->probes[i].least_margin;
    }
    return true;
}

lnjudge_status lnjudge_fingerprint_make(const lnjudge_box *box, lnjudge_fingerprint *made,
                                        lnjudge_error *told)
{
    error err = {0};
    fingerprint found = {0};
    if (!check_place(made, "the answer", &err))
        return report_error(&err, told);
    *made = (lnjudge_fingerprint){0};
    if (check_box(box, &err)) {
        fingerprint_input input = {.rows = box->rows,
                                   .hidden = box->hidden,
                                   .inputs = {[ROLE_X] = box->x,
                                              [ROLE_RESIDUAL] = box->residual,
                                              [ROLE_GAMMA] = box->gamma,
                                              [ROLE_BETA] = box->beta},
                                   .parameters = box->gamma ? box->gamma_count : box->beta_count,
                                   .y = box->y,
                                   .y_is_f64 = box->y_is_f64,
                                   .digits = box->digits,
                                   .x_digits = box->x_digits,
                                   .noise = box->noise};
        if (fingerprint_make(&input, &found, &err))
            take_ranking(&found, made, &err);
        fingerprint_free(&found);
    }
    return report_error(&err, told);
}

void lnjudge_fingerprint_free(lnjudge_fingerprint *made)
{
    if (!made)
        return;
    free(made->candidates);
    *made = (lnjudge_fingerprint){0};
}
