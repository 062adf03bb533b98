#include "commands/hunt/show.h"
#include "domain/reproducible.h"
#include "answer/run_view.h"
#include <math.h>

static bool print_table(const hunt_state *hunt, const char *path, double seconds,
                        const output_file *output, error *err)
{
    static const char *const headings[] = {"row ULP", "proven", "verdict", "worst element",
                                           "origin"};
    text_table *table = table_create(headings, sizeof headings / sizeof *headings);
    for (size_t i = 0; i < hunt->find_count; i++) {
        const worst_row *find = &hunt->finds[i];
        char number[16], described[256];
        table_cell(table, number_short(find->row_ulp, number));
        table_cell(table,
                   isinf(find->bound_row_ulp) ? "none" : number_short(find->bound_row_ulp, number));
        table_cell(table, verdict_describe(&find->verdict, described, sizeof described));
        table_format(table, "column %zu: %a, exactly %a", find->column, find->computed,
                     find->exact);
        table_cell(table, find->origin);
    }
    if (!output_table(output, table, err))
        return false;
    output_line(output, "%s", "");
    if (isnan(seconds))
        output_line(output, "%llu restarts", (unsigned long long)hunt->done);
    else
        output_line(output, "%llu restarts, %llu rows tried in %.1f s (%.0f a second)%s",
                    (unsigned long long)hunt->done, (unsigned long long)hunt->rows, seconds,
                    (double)hunt->rows / seconds, hunt->interrupted ? ": interrupted" : "");
    if (hunt->reproducible)
        output_line(output, "%s is reproducible: %s", hunt->settings.kernel, hunt->reproducible);
    output_line(output, "finds   %s", path);
    return true;
}

static json_t *find_json(const worst_row *find)
{
    char computed[40], exact[40];
    snprintf(computed, sizeof computed, "%a", find->computed);
    snprintf(exact, sizeof exact, "%a", find->exact);
    json_t *object = json_pack(
        "{s:I, s:o, s:o, s:o, s:I, s:s, s:s, s:o}", "restart", (json_int_t)find->restart, "score",
        json_figure(find->score), "row_ulp_max", json_figure(find->row_ulp), "bound_row_ulp",
        json_figure(find->bound_row_ulp), "column", (json_int_t)find->column, "computed", computed,
        "exact", exact, "origin", json_text(find->origin));
    json_put_verdict(object, &find->verdict);
    return object;
}

static json_t *hunt_json(const hunt_state *hunt, const char *path, double seconds)
{
    const hunt_settings *settings = &hunt->settings;
    bool timed = !isnan(seconds);
    json_t *finds = json_array();
    for (size_t i = 0; i < hunt->find_count; i++)
        json_array_append_new(finds, find_json(&hunt->finds[i]));
    return json_pack("{s:s, s:o, s:s, s:s, s:I, s:I, s:s, s:I, s:o, s:o, s:b, s:o, s:o}", "kernel",
                     settings->kernel, "reproducibility", reproducible_json(hunt->reproducible),
                     "convention", settings->convention, "dtype", dtype_name(settings->storage),
                     "hidden", (json_int_t)settings->hidden, "seed", (json_int_t)settings->seed,
                     "goal", settings->goal == GOAL_BOUND ? "bound" : "row-ulp", "restarts",
                     (json_int_t)hunt->done, "rows_tried",
                     timed ? json_integer((json_int_t)hunt->rows) : json_null(), "seconds",
                     json_figure(seconds), "interrupted", hunt->interrupted, "file",
                     json_text(path), "finds", finds);
}

bool hunt_print(const hunt_state *hunt, const char *path, double seconds, const output_file *output,
                error *err)
{
    if (output->format == OUTPUT_JSON)
        return output_json(output, hunt_json(hunt, path, seconds), err);
    return print_table(hunt, path, seconds, output, err);
}
