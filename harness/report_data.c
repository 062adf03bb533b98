#include "report_parts.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const report_regimes[REGIME_COUNT] = {"L1", "L2", "L3", "DRAM"};

static const char *string_of(const json_t *object, const char *key)
{
    const char *string = json_string_value(json_object_get(object, key));
    return string ? string : "";
}

static ln_type type_of(const json_t *object, const char *key)
{
    ln_type type;
    return dtype_from_name(string_of(object, key), &type) ? type : LN_F32;
}

size_t report_kernel_index(const report_data *data, const char *name)
{
    for (size_t i = 0; i < data->kernel_count; i++)
        if (strcmp(data->kernels[i].name, name) == 0)
            return i;
    return data->kernel_count;
}

static void add_kernel(report_data *data, const char *name, const json_t *descriptor)
{
    if (!name[0] || is_roof(name) || report_kernel_index(data, name) < data->kernel_count)
        return;
    report_kernel *kernel = &data->kernels[data->kernel_count++];
    *kernel = (report_kernel){
        .name = name,
        .statistics = string_of(descriptor, "statistics"),
        .isa = string_of(descriptor, "isa"),
    };
    kernel->facts = (theory_kernel){
        .statistics = kernel->statistics,
        .apply = string_of(descriptor, "apply"),
        .isa = kernel->isa,
        .storage = type_of(descriptor, "io"),
        .accumulator = type_of(descriptor, "acc"),
        .unroll = (unsigned)json_integer_value(json_object_get(descriptor, "unroll")),
    };
}

static bool has_case(const view *view, const char *name)
{
    for (size_t i = 0; i < view->cases.count; i++)
        if (strcmp(view->cases.cases[i].key.kernel, name) == 0)
            return true;
    return false;
}

/* Descriptors give the order; a case whose kernel has no descriptor still counts. */
static bool gather_kernels(report_data *data)
{
    const view *view = data->view;
    size_t described = view->kernels ? json_array_size(view->kernels) : 0;
    data->kernels = calloc(described + view->cases.count + 1, sizeof *data->kernels);
    if (!data->kernels)
        return false;
    for (size_t i = 0; i < described; i++) {
        const json_t *descriptor = json_array_get(view->kernels, i);
        const char *name = string_of(descriptor, "name");
        if (has_case(view, name))
            add_kernel(data, name, descriptor);
    }
    for (size_t i = 0; i < view->cases.count; i++)
        add_kernel(data, view->cases.cases[i].key.kernel, NULL);
    return true;
}

void report_method(const report_kernel *kernel, char method[NAME_MAX_LENGTH])
{
    char suffix[40];
    snprintf(method, NAME_MAX_LENGTH, "%s", kernel->name);
    snprintf(suffix, sizeof suffix, "_%.30s", kernel->isa);
    char *at = strstr(method, suffix);
    if (at && kernel->isa[0])
        memmove(at, at + strlen(suffix), strlen(at + strlen(suffix)) + 1);
}

bool report_is_crowded(const report_data *data)
{
    enum { MOST_LINES = 16 };
    return data->kernel_count > MOST_LINES;
}

bool report_leads_method(const report_data *data, size_t kernel)
{
    char own[NAME_MAX_LENGTH], other[NAME_MAX_LENGTH];
    const view_case *at = report_case_at(data, data->kernels[kernel].name, &data->shape);
    if (!report_is_crowded(data))
        return true;
    report_method(&data->kernels[kernel], own);
    for (size_t i = 0; i < data->kernel_count; i++) {
        report_method(&data->kernels[i], other);
        if (i == kernel || strcmp(own, other) != 0)
            continue;
        const view_case *rival = report_case_at(data, data->kernels[i].name, &data->shape);
        bool timed = rival && report_timed(rival);
        if (timed && (!at || !report_timed(at) || rival->speed.gbps > at->speed.gbps))
            return false;
    }
    return true;
}

/* Wider registers, fewer roundings in a row. */
static int isa_rank(const char *isa)
{
    static const char *const ranked[] = {"scalar", "neon", "avx2", "avx512", "avx512bf16"};
    for (int i = 0; i < 5; i++)
        if (strcmp(isa, ranked[i]) == 0)
            return i + 1;
    return 0;
}

