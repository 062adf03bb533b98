#include "exchange/run_store.h"
#include <stdlib.h>

static bool put_kernels(result_store *store, int64_t run, const run_view *view, error *err)
{
    size_t index;
    json_t *kernel;
    json_array_foreach(view->kernels, index, kernel)
    {
        char *dumped = json_dumps(kernel, JSON_COMPACT);
        const char *name = json_string_value(json_object_get(kernel, "name"));
        bool fine = store_put_kernel(store, run, name, dumped, err);
        free(dumped);
        if (!fine)
            return false;
    }
    return true;
}

static bool put_case(result_store *store, int64_t run, const stored_case *stored, error *err)
{
    if (stored->judged && !store_put_judged(store, run, stored, err))
        return false;
    for (size_t i = 0; i < stored->repetition_count; i++)
        if (!store_put_repetition(store, run, &stored->key, &stored->repetitions[i], err))
            return false;
    return true;
}

/* Of a run that tells what it was asked for: what has a result was asked for. */
static bool put_asked(result_store *store, int64_t run, const stored_case *stored, error *err)
{
    asked_case asked = {.key = stored->key, .parts = stored->judged ? ASKED_TO_JUDGE : 0};
    asked.parts |= stored->repetition_count > 0 ? ASKED_TO_TIME : 0;
    return is_roof(stored->key.kernel) || store_put_asked(store, run, &asked, err);
}

/* What became of the cases is counted where they stand: a run that says something else is damaged. */
static bool check_counts(result_store *store, const run_view *view, const char *file, int64_t run,
                         error *err)
{
    stored_run stored;
    const run_counts *said = &view->run.counts;
    if (!store_run(store, run, &stored, err))
        return false;
    const run_counts *found = &stored.counts;
    return !said->known || (said->declined == found->declined && said->lost == found->lost) ||
           fail(err, EXIT_CODE_ENVIRONMENT,
                "%s: says that of %zu cases %zu are unsupported and %zu missing, and holds %zu "
                "unsupported "
                "and %zu missing: export the run again",
                file, said->asked, said->declined, said->lost, found->declined, found->lost);
}

bool run_store(result_store *store, const run_view *view, const char *file, const char *origin,
               int64_t *run, error *err)
{
    run_info info = {.command_line = view->run.command_line,
                     .plan = view->run.plan,
                     .plan_hash = view->run.plan_hash,
                     .seed = view->run.seed,
                     .machine = &view->machine,
                     .command = view->run.command,
                     .request_hash = view->run.request_hash,
                     .triples = view->run.triples,
                     .triples_covered = view->run.triples_covered};
    if (!store_import_run(store, &info, &view->run, origin, run, err) ||
        !put_kernels(store, *run, view, err))
        return false;
    for (size_t i = 0; i < view->cases.count; i++)
        if (!put_case(store, *run, &view->cases.cases[i], err) ||
            (view_has_worst(view, i) &&
             !store_put_worst(store, *run, &view->cases.cases[i].key, &view->worst[i], err)))
            return false;
    for (size_t i = 0; i < view->cases.count && view->run.counts.known; i++)
        if (!put_asked(store, *run, &view->cases.cases[i], err))
            return false;
    for (size_t i = 0; i < view->lost_count; i++)
        if (!store_put_asked(store, *run, &view->lost[i], err))
            return false;
    for (size_t i = 0; i < view->rows.count; i++) {
        const stored_row *row = &view->rows.rows[i];
        if (!store_put_row(store, *run, &view->cases.cases[row->case_index].key, row, err))
            return false;
    }
    return store_import_end(store, *run, view->unfinished, err) &&
           check_counts(store, view, file, *run, err);
}

/* A run that says no more of what is lost than its reasons: the store knows its own alone. */
static void keep_lost(run_view *read, run_view *view)
{
    free(view->lost);
    view->lost = read->lost;
    view->lost_count = read->lost_count;
    read->lost = NULL;
    read->lost_count = 0;
}

bool run_in_memory(const char *file, run_view *read, run_view *view, error *err)
{
    result_store *store;
    int64_t run;
    if (!store_open_memory(&store, err))
        return false;
    bool fine = store_together(store, err) &&
                store_together_end(store, run_store(store, read, file, "", &run, err), err) &&
                view_load(store, run, view, err);
    if (!fine) {
        store_close(store);
        return false;
    }
    view->owns_store = true;
    view->seal = read->seal;
    keep_lost(read, view);
    if (!read->worst || view_load_worst(store, view, err))
        return true;
    view_free(view);
    return false;
}
