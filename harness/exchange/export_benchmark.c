/* Google Benchmark's JSON (docs/user_guide.md and src/json_reporter.cc of version 1.7.1), so that
 * its compare.py and everything that reads it reads ours. One entry a repetition, aggregates for
 * what was timed more than once, and an aggregate "accuracy", without times, for what was judged:
 * tools that compare times pass it over. Our own cases stand beside, under "cases". */
#include "exchange/export.h"
#include "store/records.h"
#include "base/allocate.h"
#include "domain/metric_fields.h"
#include "base/text.h"
#include "base/number.h"
#include <stdlib.h>
#include <math.h>
#include <string.h>

/* Sets a figure, which is left out where it is undefined. */
static void put_defined(json_t *object, const char *key, double value)
{
    if (isfinite(value))
        json_object_set_new(object, key, json_real(value));
}

/* "kernel/convention/input/rowsxhidden/dtype/cache/threads:1" */
static json_t *case_name_json(const case_key *key, const char *suffix)
{
    text_buffer name = {0};
    text_format(&name, "%s/%s/%s/%zux%zu/%s/%s/threads:%u%s", key->kernel, key->convention,
                key->input, key->rows, key->hidden, dtype_name(key->dtype), cache_name(key->cache),
                key->threads, suffix);
    json_t *made = json_text(name.bytes);
    text_free(&name);
    return made;
}

/* Without those of the process that the run was killed in, its last. */
static size_t count_repetitions(const run_view *run, const stored_case *stored)
{
    size_t count = stored->repetition_count;
    while (count > 0 && stored->repetitions[count - 1].process == run->unfinished)
        count--;
    return count;
}

/* What every entry of a case begins with. */
static json_t *new_entry(const run_view *run, const view_case *view, const char *suffix,
                         const char *type)
{
    const stored_case *stored = view->stored;
    return json_pack(
        "{s:o, s:I, s:i, s:o, s:s, s:I, s:I}", "name", case_name_json(&stored->key, suffix),
        "family_index", (json_int_t)(view - run->views), "per_family_instance_index", 0, "run_name",
        case_name_json(&stored->key, ""), "run_type", type, "repetitions",
        (json_int_t)count_repetitions(run, stored), "threads", (json_int_t)stored->key.threads);
}

static void put_times(json_t *entry, double real_ns, double cpu_ns)
{
    put_defined(entry, "real_time", real_ns);
    put_defined(entry, "cpu_time", cpu_ns);
    json_object_set_new(entry, "time_unit", json_string("ns"));
}

static double bytes_per_second(const case_key *key, double time_ns)
{
    return 2e9 * (double)key->rows * (double)key->hidden * (double)dtype_size(key->dtype) / time_ns;
}

/* Of timed_repetition, in entries. */
enum { ENTRY_ITERATIONS = 3, ENTRY_FIELDS };
static const record_field entry_fields[ENTRY_FIELDS] = {
    FIELD(UNSIGNED, timed_repetition, process),
    {"round", FIELD_UNSIGNED, offsetof(timed_repetition, repetition), 0, NULL},
    FIELD(UNSIGNED, timed_repetition, order),
    FIELD(COUNT, timed_repetition, iterations)};

/* A time is a positive number; what is not has no place in a list of times. */
static bool is_time(const timed_repetition *repetition)
{
    return isfinite(repetition->real_ns) && isfinite(repetition->cpu_ns) && repetition->real_ns > 0;
}

static void append_repetition(json_t *benchmarks, const run_view *run, const view_case *view,
                              size_t index)
{
    const timed_repetition *repetition = &view->stored->repetitions[index];
    json_t *entry = new_entry(run, view, "", "iteration");
    json_object_set_new(entry, "repetition_index", json_integer((json_int_t)index));
    record_put(entry, &entry_fields[ENTRY_ITERATIONS], 1, repetition);
    put_times(entry, repetition->real_ns, repetition->cpu_ns);
    put_defined(entry, "bytes_per_second",
                bytes_per_second(&view->stored->key, repetition->real_ns));
    record_put(entry, entry_fields, ENTRY_ITERATIONS, repetition);
    json_array_append_new(benchmarks, entry);
}

static double mean_of(double *values, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += values[i];
    return sum / (double)count;
}

/* With n - 1, as Google Benchmark has it; undefined for one value. */
static double deviation_of(double *values, size_t count)
{
    double mean = mean_of(values, count), sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += (values[i] - mean) * (values[i] - mean);
    return count > 1 ? sqrt(sum / (double)(count - 1)) : NAN;
}

/* Our own figures, which take processes into account, as counters of the median. */
static void put_speed(json_t *entry, const speed_figures *speed)
{
    for (size_t i = 0; i < SPEED_RATIOS; i++)
        put_defined(entry, speed_fields[i].key, record_real(&speed_fields[i], speed));
}

static const struct {
    const char *name, *suffix;
    double (*of)(double *values, size_t count);
} aggregates[] = {
    {"mean", "_mean", mean_of},
    {"median", "_median", median},
    {"stddev", "_stddev", deviation_of},
};

