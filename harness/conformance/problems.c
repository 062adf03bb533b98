#include "conformance/problems.h"
#include "base/allocate.h"
#include "domain/convention.h"
#include "inputs/inputs.h"
#include "metrics/storage.h"
#include <math.h>
#include <stdio.h>

enum {
    MOST_SMALL = 900,
    MOST_QUICK = 400,
    MOST_LARGE = 100,
    SWEPT = 1100,  /* every hidden size */
    DISTINCT = 31, /* rows: those a power of two apart differ */
    DISTINCT_ELEMENTS = 16384,
    ROWS_APART = 64, /* of the inputs' rows, from problem to problem */
};

/* 2^k - 1, 2^k, 2^k + 1; sizes of models; ragged ones; and beyond what 16 bits count. */
static const size_t sample[] = {1151,  1280,  1297,  1536,  1543,  1600,  1613,  1792,  2047,
                                2048,  2049,  2560,  2567,  3001,  3072,  3111,  4093,  4095,
                                4096,  4097,  5003,  5120,  6144,  6151,  7168,  7919,  8191,
                                8192,  8193,  9973,  10240, 10247, 11264, 12288, 12301, 14336,
                                16381, 16384, 16385, 20001, 24601, 40961, 50257, 65537, 131101};

/* Of the small array, or the large one; with a hidden size of its own, or none (0). */
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

static covering_array cover(arena *memory, const factor_table *table, unsigned strength,
                            size_t most, uint64_t seed)
{
    const covering_question asked = {.factors = table->count,
                                     .levels = table->levels,
                                     .strength = strength,
                                     .most = most,
                                     .seed = seed,
                                     .allows = factors_allow,
                                     .context = table};
    return covering_make(memory, &asked);
}

static void add_place(combination_set *set, bool large, size_t entry, size_t hidden)
{
    set->places[set->count++] = (problem_place){large, entry, hidden};
    set->swept += hidden > 0;
}

/* Entries from first to before last. */
static void add_entries(combination_set *set, size_t first, size_t last)
{
    last = last < set->small.count ? last : set->small.count;
    for (size_t i = first; i < last; i++)
        add_place(set, false, i, 0);
}

/* Sizes of each third in turn; the first one's levels are those that the quick plan has too. */
static void add_sizes(combination_set *set, size_t third)
{
    const size_t begin = (set->seed + third) % 3;
    const bool few = third == 0 && set->small.count > MOST_QUICK;
    const size_t entries = few ? MOST_QUICK : set->small.count;
    for (size_t i = begin; i < SWEPT + SAMPLE; i += 3)
        add_place(set, false, i % entries, i < SWEPT ? i + 1 : sample[i - SWEPT]);
}

/* What the quick plan asks comes first. Of a kernel that takes some hidden sizes alone each problem has one of
 * them. */
static void order_problems(combination_set *set, const combinations_asked *asked)
{
    for (size_t i = 0; asked->hidden_count > 0 && i < set->small.count; i++)
        add_place(set, false, i, asked->hidden[i % asked->hidden_count]);
    if (asked->hidden_count > 0)
        return;
    add_entries(set, 0, MOST_QUICK);
    add_sizes(set, 0);
    if (asked->quick)
        return;
    add_entries(set, MOST_QUICK, MOST_SMALL);
    add_sizes(set, 1);
    add_sizes(set, 2);
    for (size_t i = 0; i < set->large.count; i++)
        add_place(set, true, i, 0);
}

combination_set *combinations_make(arena *memory, const combinations_asked *asked)
{
    const ln_operation kind = asked->plain.operation;
    combination_set *set = arena_new(memory, combination_set, 1);
    set->seed = asked->seed;
    set->sizes_given = asked->hidden_count > 0;
    set->table = factors_of(memory, kind, &asked->plain, asked->alone, false);
    set->large_table = factors_of(memory, kind, &asked->plain, asked->alone, true);
    set->small = cover(memory, set->table, 3, asked->quick ? MOST_QUICK : MOST_SMALL, asked->seed);
    set->large = cover(memory, set->large_table, 2, asked->quick ? 0 : MOST_LARGE, asked->seed);
    set->places =
        arena_new(memory, problem_place, set->small.count + set->large.count + SWEPT + SAMPLE);
    order_problems(set, asked);
    return set;
}

