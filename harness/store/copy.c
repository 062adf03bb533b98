/* Runs go from one database into another as rows: `lnbench export` writes one into a file of its own, and
 * `lnbench import` takes those of a file, which may be a stranger's. */
#include "store/internal.h"
#include "base/hash.h"
#include "base/text.h"
#include "domain/metric_fields.h"
#include <stdlib.h>
#include <string.h>
#include "copy_sql.h" /* copy.sql, as bytes */

/* What goes wrong with the rows is the file's fault; what goes wrong with the disk is not. */
static _Noreturn void copy_dies(const result_store *store, int status, const char *file)
{
    int kind = status & 0xff;
    if (kind == SQLITE_FULL || kind == SQLITE_IOERR || kind == SQLITE_BUSY ||
        kind == SQLITE_READONLY)
        store_die(store, status, "store the runs of a file");
    die(EXIT_CODE_ENVIRONMENT, "%s: its runs cannot be taken: %s", file,
        sqlite3_errmsg(store->database));
}

static void execute(const result_store *store, const char *sql, const char *file)
{
    int status = sqlite3_exec(store->database, sql, NULL, NULL, NULL);
    if (status != SQLITE_OK)
        copy_dies(store, status, file);
}

/* The first number of the first row; 0: there is none. */
static int64_t read_number(const result_store *store, const char *sql, const char *file)
{
    sqlite3_stmt *statement = NULL;
    int status = sqlite3_prepare_v2(store->database, sql, -1, &statement, NULL);
    if (status == SQLITE_OK)
        status = sqlite3_step(statement);
    if (status != SQLITE_ROW && status != SQLITE_DONE)
        copy_dies(store, status, file);
    int64_t number = status == SQLITE_ROW ? sqlite3_column_int64(statement, 0) : 0;
    sqlite3_finalize(statement);
    return number;
}

static void hash_of_bits(sqlite3_context *context, int count, sqlite3_value **values)
{
    (void)count;
    const void *bits = sqlite3_value_blob(values[0]);
    uint64_t hash = hash_bytes(HASH_START, bits, (size_t)sqlite3_value_bytes(values[0]));
    sqlite3_result_int64(context, (int64_t)hash);
}

static int note_row(void *row, int count, char **values, char **names)
{
    (void)count, (void)values, (void)names;
    *(bool *)row = true;
    return 1;
}

/* Numbers are added to those of the store, import after import: none of a file may be near the end of their range. */
#define NUMBER_MOST ((int64_t)1 << 40)

/* Bits under the hash of others would become the rows of other runs. */
static void check_file(const result_store *store, const char *file)
{
    bool dangling = false;
    sqlite3_create_function(store->database, "hash_of_bits", 1,
                            SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_DIRECTONLY, NULL,
                            hash_of_bits, NULL, NULL);
    int status =
        sqlite3_exec(store->database, "PRAGMA f.foreign_key_check", note_row, &dangling, NULL);
    if (dangling)
        die(EXIT_CODE_ENVIRONMENT, "%s: rows belong to none: ask for the file again", file);
    if (status != SQLITE_OK)
        copy_dies(store, status, file);
    int64_t largest = read_number(store,
                                  "SELECT max(id) FROM (SELECT max(id) AS id FROM f.cells UNION "
                                  "ALL SELECT max(id) FROM f.cases UNION ALL SELECT max(id) FROM "
                                  "f.kernels)",
                                  file);
    if (largest > NUMBER_MOST)
        die(EXIT_CODE_ENVIRONMENT,
            "%s: a row has the number %lld, which lnbench gives to none: ask for the file again",
            file, (long long)largest);
    if (read_number(store, "SELECT count(*) FROM f.tensors WHERE hash IS NOT hash_of_bits(bits)",
                    file) > 0)
        die(EXIT_CODE_ENVIRONMENT,
            "%s: a tensor has another hash than its bits: ask for the file again", file);
}

