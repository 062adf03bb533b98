/* SPDX-License-Identifier: Apache-2.0 */
/* The report formats: growing texts, outputs, and the reporter of each format. */
#include "formats.h"
#include <errno.h>
#include <locale.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* ---- Numbers and text ------------------------------------------------------------------------ */

/* Makes room for `count` more bytes and a terminator. */
static bool reserve(hayai_text *text, size_t count)
{
    if (text->failed || count >= SIZE_MAX / 2 - text->length) {
        text->failed = true;
        return false;
    }
    const size_t needed = text->length + count + 1;
    if (needed <= text->capacity)
        return true;
    size_t capacity = text->capacity ? text->capacity : 256;
    while (capacity < needed)
        capacity *= 2;
    char *data = realloc(text->data, capacity);
    if (!data) {
        text->failed = true;
        return false;
    }
    text->data = data;
    text->capacity = capacity;
    return true;
}

void hayai_text_add_bytes(hayai_text *text, const char *bytes, size_t count)
{
    if (!reserve(text, count))
        return;
    memcpy(text->data + text->length, bytes, count);
    text->length += count;
    text->data[text->length] = '\0';
}

void hayai_text_add(hayai_text *text, const char *string)
{
    hayai_text_add_bytes(text, string, strlen(string));
}

locale_t hayai_numbers_begin(void)
{
    return uselocale(newlocale(LC_ALL_MASK, "C", (locale_t)0));
}

void hayai_numbers_end(locale_t before)
{
    locale_t plain = uselocale(before);
    freelocale(plain);
}

double hayai_number_read(const char *text, char **end)
{
    const locale_t before = hayai_numbers_begin();
    const double value = strtod(text, end);
    hayai_numbers_end(before);
    return value;
}

int hayai_number_print(char *to, size_t size, const char *format, va_list arguments)
{
    const locale_t before = hayai_numbers_begin();
    const int length = vsnprintf(to, size, format, arguments);
    hayai_numbers_end(before);
    return length;
}

void hayai_text_format(hayai_text *text, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const int length = hayai_number_print(NULL, 0, format, arguments);
    va_end(arguments);
    if (length < 0 || !reserve(text, (size_t)length)) {
        text->failed = true;
        return;
    }
    va_start(arguments, format);
    hayai_number_print(text->data + text->length, (size_t)length + 1, format, arguments);
    va_end(arguments);
    text->length += (size_t)length;
}

void hayai_text_clear(hayai_text *text)
{
    text->length = 0;
    if (text->data)
        text->data[0] = '\0';
}

void hayai_text_release(hayai_text *text)
{
    free(text->data);
    *text = (hayai_text){0};
}

void hayai_text_number(hayai_text *text, double value, const char *otherwise)
{
    if (!isfinite(value)) {
        hayai_text_add(text, otherwise);
        return;
    }
    char digits[64];
    const locale_t before = hayai_numbers_begin();
    for (int precision = 15; precision <= 17; precision++) {
        snprintf(digits, sizeof digits, "%.*g", precision, value);
        if (strtod(digits, NULL) == value)
            break;
    }
    hayai_numbers_end(before);
    hayai_text_add(text, digits);
}

void hayai_text_any_number(hayai_text *text, double value)
{
    hayai_text_number(text, value, isnan(value) ? "NaN" : value > 0 ? "Infinity" : "-Infinity");
}

/* Returns a sequence's length in bytes, and its first byte's bits; 0: invalid first byte. */
static int sequence_length(unsigned char first, uint32_t *bits)
{
    if (first < 0x80) {
        *bits = first;
        return 1;
    }
    const int length = first >= 0xf0 && first < 0xf5   ? 4
                       : first >= 0xe0 && first < 0xf0 ? 3
                       : first >= 0xc2 && first < 0xe0 ? 2
                                                       : 0;
    *bits = length == 4 ? first & 0x07u : length == 3 ? first & 0x0fu : first & 0x1fu;
    return length;
}

uint32_t hayai_text_code_point(const char **string)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    const unsigned char *bytes = (const unsigned char *)*string;
    if (!bytes[0])
        return 0;
    uint32_t code = 0;
    const int length = sequence_length(bytes[0], &code);
    for (int i = 1; i < length; i++) {
        if ((bytes[i] & 0xc0) != 0x80) {
            ++*string;
            return 0xfffd;
        }
        code = code << 6 | (bytes[i] & 0x3fu);
    }
    const bool surrogate = code >= 0xd800 && code < 0xe000;
    if (length == 0 || code < least[length] || surrogate || code > 0x10ffff) {
        ++*string;
        return 0xfffd;
    }
    *string += length;
    return code;
}

