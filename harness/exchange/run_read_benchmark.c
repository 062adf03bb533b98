/* Google Benchmark's JSON: ours, with the cases beside, and its own. */
#include "exchange/internal.h"
#include "base/allocate.h"
#include "base/hash.h"
#include "exchange/run_read_internal.h"
#include "base/text.h"
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ENTRY_DEPTH = 3 }; /* {"benchmarks": [{ */

/* The fields of an entry that are read: the first of a name is Google Benchmark's own. */
static const char *const fields[] = {"name",           "run_name",     "run_type", "skipped",
                                     "time_unit",      "real_time",    "cpu_time", "skip_message",
                                     "error_occurred", "error_message"};

/* A number that none is becomes an empty string, of the same length with blanks. */
static void relax_word(char *word, size_t length)
{
    char *end;
    errno = 0;
    double value = strtod(word, &end);
    bool whole = end == word + length, fits = isfinite(value);
    if (whole && fits && strcspn(word, ".eE") >= length) {
        errno = 0;
        strtoll(word, NULL, 10);
        fits = errno == 0;
    }
    if (length < 2 || (whole ? fits : !memchr(word, '#', length)))
        return;
    memset(word, ' ', length);
    word[0] = word[1] = '"';
}

/* Behind the string. */
static char *relax_string(char *string, const char *end)
{
    char *at = string + 1;
    while (at < end && *at != '"') {
        text_letter letter = text_letter_at(at);
        bool escapes = *at == '\\' && at + 1 < end;
        bool bad = letter.kind == LETTER_BAD || letter.kind == LETTER_CUT;
        if (bad || (unsigned char)*at < 0x20)
            *at = '?';
        at += escapes ? 2 : bad ? 1 : letter.length;
    }
    return at < end ? at + 1 : at;
}

/* A key that the entry has already is another counter's. */
static void relax_key(char *string, const char *behind, unsigned *seen)
{
    size_t length = (size_t)(behind - string) - 2;
    if (behind[strspn(behind, " \t\r\n")] != ':')
        return;
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        if (strlen(fields[i]) != length || memcmp(string + 1, fields[i], length) != 0)
            continue;
        string[1] = *seen & 1u << i ? '!' : string[1];
        *seen |= 1u << i;
    }
}

void relax_benchmark(char *bytes, size_t size)
{
    const char *end = bytes + size;
    size_t depth = 0;
    unsigned seen = 0;
    for (char *at = bytes; at < end;) {
        size_t word = 0;
        while (at + word < end &&
               (isalnum((unsigned char)at[word]) || strchr("+-.#()", at[word])) && at[word])
            word++;
        if (word > 0) {
            relax_word(at, word);
            at += word;
        } else if (*at == '"') {
            char *string = at;
            at = relax_string(at, end);
            if (depth == ENTRY_DEPTH)
                relax_key(string, at, &seen);
        } else {
            depth += *at == '{' || *at == '[';
            depth -= depth > 0 && (*at == '}' || *at == ']');
            seen = *at == '{' ? 0 : seen;
            at++;
        }
    }
}

/* Keys of the context that are Google Benchmark's, or the run's and not the machine's. */
static const char *const not_facts[] = {"date", "host_name", "executable",   "seed",
                                        "plan", "plan_hash", "command_line", "library_build_type"};

static bool is_fact(const char *name, json_t *value)
{
    return !word_is_in(name, WORDS(not_facts)) && json_is_string(value);
}

static const record_field date_field = {
    "date", FIELD_TEXT, offsetof(stored_run, started), 0, sizeof((stored_run *)0)->started - 1,
    NULL};

static bool read_own_context(const file_reader *reader, json_t *context)
{
    const char *name;
    json_t *value;
    json_object_foreach(context, name, value)
    {
        if (is_fact(name, value) && !read_fact(reader, name, value))
            return false;
    }
    reader->view->run.state = RUN_COMPLETE;
    return reader_take(reader, context, &date_field, 1, &reader->view->run) &&
           reader_take(reader, context, run_fields + RUN_PLAN, RUN_STATE - RUN_PLAN,
                       &reader->view->run);
}

