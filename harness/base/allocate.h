/* Allocations that never return NULL: where memory runs out, lnbench ends with one line and exit
 * code 7 (cli/memory.c), and any other program aborts. Not for what liblnjudge or the worker use
 * (domain, inputs, judge, referee, part of base): those return errors.
 *
 *     list->items = allocate_room(list->items, list->count, sizeof *list->items);
 *     list->items[list->count++] = item;
 */
#ifndef LNBENCH_ALLOCATE_H
#define LNBENCH_ALLOCATE_H

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static inline void *allocated(void *place)
{
    if (!place)
        abort();
    return place;
}

static inline void *allocate(size_t size)
{
    return allocated(malloc(size));
}

/* Zeroed. */
static inline void *allocate_zeroed(size_t count, size_t size)
{
    return allocated(calloc(count, size));
}

/* size > 0. */
static inline void *reallocate(void *old, size_t size)
{
    return allocated(realloc(old, size));
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
