/* liblnjudge: certified answers of LayerNorm and RMSNorm, and a judge of outputs and kernels.
 *
 *     #include <lnjudge.h>
 *
 *     static int mine(void *user, const ln_problem *problem, const ln_tensors *tensors) { ... }
 *
 *     lnjudge_question question = {.struct_size = sizeof question, .kernel = mine};
 *     lnjudge_report report;
 *     lnjudge_convention("torch", &question.convention, NULL);
 *     if (lnjudge_kernel_judge(&question, &report, NULL) == LNJUDGE_OK)
 *         printf("%s\n", report.passed ? "pass" : report.cases[report.worst].detail);
 *     lnjudge_report_free(&report);
 *
 * Problems and tensors are those of layernorm.h: types, strides (0: hidden) and conventions mean the
 * same. A convention of RMSNorm (lnjudge_convention("llama", ...)) is an ln_convention whose operation is
 * LN_OPERATION_RMSNORM; its weight is `gamma`, and 1 / root is `rstd` (rmsnorm.h). docs/lab/reference.md says what
 * is computed and how its rounding is certified, docs/conformance.md how far a kernel may be off.
 *
 * No state is shared: every function may be called from several threads at once, on different
 * objects. No function prints or exits; only lnjudge_watch() handles a signal. A function that fails
 * returns a status other than LNJUDGE_OK, leaves nothing to free, and writes a sentence to `error`
 * (which may be NULL). A required pointer that is NULL, and an unknown value of an enum, are such
 * failures.
 */
#ifndef LNJUDGE_H
#define LNJUDGE_H

#include <layernorm.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum lnjudge_status {
    LNJUDGE_OK = 0,
    LNJUDGE_ERROR_ARGUMENT = 1, /* the message says which, and what is allowed */
    LNJUDGE_ERROR_MEMORY = 2,   /* no memory, or no memory file */
    LNJUDGE_STOPPED = 3,        /* *stop is not 0 */
} lnjudge_status;

typedef struct lnjudge_error {
    lnjudge_status status;
    char message[1024];
} lnjudge_error;

/* ---- conventions ---- */

/* Reads a preset ("torch", "bert", "llama", ...) or a list ("ddof=1,eps=1e-6@std,affine=vector"). */
LN_API lnjudge_status lnjudge_convention(const char *text, ln_convention *made,
                                         lnjudge_error *error);

enum { LNJUDGE_LABEL = 128 };
/* The name of the preset that is equal, else the list; "no convention" for NULL and for invalid fields. Returns
 * `label`. */
LN_API const char *lnjudge_convention_label(const ln_convention *convention,
                                            char label[LNJUDGE_LABEL]);

/* ---- the certified reference ---- */

/* Computes the exact answers of a problem, each rounded once, to nearest even. Reads x, residual,
 * gamma and beta of `tensors`, and writes y (of the storage type), mean and rstd (here always
 * doubles). exact: y rounded to double, rows x hidden, dense. Outputs that are NULL are left out. */
LN_API lnjudge_status lnjudge_reference(const ln_problem *problem, const ln_tensors *tensors,
                                        double *exact, lnjudge_error *error);

/* ---- judgements ---- */

/* Figures have the names that `lnbench eval --format json` gives them; NaN where undefined. */
enum { LNJUDGE_METRICS = 24, LNJUDGE_BINS = 32 };
LN_API const char *lnjudge_metric_name(size_t index); /* NULL from LNJUDGE_METRICS on */

/* One row of the kernel's input and output; hidden elements each, of the problem's types. residual,
 * gamma and beta are NULL if the problem has none. */
typedef struct lnjudge_row {
    size_t number;
    void *x, *residual, *gamma, *beta, *y;
    double *exact;
} lnjudge_row;

/* The result of one check. */
typedef struct lnjudge_case {
    char check[16]; /* "rows" (of an input family), or "combinations" (the covering array) */
    char input[32]; /* an input family; "given"; "" for checks with rows of several families */
    char convention[LNJUDGE_LABEL];
    size_t entry;        /* its step, from 1 on, for lnjudge_question.entry */
    size_t rows, hidden; /* of the worst block */
    int passed;
    char verdict[16]; /* "pass", "type-limited", "fail", "unsupported", "missing"; "": not judged */
    char reason[24];  /* of type-limited and fail: "inaccurate", "wrong-class", ... */
    char detail[512]; /* where and why; may be "" */
    double metrics[LNJUDGE_METRICS];      /* of the block with the largest row_ulp_max */
    uint64_t ulp_histogram[LNJUDGE_BINS]; /* elements with errors below 2^-6 ULP, 2^-5, ... */
    lnjudge_row worst;                    /* x is NULL if there is no output */
} lnjudge_case;

/* The metric of this name; NaN if there is none of this name. */
LN_API double lnjudge_metric(const lnjudge_case *judged, const char *name);

typedef struct lnjudge_report {
    size_t count;
    lnjudge_case *cases;
    /* The first case that did not pass; if all passed, that with the largest row_ulp_max that is not type-limited. */
    size_t worst;
    int passed;            /* every case passed, and every size of the question was judged */
    const char *not_asked; /* of a kernel: the tests that only `lnbench run` makes; else NULL */
} lnjudge_report;

LN_API void lnjudge_report_free(lnjudge_report *report);

/* Judges tensors->y, which another program computed, as one case. max_row_ulp: a limit of your own; 0: none. */
LN_API lnjudge_status lnjudge_output_judge(const ln_problem *problem, const ln_tensors *tensors,
                                           double max_row_ulp, lnjudge_report *report,
                                           lnjudge_error *error);

/* ---- kernels ---- */

