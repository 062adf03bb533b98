/* What the store knows of this machine: one group of timed kernels, and errors. */
#include "domain/kernel_json.h"
#include "base/allocate.h"
#include "base/hash.h"
#include "domain/kernel_name.h"
#include "commands/choose/class.h"
#include "domain/convention.h"
#include "inputs/offset.h"
#include "base/number.h"
#include <math.h>
#include <string.h>

bool evidence_is_estimate(const kernel_evidence *evidence)
{
    return !evidence->same_shape || !evidence->same_convention;
}

bool hidden_is_near(size_t a, size_t b)
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

bool param_is_wanted(const choose_wanted *wanted, const json_t *kernels, const char *kernel)
{
    return !wanted->param || strcmp(wanted->param, descriptor_word(kernels, kernel, "param")) == 0;
}

static bool is_library_now(const choose_wanted *wanted, const char *hash)
{
    bool now = !wanted->libraries;
    for (size_t i = 0; !now && i < wanted->libraries->count; i++)
        now = strcmp(wanted->libraries->words[i], hash) == 0;
    return now;
}

/* How far a timed group is from what is wanted; the smaller, the better, in this order. */
typedef struct nearest_distance {
    bool usable;
    bool other_shape, other_convention, other_library;
    double shape;
    size_t missing; /* SIZE_MAX - kernels timed */
} nearest_distance;

static bool is_closer(const nearest_distance *a, const nearest_distance *b)
{
    if (!a->usable || !b->usable)
        return a->usable && !b->usable;
    if (a->other_shape != b->other_shape)
        return !a->other_shape;
    if (a->shape != b->shape)
        return a->shape < b->shape;
    if (a->other_convention != b->other_convention)
        return !a->other_convention;
    if (a->other_library != b->other_library)
        return !a->other_library;
    return a->missing < b->missing;
}

/* Divisor and eps enter once a row: where the affine form is the same, so is the time. */
static bool same_affine(const choose_wanted *wanted, const char *label)
{
    ln_convention convention;
    error ignored;
    return convention_parse(label, &convention, &ignored) &&
           convention.affine == wanted->convention.affine;
}

/* Whether a timed shape may stand for the one wanted: same regime, hidden within a factor of 2,
 * and in L1, where the call itself counts, rows too. */
static bool shape_is_near(const choose_wanted *wanted, const case_key *key,
                          const machine_facts *machine)
{
    const char *regime = machine_regime(machine, wanted->rows, wanted->hidden, wanted->dtype);
    const char *theirs = machine_regime(machine, key->rows, key->hidden, key->dtype);
    return strcmp(regime, theirs) == 0 && hidden_is_near(key->hidden, wanted->hidden) &&
           (strcmp(regime, "L1") != 0 || fabs(log2((double)key->rows / (double)wanted->rows)) <= 1);
}

/* Timed in two processes at least: one alone, such as an interrupted run may leave, has no
 * interval.
 */
static bool is_timed(const stored_case *stored)
{
    for (size_t i = 1; !is_roof(stored->key.kernel) && i < stored->repetition_count; i++)
        if (stored->repetitions[i].process != stored->repetitions[0].process)
            return true;
    return false;
}

bool is_of_group(const case_key *a, const case_key *b)
{
    return case_key_beside(a, b) && !is_roof(a->kernel);
}