/* Whether any output of it could be looked at. */
static bool was_used(const report_data *data, const char *kernel)
{
    const stored_case *cases = data->view->cases.cases;
    size_t count;
    const size_t *own = report_cases_of(data, kernel, &count);
    for (size_t i = 0; i < count; i++)
        if (cases[own[i]].verdict.kind != VERDICT_UNSUPPORTED &&
            cases[own[i]].verdict.kind != VERDICT_SKIPPED)
            return true;
    return false;
}

static void choose_standing(report_data *data)
{
    char own[NAME_MAX_LENGTH], other[NAME_MAX_LENGTH];
    for (size_t i = 0; i < data->kernel_count; i++)
        data->kernels[i].stands = was_used(data, data->kernels[i].name);
    for (size_t i = 0; i < data->kernel_count && report_is_crowded(data); i++) {
        report_method(&data->kernels[i], own);
        for (size_t j = 0; j < i && data->kernels[i].stands; j++) {
            report_method(&data->kernels[j], other);
            if (!data->kernels[j].stands || strcmp(own, other) != 0)
                continue;
            bool wider = isa_rank(data->kernels[i].isa) > isa_rank(data->kernels[j].isa);
            data->kernels[wider ? j : i].stands = false;
        }
    }
}

/* Counting sort: a slot a kernel, one for all roofs, and one for where the last ends. */
static bool sort_cases(report_data *data)
{
    const stored_cases *cases = &data->view->cases;
    size_t slots = data->kernel_count + 2;
    size_t *slot_of = calloc(cases->count + 1, sizeof *slot_of);
    data->by_kernel = calloc(cases->count + 1, sizeof *data->by_kernel);
    data->first = calloc(slots + 1, sizeof *data->first);
    bool fine = slot_of && data->by_kernel && data->first;
    for (size_t i = 0; i < cases->count && fine; i++) {
        slot_of[i] = report_kernel_index(data, cases->cases[i].key.kernel);
        data->first[slot_of[i] + 1]++;
    }
    for (size_t slot = 0; slot < slots && fine; slot++)
        data->first[slot + 1] += data->first[slot];
    for (size_t i = cases->count; i-- > 0 && fine;) /* from behind, each slot from its end */
        data->by_kernel[--data->first[slot_of[i] + 1]] = i;
    /* What was decremented is now where the slot begins: one place up. */
    for (size_t slot = 0; slot < slots && fine; slot++)
        data->first[slot] = data->first[slot + 1];
    if (fine)
        data->first[slots - 1] = cases->count;
    free(slot_of);
    return fine;
}

const size_t *report_cases_of(const report_data *data, const char *kernel, size_t *count)
{
    size_t slot = report_kernel_index(data, kernel);
    *count = data->first[slot + 1] - data->first[slot];
    return data->by_kernel + data->first[slot];
}

bool report_timed(const view_case *timed)
{
    return isfinite(timed->speed.gbps);
}

bool report_in_group(const report_group *group, const case_key *key)
{
    return group->dtype == key->dtype && group->cache == key->cache &&
           group->threads == key->threads &&
           (is_roof(key->kernel) || strcmp(group->convention, key->convention) == 0);
}

static size_t count_in_group(const view *view, const report_group *group)
{
    size_t count = 0;
    for (size_t i = 0; i < view->cases.count; i++) {
        const case_key *key = &view->cases.cases[i].key;
        count +=
            report_timed(&view->views[i]) && !is_roof(key->kernel) && report_in_group(group, key);
    }
    return count;
}

static void choose_group(report_data *data)
{
    const view *view = data->view;
    for (size_t i = 0; i < view->cases.count; i++) {
        const case_key *key = &view->cases.cases[i].key;
        if (is_roof(key->kernel) || !report_timed(&view->views[i]))
            continue;
        report_group group = {key->convention, key->dtype, key->cache, key->threads, 0};
        if (data->group.cases && report_in_group(&data->group, key))
            continue;
        group.cases = count_in_group(view, &group);
        if (group.cases > data->group.cases)
            data->group = group;
    }
}

