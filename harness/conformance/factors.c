/* The factors of a call and their levels; the levels that can be combined; and the call that a combination makes. */
#include "base/hash.h"
#include "conformance/problems.h"
#include "domain/operation.h"
#include <math.h>
#include <stdio.h>

/* ---- levels ---- */

typedef struct range {
    size_t first, last;
} range;

/* The ranges of rows and hidden sizes of small and of large problems; the first one is the default level. */
static const range few_rows[] = {{2, 7},      {1, 1},       {8, 63},     {64, 255},
                                 {256, 1023}, {1024, 2047}, {2048, 2600}};
static const range short_rows[] = {{17, 128},    {1, 16},      {129, 1100},
                                   {1101, 4096}, {4097, 8192}, {8193, 16384}};
static const range many_rows[] = {{2, 7}, {8, 63}, {64, 1023}, {1024, 2047}, {2048, 4100}};
static const range long_rows[] = {
    {16385, 32768}, {129, 1100}, {1101, 8192}, {32769, 65536}, {65537, 131101}};

/* A problem that is cheap to call and to judge. */
enum { CHEAP_ELEMENTS = 1 << 16 };
/* The most elements for each level of threads: several threads at once make some ten calls each. */
static const size_t elements_at_once[] = {SIZE_MAX, 1 << 17, 1 << 15};
enum { REMAINDERS = 9, FEW_ROWS = 7, ONE_ROW = 1, SHORT_ROWS = 6, MANY_ROWS = 5, LONG_ROWS = 5 };

static size_t remainder_level(size_t hidden)
{
    return hidden % 256 == 0   ? 3
           : hidden % 128 == 0 ? 2
           : hidden % 64 == 0  ? 1
           : hidden % 16 == 0  ? 0
           : hidden % 8 == 0   ? 4
           : hidden % 2 == 0   ? 5
           : hidden % 16 == 1  ? 6
           : hidden % 16 == 15 ? 7
                               : 8;
}

/* The factors with their levels. An entry of a covering array has first the factors of the call, then those of each
 * tensor, then each field of the convention, and then eps. */
static const struct factor_row {
    factor_kind kind;
    size_t levels, large; /* the levels of a small and of a large problem; 0: see add_factor() */
    const char *words[COVERING_LEVELS]; /* the name of each level; "%s": the tensor's name */
} factor_rows[] = {
    {FACTOR_ROWS, FEW_ROWS, MANY_ROWS, {0}},
    {FACTOR_HIDDEN, SHORT_ROWS, LONG_ROWS, {0}},
    {FACTOR_REMAINDER, REMAINDERS, REMAINDERS, {0}},
    {FACTOR_CONTENTS,
     CONTENTS_SPECIAL + 1,
     CONTENTS_SPECIAL + 1,
     {"", "rows far from zero", "variance near eps", "variance far below eps", "huge rows",
      "tiny rows", "rows with NaN or infinity"}},
    {FACTOR_THREADS, 3, 2, {"", "2 threads at once", "5 threads at once"}},
    {FACTOR_CALLS,
     CALL_ORDERS,
     CALLS_IN_TURN,
     {"", "after other contents in the same places", "half the rows at once",
      "in turn with another shape", "two problems prepared"}},
    {.kind = FACTOR_PLACE},
    {.kind = FACTOR_THERE, .words = {"", "%s"}},
    {.kind = FACTOR_STRIDE,
     .words = {"", "gaps of one element in %s", "gaps of one vector in %s", "wide gaps in %s"}},
    {.kind = FACTOR_ADDRESS,
     .words = {"", "%s one element after a cache line's start",
               "%s one element before a cache line's start", "%s at the end of a page"}},
    {.kind = FACTOR_PARAMETER,
     .words = {"", "%s of -1, 0 and 1", "NaN or infinity in %s", "%s at an end of the range"}},
    {.kind = FACTOR_CONVENTION},
    {FACTOR_EPS, 4, 4, {"", "small eps", "large eps", "eps from 1 on"}},
};
enum {
    OF_CALL = 6,     /* the first 6 rows are factors of the call; */
    OF_TENSOR = 11,  /* those up to row 11 are factors of a tensor */
    AT_CONTENTS = 3, /* indexes of two factors of the call, after the three of the shape */
    AT_THREADS = 4
};