static nearest_distance distance_of(const choose_wanted *wanted, const stored_cases *cases,
                                    size_t index, const json_t *kernels,
                                    const machine_facts *machine)
{
    const case_key *key = &cases->cases[index].key;
    nearest_distance distance = {.missing = SIZE_MAX};
    if (!is_timed(&cases->cases[index]) || !kernel_is_wanted(wanted, key->kernel) ||
        key->dtype != wanted->dtype || key->cache != wanted->cache ||
        key->threads != wanted->threads || strcmp(key->input, wanted->time_on) != 0 ||
        !param_is_wanted(wanted, kernels, key->kernel) || !shape_is_near(wanted, key, machine))
        return distance;
    distance.other_convention = strcmp(key->convention, wanted->convention_label) != 0;
    if (distance.other_convention && !same_affine(wanted, key->convention))
        return distance;
    distance.usable = true;
    distance.other_shape = key->rows != wanted->rows || key->hidden != wanted->hidden;
    distance.shape = 8 * fabs(log2((double)key->hidden / (double)wanted->hidden)) +
                     fabs(log2((double)key->rows / (double)wanted->rows));
    distance.other_library = !is_library_now(wanted, descriptor_hash(kernels, key->kernel));
    for (size_t i = 0; i < cases->count; i++)
        distance.missing -= is_timed(&cases->cases[i]) && is_of_group(&cases->cases[i].key, key) &&
                            kernel_is_wanted(wanted, cases->cases[i].key.kernel);
    return distance;
}

bool choose_without_eps(const choose_wanted *wanted, choose_wanted *bare)
{
    if (wanted->convention.eps_place == LN_EPS_NONE)
        return false;
    *bare = *wanted;
    bare->convention.eps_place = LN_EPS_NONE;
    bare->convention.eps = 0;
    convention_label(&bare->convention, bare->convention_label);
    return true;
}

/* The evidence's facts, or those without eps. */
static accuracy_fact *add_fact(kernel_evidence *evidence, bool bare)
{
    accuracy_fact **facts = bare ? &evidence->bare_facts : &evidence->facts;
    size_t *end = bare ? &evidence->bare_count : &evidence->fact_count;
    *facts = allocate_room(*facts, *end, sizeof **facts);
    accuracy_fact *fact = &(*facts)[(*end)++];
    *fact = (accuracy_fact){
        .row_ulp = NAN, .bound = NAN, .ulp = NAN, .correctly_rounded = NAN, .bits = NAN};
    return fact;
}

/* A run that was given a limit of its own (run --max-row-ulp) calls a kernel inaccurate that
 * keeps all its promises. */
static bool is_of_a_limit(const case_verdict *verdict)
{
    return verdict->kind == VERDICT_INACCURATE && strstr(verdict->detail, "above the limit");
}

static bool is_wrong(const case_verdict *verdict)
{
    return (verdict->kind == VERDICT_INACCURATE || verdict->kind == VERDICT_WRONG_CLASS) &&
           !is_of_a_limit(verdict);
}

/* kappa of "offset:KAPPA"; 0 for normal rows; NaN for any other input. */
static double asked_kappa(const char *input)
{
    static const char offset[] = "offset:";
    double kappa;
    if (strcmp(input, "normal") == 0)
        return 0;
    if (strncmp(input, offset, strlen(offset)) == 0 &&
        number_parse(input + strlen(offset), strlen(input) - strlen(offset), &kappa))
        return kappa;
    return NAN;
}

/* Errors are the same bits in every run of a library: an older run's add nothing but faults, which may
 * come once in a while. */
static bool is_known(const stored_case *stored, const char *object_hash, size_t row,
                     kernel_evidence *evidence)
{
    bool added = true;
    uint64_t hash = hash_bytes(case_key_hash(&stored->key), object_hash, strlen(object_hash));
    hash = hash_bytes(hash, &row, sizeof row);
    return hash_set_add(&evidence->known, hash, &added) && !added;
}

static void add_case_fact(const stored_case *stored, const json_t *kernels, int64_t run, bool bare,
                          kernel_evidence *evidence)
{
    bool fault =
        verdict_exit_code(&stored->verdict) != EXIT_CODE_FINE && !is_of_a_limit(&stored->verdict);
    double kappa = asked_kappa(stored->key.input);
    const char *object_hash = descriptor_hash(kernels, stored->key.kernel);
    if (is_known(stored, object_hash, SIZE_MAX, evidence) && !fault)
        return;
    accuracy_fact *fact = add_fact(evidence, bare);
    const ln_metrics *metrics = &stored->metrics;
    snprintf(fact->kernel, sizeof fact->kernel, "%s", stored->key.kernel);
    snprintf(fact->object_hash, sizeof fact->object_hash, "%s", object_hash);
    snprintf(fact->input, sizeof fact->input, "%s", stored->key.input);
    fact->is_peer = kernel_is_peer(kernels, fact->kernel);
    fact->hidden = stored->key.hidden;
    fact->kappa = kappa;
    fact->verdict = stored->verdict;
    fact->fault = fault;
    fact->without_claim = !fault && is_wrong(&stored->verdict);
    fact->run = run;
    if (metrics->elements > 0) {
        fact->row_ulp = metrics->row_ulp_max;
        fact->bound = stored->bound_row_ulp;
        fact->ulp = metrics->ulp_max;
        fact->correctly_rounded = metrics->correctly_rounded;
        fact->bits = metrics->bits;
    }
}

