/* SPDX-License-Identifier: Apache-2.0 */
/* JSON in Google Benchmark's schema, and JSON Lines: one object of the same a line, the context in
 * the first. Strict (RFC 8259): what is not finite is null, strings are valid UTF-8. */
#include "formats.h"
#include <math.h>
#include <string.h>

static void add_string(hayai_text *text, const char *string)
{
    hayai_text_add(text, "\"");
    for (uint32_t code; (code = hayai_text_code_point(&string));) {
        if (code == '"' || code == '\\')
            hayai_text_format(text, "\\%c", (int)code);
        else if (code < 0x20 || code == 0x7f)
            hayai_text_format(text, "\\u%04x", (unsigned)code);
        else
            hayai_text_add_code_point(text, code);
    }
    hayai_text_add(text, "\"");
}

/* An object that is being written: members on lines of their own, or all in one. */
typedef struct object {
    hayai_text *text;
    const char *indent; /* before each member; NULL: one line */
    bool begun;
} object;

static void add_key(object *obj, const char *key)
{
    if (obj->begun)
        hayai_text_add(obj->text, ",");
    if (obj->indent)
        hayai_text_add(obj->text, obj->indent);
    obj->begun = true;
    add_string(obj->text, key);
    hayai_text_add(obj->text, obj->indent ? ": " : ":");
}

static void add_text(object *obj, const char *key, const char *value)
{
    add_key(obj, key);
    add_string(obj->text, value);
}

static void add_integer(object *obj, const char *key, int64_t value)
{
    add_key(obj, key);
    hayai_text_format(obj->text, "%lld", (long long)value);
}

static void add_number(object *obj, const char *key, double value)
{
    add_key(obj, key);
    hayai_text_number(obj->text, value, "null");
}

static void add_truth(object *obj, const char *key, bool value)
{
    add_key(obj, key);
    hayai_text_add(obj->text, value ? "true" : "false");
}

/* ---- Context --------------------------------------------------------------------------------- */

static void add_caches(object *parent, const hayai_context *machine)
{
    add_key(parent, "caches");
    hayai_text_add(parent->text, "[");
    for (size_t i = 0; i < machine->cache_count; i++) {
        const hayai_cache *cache = &machine->caches[i];
        object obj = {.text = parent->text};
        hayai_text_add(parent->text, i > 0 ? ", {" : "{");
        add_text(&obj, "type", cache->type);
        add_integer(&obj, "level", cache->level);
        add_integer(&obj, "size", cache->bytes);
        add_integer(&obj, "num_sharing", cache->sharing);
        hayai_text_add(parent->text, "}");
    }
    hayai_text_add(parent->text, "]");
}

static void add_loads(object *parent, const hayai_context *machine)
{
    add_key(parent, "load_avg");
    hayai_text_add(parent->text, "[");
    for (size_t i = 0; i < machine->load_count; i++) {
        hayai_text_add(parent->text, i > 0 ? "," : "");
        hayai_text_number(parent->text, machine->loads[i], "null");
    }
    hayai_text_add(parent->text, "]");
}

/* A user's key must not be one of the schema's: those would then be there twice. */
static void user_key(hayai_text *key, const char *name, const char *const *reserved)
{
    hayai_text_clear(key);
    for (; *reserved; reserved++)
        if (strcmp(name, *reserved) == 0)
            hayai_text_add(key, "user_");
    hayai_text_add(key, name);
}

static void add_context(object *obj, const hayai_context *machine)
{
    static const char *const reserved[] = {"date",
                                           "host_name",
                                           "executable",
                                           "num_cpus",
                                           "mhz_per_cpu",
                                           "caches",
                                           "load_avg",
                                           "hayai",
                                           "library_version",
                                           "library_build_type",
                                           "json_schema_version",
                                           "cpu_scaling_enabled",
                                           NULL};
    add_text(obj, "date", machine->date);
    add_text(obj, "host_name", machine->host_name);
    add_text(obj, "executable", machine->executable);
    add_integer(obj, "num_cpus", machine->processors);
    add_integer(obj, "mhz_per_cpu", (int64_t)lround(machine->cycles_per_second / 1e6));
    if (machine->scaling >= 0)
        add_truth(obj, "cpu_scaling_enabled", machine->scaling > 0);
    add_caches(obj, machine);
    add_loads(obj, machine);
    add_text(obj, "library_version", machine->library_version);
    add_text(obj, "library_build_type", machine->library_build);
    add_integer(obj, "json_schema_version", 1);
    add_text(obj, "hayai", hayai_version());
    hayai_text key = {0};
    for (size_t i = 0; i < machine->custom_count; i++) {
        user_key(&key, machine->custom[i].key, reserved);
        if (key.failed)
            obj->text->failed = true;
        else
            add_text(obj, key.data, machine->custom[i].value);
    }
    hayai_text_release(&key);
}

/* ---- Runs ------------------------------------------------------------------------------------ */

static void add_identity(object *obj, const hayai_run *run)
{
    const bool aggregate = run->type == HAYAI_RUN_TYPE_AGGREGATE;
    add_text(obj, "name", run->name);
    add_integer(obj, "family_index", run->family);
    add_integer(obj, "per_family_instance_index", run->instance);
    add_text(obj, "run_name", run->run_name);
    add_text(obj, "run_type", aggregate ? "aggregate" : "iteration");
    add_integer(obj, "repetitions", run->repetitions);
    if (!aggregate)
        add_integer(obj, "repetition_index", run->repetition);
    add_integer(obj, "threads", run->threads);
    if (aggregate) {
        add_text(obj, "aggregate_name", run->aggregate_name);
        add_text(obj, "aggregate_unit",
                 run->aggregate_unit == HAYAI_STATISTIC_UNIT_PERCENTAGE ? "percentage" : "time");
    }
    if (run->skipped == HAYAI_SKIP_ERROR) {
        add_truth(obj, "error_occurred", true);
        add_text(obj, "error_message", run->message);
    } else if (run->skipped == HAYAI_SKIP_MESSAGE) {
        add_truth(obj, "skipped", true);
        add_text(obj, "skip_message", run->message);
    }
}