static char *copy_script(void)
{
    text_buffer columns = {0}, sql = {0};
    text_add(&columns, "bound_row_ulp, output_hash, ulp_histogram");
    for (size_t i = 0; i < metric_count_all; i++)
        text_format(&columns, ", %s", metric_list[i].name);
    const char *rest = copy_sql, *at;
    static const char word[] = "ACCURACIES";
    rest = strstr(rest, "CREATE"); /* behind the comment, which names it too */
    for (; (at = strstr(rest, word)); rest = at + sizeof word - 1) {
        text_add_bytes(&sql, rest, (size_t)(at - rest));
        text_add(&sql, columns.bytes);
    }
    text_add(&sql, rest);
    text_free(&columns);
    return sql.bytes;
}

/* `came`: which runs come, and their numbers here. */
static void choose_runs(const result_store *store, const char *file, int64_t only)
{
    char sql[512];
    sqlite3_snprintf(
        sizeof sql, sql,
        "CREATE TEMP TABLE came AS SELECT id, row_number() OVER (ORDER BY id) + coalesce("
        "(SELECT seq FROM main.sqlite_sequence WHERE name = 'runs'), 0) AS own FROM f.runs "
        "WHERE %lld IN (0, id) AND origin NOT IN (SELECT origin FROM main.runs)",
        (long long)only);
    execute(store, sql, file);
}

static int64_t copy_rows(result_store *store, const char *file, int64_t only, int64_t *first)
{
    static const char doing[] = "store the runs of a file";
    store_begin(store, doing);
    check_file(store, file);
    choose_runs(store, file, only);
    int64_t count = read_number(store, "SELECT count(*) FROM came", file);
    *first = read_number(store,
                         "SELECT coalesce((SELECT min(own) FROM came), (SELECT min(id) FROM "
                         "main.runs WHERE origin IN (SELECT origin FROM f.runs)))",
                         file);
    if (*first == 0)
        die(EXIT_CODE_ENVIRONMENT, "%s: holds no run yet", file);
    char *sql = copy_script();
    execute(store, sql, file);
    execute(store, "DROP TABLE temp.came", file);
    free(sql);
    store_finish(store, doing);
    return count;
}

/* As an URI, read-only: of a file that nobody uses nothing is made beside it. */
static void attach(const result_store *store, const char *path)
{
    char *uri = store_uri(path);
    sqlite3_stmt *statement = NULL;
    int status = sqlite3_prepare_v2(store->database, "ATTACH ?1 AS f", -1, &statement, NULL);
    if (status == SQLITE_OK) {
        sqlite3_bind_text(statement, 1, uri, -1, SQLITE_TRANSIENT);
        status =
            sqlite3_step(statement) == SQLITE_DONE ? SQLITE_OK : sqlite3_errcode(store->database);
    }
    if (status != SQLITE_OK)
        copy_dies(store, status, path);
    sqlite3_finalize(statement);
    free(uri);
}

int64_t store_copy_runs(result_store *store, const char *path, int64_t only, int64_t *first)
{
    result_store *from = store_open(path, STORE_READ);
    store_check_sound(from);
    store_close(from);
    attach(store, path);
    int64_t count = copy_rows(store, path, only, first);
    sqlite3_exec(store->database, "DETACH f", NULL, NULL, NULL);
    return count;
}

void store_export_run(const char *path, int64_t run, const char *to)
{
    char mark[64];
    int64_t first;
    sqlite3_snprintf(sizeof mark, mark, "PRAGMA application_id = %d; VACUUM", STORE_EXPORTED_ID);
    result_store *store = store_open(to, STORE_WRITE);
    if (store_copy_runs(store, path, run, &first) != 1)
        die(EXIT_CODE_ENVIRONMENT, "%s: no run %lld", path, (long long)run);
    execute(store, "PRAGMA journal_mode = DELETE", to);
    execute(store, mark, to);
    store_close(store);
}
