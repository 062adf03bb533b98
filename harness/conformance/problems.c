/* The problems of the covering array: the generator of covering arrays, the list of problems, and their rows. */
#include "base/arena.h"
#include "base/hash.h"
#include "conformance/problems.h"
#include "domain/operation.h"
#include "inputs/inputs.h"
#include "judge/judging.h"
#include "metrics/storage.h"
#include <math.h>
#include <stdio.h>

/* ---- covering arrays ---- */

enum { CANDIDATES = 6, OPEN = 1, GIVEN_UP = 2 };

#define EACH_THREE(made, a, b, c)                                                                  \
    for (size_t c = (made)->first_last; c < (made)->factors; c++)                                  \
        for (size_t b = 1; b < c; b++)                                                             \
            for (size_t a = 0; a < b; a++)

/* A tuple is the levels of three factors a < b < c. For pairs, c is an additional last factor with a single level. */
typedef struct generator {
    const covering_request *request;
    size_t factors, levels[COVERING_FACTORS + 1], first_last; /* the smallest c */
    /* The index in open[] of the first tuple of three factors. */
    size_t begin[COVERING_FACTORS + 1][COVERING_FACTORS + 1][COVERING_FACTORS + 1];
    unsigned char *open; /* for each tuple: OPEN, GIVEN_UP, or 0 if it is covered or impossible */
    size_t room, left, given_up; /* the numbers of all tuples, of OPEN and of GIVEN_UP ones */
    uint64_t random;
} generator;

/* An entry while it is made. */
typedef struct candidate {
    int8_t levels[COVERING_FACTORS + 1];
    size_t set[COVERING_FACTORS + 1], count; /* its factors in the order in which they were set */
    size_t gain;                             /* the number of open tuples that it covers */
} candidate;

static size_t below(generator *made, size_t limit)
{
    return (size_t)((splitmix64(&made->random) >> 32) * limit >> 32);
}

static unsigned char *tuple_at(const generator *made, const int8_t *levels, size_t a, size_t b,
                               size_t c)
{
    size_t low = a < b ? a : b, high = a < b ? b : a;
    a = c < low ? c : low;
    b = c < low ? low : c < high ? c : high;
    c = c < high ? high : c;
    size_t within = ((size_t)levels[a] * made->levels[b] + (size_t)levels[b]) * made->levels[c];
    return made->open + made->begin[a][b][c] + within + (size_t)levels[c];
}

static void set_level(candidate *of, size_t factor, size_t level)
{
    of->levels[factor] = (int8_t)level;
    of->set[of->count++] = factor;
}

/* Sets the factor's level that can be combined with the others and covers the most open tuples (a random one of equal
 * ones). False: there is none. For pairs only tuples with the additional factor count, which is set first. */
static bool choose_level(generator *made, candidate *of, size_t factor)
{
    size_t best = 0, ties = 0, chosen = 0, gains[COVERING_LEVELS] = {0};
    of->levels[factor] = 0;
    for (size_t i = 1; i < of->count; i++)
        for (size_t j = 0; j < (made->request->strength == 2 ? 1 : i); j++) {
            const size_t a = of->set[i], b = of->set[j];
            const unsigned char *first = tuple_at(made, of->levels, a, b, factor);
            /* The distance in open[] between tuples that differ by one in this factor's level. */
            const size_t stride =
                (factor < a ? made->levels[a] : 1) * (factor < b ? made->levels[b] : 1);
            for (size_t level = 0; level < made->levels[factor]; level++)
                gains[level] += first[level * stride] == OPEN;
        }
    for (size_t level = 0; level < made->levels[factor]; level++) {
        of->levels[factor] = (int8_t)level;
        if (!made->request->allows(made->request->context, of->levels))
            continue;
        if (ties == 0 || gains[level] > best) {
            best = gains[level];
            ties = 0;
        }
        if (gains[level] == best && below(made, ++ties) == 0)
            chosen = level;
    }
    set_level(of, factor, chosen);
    of->gain += best;
    return ties > 0;
}

