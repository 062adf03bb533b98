/* The commands that make each figure again. */
#include "report_parts.h"
#include <stdlib.h>
#include <string.h>

enum { MOST_SHAPES = 64 };

typedef struct shape_list {
    report_shape shapes[MOST_SHAPES];
    size_t count;
} shape_list;

static void add_shape(shape_list *list, size_t rows, size_t hidden)
{
    for (size_t i = 0; i < list->count; i++)
        if (list->shapes[i].rows == rows && list->shapes[i].hidden == hidden)
            return;
    if (list->count < MOST_SHAPES)
        list->shapes[list->count++] = (report_shape){rows, hidden};
}

/* The shapes timed in a regime (NULL: in any) of the group that is shown. */
static void timed_shapes(const report_data *data, const char *regime, shape_list *list)
{
    const view *view = data->view;
    for (size_t i = 0; i < view->cases.count; i++) {
        const case_key *key = &view->cases.cases[i].key;
        if (!is_roof(key->kernel) && report_timed(&view->views[i]) &&
            report_in_group(&data->group, key) &&
            (!regime || strcmp(view->views[i].regime, regime) == 0))
            add_shape(list, key->rows, key->hidden);
    }
}

static void judged_shapes(const report_data *data, const char *input, shape_list *list)
{
    const stored_cases *cases = &data->view->cases;
    for (size_t i = 0; i < cases->count; i++) {
        const case_key *key = &cases->cases[i].key;
        if (cases->cases[i].judged && report_same_judged(&data->judged, key) &&
            strcmp(key->input, "normal") == 0 && (!input || strcmp(key->input, input) == 0))
            add_shape(list, key->rows, key->hidden);
    }
}

static void add_shapes(const shape_list *shapes, text *out)
{
    for (size_t i = 0; i < shapes->count; i++)
        text_format(out, "%s%zux%zu", i ? "," : " --shapes ", shapes->shapes[i].rows,
                    shapes->shapes[i].hidden);
}

/* The next larger number of threads that the run has; 0: none. */
static unsigned next_threads(const report_data *data, unsigned after)
{
    const stored_cases *cases = &data->view->cases;
    unsigned next = 0;
    for (size_t i = 0; i < cases->count; i++) {
        unsigned threads = cases->cases[i].key.threads;
        if (cases->cases[i].repetition_count == 0 && !report_timed(&data->view->views[i]))
            continue;
        if (threads > after && (next == 0 || threads < next))
            next = threads;
    }
    return next;
}

static void add_command(const report_data *data, const report_group *group, const char *only,
                        const shape_list *shapes, text *out)
{
    text_format(out, "lnbench run --plan %s --only %s --conventions %s --dtypes %s",
                data->view->run.plan, only, group->convention, dtype_name(group->dtype));
    if (strcmp(only, "speed") == 0)
        text_format(out, " --cache %s --threads %u", cache_name(group->cache), group->threads);
    add_shapes(shapes, out);
    text_format(out, " --seed %llu", (unsigned long long)data->view->run.seed);
}

static void add_speed(const report_data *data, const char *regime, text *out)
{
    shape_list shapes = {.count = 0};
    timed_shapes(data, regime, &shapes);
    add_command(data, &data->group, "speed", &shapes, out);
}

static void add_accuracy(const report_data *data, const char *input, text *out)
{
    shape_list shapes = {.count = 0};
    if (input)
        judged_shapes(data, input, &shapes);
    add_command(data, &data->judged, "accuracy", &shapes, out);
}

/* Numbers of threads, or cache states, in place of the group's own. */
static void add_states(const report_data *data, bool threads, text *out)
{
    shape_list shapes = {.count = 0};
    unsigned most = 0;
    timed_shapes(data, NULL, &shapes);
    text_format(out, "lnbench run --plan %s --only speed --conventions %s --dtypes %s",
                data->view->run.plan, data->group.convention, dtype_name(data->group.dtype));
    if (threads) {
        text_format(out, " --cache %s --threads ", cache_name(data->group.cache));
        for (unsigned next = 1; next; most = next) {
            next = next_threads(data, most);
            if (next)
                text_format(out, most ? ",%u" : "%u", next);
        }
    } else {
        text_format(out, " --cache hot,cold --threads %u", data->group.threads);
    }
    add_shapes(&shapes, out);
    text_format(out, " --seed %llu", (unsigned long long)data->view->run.seed);
}

void report_again(const report_data *data, const char *stem, text *out)
{
    static const char throughput[] = "throughput_";
    const char *regime = NULL;
    for (size_t i = 0; i < REGIME_COUNT; i++)
        if (strncmp(stem, throughput, sizeof throughput - 1) == 0 &&
            strcasecmp(stem + sizeof throughput - 1, report_regimes[i]) == 0)
            regime = report_regimes[i];
    if (strcmp(stem, "roof_share") == 0) {
        shape_list shape = {.shapes = {data->shape}, .count = 1};
        add_command(data, &data->group, "speed", &shape, out);
    } else if (strcmp(stem, "threads") == 0 || strcmp(stem, "hot_cold") == 0) {
        add_states(data, strcmp(stem, "threads") == 0, out);
    } else if (strcmp(stem, "ulp_histogram") == 0) {
        add_accuracy(data, NULL, out);
    } else if (strcmp(stem, "error_kappa") == 0 || strcmp(stem, "variance_kappa") == 0 ||
               strcmp(stem, "rounded") == 0) {
        add_accuracy(data, NULL, out);
    } else if (strcmp(stem, "error_hidden") == 0) {
        add_accuracy(data, "normal", out);
    } else if (strcmp(stem, "speed_error") == 0) {
        shape_list shape = {.shapes = {data->shape}, .count = data->has_shape};
        add_command(data, &data->group, "speed", &shape, out);
        text_add(out, "; ");
        add_accuracy(data, NULL, out);
    } else {
        add_speed(data, regime, out);
    }
}
