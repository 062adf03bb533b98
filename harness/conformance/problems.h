/* The problems of the covering array: few calls in which every combination of three settings occurs at least once. The
 * settings ("levels") belong to 27 factors of shape, call, contents and convention. All of them follow from the
 * operation's table (domain/operation.h), so that a new operation has its own.
 *
 *     combination_set *set = combinations_make(&memory, &request);
 *     for (size_t i = 0; i < combinations_count(set); i++) {
 *         combination of = combinations_at(set, i);
 *         combination_block(judge, &of, LN_F32, LN_F32, &block);
 *         ...
 *     }
 *     arena_free(&memory);
 */
#ifndef LNBENCH_PROBLEMS_H
#define LNBENCH_PROBLEMS_H

#include "judge/judge.h"
#include "worker/protocol.h"

/* ---- covering arrays (problems.c) ----
 *
 *     covering_request request = {.factors = 27, .levels = levels, .strength = 3, .most = 900, .seed = 1,
 *                               .allows = allows, .context = &table};
 *     covering_array array = covering_make(&memory, &request);
 *     for (size_t i = 0; i < array.count; i++)
 *         use(covering_entry(&array, i));                  // a level of each factor
 *
 * Most faults of programs need one to three factors to show (Kuhn, Wallace and Gallo, IEEE
 * TSE 30, 2004). The greedy generator is that of AETG (Cohen, Dalal, Fredman and Patton, IEEE TSE 23, 1997). */
enum { COVERING_FACTORS = 40, COVERING_LEVELS = 16, LEVEL_OPEN = -1 };

typedef struct covering_request {
    size_t factors;
    const size_t *levels; /* the number of levels of each factor */
    unsigned strength;    /* 2 or 3: every pair or triple of levels occurs */
    size_t most;          /* the largest number of entries */
    uint64_t seed;
    /* Returns true if the levels can be combined; a factor with LEVEL_OPEN has no level yet. */
    bool (*allows)(const void *context, const int8_t *levels);
    const void *context;
} covering_request;

typedef struct covering_array {
    size_t factors, count;
    int8_t *entries;        /* count x factors */
    size_t tuples, covered; /* pairs or triples of levels that can be combined; those that occur */
} covering_array;

/* Generates a covering array. Equal requests give equal arrays. */
covering_array covering_make(arena *memory, const covering_request *request);

static inline const int8_t *covering_entry(const covering_array *array, size_t i)
{
    return array->entries + i * array->factors;
}

/* ---- factors (factors.c) ----
 *
 *     factor_table *table = factors_of(&memory, &torch, false, false);
 *     combination of = {.table = table, .levels = {...}, .seed = 1, .number = 17};
 *     ln_problem problem = combination_problem(&of, LN_F32, LN_F32);
 *     call_layout layout = combination_layout(&of, LN_F32, LN_F32);
 */
enum { FACTOR_CONVENTIONS = 512 };

typedef enum factor_kind {
    FACTOR_ROWS,
    FACTOR_HIDDEN,     /* range of the hidden size */
    FACTOR_REMAINDER,  /* remainders of hidden modulo 8, 16, 64, 128 and 256 */
    FACTOR_CONTENTS,   /* contents of half of the rows; the others are centred */
    FACTOR_EPS,        /* size of eps */
    FACTOR_CONVENTION, /* a field of the convention */
    FACTOR_THREADS,
    FACTOR_CALLS,
    FACTOR_THERE, /* presence of an optional input, or of a statistic */
    FACTOR_PLACE, /* the memory of an output table */
    FACTOR_STRIDE,
    FACTOR_ADDRESS,
    FACTOR_PARAMETER, /* contents of a parameter */
} factor_kind;

typedef struct call_factor {
    factor_kind kind;
    size_t of; /* a role, or a field of the convention */
    size_t levels;
    int8_t default_level;
    const char *const *words; /* the name of each level; "%s": the role's name */
} call_factor;

/* A set of conventions, a bit for each convention_numbered(). */
typedef struct convention_set {
    uint64_t words[FACTOR_CONVENTIONS / 64];
} convention_set;