/* Returns the number of tuples of three factors. */
static size_t tuples_of(const generator *made, size_t a, size_t b, size_t c)
{
    return made->levels[a] * made->levels[b] * made->levels[c];
}

/* Begins an entry with the number-th tuple of three factors. */
static void begin_entry(const generator *made, size_t a, size_t b, size_t c, size_t number,
                        candidate *begun)
{
    const size_t *levels = made->levels;
    *begun = (candidate){0};
    memset(begun->levels, LEVEL_OPEN, sizeof begun->levels);
    set_level(begun, c, number % levels[c]);
    set_level(begun, b, number / levels[c] % levels[b]);
    set_level(begun, a, number / levels[c] / levels[b]);
    begun->gain = 1;
}

/* Makes an entry from a random open tuple (*begun) and sets the other factors in random order. False: not possible. */
static bool make_entry(generator *made, candidate *of, unsigned char **begun)
{
    size_t order[COVERING_FACTORS + 1], from = below(made, made->room);
    *begun = memchr(made->open + from, OPEN, made->room - from);
    *begun = *begun ? *begun : memchr(made->open, OPEN, made->room);
    EACH_THREE(made, a, b, c)
    {
        size_t within = (size_t)(*begun - made->open) - made->begin[a][b][c];
        if (within < tuples_of(made, a, b, c)) /* a negative difference wraps to a large one */
            begin_entry(made, a, b, c, within, of);
    }
    for (size_t i = 0; i < made->factors; i++) {
        size_t other = below(made, i + 1);
        order[i] = order[other];
        order[other] = i;
    }
    for (size_t i = 0; i < made->factors; i++)
        if (of->levels[order[i]] == LEVEL_OPEN && !choose_level(made, of, order[i]))
            return false;
    return true;
}

static void cover(generator *made, const int8_t *levels)
{
    EACH_THREE(made, a, b, c)
    {
        unsigned char *at = tuple_at(made, levels, a, b, c);
        made->left -= *at == OPEN;
        made->given_up -= *at == GIVEN_UP;
        *at = 0;
    }
}

covering_array covering_make(arena *memory, const covering_request *request)
{
    const bool pairs = request->strength == 2;
    covering_array array = {.factors = request->factors,
                            .entries = arena_new(memory, int8_t, request->most * request->factors)};
    generator *made = allocate(sizeof *made);
    candidate tried, best;
    *made = (generator){.request = request,
                        .random = request->seed,
                        .factors = request->factors + pairs,
                        .first_last = pairs ? request->factors : 2};
    memcpy(made->levels, request->levels, request->factors * sizeof *made->levels);
    made->levels[request->factors] = 1;
    EACH_THREE(made, a, b, c) /* number the tuples */
    {
        made->begin[a][b][c] = made->room;
        made->room += tuples_of(made, a, b, c);
    }
    made->open = allocate(made->room + 1);
    EACH_THREE(made, a, b, c) /* open the tuples whose levels can be combined */
    for (size_t i = 0; i < tuples_of(made, a, b, c); i++) {
        begin_entry(made, a, b, c, i, &tried);
        made->left += made->open[made->begin[a][b][c] + i] =
            request->allows(request->context, tried.levels);
    }
    array.tuples = made->left;
    while (made->left > 0 && array.count < request->most) {
        unsigned char *begun = NULL;
        best.gain = 0;
        for (size_t i = 0; i < CANDIDATES; i++)
            if (make_entry(made, &tried, &begun) && tried.gain > best.gain)
                best = tried;
        if (best.gain == 0) { /* no entry could be made from it; others may still cover it */
            *begun = GIVEN_UP;
            made->left--;
            made->given_up++;
            continue;
        }
        memcpy(array.entries + array.count++ * request->factors, best.levels, request->factors);
        cover(made, best.levels);
    }
    array.covered = (array.tuples -= made->given_up) - made->left;
    free(made->open);
    free(made);
    return array;
}