static void add_times(object *obj, const hayai_run *run)
{
    if (run->rms) {
        add_number(obj, "rms", run->cpu_time);
        return;
    }
    if (run->big_o) {
        add_number(obj, "cpu_coefficient", run->cpu_time);
        add_number(obj, "real_coefficient", run->real_time);
        add_text(obj, "big_o", run->complexity);
    } else {
        add_integer(obj, "iterations", run->iterations);
        add_number(obj, "real_time", run->real_time);
        add_number(obj, "cpu_time", run->cpu_time);
    }
    add_text(obj, "time_unit", hayai_unit_string(run->unit));
}

static void add_counters(object *obj, const hayai_run *run)
{
    static const char *const reserved[] = {"name",
                                           "family_index",
                                           "per_family_instance_index",
                                           "run_name",
                                           "run_type",
                                           "repetitions",
                                           "repetition_index",
                                           "threads",
                                           "aggregate_name",
                                           "aggregate_unit",
                                           "error_occurred",
                                           "error_message",
                                           "skipped",
                                           "skip_message",
                                           "iterations",
                                           "real_time",
                                           "cpu_time",
                                           "time_unit",
                                           "cpu_coefficient",
                                           "real_coefficient",
                                           "big_o",
                                           "rms",
                                           "allocs_per_iter",
                                           "max_bytes_used",
                                           "label",
                                           "total_allocated_bytes",
                                           "net_heap_growth",
                                           NULL};
    hayai_text key = {0};
    for (size_t i = 0; i < run->counter_count; i++) {
        user_key(&key, run->counters[i].name, reserved);
        if (key.failed)
            obj->text->failed = true;
        else
            add_number(obj, key.data, run->counters[i].value);
    }
    hayai_text_release(&key);
}

static void add_memory(object *obj, const hayai_run *run)
{
    const hayai_memory *memory = run->memory;
    if (!memory)
        return;
    add_number(obj, "allocs_per_iter", run->allocations_per_iteration);
    add_integer(obj, "max_bytes_used", memory->max_bytes_used);
    if (memory->total_allocated_bytes != HAYAI_MEMORY_UNKNOWN)
        add_integer(obj, "total_allocated_bytes", memory->total_allocated_bytes);
    if (memory->net_heap_growth != HAYAI_MEMORY_UNKNOWN)
        add_integer(obj, "net_heap_growth", memory->net_heap_growth);
}

static void add_run(object *obj, const hayai_run *run)
{
    add_identity(obj, run);
    add_times(obj, run);
    add_counters(obj, run);
    add_memory(obj, run);
    if (run->label[0])
        add_text(obj, "label", run->label);
}

/* ---- The two formats ------------------------------------------------------------------------- */

static void json_context(hayai_output *output, const hayai_context *machine, void *memory)
{
    (void)memory;
    object obj = {.text = &output->head, .indent = "\n    "};
    hayai_text_add(&output->head, "{\n  \"context\": {");
    add_context(&obj, machine);
    hayai_text_add(&output->head, "\n  },\n  \"benchmarks\": [");
    hayai_text_add(&output->tail, "\n  ]\n}\n");
}

static void json_run(hayai_output *output, const hayai_run *run, void *memory)
{
    (void)memory;
    object obj = {.text = &output->body, .indent = "\n      "};
    hayai_text_add(&output->body, output->body.length > 0 ? ",\n    {" : "\n    {");
    add_run(&obj, run);
    hayai_text_add(&output->body, "\n    }");
}

static void json_list(hayai_output *output, const char *const *names, size_t count)
{
    hayai_text *text = &output->body;
    hayai_text_add(text, "{\n  \"benchmarks\": [");
    for (size_t i = 0; i < count; i++) {
        object obj = {.text = text, .indent = "\n      "};
        hayai_text_add(text, i > 0 ? ",\n    {" : "\n    {");
        add_text(&obj, "name", names[i]);
        hayai_text_add(text, "\n    }");
    }
    hayai_text_add(text, "\n  ]\n}\n");
}

static void jsonl_list(hayai_output *output, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        object obj = {.text = &output->body};
        hayai_text_add(&output->body, "{");
        add_text(&obj, "name", names[i]);
        hayai_text_add(&output->body, "}\n");
    }
}

static void jsonl_context(hayai_output *output, const hayai_context *machine, void *memory)
{
    (void)memory;
    object obj = {.text = &output->body};
    hayai_text_add(&output->body, "{\"context\":{");
    add_context(&obj, machine);
    hayai_text_add(&output->body, "}}\n");
}

static void jsonl_run(hayai_output *output, const hayai_run *run, void *memory)
{
    (void)memory;
    object obj = {.text = &output->body};
    hayai_text_add(&output->body, "{");
    add_run(&obj, run);
    hayai_text_add(&output->body, "}\n");
}

const hayai_format hayai_format_json = {.name = "json",
                                        .kind = HAYAI_DOCUMENT,
                                        .context = json_context,
                                        .run = json_run,
                                        .list = json_list};
const hayai_format hayai_format_jsonl = {.name = "jsonl",
                                         .kind = HAYAI_STREAM,
                                         .context = jsonl_context,
                                         .run = jsonl_run,
                                         .list = jsonl_list};
