/* Minimizes a failure: finds the smallest set of factors that still shows it (delta debugging, Zeller and
 * Hildebrandt, IEEE TSE 28, 2002). It tries the default problem of the same hidden size, then sets half of the factors
 * to their defaults, and then single ones, as long as the kernel still fails. The fewest rows are found by bisection.
 *
 *     minimize_fault(&run, &failing, &seen, &verdict);
 *     // "only with 9 rows or more, residual (9x257; right at 8 rows; 4x257, default: pass; right at hidden 8;
 *     // wrong at 13): ..."
 *
 * It says "only" if the condition also separates failures from passes in eight problems with other contents.
 */
#include "base/program.h"
#include "conformance/internal.h"
#include <stdio.h>
#include <string.h>

enum {
    TRIES_MOST = 60,
    RACES = 5,         /* the tries to see a race */
    FIRST_DROPPED = 3, /* before it are the factors of the shape, of which rows are dropped last */
};

typedef struct shrinking {
    covering_run *of;
    combination least; /* the smallest problem that failed */
    case_verdict verdict;
    size_t tries, default_rows;
    bool cut, unsteady; /* the tries did not suffice; a race did not occur in each try */
} shrinking;

static ln_problem problem_of(const shrinking *in, const combination *of)
{
    return combination_problem(of, in->of->kernel->facts.storage, in->of->kernel->facts.param);
}

/* Runs a problem and returns the verdict. If it fails in the same way (all kinds of wrong values count as the same), it
 * becomes the smallest problem. A race does not occur each time, so it is tried several times. */
static verdict_kind try_combination(shrinking *in, combination tried, bool *same)
{
    const unsigned numbers =
        1u << VERDICT_INACCURATE | 1u << VERDICT_WRONG_CLASS | 1u << VERDICT_NONDETERMINISTIC;
    int times = in->verdict.kind == VERDICT_NONDETERMINISTIC ? RACES : 1;
    case_judgement found = {.verdict.kind = VERDICT_MISSING};
    *same = false;
    in->tries++;
    for (int i = 0; i < times && !*same && !interrupted(); i++) {
        covering_run_problem(in->of, &tried, NULL, &found);
        const unsigned both = 1u << in->verdict.kind | 1u << found.verdict.kind;
        *same = verdict_is_fault(found.verdict.kind) &&
                (in->verdict.kind == found.verdict.kind || (both & ~numbers) == 0);
        in->unsteady |= *same && i > 0;
    }
    if (*same) {
        in->least = tried;
        in->verdict = found.verdict;
    }
    return found.verdict.kind;
}

static size_t list_factors(const combination *of, size_t *factors)
{
    const uint64_t all = combination_factors(of);
    size_t count = 0;
    for (size_t i = 0; i < of->table->count; i++) {
        size_t f = (i + FIRST_DROPPED) % of->table->count;
        if ((f >= FIRST_DROPPED || f == 0) && all >> f & 1)
            factors[count++] = f;
    }
    return count;
}

/* Sets factors of the smallest problem to their defaults, and others where it is necessary. False: that cannot be. */
static bool without(const shrinking *in, const size_t *factors, size_t count, combination *less)
{
    const factor_table *table = in->least.table;
    *less = in->least;
    for (size_t i = 0; i < count; i++) {
        less->levels[factors[i]] = table->factors[factors[i]].default_level;
        less->rows = factors[i] == 0 ? 0 : less->rows;
    }
    return factors_settle(table, less->levels);
}

/* Gives a problem the convention of the run. */
static bool make_usual(combination *of)
{
    const factor_table *table = of->table;
    for (size_t f = 0; f < table->count; f++)
        if (table->factors[f].kind == FACTOR_CONVENTION || table->factors[f].kind == FACTOR_EPS)
            of->levels[f] = table->factors[f].default_level;
    of->instead = &table->defaults;
    return factors_settle(table, of->levels);
}

/* Tries the convention of the run. The problem may have another one, also because the kernel declined the first. */
static bool drop_convention(shrinking *in)
{
    combination tried = in->least;
    const factor_table *table = tried.table;
    const bool usual =
        table->alone || (tried.instead && convention_equal(tried.instead, &table->defaults));
    bool same = false;
    if (!usual && make_usual(&tried))
        try_combination(in, tried, &same);
    return same;
}

/* Drops factors as long as the problem fails. At the end, dropping any single one of the others makes it pass. */
static void drop_parts(shrinking *in)
{
    size_t factors[COVERING_FACTORS], count = list_factors(&in->least, factors);
    for (size_t part = (count + 1) / 2; part > 0 && !interrupted();) {
        size_t before = count;
        for (size_t i = 0; i < count && !interrupted();) {
            size_t many = part < count - i ? part : count - i;
            combination tried;
            bool dropped = false; /* the problem fails without them */
            in->cut |= in->tries >= TRIES_MOST;
            if (!in->cut && without(in, factors + i, many, &tried))
                try_combination(in, tried, &dropped);
            count = list_factors(&in->least, factors);
            i += dropped ? 0 : many;
        }
        part = part > 1 ? part / 2 : count < before && !in->cut;
    }
}

