/* A growing list of doubles and its order statistics. */
#ifndef LN_SAMPLES_H
#define LN_SAMPLES_H

#include <stdbool.h>
#include <stddef.h>

typedef struct sample_list {
    double *values;
    size_t count, capacity;
    size_t
        settled; /* the last requested rank: smaller values are before it, larger ones after it */
} sample_list;

/* Makes room for more values. Returns false, with the list unchanged, if memory runs out. */
bool samples_reserve(sample_list *samples, size_t more);

/* Appends a value, never NaN, for which there is room. */
void samples_append(sample_list *samples, double value);

void samples_release(sample_list *samples);

/* Returns the smallest value that at least share (0 < share <= 1) of the list does not exceed (the
 * nearest-rank percentile, always a value of the list); NaN for an empty list. Reorders the list.
 * Ascending shares are fastest, since each search begins at the last one. */
double samples_percentile(sample_list *samples, double share);

#endif
