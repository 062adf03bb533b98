/* The bytes of an exported run, plain or packed by xz, a line at a time or all of them.
 *
 *     run_input input;
 *     bool fine = run_input_open(&input, path, fopen(path, "rb"), &err);
 *     while (fine && (fine = run_input_line(&input, &line, &length, &err)) && line) ...
 *     run_input_close(&input);
 *
 * What a file unpacks to is limited (RUN_READ_MOST_BYTES), and so is the memory that unpacking takes.
 * Errors (7) are one line. */
#include "exchange/run_read_internal.h"
#include "base/allocate.h"
#include "base/hash.h"
#include "exchange/page_run.h"
#include "exchange/run_read.h"
#include "base/error.h"
#include <errno.h>
#include <inttypes.h>
#include <lzma.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct run_input {
    const char *path;
    FILE *file;
    bool packed, ended;
    lzma_stream unpacker;
    char *page;           /* of a report's page: the packed run within it, which `file` is then */
    unsigned char *piece; /* of a packed file, as it was read */
    char *bytes;          /* unpacked; the last line begins at `line`, the next at `next` */
    size_t line, next, size, room, total;
} run_input;

enum {
    PIECE = 1 << 16,
    UNPACKER_MEMORY_MOST = 128 << 20, /* xz -9 takes 65 MiB */
};

static bool unreadable(const run_input *input, error *err)
{
    return fail(err, EXIT_CODE_ENVIRONMENT, "%s: cannot read it: %s", input->path, strerror(errno));
}

static bool is_packed(FILE *file)
{
    static const char magic[6] = "\xfd"
                                 "7zXZ"; /* tukaani.org/xz/xz-file-format.txt, 2.1.1.1 */
    char begin[sizeof magic];
    bool packed = fread(begin, 1, sizeof begin, file) == sizeof begin &&
                  memcmp(begin, magic, sizeof begin) == 0;
    rewind(file);
    return packed;
}

static bool unpacking_fails(const run_input *input, lzma_ret status, error *err)
{
    if (status == LZMA_MEM_ERROR)
        return fail_memory(err, "unpacking a run");
    if (status == LZMA_MEMLIMIT_ERROR)
        return fail(err, EXIT_CODE_ENVIRONMENT, "%s: unpacking it takes more than %d MiB of memory",
                    input->path, UNPACKER_MEMORY_MOST >> 20);
    return fail(err, EXIT_CODE_ENVIRONMENT,
                "%s: its xz data is damaged or was cut short: copy the file again", input->path);
}

/* Of a report's page the run within it. */
static bool open_page(run_input *input, error *err)
{
    char begin[32];
    size_t size = fread(begin, 1, sizeof begin, input->file), packed, room = 0;
    rewind(input->file);
    if (!page_run_is_page(begin, size))
        return true;
    for (size = 0; !feof(input->file) && size < RUN_READ_MOST_BYTES;) {
        input->page = reallocate(input->page, room += PIECE + room / 2);
        size += fread(input->page + size, 1, room - size, input->file);
        if (ferror(input->file))
            return unreadable(input, err);
    }
    if (!page_run_take(input->path, input->page, size, &packed, err))
        return false;
    fclose(input->file);
    input->file = packed > 0 ? fmemopen(input->page, packed, "rb") : fopen("/dev/null", "rb");
    return input->file || unreadable(input, err);
}

/* The file is closed with it; NULL: it could not be opened. */
static bool run_input_open(run_input *input, const char *path, FILE *file, error *err)
{
    *input = (run_input){.path = path, .file = file, .unpacker = LZMA_STREAM_INIT};
    if (!file)
        return unreadable(input, err);
    if (!open_page(input, err))
        return false;
    input->packed = is_packed(input->file);
    if (!input->packed)
        return true;
    input->piece = allocate(PIECE);
    lzma_ret status =
        lzma_stream_decoder(&input->unpacker, UNPACKER_MEMORY_MOST, LZMA_CONCATENATED);
    return status == LZMA_OK || unpacking_fails(input, status, err);
}

