/* The tables of the page. */
#include "show/page/page.h"
#include "base/allocate.h"
#include "base/clean.h"
#include "show/result_table.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* One kernel's cases that are wrong for one reason. */
typedef struct wrong_list {
    text_buffer inputs; /* up to INPUTS_SHOWN, whatever convention or shape */
    size_t count, cases;
    double most; /* row ULP */
} wrong_list;

enum { INPUTS_SHOWN = 8 };

static void add_words(const wrong_list *list, const char *what, text_buffer *out)
{
    char number[16];
    clean_format(out, FORM_PAGE, "%s%s on ", out->length ? "; " : "", what);
    text_format(out, "%s%s (%zu case%s", list->inputs.bytes,
                list->count > INPUTS_SHOWN ? ", ..." : "", list->cases,
                list->cases == 1 ? "" : "s");
    if (strcmp(what, verdict_reason(VERDICT_INACCURATE)) == 0 && isfinite(list->most))
        text_format(out, ", up to %s row ULP", number_short(list->most, number));
    text_add(out, ")");
}

/* Rows of one kernel and reason are neighbours: *row goes behind them. */
static void describe_wrong(const stored_table *wrongs, size_t *row, text_buffer *out)
{
    const char *kernel = table_text(wrongs, *row, "kernel"),
               *what = table_text(wrongs, *row, "what");
    wrong_list list = {.most = NAN};
    for (; *row < wrongs->rows && strcmp(table_text(wrongs, *row, "kernel"), kernel) == 0 &&
           strcmp(table_text(wrongs, *row, "what"), what) == 0;
         ++*row) {
        if (list.count++ < INPUTS_SHOWN)
            clean_format(&list.inputs, FORM_PAGE, "%s%s", list.count > 1 ? ", " : "",
                         table_text(wrongs, *row, "input"));
        list.cases += (size_t)table_whole(wrongs, *row, "cases");
        list.most = fmax(list.most, table_real(wrongs, *row, "most"));
    }
    add_words(&list, what, out);
    text_free(&list.inputs);
}

/* What is wrong with each kernel, in words. */
static void describe_wrongs(const report_data *data, bool limits, text_buffer *wrongs)
{
    static const char sql[] =
        "SELECT kernel, what, input, count(*) AS cases, max(most) AS most, min(min(case_id)) OVER "
        "(PARTITION BY kernel, what) AS first "
        "FROM (SELECT *, reason || iif(type_limited OR reason IN ('wrong-class', 'inaccurate'), "
        "'', coalesce(' (' || nullif(detail, '') || ')', '')) AS what, "
        "(SELECT row_ulp_max FROM accuracies WHERE accuracies.case_id = judged.case_id) AS most "
        "FROM judged WHERE run = ?1 AND operation = ?2 AND types = ?3 AND "
        "iif(?4, type_limited, failed)) "
        "GROUP BY kernel, what, input ORDER BY first, min(case_id)";
    stored_table found = store_ask(data->view->store, sql, "issi", data->view->run.id,
                                   operation_name(view_operation(data->view)),
                                   dtype_name(data->type), (int64_t)limits);
    for (size_t row = 0; row < found.rows;) {
        const report_kernel *kernel = report_kernel_named(data, table_text(&found, row, "kernel"));
        text_buffer words = {0};
        describe_wrong(&found, &row, kernel ? &wrongs[kernel - data->kernels] : &words);
        text_free(&words);
    }
    stored_table_free(&found);
}

size_t page_wrongs(const report_data *data, bool limits, document *page)
{
    text_buffer *wrongs = allocate_zeroed(data->kernel_count + 1, sizeof *wrongs);
    size_t kernels = 0;
    describe_wrongs(data, limits, wrongs);
    for (size_t i = 0; i < data->kernel_count; i++) {
        text_buffer names = {0};
        for (size_t j = i; j < data->kernel_count && wrongs[i].length; j++)
            if (j == i || (wrongs[j].length && strcmp(wrongs[i].bytes, wrongs[j].bytes) == 0)) {
                clean_format(&names, FORM_PAGE, "%s`%s`", names.length ? ", " : "",
                             data->kernels[j].name);
                kernels++;
                if (j > i)
                    text_free(&wrongs[j]);
            }
        const kernel_standing *standing = data->kernels[i].standing;
        stored_case fault;
        if (standing->role == ROLE_PLUGIN && !limits && wrongs[i].length &&
            store_case(data->view->store, standing->fault, &fault))
            clean_format(&wrongs[i], FORM_PAGE, ". Case %lld (%s, %zux%zu, %s): %s",
                         (long long)fault.id, fault.key.input, fault.key.rows, fault.key.hidden,
                         fault.key.convention, fault.verdict.detail);
        if (names.length)
            document_item(page, limits ? TONE_LIMIT : TONE_FAULT, "%-s: %-s.", names.bytes,
                          wrongs[i].bytes);
        text_free(&names);
        text_free(&wrongs[i]);
    }
    free(wrongs);
    return kernels;
}

