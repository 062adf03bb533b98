/* Makes the report of a run: its charts, and one page as HTML and as Markdown, with the answer first, then charts,
 * tables and the folded details. plots/shown.sql makes the tables that charts and page share. */
#include "show/report.h"
#include "base/arena.h"
#include "base/text.h"
#include "base/program.h"
#include "domain/kernel.h"
#include "show/charts/chart.h"
#include "store/run_file.h"
#include <math.h>

/* ---- a page, written in both forms at once ----
 *
 *     document page = {.directory = "results/charts"};
 *     document_section(&page, "speed", "Speed");
 *     document_add(&page, PARAGRAPH, TONE_NONE, "Take `%s`: **%.0f GB/s**.", name, gbps);
 *     document_table(&page, rows); // a relation, which the page frees
 *     document_free(&page);
 *
 * Texts are UTF-8 with `code`, **strong** and [link](target); a backslash escapes the next character. The text of each
 * %s is cleaned (base/text.h, FORM_PAGE), as it may come from others; "%-s" is for a text with our own marks. Tables,
 * titles and commands have no marks. */

typedef enum block_kind {
    PARAGRAPH,
    ITEM, /* a list item */
    FOLD, /* the visible line of a folded part, which document_fold_end() ends */
} block_kind;

typedef struct document {
    const char *directory; /* the folder of the charts */
    char title[200];
    text_buffer subtitle, contents, html, markdown;
    bool in_list;
} document;

static void document_free(document *page)
{
    text_free(&page->subtitle);
    text_free(&page->contents);
    text_free(&page->html);
    text_free(&page->markdown);
}

/* Adds a text as HTML: its marks become elements, and everything else is escaped. */
static void add_html_text(text_buffer *out, const char *text)
{
    bool in_code = false, in_strong = false;
    const char *target;
    for (; *text; text++) {
        if (*text == '\\' && text[1]) {
            clean_format(out, FORM_MARKUP, "%.1s", ++text);
        } else if (*text == '`') {
            text_add(out, in_code ? "</code>" : "<code>");
            in_code = !in_code;
        } else if (strncmp(text, "**", 2) == 0) {
            text_add(out, in_strong ? "</strong>" : "<strong>");
            in_strong = !in_strong;
            text++;
        } else if (*text == '[' && (target = strstr(text, "](")) && strchr(target, ')')) {
            text_format(out, "<a href=\"%.*s\">", (int)strcspn(target + 2, ")"), target + 2);
        } else if (strncmp(text, "](", 2) == 0) {
            text_add(out, "</a>");
            text += strcspn(text, ")");
        } else {
            int length = 1 + (int)strcspn(text + 1, "\\`*[]");
            clean_format(out, FORM_MARKUP, "%.*s", length, text);
            text += length - 1;
        }
    }
}

/* Adds a text as Markdown, which has the same marks. Other characters that Markdown would interpret are escaped. Code
 * has no escapes, but a bar in it would end a table cell. */
static void add_markdown_text(text_buffer *out, const char *text)
{
    bool in_code = false;
    for (; *text; text++) {
        if (strncmp(text, "](", 2) == 0 && strchr(text, ')')) {
            size_t length = strcspn(text, ")");
            text_add_bytes(out, text, length);
            text += length;
        }
        bool literal = *text == '\\' && text[1];
        text += literal;
        if (*text == '`' && !literal)
            in_code = !in_code;
        else if (!in_code && (literal || strchr("_#|&@$~", *text) || strncmp(text, "://", 3) == 0))
            text_add(out, "\\");
        if (*text == '<' && !in_code)
            text_add(out, "&lt;");
        else
            text_add_bytes(out,
                           !in_code                  ? text
                           : *text == '|'            ? "/"
                           : *text == '`' && literal ? "'"
                                                     : text,
                           1);
    }
}

/* Begins a block. Consecutive items form one list. */
static void begin_block(document *page, bool item)
{
    if (page->in_list != item)
        text_add(&page->html, item ? "<ul>\n" : "</ul>\n");
    if (page->in_list && !item)
        text_add(&page->markdown, "\n");
    page->in_list = item;
}

/* Begins a section, and ends the previous one. */
static void document_section(document *page, const char *id, const char *heading)
{
    begin_block(page, false);
    text_format(&page->html, "%s<section id=\"%s\">\n<h2>%s</h2>\n",
                page->contents.length ? "</section>\n" : "", id, heading);
    text_format(&page->contents, "<a href=\"#%s\">%s</a>\n", id, heading);
    text_format(&page->markdown, "## %s\n\n", heading);
}