/* ---- the list of problems ---- */

enum {
    MOST_SMALL = 900,
    MOST_QUICK = 400,
    MOST_LARGE = 100,
    SWEPT = 1100,  /* every hidden size up to this one has a problem */
    DISTINCT = 31, /* the most distinct rows; odd, so that rows a power of two apart differ */
    DISTINCT_ELEMENTS = 16384,
    ROWS_APART = 64, /* the distance between the first rows of two problems in an input family */
};

/* The longer hidden sizes: near powers of two, those of models, odd ones, and more than 16 bits can count. */
static const size_t sample[] = {1151,  1280,  1297,  1536,  1543,  1600,  1613,  1792,  2047,
                                2048,  2049,  2560,  2567,  3001,  3072,  3111,  4093,  4095,
                                4096,  4097,  5003,  5120,  6144,  6151,  7168,  7919,  8191,
                                8192,  8193,  9973,  10240, 10247, 11264, 12288, 12301, 14336,
                                16381, 16384, 16385, 20001, 24601, 40961, 50257, 65537, 131101};

/* A problem: an entry of the array of small or large problems, with a hidden size of its own or (0) without. */
typedef struct problem_place {
    bool large;
    size_t entry, hidden;
} problem_place;

enum { SAMPLE = sizeof sample / sizeof *sample };

struct combination_set {
    factor_table *table, *large_table;
    covering_array small, large;
    uint64_t seed;
    problem_place *places;
    size_t count, swept;
    bool sizes_given;
};

static void add_place(combination_set *set, bool large, size_t entry, size_t hidden)
{
    set->places[set->count++] = (problem_place){large, entry, hidden};
    set->swept += hidden > 0;
}

/* Adds the entries from `first` up to, but not including, `last`. */
static void add_entries(combination_set *set, size_t first, size_t last)
{
    last = last < set->small.count ? last : set->small.count;
    for (size_t i = first; i < last; i++)
        add_place(set, false, i, 0);
}

/* Adds a third of the hidden sizes, with the levels of the entries in turn; the first third, which the quick plan has
 * too, uses only that plan's entries. */
static void add_sizes(combination_set *set, size_t third)
{
    const size_t begin = (set->seed + third) % 3;
    const bool few = third == 0 && set->small.count > MOST_QUICK;
    const size_t entries = few ? MOST_QUICK : set->small.count;
    for (size_t i = begin; i < SWEPT + SAMPLE; i += 3)
        add_place(set, false, i % entries, i < SWEPT ? i + 1 : sample[i - SWEPT]);
}

/* The quick plan's problems come first. If the kernel supports only some hidden sizes, each problem has one of them. */
combination_set *combinations_make(arena *memory, const combinations_request *request)
{
    combination_set *set = arena_new(memory, combination_set, 1);
    set->seed = request->seed;
    set->sizes_given = request->hidden_count > 0;
    set->table = factors_of(memory, &request->defaults, request->alone, false);
    set->large_table = factors_of(memory, &request->defaults, request->alone, true);
    covering_request covering = {.factors = set->table->count,
                                 .levels = set->table->levels,
                                 .strength = 3,
                                 .most = request->quick ? MOST_QUICK : MOST_SMALL,
                                 .seed = request->seed,
                                 .allows = factors_allow,
                                 .context = set->table};
    set->small = covering_make(memory, &covering);
    covering.factors = set->large_table->count;
    covering.levels = set->large_table->levels;
    covering.strength = 2;
    covering.most = request->quick ? 0 : MOST_LARGE;
    covering.context = set->large_table;
    set->large = covering_make(memory, &covering);
    set->places =
        arena_new(memory, problem_place, set->small.count + set->large.count + SWEPT + SAMPLE);
    for (size_t i = 0; set->sizes_given && i < set->small.count; i++)
        add_place(set, false, i, request->hidden[i % request->hidden_count]);
    if (set->sizes_given)
        return set;
    add_entries(set, 0, MOST_QUICK);
    add_sizes(set, 0);
    if (request->quick)
        return set;
    add_entries(set, MOST_QUICK, MOST_SMALL);
    add_sizes(set, 1);
    add_sizes(set, 2);
    for (size_t i = 0; i < set->large.count; i++)
        add_place(set, true, i, 0);
    return set;
}

