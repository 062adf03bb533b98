#include "commands/choose/check.h"
#include "base/allocate.h"
#include "commands/choose/class.h"
#include "domain/coverage.h"
#include "domain/convention.h"
#include "domain/kernel_json.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What a choice from stored times may cost: more than the noise of one run, less than a class. */
static const double allowed = 1.1;

/* One call beside the best of its class. */
typedef struct checked_call {
    case_key key;
    accuracy_class class;
    const char *regime;
    char best[NAME_MAX_LENGTH]; /* "": none is known to be of the class */
    speed_pair pair;            /* the call's time / the best's */
} checked_call;

typedef struct checking {
    result_store *store;
    stored_run run;
    machine_facts machine;
    stored_cases cases;
    json_t *kernels;
    checked_call *calls;
    size_t count, compared, slower;
} checking;

static bool is_slow(const checked_call *call)
{
    return call->pair.lo > allowed;
}

/* Of "library_fast_f32": the second word. */
static accuracy_class class_of(const char *kernel)
{
    const char *word = strchr(kernel, '_');
    for (int class = CLASS_FAST; word && class <= CLASS_EXACT; class ++) {
        const char *name = class_name((accuracy_class) class);
        if (strncmp(word + 1, name, strlen(name)) == 0)
            return (accuracy_class) class;
    }
    return CLASS_ANY;
}

static bool is_timed_call(const checking *check, size_t i)
{
    const stored_case *stored = &check->cases.cases[i];
    return stored->repetition_count > 0 && kernel_is_call(check->kernels, stored->key.kernel);
}

static bool has_calls(const checking *check)
{
    for (size_t i = 0; i < check->cases.count; i++)
        if (is_timed_call(check, i))
            return true;
    return false;
}

static void run_free(checking *check)
{
    machine_free(&check->machine);
    stored_cases_free(&check->cases);
    json_decref(check->kernels);
    check->machine = (machine_facts){0};
    check->cases = (stored_cases){0};
    check->kernels = NULL;
}

static bool read_run(checking *check, const stored_run *run, error *err)
{
    check->run = *run;
    return store_machine(check->store, run->id, &check->machine, err) &&
           store_cases(check->store, run->id, &check->cases, err) &&
           store_descriptors(check->store, run->id, NULL, &check->kernels, err);
}

/* The latest that timed calls. */
static bool find_run(checking *check, const char *database, error *err)
{
    stored_run *runs;
    size_t count;
    bool fine = store_runs(check->store, &runs, &count, err), found = false;
    for (size_t i = fine ? count : 0; fine && !found && i > 0; i--) {
        run_free(check);
        fine = read_run(check, &runs[i - 1], err);
        found = fine && has_calls(check);
    }
    if (fine)
        free(runs);
    return found ||
           (fine && fail(err, EXIT_CODE_ENVIRONMENT,
                         "%.200s: no run has timed ln_layernorm(): lnbench run first", database));
}

/* The index of the case with this kernel in the evidence's group. */
static size_t find_case(const kernel_evidence *evidence, const char *kernel)
{
    size_t i = 0;
    while (i < evidence->cases.count &&
           !(is_of_group(&evidence->cases.cases[i].key, &evidence->group) &&
             strcmp(evidence->cases.cases[i].key.kernel, kernel) == 0))
        i++;
    return i;
}

/* Of the same rounds, with parameters of the same type: one look at the store is enough for both. */
static bool is_beside(const checking *check, size_t a, size_t b)
{
    const case_key *left = &check->cases.cases[a].key, *right = &check->cases.cases[b].key;
    return is_of_group(left, right) &&
           strcmp(descriptor_word(check->kernels, left->kernel, "param"),
                  descriptor_word(check->kernels, right->kernel, "param")) == 0;
}

static void check_call(checking *check, const kernel_evidence *evidence, choose_wanted *wanted,
                       const case_key *key)
{
    checked_call *call = &check->calls[check->count++];
    kernel_choice choice;
    wanted->class = class_of(key->kernel);
    *call = (checked_call){.key = *key,
                           .class = wanted->class,
                           .regime =
                               machine_regime(&check->machine, key->rows, key->hidden, key->dtype),
                           .pair = {NAN, NAN, NAN}};
    choice_make(wanted, evidence, &choice);
    if (choice.best) {
        const stored_case *best = choice.best->view.stored;
        snprintf(call->best, sizeof call->best, "%s", best->key.kernel);
        call->pair = speed_of_pair(&evidence->cases, find_case(evidence, key->kernel),
                                   (size_t)(best - evidence->cases.cases));
    }
    choice_free(&choice);
    check->compared += isnan(call->pair.ratio) ? 0 : 1;
    check->slower += is_slow(call) ? 1 : 0;
}

/* All calls beside this one. */
static bool check_group(checking *check, size_t first, error *err)
{
    const case_key *key = &check->cases.cases[first].key;
    kernel_evidence evidence;
    choose_wanted wanted = {.rows = key->rows,
                            .hidden = key->hidden,
                            .dtype = key->dtype,
                            .cache = key->cache,
                            .time_on = key->input,
                            .threads = key->threads,
                            .budget = {NAN, NAN, NAN, NAN, NAN, false},
                            .every_input = true,
                            .callable = true,
                            .param = descriptor_word(check->kernels, key->kernel, "param"),
                            .run = check->run.id};
    snprintf(wanted.convention_label, sizeof wanted.convention_label, "%s", key->convention);
    if (!convention_parse(key->convention, &wanted.convention, err) ||
        !evidence_gather(check->store, &wanted, &check->machine, &evidence, err))
        return false;
    for (size_t i = first; i < check->cases.count; i++)
        if (is_timed_call(check, i) && is_beside(check, i, first))
            check_call(check, &evidence, &wanted, &check->cases.cases[i].key);
    evidence_free(&evidence);
    return true;
}