/* ---- which there are ---- */

size_t combinations_count(const combination_set *set)
{
    return set->count;
}

/* The levels of an entry but those that take long: few rows, unless the size is one of few that there are. */
static void set_size(combination *of, size_t hidden, bool given)
{
    of->hidden = hidden;
    of->levels[factor_find(of->table, FACTOR_THREADS, 0)] = 0;
    if (!given || combination_problem(of, LN_F32, LN_F32).rows * hidden > COMBINATION_ELEMENTS)
        of->levels[factor_find(of->table, FACTOR_ROWS, 0)] = 0;
    for (size_t f = 0; hidden < 129 && f < of->table->count; f++)
        if (of->table->factors[f].kind == FACTOR_PARAMETER && of->levels[f] == PARAMETER_EXTREME)
            of->levels[f] = PARAMETER_NORMAL;
}

combination combinations_at(const combination_set *set, size_t i)
{
    const problem_place *place = &set->places[i];
    const covering_array *array = place->large ? &set->large : &set->small;
    combination of = {
        .table = place->large ? set->large_table : set->table, .seed = set->seed, .number = i};
    memcpy(of.levels, covering_entry(array, place->entry), array->factors);
    if (place->hidden)
        set_size(&of, place->hidden, set->sizes_given);
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
                   ? snprintf(text, size, "%zu problems, every triple of levels (%zu)",
                              small->count, small->tuples)
                   : snprintf(text, size, "%zu problems, %.2f %% of all triples of levels (%zu)",
                              small->count, 100 * (double)small->covered / (double)small->tuples,
                              small->tuples);
    used += snprintf(text + used, size - (size_t)used, "; %zu hidden sizes more", set->swept);
    if (set->large.count > 0)
        snprintf(text + used, size - (size_t)used, "; %zu large problems, every pair (%zu)",
                 set->large.count, set->large.tuples);
    return text;
}

/* ---- rows ---- */

/* What is drawn of contents. */
enum { DRAW_CONTENTS = 128, DRAW_PARAMETERS };

static int8_t level_of(const combination *of, factor_kind kind, size_t role)
{
    size_t f = factor_find(of->table, kind, role);
    return f == COVERING_FACTORS ? 0 : of->levels[f];
}

/* A NaN all of whose payload is set: rounded to a shorter type by an addition it becomes a zero. */
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

/* 2/5 of the largest number: what lies 2.5 deviations off overflows. */
static double overflowing(ln_type storage)
{
    return 0.8 * (storage == LN_F64 ? 0x1p1023 : storage == LN_F16 ? 0x1p15 : 0x1p127);
}

/* What rows of a spread of 1 are multiplied with. */
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

/* Rows from the middle on, or all where there is one, are those of the level. */
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
        /* no infinity but in the sum */
        storage_store(problem->storage, x, at, 2 * overflowing(problem->storage));
        storage_store(problem->storage, call->inputs[ROLE_RESIDUAL], at,
                      2 * overflowing(problem->storage));
    }
}

/* Of -1, 0 and 1, and where gamma is stored less 1 of such gamma: all kinds in turn; one alone; or in the
 * first place alone, which is where kernels look. */
static void make_whole(const combination *of, size_t role, ln_type type, size_t count,
                       bool less_one, void *values)
{
    uint64_t drawn = combination_draw(of, DRAW_PARAMETERS + role), turn = drawn;
    for (size_t i = 0; i < (drawn % 4 == 2 ? 1 : count);
         i++, turn = turn * 6364136223846793005u + 1)
        storage_store(type, values, i,
                      (double)((drawn % 4 < 2 ? turn >> 40 : drawn >> 40) % 3) - 1 - less_one);
}

static double subnormal(ln_type storage)
{
    return storage == LN_F64 ? 0x1p-1030 : storage == LN_F16 ? 0x1p-16 : 0x1p-130;
}

