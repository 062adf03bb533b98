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

static bool has_commit(result_store *store, int64_t run, const char *prefix)
{
    machine_facts machine = store_machine(store, run);
    bool has = strncasecmp(machine_fact_value(&machine, "git_commit"), prefix, strlen(prefix)) == 0;
    machine_free(&machine);
    return has;
}

/* Of the runs of a commit the latest that has anything in it. */
static int64_t find_commit(result_store *store, const stored_run *runs, size_t count,
                           const char *prefix)
{
    for (size_t i = count; i-- > 0;)
        if (runs[i].cases > 0 && has_commit(store, runs[i].id, prefix))
            return runs[i].id;
    return 0;
}

static void identity_of(result_store *store, int64_t run, char identity[MACHINE_IDENTITY_LENGTH])
{
    machine_facts machine = store_machine(store, run);
    machine_identity(&machine, identity);
    machine_free(&machine);
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
static bool asked_alike(result_store *store, const stored_run *a, const stored_run *b)
{
    if (a->request_hash[0] && b->request_hash[0])
        return strcmp(a->request_hash, b->request_hash) == 0;
    return strcmp(a->plan, b->plan) == 0 && a->seed == b->seed &&
           store_case_set(store, a->id) == store_case_set(store, b->id);
}

/* The newest before the latest, of the same request on the same machine; 0: there is none. */
static int64_t find_previous(result_store *store, const stored_run *runs, size_t count,
                             const stored_run *latest)
{
    char own[MACHINE_IDENTITY_LENGTH], other[MACHINE_IDENTITY_LENGTH];
    identity_of(store, latest->id, own);
    for (const stored_run *run = newest(runs, count, latest); run; run = newest(runs, count, run)) {
        identity_of(store, run->id, other);
        if (strcmp(own, other) == 0 && asked_alike(store, latest, run))
            return run->id;
    }
    return 0;
}

/* "latest" and "previous". */
static int64_t find_by_time(result_store *store, const stored_run *runs, size_t count,
                            bool previous, const char *database)
{
    const stored_run *latest = newest(runs, count, NULL);
    if (!latest)
        die(EXIT_CODE_NOT_COMPARABLE, "%s: it holds no run of lnbench run yet: make one", database);
    int64_t found = previous ? find_previous(store, runs, count, latest) : latest->id;
    if (found == 0)
        die(EXIT_CODE_NOT_COMPARABLE,
            "%s: no run before run %lld asked for the same on the same machine: repeat it, or name "
            "two runs (lnbench list runs)",
            database, (long long)latest->id);
    return found;
}

static int64_t find_stored(result_store *store, const char *word, const char *database)
{
    stored_run *runs;
    int64_t run = 0;
    size_t count = store_runs(store, &runs);
    bool previous = strcmp(word, "previous") == 0;
    if (previous || strcmp(word, "latest") == 0)
        run = find_by_time(store, runs, count, previous, database);
    else if (count > 0 && is_number(word) && strtoll(word, NULL, 10) <= runs[count - 1].id)
        run = strtoll(word, NULL, 10); /* store_run() says it where it is not there */
    else
        run = find_commit(store, runs, count, word);
    if (run == 0)
        die(EXIT_CODE_ENVIRONMENT,
            "%s: %.60s: no run of this number or commit: lnbench list runs shows them", database,
            word);
    free(runs);
    return run;
}

static run_view from_store(const char *word, const char *database)
{
    result_store *store = store_open(database, STORE_READ);
    run_view view = view_load(store, find_stored(store, word, database));
    view.owns_store = true;
    return view;
}

static run_view from_file(const char *path)
{
    run_file file = run_file_open(path); /* its temporary copy goes at the end of the program */
    run_view view = load_stored_run(file.database, 0);
    view.run.id = 0; /* it is no run of the user's store */
    return view;
}

run_view run_find(const char *word, const char *database)
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