/* A kernel. Returns 0 for success, LN_ERROR_UNSUPPORTED for a problem that it does not support,
 * and anything else for a failure. It may write mean and rstd if they are not NULL; they are of the
 * accumulator's type. */
typedef int (*lnjudge_kernel)(void *user, const ln_problem *problem, const ln_tensors *tensors);

enum lnjudge_trait {
    LNJUDGE_DENSE = 1,        /* supports dense rows only */
    LNJUDGE_NOT_IN_PLACE = 2, /* y must not be x */
    LNJUDGE_NO_RESIDUAL = 4,
    LNJUDGE_THESE_SIZES = 8, /* supports the sizes of `hidden` only */
};

/* Called before each step, which takes some milliseconds besides the kernel's own time. `step` counts from 1 to
 * `steps`; `failed`: a check so far did not pass. It may change *max_row_ulp for the step. Returns 0 to go on; anything
 * else ends the judgement, and the report then has the results so far. */
typedef int (*lnjudge_before_step)(void *user, size_t step, size_t steps, int failed,
                                   double *max_row_ulp);

/* Members that are 0 have the usual value (f32, seed 1, no limit, hidden 768). */
typedef struct lnjudge_question {
    size_t struct_size; /* sizeof(lnjudge_question) as compiled */
    lnjudge_kernel kernel;
    void *user;
    ln_convention convention;
    ln_type storage, param, accumulator;
    unsigned traits;
    const size_t *hidden; /* sizes that every input family is judged at */
    size_t hidden_count;
    uint64_t seed;
    double max_row_ulp; /* limit for rows with kappa up to 2 that are no longer than these sizes */
    const volatile int *stop; /* or NULL; once *stop is not 0, the step ends with LNJUDGE_STOPPED */
    size_t entry;             /* 0: every step; else only this one, from 1 on */
    lnjudge_before_step before_step; /* or NULL */
} lnjudge_question;

/* Makes all checks, which takes seconds. The kernel runs in this process, so that a kernel that writes far beyond its
 * tensors, or never returns, ends or blocks the caller too (lnbench runs kernels in processes of their own). */
LN_API lnjudge_status lnjudge_kernel_judge(const lnjudge_question *question, lnjudge_report *report,
                                           lnjudge_error *error);

/* ---- is an input written to during a call? ---- */

/* Makes whole pages read-only until the first write to them, whose address lnjudge_watched() returns. 0: the pages
 * cannot be protected, or this process has a watch already. During a watch lnjudge handles SIGSEGV. */
LN_API int lnjudge_watch(void *pages, size_t bytes);
/* Ends the watch. Returns the address of the first write; NULL: there was none. */
LN_API void *lnjudge_watched(void);

/* ---- which function made this output? ---- */

enum { LNJUDGE_EXACT = -1, LNJUDGE_AXES = 8, LNJUDGE_WORDS = 256 };

typedef struct lnjudge_box {
    size_t dimensions, shape[LNJUDGE_AXES]; /* of x, y and the residual */
    const double *x, *residual, *y;         /* residual may be NULL */
    const double *gamma, *beta;             /* or NULL; `parameters` elements each: 1, as many
                                               as an axis has, or as the last axes have */
    size_t parameters;
    ln_type x_type, y_type, param; /* in which the tensors were stored */
    int digits, x_digits;          /* decimals with which y and x were printed, or LNJUDGE_EXACT */
} lnjudge_box;

typedef struct lnjudge_candidate {
    int is_convention;         /* 0: it is no normalisation; see `words` */
    ln_convention convention;  /* its eps is a usual or short one from eps_low to eps_high */
    double eps_low, eps_high;  /* every eps between them explains y */
    char words[LNJUDGE_WORDS]; /* its label, and what a convention cannot say */
    char also[LNJUDGE_WORDS];  /* other presets that fit: "= te; in f32 also llama"; or "" */
} lnjudge_candidate;

typedef enum lnjudge_answer {
    LNJUDGE_NO_CANDIDATE = 0,
    LNJUDGE_OPEN = 1,
    LNJUDGE_NAMED = 2
} lnjudge_answer;

typedef struct lnjudge_fingerprint {
    lnjudge_answer answer;
    size_t count; /* candidates that explain y, the likeliest first */
    lnjudge_candidate *candidates;
    size_t tried, rows, rows_told; /* candidates, rows, and rows that exclude candidates */
    float probe; /* a row that alternates between +probe and -probe tells most; 0: no row does */
    size_t pairs, pairs_left;
} lnjudge_fingerprint;

LN_API lnjudge_status lnjudge_fingerprint_make(const lnjudge_box *box, lnjudge_fingerprint *made,
                                               lnjudge_error *error);
LN_API void lnjudge_fingerprint_free(lnjudge_fingerprint *made);

/* ---- which rtol and atol separate correct from wrong outputs? ---- */

enum { LNJUDGE_MISTAKES = 9 };

typedef struct lnjudge_tolerance {
    double rtol;
    double certain; /* the atol that always suffices for two correct outputs */
    double likely;  /* suffices for all rows but 1 in 1e9 */
    double usual;   /* about the atol between textbook implementations */
    size_t count;   /* mistakes (another convention, short sums) and the atol that each needs */
    struct {
        char words[LNJUDGE_LABEL + 20];
        double atol;
    } mistakes[LNJUDGE_MISTAKES];
} lnjudge_tolerance;

/* For the rows of the problem: tensors->x and, if the convention has them, gamma and beta. */
LN_API lnjudge_status lnjudge_tolerance_find(const ln_problem *problem, const ln_tensors *tensors,
                                             lnjudge_tolerance *found, lnjudge_error *error);

/* The version of the library, "MAJOR.MINOR.PATCH". */
LN_API const char *lnjudge_version(void);

#ifdef __cplusplus
}
#endif

#endif
