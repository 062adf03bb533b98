/* A comparison as text, Markdown, TSV, CSV and JSON, and for CI as JUnit, annotations of GitHub and
 * customSmallerIsBetter. Each is a relation of the pairs, most of them with sentences around it. */
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
/* The same as a reader sees it. */
static const char *const accuracy_words[] = {NULL, "bit-identical", "more accurate", "bits differ",
                                             "less accurate"};

static const char *or_dash(const char *name)
{
    return name ? name : "-";
}

static const char *const outcome_names[] = {[EXIT_CODE_FINE] = "fine",
                                            [EXIT_CODE_REGRESSION] = "regression",
                                            [EXIT_CODE_INCONCLUSIVE] = "inconclusive",
                                            [EXIT_CODE_NOT_COMPARABLE] = "not comparable",
                                            [EXIT_CODE_ACCURACY] = "accuracy violation",
                                            [EXIT_CODE_KERNEL_FAILED] = "kernel failed"};

/* Of two stored runs; else of two builds, which have no dates, no copies and no stored noise. */
static bool is_of_runs(const run_comparison *comparison)
{
    return strcmp(comparison->settings.tool, "compare") == 0;
}

/* ---- the words of a pair ---- */

/* A formatted string in printable ASCII: names and details come from outside. */
__attribute__((format(printf, 2, 3))) static char *plain(arena *memory, const char *format, ...)
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

/* "torch", and the input where it is not the usual one: "torch, offset". */
static const char *convention_words(arena *memory, const case_key *key)
{
    const bool usual = strcmp(key->input, "normal") == 0;
    return plain(memory, "%s%s%s", key->convention, usual ? "" : ", ", usual ? "" : key->input);
}

/* "512x768", and what is not the usual: "512x768 bf16, 4 threads". */
static const char *shape_words(arena *memory, const case_key *key)
{
    const char *threads =
        key->threads > 1 ? arena_format(memory, ", %u threads", key->threads) : "";
    const bool usual = key->dtype == LN_F32;
    return arena_format(memory, "%zux%zu%s%s%s", key->rows, key->hidden, usual ? "" : " ",
                        usual ? "" : dtype_name(key->dtype), threads);
}

const char *pair_name(arena *memory, const case_key *key)
{
    return plain(memory, "%s %s %s %s", key->kernel, convention_words(memory, key),
                 shape_words(memory, key), cache_name(key->cache));
}

/* "1.0512 [1.0498, 1.0530]": four digits behind the point, since 0.1 % matters. */
static const char *ratio_words(arena *memory, const interval_estimate *ratio)
{
    return isnan(ratio->middle)
               ? "-"
               : arena_format(memory, "%.4f [%.4f, %.4f]", ratio->middle, ratio->lo, ratio->hi);
}

/* What a pair's line says besides its figures, with "; " between: failures, what got worse, what the CPU counted
 * (instructions tell a change of code from noise), why there is no speed. */
static const char *note_of(arena *memory, const run_comparison *comparison,
                           const comparison_pair *pair)
{
    static const char *const names[SIDES] = {"base", "new"};
    const compared_side *base = &pair->sides[BASE], *new = &pair->sides[NEW];
    const accuracy_tally *tally = &pair->tally;
    const double instructions = new->speed.instructions / base->speed.instructions - 1;
    const double cycles = new->speed.cycles / base->speed.cycles - 1;
    const bool failed = pair_failed(pair) != FAILED_NOT;
    char described[VERDICT_MAX_LENGTH], both[32];
    const char *note = "";
#define ADD(format_, ...)                                                                          \
    (note = plain(memory, "%s%s" format_, note, note[0] ? "; " : "", __VA_ARGS__))
    for (int side = 0; side < SIDES; side++)
        if (verdict_exit_code(&pair->sides[side].verdict) != EXIT_CODE_FINE)
            ADD("%s: %s", names[side],
                verdict_describe(&pair->sides[side].verdict, described, sizeof described));
    if (tally->differing > 0 && !failed)
        ADD("%zu of %zu inputs differ, %s", tally->differing, tally->judged, tally->worst);
    if (tally->differing > 0 && !failed && tally->worse > 1)
        ADD("%zu more are worse", tally->worse - 1);
    if (pair_is_less_reproducible(pair))
        ADD("reproducible: %s", reproducible_both(base->reproducible, new->reproducible, both));
    if (isfinite(instructions) && isfinite(cycles))
        ADD("instructions %+.1f %%, cycles %+.1f %%", 100 * instructions, 100 * cycles);
    if (pair->noise > comparison->settings.threshold && pair->speed != SPEED_NOT_MEASURED)
        ADD("%s", "the noise here exceeds the threshold");
    if (pair->missing && !failed)
        ADD("missing: %s", pair->missing);
    if (pair->detail)
        ADD("%s", pair->detail);
#undef ADD
    return note;
}

