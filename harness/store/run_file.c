/* Copies runs from one database into another: `lnbench export` writes one into its own file, and `lnbench import` reads
 * those of a file, which may come from a stranger. Such a file may be compressed by xz, or be part of a report's
 * page. */
#include "store/run_file.h"
#include "base/arena.h"
#include "base/program.h"
#include "base/hash.h"
#include "copy_sql.h" /* copy.sql, as bytes */
#include "store/internal.h"
#include <errno.h>
#include <inttypes.h>
#include <lzma.h>

enum {
    HEADER_BYTES = 100,     /* of a database: sqlite.org/fileformat2.html, 1.3 */
    APPLICATION_ID_AT = 68, /* in this header, in big-endian order */
};

/* The last line of an exported database or page. It is as long whatever the hash is. */
#define HASH_LINE "<!-- all before this line: %016" PRIx64 " -->\n"
enum { HASH_LINE_LENGTH = sizeof "<!-- all before this line: 0123456789abcdef -->\n" - 1 };

void hash_line_add(text_buffer *bytes)
{
    text_format(bytes, HASH_LINE, hash_bytes(HASH_START, bytes->bytes, bytes->length));
}

/* Ends the program if the last line does not hold the hash of all bytes before it. */
static void check_hash_line(const char *path, const char *bytes, size_t size)
{
    char line[HASH_LINE_LENGTH + 1];
    const size_t before = size > HASH_LINE_LENGTH ? size - HASH_LINE_LENGTH : 0;
    snprintf(line, sizeof line, HASH_LINE, hash_bytes(HASH_START, bytes, before));
    if (memcmp(bytes + before, line, size - before) != 0)
        die(EXIT_CODE_ENVIRONMENT,
            "%s: was changed after it was made (its hash differs): ask for it again", path);
}

/* ---- copying runs between databases ---- */

/* Runs SQL on rows of a file. An error in the rows is blamed on the file, one of the disk is not. */
static void execute(result_store *store, const char *sql, const char *file)
{
    char *message;
    int status = sqlite3_exec(store->database, sql, NULL, NULL, &message), kind = status & 0xff;
    if (status == SQLITE_OK)
        return;
    if (kind == SQLITE_FULL || kind == SQLITE_IOERR || kind == SQLITE_BUSY ||
        kind == SQLITE_READONLY)
        store_die(store, status);
    store->is_refused = store->is_new;
    if (store->is_new)
        store_close(store);
    die(EXIT_CODE_ENVIRONMENT, "%s: its runs cannot be imported: %s", file, message);
}

/* Checks a file before its runs are copied. */
static void check_rows(const char *path)
{
    result_store *file = store_open(path, STORE_READ);
    store_check_sound(file);
    if (store_number(file, "SELECT count(*) FROM runs", "") == 0)
        die(EXIT_CODE_ENVIRONMENT, "%s: holds no run yet", path);
    sqlite3_stmt *dangling = store_prepare(file, "PRAGMA foreign_key_check");
    if (store_next(file, dangling))
        die(EXIT_CODE_ENVIRONMENT, "%s: has records without a run: get the file again", path);
    sqlite3_finalize(dangling);
    store_close(file);
}

/* Copies the rows of a table whose first column is case_id. Only the columns of our table are copied. */
static void copy_table(result_store *store, const char *table, const char *file)
{
    sqlite3_stmt *made = store_bound(
        store,
        "SELECT 'INSERT INTO main.' || ?1 || ' (case_id, ' || names || ') SELECT own, ' || names "
        "|| ' FROM moved CROSS JOIN f.' || ?1 || ' ON case_id = old' FROM (SELECT "
        "group_concat(name, ', "
        "') AS names FROM pragma_table_info(?1, 'main') WHERE name <> 'case_id')",
        "s", table);
    store_next(store, made);
    execute(store, store_text(made, 0), file);
    sqlite3_reset(made);
}

int64_t store_copy_runs(result_store *store, const char *path, int64_t only, int64_t *first)
{
    static const char *const tables[] = {"accuracies", "judgements", "repetitions", "timings",
                                         "judged_rows"};
    char sql[512], *uri = store_uri(path);
    /* The URI is read-only and, if no process uses the file, creates no files next to it. */
    store_do(store, "ATTACH ?1 AS f", "s", uri);
    store_begin(store);
    snprintf(sql, sizeof sql,
             "CREATE TEMP TABLE came AS SELECT id, row_number() OVER (ORDER BY id) + coalesce("
             "(SELECT seq FROM main.sqlite_sequence WHERE name = 'runs'), 0) AS own FROM f.runs "
             "WHERE %lld IN (0, id) AND origin NOT IN (SELECT origin FROM main.runs)",
             (long long)only);
    execute(store, sql, path);
    int64_t count = store_number(store, "SELECT count(*) FROM came", "");
    *first = store_number(
        store,
        "SELECT coalesce((SELECT min(own) FROM came), (SELECT min(id) FROM main.runs WHERE "
        "origin IN (SELECT origin FROM f.runs)))",
        "");
    execute(store, copy_sql, path);
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        copy_table(store, tables[i], path);
    execute(store, "DROP TABLE temp.came; DROP TABLE temp.moved", path);
    store_finish(store);
    store_script(store, "DETACH f");
    free(uri);
    return count;
}

