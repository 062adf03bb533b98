/* Order statistics by Hoare's selection ("Algorithm 65: find", 1961): linear on average, in place.
 * Its two-sided partition also divides runs of equal values evenly. */
#include "metrics/samples.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

bool samples_reserve(sample_list *samples, size_t more)
{
    if (more <= samples->capacity - samples->count) {
        return true;
    }
    size_t most = SIZE_MAX / sizeof(double);
    if (more > most - samples->count) {
        return false;
    }
    size_t capacity = samples->count + more;
    if (capacity < 2 * samples->capacity && samples->capacity <= most / 2) {
        capacity = 2 * samples->capacity;
    }
    double *values = realloc(samples->values, capacity * sizeof(double));
    if (values == NULL) {
        return false;
    }
    samples->values = values;
    samples->capacity = capacity;
    return true;
}

void samples_append(sample_list *samples, double value)
{
    samples->values[samples->count++] = value;
    samples->settled = 0;
}

void samples_release(sample_list *samples)
{
    free(samples->values);
    *samples = (struct sample_list){0};
}

/* Returns the value of rank k (from 0) of the sorted values, which is one of left..right. */
static double select_rank(double *values, size_t left, size_t right, size_t k)
{
    while (left < right) {
        double pivot = values[left + (right - left) / 2];
        size_t i = left, j = right;
        for (;;) {
            while (values[i] < pivot) {
                i++;
            }
            while (values[j] > pivot) {
                j--;
            }
            if (i >= j) {
                break;
            }
            double swapped = values[i];
            values[i++] = values[j];
            values[j--] = swapped;
        }
        /* left..j <= pivot <= j+1..right, both parts non-empty */
        if (k <= j) {
            right = j;
        } else {
            left = j + 1;
        }
    }
    return values[k];
}

double samples_percentile(sample_list *samples, double share)
{
    if (samples->count == 0) {
        return (double)NAN;
    }
    double rank = ceil(share * (double)samples->count);
    size_t k = rank >= 1 ? (size_t)rank - 1 : 0;
    size_t last = samples->count - 1, before = samples->settled;
    samples->settled = k = k < last ? k : last;
    return k < before ? select_rank(samples->values, 0, before, k)
                      : select_rank(samples->values, before, last, k);
}
