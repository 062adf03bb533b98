/* Memory that is freed all at once: one arena for a command, and one for each case.
 *
 *     arena memory = {0};
 *     double *rows = arena_new(&memory, double, count); // zeroed, never NULL
 *     char *path = arena_format(&memory, "%s/%s.svg", folder, stem);
 *     arena_free(&memory);
 *
 * Each thread needs its own arena. */
#ifndef LNBENCH_ARENA_H
#define LNBENCH_ARENA_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef struct arena {
    struct arena_block *blocks; /* the newest first */
} arena;

#define arena_new(memory, type, count) ((type *)arena_take(memory, count, sizeof(type)))
/* Returns zeroed memory that is aligned for any type. */
void *arena_take(arena *memory, size_t count, size_t size) __attribute__((alloc_size(2, 3)));
/* Reserves one block of `bytes` if less room is left, for allocations that are about to come. */
void arena_expect(arena *memory, size_t bytes);
char *arena_format(arena *memory, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Empties the arena, but keeps one block for the next allocations. */
void arena_reset(arena *memory);
/* Frees everything. The arena is empty and can be used again. */
void arena_free(arena *memory);

/* Called with the number of bytes that could not be allocated; it must not return. NULL: memory_is_out() prints a
 * line and exits with code 7. lnbench and liblnjudge set die_of_memory() (base/die.h). */
extern void (*out_of_memory)(size_t bytes);
_Noreturn void memory_is_out(size_t bytes);

/* Allocations that never return NULL: if memory runs out, the program ends with one line and exit code 7.
 *
 *     list->items = allocate_room(list->items, list->count, sizeof *list->items);
 *     list->items[list->count++] = item;
 */

static inline void *allocate(size_t size)
{
    void *place = malloc(size);
    if (!place)
        memory_is_out(size);
    return place;
}

/* Returns zeroed memory. */
static inline void *allocate_zeroed(size_t count, size_t size)
{
    void *place = calloc(count, size);
    if (!place)
        memory_is_out(count * size);
    return place;
}

/* Resizes memory; `size` must not be 0. */
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

/* Makes room for one more element after `count` elements; the list must grow only by this function. */
static inline void *allocate_room(void *list, size_t count, size_t size)
{
    return (count & (count - 1)) == 0 ? reallocate(list, (count ? 2 * count : 1) * size) : list;
}

#endif