size_t combinations_count(const combination_set *set)
{
    return set->count;
}

/* Returns the levels of an entry, with two exceptions. If several threads work on one row, it has no NaN, which would
 * make every y NaN and hide a thread's error. A problem with a hidden size of its own has one thread, and few rows
 * (except if the caller gave the hidden sizes and the problem is small). */
combination combinations_at(const combination_set *set, size_t i)
{
    const problem_place *place = &set->places[i];
    const covering_array *array = place->large ? &set->large : &set->small;
    combination of = {
        .table = place->large ? set->large_table : set->table, .seed = set->seed, .number = i};
    memcpy(of.levels, covering_entry(array, place->entry), array->factors);
    int8_t *threads = &of.levels[factor_find(of.table, FACTOR_THREADS, 0)],
           *contents = &of.levels[factor_find(of.table, FACTOR_CONTENTS, 0)];
    if (*threads > 0 && *contents == CONTENTS_SPECIAL &&
        combination_problem(&of, LN_F32, LN_F32).rows == 1)
        *contents = CONTENTS_CENTRED;
    if (place->hidden == 0)
        return of;
    of.hidden = place->hidden;
    *threads = 0;
    if (!set->sizes_given ||
        combination_problem(&of, LN_F32, LN_F32).rows * of.hidden > COMBINATION_ELEMENTS)
        of.levels[factor_find(of.table, FACTOR_ROWS, 0)] = 0;
    for (size_t f = 0; of.hidden < 129 && f < of.table->count; f++)
        if (of.table->factors[f].kind == FACTOR_PARAMETER && of.levels[f] == PARAMETER_EXTREME)
            of.levels[f] = PARAMETER_NORMAL;
    return of;
}

void combinations_add_triples(const combination_set *set, size_t *triples, size_t *covered)
{
    *triples += set->small.tuples;
    *covered += set->small.covered;
}

const char *combinations_describe(const combination_set *set, char *text, size_t size)
{
    const covering_array *small = &set->small;
    int used = small->covered == small->tuples
                   ? snprintf(text, size, "%zu problems with every combination of three settings",
                              small->count)
                   : snprintf(text, size,
                              "%zu problems with %.1f %% of all combinations of three settings",
                              small->count, 100 * (double)small->covered / (double)small->tuples);
    used += snprintf(text + used, size - (size_t)used, ", %zu more hidden sizes", set->swept);
    if (set->large.count > 0)
        snprintf(text + used, size - (size_t)used,
                 ", %zu large problems with every pair of settings", set->large.count);
    return text;
}

/* ---- rows ---- */

static int8_t level_of(const combination *of, factor_kind kind, size_t role)
{
    size_t f = factor_find(of->table, kind, role);
    return f == COVERING_FACTORS ? 0 : of->levels[f];
}

/* Stores a NaN with all bits of its payload set: code that rounds to a shorter type by an addition makes it a zero. */
static void store_full_nan(ln_type type, void *tensor, size_t at)
{
    size_t size = dtype_size(type);
    char *place = (char *)tensor + at * size;
    memset(place, 0xff, size);
    place[size - 1] = 0x7f;
}

static void store_special(ln_type type, void *tensor, size_t at, uint64_t which)
{
    if (which % 2 == 0)
        store_full_nan(type, tensor, at);
    else
        storage_store(type, tensor, at, which % 4 == 1 ? (double)INFINITY : -(double)INFINITY);
}

/* Returns 2/5 of the largest number, so that an element 2.5 standard deviations from the mean overflows. */
static double overflowing(ln_type storage)
{
    return 0.8 * largest_power(storage);
}

