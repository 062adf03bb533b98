/* A comparison as text, Markdown, TSV, CSV and JSON, and for CI as JUnit, annotations of GitHub and
 * customSmallerIsBetter. Each is a relation of the pairs, most of them with sentences around it. */
#include "show/compare.h"
#include "base/allocate.h"
#include "domain/operation.h"
#include "domain/reproducible.h"
#include "show/run_view.h"
#include "store/statistics.h"
#include <math.h>

enum { MOST_ROWS = 26, MOST_UNCHANGED = 10, MOST_NOTES = 4, MOST_REMARKS = 4 };

const char *const accuracy_gate_names[] = {"no-worse", "exact", "bound"};
static const char *const speed_names[] = {NULL, "same", "faster", "slower", "inconclusive"};
static const char *const accuracy_names[] = {NULL, "bit-identical", "more accurate", "changed",
                                             "less accurate"};
/* The same as a reader sees it. */
static const char *const accuracy_words[] = {NULL, "bit-identical", "more accurate", "bits differ",
                                             "less accurate"};

static const char *or_dash(const char *name)
{
    return name ? name : "-";
}

static const char *outcome_name(exit_code code)
{
    switch (code) {
    case EXIT_CODE_FINE:
        return "fine";
    case EXIT_CODE_REGRESSION:
        return "regression";
    case EXIT_CODE_INCONCLUSIVE:
        return "inconclusive";
    case EXIT_CODE_NOT_COMPARABLE:
        return "not comparable";
    case EXIT_CODE_ACCURACY:
        return "accuracy violation";
    case EXIT_CODE_KERNEL_FAILED:
        return "kernel failed";
    default:
        return "failed";
    }
}

static bool is_of_runs(const run_comparison *comparison)
{
    return strcmp(comparison->settings.tool, "compare") == 0;
}

/* ---- the words of a pair ---- */

/* Strings that came from outside, as printable ASCII. */
static void add_plain(text_buffer *out, const char *string)
{
    for (; *string; string++) {
        char c = *string >= 0x20 && *string < 0x7f ? *string : '?';
        text_add_bytes(out, &c, 1);
    }
}

static void add_convention(text_buffer *out, const case_key *key)
{
    add_plain(out, key->convention);
    if (strcmp(key->input, "normal") != 0) {
        text_add(out, ", ");
        add_plain(out, key->input);
    }
}

/* "512x768", and what is not the usual: "512x768 bf16, 4 threads". */
static void add_shape(text_buffer *out, const case_key *key)
{
    text_format(out, "%zux%zu", key->rows, key->hidden);
    if (key->dtype != LN_F32)
        text_format(out, " %s", dtype_name(key->dtype));
    if (key->threads > 1)
        text_format(out, ", %u threads", key->threads);
}

void add_pair_name(text_buffer *out, const case_key *key)
{
    add_plain(out, key->kernel);
    text_add(out, " ");
    add_convention(out, key);
    text_add(out, " ");
    add_shape(out, key);
    text_format(out, " %s", cache_name(key->cache));
}

/* "1.0512 [1.0498, 1.0530]": four digits behind the point, since 0.1 % matters. */
static void add_ratio(text_buffer *out, const interval_estimate *ratio)
{
    if (isnan(ratio->middle))
        text_add(out, "-");
    else
        text_format(out, "%.4f [%.4f, %.4f]", ratio->middle, ratio->lo, ratio->hi);
}

/* What a pair's line says besides its figures, with "; " between: failures, what got worse, what the CPU counted
 * (instructions tell a change of code from noise), why there is no speed. */