/* Rows of the sweep tell more than their case, which is as bad as its worst row. */
static void add_row_fact(const stored_case *stored, const stored_row *row, const json_t *kernels,
                         int64_t run, kernel_evidence *evidence)
{
    const char *object_hash = descriptor_hash(kernels, stored->key.kernel);
    if (strcmp(stored->key.input, "offset") != 0 ||
        is_known(stored, object_hash, row->row, evidence))
        return;
    accuracy_fact *fact = add_fact(evidence, false);
    snprintf(fact->kernel, sizeof fact->kernel, "%s", stored->key.kernel);
    snprintf(fact->object_hash, sizeof fact->object_hash, "%s", object_hash);
    snprintf(fact->input, sizeof fact->input, "offset");
    fact->is_peer = kernel_is_peer(kernels, fact->kernel);
    fact->hidden = stored->key.hidden;
    fact->kappa = offset_sweep_kappa(stored->key.dtype, row->row);
    fact->row_ulp = row->row_ulp;
    fact->bound = row->bound_row_ulp;
    fact->bits = row->norm_max > 0 ? fmin(-log2(row->norm_max), 53) : 53;
    fact->verdict.kind = VERDICT_OK;
    fact->run = run;
}

static bool is_about(const choose_wanted *wanted, const stored_case *stored)
{
    return stored->judged && stored->key.dtype == wanted->dtype && !is_roof(stored->key.kernel) &&
           strcmp(stored->key.convention, wanted->convention_label) == 0 &&
           kernel_is_wanted(wanted, stored->key.kernel);
}

static void gather_facts(const choose_wanted *wanted, const stored_cases *cases,
                         const stored_rows *rows, const json_t *kernels, int64_t run,
                         kernel_evidence *evidence)
{
    choose_wanted bare;
    bool has_bare = choose_without_eps(wanted, &bare);
    for (size_t i = 0; i < cases->count; i++) {
        bool is_bare = has_bare && is_about(&bare, &cases->cases[i]);
        if (is_bare || is_about(wanted, &cases->cases[i]))
            add_case_fact(&cases->cases[i], kernels, run, is_bare, evidence);
    }
    for (size_t i = 0; i < rows->count; i++) {
        const stored_case *stored = &cases->cases[rows->rows[i].case_index];
        if (is_about(wanted, stored))
            add_row_fact(stored, &rows->rows[i], kernels, run, evidence);
    }
}

/* One run while it is looked through. */
typedef struct looked_at {
    stored_run run;
    machine_facts machine;
    stored_cases cases;
    stored_rows rows;
    json_t *kernels;
} looked_at;

static void looked_at_free(looked_at *seen)
{
    machine_free(&seen->machine);
    stored_cases_free(&seen->cases);
    stored_rows_free(&seen->rows);
    json_decref(seen->kernels);
}

static bool look_at(result_store *store, const stored_run *run, looked_at *seen, error *err)
{
    seen->run = *run;
    return store_cases(store, run->id, &seen->cases, err) &&
           store_rows(store, run->id, &seen->rows, err) &&
           store_descriptors(store, run->id, NULL, &seen->kernels, err);
}

