/* A comparison in each of its forms. */
#include "show/compare/comparison.h"
#include "base/allocate.h"
#include "base/relation.h"
#include "domain/operation.h"
#include "domain/reproducible.h"
#include <math.h>
#include <string.h>

enum { MOST_ROWS = 26, MOST_UNCHANGED = 10, MOST_NOTES = 4, MOST_REMARKS = 4 };

static const char *or_dash(const char *name)
{
    return name ? name : "-";
}

/* "base: fail (crashed: SIGSEGV); new: fail (inaccurate)" */
static void add_failures(text_buffer *note, const comparison_pair *pair, const char **separator)
{
    static const char *const sides[SIDES] = {"base", "new"};
    char described[VERDICT_MAX_LENGTH];
    for (int side = 0; side < SIDES; side++) {
        const case_verdict *verdict = &pair->verdicts[side];
        if (verdict_exit_code(verdict) == EXIT_CODE_FINE)
            continue;
        text_format(note, "%s%s: ", *separator, sides[side]);
        add_plain(note, verdict_describe(verdict, described, sizeof described));
        *separator = "; ";
    }
}

/* What the CPU counted, where it did: instructions tell a change of code from noise. */
static void add_counts(text_buffer *note, const comparison_pair *pair, const char **separator)
{
    double instructions = pair->instructions[NEW] / pair->instructions[BASE] - 1;
    double cycles = pair->cycles[NEW] / pair->cycles[BASE] - 1;
    if (!isfinite(instructions) || !isfinite(cycles))
        return;
    text_format(note, "%sinstructions %+.1f %%, cycles %+.1f %%", *separator, 100 * instructions,
                100 * cycles);
    *separator = "; ";
}

void add_pair_note(text_buffer *note, const run_comparison *comparison, const comparison_pair *pair)
{
    const char *separator = "";
    char both[32];
    add_failures(note, pair, &separator);
    if (pair->tally.differing > 0 && pair_failed(pair) == FAILED_NOT) {
        text_format(note, "%s%zu of %zu inputs differ, ", separator, pair->tally.differing,
                    pair->tally.judged);
        add_plain(note, pair->tally.worst);
        if (pair->tally.worse > 1)
            text_format(note, "; %zu more are worse", pair->tally.worse - 1);
        separator = "; ";
    }
    if (pair_is_less_reproducible(pair)) {
        text_format(note, "%sreproducible: %s", separator,
                    reproducible_both(pair->reproducible[BASE], pair->reproducible[NEW], both));
        separator = "; ";
    }
    add_counts(note, pair, &separator);
    if (pair->noise > comparison->settings.threshold && pair->speed != SPEED_NOT_MEASURED) {
        text_format(note, "%sthe noise here exceeds the threshold", separator);
        separator = "; ";
    }
    if (pair->lost[0] && pair_failed(pair) == FAILED_NOT) {
        text_format(note, "%smissing: ", separator);
        add_plain(note, pair->lost);
        separator = "; ";
    }
    if (pair->detail[0]) {
        text_add(note, separator);
        add_plain(note, pair->detail);
    }
    if (!note->bytes)
        text_add(note, "");
}

/* "1.0512 [1.0498, 1.0530]": four digits behind the point, since 0.1 % matters. */
static void add_ratio(text_buffer *out, const interval_estimate *ratio)
{
    if (isnan(ratio->middle))
        text_add(out, "-");
    else
        text_format(out, "%.4f [%.4f, %.4f]", ratio->middle, ratio->lo, ratio->hi);
}

