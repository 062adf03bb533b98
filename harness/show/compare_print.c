/* Prints a comparison as text, Markdown, TSV, CSV and JSON, and for CI as JUnit and annotations of GitHub. Each is a
 * query of the pairs, most of them with sentences before and after. */
#include "show/compare.h"
#include "domain/operation.h"
#include "domain/kernel.h"
#include "show/answer.h"
#include <math.h>
#include <string.h>

enum { MOST_ROWS = 26, MOST_UNCHANGED = 10, MOST_NOTES = 4, MOST_REMARKS = 4 };

const char *const accuracy_gate_names[] = {"no-worse", "exact", "bound"};
static const char *const speed_names[] = {NULL, "same", "faster", "inconclusive", "slower"};
static const char *const accuracy_names[] = {NULL, "bit-identical", "more accurate", "changed",
                                             "less accurate"};
/* Returns an accuracy verdict for people. Some inputs of a pair whose bits differ may be worse. */
static const char *accuracy_words(accuracy_verdict accuracy, bool is_worse)
{
    return accuracy != ACCURACY_CHANGED ? accuracy_names[accuracy]
           : is_worse                   ? "partly less accurate"
                                        : "bits differ";
}

static const char *const outcome_names[] = {[EXIT_CODE_FINE] = "fine",
                                            [EXIT_CODE_REGRESSION] = "regression",
                                            [EXIT_CODE_INCONCLUSIVE] = "inconclusive",
                                            [EXIT_CODE_NOT_COMPARABLE] = "not comparable",
                                            [EXIT_CODE_ACCURACY] = "accuracy violation",
                                            [EXIT_CODE_KERNEL_FAILED] = "kernel failed"};

/* Returns whether two stored runs are compared; two builds have no dates, no copies and no stored noise. */
static bool is_of_runs(const run_comparison *comparison)
{
    return strcmp(comparison->settings.tool, "compare") == 0;
}

/* ---- the texts of a pair ---- */

/* Formats a string in printable ASCII, because names and details come from other programs. */
__attribute__((format(printf, 2, 3))) static char *printable(arena *memory, const char *format, ...)
{
    text_buffer text = {0};
    va_list arguments;
    va_start(arguments, format);
    text_format_list(&text, format, arguments);
    va_end(arguments);
    for (char *at = text.bytes; *at; at++)
        *at = *at >= 0x20 && *at < 0x7f ? *at : '?';
    char *kept = arena_format(memory, "%s", text.bytes);
    text_free(&text);
    return kept;
}

/* Returns the convention and, unless it is "normal", the input: "torch, offset". */
static const char *convention_words(arena *memory, const case_key *key)
{
    const bool usual = strcmp(key->input, "normal") == 0;
    return printable(memory, "%s%s%s", key->convention, usual ? "" : ", ", usual ? "" : key->input);
}

/* Returns the shape, with a type and threads that are not the default: "512x768 bf16, 4 threads". A conformance case
 * has many shapes: "problems 1-100" of `combinations`, else "-". */
static const char *shape_words(arena *memory, const case_key *key)
{
    const char *threads =
        key->threads > 1 ? arena_format(memory, ", %u threads", key->threads) : "";
    const bool usual = key->dtype == LN_F32;
    if (is_check(key->input))
        return strcmp(key->input, "combinations") == 0
                   ? arena_format(memory, "problems %zu-%zu", key->rows, key->hidden)
                   : "-";
    return arena_format(memory, "%zux%zu%s%s%s", key->rows, key->hidden, usual ? "" : " ",
                        usual ? "" : dtype_name(key->dtype), threads);
}

const char *pair_name(arena *memory, const case_key *key)
{
    return printable(memory, "%s %s %s %s", key->kernel, convention_words(memory, key),
                     shape_words(memory, key), cache_name(key->cache));
}

/* Returns the remarks on a pair, separated by "; ": failures, worse results, the CPU's counters (instructions tell a
 * change of code from noise), and why there is no speed. */