/* Writes "; right at hidden 8, 16; wrong at 13, 29, 45". Tries, in ascending order, multiples of 8 and 16 and other
 * sizes, a long one, and the neighbours; then, if only one of them fails, sizes that are 16 and 32 larger. */
static void try_sizes(shrinking *in, size_t hidden, char *text, size_t size)
{
    static const size_t usual[] = {8, 13, 16, 31, 64, 257, 1024, 4097, SIZE_MAX};
    size_t sizes[10], count = 0, wrong = hidden, wrong_count = 0;
    char lists[2][64] = {"", ""};
    const shrinking kept = *in;
    shrinking best = *in; /* with the most informative verdict */
    for (size_t i = 0; i < sizeof usual / sizeof *usual; i++) {
        for (size_t near = hidden - 1; near <= hidden + 1; near += 2)
            if (near > 1 && near < usual[i] && (i == 0 || near > usual[i - 1]))
                sizes[count++] = near;
        if (usual[i] != hidden && usual[i] != SIZE_MAX)
            sizes[count++] = usual[i];
    }
    for (size_t i = 0; i < count + 2 && !interrupted(); i++) {
        combination tried = kept.least;
        const bool periodic = i >= count;
        const size_t own = periodic ? wrong + 16 * (i + 1 - count) : sizes[i];
        bool same;
        if (periodic && (wrong_count > 1 || !*lists[1]))
            break;
        if (!factors_set_hidden(&tried, own) || tried.rows * own > COMBINATION_ELEMENTS)
            continue;
        verdict_kind kind = try_combination(in, tried, &same);
        bool right = verdict_is_right(kind);
        char *list = lists[right];
        size_t used = strlen(list);
        if (same && kept.least.levels[0] == 0 &&
            verdict_telling(&in->verdict) > verdict_telling(&best.verdict))
            best = *in;
        if (!periodic && verdict_is_fault(kind)) {
            wrong = own;
            wrong_count++;
        }
        if (verdict_is_fault(kind) || (right && !periodic))
            snprintf(list + used, sizeof *lists - used, "%s%zu", used ? ", " : "", own);
    }
    in->least = best.least;
    in->verdict = best.verdict;
    if (!*lists[1])
        snprintf(text, size, "%s", *lists[0] ? "; wrong at every hidden size tried" : "");
    else
        snprintf(text, size, "; right at hidden %s%s%s", lists[1], *lists[0] ? "; wrong at " : "",
                 lists[0]);
}

/* Tries the problem with every setting at its default, if necessary with a convention that the kernel supports. */
static verdict_kind try_default(shrinking *in, bool *same)
{
    size_t factors[COVERING_FACTORS], count = list_factors(&in->least, factors);
    const ln_convention *own = in->least.instead;
    combination usual;
    if (!without(in, factors, count, &usual)) { /* a large problem cannot have so few rows */
        usual.levels[0] = in->least.levels[0];
        usual.rows = in->least.rows;
    }
    usual.rows = problem_of(in, &usual).rows;
    in->default_rows = usual.rows;
    make_usual(&usual);
    verdict_kind kind = try_combination(in, usual, same);
    if (kind != VERDICT_UNSUPPORTED || !own)
        return kind;
    usual.instead = own;
    return try_combination(in, usual, same);
}

/* Finds the smallest problem that fails, and then tries memory of its own for each output that shares an input's.
 * Returns the verdict on the default problem. */
static verdict_kind find_least(shrinking *in)
{
    const factor_table *table = in->least.table;
    bool same;
    verdict_kind of_default = try_default(in, &same);
    if (same)
        return of_default;
    drop_convention(in);
    drop_parts(in);
    if (drop_convention(in)) /* the convention may have changed meanwhile */
        drop_parts(in);
    for (size_t f = 0; f < table->count && !interrupted(); f++) {
        const call_factor *own = &table->factors[f];
        if (own->kind != FACTOR_PLACE)
            continue;
        combination tried = in->least;
        tried.levels[f] = operations[table->operation]->roles[own->of].optional;
        if (in->least.levels[f] > tried.levels[f] && factors_allow(table, tried.levels))
            try_combination(in, tried, &same);
    }
    return of_default;
}