static relation_value as_time(double ns)
{
    char shown[16];
    number_short(ns < 1e3 ? ns : ns < 1e6 ? ns / 1e3 : ns / 1e6, shown);
    return as_format("%s%s", shown, isnan(ns) ? "" : ns < 1e3 ? " ns" : ns < 1e6 ? " us" : " ms");
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

enum {
    COLUMN_OPERATION = 2,
    COLUMN_CACHE = 5,
    COLUMN_ROOF = 9,
    COLUMN_P = 10,
    COLUMN_NOISE = 11,
    COLUMN_REPRODUCIBLE = 15,
    COLUMN_NOTE = 16
};

/* What moved, or was timed; the many bit-identical inputs of a stored run are only counted. That a
 * kernel is less reproducible is said once, below, and not at each of them. */
static bool is_shown(const run_comparison *comparison, const comparison_pair *pair)
{
    return strcmp(comparison->settings.tool, "compare") != 0 || pair->speed != SPEED_NOT_MEASURED ||
           pair->accuracy > ACCURACY_IDENTICAL ||
           (pair_exit_code(pair, &comparison->settings) != EXIT_CODE_FINE &&
            !pair_is_less_reproducible(pair));
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

static double worst_error(const comparison_pair *pair, int side)
{
    return pair->metrics[side].elements ? pair->metrics[side].row_ulp_max : NAN;
}

/* What was written; frees it. */
static relation_value as_written(text_buffer *cell)
{
    relation_value made = as_text(cell->bytes ? cell->bytes : "");
    text_free(cell);
    return made;
}

/* A case has many members: they are made for JSON alone. */
static relation_value as_case(const run_comparison *comparison, const comparison_pair *pair,
                              int side, output_format format)
{
    return as_json(format == OUTPUT_JSON ? pair_case_json(comparison, pair, side) : NULL, "");
}

static void add_pair(relation *rows, const run_comparison *comparison, const comparison_pair *pair,
                     output_format format)
{
    text_buffer convention = {0}, shape = {0}, ratio = {0}, note = {0};
    exit_code code = pair_exit_code(pair, &comparison->settings);
    char both[32];
    add_convention(&convention, &pair->key);
    add_shape(&shape, &pair->key);
    add_ratio(&ratio, &pair->ratio);
    add_pair_note(&note, comparison, pair);
    relation_row(
        rows, as_case(comparison, pair, NEW, format), as_text(pair->key.kernel),
        as_text(operation_name(pair->key.operation)), as_written(&convention), as_written(&shape),
        as_text(cache_name(pair->key.cache)), as_json(json_figure(pair->ratio.middle), ratio.bytes),
        as_time(pair->time_ns[BASE]), as_time(pair->time_ns[NEW]),
        as_both(pair->roof[BASE], pair->roof[NEW]), as_figure(pair->p), as_figure(pair->noise),
        as_text(speed_verdict_name(pair->speed)),
        as_json(json_pack("s?", accuracy_verdict_name(pair->accuracy)),
                or_dash(accuracy_verdict_words(pair->accuracy))),
        as_both(worst_error(pair, BASE), worst_error(pair, NEW)),
        as_text(reproducible_both(pair->reproducible[BASE], pair->reproducible[NEW], both)),
        as_written(&note), as_figure(pair->ratio.lo), as_figure(pair->ratio.hi),
        as_text(outcome_name(code)), as_count(code), as_count(pair->tally.judged),
        as_count(pair->tally.differing), as_count(pair->tally.worse), as_count(pair->searched),
        as_count(pair->processes[NEW]), as_count(pair->processes[BASE]), as_figure(pair->seconds),
        as_case(comparison, pair, BASE, format));
    text_free(&ratio);
}

/* What is to be read first: what fails, then what changed, by how much; what did not comes last. */
static double weight(const run_comparison *comparison, const comparison_pair *pair)
{
    double change = isnan(pair->ratio.middle) ? 0 : fabs(log(pair->ratio.middle));
    exit_code code = pair_exit_code(pair, &comparison->settings);
    bool fails = code != EXIT_CODE_FINE && code != EXIT_CODE_INCONCLUSIVE;
    bool moved = pair->speed == SPEED_SLOWER || pair->speed == SPEED_FASTER ||
                 pair->accuracy > ACCURACY_IDENTICAL;
    return (fails ? 200 : 0) + (moved ? 100 : 0) + (pair->speed == SPEED_SLOWER ? 50 : 0) +
           fmin(change, 40);
}

typedef struct weighed_pair {
    const comparison_pair *pair;
    double weight;
} weighed_pair;

/* The weightiest first; of equals, as they came. */
static int compare_weights(const void *a, const void *b)
{
    const weighed_pair *one = a, *other = b;
    if (one->weight != other->weight)
        return one->weight > other->weight ? -1 : 1;
    return one->pair < other->pair ? -1 : one->pair > other->pair;
}

/* The pairs that are shown, weightiest first; without --all at most MOST_ROWS, and of more than
 * those only what changed. free() it. */
static const comparison_pair **shown_pairs(const run_comparison *comparison, size_t *count)
{
    const comparison_pair **pairs = allocate_zeroed(comparison->pair_count + 1, sizeof *pairs);
    weighed_pair *weighed = allocate((comparison->pair_count + 1) * sizeof *weighed);
    size_t shown = 0;
    for (size_t i = 0; i < comparison->pair_count; i++) {
        const comparison_pair *pair = &comparison->pairs[i];
        if (is_shown(comparison, pair))
            weighed[shown++] = (weighed_pair){pair, weight(comparison, pair)};
    }
    qsort(weighed, shown, sizeof *weighed, compare_weights);
    for (size_t i = 0; i < shown; i++)
        pairs[i] = weighed[i].pair;
    *count = shown;
    if (!comparison->settings.all && shown > MOST_ROWS) {
        *count = MOST_ROWS;
        while (*count > MOST_UNCHANGED && weighed[*count - 1].weight < 100)
            --*count;
    }
    free(weighed);
    return pairs;
}

static bool have_one_shape(const comparison_pair *const *pairs, size_t count)
{
    for (size_t i = 1; i < count; i++)
        if (pairs[i]->key.rows != pairs[0]->key.rows ||
            pairs[i]->key.hidden != pairs[0]->key.hidden)
            return false;
    return true;
}

/* A pair takes one line: columns go until it does; but pairs of several shapes keep theirs. A duet
 * times no roof and tests no ranks. */
static relation *pairs_relation(const run_comparison *comparison,
                                const comparison_pair *const *pairs, size_t count,
                                output_format format)
{
    relation_column columns[] = {
        FOR_PROGRAMS(EACH_MEMBER),
        FOR_PEOPLE("kernel"),
        FOR_PEOPLE("operation"),
        {.heading = "convention", .priority = 2},
        {.heading = "shape", .priority = have_one_shape(pairs, count)},
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
        add_pair(rows, comparison, pairs[i], format);
    relation_hide_alike(rows, COLUMN_OPERATION);
    if (strcmp(comparison->settings.tool, "compare") != 0) {
        relation_hide(rows, COLUMN_ROOF);
        relation_hide(rows, COLUMN_P);
        relation_hide(rows, COLUMN_NOISE);
    }
    return rows;
}

/* Each note once, with the pair that it is of first and how many more have it. */
static void add_notes(text_buffer *out, const run_comparison *comparison,
                      const comparison_pair *const *pairs, size_t count)
{
    text_buffer *notes = allocate_zeroed(count + 1, sizeof *notes);
    size_t lines = 0;
    for (size_t i = 0; i < count; i++)
        add_pair_note(&notes[i], comparison, pairs[i]);
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

/* Plain text, in Markdown (where there is a bullet) with nothing left in it that means something
 * there. */
static void add_words(text_buffer *out, const char *bullet, const char *plain)
{
    for (const char *at = plain; *at; at++) {
        if (*bullet && strchr("\\`*_{}[]<>#|@&", *at))
            text_add(out, "\\");
        text_add_bytes(out, at, 1);
    }
}

static void add_line(text_buffer *out, const char *bullet, const char *lead, const char *plain)
{
    text_format(out, "%s%s: ", bullet, lead);
    add_words(out, bullet, plain);
    text_add(out, "\n");
}

static void add_rest(text_buffer *out, const char *bullet, const char *lead, size_t count)
{
    if (count > 0)
        text_format(out, "%s%s: %zu more (--all)\n", bullet, lead, count);
}

static void add_list(text_buffer *out, const char *bullet, const char *lead, const word_list *lines,
                     bool all)
{
    size_t count = all || lines->count <= MOST_REMARKS ? lines->count : MOST_REMARKS;
    for (size_t i = 0; i < count; i++) {
        text_buffer plain = {0};
        add_plain(&plain, lines->words[i]);
        add_line(out, bullet, lead, plain.bytes ? plain.bytes : "");
        text_free(&plain);
    }
    add_rest(out, bullet, lead, lines->count - count);
}

/* A line for each kernel and reason. */
static void add_apart_lines(text_buffer *out, const run_comparison *comparison, const char *bullet,
                            const char *lead, bool lost)
{
    size_t shown = 0, count = 0, most = lost ? MOST_ROWS : MOST_REMARKS;
    for (size_t i = 0; i < comparison->apart_count; i++) {
        text_buffer plain = {0};
        if ((comparison->apart[i].kind == APART_LOST) != lost)
            continue;
        if (count++ >= most && !comparison->settings.all)
            continue;
        shown++;
        add_apart(&plain, &comparison->apart[i]);
        add_line(out, bullet, lead, plain.bytes ? plain.bytes : "");
        text_free(&plain);
    }
    add_rest(out, bullet, lead, count - shown);
}

/* What stands below the table, of which `listed` pairs are shown. */
static void add_remarks(text_buffer *out, const run_comparison *comparison, size_t listed,
                        const char *bullet)
{
    bool all = comparison->settings.all;
    size_t shown = 0;
    for (size_t i = 0; i < comparison->pair_count; i++)
        shown += is_shown(comparison, &comparison->pairs[i]);
    if (shown > listed)
        text_format(out, "%s%zu more pairs (--all shows them)\n", bullet, shown - listed);
    if (comparison->pair_count > shown)
        text_format(out, "%s%zu more judged and not timed, without a change\n", bullet,
                    comparison->pair_count - shown);
    add_list(out, bullet, "differs", &comparison->differences, all);
    if (comparison->covered.lost > COVERAGE_NAMED) /* else the line above names all */
        add_apart_lines(out, comparison, bullet, "missing", true);
    add_apart_lines(out, comparison, bullet, "not compared", false);
    add_list(out, bullet, "note", &comparison->remarks, all);
}

/* JSON: as the member "pairs" of `whole`, if there is one. */
static void print_rows(relation *rows, json_t *whole, output_format format, FILE *file)
{
    const output_file out = {.format = format, .file = file};
    relation_print_in(rows, whole, "pairs", &out);
}

static void print_text(const run_comparison *comparison, FILE *file)
{
    text_buffer head = {0}, below = {0};
    size_t count, width = comparison->settings.width;
    const comparison_pair **pairs = shown_pairs(comparison, &count);
    if (strcmp(comparison->settings.tool, "compare") == 0) {
        add_runs(&head, comparison, width ? width : 100);
        text_add(&head, "\n");
    }
    add_outcome(&head, comparison);
    text_add(&head, "\n");
    add_worst(&head, comparison, "", "\n");
    if (comparison->differences.count == 0) {
        add_coverage(&head, comparison);
        text_add(&head, "\n");
        add_settings(&head, comparison);
        text_add(&head, "\n");
    }
    fputs(head.bytes, file);
    if (count > 0) {
        relation *rows = pairs_relation(comparison, pairs, count, OUTPUT_TEXT);
        relation_hide(rows, COLUMN_NOTE); /* below the table */
        relation_fit(rows, width ? width : 100);
        fputs("\n", file);
        print_rows(rows, NULL, OUTPUT_TEXT, file);
        add_notes(&below, comparison, pairs, count);
    }
    add_remarks(&below, comparison, count, "");
    if (below.bytes)
        fprintf(file, "%s%s", count > 0 ? "\n" : "", below.bytes);
    free(pairs);
    text_free(&head);
    text_free(&below);
}

/* Every pair and every column, for programs; JSON: those, too, that were judged and did not change. */
static void print_data(const run_comparison *comparison, output_format format, FILE *file)
{
    size_t count = 0;
    bool json = format == OUTPUT_JSON;
    const comparison_pair **pairs = allocate_zeroed(comparison->pair_count + 1, sizeof *pairs);
    for (size_t i = 0; i < comparison->pair_count; i++)
        if (json || is_shown(comparison, &comparison->pairs[i]))
            pairs[count++] = &comparison->pairs[i];
    print_rows(pairs_relation(comparison, pairs, count, format),
               json ? comparison_json(comparison) : NULL, format, file);
    free(pairs);
}

/* A comment: five lines of one pair, few of many. */
static void print_markdown(const run_comparison *comparison, FILE *file)
{
    text_buffer above = {0}, below = {0}, conclusion = {0};
    size_t count;
    const comparison_pair **pairs = shown_pairs(comparison, &count);
    if (!comparison->settings.all && count > MOST_NOTES)
        count = MOST_NOTES;
    text_format(&above, "**lnbench %s** ", comparison->settings.tool);
    add_conclusion(&conclusion, comparison);
    add_words(&above, "- ", conclusion.bytes ? conclusion.bytes : "");
    text_add(&above, count > 0 ? "\n\n" : "\n");
    add_remarks(&below, comparison, count, "- ");
    fputs(above.bytes, file);
    if (count > 0) {
        relation *rows = pairs_relation(comparison, pairs, count, OUTPUT_MARKDOWN);
        relation_hide_alike(rows, COLUMN_CACHE);
        relation_hide_alike(rows, COLUMN_REPRODUCIBLE);
        relation_hide(rows, COLUMN_ROOF);
        relation_hide(rows, COLUMN_P);
        relation_hide(rows, COLUMN_NOISE);
        print_rows(rows, NULL, OUTPUT_MARKDOWN, file);
    }
    if (below.bytes)
        fprintf(file, "\n%s", below.bytes);
    free(pairs);
    text_free(&above);
    text_free(&below);
    text_free(&conclusion);
}

void add_pair_summary(text_buffer *out, const run_comparison *comparison,
                      const comparison_pair *pair)
{
    text_buffer note = {0};
    add_pair_note(&note, comparison, pair);
    text_format(out, "%s, %s: new/base ", or_dash(speed_verdict_name(pair->speed)),
                or_dash(accuracy_verdict_words(pair->accuracy)));
    add_ratio(out, &pair->ratio);
    if (!isnan(pair->noise))
        text_format(out, ", noise here %.2g %%", 100 * pair->noise);
    if (note.bytes && note.bytes[0])
        text_format(out, "; %s", note.bytes);
    text_free(&note);
}

void comparison_print(const run_comparison *comparison, output_format format, FILE *file)
{
    if (format == OUTPUT_TEXT)
        print_text(comparison, file);
    else if (format == OUTPUT_MARKDOWN)
        print_markdown(comparison, file);
    else if (format < OUTPUT_FORMATS_OF_ALL)
        print_data(comparison, format, file);
    else
        print_rows(format == OUTPUT_SMALLER
                       ? comparison_errors(comparison)
                       : comparison_checks(comparison, format == OUTPUT_GITHUB),
                   NULL, format, file);
}