static const char *note_of(arena *memory, const comparison_pair *pair)
{
    const compared_side *base = &pair->sides[BASE], *new = &pair->sides[NEW];
    const accuracy_tally *tally = &pair->tally;
    const double instructions = new->speed.instructions / base->speed.instructions - 1;
    const double cycles = new->speed.cycles / base->speed.cycles - 1;
    const bool failed = pair_failed(pair) != FAILED_NOT;
    char described[VERDICT_MAX_LENGTH], both[32];
    const char *note = "";
#define ADD(format_, ...)                                                                          \
    (note = printable(memory, "%s%s" format_, note, note[0] ? "; " : "", __VA_ARGS__))
    for (int side = 0; side < SIDES; side++)
        if (verdict_exit_code(&pair->sides[side].verdict) != EXIT_CODE_FINE)
            ADD("%s: %s", side_names[side],
                verdict_describe(&pair->sides[side].verdict, described, sizeof described));
    if (tally->differing > 0 && !failed)
        ADD("differs on %zu of %zu input%s: %s", tally->differing, tally->judged,
            plural(tally->judged), tally->worst);
    if (tally->differing > 0 && !failed && tally->worse > 1)
        ADD("%zu more are worse", tally->worse - 1);
    if (pair_is_less_reproducible(pair))
        ADD("reproducible: %s", reproducible_both(base->reproducible, new->reproducible, both));
    if (isfinite(instructions) && isfinite(cycles))
        ADD("instructions %+.1f %%, cycles %+.1f %%", 100 * instructions, 100 * cycles);
    if (pair->missing && !failed) /* a failure of base stands above */
        ADD("missing: %s", pair->missing);
    if (pair->detail)
        ADD("%s", pair->detail);
#undef ADD
    return note;
}

/* ---- the summary of all pairs ---- */

/* Returns the geometric mean of the ratios of times, or NaN if there is none. */
static double mean_ratio(const run_comparison *comparison)
{
    return exp(comparison->log_ratios / (double)comparison->ratios);
}

/* Adds "regression: slower in 2, bit-identical in 12 pairs, new/base 1.0102 on average". */
static void add_outcome(text_buffer *out, const run_comparison *comparison)
{
    const comparison_settings *settings = &comparison->settings;
    const coverage *covered = &comparison->covered;
    const size_t pairs = comparison->pairs;
    const size_t differences = comparison->differences.count, less = comparison->less_reproducible;
    const char *outcome = outcome_names[comparison_exit_code(comparison)];
    const char *accuracy = accuracy_words(comparison->accuracy, comparison->worst != NULL);
    const char *speed = speed_names[comparison->speed];
    const double mean = mean_ratio(comparison);
    const bool said = speed && accuracy && strcmp(speed, outcome) == 0 && covered->missing == 0;
    text_format(out, said ? "%s" : "%s: ", outcome);
    if (differences > 0) {
        text_format(out, "the runs differ in %zu fact%s", differences, plural(differences));
        if (settings->speed && comparison->same_rows)
            text_add(out, "; --only accuracy --allow-missing compares the errors of the cases that "
                          "both have");
        return;
    }
    if (covered->missing > 0)
        text_format(out, "%zu of %zu pairs missing%s; ", covered->missing, covered->requested,
                    settings->allow_missing ? " (allowed)" : " (--allow-missing accepts that)");
    if (pairs == 0)
        text_add(out, "nothing was compared");
    if (speed && !said)
        text_add(out, speed);
    if (speed && comparison->with_speed < pairs)
        text_format(out, " in %zu", comparison->with_speed);
    if (accuracy)
        text_format(out, "%s%s", speed ? ", " : "", accuracy);
    if (accuracy && comparison->with_accuracy < pairs)
        text_format(out, " in %zu", comparison->with_accuracy);
    if ((accuracy ? comparison->with_accuracy : comparison->with_speed) < pairs)
        text_format(out, " of %zu pairs", pairs);
    else if (pairs > 0)
        text_format(out, "%s in %zu pair%s", speed || accuracy ? "" : "no result", pairs,
                    plural(pairs));
    if (!isnan(mean))
        text_format(out, ", new/base %.4f on average", mean);
    if (comparison->failed > 0)
        text_format(out, ", %zu pair%s failed", comparison->failed, plural(comparison->failed));
    if (less > 0)
        text_format(out, ", %zu kernel%s less reproducible", less, plural(less));
}

/* Adds the summary: the two runs, the outcome, the worst error, the requested pairs, and how speeds were decided, with
 * the mean of half the intervals of % of copy in each run, which is larger in a run under load. The
 * runs are on two lines if one line would be longer than `room` columns; 0: always on one. */
