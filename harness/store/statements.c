/* The statements of the store, prepared at their first use. */
#include "store/internal.h"
#include "base/text.h"
/* The files of the same names, as bytes. */
#include "class_sql.h"
#include "errors_near_sql.h"
#include "standing_sql.h"
#include "timed_kernels_sql.h"
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* Cases with their keys; a key's parameters are those of store_bind_key(). */
#define KEYED_CASES "FROM cells JOIN cases ON cases.cell = cells.id "
#define CELL_MATCHES                                                                               \
    "run = ?1 AND kernel = ?2 AND convention = ?3 AND rows = ?5 AND hidden = ?6 AND types = ?7 "   \
    "AND cache = ?8 AND threads = ?9 AND operation = ?10"
#define KEY_MATCHES CELL_MATCHES " AND input_id = (SELECT id FROM inputs WHERE name = ?4)"
#define INPUT "(SELECT name FROM inputs WHERE id = input_id)"
#define KEY_COLUMNS "kernel, convention, " INPUT ", rows, hidden, types, cache, threads"
#define FINISHED "process IN (SELECT process FROM finished_processes WHERE run = ?1)"
#define CASES_OF_RUN "(SELECT cases.id " KEYED_CASES "WHERE run = ?1)"
#define COUNT_DECLINED                                                                             \
    "(SELECT count(*) " KEYED_CASES "JOIN judgements ON case_id = cases.id "                       \
    "WHERE run = runs.id AND cases.asked > 0 AND verdict = 'declined')"
/* Of a row of runs: what was asked for and is not there at all is lost too. */
#define COUNT_LOST                                                                                 \
    "asked - (SELECT count(*) " KEYED_CASES "WHERE run = runs.id AND cases.asked > 0) + "          \
    "(SELECT count(*) FROM lost WHERE run = runs.id)"
/* A case that was only asked for has no result. */
#define COUNT_CASES                                                                                \
    "(SELECT count(*) " KEYED_CASES "WHERE run = runs.id AND "                                     \
    "(EXISTS (SELECT 1 FROM judgements WHERE case_id = cases.id) OR "                              \
    "EXISTS (SELECT 1 FROM repetitions WHERE case_id = cases.id)))"
#define COUNT_REPETITIONS                                                                          \
    "(SELECT count(*) " KEYED_CASES "JOIN repetitions ON case_id = cases.id WHERE run = runs.id)"
/* Once a run is over, its own columns say what became of its cases: nobody counts for a list. */
#define RUN_COLUMNS                                                                                \
    "SELECT id, started, plan, plan_hash, command_line, seed, state, "                             \
    "coalesce(runs.cases, " COUNT_CASES "), coalesce(runs.repetitions, " COUNT_REPETITIONS "), "   \
    "command, request_hash, asked, "                                                               \
    "iif(asked IS NULL, NULL, coalesce(declined, " COUNT_DECLINED ")), "                           \
    "iif(asked IS NULL, NULL, coalesce(lost, " COUNT_LOST                                          \
    ")), triples, triples_covered FROM runs "

