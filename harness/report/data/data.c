/* From a view to the kernels, speeds and errors that a report shows. */
#include "report/data/data.h"
#include "base/allocate.h"
#include "domain/kernel.h"
#include "domain/kernel_name.h"
#include "domain/reproducible.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

bool report_is_timed(const view_case *at)
{
    return isfinite(at->speed.gbps);
}

static bool same_judged(const report_group *group, const case_key *key)
{
    return group->dtype == key->dtype && strcmp(group->convention, key->convention) == 0;
}

static bool in_group(const report_group *group, const case_key *key)
{
    return group->dtype == key->dtype && group->cache == key->cache &&
           group->threads == key->threads &&
           (is_roof(key->kernel) || strcmp(group->convention, key->convention) == 0);
}

static bool counts(const run_view *view, size_t i, bool timed, const ln_type *type)
{
    const stored_case *stored = &view->cases.cases[i];
    return !is_roof(stored->key.kernel) && (!type || stored->key.dtype == *type) &&
           (timed ? report_is_timed(&view->views[i]) : stored->judged);
}

/* The group with most timed (or judged) cases, the first of several. */
static report_group largest_group(const run_view *view, bool timed, const ln_type *type)
{
    report_group best = {0};
    for (size_t i = 0; i < view->cases.count; i++) {
        const case_key *key = &view->cases.cases[i].key;
        bool (*same)(const report_group *, const case_key *) = timed ? in_group : same_judged;
        if (!counts(view, i, timed, type) || (best.cases && same(&best, key)))
            continue;
        report_group group = {key->convention, key->dtype, key->cache, key->threads, 0};
        for (size_t j = i; j < view->cases.count; j++)
            group.cases += counts(view, j, timed, type) && same(&group, &view->cases.cases[j].key);
        if (group.cases > best.cases)
            best = group;
    }
    return best;
}

static void choose_groups(report_data *data, const ln_type *type)
{
    const run_view *view = data->view;
    data->group = largest_group(view, true, type);
    if (data->group.cases) {
        data->judged = data->group;
        data->judged.cases = 0;
        for (size_t i = 0; i < view->cases.count; i++)
            data->judged.cases += counts(view, i, false, type) &&
                                  same_judged(&data->group, &view->cases.cases[i].key);
    }
    if (!data->judged.cases)
        data->judged = largest_group(view, false, type);
    if (!data->judged.cases) {
        data->judged = data->group;
        data->judged.cases = 0;
    }
}

bool report_is_judged(const report_data *data, const stored_case *stored)
{
    return stored->judged && data->judged.convention && same_judged(&data->judged, &stored->key);
}

bool report_is_failure(const case_verdict *verdict)
{
    return verdict_exit_code(verdict) != EXIT_CODE_FINE;
}

static const char *word_of(const json_t *descriptor, const char *key)
{
    const char *word = json_string_value(json_object_get(descriptor, key));
    return word ? word : "";
}

/* What people call it: "two-pass", "fused", "two-pass, f64 sums". */
static void form_of(report_kernel *kernel, const json_t *descriptor)
{
    const char *schedule = word_of(descriptor, "schedule"), *acc = word_of(descriptor, "acc");
    const char *form =
        strcmp(schedule, "plain") == 0 ? word_of(descriptor, "statistics") : schedule;
    bool own_sums = strcmp(acc, "f64") != 0 || strcmp(word_of(descriptor, "io"), "f64") == 0;
    snprintf(kernel->form, sizeof kernel->form, "%.32s%s",
             strcmp(form, "welford") == 0 ? "Welford" : form, own_sums ? "" : ", f64 sums");
    for (char *at = kernel->form; *at; at++)
        *at = *at == '_' ? '-' : *at;
}

static void describe(report_kernel *kernel, const json_t *descriptor)
{
    kernel->isa = word_of(descriptor, "isa");
    kernel->source = word_of(descriptor, "source");
    kernel->version = word_of(descriptor, "version");
    if (kernel->standing->role == ROLE_TEXTBOOK)
        form_of(kernel, descriptor);
}

/* As in the answer's table; where there is none, the ISA is told as well. */
static void label_kernels(report_data *data)
{
    for (size_t i = 0; i < data->kernel_count; i++) {
        report_kernel *kernel = &data->kernels[i];
        bool whole = kernel->standing->role == ROLE_PLUGIN;
        kernel_label(kernel->name, whole ? "" : dtype_name(data->judged.dtype),
                     whole || !data->answer.isa ? "" : data->answer.isa, kernel->label,
                     sizeof kernel->label);
    }
}

static size_t find_kernel(const report_data *data, const char *name)
{
    size_t i = 0;
    while (i < data->kernel_count && strcmp(data->kernels[i].name, name) != 0)
        i++;
    return i;
}