/* Copies a run of a database into its own file, without its last line. */
static void export_run(const char *database, int64_t run, const char *to)
{
    char mark[96];
    int64_t first;
    result_store *store = store_open(to, STORE_WRITE);
    if (store_copy_runs(store, database, run, &first) != 1)
        die(EXIT_CODE_ENVIRONMENT, "%s: no run %lld", database, (long long)run);
    snprintf(mark, sizeof mark, "PRAGMA journal_mode = DELETE; PRAGMA application_id = %d; VACUUM",
             STORE_EXPORTED_ID);
    execute(store, mark, to);
    store_close(store);
}

/* ---- a run within a page ---- */

enum { LINE = 96 };
static const char opening[] = "<script type=\"application/x-xz\" id=\"run\">\n",
                  closing[] = "</script>\n", doctype[] = "<!DOCTYPE html>",
                  letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/* Adds the run as lines of base64 (RFC 4648, section 4). */
void page_run_add(text_buffer *page, const text_buffer *packed)
{
    const unsigned char *bytes = (const unsigned char *)packed->bytes;
    size_t size = packed->length;
    text_add(page, opening);
    for (size_t i = 0; i < size; i += 3) {
        uint32_t three = (uint32_t)bytes[i] << 16;
        three |= i + 1 < size ? (uint32_t)bytes[i + 1] << 8 : 0;
        three |= i + 2 < size ? bytes[i + 2] : 0;
        const char four[] = {letters[three >> 18], letters[three >> 12 & 63],
                             i + 1 < size ? letters[three >> 6 & 63] : '=',
                             i + 2 < size ? letters[three & 63] : '='};
        text_add_bytes(page, four, sizeof four);
        if ((i / 3 + 1) % (LINE / 4) == 0 || i + 3 >= size)
            text_add(page, "\n");
    }
    text_add(page, closing);
}

bool page_run_is_page(const char *bytes, size_t size)
{
    return size >= sizeof doctype && memcmp(bytes, doctype, sizeof doctype - 1) == 0;
}

/* Finds the run between its first byte and the one after its last. */
static bool find_run(const char *bytes, size_t size, size_t *begin, size_t *end)
{
    const char *at = memmem(bytes, size, opening, sizeof opening - 1);
    if (!at)
        return false;
    *begin = (size_t)(at - bytes) + sizeof opening - 1;
    const char *close = memmem(bytes + *begin, size - *begin, closing, sizeof closing - 1);
    *end = close ? (size_t)(close - bytes) : size;
    return close != NULL;
}

/* Decodes base64 to the beginning of `bytes`, and returns the number of bytes. */
static size_t decode(char *bytes, size_t begin, size_t end)
{
    size_t count = 0, size = 0;
    uint32_t four = 0;
    for (size_t i = begin; i < end; i++) {
        const char *letter = bytes[i] ? strchr(letters, bytes[i]) : NULL;
        if (!letter)
            continue;
        four = four << 6 | (uint32_t)(letter - letters);
        count++;
        if (count % 4 != 1)
            bytes[size++] = (char)(four >> (6 - 2 * ((count + 3) % 4)));
    }
    return size;
}

/* Unpacks the run from base64 in place and returns its size. */
static size_t take_run(const char *path, char *bytes, size_t size)
{
    size_t begin, end;
    if (!find_run(bytes, size, &begin, &end))
        die(EXIT_CODE_ENVIRONMENT,
            "%s: this page lacks its run: draw the page again with 'lnbench report'", path);
    check_hash_line(path, bytes, size);
    return decode(bytes, begin, end);
}

size_t page_run_cut(char *bytes, size_t size)
{
    size_t begin, end, outer = sizeof opening - 1, behind = sizeof closing - 1;
    if (!find_run(bytes, size, &begin, &end))
        return size;
    size_t left = size - end - behind;
    memmove(bytes + begin - outer, bytes + end + behind, left);
    size = begin - outer + left;
    return size >= HASH_LINE_LENGTH ? size - HASH_LINE_LENGTH : size;
}

/* ---- a run as a file ---- */

