/* A stored run in memory, and as JSON. */
#include "views/views.h"
#include "domain/kernel_json.h"
#include "domain/metric_fields.h"
#include "domain/reproducible.h"
#include "base/text.h"
#include "inputs/inputs.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

bool store_descriptors(result_store *store, int64_t run, json_t **kernels, error *err)
{
    char *text;
    if (!store_kernels_json(store, run, &text, err))
        return false;
    json_error_t where;
    *kernels = json_loads(text, JSON_REJECT_DUPLICATES, &where);
    free(text);
    kernels_json_update(*kernels);
    if (*kernels)
        return true;
    /* jansson's parser takes memory that ran out for bad JSON. */
    return fail(err, EXIT_CODE_ENVIRONMENT,
                "run %lld: a kernel's descriptor cannot be read as JSON (%s): the database is "
                "damaged, or memory ran out",
                (long long)run, where.text);
}

bool view_sum_up(run_view *view, error *err)
{
    view->views = calloc(view->cases.count + 1, sizeof *view->views);
    if (!view->views)
        return fail_memory(err, "the cases of a run");
    const machine_facts *machine = &view->machine;
    for (size_t i = 0; i < view->cases.count; i++) {
        const case_key *key = &view->cases.cases[i].key;
        view->views[i].stored = &view->cases.cases[i];
        view->views[i].reproducibility = reproducible_stored(view->kernels, key->kernel);
        view->views[i].regime = machine_regime(machine, key->rows, key->hidden, key->dtype);
        if (!speed_of_case(&view->cases, i, &view->views[i].speed, err))
            return false;
    }
    return true;
}

bool view_load(result_store *store, int64_t run, run_view *view, error *err)
{
    *view = (struct run_view){0};
    bool fine =
        store_run(store, run, &view->run, err) && store_machine(store, run, &view->machine, err) &&
        store_cases(store, run, &view->cases, err) && store_rows(store, run, &view->rows, err) &&
        store_descriptors(store, run, &view->kernels, err) && view_sum_up(view, err);
    if (!fine)
        view_free(view);
    return fine;
}

bool view_load_worst(result_store *store, run_view *view, error *err)
{
    view->worst = calloc(view->cases.count + 1, sizeof *view->worst);
    if (!view->worst)
        return fail_memory(err, "the worst rows of a run");
    for (size_t i = 0; i < view->cases.count; i++) {
        bool has;
        if (!store_worst(store, view->cases.cases[i].id, &view->worst[i], &has, err))
            return false;
    }
    return true;
}

bool view_has_worst(const run_view *view, size_t i)
{
    return view->worst && (view->worst[i].y_hash != 0 || view->worst[i].x);
}

void view_free(run_view *view)
{
    for (size_t i = 0; view->worst && i < view->cases.count; i++)
        stored_worst_free(&view->worst[i]);
    free(view->worst);
    machine_free(&view->machine);
    stored_cases_free(&view->cases);
    stored_rows_free(&view->rows);
    free(view->views);
    json_decref(view->kernels);
    *view = (struct run_view){0};
}

json_t *json_text(const char *string)
{
    json_t *made = json_string(string);
    if (made)
        return made;
    text_buffer clean = {0};
    text_add(&clean, "");
    for (const char *at = string; *at;) {
        size_t length = text_utf8_length(at);
        if (length)
            text_add_bytes(&clean, at, length);
        else
            text_add(&clean, "\xef\xbf\xbd");
        at += length ? length : 1;
    }
    made = clean.failed ? NULL : json_string(clean.bytes);
    text_free(&clean);
    return made;
}

