#include "exchange/run_read_internal.h"
#include "base/allocate.h"
#include "exchange/run_input.h"
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The counts that a run's record tells, to be checked at the end; -1: not told. */
typedef struct promised_sizes {
    json_int_t kernels, cases, rows, tensors, worst, lost;
} promised_sizes;

static bool read_facts(const file_reader *reader, json_t *facts)
{
    const char *name;
    json_t *value;
    if (!json_is_object(facts))
        return reader_bad(reader, "\"machine\" is missing or no object");
    json_object_foreach(facts, name, value)
    {
        if (!read_fact(reader, name, value))
            return false;
    }
    return true;
}

static json_int_t promise(json_t *record, const char *key)
{
    json_t *value = json_object_get(record, key);
    return json_is_integer(value) ? json_integer_value(value) : -1;
}

static bool read_state(const file_reader *reader, json_t *record, run_state *state)
{
    char name[16];
    if (!read_string(reader, record, "state", name, sizeof name))
        return false;
    return run_state_from_name(name, state) ||
           reader_bad(reader, "unknown state of a run '%s'", name);
}

/* What files of older versions have not. */
static bool read_later_string(const file_reader *reader, json_t *record, const char *key,
                              char *buffer, size_t size)
{
    return !json_object_get(record, key) || read_string(reader, record, key, buffer, size);
}

static bool read_counts(const file_reader *reader, json_t *record, run_counts *counts)
{
    uint64_t asked, declined, lost;
    json_t *given = json_object_get(record, "asked");
    if (!given || json_is_null(given))
        return true;
    if (!read_count(reader, record, "asked", INT64_MAX, &asked) ||
        !read_count(reader, record, "declined", asked, &declined) ||
        !read_count(reader, record, "lost", asked - declined, &lost))
        return false;
    *counts = (run_counts){true, (size_t)asked, (size_t)declined, (size_t)lost};
    return true;
}

static bool read_unfinished(const file_reader *reader, json_t *record, int64_t *process)
{
    uint64_t number;
    json_t *given = json_object_get(record, "unfinished_process");
    if (!given || json_is_null(given))
        return true;
    bool fine = read_count(reader, record, "unfinished_process", UINT32_MAX, &number);
    *process = fine ? (int64_t)number : NO_PROCESS;
    return fine;
}

static bool read_run(const file_reader *reader, json_t *record, promised_sizes *promised)
{
    stored_run *run = &reader->view->run;
    char seed[24], *end = NULL;
    if (run->started[0])
        return reader_bad(reader, "a second run: one run a file was expected");
    if (!read_string(reader, record, "started", run->started, sizeof run->started) ||
        !read_string(reader, record, "plan", run->plan, sizeof run->plan) ||
        !read_string(reader, record, "plan_hash", run->plan_hash, sizeof run->plan_hash) ||
        !read_string(reader, record, "command_line", run->command_line, sizeof run->command_line) ||
        !read_string(reader, record, "seed", seed, sizeof seed) ||
        !read_state(reader, record, &run->state) ||
        !read_facts(reader, json_object_get(record, "machine")))
        return false;
    errno = 0;
    run->seed = strtoull(seed, &end, 10);
    if (!run->started[0] || seed[0] < '0' || seed[0] > '9' || *end || errno)
        return reader_bad(reader, "\"started\" or \"seed\" is not what an export has");
    *promised = (struct promised_sizes){promise(record, "kernels"), promise(record, "cases"),
                                        promise(record, "rows"),    promise(record, "tensors"),
                                        promise(record, "worst"),   promise(record, "lost")};
    return read_counts(reader, record, &run->counts) &&
           read_unfinished(reader, record, &reader->view->unfinished) &&
           read_later_string(reader, record, "command", run->command, sizeof run->command) &&
           read_later_string(reader, record, "request_hash", run->request_hash,
                             sizeof run->request_hash);
}

static bool read_kernel(const file_reader *reader, json_t *record)
{
    char name[NAME_MAX_LENGTH];
    run_view *view = reader->view;
    size_t index;
    json_t *other;
    if (!read_string(reader, record, "name", name, sizeof name))
        return false;
    json_array_foreach(view->kernels, index, other)
    {
        if (strcmp(json_string_value(json_object_get(other, "name")), name) == 0)
            return reader_bad(reader, "kernel '%s' stands there twice", name);
    }
    json_t *copy = json_copy(record);
    json_object_del(copy, "schema");
    json_object_del(copy, "type");
    json_array_append_new(view->kernels, copy);
    return true;
}