/* ---- the table ---- */

/* Returns the number-th input (from 1) whose memory an output may use: for y the one of an in-place call, for x +
 * residual every table. ROLES_MOST: there are no more. */
static size_t taken_role(const operation *what, size_t role, size_t number)
{
    if (!role_is_sum(what, role))
        return number == 1 && what->roles[role].over ? role_in_place(what, role) : ROLES_MOST;
    for (size_t i = 0; i < what->count; i++)
        if (what->roles[i].shape == SHAPE_TABLE && !what->roles[i].output && --number == 0)
            return i;
    return ROLES_MOST;
}

/* Adds a factor for a tensor or a field of the convention (`of`), unless it has only one level. */
static void add_factor(factor_table *table, const struct factor_row *row, size_t of)
{
    const operation *what = operations[table->operation];
    const tensor_role *role = &what->roles[of];
    const bool is_table = role->shape == SHAPE_TABLE, parameter = role_is_parameter(role);
    size_t levels = table->large ? row->large : row->levels, inputs = 0;
    if (row->kind == FACTOR_CONVENTION) {
        levels = what->fields[of].levels;
    } else if (levels == 0 && role->shape != SHAPE_NONE) {
        if (row->kind == FACTOR_PLACE && is_table && role->output) {
            /* The levels: not requested (if it is optional), memory of its own, that of each such input. */
            while (taken_role(what, of, inputs + 1) != ROLES_MOST)
                inputs++;
            levels = role->optional + 1u + inputs;
        } else if (row->kind == FACTOR_THERE && !(is_table && role->output)) {
            levels = role->optional ? 2 : 0;
        } else if ((row->kind == FACTOR_STRIDE && is_table) ||
                   (row->kind == FACTOR_ADDRESS && (is_table || parameter))) {
            levels = 4;
        } else if (row->kind == FACTOR_PARAMETER && parameter && !role->output) {
            levels = of == ROLE_GAMMA ? 4 : 3;
        }
    }
    if (levels < 2 && row->kind != FACTOR_CONVENTION)
        return;
    table->levels[table->count] = levels;
    table->factors[table->count++] = (call_factor){row->kind, of, levels, 0, row->words};
}

static void include(convention_set *set, size_t number)
{
    set->words[number / 64] |= (uint64_t)1 << number % 64;
}

/* Adds a convention to the sets of the table that it belongs to. */
static void note_convention(factor_table *table, const ln_convention *convention, size_t number)
{
    const operation *what = operations[table->operation];
    for (size_t f = 0; f < table->count; f++)
        if (table->factors[f].kind == FACTOR_CONVENTION) {
            size_t level = convention_level(&what->fields[table->factors[f].of], convention);
            include(&table->having[f][level], number);
        }
    for (size_t i = 0; i < what->count; i++)
        if (role_is_needed(&what->roles[i], convention))
            include(&table->needing[i], number);
    if (convention->eps_place != LN_EPS_NONE)
        include(&table->with_eps, number);
    if (convention->eps_place == LN_EPS_VAR || convention->eps_place == LN_EPS_STD)
        include(&table->under_root, number);
}

size_t factor_find(const factor_table *table, factor_kind kind, size_t of)
{
    for (size_t i = 0; i < table->count; i++)
        if (table->factors[i].kind == kind && table->factors[i].of == of)
            return i;
    return COVERING_FACTORS;
}

/* ---- the levels that can be combined ---- */

static const range *rows_of(const factor_table *table, size_t level)
{
    return &(table->large ? many_rows : few_rows)[level];
}

static const range *sizes_of(const factor_table *table, size_t level)
{
    return &(table->large ? long_rows : short_rows)[level];
}

/* Returns a hidden size that has the levels `size` and `remainder` and, with these rows, few enough elements (in a
 * large problem: enough). `number`, modulo the count of such sizes, selects one. 0: there is none. */
