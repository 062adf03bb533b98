/* Which function made this output?
 *
 *     which_input input = {.dimensions = 2, .shape = {6, 768}, .x = x, .y = y, .x_type = LN_F32,
 *                          .y_type = LN_F32, .digits = WHICH_EXACT, .x_digits = WHICH_EXACT};
 *     which_found found;
 *     which_make(&input, &found);
 *     if (found.answer == WHICH_NAMED)
 *         puts(found.candidates[0].words);               // "torch"
 *     which_free(&found);
 *
 * A candidate is an operation x what is normalised (which axes; x, its sum with a residual, rounded or
 * not) x divisor x place and size of eps x how gamma and beta were used x where values were rounded. Each
 * row of each is held against what any order of summation may give (the judge's limits), so what made y
 * is never left out if it is a candidate at all; eps is no list of sizes but an interval, in which the
 * true one lies. hold.c has the proof. */
#ifndef LNBENCH_WHICH_H
#define LNBENCH_WHICH_H

#include "domain/operation.h"

enum { WHICH_AXES = 8, WHICH_EXACT = -1, WHICH_MOST_DIGITS = 17, WHICH_WORDS = 256 };

typedef struct which_input {
    size_t dimensions, shape[WHICH_AXES];
    const double *x, *y;
    const double *residual, *gamma, *beta; /* NULL: not given */
    size_t parameters;                     /* elements of gamma, and of beta */
    ln_type x_type, y_type;                /* as they were kept */
    ln_type param;
    int digits, x_digits; /* decimals that y and x were printed to, or WHICH_EXACT */
} which_input;

typedef enum which_kind {
    WHICH_NORMALISED, /* under `convention` */
    WHICH_CENTRED,    /* x - mean, not divided */
    WHICH_COPIED,     /* x itself, perhaps with gamma and beta */
    WHICH_SOFTMAX,
} which_kind;

typedef struct which_candidate {
    which_kind kind;
    ln_convention convention;
    double eps_low, eps_high; /* every eps between explains y */
    char words[WHICH_WORDS];  /* the convention's label and what no convention has */
    char
        also[WHICH_WORDS]; /* other presets that it may be: "= te; in f32 also llama, mlx"; or "" */
    int rank;              /* presets first, strange things last */
    size_t family, source; /* numbers: one function has one family, however x came about and where
                            * it was rounded */
    bool plain;            /* normalises the last axis of x alone: a further row would tell more */
} which_candidate;

typedef enum which_answer { WHICH_NONE, WHICH_OPEN, WHICH_NAMED } which_answer;

typedef struct which_found {
    which_answer answer;
    which_candidate *candidates; /* all that explain y */
    size_t count, tried;
    size_t rows,
        told; /* of the last axis; those that tell anything of the operations that are left (of
                        * none, of either) */
    size_t last_row; /* behind which no candidate over the last axis was left; of WHICH_NONE */
    /* The row that would tell most of them apart: +-probe in turn (0 at the end of an odd row); 0: none
     * does. Of so many pairs (eps at its usual sizes) it leaves so many. */
    float probe;
    size_t pairs, pairs_left;
} which_found;

/* Dies of a shape and parameters that do not go together (usage). */
void which_make(const which_input *input, which_found *found);
void which_free(which_found *found);

/* Whether the convention may have made y: a candidate with nothing strange is the same to these types, its eps
 * within the interval. */
bool which_is_among(const which_input *input, const which_found *found,
                    const ln_convention *convention);

/* Named: all candidates are one function, where values were rounded apart.
 * "named: torch", "open: torch; or bert; or 7 more", "none of 681 candidates explains y". */
const char *which_say(const which_found *found, char *buffer, size_t size);

/* Element i of a probe row. */
float which_probe_value(float scale, size_t hidden, size_t i);

/* "named", "open", "none"; and the exit codes that go with them. */
const char *which_answer_name(which_answer answer);
exit_code which_exit_code(which_answer answer);

#endif
