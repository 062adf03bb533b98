/* The results of a duet for people and CI: text, Markdown, JUnit XML, GitHub annotations. */
#include "duet.h"
#include <math.h>
#include <string.h>

static const char *or_dash(const char *name)
{
    return name ? name : "-";
}

/* Strings that came from outside, as printable ASCII. */
static void add_plain(text *out, const char *string)
{
    for (; *string; string++) {
        char c = *string >= 0x20 && *string < 0x7f ? *string : '?';
        text_add_bytes(out, &c, 1);
    }
}

void duet_pair_note(const duet_pair *pair, text *note)
{
    static const char *const sides[SIDES] = {"base", "new"};
    char described[256];
    const char *separator = "";
    for (int side = 0; side < SIDES; side++) {
        const verdict *verdict = &pair->verdicts[side];
        if (verdict_exit_code(verdict) == EXIT_CODE_FINE)
            continue;
        text_format(note, "%s%s: ", separator, sides[side]);
        add_plain(note, verdict_describe(verdict, described, sizeof described));
        separator = "; ";
    }
    if (pair->tally.differing > 0 && duet_failed(pair) == FAILED_NOT) {
        text_format(note, "%s%zu of %zu inputs differ, ", separator, pair->tally.differing,
                    pair->tally.judged);
        add_plain(note, pair->tally.worst);
        separator = "; ";
    }
    if (pair->detail[0])
        text_format(note, "%s%s", separator, pair->detail);
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

/* "naive_f32_avx2 torch 512x768 hot" */
static void add_name(text *out, const case_key *key)
{
    text_format(out, "%s %s %zux%zu %s", key->kernel, key->convention, key->rows, key->hidden,
                cache_name(key->cache));
}

/* "fine: same, bit-identical in 12 pairs; threshold 2 %, confidence 99 %, accuracy no-worse" */
static void add_conclusion(text *out, const duet *duet)
{
    const duet_settings *settings = &duet->settings;
    const char *speed = speed_verdict_name(duet_overall_speed(duet));
    const char *accuracy = accuracy_verdict_name(duet_overall_accuracy(duet));
    text_format(out, "%s: %s%s%s in %zu pair%s; threshold %g %%, confidence %g %%, accuracy %s",
                duet_outcome(duet_exit_code(duet)), speed ? speed : "",
                speed && accuracy ? ", " : "", accuracy ? accuracy : "", duet->pair_count,
                duet->pair_count == 1 ? "" : "s", settings->threshold * 100,
                settings->confidence * 100,
                settings->accuracy ? accuracy_gate_name(settings->gate) : "not judged");
}

static const char *const headings[] = {"kernel",   "convention",  "shape", "cache",
                                       "new/base", "base",        "new",   "speed",
                                       "accuracy", "worst error", "note"};
enum { COLUMNS = sizeof headings / sizeof *headings };

/* The cells of a pair, in the order of the headings. */
static void fill_cells(const duet_pair *pair, text cells[COLUMNS])
{
    char error[SIDES][16];
    text_add(&cells[0], pair->key.kernel);
    text_add(&cells[1], pair->key.convention);
    text_format(&cells[2], "%zux%zu", pair->key.rows, pair->key.hidden);
    text_add(&cells[3], cache_name(pair->key.cache));
    add_ratio(&cells[4], &pair->ratio);
    add_time(&cells[5], pair->time_ns[BASE]);
    add_time(&cells[6], pair->time_ns[NEW]);
    text_add(&cells[7], or_dash(speed_verdict_name(pair->speed)));
    text_add(&cells[8], or_dash(accuracy_verdict_name(pair->accuracy)));
    for (int side = 0; side < SIDES; side++)
        number_short(pair->metrics[side].elements ? pair->metrics[side].row_ulp_max : NAN,
                     error[side]);
    if (strcmp(error[BASE], error[NEW]) == 0)
        text_add(&cells[9], error[NEW]);
    else
        text_format(&cells[9], "%s was %s", error[NEW], error[BASE]);
    duet_pair_note(pair, &cells[10]);
}

static bool cells_free(text cells[COLUMNS])
{
    bool fine = true;
    for (int i = 0; i < COLUMNS; i++) {
        fine &= !cells[i].failed;
        text_free(&cells[i]);
    }
    return fine;
}

static table *pairs_table(const duet *duet)
{
    table *table = table_create(headings, COLUMNS);
    bool fine = table != NULL;
    for (size_t i = 0; fine && i < duet->pair_count; i++) {
        text cells[COLUMNS] = {{0}};
        fill_cells(&duet->pairs[i], cells);
        for (int column = 0; column < COLUMNS; column++)
            table_cell(table, cells[column].bytes ? cells[column].bytes : "");
        fine = cells_free(cells);
    }
    if (fine)
        return table;
    table_destroy(table);
    return NULL;
}

static bool print_tsv(const duet *duet, FILE *file)
{
    table *table = pairs_table(duet);
    bool fine = table && table_print_tsv(table, file);
    table_destroy(table);
    return fine;
}

static bool print_text(const duet *duet, FILE *file)
{
    text conclusion = {0};
    table *table = pairs_table(duet);
    bool fine = table && table_print(table, file);
    table_destroy(table);
    add_conclusion(&conclusion, duet);
    for (size_t i = 0; i < duet->lonely.count; i++)
        fprintf(file, "%snot compared: %s\n", i ? "" : "\n", duet->lonely.words[i]);
    fine = fine && !conclusion.failed && fprintf(file, "\n%s\n", conclusion.bytes) > 0;
    text_free(&conclusion);
    return fine;
}

static void add_markdown_cell(text *out, const char *cell)
{
    for (; *cell; cell++) {
        if (strchr("|\\`*_<[", *cell))
            text_add(out, "\\");
        text_add_bytes(out, cell, 1);
    }
}

static bool add_markdown(text *out, const duet *duet)
{
    bool fine = true;
    text_add(out, "**lnbench duet** ");
    add_conclusion(out, duet);
    text_add(out, "\n\n|");
    for (int column = 0; column < COLUMNS; column++)
        text_format(out, " %s |", headings[column]);
    text_add(out, "\n|");
    for (int column = 0; column < COLUMNS; column++)
        text_add(out, "---|");
    for (size_t i = 0; i < duet->pair_count; i++) {
        text cells[COLUMNS] = {{0}};
        fill_cells(&duet->pairs[i], cells);
        text_add(out, "\n|");
        for (int column = 0; column < COLUMNS; column++) {
            text_add(out, " ");
            add_markdown_cell(out, cells[column].bytes ? cells[column].bytes : "");
            text_add(out, " |");
        }
        fine &= cells_free(cells);
    }
    text_add(out, "\n");
    for (size_t i = 0; i < duet->lonely.count; i++) {
        text_add(out, i ? "- not compared: " : "\n- not compared: ");
        add_markdown_cell(out, duet->lonely.words[i]);
        text_add(out, "\n");
    }
    return fine;
}

static void add_xml(text *out, const char *string)
{
    for (; *string; string++) {
        if (*string == '&')
            text_add(out, "&amp;");
        else if (*string == '<')
            text_add(out, "&lt;");
        else if (*string == '>')
            text_add(out, "&gt;");
        else if (*string == '"')
            text_add(out, "&quot;");
        else if (*string < 0x20 || *string >= 0x7f)
            text_add(out, "?");
        else
            text_add_bytes(out, string, 1);
    }
}

/* "slower, changed: 1.05 [1.04, 1.06], 3 of 28 inputs differ, ...": what a pair comes to. */
static void add_summary(text *out, const duet_pair *pair)
{
    text note = {0};
    duet_pair_note(pair, &note);
    text_format(out, "%s, %s", or_dash(speed_verdict_name(pair->speed)),
                or_dash(accuracy_verdict_name(pair->accuracy)));
    text_add(out, ": new/base ");
    add_ratio(out, &pair->ratio);
    if (note.bytes && note.bytes[0])
        text_format(out, "; %s", note.bytes);
    out->failed |= note.failed;
    text_free(&note);
}

/* A pair that is no failure but no answer either is an error in JUnit's sense. */
static void add_test_case(text *out, const duet *duet, const duet_pair *pair)
{
    exit_code code = duet_pair_exit_code(pair, &duet->settings);
    bool failure = code == EXIT_CODE_REGRESSION || code == EXIT_CODE_ACCURACY;
    const char *element = failure ? "failure" : "error";
    text summary = {0}, name = {0};
    add_summary(&summary, pair);
    add_name(&name, &pair->key);
    text_add(out, "  <testcase classname=\"duet\" name=\"");
    add_xml(out, name.bytes ? name.bytes : "");
    text_format(out, "\" time=\"%.3f\">\n", pair->seconds);
    if (code == EXIT_CODE_FINE) {
        text_add(out, "    <system-out>");
    } else {
        text_format(out, "    <%s type=\"%s\" message=\"", element, duet_outcome(code));
        add_xml(out, summary.bytes ? summary.bytes : "");
        text_format(out, "\"/>\n    <system-out>");
    }
    add_xml(out, summary.bytes ? summary.bytes : "");
    text_add(out, "</system-out>\n  </testcase>\n");
    out->failed |= summary.failed || name.failed;
    text_free(&summary);
    text_free(&name);
}

static void add_junit(text *out, const duet *duet)
{
    size_t failures = 0, errors = 0;
    double seconds = 0;
    for (size_t i = 0; i < duet->pair_count; i++) {
        exit_code code = duet_pair_exit_code(&duet->pairs[i], &duet->settings);
        bool failure = code == EXIT_CODE_REGRESSION || code == EXIT_CODE_ACCURACY;
        failures += failure;
        errors += !failure && code != EXIT_CODE_FINE;
        seconds += duet->pairs[i].seconds;
    }
    text_format(out,
                "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                "<testsuites>\n<testsuite name=\"lnbench duet\" tests=\"%zu\" failures=\"%zu\" "
                "errors=\"%zu\" skipped=\"%zu\" time=\"%.3f\">\n",
                duet->pair_count + duet->lonely.count, failures, errors, duet->lonely.count,
                seconds);
    for (size_t i = 0; i < duet->pair_count; i++)
        add_test_case(out, duet, &duet->pairs[i]);
    for (size_t i = 0; i < duet->lonely.count; i++) {
        text_add(out, "  <testcase classname=\"duet\" name=\"");
        add_xml(out, duet->lonely.words[i]);
        text_add(out, "\"><skipped message=\"not compared\"/></testcase>\n");
    }
    text_add(out, "</testsuite>\n</testsuites>\n");
}

/* GitHub's workflow commands: percent, line ends and, in a property, colon and comma are coded. */
static void add_command(text *out, const char *command, const char *title, const char *message)
{
    text_format(out, "::%s title=", command);
    for (const char *parts[] = {title, "::", message}, **part = parts; part < parts + 3; part++) {
        for (const char *at = *part; *at; at++) {
            bool property = *part == title && (*at == ':' || *at == ',');
            if (*at == '%' || *at == '\n' || *at == '\r' || property)
                text_format(out, "%%%02X", (unsigned)*at);
            else
                text_add_bytes(out, at, 1);
        }
    }
    text_add(out, "\n");
}

static void add_github(text *out, const duet *duet)
{
    text conclusion = {0};
    for (size_t i = 0; i < duet->pair_count; i++) {
        const duet_pair *pair = &duet->pairs[i];
        exit_code code = duet_pair_exit_code(pair, &duet->settings);
        text summary = {0}, title = {0};
        if (code == EXIT_CODE_FINE)
            continue;
        add_summary(&summary, pair);
        text_format(&title, "%s: ", duet_outcome(code));
        add_name(&title, &pair->key);
        if (summary.bytes && title.bytes)
            add_command(out, code == EXIT_CODE_INCONCLUSIVE ? "warning" : "error", title.bytes,
                        summary.bytes);
        out->failed |= summary.failed || title.failed;
        text_free(&summary);
        text_free(&title);
    }
    for (size_t i = 0; i < duet->lonely.count; i++)
        add_command(out, "notice", "not compared", duet->lonely.words[i]);
    add_conclusion(&conclusion, duet);
    if (conclusion.bytes)
        add_command(out, "notice", "lnbench duet", conclusion.bytes);
    out->failed |= conclusion.failed;
    text_free(&conclusion);
}

bool duet_print(const duet *duet, duet_format format, FILE *file)
{
    text out = {0};
    bool fine = true;
    switch (format) {
    case DUET_TEXT:
        return print_text(duet, file);
    case DUET_JSON:
        return duet_print_json(duet, file);
    case DUET_SMALLER:
        return duet_print_smaller(duet, file);
    case DUET_TSV:
        return print_tsv(duet, file);
    case DUET_MARKDOWN:
        fine = add_markdown(&out, duet);
        break;
    case DUET_JUNIT:
        add_junit(&out, duet);
        break;
    case DUET_GITHUB:
        add_github(&out, duet);
        break;
    }
    fine = fine && !out.failed && fputs(out.bytes ? out.bytes : "", file) >= 0;
    text_free(&out);
    return fine;
}
