/* Allocations that never return NULL: where memory runs out, the program ends with one line and exit
 * code 7 (base/arena.h). Not for what liblnjudge or the worker use (domain, inputs, judge, conformance,
 * part of base): those return errors.
 *
 *     list->items = allocate_room(list->items, list->count, sizeof *list->items);
 *     list->items[list->count++] = item;
 */
#ifndef LNBENCH_ALLOCATE_H
#define LNBENCH_ALLOCATE_H

#include "base/arena.h"
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static inline void *allocate(size_t size)
{
    void *place = malloc(size);
    if (!place)
        memory_is_out(size);
    return place;
}

/* Zeroed. */
static inline void *allocate_zeroed(size_t count, size_t size)
{
    size_t bytes;
    void *place = calloc(count, size);
    if (!place)
        memory_is_out(__builtin_mul_overflow(count, size, &bytes) ? SIZE_MAX : bytes);
    return place;
}

/* size > 0. */
static inline void *reallocate(void *old, size_t size)
{
    void *place = realloc(old, size);
    if (!place)
        memory_is_out(size);
    return place;
}

static inline void *allocate_copy(const void *bytes, size_t size)
{
    return memcpy(allocate(size), bytes, size);
}

/* For one more element behind the `count` there are, of a list that grows by nothing else. */
static inline void *allocate_room(void *list, size_t count, size_t size)
{
    return (count & (count - 1)) == 0 ? reallocate(list, (count ? 2 * count : 1) * size) : list;
}

#endif