static void document_add(document *page, block_kind kind, text_tone tone, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
static void document_add(document *page, block_kind kind, text_tone tone, const char *format, ...)
{
    static const char *const elements[] = {"p", "li", "summary"}, *const marks[] = {"", "- ",
                                                                                    "### "};
    text_buffer text = {0};
    va_list arguments;
    va_start(arguments, format);
    clean_format_list(&text, FORM_PAGE, format, arguments);
    va_end(arguments);
    begin_block(page, kind == ITEM);
    text_format(&page->html, "%s<%s class=\"%s\">", kind == FOLD ? "<details class=\"fold\">" : "",
                elements[kind], text_tone_names[tone]);
    add_html_text(&page->html, text.bytes);
    text_format(&page->html, "</%s>\n", elements[kind]);
    text_add(&page->markdown, marks[kind]);
    add_markdown_text(&page->markdown, text.bytes);
    text_add(&page->markdown, kind == ITEM ? "\n" : "\n\n");
    text_free(&text);
}

static void document_fold_end(document *page)
{
    begin_block(page, false);
    text_add(&page->html, "</details>\n");
}

/* Adds a table. Narrow screens leave out columns with a priority. */
static void document_table(document *page, relation *rows)
{
    begin_block(page, false);
    relation_add_form(rows, OUTPUT_HTML, 0, &page->html);
    relation_add_form(rows, OUTPUT_MARKDOWN, 0, &page->markdown);
    text_add(&page->markdown, "\n");
    relation_destroy(rows);
}

/* Adds a drawing with its stem before each identifier, since identifiers must be unique in the page. gnuplot writes
 * them as id='x', id="x" and href='#x'; texts of a drawing have no quotes (FORM_GNUPLOT). */
static void add_svg(text_buffer *out, const char *svg, const char *stem)
{
    static const char *const marks[] = {"id='", "id=\"", "href='#", "url(#"};
    const char *at = strstr(svg, "<svg");
    while (at && *at) {
        size_t mark = 0;
        while (mark < 4 && strncmp(at, marks[mark], strlen(marks[mark])) != 0)
            mark++;
        if (mark < 4) {
            text_format(out, "%s%s-", marks[mark], stem);
            at += strlen(marks[mark]);
        } else {
            size_t length = 1 + strcspn(at + 1, "ihu"); /* first letters of the marks */
            text_add_bytes(out, at, length);
            at += length;
        }
    }
}

/* Adds a chart with its description and the command that made it: inlined in HTML, so that the page is one file, and as
 * a link to the PNG file in Markdown. */
static void document_figure(document *page, const report_chart *chart)
{
    char path[512];
    text_buffer svg = {0}, *out = &page->html;
    begin_block(page, false);
    report_path(path, page->directory, chart->stem, ".svg");
    read_whole_file(path, &svg);
    clean_format(out, FORM_MARKUP,
                 "<figure id=\"%s\">\n<div class=\"chart\" role=\"img\" tabindex=\"0\" "
                 "aria-label=\"%s\">\n",
                 chart->stem, chart->title);
    add_svg(out, svg.bytes, chart->stem);
    text_free(&svg);
    text_add(out, "</div>\n<figcaption>");
    add_html_text(out, chart->kind->help);
    clean_format(out, FORM_MARKUP,
                 " <details><summary>The command that measures it again</summary><code>%s</code>"
                 "</details></figcaption>\n</figure>\n",
                 chart->again);
    out = &page->markdown;
    text_buffer command = {0};
    clean_format(out, FORM_MARKDOWN, "![%s](%-s.png)\n\n", chart->title, chart->stem);
    add_markdown_text(out, chart->kind->help);
    text_add(out, " Made again by ");
    clean_format(&command, FORM_PAGE, "`%s`", chart->again);
    add_markdown_text(out, command.bytes);
    text_free(&command);
    text_add(out, ".\n\n");
}

/* Adds the page in the frame of plots/page.html, which names its parts as {{part}}. run: the packed run, or NULL. */
static void add_frame(const document *page, const char *generator, const text_buffer *run,
                      text_buffer *out)
{
    const struct {
        const char *name, *text;
        bool is_html;
    } parts[] = {
        {"{{title}}", page->title, false},    {"{{subtitle}}", page->subtitle.bytes, false},
        {"{{generator}}", generator, false},  {"{{contents}}", page->contents.bytes, true},
        {"{{body}}", page->html.bytes, true}, {"{{run}}", run ? run->bytes : "", true},
    };
    const size_t count = sizeof parts / sizeof *parts;
    char path[512], plots[480];
    text_buffer frame = {0};
    own_path(OWN_PLOTS, plots, sizeof plots);
    report_path(path, plots, "page", ".html");
    read_whole_file(path, &frame);
    for (const char *at = frame.bytes, *next; *at; at = next) {
        size_t i = 0;
        while (i < count && strncmp(at, parts[i].name, strlen(parts[i].name)) != 0)
            i++;
        if (i == count && strncmp(at, "{{", 2) == 0)
            die(EXIT_CODE_ENVIRONMENT, "%s: %.20s: no such part", path, at);
        if (i < count) {
            clean_format(out, FORM_MARKUP, parts[i].is_html ? "%-s" : "%s", parts[i].text);
            next = at + strlen(parts[i].name);
        } else {
            next = strstr(at, "{{");
            next = next ? next : at + strlen(at);
            text_add_bytes(out, at, (size_t)(next - at));
        }
    }
    text_free(&frame);
}

/* ---- the data of the page ---- */

enum { CHARTS_MOST = 40, KERNELS_MOST = 7, INPUTS_SHOWN = 8, NAMED_MOST = 4 };

/* The tables of shown.sql that the page reads. SHAPE has no rows if nothing was timed. */
enum { ABOUT, SHAPE, PEERS, SHOWN, INPUT_ERRORS, SIZES, TABLES };
static const char *const table_names[TABLES] = {"about", "shape",        "peers",
                                                "shown", "input_errors", "sizes"};

/* The data of the page, and the charts of all types. */
typedef struct report_data {
    const run_view *view;
    run_answer answer; /* as on the terminal; the page has its type */
    stored_table tables[TABLES];
    report_chart charts[CHARTS_MOST];
    size_t chart_count;
    const char *note; /* why charts are missing, or "" */
} report_data;

static const char *fact_of(const report_data *data, const char *name)
{
    return machine_fact_value(&data->view->machine, name);
}

/* ---- the tables of the page ---- */

/* Returns an error in words: red if the kernel is at fault, amber if digits are lost. */
static relation_value as_error(const report_data *data, const error_sum *sum)
{
    char words[ERROR_WORDS];
    const error_class class = error_class_of(sum, data->answer.dtype);
    return as_figure_words(sum->error,
                           sum->wrong || class == ERROR_NAN ? TONE_FAULT
                           : class == ERROR_LOST            ? TONE_LIMIT
                                                            : TONE_NONE,
                           "%s", answer_error_words(&data->answer, sum, words));
}

/* Adds a kernel's speed, also relative to a copy with the 95 % interval, by which the page sorts, and its errors;
 * `edge_cases` is the cell for those of edge cases. */
static void add_figures(relation *rows, const report_data *data, const answer_row *row,
                        relation_value edge_cases)
{
    static const speed_figures none = SPEED_UNKNOWN;
    const speed_figures *speed = row->at_key ? row->at_key : &none;
    const error_sum *errors = row->standing->errors;
    char times[16];
    relation_row(rows, as_text(row->kernel), as_figure(speed->gbps),
                 isfinite(speed->copy_ratio_lo) && isfinite(speed->copy_ratio_hi)
                     ? as_figure_words(speed->copy_ratio, TONE_NONE, "%.0f %% [%.0f, %.0f]",
                                       100 * speed->copy_ratio, 100 * speed->copy_ratio_lo,
                                       100 * speed->copy_ratio_hi)
                     : as_text(NULL),
                 as_figure_words(row->speedup, TONE_NONE, "%s", answer_times(row->speedup, times)),
                 as_error(data, &errors[SCOPE_ORDINARY]),
                 as_error(data, &errors[SCOPE_NO_EDGE_CASES]), edge_cases,
                 as_text(row->reproducible));
}

#define KERNEL                                                                                     \
    {                                                                                              \
        .heading = "kernel", .is_code = true                                                       \
    }
#define OPTIONAL(heading_)                                                                         \
    {                                                                                              \
        .heading = (heading_), .priority = 1                                                       \
    }
#define FIGURES                                                                                    \
    KERNEL, FOR_PEOPLE("GB/s"), OPTIONAL("% of copy [95 %]"), OPTIONAL("× fastest peer"),          \
        OPTIONAL("error, ordinary rows"), FOR_PEOPLE("worst error"),                               \
        OPTIONAL("error, edge cases"), OPTIONAL("reproducible")

/* Adds the rows of the terminal's short table, with the same figures. */
static void add_names_table(const report_data *data, document *page)
{
    static const relation_column columns[] = {OPTIONAL(""), FIGURES, OPTIONAL("correctly rounded")};
    const run_answer *answer = &data->answer;
    relation *rows = relation_create(COLUMNS(columns));
    for (size_t i = 0; i < answer->count; i++) {
        const answer_row *row = &answer->rows[i];
        const error_sum *edge = &row->standing->errors[SCOPE_EDGE_CASES];
        const double edges = (double)(edge->wrong + edge->limited);
        if (!row->shown)
            continue;
        relation_add(rows, as_text(answer_role_word(answer, row)));
        add_figures(rows, data, row,
                    edge->judged == 0 ? as_text(NULL)
                    : edge->wrong     ? as_figure_words(edges, TONE_FAULT, "%zu fail", edge->wrong)
                    : edge->limited
                        ? as_figure_words(edges, TONE_LIMIT, "%zu type-limited", edge->limited)
                        : as_figure_words(edges, TONE_NONE, "pass"));
        relation_add(rows, as_text(row->all->judged == 0    ? "-"
                                   : row->standing->rounded ? "yes"
                                                            : "no"));
    }
    document_table(page, rows);
}

/* Adds every kernel at the report's shape, in the answer's order: the fastest first, untimed ones last. */
static void add_kernels_table(const report_data *data, document *page)
{
    static const relation_column columns[] = {FIGURES};
    relation *rows = relation_create(COLUMNS(columns));
    for (size_t i = 0; i < data->answer.count; i++) {
        const answer_row *row = &data->answer.rows[i];
        const error_sum *errors = row->standing->errors;
        if (row->at_key || errors[SCOPE_NO_EDGE_CASES].judged > 0)
            add_figures(rows, data, row, as_error(data, &errors[SCOPE_EDGE_CASES]));
    }
    document_table(page, rows);
}

/* Adds the largest row ULP of the shown kernels on each input family. */
static void add_inputs_table(const report_data *data, document *page)
{
    enum { ON_NARROW_SCREENS = 3 };
    relation_column columns[1 + KERNELS_MOST] = {FOR_PEOPLE("input")};
    const stored_table *shown = &data->tables[SHOWN], *errors = &data->tables[INPUT_ERRORS];
    const size_t count = shown->rows < KERNELS_MOST ? shown->rows : KERNELS_MOST;
    for (size_t i = 0; i < count; i++)
        columns[i + 1] = (relation_column){.heading = table_text(shown, i, "name"),
                                           .priority = i >= ON_NARROW_SCREENS};
    relation *rows = relation_create(columns, 1 + count);
    for (size_t i = 0; i < errors->rows; i++) { /* errors are ordered by input, then by kernel */
        const error_sum sum = {.judged = (size_t)table_whole(errors, i, "judged"),
                               .wrong = (size_t)table_whole(errors, i, "failed"),
                               .error = table_real(errors, i, "error"),
                               .at = table_whole(errors, i, "case_id")};
        if (i % count == 0)
            relation_add(rows, as_text(table_text(errors, i, "input")));
        relation_add(rows, as_error(data, &sum));
    }
    document_table(page, rows);
}

/* Adds the worst row of each kernel. */
static void add_worst_table(const report_data *data, document *page)
{
    static const relation_column columns[] = {
        KERNEL,
        FOR_PEOPLE("worst error"),
        OPTIONAL("input"),
        OPTIONAL("rows × hidden"),
        OPTIONAL("reproducible"),
        {.heading = "again", .priority = 1, .is_code = true},
    };
    const standing_list *standings = &data->view->standings;
    relation *rows = relation_create(COLUMNS(columns));
    for (size_t i = 0; i < standings->count; i++) {
        const kernel_standing *own = &standings->standings[i];
        const error_sum *any = &own->errors[SCOPE_NO_EDGE_CASES];
        stored_case worst;
        if (own->dtype == data->answer.dtype && !isnan(any->error) &&
            store_case(data->view->store, any->at, &worst))
            relation_row(rows, as_text(own->kernel), as_error(data, any), as_text(worst.key.input),
                         as_format("%zu × %zu", worst.key.rows, worst.key.hidden),
                         as_text(reproducible_stored(data->view->kernels, own->kernel)),
                         as_format("lnbench replay --case %lld", (long long)worst.id));
    }
    document_table(page, rows);
}

/* ---- faults and limits ---- */

/* Adds an item for all kernels with the same fault, or else with the same limit of the types, such as "wrong-class on
 * zeros, offset (3 cases); crashed (SIGSEGV) on normal (1 case)". It names the first few inputs of each reason, over
 * all conventions and shapes. */
static void add_wrongs(const report_data *data, bool limits, document *page)
{
    static const char sql[] =
        "WITH wrong AS (SELECT *, reason || iif(type_limited OR reason IN ('wrong-class', "
        "'inaccurate'), '', coalesce(' (' || nullif(detail, '') || ')', '')) AS what, "
        "(SELECT row_ulp_max FROM accuracies WHERE accuracies.case_id = judged.case_id) AS most "
        "FROM judged WHERE run = ?1 AND operation = ?2 AND types = ?3 AND "
        "iif(?4, type_limited, failed)), "
        "of_input AS (SELECT kernel, what, reason, input, count(*) AS cases, max(most) AS most, "
        "min(case_id) AS first, row_number() OVER (PARTITION BY kernel, what ORDER BY "
        "min(case_id)) AS place FROM wrong GROUP BY kernel, what, input ORDER BY kernel, what, "
        "first), "
        "of_reason AS (SELECT kernel, what || ' on ' || group_concat(iif(place <= ?5, input, "
        "NULL), ', ') || iif(count(*) > ?5, ', ...', '') || format(' (%d case%s', sum(cases), "
        "iif(sum(cases) = 1, '', 's')) || iif(reason = 'inaccurate' AND max(most) < 9e999, "
        "', up to ' || number_short(max(most)) || ' row ULP', '') || ')' AS words "
        "FROM of_input GROUP BY kernel, what ORDER BY kernel, min(first)), "
        "of_kernel AS (SELECT kernel, group_concat(words, '; ') AS words, (SELECT min(id) FROM "
        "cells WHERE run = ?1 AND cells.kernel = of_reason.kernel AND types = ?3) AS place "
        "FROM of_reason GROUP BY kernel) "
        "SELECT kernel, words FROM of_kernel ORDER BY min(place) OVER (PARTITION BY words), place";
    const standing_list *standings = &data->view->standings;
    stored_table found =
        store_ask(data->view->store, sql, "issii", data->view->run.id,
                  operation_name(view_operation(data->view)), dtype_name(data->answer.dtype),
                  (int64_t)limits, (int64_t)INPUTS_SHOWN);
    text_buffer names = {0}, fault = {0};
    for (size_t i = 0; i < found.rows; i++) {
        const char *kernel = table_text(&found, i, "kernel"),
                   *words = table_text(&found, i, "words");
        const kernel_standing *own = standing_of(standings, kernel, data->answer.dtype);
        stored_case first;
        if (!names.length && !limits && own && own->role == ROLE_PLUGIN &&
            store_case(data->view->store, own->fault, &first))
            clean_format(&fault, FORM_PAGE, ". Case %lld (%s, %zux%zu, %s): %s",
                         (long long)first.id, first.key.input, first.key.rows, first.key.hidden,
                         first.key.convention, first.verdict.detail);
        clean_format(&names, FORM_PAGE, "%s`%s`", names.length ? ", " : "", kernel);
        if (strcmp(words, table_text(&found, i + 1, "words")) == 0)
            continue;
        document_add(page, ITEM, limits ? TONE_LIMIT : TONE_FAULT, "%-s: %s%-s.", names.bytes,
                     words, fault.bytes ? fault.bytes : "");
        text_free(&names);
        text_free(&fault);
    }
    if (found.rows == 0 && limits)
        document_add(page, PARAGRAPH, TONE_SOFT, "Nothing was found.");
    else if (found.rows == 0)
        document_add(
            page, PARAGRAPH, TONE_GOOD,
            table_whole(&data->tables[ABOUT], 0, "has_judged")
                ? "No kernel broke its proven bound, gave NaN or infinity where it promises "
                  "a number, crashed, hung or wrote where it must not."
                : "No output was judged in this run.");
    stored_table_free(&found);
}

/* ---- the sections of the page ---- */

/* Adds a chart, or why the run has nothing to draw. A missing gnuplot is reported once, at the top of the page. */
static void add_figure(const report_data *data, const char *stem, document *page)
{
    for (size_t i = 0; i < data->chart_count; i++) {
        const report_chart *chart = &data->charts[i];
        if (strcmp(chart->stem, stem) != 0)
            continue;
        if (!chart->reason[0])
            document_figure(page, chart);
        else if (!data->note[0])
            document_add(page, PARAGRAPH, TONE_SOFT, "%s Not drawn: %s.", chart->title,
                         chart->reason);
    }
}

/* Adds a sentence with the names of kernels, which have an underscore, as code. */
static void add_sentence(const char *line, text_tone tone, document *page)
{
    text_buffer out = {0};
    while (*line) {
        size_t length = strcspn(line, " "), name = length;
        while (name > 0 && strchr(",:.;)", line[name - 1]))
            name--;
        const char *mark = memchr(line, '_', name) ? "`" : "";
        clean_format(&out, FORM_PAGE, "%-s%.*s%-s%.*s", mark, (int)name, line, mark,
                     (int)(length - name), line + name);
        line += length;
        text_add(&out, *line ? " " : "");
        line += *line != '\0';
    }
    document_add(page, PARAGRAPH, tone, "%-s", out.bytes ? out.bytes : "");
    text_free(&out);
}

/* Adds a line that counts the faulty kernels and names the first few. Faults of peers are only in the tables. */
static void add_faults(const report_data *data, document *page)
{
    text_buffer names = {0};
    size_t faults = 0;
    for (size_t i = 0; i < data->view->standings.count; i++) {
        const kernel_standing *own = &data->view->standings.standings[i];
        if (own->dtype != data->answer.dtype || !own->fault || own->role == ROLE_PEER)
            continue;
        if (faults++ < NAMED_MOST)
            clean_format(&names, FORM_PAGE, "%s`%s`", names.length ? ", " : "", own->kernel);
    }
    if (faults)
        document_add(page, PARAGRAPH, TONE_FAULT,
                     "%zu kernel%s what %s: %-s%s. [Which, and on what inputs](#what-went-wrong)",
                     faults, faults == 1 ? " breaks" : "s break",
                     faults == 1 ? "it promises" : "they promise", names.bytes,
                     faults > NAMED_MOST ? ", ..." : "");
    text_free(&names);
}

/* Adds the answer and the kernels of the field, which README.md and the first screen show. */
static void add_answer(const report_data *data, document *page)
{
    const unsigned own = OPERATION_BIT(view_operation(data->view)), all = data->view->others | own;
    text_buffer words = {0};
    document_section(page, "answer", "Which kernel to use");
    view_add_coverage(data->view, &words);
    if (view_is_partial(data->view))
        add_sentence(words.bytes, TONE_FAULT, page);
    text_free(&words);
    /* The pages of other operations are in folders below the first operation's page (draw_report()). */
    for (int kind = 0; kind < OPERATIONS; kind++)
        if (data->view->others & OPERATION_BIT(kind)) {
            const bool below = (all & (OPERATION_BIT(kind) - 1)) != 0;
            document_add(page, PARAGRAPH, TONE_SOFT,
                         "The run has %s too, on a page of its own: "
                         "[%s](%-s%-s%-sindex.html). The counts are of both.",
                         operations[kind]->title, operations[kind]->title,
                         all & (own - 1) ? "../" : "", below ? operations[kind]->name : "",
                         below ? "/" : "");
        }
    answer_sentences(&data->answer, &words);
    size_t good = data->answer.recommended ? 2 : 0; /* the recommended kernel and its accuracy */
    for (char *line = words.bytes, *end; line && (end = strchr(line, '\n')); line = end + 1) {
        *end = '\0';
        add_sentence(line, good > 0 ? TONE_GOOD : TONE_NONE, page);
        good -= good > 0;
    }
    text_free(&words);
    add_faults(data, page);
    result_noise(&data->answer, &words); /* the terminal's line on noise */
    if (words.bytes && words.bytes[0] == '!')
        document_add(page, PARAGRAPH, TONE_FAULT, "%.*s", (int)strcspn(words.bytes + 2, "\n"),
                     words.bytes + 2);
    text_free(&words);
    add_figure(data, "field", page);
}

/* Adds the folded details: the other charts, and the tables of all kernels, inputs and worst rows. */
static void add_details(const report_data *data, document *page)
{
    static const char *const shown[] = {"field", "throughput", "speed_error", "error_kappa",
                                        "conventions"};
    static const relation_column columns[] = {FOR_PEOPLE("data in"),     FOR_PEOPLE("hidden size"),
                                              FOR_PEOPLE("fastest"),     OPTIONAL("GB/s"),
                                              FOR_PEOPLE("recommended"), OPTIONAL("GB/s")};
    document_section(page, "details", "Details");
    document_add(page, FOLD, TONE_NONE,
                 "Which kernel at which hidden size; more charts: spread of errors, threads and "
                 "cold caches, other types");
    document_add(page, PARAGRAPH, TONE_SOFT,
                 "Fastest: by %% of the copy, at any error. Recommended: fastest within 2 row ULP. "
                 "≈: another kernel may be as fast, since its 95 %% interval overlaps.");
    relation *sizes = relation_create(COLUMNS(columns));
    table_add_to(&data->tables[SIZES], sizes);
    document_table(page, sizes);
    for (size_t i = 0; i < data->chart_count; i++) {
        bool was_shown = false;
        for (size_t j = 0; j < sizeof shown / sizeof *shown; j++)
            was_shown = was_shown || strcmp(data->charts[i].stem, shown[j]) == 0;
        if (!was_shown)
            add_figure(data, data->charts[i].stem, page);
    }
    document_fold_end(page);
    document_add(page, FOLD, TONE_NONE, "Every kernel%s%s", data->tables[SHAPE].rows ? " at " : "",
                 table_text(&data->tables[SHAPE], 0, "words"));
    add_kernels_table(data, page);
    document_fold_end(page);
    document_add(page, FOLD, TONE_NONE,
                 "Errors by input: the largest row ULP on each family of rows");
    add_inputs_table(data, page);
    document_fold_end(page);
    document_add(page, FOLD, TONE_NONE, "The worst row of each kernel, and how to run it again");
    add_worst_table(data, page);
    document_fold_end(page);
}

/* Adds the terms of the page, one sentence each. */
static void add_how_to_read(document *page)
{
    static const char *const terms[][2] = {
        {"GB/s", "bytes of x read and of y written, by the median time of a call"},
        {"% of copy", "time of a plain copy of the same bytes (the fastest of a plain loop, one of "
                      "non-temporal stores and rep movsb, measured in the same minutes) by the "
                      "time of the kernel, "
                      "with its 95 % interval"},
        {"row ULP",
         "error in ulps of |gamma| max|xhat| + |beta|: at most 0.5 if correctly rounded"},
        {"ordinary rows", "rows of the family normal: N(0,1)"},
        {"worst error",
         "the largest on any judged row but adversarial ones and edge cases (overflow, "
         "underflow, NaN, no eps), which have a column of their own"},
        {"kappa", "condition number of a row, sqrt(mean of x² / variance): 1 for a centred row, "
                  "10 000 for a mean ten thousand times the spread"},
        {"reproducible", "what the bits of a row depend on: `row` the row alone, `isa` not even on "
                         "the instruction set, `run` on more; in brackets: promised, not measured"},
    };
    document_add(page, FOLD, TONE_NONE, "How to read the figures");
    for (size_t i = 0; i < sizeof terms / sizeof *terms; i++)
        document_add(page, ITEM, TONE_NONE, "**%-s**: %-s.", terms[i][0], terms[i][1]);
    document_fold_end(page);
}

/* Adds command, seed and machine, with which a reader can repeat the run or verify its errors. */
static void add_repeat(const report_data *data, document *page)
{
    static const relation_column columns[] = {FOR_PEOPLE("fact"), FOR_PEOPLE("value")};
    const machine_facts *machine = &data->view->machine;
    const stored_run *run = &data->view->run;
    text_buffer cases = {0};
    relation *facts = relation_create(COLUMNS(columns));
    for (size_t i = 0; i < machine->count; i++)
        relation_row(facts, as_text(machine->facts[i].name), as_text(machine->facts[i].value));
    document_section(page, "repeat", "How to repeat it");
    clean_format(&page->html, FORM_MARKUP, "<pre>%s</pre>\n", run->command_line);
    clean_format(&page->markdown, FORM_LINE, "    %s\n\n", run->command_line);
    view_add_coverage(data->view, &cases);
    document_add(
        page, PARAGRAPH, TONE_NONE,
        "Seed %llu, plan %s, commit %.12s%s%s. With this seed the inputs and the order of the "
        "measurements are the same: errors agree to the bit, times as far as the machine "
        "does. The page holds the run: `lnbench report --verify index.html` derives the errors "
        "again, on any machine (with --plugin for plugins).",
        (unsigned long long)run->seed, run->plan, fact_of(data, "git_commit"),
        cases.length ? "; cases: " : "", cases.length ? cases.bytes : "");
    text_free(&cases);
    document_add(page, FOLD, TONE_NONE, "The machine and the build");
    document_table(page, facts);
    document_fold_end(page);
    add_how_to_read(page);
}

/* Sets the title and a subtitle such as "f32, torch, hot cache, 1 thread; AMD EPYC, 2 cores, in a virtual machine; gcc
 * 12.2.0; ..." */
static void add_title(const report_data *data, document *page)
{
    const char *hypervisor = fact_of(data, "hypervisor"), *cores = fact_of(data, "cores");
    text_buffer *words = &page->subtitle;
    if (data->tables[ABOUT].rows)
        text_format(words, "%s; ", table_text(&data->tables[ABOUT], 0, "words"));
    text_add(words, fact_of(data, "cpu_model"));
    if (strcmp(cores, "unknown") != 0)
        text_format(words, ", %s core%s", cores, strcmp(cores, "1") == 0 ? "" : "s");
    if (strcmp(hypervisor, "unknown") != 0 && strcmp(hypervisor, "none") != 0)
        text_add(words, ", in a virtual machine");
    text_format(words, "; %s; ", fact_of(data, "compiler"));
    for (size_t i = 0; i < data->tables[PEERS].rows; i++)
        text_format(words, "%s; ", table_text(&data->tables[PEERS], i, "name"));
    text_format(words, "commit %.12s; %.10s; run %lld", fact_of(data, "git_commit"),
                data->view->run.started, (long long)data->view->run.id);
    snprintf(page->title, sizeof page->title, "%s: which kernel is fast, which is wrong",
             operations[view_operation(data->view)]->title);
    clean_format(&page->markdown, FORM_MARKDOWN, "# %s\n\n%s\n\n", page->title, words->bytes);
}

/* Makes the page, with the most wanted parts first. */
static void make_page(const report_data *data, document *page)
{
    add_title(data, page);
    add_answer(data, page);
    if (data->note[0])
        document_add(page, PARAGRAPH, TONE_FAULT, "Charts are missing: %s.", data->note);
    document_section(page, "names", "The kernels by name");
    add_names_table(data, page);
    document_section(page, "speed", "Speed");
    add_figure(data, "throughput", page);
    document_section(page, "accuracy", "Speed and accuracy");
    add_figure(data, "speed_error", page);
    if (operation_has(operations[view_operation(data->view)], ROLE_MEAN))
        add_figure(data, "error_kappa", page);
    if (view_operation(data->view) == LN_OPERATION_LAYERNORM) {
        document_section(page, "conventions-section", "Conventions");
        add_figure(data, "conventions", page);
    }
    document_section(page, "what-went-wrong", "What went wrong");
    add_wrongs(data, false, page);
    document_add(page, FOLD, TONE_NONE,
                 "Limits: where kernels of these types may lose every digit");
    add_wrongs(data, true, page);
    document_fold_end(page);
    add_details(data, page);
    add_repeat(data, page);
    text_add(&page->html, "</section>\n");
}

/* ---- the input of the queries of charts and page ---- */

/* Returns the case of a kernel at the key column; 0: it was not timed there. */
static int64_t case_of(const answer_row *row)
{
    return row ? row->ranked->case_id : 0;
}

/* Stores the answer for the queries; for a type other than the page's the answer is empty. maybe_fastest: the cases
 * without a significant difference in speed, of all kernels (kind 1) and of those that can be recommended (2). */
static void put_requested(const report_data *data, const char *other)
{
    static const run_answer none = {.isa = ""};
    result_store *store = data->view->store;
    const run_answer *answer = other[0] ? &none : &data->answer;
    const case_key *key = answer->column_count ? &answer->columns[answer->key].key : NULL;
    const char *types =
        !other[0] && data->view->standings.count > 0 ? dtype_name(data->answer.dtype) : other;
    store_script(store, "CREATE TEMP TABLE maybe_fastest (case_id, kind)");
    for (int of = OF_ALL; of <= OF_CALLABLE; of++)
        for (size_t i = 0; answer->maybe_fastest_count[of] > 1 && i < answer->count; i++)
            if (answer->rows[i].maybe_fastest[of])
                store_put_line(store, "maybe_fastest", "ii", answer->rows[i].ranked->case_id,
                               (int64_t)(1 + of));
    store_script(store, "CREATE TEMP TABLE drawn (run, operation, types, page, rows, hidden, isa, "
                        "fastest, recommended, proven, noisy)");
    store_put_line(store, "drawn", "isniiisiiii", data->view->run.id,
                   operation_name(view_operation(data->view)), types, (int64_t)!other[0],
                   (int64_t)(key ? key->rows : 0), (int64_t)(key ? key->hidden : 0), answer->isa,
                   answer->ranking.fastest ? answer->ranking.fastest->case_id : 0,
                   case_of(answer->recommended), case_of(answer->proven),
                   (int64_t)(answer->noisy || answer->unsure));
}

/* Stores the errors of each kernel of the type, and whether it can be recommended, for the queries. */
static void put_standings(const run_view *view, ln_type type)
{
    const recommend_request wanted = {
        .run = view->run.id,
        .at = {.operation = view_operation(view), .dtype = type},
        .budget = STANDING_ROW_ULP,
        .kappa = NAN,
    };
    kernel_ranking ranking = store_recommend(view->store, &wanted);
    store_script(view->store, "CREATE TEMP TABLE standing (kernel, types, role, other_param, "
                              "recommendable, judged, error, worst_case, edge_case)");
    for (size_t i = 0; i < view->standings.count; i++) {
        const kernel_standing *own = &view->standings.standings[i];
        const ranked_kernel *ranked = ranked_of(&ranking, own->kernel);
        const error_sum *any = &own->errors[SCOPE_NO_EDGE_CASES];
        if (own->dtype != type || !ranked)
            continue;
        bool recommendable = ranked->callable && ranked->within && !ranked->doubt[0];
        store_put_line(view->store, "standing", "sssiiidid", own->kernel, dtype_name(type),
                       kernel_role_words[own->role], (int64_t)ranked->other_param,
                       (int64_t)recommendable, (int64_t)any->judged, any->error, any->at,
                       own->errors[SCOPE_EDGE_CASES].error);
    }
    free(ranking.kernels);
}

/* Reads the data of a type, and writes the tables of its charts. */
static void prepare_type(report_data *data, ln_type type, const char *directory)
{
    /* the type's name if it is not the page's type, else "" */
    const char *other = type == data->answer.dtype ? "" : dtype_name(type);
    const stored_run *run = &data->view->run;
    result_store *store = data->view->store;
    text_buffer footer = {0};
    text_format(&footer, "%s | commit %.12s%s | %s | run %lld, seed %llu",
                fact_of(data, "cpu_model"), fact_of(data, "git_commit"),
                strcmp(fact_of(data, "git_dirty"), "yes") == 0 ? " (dirty)" : "", run->started,
                (long long)run->id, (unsigned long long)run->seed);
    store_scratch_begin(store);
    put_requested(data, other);
    put_standings(data->view, type);
    store_script(store, charts_shown_sql);
    for (size_t i = 0; i < TABLES && !other[0]; i++)
        data->tables[i] = store_get_table(store, table_names[i]);
    for (size_t i = 0; i < chart_count; i++) {
        report_chart *chart = &data->charts[data->chart_count];
        if (!chart_list[i].of_report)
            continue;
        chart_prepare(store, &chart_list[i], other, footer.bytes, directory, chart);
        /* An empty chart of another type is left out without a reason. */
        data->chart_count += !chart->reason[0] || !other[0];
    }
    store_scratch_end(store);
    text_free(&footer);
}

/* ---- charts and files ---- */

/* Draws the charts. If gnuplot failed, the note has the names of the charts and the first error. */
static void draw_charts(report_data *data, const char *directory, report_result *result)
{
    const report_chart *missing = NULL, *lost = NULL;
    text_buffer names = {0};
    charts_draw(data->charts, data->chart_count, directory);
    for (size_t i = 0; i < data->chart_count; i++) {
        const report_chart *chart = &data->charts[i];
        result->chart_count += !chart->reason[0];
        if (!missing && strncmp(chart->reason, "gnuplot", 7) == 0)
            missing = chart;
        if (chart->lost) {
            text_format(&names, "%s%s", lost ? ", " : "", chart->stem);
            lost = lost ? lost : chart;
        }
    }
    result->lost = lost != NULL;
    if (lost)
        snprintf(result->note, sizeof result->note, "%s: %s", names.bytes, lost->reason);
    else if (missing)
        snprintf(result->note, sizeof result->note, "%s", missing->reason);
    text_free(&names);
}

/* Writes the page as HTML, with the charts inlined and the packed run, if any, at its end, and as Markdown. */
report_result report_write(const run_view *view, const char *directory, const text_buffer *run)
{
    report_data data = {.view = view};
    report_result result = {.chart_count = 0};
    document page = {.directory = directory};
    text_buffer html = {0};
    machine_facts here;
    unsigned types = 0; /* bits 1 << ln_type */
    char tables[512], generator[100];
    report_path(tables, directory, "data", "");
    make_directories(tables);
    answer_make(view, &data.answer);
    prepare_type(&data, data.answer.dtype, directory);
    for (size_t i = 0; i < view->standings.count; i++)
        types |= 1u << view->standings.standings[i].dtype;
    for (ln_type type = LN_F32; type <= LN_F16; type++)
        if (type != data.answer.dtype && types & 1u << type)
            prepare_type(&data, type, directory);
    draw_charts(&data, directory, &result);
    data.note = result.note;
    machine_read(&here);
    snprintf(generator, sizeof generator, "lnbench %.20s %.12s%s",
             machine_fact_value(&here, "lnbench_version"), machine_fact_value(&here, "git_commit"),
             strcmp(machine_fact_value(&here, "git_dirty"), "yes") == 0 ? " (changed)" : "");
    machine_free(&here);
    make_page(&data, &page);
    report_path(result.index_html, directory, "index", ".html");
    report_path(result.markdown, directory, "report", ".md");
    add_frame(&page, generator, run, &html);
    if (run)
        hash_line_add(&html);
    write_whole_file(result.index_html, &html);
    write_whole_file(result.markdown, &page.markdown);
    text_free(&html);
    document_free(&page);
    for (size_t i = 0; i < TABLES; i++)
        stored_table_free(&data.tables[i]);
    answer_free(&data.answer);
    return result;
}

void draw_report(const run_view *view, const char *directory, const output_file *out)
{
    char folder[1024];
    text_buffer run = {0}, packed = {0};
    run_file_make(store_path(view->store), view->run.id, PACK_FAST, &packed);
    page_run_add(&run, &packed);
    text_free(&packed);
    for (run_view part = {0}; view_next_part(view, &part);) {
        const ln_operation kind = view_operation(&part);
        const bool first = kind == view_operation(view);
        snprintf(folder, sizeof folder, "%.900s%s%s", directory, first ? "" : "/",
                 first ? "" : operation_name(kind));
        report_result result = report_write(&part, folder, &run);
        if (result.note[0] && !result.lost)
            output_note("%s", result.note);
        output_aside(out, "report  %s (%zu charts; %s)", result.index_html, result.chart_count,
                     result.markdown);
        if (result.lost)
            die(EXIT_CODE_ENVIRONMENT, "charts are missing: %s", result.note);
    }
    text_free(&run);
}
