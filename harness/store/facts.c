/* What is stored of a case beside its figures: facts of its verdict, and what its repetitions come
 * to. */
#include "store/facts.h"
#include "store/internal.h"
#include "domain/kernel_json.h"
#include "domain/reproducible.h"
#include "inputs/inputs.h"
#include "inputs/worst.h"
#include "store/speed.h"
#include <jansson.h>
#include <math.h>

usability stored_usable(const stored_case *stored)
{
    const ln_metrics *metrics = &stored->metrics;
    verdict_kind kind = stored->verdict.kind;
    bool digits =
        metrics->mismatches == 0 && !(metrics->row_ulp_max >= dtype_no_digit(stored->key.dtype));
    if (stored->judged && kind == VERDICT_NOT_JUDGED)
        return metrics->elements > 0 && digits ? USABLE_YES : USABLE_UNKNOWN;
    if (!stored->judged || !verdict_is_judged(kind))
        return USABLE_UNKNOWN;
    return verdict_is_right(kind) && digits ? USABLE_YES : USABLE_NO;
}

bool stored_is_extreme(const stored_case *stored)
{
    double size = fabs(stored->metrics.worst_exact);
    return case_is_extreme(&stored->key) ||
           (size > 0 && size < dtype_least_normal(stored->key.dtype));
}

/* Rows that a search found for one kernel are no measure of the others: of the corpus, unless this
 * kernel is at fault there. */
static bool stored_is_hunted(const stored_case *stored)
{
    return input_is_worst(stored->key.input) &&
           verdict_exit_code(&stored->verdict) == EXIT_CODE_FINE;
}

/* The largest row ULP of all its elements; infinite where there is no right figure, NaN where all is
 * right and nothing finite. */
static double stored_error(const stored_case *stored)
{
    verdict_kind kind = stored->verdict.kind;
    bool figure = verdict_is_right(kind) || kind == VERDICT_LIMIT || kind == VERDICT_INACCURATE;
    return stored->metrics.mismatches || !figure ? INFINITY : stored->metrics.row_ulp_max;
}

bool store_put_judgement(result_store *store, int64_t id, const stored_case *stored, error *err)
{
    const char *word = verdict_word(stored->verdict.kind);
    usability usable = stored_usable(stored);
    if (!word)
        return store_do(store, STATEMENT_DROP_JUDGEMENT, "store a measurement", err, "i", id);
    sqlite3_stmt *statement = store_bound(
        store, STATEMENT_PUT_JUDGEMENT, err, "isssiiii", id, word,
        verdict_reason(stored->verdict.kind), stored->verdict.detail,
        (int64_t)verdict_telling(&stored->verdict), (int64_t)is_check(stored->key.input),
        (int64_t)stored_is_hunted(stored), (int64_t)stored_is_extreme(stored));
    if (!statement)
        return false;
    if (usable != USABLE_UNKNOWN)
        sqlite3_bind_int(statement, 9, usable == USABLE_YES);
    store_bind(statement, 10, "dd", stored_error(stored), stored->metrics.kappa_max);
    return store_step(store, statement, "store a measurement", err);
}

static bool put_timing(result_store *store, const stored_case *stored, const speed_figures *speed,
                       error *err)
{
    sqlite3_stmt *statement = store_bound(store, STATEMENT_PUT_TIMING, err, "ii", stored->id,
                                          (int64_t)is_roof(stored->key.kernel));
    if (statement)
        store_bind_record(statement, 3, speed_fields, SPEED_COLUMNS, speed);
    return statement && store_step(store, statement, "store a speed", err);
}

bool store_put_timings(result_store *store, int64_t run, int64_t process, error *err)
{
    stored_cases cases;
    bool fine = store_timed_cases(store, run, process, &cases, err);
    for (size_t i = 0; fine && i < cases.count; i++) {
        speed_figures speed = speed_of_case(&cases, i);
        fine = speed.repetitions == 0 || put_timing(store, &cases.cases[i], &speed, err);
    }
    stored_cases_free(&cases);
    return fine;
}

static bool say_kernel(result_store *store, int64_t run, const json_t *kernels, const char *name,
                       error *err)
{
    return store_do(store, STATEMENT_SAY_KERNEL, "store a kernel", err, "isss", run, name,
                    kernel_role_word(kernel_role_of(kernels, name)),
                    reproducible_stored(kernels, name));
}

/* Text that is no descriptor tells nothing of its kernel. */
bool store_put_kernel(result_store *store, int64_t run, const char *name, const char *json,
                      error *err)
{
    static const char doing[] = "store a kernel";
    json_t *kernels = json_pack("[o*]", json_loads(json, 0, NULL));
    bool fine = store_begin(store, doing, err);
    if (fine)
        fine = store_finish(
            store,
            store_do(store, STATEMENT_PUT_KERNEL, doing, err, "iss", run, name, json) &&
                say_kernel(store, run, kernels, name, err),
            doing, err);
    json_decref(kernels);
    return fine;
}

bool store_put_dispatched(result_store *store, int64_t run, const case_key *key, const char *name,
                          error *err)
{
    return store_do(store, STATEMENT_PUT_DISPATCHED, "store a kernel", err, "isiis", run,
                    key->kernel, (int64_t)key->rows, (int64_t)key->hidden, name);
}