static bool is_first_of_group(const checking *check, size_t i)
{
    for (size_t before = 0; before < i; before++)
        if (is_timed_call(check, before) && is_beside(check, before, i))
            return false;
    return is_timed_call(check, i);
}

static bool check_calls(checking *check, error *err)
{
    check->calls = allocate_zeroed(check->cases.count + 1, sizeof *check->calls);
    bool fine = true;
    for (size_t i = 0; fine && i < check->cases.count; i++)
        if (check->cases.cases[i].repetition_count > 0 && is_first_of_group(check, i))
            fine = check_group(check, i, err);
    return fine;
}

static json_t *calls_json(const checking *check)
{
    json_t *calls = json_array();
    for (size_t i = 0; i < check->count; i++) {
        const checked_call *call = &check->calls[i];
        json_array_append_new(
            calls,
            json_pack("{s:s, s:I, s:I, s:s, s:s, s:s, s:i, s:s?, s:o, s:o, s:o, s:b}", "call",
                      call->key.kernel, "rows", (json_int_t)call->key.rows, "hidden",
                      (json_int_t)call->key.hidden, "regime", call->regime, "convention",
                      call->key.convention, "cache", cache_name(call->key.cache), "threads",
                      (int)call->key.threads, "best", call->best[0] ? call->best : NULL, "ratio",
                      json_figure(call->pair.ratio), "ratio_lo", json_figure(call->pair.lo),
                      "ratio_hi", json_figure(call->pair.hi), "slower", is_slow(call)));
    }
    return json_pack("{s:s, s:I, s:f, s:o}", "schema", "lnbench-dispatch-check-1", "run",
                     (json_int_t)check->run.id, "allowed", allowed, "calls", calls);
}

static bool print_calls(const checking *check, bool all, const output_file *out, error *err)
{
    static const char *const headings[] = {"call",      "shape",   "regime",           "threads",
                                           "time/best", "95 % CI", "best of the class"};
    text_table *table = table_create(headings, 7);
    for (size_t i = 0; i < check->count; i++) {
        const checked_call *call = &check->calls[i];
        if (!all && !is_slow(call) && !output_is_data(out))
            continue;
        table_cell(table, call->key.kernel);
        table_format(table, "%zux%zu", call->key.rows, call->key.hidden);
        table_cell(table, call->regime);
        table_format(table, "%u", call->key.threads);
        if (isnan(call->pair.ratio)) {
            table_cells(table, "-", "-");
        } else {
            table_format(table, "%.3f", call->pair.ratio);
            table_format(table, "[%.3f, %.3f]", call->pair.lo, call->pair.hi);
        }
        table_cell(table, call->best[0] ? call->best : "none is known to be of it");
    }
    output_heading(out, "ln_layernorm() beside the fastest kernel of its class, run %lld",
                   (long long)check->run.id);
    if (!all && check->slower == 0 && !output_is_data(out)) {
        table_destroy(table);
    } else if (!output_table(out, table, err)) {
        return false;
    }
    output_line(out, "%zu of %zu calls compared; %zu slower by more than %.1f.", check->compared,
                check->count, check->slower, allowed);
    return true;
}

/* Calls that the run was asked to time and did not. */
static bool check_lost(checking *check, bool allow_lost, error *err)
{
    asked_case *lost;
    size_t count;
    coverage covered = {.asked = check->count, .done = check->count};
    text_buffer line = {0};
    if (!store_lost(check->store, check->run.id, &lost, &count, err))
        return false;
    for (size_t i = 0; i < count; i++)
        if (kernel_is_call(check->kernels, lost[i].key.kernel) && (lost[i].parts & ASKED_TO_TIME)) {
            char what[NAME_MAX_LENGTH + 64];
            snprintf(what, sizeof what, "%s %zux%zu", lost[i].key.kernel, lost[i].key.rows,
                     lost[i].key.hidden);
            coverage_lose(&covered, what, lost[i].reason);
            covered.asked++;
        }
    free(lost);
    coverage_add_line(&line, &covered, "timed");
    if (covered.lost > 0 && allow_lost)
        output_note("%s", line.bytes);
    else if (covered.lost > 0)
        fail(err, EXIT_CODE_ENVIRONMENT, "run %lld: %.700s: run again, or --allow-lost",
             (long long)check->run.id, line.bytes);
    text_free(&line);
    coverage_free(&covered);
    return err->code == EXIT_CODE_FINE;
}

bool dispatch_check(const char *database, bool all, bool allow_lost, const output_file *out,
                    error *err)
{
    checking check = {0};
    bool fine = store_open(database, STORE_READ, &check.store, err) &&
                find_run(&check, database, err) && check_calls(&check, err) &&
                (out->format == OUTPUT_JSON ? output_json(out, calls_json(&check), err)
                                            : print_calls(&check, all, out, err)) &&
                check_lost(&check, allow_lost, err);
    if (fine && check.compared == 0)
        fine = fail(err, EXIT_CODE_INCONCLUSIVE,
                    "run %lld: no call has a kernel of its class beside it: a whole plan has",
                    (long long)check.run.id);
    else if (fine && check.slower > 0)
        fine = fail(err, EXIT_CODE_REGRESSION,
                    "ln_layernorm() takes a kernel that is slower than the best of its class in "
                    "%zu of %zu cases: choose --emit c --class all makes the table anew",
                    check.slower, check.compared);
    run_free(&check);
    free(check.calls);
    store_close(check.store);
    return fine;
}