/* What Google Benchmark itself knows of a machine. */
static bool read_foreign_context(const file_reader *reader, json_t *context)
{
    static const char *const known[] = {"host_name", "num_cpus", "caches", "library_build_type"};
    stored_run *run = &reader->view->run;
    bool again = run->started[0] != '\0';
    bool fine = reader_take(reader, context, &date_field, 1, run);
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

static bool is_iteration(json_t *entry)
{
    const char *type = json_string_value(json_object_get(entry, "run_type"));
    return !type || strcmp(type, "iteration") == 0;
}

static bool read_times(const file_reader *reader, json_t *entry, const char *name,
                       timed_repetition *repetition)
{
    static const struct {
        const char *name;
        double ns;
    } units[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};
    const char *unit = json_string_value(json_object_get(entry, "time_unit"));
    json_t *cpu = json_object_get(entry, "cpu_time");
    double scale = NAN;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (unit && strcmp(unit, units[i].name) == 0)
            scale = units[i].ns;
    if (isnan(scale))
        return reader_bad(reader, "'%.120s': \"time_unit\" is none of ns, us, ms and s", name);
    repetition->real_ns = scale * json_number_value(json_object_get(entry, "real_time"));
    repetition->cpu_ns = json_is_number(cpu) ? scale * json_number_value(cpu) : (double)NAN;
    return true;
}

/* Why an entry has no time; false: it has one. */
static bool has_no_time(const file_reader *reader, json_t *entry, char why[DETAIL_MAX_LENGTH])
{
    static const struct {
        const char *flag, *message, *words;
    } marks[] = {{"error_occurred", "error_message", "error"},
                 {"skipped", "skip_message", "skipped"}};
    json_t *time = json_object_get(entry, "real_time"),
           *count = json_object_get(entry, "iterations");
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
        const char *message = json_string_value(json_object_get(entry, marks[i].message));
        json_t *flag = json_object_get(entry, marks[i].flag);
        if (flag && !json_is_false(flag) && !json_is_null(flag))
            return snprintf(why, DETAIL_MAX_LENGTH, "%.60s: %s%s%.100s", reader->path,
                            marks[i].words, message ? ": " : "", message ? message : "") > 0;
    }
    if (json_is_integer(count) && json_integer_value(count) <= 0)
        return snprintf(why, DETAIL_MAX_LENGTH, "%.60s: no iterations", reader->path) > 0;
    if (!json_is_number(time))
        return snprintf(why, DETAIL_MAX_LENGTH, "%.60s: \"real_time\" is no number", reader->path) >
               0;
    return !(json_number_value(time) > 0) &&
           snprintf(why, DETAIL_MAX_LENGTH, "%.60s: \"real_time\" is %g", reader->path,
                    json_number_value(time)) > 0;
}