void run_file_make(const char *database, int64_t run, unsigned preset, text_buffer *bytes)
{
    char path[1100];
    text_buffer plain = {0};
    const char *folder = temporary_folder_make("export");
    snprintf(path, sizeof path, "%s/run.db", folder);
    export_run(database, run, path);
    read_whole_file(path, &plain);
    temporary_folder_remove(folder);
    hash_line_add(&plain);
    if (preset == PACK_NOT) {
        text_add_bytes(bytes, plain.bytes, plain.length);
    } else {
        size_t room = lzma_stream_buffer_bound(plain.length), size = 0;
        unsigned char *packed = allocate(room);
        if (lzma_easy_buffer_encode(preset, LZMA_CHECK_SHA256, NULL,
                                    (const unsigned char *)plain.bytes, plain.length, packed, &size,
                                    room) != LZMA_OK)
            die_of_memory(room);
        text_add_bytes(bytes, (const char *)packed, size);
        free(packed);
    }
    text_free(&plain);
}

static bool is_database(const char *bytes, size_t size)
{
    static const char magic[] = "SQLite format 3"; /* sqlite.org/fileformat2.html, 1.3.1 */
    return size >= HEADER_BYTES && memcmp(bytes, magic, sizeof magic) == 0;
}

static bool is_exported(const char *header)
{
    const unsigned char *id = (const unsigned char *)header + APPLICATION_ID_AT;
    return ((uint32_t)id[0] << 24 | (uint32_t)id[1] << 16 | (uint32_t)id[2] << 8 | id[3]) ==
           STORE_EXPORTED_ID;
}

static void unpack(const char *path, const text_buffer *packed, size_t size, text_buffer *database)
{
    lzma_ret status = LZMA_BUF_ERROR;
    for (size_t room = 0; status == LZMA_BUF_ERROR && room < RUN_FILE_MOST_BYTES;) {
        uint64_t memory = UINT64_MAX;
        size_t taken = 0;
        room = room > 0 ? 4 * room : 16 * size + HEADER_BYTES;
        room = room < RUN_FILE_MOST_BYTES ? room : RUN_FILE_MOST_BYTES;
        text_free(database);
        database->bytes = allocate(room);
        status = lzma_stream_buffer_decode(
            &memory, LZMA_CONCATENATED, NULL, (const unsigned char *)packed->bytes, &taken, size,
            (unsigned char *)database->bytes, &database->length, room);
    }
    if (status != LZMA_OK)
        die(EXIT_CODE_ENVIRONMENT,
            "%s: its xz data is damaged, cut short, or larger than %zu MiB when unpacked: copy "
            "the file again",
            path, RUN_FILE_MOST_BYTES >> 20);
}

static _Noreturn void no_run(const char *path)
{
    die(EXIT_CODE_ENVIRONMENT, "%s: not a run as 'lnbench export --format db' writes it", path);
}

/* Reads a whole file, but only the beginning of a store, which may be large. */
static void read_file(const char *path, text_buffer *bytes)
{
    FILE *file = fopen(path, "rb");
    char piece[1 << 16];
    bool is_store = false;
    text_add(bytes, "");
    for (size_t got; file && !is_store && bytes->length <= RUN_FILE_MOST_BYTES &&
                     (got = fread(piece, 1, sizeof piece, file)) > 0;) {
        text_add_bytes(bytes, piece, got);
        is_store = is_database(bytes->bytes, bytes->length) && !is_exported(bytes->bytes);
    }
    if (!file || ferror(file))
        die(EXIT_CODE_ENVIRONMENT, "%s: cannot read it: %s", path, strerror(errno));
    fclose(file);
    if (bytes->length > RUN_FILE_MOST_BYTES)
        die(EXIT_CODE_ENVIRONMENT, "%s: larger than %zu MiB", path, RUN_FILE_MOST_BYTES >> 20);
}

run_file run_file_open(const char *path)
{
    static const char xz[6] = "\xfd"
                              "7zXZ"; /* tukaani.org/xz/xz-file-format.txt, 2.1.1.1 */
    text_buffer bytes = {0}, unpacked = {0}, *database = &bytes;
    run_file file = {.folder = NULL};
    read_file(path, &bytes);
    size_t size = bytes.length;
    snprintf(file.database, sizeof file.database, "%s", path);
    if (!is_database(bytes.bytes, size)) {
        if (page_run_is_page(bytes.bytes, size))
            size = take_run(path, bytes.bytes, size);
        else if (size < sizeof xz || memcmp(bytes.bytes, xz, sizeof xz) != 0)
            no_run(path);
        database = &unpacked;
        unpack(path, &bytes, size, database);
        if (!is_database(database->bytes, database->length))
            no_run(path);
        file.folder = temporary_folder_make("run");
        snprintf(file.database, sizeof file.database, "%s/run.db", file.folder);
        write_whole_file(file.database, database);
    }
    if (is_exported(database->bytes))
        check_hash_line(path, database->bytes, database->length);
    text_free(&unpacked);
    text_free(&bytes);
    check_rows(file.database);
    return file;
}

void run_file_close(run_file *file)
{
    if (file->folder)
        temporary_folder_remove(file->folder);
    file->folder = NULL;
}