json_t *json_figure(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

/* Takes the value over, whatever becomes of it; a NULL value is memory that ran out. */
static bool set(json_t *object, const char *key, json_t *value)
{
    return json_object_set_new(object, key, value) == 0;
}

/* The share of each bin: the edges are in results/README.md. */
static json_t *histogram_json(const ln_metrics *metrics)
{
    json_t *array = json_array();
    uint64_t all = 0;
    for (size_t i = 0; i < ULP_BINS; i++)
        all += metrics->ulp_histogram[i];
    for (size_t i = 0; array && all > 0 && i < ULP_BINS; i++)
        if (json_array_append_new(
                array, json_real((double)metrics->ulp_histogram[i] / (double)all)) != 0) {
            json_decref(array);
            return NULL;
        }
    return array;
}

static json_t *metrics_json(const ln_metrics *metrics)
{
    size_t count;
    const metric_field *fields = metric_fields(&count);
    json_t *object = json_object();
    bool fine = object != NULL;
    for (size_t i = 0; fine && i < count; i++) {
        if (!fields[i].published)
            continue;
        json_t *value = fields[i].kind == METRIC_REAL
                            ? json_figure(metric_value(metrics, &fields[i]))
                            : json_integer((json_int_t)metric_count(metrics, &fields[i]));
        fine = set(object, fields[i].name, value);
    }
    fine = fine && set(object, "ulp_histogram", histogram_json(metrics));
    if (fine)
        return object;
    json_decref(object);
    return NULL;
}

static json_t *speed_json(const speed_figures *speed)
{
    json_t *object = json_object();
    if (object && set(object, "time_ns", json_figure(speed->time_ns)) &&
        set(object, "time_lo_ns", json_figure(speed->time_lo_ns)) &&
        set(object, "time_hi_ns", json_figure(speed->time_hi_ns)) &&
        set(object, "gbps", json_figure(speed->gbps)) &&
        set(object, "roof_ratio", json_figure(speed->roof_ratio)) &&
        set(object, "roof_lo", json_figure(speed->roof_lo)) &&
        set(object, "roof_hi", json_figure(speed->roof_hi)) &&
        set(object, "cycles", json_figure(speed->cycles)) &&
        set(object, "instructions", json_figure(speed->instructions)) &&
        set(object, "repetitions", json_integer(speed->repetitions)))
        return object;
    json_decref(object);
    return NULL;
}

static bool set_key(json_t *object, const case_key *key)
{
    return set(object, "operation", json_text(operation_name(key->operation))) &&
           set(object, "kernel", json_text(key->kernel)) &&
           set(object, "convention", json_text(key->convention)) &&
           set(object, "rows", json_integer((json_int_t)key->rows)) &&
           set(object, "hidden", json_integer((json_int_t)key->hidden)) &&
           set(object, "dtype", json_text(dtype_name(key->dtype))) &&
           set(object, "input", json_text(key->input)) &&
           set(object, "cache", json_text(cache_name(key->cache))) &&
           set(object, "threads", json_integer(key->threads));
}

bool view_is_usable(const stored_case *stored)
{
    verdict_kind kind = stored->verdict.kind;
    bool ran = kind == VERDICT_OK || kind == VERDICT_OK_NO_BOUND || kind == VERDICT_INACCURATE;
    return stored->judged && ran && stored->metrics.mismatches == 0 &&
           !(stored->metrics.row_ulp_max >= dtype_no_digit(stored->key.dtype));
}

bool view_is_extreme(const stored_case *stored)
{
    double size = fabs(stored->metrics.worst_exact);
    return case_is_extreme(&stored->key) ||
           (size > 0 && size < dtype_least_normal(stored->key.dtype));
}

static bool set_verdict(json_t *object, const stored_case *stored)
{
    return set(object, "verdict", json_text(verdict_name(stored->verdict.kind))) &&
           set(object, "detail", json_text(stored->verdict.detail)) &&
           set(object, "declared", json_boolean(stored->verdict.declared)) &&
           set(object, "usable",
               stored->judged ? json_boolean(view_is_usable(stored)) : json_null()) &&
           set(object, "bound_row_ulp", json_figure(stored->bound_row_ulp));
}

/* A verdict may have no figures: a kernel that crashed has no errors. */
static bool has_metrics(const stored_case *stored)
{
    return stored->judged && stored->metrics.elements > 0;
}

/* 64 bits as hex: JSON numbers are exact to 53 bits only. */
static json_t *hash_json(const stored_case *stored)
{
    char hex[20];
    snprintf(hex, sizeof hex, "%016llx", (unsigned long long)stored->output_hash);
    return stored->hashed ? json_string(hex) : json_null();
}

json_t *view_case_json(const view_case *view)
{
    const stored_case *stored = view->stored;
    json_t *object = json_object();
    if (object && set_key(object, &stored->key) && set(object, "regime", json_text(view->regime)) &&
        set(object, "reproducibility", reproducible_json(view->reproducibility)) &&
        set_verdict(object, stored) && set(object, "output_hash", hash_json(stored)) &&
        set(object, "metrics",
            has_metrics(stored) ? metrics_json(&stored->metrics) : json_null()) &&
        set(object, "speed", view->speed.repetitions ? speed_json(&view->speed) : json_null()))
        return object;
    json_decref(object);
    return NULL;
}

json_t *view_run_json(const run_view *view)
{
    json_t *array = json_array();
    for (size_t i = 0; array && i < view->cases.count; i++) {
        if (json_array_append_new(array, view_case_json(&view->views[i])) != 0) {
            json_decref(array);
            return NULL;
        }
    }
    return array;
}
