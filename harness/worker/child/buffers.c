/* What lies where a kernel reads and writes.
 *
 * A tensor gets the end of a mapping, between two pages that nobody can access. Where its layout says so its
 * last byte touches the page behind, or its first byte the page before; a kernel that goes one element too
 * far there is stopped by the processor, and guard_find() tells which tensor it left. What is left of the
 * tensor's own pages holds a pattern, which guard_slack_changed() looks at after the call. Inputs are
 * read-only in their place and are filled in another one (a memory file that is mapped twice). After the
 * call the mapping waits for the next tensor of its size, full of NaN: who still reads there gets NaN, and
 * who writes there is named by guard_written_waiting(). */
#include "domain/poison.h"
#include "worker/child/internal.h"
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { SLACK_PATTERN = 0xa5, MAX_LIVE = 64 };

/* Every live buffer, for the signal handler. Copies, so that a caller's struct may move. */
static guarded live[MAX_LIVE];

static size_t page_size(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

static guarded *live_slot(const char *map)
{
    for (size_t i = 0; i < MAX_LIVE; i++)
        if (live[i].map == map)
            return &live[i];
    return NULL;
}

/* ---- mappings that wait ---- */

/* A judged call has eight buffers and there are ten thousands of calls: what one leaves serves the
 * next, with no page to be found and cleared, and larger ones serve smaller buffers by their end.
 * Before a plugin's code runs, what waits is filled with NaN, so that a kernel that kept an address is
 * seen. */
enum { MOST_WAITING = 48, ENOUGH_WAITING = 32, MOST_WAITING_BYTES = 64 << 20, SMALL = 256 << 10 };

static struct {
    guard_map maps[MOST_WAITING]; /* the last one was left last */
    size_t count, bytes;
} waiting;

static bool protect(char *from, size_t bytes, int protection)
{
    return bytes == 0 || mprotect(from, bytes, protection) == 0;
}

/* The last `inner` bytes before the page behind can be read, and written to if it is no input, and no
 * others accessed. */
static bool open_map(guard_map *map, size_t inner)
{
    char *end = map->begin + map->size - page_size();
    size_t open = map->fill || map->writable ? map->open : 0; /* as it is to be */
    bool fine = true;
    if (map->open > inner)
        fine = protect(end - map->open, map->open - inner, PROT_NONE);
    if (open < inner)
        fine = fine &&
               protect(end - inner, inner - open, map->fill ? PROT_READ : PROT_READ | PROT_WRITE);
    map->open = inner;
    map->writable = !map->fill;
    return fine;
}

static void close_map(guard_map *map)
{
    char *end = map->begin + map->size - page_size();
    protect(end - map->open, map->open, PROT_NONE);
    map->open = 0;
}

static void unmap(const guard_map *map)
{
    munmap(map->begin, map->size);
    if (map->fill)
        munmap(map->fill, map->size);
}

static unsigned char *opened(const guard_map *map)
{
    char *begin = map->fill ? map->fill : map->begin;
    return (unsigned char *)begin + map->size - page_size() - map->open;
}

static const char *written;

/* Of those that can be written to. */
static void look_at_poison(guard_map *map)
{
    const unsigned char *byte = opened(map);
    bool whole =
        map->open == 0 || (byte[0] == POISON && memcmp(byte, byte + 1, map->open - 1) == 0);
    if (map->poisoned && !map->fill && !whole)
        written = map->name;
    map->poisoned = false;
}

/* One that is open as far as is wanted, or else, of those that are large enough, the smallest; and of them
 * the one that was left last: a role gets the buffer of another one. */
static bool take_waiting(size_t inner, bool input, guard_map *taken)
{
    size_t best = waiting.count, whole = inner + 2 * page_size();
    for (size_t i = waiting.count; i-- > 0;) {
        const guard_map *map = &waiting.maps[i], *found = &waiting.maps[best];
        bool fits = map->size >= whole && !map->fill == !input;
        bool better = best == waiting.count ||
                      (found->open != inner && (map->open == inner || map->size < found->size));
        best = fits && better ? i : best;
    }
    /* Two system calls change what is open: while few wait, and it is small, another one is made. */
    bool few = waiting.count < ENOUGH_WAITING && inner <= SMALL;
    if (best == waiting.count || (few && waiting.maps[best].open != inner))
        return false;
    *taken = waiting.maps[best];
    waiting.count--;
    waiting.bytes -= taken->size;
    look_at_poison(taken);
    memmove(&waiting.maps[best], &waiting.maps[best + 1],
            (waiting.count - best) * sizeof *waiting.maps);
    return true;
}

static void drop_oldest(void)
{
    unmap(&waiting.maps[0]);
    waiting.bytes -= waiting.maps[0].size;
    waiting.count--;
    memmove(waiting.maps, waiting.maps + 1, waiting.count * sizeof *waiting.maps);
}

static void let_wait(const guard_map *map)
{
    if (map->size > MOST_WAITING_BYTES) {
        unmap(map);
        return;
    }
    while (waiting.count == MOST_WAITING || waiting.bytes + map->size > MOST_WAITING_BYTES)
        drop_oldest();
    waiting.maps[waiting.count++] = *map;
    waiting.bytes += map->size;
}

void guard_poison_waiting(void)
{
    for (size_t i = 0; i < waiting.count; i++) {
        guard_map *map = &waiting.maps[i];
        if (!map->fill && !map->writable)
            close_map(map);
        if (!map->poisoned)
            memset(opened(map), POISON, map->open);
        map->poisoned = true;
    }
}

const char *guard_written_waiting(void)
{
    const char *found = written;
    written = NULL;
    return found;
}

/* Room for a power of two of pages, where that is not much: others are to fit in later. */
static bool new_map(size_t inner, bool input, guard_map *made)
{
    enum { MUCH = 4 << 20 };
    size_t room = page_size();
    while (room < inner && inner <= MUCH)
        room *= 2;
    size_t whole = (room > inner ? room : inner) + 2 * page_size();
    int file = input ? memfd_create("lnbench-input", MFD_CLOEXEC) : -1;
    const int flags = input ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS;
    if (input && (file < 0 || ftruncate(file, (off_t)whole) != 0)) {
        close(file);
        return false;
    }
    char *map = mmap(NULL, whole, PROT_NONE, flags, file, 0);
    char *fill = input ? mmap(NULL, whole, PROT_READ | PROT_WRITE, flags, file, 0) : NULL;
    if (input)
        close(file);
    *made = (guard_map){.begin = map, .size = whole, .fill = fill};
    if (map != MAP_FAILED && fill != MAP_FAILED)
        return true;
    if (map != MAP_FAILED)
        munmap(map, whole);
    if (input && fill != MAP_FAILED)
        munmap(fill, whole);
    return false;
}

static bool create_guarded(guarded *buffer, const char *name, size_t size, guard_place place,
                           size_t offset, bool input)
{
    const size_t page = page_size(), half = page / 2;
    guard_map map;
    *buffer = (guarded){.name = name, .size = size};
    if (place != GUARD_TIMED)
        offset = 0;
    if (size > SIZE_MAX / 2)
        return false;
    /* Places differ in no page, so that the next call in another one finds them as they are. */
    size_t inner = (size + (offset > half ? offset : half) + page - 1) / page * page;
    guarded *slot = live_slot(NULL);
    if (!slot || (!take_waiting(inner, input, &map) && !new_map(inner, input, &map)))
        return false;
    if (!open_map(&map, inner)) {
        unmap(&map);
        return false;
    }
    char *begin = map.begin + map.size - page - inner;
    buffer->of = map;
    buffer->map = begin - page;
    buffer->map_size = inner + 2 * page;
    buffer->data = begin + (place == GUARD_BEHIND ? inner - size : offset);
    buffer->fill = map.fill ? map.fill + ((char *)buffer->data - map.begin) : buffer->data;
    buffer->read_only = input;
    char *data = buffer->fill, *first = data - ((char *)buffer->data - begin);
    memset(first, SLACK_PATTERN, (size_t)(data - first));
    memset(data + size, SLACK_PATTERN, (size_t)(first + inner - (data + size)));
    *slot = *buffer;
    return true;
}

bool guard_create(guarded *buffer, const char *name, size_t size, guard_place place, size_t offset)
{
    return create_guarded(buffer, name, size, place, offset, false);
}

bool guard_create_input(guarded *buffer, const char *name, size_t size, guard_place place,
                        size_t offset)
{
    return create_guarded(buffer, name, size, place, offset, true);
}

static bool set_protection(guarded *buffer, int protection)
{
    size_t page = page_size();
    if (mprotect(buffer->map + page, buffer->map_size - 2 * page, protection) != 0)
        return false;
    buffer->read_only = !(protection & PROT_WRITE);
    buffer->of.writable = !buffer->read_only;
    guarded *slot = live_slot(buffer->map);
    if (slot)
        slot->read_only = buffer->read_only;
    return true;
}

bool guard_protect(guarded *buffer)
{
    return !buffer->map || buffer->of.fill || set_protection(buffer, PROT_READ);
}

bool guard_release(guarded *buffer)
{
    return !buffer->map || !buffer->read_only || buffer->of.fill ||
           set_protection(buffer, PROT_READ | PROT_WRITE);
}

void guard_destroy(guarded *buffer)
{
    if (!buffer->map)
        return;
    guarded *slot = live_slot(buffer->map);
    if (slot)
        *slot = (guarded){0};
    buffer->of.name = buffer->name;
    let_wait(&buffer->of);
    *buffer = (guarded){0};
}

bool guard_slack_changed(const guarded *buffer, long *distance)
{
    if (!buffer->map)
        return false;
    size_t page = page_size();
    const unsigned char *begin = (unsigned char *)buffer->map + page;
    const unsigned char *end = (unsigned char *)buffer->map + buffer->map_size - page;
    const unsigned char *data = buffer->data;
    for (const unsigned char *p = data + buffer->size; p < end; p++) {
        if (*p != SLACK_PATTERN) {
            *distance = (long)(p - (data + buffer->size));
            return true;
        }
    }
    for (const unsigned char *p = data; p-- > begin;) {
        if (*p != SLACK_PATTERN) {
            *distance = -(long)(data - p);
            return true;
        }
    }
    return false;
}

guard_fault guard_find(const void *address)
{
    guard_fault fault = {0};
    uintptr_t at = (uintptr_t)address;
    for (size_t i = 0; i < MAX_LIVE; i++) {
        const guarded *buffer = &live[i];
        uintptr_t map = (uintptr_t)buffer->map;
        if (!map || at < map || at >= map + buffer->map_size)
            continue;
        uintptr_t data = (uintptr_t)buffer->data;
        fault.buffer = buffer;
        if (at >= data + buffer->size)
            fault.bytes_behind = (long)(at - (data + buffer->size));
        else if (at < data)
            fault.bytes_before = (long)(data - at);
        else if (buffer->read_only)
            fault.write_to_input = true;
        else
            fault.buffer = NULL; /* ours, and open to all: somebody unmapped it */
        return fault;
    }
    return fault;
}

/* ---- the tensors of an order ---- */

bool parameters_create(guarded buffers[ROLES_MOST], const work_order *order)
{
    bool fine = true;
    for (size_t i = 0; fine && i < role_count(order); i++) {
        const tensor_role *role = role_of(order, i);
        off_t at = order->at.tensors[i];
        if (at < 0 || role->output || !role_is_parameter(role))
            continue;
        role_extent extent = role_extent_of(role, &order->problem, order->problem.storage);
        size_t bytes = extent_bytes(&extent);
        fine = guard_create(&buffers[i], role->name, bytes, GUARD_TIMED, GUARD_TIMED_READ_OFFSET) &&
               memcpy(buffers[i].data, worker_memory(at), bytes) && guard_protect(&buffers[i]);
    }
    return fine;
}

void buffers_set(const work_order *order, const guarded buffers[ROLES_MOST], ln_tensors *tensors)
{
    for (size_t i = 0; i < role_count(order); i++)
        if (buffers[i].map)
            role_set(i, tensors, buffers[i].data);
}

void buffers_destroy(guarded buffers[ROLES_MOST])
{
    for (size_t i = 0; i < ROLES_MOST; i++)
        guard_destroy(&buffers[i]);
}

/* ---- memory of the worker's own ---- */

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
