/* The names that a reader asks for, and the words of a run. */
#include "report/data/data.h"
#include <math.h>
#include <string.h>

bool report_in_look(const report_look *look, const report_kernel *kernel)
{
    switch (look->kind) {
    case LOOK_FASTEST:
        return kernel->standing->role != ROLE_PEER;
    case LOOK_ACCURATE:
        return kernel->standing->accurate && !kernel->standing->doubt[0];
    case LOOK_TWO_PASS:
    case LOOK_WELFORD:
    case LOOK_NAIVE:
    case LOOK_FUSED:
        return kernel->standing->role == ROLE_TEXTBOOK && strcmp(kernel->form, look->label) == 0;
    case LOOK_PEER:
        return kernel->standing->role == ROLE_PEER && strcmp(kernel->source, look->source) == 0;
    case LOOK_PLUGIN:
        return kernel->standing->role == ROLE_PLUGIN && strcmp(kernel->source, look->source) == 0;
    }
    return false;
}

const report_look *report_look_of(const report_data *data, int kind)
{
    for (size_t i = 0; i < data->look_count; i++)
        if ((int)data->looks[i].kind == kind)
            return &data->looks[i];
    return NULL;
}

static void add_look(report_data *data, report_look look)
{
    bool found = false;
    for (size_t i = 0; i < data->kernel_count; i++)
        found = found || report_in_look(&look, &data->kernels[i]);
    if (found && data->look_count < LOOKS_MOST)
        data->looks[data->look_count++] = look;
}

static bool has_source(const report_data *data, const char *source)
{
    for (size_t i = 0; i < data->look_count; i++)
        if (data->looks[i].source && strcmp(data->looks[i].source, source) == 0)
            return true;
    return false;
}

void report_looks(report_data *data)
{
    static const report_look fixed[] = {
        {LOOK_FASTEST, 1, NULL, "fastest"},   {LOOK_ACCURATE, 2, NULL, "fastest within 2 ULP"},
        {LOOK_TWO_PASS, 3, NULL, "two-pass"}, {LOOK_WELFORD, 4, NULL, "Welford"},
        {LOOK_NAIVE, 5, NULL, "naive"},       {LOOK_FUSED, 6, NULL, "fused"}};
    enum { FIRST_PEER = 8, PEER_STYLES = 4 };
    int peers = 0;
    for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++) {
        report_look look = fixed[i];
        if (answer_is_noisy(&data->answer) && look.kind <= LOOK_ACCURATE)
            snprintf(look.label, sizeof look.label,
                     look.kind == LOOK_FASTEST ? "among the fastest" : "within 2 ULP");
        add_look(data, look);
    }
    for (size_t i = 0; i < data->kernel_count; i++) {
        const report_kernel *kernel = &data->kernels[i];
        bool peer = kernel->standing->role == ROLE_PEER;
        if ((!peer && kernel->standing->role != ROLE_PLUGIN) || has_source(data, kernel->source))
            continue;
        report_look look = {.kind = peer ? LOOK_PEER : LOOK_PLUGIN,
                            .style = peer ? FIRST_PEER + peers++ % PEER_STYLES : FIRST_PEER - 1,
                            .source = kernel->source};
        snprintf(look.label, sizeof look.label, "%.63s", peer ? kernel->version : kernel->source);
        for (char *at = look.label; *at; at++) /* foreign, and drawn as it is */
            *at = *at >= 0x20 && *at < 0x7f ? *at : '?';
        add_look(data, look);
    }
}

const view_case *report_case_at(const report_data *data, const report_kernel *kernel,
                                const report_shape *shape)
{
    for (size_t i = 0; i < data->timed_count; i++) {
        const view_case *at = &data->view->views[data->timed[i]];
        if (report_kernel_at(data, at) == kernel && at->stored->key.rows == shape->rows &&
            at->stored->key.hidden == shape->hidden)
            return at;
    }
    return NULL;
}

