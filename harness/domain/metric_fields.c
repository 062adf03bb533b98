#include "domain/metric_fields.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define REAL(field, published)                                                                     \
    {                                                                                              \
#field, METRIC_REAL, offsetof(ln_metrics, field), published                                \
    }
#define COUNT(field, published)                                                                    \
    {                                                                                              \
#field, METRIC_COUNT, offsetof(ln_metrics, field), published                               \
    }
#define PLACE(field)                                                                               \
    {                                                                                              \
#field, METRIC_PLACE, offsetof(ln_metrics, field), false                                   \
    }

static const metric_field fields[] = {
    REAL(ulp_max, true),        REAL(ulp_mean, true),
    REAL(ulp_rms, true),        REAL(ulp_p50, true),
    REAL(ulp_p90, true),        REAL(ulp_p99, true),
    REAL(ulp_bias, true),       REAL(row_ulp_max, true),
    REAL(row_ulp_mean, true),   REAL(norm_max, true),
    REAL(rel_l2, true),         REAL(correctly_rounded, true),
    REAL(bits, true),           REAL(mean_ulp_max, false),
    REAL(rstd_ulp_max, false),  COUNT(mismatches, true),
    COUNT(elements, true),      COUNT(exact_zeros, false),
    COUNT(sign_of_zero, false), PLACE(worst_row),
    PLACE(worst_column),        REAL(worst_computed, false),
    REAL(worst_exact, false),   REAL(kappa_max, false),
};

const metric_field *metric_fields(size_t *count)
{
    *count = sizeof fields / sizeof *fields;
    return fields;
}

static const char *place_of(const ln_metrics *metrics, const metric_field *field)
{
    return (const char *)metrics + field->offset;
}

double metric_value(const ln_metrics *metrics, const metric_field *field)
{
    if (field->kind != METRIC_REAL)
        return (double)metric_count(metrics, field);
    double value;
    memcpy(&value, place_of(metrics, field), sizeof value);
    return value;
}

uint64_t metric_count(const ln_metrics *metrics, const metric_field *field)
{
    uint64_t count = 0;
    size_t place = 0;
    switch (field->kind) {
    case METRIC_COUNT:
        memcpy(&count, place_of(metrics, field), sizeof count);
        return count;
    case METRIC_PLACE:
        memcpy(&place, place_of(metrics, field), sizeof place);
        return place;
    default:
        return 0;
    }
}

void metric_set_value(ln_metrics *metrics, const metric_field *field, double value)
{
    if (field->kind == METRIC_REAL)
        memcpy((char *)metrics + field->offset, &value, sizeof value);
}

void metric_set_count(ln_metrics *metrics, const metric_field *field, uint64_t count)
{
    size_t place = (size_t)count;
    if (field->kind == METRIC_COUNT)
        memcpy((char *)metrics + field->offset, &count, sizeof count);
    else if (field->kind == METRIC_PLACE)
        memcpy((char *)metrics + field->offset, &place, sizeof place);
}

void metrics_undefined(ln_metrics *metrics)
{
    *metrics = (ln_metrics){0};
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        metric_set_value(metrics, &fields[i], NAN);
}

bool metrics_histogram_format(const ln_metrics *metrics, char text[HISTOGRAM_TEXT_LENGTH])
{
    size_t bins = ULP_BINS, length = 0;
    while (bins > 0 && metrics->ulp_histogram[bins - 1] == 0)
        bins--;
    for (size_t i = 0; i < bins; i++)
        length +=
            (size_t)snprintf(text + length, HISTOGRAM_TEXT_LENGTH - length, "%s%llu",
                             i == 0 ? "[" : ",", (unsigned long long)metrics->ulp_histogram[i]);
    snprintf(text + length, HISTOGRAM_TEXT_LENGTH - length, "%s", bins > 0 ? "]" : "[]");
    return bins > 0;
}

bool metrics_histogram_parse(const char *text, ln_metrics *metrics)
{
    const char *at = text;
    for (size_t i = 0; i < ULP_BINS; i++) {
        char *end;
        if (*at != (i == 0 ? '[' : ',') || at[1] < '0' || at[1] > '9')
            return false;
        metrics->ulp_histogram[i] = strtoull(at + 1, &end, 10);
        at = end;
        if (*at == ']')
            return at[1] == '\0';
    }
    return false;
}