/* Kernels' names, which have an underscore, as code. */
static void add_sentence(const char *line, text_tone tone, document *page)
{
    text_buffer out = {0};
    while (*line) {
        size_t length = strcspn(line, " "), name = length;
        while (name > 0 && strchr(",:.;", line[name - 1]))
            name--;
        const char *mark = memchr(line, '_', name) ? "`" : "";
        clean_format(&out, FORM_PAGE, "%-s%.*s%-s%.*s", mark, (int)name, line, mark,
                     (int)(length - name), line + name);
        line += length;
        text_add(&out, *line ? " " : "");
        line += *line != '\0';
    }
    document_paragraph(page, tone, "%-s", out.bytes ? out.bytes : "");
    text_free(&out);
}

static void add_faults(const report_data *data, document *page)
{
    enum { NAMED = 4 };
    text_buffer names = {0};
    size_t faults = 0;
    for (size_t i = 0; i < data->kernel_count; i++) {
        const report_kernel *kernel = &data->kernels[i];
        if (!kernel->standing->fault || kernel->standing->role == ROLE_PEER)
            continue;
        if (faults++ < NAMED)
            clean_format(&names, FORM_PAGE, "%s`%s`", names.length ? ", " : "", kernel->name);
    }
    if (faults)
        document_paragraph(page, TONE_FAULT,
                           "%zu kernel%s what %s: %-s%s. [Which, and on what inputs](#wrong)",
                           faults, faults == 1 ? " breaks" : "s break",
                           faults == 1 ? "it promises" : "they promise", names.bytes,
                           faults > NAMED ? ", ..." : "");
    text_free(&names);
}

/* The terminal's line, where speeds are uncertain. */
static void add_noise(const report_data *data, document *page)
{
    text_buffer line = {0};
    result_noise(&data->answer, &line);
    if (line.bytes && line.bytes[0] == '!')
        document_paragraph(page, TONE_FAULT, "%.*s", (int)strcspn(line.bytes + 2, "\n"),
                           line.bytes + 2);
    text_free(&line);
}

/* The first operation's page has the others in folders below it (draw_report()). */
static void add_others(const run_view *view, document *page)
{
    const unsigned own = OPERATION_BIT(view_operation(view)), all = view->others | own;
    for (int kind = 0; kind < OPERATIONS; kind++)
        if (view->others & OPERATION_BIT(kind))
            document_paragraph(page, TONE_SOFT,
                               "The run has %s too, on a page of its own: "
                               "[%s](%-s%-s%-sindex.html). The counts are of both.",
                               operations[kind]->title, operations[kind]->title,
                               all & (own - 1) ? "../" : "",
                               all & (OPERATION_BIT(kind) - 1) ? operations[kind]->name : "",
                               all & (OPERATION_BIT(kind) - 1) ? "/" : "");
}

void page_answer(const page_contents *contents, document *page)
{
    const report_data *data = contents->data;
    text_buffer words = {0};
    document_section(page, "answer", "Which kernel to use");
    view_add_coverage(data->view, &words);
    if (view_is_partial(data->view))
        add_sentence(words.bytes, TONE_FAULT, page);
    text_free(&words);
    add_others(data->view, page);
    answer_sentences(&data->answer, &words);
    size_t good = data->answer.recommended ? 2 : 0; /* what to call, and how accurate it is */
    for (char *line = words.bytes, *end; line && (end = strchr(line, '\n')); line = end + 1) {
        *end = '\0';
        add_sentence(line, good > 0 ? TONE_GOOD : TONE_NONE, page);
        good -= good > 0;
    }
    text_free(&words);
    add_faults(data, page);
    add_noise(data, page);
    page_figure(contents, "field", page);
}

