#include "store/records.h"
#include "base/relation.h"
#include "store/store.h"
#include <math.h>
#include <string.h>

const char *const operation_names[OPERATIONS] = {
#define OPERATION(KIND, name) [LN_OPERATION_##KIND] = #name,
#include "domain/operations.def"
#undef OPERATION
};

const record_field case_key_fields[CASE_KEY_FIELDS] = {
    TEXT_FIELD(case_key, kernel),
    TEXT_FIELD(case_key, convention),
    FIELD(COUNT, case_key, rows),
    FIELD(COUNT, case_key, hidden),
    WORD_FIELD(case_key, dtype, dtype_names),
    TEXT_FIELD(case_key, input),
    WORD_FIELD(case_key, cache, cache_names),
    FIELD(UNSIGNED, case_key, threads),
    WORD_FIELD(case_key, operation, operation_names)};

const record_field speed_fields[SPEED_COLUMNS] = {
    FIELD(REAL, speed_figures, time_ns),       FIELD(REAL, speed_figures, time_lo_ns),
    FIELD(REAL, speed_figures, time_hi_ns),    FIELD(REAL, speed_figures, gbps),
    FIELD(REAL, speed_figures, copy_ratio),    FIELD(REAL, speed_figures, copy_ratio_lo),
    FIELD(REAL, speed_figures, copy_ratio_hi), FIELD(REAL, speed_figures, cycles),
    FIELD(REAL, speed_figures, instructions),  FIELD(UNSIGNED, speed_figures, repetitions),
    FIELD(UNSIGNED, speed_figures, processes)};

const record_field repetition_fields[REPETITION_FIELDS] = {
    FIELD(UNSIGNED, timed_repetition, process), FIELD(UNSIGNED, timed_repetition, repetition),
    FIELD(UNSIGNED, timed_repetition, order),   FIELD(COUNT, timed_repetition, iterations),
    FIELD(REAL, timed_repetition, real_ns),     FIELD(REAL, timed_repetition, cpu_ns),
    FIELD(REAL, timed_repetition, cycles),      FIELD(REAL, timed_repetition, instructions)};

const record_field row_fields[ROW_FIELDS] = {
    {"case", FIELD_COUNT, offsetof(stored_row, case_index), 0, NULL},
    FIELD(COUNT, stored_row, row),
    FIELD(REAL, stored_row, kappa),
    FIELD(REAL, stored_row, row_ulp),
    FIELD(REAL, stored_row, norm_max),
    FIELD(REAL, stored_row, bound_row_ulp),
    FIELD(REAL, stored_row, mean_error),
    FIELD(REAL, stored_row, rstd_error)};

const record_field lost_fields[LOST_FIELDS] = {
    {"requested", FIELD_UNSIGNED, offsetof(asked_case, parts), 0, NULL},
    TEXT_FIELD(asked_case, reason)};

const record_field verdict_fields[VERDICT_FIELDS] = {TEXT_FIELD(verdict_words, verdict),
                                                     TEXT_FIELD(verdict_words, reason),
                                                     TEXT_FIELD(verdict_words, detail)};

const record_field run_fields[RUN_COLUMNS] = {
    TEXT_FIELD(stored_run, started),   TEXT_FIELD(stored_run, plan),
    TEXT_FIELD(stored_run, plan_hash), TEXT_FIELD(stored_run, command_line),
    FIELD(COUNT, stored_run, seed),    WORD_FIELD(stored_run, state, run_state_names),
    TEXT_FIELD(stored_run, command),   TEXT_FIELD(stored_run, request_hash),
    FIELD(COUNT, stored_run, triples), FIELD(COUNT, stored_run, triples_covered),
    TEXT_FIELD(stored_run, origin),    FIELD(COUNT, stored_run, id),
    FIELD(COUNT, stored_run, cases),   FIELD(COUNT, stored_run, repetitions),
    FIELD(FLAG, stored_run, imported)};

const record_field run_count_fields[RUN_COUNTS] = {
    {"requested", FIELD_COUNT, offsetof(run_counts, asked), 0, NULL},
    {"unsupported", FIELD_COUNT, offsetof(run_counts, declined), 0, NULL},
    {"missing", FIELD_COUNT, offsetof(run_counts, lost), 0, NULL}};

record_field metric_record(const metric_field *field)
{
    field_kind kind = field->kind == METRIC_REAL ? FIELD_REAL : FIELD_COUNT;
    return (record_field){field->name, kind, field->offset, 0, NULL};
}

double record_real(const record_field *field, const void *from)
{
    double value;
    memcpy(&value, (const char *)from + field->offset, sizeof value);
    return value;
}

static json_t *json_of(const record_field *field, const void *from)
{
    const void *place = (const char *)from + field->offset;
    switch (field->kind) {
    case FIELD_TEXT:
        return json_text(place);
    case FIELD_UNSIGNED:
        return json_integer(*(const unsigned *)place);
    case FIELD_REAL:
        return json_figure(record_real(field, from));
    case FIELD_WORD:
        return json_string(field->words[*(const unsigned *)place]);
    case FIELD_FLAG:
    case FIELD_COUNT:
        break;
    }
    return json_integer((json_int_t) * (const uint64_t *)place);
}

void record_put(json_t *object, const record_field *fields, size_t count, const void *from)
{
    for (size_t i = 0; i < count; i++)
        json_object_set_new(object, fields[i].key, json_of(&fields[i], from));
}

json_t *metrics_json(const ln_metrics *metrics)
{
    json_t *object = json_object();
    for (size_t i = 0; i < metric_count_all; i++) {
        const record_field field = metric_record(&metric_list[i]);
        if (metric_list[i].published)
            record_put(object, &field, 1, metrics);
    }
    return object;
}
