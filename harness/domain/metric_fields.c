#include "domain/metric_fields.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const metric_field *metric_fields(size_t *count)
{
    *count = metric_count_all;
    return metric_list;
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
    for (size_t i = 0; i < metric_count_all; i++)
        metric_set_value(metrics, &metric_list[i], NAN);
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
