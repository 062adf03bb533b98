/* A stored run in memory, and as JSON. */
#include "show/run_view.h"
#include "show/answer.h"
#include "store/store.h"
#include "domain/operation.h"
#include "base/arena.h"
#include "domain/kernel.h"
#include "domain/case.h"
#include "base/text.h"
#include <math.h>
#include <string.h>

json_t *store_descriptors(result_store *store, int64_t run)
{
    char *text = store_kernels_json(store, run);
    json_error_t where;
    json_t *kernels = json_loads(text, JSON_REJECT_DUPLICATES, &where);
    free(text);
    if (!kernels)
        die(EXIT_CODE_ENVIRONMENT,
            "run %lld: a kernel's descriptor cannot be read as JSON (%s): the database is damaged",
            (long long)run, where.text);
    /* A name that is cut off where cases have it would be another kernel's. */
    size_t index;
    const json_t *kernel;
    json_array_foreach(kernels, index, kernel)
    {
        size_t length = json_string_length(json_object_get(kernel, "name"));
        if (length >= NAME_MAX_LENGTH)
            die(EXIT_CODE_ENVIRONMENT,
                "a kernel's name of %zu bytes, where %d are the most: the database is "
                "damaged",
                length, NAME_MAX_LENGTH - 1);
    }
    return kernels;
}

ln_operation view_operation(const run_view *part)
{
    return part->standings.count ? part->standings.standings[0].operation : LN_OPERATION_LAYERNORM;
}

bool view_next_part(const run_view *whole, run_view *part)
{
    kernel_standing *all = whole->standings.standings, *first = all;
    const size_t count = whole->standings.count;
    if (part->store)
        first = part->standings.standings + part->standings.count;
    if (part->store && first == all + count)
        return false;
    *part = *whole;
    part->owns_store = false;
    part->standings = (standing_list){.standings = first};
    part->others = 0;
    for (size_t i = 0; i < count; i++)
        if (all[i].operation == first->operation)
            part->standings.count++;
        else
            part->others |= OPERATION_BIT(all[i].operation);
    return true;
}

void store_kernel_words(result_store *store, int64_t run, const word_list *words, word_list *names)
{
    json_t *descriptors = store_descriptors(store, run), *descriptor;
    size_t index;
    kernel_list list = {
        .kernels = allocate_zeroed(json_array_size(descriptors) + 1, sizeof *list.kernels)};
    json_array_foreach(descriptors, index, descriptor)
    {
        kernel_entry *kernel = &list.kernels[list.count++];
        const char *name = json_string_value(json_object_get(descriptor, "name"));
        const char *version = json_string_value(json_object_get(descriptor, "version"));
        snprintf(kernel->facts.name, sizeof kernel->facts.name, "%s", name ? name : "");
        snprintf(kernel->version, sizeof kernel->version, "%s", version ? version : "");
    }
    kernel_words_named(&list, words, names);
    free(list.kernels);
    json_decref(descriptors);
}

run_view view_load(result_store *store, int64_t run)
{
    run_view view = {.store = store,
                     .run = store_run(store, run),
                     .machine = store_machine(store, run),
                     .cases = store_timed_cases(store, run, -1, false),
                     .kernels = store_descriptors(store, run),
                     .standings = store_standings(store, run)};
    answer_label(&view);
    return view;
}

const char *view_error_words(const run_view *view, const error_sum *sum, ln_type type,
                             char words[ERROR_WORDS])
{
    stored_case at;
    bool known = isinf(sum->error) && store_case(view->store, sum->at, &at);
    return error_in_words(sum->error, type, known ? &at.verdict : NULL, words);
}

void view_free(run_view *view)
{
    machine_free(&view->machine);
    stored_cases_free(&view->cases);
    free(view->standings.standings);
    json_decref(view->kernels);
    if (view->owns_store)
        store_close(view->store);
    *view = (struct run_view){0};
}

json_t *json_facts(const machine_facts *machine)
{
    json_t *object = json_object();
    for (size_t i = 0; i < machine->count; i++)
        json_object_set_new(object, machine->facts[i].name, json_text(machine->facts[i].value));
    return object;
}

bool view_is_partial(const run_view *view)
{
    return view->run.state != RUN_COMPLETE || view->run.counts.lost > 0;
}

