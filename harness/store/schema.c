/* What kind of file this is, and how an older one becomes a present one. */
#include "store/internal.h"
#include "domain/metric_fields.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "schema_sql.h"    /* results/schema.sql, as bytes */
#include "schema_2_sql.h"  /* results/schema_2.sql */
#include "schema_3_sql.h"  /* results/schema_3.sql */
#include "schema_4_sql.h"  /* results/schema_4.sql */
#include "schema_5_sql.h"  /* results/schema_5.sql */
#include "schema_6_sql.h"  /* results/schema_6.sql */
#include "schema_7_sql.h"  /* results/schema_7.sql */
#include "schema_8_sql.h"  /* results/schema_8.sql */
#include "schema_9_sql.h"  /* results/schema_9.sql */
#include "schema_10_sql.h" /* results/schema_10.sql */
#include "schema_11_sql.h" /* results/schema_11.sql, and views.sql */

static const char *const migrations[] = {schema_sql,   schema_2_sql,  schema_3_sql, schema_4_sql,
                                         schema_5_sql, schema_6_sql,  schema_7_sql, schema_8_sql,
                                         schema_9_sql, schema_10_sql, schema_11_sql};
enum { STORE_VERSION = sizeof migrations / sizeof *migrations };

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
static bool check_ours(const result_store *store, int64_t version, int64_t application, error *err)
{
    int64_t tables = 0;
    if (!read_integer(store, "SELECT count(*) FROM sqlite_master", &tables, err))
        return false;
    bool fresh = version == 0 && application == 0 && tables == 0;
    if (fresh || application == STORE_APPLICATION_ID)
        return true;
    return fail(err, EXIT_CODE_ENVIRONMENT,
                "%s: an SQLite database, but not one of lnbench: name another file with --db",
                store->path);
}

static bool check_version(const result_store *store, int64_t version, int known, error *err)
{
    if (version < 0)
        return fail(err, EXIT_CODE_ENVIRONMENT,
                    "%s: the database is damaged (its format is %lld): name another file with "
                    "--db",
                    store->path, (long long)version);
    if (version <= known)
        return true;
    return fail(err, EXIT_CODE_ENVIRONMENT,
                "%s: made by a newer lnbench (its format is %lld, this lnbench knows up to %d): "
                "update lnbench, or name another file with --db",
                store->path, (long long)version, known);
}

static bool execute(const result_store *store, const char *sql, const char *doing, error *err)
{
    int status = sqlite3_exec(store->database, sql, NULL, NULL, NULL);
    return status == SQLITE_OK || store_fail(store, status, doing, err);
}

/* In a schema that was checked, a step fails where a person's own view, table or index has a name
 * that the new format needs. */
static bool run_step(const result_store *store, const char *step, error *err)
{
    int status = sqlite3_exec(store->database, step, NULL, NULL, NULL);
    if ((status & 0xff) == SQLITE_ERROR)
        return fail(err, EXIT_CODE_ENVIRONMENT,
                    "%s: cannot bring its tables up to date: %.120s: rename it if it is yours, or "
                    "name another file with --db",
                    store->path, sqlite3_errmsg(store->database));
    return status == SQLITE_OK || store_fail(store, status, "bring its tables up to date", err);
}

static bool run_steps(result_store *store, const char *const *steps, int count,
                      bool (*finish)(result_store *store, int64_t version, error *err), error *err)
{
    int64_t version = 0;
    /* Read again, now that nobody else can write: somebody may have been faster. */
    if (!read_integer(store, "PRAGMA user_version", &version, err) ||
        !check_version(store, version, count, err) ||
        (store->views_differ && !store_make_views(store, steps, version, true, err)))
        return false;
    for (int64_t step = version; step < count; step++)
        if (!run_step(store, steps[step], err))
            return false;
    if (finish && !finish(store, version, err))
        return false;
    char sql[96];
    sqlite3_snprintf(sizeof sql, sql, "PRAGMA user_version = %d; PRAGMA application_id = %d", count,
                     STORE_APPLICATION_ID);
    return execute(store, sql, "mark its version", err) &&
           execute(store, "COMMIT", "bring its tables up to date", err);
}

bool store_migrate(result_store *store, const char *const *steps, int count,
                   bool (*finish)(result_store *store, int64_t version, error *err), error *err)
{
    /* A step may make a table anew: its rows must not take with them what refers to them. */
    bool fine = execute(store, "PRAGMA foreign_keys = OFF; BEGIN IMMEDIATE", "write to it", err) &&
                run_steps(store, steps, count, finish, err);
    if (!fine && !sqlite3_get_autocommit(store->database))
        sqlite3_exec(store->database, "ROLLBACK", NULL, NULL, NULL);
    return execute(store, "PRAGMA foreign_keys = ON", "write to it", fine ? err : NULL) && fine;
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
    int64_t version = 0, application = 0;
    if (!read_integer(store, "PRAGMA user_version", &version, err) ||
        !read_integer(store, "PRAGMA application_id", &application, err) ||
        !check_ours(store, version, application, err) ||
        !check_version(store, version, STORE_VERSION, err))
        return false;
    if (mode == STORE_READ && version == 0)
        return fail(err, EXIT_CODE_ENVIRONMENT,
                    "%s: empty: measure something first with 'lnbench run --db %s'", store->path,
                    store->path);
    bool every = true;
    if (!store_check_tables(store, migrations, version, err) ||
        (version > 0 && !has_every_metric(store, &every, err)))
        return false;
    *outdated = version < STORE_VERSION || !every || (mode == STORE_WRITE && store->views_differ);
    return true;
}

/* From version 11 on every write keeps them. */
enum { FACTS_SINCE = 11 };

bool store_sum_up(result_store *store, int64_t run, error *err)
{
    stored_cases cases;
    machine_facts machine;
    char key[MACHINE_KEY_LENGTH];
    if (!store_machine(store, run, &machine, err))
        return false;
    bool fine = store_do(store, STATEMENT_NAME_MACHINE, "sum up its runs", err, "is", run,
                         machine_key(&machine, key));
    machine_free(&machine);
    if (!fine || !store_cases(store, run, &cases, err))
        return false;
    for (size_t i = 0; fine && i < cases.count; i++)
        fine = !cases.cases[i].judged ||
               store_put_judgement(store, cases.cases[i].id, &cases.cases[i], err);
    stored_cases_free(&cases);
    return fine && store_put_kernel_facts(store, run, err) &&
           store_do(store, STATEMENT_DROP_TIMINGS, "sum up its runs", err, "i", run) &&
           store_do(store, STATEMENT_FORGET_COUNTS, "sum up its runs", err, "i", run) &&
           store_import_end(store, run, err);
}

static bool finish_upgrade(result_store *store, int64_t version, error *err)
{
    stored_run *runs = NULL;
    size_t count = 0;
    bool older = version > 0 && version < FACTS_SINCE;
    bool fine = add_metrics(store, err) &&
                (!older || (store_use_views(store, err) && store_runs(store, &runs, &count, err)));
    for (size_t i = 0; fine && i < count; i++)
        fine = store_sum_up(store, runs[i].id, err);
    free(runs);
    return fine;
}

bool store_upgrade(result_store *store, error *err)
{
    return store_migrate(store, migrations, STORE_VERSION, finish_upgrade, err);
}

bool store_use_views(result_store *store, error *err)
{
    return store_make_views(store, migrations, STORE_VERSION, false, err);
}