/* Statements whose columns follow the list of metrics are made by a function. */
static const struct {
    const char *sql;
    char *(*make)(void);
} statement_sql[STATEMENT_COUNT] = {
    [STATEMENT_BEGIN] = {.sql = "BEGIN IMMEDIATE"},
    [STATEMENT_COMMIT] = {.sql = "COMMIT"},
    [STATEMENT_ROLLBACK] = {.sql = "ROLLBACK"},
    [STATEMENT_ADD_RUN] =
        {.sql = "INSERT INTO runs (started, command_line, plan, plan_hash, seed, "
                "command, request_hash, machine, triples, triples_covered, state) VALUES "
                "(strftime('%Y-%m-%dT%H:%M:%SZ', 'now'), ?1, ?2, ?3, ?4, "
                "nullif(?5, ''), nullif(?6, ''), nullif(?7, ''), ?8, ?9, 'open')"},
    [STATEMENT_ADD_FACT] = {.sql = "INSERT OR REPLACE INTO facts (run, place, name, value) "
                                   "VALUES (?1, ?2, ?3, ?4)"},
    [STATEMENT_END_RUN] = {.sql = "UPDATE runs SET state = ?2, "
                                  "ended = strftime('%Y-%m-%dT%H:%M:%SZ', 'now') WHERE id = ?1"},
    [STATEMENT_COUNT_RUN] = {.sql = "UPDATE runs SET cases = " COUNT_CASES
                                    ", repetitions = " COUNT_REPETITIONS
                                    ", declined = iif(asked IS NULL, NULL, " COUNT_DECLINED
                                    "), lost = iif(asked IS NULL, NULL, " COUNT_LOST ") "
                                    "WHERE id = ?1 AND state <> 'open'"},
    [STATEMENT_FIND_UNFINISHED] = {.sql = "SELECT max(id) FROM runs WHERE plan_hash = ?1 "
                                          "AND origin IS NULL AND (state <> 'complete' OR "
                                          "lost > 0)"},
    [STATEMENT_LATEST_SURVEY] = {.sql = "SELECT id FROM runs WHERE plan <> 'choose' AND "
                                        "(asked > 0 OR EXISTS (SELECT 1 FROM cells WHERE run = "
                                        "runs.id)) ORDER BY id DESC LIMIT 1"},
    [STATEMENT_LATEST_RUN] = {.sql = "SELECT max(run) FROM cells"},
    [STATEMENT_PUT_KERNEL] = {.sql = "INSERT INTO kernels (run, name, descriptor) "
                                     "VALUES (?1, ?2, ?3) ON CONFLICT (run, name) "
                                     "DO UPDATE SET descriptor = excluded.descriptor"},
    [STATEMENT_SAY_KERNEL] = {.sql = "UPDATE kernels SET role = ?3, reproducible = ?4 "
                                     "WHERE run = ?1 AND name = ?2"},
    [STATEMENT_ADD_CELL] = {.sql = "INSERT OR IGNORE INTO cells (run, kernel, convention, rows, "
                                   "hidden, types, cache, threads, operation) VALUES "
                                   "(?1, ?2, ?3, ?5, ?6, ?7, ?8, ?9, ?10)"},
    [STATEMENT_ADD_INPUT] = {.sql = "INSERT OR IGNORE INTO inputs (name) VALUES (?4)"},
    [STATEMENT_ADD_CASE] = {.sql = "INSERT INTO cases (cell, input_id) SELECT id, (SELECT id FROM "
                                   "inputs WHERE name = ?4) FROM cells WHERE " CELL_MATCHES},
    [STATEMENT_PUT_ASKED] = {.sql = "UPDATE cases SET asked = coalesce(asked, 0) | ?2 "
                                    "WHERE id = ?1"},
    [STATEMENT_COUNT_ASKED] = {.sql = "UPDATE runs SET asked = (SELECT count(*) " KEYED_CASES
                                      "WHERE run = ?1 AND cases.asked > 0), declined = NULL, "
                                      "lost = NULL, cases = NULL, repetitions = NULL, "
                                      "state = 'open', ended = NULL WHERE id = ?1"},
    [STATEMENT_IMPORT_ASKED] = {.sql = "UPDATE runs SET asked = ?2 WHERE id = ?1"},
    [STATEMENT_LOST] =
        {.sql = "SELECT case_id, kernel, convention, input, rows, hidden, types, cache, "
                "threads, asked, reason, operation FROM lost "
                "WHERE run = ?1 ORDER BY case_id"},
    [STATEMENT_FIND_CASE] = {.sql = "SELECT cases.id " KEYED_CASES "WHERE " KEY_MATCHES},
    [STATEMENT_PUT_ACCURACY] = {.make = store_put_accuracy_sql},
    [STATEMENT_PUT_JUDGEMENT] = {.sql =
                                     "INSERT OR REPLACE INTO judgements VALUES "
                                     "(?1, ?2, ?3, nullif(?4, ''), ?5, ?6, ?7, ?8, ?9, ?10, ?11)"},
    [STATEMENT_DROP_ACCURACY] = {.sql = "DELETE FROM accuracies WHERE case_id = ?1"},
    [STATEMENT_DROP_JUDGEMENT] = {.sql = "DELETE FROM judgements WHERE case_id = ?1"},
    [STATEMENT_PUT_TIMING] = {.sql = "INSERT OR REPLACE INTO timings VALUES "
                                     "(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, "
                                     "?14)"},
    [STATEMENT_DROP_TIMINGS] = {.sql = "DELETE FROM timings WHERE case_id IN " CASES_OF_RUN},
    [STATEMENT_PUT_REPETITION] = {.sql = "INSERT INTO repetitions (case_id, process, repetition, "
                                         "place, iterations, real_ns, cpu_ns, cycles, "
                                         "instructions) "
                                         "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)"},
    [STATEMENT_PUT_ROW] = {.sql = "INSERT OR REPLACE INTO judged_rows (case_id, row, kappa, "
                                  "row_ulp, norm_max, bound_row_ulp, mean_error, rstd_error) "
                                  "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)"},
    [STATEMENT_ALL_RUNS] = {.sql = RUN_COLUMNS "ORDER BY id"},
    [STATEMENT_ONE_RUN] = {.sql = RUN_COLUMNS "WHERE id = ?1"},
    [STATEMENT_CASES] = {.make = store_cases_sql},
    [STATEMENT_KERNEL_CASES] = {.make = store_kernel_cases_sql},
    [STATEMENT_KERNEL_TIMINGS] = {.make = store_kernel_timings_sql},
    [STATEMENT_CASE_SET] = {.sql = "SELECT cases.id, " KEY_COLUMNS ", operation " KEYED_CASES
                                   "WHERE run = ?1"},
    [STATEMENT_TIMED_CASES] = {.sql = "SELECT cases.id, " KEY_COLUMNS ", "
                                      "(SELECT count(*) FROM repetitions WHERE case_id = cases.id "
                                      "AND " FINISHED "), "
                                      "operation " KEYED_CASES "WHERE run = ?1 AND EXISTS "
                                      "(SELECT 1 FROM repetitions WHERE case_id = cases.id "
                                      "AND ?2 IN (process, -1)) ORDER BY cases.id"},
    [STATEMENT_REPETITIONS] = {.sql = "SELECT case_id, process, repetition, place, iterations, "
                                      "real_ns, cpu_ns, cycles, instructions " KEYED_CASES
                                      "JOIN repetitions ON case_id = cases.id WHERE run = ?1 "
                                      "AND (?2 OR " FINISHED ") "
                                      "ORDER BY case_id, process, repetition"},
    [STATEMENT_ROWS] = {.sql = "SELECT case_id, row, kappa, row_ulp, norm_max, "
                               "bound_row_ulp, mean_error, rstd_error " KEYED_CASES
                               "JOIN judged_rows ON case_id = cases.id "
                               "WHERE run = ?1 ORDER BY case_id, row"},
    [STATEMENT_FACTS] = {.sql = "SELECT name, value FROM facts WHERE run = ?1 ORDER BY place"},
    [STATEMENT_KERNELS] = {.sql = "SELECT descriptor FROM kernels WHERE run = ?1 ORDER BY id"},
    [STATEMENT_KERNEL] = {.sql = "SELECT descriptor FROM kernels WHERE run = ?1 AND name = ?2"},
    [STATEMENT_PROCESS_COUNT] = {.sql = "SELECT count(DISTINCT process) " KEYED_CASES
                                        "JOIN repetitions ON case_id = cases.id WHERE " KEY_MATCHES
                                        " AND " FINISHED},
    [STATEMENT_DROP_PROCESS] =
        {.sql = "DELETE FROM repetitions WHERE process = ?2 AND case_id IN " CASES_OF_RUN},
    [STATEMENT_END_PROCESS] = {.sql = "INSERT OR IGNORE INTO finished_processes VALUES (?1, ?2)"},
    [STATEMENT_DROP_UNFINISHED] = {.sql = "DELETE FROM repetitions WHERE case_id IN " CASES_OF_RUN
                                          " AND NOT " FINISHED},
    [STATEMENT_UNFINISHED] = {.sql = "SELECT coalesce(max(process), -1) FROM runs "
                                     "JOIN cells ON run = runs.id JOIN cases ON cases.cell = "
                                     "cells.id JOIN repetitions ON case_id = cases.id "
                                     "WHERE runs.id = ?1 AND runs.state <> 'complete' "
                                     "AND NOT " FINISHED},
    [STATEMENT_END_ALL_BUT] = {.sql = "INSERT OR IGNORE INTO finished_processes "
                                      "SELECT DISTINCT run, process " KEYED_CASES
                                      "JOIN repetitions ON case_id = cases.id "
                                      "WHERE run = ?1 AND process <> ?2"},
    [STATEMENT_NEXT_PROCESS] = {.sql = "SELECT coalesce(max(process) + 1, 0) " KEYED_CASES
                                       "JOIN repetitions ON case_id = cases.id WHERE run = ?1"},
    [STATEMENT_HAS_ACCURACY] = {.sql = "SELECT count(*) " KEYED_CASES
                                       "JOIN judgements ON case_id = cases.id "
                                       "WHERE verdict <> 'lost' AND " KEY_MATCHES},
    [STATEMENT_PUT_OUTPUT] = {.sql = "UPDATE accuracies SET output_hash = ?2 WHERE case_id = ?1"},
    [STATEMENT_IMPORT_RUN] =
        {.sql = "INSERT INTO runs (command_line, plan, plan_hash, seed, "
                "command, request_hash, machine, triples, triples_covered, started, ended, state, "
                "origin) VALUES (?1, ?2, ?3, ?4, nullif(?5, ''), "
                "nullif(?6, ''), nullif(?7, ''), ?8, ?9, ?10, ?10, ?11, ?12)"},
    [STATEMENT_FIND_ORIGIN] = {.sql = "SELECT id FROM runs WHERE origin = ?1"},
    [STATEMENT_ADD_CALIBRATION] = {.sql = "INSERT INTO calibrations (made, machine, kernel, "
                                          "rebuilds, confidence) VALUES "
                                          "(strftime('%Y-%m-%dT%H:%M:%SZ', 'now'), ?1, ?2, ?3, "
                                          "?4)"},
    [STATEMENT_CALIBRATION] = {.sql = "SELECT id, made, kernel, rebuilds, confidence "
                                      "FROM calibrations WHERE machine = ?1 ORDER BY id DESC "
                                      "LIMIT 1"},
    [STATEMENT_ADD_NOISE] = {.sql = "INSERT INTO noise VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, "
                                    "?9, ?10)"},
    [STATEMENT_NOISE] = {.sql = "SELECT method, regime, rows, hidden, floor, smallest, seconds, "
                                "processes, trials FROM noise WHERE calibration = ?1"},
    [STATEMENT_ADD_TENSOR] = {.sql = "INSERT OR IGNORE INTO tensors (hash, bits) VALUES (?1, ?2)"},
    [STATEMENT_PUT_WORST] = {.sql = "INSERT OR REPLACE INTO worst_rows "
                                    "SELECT cases.id, ?11, "
                                    "(SELECT id FROM tensors WHERE hash = ?12), "
                                    "(SELECT id FROM tensors WHERE hash = ?13), "
                                    "(SELECT id FROM tensors WHERE hash = ?14) " KEYED_CASES
                                    "WHERE " KEY_MATCHES},
    [STATEMENT_WORST] = {.sql = "SELECT y_hash, (SELECT bits FROM tensors WHERE id = x), x, "
                                "(SELECT bits FROM tensors WHERE id = gamma), gamma, "
                                "(SELECT bits FROM tensors WHERE id = beta), beta "
                                "FROM worst_rows WHERE case_id = ?1"},
    [STATEMENT_STANDING] = {.sql = standing_sql},
    [STATEMENT_TIMED_KERNELS] = {.sql = timed_kernels_sql},
    [STATEMENT_ERRORS_NEAR] = {.sql = errors_near_sql},
    [STATEMENT_CLASS] = {.sql = class_sql},
    /* From one machine to the next in the index, whatever number of runs it has. */
    [STATEMENT_RUN_ON] =
        {.sql = "WITH RECURSIVE machines (name) AS (SELECT min(machine) FROM runs "
                "UNION ALL SELECT (SELECT min(machine) FROM runs WHERE machine > name) "
                "FROM machines WHERE name IS NOT NULL), "
                "latest AS (SELECT name, (SELECT max(id) FROM runs WHERE machine = name) "
                "AS id FROM machines WHERE instr(lower(substr(name, 1, "
                "instr(name, ' | '))), lower(?1))) "
                "SELECT max(id), count(*), group_concat(id || ': ' || name, '; ') "
                "FROM latest"},
    [STATEMENT_REMOVE_RUNS] = {.sql = "DELETE FROM runs WHERE id BETWEEN ?1 AND ?2"},
    [STATEMENT_REMOVE_TENSORS] = {.sql = "DELETE FROM tensors WHERE id NOT IN (SELECT x FROM "
                                         "worst_rows WHERE x IS NOT NULL UNION SELECT gamma FROM "
                                         "worst_rows WHERE gamma IS NOT NULL UNION SELECT beta "
                                         "FROM worst_rows WHERE beta IS NOT NULL)"},
    [STATEMENT_REMOVE_INPUTS] = {.sql = "DELETE FROM inputs WHERE id NOT IN (SELECT input_id FROM "
                                        "cases)"},
    [STATEMENT_RUN_OF_CASE] = {.sql = "SELECT run " KEYED_CASES "WHERE cases.id = ?1"},
};