static size_t find_hidden(const factor_table *table, size_t size, size_t remainder,
                          const range *rows, size_t number)
{
    size_t most = table->large ? LARGE_ELEMENTS : COMBINATION_ELEMENTS, found = 0;
    const range *sizes = sizes_of(table, size);
    for (int turn = 0; turn < 2; turn++) {
        size_t count = 0;
        for (size_t hidden = sizes->first; hidden <= sizes->last && hidden * rows->first <= most;
             hidden++) {
            if (remainder_level(hidden) != remainder ||
                (table->large && hidden * rows->last <= COMBINATION_ELEMENTS))
                continue;
            if (turn == 1 && count == number % found)
                return hidden;
            count++;
        }
        found = count;
        if (found == 0)
            return 0;
    }
    return 0;
}

/* Returns true if a convention that the levels still allow is in the set. */
static bool can_be_in(const factor_table *table, const int8_t *levels, const convention_set *set)
{
    convention_set left = *set;
    uint64_t any = 0;
    for (size_t f = 0; f < table->count; f++)
        for (size_t i = 0; table->factors[f].kind == FACTOR_CONVENTION && levels[f] != LEVEL_OPEN &&
                           i < FACTOR_CONVENTIONS / 64;
             i++)
            left.words[i] &= table->having[f][levels[f]].words[i];
    for (size_t i = 0; i < FACTOR_CONVENTIONS / 64; i++)
        any |= left.words[i];
    return any != 0;
}

/* Returns true if a factor has this level or none yet, or does not exist. */
static bool can_be(const int8_t *levels, size_t factor, int8_t level)
{
    return factor == COVERING_FACTORS || levels[factor] == LEVEL_OPEN || levels[factor] == level;
}

/* Returns true if the call can have the role in memory of its own. */
static bool can_be_there(const factor_table *table, const int8_t *levels, size_t role)
{
    const operation *what = operations[table->operation];
    if (role_is_parameter(&what->roles[role]))
        return can_be_in(table, levels, &table->needing[role]);
    if (what->roles[role].output)
        return can_be(levels, factor_find(table, FACTOR_PLACE, role), what->roles[role].optional);
    return can_be(levels, factor_find(table, FACTOR_THERE, role), 1);
}

/* Returns the role whose memory an output uses at a level of FACTOR_PLACE; ROLES_MOST: its own. */
static size_t place_taken(const operation *what, size_t role, int8_t level)
{
    size_t own = what->roles[role].optional;
    return level > (int8_t)own ? taken_role(what, role, (size_t)level - own) : ROLES_MOST;
}

/* Returns true if factor f's level, which is not the default, can be combined with the others. */
static bool allows_level(const factor_table *table, const int8_t *levels, size_t f)
{
    const operation *what = operations[table->operation];
    const call_factor *own = &table->factors[f];
    const size_t role = own->of;
    size_t taken;
    switch (own->kind) {
    case FACTOR_THREADS:
        return table->large || levels[0] == LEVEL_OPEN || levels[1] == LEVEL_OPEN ||
               rows_of(table, (size_t)levels[0])->first *
                       sizes_of(table, (size_t)levels[1])->first <=
                   elements_at_once[levels[f]];
    case FACTOR_CALLS:
        return levels[f] != CALLS_HALVES || levels[0] != ONE_ROW || table->large;
    case FACTOR_CONTENTS:
        return (levels[f] != CONTENTS_ABOUT_EPS && levels[f] != CONTENTS_BELOW_EPS) ||
               can_be_in(table, levels, &table->under_root);
    case FACTOR_EPS:
        return can_be_in(table, levels, &table->with_eps);
    case FACTOR_PLACE: /* its inputs must be present, and no two outputs may use the same memory */
        for (size_t input = 0; input < what->count; input++)
            if (what->roles[role].with & ROLE_BIT(input) && !can_be_there(table, levels, input))
                return false;
        taken = place_taken(what, role, levels[f]);
        for (size_t other = 0; taken != ROLES_MOST && other < table->count; other++)
            if (other != f && table->factors[other].kind == FACTOR_PLACE &&
                levels[other] != LEVEL_OPEN &&
                place_taken(what, table->factors[other].of, levels[other]) == taken)
                return false;
        return true;
    case FACTOR_STRIDE:
        return (table->large || levels[0] != ONE_ROW) && can_be_there(table, levels, role);
    case FACTOR_ADDRESS:
        return can_be_there(table, levels, role);
    case FACTOR_PARAMETER:
        if (!can_be_in(table, levels, &table->needing[role]))
            return false;
        if (levels[f] != PARAMETER_EXTREME)
            return true;
        /* A kernel may compute gamma * rstd first, so neither it nor x * gamma * rstd may overflow; and infinities must
         * not be subtracted. */
        for (size_t other = 0; other < table->count; other++)
            if (table->factors[other].kind == FACTOR_PARAMETER &&
                levels[other] == PARAMETER_SPECIAL)
                return false;
        return (table->large || (levels[1] != 0 && levels[1] != 1)) &&
               can_be(levels, AT_CONTENTS, CONTENTS_CENTRED);
    default:
        return true;
    }
}

