/* What threads and cold caches change: the kernels that a reader asks for in each state. */
#include "report/charts/chart.h"
#include <string.h>

enum { STATES_MOST = 8 };

typedef struct timing_state {
    cache_state cache;
    unsigned threads;
} timing_state;

/* The states in which the report's shape was timed under its convention. */
static size_t list_states(const report_data *data, timing_state *states)
{
    size_t count = 0;
    for (size_t i = 0; i < data->view->cases.count && data->has_shape; i++) {
        const case_key *key = &data->view->cases.cases[i].key;
        size_t place = 0;
        if (data->kernel_of[i] == data->kernel_count || key->rows != data->shape.rows ||
            key->hidden != data->shape.hidden || !report_is_timed(&data->view->views[i]) ||
            strcmp(key->convention, data->group.convention) != 0)
            continue;
        while (place < count &&
               (states[place].cache != key->cache || states[place].threads != key->threads))
            place++;
        if (place == count && count < STATES_MOST)
            states[count++] = (timing_state){key->cache, key->threads};
    }
    return count;
}

static const view_case *case_in(const report_data *data, const report_kernel *kernel,
                                const timing_state *state)
{
    for (size_t i = 0; i < data->view->cases.count; i++) {
        const case_key *key = &data->view->cases.cases[i].key;
        if (data->kernel_of[i] == (size_t)(kernel - data->kernels) && key->cache == state->cache &&
            key->threads == state->threads && key->rows == data->shape.rows &&
            key->hidden == data->shape.hidden &&
            strcmp(key->convention, data->group.convention) == 0 &&
            report_is_timed(&data->view->views[i]))
            return &data->view->views[i];
    }
    return NULL;
}

static void draw_states(const report_data *data, chart_output *out)
{
    timing_state states[STATES_MOST];
    size_t count = list_states(data, states), place = 0;
    char key[32], words[64];
    text_buffer subtitle = {0};
    tsv_row(&out->table, "wwwwwww", "place", "label", "kernel", "state", "gbps", "lo", "hi");
    for (size_t i = 0; i < data->look_count && count > 1; i++) {
        const view_case *at = report_shown(data, i);
        char name[REPORT_NAME];
        place += at != NULL;
        for (size_t state = 0; at && state < count; state++) {
            const view_case *in = case_in(data, report_kernel_at(data, at), &states[state]);
            if (in)
                tsv_row(&out->table, "zssznnn", place, report_name(data, at, name),
                        in->stored->key.kernel, state + 1, in->speed.gbps,
                        in->speed.gbps * in->speed.time_ns / in->speed.time_hi_ns,
                        in->speed.gbps * in->speed.time_ns / in->speed.time_lo_ns);
        }
    }
    if (place == 0)
        chart_because(out, "it needs several thread counts or cache states: run again with "
                           "--threads 1,2 or --cache hot,cold");
    for (size_t state = 0; state < count; state++) {
        snprintf(key, sizeof key, "state_%zu", state + 1);
        snprintf(words, sizeof words, "%s, %u thread%s", cache_phrase(states[state].cache),
                 states[state].threads, states[state].threads == 1 ? "" : "s");
        chart_words(out, key, words);
    }
    text_format(&subtitle, "%s, %s, %zu rows × %zu", dtype_name(data->judged.dtype),
                data->judged.convention ? data->judged.convention : "-", data->shape.rows,
                data->shape.hidden);
    chart_subtitle(out, &subtitle);
    chart_setting(out, "states", (double)count);
    chart_setting(out, "rows", (double)place);
}

static void command(const report_data *data, text_buffer *out)
{
    text_format(out,
                "lnbench run --plan %s --only speed --conventions %s --dtypes %s --cache hot,cold "
                "--threads 1,2 --shapes %zux%zu --seed %llu",
                data->view->run.plan, data->group.convention ? data->group.convention : "torch",
                dtype_name(data->group.dtype), data->shape.rows, data->shape.hidden,
                (unsigned long long)data->view->run.seed);
}

const chart_kind states_chart = {
    "states",
    "What do threads and cold caches change?",
    "Longer is faster. Hot: the data was used a moment ago, as in a model where the layer before "
    "has "
    "just written it; cold: it comes from memory.",
    "states.gp",
    draw_states,
    command,
};
