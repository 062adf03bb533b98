/* Which function made this output? judge/fingerprint/ finds out. */
#include "internal.h"
#include "base/allocate.h"
#include "judge/fingerprint/fingerprint.h"
#include <stdlib.h>
#include <string.h>

_Static_assert(LNJUDGE_AXES == (int)FINGERPRINT_AXES && LNJUDGE_WORDS == (int)FINGERPRINT_WORDS &&
                   LNJUDGE_NAMED == (int)ANSWER_NAMED,
               "lnjudge.h says what fingerprint.h does");

static void check_box(const lnjudge_box *box)
{
    size_t elements = 1;
    if (!box || !box->x || !box->y || box->dimensions == 0 || box->dimensions > LNJUDGE_AXES)
        die(EXIT_CODE_USAGE, "x and y of 1 to %d axes were expected", LNJUDGE_AXES);
    for (size_t a = 0; a < box->dimensions; a++)
        if (box->shape[a] == 0 || __builtin_mul_overflow(elements, box->shape[a], &elements) ||
            elements > SIZE_MAX / 64)
            die(EXIT_CODE_USAGE, "axis %zu of %zu: none, or too many", a, box->shape[a]);
    if (!box->parameters != (!box->gamma && !box->beta))
        die(EXIT_CODE_USAGE, "gamma or beta of %zu elements", box->parameters);
    if (box->digits < LNJUDGE_EXACT || box->digits > FINGERPRINT_MOST_DIGITS ||
        box->x_digits < LNJUDGE_EXACT || box->x_digits > FINGERPRINT_MOST_DIGITS)
        die(EXIT_CODE_USAGE, "0 to %d decimals, or LNJUDGE_EXACT, were expected",
            FINGERPRINT_MOST_DIGITS);
}

static void take_candidates(const fingerprint_found *found, lnjudge_fingerprint *made)
{
    *made = (lnjudge_fingerprint){.answer = (lnjudge_answer)found->answer,
                                  .count = found->count,
                                  .candidates =
                                      allocate_zeroed(found->count + 1, sizeof *made->candidates),
                                  .tried = found->tried,
                                  .rows = found->rows,
                                  .rows_told = found->told,
                                  .probe = found->probe,
                                  .pairs = found->pairs,
                                  .pairs_left = found->pairs_left};
    for (size_t i = 0; i < found->count; i++) {
        const fingerprint_candidate *from = &found->candidates[i];
        lnjudge_candidate *to = &made->candidates[i];
        to->is_convention = from->kind == KIND_NORMALISED;
        to->convention = from->convention;
        to->eps_low = from->eps_low;
        to->eps_high = from->eps_high;
        memcpy(to->words, from->words, sizeof to->words);
        memcpy(to->also, from->also, sizeof to->also);
    }
}

lnjudge_status lnjudge_fingerprint_make(const lnjudge_box *box, lnjudge_fingerprint *made,
                                        lnjudge_error *told)
{
    fingerprint_found found;
    CATCH(told);
    check_place(made, "the answer");
    *made = (lnjudge_fingerprint){0};
    check_box(box);
    fingerprint_input input = {.dimensions = box->dimensions,
                               .x = box->x,
                               .y = box->y,
                               .residual = box->residual,
                               .gamma = box->gamma,
                               .beta = box->beta,
                               .parameters = box->parameters,
                               .x_type = box->x_type,
                               .y_type = box->y_type,
                               .param = box->param,
                               .digits = box->digits,
                               .x_digits = box->x_digits};
    memcpy(input.shape, box->shape, sizeof input.shape);
    fingerprint_make(&input, &found);
    take_candidates(&found, made);
    fingerprint_free(&found);
    return report_error(&caught.error, told);
}

void lnjudge_fingerprint_free(lnjudge_fingerprint *made)
{
    if (!made)
        return;
    free(made->candidates);
    *made = (lnjudge_fingerprint){0};
}
