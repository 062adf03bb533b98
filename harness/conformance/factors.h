/* What may meet in one call: the factors of a problem with their levels, the shape's, the call's, the
 * contents' and the convention's. All follow from the operation's table (domain/operation.h), so that a new
 * operation brings its own.
 *
 *     factor_table *table = factors_of(&memory, LN_OPERATION_LAYERNORM, &torch, false, false);
 *     combination of = {.table = table, .levels = {...}, .seed = 1, .number = 17};
 *     ln_problem problem = combination_problem(&of, LN_F32, LN_F32);
 *     call_layout layout = combination_layout(&of, LN_F32, LN_F32);
 */
#ifndef LNBENCH_FACTORS_H
#define LNBENCH_FACTORS_H

#include "conformance/covering_array.h"
#include "worker/layout.h"

enum { FACTOR_CONVENTIONS = 512 };

typedef enum factor_kind {
    FACTOR_ROWS,
    FACTOR_HIDDEN,     /* class of size */
    FACTOR_REMAINDER,  /* of hidden: of 8, 16, 64, 128 and 256 */
    FACTOR_CONTENTS,   /* of half of the rows; the others are centred */
    FACTOR_EPS,        /* size of eps */
    FACTOR_CONVENTION, /* a field of it */
    FACTOR_THREADS,
    FACTOR_CALLS,
    FACTOR_THERE, /* an optional input, or a number a row, is asked for */
    FACTOR_PLACE, /* where an output table lies */
    FACTOR_STRIDE,
    FACTOR_ADDRESS,
    FACTOR_PARAMETER, /* contents of a parameter */
    FACTOR_KINDS
} factor_kind;

typedef struct call_factor {
    factor_kind kind;
    size_t of; /* a role, or a field of the convention */
    size_t levels;
    int8_t plain;
    const char *const *words; /* of each level; "%s": the role's name */
} call_factor;

typedef struct convention_set {
    uint64_t words[FACTOR_CONVENTIONS / 64];
} convention_set;

typedef struct factor_table {
    ln_operation operation;
    bool large; /* more than COMBINATION_ELEMENTS */
    bool alone; /* under the plain convention, and not on every level of its fields */
    ln_convention plain;
    size_t conventions;
    size_t count;
    call_factor factors[COVERING_FACTORS];
    size_t levels[COVERING_FACTORS];
    convention_set having[COVERING_FACTORS][COVERING_LEVELS]; /* of factors of the convention */
    convention_set needing[ROLES_MOST], under_root, with_eps;
    bool shapes[8][8]
               [COVERING_LEVELS]; /* rows, hidden, remainder that there are; 0: any, 1: the first */
} factor_table;

enum { COMBINATION_ELEMENTS = 1 << 18, LARGE_ELEMENTS = 1 << 19 };

/* One problem: a level of each factor, and what is drawn where levels leave it open. */
typedef struct combination {
    const factor_table *table;
    int8_t levels[COVERING_FACTORS];
    uint64_t seed, number;
    size_t hidden, rows;          /* not 0: these, whatever the levels say */
    const ln_convention *instead; /* not NULL: this one, whatever the levels say */
} combination;

/* `plain`: the convention whose levels are plain. */
factor_table *factors_of(arena *memory, ln_operation kind, const ln_convention *plain, bool alone,
                         bool large);
/* For covering_make(): whether the levels can stand together. */
bool factors_allow(const void *table, const int8_t *levels);
/* Makes plain what cannot stand with the others. False: the others can't either. */
bool factors_settle(const factor_table *table, int8_t *levels);
/* The factor of a kind, and of a role or field; COVERING_FACTORS: there is none. */
size_t factor_find(const factor_table *table, factor_kind kind, size_t of);
/* "residual", "x 4 bytes off a line", "2 threads at once": nothing of a plain level but of the shape. */
const char *factor_describe(const combination *of, size_t factor, char *text, size_t size);

/* Another hidden size, with its levels. False: it cannot stand with the others, or is of the large ones. */
bool factors_set_hidden(combination *of, size_t hidden);
ln_problem combination_problem(const combination *of, ln_type storage, ln_type param);
/* The same whatever the levels of other factors: from its seed and number. */
uint64_t combination_draw(const combination *of, uint64_t what);
call_layout combination_layout(const combination *of, ln_type storage, ln_type param);

/* Levels of FACTOR_CONTENTS and FACTOR_PARAMETER. */
enum {
    CONTENTS_CENTRED,
    CONTENTS_OFF_CENTRE,
    CONTENTS_ABOUT_EPS,
    CONTENTS_BELOW_EPS,
    CONTENTS_HUGE,
    CONTENTS_TINY,
    CONTENTS_SPECIAL,
};
enum { PARAMETER_NORMAL, PARAMETER_WHOLE, PARAMETER_SPECIAL, PARAMETER_EXTREME };

#endif
