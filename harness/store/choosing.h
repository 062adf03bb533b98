/* What `choose` asks the store beside standing.h: who was timed, how wrong kernels are on some rows, and who
 * keeps the promise of an accuracy class. */
#ifndef LNBENCH_STORE_CHOOSING_H
#define LNBENCH_STORE_CHOOSING_H

#include "store/store.h"

/* The latest run of the one machine with this in its processor's name, in upper or lower case. Errors: 2
 * where there is none, or several. */
bool store_run_on(result_store *store, const char *name, int64_t *run, error *err);

/* The figures that a budget limits: larger is worse. */
typedef enum error_figure {
    FIGURE_ROW_ULP,
    FIGURE_BOUND, /* proven row ULP; infinite: nothing is */
    FIGURE_NORM,  /* largest error / largest right value */
    FIGURE_ULP,
    FIGURE_MISROUNDED, /* share of the elements */
    FIGURES,
} error_figure;

/* One figure of a kernel over its normal rows, or over rows of kappa up to one. */
typedef struct figure_near {
    double worst, kappa;  /* NaN: not judged */
    size_t hidden, cases; /* where, and on how many cases */
} figure_near;

typedef struct errors_near {
    char kernel[NAME_MAX_LENGTH];
    figure_near figures[FIGURES][2]; /* normal rows; shifted ones */
    int64_t fault;                   /* the first case that rules it out; 0: none */
} errors_near;

/* What errors are asked for: under a convention, at a hidden size and those near; kappa NaN: normal rows. */
typedef struct errors_wanted {
    int64_t run;
    ln_type dtype;
    const char *convention;
    const char *without_eps; /* the same convention; "": it has no eps */
    size_t hidden;
    double kappa;
    bool of_cases; /* ULP or shares, which no single row has, are asked for */
} errors_wanted;

typedef struct timed_kernel {
    int64_t run;
    case_key key;
    char param[8]; /* type of its parameters */
    char object_hash[20];
    bool judged; /* on the rows asked for */
} timed_kernel;

/* Of the run asked for, or (0) of the latest eight of a machine (machine_key()), the latest first;
 * free(*timed). */
bool store_timed_kernels(result_store *store, const errors_wanted *wanted, const char *machine,
                         timed_kernel **timed, size_t *count, error *err);

/* Of each kernel that was judged so; free(*errors). */
bool store_errors_near(result_store *store, const errors_wanted *wanted, errors_near **errors,
                       size_t *count, error *err);

/* What speaks against a kernel of a class; it is of it where nothing does. */
typedef struct class_breach {
    char kernel[NAME_MAX_LENGTH];
    char unfit[64];                 /* "its bits depend on the ISA"; "": nothing */
    char lacking[INPUT_MAX_LENGTH]; /* the family it was not judged on; "": none */
    int64_t case_id;                /* on which it breaks the promise by most; 0: none */
    char input[INPUT_MAX_LENGTH];
    size_t hidden;
    bool bare; /* without eps */
    double found, most;
    size_t cases; /* that it was judged on */
} class_breach;

/* Of each kernel of the run; free(*breaches). class: "fast", "accurate", "reproducible", "exact". */
bool store_class(result_store *store, const errors_wanted *wanted, const char *class,
                 class_breach **breaches, size_t *count, error *err);

#endif