typedef struct factor_table {
    ln_operation operation;
    bool large;             /* problems have more than COMBINATION_ELEMENTS elements */
    bool alone;             /* only the default convention, not every level of its fields */
    ln_convention defaults; /* the convention of the default levels */
    size_t count;
    call_factor factors[COVERING_FACTORS];
    size_t levels[COVERING_FACTORS];
    convention_set having[COVERING_FACTORS][COVERING_LEVELS]; /* with this level of a field */
    convention_set needing[ROLES_MOST], with_eps;
    convention_set under_root;          /* with eps under the root, or added to the root */
    bool shapes[8][8][COVERING_LEVELS]; /* possible levels + 1 of rows, hidden, remainder; 0: any */
} factor_table;

enum { COMBINATION_ELEMENTS = 1 << 18, LARGE_ELEMENTS = 1 << 19 };

/* One problem: a level of each factor, and random choices within the levels. A combination describes a problem;
 * combination_problem() gives its size and convention for the kernel call. */
typedef struct combination {
    const factor_table *table;
    int8_t levels[COVERING_FACTORS];
    uint64_t seed, number;
    size_t hidden, rows;          /* if not 0, they replace those that the levels give */
    const ln_convention *instead; /* if not NULL, it replaces the convention that the levels give */
} combination;

/* Makes the table of an operation's factors; `defaults` is a convention of it, whose levels are the defaults. */
factor_table *factors_of(arena *memory, const ln_convention *defaults, bool alone, bool large);
/* Returns true if the levels can be combined (for covering_make()). */
bool factors_allow(const void *table, const int8_t *levels);
/* Sets levels that cannot be combined with the others to the defaults. False: that is not enough. */
bool factors_settle(const factor_table *table, int8_t *levels);
/* Returns the index of the factor of a kind for a role or field; COVERING_FACTORS: there is none. */
size_t factor_find(const factor_table *table, factor_kind kind, size_t of);
/* Sets another hidden size with its levels. False: it cannot be combined with the others, or is a large one. */
bool factors_set_hidden(combination *of, size_t hidden);

ln_problem combination_problem(const combination *of, ln_type storage, ln_type param);
/* combination_draw() returns a random number that depends only on seed, number and `what`, not on levels. `what` is the
 * index of a factor of the call, or one of these; the role is added to DRAW_PARAMETERS. */
enum {
    DRAW_CALL_SEED = 0,
    DRAW_HIDDEN = 64, /* larger than an index of a factor */
    DRAW_ROWS,
    DRAW_EPS,
    DRAW_CONTENTS = 128,
    DRAW_PARAMETERS,
    DRAW_CALL_PLACE = 256,
};
uint64_t combination_draw(const combination *of, uint64_t what);
call_layout combination_layout(const combination *of, ln_type storage, ln_type param);
/* Returns a bit for each factor that is not at its default. */
uint64_t combination_factors(const combination *of);
/* Names the levels of these factors that are not the defaults: "rows far from zero, residual, 2 threads at once". Ends
 * with "..." if the text has no room for all. */
const char *combination_describe(const combination *of, uint64_t factors, char *text, size_t size);

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

/* ---- problems (problems.c) ---- */

typedef struct combinations_request {
    ln_convention defaults; /* the default convention, which also names the operation */
    bool alone;             /* only this convention, not every level of its fields */
    uint64_t seed;
    bool quick;           /* only the first problems */
    const size_t *hidden; /* the allowed hidden sizes */
    size_t hidden_count;  /* 0: all sizes */
} combinations_request;

typedef struct combination_set combination_set;

combination_set *combinations_make(arena *memory, const combinations_request *request);

/* Returns the number of problems. They are the first 400 entries of the array of small problems, and a third of the
 * hidden sizes, each with the levels of one of these entries; then, except in the quick plan, the rest of both (every
 * size up to 1100 and a sample of longer ones), and the large problems. */
size_t combinations_count(const combination_set *set);
combination combinations_at(const combination_set *set, size_t i);
/* Adds the number of triples of levels that can be combined, and of those that occur in some problem. */
void combinations_add_triples(const combination_set *set, size_t *triples, size_t *covered);
/* Writes "784 problems with every combination of three settings, 1145 more hidden sizes, ...". */
const char *combinations_describe(const combination_set *set, char *text, size_t size);

/* Makes the block of a combination from few distinct rows, which are repeated. */
void combination_block(row_judge *judge, const combination *of, ln_type storage, ln_type param,
                       judge_block *block);
/* Returns true if errors at all positions in the first half of the rows have the same distribution. */
bool combination_is_even(const combination *of);
/* Sets levels that the kernel's traits exclude to the defaults. False: nothing changed. */
bool combination_without(combination *of, unsigned traits);

#endif