/* "b (3 cases: only in base)" */
static const char *apart_words(arena *memory, const apart_cases *apart)
{
    const char *cases = apart->cases > 1 ? arena_format(memory, "%zu cases: ", apart->cases) : "";
    return plain(memory, "%s (%s%s)", apart->kernel, cases, apart->why);
}

/* ---- what all pairs come to ---- */

/* The geometric mean of the ratios; NaN where there is none. */
static double mean_ratio(const run_comparison *comparison)
{
    return exp(comparison->log_ratios / (double)comparison->ratios);
}

/* "fine: same, bit-identical in 12 pairs, geometric mean 1.0002" */
static void add_outcome(text_buffer *out, const run_comparison *comparison)
{
    const comparison_settings *settings = &comparison->settings;
    const coverage *covered = &comparison->covered;
    const size_t pairs = comparison->pair_count + comparison->unchanged;
    const size_t differences = comparison->differences.count, less = comparison->less_reproducible;
    const char *speed = speed_names[comparison->speed];
    const char *accuracy = accuracy_words[comparison->accuracy];
    const double mean = mean_ratio(comparison);
    text_format(out, "%s: ", outcome_names[comparison_exit_code(comparison)]);
    if (differences > 0) {
        text_format(out, "the contexts differ in %zu thing%s", differences,
                    differences == 1 ? "" : "s");
        if (settings->speed && comparison->same_rows)
            text_add(out, "; --only accuracy --allow-missing compares the errors of the cases that "
                          "both have");
        return;
    }
    if (pairs == 0)
        text_add(out, "nothing was compared");
    else
        text_format(out, "%s%s%s in %zu pair%s", speed ? speed : "", speed && accuracy ? ", " : "",
                    accuracy ? accuracy
                    : speed  ? ""
                             : "no result",
                    pairs, pairs == 1 ? "" : "s");
    if (!isnan(mean))
        text_format(out, ", geometric mean %.4f", mean);
    if (less > 0)
        text_format(out, ", %zu kernel%s less reproducible", less, less == 1 ? "" : "s");
    if (covered->missing > 0)
        text_format(out, ", %zu of %zu missing%s", covered->missing, covered->requested,
                    settings->allow_missing ? " (allowed)" : "");
}

/* "worst: a 18x768: offset, row 3: 4.1e6 row ULP, was 5.2; 22 more inputs are worse"; NULL where none is. */
static const char *worst_words(arena *memory, const run_comparison *comparison)
{
    if (comparison->worse == 0)
        return NULL;
    const comparison_pair *worst = &comparison->pairs[comparison->worst];
    const char *more = comparison->worse == 1 ? ""
                                              : arena_format(memory, "; %zu more inputs are worse",
                                                             comparison->worse - 1);
    return plain(memory, "worst: %s: %s%s", pair_name(memory, &worst->key), worst->tally.worst,
                 more);
}

/* What all pairs come to: which runs, the outcome, the worst error, what was requested, by what it was decided. The
 * two runs are on two lines where one would be longer than `room` columns; 0: on one. */