/* Returns the factor by which a row with a standard deviation of 1 is multiplied. */
static double scale_of(const combination *of, const ln_problem *problem, size_t row)
{
    static const int large[] = {[LN_F32] = 40, [LN_F64] = 300, [LN_BF16] = 40, [LN_F16] = 10};
    const ln_convention *convention = &problem->convention;
    double eps = convention->eps_place == LN_EPS_VAR ? sqrt(convention->eps) : convention->eps;
    double even = eps > 0 ? exp2(round(log2(eps))) : 1;
    switch (level_of(of, FACTOR_CONTENTS, 0)) {
    case CONTENTS_ABOUT_EPS:
        return even * exp2((double)(row % 3) - 1);
    case CONTENTS_BELOW_EPS:
        return even * 0x1p-8;
    case CONTENTS_HUGE:
        return exp2(large[problem->storage]);
    case CONTENTS_TINY:
        return exp2(-large[problem->storage]);
    default:
        return 1;
    }
}

/* Gives the second half of the rows (or the only row) the contents of FACTOR_CONTENTS. */
static void make_special_rows(const combination *of, operation_call *call)
{
    const ln_problem *problem = &call->problem;
    const size_t hidden = problem->hidden, first = problem->rows / 2;
    const int8_t contents = level_of(of, FACTOR_CONTENTS, 0);
    uint64_t drawn = combination_draw(of, DRAW_CONTENTS);
    char *x = call->inputs[ROLE_X];
    if (contents == CONTENTS_OFF_CENTRE) {
        input_rows("offset:3", problem->storage, of->seed, of->number * ROWS_APART,
                   problem->rows - first, hidden,
                   x + first * hidden * dtype_size(problem->storage));
        return;
    }
    for (size_t i = 0; i < operations[call->operation]->count; i++) {
        void *rows = call->inputs[i];
        if (operations[call->operation]->roles[i].shape != SHAPE_TABLE || !rows)
            continue;
        for (size_t at = first * hidden; at < problem->rows * hidden; at++)
            storage_store(problem->storage, rows, at,
                          scale_of(of, problem, at / hidden) *
                              storage_load(problem->storage, rows, at));
    }
    for (size_t row = first; contents == CONTENTS_SPECIAL && row < problem->rows;
         row++, drawn /= 3) {
        const size_t at = row * hidden + drawn % hidden;
        store_special(problem->storage, x, at, drawn + row);
        if ((drawn + row) % 4 != 3 || !call->inputs[ROLE_RESIDUAL])
            continue;
        /* Here only the sum x + residual is infinite. */
        storage_store(problem->storage, x, at, 2 * overflowing(problem->storage));
        storage_store(problem->storage, call->inputs[ROLE_RESIDUAL], at,
                      2 * overflowing(problem->storage));
    }
}

/* Returns true if gamma is so small that results are subnormal, which is one of the two cases of PARAMETER_EXTREME. */
static bool is_subnormal(const combination *of)
{
    return level_of(of, FACTOR_PARAMETER, ROLE_GAMMA) == PARAMETER_EXTREME &&
           combination_draw(of, DRAW_PARAMETERS + ROLE_GAMMA) % 2;
}

