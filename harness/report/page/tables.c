/* The tables of the page. */
#include "report/page/page.h"
#include "base/allocate.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static void error_cell(const report_data *data, const error_sum *sum, document *page)
{
    char words[ERROR_WORDS];
    document_tone tone = sum->wrong                                      ? TONE_FAULT
                         : error_class_of(sum, data->type) >= ERROR_LOST ? TONE_LIMIT
                                                                         : TONE_NONE;
    document_cell(page, tone, sum->error, "%s",
                  view_error_words(data->view, sum, data->type, words));
}

static void name_cell(const char *name, document *page)
{
    document_cell(page, TONE_NONE, NAN, "`%s`", name);
}

static void share_cell(const speed_figures *speed, document *page)
{
    if (isfinite(speed->roof_lo) && isfinite(speed->roof_hi))
        document_cell(page, TONE_NONE, speed->roof_ratio, "%.0f %% [%.0f, %.0f]",
                      100 * speed->roof_ratio, 100 * speed->roof_lo, 100 * speed->roof_hi);
    else
        document_cell(page, TONE_NONE, speed->roof_ratio, "-");
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

static void error_cells(const report_data *data, const kernel_standing *standing, document *page)
{
    error_cell(data, &standing->errors[SCOPE_ORDINARY], page);
    error_cell(data, &standing->errors[SCOPE_ANY], page);
    error_cell(data, &standing->errors[SCOPE_EXTREME], page);
}

static void kernel_cells(const report_data *data, const report_kernel *kernel, double peer,
                         document *page)
{
    static const speed_figures none = SPEED_UNKNOWN;
    const speed_figures *speed = kernel->at ? &kernel->at->speed : &none;
    char number[16];
    document_cell(page, TONE_NONE, speed->gbps, "%s", number_short(speed->gbps, number));
    share_cell(speed, page);
    document_cell(page, TONE_NONE, speed->gbps / peer, "%s",
                  number_short(speed->gbps / peer, number));
    error_cells(data, kernel->standing, page);
    document_cell(page, TONE_NONE, NAN, "%s",
                  kernel->reproducibility ? kernel->reproducibility : "-");
}

#define KERNEL_COLUMNS                                                                             \
    {"GB/s", true, false}, {"% of copy [95 %]", true, true}, {"× fastest peer", true, true},       \
        {"error, ordinary rows", true, true}, {"worst error", true, false},                        \
        {"error, extremes", true, true},                                                           \
    {                                                                                              \
        "reproducible", false, true                                                                \
    }

/* The rows of the terminal's short table, with the same figures. */
void page_names_table(const report_data *data, document *page)
{
    static const document_column columns[] = {{"", false, true},
                                              {"kernel", false, false},
                                              KERNEL_COLUMNS,
                                              {"correctly rounded", false, true}};
    static const speed_figures none = SPEED_UNKNOWN;
    const run_answer *answer = &data->answer;
    char number[16];
    document_table(page, columns, sizeof columns / sizeof *columns);
    for (size_t i = 0; i < answer->count; i++) {
        const answer_row *row = &answer->rows[i];
        const view_case *cell = answer->column_count ? row->cells[answer->key] : NULL;
        const speed_figures *speed = cell ? &cell->speed : &none;
        const error_sum *extreme = &row->standing->errors[SCOPE_EXTREME];
        if (!row->shown)
            continue;
        document_cell(page, TONE_NONE, NAN, "%s", answer_role_word(answer, row));
        name_cell(row->kernel, page);
        document_cell(page, TONE_NONE, speed->gbps, "%s", number_short(speed->gbps, number));
        share_cell(speed, page);
        document_cell(page, TONE_NONE, row->speedup, "%s", answer_times(row->speedup, number));
        error_cell(data, &row->standing->errors[SCOPE_ORDINARY], page);
        error_cell(data, &row->standing->errors[SCOPE_ANY], page);
        document_cell(page,
                      extreme->wrong     ? TONE_FAULT
                      : extreme->limited ? TONE_LIMIT
                                         : TONE_NONE,
                      (double)(extreme->wrong + extreme->limited),
                      extreme->judged == 0 ? "-"
                      : extreme->wrong     ? "%zu wrong"
                      : extreme->limited   ? "%zu limit"
                                           : "right",
                      extreme->wrong ? extreme->wrong : extreme->limited);
        document_cell(page, TONE_NONE, NAN, "%s", row->reproducible);
        document_cell(page, TONE_NONE, NAN, "%s",
                      row->all->judged == 0    ? "-"
                      : row->standing->rounded ? "yes"
                                               : "no");
    }
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
    static const document_column columns[] = {{"kernel", false, false}, KERNEL_COLUMNS};
    const report_kernel **list = allocate_zeroed(data->kernel_count + 1, sizeof *list);
    double peer = peer_speed(data);
    size_t count = 0;
    for (size_t i = 0; i < data->kernel_count; i++) {
        const report_kernel *kernel = &data->kernels[i];
        if (kernel->at || kernel->class != ERROR_UNKNOWN)
            list[count++] = kernel;
    }
    qsort(list, count, sizeof *list, faster_first);
    document_table(page, columns, sizeof columns / sizeof *columns);
    for (size_t i = 0; i < count; i++) {
        name_cell(list[i]->name, page);
        kernel_cells(data, list[i], peer, page);
    }
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
    enum { KERNELS_MOST = 7 };
    static document_column columns[1 + KERNELS_MOST] = {{"input", false, false}};
    const stored_table *shown = &data->shown;
    size_t count = shown->rows < KERNELS_MOST ? shown->rows : KERNELS_MOST;
    for (size_t i = 0; i < count; i++)
        columns[i + 1] = (document_column){table_text(shown, i, "name"), true, i >= 3};
    document_table(page, columns, 1 + count);
    for (size_t row = 0; row < data->inputs_judged.rows; row++) {
        const char *input = table_text(&data->inputs_judged, row, "input");
        document_cell(page, TONE_NONE, NAN, "%s", input);
        for (size_t i = 0; i < count; i++) {
            error_sum sum = error_on(data, table_text(shown, i, "kernel"), input);
            error_cell(data, &sum, page);
        }
    }
}

void page_worst_table(const report_data *data, document *page)
{
    static const document_column columns[] = {
        {"kernel", false, false},       {"worst error", true, false},  {"input", false, true},
        {"rows × hidden", false, true}, {"reproducible", false, true}, {"again", false, true}};
    document_table(page, columns, sizeof columns / sizeof *columns);
    for (size_t i = 0; i < data->kernel_count; i++) {
        const error_sum *any = &data->kernels[i].standing->errors[SCOPE_ANY];
        const stored_case *worst = isnan(any->error) ? NULL : view_find(data->view, any->at);
        if (!worst)
            continue;
        name_cell(data->kernels[i].name, page);
        error_cell(data, any, page);
        document_cell(page, TONE_NONE, NAN, "%s", worst->key.input);
        document_cell(page, TONE_NONE, NAN, "%zu × %zu", worst->key.rows, worst->key.hidden);
        document_cell(page, TONE_NONE, NAN, "%s",
                      data->kernels[i].reproducibility ? data->kernels[i].reproducibility : "-");
        document_cell(page, TONE_NONE, NAN, "`lnbench replay --case %lld`", (long long)worst->id);
    }
}

void page_machine_table(const report_data *data, document *page)
{
    static const document_column columns[] = {{"fact", false, false}, {"value", false, false}};
    const machine_facts *machine = &data->view->machine;
    document_table(page, columns, 2);
    for (size_t i = 0; i < machine->count; i++) {
        document_cell(page, TONE_NONE, NAN, "%s", machine->facts[i].name);
        document_cell(page, TONE_NONE, NAN, "%s", machine->facts[i].value);
    }
}
