/* Choosing a kernel: from stored results of this machine to the fastest kernel within a budget.
 *
 *     kernel_evidence evidence;
 *     kernel_choice choice;
 *     evidence_gather(store, &wanted, &machine, &evidence, &err);
 *     choice_make(&wanted, &evidence, &choice);
 *     if (choice.best) ...
 *     choice_free(&choice);
 *     evidence_free(&evidence);
 */
#ifndef LNBENCH_CHOOSE_H
#define LNBENCH_CHOOSE_H

#include "base/hash_set.h"
#include "cli/options.h"
#include "store/standing.h"
#include "answer/run_view.h"

/* How wrong a kernel may be. NaN: not asked for. */
typedef struct choose_budget {
    double row_ulp, ulp;      /* at most */
    double correctly_rounded; /* at least, 0..1 */
    double bits;              /* at least */
    double kappa;             /* on rows of kappa up to this, 1 to 1e8; NaN: on every judged row */
    bool proven;              /* row ULP: what is proven, not what was measured */
} choose_budget;

/* An accuracy class of ln_layernorm() (class.h). */
typedef enum accuracy_class {
    CLASS_ANY,
    CLASS_FAST,
    CLASS_ACCURATE,
    CLASS_REPRODUCIBLE,
    CLASS_EXACT,
} accuracy_class;

/* What a kernel is chosen for. */
typedef struct choose_wanted {
    size_t rows, hidden;
    ln_type dtype;
    ln_convention convention;
    char convention_label[CONVENTION_MAX_LENGTH];
    cache_state cache;
    const char *time_on; /* the input that was timed */
    unsigned threads;
    choose_budget budget;
    accuracy_class class;
    bool every_input;           /* judged on every family, whatever the budget asks for */
    bool every_row;             /* the budget holds on every judged row, as in the answer of run */
    const char *param;          /* gamma and beta are of this type; NULL: any */
    const word_list *kernels;   /* globs; NULL or empty: all */
    const word_list *libraries; /* object hashes of those there are now; NULL: it does not matter */
    int64_t run;                /* timed in this run alone; 0: in any */
} choose_wanted;

/* One kernel's errors on one input (or row of the offset sweep) at one hidden size. */
typedef struct accuracy_fact {
    char kernel[NAME_MAX_LENGTH];
    char object_hash[20];
    char input[INPUT_MAX_LENGTH];
    size_t hidden;
    double kappa; /* that was asked of the rows; 0: normal rows */
    double row_ulp, bound, ulp, correctly_rounded, bits; /* NaN: this fact does not tell */
    double limit_of_fast; /* row ULP of the class fast on these rows, at most (class.h) */
    case_verdict verdict;
    bool is_peer;       /* of another library (worker/peers.h) */
    bool fault;         /* the verdict rules the kernel out, whatever the budget */
    bool without_claim; /* fault-free, but for these rows nothing is right or nothing is known */
    int64_t run;
} accuracy_fact;

/* A kernel of one build, over all runs: as store/standing.h has it of one. */
typedef struct build_standing {
    kernel_standing standing;
    char object_hash[20];
} build_standing;

/* What is known on this machine. Speeds come from one group of one run, so that they can be paired;
 * errors, which are the same bits in every run of the same library, from all runs. */
typedef struct kernel_evidence {
    bool timed; /* false: nothing near enough was timed here */
    stored_run run;
    machine_facts machine;
    json_t *kernels;
    stored_cases cases; /* of that run */
    case_key group;     /* shape and convention that were timed */
    bool same_convention, same_shape, same_library;
    accuracy_fact *facts;
    size_t fact_count;
    hash_set known; /* of the facts */
    build_standing *standings;
    size_t standing_count;
    accuracy_fact *bare_facts; /* under the same convention without eps (choose_without_eps) */
    size_t bare_count;
    asked_case *lost; /* of that run: asked for, and without a result */
    size_t lost_count;
    size_t runs_here, runs_elsewhere;
} kernel_evidence;

/* Reads the runs of this machine. The run that is wanted, if one is, counts as of this machine
 * whatever it says. */