static void add_conclusion(text_buffer *out, arena *memory, const run_comparison *comparison,
                           size_t room, const char *behind_runs, const char *between)
{
    const comparison_settings *settings = &comparison->settings;
    const char *worst = worst_words(memory, comparison), *runs[SIDES];
    text_buffer covered = {0};
    for (int side = 0; side < SIDES; side++)
        runs[side] = plain(memory, "%.60s (%s)", settings->files[side], comparison->identity[side]);
    if (is_of_runs(comparison)) {
        const size_t length = strlen(runs[BASE]) + strlen(" against ") + strlen(runs[NEW]);
        text_format(out, "%s%sagainst %s%s", runs[BASE], room > 0 && length > room ? "\n" : " ",
                    runs[NEW], behind_runs);
    }
    add_outcome(out, comparison);
    if (worst)
        text_format(out, "%s%s", between, worst);
    if (comparison->differences.count > 0)
        return;
    coverage_add_line(&covered, &comparison->covered, "compared");
    text_format(out, "%s%s%sthreshold %g %%, confidence %g %%, accuracy %s", between,
                plain(memory, "%s", covered.bytes), between, settings->threshold * 100,
                settings->confidence * 100,
                settings->accuracy ? accuracy_gate_names[settings->gate] : "not judged");
    text_free(&covered);
    if (is_of_runs(comparison) && comparison->speed != SPEED_NOT_MEASURED)
        text_format(out, "; %s%s",
                    comparison->noise.made[0] ? "noise measured "
                                              : "decided by interval and rank test",
                    comparison->noise.made);
}

/* ---- the table of pairs ---- */

enum {
    COLUMN_OPERATION = 2,
    COLUMN_CACHE = 5,
    COLUMN_COPY = 9,
    COLUMN_P = 10,
    COLUMN_NOISE = 11,
    COLUMN_REPRODUCIBLE = 15,
    COLUMN_NOTE = 16
};

/* One side of a pair as JSON has a case. */
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

/* A time in the unit that gives it one to three digits before the point. */
static relation_value as_time(double ns)
{
    char shown[16];
    number_short(ns < 1e3 ? ns : ns < 1e6 ? ns / 1e3 : ns / 1e6, shown);
    return as_format("%s%s", shown, isnan(ns) ? "" : ns < 1e3 ? " ns" : ns < 1e6 ? " us" : " ms");
}

/* "0.52 was 0.50", or one of them where people cannot tell the two apart. */
static relation_value as_both(double base, double new)
{
    char shown[SIDES][16];
    number_short(base, shown[BASE]);
    number_short(new, shown[NEW]);
    if (strcmp(shown[BASE], shown[NEW]) == 0)
        return as_text(shown[NEW]);
    return as_format("%s was %s", shown[NEW], shown[BASE]);
}

/* A case has many members: they are made for JSON alone. */
static void add_pair(relation *rows, arena *memory, const run_comparison *comparison,
                     const comparison_pair *pair, bool json)
{
    const compared_side *base = &pair->sides[BASE], *new = &pair->sides[NEW];
    const exit_code code = pair_exit_code(pair, &comparison->settings);
    char both[32];
    relation_row(
        rows, as_json(json ? side_json(comparison, pair, NEW) : NULL, ""),
        as_text(pair->key.kernel), as_text(operation_name(pair->key.operation)),
        as_text(convention_words(memory, &pair->key)), as_text(shape_words(memory, &pair->key)),
        as_text(cache_name(pair->key.cache)),
        as_json(json_figure(pair->ratio.middle), ratio_words(memory, &pair->ratio)),
        as_time(base->speed.time_ns), as_time(new->speed.time_ns),
        as_both(base->speed.copy_ratio, new->speed.copy_ratio), as_figure(pair->p),
        as_figure(pair->noise), as_text(speed_names[pair->speed]),
        as_json(json_pack("s?", accuracy_names[pair->accuracy]),
                or_dash(accuracy_words[pair->accuracy])),
        as_both(base->metrics.elements ? base->metrics.row_ulp_max : NAN,
                new->metrics.elements ? new->metrics.row_ulp_max : NAN),
        as_text(reproducible_both(base->reproducible, new->reproducible, both)),
        as_text(note_of(memory, comparison, pair)), as_figure(pair->ratio.lo),
        as_figure(pair->ratio.hi), as_text(outcome_names[code]), as_count(code),
        as_count(pair->tally.judged), as_count(pair->tally.differing), as_count(pair->tally.worse),
        as_count(pair->searched), as_count(new->speed.processes), as_count(base->speed.processes),
        as_figure(pair->seconds), as_json(json ? side_json(comparison, pair, BASE) : NULL, ""));
}

/* A pair takes one line: columns go until it does; but pairs of several shapes keep theirs. A duet
 * times no copy and tests no ranks. */
