/* Google Benchmark's JSON (docs/user_guide.md and src/json_reporter.cc of version 1.7.1), so that
 * its compare.py and everything that reads it reads ours. One entry a repetition, aggregates for
 * what was timed more than once, and an aggregate "accuracy", without times, for what was judged:
 * tools that compare times pass it over. Our own cases stand beside, under "cases". */
#include "exchange/internal.h"
#include "domain/metric_fields.h"
#include "base/text.h"
#include <stdlib.h>
#include <string.h>

json_t *case_name_json(const case_key *key, const char *suffix)
{
    text_buffer name = {0};
    text_format(&name, "%s/%s/%s/%zux%zu/%s/%s/threads:%u%s", key->kernel, key->convention,
                key->input, key->rows, key->hidden, dtype_name(key->dtype), cache_name(key->cache),
                key->threads, suffix);
    json_t *made = name.failed ? NULL : json_text(name.bytes);
    text_free(&name);
    return made;
}

/* What every entry of a case begins with. */
static json_t *new_entry(const view_case *view, size_t family, const char *suffix, const char *type)
{
    const stored_case *stored = view->stored;
    json_t *entry = json_object();
    if (entry && put(entry, "name", case_name_json(&stored->key, suffix)) &&
        put(entry, "family_index", json_integer((json_int_t)family)) &&
        put(entry, "per_family_instance_index", json_integer(0)) &&
        put(entry, "run_name", case_name_json(&stored->key, "")) &&
        put(entry, "run_type", json_string(type)) &&
        put(entry, "repetitions", json_integer((json_int_t)stored->repetition_count)) &&
        put(entry, "threads", json_integer(stored->key.threads)))
        return entry;
    json_decref(entry);
    return NULL;
}

/* Takes the entry over; false also for a NULL. */
static bool append(json_t *benchmarks, json_t *entry, bool complete)
{
    if (complete)
        return json_array_append_new(benchmarks, entry) == 0;
    json_decref(entry);
    return false;
}

static bool put_times(json_t *entry, double real_ns, double cpu_ns)
{
    return put_defined(entry, "real_time", real_ns) && put_defined(entry, "cpu_time", cpu_ns) &&
           put(entry, "time_unit", json_string("ns"));
}

static double bytes_per_second(const case_key *key, double time_ns)
{
    return 2e9 * (double)key->rows * (double)key->hidden * (double)dtype_size(key->dtype) / time_ns;
}

/* A time is a positive number; what is not has no place in a list of times. */
static bool is_time(const timed_repetition *repetition)
{
    return isfinite(repetition->real_ns) && isfinite(repetition->cpu_ns) && repetition->real_ns > 0;
}

