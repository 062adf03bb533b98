/* The results of a run by kernel: the errors of each kernel (standing.sql), and the kernel to call (recommended.sql).
 * All code that shows or recommends a kernel uses these.
 *
 *     standing_list list = store_standings(store, run);
 *     const kernel_standing *own = standing_of(&list, "naive_f32_avx2", LN_F32);
 *     free(list.standings);
 *
 *     recommend_request wanted = {.run = run, .at = timed_case, .budget = STANDING_ROW_ULP, .kappa = NAN};
 *     kernel_ranking ranking = store_recommend(store, &wanted);
 *     if (ranking.recommended) puts(ranking.recommended->kernel);
 *     free(ranking.kernels);
 */
#ifndef LNBENCH_STORE_STANDING_H
#define LNBENCH_STORE_STANDING_H

#include "domain/kernel.h"
#include "store/store.h"

/* The default budget: the promise of the library's class `accurate`. */
#define STANDING_ROW_ULP 2.0
#define PROVEN(budget) (1.005 * (budget)) /* the largest bound that proves it (recommended.sql) */

/* Sets of judged cases: all but adversarial rows; subsets of these: no edge cases (stored_is_edge_case()),
 * those of the family `normal`, and edge cases; and the adversarial rows. */
typedef enum error_scope {
    SCOPE_ALL,
    SCOPE_NO_EDGE_CASES,
    SCOPE_ORDINARY,
    SCOPE_EDGE_CASES,
    SCOPE_ADVERSARIAL,
    SCOPES,
} error_scope;

/* The sum of the judged cases of a kernel in one scope. */
typedef struct error_sum {
    size_t judged, wrong;
    size_t limited;     /* type-limited */
    size_t with_digits; /* cases that pass and have a correct digit in every row */
    size_t checked;     /* conformance tests */
    size_t untimed;     /* judged, but not timed */
    double error; /* largest row ULP; infinite: no number; NaN: not judged, or nothing finite */
    int64_t at;   /* the case with that error; 0: none was judged */
} error_sum;

typedef struct kernel_standing {
    char kernel[NAME_MAX_LENGTH];
    ln_type dtype;
    ln_operation operation;
    kernel_role role;
    double missing_from; /* smallest kappa of a row without a correct digit; NaN: none */
    bool rounded;        /* every judged element is correctly rounded */
    int64_t fault; /* its gravest failure (crashes first, then the most telling one); 0: none */
    error_sum errors[SCOPES];
} kernel_standing;

typedef struct standing_list {
    kernel_standing *standings; /* ordered by operation, then by first case; no copies */
    size_t count;
} standing_list;

/* Returns the errors of each kernel and type of a run. */
standing_list store_standings(result_store *store, int64_t run);
/* Returns the standing of a kernel, or NULL. */
const kernel_standing *standing_of(const standing_list *list, const char *kernel, ln_type dtype);

/* The request for a recommendation. */
typedef struct recommend_request {
    int64_t run;
    case_key at;       /* the timed case, without its kernel; rows 0: nothing was timed */
    const char *param; /* type of gamma and beta; NULL: that of the elements, if it was timed */
    const word_list *kernels; /* only these names, labels or patterns; NULL or empty: all */
    double budget;            /* largest row ULP */
    double kappa;             /* on rows with kappa up to this; NaN: on all judged rows */
    bool proven;              /* the proven bound must be within the budget */
} recommend_request;

typedef struct ranked_kernel {
    char kernel[NAME_MAX_LENGTH];
    char dispatched[NAME_MAX_LENGTH]; /* the kernel behind a call of the library; "": not known */
    kernel_role role;
    int64_t case_id; /* its timed case; 0: none */
    double time_ns, time_lo_ns, time_hi_ns, copy_ratio, copy_ratio_lo, copy_ratio_hi;
    size_t judged;
    double error; /* largest row ULP on the rows of the request; NaN: not judged */
    bool callable, other_param, in_budget, proven;
    bool within; /* in_budget, proven if requested, and not other_param */
    bool near;   /* no significant difference in speed from the fastest recommendable kernel */
    bool recommended;
    /* Its time is shorter than that of the fastest kernel (of all, or of the recommendable ones), beyond both
     * intervals, although its copy ratio is smaller. */
    bool sooner_than_fastest, sooner_than_best;
    char doubt[64]; /* why it is not recommendable although it is within the budget, or "" */
} ranked_kernel;

/* The kernels, the fastest first and those that were not timed last. Pointers are NULL if there is none. */
typedef struct kernel_ranking {
    ranked_kernel *kernels;
    size_t count;
    const ranked_kernel *recommended;
    const ranked_kernel *proven;  /* the fastest recommendable one that is proven */
    const ranked_kernel *fastest; /* at any error, without peers */
    /* within the budget, over 10 % and both intervals faster than the recommended call, and not behind it */
    const ranked_kernel *tuned;
} kernel_ranking;
kernel_ranking store_recommend(result_store *store, const recommend_request *wanted);
/* Returns the ranking of a kernel, or NULL. */
const ranked_kernel *ranked_of(const kernel_ranking *ranking, const char *kernel);
/* Returns the latest run that timed the case: preferably one that timed the library's calls and ran the conformance
 * tests, then one of this machine (machine_key()). 0: none. wanted->run is ignored. */
int64_t store_timed_run(result_store *store, const recommend_request *wanted, const char *machine);

/* Classes of a kernel's largest error. */
typedef enum error_class {
    ERROR_UNKNOWN, /* not judged */
    ERROR_EXACT,   /* at most 1 row ULP */
    ERROR_GOOD,    /* at most 4 */
    ERROR_ROUGH,   /* at most 1000, or an eighth of dtype_no_digit() if that is less */
    ERROR_LOST,    /* more: digits are lost, perhaps all of them */
    ERROR_NAN,     /* NaN or infinity instead of a number, or no output */
} error_class;
error_class error_class_of(const error_sum *sum, ln_type type);
/* Writes an error in words: "1.8", "no digit", "NaN" (NaN instead of a number, or the reverse), "fault" (crashed, timed
 * out, wrote outside, ...), "-". at: the verdict of its case; NULL: not known. */
enum { ERROR_WORDS = 16 };
const char *error_in_words(double size, ln_type type, const case_verdict *at,
                           char words[ERROR_WORDS]);

/* Writes why a kernel is not within the budget, as the end of a sentence: "has errors up to 6.8 row ULP (larger or
 * NaN in 28 edge cases)", "was not judged". worst: the verdict of the largest error in
 * SCOPE_NO_EDGE_CASES, or NULL. */
enum { OBJECTION_WORDS = 192 };
const char *standing_objection(const kernel_standing *own, const case_verdict *worst,
                               char words[OBJECTION_WORDS]);
/* Returns the row ULP above which an error is in ERROR_LOST. */
double error_rough_limit(ln_type type);

#endif
