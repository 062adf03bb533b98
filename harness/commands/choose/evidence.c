/* What the store knows for a choice: the run whose times are nearest, and what it says of its kernels. */
#include "domain/kernel.h"
#include "commands/choose/choose.h"
#include "domain/convention.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

bool evidence_is_estimate(const kernel_evidence *evidence)
{
    return !evidence->same_shape || !evidence->same_convention;
}

/* Whether results at one hidden size may stand for another. */
static bool hidden_is_near(size_t a, size_t b)
{
    return fabs(log2((double)a / (double)b)) <= 1;
}

size_t rows_to_time(size_t rows, size_t hidden, ln_type dtype, const machine_facts *machine)
{
    size_t row = 2 * hidden * dtype_size(dtype);
    size_t most = 256u << 20;
    if (most < 4 * machine->l3_bytes)
        most = 4 * machine->l3_bytes;
    size_t limit = most / row ? most / row : 1;
    return rows < limit ? rows : limit;
}

bool kernel_is_wanted(const choose_wanted *wanted, const char *kernel)
{
    bool any = !wanted->kernels || wanted->kernels->count == 0;
    for (size_t i = 0; !any && i < wanted->kernels->count; i++)
        any = kernel_name_matches(wanted->kernels->words[i], kernel);
    return any;
}

static bool is_library_now(const choose_wanted *wanted, const char *hash)
{
    bool now = !wanted->libraries;
    for (size_t i = 0; !now && i < wanted->libraries->count; i++)
        now = strcmp(wanted->libraries->words[i], hash) == 0;
    return now;
}

bool is_of_group(const case_key *a, const case_key *b)
{
    return case_key_beside(a, b) && !is_roof(a->kernel);
}

/* Divisor and eps enter once a row: where the affine form is the same, so is the time. */
static bool same_affine(const choose_wanted *wanted, const char *label)
{
    ln_convention convention;
    error ignored;
    return convention_parse(label, &convention, &ignored) &&
           convention.affine == wanted->convention.affine &&
           convention.weight == wanted->convention.weight;
}

/* Whether a timed shape may stand for the one wanted: same regime, hidden within a factor of 2,
 * and in L1, where the call itself counts, rows too. */
static bool shape_is_near(const choose_wanted *wanted, const case_key *key,
                          const machine_facts *machine)
{
    const char *regime = machine_regime(machine, wanted->convention.operation, wanted->rows,
                                        wanted->hidden, wanted->dtype);
    const char *theirs =
        machine_regime(machine, key->operation, key->rows, key->hidden, key->dtype);
    return strcmp(regime, theirs) == 0 && hidden_is_near(key->hidden, wanted->hidden) &&
           (strcmp(regime, "L1") != 0 || fabs(log2((double)key->rows / (double)wanted->rows)) <= 1);
}

/* The first thing in which a timed kernel is another than those wanted; NULL: it can stand for them. */
static const char *unlike(const choose_wanted *wanted, const timed_kernel *timed,
                          const machine_facts *machine)
{
    const case_key *key = &timed->key;
    return key->dtype != wanted->dtype ? "another type"
           : wanted->param && strcmp(timed->param, wanted->param) != 0
               ? "parameters of another type"
           : key->cache != wanted->cache                    ? "another cache state"
           : key->threads != wanted->threads                ? "other threads"
           : strcmp(key->input, wanted->time_on) != 0       ? "timed on other rows"
           : key->operation != wanted->convention.operation ? "another operation"
           : !same_affine(wanted, key->convention)          ? "another affine form"
           : !shape_is_near(wanted, key, machine)           ? "another shape"
           : !kernel_is_wanted(wanted, key->kernel)         ? "other kernels"
                                                            : NULL;
}

/* How far a timed group is from what is wanted; the smaller, the better, in this order; of kernels, which
 * were judged on such rows too, the more the better. */
typedef struct nearest_distance {
    double shape;
    bool other_convention, other_library;
    size_t kernels;
} nearest_distance;

static bool is_closer(const nearest_distance *a, const nearest_distance *b)
{
    if (a->shape != b->shape)
        return a->shape < b->shape;
    if (a->other_convention != b->other_convention)
        return !a->other_convention;
    if (a->other_library != b->other_library)
        return !a->other_library;
    return a->kernels > b->kernels;
}

static bool is_beside(const timed_kernel *a, const timed_kernel *b)
{
    return a->run == b->run && is_of_group(&a->key, &b->key);
}

static nearest_distance distance_of(const choose_wanted *wanted, const timed_kernel *all,
                                    size_t count, const timed_kernel *own)
{
    nearest_distance distance = {
        .shape = 8 * fabs(log2((double)own->key.hidden / (double)wanted->hidden)) +
                 fabs(log2((double)own->key.rows / (double)wanted->rows)),
        .other_convention = strcmp(own->key.convention, wanted->convention_label) != 0,
        .other_library = !is_library_now(wanted, own->object_hash)};
    for (size_t i = 0; i < count; i++)
        distance.kernels +=
            all[i].judged && is_beside(&all[i], own) && kernel_is_wanted(wanted, all[i].key.kernel);
    return distance;
}

/* The one whose group is nearest, of equals the latest; NULL: none can stand for those wanted. */
static const timed_kernel *find_nearest(const choose_wanted *wanted, const machine_facts *machine,
                                        const timed_kernel *all, size_t count,
                                        kernel_evidence *evidence)
{
    const timed_kernel *nearest = NULL;
    nearest_distance least = {0};
    for (size_t i = 0; i < count; i++) {
        if (unlike(wanted, &all[i], machine))
            continue;
        nearest_distance own = distance_of(wanted, all, count, &all[i]);
        if (nearest && !is_closer(&own, &least))
            continue;
        nearest = &all[i];
        least = own;
    }
    evidence->same_shape = least.shape == 0;
    evidence->same_convention = !least.other_convention;
    evidence->same_library = !least.other_library;
    return nearest;
}