static relation_value as_error(const report_data *data, const error_sum *sum)
{
    char words[ERROR_WORDS];
    const error_class class = error_class_of(sum, data->type);
    return as_figure_words(sum->error,
                           sum->wrong || class == ERROR_NAN ? TONE_FAULT
                           : class == ERROR_LOST            ? TONE_LIMIT
                                                            : TONE_NONE,
                           "%s", view_error_words(data->view, sum, data->type, words));
}

static relation_value as_share(const speed_figures *speed)
{
    return isfinite(speed->copy_ratio_lo) && isfinite(speed->copy_ratio_hi)
               ? as_figure_words(speed->copy_ratio, TONE_NONE, "%.0f %% [%.0f, %.0f]",
                                 100 * speed->copy_ratio, 100 * speed->copy_ratio_lo,
                                 100 * speed->copy_ratio_hi)
               : as_text(NULL);
}

/* The fastest peer at the report's shape; NaN: none was timed. */
static double peer_speed(const report_data *data)
{
    const view_case *best = NULL;
    for (size_t i = 0; i < data->best.rows; i++) {
        const report_kernel *kernel =
            table_whole(&data->best, i, "kind") == LOOK_PEER
                ? report_kernel_named(data, table_text(&data->best, i, "kernel"))
                : NULL;
        best = kernel && kernel->at && (!best || view_by_speed(kernel->at, best) < 0) ? kernel->at
                                                                                      : best;
    }
    return best ? best->speed.gbps : (double)NAN;
}

#define KERNEL                                                                                     \
    {                                                                                              \
        .heading = "kernel", .is_code = true                                                       \
    }
/* On a narrow screen those with a priority are left out. */
#define OPTIONAL(heading_)                                                                         \
    {                                                                                              \
        .heading = (heading_), .priority = 1                                                       \
    }
#define FIGURES                                                                                    \
    FOR_PEOPLE("GB/s"), OPTIONAL("% of copy [95 %]"), OPTIONAL("× fastest peer"),                  \
        OPTIONAL("error, ordinary rows"), FOR_PEOPLE("worst error"),                               \
        OPTIONAL("error, edge cases"), OPTIONAL("reproducible")

/* What was wrong on extreme rows, or a limit there, by how many cases. */
static relation_value as_extreme(const error_sum *extreme)
{
    const double cases = (double)(extreme->wrong + extreme->limited);
    return extreme->judged == 0 ? as_text(NULL)
           : extreme->wrong     ? as_figure_words(cases, TONE_FAULT, "%zu fail", extreme->wrong)
           : extreme->limited
               ? as_figure_words(cases, TONE_LIMIT, "%zu type-limited", extreme->limited)
               : as_figure_words(cases, TONE_NONE, "pass");
}

/* The rows of the terminal's short table, with the same figures. */
void page_names_table(const report_data *data, document *page)
{
    static const relation_column columns[] = {OPTIONAL(""), KERNEL, FIGURES,
                                              OPTIONAL("correctly rounded")};
    static const speed_figures none = SPEED_UNKNOWN;
    const run_answer *answer = &data->answer;
    relation *rows = relation_create(COLUMNS(columns));
    char times[16];
    for (size_t i = 0; i < answer->count; i++) {
        const answer_row *row = &answer->rows[i];
        const view_case *cell = answer->column_count ? row->cells[answer->key] : NULL;
        const speed_figures *speed = cell ? &cell->speed : &none;
        const error_sum *errors = row->standing->errors;
        if (!row->shown)
            continue;
        relation_row(
            rows, as_text(answer_role_word(answer, row)), as_text(row->kernel),
            as_figure(speed->gbps), as_share(speed),
            as_figure_words(row->speedup, TONE_NONE, "%s", answer_times(row->speedup, times)),
            as_error(data, &errors[SCOPE_ORDINARY]), as_error(data, &errors[SCOPE_ANY]),
            as_extreme(&errors[SCOPE_EXTREME]), as_text(row->reproducible),
            as_text(row->all->judged == 0    ? "-"
                    : row->standing->rounded ? "yes"
                                             : "no"));
    }
    document_table(page, rows);
}

static int faster_first(const void *a, const void *b)
{
    const report_kernel *left = *(const report_kernel *const *)a,
                        *right = *(const report_kernel *const *)b;
    if (left->at && right->at)
        return view_by_speed(left->at, right->at);
    return left->at || right->at ? !left->at - !right->at : strcmp(left->name, right->name);
}