static void add_conclusion(text_buffer *out, arena *memory, const run_comparison *comparison,
                           size_t room, const char *behind_runs, const char *between)
{
    const comparison_settings *settings = &comparison->settings;
    const double base = 50 * comparison->widths[BASE] / (double)comparison->ratios;
    const double new = 50 * comparison->widths[NEW] / (double)comparison->ratios;
    const char *runs[SIDES];
    text_buffer covered = {0};
    for (int side = 0; side < SIDES; side++)
        runs[side] = printable(memory, "%s %.60s (%s)", side_names[side], settings->files[side],
                               comparison->identity[side]);
    if (is_of_runs(comparison)) {
        const size_t length = strlen(runs[BASE]) + strlen(" against ") + strlen(runs[NEW]);
        text_format(out, "%s%sagainst %s%s", runs[BASE], room > 0 && length > room ? "\n" : " ",
                    runs[NEW], behind_runs);
    }
    add_outcome(out, comparison);
    if (comparison->worst)
        text_format(out, "%sworst: %s", between, printable(memory, "%s", comparison->worst));
    if (comparison->differences.count > 0)
        return;
    coverage_add_line(&covered, &comparison->covered, "compared");
    text_format(out, "%s%s%sthreshold %g %%, confidence %g %%, accuracy %s", between,
                printable(memory, "%s", covered.bytes), between, settings->threshold * 100,
                COMPARISON_CONFIDENCE * 100,
                settings->accuracy ? accuracy_gate_names[settings->gate] : "not judged");
    text_free(&covered);
    if (is_of_runs(comparison) && isfinite(base) && isfinite(new))
        text_format(out, "; speeds vary by %.3g %% in base, %.3g %% in new", base, new);
    if (comparison->noise.made[0] && comparison->speed != SPEED_NOT_MEASURED)
        text_format(out, "; noise measured %s", printable(memory, "%s", comparison->noise.made));
}

/* ---- the table of pairs ---- */

/* Creates two tables. pairs has a row for each pair to list; its columns for people are texts or NULL, `json` is the
 * whole pair, `name` its name in JUnit. lone has a row for each case that forms no pair. */
void comparison_begin(run_comparison *comparison)
{
    comparison->store = store_open_memory();
    store_script(comparison->store,
                 "CREATE TEMP TABLE lone (kind, kernel, why);"
                 "CREATE TEMP TABLE pairs (shown, weight, kernel, operation, convention, shape, "
                 "cache, ratio, base_time, new_time, noise, speed, accuracy, worst_error, "
                 "reproducible, note, json, name, seconds, exit_code, outcome, "
                 "regime, rows, hidden, ratio_lo, ratio_hi, processes)");
}

/* Returns one side of a pair in the JSON form of a case. */
static json_t *side_json(const run_comparison *comparison, const comparison_pair *pair, int side)
{
    const case_key *key = &pair->key;
    const compared_side *own = &pair->sides[side];
    stored_case stored = {
        .key = *key,
        .judged = true,
        .verdict = own->verdict,
        .metrics = own->metrics,
        .bound_row_ulp = own->bound_row_ulp,
        .speed = own->speed,
    };
    stored.speed.gbps = call_bytes(operations[key->operation], key->rows, key->hidden, key->dtype) /
                        own->speed.time_ns;
    stored.speed.repetitions = own->speed.processes;
    return case_json(&stored, pair->label, own->reproducible, comparison_regime(comparison, key));
}

/* Returns a pair as JSON lists it: the new side's case, the comparison, and the base side's case. */
static char *pair_json(const run_comparison *comparison, const comparison_pair *pair,
                       const char *note)
{
    const exit_code code = pair_exit_code(pair, &comparison->settings);
    const accuracy_tally *tally = &pair->tally;
    json_t *object = side_json(comparison, pair, NEW);
    json_object_update_new(
        object,
        json_pack("{s:o, s:o, s:o, s:s?, s:s?, s:s, s:o, s:o, s:s, s:i, s:I, s:I, s:I, s:i, s:i, "
                  "s:i, s:o, s:o}",
                  "ratio", json_figure(pair->ratio.middle), "p", json_figure(pair->p), "noise",
                  json_figure(pair->noise), "speed_verdict", speed_names[pair->speed],
                  "accuracy_verdict", accuracy_names[pair->accuracy], "note", note, "ratio_lo",
                  json_figure(pair->ratio.lo), "ratio_hi", json_figure(pair->ratio.hi), "outcome",
                  outcome_names[code], "exit_code", (int)code, "inputs_judged",
                  (json_int_t)tally->judged, "inputs_differing", (json_int_t)tally->differing,
                  "inputs_worse", (json_int_t)tally->worse, "search_processes", (int)pair->searched,
                  "processes", (int)pair->sides[NEW].speed.processes, "processes_base",
                  (int)pair->sides[BASE].speed.processes, "seconds", json_figure(pair->seconds),
                  "base", side_json(comparison, pair, BASE)));
    char *text = json_dumps(object, JSON_COMPACT | JSON_ENSURE_ASCII);
    json_decref(object);
    return text;
}

