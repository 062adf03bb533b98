/* The commands that measure again what a chart shows. */
#include "report/charts/chart.h"
#include <string.h>

static void add_command(const report_data *data, const report_group *group, const char *only,
                        text_buffer *out)
{
    text_format(out, "lnbench run --plan %s --only %s --conventions %s --dtypes %s",
                data->view->run.plan, only, group->convention ? group->convention : "torch",
                dtype_name(group->dtype));
}

static void add_seed(const report_data *data, text_buffer *out)
{
    text_format(out, " --seed %llu", (unsigned long long)data->view->run.seed);
}

/* Whether an earlier case of the group was timed at the same shape. */
static bool was_named(const report_data *data, size_t index)
{
    const stored_case *cases = data->view->cases.cases;
    const case_key *key = &cases[data->timed[index]].key;
    for (size_t i = 0; i < index; i++) {
        const case_key *other = &cases[data->timed[i]].key;
        if (other->rows == key->rows && other->hidden == key->hidden)
            return true;
    }
    return false;
}

void chart_speed_again(const report_data *data, text_buffer *out)
{
    add_command(data, &data->group, "speed", out);
    text_format(out, " --cache %s --threads %u --shapes ", cache_name(data->group.cache),
                data->group.threads);
    for (size_t i = 0; i < data->timed_count; i++)
        if (!was_named(data, i)) {
            const case_key *key = &data->view->cases.cases[data->timed[i]].key;
            text_format(out, "%s%zux%zu", i ? "," : "", key->rows, key->hidden);
        }
    add_seed(data, out);
}

void chart_accuracy_again(const report_data *data, text_buffer *out)
{
    add_command(data, &data->judged, "accuracy", out);
    add_seed(data, out);
}

void chart_both_again(const report_data *data, text_buffer *out)
{
    chart_speed_again(data, out);
    text_add(out, "; ");
    chart_accuracy_again(data, out);
}