void page_kernels_table(const report_data *data, document *page)
{
    static const relation_column columns[] = {KERNEL, FIGURES};
    static const speed_figures none = SPEED_UNKNOWN;
    const report_kernel **list = allocate_zeroed(data->kernel_count + 1, sizeof *list);
    relation *rows = relation_create(COLUMNS(columns));
    double peer = peer_speed(data);
    size_t count = 0;
    for (size_t i = 0; i < data->kernel_count; i++) {
        const report_kernel *kernel = &data->kernels[i];
        if (kernel->at || kernel->class != ERROR_UNKNOWN)
            list[count++] = kernel;
    }
    qsort(list, count, sizeof *list, faster_first);
    for (size_t i = 0; i < count; i++) {
        const speed_figures *speed = list[i]->at ? &list[i]->at->speed : &none;
        const error_sum *errors = list[i]->standing->errors;
        relation_row(rows, as_text(list[i]->name), as_figure(speed->gbps), as_share(speed),
                     as_figure(speed->gbps / peer), as_error(data, &errors[SCOPE_ORDINARY]),
                     as_error(data, &errors[SCOPE_ANY]), as_error(data, &errors[SCOPE_EXTREME]),
                     as_text(list[i]->reproducibility));
    }
    document_table(page, rows);
    free(list);
}

/* ---- errors by input ---- */

static error_sum error_on(const report_data *data, const char *kernel, const char *input)
{
    for (size_t i = 0; i < data->input_error_count; i++) {
        const input_error *own = &data->input_errors[i];
        if (own->dtype == data->type && strcmp(own->kernel, kernel) == 0 &&
            strcmp(own->input, input) == 0)
            return own->sum;
    }
    return (error_sum){.error = NAN};
}

void page_inputs_table(const report_data *data, document *page)
{
    enum { KERNELS_MOST = 7, ON_NARROW_SCREENS = 3 };
    relation_column columns[1 + KERNELS_MOST] = {FOR_PEOPLE("input")};
    const stored_table *shown = &data->shown;
    size_t count = shown->rows < KERNELS_MOST ? shown->rows : KERNELS_MOST;
    for (size_t i = 0; i < count; i++)
        columns[i + 1] = (relation_column){.heading = table_text(shown, i, "name"),
                                           .priority = i >= ON_NARROW_SCREENS};
    relation *rows = relation_create(columns, 1 + count);
    for (size_t row = 0; row < data->inputs_judged.rows; row++) {
        const char *input = table_text(&data->inputs_judged, row, "input");
        relation_add(rows, as_text(input));
        for (size_t i = 0; i < count; i++) {
            error_sum sum = error_on(data, table_text(shown, i, "kernel"), input);
            relation_add(rows, as_error(data, &sum));
        }
    }
    document_table(page, rows);
}

void page_worst_table(const report_data *data, document *page)
{
    static const relation_column columns[] = {
        KERNEL,
        FOR_PEOPLE("worst error"),
        OPTIONAL("input"),
        OPTIONAL("rows × hidden"),
        OPTIONAL("reproducible"),
        {.heading = "again", .priority = 1, .is_code = true},
    };
    relation *rows = relation_create(COLUMNS(columns));
    for (size_t i = 0; i < data->kernel_count; i++) {
        const error_sum *any = &data->kernels[i].standing->errors[SCOPE_ANY];
        stored_case worst;
        if (!isnan(any->error) && store_case(data->view->store, any->at, &worst))
            relation_row(rows, as_text(data->kernels[i].name), as_error(data, any),
                         as_text(worst.key.input),
                         as_format("%zu × %zu", worst.key.rows, worst.key.hidden),
                         as_text(data->kernels[i].reproducibility),
                         as_format("lnbench replay --case %lld", (long long)worst.id));
    }
    document_table(page, rows);
}

void page_machine_table(const report_data *data, document *page)
{
    static const relation_column columns[] = {FOR_PEOPLE("fact"), FOR_PEOPLE("value")};
    const machine_facts *machine = &data->view->machine;
    relation *rows = relation_create(COLUMNS(columns));
    for (size_t i = 0; i < machine->count; i++)
        relation_row(rows, as_text(machine->facts[i].name), as_text(machine->facts[i].value));
    document_table(page, rows);
}