/* Up to `most` bytes behind those there are; fewer at the end of the file. */
static bool unpack(run_input *input, size_t most, error *err)
{
    lzma_stream *unpacker = &input->unpacker;
    lzma_ret status = LZMA_OK;
    unpacker->next_out = (unsigned char *)input->bytes + input->size;
    unpacker->avail_out = most;
    while (unpacker->avail_out > 0 && status == LZMA_OK) {
        if (unpacker->avail_in == 0 && !feof(input->file)) {
            unpacker->next_in = input->piece;
            unpacker->avail_in = fread(input->piece, 1, PIECE, input->file);
            if (ferror(input->file))
                return unreadable(input, err);
        }
        status = lzma_code(unpacker, feof(input->file) ? LZMA_FINISH : LZMA_RUN);
    }
    input->size += most - unpacker->avail_out;
    input->ended = status == LZMA_STREAM_END;
    return input->ended || status == LZMA_OK || unpacking_fails(input, status, err);
}

/* What stands before the last line is dropped. */
static bool read_piece(run_input *input, error *err)
{
    if (input->line > 0)
        memmove(input->bytes, input->bytes + input->line, input->size - input->line);
    input->size -= input->line;
    input->next -= input->line;
    input->line = 0;
    if (input->room - input->size < PIECE) {
        input->room = input->room ? 2 * input->room : 2 * (size_t)PIECE;
        input->bytes = reallocate(input->bytes, input->room);
    }
    size_t before = input->size;
    if (input->packed) {
        if (!unpack(input, PIECE, err))
            return false;
    } else {
        input->size += fread(input->bytes + input->size, 1, PIECE, input->file);
        input->ended = input->size < before + PIECE;
        if (ferror(input->file))
            return unreadable(input, err);
    }
    input->total += input->size - before;
    return input->total < RUN_READ_MOST_BYTES ||
           fail(err, EXIT_CODE_ENVIRONMENT, "%s: larger than %zu MiB%s", input->path,
                RUN_READ_MOST_BYTES >> 20, input->packed ? ", unpacked" : "");
}

/* Without its end; it stands until the next call. *line NULL: there is none any more. */
static bool run_input_line(run_input *input, const char **line, size_t *length, error *err)
{
    const char *end = NULL;
    size_t searched = 0;
    input->line = input->next;
    for (;;) {
        size_t left = input->size - input->line;
        if (left > searched)
            end = memchr(input->bytes + input->line + searched, '\n', left - searched);
        searched = left;
        if (end || input->ended)
            break;
        if (!read_piece(input, err))
            return false;
    }
    *line = searched > 0 ? input->bytes + input->line : NULL;
    *length = end ? (size_t)(end - *line) : searched;
    input->next = input->line + *length + (end != NULL);
    return true;
}

static void run_input_close(run_input *input)
{
    lzma_end(&input->unpacker);
    if (input->file)
        fclose(input->file);
    free(input->piece);
    free(input->page);
    free(input->bytes);
    *input = (run_input){0};
}

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

static bool read_counts(const file_reader *reader, json_t *record, run_counts *counts)
{
    json_t *given = json_object_get(record, "requested");
    if (!given || json_is_null(given))
        return true;
    counts->known = true;
    if (!reader_take(reader, record, run_count_fields, RUN_COUNTS, counts))
        return false;
    return (counts->declined <= counts->asked &&
            counts->lost <= counts->asked - counts->declined) ||
           reader_bad(reader, "more cases unsupported and missing than requested");
}

static bool read_run(file_reader *reader, json_t *record)
{
    stored_run *run = &reader->view->run;
    for (size_t i = 0; i < RECORD_TYPES; i++)
        reader->promised[i] = UINT64_MAX;
    return reader_take(reader, record, run_fields, RUN_COMMAND, run) &&
           reader_take_given(reader, record, run_fields + RUN_COMMAND, RUN_FIELDS - RUN_COMMAND,
                             run) &&
           read_facts(reader, json_object_get(record, "machine")) &&
           reader_take_given(reader, record, promised_fields, RECORD_TYPES, reader->promised) &&
           reader_take_given(reader, record, &unfinished_field, 1, reader->view) &&
           read_counts(reader, record, &run->counts);
}