static const char *time_words(arena *memory, double ns)
{
    char shown[16];
    return isnan(ns) ? "-" : arena_format(memory, "%s us", number_short(ns / 1e3, shown));
}

/* Returns the largest row ULP of a side; "NaN" for a wrong NaN, infinity or number, "fail" without an output. */
static const char *error_words(arena *memory, const compared_side *side)
{
    if (verdict_exit_code(&side->verdict) == EXIT_CODE_KERNEL_FAILED)
        return "fail";
    if (side->metrics.mismatches > 0)
        return "NaN";
    char shown[16];
    const double largest = side->metrics.elements ? side->metrics.row_ulp_max : NAN;
    return arena_format(memory, "%s", number_short(largest, shown));
}

/* Returns "0.52 was 0.50", or only one text if both are equal. */
static const char *both_words(arena *memory, const char *base, const char *new)
{
    return strcmp(base, new) == 0 ? new : arena_format(memory, "%s was %s", new, base);
}

void comparison_put(run_comparison *comparison, const comparison_pair *pair, bool shown,
                    double weight)
{
    const case_key *key = &pair->key;
    const compared_side *base = &pair->sides[BASE], *new = &pair->sides[NEW];
    const exit_code code = pair_exit_code(pair, &comparison->settings);
    const char *speed = speed_names[pair->speed],
               *accuracy = pair_failed(pair) == FAILED_NEW
                               ? "failed"
                               : accuracy_words(pair->accuracy, pair->tally.worse > 0);
    arena memory = {0};
    char reproducible[32];
    const char *ratio = "-"; /* four decimals, because a change of 0.1 % matters */
    if (!isnan(pair->ratio.middle))
        ratio = arena_format(&memory, "%.4f [%.4f, %.4f]", pair->ratio.middle, pair->ratio.lo,
                             pair->ratio.hi);
    const char *note = note_of(&memory, pair);
    char *json = comparison->settings.json ? pair_json(comparison, pair, note) : NULL;
    store_put_line(comparison->store, "pairs", "idssssssssdnnsssssdissiiddi", (int64_t)shown,
                   weight, key->kernel, operation_name(key->operation),
                   convention_words(&memory, key), shape_words(&memory, key),
                   cache_name(key->cache), ratio, time_words(&memory, base->speed.time_ns),
                   time_words(&memory, new->speed.time_ns), pair->noise, speed, accuracy,
                   both_words(&memory, error_words(&memory, base), error_words(&memory, new)),
                   reproducible_both(base->reproducible, new->reproducible, reproducible), note,
                   json, pair_name(&memory, key), pair->seconds, (int64_t)code, outcome_names[code],
                   comparison_regime(comparison, key), (int64_t)key->rows, (int64_t)key->hidden,
                   pair->ratio.lo, pair->ratio.hi, (int64_t) new->speed.processes);
    free(json);
    arena_free(&memory);
}

/* The pairs that are shown, in the order of falling weight. */
#define SHOWN                                                                                      \
    "(SELECT *, row_number() OVER (ORDER BY weight DESC, rowid) AS place FROM pairs WHERE shown)"
#define PEOPLE_SEE                                                                                 \
    "SELECT kernel, operation, convention, shape, cache, ratio, base_time, new_time, "             \
    "noise, speed, accuracy, worst_error, reproducible, note FROM "

enum {
    COLUMN_OPERATION = 1,
    COLUMN_CACHE = 4,
    COLUMN_RATIO,
    COLUMN_NOISE = 8,
    COLUMN_SPEED,
    COLUMN_REPRODUCIBLE = 12,
    COLUMN_NOTE
};

