/* From a view to the kernels, speeds and errors that a report shows. */
#include "report/data/data.h"
#include "base/allocate.h"
#include "domain/kernel.h"
#include "domain/kernel_name.h"
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

static bool is_left_out(const stored_case *stored)
{
    const case_verdict *verdict = &stored->verdict;
    if (stored_is_hunted(stored))
        return true;
    return verdict->kind == VERDICT_UNSUPPORTED || verdict->kind == VERDICT_SKIPPED ||
           verdict->kind == VERDICT_PENDING;
}

void report_add_error(report_error *found, const stored_case *stored)
{
    const case_verdict *verdict = &stored->verdict;
    double row_ulp = stored->metrics.row_ulp_max;
    if (is_left_out(stored))
        return;
    found->cases++;
    found->fault = found->fault || report_is_failure(verdict);
    if (isfinite(row_ulp) && !(found->row_ulp >= row_ulp)) {
        found->row_ulp = row_ulp;
        found->worst = stored;
    }
    bool figure = verdict->kind == VERDICT_OK || verdict->kind == VERDICT_OK_NO_BOUND ||
                  verdict->kind == VERDICT_INACCURATE;
    if (!figure && (!found->unusable || verdict->kind > found->unusable->verdict.kind))
        found->unusable = stored;
}

double report_usable_limit(ln_type type)
{
    return fmin(1000, dtype_no_digit(type) / 8);
}

error_class report_class_of(const report_error *found, ln_type type)
{
    if (!found->cases)
        return ERROR_UNKNOWN;
    return found->unusable                               ? ERROR_NAN
           : !(found->row_ulp > 1)                       ? ERROR_EXACT
           : found->row_ulp <= 4                         ? ERROR_GOOD
           : found->row_ulp <= report_usable_limit(type) ? ERROR_ROUGH
                                                         : ERROR_LOST;
}

void report_error_words(const report_error *found, ln_type type, char words[96])
{
    char number[16], described[DETAIL_MAX_LENGTH + 64];
    if (!found->cases)
        snprintf(words, 96, "not judged");
    else if (found->unusable && found->unusable->verdict.kind == VERDICT_WRONG_CLASS)
        snprintf(words, 96, "NaN or infinite");
    else if (found->unusable)
        snprintf(words, 96, "%.90s",
                 verdict_describe(&found->unusable->verdict, described, sizeof described));
    else if (found->row_ulp >= dtype_no_digit(type))
        snprintf(words, 96, "no correct digit");
    else if (found->row_ulp >= 1000)
        snprintf(words, 96, "%.0e", found->row_ulp);
    else if (isfinite(found->row_ulp))
        snprintf(words, 96, found->row_ulp < 100 ? "%.2g" : "%.0f", found->row_ulp);
    else
        snprintf(words, 96, "%s", number_short(found->row_ulp, number));
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
    bool builtin = !kernel->source[0] || strcmp(kernel->source, "builtin") == 0;
    kernel->role = kernel->version[0]                                           ? ROLE_PEER
                   : !builtin                                                   ? ROLE_PLUGIN
                   : strcmp(word_of(descriptor, "role"), KERNEL_ROLE_CALL) == 0 ? ROLE_LIBRARY
                   : strcmp(word_of(descriptor, "role"), "textbook") == 0       ? ROLE_TEXTBOOK
                                                                                : ROLE_OURS;
    if (kernel->role != ROLE_TEXTBOOK)
        return;
    form_of(kernel, descriptor);
}

/* As in the answer's table; where there is none, the ISA is told as well. */
static void label_kernels(report_data *data)
{
    for (size_t i = 0; i < data->kernel_count; i++) {
        report_kernel *kernel = &data->kernels[i];
        bool whole = kernel->role == ROLE_PLUGIN;
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

/* Kernels in the order of the table (of the descriptors), then those without one. */
static void gather_kernels(report_data *data)
{
    const run_view *view = data->view;
    size_t described = json_array_size(view->kernels);
    ln_type type = data->judged.dtype;
    data->kernels = allocate_zeroed(described + view->cases.count + 1, sizeof *data->kernels);
    data->kernel_of = allocate_zeroed(view->cases.count + 1, sizeof *data->kernel_of);
    data->timed = allocate_zeroed(view->cases.count + 1, sizeof *data->timed);
    for (size_t i = 0; i < view->cases.count; i++) {
        const case_key *key = &view->cases.cases[i].key;
        if (!is_roof(key->kernel) && key->dtype == type &&
            find_kernel(data, key->kernel) == data->kernel_count) {
            report_kernel *kernel = &data->kernels[data->kernel_count++];
            *kernel = (report_kernel){.name = key->kernel,
                                      .reproducibility = view->views[i].reproducibility};
            for (int scope = 0; scope < SCOPES; scope++)
                kernel->errors[scope].row_ulp = NAN;
            describe(kernel, descriptor_of(view->kernels, key->kernel));
            const kernel_fit *fit = kernel_fit_of(view->fits, view->fit_count, key->kernel);
            kernel->taken = fit && fit->accurate && !fit->doubt[0];
        }
    }
    for (size_t i = 0; i < view->cases.count; i++) {
        const case_key *key = &view->cases.cases[i].key;
        data->kernel_of[i] =
            key->dtype == type ? find_kernel(data, key->kernel) : data->kernel_count;
    }
}

static void gather_cases(report_data *data)
{
    const run_view *view = data->view;
    for (size_t i = 0; i < view->cases.count; i++) {
        const stored_case *stored = &view->cases.cases[i];
        if (data->group.cases && report_is_timed(&view->views[i]) &&
            in_group(&data->group, &stored->key))
            data->timed[data->timed_count++] = i;
        if (data->kernel_of[i] == data->kernel_count || !stored->judged)
            continue;
        report_kernel *kernel = &data->kernels[data->kernel_of[i]];
        bool extreme = stored_is_extreme(stored);
        report_add_error(&kernel->errors[extreme ? SCOPE_EXTREME : SCOPE_ANY], stored);
        if (strcmp(stored->key.input, "normal") == 0)
            report_add_error(&kernel->errors[SCOPE_ORDINARY], stored);
    }
    for (size_t i = 0; i < data->kernel_count; i++) {
        report_kernel *kernel = &data->kernels[i];
        kernel->class = report_class_of(&kernel->errors[SCOPE_ANY], data->judged.dtype);
        /* Where nothing at all was judged, speeds still are what they are. */
        kernel->usable = kernel->class <= ERROR_ROUGH && !kernel->errors[SCOPE_ANY].fault &&
                         (kernel->class >= ERROR_EXACT || !data->judged.cases);
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

void report_data_make(const run_view *view, const ln_type *type, report_data *data)
{
    *data = (report_data){.view = view, .is_other_type = type != NULL};
    choose_groups(data, type);
    gather_kernels(data);
    if (!type)
        answer_make(view, &data->answer);
    label_kernels(data);
    gather_cases(data);
    choose_shape(data);
    report_looks(data);
}

void report_data_free(report_data *data)
{
    answer_free(&data->answer);
    free(data->kernels);
    free(data->kernel_of);
    free(data->timed);
    *data = (report_data){0};
}