static relation *pairs_relation(arena *memory, const run_comparison *comparison,
                                const comparison_pair *const *pairs, size_t count, bool json)
{
    bool one_shape = count > 0;
    for (size_t i = 1; i < count; i++)
        one_shape = one_shape && pairs[i]->key.rows == pairs[0]->key.rows &&
                    pairs[i]->key.hidden == pairs[0]->key.hidden;
    relation_column columns[] = {
        FOR_PROGRAMS(EACH_MEMBER),
        FOR_PEOPLE("kernel"),
        FOR_PEOPLE("operation"),
        {.heading = "convention", .priority = 2},
        {.heading = "shape", .priority = one_shape},
        {.heading = "cache", .priority = 7},
        COLUMN("new/base", "ratio"),
        {.heading = "base", .priority = 5},
        {.heading = "new", .priority = 6},
        {.heading = "copy", .priority = 9},
        {"p", "p", .priority = 10},
        {"noise", "noise", .format = "%.2g", .unit = "%", .priority = 4},
        COLUMN("speed", "speed_verdict"),
        COLUMN("accuracy", "accuracy_verdict"),
        {.heading = "worst error", .priority = 3},
        {.heading = "reproducible", .priority = 8},
        COLUMN("note", "note"),
        FOR_PROGRAMS("ratio_lo"),
        FOR_PROGRAMS("ratio_hi"),
        FOR_PROGRAMS("outcome"),
        FOR_PROGRAMS("exit_code"),
        FOR_PROGRAMS("inputs_judged"),
        FOR_PROGRAMS("inputs_differing"),
        FOR_PROGRAMS("inputs_worse"),
        FOR_PROGRAMS("search_processes"),
        FOR_PROGRAMS("processes"),
        FOR_PROGRAMS("processes_base"),
        FOR_PROGRAMS("seconds"),
        FOR_PROGRAMS("base"),
    };
    relation *rows = relation_create(COLUMNS(columns));
    for (size_t i = 0; i < count; i++)
        add_pair(rows, memory, comparison, pairs[i], json);
    relation_hide_alike(rows, COLUMN_OPERATION);
    if (!is_of_runs(comparison)) {
        relation_hide(rows, COLUMN_COPY);
        relation_hide(rows, COLUMN_P);
        relation_hide(rows, COLUMN_NOISE);
    }
    return rows;
}

/* JSON: as the member "pairs" of `whole`, if there is one. */
static void print_rows(relation *rows, json_t *whole, output_format format, FILE *file)
{
    const output_file out = {.format = format, .file = file};
    relation_print_in(rows, whole, "pairs", &out);
}

/* ---- text and Markdown ---- */

/* The weightiest first; of equals, as they came. */
static int compare_weights(const void *a, const void *b)
{
    const comparison_pair *one = *(const comparison_pair *const *)a,
                          *other = *(const comparison_pair *const *)b;
    if (one->weight != other->weight)
        return one->weight > other->weight ? -1 : 1;
    return one < other ? -1 : one > other;
}

/* The pairs that are listed, weightiest first: without --all at most MOST_ROWS, and of more than
 * MOST_UNCHANGED only what changed. shown: how many there are in all. */
static const comparison_pair **listed_pairs(arena *memory, const run_comparison *comparison,
                                            size_t *shown, size_t *count)
{
    const comparison_pair **pairs =
        arena_new(memory, const comparison_pair *, comparison->pair_count + 1);
    *shown = 0;
    for (size_t i = 0; i < comparison->pair_count; i++)
        if (comparison->pairs[i].shown)
            pairs[(*shown)++] = &comparison->pairs[i];
    qsort(pairs, *shown, sizeof *pairs, compare_weights);
    *count = *shown;
    if (!comparison->settings.all && *shown > MOST_ROWS) {
        *count = MOST_ROWS;
        while (*count > MOST_UNCHANGED && pairs[*count - 1]->weight < WEIGHT_MOVED)
            --*count;
    }
    return pairs;
}