const view_case *report_case_at(const report_data *data, const char *kernel,
                                const report_shape *shape)
{
    const view *view = data->view;
    const view_case *found = NULL;
    size_t count;
    const size_t *own = report_cases_of(data, kernel, &count);
    for (size_t at = 0; at < count; at++) {
        size_t i = own[at];
        const case_key *key = &view->cases.cases[i].key;
        if (key->rows != shape->rows || key->hidden != shape->hidden ||
            strcmp(key->kernel, kernel) != 0 || !report_in_group(&data->group, key))
            continue;
        if (report_timed(&view->views[i]))
            return &view->views[i];
        if (strcmp(key->input, "normal") == 0 && !found)
            found = &view->views[i];
    }
    return found;
}

const view_case *report_point(const report_data *data, const char *kernel, const char *regime,
                              size_t hidden)
{
    const view *view = data->view;
    const view_case *found = NULL;
    size_t count;
    const size_t *own = report_cases_of(data, kernel, &count);
    for (size_t at = 0; at < count; at++) {
        size_t i = own[at];
        const case_key *key = &view->cases.cases[i].key;
        if (key->hidden != hidden || !report_timed(&view->views[i]) ||
            strcmp(key->kernel, kernel) != 0 || !report_in_group(&data->group, key) ||
            strcmp(view->views[i].regime, regime) != 0)
            continue;
        if (!found || key->rows > found->stored->key.rows)
            found = &view->views[i];
    }
    return found;
}

static int compare_sizes(const void *a, const void *b)
{
    size_t left = *(const size_t *)a, right = *(const size_t *)b;
    return (left > right) - (left < right);
}

bool report_hidden_sizes(const report_data *data, const char *regime, size_t **sizes, size_t *count)
{
    const view *view = data->view;
    *count = 0;
    *sizes = calloc(view->cases.count + 1, sizeof **sizes);
    if (!*sizes)
        return false;
    for (size_t i = 0; i < view->cases.count && data->group.cases; i++) {
        const case_key *key = &view->cases.cases[i].key;
        if (report_timed(&view->views[i]) && !is_roof(key->kernel) &&
            report_in_group(&data->group, key) && strcmp(view->views[i].regime, regime) == 0)
            (*sizes)[(*count)++] = key->hidden;
    }
    qsort(*sizes, *count, sizeof **sizes, compare_sizes);
    size_t distinct = 0;
    for (size_t i = 0; i < *count; i++)
        if (i == 0 || (*sizes)[i] != (*sizes)[i - 1])
            (*sizes)[distinct++] = (*sizes)[i];
    *count = distinct;
    return true;
}

/* How well a shape stands for the run: kernels timed at it, then L2, then near hidden 768. */
typedef struct shape_score {
    size_t kernels;
    int regime;
    double distance;
} shape_score;

static shape_score score_shape(const report_data *data, const view_case *timed)
{
    const case_key *key = &timed->stored->key;
    report_shape shape = {key->rows, key->hidden};
    shape_score score = {0};
    for (size_t i = 0; i < data->kernel_count; i++) {
        const view_case *at = report_case_at(data, data->kernels[i].name, &shape);
        score.kernels += at && report_timed(at);
    }
    const char *regime = timed->regime;
    score.regime = strcmp(regime, "L2") == 0     ? 3
                   : strcmp(regime, "DRAM") == 0 ? 2
                   : strcmp(regime, "L3") == 0   ? 1
                                                 : 0;
    score.distance = fabs(log2((double)key->hidden / 768));
    return score;
}

static bool better_shape(const shape_score *a, const shape_score *b)
{
    if (a->kernels != b->kernels)
        return a->kernels > b->kernels;
    if (a->regime != b->regime)
        return a->regime > b->regime;
    return a->distance < b->distance;
}