static bool append_repetition(json_t *benchmarks, const view_case *view, size_t family,
                              size_t index)
{
    const timed_repetition *repetition = &view->stored->repetitions[index];
    json_t *entry = new_entry(view, family, "", "iteration");
    bool complete = entry && put(entry, "repetition_index", json_integer((json_int_t)index)) &&
                    put(entry, "iterations", json_integer((json_int_t)repetition->iterations)) &&
                    put_times(entry, repetition->real_ns, repetition->cpu_ns) &&
                    put_defined(entry, "bytes_per_second",
                                bytes_per_second(&view->stored->key, repetition->real_ns)) &&
                    put(entry, "process", json_integer(repetition->process)) &&
                    put(entry, "round", json_integer(repetition->repetition)) &&
                    put(entry, "order", json_integer(repetition->order));
    return append(benchmarks, entry, complete);
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
static bool put_speed(json_t *entry, const speed_figures *speed)
{
    return put_defined(entry, "time_ns", speed->time_ns) &&
           put_defined(entry, "time_lo_ns", speed->time_lo_ns) &&
           put_defined(entry, "time_hi_ns", speed->time_hi_ns) &&
           put_defined(entry, "gbps", speed->gbps) &&
           put_defined(entry, "roof_ratio", speed->roof_ratio) &&
           put_defined(entry, "roof_lo", speed->roof_lo) &&
           put_defined(entry, "roof_hi", speed->roof_hi);
}

static const struct {
    const char *name, *suffix;
    double (*of)(double *values, size_t count);
} aggregates[] = {
    {"mean", "_mean", mean_of},
    {"median", "_median", median},
    {"stddev", "_stddev", deviation_of},
};

static bool append_aggregates(json_t *benchmarks, const view_case *view, size_t family,
                              double *real_ns, double *cpu_ns, size_t count)
{
    for (size_t i = 0; i < sizeof aggregates / sizeof *aggregates; i++) {
        json_t *entry = new_entry(view, family, aggregates[i].suffix, "aggregate");
        bool complete =
            entry && put(entry, "aggregate_name", json_string(aggregates[i].name)) &&
            put(entry, "aggregate_unit", json_string("time")) &&
            put(entry, "iterations", json_integer((json_int_t)count)) &&
            put_times(entry, aggregates[i].of(real_ns, count), aggregates[i].of(cpu_ns, count));
        if (complete && aggregates[i].of == median)
            complete = put_speed(entry, &view->speed);
        if (!append(benchmarks, entry, complete))
            return false;
    }
    return true;
}

static bool append_times(json_t *benchmarks, const view_case *view, size_t family)
{
    const stored_case *stored = view->stored;
    double *real_ns = calloc(stored->repetition_count + 1, sizeof *real_ns);
    double *cpu_ns = calloc(stored->repetition_count + 1, sizeof *cpu_ns);
    size_t count = 0;
    bool fine = real_ns && cpu_ns;
    for (size_t i = 0; fine && i < stored->repetition_count; i++) {
        if (!is_time(&stored->repetitions[i]))
            continue;
        real_ns[count] = stored->repetitions[i].real_ns;
        cpu_ns[count++] = stored->repetitions[i].cpu_ns;
        fine = append_repetition(benchmarks, view, family, i);
    }
    if (fine && count > 1)
        fine = append_aggregates(benchmarks, view, family, real_ns, cpu_ns, count);
    free(real_ns);
    free(cpu_ns);
    return fine;
}

static bool append_accuracy(json_t *benchmarks, const view_case *view, size_t family)
{
    const stored_case *stored = view->stored;
    json_t *entry = new_entry(view, family, "_accuracy", "aggregate");
    bool complete = entry && put(entry, "aggregate_name", json_string("accuracy")) &&
                    put(entry, "label", json_text(verdict_name(stored->verdict.kind))) &&
                    put_defined(entry, "bound_row_ulp", stored->bound_row_ulp);
    size_t count;
    const metric_field *fields = metric_fields(&count);
    for (size_t i = 0; complete && stored->metrics.elements && i < count; i++)
        if (fields[i].published)
            complete =
                put_defined(entry, fields[i].name, metric_value(&stored->metrics, &fields[i]));
    return append(benchmarks, entry, complete);
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
    for (size_t i = 0; array && i < 3; i++) {
        if (!caches[i].bytes)
            continue;
        json_t *cache = json_object();
        bool complete = cache && put(cache, "type", json_string(caches[i].type)) &&
                        put(cache, "level", json_integer(caches[i].level)) &&
                        put(cache, "size", json_integer((json_int_t)caches[i].bytes)) &&
                        put(cache, "num_sharing", json_integer(0));
        if (!append(array, cache, complete)) {
            json_decref(array);
            return NULL;
        }
    }
    return array;
}

/* Our facts come after Google Benchmark's own keys, as custom context does: strings. */
static bool put_facts(json_t *context, const run_view *view)
{
    char text[32];
    snprintf(text, sizeof text, "%llu", (unsigned long long)view->run.seed);
    bool fine = put(context, "seed", json_string(text)) &&
                put(context, "plan", json_text(view->run.plan)) &&
                put(context, "plan_hash", json_text(view->run.plan_hash)) &&
                put(context, "command_line", json_text(view->run.command_line));
    for (size_t i = 0; fine && i < view->machine.count; i++) {
        const machine_fact *fact = &view->machine.facts[i];
        if (!json_object_get(context, fact->name))
            fine = put(context, fact->name, json_text(fact->value));
    }
    return fine;
}

static json_t *context_json(const run_view *view)
{
    const machine_facts *machine = &view->machine;
    const char *mhz = machine_fact_value(machine, "mhz");
    const char *load = machine_fact_value(machine, "load_1m");
    const char *governor = machine_fact_value(machine, "governor");
    bool scaling = strcmp(governor, "performance") != 0 && strcmp(governor, "unknown") != 0;
    json_t *context = json_object();
    if (context && put(context, "date", json_text(view->run.started)) &&
        put(context, "host_name", json_string("unknown")) &&
        put(context, "executable", json_string("lnbench")) &&
        put(context, "num_cpus", json_integer(machine->cores)) &&
        put(context, "mhz_per_cpu", json_integer((json_int_t)strtod(mhz, NULL))) &&
        put(context, "cpu_scaling_enabled", json_boolean(scaling)) &&
        put(context, "caches", caches_json(machine)) &&
        put(context, "load_avg", json_pack("[f]", strtod(load, NULL))) &&
        put(context, "library_build_type",
            json_text(machine_fact_value(machine, "google_benchmark_build"))) &&
        put_facts(context, view))
        return context;
    json_decref(context);
    return NULL;
}

json_t *benchmark_json(const run_view *view)
{
    json_t *benchmarks = json_array();
    bool fine = benchmarks != NULL;
    for (size_t i = 0; fine && i < view->cases.count; i++) {
        const view_case *of_case = &view->views[i];
        fine = append_times(benchmarks, of_case, i) &&
               (!of_case->stored->judged || append_accuracy(benchmarks, of_case, i));
    }
    json_t *whole = fine ? json_object() : NULL;
    if (whole && put(whole, "schema", json_string("lnbench-benchmark-1")) &&
        put(whole, "context", context_json(view)) &&
        put(whole, "benchmarks", json_incref(benchmarks)) &&
        put(whole, "kernels", json_incref(view->kernels)) &&
        put(whole, "cases", view_run_json(view))) {
        json_decref(benchmarks);
        return whole;
    }
    json_decref(benchmarks);
    json_decref(whole);
    return NULL;
}
