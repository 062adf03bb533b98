/* What kind of file this is, and making the tables of a fresh one. */
#include "store/internal.h"
#include "base/text.h"
#include "domain/metric_fields.h"
#include "schema_sql.h" /* the files of the same names, as bytes */
#include "views_sql.h"
#include <string.h>

enum { STORE_VERSION = 18 };

static bool read_integer(const result_store *store, const char *sql, int64_t *value, error *err)
{
    sqlite3_stmt *statement = NULL;
    int status = sqlite3_prepare_v2(store->database, sql, -1, &statement, NULL);
    if (status == SQLITE_OK)
        status = sqlite3_step(statement);
    if (status == SQLITE_ROW)
        *value = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    return status == SQLITE_ROW || store_fail(store, status, "read it", err);
}

/* A database of somebody else must not get our tables. */
static bool check_ours(const result_store *store, int64_t version, int64_t application, bool *fresh,
                       error *err)
{
    int64_t tables = 0;
    if (!read_integer(store, "SELECT count(*) FROM sqlite_master", &tables, err))
        return false;
    *fresh = version == 0 && application == 0 && tables == 0;
    if (*fresh || application == STORE_APPLICATION_ID || application == STORE_EXPORTED_ID)
        return true;
    return fail(err, EXIT_CODE_ENVIRONMENT,
                "%s: an SQLite database, but not one of lnbench: name another file with --db",
                store->path);
}

static bool check_version(const result_store *store, int64_t version, error *err)
{
    if (version == STORE_VERSION)
        return true;
    if (version <= 0)
        return fail(err, EXIT_CODE_ENVIRONMENT,
                    "%s: the database is damaged (its format is %lld): name another file with "
                    "--db",
                    store->path, (long long)version);
    if (version < STORE_VERSION)
        return fail(err, EXIT_CODE_ENVIRONMENT, "%s: " MADE_BY_OLDER, store->path);
    return fail(err, EXIT_CODE_ENVIRONMENT,
                "%s: made by a newer lnbench (its format is %lld, this lnbench knows up to %d): "
                "update lnbench, or name another file with --db",
                store->path, (long long)version, STORE_VERSION);
}

/* *fresh: an empty database, which becomes ours when it is written. */
static bool check_kind(const result_store *store, bool *fresh, bool *exported, error *err)
{
    int64_t version = 0, application = 0;
    bool fine = read_integer(store, "PRAGMA user_version", &version, err) &&
                read_integer(store, "PRAGMA application_id", &application, err) &&
                check_ours(store, version, application, fresh, err) &&
                (*fresh || check_version(store, version, err));
    *exported = application == STORE_EXPORTED_ID;
    return fine;
}

static bool execute(const result_store *store, const char *sql, const char *doing, error *err)
{
    int status = sqlite3_exec(store->database, sql, NULL, NULL, NULL);
    return status == SQLITE_OK || store_fail(store, status, doing, err);
}

/* Whether accuracies has a column for it; in a file without tables it has none. */
static bool has_metric(const result_store *store, const char *name, bool *has, error *err)
{
    char sql[128];
    int64_t columns = 0;
    sqlite3_snprintf(sizeof sql, sql,
                     "SELECT count(*) FROM pragma_table_info('accuracies') WHERE name = %Q", name);
    bool fine = read_integer(store, sql, &columns, err);
    *has = columns > 0;
    return fine;
}

static bool has_every_metric(const result_store *store, bool *every, error *err)
{
    bool has = true;
    for (size_t i = 0; i < metric_count_all && has; i++)
        if (!has_metric(store, metric_list[i].name, &has, err))
            return false;
    *every = has;
    return true;
}

/* A metric that is new in the list is undefined in the cases that were stored before. */
static bool add_metrics(const result_store *store, error *err)
{
    char sql[128];
    bool has = true;
    for (size_t i = 0; i < metric_count_all; i++) {
        sqlite3_snprintf(sizeof sql, sql, "ALTER TABLE accuracies ADD COLUMN %s %s",
                         metric_list[i].name,
                         metric_list[i].kind == METRIC_REAL ? "REAL" : "INTEGER");
        if (!has_metric(store, metric_list[i].name, &has, err) ||
            (!has && !execute(store, sql, "add a metric", err)))
            return false;
    }
    return true;
}

bool store_check_schema(result_store *store, store_mode mode, bool *outdated, error *err)
{
    bool fresh, exported, every = false;
    if (!check_kind(store, &fresh, &exported, err))
        return false;
    if (mode == STORE_READ && fresh)
        return fail(err, EXIT_CODE_ENVIRONMENT,
                    "%s: empty: measure something first with 'lnbench run --db %s'", store->path,
                    store->path);
    if (!fresh && !has_every_metric(store, &every, err))
        return false;
    *outdated =
        !every || (mode == STORE_WRITE && exported); /* its hash is void when it is written to */
    return true;
}

/* Asked again, now that nobody else can write: somebody may have been faster. */
static bool make_tables(result_store *store, error *err)
{
    static const char doing[] = "make its tables";
    bool fresh, exported;
    char mark[96];
    sqlite3_snprintf(sizeof mark, mark, "PRAGMA user_version = %d; PRAGMA application_id = %d",
                     STORE_VERSION, STORE_APPLICATION_ID);
    return check_kind(store, &fresh, &exported, err) &&
           (!fresh ||
            (execute(store, schema_sql, doing, err) && execute(store, views_sql, doing, err))) &&
           execute(store, mark, doing, err) && add_metrics(store, err);
}

bool store_upgrade(result_store *store, error *err)
{
    static const char doing[] = "write to it";
    bool fine = execute(store, "BEGIN IMMEDIATE", doing, err) && make_tables(store, err) &&
                execute(store, "COMMIT", doing, err);
    if (!fine && !sqlite3_get_autocommit(store->database))
        sqlite3_exec(store->database, "ROLLBACK", NULL, NULL, NULL);
    return fine;
}

/* The views of a file are there for other programs: a TEMP view hides the one of the same name. */
bool store_use_views(result_store *store, error *err)
{
    static const char made[] = "CREATE VIEW";
    const char *rest = views_sql;
    text_buffer sql = {0};
    for (const char *at; (at = strstr(rest, made)); rest = at + strlen(made)) {
        text_add_bytes(&sql, rest, (size_t)(at - rest));
        text_add(&sql, "CREATE TEMP VIEW");
    }
    text_add(&sql, rest);
    bool fine = store_add_functions(store, err) && execute(store, sql.bytes, "make its views", err);
    text_free(&sql);
    return fine;
}
