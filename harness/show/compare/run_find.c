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

/* "latest" and "previous": of `lnbench run`, which an imported run may tell by its command line alone, and by the time
 * at which they began: an import may be of an earlier day. */
static int64_t find_by_time(result_store *store, const char *word, const char *database)
{
    static const char sql[] =
        "WITH own AS (SELECT *, " MACHINE_SQL " AS identity FROM runs WHERE coalesce(command, "
        "iif(command_line || ' ' LIKE '% run %', 'run', '')) = 'run' AND (requested > 0 OR EXISTS "
        "(SELECT 1 FROM cells WHERE run = runs.id))), "
        "latest AS (SELECT * FROM own ORDER BY started DESC, id DESC LIMIT 1) "
        "SELECT own.id AS id FROM own, latest WHERE iif(?1 = 'latest', own.id = latest.id, "
        "(own.started, own.id) < (latest.started, latest.id) AND own.identity = latest.identity "
        "AND (own.request_hash = latest.request_hash OR (coalesce(own.request_hash, "
        "latest.request_hash) IS NULL AND (own.plan, own.seed) = (latest.plan, latest.seed)))) "
        "ORDER BY own.started DESC, own.id DESC LIMIT 1";
    const int64_t found = ask_run(store, sql, word);
    if (found == 0 && strcmp(word, "latest") == 0)
        die(EXIT_CODE_NOT_COMPARABLE, "%s: it holds no run of lnbench run yet: make one", database);
    if (found == 0)
        die(EXIT_CODE_NOT_COMPARABLE,
            "%s: no run before run %lld asked for the same on the same machine: repeat it, or name "
            "two runs (lnbench list runs)",
            database, (long long)find_by_time(store, "latest", database));
    return found;
}

static int64_t find_stored(result_store *store, const char *word, const char *database)
{
    static const char commit_sql[] =
        "SELECT max(run) AS id FROM facts WHERE name = 'git_commit' AND value LIKE ?1 || '%' AND "
        "EXISTS (SELECT 1 FROM cells WHERE cells.run = facts.run)";
    const int64_t last = ask_run(store, "SELECT max(id) AS id FROM runs WHERE ?1 <> ''", word);
    if (strcmp(word, "previous") == 0 || strcmp(word, "latest") == 0)
        return find_by_time(store, word, database);
    if (is_number(word) && strtoll(word, NULL, 10) <= last)
        return strtoll(word, NULL, 10); /* store_run() says it where it was removed */
    const int64_t run = is_commit(word) ? ask_run(store, commit_sql, word) : 0;
    if (run == 0)
        die(EXIT_CODE_ENVIRONMENT,
            "%s: %.60s: no run of this number or commit: lnbench list runs shows them", database,
            word);
    return run;
}

/* "run 3, commit 1234567, 2026-01-01T00:00:00Z". The commit is lnbench's: the name and hash of plugins stand beside it,
 * or in its place where no other kernel took part. */
static void describe(result_store *store, found_run *found, bool numbered)
{
    static const char sql[] =
        "SELECT iif(plugins IS NOT NULL AND NOT others, '', coalesce(code || ', ', '')) || "
        "coalesce(substr(plugins, 1, 40) || ', ', '') || started AS words FROM (SELECT started, "
        "(SELECT group_concat(DISTINCT " PLUGIN_SQL ") FROM kernels WHERE run = runs.id AND "
        "role = 'plugin') AS plugins, EXISTS (SELECT 1 FROM kernels WHERE run = runs.id AND "
        "role IS NOT 'plugin') AS others, (SELECT 'commit ' || substr(value, 1, 12) || "
        "iif(EXISTS (SELECT 1 FROM facts WHERE run = runs.id AND name = 'git_dirty' AND value = "
        "'yes'), ' and more', '') FROM facts WHERE run = runs.id AND name = 'git_commit' AND "
        "value <> 'unknown') AS code FROM runs WHERE id = ?1)";
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