/* Makes a relation of the table and frees the table. */
static relation *relation_of(stored_table table, const relation_column *columns, size_t count)
{
    relation *rows = relation_create(columns, count);
    table_add_to(&table, rows);
    stored_table_free(&table);
    return rows;
}

/* Returns the table of pairs. Columns are dropped until a row fits on a line, but not the shape if there are several. A
 * duet has no stored noise. Frees `pairs`. */
static relation *pairs_relation(const run_comparison *comparison, stored_table pairs)
{
    bool one_shape = pairs.rows > 0;
    for (size_t i = 1; i < pairs.rows; i++)
        one_shape &= strcmp(table_text(&pairs, i, "shape"), table_text(&pairs, 0, "shape")) == 0;
    const int speeds = 2 * comparison->ratios < comparison->pairs ? 7 : 0; /* are they rare? */
    const relation_column columns[] = {
        FOR_PEOPLE("kernel"),
        FOR_PEOPLE("operation"),
        {.heading = "convention", .priority = 1},
        {.heading = "shape", .priority = one_shape},
        {.heading = "cache", .priority = 2},
        {.heading = "new/base", .priority = speeds},
        {.heading = "base", .priority = 5},
        {.heading = "new", .priority = 6},
        {.heading = "noise", .format = "%.3g", .unit = "%", .priority = 4},
        {.heading = "speed", .priority = speeds},
        FOR_PEOPLE("accuracy"),
        {.heading = "worst error", .priority = 3},
        {.heading = "reproducible", .priority = 8},
        FOR_PEOPLE("note"),
    };
    relation *rows = relation_of(pairs, COLUMNS(columns));
    relation_hide_alike(rows, COLUMN_OPERATION);
    if (!is_of_runs(comparison))
        relation_hide(rows, COLUMN_NOISE);
    return rows;
}

/* Prints at full width, because columns that do not fit were dropped already. */
static void print_rows(relation *rows, const output_file *out)
{
    relation_print(rows, &(output_file){.format = out->format, .file = out->file});
}

/* ---- text and Markdown ---- */

/* Adds each different note of the first `count` pairs once, with its first pair and the number of other pairs. */
static void add_notes(text_buffer *out, arena *memory, const run_comparison *comparison,
                      size_t count)
{
    stored_table notes =
        store_ask(comparison->store,
                  "SELECT kernel || ' ' || shape AS first, note, count(*) - 1 AS alike, min(place) "
                  "AS place FROM " SHOWN " WHERE place <= ?1 AND note <> '' GROUP BY note ORDER BY "
                  "place LIMIT ?2",
                  "ii", (int64_t)count, (int64_t)(comparison->settings.all ? -1 : MOST_NOTES));
    for (size_t i = 0; i < notes.rows; i++) {
        const long long alike = table_whole(&notes, i, "alike");
        text_add(out, printable(memory, "%s", table_text(&notes, i, "first")));
        if (alike > 0)
            text_format(out, " and %lld more", alike);
        text_format(out, ": %s\n", table_text(&notes, i, "note"));
    }
    stored_table_free(&notes);
}

/* Adds plain text; in Markdown, which has a bullet, its special characters are escaped. */
static void add_words(text_buffer *out, const char *bullet, const char *plain)
{
    for (const char *at = plain; *at; at++) {
        if (*bullet && strchr("\\`*_{}[]<>#|@&", *at))
            text_add(out, "\\");
        text_add_bytes(out, at, 1);
    }
}

/* One row for each kernel and reason, in the order of the cases. */
#define LONE_WORDS                                                                                 \
    "SELECT kind, kernel || ' (' || iif(count(*) > 1, count(*) || ' cases: ', '') || why || ')' "  \
    "AS words FROM lone GROUP BY kind, kernel, why ORDER BY min(rowid)"

/* Lists cases that form no pair, because they are missing or for other reasons: "b (3 cases: only in base)". */
static void list_lone(arena *memory, const run_comparison *comparison, bool missing, bool others,
                      word_list *words)
{
    stored_table lone =
        store_ask(comparison->store, "SELECT * FROM (" LONE_WORDS ") WHERE iif(kind = ?1, ?2, ?3)",
                  "iii", (int64_t)LONE_MISSING, (int64_t)missing, (int64_t)others);
    for (size_t i = 0; i < lone.rows; i++)
        word_list_add(words, printable(memory, "%s", table_text(&lone, i, "words")));
    stored_table_free(&lone);
}

