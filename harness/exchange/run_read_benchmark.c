/* Google Benchmark's JSON: ours, with the cases beside, and its own. */
#include "exchange/internal.h"
#include "base/allocate.h"
#include "domain/kernel_json.h"
#include "base/hash.h"
#include "base/hash_set.h"
#include "exchange/run_read_internal.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Keys of the context that are Google Benchmark's, or the run's and not the machine's. */
static const char *const not_facts[] = {"date", "host_name", "executable",   "seed",
                                        "plan", "plan_hash", "command_line", "library_build_type"};

static bool is_fact(const char *name, json_t *value)
{
    for (size_t i = 0; i < sizeof not_facts / sizeof *not_facts; i++)
        if (strcmp(name, not_facts[i]) == 0)
            return false;
    return json_is_string(value);
}

static void copy_word(char *buffer, size_t size, json_t *object, const char *key)
{
    const char *word = json_string_value(json_object_get(object, key));
    snprintf(buffer, size, "%s", word ? word : "");
}

static bool read_own_context(const file_reader *reader, json_t *context)
{
    stored_run *run = &reader->view->run;
    const char *name;
    json_t *value;
    char seed[24];
    json_object_foreach(context, name, value)
    {
        if (is_fact(name, value) && !read_fact(reader, name, value))
            return false;
    }
    copy_word(seed, sizeof seed, context, "seed");
    run->seed = strtoull(seed, NULL, 10);
    run->state = RUN_COMPLETE;
    copy_word(run->plan, sizeof run->plan, context, "plan");
    copy_word(run->plan_hash, sizeof run->plan_hash, context, "plan_hash");
    copy_word(run->command_line, sizeof run->command_line, context, "command_line");
    return read_string(reader, context, "date", run->started, sizeof run->started);
}

/* What Google Benchmark itself knows of a machine. */
static bool read_foreign_context(const file_reader *reader, json_t *context)
{
    static const char *const known[] = {"host_name", "num_cpus", "caches", "library_build_type"};
    stored_run *run = &reader->view->run;
    bool again = run->started[0] != '\0';
    bool fine = read_string(reader, context, "date", run->started, sizeof run->started);
    snprintf(run->plan, sizeof run->plan, "benchmark");
    run->state = RUN_COMPLETE;
    for (size_t i = 0; fine && i < sizeof known / sizeof *known; i++) {
        json_t *value = json_object_get(context, known[i]);
        char *dumped =
            value ? json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT | JSON_SORT_KEYS) : NULL;
        char hex[32];
        snprintf(hex, sizeof hex, "%016llx",
                 (unsigned long long)hash_bytes(HASH_START, dumped ? dumped : "",
                                                dumped ? strlen(dumped) : 0));
        bool fits = dumped && strlen(dumped) < 200; /* many caches: their hash will do */
        const char *shown = json_is_string(value) ? json_string_value(value) : fits ? dumped : hex;
        if (again && strcmp(machine_fact_value(&reader->view->machine, known[i]), shown) != 0)
            fine = reader_bad(reader,
                              "\"%s\" is another than in the file before: the processes of "
                              "one run are of one machine",
                              known[i]);
        json_t *text = again ? NULL : json_string(shown);
        fine = fine && (again || read_fact(reader, known[i], text));
        json_decref(text);
        free(dumped);
    }
    return fine;
}

/* The case that an entry is a repetition of, by the name that the export made of it. */
static stored_case *case_named(const stored_cases *cases, const char *name, size_t *hint)
{
    for (size_t i = 0; i < cases->count; i++) {
        size_t at = (*hint + i) % cases->count;
        json_t *made = case_name_json(&cases->cases[at].key, "");
        bool same = made && strcmp(json_string_value(made), name) == 0;
        json_decref(made);
        if (same) {
            *hint = at;
            return &cases->cases[at];
        }
    }
    return NULL;
}

static bool is_iteration(json_t *entry)
{
    const char *type = json_string_value(json_object_get(entry, "run_type"));
    return (!type || strcmp(type, "iteration") == 0) &&
           !json_is_true(json_object_get(entry, "error_occurred"));
}

static bool read_times(const file_reader *reader, json_t *entry, timed_repetition *repetition)
{
    static const struct {
        const char *name;
        double ns;
    } units[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};
    const char *unit = json_string_value(json_object_get(entry, "time_unit"));
    double scale = NAN;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (unit && strcmp(unit, units[i].name) == 0)
            scale = units[i].ns;
    if (!read_real(reader, entry, "real_time", &repetition->real_ns) ||
        !read_real(reader, entry, "cpu_time", &repetition->cpu_ns))
        return false;
    if (isnan(scale) || !(repetition->real_ns >= 0))
        return reader_bad(reader, "an entry without \"real_time\" or \"time_unit\"");
    repetition->real_ns *= scale;
    repetition->cpu_ns *= scale;
    return true;
}

static bool read_own_entry(const file_reader *reader, json_t *entry, size_t *hint)
{
    char name[NAME_MAX_LENGTH + CONVENTION_MAX_LENGTH + INPUT_MAX_LENGTH + 96];
    uint64_t process, round, order, iterations;
    timed_repetition made;
    if (!read_string(reader, entry, "run_name", name, sizeof name) ||
        !read_count(reader, entry, "process", UINT32_MAX, &process) ||
        !read_count(reader, entry, "order", UINT32_MAX, &order) ||
        !read_count(reader, entry, "iterations", INT64_MAX, &iterations) ||
        !read_times(reader, entry, &made))
        return false;
    stored_case *stored = case_named(&reader->view->cases, name, hint);
    if (!stored)
        return reader_bad(reader, "'%.120s' is no case of this file", name);
    if (!json_object_get(entry, "round")) /* of an export before there were rounds */
        round = stored->repetition_count;
    else if (!read_count(reader, entry, "round", UINT32_MAX, &round))
        return false;
    made.process = (unsigned)process;
    made.repetition = (unsigned)round;
    made.order = (unsigned)order;
    made.iterations = iterations;
    read_repetition(stored, &made);
    return true;
}

