/* What a run says of its kernels: how wrong each is, what that rests on, and whether it can be
 * recommended. One query (standing.sql); whoever shows or recommends a kernel asks here.
 *
 *     standing_list list;
 *     store_standings(store, run, STANDING_ROW_ULP, &list, &err);
 *     const kernel_standing *own = standing_of(&list, "naive_f32_avx2", LN_F32);
 *     if (own && own->accurate && !own->doubt[0]) ...
 *     free(list.standings);
 */
#ifndef LNBENCH_STORE_STANDING_H
#define LNBENCH_STORE_STANDING_H

#include "domain/kernel.h"
#include "store/store.h"

/* A kernel that stays below this on every row, and fails on none, can be recommended where nothing else
 * is asked for: the library's class `accurate`. */
#define STANDING_ROW_ULP 2.0

#define STANDING_NOT_TIMED "judged, not timed"

/* Judged cases. All: but adversarial rows. Of these, edge cases: values or results at
 * the ends of the type's range (facts.h); any: the others; ordinary: normal rows. */
typedef enum error_scope {
    SCOPE_ALL,
    SCOPE_ANY,
    SCOPE_ORDINARY,
    SCOPE_EXTREME,
    SCOPE_HUNTED,
    SCOPES,
} error_scope;

/* The judged cases of a kernel in one scope, summed up. */
typedef struct error_sum {
    size_t judged, wrong;
    size_t limited; /* type-limited */
    size_t usable;  /* that pass, with a correct digit in every row */
    size_t checked; /* conformance tests */
    size_t apart;   /* not those that were timed */
    double error;   /* largest row ULP; infinite: no figure; NaN: not judged, or nothing finite */
    int64_t at;     /* the case of it; 0: none was judged */
} error_sum;

typedef struct kernel_standing {
    char kernel[NAME_MAX_LENGTH];
    ln_type dtype;
    ln_operation operation;
    kernel_role role;
    size_t lost;      /* requested, without a result */
    double lost_from; /* smallest kappa of a row without a correct digit; NaN: none */
    bool rounded;     /* every element is correctly rounded, as far as it was judged */
    bool proven;      /* its own bound is within the budget on all of them but edge cases */
    int64_t fault; /* the first case at fault, of rows that an input has if there is one; 0: none */
    error_sum errors[SCOPES];
    bool
        other_param; /* its parameters are of another type than its elements, and others' are not */
    bool
        accurate; /* judged, nowhere wrong, within the budget, no other library's nor other_param */
    char doubt[64]; /* why it is not recommended even so; "": it can be */
} kernel_standing;

typedef struct standing_list {
    kernel_standing *standings; /* in the order of their first cases; no copies */
    size_t count;
} standing_list;

/* Of each kernel and type of a run; budget: row ULP. */
bool store_standings(result_store *store, int64_t run, double budget, standing_list *list,
                     error *err);
/* NULL: it is not among them. */
const kernel_standing *standing_of(const standing_list *list, const char *kernel, ln_type dtype);

/* Of each kernel and input that were judged under a convention; free(*errors). */
typedef struct input_error {
    char kernel[NAME_MAX_LENGTH], input[INPUT_MAX_LENGTH];
    ln_type dtype;
    error_sum sum;
} input_error;
bool store_input_errors(result_store *store, int64_t run, const char *convention,
                        input_error **errors, size_t *count, error *err);

/* How wrong a kernel is at worst. */
typedef enum error_class {
    ERROR_UNKNOWN, /* not judged */
    ERROR_EXACT,   /* at most 1 row ULP */
    ERROR_GOOD,    /* at most 4 */
    ERROR_ROUGH,   /* at most 1000, or an eighth of no correct digit where that is less */
    ERROR_LOST,    /* more: digits are lost, maybe all of them */
    ERROR_NAN,     /* NaN or infinite where a number belongs, or no answer at all */
} error_class;
error_class error_class_of(const error_sum *sum, ln_type type);
/* How wrong: "1.8", "no digit", "NaN" (NaN where a number belongs, or the reverse), "fault" (crashed,
 * timed out, wrote elsewhere, ...), "-"; at: the verdict of the case that has it, NULL: not known. */
enum { ERROR_WORDS = 16 };
const char *error_in_words(double size, ln_type type, const case_verdict *at,
                           char words[ERROR_WORDS]);

/* Why a kernel is beyond the budget, as the end of a sentence: "fails on 28 of 337 cases, all edge cases
 * (elsewhere up to 6.8 row ULP)", "has errors up to 3.2 row ULP", "was not judged". worst: the verdict
 * of the largest error in SCOPE_ANY, or NULL. */
enum { OBJECTION_WORDS = 160 };
const char *standing_objection(const kernel_standing *own, const case_verdict *worst,
                               char words[OBJECTION_WORDS]);
/* Row ULP from which an error is in ERROR_LOST. */
double error_rough_limit(ln_type type);

#endif
