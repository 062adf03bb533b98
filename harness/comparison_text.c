/* A comparison for people: the table as text and as Markdown, and the sentence that sums it up. */
#include "comparison.h"
#include "reproducible.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *or_dash(const char *name)
{
    return name ? name : "-";
}

void add_plain(text *out, const char *string)
{
    for (; *string; string++) {
        char c = *string >= 0x20 && *string < 0x7f ? *string : '?';
        text_add_bytes(out, &c, 1);
    }
}

/* "base: crashed(SIGSEGV); new: inaccurate" */
static void add_failures(text *note, const comparison_pair *pair, const char **separator)
{
    static const char *const sides[SIDES] = {"base", "new"};
    char described[256];
    for (int side = 0; side < SIDES; side++) {
        const verdict *verdict = &pair->verdicts[side];
        if (verdict_exit_code(verdict) == EXIT_CODE_FINE)
            continue;
        text_format(note, "%s%s: ", *separator, sides[side]);
        add_plain(note, verdict_describe(verdict, described, sizeof described));
        *separator = "; ";
    }
}

void add_pair_note(text *note, const comparison *comparison, const comparison_pair *pair)
{
    const char *separator = "";
    char both[32];
    add_failures(note, pair, &separator);
    if (pair->tally.differing > 0 && pair_failed(pair) == FAILED_NOT) {
        text_format(note, "%s%zu of %zu inputs differ, ", separator, pair->tally.differing,
                    pair->tally.judged);
        add_plain(note, pair->tally.worst);
        separator = "; ";
    }
    if (pair_is_less_reproducible(pair)) {
        text_format(note, "%sreproducible: %s", separator,
                    reproducible_both(pair->reproducible[BASE], pair->reproducible[NEW], both));
        separator = "; ";
    }
    if (pair->unhashed) {
        text_format(note, "%sequal figures, but no hash of the bits", separator);
        separator = "; ";
    }
    if (pair->noise > comparison->settings.threshold && pair->speed != SPEED_NOT_MEASURED) {
        text_format(note, "%sthe noise here exceeds the threshold", separator);
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
static void add_ratio(text *out, const estimate *ratio)
{
    if (isnan(ratio->middle))
        text_add(out, "-");
    else
        text_format(out, "%.4f [%.4f, %.4f]", ratio->middle, ratio->lo, ratio->hi);
}

static void add_time(text *out, double ns)
{
    char shown[16];
    number_short(ns < 1e3 ? ns : ns < 1e6 ? ns / 1e3 : ns / 1e6, shown);
    text_add(out, shown);
    if (!isnan(ns))
        text_add(out, ns < 1e3 ? " ns" : ns < 1e6 ? " us" : " ms");
}

/* "0.42 %" */
static void add_share(text *out, double share)
{
    if (isnan(share))
        text_add(out, "-");
    else
        text_format(out, "%.2g %%", share * 100);
}

static void add_convention(text *out, const case_key *key)
{
    add_plain(out, key->convention);
    if (strcmp(key->input, "normal") != 0) {
        text_add(out, ", ");
        add_plain(out, key->input);
    }
}

/* "512x768", and what is not the usual: "512x768 bf16, 4 threads". */
static void add_shape(text *out, const case_key *key)
{
    text_format(out, "%zux%zu", key->rows, key->hidden);
    if (key->dtype != LN_F32)
        text_format(out, " %s", dtype_name(key->dtype));
    if (key->threads > 1)
        text_format(out, ", %u threads", key->threads);
}

void add_pair_name(text *out, const case_key *key)
{
    add_plain(out, key->kernel);
    text_add(out, " ");
    add_convention(out, key);
    text_add(out, " ");
    add_shape(out, key);
    text_format(out, " %s", cache_name(key->cache));
}

static void add_calibration(text *out, const comparison *comparison)
{
    const calibration *known = &comparison->calibration;
    if (known->id == 0)
        text_add(out, "; noise not calibrated (lnbench calibrate)");
    else if (known->rebuilds == 0)
        text_format(out, "; noise calibrated %s, without code placement", known->made);
    else
        text_format(out, "; noise calibrated %s over %u rebuild%s", known->made, known->rebuilds,
                    known->rebuilds == 1 ? "" : "s");
}

void add_conclusion(text *out, const comparison *comparison)
{
    const comparison_settings *settings = &comparison->settings;
    const char *speed = speed_verdict_name(comparison_speed(comparison));
    const char *accuracy = accuracy_verdict_name(comparison_accuracy(comparison));
    text_format(out, "%s: ", outcome_name(comparison_exit_code(comparison)));
    if (comparison->differences.count > 0) {
        text_format(out, "the contexts differ in %zu thing%s", comparison->differences.count,
                    comparison->differences.count == 1 ? "" : "s");
        return;
    }
    size_t less = comparison_less_reproducible(comparison);
    double mean = NAN;
    out->failed |= !comparison_mean(comparison, &mean, NULL);
    text_format(out, "%s%s%s in %zu pair%s", speed ? speed : "", speed && accuracy ? ", " : "",
                accuracy ? accuracy : "", comparison->pair_count,
                comparison->pair_count == 1 ? "" : "s");
    if (!isnan(mean))
        text_format(out, ", geometric mean %.4f", mean);
    if (less > 0)
        text_format(out, ", %zu kernel%s less reproducible", less, less == 1 ? "" : "s");
    text_format(out, "; threshold %g %%, confidence %g %%, accuracy %s", settings->threshold * 100,
                settings->confidence * 100,
                settings->accuracy ? accuracy_gate_name(settings->gate) : "not judged");
    if (speed)
        add_calibration(out, comparison);
}

enum column {
    COLUMN_KERNEL,
    COLUMN_CONVENTION,
    COLUMN_SHAPE,
    COLUMN_CACHE,
    COLUMN_RATIO,
    COLUMN_BASE,
    COLUMN_NEW,
    COLUMN_ROOF,
    COLUMN_P,
    COLUMN_NOISE,
    COLUMN_SPEED,
    COLUMN_ACCURACY,
    COLUMN_ERROR,
    COLUMN_REPRODUCIBLE,
    COLUMN_NOTE,
    COLUMNS
};

static const char *const headings[COLUMNS] = {
    "kernel", "convention", "shape", "cache",    "new/base",    "base",         "new", "roof",
    "p",      "noise",      "speed", "accuracy", "worst error", "reproducible", "note"};

/* A duet times no roof and tests no ranks. */
static bool has_column(const comparison *comparison, int column)
{
    bool ranks = strcmp(comparison->settings.tool, "compare") == 0;
    return ranks || (column != COLUMN_ROOF && column != COLUMN_P);
}

/* What moved, or was timed; the many bit-identical inputs of a stored run are only counted. That a
 * kernel is less reproducible is said once, below, and not at each of them. */
static bool is_shown(const comparison *comparison, const comparison_pair *pair)
{
    return strcmp(comparison->settings.tool, "compare") != 0 || pair->speed != SPEED_NOT_MEASURED ||
           pair->accuracy > ACCURACY_IDENTICAL ||
           (pair_exit_code(pair, &comparison->settings) != EXIT_CODE_FINE &&
            !pair_is_less_reproducible(pair));
}

/* "0.52 was 0.50", or one of them where people cannot tell the two apart. */
static void add_both(text *out, double base, double new)
{
    char shown[SIDES][16];
    number_short(base, shown[BASE]);
    number_short(new, shown[NEW]);
    if (strcmp(shown[BASE], shown[NEW]) == 0)
        text_add(out, shown[NEW]);
    else
        text_format(out, "%s was %s", shown[NEW], shown[BASE]);
}

static double worst_error(const comparison_pair *pair, int side)
{
    return pair->metrics[side].elements ? pair->metrics[side].row_ulp_max : NAN;
}

static void fill_cells(const comparison *comparison, const comparison_pair *pair,
                       text cells[COLUMNS])
{
    char p[16], both[32];
    add_plain(&cells[COLUMN_KERNEL], pair->key.kernel);
    add_convention(&cells[COLUMN_CONVENTION], &pair->key);
    add_shape(&cells[COLUMN_SHAPE], &pair->key);
    text_add(&cells[COLUMN_CACHE], cache_name(pair->key.cache));
    add_ratio(&cells[COLUMN_RATIO], &pair->ratio);
    add_time(&cells[COLUMN_BASE], pair->time_ns[BASE]);
    add_time(&cells[COLUMN_NEW], pair->time_ns[NEW]);
    add_both(&cells[COLUMN_ROOF], pair->roof[BASE], pair->roof[NEW]);
    text_add(&cells[COLUMN_P], number_short(pair->p, p));
    add_share(&cells[COLUMN_NOISE], pair->noise);
    text_add(&cells[COLUMN_SPEED], or_dash(speed_verdict_name(pair->speed)));
    text_add(&cells[COLUMN_ACCURACY], or_dash(accuracy_verdict_name(pair->accuracy)));
    add_both(&cells[COLUMN_ERROR], worst_error(pair, BASE), worst_error(pair, NEW));
    text_add(&cells[COLUMN_REPRODUCIBLE],
             reproducible_both(pair->reproducible[BASE], pair->reproducible[NEW], both));
    add_pair_note(&cells[COLUMN_NOTE], comparison, pair);
}

static table *make_table(const comparison *comparison)
{
    const char *shown[COLUMNS];
    size_t columns = 0;
    for (int column = 0; column < COLUMNS; column++)
        if (has_column(comparison, column))
            shown[columns++] = headings[column];
    table *table = table_create(shown, columns);
    bool fine = table != NULL;
    for (size_t i = 0; fine && i < comparison->pair_count; i++) {
        text cells[COLUMNS] = {{0}};
        if (!is_shown(comparison, &comparison->pairs[i]))
            continue;
        fill_cells(comparison, &comparison->pairs[i], cells);
        for (int column = 0; column < COLUMNS; column++) {
            if (has_column(comparison, column))
                table_cell(table, cells[column].bytes ? cells[column].bytes : "");
            fine &= !cells[column].failed;
            text_free(&cells[column]);
        }
    }
    if (!fine) {
        table_destroy(table);
        return NULL;
    }
    return table;
}

static size_t shown_count(const comparison *comparison)
{
    size_t shown = 0;
    for (size_t i = 0; i < comparison->pair_count; i++)
        shown += is_shown(comparison, &comparison->pairs[i]);
    return shown;
}

/* Each line after its lead; in a Markdown list (where there is a bullet) with nothing left in it
 * that means something there. */
static void add_list(text *out, const char *bullet, const char *lead, const word_list *lines)
{
    for (size_t i = 0; i < lines->count; i++) {
        text plain = {0};
        add_plain(&plain, lines->words[i]);
        text_format(out, "%s%s: ", bullet, lead);
        for (const char *at = plain.bytes ? plain.bytes : ""; *at; at++) {
            if (*bullet && strchr("\\`*_{}[]<>#|@&", *at))
                text_add(out, "\\");
            text_add_bytes(out, at, 1);
        }
        text_add(out, "\n");
        out->failed |= plain.failed;
        text_free(&plain);
    }
}

/* What stands below the table. */
static void add_remarks(text *out, const comparison *comparison, const char *bullet)
{
    size_t hidden = comparison->pair_count - shown_count(comparison);
    if (hidden > 0)
        text_format(out, "%s%zu more judged and not timed, without a change\n", bullet, hidden);
    add_list(out, bullet, "differs", &comparison->differences);
    add_list(out, bullet, "not compared", &comparison->lonely);
    add_list(out, bullet, "note", &comparison->remarks);
}

static bool print_text(const comparison *comparison, FILE *file)
{
    text below = {0};
    bool fine = true;
    if (shown_count(comparison) > 0) {
        table *table = make_table(comparison);
        fine = table && table_print(table, file) && fputs("\n", file) >= 0;
        table_destroy(table);
    }
    add_remarks(&below, comparison, "");
    if (below.bytes)
        text_add(&below, "\n");
    add_conclusion(&below, comparison);
    fine = fine && !below.failed && fprintf(file, "%s\n", below.bytes) > 0;
    text_free(&below);
    return fine;
}

static bool print_tsv(const comparison *comparison, FILE *file)
{
    table *table = make_table(comparison);
    bool fine = table && table_print_tsv(table, file);
    table_destroy(table);
    return fine;
}

static bool print_markdown(const comparison *comparison, FILE *file)
{
    text above = {0}, below = {0};
    text_format(&above, "**lnbench %s** ", comparison->settings.tool);
    add_conclusion(&above, comparison);
    text_add(&above, "\n\n");
    add_remarks(&below, comparison, "- ");
    bool fine = !above.failed && !below.failed && fputs(above.bytes, file) >= 0;
    if (fine && shown_count(comparison) > 0) {
        table *table = make_table(comparison);
        fine = table && table_print_markdown(table, file) && fputs("\n", file) >= 0;
        table_destroy(table);
    }
    fine = fine && (!below.bytes || fputs(below.bytes, file) >= 0);
    text_free(&above);
    text_free(&below);
    return fine;
}

void add_pair_summary(text *out, const comparison *comparison, const comparison_pair *pair)
{
    text note = {0};
    add_pair_note(&note, comparison, pair);
    text_format(out, "%s, %s: new/base ", or_dash(speed_verdict_name(pair->speed)),
                or_dash(accuracy_verdict_name(pair->accuracy)));
    add_ratio(out, &pair->ratio);
    if (!isnan(pair->noise)) {
        text_add(out, ", noise here ");
        add_share(out, pair->noise);
    }
    if (note.bytes && note.bytes[0])
        text_format(out, "; %s", note.bytes);
    out->failed |= note.failed;
    text_free(&note);
}

bool comparison_print(const comparison *comparison, comparison_format format, FILE *file)
{
    text out = {0};
    switch (format) {
    case COMPARISON_TEXT:
        return print_text(comparison, file);
    case COMPARISON_MARKDOWN:
        return print_markdown(comparison, file);
    case COMPARISON_JSON:
        return comparison_print_json(comparison, file);
    case COMPARISON_SMALLER:
        return comparison_print_smaller(comparison, file);
    case COMPARISON_TSV:
        return print_tsv(comparison, file);
    case COMPARISON_JUNIT:
        add_junit(&out, comparison);
        break;
    case COMPARISON_GITHUB:
        add_github(&out, comparison);
        break;
    }
    bool fine = !out.failed && fputs(out.bytes ? out.bytes : "", file) >= 0;
    text_free(&out);
    return fine;
}
