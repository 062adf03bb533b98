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

#include "commands/options.h"
#include "store/choosing.h"
#include "store/standing.h"
#include "show/run_view.h"

/* How wrong a kernel may be. NaN: not asked for. */
typedef struct choose_budget {
    double row_ulp, ulp;      /* at most */
    double correctly_rounded; /* at least, 0..1 */
    double bits;              /* at least */
    double kappa;             /* on rows of kappa up to this, 1 to 1e8; NaN: on every judged row */
    bool proven;              /* row ULP: what is proven, not what was measured */
} choose_budget;

/* An accuracy class of ln_layernorm() (harness/store/class.sql). */
typedef enum accuracy_class {
    CLASS_ANY,
    CLASS_FAST,
    CLASS_ACCURATE,
    CLASS_REPRODUCIBLE,
    CLASS_EXACT,
} accuracy_class;
/* "fast", ...; "any" */
const char *class_name(accuracy_class class);

/* What a kernel is chosen for. */
typedef struct choose_wanted {
    const char *model; /* whose rows these are; NULL: of none that was named */
    size_t rows, hidden;
    ln_type dtype;
    bool type_named; /* else f32, as nobody said another */
    ln_convention convention;
    char convention_label[CONVENTION_MAX_LENGTH];
    cache_state cache;
    const char *time_on; /* the input that was timed */
    unsigned threads;
    choose_budget budget;
    accuracy_class class;
    bool every_row;             /* the budget holds on every judged row, as in the answer of run */
    const char *param;          /* the parameters are of this type; NULL: any */
    const word_list *kernels;   /* globs; NULL or empty: all */
    const word_list *libraries; /* object hashes of those there are now; NULL: it does not matter */
    int64_t run;                /* by this run alone; 0: by the machine's latest */
} choose_wanted;

/* What one run says: the one of the machine whose times are nearest, of equals the latest. */
typedef struct kernel_evidence {
    bool timed;       /* false: nothing near enough was timed there */
    char unlike[256]; /* then: what was timed instead, and in what it differs */
    stored_run run;
    machine_facts machine;
    json_t *kernels;
    stored_cases cases; /* of that run */
    case_key group;     /* shape and convention that were timed */
    bool same_convention, same_shape, same_library;
    standing_list standings;
    errors_near *errors;
    size_t error_count;
    class_breach *breaches; /* where a class is asked for */
    size_t breach_count;
    asked_case *lost; /* asked for, and without a result */
    size_t lost_count;
} kernel_evidence;

/* By the run that is wanted, or the latest of the machine. */
bool evidence_gather(result_store *store, const choose_wanted *wanted, const machine_facts *machine,
                     kernel_evidence *evidence, error *err);
void evidence_free(kernel_evidence *evidence);

/* Whether the times are those of another shape or convention. They are scaled by bytes. */
bool evidence_is_estimate(const kernel_evidence *evidence);

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

typedef enum candidate_fate {
    FATE_BEST,
    FATE_TIED,     /* within the budget, and not told apart from the best */
    FATE_SLOWER,   /* within the budget */
    FATE_BUDGET,   /* beyond it, or nothing proven */
    FATE_DOUBTED,  /* within it, but not to be taken: kernel_standing.doubt */
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
    size_t judged;        /* cases that its row ULP rests on */
    size_t of_class;      /* cases by which it is of the class asked for */
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
    /* Where the best has no proof of its accuracy: what has one; NULL: nothing. */
    const scored_kernel *proven;
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