static bool read_measurements(const file_reader *reader, json_t *list, stored_case *stored)
{
    size_t index;
    json_t *entry;
    if (!json_is_array(list))
        return reader_bad(reader, "\"measurements\" is missing or no list");
    json_array_foreach(list, index, entry)
    {
        uint64_t process, number, order, iterations;
        timed_repetition made;
        if (!read_count(reader, entry, "process", UINT32_MAX, &process) ||
            !read_count(reader, entry, "repetition", UINT32_MAX, &number) ||
            !read_count(reader, entry, "order", UINT32_MAX, &order) ||
            !read_count(reader, entry, "iterations", INT64_MAX, &iterations) ||
            !read_real(reader, entry, "real_ns", &made.real_ns) ||
            !read_real(reader, entry, "cpu_ns", &made.cpu_ns) ||
            !read_real(reader, entry, "cycles", &made.cycles) ||
            !read_real(reader, entry, "instructions", &made.instructions))
            return false;
        made.process = (unsigned)process;
        made.repetition = (unsigned)number;
        made.order = (unsigned)order;
        made.iterations = iterations;
        read_repetition(stored, &made);
    }
    return true;
}

static bool is_infinite(json_t *names, const char *name)
{
    size_t index;
    json_t *entry;
    json_array_foreach(names, index, entry)
    {
        if (json_is_string(entry) && strcmp(json_string_value(entry), name) == 0)
            return true;
    }
    return false;
}

static bool read_row(const file_reader *reader, json_t *record)
{
    stored_rows *rows = &reader->view->rows;
    json_t *infinite = json_object_get(record, "infinite");
    uint64_t index, number;
    stored_row row;
    const struct {
        const char *name;
        double *value;
        bool later; /* files of older versions have it not */
    } figures[] = {
        {"kappa", &row.kappa, false},          {"row_ulp", &row.row_ulp, false},
        {"norm_max", &row.norm_max, false},    {"bound_row_ulp", &row.bound_row_ulp, false},
        {"mean_error", &row.mean_error, true}, {"rstd_error", &row.rstd_error, true}};
    if (reader->view->cases.count == 0)
        return reader_bad(reader, "a row before any case");
    if (!read_count(reader, record, "case", reader->view->cases.count - 1, &index) ||
        !read_count(reader, record, "row", INT64_MAX, &number))
        return false;
    rows->rows = allocate_room(rows->rows, rows->count, sizeof *rows->rows);
    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++) {
        *figures[i].value = NAN;
        if (figures[i].later && !json_object_get(record, figures[i].name))
            continue;
        if (!read_real(reader, record, figures[i].name, figures[i].value))
            return false;
        if (is_infinite(infinite, figures[i].name))
            *figures[i].value = INFINITY;
    }
    row.case_index = (size_t)index;
    row.row = (size_t)number;
    rows->rows[rows->count++] = row;
    return true;
}

static bool read_record(const file_reader *reader, json_t *record, promised_sizes *promised,
                        read_tensors *tensors)
{
    char schema[32], type[16];
    stored_case *added;
    if (!json_is_object(record))
        return reader_bad(reader, "not an object");
    if (!read_string(reader, record, "schema", schema, sizeof schema) ||
        !read_string(reader, record, "type", type, sizeof type))
        return false;
    if (!read_schema(reader, schema, "lnbench-record-2", "lnbench-record-1"))
        return false;
    bool first = !reader->view->run.started[0];
    if (first != (strcmp(type, "run") == 0))
        return first ? reader_bad(reader, "a %s before the run that it is of", type)
                     : reader_bad(reader, "a second run: one run a file was expected");
    if (first)
        return read_run(reader, record, promised);
    if (strcmp(type, "kernel") == 0)
        return read_kernel(reader, record);
    if (strcmp(type, "lost") == 0)
        return read_lost(reader, record);
    if (strcmp(type, "tensor") == 0)
        return read_tensor(reader, record, tensors);
    if (strcmp(type, "worst") == 0)
        return read_worst(reader, record, tensors);
    if (strcmp(type, "case") == 0 && reader->view->worst)
        return reader_bad(reader, "a case behind a worst row");
    if (strcmp(type, "case") == 0)
        return read_case(reader, record, &added) &&
               read_measurements(reader, json_object_get(record, "measurements"), added);
    return strcmp(type, "row") == 0 ? read_row(reader, record)
                                    : reader_bad(reader, "unknown type '%s'", type);
}

static bool check_promise(const file_reader *reader, json_int_t promised, size_t there,
                          const char *what)
{
    return promised < 0 || (json_int_t)there == promised ||
           reader_bad(reader, "%zu of %lld %s: the file was cut short, or changed", there,
                      (long long)promised, what);
}