static bool read_kernel(file_reader *reader, json_t *record)
{
    static const record_field name_field = {"name", FIELD_TEXT, 0, 0, NAME_MAX_LENGTH - 1, NULL};
    char name[NAME_MAX_LENGTH];
    run_view *view = reader->view;
    size_t index;
    json_t *other;
    if (!reader_take(reader, record, &name_field, 1, name))
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

static bool read_case_record(file_reader *reader, json_t *record)
{
    stored_case *added;
    json_t *list = json_object_get(record, "measurements"), *entry;
    size_t index;
    if (reader->view->worst)
        return reader_bad(reader, "a case behind a worst row");
    if (!read_case(reader, record, &added))
        return false;
    if (!json_is_array(list))
        return reader_bad(reader, "\"measurements\" is missing or no list");
    json_array_foreach(list, index, entry)
    {
        timed_repetition made;
        if (!reader_take(reader, entry, repetition_fields, REPETITION_FIELDS, &made))
            return false;
        read_repetition(added, &made);
    }
    return true;
}

static bool read_row(file_reader *reader, json_t *record)
{
    stored_rows *rows = &reader->view->rows;
    stored_row row;
    if (!reader_place(reader, record, "case", reader->view->cases.count, &row.case_index) ||
        !reader_take(reader, record, row_fields + 1, ROW_FIELDS - 1, &row) ||
        !reader_take_infinite(reader, record, row_fields, ROW_FIELDS, &row))
        return false;
    rows->rows = allocate_room(rows->rows, rows->count, sizeof *rows->rows);
    rows->rows[rows->count++] = row;
    return true;
}

static const struct {
    const char *type, *many;
    bool (*read)(file_reader *reader, json_t *record);
} records[RECORD_TYPES] = {
    [RECORD_KERNEL] = {"kernel", "kernels", read_kernel},
    [RECORD_CASE] = {"case", "cases", read_case_record},
    [RECORD_ROW] = {"row", "rows", read_row},
    [RECORD_TENSOR] = {"tensor", "tensors", read_tensor},
    [RECORD_WORST] = {"worst", "worst rows", read_worst},
    [RECORD_LOST] = {"missing", "missing cases", read_lost},
};

typedef struct record_head {
    char schema[32], type[16];
} record_head;

static bool read_record(file_reader *reader, json_t *record)
{
    static const record_field fields[] = {TEXT_FIELD(record_head, schema, 0),
                                          TEXT_FIELD(record_head, type, 0)};
    record_head head;
    if (!json_is_object(record))
        return reader_bad(reader, "not an object");
    if (!reader_take(reader, record, FIELDS(fields), &head) ||
        !read_schema(reader, head.schema, "lnbench-record-4", "lnbench-record-3"))
        return false;
    bool first = !reader->view->run.started[0];
    if (first != (strcmp(head.type, "run") == 0))
        return first ? reader_bad(reader, "a %s before the run that it is of", head.type)
                     : reader_bad(reader, "a second run: one run a file was expected");
    if (first)
        return read_run(reader, record);
    for (size_t i = 0; i < RECORD_TYPES; i++)
        if (strcmp(head.type, records[i].type) == 0) {
            reader->there[i]++;
            return records[i].read(reader, record);
        }
    return reader_bad(reader, "unknown type '%s'", head.type);
}

static bool keeps_promises(const file_reader *reader)
{
    for (size_t i = 0; i < RECORD_TYPES; i++)
        if (reader->promised[i] != UINT64_MAX && reader->promised[i] != reader->there[i])
            return reader_bad(reader, "%zu of %" PRIu64 " %s: the file was cut short, or changed",
                              reader->there[i], reader->promised[i], records[i].many);
    return true;
}

/* Whether this is the last record, to the byte, of the lines before it; what stands behind it is of nobody. */
static bool read_end(file_reader *reader, const char *at, size_t length)
{
    static const char sign[] = "{\"hash\":";
    text_buffer end = {0};
    if (length < sizeof sign || memcmp(at, sign, sizeof sign - 1) != 0)
        return false;
    export_end(reader->hash, &end);
    bool same = length + 1 == end.length && memcmp(at, end.bytes, length) == 0;
    reader->view->seal = same && reader->view->seal == SEAL_NONE ? SEAL_HOLDS : SEAL_BROKEN;
    text_free(&end);
    return true;
}

static void hash_line(file_reader *reader, const char *at, size_t length)
{
    reader->hash = hash_bytes(hash_bytes(reader->hash, at, length), "\n", 1);
    if (reader->view->seal == SEAL_HOLDS)
        reader->view->seal = SEAL_BROKEN;
}

/* `at` is the first line. */
static bool read_lines(file_reader *reader, run_input *input, const char *at, size_t length)
{
    bool fine = true;
    while (fine && at) {
        json_error_t where;
        reader->line++;
        bool ends = read_end(reader, at, length);
        if (!ends)
            hash_line(reader, at, length);
        if (length > 0 && !ends) {
            json_t *record = json_loadb(at, length, JSON_REJECT_DUPLICATES, &where);
            fine = record ? read_record(reader, record)
                          : reader_bad(reader, "not JSON: %s", where.text);
            json_decref(record);
        }
        fine = fine && run_input_line(input, &at, &length, reader->error);
    }
    reader->line = fine ? 0 : reader->line;
    read_tensors_free(&reader->tensors);
    return fine && keeps_promises(reader);
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
    stored_cases_index(cases);
    for (size_t i = 0; i < cases->count; i++) {
        stored_case *stored = &cases->cases[i];
        const char *what = stored_cases_find(cases, &stored->key) == i ? NULL : "case";
        if (stored->repetition_count > 0)
            qsort(stored->repetitions, stored->repetition_count, sizeof *stored->repetitions,
                  compare_repetitions);
        for (size_t r = 1; r < stored->repetition_count; r++)
            if (compare_repetitions(&stored->repetitions[r - 1], &stored->repetitions[r]) == 0)
                what = "repetition";
        if (what)
            return reader_bad(reader, "a %s of %.60s, %zux%zu, stands there twice", what,
                              stored->key.kernel, stored->key.rows, stored->key.hidden);
    }
    return true;
}

static bool finish_run(const file_reader *reader)
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

/* JSON Lines begin with a whole object in the first line. */
static bool is_lines(const char *line, size_t length)
{
    static const char sign[] = "lnbench-record-";
    return length > 0 && line[0] == '{' && memmem(line, length, sign, sizeof sign - 1);
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

static bool read_input(run_input *input, run_view *view, error *err)
{
    file_reader reader = {.path = input->path, .view = view, .error = err, .hash = HASH_START};
    const char *line;
    size_t length;
    bool fine = run_input_line(input, &line, &length, err) &&
                (line || reader_bad(&reader, "an empty file: a run exported by 'lnbench export' "
                                             "was expected"));
    if (fine)
        skip_byte_order_mark(&line, &length);
    return fine &&
           (is_lines(line, length) ||
            reader_bad(&reader, "not a run as 'lnbench export --format jsonl' writes it")) &&
           read_lines(&reader, input, line, length) && finish_run(&reader);
}

static bool read_file(const char *path, FILE *file, run_view *view, error *err)
{
    run_input input;
    *view = (struct run_view){.kernels = json_array(), .unfinished = NO_PROCESS};
    bool fine = run_input_open(&input, path, file, err) && read_input(&input, view, err);
    run_input_close(&input);
    if (!fine)
        view_free(view);
    return fine;
}

bool run_read_bytes(const char *path, const char *bytes, size_t size, run_view *view, error *err)
{
    return read_file(
        path, size > 0 ? fmemopen((char *)bytes, size, "rb") : fopen("/dev/null", "rb"), view, err);
}

bool run_read(const char *path, run_view *view, error *err)
{
    return read_file(path, fopen(path, "rb"), view, err);
}