static void choose_shape(report_data *data)
{
    const view *view = data->view;
    shape_score best = {0};
    for (size_t i = 0; i < view->cases.count && data->group.cases; i++) {
        const case_key *key = &view->cases.cases[i].key;
        if (is_roof(key->kernel) || !report_timed(&view->views[i]) ||
            !report_in_group(&data->group, key))
            continue;
        shape_score score = score_shape(data, &view->views[i]);
        if (!data->has_shape || better_shape(&score, &best)) {
            best = score;
            data->has_shape = true;
            data->shape = (report_shape){key->rows, key->hidden};
            data->shape_regime = view->views[i].regime;
        }
    }
}

static size_t count_judged(const view *view, const report_group *group)
{
    size_t count = 0;
    for (size_t i = 0; i < view->cases.count; i++)
        count +=
            view->cases.cases[i].judged && report_same_judged(group, &view->cases.cases[i].key);
    return count;
}

/* The convention and type that were timed, if they were judged too; else those judged most. */
static void choose_judged(report_data *data)
{
    const view *view = data->view;
    if (data->group.cases) {
        data->judged = data->group;
        data->judged.cases = count_judged(view, &data->group);
        if (data->judged.cases)
            return;
    }
    for (size_t i = 0; i < view->cases.count; i++) {
        const case_key *key = &view->cases.cases[i].key;
        if (is_roof(key->kernel) || !view->cases.cases[i].judged ||
            (data->judged.cases && report_same_judged(&data->judged, key)))
            continue;
        report_group group = {key->convention, key->dtype, key->cache, key->threads, 0};
        group.cases = count_judged(view, &group);
        if (group.cases > data->judged.cases)
            data->judged = group;
    }
}

/* The group of a type with most timed cases: that like the report's where there is one. */
static void choose_group_of_type(report_data *data, ln_type type)
{
    const view *view = data->view;
    data->group.dtype = type;
    data->group.cases = 0;
    data->has_shape = false;
    report_group like = data->group;
    like.cases = count_in_group(view, &like);
    if (like.cases)
        data->group = like;
    for (size_t i = 0; i < view->cases.count && !like.cases; i++) {
        const case_key *key = &view->cases.cases[i].key;
        if (is_roof(key->kernel) || !report_timed(&view->views[i]) || key->dtype != type)
            continue;
        report_group group = {key->convention, key->dtype, key->cache, key->threads, 0};
        group.cases = count_in_group(view, &group);
        if (group.cases > data->group.cases)
            data->group = group;
    }
    choose_shape(data);
}

bool report_data_of_type(const report_data *data, ln_type type, report_data *typed)
{
    const view *view = data->view;
    *typed = *data;
    typed->is_other_type = true;
    choose_group_of_type(typed, type);
    typed->judged.dtype = type;
    typed->judged.cases = data->judged.cases ? count_judged(view, &typed->judged) : 0;
    if (typed->judged.cases)
        return true;
    for (size_t i = 0; i < view->cases.count; i++) {
        const case_key *key = &view->cases.cases[i].key;
        if (is_roof(key->kernel) || !view->cases.cases[i].judged || key->dtype != type ||
            (typed->judged.cases && report_same_judged(&typed->judged, key)))
            continue;
        report_group group = {key->convention, key->dtype, key->cache, key->threads, 0};
        group.cases = count_judged(view, &group);
        if (group.cases > typed->judged.cases)
            typed->judged = group;
    }
    return typed->judged.cases > 0;
}

bool report_data_make(const view *view, report_data *data, error *error)
{
    *data = (report_data){.view = view};
    if (!gather_kernels(data) || !sort_cases(data))
        return fail_memory(error, "kernels of a report");
    choose_standing(data);
    choose_group(data);
    choose_shape(data);
    choose_judged(data);
    return true;
}

void report_data_free(report_data *data)
{
    free(data->kernels);
    free(data->by_kernel);
    free(data->first);
    *data = (report_data){0};
}

bool report_is_failure(const verdict *verdict)
{
    return verdict_exit_code(verdict) != EXIT_CODE_FINE;
}

bool report_same_judged(const report_group *group, const case_key *key)
{
    return group->dtype == key->dtype && strcmp(group->convention, key->convention) == 0;
}