static size_t count_worst(const run_view *view)
{
    size_t count = 0;
    for (size_t i = 0; i < view->cases.count; i++)
        count += view_has_worst(view, i);
    return count;
}

static bool keeps_promises(const file_reader *reader, const promised_sizes *promised,
                           size_t tensors)
{
    const run_view *view = reader->view;
    return check_promise(reader, promised->kernels, json_array_size(view->kernels), "kernels") &&
           check_promise(reader, promised->cases, view->cases.count, "cases") &&
           check_promise(reader, promised->rows, view->rows.count, "rows") &&
           check_promise(reader, promised->tensors, tensors, "tensors") &&
           check_promise(reader, promised->worst, count_worst(view), "worst rows") &&
           check_promise(reader, promised->lost, view->lost_count, "lost cases");
}

/* `at` is the first line. */
static bool read_lines(file_reader *reader, run_input *input, const char *at, size_t length)
{
    promised_sizes promised = {-1, -1, -1, -1, -1, -1};
    read_tensors tensors = {0};
    bool fine = true;
    while (fine && at) {
        json_error_t where;
        reader->line++;
        if (length > 0) {
            json_t *record = json_loadb(at, length, JSON_REJECT_DUPLICATES, &where);
            fine = record ? read_record(reader, record, &promised, &tensors)
                          : reader_bad(reader, "not JSON: %s", where.text);
            json_decref(record);
        }
        fine = fine && run_input_line(input, &at, &length, reader->error);
    }
    reader->line = fine ? 0 : reader->line;
    fine = fine && keeps_promises(reader, &promised, tensors.count);
    read_tensors_free(&tensors);
    return fine;
}

static int compare_keys(const void *a, const void *b)
{
    const case_key *x = &(*(const stored_case *const *)a)->key,
                   *y = &(*(const stored_case *const *)b)->key;
    int order = strcmp(x->kernel, y->kernel);
    order = order ? order : strcmp(x->convention, y->convention);
    order = order ? order : strcmp(x->input, y->input);
    order = order ? order : (x->rows > y->rows) - (x->rows < y->rows);
    order = order ? order : (x->hidden > y->hidden) - (x->hidden < y->hidden);
    order = order ? order : (x->dtype > y->dtype) - (x->dtype < y->dtype);
    order = order ? order : (x->cache > y->cache) - (x->cache < y->cache);
    return order ? order : (x->threads > y->threads) - (x->threads < y->threads);
}

static int compare_repetitions(const void *a, const void *b)
{
    const timed_repetition *x = a, *y = b;
    if (x->process != y->process)
        return x->process < y->process ? -1 : 1;
    return (x->repetition > y->repetition) - (x->repetition < y->repetition);
}

/* A case, or a repetition of it, that stands there twice would count twice. */
static bool check_twice(const file_reader *reader)
{
    stored_cases *cases = &reader->view->cases;
    const stored_case **sorted = allocate((cases->count + 1) * sizeof *sorted);
    const stored_case *twice = NULL;
    for (size_t i = 0; i < cases->count; i++) {
        stored_case *stored = &cases->cases[i];
        sorted[i] = stored;
        if (stored->repetition_count > 0)
            qsort(stored->repetitions, stored->repetition_count, sizeof *stored->repetitions,
                  compare_repetitions);
        for (size_t r = 1; r < stored->repetition_count; r++)
            if (compare_repetitions(&stored->repetitions[r - 1], &stored->repetitions[r]) == 0)
                twice = stored;
    }
    bool repetition = twice != NULL;
    qsort(sorted, cases->count, sizeof *sorted, compare_keys);
    for (size_t i = 1; i < cases->count; i++)
        if (compare_keys(&sorted[i - 1], &sorted[i]) == 0)
            twice = sorted[i];
    free(sorted);
    return !twice || reader_bad(reader, "a %s of %.60s, %zux%zu, stands there twice",
                                repetition ? "repetition" : "case", twice->key.kernel,
                                twice->key.rows, twice->key.hidden);
}

static bool finish(const file_reader *reader)
{
    run_view *view = reader->view;
    if (!view->run.started[0])
        return reader_bad(reader, "holds no run");
    view->run.cases = view->cases.count;
    for (size_t i = 0; i < view->cases.count; i++)
        view->run.repetitions += view->cases.cases[i].repetition_count;
    machine_fill_sizes(&view->machine);
    return check_twice(reader);
}

/* JSON Lines begin with a whole object in the first line; a document goes on over the lines. */
static bool is_lines(const char *line, size_t length)
{
    static const char sign[] = "lnbench-record-";
    return length > 0 && line[0] == '{' && memmem(line, length, sign, sizeof sign - 1);
}

