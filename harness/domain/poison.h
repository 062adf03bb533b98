/* What stands in an output before a call, so that what was not written shows: NaN of every type, one
 * kind in y and the sum, another in mean and rstd. A third stands between the rows of an input. */
#ifndef LNBENCH_POISON_H
#define LNBENCH_POISON_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

enum { POISON = 0xff };

/* Byte `at` of a value of mean or rstd, the last two of which tell it. */
static inline unsigned char statistic_poison(size_t at, size_t size)
{
    return at + 1 == size ? 0xff : at + 2 == size ? 0xfd : 0xda;
}

static inline void poison_statistics(void *data, size_t bytes, size_t size)
{
    for (size_t i = 0; i < bytes; i++)
        ((unsigned char *)data)[i] = statistic_poison(i % size, size);
}

static inline bool is_statistic_poison(const void *value, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if (((const unsigned char *)value)[i] != statistic_poison(i, size))
            return false;
    return true;
}

/* The same after it was carried to another type, which keeps the first bits of a NaN. */
static inline bool is_from_statistic_poison(const void *value, size_t size)
{
    const unsigned char *byte = value;
    return byte[size - 1] == 0xff && (byte[size - 2] | 3) == 0xff && byte[size - 2] != 0xff;
}

/* Between an input's rows: NaN of every type, which keeps its bits in sums and products. */
static inline void poison_gap(void *data, size_t bytes, size_t size)
{
    unsigned char *byte = data;
    memset(byte, 0x5a, bytes);
    for (size_t end = size; end <= bytes; end += size) {
        byte[end - 2] = 0xfb;
        byte[end - 1] = 0x7f;
    }
}

/* Whether it comes from there, whatever its sign. */
static inline bool is_from_gap(const void *value, size_t size)
{
    unsigned char gap[sizeof(double)];
    poison_gap(gap, size, size);
    return memcmp(value, gap, size - 1) == 0 &&
           (((const unsigned char *)value)[size - 1] & 0x7f) == gap[size - 1];
}

#endif
