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
 * Problems and tensors are those of layernorm.h: types, strides (0: hidden) and conventions mean the same. A convention
 * of RMSNorm (lnjudge_convention("llama", ...)) is an ln_convention whose operation is LN_OPERATION_RMSNORM; its weight
 * is `gamma`, and 1 / root is `rstd` (rmsnorm.h). docs/lab/reference.md explains the certified reference, and
 * docs/conformance.md the allowed errors of a kernel.
 *
 * No state is shared: every function may be called from several threads at once, on different objects. No function
 * prints or exits; only lnjudge_watch() handles a signal. A function that fails returns a status other than LNJUDGE_OK,
 * leaves nothing to free, and writes a sentence to `error` (which may be NULL). A required pointer that is NULL, and an
 * unknown value of an enum, are such failures. */
#ifndef LNJUDGE_H
#define LNJUDGE_H

#include <layernorm.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum lnjudge_status {
    LNJUDGE_OK = 0,
    LNJUDGE_ERROR_ARGUMENT = 1, /* the message names the argument and the allowed values */
    LNJUDGE_ERROR_MEMORY = 2,   /* memory ran out, or no memory file could be made */
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
/* Writes the name of the equal preset, or else the list; "no convention" for NULL and for invalid fields. Returns
 * `label`. */
LN_API const char *lnjudge_convention_label(const ln_convention *convention,
                                            char label[LNJUDGE_LABEL]);

/* ---- the certified reference ---- */

/* Computes the exact answers of a problem, each rounded once, to nearest even. Reads x, residual,
 * gamma and beta of `tensors`, and writes y (of the storage type), mean and rstd (here always
 * doubles). exact: y rounded to double, rows x hidden, dense. Outputs that are NULL are skipped. */
LN_API lnjudge_status lnjudge_reference(const ln_problem *problem, const ln_tensors *tensors,
                                        double *exact, lnjudge_error *error);

/* ---- judgements ---- */

/* Returns the name of a metric, which is that of `lnbench eval --format json`; NULL from LNJUDGE_METRICS on. */
enum { LNJUDGE_METRICS = 24, LNJUDGE_BINS = 32 };
LN_API const char *lnjudge_metric_name(size_t index);

/* One row of the kernel's input and output; hidden elements each, of the problem's types. residual,
 * gamma and beta are NULL if the problem has none. */
typedef struct lnjudge_row {
    size_t number;
    void *x, *residual, *gamma, *beta, *y;
    double *exact;
} lnjudge_row;

/* The result of one check. A check of a kernel may take several steps (lnjudge_before_step). */
typedef struct lnjudge_case {
    char check[16]; /* "rows" (of an input family), or "combinations" (the covering array) */
    char input[32]; /* an input family; "given"; "" for checks with rows of several families */
    char convention[LNJUDGE_LABEL];
    size_t step; /* the number of its worst step, to repeat it by lnjudge_question.step */
    /* Of the worst block: the first one that fails, or that with the largest row_ulp_max if all pass. */
    size_t rows, hidden;
    int passed;
    char verdict[16]; /* "pass", "type-limited", "fail", "unsupported", "missing"; "": not judged */
    char reason[24];  /* for type-limited and fail: "inaccurate", "wrong-class", ... */
    char detail[512]; /* the failure, in a small problem that shows it; may be "" */
    double metrics[LNJUDGE_METRICS];      /* of the worst block */
    uint64_t ulp_histogram[LNJUDGE_BINS]; /* elements with errors below 2^-6 ULP, 2^-5, ... */
    /* The row with the largest error; if the case fails and that row is right, the first wrong row. x is NULL if there
     * is no output, or if the failure is in a repeated row or another call. */
    lnjudge_row worst;
} lnjudge_case;

/* Returns the metric of this name; NaN if it is undefined or has another name. */
LN_API double lnjudge_metric(const lnjudge_case *judged, const char *name);

typedef struct lnjudge_report {
    size_t count;
    lnjudge_case *cases;
    /* The first case that did not pass; if all passed, that with the largest row_ulp_max that is not type-limited. */
    size_t worst;
    int passed;           /* every case passed, and every size of the question was judged */
    const char *untested; /* for a kernel: the tests that only `lnbench run` makes; else NULL */
} lnjudge_report;

LN_API void lnjudge_report_free(lnjudge_report *report);

/* Judges tensors->y, which another program computed, as one case. max_row_ulp: an additional limit; 0: none. */
LN_API lnjudge_status lnjudge_output_judge(const ln_problem *problem, const ln_tensors *tensors,
                                           double max_row_ulp, lnjudge_report *report,
                                           lnjudge_error *error);

/* ---- kernels ---- */

/* A kernel. Returns 0 for success, LN_ERROR_UNSUPPORTED for a problem that it does not support,
 * and anything else for a failure. It may write mean and rstd if they are not NULL; they are of the
 * accumulator's type. */
typedef int (*lnjudge_kernel)(void *user, const ln_problem *problem, const ln_tensors *tensors);