static void add_note(text_buffer *note, const run_comparison *comparison,
                     const comparison_pair *pair)
{
    static const char *const names[SIDES] = {"base", "new"};
    const compared_side *base = &pair->sides[BASE], *new = &pair->sides[NEW];
    const double instructions = new->instructions / base->instructions - 1;
    const double cycles = new->cycles / base->cycles - 1;
    char described[VERDICT_MAX_LENGTH], both[32];
    const size_t begin = note->length;
#define ADD(...) (text_add(note, note->length > begin ? "; " : ""), text_format(note, __VA_ARGS__))
    for (int side = 0; side < SIDES; side++)
        if (verdict_exit_code(&pair->sides[side].verdict) != EXIT_CODE_FINE) {
            ADD("%s: ", names[side]);
            add_plain(note,
                      verdict_describe(&pair->sides[side].verdict, described, sizeof described));
        }
    if (pair->tally.differing > 0 && pair_failed(pair) == FAILED_NOT) {
        ADD("%zu of %zu inputs differ, ", pair->tally.differing, pair->tally.judged);
        add_plain(note, pair->tally.worst);
        if (pair->tally.worse > 1)
            ADD("%zu more are worse", pair->tally.worse - 1);
    }
    if (pair_is_less_reproducible(pair))
        ADD("reproducible: %s", reproducible_both(base->reproducible, new->reproducible, both));
    if (isfinite(instructions) && isfinite(cycles))
        ADD("instructions %+.1f %%, cycles %+.1f %%", 100 * instructions, 100 * cycles);
    if (pair->noise > comparison->settings.threshold && pair->speed != SPEED_NOT_MEASURED)
        ADD("the noise here exceeds the threshold");
    if (pair->lost[0] && pair_failed(pair) == FAILED_NOT) {
        ADD("missing: ");
        add_plain(note, pair->lost);
    }
    if (pair->detail[0]) {
        ADD("%s", "");
        add_plain(note, pair->detail);
    }
#undef ADD
    text_add(note, ""); /* a note of nothing is an empty string */
}

/* "b (3 cases: only in base)" */
static void add_apart(text_buffer *out, const apart_cases *apart)
{
    add_plain(out, apart->kernel);
    text_add(out, " (");
    if (apart->cases > 1)
        text_format(out, "%zu cases: ", apart->cases);
    add_plain(out, apart->why);
    text_add(out, ")");
}

/* ---- what all pairs come to ---- */

/* The geometric mean of the ratios; NaN where there is none. */
static double mean_ratio(const run_comparison *comparison)
{
    double *ratios = allocate((comparison->pair_count + 1) * sizeof *ratios);
    size_t count = 0;
    for (size_t i = 0; i < comparison->pair_count; i++)
        if (!isnan(comparison->pairs[i].ratio.middle))
            ratios[count++] = comparison->pairs[i].ratio.middle;
    double mean = geometric_mean(ratios, count);
    free(ratios);
    return mean;
}

/* "fine: same, bit-identical in 12 pairs, geometric mean 1.0002" */
static void add_outcome(text_buffer *out, const run_comparison *comparison)
{
    const comparison_settings *settings = &comparison->settings;
    const coverage *covered = &comparison->covered;
    const size_t pairs = comparison->pair_count + comparison->unchanged;
    const size_t differences = comparison->differences.count, less = comparison->less_reproducible;
    const char *speed = speed_names[comparison_speed(comparison)];
    const char *accuracy = accuracy_words[comparison_accuracy(comparison)];
    const double mean = mean_ratio(comparison);
    text_format(out, "%s: ", outcome_name(comparison_exit_code(comparison)));
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
    if (covered->lost > 0)
        text_format(out, ", %zu of %zu missing%s", covered->lost, covered->asked,
                    settings->allow_missing ? " (allowed)" : "");
}

/* "worst: a 18x768: offset, row 3: 4.1e6 row ULP, was 5.2; 22 more inputs are worse"; nothing where none is. */
static void add_worst(text_buffer *out, const run_comparison *comparison, const char *before)
{
    const comparison_pair *worst = NULL;
    size_t worse = 0;
    for (size_t i = 0; i < comparison->pair_count; i++) {
        const comparison_pair *pair = &comparison->pairs[i];
        worse += pair->tally.worse;
        if (pair->tally.worse > 0 && (!worst || pair->tally.worst_error > worst->tally.worst_error))
            worst = pair;
    }
    if (!worst)
        return;
    text_format(out, "%sworst: ", before);
    add_pair_name(out, &worst->key);
    text_add(out, ": ");
    add_plain(out, worst->tally.worst);
    if (worse > 1)
        text_format(out, "; %zu more inputs are worse", worse - 1);
}