/* The run's nearest timed group becomes the evidence's where it is nearer than what there is. */
static void offer_group(const choose_wanted *wanted, const machine_facts *machine, looked_at *seen,
                        nearest_distance *nearest, kernel_evidence *evidence)
{
    size_t found = seen->cases.count;
    for (size_t i = 0; i < seen->cases.count; i++) {
        nearest_distance distance = distance_of(wanted, &seen->cases, i, seen->kernels, machine);
        if (is_closer(&distance, nearest)) {
            *nearest = distance;
            found = i;
        }
    }
    if (found == seen->cases.count)
        return;
    looked_at old = {
        .machine = evidence->machine, .cases = evidence->cases, .kernels = evidence->kernels};
    evidence->timed = true;
    evidence->run = seen->run;
    evidence->machine = seen->machine;
    evidence->cases = seen->cases;
    evidence->kernels = seen->kernels;
    evidence->group = seen->cases.cases[found].key;
    evidence->same_shape = !nearest->other_shape;
    evidence->same_convention = !nearest->other_convention;
    evidence->same_library = !nearest->other_library;
    seen->machine = old.machine;
    seen->cases = old.cases;
    seen->kernels = old.kernels;
}

static void add_standing(const kernel_standing *standing, const char *object_hash,
                         kernel_evidence *evidence)
{
    for (size_t i = 0; i < evidence->standing_count; i++) {
        kernel_standing *own = &evidence->standings[i].standing;
        if (strcmp(own->kernel, standing->kernel) != 0 ||
            strcmp(evidence->standings[i].object_hash, object_hash) != 0)
            continue;
        for (int scope = 0; scope < SCOPES; scope++) {
            own->errors[scope].error =
                fmax(own->errors[scope].error, standing->errors[scope].error);
            own->errors[scope].judged += standing->errors[scope].judged;
        }
        own->accurate &= standing->accurate;
        if (!standing->doubt[0])
            own->doubt[0] = '\0';
        return;
    }
    evidence->standings =
        allocate_room(evidence->standings, evidence->standing_count, sizeof *evidence->standings);
    build_standing *added = &evidence->standings[evidence->standing_count++];
    added->standing = *standing;
    snprintf(added->object_hash, sizeof added->object_hash, "%s", object_hash);
}

/* Its speed counts where it was timed: what is asked of other runs is their errors alone. */
static bool gather_standings(result_store *store, const choose_wanted *wanted, int64_t run,
                             const json_t *kernels, kernel_evidence *evidence, error *err)
{
    standing_list list;
    if (!store_standings(store, run, INFINITY, &list, err))
        return false;
    for (size_t i = 0; i < list.count; i++) {
        kernel_standing *own = &list.standings[i];
        if (strcmp(own->doubt, STANDING_NOT_TIMED) == 0)
            own->doubt[0] = '\0';
        if (own->errors[SCOPE_ALL].judged > 0 && own->dtype == wanted->dtype)
            add_standing(own, descriptor_hash(kernels, own->kernel), evidence);
    }
    free(list.standings);
    return true;
}

/* Of this machine the latest so many runs are read, and so many looked at for times that are nearer. */
enum { RUNS_MOST = 8, RUNS_ASKED = 32 };

static bool gather_run(result_store *store, const choose_wanted *wanted,
                       const machine_facts *machine, const stored_run *run,
                       nearest_distance *nearest, kernel_evidence *evidence, error *err)
{
    looked_at seen = {0};
    bool fine = store_machine(store, run->id, &seen.machine, err);
    bool here = fine && (run->id == wanted->run || !machine_difference(&seen.machine, machine));
    evidence->runs_here += here;
    evidence->runs_elsewhere += fine && !here;
    if (here) {
        fine = look_at(store, run, &seen, err) &&
               gather_standings(store, wanted, run->id, seen.kernels, evidence, err);
        if (fine)
            gather_facts(wanted, &seen.cases, &seen.rows, seen.kernels, run->id, evidence);
        if (fine && (wanted->run == 0 || wanted->run == run->id))
            offer_group(wanted, machine, &seen, nearest, evidence);
    }
    looked_at_free(&seen);
    return fine;
}