/* Adds a line for each list item, but without --all at most `most` lines. */
static void add_list(text_buffer *out, arena *memory, const run_comparison *comparison,
                     const char *bullet, const char *lead, const word_list *lines, size_t most)
{
    const size_t count = comparison->settings.all || lines->count <= most ? lines->count : most;
    for (size_t i = 0; i < count; i++) {
        text_format(out, "%s%s: ", bullet, lead);
        add_words(out, bullet, printable(memory, "%s", lines->words[i]));
        text_add(out, "\n");
    }
    if (lines->count > count)
        text_format(out, "%s%s: %zu more (--all)\n", bullet, lead, lines->count - count);
}

/* Adds the remarks below the table, which lists `listed` of the `shown` pairs. */
static void add_remarks(text_buffer *out, arena *memory, const run_comparison *comparison,
                        size_t shown, size_t listed, const char *bullet)
{
    word_list missing = {0}, lone = {0};
    list_lone(memory, comparison, true, false, &missing);
    list_lone(memory, comparison, false, true, &lone);
    if (shown > listed)
        text_format(out, "%smore pairs: %zu (see --all)\n", bullet, shown - listed);
    if (comparison->pairs > shown)
        text_format(out, "%smore pairs, not timed and not changed: %zu\n", bullet,
                    comparison->pairs - shown);
    add_list(out, memory, comparison, bullet, "differs", &comparison->differences, MOST_REMARKS);
    /* A few missing pairs are all named in the line of requested pairs. */
    if (comparison->covered.missing > COVERAGE_NAMED)
        add_list(out, memory, comparison, bullet, "missing", &missing, MOST_REMARKS);
    add_list(out, memory, comparison, bullet, "not compared", &lone, MOST_REMARKS);
    add_list(out, memory, comparison, bullet, "note", &comparison->remarks, MOST_REMARKS);
    if (comparison_exit_code(comparison) == EXIT_CODE_INCONCLUSIVE ||
        (is_of_runs(comparison) && comparison->speed == SPEED_SLOWER))
        text_format(out, "%sto decide: %s\n", bullet,
                    is_of_runs(comparison)
                        ? "lnbench duet on both builds: equal runs can differ (docs/tracking.md)"
                        : "a quieter machine (lnbench doctor), or duet --time 120");
    word_list_free(&missing);
    word_list_free(&lone);
}

/* Returns how many of the shown pairs are listed: all with --all, else at most MOST_ROWS, and of more than
 * MOST_UNCHANGED pairs only the changed ones; in a Markdown comment at most MOST_NOTES. */
static size_t count_listed(const run_comparison *comparison, bool markdown, size_t *shown)
{
    stored_table counts = store_ask(
        comparison->store,
        "SELECT count(*) AS shown, count(*) FILTER (WHERE weight >= ?1) AS moved FROM " SHOWN, "i",
        (int64_t)WEIGHT_MOVED);
    const size_t moved = (size_t)table_whole(&counts, 0, "moved");
    *shown = (size_t)table_whole(&counts, 0, "shown");
    stored_table_free(&counts);
    if (comparison->settings.all || *shown <= (markdown ? MOST_NOTES : MOST_ROWS))
        return *shown;
    return markdown                 ? MOST_NOTES
           : moved < MOST_UNCHANGED ? MOST_UNCHANGED
           : moved < MOST_ROWS      ? moved
                                    : MOST_ROWS;
}

/* Prints lines; those of text are wrapped, those of Markdown are not. */
static void print_prose(const output_file *out, const char *lines)
{
    if (out->format == OUTPUT_MARKDOWN)
        fputs(lines, out->file);
    else
        output_wrapped(out, lines);
}

