/* From the stored runs to series. */
#include "commands/history/history.h"
#include "base/allocate.h"
#include "domain/kernel_name.h"
#include "stats/bootstrap.h"
#include "stats/change_points.h"
#include "domain/metric_fields.h"
#include "domain/reproducible.h"
#include "base/text.h"
#include "answer/run_view.h"
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const speeds[] = {"time_ns", "gbps", "copy_ratio", "cycles", "instructions"};
enum { SPEEDS = 5, COUNTED = 3 };

static bool is_speed(const char *measure)
{
    return word_is_in(measure, WORDS(speeds));
}

static const metric_field *metric_named(const char *name)
{
    for (size_t i = 0; i < metric_count_all; i++)
        if (metric_list[i].kind != METRIC_PLACE && strcmp(metric_list[i].name, name) == 0)
            return &metric_list[i];
    return NULL;
}

static bool check_measure(const char *measure, error *err)
{
    const char *names[64];
    size_t known = 0;
    if (is_speed(measure) || metric_named(measure))
        return true;
    for (int i = 0; i < SPEEDS; i++)
        names[known++] = speeds[i];
    for (size_t i = 0; i < metric_count_all && known < 64; i++)
        if (metric_list[i].kind != METRIC_PLACE)
            names[known++] = metric_list[i].name;
    char meant[MEANT_LENGTH];
    return fail(err, EXIT_CODE_USAGE,
                "--measure %.60s: time_ns, gbps, copy_ratio, cycles, instructions or an error "
                "metric was expected%s",
                measure, did_you_mean(measure, names, known, meant));
}

static bool is_listed(const word_list *list, const char *word, bool globs)
{
    for (size_t i = 0; i < list->count; i++)
        if (globs ? kernel_name_matches(list->words[i], word) : strcmp(list->words[i], word) == 0)
            return true;
    return list->count == 0;
}

static bool is_wanted(const history_request *request, const case_key *key)
{
    char shape[48];
    snprintf(shape, sizeof shape, "%zux%zu", key->rows, key->hidden);
    bool input = request->inputs.count ? is_listed(&request->inputs, key->input, false)
                                       : strcmp(key->input, "normal") == 0;
    return input && is_listed(&request->kernels, key->kernel, true) &&
           (!is_roof(key->kernel) || request->kernels.count > 0) &&
           is_listed(&request->conventions, key->convention, false) &&
           is_listed(&request->shapes, shape, false) &&
           is_listed(&request->caches, cache_name(key->cache), false);
}

/* The value of the measure; NaN where the case does not have it. */
static void set_value(const history_request *request, const stored_cases *cases, size_t index,
                      history_point *point)
{
    const stored_case *stored = &cases->cases[index];
    const char *measure = request->measure;
    point->value = point->lo = point->hi = NAN;
    if (!is_speed(measure)) {
        if (stored->judged && stored->metrics.elements > 0)
            point->value = metric_value(&stored->metrics, metric_named(measure));
        return;
    }
    if (stored->repetition_count == 0)
        return;
    const speed_figures speed = stored->speed;
    if (strcmp(measure, speeds[COUNTED]) == 0 || strcmp(measure, speeds[COUNTED + 1]) == 0) {
        point->value = strcmp(measure, "cycles") == 0 ? speed.cycles : speed.instructions;
        return;
    }
    double per_time = speed.gbps * speed.time_ns;
    bool gbps = strcmp(measure, "gbps") == 0, roof = strcmp(measure, "copy_ratio") == 0;
    point->value = gbps ? speed.gbps : roof ? speed.copy_ratio : speed.time_ns;
    point->lo = gbps ? per_time / speed.time_hi_ns : roof ? speed.copy_ratio_lo : speed.time_lo_ns;
    point->hi = gbps ? per_time / speed.time_lo_ns : roof ? speed.copy_ratio_hi : speed.time_hi_ns;
}

static size_t find_machine(measure_history *history, const machine_facts *machine)
{
    char identity[MACHINE_IDENTITY_LENGTH];
    machine_identity(machine, identity);
    for (size_t i = 0; i < history->machine_count; i++)
        if (strcmp(history->machines[i], identity) == 0)
            return i;
    history->machines =
        allocate_room(history->machines, history->machine_count, sizeof *history->machines);
    memcpy(history->machines[history->machine_count], identity, sizeof identity);
    return history->machine_count++;
}

static void add_point(measure_history *history, size_t machine, const case_key *key,
                      const history_point *point)
{
    history_series *series = NULL;
    for (size_t i = 0; i < history->count && !series; i++)
        if (history->series[i].machine == machine && case_key_equal(&history->series[i].key, key))
            series = &history->series[i];
    if (!series) {
        history->series = allocate_room(history->series, history->count, sizeof *history->series);
        series = &history->series[history->count++];
        *series = (history_series){.machine = machine, .key = *key};
    }
    series->points = allocate_room(series->points, series->count, sizeof *series->points);
    series->points[series->count++] = *point;
}

/* The kernel that alone is asked for, by its name: an index finds it. */
static const char *only_kernel(const history_request *request)
{
    const char *word = request->kernels.count == 1 ? request->kernels.words[0] : NULL;
    return word && !word[strcspn(word, "*?[")] ? word : NULL;
}

