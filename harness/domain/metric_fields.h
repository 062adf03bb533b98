/* The fields of ln_metrics by name, so that store, views and commands share one list.
 *
 *     for (size_t i = 0; i < metric_count_all; i++)
 *         printf("%s %g\n", metric_list[i].name, metric_value(&metrics, &metric_list[i]));
 */
#ifndef LNBENCH_METRIC_FIELDS_H
#define LNBENCH_METRIC_FIELDS_H

#include "metrics/metrics.h"
#include <stdbool.h>

typedef enum metric_kind {
    METRIC_REAL,  /* double, NaN where undefined */
    METRIC_COUNT, /* uint64_t */
    METRIC_PLACE, /* size_t */
} metric_kind;

typedef struct metric_field {
    const char *name; /* the JSON key, the TSV heading and the database column */
    metric_kind kind;
    size_t offset;  /* in ln_metrics */
    bool published; /* also in the JSON of cases, not only in the store */
} metric_field;

/* The list, in metric_list.c: a store gets a column for each that it lacks. */
extern const metric_field metric_list[];
extern const size_t metric_count_all;

double metric_value(const ln_metrics *metrics, const metric_field *field);   /* counts as doubles */
uint64_t metric_count(const ln_metrics *metrics, const metric_field *field); /* 0 for METRIC_REAL */

/* The counts of the histogram as a JSON array, without the zeros at its end; false where all are 0.
 * And back: false where it is none. */
enum { HISTOGRAM_TEXT_LENGTH = ULP_BINS * 21 + 3 };
bool metrics_histogram_format(const ln_metrics *metrics, char text[HISTOGRAM_TEXT_LENGTH]);
bool metrics_histogram_parse(const char *text, ln_metrics *metrics);

/* Metrics of nothing: every real NaN, every count 0. */
void metrics_undefined(ln_metrics *metrics);

#endif