/* Names of any length, in a field that has one: the end is then a hash of the whole. */
static void name_case(case_key *key, const char *name)
{
    *key = (case_key){.convention = "-", .input = "normal", .dtype = LN_F32, .threads = 1};
    if (strlen(name) < sizeof key->kernel)
        snprintf(key->kernel, sizeof key->kernel, "%s", name);
    else
        snprintf(key->kernel, sizeof key->kernel, "%.46s~%016llx", name,
                 (unsigned long long)hash_bytes(HASH_START, name, strlen(name)));
}

/* The cases that a file of Google Benchmark's own has so far. */
typedef struct foreign_cases {
    hash_set names;
    size_t hint; /* the case of the entry before */
} foreign_cases;

static bool find_foreign(const file_reader *reader, const case_key *key, foreign_cases *known,
                         stored_case **found)
{
    stored_cases *cases = &reader->view->cases;
    bool added;
    *found = NULL;
    if (!hash_set_add(&known->names, hash_bytes(HASH_START, key->kernel, strlen(key->kernel)),
                      &added))
        return fail_memory(reader->error, "an exported run");
    for (size_t i = 0; !added && i < cases->count && !*found; i++) {
        size_t at = (known->hint + i) % cases->count;
        if (strcmp(cases->cases[at].key.kernel, key->kernel) == 0)
            *found = &cases->cases[known->hint = at];
    }
    return true;
}

static bool read_foreign_entry(const file_reader *reader, json_t *entry, unsigned process,
                               foreign_cases *known)
{
    stored_cases *cases = &reader->view->cases;
    stored_case *stored = NULL;
    case_key key;
    timed_repetition made = {
        .process = process, .iterations = 1, .cycles = NAN, .instructions = NAN};
    const char *name = json_string_value(json_object_get(entry, "run_name"));
    name = name ? name : json_string_value(json_object_get(entry, "name"));
    if (!name || !name[0])
        return reader_bad(reader, "an entry without a name");
    if (!read_times(reader, entry, &made))
        return false;
    name_case(&key, name);
    if (!find_foreign(reader, &key, known, &stored))
        return false;
    if (!stored) {
        cases->cases = allocate_room(cases->cases, cases->count, sizeof *cases->cases);
        stored = &cases->cases[cases->count++];
        *stored = (stored_case){.key = key, .bound_row_ulp = NAN};
    }
    /* A file is a process: its repetitions stand together. */
    const timed_repetition *last =
        stored->repetition_count ? &stored->repetitions[stored->repetition_count - 1] : NULL;
    if (last && last->process == process)
        made.repetition = last->repetition + 1;
    made.order = made.repetition;
    read_repetition(stored, &made);
    return true;
}

static bool read_own_cases(const file_reader *reader, json_t *document)
{
    json_t *cases = json_object_get(document, "cases"), *entry,
           *kernels = json_object_get(document, "kernels");
    size_t index;
    stored_case *added;
    if (!json_is_array(cases) || !json_is_array(kernels))
        return reader_bad(reader, "\"cases\" or \"kernels\" is missing or no list");
    json_array_foreach(cases, index, entry)
    {
        if (!read_case(reader, entry, &added))
            return false;
    }
    json_array_foreach(kernels, index, entry)
    {
        if (!json_is_string(json_object_get(entry, "name")))
            return reader_bad(reader, "a kernel without a name");
    }
    kernels_json_update(kernels);
    json_array_extend(reader->view->kernels, kernels);
    return true;
}

bool read_benchmark(const file_reader *reader, json_t *document, unsigned process)
{
    json_t *context = json_object_get(document, "context"),
           *benchmarks = json_object_get(document, "benchmarks"), *entry,
           *schema = json_object_get(document, "schema");
    size_t index, hint = 0, read = 0;
    if (!json_is_object(context) || !json_is_array(benchmarks))
        return reader_bad(reader, "neither an export of lnbench (json or jsonl) nor Google "
                                  "Benchmark's JSON: it has no \"context\" and \"benchmarks\"");
    bool own = json_is_string(schema);
    if (own && strcmp(json_string_value(schema), "lnbench-benchmark-1") != 0)
        return reader_bad(reader, "schema '%.60s': lnbench-benchmark-1 was expected",
                          json_string_value(schema));
    if (own && reader->view->run.started[0])
        return reader_bad(reader, "not a file of Google Benchmark's own");
    if (own ? !read_own_context(reader, context) || !read_own_cases(reader, document)
            : !read_foreign_context(reader, context))
        return false;
    foreign_cases known = {0};
    bool fine = true, added;
    for (size_t i = 0; fine && !own && i < reader->view->cases.count; i++) {
        const char *name = reader->view->cases.cases[i].key.kernel;
        fine = hash_set_add(&known.names, hash_bytes(HASH_START, name, strlen(name)), &added) ||
               fail_memory(reader->error, "an exported run");
    }
    for (index = 0; fine && index < json_array_size(benchmarks); index++) {
        entry = json_array_get(benchmarks, index);
        if (!is_iteration(entry))
            continue;
        read++;
        fine = own ? read_own_entry(reader, entry, &hint)
                   : read_foreign_entry(reader, entry, process, &known);
    }
    hash_set_free(&known.names);
    if (!fine)
        return false;
    return own || read > 0 ||
           reader_bad(reader, "no repetitions: aggregates alone cannot be compared (run the "
                              "benchmark without --benchmark_report_aggregates_only)");
}
