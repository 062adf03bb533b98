#include "worker/child/scratch.h"
#include <stdbool.h>
#include <stdint.h>
#include <sys/mman.h>

enum { LINE = 64, HUGE = 2 << 20, CLASSES = 48 };

typedef struct free_place {
    struct free_place *next;
} free_place;

static free_place *given[CLASSES]; /* by the power of two that they have room for, in lines */
static char *room;
static size_t left;

static size_t class_of(size_t bytes)
{
    size_t class = 0;
    while (((size_t)LINE << class) < bytes && class < CLASSES - 1)
        class ++;
    return class;
}

/* Begins where a huge page does. */
static bool find_room(size_t bytes)
{
    size_t whole = (bytes + HUGE - 1) / HUGE * HUGE + HUGE;
    char *map = mmap(NULL, whole, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (map == MAP_FAILED)
        return false;
    size_t before = (HUGE - (uintptr_t)map % HUGE) % HUGE;
    room = map + before;
    left = whole - before;
    madvise(room, left, MADV_HUGEPAGE);
    return true;
}

void *scratch_take(size_t bytes)
{
    size_t class = class_of(bytes), whole = (size_t)LINE << class;
    free_place *place = given[class];
    if (whole < bytes)
        return NULL;
    if (place) {
        given[class] = place->next;
        return place;
    }
    if (whole > left && !find_room(whole))
        return NULL;
    room += whole;
    left -= whole;
    return room - whole;
}

void scratch_give(void *place, size_t bytes)
{
    free_place *back = place;
    size_t class = class_of(bytes);
    if (!back)
        return;
    back->next = given[class];
    given[class] = back;
}