bool factors_allow(const void *context, const int8_t *levels)
{
    const factor_table *table = context;
    if (!table->shapes[levels[0] + 1][levels[1] + 1][levels[2] + 1])
        return false;
    for (size_t f = AT_CONTENTS; f < table->count; f++)
        if (levels[f] > 0 && !allows_level(table, levels, f))
            return false;
    return true;
}

bool factors_settle(const factor_table *table, int8_t *levels)
{
    if (!table->shapes[levels[0] + 1][levels[1] + 1][levels[2] + 1])
        return false;
    for (size_t f = AT_CONTENTS; f < table->count; f++)
        if (levels[f] != table->factors[f].default_level && !allows_level(table, levels, f)) {
            levels[f] = table->factors[f].default_level;
            f = AT_CONTENTS - 1; /* start again: other levels may have depended on it */
        }
    return factors_allow(table, levels);
}

bool factors_set_hidden(combination *of, size_t hidden)
{
    for (size_t size = 0; size < SHORT_ROWS; size++)
        if (hidden >= short_rows[size].first && hidden <= short_rows[size].last)
            of->levels[1] = (int8_t)size;
    of->levels[2] = (int8_t)remainder_level(hidden);
    of->hidden = hidden;
    return !of->table->large && factors_allow(of->table, of->levels);
}

factor_table *factors_of(arena *memory, const ln_convention *defaults, bool alone, bool large)
{
    const operation *what = operations[defaults->operation];
    factor_table *table = arena_new(memory, factor_table, 1);
    *table = (factor_table){
        .operation = defaults->operation, .large = large, .alone = alone, .defaults = *defaults};
    for (size_t row = 0; row < OF_CALL; row++)
        add_factor(table, &factor_rows[row], 0);
    for (size_t i = 0; i < what->count; i++)
        for (size_t row = OF_CALL; row < OF_TENSOR; row++)
            add_factor(table, &factor_rows[row], i);
    for (size_t i = 0; !alone && i < what->field_count; i++)
        add_factor(table, &factor_rows[OF_TENSOR], i);
    if (!alone)
        add_factor(table, &factor_rows[OF_TENSOR + 1], 0);
    for (size_t i = 0; i < (alone ? 1 : convention_count(what)) && i < FACTOR_CONVENTIONS; i++) {
        ln_convention convention = alone ? *defaults : convention_numbered(what, i);
        note_convention(table, &convention, i);
    }
    for (size_t rows = 0; rows < table->levels[0]; rows++)
        for (size_t size = 0; size < table->levels[1]; size++)
            for (size_t remainder = 0; remainder < REMAINDERS; remainder++) {
                bool there = find_hidden(table, size, remainder, rows_of(table, rows), 0) > 0;
                for (unsigned open = 0; there && open < 8; open++)
                    table->shapes[open & 1 ? 0 : rows + 1][open & 2 ? 0 : size + 1]
                                 [open & 4 ? 0 : remainder + 1] = true;
            }
    for (size_t f = 0; f < table->count; f++)
        if (table->factors[f].kind == FACTOR_CONVENTION)
            table->factors[f].default_level =
                (int8_t)convention_level(&what->fields[table->factors[f].of], defaults);
    return table;
}

/* ---- from levels to a call ---- */