/* Strict JSON, or what Google Benchmark makes of it. */
static json_t *parse_document(const char *bytes, size_t size, json_error_t *where)
{
    json_error_t relaxed_where;
    json_t *strict = json_loadb(bytes, size, JSON_REJECT_DUPLICATES, where);
    if (strict)
        return strict;
    char *copy = allocate(size + 1);
    memcpy(copy, bytes, size);
    copy[size] = '\0';
    relax_benchmark(copy, size);
    json_t *relaxed = json_loadb(copy, size, 0, &relaxed_where);
    free(copy);
    if (!relaxed)
        *where = relaxed_where;
    if (!json_object_get(relaxed, "schema"))
        return relaxed;
    json_decref(relaxed); /* ours is strict */
    return NULL;
}

static bool read_document(const file_reader *reader, const char *bytes, size_t size,
                          unsigned process)
{
    json_error_t where;
    json_t *document = parse_document(bytes, size, &where);
    if (!document)
        return fail(reader->error, EXIT_CODE_ENVIRONMENT, "%s, line %d, column %d: not JSON: %s",
                    reader->path, where.line, where.column, where.text);
    bool fine = read_benchmark(reader, document, process);
    json_decref(document);
    return fine;
}

/* Some editors and shells put one first. */
static void skip_byte_order_mark(const char **bytes, size_t *size)
{
    static const char mark[] = "\xef\xbb\xbf";
    if (*size < 3 || memcmp(*bytes, mark, 3) != 0)
        return;
    *bytes += 3;
    *size -= 3;
}

static bool read_whole_document(file_reader *reader, run_input *input, unsigned process)
{
    const char *bytes;
    size_t size;
    if (!run_input_rest(input, &bytes, &size, reader->error))
        return false;
    skip_byte_order_mark(&bytes, &size);
    return read_document(reader, bytes, size, process);
}

static bool read_input(run_input *input, run_view *view, error *err)
{
    file_reader reader = {.path = input->path, .view = view, .error = err};
    const char *line;
    size_t length;
    *view = (struct run_view){.kernels = json_array(), .unfinished = NO_PROCESS};
    bool fine = run_input_line(input, &line, &length, err) &&
                (line || reader_bad(&reader, "an empty file: a run exported by 'lnbench export' "
                                             "was expected"));
    if (fine)
        skip_byte_order_mark(&line, &length);
    fine = fine &&
           (is_lines(line, length) ? read_lines(&reader, input, line, length)
                                   : read_whole_document(&reader, input, 0)) &&
           finish(&reader);
    if (!fine)
        view_free(view);
    return fine;
}

bool run_read_bytes(const char *path, const char *bytes, size_t size, run_view *view, error *err)
{
    run_input input;
    FILE *file = size > 0 ? fmemopen((char *)bytes, size, "rb") : fopen("/dev/null", "rb");
    *view = (struct run_view){0};
    bool fine = run_input_begin(&input, path, file, err) && read_input(&input, view, err);
    run_input_close(&input);
    return fine;
}

bool run_read(const char *path, run_view *view, error *err)
{
    run_input input;
    *view = (struct run_view){0};
    bool fine = run_input_open(&input, path, err) && read_input(&input, view, err);
    run_input_close(&input);
    return fine;
}

bool run_is_foreign(const run_view *view)
{
    const case_key *first = view->cases.count > 0  ? &view->cases.cases[0].key
                            : view->lost_count > 0 ? &view->lost[0].key
                                                   : NULL;
    return json_array_size(view->kernels) == 0 &&
           (first ? first->rows == 0
                  : !view->run.plan_hash[0]); /* all gone: only ours has a plan */
}

/* The process after the last. */
static unsigned next_process(const run_view *view)
{
    unsigned next = 0;
    for (size_t i = 0; i < view->cases.count; i++)
        for (size_t r = 0; r < view->cases.cases[i].repetition_count; r++)
            if (view->cases.cases[i].repetitions[r].process >= next)
                next = view->cases.cases[i].repetitions[r].process + 1;
    return next;
}

bool run_read_process(const char *path, run_view *view, error *err)
{
    run_input input;
    file_reader reader = {.path = path, .view = view, .error = err};
    if (!run_is_foreign(view))
        return fail(err, EXIT_CODE_USAGE,
                    "%s: only files of Google Benchmark's own are put together: ours hold all of "
                    "their processes",
                    path);
    bool fine = run_input_open(&input, path, err) &&
                read_whole_document(&reader, &input, next_process(view)) && finish(&reader);
    run_input_close(&input);
    return fine;
}