static bool read_own_entry(const file_reader *reader, json_t *entry)
{
    stored_cases *cases = &reader->view->cases;
    timed_repetition made;
    size_t index;
    if (!reader_place(reader, entry, "family_index", cases->count, &index) ||
        !reader_take(reader, entry, entry_fields, ENTRY_FIELDS, &made) ||
        !read_times(reader, entry, cases->cases[index].key.kernel, &made))
        return false;
    if (!json_is_number(json_object_get(entry, "real_time")) || !(made.real_ns >= 0))
        return reader_bad(reader, "'%.120s': \"real_time\" is no time",
                          cases->cases[index].key.kernel);
    read_repetition(&cases->cases[index], &made);
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

static stored_case *add_foreign(stored_cases *cases, const case_key *key)
{
    size_t at = stored_cases_find(cases, key);
    if (at < cases->count)
        return &cases->cases[at];
    cases->cases = allocate_room(cases->cases, cases->count, sizeof *cases->cases);
    cases->cases[cases->count++] = (stored_case){.key = *key, .bound_row_ulp = NAN};
    stored_cases_index(cases);
    return &cases->cases[at];
}

/* Once a benchmark, for the first reason. */
static void add_lost(run_view *view, hash_index *known, const case_key *key, const char *why)
{
    uint64_t hash = case_key_hash(key);
    hash_probe at = hash_index_probe(known, hash);
    for (size_t i; hash_index_next(known, &at, &i);)
        if (case_key_equal(&view->lost[i].key, key))
            return;
    hash_index_add(known, hash, view->lost_count);
    view->lost = allocate_room(view->lost, view->lost_count, sizeof *view->lost);
    asked_case *lost = &view->lost[view->lost_count++];
    *lost = (asked_case){.key = *key, .parts = ASKED_TO_TIME};
    snprintf(lost->reason, sizeof lost->reason, "%s", why);
}

void run_end_processes(run_view *view, size_t files)
{
    hash_index known = {0};
    for (size_t i = 0; i < view->lost_count; i++)
        hash_index_add(&known, case_key_hash(&view->lost[i].key), i);
    for (size_t i = 0; i < view->cases.count; i++) {
        const stored_case *stored = &view->cases.cases[i];
        char why[64];
        size_t processes = 0;
        for (size_t r = 0; r < stored->repetition_count; r++)
            processes +=
                r == 0 || stored->repetitions[r].process != stored->repetitions[r - 1].process;
        snprintf(why, sizeof why, "in %zu of %zu files", processes, files);
        if (processes < files)
            add_lost(view, &known, &stored->key, why);
    }
    hash_index_free(&known);
}

static bool read_foreign_entry(const file_reader *reader, json_t *entry, unsigned process,
                               hash_index *lost)
{
    case_key key;
    char why[DETAIL_MAX_LENGTH];
    timed_repetition made = {
        .process = process, .iterations = 1, .cycles = NAN, .instructions = NAN};
    const char *name = json_string_value(json_object_get(entry, "run_name"));
    name = name ? name : json_string_value(json_object_get(entry, "name"));
    if (!name || !name[0])
        return reader_bad(reader, "an entry without a name");
    name_case(&key, name);
    if (has_no_time(reader, entry, why)) {
        add_lost(reader->view, lost, &key, why);
        return true;
    }
    if (!read_times(reader, entry, name, &made))
        return false;
    stored_case *stored = add_foreign(&reader->view->cases, &key);
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
    json_array_extend(reader->view->kernels, kernels);
    return true;
}

bool read_benchmark(const file_reader *reader, json_t *document, unsigned process)
{
    json_t *context = json_object_get(document, "context"),
           *benchmarks = json_object_get(document, "benchmarks"), *entry,
           *schema = json_object_get(document, "schema");
    size_t index, read = 0;
    if (!json_is_object(context) || !json_is_array(benchmarks))
        return reader_bad(reader, "neither an export of lnbench (json or jsonl) nor Google "
                                  "Benchmark's JSON: it has no \"context\" and \"benchmarks\"");
    bool own = json_is_string(schema);
    if (own && !read_schema(reader, json_string_value(schema), "lnbench-benchmark-3",
                            "lnbench-benchmark-2"))
        return false;
    if (own && reader->view->run.started[0])
        return reader_bad(reader, "not a file of Google Benchmark's own");
    if (own ? !read_own_context(reader, context) || !read_own_cases(reader, document)
            : !read_foreign_context(reader, context))
        return false;
    hash_index lost = {0};
    bool fine = true;
    for (size_t i = 0; i < reader->view->lost_count; i++)
        hash_index_add(&lost, case_key_hash(&reader->view->lost[i].key), i);
    stored_cases_index(&reader->view->cases);
    for (index = 0; fine && index < json_array_size(benchmarks); index++) {
        entry = json_array_get(benchmarks, index);
        if (!is_iteration(entry))
            continue;
        read++;
        fine =
            own ? read_own_entry(reader, entry) : read_foreign_entry(reader, entry, process, &lost);
    }
    hash_index_free(&lost);
    if (!fine)
        return false;
    return own || read > 0 || json_array_size(benchmarks) == 0 ||
           reader_bad(reader, "no repetitions: aggregates alone cannot be compared (run the "
                              "benchmark without --benchmark_report_aggregates_only)");
}