void view_add_coverage(const run_view *view, text_buffer *out)
{
    const run_counts *counts = &view->run.counts;
    const bool ended = view->run.state == RUN_COMPLETE;
    coverage covered = {.asked = counts->asked, .declined = counts->declined};
    asked_case *lost;
    const size_t named = store_lost(view->store, view->run.id, &lost);
    for (size_t i = 0; i < named; i++) {
        const case_key *key = &lost[i].key;
        char name[2 * NAME_MAX_LENGTH + CONVENTION_MAX_LENGTH + INPUT_MAX_LENGTH];
        snprintf(name, sizeof name, "%s %s %s %zux%zu", key->kernel, key->convention, key->input,
                 key->rows, key->hidden);
        coverage_lose(&covered, name, lost[i].reason);
    }
    covered.lost = counts->lost;
    covered.done = counts->asked - counts->declined - counts->lost;
    if (counts->known)
        coverage_add_line(out, &covered, "judged");
    if (counts->known && !ended)
        text_add(out, "; ");
    if (!ended)
        text_format(out, "the run has not come to its end%s",
                    counts->known ? "" : ": what is missing is not known");
    coverage_free(&covered);
    free(lost);
}

json_t *verdict_json(const case_verdict *verdict)
{
    return json_pack("{s:s?, s:s, s:o}", "verdict", verdict_word(verdict->kind), "reason",
                     verdict_reason(verdict->kind), "detail", json_text(verdict->detail));
}

relation_value as_verdict(const case_verdict *verdict)
{
    char described[VERDICT_MAX_LENGTH];
    return as_json(verdict_json(verdict), verdict_describe(verdict, described, sizeof described));
}

relation_value as_class(const char *word)
{
    return as_json(reproducible_json(word), word);
}

json_t *case_json(const stored_case *stored, const char *label, const char *class,
                  const char *regime)
{
    const ln_metrics *measured = &stored->metrics;
    const usability usable = stored_usable(stored);
    json_t *object = case_key_json(&stored->key), *metrics = json_null();
    char hash[20]; /* 64 bits as hex: JSON numbers are exact to 53 bits only */
    snprintf(hash, sizeof hash, "%016llx", (unsigned long long)stored->output_hash);
    if (stored->judged && measured->elements > 0) { /* a kernel that crashed has no errors */
        /* The share of each bin: the edges are in results/README.md. */
        json_t *histogram = json_array();
        uint64_t all = 0;
        for (size_t i = 0; i < ULP_BINS; i++)
            all += measured->ulp_histogram[i];
        for (size_t i = 0; all > 0 && i < ULP_BINS; i++)
            json_array_append_new(histogram,
                                  json_real((double)measured->ulp_histogram[i] / (double)all));
        metrics = metrics_json(measured);
        json_object_set_new(metrics, "ulp_histogram", histogram);
    }
    json_object_update_new(
        object,
        json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "label",
                  label && label[0] ? json_text(label) : json_null(), "regime", json_text(regime),
                  "reproducibility", reproducible_json(class), "has_correct_digits",
                  usable == USABLE_UNKNOWN ? json_null() : json_boolean(usable == USABLE_YES),
                  "bound_row_ulp", json_figure(stored->bound_row_ulp), "output_hash",
                  stored->hashed ? json_string(hash) : json_null(), "metrics", metrics, "speed",
                  stored->speed.repetitions ? speed_json(&stored->speed) : json_null()));
    json_object_update_new(object, verdict_json(&stored->verdict));
    return object;
}

json_t *view_run_json(const run_view *view)
{
    json_t *array = json_array();
    stored_table ids = store_ask(view->store,
                                 "SELECT cases.id FROM cells JOIN cases ON cell = cells.id WHERE "
                                 "run = ?1 ORDER BY cases.id",
                                 "i", view->run.id);
    for (size_t i = 0; i < ids.rows; i++) {
        stored_case stored;
        const case_key *key = &stored.key;
        if (store_case(view->store, ids.cells[i].whole, &stored))
            json_array_append_new(
                array, case_json(&stored, descriptor_word(view->kernels, key->kernel, "label"),
                                 reproducible_stored(view->kernels, key->kernel),
                                 machine_regime(&view->machine, key->operation, key->rows,
                                                key->hidden, key->dtype)));
    }
    stored_table_free(&ids);
    return array;
}

run_view load_stored_run(const char *database, uint64_t wanted)
{
    result_store *store = store_open(database, STORE_READ);
    int64_t run = wanted ? (int64_t)wanted : store_latest_survey(store);
    run = run ? run : store_latest_run(store);
    if (run == 0)
        die(EXIT_CODE_ENVIRONMENT, "%s: holds no run yet: lnbench run makes one", database);
    run_view view = view_load(store, run);
    view.owns_store = true;
    return view;
}