uint64_t combination_draw(const combination *of, uint64_t what)
{
    uint32_t drawn[4];
    philox4x32(of->seed, of->number, 0x636f6d62 + (what << 32), drawn);
    return (uint64_t)drawn[0] << 32 | drawn[1];
}

/* Returns the convention of the levels, with a random eps of a usual size, or on the quotient a larger one. */
static ln_convention convention_of(const combination *of)
{
    static const double least[] = {1e-6, 1e-12, 1e-3, 1};
    static const double of_quotient[] = {0.5, 0.05, 0.005, 3};
    const factor_table *table = of->table;
    const operation *what = operations[table->operation];
    const double digits = (double)(combination_draw(of, DRAW_EPS) >> 11) * 0x1p-53;
    ln_convention made = convention_numbered(what, 0);
    if (of->instead || table->alone)
        return of->instead ? *of->instead : table->defaults;
    for (size_t f = 0; f < table->count; f++) {
        size_t level = (size_t)of->levels[f];
        if (table->factors[f].kind == FACTOR_CONVENTION)
            convention_set_level(&what->fields[table->factors[f].of], level, &made);
        if (table->factors[f].kind == FACTOR_EPS)
            made.eps = made.eps_place == LN_EPS_NONE ? 0
                       : made.eps_place == LN_EPS_QUOTIENT
                           ? of_quotient[level] * pow(10, -digits / 2)
                           : least[level] * pow(10, 2 * digits);
    }
    return made;
}

/* Makes the problem of the levels. It has a random number of the level's rows if that is cheap, else the fewest. */
ln_problem combination_problem(const combination *of, ln_type storage, ln_type param)
{
    static const size_t parts[] = {1, 4, 16}; /* for each level of threads */
    const factor_table *table = of->table;
    const range *level = rows_of(table, (size_t)of->levels[0]);
    const ln_convention convention = convention_of(of);
    size_t hidden = of->hidden, rows = of->rows, first = level->first, last = level->last;
    if (hidden == 0)
        hidden = find_hidden(table, (size_t)of->levels[1], (size_t)of->levels[2], level,
                             combination_draw(of, DRAW_HIDDEN));
    if (rows == 0) {
        const size_t cheap = CHEAP_ELEMENTS / parts[of->levels[AT_THREADS]] / hidden;
        if (table->large && COMBINATION_ELEMENTS / hidden >= first)
            first = COMBINATION_ELEMENTS / hidden + 1;
        last = cheap > first && cheap < last ? cheap : cheap <= first ? first : last;
        rows = first + combination_draw(of, DRAW_ROWS) % (last - first + 1);
    }
    return problem_dense(&convention, storage, param, rows, hidden);
}

/* Applies a factor's level to the layout. The gap between a table's rows is 1 to 7 elements, up to a multiple of 16, or
 * more than a row. An address is at or next to the first cache line of its page, that of timing, or a random one. */
static void lay_out(const combination *of, size_t f, size_t element, size_t hidden,
                    call_layout *made)
{
    const call_factor *own = &of->table->factors[f];
    const operation *what = operations[of->table->operation];
    enum { LINE = 64, LINES = 64, TIMED = 32 };
    const int8_t level = of->levels[f];
    const uint64_t drawn = combination_draw(of, f);
    const size_t line = drawn % 4 == 0 ? 0 : drawn % 4 == 1 ? TIMED : drawn / 4 % LINES;
    tensor_layout *tensor = &made->tensors[own->of];
    switch (own->kind) {
    case FACTOR_THREADS:
        made->at_once = level == 0 ? 1 : level == 1 ? 2 : AT_ONCE_MOST;
        break;
    case FACTOR_CALLS:
        made->calls = (call_order)level;
        break;
    case FACTOR_THERE:
        made->outputs |= what->roles[own->of].output && level ? 1u << own->of : 0;
        break;
    case FACTOR_PLACE:
        if (level > 0 && own->of != what->result)
            made->outputs |= 1u << own->of;
        if (place_taken(what, own->of, level) != ROLES_MOST)
            tensor->lies_in = place_taken(what, own->of, level);
        break;
    case FACTOR_STRIDE:
        tensor->gap = level == 1   ? 1 + drawn % 7
                      : level == 2 ? 16 * (1 + drawn % 4) - (drawn & 64 ? hidden % 16 : 0)
                      : level == 3 ? hidden + drawn % 300
                                   : 0;
        break;
    case FACTOR_ADDRESS:
        tensor->place = level == 3 ? GUARD_BEHIND : GUARD_TIMED;
        tensor->offset = line * LINE + (level == 1 ? element : level == 2 ? LINE - element : 0);
        break;
    default:
        break;
    }
}