void hayai_text_add_code_point(hayai_text *text, uint32_t code)
{
    char bytes[4];
    if (code < 0x80) {
        bytes[0] = (char)code;
        hayai_text_add_bytes(text, bytes, 1);
        return;
    }
    const size_t length = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    static const unsigned first[] = {0, 0, 0xc0, 0xe0, 0xf0};
    for (size_t i = length - 1; i > 0; i--) {
        bytes[i] = (char)(0x80u | (code & 0x3fu));
        code >>= 6;
    }
    bytes[0] = (char)(first[length] | code);
    hayai_text_add_bytes(text, bytes, length);
}

/* ---- Outputs --------------------------------------------------------------------------------- */

static hayai_status io_error(const char *path, const char *what)
{
    return hayai_fail_format(HAYAI_ERROR_IO, "%s: %s: %s", path ? path : "standard output", what,
                             strerror(errno));
}

static hayai_status no_memory(void)
{
    return hayai_fail_format(HAYAI_ERROR_MEMORY, "out of memory (report)");
}

static double now(void)
{
    struct timespec time;
    if (clock_gettime(CLOCK_MONOTONIC, &time) != 0)
        return 0;
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

/* Returns whether a file can be replaced: it does not exist, or is a regular file. */
static bool replaceable(const char *path)
{
    struct stat status;
    return stat(path, &status) != 0 ? errno == ENOENT : S_ISREG(status.st_mode);
}

/* Returns the path, or the target of a link, which is kept. The caller frees it. */
static char *resolved(const char *path)
{
    char *target = realpath(path, NULL);
    return target ? target : strdup(path);
}

static hayai_status prepare_document(hayai_output *output)
{
    static const char suffix[] = ".part";
    const size_t length = strlen(output->path);
    output->part = malloc(length + sizeof suffix);
    if (!output->part)
        return no_memory();
    memcpy(output->part, output->path, length);
    memcpy(output->part + length, suffix, sizeof suffix);
    FILE *probe = fopen(output->part, "wb");
    if (!probe)
        return io_error(output->part, "can't be created");
    fclose(probe);
    remove(output->part);
    return HAYAI_OK;
}

hayai_status hayai_output_open(hayai_output *output, hayai_output_kind kind, const char *path)
{
    *output = (hayai_output){.kind = kind};
    if (!path) {
        output->file = stdout;
        return HAYAI_OK;
    }
    output->path = resolved(path);
    if (!output->path)
        return no_memory();
    if (kind == HAYAI_DOCUMENT && replaceable(output->path))
        return prepare_document(output);
    output->file = fopen(output->path, "wb");
    return output->file ? HAYAI_OK : io_error(output->path, "can't be opened");
}

static bool write_text(FILE *file, const hayai_text *text)
{
    return text->length == 0 || fwrite(text->data, 1, text->length, file) == text->length;
}

static bool write_document(FILE *file, const hayai_output *output)
{
    return write_text(file, &output->head) && write_text(file, &output->body) &&
           write_text(file, &output->tail) && fflush(file) == 0;
}

static hayai_status replace(hayai_output *output)
{
    FILE *file = fopen(output->part, "wb");
    if (!file)
        return io_error(output->part, "can't be created");
    const bool written = write_document(file, output);
    const int cause = errno;
    if (fclose(file) != 0 || !written) {
        errno = written ? errno : cause;
        const hayai_status status = io_error(output->part, "can't be written");
        remove(output->part);
        return status;
    }
    if (rename(output->part, output->path) != 0)
        return io_error(output->path, "can't be replaced");
    return HAYAI_OK;
}

static hayai_status commit_document(hayai_output *output, bool last)
{
    if (!output->part) {
        if (last && !write_document(output->file, output))
            return io_error(output->path, "can't be written");
        return HAYAI_OK;
    }
    const double begin = now();
    if (!last && begin < output->next)
        return HAYAI_OK;
    const hayai_status status = replace(output);
    const double end = now();
    output->next = end + 20 * (end - begin);
    return status;
}

static hayai_status commit_stream(hayai_output *output)
{
    if (!write_text(output->file, &output->body) || fflush(output->file) != 0)
        return io_error(output->path, "can't be written");
    hayai_text_clear(&output->body);
    return HAYAI_OK;
}

hayai_status hayai_output_commit(hayai_output *output, bool last)
{
    if (output->head.failed || output->body.failed || output->tail.failed)
        return no_memory();
    return output->kind == HAYAI_STREAM ? commit_stream(output) : commit_document(output, last);
}

void hayai_output_close(hayai_output *output)
{
    if (output->file && output->file != stdout)
        fclose(output->file);
    free(output->path);
    free(output->part);
    hayai_text_release(&output->head);
    hayai_text_release(&output->body);
    hayai_text_release(&output->tail);
    *output = (hayai_output){0};
}

/* ---- JSON ------------------------------------------------------------------------------------ */

/* JSON in Google Benchmark's schema, and JSON Lines: one such object per line, the context in the
 * first. Strict (RFC 8259): values that are not finite are null, strings are valid UTF-8. */

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

/* An object that is being written: one member per line, or all in one line. */
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

/* The context of a run. */

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

/* Makes a user's key that differs from those of the schema, which would otherwise be there
 * twice. */
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

/* One run. */

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

/* The differences between JSON and JSON Lines. */

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

/* ---- TSV ------------------------------------------------------------------------------------- */

/* Tidy TSV: one line for each measure of a run (real_time, cpu_time, each counter), so that the
 * columns are always the same. Tab, newline, carriage return and backslash in a text are written
 * \t, \n, \r, \\. Values that are not finite, and the times of a skipped run, are empty. */

static void add_field(hayai_text *text, const char *string)
{
    for (uint32_t code; (code = hayai_text_code_point(&string));) {
        if (code == '\t')
            hayai_text_add(text, "\\t");
        else if (code == '\n')
            hayai_text_add(text, "\\n");
        else if (code == '\r')
            hayai_text_add(text, "\\r");
        else if (code == '\\')
            hayai_text_add(text, "\\\\");
        else
            hayai_text_add_code_point(text, code);
    }
    hayai_text_add(text, "\t");
}

/* Ends a line: replaces the tab after the last field. */
static void end_line(hayai_text *text)
{
    if (!text->failed && text->length > 0)
        text->data[--text->length] = '\0';
    hayai_text_add(text, "\n");
}

static void add_line(hayai_text *text, const hayai_run *run, const char *measure, double value,
                     const char *unit)
{
    static const char *const skips[] = {"", "skipped", "error"};
    add_field(text, run->name);
    add_field(text, run->function_name);
    add_field(text, run->arguments);
    hayai_text_format(text, "%lld\t%s\t", (long long)run->threads,
                      run->type == HAYAI_RUN_TYPE_AGGREGATE ? "aggregate" : "iteration");
    add_field(text, run->aggregate_name);
    if (run->repetition >= 0)
        hayai_text_format(text, "%lld", (long long)run->repetition);
    hayai_text_format(text, "\t%lld\t", (long long)run->iterations);
    add_field(text, measure);
    if (run->skipped == HAYAI_SKIP_NONE)
        hayai_text_number(text, value, "");
    hayai_text_format(text, "\t%s\t%s\t", unit, skips[run->skipped]);
    add_field(text, run->message);
    add_field(text, run->label);
    end_line(text);
}

static void tsv_context(hayai_output *output, const hayai_context *machine, void *memory)
{
    (void)machine;
    (void)memory;
    hayai_text_add(&output->body, "name\tfunction\targuments\tthreads\trun_type\taggregate\t"
                                  "repetition\titerations\tmeasure\tvalue\tunit\tskipped\tmessage\t"
                                  "label\n");
}

static void tsv_run(hayai_output *output, const hayai_run *run, void *memory)
{
    (void)memory;
    hayai_text *text = &output->body;
    const bool ratio = run->rms || run->aggregate_unit == HAYAI_STATISTIC_UNIT_PERCENTAGE;
    const char *unit = ratio ? "1" : hayai_unit_string(run->unit);
    add_line(text, run, "real_time", run->real_time, unit);
    add_line(text, run, "cpu_time", run->cpu_time, unit);
    for (size_t i = 0; i < run->counter_count; i++)
        add_line(text, run, run->counters[i].name, run->counters[i].value, "");
}

static void tsv_list(hayai_output *output, const char *const *names, size_t count)
{
    hayai_text *text = &output->body;
    hayai_text_add(text, "name\n");
    for (size_t i = 0; i < count; i++) {
        add_field(text, names[i]);
        end_line(text);
    }
}

const hayai_format hayai_format_tsv = {
    .name = "tsv", .kind = HAYAI_STREAM, .context = tsv_context, .run = tsv_run, .list = tsv_list};

/* ---- JUnit ----------------------------------------------------------------------------------- */

/* JUnit XML: one test case for each repetition, named after its instance, with its measures as
 * properties; an error is a failure, a skip with a message is skipped. Aggregates are left out,
 * since they are no tests. */

typedef struct totals {
    size_t tests, failures, skipped;
    double seconds;
    hayai_text suite; /* its name, escaped */
    hayai_text date;
} totals;

/* XML 1.0 allows no control characters but \t, \n and \r, and no U+FFFE, U+FFFF. */
static void add_escaped(hayai_text *text, const char *string)
{
    for (uint32_t code; (code = hayai_text_code_point(&string));) {
        if (code == '&')
            hayai_text_add(text, "&amp;");
        else if (code == '<')
            hayai_text_add(text, "&lt;");
        else if (code == '>')
            hayai_text_add(text, "&gt;");
        else if (code == '"')
            hayai_text_add(text, "&quot;");
        else if (code == '\t' || code == '\n' || code == '\r')
            hayai_text_format(text, "&#%u;", (unsigned)code);
        else if (code < 0x20 || code == 0xfffe || code == 0xffff)
            hayai_text_add_code_point(text, 0xfffd);
        else
            hayai_text_add_code_point(text, code);
    }
}

/* Writes the head again for each test case, because it has the counts. */
static void write_head(hayai_output *output, const totals *sum)
{
    hayai_text *head = &output->head;
    hayai_text_clear(head);
    hayai_text_add(head, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n"
                         "  <testsuite name=\"");
    hayai_text_add(head, sum->suite.data ? sum->suite.data : "");
    hayai_text_format(head,
                      "\" tests=\"%zu\" failures=\"%zu\" errors=\"0\" skipped=\"%zu\" time=\"",
                      sum->tests, sum->failures, sum->skipped);
    hayai_text_number(head, sum->seconds, "0");
    hayai_text_add(head, "\" timestamp=\"");
    hayai_text_add(head, sum->date.data ? sum->date.data : "");
    hayai_text_add(head, "\">\n");
    if (sum->suite.failed || sum->date.failed)
        head->failed = true;
}

static void junit_context(hayai_output *output, const hayai_context *machine, void *memory)
{
    totals *sum = memory;
    add_escaped(&sum->suite, machine->executable);
    add_escaped(&sum->date, machine->date);
    write_head(output, sum);
    hayai_text_add(&output->tail, "  </testsuite>\n</testsuites>\n");
}

static void add_property(hayai_text *text, const char *name, double value)
{
    hayai_text_add(text, "        <property name=\"");
    add_escaped(text, name);
    hayai_text_add(text, "\" value=\"");
    hayai_text_any_number(text, value);
    hayai_text_add(text, "\"/>\n");
}

static void add_properties(hayai_text *text, const hayai_run *run)
{
    const double scale = hayai_unit_multiplier(run->unit);
    hayai_text_add(text, "      <properties>\n");
    add_property(text, "iterations", (double)run->iterations);
    add_property(text, "real_seconds_per_iteration", run->real_time / scale);
    add_property(text, "cpu_seconds_per_iteration", run->cpu_time / scale);
    for (size_t i = 0; i < run->counter_count; i++)
        add_property(text, run->counters[i].name, run->counters[i].value);
    hayai_text_add(text, "      </properties>\n");
}

static void add_outcome(hayai_text *text, const hayai_run *run)
{
    if (run->skipped == HAYAI_SKIP_NONE) {
        add_properties(text, run);
        return;
    }
    const bool error = run->skipped == HAYAI_SKIP_ERROR;
    hayai_text_format(text, "      <%s message=\"", error ? "failure" : "skipped");
    add_escaped(text, run->message);
    hayai_text_add(text, "\"/>\n");
}

static void add_test_case(hayai_text *text, const hayai_run *run)
{
    hayai_text_add(text, "    <testcase classname=\"");
    add_escaped(text, run->function_name);
    hayai_text_add(text, "\" name=\"");
    add_escaped(text, run->name);
    if (run->repetitions > 1)
        hayai_text_format(text, " repetition %lld", (long long)run->repetition);
    hayai_text_add(text, "\" time=\"");
    hayai_text_number(text, run->real_seconds, "0");
    hayai_text_add(text, "\">\n");
    add_outcome(text, run);
    hayai_text_add(text, "    </testcase>\n");
}

static void junit_run(hayai_output *output, const hayai_run *run, void *memory)
{
    if (run->type == HAYAI_RUN_TYPE_AGGREGATE)
        return;
    totals *sum = memory;
    sum->tests++;
    sum->failures += run->skipped == HAYAI_SKIP_ERROR;
    sum->skipped += run->skipped == HAYAI_SKIP_MESSAGE;
    sum->seconds += run->real_seconds;
    add_test_case(&output->body, run);
    write_head(output, sum);
}

static void junit_release(void *memory)
{
    totals *sum = memory;
    hayai_text_release(&sum->suite);
    hayai_text_release(&sum->date);
}

const hayai_format hayai_format_junit = {.name = "junit",
                                         .kind = HAYAI_DOCUMENT,
                                         .context = junit_context,
                                         .run = junit_run,
                                         .memory = sizeof(totals),
                                         .release = junit_release};

/* ---- Markdown -------------------------------------------------------------------------------- */

/* A Markdown table that grows by lines. */

static void add_cell(hayai_text *text, const char *string)
{
    for (uint32_t code; (code = hayai_text_code_point(&string));) {
        if (code == '|' || code == '\\' || code == '<' || code == '*' || code == '_' || code == '`')
            hayai_text_add(text, "\\");
        if (code == '\n' || code == '\r' || code == '\t')
            hayai_text_add(text, " ");
        else
            hayai_text_add_code_point(text, code);
    }
}

static void markdown_context(hayai_output *output, const hayai_context *machine, void *memory)
{
    (void)memory;
    hayai_text *text = &output->body;
    add_cell(text, machine->executable);
    hayai_text_add(text, " on ");
    add_cell(text, machine->host_name);
    hayai_text_format(text, " (%d × %.0f MHz), %s; Google Benchmark ", machine->processors,
                      machine->cycles_per_second / 1e6, machine->date);
    add_cell(text, machine->library_version);
    hayai_text_add(text, " (");
    add_cell(text, machine->library_build);
    hayai_text_add(text, ")\n\n| benchmark | time | CPU | iterations | counters |\n"
                         "|:--|--:|--:|--:|:--|\n");
}

/* Adds three significant digits and the unit, or a percentage. */
static void add_time(hayai_text *text, const hayai_run *run, double time)
{
    if (!isfinite(time))
        hayai_text_any_number(text, time);
    else if (run->rms || run->aggregate_unit == HAYAI_STATISTIC_UNIT_PERCENTAGE)
        hayai_text_format(text, "%.2f %%", time * 100);
    else
        hayai_text_format(text, "%.*f %s",
                          time < 10    ? 2
                          : time < 100 ? 1
                                       : 0,
                          time, hayai_unit_string(run->unit));
    if (run->big_o)
        hayai_text_format(text, " %s", run->complexity);
    hayai_text_add(text, " | ");
}

/* Adds 12345678 as 12.3M; the counter decides whether k is 1000 or 1024. */
static void add_counter(hayai_text *text, const hayai_counter_value *counter)
{
    static const char *const units[] = {"", "k", "M", "G", "T", "P"};
    double value = counter->value;
    const double k = (int)counter->one_k;
    size_t unit = 0;
    add_cell(text, counter->name);
    if (!isfinite(value)) {
        hayai_text_add(text, " ");
        hayai_text_any_number(text, value);
        return;
    }
    for (; unit < 5 && fabs(value) >= k; unit++)
        value /= k;
    hayai_text_format(text, " %.4g%s%s", value, units[unit],
                      unit > 0 && counter->one_k == HAYAI_ONE_K_1024 ? "i" : "");
    if (counter->flags & HAYAI_COUNTER_IS_RATE)
        hayai_text_add(text, counter->flags & HAYAI_COUNTER_INVERT ? " s" : "/s");
}

static void markdown_run(hayai_output *output, const hayai_run *run, void *memory)
{
    (void)memory;
    hayai_text *text = &output->body;
    hayai_text_add(text, "| ");
    add_cell(text, run->name);
    hayai_text_add(text, " | ");
    if (run->skipped != HAYAI_SKIP_NONE) {
        const bool error = run->skipped == HAYAI_SKIP_ERROR;
        hayai_text_format(text, "– | – | – | %s: ", error ? "error" : "skipped");
        add_cell(text, run->message);
        hayai_text_add(text, " |\n");
        return;
    }
    add_time(text, run, run->real_time);
    add_time(text, run, run->cpu_time);
    if (!run->big_o && !run->rms)
        hayai_text_format(text, "%lld", (long long)run->iterations);
    hayai_text_add(text, " | ");
    for (size_t i = 0; i < run->counter_count; i++) {
        hayai_text_add(text, i > 0 ? ", " : "");
        add_counter(text, &run->counters[i]);
    }
    hayai_text_add(text, run->counter_count > 0 && run->label[0] ? "; " : "");
    add_cell(text, run->label);
    hayai_text_add(text, " |\n");
}

const hayai_format hayai_format_markdown = {
    .name = "markdown", .kind = HAYAI_STREAM, .context = markdown_context, .run = markdown_run};

/* ---- The formats by name --------------------------------------------------------------------- */

/* The formats by name, and the reporter around each. */

static const hayai_format *const formats[] = {
    &hayai_format_json,  &hayai_format_jsonl,    &hayai_format_tsv,
    &hayai_format_junit, &hayai_format_markdown,
};

typedef struct writer {
    const hayai_format *format;
    hayai_output output;
    void *memory;
} writer;

static hayai_status on_context(const hayai_context *machine, void *user)
{
    writer *self = user;
    self->format->context(&self->output, machine, self->memory);
    return hayai_output_commit(&self->output, false);
}

static hayai_status on_report(const hayai_run *runs, size_t count, void *user)
{
    writer *self = user;
    for (size_t i = 0; i < count; i++)
        self->format->run(&self->output, &runs[i], self->memory);
    return hayai_output_commit(&self->output, false);
}

static hayai_status on_list(const char *const *names, size_t count, void *user)
{
    writer *self = user;
    hayai_output *output = &self->output;
    if (self->format->list)
        self->format->list(output, names, count);
    for (size_t i = 0; i < count && !self->format->list; i++) {
        hayai_text_add(&output->body, names[i]);
        hayai_text_add(&output->body, "\n");
    }
    return hayai_output_commit(output, true);
}

static hayai_status on_finalize(void *user)
{
    writer *self = user;
    return hayai_output_commit(&self->output, true);
}

static const hayai_format *find(const char *name)
{
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++)
        if (strcmp(formats[i]->name, name) == 0)
            return formats[i];
    return NULL;
}