/* The same convention without eps, which hides what a kernel does to rows of small variance; "" where it has
 * none. */
static void label_without_eps(const choose_wanted *wanted, char label[CONVENTION_MAX_LENGTH])
{
    ln_convention bare = wanted->convention;
    bool has_eps = bare.eps_place != LN_EPS_NONE;
    bare.eps_place = LN_EPS_NONE;
    bare.eps = 0;
    label[0] = '\0';
    if (has_eps)
        convention_label(&bare, label);
}

static bool gather_errors(result_store *store, const choose_wanted *wanted,
                          const errors_wanted *errors, kernel_evidence *evidence, error *err)
{
    return store_errors_near(store, errors, &evidence->errors, &evidence->error_count, err) &&
           (wanted->class == CLASS_ANY ||
            store_class(store, errors, class_name(wanted->class), &evidence->breaches,
                        &evidence->breach_count, err));
}

/* Labels are those of the answer of the whole run. */
static void label_kernels(const kernel_evidence *evidence)
{
    run_view view = {.run = evidence->run,
                     .machine = evidence->machine,
                     .cases = evidence->cases,
                     .kernels = evidence->kernels,
                     .standings = evidence->standings};
    view_sum_up(&view);
    free(view.views);
}

static bool gather_run(result_store *store, const choose_wanted *wanted,
                       const errors_wanted *errors, kernel_evidence *evidence, error *err)
{
    int64_t run = errors->run;
    return store_run(store, run, &evidence->run, err) &&
           store_machine(store, run, &evidence->machine, err) &&
           store_cases(store, run, &evidence->cases, err) &&
           store_descriptors(store, run, NULL, &evidence->kernels, err) &&
           store_standings(store, run,
                           isnan(wanted->budget.row_ulp) ? INFINITY : wanted->budget.row_ulp,
                           &evidence->standings, err) &&
           store_lost(store, run, &evidence->lost, &evidence->lost_count, err) &&
           gather_errors(store, wanted, errors, evidence, err);
}

/* "run 3 of it timed 85x768 f32, torch: another shape" */
static void say_unlike(const choose_wanted *wanted, const machine_facts *machine,
                       const timed_kernel *own, kernel_evidence *evidence)
{
    snprintf(evidence->unlike, sizeof evidence->unlike, "run %lld of it timed %zux%zu %s, %s: %s",
             (long long)own->run, own->key.rows, own->key.hidden, dtype_name(own->key.dtype),
             own->key.convention, unlike(wanted, own, machine));
}

/* "run 7 is of the same CPU; another build of the library (gcc 13.2.0): --run 7 asks it" */
static bool say_elsewhere(result_store *store, const machine_facts *here, kernel_evidence *evidence,
                          error *err)
{
    machine_facts there = {0};
    int64_t run;
    if (!store_latest_run(store, &run, err) || (run && !store_machine(store, run, &there, err)))
        return false;
    const char *fact = machine_difference(&there, here);
    if (run && fact) {
        const char *value = machine_fact_value(&there, fact);
        const char *what = strcmp(fact, "cpu_model") == 0 ? "another CPU"
                           : strcmp(fact, "compiler") == 0
                               ? "the same CPU; another build of the library"
                           : strstr(fact, "_bytes") ? "the same CPU; other caches"
                                                    : "the same CPU; run in another way";
        snprintf(evidence->unlike, sizeof evidence->unlike,
                 "run %lld is of %s (%s: %.60s): --run %lld asks it", (long long)run, what, fact,
                 value, (long long)run);
    }
    machine_free(&there);
    return true;
}

bool evidence_gather(result_store *store, const choose_wanted *wanted, const machine_facts *machine,
                     kernel_evidence *evidence, error *err)
{
    char key[MACHINE_KEY_LENGTH], bare[CONVENTION_MAX_LENGTH];
    errors_wanted errors = {.run = wanted->run,
                            .dtype = wanted->dtype,
                            .convention = wanted->convention_label,
                            .without_eps = bare,
                            .hidden = wanted->hidden,
                            .kappa = wanted->budget.kappa,
                            .of_cases = !isnan(wanted->budget.ulp) ||
                                        !isnan(wanted->budget.correctly_rounded)};
    timed_kernel *all;
    size_t count;
    label_without_eps(wanted, bare);
    *evidence = (struct kernel_evidence){.unlike = "no run has times"};
    bool fine = store_timed_kernels(store, &errors, machine_key(machine, key), &all, &count, err);
    const timed_kernel *nearest = fine ? find_nearest(wanted, machine, all, count, evidence) : NULL;
    if (nearest) {
        evidence->timed = true;
        evidence->group = nearest->key;
        errors.run = nearest->run;
        fine = gather_run(store, wanted, &errors, evidence, err);
        if (fine)
            label_kernels(evidence);
    } else if (fine && count > 0) {
        say_unlike(wanted, machine, &all[0], evidence);
    } else if (fine) {
        fine = say_elsewhere(store, machine, evidence, err);
    }
    free(all);
    if (!fine)
        evidence_free(evidence);
    return fine;
}

void evidence_free(kernel_evidence *evidence)
{
    machine_free(&evidence->machine);
    stored_cases_free(&evidence->cases);
    json_decref(evidence->kernels);
    free(evidence->standings.standings);
    free(evidence->errors);
    free(evidence->breaches);
    free(evidence->lost);
    *evidence = (struct kernel_evidence){0};
}