/* Returns true if `with`, each time with `more` further rows, fails and `less` passes, with four other contents. */
static bool separates(shrinking *in, const combination *with, const combination *less, size_t more)
{
    enum { CONTENTS = 4, APART = 1 << 20 };
    const shrinking kept = *in;
    bool apart = true, same;
    for (int i = 1; apart && i <= CONTENTS && !interrupted(); i++) {
        combination wrong = *with, right = *less;
        wrong.number = right.number = with->number + (uint64_t)i * APART;
        wrong.rows += more * (size_t)(i - 1);
        try_combination(in, wrong, &same);
        apart = same && verdict_is_right(try_combination(in, right, &same));
    }
    *in = kept;
    return apart;
}

/* Returns the number of rows with which the problem fails while it passes with one fewer; 0: there is none. */
static size_t find_rows(shrinking *in)
{
    enum { FEWEST = 2 };
    const shrinking kept = *in;
    size_t right = FEWEST - 1, wrong = in->least.rows;
    bool fine = in->least.levels[0] != 0 && wrong > FEWEST, same = true;
    while (fine && wrong - right > 1) {
        combination tried = in->least;
        tried.rows = right < FEWEST ? FEWEST : right + (wrong - right) / 2;
        verdict_kind kind = try_combination(in, tried, &same);
        *(same ? &wrong : &right) = tried.rows;
        fine = (same ? tried.rows > FEWEST : verdict_is_right(kind)) && !interrupted();
    }
    combination fewer = in->least;
    fewer.rows = right;
    fine = fine && separates(in, &in->least, &fewer, 1);
    *in = fine ? *in : kept;
    return fine ? wrong : 0;
}

/* Returns true if the smallest problem fails, and passes without any one of its factors. A range of rows whose border
 * was not found (`from` is 0) is no condition: the fault may be present in fewer rows without being visible. */
static bool is_condition(shrinking *in, size_t from)
{
    size_t factors[COVERING_FACTORS], count = list_factors(&in->least, factors);
    const combination least = in->least;
    bool fine = count > 0 && (from > 0 || least.levels[0] == 0 || least.rows == 1);
    for (size_t i = 0; fine && i < count; i++) {
        combination less;
        fine = without(in, &factors[i], 1, &less) && separates(in, &least, &less, 0);
    }
    return fine;
}

void minimize_fault(covering_run *of, const combination *failing, const faults_seen *seen,
                    case_verdict *verdict)
{
    ln_problem problem =
        combination_problem(failing, of->kernel->facts.storage, of->kernel->facts.param);
    char words[440], others[400], sizes[160] = "", where[48], rows[64] = "", why[ROW_FAULT_LENGTH];
    shrinking in = {.of = of, .least = *failing, .verdict = *verdict};
    bool same = false;
    in.least.hidden = problem.hidden;
    in.least.rows = problem.rows;
    snprintf(where, sizeof where, "%zux%zu", problem.rows, problem.hidden);
    if (verdict->kind != VERDICT_TIMEOUT) /* each try would last until the deadline */
        try_combination(&in, in.least, &same);
    if (!same) { /* the verdict names the settings that all failing problems share */
        const char *detail = strstr(verdict->detail, ": ");
        combination_describe(&in.least, seen->factors, words, sizeof words);
        verdict_say(verdict, "%s%s%s%s: %s%s", where, *words ? ", " : "", words,
                    seen->count > 1 ? " in every problem that fails" : "",
                    detail ? detail + 2 : verdict->detail,
                    verdict->kind == VERDICT_TIMEOUT ? "" : "; run alone, it passes");
        return;
    }
    verdict_kind of_default = find_least(&in);
    size_t from = in.unsteady || in.cut ? 0 : find_rows(&in);
    if (!in.unsteady)
        try_sizes(&in, problem.hidden, sizes, sizeof sizes);
    problem = problem_of(&in, &in.least);
    const bool only =
        !in.cut && !in.unsteady && verdict_is_right(of_default) && is_condition(&in, from);
    combination_describe(&in.least, from > 0 ? UINT64_MAX - 1 : UINT64_MAX, others, sizeof others);
    snprintf(words, sizeof words, "%s", others);
    snprintf(where, sizeof where, "%zux%zu", problem.rows, problem.hidden);
    if (from > 0) {
        snprintf(words, sizeof words, "%zu rows or more%s%s", from, *others ? ", " : "", others);
        snprintf(rows, sizeof rows, "; right at %zu rows", from - 1);
    }
    if (in.default_rows != problem.rows)
        snprintf(rows + strlen(rows), sizeof rows - strlen(rows), "; %zux%zu", in.default_rows,
                 problem.hidden);
    *verdict = in.verdict;
    if (covering_run_mistake(of, &problem.convention, why))
        verdict_say(verdict, SAYS_MISTAKE "%s", why);
    if (!*words)
        verdict_say(verdict, "%s" SAYS_DEFAULT "%s: %s", where, sizes, verdict->detail);
    else
        verdict_say(verdict, "%swith %s (%s%s" SAYS_DEFAULT ": %s%s): %s", only ? "only " : "",
                    words, where, rows, verdict_word(of_default), sizes, verdict->detail);
}