static void make_parameter(const combination *of, operation_call *call, size_t role)
{
    static const double subnormal[] = {
        [LN_F32] = 0x1p-130, [LN_F64] = 0x1p-1030, [LN_BF16] = 0x1p-130, [LN_F16] = 0x1p-16};
    const ln_problem *problem = &call->problem;
    void *values = call->inputs[role];
    size_t count = role_columns(&operations[call->operation]->roles[role], &problem->convention,
                                problem->hidden);
    uint64_t drawn = combination_draw(of, DRAW_PARAMETERS + role), turn = drawn;
    bool less_one = role == ROLE_GAMMA && convention_form(&problem->convention) == LN_AFFINE_GAMMA1;
    switch (level_of(of, FACTOR_PARAMETER, role)) {
    case PARAMETER_WHOLE:
        /* -1, 0 and 1 (the stored value is 1 less for 1 + gamma): mixed; or the same for all elements; or only for the
         * first element, which some kernels test for a special case. */
        count = drawn % 4 == 2 ? 1 : count;
        for (size_t i = 0; i < count; i++, turn = turn * 6364136223846793005u + 1)
            storage_store(problem->param, values, i,
                          (double)((drawn % 4 < 2 ? turn >> 40 : drawn >> 40) % 3) - 1 - less_one);
        return;
    case PARAMETER_SPECIAL: /* no infinite gamma: a correct kernel may give NaN for it */
        if (role == ROLE_GAMMA)
            store_full_nan(problem->param, values, drawn % count);
        else
            store_special(problem->param, values, drawn % count, drawn >> 32);
        return;
    case PARAMETER_EXTREME:
        for (size_t i = 0; !is_subnormal(of) && i < count; i += 3)
            storage_store(problem->param, values, i,
                          fmin(overflowing(problem->storage), overflowing(problem->param)));
        break;
    default:
        break;
    }
    for (size_t i = 0; is_subnormal(of) && i < count; i++)
        storage_store(problem->param, values, i,
                      subnormal[problem->storage] * storage_load(problem->param, values, i));
}

void combination_block(row_judge *judge, const combination *of, ln_type storage, ln_type param,
                       judge_block *block)
{
    const operation *what = operations[of->table->operation];
    ln_problem problem = combination_problem(of, storage, param);
    size_t distinct = DISTINCT_ELEMENTS / problem.hidden | 1, rows = problem.rows;
    arena memory = {0};
    distinct = distinct < 3 ? 3 : distinct > DISTINCT ? DISTINCT : distinct;
    problem.rows = rows < distinct ? rows : distinct;
    operation_call call = {.operation = of->table->operation, .problem = problem};
    call_allocate(&memory, &call, true);
    input_call("normal", "normal", &call, of->seed, of->number * ROWS_APART);
    for (size_t i = 0; i < what->count; i++)
        if (what->roles[i].optional && !what->roles[i].output && !level_of(of, FACTOR_THERE, i))
            call.inputs[i] = NULL;
    make_special_rows(of, &call);
    for (size_t i = 0; i < what->count; i++)
        if (role_is_parameter(&what->roles[i]) && call.inputs[i])
            make_parameter(of, &call, i);
    judge_block_from(judge, block, &call);
    arena_free(&memory);
    judge_block_repeat(block, rows);
}

bool combination_is_even(const combination *of)
{
    bool even = true;
    for (size_t f = 0; f < of->table->count; f++)
        even &= of->table->factors[f].kind != FACTOR_PARAMETER || of->levels[f] == PARAMETER_NORMAL;
    return even;
}

/* ---- levels that a kernel does not support ---- */

bool combination_without(combination *of, unsigned traits)
{
    const operation *what = operations[of->table->operation];
    const combination before = *of;
    for (size_t f = 0; f < of->table->count; f++) {
        const call_factor *own = &of->table->factors[f];
        const tensor_role *role = &what->roles[own->of];
        bool of_residual = own->of == ROLE_RESIDUAL || (role->with & ROLE_BIT(ROLE_RESIDUAL));
        bool of_tensor = own->kind == FACTOR_THERE || own->kind == FACTOR_PLACE ||
                         own->kind == FACTOR_STRIDE || own->kind == FACTOR_ADDRESS;
        bool in_place = own->kind == FACTOR_PLACE && own->of == what->result;
        if ((traits & LN_TRAIT_NO_RESIDUAL && of_residual && of_tensor) ||
            (traits & LN_TRAIT_NOT_IN_PLACE && in_place))
            of->levels[f] = own->default_level;
    }
    return memcmp(before.levels, of->levels, sizeof before.levels) != 0;
}
