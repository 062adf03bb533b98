/* Which function made this output?
 *
 *     fingerprint_input input = {.dimensions = 2, .shape = {6, 768}, .x = x, .y = y, .x_type = LN_F32,
 *                          .y_type = LN_F32, .digits = FINGERPRINT_EXACT, .x_digits = FINGERPRINT_EXACT};
 *     fingerprint_found found;
 *     fingerprint_make(&input, &found);
 *     if (found.answer == ANSWER_NAMED)
 *         puts(found.candidates[0].words);               // "torch"
 *     fingerprint_free(&found);
 *
 * A candidate is an operation x what is normalised (which axes; x, its sum with a residual, rounded or
 * not) x divisor x place and size of eps x how gamma and beta were used x where values were rounded. Each
 * row of each is held against what any order of summation may give (the judge's limits), so what made y
 * is never left out if it is a candidate at all; eps is no list of sizes but an interval, in which the
 * true one lies. fingerprint.c has the proof. */
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
    ln_type x_type, y_type;                /* as they were kept */
    ln_type param;
    int digits, x_digits; /* decimals that y and x were printed to, or FINGERPRINT_EXACT */
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
    double eps_low, eps_high;      /* every eps between explains y */
    char words[FINGERPRINT_WORDS]; /* the convention's label and what no convention has */
    char also
        [FINGERPRINT_WORDS]; /* other presets that it may be: "= te; in f32 also llama, mlx"; or "" */
    int rank;                /* presets first, strange things last */
    size_t family, source;   /* numbers: one function has one family, however x came about and where
                            * it was rounded */
    bool plain; /* normalises the last axis of x alone: a further row would tell more */
} fingerprint_candidate;

typedef enum fingerprint_answer { ANSWER_NONE, ANSWER_OPEN, ANSWER_NAMED } fingerprint_answer;

typedef struct fingerprint_found {
    fingerprint_answer answer;
    fingerprint_candidate *candidates; /* all that explain y */
    size_t count, tried;
    size_t rows,
        told; /* of the last axis; those that tell anything of the operations that are left (of
                        * none, of either) */
    size_t last_row; /* behind which no candidate over the last axis was left; of ANSWER_NONE */
    /* The row that would tell most of them apart: +-probe in turn (0 at the end of an odd row); 0: none
     * does. Of so many pairs (eps at its usual sizes) it leaves so many. */
    float probe;
    size_t pairs, pairs_left;
} fingerprint_found;

/* Dies of a shape and parameters that do not go together (usage). */
void fingerprint_make(const fingerprint_input *input, fingerprint_found *found);
void fingerprint_free(fingerprint_found *found);

/* How gamma and beta are used: which of them that needs, what xhat is multiplied with, what is added, and what
 * is said of it. The last two are of a kernel of a known convention alone (mistakes.c). */
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

affine_pair affine_used(affine_use use, double gamma, double beta);

/* Whether the convention may have made y: a candidate with nothing strange is the same to these types, its eps
 * within the interval. */
bool fingerprint_is_among(const fingerprint_input *input, const fingerprint_found *found,
                          const ln_convention *convention);

/* Named: all candidates are one function, where values were rounded apart.
 * "named: torch", "open: torch; or bert; or 7 more", "none of 681 candidates explains y". */
const char *fingerprint_say(const fingerprint_found *found, char *buffer, size_t size);

/* Element i of a probe row. */
float fingerprint_probe_value(float scale, size_t hidden, size_t i);

/* "named", "open", "none"; and the exit codes that go with them. */
const char *fingerprint_answer_name(fingerprint_answer answer);
exit_code fingerprint_exit_code(fingerprint_answer answer);

#endif