/* Prints text, or a Markdown comment: five lines for one pair, a short table for many. */
static void print_for_people(arena *memory, const run_comparison *comparison,
                             const output_file *out)
{
    const comparison_settings *settings = &comparison->settings;
    const bool markdown = out->format == OUTPUT_MARKDOWN;
    const char *bullet = markdown ? "- " : "";
    const size_t room = markdown ? 0 : out->width ? out->width : 100;
    text_buffer head = {0}, below = {0};
    size_t shown;
    const size_t count = count_listed(comparison, markdown, &shown);
    if (markdown) {
        text_buffer conclusion = {0};
        add_conclusion(&conclusion, memory, comparison, 0, ": ", "; ");
        text_format(&head, "**lnbench %s** ", settings->tool);
        add_words(&head, bullet, conclusion.bytes);
        text_free(&conclusion);
    } else {
        add_conclusion(&head, memory, comparison, room, "\n", "\n");
    }
    text_add(&head, "\n");
    print_prose(out, head.bytes);
    if (count > 0) {
        fputc('\n', out->file);
        relation *rows = pairs_relation(comparison, store_ask(comparison->store,
                                                              PEOPLE_SEE SHOWN
                                                              " WHERE place <= ?1 ORDER BY place",
                                                              "i", (int64_t)count));
        relation_hide_alike(rows, COLUMN_CACHE);
        for (size_t i = COLUMN_RATIO; i <= COLUMN_SPEED; i++)
            if (!settings->speed || (markdown && i == COLUMN_NOISE))
                relation_hide(rows, i);
        if (markdown) {
            relation_hide_alike(rows, COLUMN_REPRODUCIBLE);
        } else {
            relation_hide(rows, COLUMN_NOTE);
            relation_fit(rows, room);
            add_notes(&below, memory, comparison, count); /* printed below the table */
        }
        print_rows(rows, out);
    }
    add_remarks(&below, memory, comparison, shown, count, bullet);
    if (below.bytes && (markdown || count > 0))
        fputc('\n', out->file);
    if (below.bytes)
        print_prose(out, below.bytes);
    text_free(&head);
    text_free(&below);
}

/* ---- for programs ---- */

static json_t *file_json(const run_comparison *comparison, int side)
{
    return json_pack("{s:o, s:o}", "file", json_text(comparison->settings.files[side]),
                     is_of_runs(comparison) ? "run" : "object_hash",
                     json_text(comparison->identity[side]));
}

/* Returns the JSON object without its pairs. */
static json_t *comparison_json(arena *memory, const run_comparison *comparison)
{
    const comparison_settings *settings = &comparison->settings;
    const machine_facts *machine = &comparison->machine;
    const exit_code code = comparison_exit_code(comparison);
    json_t *covered = coverage_json(&comparison->covered, "compared");
    word_list lone = {0};
    char schema[32];
    list_lone(memory, comparison, true, true, &lone);
    json_t *not_compared = list_words(&lone);
    word_list_free(&lone);
    snprintf(schema, sizeof schema, "lnbench-%s-3", settings->tool);
    return json_pack(
        "{s:s, s:s, s:i, s:I, s:o, s:o, s:s?, s:s?, s:o, s:o, s:o, s:o, s:s?, s:I, s:o, s:o, s:o, "
        "s:o, s:o, s:o, s:o}",
        "schema", schema, "verdict", outcome_names[code], "exit_code", (int)code, "failed",
        (json_int_t)comparison->failed, "worst",
        comparison->worst ? json_text(comparison->worst) : json_null(), "coverage", covered,
        "speed_verdict", speed_names[comparison->speed], "accuracy_verdict",
        accuracy_names[comparison->accuracy], "geometric_mean", json_figure(mean_ratio(comparison)),
        "threshold", json_figure(settings->threshold), "confidence",
        json_figure(COMPARISON_CONFIDENCE), "time", json_figure(settings->seconds), "accuracy",
        settings->accuracy ? accuracy_gate_names[settings->gate] : NULL, "seed",
        (json_int_t)settings->seed, "base", file_json(comparison, BASE), "new",
        file_json(comparison, NEW), "noise_measured",
        comparison->noise.made[0] ? json_text(comparison->noise.made) : json_null(), "not_compared",
        not_compared, "differences", list_words(&comparison->differences), "notes",
        list_words(&comparison->remarks), "machine", json_facts(machine));
}

/* Writes a part of the pairs, one on a line. */
static void write_pairs(void *context, const stored_table *part)
{
    for (size_t i = 0; i < part->rows; i++)
        fprintf(context, "%s\n  %s", table_whole(part, i, "place") > 1 ? "," : "",
                table_text(part, i, "json"));
}