/* Whether each kernel of the group was judged whole: older runs add no error then. What a budget asks
 * for on rows of its own may be in any run. */
static bool is_judged_whole(const choose_wanted *wanted, const kernel_evidence *evidence)
{
    if (!wanted->every_row || !evidence->timed)
        return false;
    for (size_t i = 0; i < evidence->cases.count; i++) {
        const char *kernel = evidence->cases.cases[i].key.kernel;
        bool found = !is_of_group(&evidence->cases.cases[i].key, &evidence->group);
        for (size_t k = 0; k < evidence->standing_count && !found; k++)
            found = strcmp(evidence->standings[k].standing.kernel, kernel) == 0 &&
                    !evidence->standings[k].standing.doubt[0];
        if (!found && evidence->cases.cases[i].repetition_count > 0)
            return false;
    }
    return true;
}

/* Whether a run has kernels of a library that there is now. */
static bool has_library_now(result_store *store, const choose_wanted *wanted, int64_t run,
                            bool *has, error *err)
{
    json_t *kernels, *kernel;
    size_t index;
    if (!store_descriptors(store, run, NULL, &kernels, err))
        return false;
    *has = false;
    json_array_foreach(kernels, index, kernel)
    {
        const char *hash = json_string_value(json_object_get(kernel, "object_hash"));
        *has |= hash && is_library_now(wanted, hash);
    }
    json_decref(kernels);
    return true;
}

/* Whether the times of an older run could be nearer than those there are: of the very shape, of more
 * kernels, or of the library that there is now. */
static bool could_be_nearer(result_store *store, const choose_wanted *wanted, int64_t run,
                            const nearest_distance *nearest, bool *could, error *err)
{
    case_key key = {.rows = wanted->rows,
                    .hidden = wanted->hidden,
                    .dtype = wanted->dtype,
                    .cache = wanted->cache,
                    .threads = wanted->threads};
    size_t count;
    snprintf(key.convention, sizeof key.convention, "%s", wanted->convention_label);
    snprintf(key.input, sizeof key.input, "%s", wanted->time_on);
    *could = true;
    if (!nearest->usable)
        return true;
    if (!store_count_timed(store, run, &key, &count, err))
        return false;
    *could = count > 0 && (nearest->other_shape || nearest->other_convention ||
                           count > SIZE_MAX - nearest->missing);
    return *could || count == 0 || !nearest->other_library ||
           has_library_now(store, wanted, run, could, err);
}

bool evidence_gather(result_store *store, const choose_wanted *wanted, const machine_facts *machine,
                     kernel_evidence *evidence, error *err)
{
    stored_run *runs;
    size_t count;
    nearest_distance nearest = {0};
    *evidence = (struct kernel_evidence){0};
    if (!store_runs(store, &runs, &count, err))
        return false;
    bool fine = true;
    /* The latest first: of equals the first one stays. */
    size_t asked = 0;
    for (size_t i = count;
         fine && i-- > 0 && evidence->runs_here < RUNS_MOST && asked < RUNS_ASKED;) {
        bool could = runs[i].cases > 0;
        if (could && is_judged_whole(wanted, evidence)) {
            asked++;
            fine = could_be_nearer(store, wanted, runs[i].id, &nearest, &could, err);
        }
        if (fine && could)
            fine = gather_run(store, wanted, machine, &runs[i], &nearest, evidence, err);
    }
    free(runs);
    fine = fine && (!evidence->timed || store_lost(store, evidence->run.id, &evidence->lost,
                                                   &evidence->lost_count, err));
    if (fine)
        class_limits(evidence->facts, evidence->fact_count);
    else
        evidence_free(evidence);
    return fine;
}

void evidence_free(kernel_evidence *evidence)
{
    machine_free(&evidence->machine);
    stored_cases_free(&evidence->cases);
    json_decref(evidence->kernels);
    free(evidence->facts);
    free(evidence->standings);
    hash_set_free(&evidence->known);
    free(evidence->bare_facts);
    free(evidence->lost);
    *evidence = (struct kernel_evidence){0};
}
