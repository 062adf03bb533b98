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

void store_put_judgement(result_store *store, int64_t id, const stored_case *stored)
{
    const char *word = verdict_word(stored->verdict.kind);
    usability usable = stored_usable(stored);
    if (!word) {
        store_do(store, STATEMENT_DROP_JUDGEMENT, "store a measurement", "i", id);
        return;
    }
    sqlite3_stmt *statement = store_bound(
        store, STATEMENT_PUT_JUDGEMENT, "isssiiii", id, word, verdict_reason(stored->verdict.kind),
        stored->verdict.detail, (int64_t)verdict_telling(&stored->verdict),
        (int64_t)is_check(stored->key.input), (int64_t)stored_is_hunted(stored),
        (int64_t)stored_is_extreme(stored));
    if (usable != USABLE_UNKNOWN)
        sqlite3_bind_int(statement, 9, usable == USABLE_YES);
    store_bind(statement, 10, "dd", stored_error(stored), stored->metrics.kappa_max);
    store_step(store, statement, "store a measurement");
}

void store_put_timings(result_store *store, int64_t run, int64_t process)
{
    stored_cases cases = store_timed_cases(store, run, process, true);
    for (size_t i = 0; i < cases.count; i++) {
        speed_figures speed = speed_of_case(&cases, i);
        if (speed.repetitions == 0)
            continue;
        sqlite3_stmt *statement = store_bound(store, STATEMENT_PUT_TIMING, "ii", cases.cases[i].id,
                                              (int64_t)is_roof(cases.cases[i].key.kernel));
        store_bind_record(statement, 3, speed_fields, SPEED_COLUMNS, &speed);
        store_step(store, statement, "store a speed");
    }
    stored_cases_free(&cases);
}

/* Text that is no descriptor tells nothing of its kernel. */
void store_put_kernel(result_store *store, int64_t run, const char *name, const char *json)
{
    static const char doing[] = "store a kernel";
    json_t *kernels = json_pack("[o*]", json_loads(json, 0, NULL));
    store_begin(store, doing);
    store_do(store, STATEMENT_PUT_KERNEL, doing, "iss", run, name, json);
    store_do(store, STATEMENT_SAY_KERNEL, doing, "isss", run, name,
             kernel_role_word(kernel_role_of(kernels, name)), reproducible_stored(kernels, name));
    store_finish(store, doing);
    json_decref(kernels);
}

void store_put_dispatched(result_store *store, int64_t run, const case_key *key, const char *name)
{
    store_do(store, STATEMENT_PUT_DISPATCHED, "store a kernel", "isiis", run, key->kernel,
             (int64_t)key->rows, (int64_t)key->hidden, name);
}
