/* What the store and the published JSON have of runs and cases, as tables: of which kind and range a
 * key's value is, and where it stands in a struct. The store reads and writes columns of these names,
 * answer/ writes JSON.
 *
 *     record_put(object, speed_fields, SPEED_FIELDS, &speed);
 */
#ifndef LNBENCH_RECORDS_H
#define LNBENCH_RECORDS_H

#include "domain/case.h"
#include "domain/metric_fields.h"
#include <jansson.h>

typedef enum field_kind {
    FIELD_TEXT,     /* char[most + 1] */
    FIELD_UNSIGNED, /* unsigned */
    FIELD_COUNT,    /* size_t or uint64_t */
    FIELD_FLAG,     /* bool; not in JSON */
    FIELD_REAL,     /* double; null: undefined, or infinite */
    FIELD_WORD,     /* an enum from 0 to most, by its words */
} field_kind;

typedef struct record_field {
    const char *key;
    field_kind kind;
    size_t offset, most; /* most: bytes of a text, the last of the words */
    const char *const *words;
} record_field;

#define TEXT_FIELD(type, field)                                                                    \
    {                                                                                              \
#field, FIELD_TEXT, offsetof(type, field), sizeof(((type *)0)->field) - 1, NULL            \
    }
#define FIELD(kind, type, field)                                                                   \
    {                                                                                              \
#field, FIELD_##kind, offsetof(type, field), 0, NULL                                       \
    }
#define WORD_FIELD(type, field, words)                                                             \
    {                                                                                              \
#field, FIELD_WORD, offsetof(type, field), sizeof(words) / sizeof *(words)-1, words        \
    }
#define FIELDS(table) (table), sizeof(table) / sizeof *(table)

/* Of case_key. */
enum { CASE_KEY_FIELDS = 9 };
extern const record_field case_key_fields[CASE_KEY_FIELDS];
extern const char *const operation_names[OPERATIONS];
/* Of speed_figures: SPEED_RATIOS times and what follows from them, then the CPU's counts. */
enum { SPEED_RATIOS = 7, SPEED_FIELDS = 10, SPEED_COLUMNS };
extern const record_field speed_fields[SPEED_COLUMNS];
/* Of timed_repetition. */
enum { REPETITION_FIELDS = 8 };
extern const record_field repetition_fields[REPETITION_FIELDS];
/* Of stored_row; first its case, by its place among those of the run. */
enum { ROW_FIELDS = 8 };
extern const record_field row_fields[ROW_FIELDS];
/* Of asked_case, beside its key. */
enum { LOST_FIELDS = 2 };
extern const record_field lost_fields[LOST_FIELDS];
/* A verdict in the words of verdict_from_words(). */
typedef struct verdict_words {
    char verdict[64], reason[64], detail[DETAIL_MAX_LENGTH];
} verdict_words;
enum { VERDICT_FIELDS = 3 };
extern const record_field verdict_fields[VERDICT_FIELDS];
/* Of stored_run. */
enum { RUN_COLUMNS = 15 };
extern const record_field run_fields[RUN_COLUMNS];
/* Of run_counts, where they are known. */
enum { RUN_COUNTS = 3 };
extern const record_field run_count_fields[RUN_COUNTS];
/* Of ln_metrics. */
record_field metric_record(const metric_field *field);

void record_put(json_t *object, const record_field *fields, size_t count, const void *from);
/* An object of the metrics that are published. */
json_t *metrics_json(const ln_metrics *metrics);
double record_real(const record_field *field, const void *from);

#endif