bool evidence_gather(result_store *store, const choose_wanted *wanted, const machine_facts *machine,
                     kernel_evidence *evidence, error *err);
void evidence_free(kernel_evidence *evidence);

/* Whether the times are those of another shape or convention. They are scaled by bytes. */
bool evidence_is_estimate(const kernel_evidence *evidence);

/* The same convention without eps, which hides what a kernel does to rows of small variance; false
 * where it has none. */
bool choose_without_eps(const choose_wanted *wanted, choose_wanted *bare);

/* Whether results at one hidden size may stand for another: within a factor of 2. */
bool hidden_is_near(size_t a, size_t b);

/* The rows that are timed for these: as many, but no more than make the regime DRAM beyond doubt.
 */
size_t rows_to_time(size_t rows, size_t hidden, ln_type dtype, const machine_facts *machine);

/* A kernel's case was timed in the rounds of a group: same shape, convention and so on. */
bool is_of_group(const case_key *key, const case_key *group);

/* A kernel matches the globs wanted. */
bool kernel_is_wanted(const choose_wanted *wanted, const char *kernel);

/* Whether a kernel may be a candidate: it matches, its parameters are of the type wanted, and where a class
 * or kappa is asked for it is no call of ln_layernorm(), which takes one of the others. */
bool choice_takes(const choose_wanted *wanted, const json_t *kernels, const char *kernel);

/* Whether its parameters are of the type wanted. */
bool param_is_wanted(const choose_wanted *wanted, const json_t *kernels, const char *kernel);

typedef enum candidate_fate {
    FATE_BEST,
    FATE_TIED,     /* within the budget, and not told apart from the best */
    FATE_SLOWER,   /* within the budget */
    FATE_BUDGET,   /* beyond it, or nothing proven */
    FATE_UNJUDGED, /* the errors that the budget asks for were not measured */
    FATE_FAULT,    /* crashed, wrong, without a correct digit, ... */
    FATE_UNTIMED,  /* declined, lost, or no repetitions */
} candidate_fate;

typedef struct scored_kernel {
    view_case view;
    char object_hash[20];
    /* Over all rows that the budget is about; NaN: not judged. */
    double row_ulp, bound, ulp, correctly_rounded, bits;
    double hunted;        /* row ULP on rows hunted for others; NaN: none */
    size_t judged;        /* cases that it rests on; 0: not on every judged row */
    size_t judged_hidden; /* where they were judged; 0: nowhere */
    double judged_kappa;  /* largest kappa among them; 0: normal rows alone */
    speed_pair pair;      /* its time / the best's (where none is best: / the fastest's) */
    double relative; /* what ranks it: pair.ratio, or the ratio of times where no round has both */
    candidate_fate fate;
    bool pareto;      /* nothing is faster and as right */
    char reason[320]; /* why it is where it is, a few words */
} scored_kernel;

typedef struct kernel_choice {
    scored_kernel *candidates; /* best first, then by fate and time */
    size_t count;
    const scored_kernel *best; /* NULL: nothing meets the budget */
    /* Who is not told apart where speeds are too noisy to say which is fastest (view_untold()): the best
     * has the smallest error of them. 1: the best alone. */
    scored_kernel *untold[UNTOLD_MOST];
    size_t untold_count;
    const scored_kernel *most_accurate; /* of those that can be used, NULL where there are none */
    const scored_kernel *more_accurate, *less_accurate; /* the Pareto front's next, or NULL */
    bool unjudged; /* some kernel lacks errors that the budget asks for */
} kernel_choice;

void choice_make(const choose_wanted *wanted, const kernel_evidence *evidence,
                 kernel_choice *choice);
void choice_free(kernel_choice *choice);

/* The error that candidates are ranked by: row ULP, measured or proven. Infinite where unknown. */
double candidate_error(const choose_wanted *wanted, const scored_kernel *candidate);
/* Below 0: a is smaller by more than 1 %; above 0: larger; 0: as large. */
int compare_errors(double a, double b);

#endif