/* Each note once, with the pair that it is of first and how many more have it. */
static void add_notes(text_buffer *out, arena *memory, const run_comparison *comparison,
                      const comparison_pair *const *pairs, size_t count)
{
    const char **notes = arena_new(memory, const char *, count);
    size_t lines = 0;
    for (size_t i = 0; i < count; i++)
        notes[i] = note_of(memory, comparison, pairs[i]);
    for (size_t i = 0; i < count; i++) {
        const char *note = notes[i];
        size_t alike = 0;
        for (size_t j = i + 1; j < count && note[0]; j++)
            if (strcmp(note, notes[j]) == 0) {
                notes[j] = "";
                alike++;
            }
        if (!note[0] || (lines++ >= MOST_NOTES && !comparison->settings.all))
            continue;
        text_add(out,
                 plain(memory, "%s %s", pairs[i]->key.kernel, shape_words(memory, &pairs[i]->key)));
        if (alike > 0)
            text_format(out, " and %zu more", alike);
        text_format(out, ": %s\n", note);
    }
}

/* Plain text; in Markdown (where there is a bullet) with nothing left in it that means something
 * there. */
static void add_words(text_buffer *out, const char *bullet, const char *plain)
{
    for (const char *at = plain; *at; at++) {
        if (*bullet && strchr("\\`*_{}[]<>#|@&", *at))
            text_add(out, "\\");
        text_add_bytes(out, at, 1);
    }
}

/* A line for each of a list, without --all at most so many. */
static void add_list(text_buffer *out, arena *memory, const run_comparison *comparison,
                     const char *bullet, const char *lead, const word_list *lines, size_t most)
{
    const size_t count = comparison->settings.all || lines->count <= most ? lines->count : most;
    for (size_t i = 0; i < count; i++) {
        text_format(out, "%s%s: ", bullet, lead);
        add_words(out, bullet, plain(memory, "%s", lines->words[i]));
        text_add(out, "\n");
    }
    if (lines->count > count)
        text_format(out, "%s%s: %zu more (--all)\n", bullet, lead, lines->count - count);
}

/* What stands below the table, of which `listed` of `shown` pairs are listed. */
static void add_remarks(text_buffer *out, arena *memory, const run_comparison *comparison,
                        size_t shown, size_t listed, const char *bullet)
{
    const size_t unchanged = comparison->unchanged + comparison->pair_count - shown;
    word_list missing = {0}, apart = {0};
    for (size_t i = 0; i < comparison->apart_count; i++)
        word_list_add(comparison->apart[i].kind == APART_LOST ? &missing : &apart,
                      apart_words(memory, &comparison->apart[i]));
    if (shown > listed)
        text_format(out, "%s%zu more pairs (--all shows them)\n", bullet, shown - listed);
    if (unchanged > 0)
        text_format(out, "%s%zu more judged and not timed, without a change\n", bullet, unchanged);
    add_list(out, memory, comparison, bullet, "differs", &comparison->differences, MOST_REMARKS);
    /* Where there are few, the line of what was requested names all. */
    if (comparison->covered.missing > COVERAGE_NAMED)
        add_list(out, memory, comparison, bullet, "missing", &missing, MOST_ROWS);
    add_list(out, memory, comparison, bullet, "not compared", &apart, MOST_REMARKS);
    add_list(out, memory, comparison, bullet, "note", &comparison->remarks, MOST_REMARKS);
    word_list_free(&missing);
    word_list_free(&apart);
}

