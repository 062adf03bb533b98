/* Black boxes whose convention is known, for the tests of the fingerprint. */
#ifndef LNBENCH_FINGERPRINT_BOX_H
#define LNBENCH_FINGERPRINT_BOX_H

#include "domain/convention.h"
#include "judge/layernorm/fingerprint/fingerprint.h"
#include "inputs/families.h"
#include "metrics/metrics.h"
#include "test.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST = 4096, MOST_HIDDEN = 96 };

static ln_reference *reference;

static inline int create_reference(void **state)
{
    (void)state;
    reference = ln_reference_create();
    return reference ? 0 : -1;
}

static inline int destroy_reference(void **state)
{
    (void)state;
    ln_reference_destroy(reference);
    return 0;
}

/* What goes in and what a box of a certain convention made of it. */
typedef struct eps_box {
    fingerprint_input input;
    float x[MOST], gamma[MOST_HIDDEN], beta[MOST_HIDDEN], rounded[MOST];
    double y[MOST], exact[MOST];
} eps_box;

static inline ln_convention parse(const char *list)
{
    ln_convention convention;
    error err;
    if (!convention_parse(list, &convention, &err))
        fail_msg("%s", err.message);
    return convention;
}

/* The box computes in f32, correctly rounded. */
static inline void run_box(eps_box *box, const ln_convention *convention)
{
    const fingerprint_input *input = &box->input;
    for (size_t row = 0; row < input->rows; row++) {
        size_t at = row * input->hidden;
        ln_reference_result result = {.rounded = box->rounded + at, .exact = box->exact + at};
        assert_true(ln_reference_row(reference, convention, LN_F32, LN_F32, input->hidden,
                                     box->x + at, NULL,
                                     ln_has_gamma(convention->affine) ? box->gamma : NULL,
                                     ln_has_beta(convention->affine) ? box->beta : NULL, &result));
    }
    for (size_t i = 0; i < input->rows * input->hidden; i++)
        box->y[i] = (double)box->rounded[i];
}

/* Rows of normal numbers; row r is scaled by 2^(-shrink (r mod 4)), with the vector parameters of
 * a seed, to be given to the fingerprint or not. */
static inline void fill_box(eps_box *box, size_t rows, size_t hidden, int shrink, bool parameters)
{
    const ln_convention vector = {.affine = LN_AFFINE_VECTOR};
    assert_true(rows * hidden <= MOST && hidden <= MOST_HIDDEN);
    box->input = (fingerprint_input){.rows = rows,
                                     .hidden = hidden,
                                     .inputs = {[ROLE_X] = box->x},
                                     .y = box->y,
                                     .digits = FINGERPRINT_EXACT,
                                     .x_digits = FINGERPRINT_EXACT,
                                     .noise = 2};
    assert_true(input_rows("normal", LN_F32, 7, 0, rows, hidden, box->x, NULL));
    for (size_t i = 0; i < rows * hidden; i++)
        box->x[i] = ldexpf(box->x[i], -shrink * (int)(i / hidden % 4));
    input_affine(&vector, 7, hidden,
                 (float *[ROLES_MOST]){[ROLE_GAMMA] = box->gamma, [ROLE_BETA] = box->beta});
    if (parameters) {
        box->input.inputs[ROLE_GAMMA] = box->gamma;
        box->input.inputs[ROLE_BETA] = box->beta;
        box->input.parameters = hidden;
    }
}

static inline void find(const fingerprint_input *input, fingerprint *found)
{
    error err;
    if (!fingerprint_make(input, found, &err))
        fail_msg("%s", err.message);
}

static inline const fingerprint_candidate *candidate_of(const fingerprint *found,
                                                        const ln_convention *convention)
{
    char wanted[CONVENTION_MAX_LENGTH], given[CONVENTION_MAX_LENGTH];
    convention_format(convention, wanted);
    for (size_t i = 0; i < found->count; i++)
        if (strcmp(convention_format(&found->candidates[i].convention, given), wanted) == 0)
            return &found->candidates[i];
    return NULL;
}

static inline void assert_first(const fingerprint *found, const char *wanted)
{
    char label[CONVENTION_MAX_LENGTH];
    assert_string_equal(convention_label(&found->candidates[0].convention, label), wanted);
}

#endif
