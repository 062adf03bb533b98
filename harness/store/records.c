#include "store/records.h"
#include "base/number.h"
#include "base/relation.h"
#include "store/store.h"
#include <inttypes.h>
#include <math.h>
#include <string.h>

const char *const operation_names[OPERATIONS] = {
#define OPERATION(KIND, name) [LN_OPERATION_##KIND] = #name,
#include "domain/operations.def"
#undef OPERATION
};

#define SIZE(type, field) NUMBER_FIELD(COUNT, type, field, 1, (size_t)1 << 40)
#define NUMBER(type, field, least) NUMBER_FIELD(UNSIGNED, type, field, least, UINT32_MAX)

const record_field case_key_fields[CASE_KEY_FIELDS] = {
    TEXT_FIELD(case_key, kernel, 1),
    TEXT_FIELD(case_key, convention, 0),
    SIZE(case_key, rows),
    SIZE(case_key, hidden),
    WORD_FIELD(case_key, dtype, dtype_names),
    TEXT_FIELD(case_key, input, 0),
    WORD_FIELD(case_key, cache, cache_names),
    NUMBER_FIELD(UNSIGNED, case_key, threads, 1, 1 << 20),
    WORD_FIELD(case_key, operation, operation_names)};

const record_field speed_fields[SPEED_COLUMNS] = {
    FIELD(REAL, speed_figures, time_ns),       FIELD(REAL, speed_figures, time_lo_ns),
    FIELD(REAL, speed_figures, time_hi_ns),    FIELD(REAL, speed_figures, gbps),
    FIELD(REAL, speed_figures, copy_ratio),    FIELD(REAL, speed_figures, copy_ratio_lo),
    FIELD(REAL, speed_figures, copy_ratio_hi), FIELD(REAL, speed_figures, cycles),
    FIELD(REAL, speed_figures, instructions),  NUMBER(speed_figures, repetitions, 0),
    NUMBER(speed_figures, processes, 0)};

const record_field repetition_fields[REPETITION_FIELDS] = {
    NUMBER(timed_repetition, process, 0),   NUMBER(timed_repetition, repetition, 0),
    NUMBER(timed_repetition, order, 0),     FIELD(COUNT, timed_repetition, iterations),
    FIELD(REAL, timed_repetition, real_ns), FIELD(REAL, timed_repetition, cpu_ns),
    FIELD(REAL, timed_repetition, cycles),  FIELD(REAL, timed_repetition, instructions)};

const record_field row_fields[ROW_FIELDS] = {
    {"case", FIELD_COUNT, offsetof(stored_row, case_index), 0, INT64_MAX, NULL},
    FIELD(COUNT, stored_row, row),
    FIELD(REAL, stored_row, kappa),
    FIELD(REAL, stored_row, row_ulp),
    FIELD(REAL, stored_row, norm_max),
    FIELD(REAL, stored_row, bound_row_ulp),
    FIELD(REAL, stored_row, mean_error),
    FIELD(REAL, stored_row, rstd_error)};

const record_field lost_fields[LOST_FIELDS] = {{"requested", FIELD_UNSIGNED,
                                                offsetof(asked_case, parts), 0,
                                                ASKED_TO_JUDGE | ASKED_TO_TIME, NULL},
                                               TEXT_FIELD(asked_case, reason, 0)};

const record_field verdict_fields[VERDICT_FIELDS] = {TEXT_FIELD(verdict_words, verdict, 1),
                                                     TEXT_FIELD(verdict_words, reason, 0),
                                                     TEXT_FIELD(verdict_words, detail, 0)};

const record_field run_fields[RUN_COLUMNS] = {
    TEXT_FIELD(stored_run, started, 1),   TEXT_FIELD(stored_run, plan, 0),
    TEXT_FIELD(stored_run, plan_hash, 0), TEXT_FIELD(stored_run, command_line, 0),
    FIELD(SEED, stored_run, seed),        WORD_FIELD(stored_run, state, run_state_names),
    TEXT_FIELD(stored_run, command, 0),   TEXT_FIELD(stored_run, request_hash, 0),
    FIELD(COUNT, stored_run, triples),    FIELD(COUNT, stored_run, triples_covered),
    TEXT_FIELD(stored_run, origin, 0),    FIELD(COUNT, stored_run, id),
    FIELD(COUNT, stored_run, cases),      FIELD(COUNT, stored_run, repetitions)};

const record_field run_count_fields[RUN_COUNTS] = {
    {"requested", FIELD_COUNT, offsetof(run_counts, asked), 0, INT64_MAX, NULL},
    {"unsupported", FIELD_COUNT, offsetof(run_counts, declined), 0, INT64_MAX, NULL},
    {"missing", FIELD_COUNT, offsetof(run_counts, lost), 0, INT64_MAX, NULL}};

/* Of the worst element each bit counts: it must be replayable. */
record_field metric_record(const metric_field *field)
{
    bool exact = strncmp(field->name, "worst_", 6) == 0;
    field_kind kind = field->kind != METRIC_REAL ? FIELD_COUNT : exact ? FIELD_BITS : FIELD_REAL;
    return (record_field){field->name, kind, field->offset, 0, INT64_MAX, NULL};
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
    const uint64_t *count = place;
    char text[40];
    switch (field->kind) {
    case FIELD_TEXT:
        return json_text(place);
    case FIELD_UNSIGNED:
        return json_integer(*(const unsigned *)place);
    case FIELD_COUNT:
        return json_integer((json_int_t)*count);
    case FIELD_FLAG:
        return json_boolean(*(const bool *)place);
    case FIELD_REAL:
        return json_figure(record_real(field, from));
    case FIELD_WORD:
        return json_string(field->words[*(const unsigned *)place]);
    case FIELD_BITS:
        number_print(text, sizeof text, "%a", record_real(field, from));
        break;
    case FIELD_SEED:
        snprintf(text, sizeof text, "%" PRIu64, *count);
        break;
    case FIELD_HASH:
        snprintf(text, sizeof text, "%016" PRIx64, *count);
    }
    return json_string(text);
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
