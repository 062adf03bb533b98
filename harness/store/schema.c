/* What kind of file this is, and making the tables of a fresh one. */
#include "store/internal.h"
#include "base/text.h"
#include "domain/metric_fields.h"
#include "schema_sql.h" /* the files of the same names, as bytes */
#include "views_sql.h"
#include <string.h>

enum { STORE_VERSION = 18 };

static int64_t read_integer(const result_store *store, const char *sql)
{
    sqlite3_stmt *statement = NULL;
    int status = sqlite3_prepare_v2(store->database, sql, -1, &statement, NULL);
    if (status == SQLITE_OK)
        status = sqlite3_step(statement);
    if (status != SQLITE_ROW)
        store_die(store, status, "read it");
    int64_t value = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    return value;
}

static void check_version(const result_store *store, int64_t version)
{
    if (version == STORE_VERSION)
        return;
    if (version <= 0)
        die(EXIT_CODE_ENVIRONMENT,
            "%s: the database is damaged (its format is %lld): name another file with --db",
            store->path, (long long)version);
    if (version < STORE_VERSION)
        die(EXIT_CODE_ENVIRONMENT, "%s: " MADE_BY_OLDER, store->path);
    die(EXIT_CODE_ENVIRONMENT,
        "%s: made by a newer lnbench (its format is %lld, this lnbench knows up to %d): update "
        "lnbench, or name another file with --db",
        store->path, (long long)version, STORE_VERSION);
}

/* What a database is. Fresh: an empty one, which becomes ours when it is written. */
typedef enum database_kind { KIND_FRESH, KIND_STORE, KIND_EXPORTED } database_kind;

/* A database of somebody else must not get our tables. */
static database_kind find_kind(const result_store *store)
{
    int64_t version = read_integer(store, "PRAGMA user_version");
    int64_t application = read_integer(store, "PRAGMA application_id");
    if (version == 0 && application == 0 &&
        read_integer(store, "SELECT count(*) FROM sqlite_master") == 0)
        return KIND_FRESH;
    if (application != STORE_APPLICATION_ID && application != STORE_EXPORTED_ID)
        die(EXIT_CODE_ENVIRONMENT,
            "%s: an SQLite database, but not one of lnbench: name another file with --db",
            store->path);
    check_version(store, version);
    return application == STORE_EXPORTED_ID ? KIND_EXPORTED : KIND_STORE;
}

/* Whether accuracies has a column for it; in a file without tables it has none. */
static bool has_metric(const result_store *store, const char *name)
{
    char sql[128];
    sqlite3_snprintf(sizeof sql, sql,
                     "SELECT count(*) FROM pragma_table_info('accuracies') WHERE name = %Q", name);
    return read_integer(store, sql) > 0;
}

static bool has_every_metric(const result_store *store)
{
    for (size_t i = 0; i < metric_count_all; i++)
        if (!has_metric(store, metric_list[i].name))
            return false;
    return true;
}

/* A metric that is new in the list is undefined in the cases that were stored before. */
static void add_metrics(const result_store *store)
{
    char sql[128];
    for (size_t i = 0; i < metric_count_all; i++) {
        sqlite3_snprintf(sizeof sql, sql, "ALTER TABLE accuracies ADD COLUMN %s %s",
                         metric_list[i].name,
                         metric_list[i].kind == METRIC_REAL ? "REAL" : "INTEGER");
        if (!has_metric(store, metric_list[i].name))
            store_execute(store, sql, "add a metric");
    }
}

bool store_is_outdated(const result_store *store, store_mode mode)
{
    database_kind kind = find_kind(store);
    if (mode == STORE_READ && kind == KIND_FRESH)
        die(EXIT_CODE_ENVIRONMENT, "%s: empty: measure something first with 'lnbench run --db %s'",
            store->path, store->path);
    return kind == KIND_FRESH || !has_every_metric(store) ||
           (mode == STORE_WRITE &&
            kind == KIND_EXPORTED); /* its hash is void when it is written to */
}

void store_upgrade(const result_store *store)
{
    static const char doing[] = "make its tables";
    char mark[96];
    sqlite3_snprintf(sizeof mark, mark, "PRAGMA user_version = %d; PRAGMA application_id = %d",
                     STORE_VERSION, STORE_APPLICATION_ID);
    store_execute(store, "BEGIN IMMEDIATE", "write to it");
    /* Asked again, now that nobody else can write: somebody may have been faster. */
    if (find_kind(store) == KIND_FRESH) {
        store_execute(store, schema_sql, doing);
        store_execute(store, views_sql, doing);
    }
    store_execute(store, mark, doing);
    add_metrics(store);
    store_execute(store, "COMMIT", "write to it");
}

/* The views of a file are there for other programs: a TEMP view hides the one of the same name. */
void store_use_views(const result_store *store)
{
    static const char made[] = "CREATE VIEW";
    const char *rest = views_sql;
    text_buffer sql = {0};
    for (const char *at; (at = strstr(rest, made)); rest = at + strlen(made)) {
        text_add_bytes(&sql, rest, (size_t)(at - rest));
        text_add(&sql, "CREATE TEMP VIEW");
    }
    text_add(&sql, rest);
    store_add_functions(store);
    store_execute(store, sql.bytes, "make its views");
    text_free(&sql);
}
