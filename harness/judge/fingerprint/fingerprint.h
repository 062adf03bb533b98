/* Finds the function that made an output.
 *
 *     fingerprint_input input = {.dimensions = 2, .shape = {6, 768}, .x = x, .y = y, .x_type = LN_F32,
 *                          .y_type = LN_F32, .digits = FINGERPRINT_EXACT, .x_digits = FINGERPRINT_EXACT};
 *     fingerprint_found found;
 *     fingerprint_make(&input, &found);
 *     if (found.answer == ANSWER_NAMED)
 *         puts(found.candidates[0].words);               // "torch"
 *     fingerprint_free(&found);
 *
 * A candidate is a combination of operation, axes, input (x or x + residual, rounded or not), divisor, place and size
 * of eps, use of gamma and beta, and places of rounding. Each row is compared with the results of any order of
 * summation (the judge's limits), so that the function that made y is never excluded if it is a candidate. For eps the
 * answer is an interval that contains the true value. The proof is in fingerprint.c. */
#ifndef LNBENCH_FINGERPRINT_H
#define LNBENCH_FINGERPRINT_H

#include "domain/operation.h"

enum {
    FINGERPRINT_AXES = 8,
    FINGERPRINT_EXACT = -1,
    FINGERPRINT_MOST_DIGITS = 17,
    FINGERPRINT_WORDS = 256
};

typedef struct fingerprint_input {
    size_t dimensions, shape[FINGERPRINT_AXES];
    const double *x, *y;
    const double *residual, *gamma, *beta; /* NULL: not given */
    size_t parameters;                     /* elements of gamma, and of beta */
    ln_type x_type, y_type;                /* the types in which x and y were stored */
    ln_type param;
    int digits, x_digits; /* decimals with which y and x were printed, or FINGERPRINT_EXACT */
} fingerprint_input;

typedef enum fingerprint_kind {
    KIND_NORMALISED, /* under `convention` */
    KIND_CENTRED,    /* x - mean, not divided */
    KIND_COPIED,     /* x itself, perhaps with gamma and beta */
    KIND_SOFTMAX,
} fingerprint_kind;

typedef struct fingerprint_candidate {
    fingerprint_kind kind;
    ln_convention convention;
    double eps_low, eps_high;      /* every eps between them explains y */
    char words[FINGERPRINT_WORDS]; /* the convention's label, and properties of no convention */
    char
        also[FINGERPRINT_WORDS]; /* other presets that fit: "= te; in f32 also llama, mlx"; or "" */
    int rank;                    /* presets come first, unusual functions last */
    size_t family, source; /* candidates of one function have the same family, whatever their input
                            * and places of rounding */
    bool plain;            /* normalises only the last axis of x, so that a probe row can test it */
} fingerprint_candidate;

typedef enum fingerprint_answer { ANSWER_NONE, ANSWER_OPEN, ANSWER_NAMED } fingerprint_answer;

typedef struct fingerprint_found {
    fingerprint_answer answer;
    fingerprint_candidate *candidates; /* all those that explain y */
    size_t count, tried;
    /* Rows of the last axis, and those that can exclude candidates of the remaining operations (of any, if none
     * remains). */
    size_t rows, used;
    size_t last_row; /* ANSWER_NONE: the row that excluded the last candidate over the last axis */
    /* The row that would separate most candidates alternates between +probe and -probe (0 at the end of an odd
     * row); 0: no row does. Of `pairs` pairs (with usual sizes of eps) it cannot separate pairs_left. */
    float probe;
    size_t pairs, pairs_left;
} fingerprint_found;

/* Finds the candidates that explain y. Ends the program (usage) if shape and parameters do not fit together. */
void fingerprint_make(const fingerprint_input *input, fingerprint_found *found);
void fingerprint_free(fingerprint_found *found);

/* Ways to use gamma and beta: which of them it needs, the factor of xhat, the summand, and the words for it. The last
 * two are only tried for a kernel of a known convention (mistakes.c). */
enum { NEEDS_GAMMA = 1, NEEDS_BETA = 2, NEEDS_NONE = 0 };
#define AFFINE_USES(X)                                                                             \
    X(USE_ALL, NEEDS_NONE, gamma, beta, "")                                                        \
    X(USE_NONE, NEEDS_NONE, 1, 0, "left out")                                                      \
    X(USE_GAMMA, NEEDS_GAMMA | NEEDS_BETA, gamma, 0, "beta left out")                              \
    X(USE_BETA, NEEDS_GAMMA | NEEDS_BETA, 1, beta, "gamma left out")                               \
    X(USE_OFFSET, NEEDS_GAMMA, 1 + gamma, beta, "1 + gamma")                                       \
    X(USE_OFFSET_ROUNDED, NEEDS_GAMMA, 1 + gamma, beta, "") /* rounded to gamma's type */          \
    X(USE_TWICE, NEEDS_NONE, gamma *gamma, gamma *beta + beta, "applied twice")                    \
    X(USE_BETA_FIRST, NEEDS_GAMMA | NEEDS_BETA, gamma, gamma * beta,                               \
      "beta added before gamma multiplies")                                                        \
    X(USE_SWAPPED, NEEDS_GAMMA | NEEDS_BETA, beta, gamma, "gamma and beta swapped")                \
    X(USE_MINUS_BETA, NEEDS_BETA, gamma, -beta, "beta subtracted")                                 \
    X(USE_FIRST_GAMMA, NEEDS_GAMMA, gamma, beta, "")                                               \
    X(USE_FIRST_BETA, NEEDS_BETA, gamma, beta, "")

#define USE_NAME(use, needs, factor, summand, words) use,
typedef enum affine_use { AFFINE_USES(USE_NAME) USES, USES_TRIED = USE_FIRST_GAMMA } affine_use;

typedef struct affine_pair {
    double gamma, beta;
} affine_pair;

/* Returns the factor of xhat and the summand for a use. */
affine_pair affine_used(affine_use use, double gamma, double beta);

/* Returns whether the convention may have made y: a candidate without unusual steps is equal to it in these types, and
 * the interval of that candidate contains its eps. */
bool fingerprint_is_among(const fingerprint_input *input, const fingerprint_found *found,
                          const ln_convention *convention);

/* Describes the answer: "named: torch" (all candidates are one function with different places of rounding),
 * "open: torch; or bert; or 7 more", "none of 681 candidates explains y". */
const char *fingerprint_say(const fingerprint_found *found, char *buffer, size_t size);

/* Returns element i of a probe row. */
float fingerprint_probe_value(float scale, size_t hidden, size_t i);

/* Return "named", "open" or "none"; and the exit code of an answer. */
const char *fingerprint_answer_name(fingerprint_answer answer);
exit_code fingerprint_exit_code(fingerprint_answer answer);

#endif
