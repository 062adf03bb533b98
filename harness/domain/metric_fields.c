#include "domain/metric_fields.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

double metric_value(const ln_metrics *metrics, const metric_field *field)
{
    double value;
    memcpy(&value, (const char *)metrics + field->offset, sizeof value);
    return field->kind == METRIC_REAL ? value : (double)metric_count(metrics, field);
}

uint64_t metric_count(const ln_metrics *metrics, const metric_field *field)
{
    uint64_t count;
    memcpy(&count, (const char *)metrics + field->offset, sizeof count);
    return field->kind == METRIC_REAL ? 0 : count;
}

void metrics_undefined(ln_metrics *metrics)
{
    const double undefined = NAN;
    *metrics = (ln_metrics){0};
    for (size_t i = 0; i < metric_count_all; i++)
        if (metric_list[i].kind == METRIC_REAL)
            memcpy((char *)metrics + metric_list[i].offset, &undefined, sizeof undefined);
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
