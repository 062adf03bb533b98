/* liblnjudge: is this LayerNorm right? Answers that are certified, and a judge of kernels.
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
 * objects. Nothing is printed, nothing exits, and no signal is handled but by lnjudge_watch(). A
 * function that fails returns other than LNJUDGE_OK and leaves nothing to free; `error` (it may be
 * NULL) then has a sentence. NULL where something was to be, and values that are none of their type,
 * are such failures.
 */
#ifndef LNJUDGE_H
#define LNJUDGE_H

#include <layernorm.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum lnjudge_status {
    LNJUDGE_OK = 0,
    LNJUDGE_ERROR_ARGUMENT = 1, /* the message says what was expected */
    LNJUDGE_ERROR_MEMORY = 2,   /* or a memory file could not be made */
    LNJUDGE_STOPPED = 3,        /* the kernel returned LNJUDGE_STOP, or *stop is not 0 */
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
/* The preset's name where one is equal, else the list; "no convention" for NULL and for what is none.
 * Returns `label`. */
LN_API const char *lnjudge_convention_label(const ln_convention *convention,
                                            char label[LNJUDGE_LABEL]);

/* ---- the certified reference ---- */

/* The exact answers of a problem, each rounded once, to nearest even. Of `tensors` x, residual,
 * gamma and beta are read; y (of the storage type) is written, and mean and rstd, which here are
 * doubles whatever the types. exact: y rounded to double, rows x hidden, dense. Outputs that are
 * NULL are left out. */
LN_API lnjudge_status lnjudge_reference(const ln_problem *problem, const ln_tensors *tensors,
                                        double *exact, lnjudge_error *error);

/* ---- judgements ---- */

/* Figures have the names that `lnbench eval --format json` gives them; NaN where undefined. */
enum { LNJUDGE_METRICS = 24, LNJUDGE_BINS = 32 };
LN_API const char *lnjudge_metric_name(size_t index); /* NULL from LNJUDGE_METRICS on */

/* One row, as the kernel was given it and as it answered; hidden elements each, of the problem's
 * types. residual, gamma and beta are NULL where there were none. */
typedef struct lnjudge_row {
    size_t number;
    void *x, *residual, *gamma, *beta, *y;
    double *exact;
} lnjudge_row;

/* What one check found. */
typedef struct lnjudge_case {
    char check
        [16]; /* "rows": an input family, for its figures; "combinations": the covering array */
    char input[32]; /* an input family; "given"; "" for checks with rows of several */
    char convention[LNJUDGE_LABEL];
    size_t entry;        /* the step that found it, from 1 on, for lnjudge_question */
    size_t rows, hidden; /* of the worst block */
    int passed;
    char verdict[16]; /* "pass", "type-limited", "fail", "unsupported", "missing"; "": not judged */
    char reason
        [24]; /* of type-limited and fail: "inaccurate", "wrong-class", "input-modified", ... */
    char detail[512];                /* where and why, "" for nothing to say */
    double metrics[LNJUDGE_METRICS]; /* of the block with the largest row_ulp_max */
    uint64_t
        ulp_histogram[LNJUDGE_BINS]; /* elements with an error below 2^-6 ULP, below 2^-5, ... */
    lnjudge_row worst;               /* x is NULL where the kernel gave nothing */
} lnjudge_case;

/* The figure of this name; NaN for a name that there is not. */
LN_API double lnjudge_metric(const lnjudge_case *judged, const char *name);

typedef struct lnjudge_report {
    size_t count;
    lnjudge_case *cases;
    size_t
        worst;  /* the first case that did not pass, or the first of them that names a mistake where
                   * that one has figures alone; if all passed, that with the largest row_ulp_max that
                   * is not type-limited */
    int passed; /* every case did, and every size of the question was judged */
    const char *
        not_asked; /* of a kernel: what takes processes of its own (`lnbench run --plugin`); else NULL */
} lnjudge_report;

LN_API void lnjudge_report_free(lnjudge_report *report);

/* Judges tensors->y, made elsewhere: one case. max_row_ulp: a limit of one's own, 0 for none. */
LN_API lnjudge_status lnjudge_output_judge(const ln_problem *problem, const ln_tensors *tensors,
                                           double max_row_ulp, lnjudge_report *report,
                                           lnjudge_error *error);

/* ---- kernels ---- */

enum { LNJUDGE_STOP = -1 };
/* A kernel. Returns 0; LN_ERROR_UNSUPPORTED where it does not take this problem; LNJUDGE_STOP to end
 * the judgement; anything else means that it failed. mean and rstd, where they are not NULL, are of
 * the accumulator's type and may be left alone. */
