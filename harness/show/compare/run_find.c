#include "show/compare/run_find.h"
#include "base/text.h"
#include "store/run_file.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
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

static bool has_commit(result_store *store, int64_t run, const char *prefix, bool *has, error *err)
{
    machine_facts machine;
    if (!store_machine(store, run, &machine, err))
        return false;
    *has = strncasecmp(machine_fact_value(&machine, "git_commit"), prefix, strlen(prefix)) == 0;
    machine_free(&machine);
    return true;
}

/* Of the runs of a commit the latest that has anything in it. */
static bool find_commit(result_store *store, const stored_run *runs, size_t count,
                        const char *prefix, int64_t *found, error *err)
{
    *found = 0;
    for (size_t i = count; i-- > 0 && *found == 0;) {
        bool has;
        if (runs[i].cases == 0)
            continue;
        if (!has_commit(store, runs[i].id, prefix, &has, err))
            return false;
        *found = has ? runs[i].id : 0;
    }
    return true;
}

static bool identity_of(result_store *store, int64_t run, char identity[MACHINE_IDENTITY_LENGTH],
                        error *err)
{
    machine_facts machine;
    if (!store_machine(store, run, &machine, err))
        return false;
    machine_identity(&machine, identity);
    machine_free(&machine);
    return true;
}

/* Of `lnbench run`, and asked for anything: what choose and other commands store is not meant. Of
 * older runs the command line tells it. */
static bool is_of_run(const stored_run *run)
{
    const char *second = strchr(run->command_line, ' ');
    bool of_run = run->command[0] ? strcmp(run->command, "run") == 0
                                  : second && strncmp(second, " run", 4) == 0 &&
                                        (second[4] == ' ' || second[4] == '\0');
    return of_run && (run->cases > 0 || run->counts.asked > 0);
}

/* By the time at which they began: an import may be of an earlier day. */
static bool is_later(const stored_run *a, const stored_run *b)
{
    int order = strcmp(a->started, b->started);
    return order ? order > 0 : a->id > b->id;
}

/* The newest run of `lnbench run`, of those before a run where one is given; NULL: there is none. */
static const stored_run *newest(const stored_run *runs, size_t count, const stored_run *before)
{
    const stored_run *found = NULL;
    for (size_t i = 0; i < count; i++)
        if (is_of_run(&runs[i]) && (!before || is_later(before, &runs[i])) &&
            (!found || is_later(&runs[i], found)))
            found = &runs[i];
    return found;
}

/* Whether two runs were asked for the same, whatever library they ran: by their requests, or where
 * one does not say it, by the cases that they have. */
static bool asked_alike(result_store *store, const stored_run *a, const stored_run *b, bool *alike,
                        error *err)
{
    uint64_t own, other;
    bool known = a->request_hash[0] && b->request_hash[0];
    *alike = known ? strcmp(a->request_hash, b->request_hash) == 0
                   : strcmp(a->plan, b->plan) == 0 && a->seed == b->seed;
    if (known || !*alike)
        return true;
    if (!store_case_set(store, a->id, &own, err) || !store_case_set(store, b->id, &other, err))
        return false;
    *alike = own == other;
    return true;
}

/* The newest before the latest, of the same request on the same machine; 0: there is none. */
static bool find_previous(result_store *store, const stored_run *runs, size_t count,
                          const stored_run *latest, int64_t *found, error *err)
{
    char own[MACHINE_IDENTITY_LENGTH], other[MACHINE_IDENTITY_LENGTH];
    *found = 0;
    if (!identity_of(store, latest->id, own, err))
        return false;
    for (const stored_run *run = newest(runs, count, latest); run && *found == 0;
         run = newest(runs, count, run)) {
        bool alike;
        if (!asked_alike(store, latest, run, &alike, err) ||
            (alike && !identity_of(store, run->id, other, err)))
            return false;
        *found = alike && strcmp(own, other) == 0 ? run->id : 0;
    }
    return true;
}

/* "latest" and "previous". */
static bool find_by_time(result_store *store, const stored_run *runs, size_t count, bool previous,
                         const char *database, int64_t *found, error *err)
{
    const stored_run *latest = newest(runs, count, NULL);
    if (!latest)
        return fail(err, EXIT_CODE_NOT_COMPARABLE,
                    "%s: it holds no run of lnbench run yet: make one", database);
    *found = latest->id;
    if (!previous)
        return true;
    return find_previous(store, runs, count, latest, found, err) &&
           (*found != 0 ||
            fail(err, EXIT_CODE_NOT_COMPARABLE,
                 "%s: no run before run %lld asked for the same on the same machine: repeat it, or "
                 "name two runs (lnbench list runs)",
                 database, (long long)latest->id));
}

static bool find_stored(result_store *store, const char *word, const char *database, int64_t *run,
                        error *err)
{
    stored_run *runs = NULL;
    size_t count = 0;
    bool previous = strcmp(word, "previous") == 0, fine = store_runs(store, &runs, &count, err);
    *run = 0;
    if (fine && (previous || strcmp(word, "latest") == 0)) {
        fine = find_by_time(store, runs, count, previous, database, run, err);
    } else if (fine && count > 0 && is_number(word) &&
               strtoll(word, NULL, 10) <= runs[count - 1].id) {
        *run = strtoll(word, NULL, 10); /* view_load says it where it is not there */
    } else if (fine) {
        fine = find_commit(store, runs, count, word, run, err);
        if (fine && *run == 0)
            fine = fail(err, EXIT_CODE_ENVIRONMENT, "%s: %.60s: %s", database, word,
                        "no run of this number or commit: lnbench list runs shows them");
    }
    free(runs);
    return fine;
}

static bool from_store(const char *word, const char *database, run_view *view, error *err)
{
    result_store *store;
    int64_t run;
    if (!store_open(database, STORE_READ, &store, err))
        return false;
    bool fine = find_stored(store, word, database, &run, err) && view_load(store, run, view, err);
    view->owns_store = fine;
    if (!fine)
        store_close(store);
    return fine;
}

static bool from_file(const char *path, run_view *view, error *err)
{
    run_file file; /* its temporary copy goes at the end of the program */
    bool fine = run_file_open(&file, path, err) && load_stored_run(file.database, 0, view, err);
    view->run.id = 0; /* it is no run of the user's store */
    return fine;
}

bool run_find(const char *word, const char *database, run_view *view, error *err)
{
    *view = (struct run_view){0};
    if (strcmp(word, "latest") == 0 || strcmp(word, "previous") == 0 || is_number(word))
        return from_store(word, database, view, err);
    if (access(word, F_OK) == 0 || strpbrk(word, "/."))
        return from_file(word, view, err);
    if (is_commit(word))
        return from_store(word, database, view, err);
    return fail(err, EXIT_CODE_USAGE,
                "%.60s: neither a run's number, 'latest', 'previous', a commit (4 digits or more) "
                "nor a file",
                word);
}

void run_describe(const run_view *view, char *words, size_t size)
{
    const char *commit = machine_fact_value(&view->machine, "git_commit");
    const char *dirty = machine_fact_value(&view->machine, "git_dirty");
    bool known = strcmp(commit, "unknown") != 0;
    char number[32] = "";
    if (view->run.id)
        snprintf(number, sizeof number, "run %lld, ", (long long)view->run.id);
    snprintf(words, size, "%s%s%.12s%s%s%.31s", number, known ? "commit " : "", known ? commit : "",
             strcmp(dirty, "yes") == 0 ? " and more" : "", known ? ", " : "", view->run.started);
}
