/* Minimizes a failure: finds the smallest set of factors that still shows it (delta debugging, Zeller and
 * Hildebrandt, IEEE TSE 28, 2002). It tries the default problem of the same hidden size, then
 * sets half of the factors to their defaults, and then single ones, as long as the kernel still fails. The fewest
 * rows are found by bisection.
 *
 *     minimize_fault(&run, &asked, &seen, &verdict);
 *     // "only with 9 rows or more, residual (9x257; right at 8 rows; 4x257, plain: pass; right at hidden 8;
 *     // wrong at 13): ..."
 *
 * "only" stands where the condition separates eight problems of other contents.
 */
#include "base/program.h"
#include "conformance/internal.h"
#include <stdio.h>
#include <string.h>

enum {
    ASKED_MOST = 60,
    RACES = 5,
    FIRST_DROPPED = 3, /* those of the shape before it; rows are dropped last */
};

typedef struct narrowing {
    covering_run *of;
    combination least; /* that was wrong */
    case_verdict verdict;
    size_t asked, plain_rows;
    bool cut, unsteady; /* more would have had to be asked; a race was not met each time */
} narrowing;

static ln_problem problem_of(const narrowing *in, const combination *of)
{
    return combination_problem(of, in->of->kernel->facts.storage, in->of->kernel->facts.param);
}

/* What becomes of it: the least where it is wrong in the same way, all that shows in numbers being the same. A race
 * is not met each time: it is asked more often. */
