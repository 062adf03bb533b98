#include "show/compare/run_find.h"
#include "base/text.h"
#include "store/run_file.h"
#include "store/script.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LEAST_COMMIT = 4, MOST_COMMIT = 40 };

static bool is_commit(const char *word)
{
    size_t length = strlen(word);
    return length >= LEAST_COMMIT && length <= MOST_COMMIT &&
           strspn(word, "0123456789abcdefABCDEF") == length;
}

static bool is_number(const char *word)
{
    return word[0] && strspn(word, "0123456789") == strlen(word) && strlen(word) < 10;
}

static int64_t ask_run(result_store *store, const char *sql, const char *word)
{
    stored_table found = store_ask(store, sql, "s", word);
    const int64_t run = table_whole(&found, 0, "id");
    stored_table_free(&found);
    return run;
}

/* Runs of `lnbench run`; an import may be of an earlier day. */
#define NEWEST_OF                                                                                  \
    "SELECT id FROM runs WHERE command = 'run' AND (requested > 0 OR EXISTS (SELECT 1 FROM cells " \
    "WHERE run = runs.id)) AND "
#define BY_TIME " ORDER BY started DESC, id DESC LIMIT 1"

/* "latest" and "previous". */
static int64_t find_by_time(result_store *store, bool previous, const char *database)
{
    static const char latest_sql[] = NEWEST_OF "?1 <> ''" BY_TIME;
    static const char previous_sql[] = NEWEST_OF
        "(machine, request_hash) = (SELECT machine, request_hash FROM runs WHERE id = ?1) AND "
        "(started, id) < (SELECT started, id FROM runs WHERE id = ?1)" BY_TIME;
    const int64_t latest = ask_run(store, latest_sql, "latest");
    char number[24];
    if (latest == 0)
        die(EXIT_CODE_NOT_COMPARABLE, "%s: it holds no run of lnbench run yet: make one", database);
    snprintf(number, sizeof number, "%lld", (long long)latest);
    const int64_t found = previous ? ask_run(store, previous_sql, number) : latest;
    if (found == 0)
        die(EXIT_CODE_NOT_COMPARABLE,
            "%s: no run before run %lld asked for the same on the same machine: repeat it, or name "
            "two runs (lnbench list runs)",
            database, (long long)latest);
    return found;
}

static int64_t find_stored(result_store *store, const char *word, const char *database)
{
    static const char number_sql[] = "SELECT id FROM runs WHERE id = ?1";
    static const char commit_sql[] =
        "SELECT max(run) AS id FROM facts WHERE name = 'git_commit' AND value LIKE ?1 || '%' AND "
        "EXISTS (SELECT 1 FROM cells WHERE cells.run = facts.run)";
    const bool previous = strcmp(word, "previous") == 0;
    if (previous || strcmp(word, "latest") == 0)
        return find_by_time(store, previous, database);
    int64_t run = is_number(word) ? ask_run(store, number_sql, word) : 0;
    if (run == 0)
        run = ask_run(store, commit_sql, word);
    if (run == 0)
        die(EXIT_CODE_ENVIRONMENT,
            "%s: %.60s: no run of this number or commit: lnbench list runs shows them", database,
            word);
    return run;
}

/* "run 3, commit 1234567, 2026-01-01T00:00:00Z"; where plugins took part, their names and hashes in place of the commit,
 * which is lnbench's. */
static void describe(result_store *store, found_run *found, bool numbered)
{
    static const char sql[] =
        "SELECT coalesce((SELECT group_concat(DISTINCT " PLUGIN_SQL ") || ', ' FROM kernels "
        "WHERE run = runs.id AND role = 'plugin'), "
        "(SELECT 'commit ' || substr(value, 1, 12) || iif(EXISTS (SELECT 1 FROM facts WHERE run = "
        "runs.id "
        "AND name = 'git_dirty' AND value = 'yes'), ' and more', '') || ', ' FROM facts "
        "WHERE run = runs.id AND name = 'git_commit' AND value <> 'unknown'), '') || started AS "
        "words "
        "FROM runs WHERE id = ?1";
    stored_table words = store_ask(store, sql, "i", found->run);
    int used = 0;
    if (numbered)
        used = snprintf(found->words, sizeof found->words, "run %lld, ", (long long)found->run);
    snprintf(found->words + used, sizeof found->words - (size_t)used, "%s",
             table_text(&words, 0, "words"));
    stored_table_free(&words);
}

static found_run from_store(const char *word, const char *database)
{
    found_run found = {.run = 0};
    result_store *store = store_open(database, STORE_READ);
    snprintf(found.database, sizeof found.database, "%s", database);
    found.run = find_stored(store, word, database);
    describe(store, &found, true);
    store_close(store);
    return found;
}

/* The latest run of an exported file, or of another store. */
static found_run from_file(const char *path)
{
    const run_file file = run_file_open(path);
    found_run found = {.run = 0};
    result_store *store = store_open(file.database, STORE_READ);
    snprintf(found.database, sizeof found.database, "%s", file.database);
    found.run = store_latest_run(store);
    if (found.run == 0)
        die(EXIT_CODE_ENVIRONMENT, "%s: holds no run yet: lnbench run makes one", path);
    describe(store, &found, false);
    store_close(store);
    return found;
}

found_run run_find(const char *word, const char *database)
{
    if (strcmp(word, "latest") == 0 || strcmp(word, "previous") == 0 || is_number(word))
        return from_store(word, database);
    if (access(word, F_OK) == 0 || strpbrk(word, "/."))
        return from_file(word);
    if (!is_commit(word))
        die(EXIT_CODE_USAGE,
            "%.60s: neither a run's number, 'latest', 'previous', a commit (4 digits or more) nor "
            "a "
            "file",
            word);
    return from_store(word, database);
}

result_store *runs_together(const found_run found[2], int64_t ids[2])
{
    ids[0] = found[0].run;
    ids[1] = found[1].run;
    if (strcmp(found[0].database, found[1].database) == 0)
        return store_open(found[0].database, STORE_READ);
    result_store *store = store_open_memory();
    for (int i = 0; i < 2; i++)
        store_copy_runs(store, found[i].database, found[i].run, &ids[i]);
    return store;
}
