/* A growing list of doubles and its order statistics. */
#ifndef LN_SAMPLES_H
#define LN_SAMPLES_H

#include <stdbool.h>
#include <stddef.h>

typedef struct sample_list {
    double *values;
    size_t count, capacity;
    size_t
        settled; /* the rank asked for last: smaller values stand before it, larger ones behind */
} sample_list;

/* Makes room for more values; false when memory runs out, with the list as it was. */
bool samples_reserve(sample_list *samples, size_t more);

/* Appends a value, never NaN, for which there is room. */
void samples_append(sample_list *samples, double value);

void samples_release(sample_list *samples);

/* The smallest value that at least share (0 < share <= 1) of the list does not exceed (the
 * nearest-rank percentile, always a value of the list); NaN for an empty list. Reorders the list.
 * Ascending shares cost least: each looks behind the last one alone. */
double samples_percentile(sample_list *samples, double share);

#endif