static const json_t *descriptor_of(const json_t *kernels, const char *name)
{
    for (size_t i = 0; i < json_array_size(kernels); i++) {
        const json_t *descriptor = json_array_get(kernels, i);
        const char *own = json_string_value(json_object_get(descriptor, "name"));
        if (own && strcmp(own, name) == 0)
            return descriptor;
    }
    return NULL;
}

static void gather_kernels(report_data *data)
{
    const run_view *view = data->view;
    ln_type type = data->judged.dtype;
    data->kernels = allocate_zeroed(view->standings.count + 1, sizeof *data->kernels);
    data->kernel_of = allocate_zeroed(view->cases.count + 1, sizeof *data->kernel_of);
    data->timed = allocate_zeroed(view->cases.count + 1, sizeof *data->timed);
    for (size_t i = 0; i < view->standings.count; i++) {
        const kernel_standing *standing = &view->standings.standings[i];
        const error_sum *any = &standing->errors[SCOPE_ANY];
        if (standing->dtype != type)
            continue;
        report_kernel *kernel = &data->kernels[data->kernel_count++];
        *kernel =
            (report_kernel){.name = standing->kernel,
                            .reproducibility = reproducible_stored(view->kernels, standing->kernel),
                            .standing = standing,
                            .class = error_class_of(any, type)};
        describe(kernel, descriptor_of(view->kernels, kernel->name));
    }
    for (size_t i = 0; i < view->cases.count; i++) {
        const case_key *key = &view->cases.cases[i].key;
        data->kernel_of[i] =
            key->dtype == type ? find_kernel(data, key->kernel) : data->kernel_count;
        if (data->group.cases && report_is_timed(&view->views[i]) && in_group(&data->group, key))
            data->timed[data->timed_count++] = i;
    }
}

const report_kernel *report_kernel_at(const report_data *data, const view_case *at)
{
    size_t kernel = data->kernel_of[at - data->view->views];
    return kernel < data->kernel_count ? &data->kernels[kernel] : NULL;
}

static bool is_at(const view_case *at, const report_shape *shape)
{
    return at->stored->key.rows == shape->rows && at->stored->key.hidden == shape->hidden;
}

/* How well a shape stands for the run: kernels timed at it, then L2, then near hidden 768. */
static double score_shape(const report_data *data, const view_case *timed)
{
    report_shape shape = {timed->stored->key.rows, timed->stored->key.hidden};
    double regime = strcmp(timed->regime, "L2") == 0     ? 3
                    : strcmp(timed->regime, "DRAM") == 0 ? 2
                    : strcmp(timed->regime, "L3") == 0   ? 1
                                                         : 0;
    double kernels = 0;
    for (size_t i = 0; i < data->timed_count; i++)
        kernels += is_at(&data->view->views[data->timed[i]], &shape);
    return 1000 * kernels + 100 * regime - fabs(log2((double)shape.hidden / 768));
}

static void choose_shape(report_data *data)
{
    double best = -INFINITY;
    data->shape_roof = NAN;
    /* The answer's, where it is of the group. */
    const case_key *key =
        data->answer.column_count ? &data->answer.columns[data->answer.key].key : NULL;
    for (size_t i = 0; i < data->timed_count && key; i++) {
        const view_case *at = &data->view->views[data->timed[i]];
        if (at->stored->key.rows == key->rows && at->stored->key.hidden == key->hidden) {
            data->has_shape = true;
            data->shape = (report_shape){key->rows, key->hidden};
            data->shape_regime = at->regime;
            best = INFINITY;
        }
    }
    for (size_t i = 0; i < data->timed_count; i++) {
        const view_case *at = &data->view->views[data->timed[i]];
        if (is_roof(at->stored->key.kernel))
            continue;
        double score = score_shape(data, at);
        if (score > best) {
            best = score;
            data->has_shape = true;
            data->shape = (report_shape){at->stored->key.rows, at->stored->key.hidden};
            data->shape_regime = at->regime;
        }
    }
    for (size_t i = 0; i < data->timed_count; i++) {
        const view_case *at = &data->view->views[data->timed[i]];
        if (is_roof(at->stored->key.kernel) && is_at(at, &data->shape) &&
            !(data->shape_roof >= at->speed.gbps)) {
            data->shape_roof = at->speed.gbps;
            data->shape_roof_name = at->stored->key.kernel;
        }
    }
}

bool report_data_make(const run_view *view, const ln_type *type, report_data *data, error *err)
{
    *data = (report_data){.view = view, .is_other_type = type != NULL};
    choose_groups(data, type);
    gather_kernels(data);
    if (!type)
        answer_make(view, &data->answer);
    label_kernels(data);
    choose_shape(data);
    report_looks(data);
    return !data->judged.convention ||
           store_input_errors(view->store, view->run.id, data->judged.convention,
                              &data->input_errors, &data->input_error_count, err);
}

void report_data_free(report_data *data)
{
    answer_free(&data->answer);
    free(data->kernels);
    free(data->kernel_of);
    free(data->timed);
    free(data->input_errors);
    *data = (report_data){0};
}