static verdict_kind ask_combination(narrowing *in, combination tried, bool *same)
{
    const unsigned numbers =
        1u << VERDICT_INACCURATE | 1u << VERDICT_WRONG_CLASS | 1u << VERDICT_NONDETERMINISTIC;
    int times = in->verdict.kind == VERDICT_NONDETERMINISTIC ? RACES : 1;
    case_judgement found = {.verdict.kind = VERDICT_MISSING};
    *same = false;
    in->asked++;
    for (int i = 0; i < times && !*same && !interrupted(); i++) {
        covering_run_ask(in->of, &tried, NULL, &found);
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

/* The least without so many of the factors, and without what cannot be without them. False: it cannot be. */
static bool without(const narrowing *in, const size_t *factors, size_t count, combination *less)
{
    const factor_table *table = in->least.table;
    *less = in->least;
    for (size_t i = 0; i < count; i++) {
        less->levels[factors[i]] = table->factors[factors[i]].plain;
        less->rows = factors[i] == 0 ? 0 : less->rows;
    }
    return factors_settle(table, less->levels);
}

/* Nothing of the convention but what the run has. */
static bool make_usual(combination *of)
{
    const factor_table *table = of->table;
    for (size_t f = 0; f < table->count; f++)
        if (table->factors[f].kind == FACTOR_CONVENTION || table->factors[f].kind == FACTOR_EPS)
            of->levels[f] = table->factors[f].plain;
    of->instead = &table->plain;
    return factors_settle(table, of->levels);
}

/* A kernel that declines one convention is asked under another, which may be any. */
static bool drop_convention(narrowing *in)
{
    combination tried = in->least;
    const factor_table *table = tried.table;
    const bool usual =
        table->alone || (tried.instead && convention_equal(tried.instead, &table->plain));
    bool same = false;
    if (!usual && make_usual(&tried))
        ask_combination(in, tried, &same);
    return same;
}

/* In the end each factor that is left was dropped alone, and the rest was right. */
static void drop_parts(narrowing *in)
{
    size_t factors[COVERING_FACTORS], count = list_factors(&in->least, factors);
    for (size_t part = (count + 1) / 2; part > 0 && !interrupted();) {
        size_t before = count;
        for (size_t i = 0; i < count && !interrupted();) {
            size_t many = part < count - i ? part : count - i;
            combination tried;
            bool dropped = false; /* it is wrong without them */
            in->cut |= in->asked >= ASKED_MOST;
            if (!in->cut && without(in, factors + i, many, &tried))
                ask_combination(in, tried, &dropped);
            count = list_factors(&in->least, factors);
            i += dropped ? 0 : many;
        }
        part = part > 1 ? part / 2 : count < before && !in->cut;
    }
}

/* "; right at hidden 8, 16; wrong at 13, 29, 45". Tried are sizes that loops in steps of 8 and 16 end at or not, a long
 * one, and the neighbours, in rising order; then, where only one is known to be wrong, what is 16 and 32 larger. */
static void try_sizes(narrowing *in, size_t hidden, char *text, size_t size)
{
    static const size_t usual[] = {8, 13, 16, 31, 64, 257, 1024, 4097, SIZE_MAX};
    size_t sizes[10], count = 0, wrong = hidden, wrong_count = 0;
    char lists[2][64] = {"", ""};
    const narrowing kept = *in;
    narrowing told = *in; /* the size that tells more */
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
        verdict_kind kind = ask_combination(in, tried, &same);
        bool right = verdict_is_right(kind);
        char *list = lists[right];
        size_t used = strlen(list);
        if (same && kept.least.levels[0] == 0 &&
            verdict_telling(&in->verdict) > verdict_telling(&told.verdict))
            told = *in;
        if (!periodic && verdict_is_fault(kind)) {
            wrong = own;
            wrong_count++;
        }
        if (verdict_is_fault(kind) || (right && !periodic))
            snprintf(list + used, sizeof *lists - used, "%s%zu", used ? ", " : "", own);
    }
    in->least = told.least;
    in->verdict = told.verdict;
    if (!*lists[1])
        snprintf(text, size, "%s", *lists[0] ? "; wrong at every hidden size tried" : "");
    else
        snprintf(text, size, "; right at hidden %s%s%s", lists[1], *lists[0] ? "; wrong at " : "",
                 lists[0]);
}

/* The problem with every setting at its default; under a convention that the kernel takes. */
static verdict_kind ask_plain(narrowing *in, bool *same)
{
    size_t factors[COVERING_FACTORS], count = list_factors(&in->least, factors);
    const ln_convention *own = in->least.instead;
    combination plain;
    bool few = without(in, factors, count, &plain);
    if (!few) { /* so few rows would not be large */
        plain.levels[0] = in->least.levels[0];
        plain.rows = in->least.rows;
    }
    plain.rows = problem_of(in, &plain).rows;
    in->plain_rows = plain.rows;
    make_usual(&plain);
    verdict_kind kind = ask_combination(in, plain, same);
    if (kind != VERDICT_UNSUPPORTED || !own)
        return kind;
    plain.instead = own;
    return ask_combination(in, plain, same);
}

/* As little as is wrong; and an output that has to be there may as well lie in a place of its own. What becomes of
 * the plain problem. */
static verdict_kind narrow_down(narrowing *in)
{
    const factor_table *table = in->least.table;
    bool same;
    verdict_kind of_plain = ask_plain(in, &same);
    if (same)
        return of_plain;
    drop_convention(in);
    drop_parts(in);
    if (drop_convention(in)) /* it may have become another on the way */
        drop_parts(in);
    for (size_t f = 0; f < table->count && !interrupted(); f++) {
        const call_factor *own = &table->factors[f];
        if (own->kind != FACTOR_PLACE)
            continue;
        combination tried = in->least;
        tried.levels[f] = operations[table->operation]->roles[own->of].optional;
        if (in->least.levels[f] > tried.levels[f] && factors_allow(table, tried.levels))
            ask_combination(in, tried, &same);
    }
    return of_plain;
}

/* Whether a problem is wrong, with `more` rows each time, and another one right, in four contents. Nothing of it stays. */
static bool separates(narrowing *in, const combination *with, const combination *less, size_t more)
{
    enum { CONTENTS = 4, APART = 1 << 20 };
    const narrowing kept = *in;
    bool apart = true, same;
    for (int i = 1; apart && i <= CONTENTS && !interrupted(); i++) {
        combination wrong = *with, right = *less;
        wrong.number = right.number = with->number + (uint64_t)i * APART;
        wrong.rows += more * (size_t)(i - 1);
        ask_combination(in, wrong, &same);
        apart = same && verdict_is_right(ask_combination(in, right, &same));
    }
    *in = kept;
    return apart;
}

/* The fewest rows that are wrong, one fewer being right. 0: there is no such number. */
static size_t find_rows(narrowing *in)
{
    enum { FEWEST = 2 };
    const narrowing kept = *in;
    size_t right = FEWEST - 1, wrong = in->least.rows;
    bool fine = in->least.levels[0] != 0 && wrong > FEWEST, same = true;
    while (fine && wrong - right > 1) {
        combination tried = in->least;
        tried.rows = right < FEWEST ? FEWEST : right + (wrong - right) / 2;
        verdict_kind kind = ask_combination(in, tried, &same);
        *(same ? &wrong : &right) = tried.rows;
        fine = (same ? tried.rows > FEWEST : verdict_is_right(kind)) && !interrupted();
    }
    combination fewer = in->least;
    fewer.rows = right;
    fine = fine && separates(in, &in->least, &fewer, 1);
    *in = fine ? *in : kept;
    return fine ? wrong : 0;
}

/* Whether the least is wrong and, without any one of its factors, right. A range of rows whose border was not found
 * (`from` is 0) is no condition: in fewer rows the fault may be there unseen. */
static bool is_condition(narrowing *in, size_t from)
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

/* "257 rows or more, residual": of the least, whose rows may have been found. */
static void say_factors(const narrowing *in, size_t rows, char *words, size_t size)
{
    size_t used = 0;
    *words = '\0';
    if (rows > 0)
        used = (size_t)snprintf(words, size, "%zu rows or more, ", rows);
    combination_describe(&in->least, rows > 0 ? UINT64_MAX - 1 : UINT64_MAX, words + used,
                         size - used);
    if (used > 0 && !words[used])
        words[used - 2] = '\0';
}

void minimize_fault(covering_run *of, const combination *asked, const faults_seen *seen,
                    case_verdict *verdict)
{
    ln_problem problem =
        combination_problem(asked, of->kernel->facts.storage, of->kernel->facts.param);
    char words[400], sizes[160] = "", where[48], rows[64] = "", why[ROW_FAULT_LENGTH];
    narrowing in = {.of = of, .least = *asked, .verdict = *verdict};
    bool same = false;
    in.least.hidden = problem.hidden;
    in.least.rows = problem.rows;
    snprintf(where, sizeof where, "%zux%zu", problem.rows, problem.hidden);
    if (verdict->kind != VERDICT_TIMEOUT) /* each question would take as long */
        ask_combination(&in, in.least, &same);
    if (!same) { /* the settings that all wrong problems share come before what was said without them */
        const char *detail = strstr(verdict->detail, ": ");
        combination_describe(&in.least, seen->factors, words, sizeof words);
        verdict_say(verdict, "%s, %s%s: %s%s", where, words,
                    seen->count > 1 ? " in every problem that fails" : "",
                    detail ? detail + 2 : verdict->detail,
                    verdict->kind == VERDICT_TIMEOUT ? "" : "; run alone, it passes");
        return;
    }
    verdict_kind of_plain = narrow_down(&in);
    size_t from = in.unsteady || in.cut ? 0 : find_rows(&in);
    if (!in.unsteady)
        try_sizes(&in, problem.hidden, sizes, sizeof sizes);
    problem = problem_of(&in, &in.least);
    const bool only =
        !in.cut && !in.unsteady && verdict_is_right(of_plain) && is_condition(&in, from);
    say_factors(&in, from, words, sizeof words);
    snprintf(where, sizeof where, "%zux%zu", problem.rows, problem.hidden);
    if (from > 0)
        snprintf(rows, sizeof rows, "; right at %zu rows", from - 1);
    if (in.plain_rows != problem.rows)
        snprintf(rows + strlen(rows), sizeof rows - strlen(rows), "; %zux%zu", in.plain_rows,
                 problem.hidden);
    *verdict = in.verdict;
    const ln_convention convention = problem_of(&in, &in.least).convention;
    if (covering_run_mistake(of, &convention, why))
        verdict_say(verdict, SAYS_MISTAKE "%s", why);
    if (!*words)
        verdict_say(verdict, "%s" SAYS_PLAIN "%s: %s", where, sizes, verdict->detail);
    else
        verdict_say(verdict, "%swith %s (%s%s" SAYS_PLAIN ": %s%s): %s", only ? "only " : "", words,
                    where, rows, verdict_word(of_plain), sizes, verdict->detail);
}