call_layout combination_layout(const combination *of, ln_type storage, ln_type param)
{
    const operation *what = operations[of->table->operation];
    size_t hidden = combination_problem(of, storage, param).hidden;
    call_layout made = {.at_once = 1};
    for (size_t i = 0; i < what->count; i++)
        made.tensors[i] = (tensor_layout){.lies_in = i, .place = GUARD_TIMED};
    for (size_t f = AT_CONTENTS; f < of->table->count; f++)
        lay_out(of, f,
                dtype_size(what->roles[of->table->factors[f].of].type == TYPE_PARAMETER ? param
                                                                                        : storage),
                hidden, &made);
    for (size_t i = 0; i < what->count; i++)
        made.tensors[i].gap = made.tensors[made.tensors[i].lies_in].gap;
    return made;
}

/* ---- in words ---- */

uint64_t combination_factors(const combination *of)
{
    uint64_t factors = 0;
    for (size_t f = 0; f < of->table->count; f++) {
        const call_factor *own = &of->table->factors[f];
        bool idle = of->instead && (own->kind == FACTOR_CONVENTION || own->kind == FACTOR_EPS);
        factors |= (uint64_t)(!idle && of->levels[f] != own->default_level) << f;
    }
    return factors;
}

/* Writes the name of a factor's level: "residual", "2 threads at once"; "" for most default levels. */
static void describe_factor(const combination *of, size_t f, char *text, size_t size)
{
    const call_factor *own = &of->table->factors[f];
    const operation *what = operations[of->table->operation];
    const int8_t level = of->levels[f];
    const char *word = level < 0 ? NULL : own->words[level];
    const convention_field *field;
    const range *rows;
    size_t taken;
    *text = '\0';
    switch (own->kind) {
    case FACTOR_PLACE:
        taken = place_taken(what, own->of, level);
        if (taken != ROLES_MOST)
            snprintf(text, size, "%s in %s's place", what->roles[own->of].name,
                     what->roles[taken].name);
        else if (level > 0)
            snprintf(text, size, "%s", what->roles[own->of].name);
        break;
    case FACTOR_ROWS:
        rows = rows_of(of->table, (size_t)level);
        if (rows->last == 1)
            snprintf(text, size, "one row");
        else if (level > 0)
            snprintf(text, size, "%zu to %zu rows", rows->first, rows->last);
        break;
    case FACTOR_CONVENTION:
        field = &what->fields[own->of];
        if (level != own->default_level && !of->instead)
            snprintf(text, size, "%s%s%s", field->name, field->eps && level ? "@" : "=",
                     field->eps && !level ? "0" : field->words[level]);
        break;
    default:
        if (word && !(own->kind == FACTOR_EPS && of->instead))
            snprintf(text, size, word, what->roles[own->of].name);
    }
}

const char *combination_describe(const combination *of, uint64_t factors, char *text, size_t size)
{
    char word[CONVENTION_MAX_LENGTH];
    size_t used = 0;
    *text = '\0';
    for (size_t f = 0; f < of->table->count && used < size; f++) {
        describe_factor(of, f, word, sizeof word);
        if (!(factors >> f & 1) || !*word)
            continue;
        bool fits = used + strlen(word) + strlen(", , ...") < size;
        used += (size_t)snprintf(text + used, size - used, "%s%s", used ? ", " : "",
                                 fits ? word : "...");
        if (!fits)
            return text;
    }
    if (of->instead && !convention_equal(of->instead, &of->table->defaults) && used < size)
        snprintf(text + used, size - used, "%sunder %s", used ? ", " : "",
                 convention_label(of->instead, word));
    return text;
}
