/* From the script's tables and a view to what a page shows, and the words of a run. */
#include "show/charts/data.h"
#include "base/allocate.h"
#include "domain/reproducible.h"
#include <stdlib.h>
#include <string.h>

static const view_case *case_at_shape(const report_data *data, const stored_table *timed,
                                      const char *kernel)
{
    const run_view *view = data->view;
    for (size_t row = 0; row < timed->rows; row++)
        for (size_t i = 0; i < view->cases.count; i++)
            if (view->cases.cases[i].id == table_whole(timed, row, "case_id") &&
                strcmp(view->cases.cases[i].key.kernel, kernel) == 0)
                return &view->views[i];
    return NULL;
}

static void gather_kernels(report_data *data, const stored_table *timed)
{
    const standing_list *standings = &data->view->standings;
    data->kernels = allocate_zeroed(standings->count + 1, sizeof *data->kernels);
    for (size_t i = 0; i < standings->count; i++) {
        const kernel_standing *standing = &standings->standings[i];
        if (standing->dtype == data->type)
            data->kernels[data->kernel_count++] = (report_kernel){
                .name = standing->kernel,
                .reproducibility = reproducible_stored(data->view->kernels, standing->kernel),
                .standing = standing,
                .class = error_class_of(&standing->errors[SCOPE_ANY], data->type),
                .at = case_at_shape(data, timed, standing->kernel)};
    }
}

void report_data_read(report_data *data)
{
    result_store *store = data->view->store;
    stored_table timed;
    const struct {
        const char *name;
        stored_table *table;
    } tables[] = {{"about", &data->about},  {"shape", &data->shape},
                  {"looks", &data->looks},  {"best", &data->best},
                  {"shown", &data->shown},  {"inputs_judged", &data->inputs_judged},
                  {"timed_kernels", &timed}};
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        *tables[i].table = store_get_table(store, tables[i].name);
    dtype_from_name(table_text(&data->about, 0, "types"), &data->type);
    gather_kernels(data, &timed);
    stored_table_free(&timed);
    if (data->about.rows > 0)
        data->input_error_count = store_input_errors(
            store, data->view->run.id, table_text(&data->about, 0, "judged_convention"),
            &data->input_errors);
}

void report_data_free(report_data *data)
{
    stored_table *const tables[] = {&data->about, &data->shape, &data->looks,
                                    &data->best,  &data->shown, &data->inputs_judged};
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        stored_table_free(tables[i]);
    answer_free(&data->answer);
    free(data->kernels);
    free(data->input_errors);
    *data = (report_data){0};
}

const report_kernel *report_kernel_named(const report_data *data, const char *name)
{
    for (size_t i = 0; i < data->kernel_count; i++)
        if (strcmp(data->kernels[i].name, name) == 0)
            return &data->kernels[i];
    return NULL;
}

static const char *fact_of(const run_view *view, const char *name)
{
    return machine_fact_value(&view->machine, name);
}

void report_machine_words(const run_view *view, text_buffer *out)
{
    const char *hypervisor = fact_of(view, "hypervisor"), *cores = fact_of(view, "cores");
    text_add(out, fact_of(view, "cpu_model"));
    if (strcmp(cores, "unknown") != 0)
        text_format(out, ", %s core%s", cores, strcmp(cores, "1") == 0 ? "" : "s");
    if (strcmp(hypervisor, "unknown") != 0 && strcmp(hypervisor, "none") != 0)
        text_add(out, ", in a virtual machine");
}

void report_footer(const run_view *view, text_buffer *out)
{
    text_format(out, "%s | commit %.12s%s | %s | run %lld, seed %llu", fact_of(view, "cpu_model"),
                fact_of(view, "git_commit"),
                strcmp(fact_of(view, "git_dirty"), "yes") == 0 ? " (dirty)" : "", view->run.started,
                (long long)view->run.id, (unsigned long long)view->run.seed);
}