enum lnjudge_trait {
    LNJUDGE_DENSE = 1,        /* supports only dense rows */
    LNJUDGE_NOT_IN_PLACE = 2, /* y must not be x */
    LNJUDGE_NO_RESIDUAL = 4,
    LNJUDGE_THESE_SIZES = 8, /* supports only the sizes of `hidden` */
};

/* A function that is called before each step: one input family at one hidden size, or one problem of the covering
 * array, of which the first one that fails takes hundreds of calls. `step` counts from 1 to `steps`, but 32 problems
 * that fail end the judgement. The function may change *max_row_ulp for the step. */
typedef void (*lnjudge_before_step)(void *user, size_t step, size_t steps, double *max_row_ulp);

/* Members that are 0 have the usual value (f32, seed 1, no limit, hidden 768). */
typedef struct lnjudge_question {
    size_t struct_size; /* sizeof(lnjudge_question) as compiled */
    lnjudge_kernel kernel;
    void *user;
    ln_convention convention;
    ln_type storage, param, accumulator;
    unsigned traits;
    const size_t *hidden; /* the sizes at which every input family is judged */
    size_t hidden_count;
    uint64_t seed;
    double max_row_ulp; /* limit for rows with kappa up to 2 that are no longer than these sizes */
    const volatile int *stop; /* or NULL; once *stop is not 0, the step ends with LNJUDGE_STOPPED */
    size_t step;              /* 0: run all steps; else only the step of this number, from 1 on */
    lnjudge_before_step before_step; /* or NULL */
} lnjudge_question;

/* Judges a kernel, which takes seconds. The kernel runs in this process: if it writes far beyond its tensors or never
 * returns, the caller crashes or hangs too (lnbench runs kernels in processes of their own). */
LN_API lnjudge_status lnjudge_kernel_judge(const lnjudge_question *question, lnjudge_report *report,
                                           lnjudge_error *error);

/* ---- is an input written to during a call? ---- */

/* Makes whole pages read-only until the first write to them, whose address lnjudge_watched() returns. Returns 1, or 0
 * if the pages cannot be protected or this process has a watch already. During a watch lnjudge handles SIGSEGV. */
LN_API int lnjudge_watch(void *pages, size_t bytes);
/* Ends the watch. Returns the address of the first write; NULL: there was none. */
LN_API void *lnjudge_watched(void);

/* ---- which function made this output? ---- */

enum { LNJUDGE_EXACT = -1, LNJUDGE_AXES = 8, LNJUDGE_WORDS = 256 };

typedef struct lnjudge_box {
    size_t dimensions, shape[LNJUDGE_AXES]; /* of x, y and the residual */
    const double *x, *residual, *y;         /* residual may be NULL */
    const double *gamma, *beta;             /* or NULL; `parameters` elements each */
    size_t parameters;                      /* 1, or the elements of one axis or the last axes */
    ln_type x_type, y_type, param;          /* the types in which the tensors were stored */
    int digits, x_digits; /* decimals with which y and x were printed, or LNJUDGE_EXACT */
} lnjudge_box;

typedef struct lnjudge_candidate {
    int is_convention;         /* 0: it is no normalisation; see `words` */
    ln_convention convention;  /* its eps is a usual or short number from eps_low to eps_high */
    double eps_low, eps_high;  /* every eps between them explains y */
    char words[LNJUDGE_WORDS]; /* its label, and properties that are no part of a convention */
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
    size_t tried, rows; /* the candidates that were tried, and the rows of the last axis */
    size_t rows_used;   /* the rows with enough correct digits to exclude candidates */
    float probe; /* a row alternating between +probe and -probe excludes most candidates; 0: none */
    size_t pairs, pairs_left; /* pairs of remaining candidates; those that the probe leaves */
} lnjudge_fingerprint;

/* Finds the functions that may have computed y from x. */
LN_API lnjudge_status lnjudge_fingerprint_make(const lnjudge_box *box, lnjudge_fingerprint *made,
                                               lnjudge_error *error);
LN_API void lnjudge_fingerprint_free(lnjudge_fingerprint *made);

/* ---- which rtol and atol separate correct from wrong outputs? ---- */

enum { LNJUDGE_MISTAKES = 9 };

typedef struct lnjudge_tolerance {
    double rtol;
    double certain; /* the atol that always suffices for two correct outputs */
    double likely;  /* the atol that suffices for all but 1 of 1e9 rows */
    double usual;   /* about the atol between textbook implementations */
    size_t count;   /* mistakes (another convention, sums in 16 bits) and the atol of each */
    struct {
        char words[LNJUDGE_LABEL + 20];
        double atol;
    } mistakes[LNJUDGE_MISTAKES];
} lnjudge_tolerance;

/* Finds tolerances for the rows of the problem: tensors->x and, if the convention has them, gamma and beta. */
LN_API lnjudge_status lnjudge_tolerance_find(const ln_problem *problem, const ln_tensors *tensors,
                                             lnjudge_tolerance *found, lnjudge_error *error);

/* Returns the version of the library, "MAJOR.MINOR.PATCH". */
LN_API const char *lnjudge_version(void);

#ifdef __cplusplus
}
#endif

#endif
