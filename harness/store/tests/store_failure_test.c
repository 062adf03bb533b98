/* The store in error cases: full disks, transactions that were cut off, and files that lnbench did not write.
 * (cli_interrupt and cli_store test killed writers, files that cannot grow, and truncated files.) */
#include "store_sample.h"
#include <sys/stat.h>
#include <sys/wait.h>
#include <math.h>

/* Puts repetitions until one fails, or `most`; returns how many were stored. */
static unsigned fill(result_store *store, int64_t run, unsigned most)
{
    case_key key = sample_key();
    for (unsigned i = 0; i < most; i++) {
        timed_repetition put = {0, i, i, i, i + 0.5, i, NAN, NAN};
        if (DIES(store_put_repetition(store, run, &key, &put)))
            return i;
    }
    return most;
}

static void assert_kept(const char *path, int64_t run, unsigned kept)
{
    result_store *store = store_open(path, STORE_WRITE);
    stored_cases cases = store_cases(store, run);
    assert_int_equal(cases.cases[0].repetition_count, kept);
    stored_cases_free(&cases);
    store_close(store);
}

TEST_IN_SCRATCH(test_full)
{
    const char *path = scratch_path(state, "full.db");
    result_store *store = store_open(path, STORE_WRITE);
    int64_t run = begun(store);
    sqlite3_exec(store->database, "PRAGMA max_page_count = 40", NULL, NULL, NULL);
    unsigned kept = fill(store, run, 1000000);
    assert_true(kept > 100 && kept < 1000000);
    assert_int_equal(problem.code, EXIT_CODE_ENVIRONMENT);
    assert_non_null(strstr(problem.message, "full.db: cannot write to it: the disk is full"));
    assert_null(strchr(problem.message, '\n'));
    /* With free space, the next command continues. */
    store_close(store);
    store = store_open(path, STORE_WRITE);
    timed_repetition next = {1, 0, 0, 1, 1, 1, NAN, NAN};
    case_key key = sample_key();
    store_put_repetition(store, run, &key, &next);
    store_close(store);
    assert_kept(path, run, kept + 1);
}

/* A transaction that was cut off outside of the write-ahead log leaves new pages in the file and the old ones in a
 * journal; the next process that opens it, even a reader, rolls it back. */
TEST_IN_SCRATCH(test_cut_off)
{
    const char *path = scratch_path(state, "cut.db");
    result_store *store = store_open(path, STORE_WRITE);
    int64_t run = begun(store);
    assert_int_equal(fill(store, run, 3), 3);
    store_close(store);
    pid_t child = fork();
    if (child == 0) {
        sqlite3 *database;
        sqlite3_open(path, &database);
        sqlite3_exec(database,
                     "PRAGMA journal_mode = DELETE; PRAGMA cache_size = 1; BEGIN;"
                     "UPDATE runs SET seed = 0; CREATE TABLE large AS WITH RECURSIVE"
                     " n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100)"
                     " SELECT zeroblob(4000) FROM n",
                     NULL, NULL, NULL);
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    struct stat journal;
    assert_int_equal(stat(scratch_path(state, "cut.db-journal"), &journal), 0);
    assert_true(journal.st_size > 0);
    path = scratch_path(state, "cut.db");
    store_close(store_open(path, STORE_READ));
    assert_kept(path, run, 3);
}

/* --- files that are not ours ------------------------------------------------------------------ */

static void write_file(const char *path, const char *bytes, size_t count)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, count, file), count);
    fclose(file);
}

/* Asserts that a file is refused in both modes, in one line with the path and these words, and stays unchanged. */
static void assert_refused(const char *path, const char *words)
{
    for (int mode = STORE_READ; mode <= STORE_WRITE; mode++) {
        assert_true(DIES(store_open(path, (store_mode)mode)));
        assert_int_equal(problem.code, EXIT_CODE_ENVIRONMENT);
        if (!strstr(problem.message, words) || !strstr(problem.message, path) ||
            strchr(problem.message, '\n'))
            fail_msg("'%s' does not say '%s'", problem.message, words);
    }
}