sqlite3_stmt *store_statement(result_store *store, statement_kind kind, error *err)
{
    sqlite3_stmt **statement = &store->statements[kind];
    if (*statement) {
        sqlite3_reset(*statement);
        sqlite3_clear_bindings(*statement);
        return *statement;
    }
    char *made = statement_sql[kind].make ? statement_sql[kind].make() : NULL;
    const char *sql = made ? made : statement_sql[kind].sql;
    int status =
        sqlite3_prepare_v3(store->database, sql, -1, SQLITE_PREPARE_PERSISTENT, statement, NULL);
    free(made);
    if (status != SQLITE_OK)
        store_fail(store, status, "use its tables", err);
    return *statement;
}

void store_bind_list(sqlite3_stmt *statement, int place, const char *types, va_list values)
{
    for (; *types; types++, place++) {
        if (*types == 'n') {
            const char *word = va_arg(values, const char *);
            if (word && word[0])
                sqlite3_bind_text(statement, place, word, -1, SQLITE_STATIC);
        } else if (*types == 'd') {
            sqlite3_bind_double(statement, place, va_arg(values, double));
        } else if (*types == 'i') {
            sqlite3_bind_int64(statement, place, va_arg(values, int64_t));
        } else {
            const char *string = va_arg(values, const char *);
            string = string ? string : "";
            sqlite3_bind_text(statement, place, string, (int)text_whole(string), SQLITE_STATIC);
        }
    }
}