/* What all pairs come to: which runs, the outcome, the worst error, what was requested, by what it was decided. The
 * two runs are on two lines where one would be longer than `room` columns; 0: on one. */
static void add_conclusion(text_buffer *out, const run_comparison *comparison, size_t room,
                           const char *behind_runs, const char *between)
{
    const comparison_settings *settings = &comparison->settings;
    text_buffer runs[SIDES] = {0}, covered = {0};
    for (int side = 0; is_of_runs(comparison) && side < SIDES; side++)
        text_format(&runs[side], "%.60s (%s)", settings->files[side], comparison->identity[side]);
    if (is_of_runs(comparison)) {
        size_t length = runs[BASE].length + strlen(" against ") + runs[NEW].length;
        add_plain(out, runs[BASE].bytes);
        text_add(out, room > 0 && length > room ? "\nagainst " : " against ");
        add_plain(out, runs[NEW].bytes);
        text_add(out, behind_runs);
        text_free(&runs[BASE]);
        text_free(&runs[NEW]);
    }
    add_outcome(out, comparison);
    add_worst(out, comparison, between);
    if (comparison->differences.count > 0)
        return;
    text_add(out, between);
    coverage_add_line(&covered, &comparison->covered, "compared");
    add_plain(out, covered.bytes);
    text_free(&covered);
    text_format(out, "%sthreshold %g %%, confidence %g %%, accuracy %s", between,
                settings->threshold * 100, settings->confidence * 100,
                settings->accuracy ? accuracy_gate_names[settings->gate] : "not judged");
    if (!is_of_runs(comparison) || comparison_speed(comparison) == SPEED_NOT_MEASURED)
        return;
    if (comparison->noise.made[0])
        text_format(out, "; noise measured %s", comparison->noise.made);
    else
        text_add(out, "; decided by interval and rank test");
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
    };
    double bytes = call_bytes(operations[key->operation], key->rows, key->hidden, key->dtype);
    view_case view = {
        .stored = &stored,
        .label = pair->label,
        .speed = {.time_ns = own->time_ns,
                  .time_lo_ns = NAN,
                  .time_hi_ns = NAN,
                  .gbps = bytes / own->time_ns,
                  .copy_ratio = own->copy_ratio,
                  .copy_ratio_lo = NAN,
                  .copy_ratio_hi = NAN,
                  .cycles = own->cycles,
                  .instructions = own->instructions,
                  .repetitions = own->processes},
        .reproducibility = own->reproducible,
        .regime = comparison_regime(comparison, key),
    };
    return view_case_json(&view);
}

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
static void add_pair(relation *rows, const run_comparison *comparison, const comparison_pair *pair,
                     bool json)
{
    const compared_side *base = &pair->sides[BASE], *new = &pair->sides[NEW];
    const exit_code code = pair_exit_code(pair, &comparison->settings);
    text_buffer convention = {0}, shape = {0}, ratio = {0}, note = {0};
    char both[32];
    add_convention(&convention, &pair->key);
    add_shape(&shape, &pair->key);
    add_ratio(&ratio, &pair->ratio);
    add_note(&note, comparison, pair);
    relation_row(
        rows, as_json(json ? side_json(comparison, pair, NEW) : NULL, ""),
        as_text(pair->key.kernel), as_text(operation_name(pair->key.operation)),
        as_text(convention.bytes ? convention.bytes : ""), as_text(shape.bytes),
        as_text(cache_name(pair->key.cache)), as_json(json_figure(pair->ratio.middle), ratio.bytes),
        as_time(base->time_ns), as_time(new->time_ns), as_both(base->copy_ratio, new->copy_ratio),
        as_figure(pair->p), as_figure(pair->noise), as_text(speed_names[pair->speed]),
        as_json(json_pack("s?", accuracy_names[pair->accuracy]),
                or_dash(accuracy_words[pair->accuracy])),
        as_both(base->metrics.elements ? base->metrics.row_ulp_max : NAN,
                new->metrics.elements ? new->metrics.row_ulp_max : NAN),
        as_text(reproducible_both(base->reproducible, new->reproducible, both)),
        as_text(note.bytes), as_figure(pair->ratio.lo), as_figure(pair->ratio.hi),
        as_text(outcome_name(code)), as_count(code), as_count(pair->tally.judged),
        as_count(pair->tally.differing), as_count(pair->tally.worse), as_count(pair->searched),
        as_count(new->processes), as_count(base->processes), as_figure(pair->seconds),
        as_json(json ? side_json(comparison, pair, BASE) : NULL, ""));
    text_free(&convention);
    text_free(&shape);
    text_free(&ratio);
    text_free(&note);
}