/* Prints the object with the pairs as its last member. A run may have tens of thousands of them, which are written
 * while they are read. The output is ASCII, as in output_json(). */
static void print_json(arena *memory, const run_comparison *comparison, FILE *file)
{
    json_t *whole = comparison_json(memory, comparison);
    char *text = json_dumps(whole, JSON_INDENT(1) | JSON_ENSURE_ASCII);
    text[strlen(text) - strlen("\n}")] = '\0';
    fprintf(file, "%s,\n \"pairs\": [", text);
    store_query(comparison->store, "SELECT rowid AS place, json FROM pairs WHERE rowid > ?1", 0, 1,
                write_pairs, file);
    fprintf(file, "\n ]\n}\n");
    free(text);
    json_decref(whole);
}

/* Returns one CI check for each pair, for each fact that differs, and for the cases that form no pair. A check that
 * neither passed nor failed is an "error" in JUnit. */
static relation *checks_relation(const run_comparison *comparison)
{
    static const relation_column columns[] = {
        FOR_PEOPLE("classname"), FOR_PEOPLE("name"),  FOR_PEOPLE("time"),
        FOR_PEOPLE("outcome"),   FOR_PEOPLE("type"),  FOR_PEOPLE("message"),
        FOR_PEOPLE("output"),    FOR_PEOPLE("level"), FOR_PEOPLE("title"),
    };
    static const char sql[] =
        "SELECT ?1, name, format('%.3f', seconds), CASE WHEN exit_code = 0 THEN '' WHEN exit_code "
        "IN (1, 5) THEN 'failure' ELSE 'error' END, outcome, name || ': ' || summary, summary, "
        "CASE exit_code WHEN 0 THEN '' WHEN 3 THEN 'warning' ELSE 'error' END, outcome FROM "
        "(SELECT "
        "*, substr(coalesce('; ' || speed, '') || coalesce('; ' || accuracy, '') || iif(ratio = "
        "'-', '', '; new/base ' || ratio) || iif(note = '', '', '; ' || note), 3) AS summary FROM "
        "pairs ORDER BY weight DESC, rowid) "
        "UNION ALL SELECT ?1, words, '', iif(fails, 'error', 'skipped'), 'not comparable', words, "
        "'', iif(fails, 'error', 'notice'), iif(kind = 0, 'missing', 'not compared') FROM (SELECT "
        "*, kind = 0 AND NOT ?2 AS fails FROM (" LONE_WORDS "))";
    const char *tool = comparison->settings.tool;
    const int64_t allowed = comparison->settings.allow_missing;
    relation *checks =
        relation_of(store_ask(comparison->store, sql, "si", tool, allowed), COLUMNS(columns));
    for (size_t i = 0; i < comparison->differences.count; i++)
        relation_row(checks, as_text(tool), as_format("context %zu", i + 1), as_text(""),
                     as_text("error"), as_text("not comparable"),
                     as_text(comparison->differences.words[i]), as_text(""), as_text("error"),
                     as_text("not comparable"));
    return checks;
}

void comparison_print(const run_comparison *comparison, const output_file *out)
{
    const output_format format = out->format;
    arena memory = {0};
    if (format == OUTPUT_TEXT || format == OUTPUT_MARKDOWN) {
        print_for_people(&memory, comparison, out);
    } else if (format == OUTPUT_JSON) {
        print_json(&memory, comparison, out->file);
    } else if (format < OUTPUT_FORMATS_OF_ALL) {
        stored_table pairs =
            store_ask(comparison->store, PEOPLE_SEE "pairs WHERE shown ORDER BY rowid", "");
        print_rows(pairs_relation(comparison, pairs), out);
    } else {
        relation *checks = checks_relation(comparison);
        text_buffer conclusion = {0};
        add_conclusion(&conclusion, &memory, comparison, 0, ": ", "; ");
        if (format == OUTPUT_GITHUB) /* with the outcome of all pairs as an annotation */
            relation_row(checks, as_text(comparison->settings.tool), as_text(""), as_text(""),
                         as_text(""), as_text(""), as_text(conclusion.bytes), as_text(""),
                         as_text("notice"), as_format("lnbench %s", comparison->settings.tool));
        print_rows(checks, out);
        text_free(&conclusion);
    }
    arena_free(&memory);
}