void store_bind(sqlite3_stmt *statement, int place, const char *types, ...)
{
    va_list values;
    va_start(values, types);
    store_bind_list(statement, place, types, values);
    va_end(values);
}

static sqlite3_stmt *bound(result_store *store, statement_kind kind, error *err, const char *types,
                           va_list values)
{
    sqlite3_stmt *statement = store_statement(store, kind, err);
    if (statement)
        store_bind_list(statement, 1, types, values);
    return statement;
}

sqlite3_stmt *store_bound(result_store *store, statement_kind kind, error *err, const char *types,
                          ...)
{
    va_list values;
    va_start(values, types);
    sqlite3_stmt *statement = bound(store, kind, err, types, values);
    va_end(values);
    return statement;
}

bool store_do(result_store *store, statement_kind kind, const char *doing, error *err,
              const char *types, ...)
{
    va_list values;
    va_start(values, types);
    sqlite3_stmt *statement = bound(store, kind, err, types, values);
    va_end(values);
    return statement && store_step(store, statement, doing, err);
}

bool store_step(result_store *store, sqlite3_stmt *statement, const char *doing, error *err)
{
    int status = sqlite3_step(statement);
    bool fine = status == SQLITE_DONE || status == SQLITE_ROW;
    if (!fine)
        store_fail(store, status, doing, err);
    sqlite3_reset(statement);
    return fine;
}

static bool has_long_text(sqlite3_stmt *statement)
{
    for (int i = 0; i < sqlite3_data_count(statement); i++)
        if (sqlite3_column_type(statement, i) == SQLITE_TEXT &&
            sqlite3_column_bytes(statement, i) > STORE_TEXT_MOST)
            return true;
    return false;
}

bool store_next(result_store *store, sqlite3_stmt *statement, bool *row, error *err)
{
    int status = sqlite3_step(statement);
    *row = status == SQLITE_ROW;
    if (*row && !has_long_text(statement))
        return true;
    if (*row)
        status = SQLITE_TOOBIG;
    *row = false;
    if (status != SQLITE_DONE)
        store_fail(store, status, "read it", err);
    sqlite3_reset(statement);
    return status == SQLITE_DONE;
}
