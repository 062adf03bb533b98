#include "referee/narrow.h"
#include "base/interrupt.h"
#include <stdio.h>
#include <string.h>

enum {
    ASKED_MOST = 60,
    RACES = 5,
    TELLS_REASON = 3,  /* of verdict_telling(): which columns are wrong, or why */
    FIRST_DROPPED = 3, /* those of the shape before it; rows are dropped last */
};

typedef struct narrowing {
    hearing *of;
    combination least; /* that was wrong */
    case_verdict verdict;
    size_t asked;
    bool cut, unsteady; /* more would have had to be asked; a race was not met each time */
    error *err;
} narrowing;

static bool is_of_numbers(verdict_kind kind)
{
    return kind == VERDICT_INACCURATE || kind == VERDICT_WRONG_CLASS ||
           kind == VERDICT_NONDETERMINISTIC;
}

/* Whether it is the same fault; where the reason is known, with one. */
static bool is_same(const case_verdict *a, const case_verdict *b)
{
    return (a->kind == b->kind || (is_of_numbers(a->kind) && is_of_numbers(b->kind))) &&
           (verdict_telling(b) >= verdict_telling(a) || verdict_telling(a) < TELLS_REASON);
}

/* What becomes of it: the least where it is wrong in the same way. A race is not met each time: it is asked
 * more often. err->code tells whether the run ends. */
static verdict_kind ask(narrowing *in, combination tried, bool *same)
{
    int times = in->verdict.kind == VERDICT_NONDETERMINISTIC ? RACES : 1;
    case_judgement found = {.verdict.kind = VERDICT_LOST};
    *same = false;
    in->asked++;
    for (int i = 0; i < times && !*same && in->err->code == EXIT_CODE_FINE; i++) {
        if (interrupted())
            fail(in->err, EXIT_CODE_INTERRUPTED, "interrupted");
        else if (hearing_ask(in->of, &tried, NULL, &found, in->err))
            *same = verdict_is_fault(found.verdict.kind) && is_same(&in->verdict, &found.verdict);
        in->unsteady |= *same && i > 0;
    }
    if (*same) {
        in->least = tried;
        in->verdict = found.verdict;
    }
    return found.verdict.kind;
}

static size_t list(const combination *of, size_t *factors)
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

/* False: it is not wrong without them. */
static bool drop(narrowing *in, const size_t *factors, size_t count)
{
    combination tried;
    bool same;
    in->cut |= in->asked >= ASKED_MOST;
    if (in->cut || !without(in, factors, count, &tried))
        return false;
    ask(in, tried, &same);
    return same;
}

/* The factors that the least has and not all wrong problems have. */
static void drop_unshared(narrowing *in, uint64_t shared)
{
    size_t factors[COVERING_FACTORS], all = list(&in->least, factors), count = 0;
    for (size_t i = 0; i < all; i++)
        if (!(shared >> factors[i] & 1))
            factors[count++] = factors[i];
    if (count > 0)
        drop(in, factors, count);
}

/* In the end each factor that is left was dropped alone, and the rest was right. */
static void drop_parts(narrowing *in)
{
    size_t factors[COVERING_FACTORS], count = list(&in->least, factors);
    for (size_t part = (count + 1) / 2; part > 0 && in->err->code == EXIT_CODE_FINE;) {
        size_t before = count;
        for (size_t i = 0; i < count && in->err->code == EXIT_CODE_FINE;) {
            size_t many = part < count - i ? part : count - i;
            bool dropped = drop(in, factors + i, many);
            count = list(&in->least, factors);
            i += dropped ? 0 : many;
        }
        part = part > 1 ? part / 2 : count < before && !in->cut;
    }
}

/* An output that has to be there may as well lie in a place of its own. */
static void try_own_places(narrowing *in)
{
    const factor_table *table = in->least.table;
    bool same;
    for (size_t f = 0; f < table->count && in->err->code == EXIT_CODE_FINE; f++) {
        const call_factor *own = &table->factors[f];
        if (own->kind != FACTOR_PLACE)
            continue;
        combination tried = in->least;
        tried.levels[f] = operations[table->operation]->roles[own->of].optional;
        if (in->least.levels[f] > tried.levels[f] && factors_allow(table, tried.levels))
            ask(in, tried, &same);
    }
}