static void make_database(const char *path, const char *sql)
{
    sqlite3 *database;
    assert_int_equal(sqlite3_open(path, &database), SQLITE_OK);
    assert_int_equal(sqlite3_exec(database, sql, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(database);
}

static size_t read_whole(const char *path, char *bytes, size_t room)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    size_t size = fread(bytes, 1, room, file);
    fclose(file);
    return size;
}

TEST_IN_SCRATCH(test_not_ours)
{
    char text[2000], back[2001];
    const char *path = scratch_path(state, "text.db");
    memset(text, 'x', sizeof text);
    write_file(path, text, sizeof text);
    assert_refused(path, "not an SQLite database");
    assert_int_equal(read_whole(path, back, sizeof back), sizeof text);
    assert_memory_equal(back, text, sizeof text);
    write_file(path, "x", 1);
    assert_refused(path, "not an SQLite database");

    path = scratch_path(state, "foreign.db");
    make_database(path, "CREATE TABLE recipes (name TEXT)");
    assert_refused(path, "that lnbench does not read");
    path = scratch_path(state, "application.db");
    make_database(path, "PRAGMA application_id = 1234");
    assert_refused(path, "that lnbench does not read");
    assert_refused((const char *)*state, "a directory");
    assert_true(DIES(store_open(scratch_path(state, "none.db"), STORE_READ)));
    assert_non_null(strstr(problem.message, "no such file"));
    assert_refused(scratch_path(state, "no/such.db"), "no");
    write_file(scratch_path(state, "empty.db"), "", 0);
    assert_true(DIES(store_open(scratch_path(state, "empty.db"), STORE_READ)));
    assert_non_null(strstr(problem.message, "empty"));
    store_close(store_open(scratch_path(state, "empty.db"), STORE_WRITE));
}

TEST_IN_SCRATCH(test_older_and_newer)
{
    const char *path = scratch_path(state, "older.db");
    store_close(store_open(path, STORE_WRITE));
    make_database(path, "PRAGMA user_version = 10");
    assert_refused(path,
                   "made by an older lnbench; results/README.md lists the commits that read it");
    path = scratch_path(state, "newer.db");
    store_close(store_open(path, STORE_WRITE));
    make_database(path, "PRAGMA user_version = 1000");
    assert_refused(path, "made by a newer lnbench");
}

static int64_t number(sqlite3 *database, const char *sql)
{
    sqlite3_stmt *statement;
    assert_int_equal(sqlite3_prepare_v2(database, sql, -1, &statement, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
    int64_t value = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    return value;
}

/* Makes a store with a run, changed by SQL. */
static const char *changed_store(void **state, const char *sql)
{
    const char *path = scratch_path(state, "changed.db");
    remove(path);
    result_store *store = store_open(path, STORE_WRITE);
    begun(store);
    store_close(store);
    make_database(path, sql);
    return path;
}

#define EDIT(object, from, to)                                                                     \
    "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = replace(sql, '" from "', '" to    \
    "') WHERE name = '" object "'"
#define ENDLESS "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT * FROM n"
#define INSTEAD_OF(table, made)                                                                    \
    "PRAGMA legacy_alter_table = ON; ALTER TABLE " table " RENAME TO kept; CREATE " made

/* Makes the table again with its rows, but with columns without keys and checks, and with other types. */
#define LOOSE(table)                                                                               \
    "PRAGMA legacy_alter_table = ON; PRAGMA foreign_keys = OFF; ALTER TABLE " table                \
    " RENAME TO kept; CREATE TABLE " table " AS SELECT * FROM kept; "

/* Reads everything that the store has of its runs. */
static void read_everything(result_store *store)
{
    stored_run *runs;
    size_t count = store_runs(store, &runs);
    for (size_t i = 0; i < count; i++) {
        machine_facts machine = store_machine(store, runs[i].id);
        machine_free(&machine);
        json_decref(store_kernels(store, runs[i].id));
        stored_cases cases = store_cases(store, runs[i].id);
        stored_cases_free(&cases);
    }
    free(runs);
}

/* Writes a run with a row in almost every table. */
static void write_run(result_store *store)
{
    const machine_facts machine = {.facts = (machine_fact[]){{"cores", "3"}}, .count = 1};
    const run_info info = {
        .command_line = "", .plan = "quick", .plan_hash = "abc", .machine = &machine};
    const requested_case requested = {.key = sample_key(),
                                      .parts = REQUESTED_JUDGEMENT | REQUESTED_TIMING};
    requested_case lost = requested;
    const case_verdict verdict = {.kind = VERDICT_PASS};
    const ln_metrics metrics = distinct_metrics();
    const timed_repetition put = {0, 0, 0, 1, 1, 1, NAN, NAN};
    const stored_row row = {1, 2, 1, 0.5, 3, 0, 0};
    strcpy(lost.key.input, "lost");
    int64_t run = store_begin_run(store, &info);
    store_put_requested(store, run, &requested);
    store_put_requested(store, run, &lost);
    store_put_kernel(store, run, json_pack("{s:s}", "name", requested.key.kernel));
    put_accuracy(store, run, &requested.key, &verdict, &metrics, 1);
    store_put_row(store, run, &requested.key, &row);
    store_put_repetition(store, run, &requested.key, &put);
    store_end_process(store, run, put.process);
}

static void use(const char *path, store_mode mode)
{
    result_store *store = store_open(path, mode);
    if (mode == STORE_READ)
        read_everything(store);
    else
        write_run(store);
    store_close(store);
}

/* A stranger's file may have any schema. lnbench either reads and writes it, or says in one line why not, and executes
 * no part of the schema. */
TEST_IN_SCRATCH(test_strange_schemas)
{
    static const struct {
        const char *reading, *writing; /* words of the error; NULL: no error */
        const char *sql;
    } strange[] = {
        {NULL, NULL,
         "CREATE TRIGGER t AFTER INSERT ON runs BEGIN SELECT raise(ABORT, 'it ran'); END"},
        {NULL, NULL,
         "CREATE TRIGGER t BEFORE INSERT ON cases BEGIN SELECT raise(ABORT, 'it ran'); END"},
        {"cannot", "cannot", INSTEAD_OF("runs", "VIEW runs AS " ENDLESS)},
        {"cannot", "cannot", INSTEAD_OF("cases", "VIEW cases AS " ENDLESS ", kept")},
        {"prohibited", "view", INSTEAD_OF("repetitions", "VIEW repetitions AS SELECT * FROM kept")},
        {"no such module", "no such module",
         INSTEAD_OF("facts", "VIRTUAL TABLE facts USING fts5(a)")},
        {NULL, NULL, "DROP VIEW judged; CREATE TABLE judged (a); DROP VIEW missing"},
        {"no such table", "no such table", "DROP TABLE finished_processes"},
        {NULL, "has 7 columns", EDIT("judged_rows", "mean_error    REAL,", "")},
        {"a text or row of more", "has 8 columns",
         "ALTER TABLE repetitions DROP COLUMN cpu_ns; ALTER TABLE repetitions ADD "
         "COLUMN cpu_ns REAL AS (length(hex(zeroblob(1e9))))"},
        {NULL, "a text or row of more",
         "ALTER TABLE runs ADD COLUMN a TEXT AS (hex(zeroblob(1e9)))"},
        {NULL, "a text or row of more",
         EDIT("facts", "value TEXT NOT NULL", "value TEXT CHECK (length(hex(zeroblob(1e9))) > 0)")},
        {NULL, "already", "CREATE UNIQUE INDEX i ON runs (1)"},
        {"unknown state", "foreign key mismatch",
         LOOSE("runs") "UPDATE runs SET state = 'no state'"},
        {NULL, "foreign key mismatch", LOOSE("runs") "INSERT INTO runs SELECT * FROM runs"},
        {NULL, "foreign key mismatch",
         LOOSE("runs") "UPDATE runs SET started = x'1b00ff', plan = 7, seed = 'seed', "
                       "plan_hash = NULL, command_line = 1e999, cases = 'many'"},
        {NULL, NULL,
         LOOSE("facts") "UPDATE facts SET name = NULL, value = x'00ff', place = 'first'"},
        {"cannot be read as JSON", "ON CONFLICT clause",
         LOOSE("kernels") "UPDATE kernels SET descriptor = NULL, role = 3, name = x'ff'"},
        {"unknown", "foreign key mismatch",
         LOOSE("cells") "UPDATE cells SET types = 3, cache = NULL"},
        {NULL, "foreign key mismatch",
         LOOSE("cells") "UPDATE cells SET rows = 'three', hidden = -1e300, threads = NULL"},
    };
    for (size_t i = 0; i < sizeof strange / sizeof *strange; i++) {
        const char *path = scratch_path(state, "strange.db");
        remove(path);
        result_store *made = store_open(path, STORE_WRITE);
        write_run(made);
        store_close(made);
        make_database(path, strange[i].sql);
        for (int mode = STORE_READ; mode <= STORE_WRITE; mode++) {
            const char *words = mode == STORE_READ ? strange[i].reading : strange[i].writing;
            bool fine = !DIES(use(path, (store_mode)mode));
            if (fine != !words ||
                (words &&
                 (problem.code != EXIT_CODE_ENVIRONMENT || !strstr(problem.message, words) ||
                  !strstr(problem.message, path) || strchr(problem.message, '\n'))))
                fail_msg("%s: mode %d: '%s'", strange[i].sql, mode, problem.message);
        }
    }
}

/* Users' own tables and views stay, and are neither read nor executed. */
TEST_IN_SCRATCH(test_tables_of_their_own)
{
    static const char *const own[] = {
        "CREATE VIEW mine AS SELECT * FROM timed; CREATE VIEW endless AS " ENDLESS,
        "CREATE TABLE mine (run REFERENCES runs, a CHECK (length(hex(zeroblob(1e9))) > 1),"
        " b NOT NULL AS (hex(zeroblob(3e8)))); PRAGMA ignore_check_constraints = ON;"
        "INSERT INTO mine SELECT 1, id FROM runs",
        "CREATE TABLE mine (a); CREATE TRIGGER t AFTER INSERT ON mine BEGIN DELETE FROM facts; END",
        "CREATE INDEX mine ON facts (value, name DESC); ANALYZE",
        "DROP VIEW timed; CREATE VIEW timed AS " ENDLESS "; DROP VIEW judged",
        "ALTER TABLE accuracies ADD COLUMN mine REAL; ALTER TABLE accuracies ADD COLUMN n INTEGER",
        "ANALYZE; PRAGMA writable_schema = ON; DELETE FROM sqlite_stat1; INSERT INTO sqlite_stat1 "
        "VALUES ('cases', 'sqlite_autoindex_cases_1', '99999999999999999999 -1 sz=0 unordered'), "
        "('facts', 'facts', hex(zeroblob(500000))), (NULL, 'mine', x'1b')",
    };
    static const int64_t kept[] = {1, 1, 2, 1, 0, 1, 0}; /* objects whose text says "mine" */
    for (size_t i = 0; i < sizeof own / sizeof *own; i++) {
        const char *path = changed_store(state, own[i]);
        for (int mode = STORE_READ; mode <= STORE_WRITE; mode++) {
            result_store *store = store_open(path, (store_mode)mode);
            store_run(store, 1);
            assert_int_equal(number(store->database, "SELECT count(*) FROM facts WHERE run = 1"),
                             4);
            assert_int_equal(number(store->database, "SELECT count(*) FROM timed"), 0);
            if (mode == STORE_WRITE) {
                assert_int_equal(fill(store, begun(store), 2), 2);
                store_end_process(store, 2, 0);
            }
            store_close(store);
        }
        sqlite3 *database;
        assert_int_equal(sqlite3_open(path, &database), SQLITE_OK);
        assert_int_equal(number(database, "SELECT count(*) FROM facts WHERE run = 1"), 4);
        assert_int_equal(
            number(database, "SELECT count(*) FROM sqlite_schema WHERE sql LIKE '%mine%'"),
            kept[i]);
        sqlite3_close(database);
    }
}

/* Truncated names could be those of other cases. */
TEST_IN_SCRATCH(test_long_names)
{
    static const unsigned lengths[][3] = {{63, 127, 255}, {64, 1, 1}, {1, 128, 1}, {1, 1, 256}};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        char sql[512];
        stored_cases cases;
        snprintf(
            sql, sizeof sql,
            "INSERT INTO cells (run, kernel, types, convention, rows, hidden, cache, threads, "
            "operation, regime) SELECT 1, substr(z, 1, %u), 'f32', substr(z, 1, %u), 1, 1, 'hot', "
            "1, "
            "'layernorm', 'L1' FROM (SELECT hex(zeroblob(200)) AS z); INSERT INTO inputs VALUES "
            "(77, "
            "substr(hex(zeroblob(200)), 1, %u)); INSERT INTO cases (cell, input_id, requested) "
            "SELECT id, 77, 1 FROM cells; INSERT INTO judgements SELECT id, 'pass', "
            "'', NULL, 0, 0, 0, 0, 1, 0, 1 FROM cases WHERE input_id = 77",
            lengths[i][0], lengths[i][1], lengths[i][2]);
        result_store *store = store_open(changed_store(state, sql), STORE_READ);
        assert_int_equal(DIES(cases = store_cases(store, 1)), i > 0);
        if (i == 0)
            stored_cases_free(&cases);
        else
            assert_non_null(strstr(problem.message, "are possible: the database is damaged"));
        store_close(store);
    }
}

/* Runs as a user without rights, since root may write anywhere. */
static void check_unwritable(const char *directory)
{
    char path[512];
    if (geteuid() == 0 && (setgid(65534) != 0 || setuid(65534) != 0))
        _exit(10);
    snprintf(path, sizeof path, "%s/new.db", directory);
    if (!DIES(store_open(path, STORE_WRITE)))
        _exit(11);
    if (problem.code != EXIT_CODE_ENVIRONMENT || !strstr(problem.message, "Permission denied"))
        _exit(12);
    snprintf(path, sizeof path, "%s/old.db", directory);
    if (!DIES(store_open(path, STORE_WRITE)) || problem.code != EXIT_CODE_ENVIRONMENT)
        _exit(13);
    /* A readable file is read, without the files that SQLite would create next to it. */
    result_store *store = NULL;
    if (DIES(store = store_open(path, STORE_READ)))
        _exit(14);
    _exit(store_latest_run(store) == 1 ? 0 : 15);
}

TEST_IN_SCRATCH(test_unwritable)
{
    result_store *store = store_open(scratch_path(state, "old.db"), STORE_WRITE);
    case_key key = sample_key();
    timed_repetition put = {0, 0, 0, 1, 1, 1, NAN, NAN};
    store_put_repetition(store, begun(store), &key, &put);
    store_close(store);
    assert_int_equal(chmod(*state, 0555), 0);
    pid_t child = fork();
    if (child == 0)
        check_unwritable(*state);
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(chmod(*state, 0755), 0);
    assert_int_equal(status, 0);
}

/* The second of two writers at the same time waits for the first, and neither loses data. */
TEST_IN_SCRATCH(test_two_writers)
{
    const char *path = scratch_path(state, "shared.db");
    result_store *a = store_open(path, STORE_WRITE), *b = store_open(path, STORE_WRITE);
    result_store *reader = store_open(path, STORE_READ);
    int64_t run_a = begun(a), run_b = begun(b);
    assert_true(run_a != run_b);
    case_key key = sample_key();
    for (unsigned i = 0; i < 20; i++) {
        timed_repetition put = {0, i, 0, 1, i, 1, NAN, NAN};
        store_put_repetition(a, run_a, &key, &put);
        store_put_repetition(b, run_b, &key, &put);
        stored_run info = store_run(reader, run_a);
        assert_int_equal(info.repetitions, i + 1);
    }
    assert_true(DIES(store_end_run(reader, run_a, RUN_COMPLETE)));
    assert_non_null(strstr(problem.message, "permission"));
    store_close(a);
    store_close(b);
    store_close(reader);
}