/* Of gamma at an end of the range: whether that is the lower one, where results are subnormal. */
static bool is_subnormal(const combination *of)
{
    return level_of(of, FACTOR_PARAMETER, ROLE_GAMMA) == PARAMETER_EXTREME &&
           combination_draw(of, DRAW_PARAMETERS + ROLE_GAMMA) % 2;
}

static void make_parameter(const combination *of, operation_call *call, size_t role)
{
    const ln_problem *problem = &call->problem;
    void *values = call->inputs[role];
    size_t count = role_columns(&operations[call->operation]->roles[role], &problem->convention,
                                problem->hidden);
    uint64_t drawn = combination_draw(of, DRAW_PARAMETERS + role);
    bool less_one = role == ROLE_GAMMA && convention_form(&problem->convention) == LN_AFFINE_GAMMA1;
    switch (level_of(of, FACTOR_PARAMETER, role)) {
    case PARAMETER_WHOLE:
        make_whole(of, role, problem->param, count, less_one, values);
        break;
    case PARAMETER_SPECIAL: /* an infinite gamma: x s + t, s = gamma rstd, is right and NaN */
        if (role == ROLE_GAMMA)
            store_full_nan(problem->param, values, drawn % count);
        else
            store_special(problem->param, values, drawn % count, drawn >> 32);
        break;
    case PARAMETER_EXTREME:
        for (size_t i = 0; !is_subnormal(of) && i < count; i += 3)
            storage_store(problem->param, values, i,
                          fmin(overflowing(problem->storage), overflowing(problem->param)));
        if (!is_subnormal(of))
            break;
        /* fall through */
    default:
        for (size_t i = 0; is_subnormal(of) && i < count; i++)
            storage_store(problem->param, values, i,
                          subnormal(problem->storage) * storage_load(problem->param, values, i));
        break;
    }
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

/* ---- less of it ---- */

bool combination_without(combination *of, unsigned traits)
{
    const operation *what = operations[of->table->operation];
    const int8_t *levels = of->levels;
    combination less = *of;
    for (size_t f = 0; f < of->table->count; f++) {
        const call_factor *own = &of->table->factors[f];
        const tensor_role *role = &what->roles[own->of];
        bool of_residual = own->of == ROLE_RESIDUAL || (role->with & ROLE_BIT(ROLE_RESIDUAL));
        bool of_tensor = own->kind == FACTOR_THERE || own->kind == FACTOR_PLACE ||
                         own->kind == FACTOR_STRIDE || own->kind == FACTOR_ADDRESS;
        bool in_place = own->kind == FACTOR_PLACE && own->of == what->result;
        if ((traits & LN_TRAIT_NO_RESIDUAL && of_residual && of_tensor) ||
            (traits & LN_TRAIT_NOT_IN_PLACE && in_place))
            less.levels[f] = own->plain;
    }
    bool changed = memcmp(levels, less.levels, sizeof less.levels) != 0;
    *of = less;
    return changed;
}

uint64_t combination_factors(const combination *of)
{
    uint64_t factors = 0;
    for (size_t f = 0; f < of->table->count; f++) {
        const call_factor *own = &of->table->factors[f];
        bool idle = of->instead && (own->kind == FACTOR_CONVENTION || own->kind == FACTOR_EPS);
        factors |= (uint64_t)(!idle && of->levels[f] != own->plain) << f;
    }
    return factors;
}

const char *combination_describe(const combination *of, uint64_t factors, char *text, size_t size)
{
    char word[CONVENTION_MAX_LENGTH];
    size_t used = 0;
    *text = '\0';
    for (size_t f = 0; f < of->table->count && used < size; f++)
        if (factors >> f & 1 && *factor_describe(of, f, word, sizeof word))
            used += (size_t)snprintf(text + used, size - used, "%s%s", used ? ", " : "", word);
    if (of->instead && !convention_equal(of->instead, &of->table->plain) && used < size)
        snprintf(text + used, size - used, "%sunder %s", used ? ", " : "",
                 convention_label(of->instead, word));
    return text;
}