/* Left-out cases weigh nothing, declared ones little, what a kernel did wrong most. */
static int gravity(const verdict *verdict)
{
    if (verdict->kind == VERDICT_OK || verdict->kind == VERDICT_OK_NO_BOUND ||
        verdict->kind == VERDICT_PENDING || verdict->kind == VERDICT_UNSUPPORTED ||
        verdict->kind == VERDICT_SKIPPED)
        return 0;
    return (int)verdict->kind + (verdict->declared ? 0 : (int)VERDICT_COUNT);
}

bool report_of_family(const char *input, const char *family)
{
    size_t length = strlen(family);
    return strncmp(input, family, length) == 0 && (input[length] == '\0' || input[length] == ':');
}

report_error report_worst_error(const report_data *data, const report_group *group,
                                const char *kernel, const char *input)
{
    const stored_cases *cases = &data->view->cases;
    report_error worst = {.row_ulp = NAN};
    size_t count;
    const size_t *own = report_cases_of(data, kernel, &count);
    for (size_t i = 0; i < count && group->cases; i++) {
        const stored_case *stored = &cases->cases[own[i]];
        const case_key *key = &stored->key;
        if (!stored->judged || strcmp(key->kernel, kernel) != 0 ||
            (input && !report_of_family(key->input, input)) || !report_same_judged(group, key))
            continue;
        worst.judged = true;
        double row_ulp = stored->metrics.row_ulp_max;
        if (isfinite(row_ulp) && !(worst.row_ulp >= row_ulp)) {
            worst.row_ulp = row_ulp;
            worst.worst = stored;
        }
        int grave = gravity(&stored->verdict);
        if (grave > (worst.failed ? gravity(&worst.failed->verdict) : 0))
            worst.failed = stored;
        if (stored->verdict.kind != VERDICT_INACCURATE &&
            grave > (worst.unusable ? gravity(&worst.unusable->verdict) : 0))
            worst.unusable = stored;
    }
    return worst;
}

bool report_at_fault(const report_data *data, const char *kernel)
{
    report_error worst = report_worst_error(data, &data->judged, kernel, NULL);
    return worst.failed && report_is_failure(&worst.failed->verdict);
}

const view_case *report_fastest(const report_data *data, const char *regime, size_t hidden,
                                bool faulty_too)
{
    const view_case *best = NULL;
    for (size_t i = 0; i < data->kernel_count; i++) {
        const char *name = data->kernels[i].name;
        const view_case *point = report_point(data, name, regime, hidden);
        if (!point || (!faulty_too && report_at_fault(data, name)))
            continue;
        if (!best || point->speed.gbps > best->speed.gbps)
            best = point;
    }
    return best;
}

void report_group_words(const report_group *group, text *out)
{
    text_format(out, "%s, %s, %s, %u thread%s", dtype_name(group->dtype), group->convention,
                cache_name(group->cache), group->threads, group->threads == 1 ? "" : "s");
}

static const char *first_known(const machine *machine, const char *const *names)
{
    for (; *names; names++) {
        const char *value = machine_fact_value(machine, *names);
        if (strcmp(value, "unknown") != 0)
            return value;
    }
    return "unknown";
}

const char *report_commit(const view *view)
{
    static const char *const names[] = {"git_commit", "commit", NULL};
    return first_known(&view->machine, names);
}

void report_footer(const view *view, text *out)
{
    static const char *const cpu_names[] = {"cpu_model", "cpu", NULL};
    static const char *const dirty_names[] = {"git_dirty", "dirty", NULL};
    const char *dirty = first_known(&view->machine, dirty_names);
    bool is_dirty =
        strcmp(dirty, "yes") == 0 || strcmp(dirty, "true") == 0 || strcmp(dirty, "1") == 0;
    text_format(out, "%s | commit %.12s%s | %s | run %lld, seed %llu",
                first_known(&view->machine, cpu_names), report_commit(view),
                is_dirty ? " (dirty)" : "", view->run.started, (long long)view->run.id,
                (unsigned long long)view->run.seed);
}