/* What the answer has of a look, however noisy it was; NULL: nothing. */
static const view_case *answered(const report_data *data, const report_look *look)
{
    const run_answer *answer = &data->answer;
    const answer_row *row = look->kind == LOOK_ACCURATE ? answer->take
                            : look->kind == LOOK_FASTEST && answer->untold_count[OF_ALL]
                                ? answer->untold[OF_ALL][0]
                                : NULL;
    return row ? row->at_key : NULL;
}

/* regime NULL: rows count; else rows do not. */
static const view_case *best_of(const report_data *data, const report_look *look,
                                const char *regime, size_t rows, size_t hidden)
{
    const view_case *best = NULL, *first = answered(data, look);
    for (size_t i = 0; i < data->timed_count; i++) {
        const view_case *at = &data->view->views[data->timed[i]];
        const report_kernel *kernel = report_kernel_at(data, at);
        if (!kernel || at->stored->key.hidden != hidden || !report_in_look(look, kernel) ||
            (regime ? strcmp(at->regime, regime) != 0 : at->stored->key.rows != rows))
            continue;
        if (at == first)
            return at;
        best = !best || view_by_speed(at, best) < 0 ? at : best;
    }
    return best;
}

const view_case *report_best(const report_data *data, const report_look *look,
                             const report_shape *shape)
{
    return best_of(data, look, NULL, shape->rows, shape->hidden);
}

const view_case *report_best_in(const report_data *data, const report_look *look,
                                const char *regime, size_t hidden)
{
    return best_of(data, look, regime, 0, hidden);
}

size_t report_hidden_sizes(const report_data *data, const char *regime, size_t *sizes, size_t most)
{
    size_t count = 0;
    for (size_t i = 0; i < data->timed_count; i++) {
        const view_case *at = &data->view->views[data->timed[i]];
        size_t hidden = at->stored->key.hidden, place = 0;
        if (is_roof(at->stored->key.kernel) || strcmp(at->regime, regime) != 0)
            continue;
        while (place < count && sizes[place] < hidden)
            place++;
        if ((place < count && sizes[place] == hidden) || count == most)
            continue;
        memmove(sizes + place + 1, sizes + place, (count - place) * sizeof *sizes);
        sizes[place] = hidden;
        count++;
    }
    return count;
}

const view_case *report_shown(const report_data *data, size_t look)
{
    const view_case *at =
        data->has_shape ? report_best(data, &data->looks[look], &data->shape) : NULL;
    for (size_t i = 0; at && i < look; i++)
        if (report_best(data, &data->looks[i], &data->shape) == at)
            return NULL;
    return at;
}

/* ---- words ---- */

const char *report_titles(const report_data *data, const view_case *at, char words[64])
{
    words[0] = '\0';
    for (size_t i = 0; i < data->look_count && data->has_shape; i++) {
        const report_look *look = &data->looks[i];
        if (look->kind > LOOK_ACCURATE || report_best(data, look, &data->shape) != at)
            continue;
        size_t length = strlen(words);
        snprintf(words + length, 64 - length, "%s%s", length ? ", " : "",
                 length ? "within 2 ULP" : look->label);
    }
    return words;
}

const char *report_name(const report_data *data, const view_case *at, char words[REPORT_NAME])
{
    const report_kernel *kernel = report_kernel_at(data, at);
    const char *label = kernel->label;
    char titles[64];
    report_titles(data, at, titles);
    for (size_t i = 0; i < data->look_count; i++)
        if (data->looks[i].kind == LOOK_PEER && report_in_look(&data->looks[i], kernel))
            label = data->looks[i].label;
    snprintf(words, REPORT_NAME, "%s%s%s", titles, titles[0] ? ": " : "", label);
    return words;
}

void report_group_words(const report_group *group, text_buffer *out)
{
    text_format(out, "%s, %s, %s, %u thread%s", dtype_name(group->dtype),
                group->convention ? group->convention : "-", cache_phrase(group->cache),
                group->threads, group->threads == 1 ? "" : "s");
}

void report_heading_words(const report_data *data, text_buffer *out)
{
    report_group_words(&data->group, out);
    if (data->answer.isa && data->answer.isa[0])
        text_format(out, ", %s unless named", data->answer.isa);
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