static bool load_run(result_store *store, const history_request *request, const stored_run *run,
                     measure_history *history, error *err)
{
    machine_facts machine = {0};
    stored_cases cases = {0};
    history_point point = {.run = run->id};
    json_t *kernels = NULL;
    const char *kernel = only_kernel(request);
    bool fine = store_descriptors(store, run->id, kernel, &kernels, err) &&
                store_machine(store, run->id, &machine, err) &&
                store_figures(store, run->id, kernel, is_speed(request->measure), &cases, err);
    size_t place = fine ? find_machine(history, &machine) : 0;
    snprintf(point.started, sizeof point.started, "%s", run->started);
    if (fine)
        snprintf(point.commit, sizeof point.commit, "%.40s",
                 machine_fact_value(&machine, "git_commit"));
    for (size_t i = 0; fine && i < cases.count; i++) {
        if (!is_wanted(request, &cases.cases[i].key))
            continue;
        set_value(request, &cases, i, &point);
        point.reproducible = reproducible_stored(kernels, cases.cases[i].key.kernel);
        if (isfinite(point.value))
            add_point(history, place, &cases.cases[i].key, &point);
    }
    json_decref(kernels);
    stored_cases_free(&cases);
    machine_free(&machine);
    return fine;
}

/* Imported runs come in later than they were measured. */
static int compare_runs(const void *a, const void *b)
{
    const stored_run *x = a, *y = b;
    int order = strcmp(x->started, y->started);
    return order ? order : (x->id > y->id) - (x->id < y->id);
}

static double median_of(const history_series *series, size_t begin, size_t end, double *scratch)
{
    for (size_t i = begin; i < end; i++)
        scratch[i - begin] = series->points[i].value;
    return median(scratch, end - begin);
}

/* Change points of the latest CHANGE_MOST_VALUES. */
static bool divide(history_series *series, uint64_t seed, error *err)
{
    change_settings settings = change_defaults();
    size_t first = series->count > CHANGE_MOST_VALUES ? series->count - CHANGE_MOST_VALUES : 0;
    double *values = allocate((series->count + 1) * sizeof *values);
    series->changes = allocate((series->count + 1) * sizeof *series->changes);
    series->medians = allocate((series->count + 1) * sizeof *series->medians);
    settings.seed = seed;
    for (size_t i = 0; i < series->count; i++)
        values[i] = series->points[i].value;
    bool fine = change_points(values + first, series->count - first, &settings, series->changes,
                              &series->change_count, err);
    for (size_t c = 0; fine && c < series->change_count; c++)
        series->changes[c] += first;
    for (size_t c = 0; fine && c <= series->change_count; c++) {
        size_t begin = c ? series->changes[c - 1] : 0;
        size_t end = c < series->change_count ? series->changes[c] : series->count;
        series->medians[c] = median_of(series, begin, end, values);
        for (size_t i = begin; i < end; i++)
            series->points[i].segment = c;
    }
    free(values);
    return fine;
}

/* What the series' kernel is, from its latest run's descriptors: charts show it as all others do.
 */
static bool describe_kernel(result_store *store, history_series *series, error *err)
{
    size_t index;
    json_t *descriptor, *kernels;
    if (!store_descriptors(store, series->points[series->count - 1].run, series->key.kernel,
                           &kernels, err))
        return false;
    json_array_foreach(kernels, index, descriptor)
    {
        const char *name = json_string_value(json_object_get(descriptor, "name"));
        const char *statistics = json_string_value(json_object_get(descriptor, "statistics"));
        const char *isa = json_string_value(json_object_get(descriptor, "isa"));
        if (!name || strcmp(name, series->key.kernel) != 0)
            continue;
        snprintf(series->statistics, sizeof series->statistics, "%s", statistics ? statistics : "");
        snprintf(series->isa, sizeof series->isa, "%s", isa ? isa : "");
    }
    json_decref(kernels);
    return true;
}

bool history_load(result_store *store, const history_request *request, measure_history *history,
                  error *err)
{
    stored_run *runs = NULL;
    size_t count = 0;
    history_request named = *request;
    named.kernels = (word_list){0};
    *history = (struct measure_history){.measure = request->measure};
    bool fine = check_measure(request->measure, err) && store_runs(store, &runs, &count, err);
    if (fine && count == 0)
        fine = fail(err, EXIT_CODE_ENVIRONMENT,
                    "the store holds no run yet: lnbench run makes one, lnbench import takes one");
    if (fine)
        qsort(runs, count, sizeof *runs, compare_runs);
    fine = fine &&
           store_kernel_words(store, runs[count - 1].id, &request->kernels, &named.kernels, err);
    for (size_t i = 0; fine && i < count; i++)
        fine = load_run(store, &named, &runs[i], history, err);
    word_list_free(&named.kernels);
    free(runs);
    if (fine && history->count == 0)
        fine = fail(
            err, EXIT_CODE_ENVIRONMENT,
            "--measure %s: no stored case of these kernels, conventions, shapes and inputs has it",
            request->measure);
    for (size_t i = 0; fine && i < history->count; i++)
        fine = divide(&history->series[i], request->seed, err) &&
               describe_kernel(store, &history->series[i], err);
    if (!fine)
        history_free(history);
    return fine;
}

void history_free(measure_history *history)
{
    for (size_t i = 0; i < history->count; i++) {
        free(history->series[i].points);
        free(history->series[i].changes);
        free(history->series[i].medians);
    }
    free(history->series);
    free(history->machines);
    *history = (struct measure_history){0};
}