hayai_status hayai_format_open(const char *name, const char *path, hayai_reporter *reporter)
{
    const hayai_format *format = find(name);
    if (!format)
        return hayai_fail_format(
            HAYAI_ERROR_ARGUMENT,
            "output format %s: expected console, json, jsonl, tsv, junit, markdown, "
            "csv, google-json or none",
            name);
    writer *self = calloc(1, sizeof *self);
    void *memory = calloc(1, format->memory + 1);
    if (!self || !memory) {
        free(self);
        free(memory);
        return hayai_fail_format(HAYAI_ERROR_MEMORY, "out of memory (report)");
    }
    self->format = format;
    self->memory = memory;
    const hayai_status status = hayai_output_open(&self->output, format->kind, path);
    if (status != HAYAI_OK) {
        hayai_format_close(self);
        return status;
    }
    *reporter = (hayai_reporter){.context = on_context,
                                 .report = on_report,
                                 .finalize = on_finalize,
                                 .list = on_list,
                                 .user = self,
                                 .file = path != NULL};
    return HAYAI_OK;
}

void hayai_format_close(void *user)
{
    writer *self = user;
    if (!self)
        return;
    hayai_output_close(&self->output);
    if (self->format->release)
        self->format->release(self->memory);
    free(self->memory);
    free(self);
}