static void append_aggregates(json_t *benchmarks, const run_view *run, const view_case *view,
                              double *real_ns, double *cpu_ns, size_t count)
{
    for (size_t i = 0; i < sizeof aggregates / sizeof *aggregates; i++) {
        json_t *entry = new_entry(run, view, aggregates[i].suffix, "aggregate");
        json_object_set_new(entry, "aggregate_name", json_string(aggregates[i].name));
        json_object_set_new(entry, "aggregate_unit", json_string("time"));
        json_object_set_new(entry, "iterations", json_integer((json_int_t)count));
        put_times(entry, aggregates[i].of(real_ns, count), aggregates[i].of(cpu_ns, count));
        if (aggregates[i].of == median)
            put_speed(entry, &view->speed);
        json_array_append_new(benchmarks, entry);
    }
}

static void append_times(json_t *benchmarks, const run_view *run, const view_case *view)
{
    const stored_case *stored = view->stored;
    size_t count = 0, most = count_repetitions(run, stored);
    double *real_ns = allocate_zeroed(most + 1, sizeof *real_ns);
    double *cpu_ns = allocate_zeroed(most + 1, sizeof *cpu_ns);
    for (size_t i = 0; i < most; i++) {
        if (!is_time(&stored->repetitions[i]))
            continue;
        real_ns[count] = stored->repetitions[i].real_ns;
        cpu_ns[count++] = stored->repetitions[i].cpu_ns;
        append_repetition(benchmarks, run, view, i);
    }
    if (count > 1)
        append_aggregates(benchmarks, run, view, real_ns, cpu_ns, count);
    free(real_ns);
    free(cpu_ns);
}

static void append_accuracy(json_t *benchmarks, const run_view *run, const view_case *view)
{
    const stored_case *stored = view->stored;
    json_t *entry = new_entry(run, view, "_accuracy", "aggregate");
    json_object_set_new(entry, "aggregate_name", json_string("accuracy"));
    json_object_set_new(entry, "label", json_string(verdict_phrase(stored->verdict.kind)));
    put_defined(entry, "bound_row_ulp", stored->bound_row_ulp);
    for (size_t i = 0; stored->metrics.elements && i < metric_count_all; i++)
        if (metric_list[i].published)
            put_defined(entry, metric_list[i].name,
                        metric_value(&stored->metrics, &metric_list[i]));
    json_array_append_new(benchmarks, entry);
}

/* "size" is in bytes; "num_sharing" 0 is what Google Benchmark writes where it doesn't know. */
static json_t *caches_json(const machine_facts *machine)
{
    const struct {
        const char *type;
        int level;
        size_t bytes;
    } caches[] = {{"Data", 1, machine->l1d_bytes},
                  {"Unified", 2, machine->l2_bytes},
                  {"Unified", 3, machine->l3_bytes}};
    json_t *array = json_array();
    for (size_t i = 0; i < 3; i++)
        if (caches[i].bytes)
            json_array_append_new(array, json_pack("{s:s, s:i, s:I, s:i}", "type", caches[i].type,
                                                   "level", caches[i].level, "size",
                                                   (json_int_t)caches[i].bytes, "num_sharing", 0));
    return array;
}

/* Our facts come after Google Benchmark's own keys, as custom context does: strings. */
static json_t *context_json(const run_view *view)
{
    const machine_facts *machine = &view->machine;
    const char *mhz = machine_fact_value(machine, "mhz");
    const char *load = machine_fact_value(machine, "load_1m");
    const char *governor = machine_fact_value(machine, "governor");
    bool scaling = strcmp(governor, "performance") != 0 && strcmp(governor, "unknown") != 0;
    char seed[32];
    snprintf(seed, sizeof seed, "%llu", (unsigned long long)view->run.seed);
    json_t *context = json_pack(
        "{s:o, s:s, s:s, s:I, s:I, s:b, s:o, s:[o], s:o, s:s, s:o, s:o, s:o}", "date",
        json_text(view->run.started), "host_name", "unknown", "executable", "lnbench", "num_cpus",
        (json_int_t)machine->cores, "mhz_per_cpu", (json_int_t)number_read(mhz, NULL),
        "cpu_scaling_enabled", scaling, "caches", caches_json(machine), "load_avg",
        json_figure(number_read(load, NULL)), "library_build_type",
        json_text(machine_fact_value(machine, "google_benchmark_build")), "seed", seed, "plan",
        json_text(view->run.plan), "plan_hash", json_text(view->run.plan_hash), "command_line",
        json_text(view->run.command_line));
    for (size_t i = 0; i < view->machine.count; i++) {
        const machine_fact *fact = &view->machine.facts[i];
        if (!json_object_get(context, fact->name))
            json_object_set_new(context, fact->name, json_text(fact->value));
    }
    return context;
}

json_t *benchmark_json(const run_view *view)
{
    json_t *benchmarks = json_array();
    for (size_t i = 0; i < view->cases.count; i++) {
        append_times(benchmarks, view, &view->views[i]);
        if (view->cases.cases[i].judged)
            append_accuracy(benchmarks, view, &view->views[i]);
    }
    return json_pack("{s:s, s:o, s:o, s:O, s:o}", "schema", "lnbench-benchmark-3", "context",
                     context_json(view), "benchmarks", benchmarks, "kernels", view->kernels,
                     "cases", view_run_json(view));
}
