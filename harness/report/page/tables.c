/* The tables of the page. */
#include "report/page/page.h"
#include "base/allocate.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static void error_cell(const report_data *data, const error_sum *sum, document *page)
{
    char words[ERROR_WORDS];
    document_tone tone = sum->faults                                             ? TONE_FAULT
                         : error_class_of(sum, data->judged.dtype) >= ERROR_LOST ? TONE_DECLARED
                                                                                 : TONE_NONE;
    document_cell(page, tone, sum->error, "%s",
                  view_error_words(data->view, sum, data->judged.dtype, words));
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
    for (size_t i = 0; i < data->look_count; i++) {
        const view_case *at = data->looks[i].kind == LOOK_PEER
                                  ? report_best(data, &data->looks[i], &data->shape)
                                  : NULL;
        best = at && (!best || view_by_speed(at, best) < 0) ? at : best;
    }
    return best ? best->speed.gbps : (double)NAN;
}

static void error_cells(const report_data *data, const kernel_standing *standing, document *page)
{
    error_cell(data, &standing->errors[SCOPE_ORDINARY], page);
    error_cell(data, &standing->errors[SCOPE_ANY], page);
    error_cell(data, &standing->errors[SCOPE_EXTREME], page);
}

/* The cells that each table of kernels has; at: timed, or NULL. */
static void kernel_cells(const report_data *data, const report_kernel *kernel, const view_case *at,
                         double peer, document *page)
{
    static const speed_figures none = SPEED_UNKNOWN;
    const speed_figures *speed = at ? &at->speed : &none;
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
        document_cell(page, extreme->wrong ? TONE_DECLARED : TONE_NONE, (double)extreme->wrong,
                      extreme->judged == 0 ? "-"
                      : extreme->wrong     ? "%zu wrong"
                                           : "right",
                      extreme->wrong);
        document_cell(page, TONE_NONE, NAN, "%s", row->reproducible);
        document_cell(page, TONE_NONE, NAN, "%s",
                      row->all->judged == 0    ? "-"
                      : row->standing->rounded ? "yes"
                                               : "no");
    }
}

typedef struct timed_kernel {
    const report_kernel *kernel;
    const view_case *at;
} timed_kernel;

static int faster_first(const void *a, const void *b)
{
    const timed_kernel *left = a, *right = b;
    if (left->at && right->at)
        return view_by_speed(left->at, right->at);
    return left->at || right->at ? !left->at - !right->at
                                 : strcmp(left->kernel->name, right->kernel->name);
}

void page_kernels_table(const report_data *data, document *page)
{
    static const document_column columns[] = {{"kernel", false, false}, KERNEL_COLUMNS};
    timed_kernel *list = allocate_zeroed(data->kernel_count + 1, sizeof *list);
    double peer = peer_speed(data);
    size_t count = 0;
    for (size_t i = 0; i < data->kernel_count; i++) {
        const report_kernel *kernel = &data->kernels[i];
        const view_case *at = data->has_shape ? report_case_at(data, kernel, &data->shape) : NULL;
        if (at || kernel->class != ERROR_UNKNOWN)
            list[count++] = (timed_kernel){kernel, at};
    }
    qsort(list, count, sizeof *list, faster_first);
    document_table(page, columns, sizeof columns / sizeof *columns);
    for (size_t i = 0; i < count; i++) {
        name_cell(list[i].kernel->name, page);
        kernel_cells(data, list[i].kernel, list[i].at, peer, page);
    }
    free(list);
}

/* ---- errors by input ---- */

static error_sum error_on(const report_data *data, const report_kernel *kernel, const char *input)
{
    for (size_t i = 0; i < data->input_error_count; i++) {
        const input_error *own = &data->input_errors[i];
        if (own->dtype == data->judged.dtype && strcmp(own->kernel, kernel->name) == 0 &&
            strcmp(own->input, input) == 0)
            return own->sum;
    }
    return (error_sum){.error = NAN};
}

static size_t judged_inputs(const report_data *data, const char **inputs, size_t most)
{
    size_t count = 0;
    for (size_t i = 0; i < data->view->cases.count; i++) {
        const stored_case *stored = &data->view->cases.cases[i];
        size_t place = 0;
        if (data->kernel_of[i] == data->kernel_count || !report_is_judged(data, stored))
            continue;
        while (place < count && strcmp(inputs[place], stored->key.input) != 0)
            place++;
        if (place == count && count < most)
            inputs[count++] = stored->key.input;
    }
    return count;
}

void page_inputs_table(const report_data *data, document *page)
{
    enum { INPUTS_MOST = 256, KERNELS_MOST = 7 };
    static document_column columns[1 + KERNELS_MOST];
    static char names[KERNELS_MOST][REPORT_NAME];
    const report_kernel *kernels[KERNELS_MOST];
    const char *inputs[INPUTS_MOST];
    size_t count = judged_inputs(data, inputs, INPUTS_MOST), kernel_count = 0;
    columns[0] = (document_column){"input", false, false};
    for (size_t i = 0; i < data->look_count && kernel_count < KERNELS_MOST; i++) {
        const view_case *at = report_shown(data, i);
        if (!at)
            continue;
        report_name(data, at, names[kernel_count]);
        kernels[kernel_count++] = report_kernel_at(data, at);
        columns[kernel_count] = (document_column){names[kernel_count - 1], true, kernel_count > 3};
    }
    document_table(page, columns, 1 + kernel_count);
    for (size_t i = 0; i < count; i++) {
        document_cell(page, TONE_NONE, NAN, "%s", inputs[i]);
        for (size_t kernel = 0; kernel < kernel_count; kernel++) {
            error_sum sum = error_on(data, kernels[kernel], inputs[i]);
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