/* A pair takes one line: columns go until it does; but pairs of several shapes keep theirs. A duet
 * times no copy and tests no ranks. */
static relation *pairs_relation(const run_comparison *comparison,
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
        add_pair(rows, comparison, pairs[i], json);
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

/* What is to be read first: what fails, then what changed, by how much; what did not comes last. */
typedef struct weighed_pair {
    const comparison_pair *pair;
    double weight;
} weighed_pair;

static double weight_of(const run_comparison *comparison, const comparison_pair *pair)
{
    double change = isnan(pair->ratio.middle) ? 0 : fabs(log(pair->ratio.middle));
    exit_code code = pair_exit_code(pair, &comparison->settings);
    bool fails = code != EXIT_CODE_FINE && code != EXIT_CODE_INCONCLUSIVE;
    bool moved = pair->speed == SPEED_SLOWER || pair->speed == SPEED_FASTER ||
                 pair->accuracy > ACCURACY_IDENTICAL;
    return (fails ? 200 : 0) + (moved ? 100 : 0) + (pair->speed == SPEED_SLOWER ? 50 : 0) +
           fmin(change, 40);
}

/* The weightiest first; of equals, as they came. */
static int compare_weights(const void *a, const void *b)
{
    const weighed_pair *one = a, *other = b;
    if (one->weight != other->weight)
        return one->weight > other->weight ? -1 : 1;
    return one->pair < other->pair ? -1 : one->pair > other->pair;
}

/* The pairs that are listed, weightiest first: without --all at most MOST_ROWS, and of more than
 * MOST_UNCHANGED only what changed. shown: how many there are in all. free() it. */
static const comparison_pair **listed_pairs(const run_comparison *comparison, size_t *shown,
                                            size_t *count)
{
    const comparison_pair **pairs = allocate_zeroed(comparison->pair_count + 1, sizeof *pairs);
    weighed_pair *weighed = allocate((comparison->pair_count + 1) * sizeof *weighed);
    *shown = 0;
    for (size_t i = 0; i < comparison->pair_count; i++) {
        const comparison_pair *pair = &comparison->pairs[i];
        if (pair->shown)
            weighed[(*shown)++] = (weighed_pair){pair, weight_of(comparison, pair)};
    }
    qsort(weighed, *shown, sizeof *weighed, compare_weights);
    for (size_t i = 0; i < *shown; i++)
        pairs[i] = weighed[i].pair;
    *count = *shown;
    if (!comparison->settings.all && *shown > MOST_ROWS) {
        *count = MOST_ROWS;
        while (*count > MOST_UNCHANGED && weighed[*count - 1].weight < 100)
            --*count;
    }
    free(weighed);
    return pairs;
}

/* Each note once, with the pair that it is of first and how many more have it. */
static void add_notes(text_buffer *out, const run_comparison *comparison,
                      const comparison_pair *const *pairs, size_t count)
{
    text_buffer *notes = allocate_zeroed(count + 1, sizeof *notes);
    size_t lines = 0;
    for (size_t i = 0; i < count; i++)
        add_note(&notes[i], comparison, pairs[i]);
    for (size_t i = 0; i < count; i++) {
        size_t alike = 0;
        for (size_t j = i + 1; j < count && notes[i].length > 0; j++)
            if (notes[j].length > 0 && strcmp(notes[i].bytes, notes[j].bytes) == 0) {
                text_free(&notes[j]);
                alike++;
            }
        if (notes[i].length > 0 && (lines++ < MOST_NOTES || comparison->settings.all)) {
            add_plain(out, pairs[i]->key.kernel);
            text_add(out, " ");
            add_shape(out, &pairs[i]->key);
            if (alike > 0)
                text_format(out, " and %zu more", alike);
            text_format(out, ": %s\n", notes[i].bytes);
        }
        text_free(&notes[i]);
    }
    free(notes);
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
static void add_list(text_buffer *out, const run_comparison *comparison, const char *bullet,
                     const char *lead, const word_list *lines, size_t most)
{
    const size_t count = comparison->settings.all || lines->count <= most ? lines->count : most;
    for (size_t i = 0; i < count; i++) {
        text_buffer plain = {0};
        add_plain(&plain, lines->words[i]);
        text_format(out, "%s%s: ", bullet, lead);
        add_words(out, bullet, plain.bytes);
        text_add(out, "\n");
        text_free(&plain);
    }
    if (lines->count > count)
        text_format(out, "%s%s: %zu more (--all)\n", bullet, lead, lines->count - count);
}

/* What stands below the table, of which `listed` of `shown` pairs are listed. */
static void add_remarks(text_buffer *out, const run_comparison *comparison, size_t shown,
                        size_t listed, const char *bullet)
{
    const size_t unchanged = comparison->unchanged + comparison->pair_count - shown;
    word_list lost = {0}, apart = {0};
    for (size_t i = 0; i < comparison->apart_count; i++) {
        text_buffer line = {0};
        add_apart(&line, &comparison->apart[i]);
        word_list_add(comparison->apart[i].kind == APART_LOST ? &lost : &apart, line.bytes);
        text_free(&line);
    }
    if (shown > listed)
        text_format(out, "%s%zu more pairs (--all shows them)\n", bullet, shown - listed);
    if (unchanged > 0)
        text_format(out, "%s%zu more judged and not timed, without a change\n", bullet, unchanged);
    add_list(out, comparison, bullet, "differs", &comparison->differences, MOST_REMARKS);
    if (comparison->covered.lost >
        COVERAGE_NAMED) /* else the line of what was requested names all */
        add_list(out, comparison, bullet, "missing", &lost, MOST_ROWS);
    add_list(out, comparison, bullet, "not compared", &apart, MOST_REMARKS);
    add_list(out, comparison, bullet, "note", &comparison->remarks, MOST_REMARKS);
    word_list_free(&lost);
    word_list_free(&apart);
}

static void print_text(const run_comparison *comparison, FILE *file)
{
    text_buffer head = {0}, below = {0};
    size_t shown, count, room = comparison->settings.width ? comparison->settings.width : 100;
    const comparison_pair **pairs = listed_pairs(comparison, &shown, &count);
    add_conclusion(&head, comparison, room, "\n", "\n");
    fprintf(file, "%s\n", head.bytes);
    if (count > 0) {
        relation *rows = pairs_relation(comparison, pairs, count, false);
        relation_hide(rows, COLUMN_NOTE); /* below the table */
        relation_fit(rows, room);
        fputs("\n", file);
        print_rows(rows, NULL, OUTPUT_TEXT, file);
        add_notes(&below, comparison, pairs, count);
    }
    add_remarks(&below, comparison, shown, count, "");
    if (below.bytes)
        fprintf(file, "%s%s", count > 0 ? "\n" : "", below.bytes);
    free(pairs);
    text_free(&head);
    text_free(&below);
}

/* A comment: five lines of one pair, few of many. */
static void print_markdown(const run_comparison *comparison, FILE *file)
{
    text_buffer above = {0}, below = {0}, conclusion = {0};
    size_t shown, count;
    const comparison_pair **pairs = listed_pairs(comparison, &shown, &count);
    if (!comparison->settings.all && count > MOST_NOTES)
        count = MOST_NOTES;
    text_format(&above, "**lnbench %s** ", comparison->settings.tool);
    add_conclusion(&conclusion, comparison, 0, ": ", "; ");
    add_words(&above, "- ", conclusion.bytes);
    fprintf(file, "%s%s", above.bytes, count > 0 ? "\n\n" : "\n");
    if (count > 0) {
        relation *rows = pairs_relation(comparison, pairs, count, false);
        relation_hide_alike(rows, COLUMN_CACHE);
        relation_hide_alike(rows, COLUMN_REPRODUCIBLE);
        relation_hide(rows, COLUMN_COPY);
        relation_hide(rows, COLUMN_P);
        relation_hide(rows, COLUMN_NOISE);
        print_rows(rows, NULL, OUTPUT_MARKDOWN, file);
    }
    add_remarks(&below, comparison, shown, count, "- ");
    if (below.bytes)
        fprintf(file, "\n%s", below.bytes);
    free(pairs);
    text_free(&above);
    text_free(&below);
    text_free(&conclusion);
}

/* ---- for programs ---- */

static json_t *file_json(const run_comparison *comparison, int side)
{
    return json_pack("{s:o, s:o}", "file", json_text(comparison->settings.files[side]),
                     is_of_runs(comparison) ? "run" : "object_hash",
                     json_text(comparison->identity[side]));
}

/* What JSON says besides the pairs. */
static json_t *comparison_json(const run_comparison *comparison)
{
    const comparison_settings *settings = &comparison->settings;
    const machine_facts *machine = &comparison->machine;
    const exit_code code = comparison_exit_code(comparison);
    json_t *covered = coverage_json(&comparison->covered, "compared"), *apart = json_array();
    char schema[32];
    text_buffer worst = {0};
    add_worst(&worst, comparison, "");
    for (size_t i = 0; i < comparison->apart_count; i++) {
        text_buffer line = {0};
        add_apart(&line, &comparison->apart[i]);
        json_array_append_new(apart, json_text(line.bytes));
        text_free(&line);
    }
    json_object_set_new(covered, "requested_known", json_boolean(comparison->requested_known));
    snprintf(schema, sizeof schema, "lnbench-%s-3", settings->tool);
    json_t *whole = json_pack(
        "{s:s, s:s, s:i, s:o, s:o, s:s?, s:s?, s:o, s:o, s:o, s:o, s:s?, s:I, s:o, s:o, s:o, "
        "s:o, s:o, s:o, s:o}",
        "schema", schema, "verdict", outcome_name(code), "exit_code", (int)code, "worst",
        worst.bytes ? json_text(worst.bytes) : json_null(), "coverage", covered, "speed_verdict",
        speed_names[comparison_speed(comparison)], "accuracy_verdict",
        accuracy_names[comparison_accuracy(comparison)], "geometric_mean",
        json_figure(mean_ratio(comparison)), "threshold", json_figure(settings->threshold),
        "confidence", json_figure(settings->confidence), "time", json_figure(settings->seconds),
        "accuracy", settings->accuracy ? accuracy_gate_names[settings->gate] : NULL, "seed",
        (json_int_t)settings->seed, "base", file_json(comparison, BASE), "new",
        file_json(comparison, NEW), "noise_measured",
        comparison->noise.made[0] ? json_text(comparison->noise.made) : json_null(), "not_compared",
        apart, "differences", list_words(&comparison->differences), "notes",
        list_words(&comparison->remarks), "machine", json_facts(machine));
    text_free(&worst);
    return whole;
}

/* Every pair and every column; JSON: those pairs, too, that were judged and did not change. */
static void print_data(const run_comparison *comparison, output_format format, FILE *file)
{
    const bool json = format == OUTPUT_JSON;
    const comparison_pair **pairs = allocate_zeroed(comparison->pair_count + 1, sizeof *pairs);
    size_t count = 0;
    for (size_t i = 0; i < comparison->pair_count; i++)
        if (json || comparison->pairs[i].shown)
            pairs[count++] = &comparison->pairs[i];
    print_rows(pairs_relation(comparison, pairs, count, json),
               json ? comparison_json(comparison) : NULL, format, file);
    free(pairs);
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
static relation *checks_relation(const run_comparison *comparison)
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
        text_buffer summary = {0}, note = {0}, name = {0};
        add_pair_name(&name, &pair->key);
        add_note(&note, comparison, pair);
        text_format(&summary, "%s, %s: new/base ", or_dash(speed_names[pair->speed]),
                    or_dash(accuracy_words[pair->accuracy]));
        add_ratio(&summary, &pair->ratio);
        if (!isnan(pair->noise))
            text_format(&summary, ", noise here %.2g %%", 100 * pair->noise);
        if (note.length > 0)
            text_format(&summary, "; %s", note.bytes);
        relation_row(checks, as_text(tool), as_text(name.bytes), as_format("%.3f", pair->seconds),
                     as_text(code == EXIT_CODE_FINE ? ""
                             : failure              ? "failure"
                                                    : "error"),
                     as_text(outcome_name(code)), as_text(summary.bytes), as_text(summary.bytes),
                     as_text(code == EXIT_CODE_FINE           ? ""
                             : code == EXIT_CODE_INCONCLUSIVE ? "warning"
                                                              : "error"),
                     as_format("%s: %s", outcome_name(code), name.bytes));
        text_free(&summary);
        text_free(&note);
        text_free(&name);
    }
    for (size_t i = 0; i < comparison->differences.count; i++)
        relation_row(checks, as_text(tool), as_format("context %zu", i + 1), as_text(""),
                     as_text("error"), as_text("not comparable"),
                     as_text(comparison->differences.words[i]), as_text(""), as_text("error"),
                     as_text("not comparable"));
    for (size_t i = 0; i < comparison->apart_count; i++) {
        const bool lost = comparison->apart[i].kind == APART_LOST;
        const bool fails = lost && !comparison->settings.allow_missing;
        text_buffer line = {0};
        add_apart(&line, &comparison->apart[i]);
        relation_row(checks, as_text(tool), as_text(line.bytes), as_text(""),
                     as_text(fails ? "error" : "skipped"), as_text("not comparable"),
                     as_text(line.bytes), as_text(""), as_text(fails ? "error" : "notice"),
                     as_text(lost ? "missing" : "not compared"));
        text_free(&line);
    }
    return checks;
}

void comparison_print(const run_comparison *comparison, output_format format, FILE *file)
{
    if (format == OUTPUT_TEXT) {
        print_text(comparison, file);
    } else if (format == OUTPUT_MARKDOWN) {
        print_markdown(comparison, file);
    } else if (format < OUTPUT_FORMATS_OF_ALL) {
        print_data(comparison, format, file);
    } else if (format == OUTPUT_SMALLER) {
        print_rows(errors_relation(comparison), NULL, format, file);
    } else {
        relation *checks = checks_relation(comparison);
        text_buffer conclusion = {0};
        add_conclusion(&conclusion, comparison, 0, ": ", "; ");
        if (format == OUTPUT_GITHUB) /* what all come to is an annotation and no test */
            relation_row(checks, as_text(comparison->settings.tool), as_text(""), as_text(""),
                         as_text(""), as_text(""), as_text(conclusion.bytes), as_text(""),
                         as_text("notice"), as_format("lnbench %s", comparison->settings.tool));
        print_rows(checks, NULL, format, file);
        text_free(&conclusion);
    }
}
