#include "worker/child/guard.h"
#include "worker/child/system_calls.h"
#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

enum { SLACK_PATTERN = 0xa5, MAX_LIVE = 32 };

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
 * next, with no page to be found and cleared. What waits cannot be accessed, so that a kernel that
 * kept an address is seen. */
enum { MOST_WAITING = 16, MOST_WAITING_BYTES = 32 << 20 };

typedef struct waiting_map {
    char *map;
    size_t size;
} waiting_map;

static struct {
    waiting_map maps[MOST_WAITING]; /* the last one was left last */
    size_t count, bytes;
} waiting;

static bool open_inner(char *map, size_t whole)
{
    size_t page = page_size();
    return mprotect(map + page, whole - 2 * page, PROT_READ | PROT_WRITE) == 0;
}

static char *take_waiting(size_t whole)
{
    for (size_t i = waiting.count; i-- > 0;) {
        char *map = waiting.maps[i].map;
        if (waiting.maps[i].size != whole)
            continue;
        waiting.count--;
        waiting.bytes -= whole;
        memmove(&waiting.maps[i], &waiting.maps[i + 1], (waiting.count - i) * sizeof *waiting.maps);
        if (open_inner(map, whole))
            return map;
        munmap(map, whole);
        return NULL;
    }
    return NULL;
}

static void drop_oldest(void)
{
    munmap(waiting.maps[0].map, waiting.maps[0].size);
    waiting.bytes -= waiting.maps[0].size;
    waiting.count--;
    memmove(waiting.maps, waiting.maps + 1, waiting.count * sizeof *waiting.maps);
}

static void let_wait(char *map, size_t whole)
{
    if (whole > MOST_WAITING_BYTES || mprotect(map, whole, PROT_NONE) != 0) {
        munmap(map, whole);
        return;
    }
    while (waiting.count == MOST_WAITING || waiting.bytes + whole > MOST_WAITING_BYTES)
        drop_oldest();
    waiting.maps[waiting.count++] = (waiting_map){map, whole};
    waiting.bytes += whole;
}

void guard_drop_waiting(void)
{
    while (waiting.count > 0)
        drop_oldest();
}

static char *new_map(size_t whole)
{
    char *map = mmap(NULL, whole, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (map == MAP_FAILED)
        return NULL;
    if (open_inner(map, whole))
        return map;
    munmap(map, whole);
    return NULL;
}

bool guard_create(guarded *buffer, const char *name, size_t size, guard_place place, size_t offset)
{
    size_t page = page_size();
    *buffer = (guarded){.name = name, .size = size};
    if (place != GUARD_TIMED)
        offset = 0;
    if (size > SIZE_MAX / 2)
        return false;
    size_t inner = (size + offset + page - 1) / page * page;
    if (inner == 0)
        inner = page;
    size_t whole = inner + 2 * page;
    guarded *slot = live_slot(NULL);
    char *map = slot ? take_waiting(whole) : NULL;
    if (slot && !map)
        map = new_map(whole);
    if (!map)
        return false;
    buffer->map = map;
    buffer->map_size = whole;
    buffer->data = map + page + (place == GUARD_BEHIND ? inner - size : offset);
    char *data = buffer->data;
    memset(map + page, SLACK_PATTERN, (size_t)(data - (map + page)));
    memset(data + size, SLACK_PATTERN, (size_t)(map + page + inner - (data + size)));
    *slot = *buffer;
    return true;
}

static bool set_protection(guarded *buffer, int protection)
{
    size_t page = page_size();
    if (mprotect(buffer->map + page, buffer->map_size - 2 * page, protection) != 0)
        return false;
    buffer->read_only = !(protection & PROT_WRITE);
    guarded *slot = live_slot(buffer->map);
    if (slot)
        slot->read_only = buffer->read_only;
    return true;
}

bool guard_protect(guarded *buffer)
{
    buffer->mark = system_calls_mark();
    return !buffer->map || set_protection(buffer, PROT_READ);
}

bool guard_release(guarded *buffer)
{
    return !buffer->map || !buffer->read_only || set_protection(buffer, PROT_READ | PROT_WRITE);
}

void guard_destroy(guarded *buffer)
{
    if (!buffer->map)
        return;
    guarded *slot = live_slot(buffer->map);
    if (slot)
        *slot = (guarded){0};
    let_wait(buffer->map, buffer->map_size);
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

bool guard_is_protected(const guarded *buffer)
{
    return !buffer->map || !buffer->read_only || !system_calls_since(buffer->mark) ||
           (getrandom(buffer->data, 1, 0) < 0 && errno == EFAULT);
}

bool guard_holds(const void *address)
{
    for (size_t i = 0; i < MAX_LIVE; i++)
        if (live[i].map && (const char *)address >= live[i].map &&
            (const char *)address < live[i].map + live[i].map_size)
            return true;
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