/* Text; or Markdown, as a comment: five lines of one pair, few of many. */
static void print_for_people(arena *memory, const run_comparison *comparison, output_format format,
                             FILE *file)
{
    const comparison_settings *settings = &comparison->settings;
    const bool markdown = format == OUTPUT_MARKDOWN;
    const char *bullet = markdown ? "- " : "";
    const size_t room = markdown ? 0 : settings->width ? settings->width : 100;
    text_buffer head = {0}, below = {0};
    size_t shown, count;
    const comparison_pair **pairs = listed_pairs(memory, comparison, &shown, &count);
    if (markdown && !settings->all && count > MOST_NOTES)
        count = MOST_NOTES;
    if (markdown) {
        text_buffer conclusion = {0};
        add_conclusion(&conclusion, memory, comparison, 0, ": ", "; ");
        text_format(&head, "**lnbench %s** ", settings->tool);
        add_words(&head, bullet, conclusion.bytes);
        text_free(&conclusion);
    } else {
        add_conclusion(&head, memory, comparison, room, "\n", "\n");
    }
    fprintf(file, "%s\n%s", head.bytes, count > 0 ? "\n" : "");
    if (count > 0) {
        relation *rows = pairs_relation(memory, comparison, pairs, count, false);
        if (markdown) {
            relation_hide_alike(rows, COLUMN_CACHE);
            relation_hide_alike(rows, COLUMN_REPRODUCIBLE);
            relation_hide(rows, COLUMN_COPY);
            relation_hide(rows, COLUMN_P);
            relation_hide(rows, COLUMN_NOISE);
        } else {
            relation_hide(rows, COLUMN_NOTE);
            relation_fit(rows, room);
            add_notes(&below, memory, comparison, pairs, count); /* below the table */
        }
        print_rows(rows, NULL, format, file);
    }
    add_remarks(&below, memory, comparison, shown, count, bullet);
    if (below.bytes)
        fprintf(file, "%s%s", markdown || count > 0 ? "\n" : "", below.bytes);
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

/* What JSON says besides the pairs. */
static json_t *comparison_json(arena *memory, const run_comparison *comparison)
{
    const comparison_settings *settings = &comparison->settings;
    const machine_facts *machine = &comparison->machine;
    const exit_code code = comparison_exit_code(comparison);
    const char *worst = worst_words(memory, comparison);
    json_t *covered = coverage_json(&comparison->covered, "compared"), *apart = json_array();
    for (size_t i = 0; i < comparison->apart_count; i++)
        json_array_append_new(apart, json_text(apart_words(memory, &comparison->apart[i])));
    char schema[32];
    json_object_set_new(covered, "requested_known", json_boolean(comparison->requested_known));
    snprintf(schema, sizeof schema, "lnbench-%s-3", settings->tool);
    return json_pack(
        "{s:s, s:s, s:i, s:o, s:o, s:s?, s:s?, s:o, s:o, s:o, s:o, s:s?, s:I, s:o, s:o, s:o, "
        "s:o, s:o, s:o, s:o}",
        "schema", schema, "verdict", outcome_names[code], "exit_code", (int)code, "worst",
        worst ? json_text(worst) : json_null(), "coverage", covered, "speed_verdict",
        speed_names[comparison->speed], "accuracy_verdict", accuracy_names[comparison->accuracy],
        "geometric_mean", json_figure(mean_ratio(comparison)), "threshold",
        json_figure(settings->threshold), "confidence", json_figure(settings->confidence), "time",
        json_figure(settings->seconds), "accuracy",
        settings->accuracy ? accuracy_gate_names[settings->gate] : NULL, "seed",
        (json_int_t)settings->seed, "base", file_json(comparison, BASE), "new",
        file_json(comparison, NEW), "noise_measured",
        comparison->noise.made[0] ? json_text(comparison->noise.made) : json_null(), "not_compared",
        apart, "differences", list_words(&comparison->differences), "notes",
        list_words(&comparison->remarks), "machine", json_facts(machine));
}

/* A row for each error of the new side. */
static relation *errors_relation(const run_comparison *comparison)
{
    static const relation_column columns[] = {COLUMN("name", "name"), COLUMN("unit", "unit"),
                                              COLUMN("value", "value")};
    static const char *const names[] = {"row_ulp_max", "row_ulp_mean"};
    relation *rows = relation_create(COLUMNS(columns));
    for (size_t i = 0; i < comparison->pair_count; i++) {
        const case_key *key = &comparison->pairs[i].key;
        const ln_metrics *metrics = &comparison->pairs[i].sides[NEW].metrics;
        const double errors[] = {metrics->row_ulp_max, metrics->row_ulp_mean};
        for (int which = 0; metrics->elements > 0 && which < 2; which++)
            if (isfinite(errors[which]))
                relation_row(rows,
                             as_format("%s/%s/%zux%zu/%s %s", key->kernel, key->convention,
                                       key->rows, key->hidden, key->input, names[which]),
                             as_text("row ULP"), as_figure(errors[which]));
    }
    return rows;
}

/* A check of CI for each pair, for each context that differs and for cases that stand apart. JUnit calls what is no
 * failure but no answer either an error. */
static relation *checks_relation(arena *memory, const run_comparison *comparison)
{
    static const relation_column columns[] = {
        COLUMN("classname", "classname"), COLUMN("name", "name"),   COLUMN("time", "time"),
        COLUMN("outcome", "outcome"),     COLUMN("type", "type"),   COLUMN("message", "message"),
        COLUMN("output", "output"),       COLUMN("level", "level"), COLUMN("title", "title"),
    };
    const char *tool = comparison->settings.tool;
    relation *checks = relation_create(COLUMNS(columns));
    for (size_t i = 0; i < comparison->pair_count; i++) {
        const comparison_pair *pair = &comparison->pairs[i];
        const exit_code code = pair_exit_code(pair, &comparison->settings);
        const bool failure = code == EXIT_CODE_REGRESSION || code == EXIT_CODE_ACCURACY;
        const char *name = pair_name(memory, &pair->key), *noise = "";
        const char *note = note_of(memory, comparison, pair);
        if (!isnan(pair->noise))
            noise = arena_format(memory, ", noise here %.2g %%", 100 * pair->noise);
        const char *summary =
            arena_format(memory, "%s, %s: new/base %s%s%s%s", or_dash(speed_names[pair->speed]),
                         or_dash(accuracy_words[pair->accuracy]), ratio_words(memory, &pair->ratio),
                         noise, note[0] ? "; " : "", note);
        relation_row(checks, as_text(tool), as_text(name), as_format("%.3f", pair->seconds),
                     as_text(code == EXIT_CODE_FINE ? ""
                             : failure              ? "failure"
                                                    : "error"),
                     as_text(outcome_names[code]), as_text(summary), as_text(summary),
                     as_text(code == EXIT_CODE_FINE           ? ""
                             : code == EXIT_CODE_INCONCLUSIVE ? "warning"
                                                              : "error"),
                     as_format("%s: %s", outcome_names[code], name));
    }
    for (size_t i = 0; i < comparison->differences.count; i++)
        relation_row(checks, as_text(tool), as_format("context %zu", i + 1), as_text(""),
                     as_text("error"), as_text("not comparable"),
                     as_text(comparison->differences.words[i]), as_text(""), as_text("error"),
                     as_text("not comparable"));
    for (size_t i = 0; i < comparison->apart_count; i++) {
        const char *words = apart_words(memory, &comparison->apart[i]);
        const bool missing = comparison->apart[i].kind == APART_LOST;
        const bool fails = missing && !comparison->settings.allow_missing;
        relation_row(checks, as_text(tool), as_text(words), as_text(""),
                     as_text(fails ? "error" : "skipped"), as_text("not comparable"),
                     as_text(words), as_text(""), as_text(fails ? "error" : "notice"),
                     as_text(missing ? "missing" : "not compared"));
    }
    return checks;
}

void comparison_print(const run_comparison *comparison, output_format format, FILE *file)
{
    arena memory = {0};
    if (format == OUTPUT_TEXT || format == OUTPUT_MARKDOWN) {
        print_for_people(&memory, comparison, format, file);
    } else if (format < OUTPUT_FORMATS_OF_ALL) {
        /* Every column; in JSON those pairs, too, that were judged and did not change. */
        const bool json = format == OUTPUT_JSON;
        const comparison_pair **pairs =
            arena_new(&memory, const comparison_pair *, comparison->pair_count + 1);
        size_t count = 0;
        for (size_t i = 0; i < comparison->pair_count; i++)
            if (json || comparison->pairs[i].shown)
                pairs[count++] = &comparison->pairs[i];
        print_rows(pairs_relation(&memory, comparison, pairs, count, json),
                   json ? comparison_json(&memory, comparison) : NULL, format, file);
    } else if (format == OUTPUT_SMALLER) {
        print_rows(errors_relation(comparison), NULL, format, file);
    } else {
        relation *checks = checks_relation(&memory, comparison);
        text_buffer conclusion = {0};
        add_conclusion(&conclusion, &memory, comparison, 0, ": ", "; ");
        if (format == OUTPUT_GITHUB) /* what all come to is an annotation and no test */
            relation_row(checks, as_text(comparison->settings.tool), as_text(""), as_text(""),
                         as_text(""), as_text(""), as_text(conclusion.bytes), as_text(""),
                         as_text("notice"), as_format("lnbench %s", comparison->settings.tool));
        print_rows(checks, NULL, format, file);
        text_free(&conclusion);
    }
    arena_free(&memory);
}