typedef int (*lnjudge_kernel)(void *user, const ln_problem *problem, const ln_tensors *tensors);

enum lnjudge_trait {
    LNJUDGE_DENSE = 1,        /* takes dense rows alone */
    LNJUDGE_NOT_IN_PLACE = 2, /* y must not be x */
    LNJUDGE_NO_RESIDUAL = 4,
    LNJUDGE_THESE_SIZES = 8, /* takes the sizes of `hidden` alone */
};

/* Called before each step, which takes some milliseconds beside the kernel's own time: its number from 1 on, how
 * many there are, and whether a check so far did not pass. It may set another *max_row_ulp for the step. Returns 0;
 * anything else ends the judgement, whose report then says what is known by now. */
typedef int (*lnjudge_before_step)(void *user, size_t step, size_t steps, int failed,
                                   double *max_row_ulp);

/* Members that are 0 mean: as people have it (f32, seed 1, no limit, hidden 768). */
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
    double
        max_row_ulp; /* of rows whose kappa is at most 2 and no longer than these: beyond, summation decides */
    const volatile int *stop; /* NULL, or: once it is not 0, a step ends with LNJUDGE_STOPPED */
    size_t entry; /* 0: every step; else this one alone, from 1 on, of the same question */
    lnjudge_before_step before_step; /* or NULL */
} lnjudge_question;

/* Asks everything, which takes seconds. The kernel runs in this process: one that writes far beyond
 * its tensors, or never returns, takes the caller with it (lnbench runs kernels in another one). */
LN_API lnjudge_status lnjudge_kernel_judge(const lnjudge_question *question, lnjudge_report *report,
                                           lnjudge_error *error);

/* ---- is an input written to during a call? ---- */

/* Makes whole pages read-only and lets the first write to them through, which lnjudge_watched() then
 * tells. 0: it cannot be, or another watch is on in this process. Until its end SIGSEGV is handled. */
LN_API int lnjudge_watch(void *pages, size_t bytes);
/* Ends the watch. Where it was written first; NULL: nowhere. */
LN_API void *lnjudge_watched(void);

/* ---- which function made this output? ---- */

enum { LNJUDGE_EXACT = -1, LNJUDGE_AXES = 8, LNJUDGE_WORDS = 256 };

typedef struct lnjudge_box {
    size_t dimensions, shape[LNJUDGE_AXES]; /* of x, y and the residual */
    const double *x, *residual, *y;         /* residual may be NULL */
    const double *gamma, *beta;             /* or NULL; of `parameters` elements each: 1, those of
                                               an axis, or of the last axes */
    size_t parameters;
    ln_type x_type, y_type, param; /* as they were kept */
    int digits, x_digits;          /* decimals that y and x were printed to, or LNJUDGE_EXACT */
} lnjudge_box;

typedef struct lnjudge_candidate {
    int is_convention;         /* 0: no norm; `words` say what */
    ln_convention convention;  /* its eps is a usual one, or a short decimal, of... */
    double eps_low, eps_high;  /* ...all that explain y */
    char words[LNJUDGE_WORDS]; /* its label, and what no convention has */
    char also[LNJUDGE_WORDS];  /* other presets that it may be: "= te; in f32 also llama"; or "" */
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
    size_t tried, rows, rows_told; /* rows, and those that tell anything */
    float probe; /* a row of +-this in turn (0 at the end of an odd row) tells most; 0: none does */
    size_t pairs, pairs_left;
} lnjudge_fingerprint;

LN_API lnjudge_status lnjudge_fingerprint_make(const lnjudge_box *box, lnjudge_fingerprint *made,
                                               lnjudge_error *error);
LN_API void lnjudge_fingerprint_free(lnjudge_fingerprint *made);

/* ---- what rtol and atol tell right from wrong? ---- */

enum { LNJUDGE_MISTAKES = 9 };

typedef struct lnjudge_tolerance {
    double rtol;
    double certain, likely; /* atol that two right ones may need: always; but for one row in 1e9 */
    double usual;           /* atol between right ones as textbooks have them, about */
    size_t count;           /* what wrong ones come to: a neighbouring convention, or short sums */
    struct {
        char words[LNJUDGE_LABEL + 20];
        double atol;
    } mistakes[LNJUDGE_MISTAKES];
} lnjudge_tolerance;

/* Of the problem's rows: tensors->x and, as the convention says, gamma and beta. */
LN_API lnjudge_status lnjudge_tolerance_find(const ln_problem *problem, const ln_tensors *tensors,
                                             lnjudge_tolerance *found, lnjudge_error *error);

/* The version of the library, "MAJOR.MINOR.PATCH". */
LN_API const char *lnjudge_version(void);

#ifdef __cplusplus
}
#endif

#endif