/* Those that loops in steps of 8 and 16 end at or not, a long one, and the neighbours. */
static size_t list_sizes(size_t hidden, size_t sizes[10])
{
    static const size_t usual[] = {8, 13, 16, 31, 64, 257, 1024, 4097, SIZE_MAX};
    size_t count = 0;
    for (size_t i = 0; i < sizeof usual / sizeof *usual; i++) {
        for (size_t near = hidden - 1; near <= hidden + 1; near += 2)
            if (near > 1 && near < usual[i] && (i == 0 || near > usual[i - 1]))
                sizes[count++] = near;
        if (usual[i] != hidden && usual[i] != SIZE_MAX)
            sizes[count++] = usual[i];
    }
    return count;
}

/* "; right at hidden 8, 16; wrong at 13" */
static void try_sizes(narrowing *in, size_t hidden, char *text, size_t size)
{
    size_t sizes[10], count = list_sizes(hidden, sizes);
    char lists[2][64] = {"", ""};
    const narrowing kept = *in;
    for (size_t i = 0; i < count && in->err->code == EXIT_CODE_FINE; i++) {
        combination tried = kept.least;
        bool same;
        if (!factors_set_hidden(&tried, sizes[i]) || tried.rows * sizes[i] > COMBINATION_ELEMENTS)
            continue;
        verdict_kind kind = ask(in, tried, &same);
        bool right = verdict_is_right(kind);
        char *list = lists[right];
        size_t used = strlen(list);
        if (right || verdict_is_fault(kind))
            snprintf(list + used, sizeof *lists - used, "%s%zu", used ? ", " : "", sizes[i]);
    }
    in->least = kept.least;
    in->verdict = kept.verdict;
    if (!*lists[1])
        snprintf(text, size, "%s", *lists[0] ? "; wrong at every hidden size tried" : "");
    else
        snprintf(text, size, "; right at hidden %s%s%s", lists[1], *lists[0] ? "; wrong at " : "",
                 lists[0]);
}

/* The problem without anything out of the ordinary. */
static verdict_kind ask_plain(narrowing *in, bool *same)
{
    size_t factors[COVERING_FACTORS], count = list(&in->least, factors);
    combination plain;
    if (!without(in, factors, count, &plain)) { /* so few rows would not be large */
        plain.levels[0] = in->least.levels[0];
        plain.rows = in->least.rows;
    }
    return ask(in, plain, same);
}

/* What is out of the ordinary, in all that were wrong where there are several, before what was said without it. */
static void name_shared(const narrowing *in, const faults_seen *seen, const char *where,
                        case_verdict *verdict)
{
    char words[400];
    const char *detail = strstr(verdict->detail, ": ");
    combination_describe(&in->least, seen->factors, words, sizeof words);
    verdict_say(verdict, "%s, %s%s: %s%s", where, words,
                seen->count > 1 ? " as all that are wrong" : "",
                detail ? detail + 2 : verdict->detail,
                verdict->kind == VERDICT_TIMEOUT ? "" : "; asked alone, it is not wrong");
}

bool narrow_fault(hearing *of, const combination *asked, const faults_seen *seen,
                  case_verdict *verdict, error *err)
{
    const ln_type storage = of->kernel->facts.storage, param = of->kernel->facts.param;
    ln_problem problem = combination_problem(asked, storage, param);
    char words[256], sizes[160] = "", where[48];
    narrowing in = {.of = of, .least = *asked, .verdict = *verdict, .err = err};
    bool same = false, plain = false;
    in.least.hidden = problem.hidden;
    in.least.rows = problem.rows;
    snprintf(where, sizeof where, "%zux%zu", problem.rows, problem.hidden);
    if (verdict->kind != VERDICT_TIMEOUT) /* each question would take as long */
        ask(&in, in.least, &same);
    if (err->code == EXIT_CODE_FINE && !same) {
        name_shared(&in, seen, where, verdict);
        return true;
    }
    verdict_kind of_plain = ask_plain(&in, &plain);
    if (!plain) {
        drop_unshared(&in, seen->factors);
        drop_parts(&in);
        try_own_places(&in);
    }
    if (!in.unsteady)
        try_sizes(&in, problem.hidden, sizes, sizeof sizes);
    if (err->code != EXIT_CODE_FINE)
        return false;
    problem = combination_problem(&in.least, storage, param);
    combination_describe(&in.least, UINT64_MAX, words, sizeof words);
    snprintf(where, sizeof where, "%zux%zu", problem.rows, problem.hidden);
    *verdict = in.verdict;
    if (plain || !*words)
        verdict_say(verdict, "%s" SAYS_PLAIN "%s: %s", where, sizes, in.verdict.detail);
    else
        verdict_say(verdict, "%swith %s (%s" SAYS_PLAIN ": %s%s): %s",
                    in.cut || in.unsteady ? "" : "only ", words, where, verdict_word(of_plain),
                    sizes, in.verdict.detail);
    return true;
}
