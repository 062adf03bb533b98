/* The memory that a kernel reads and writes.
 *
 * A tensor is between two inaccessible pages. Depending on its layout, its last byte touches the page after it, or its
 * first byte the page before it; a kernel that goes one element too far there faults, and guard_find() names the
 * tensor. The rest of the tensor's own pages (the slack) holds a pattern, which guard_slack_changed() checks after the
 * call. The memory file of an input is mapped twice, read-only for the kernel and writable to fill it. After the call
 * the mapping waits for the next tensor of its size, full of NaN: a kernel that still reads it gets NaN, and
 * guard_written_waiting() names the tensor if a kernel still writes to it. */
#include "base/hash.h"
#include "domain/operation.h"
#include "worker/child/buffers.h"
#include <pthread.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
    SLACK_PATTERN = 0xa5,
    GAP_PATTERN = 0x5a, /* between the rows of an output */
    MAX_LIVE = 128,
    MOST_WAITING = 128,
    MOST_WAITING_BYTES = 64 << 20,
    HUGE_PAGE = 2 << 20,
    SMALL = 64 << 10, /* bytes, up to which a buffer has a power of two of pages */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* several threads may call liblnjudge */

/* Copies of all live buffers, for the signal handler; they are copies so that a caller's struct may move. */
static guarded live[MAX_LIVE];

/* The mappings of destroyed buffers, the newest last. A judged call has eight buffers and there are tens of thousands
 * of calls: reuse saves the system from finding and clearing pages. */
static guarded waiting[MOST_WAITING];
static size_t waiting_count, waiting_bytes;
static const char *written;

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

/* Returns the first byte after the first inaccessible page, in the writable mapping. */
static unsigned char *inside_of(const guarded *buffer)
{
    return (unsigned char *)(buffer->second ? buffer->second : buffer->map) + page_size();
}

static size_t inside_bytes(const guarded *buffer)
{
    return buffer->map_size - 2 * page_size();
}

static bool is_filled_with(const unsigned char *from, size_t bytes, int pattern)
{
    return bytes == 0 || (*from == pattern && memcmp(from, from + 1, bytes - 1) == 0);
}

static void unmap(const guarded *buffer)
{
    munmap(buffer->map, buffer->map_size);
    if (buffer->second)
        munmap(buffer->second, buffer->map_size);
}

static void take_waiting(size_t i)
{
    waiting_bytes -= waiting[i].map_size;
    waiting_count--;
    memmove(&waiting[i], &waiting[i + 1], (waiting_count - i) * sizeof *waiting);
}

/* Finds the smallest waiting mapping that is at most about four times as large as `inside`, the newest of equal ones,
 * so that a tensor often gets the memory of one with another role; or makes a new mapping. */
static bool find_map(guarded *buffer, size_t inside, bool input)
{
    const size_t page = page_size(), whole = inside + 2 * page;
    size_t best = waiting_count;
    for (size_t i = waiting_count; i-- > 0;)
        if (waiting[i].map_size >= whole && waiting[i].map_size - whole <= 3 * inside &&
            !waiting[i].second == !input &&
            (best == waiting_count || waiting[i].map_size < waiting[best].map_size))
            best = i;
    if (best < waiting_count) {
        *buffer = waiting[best];
        take_waiting(best);
        if (buffer->poisoned && !input &&
            !is_filled_with(inside_of(buffer), inside_bytes(buffer), POISON))
            written = buffer->name;
        return true;
    }
    const int flags = input ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS;
    const int usable = input ? PROT_READ : PROT_READ | PROT_WRITE;
    int file = input ? memfd_create("lnbench-input", MFD_CLOEXEC) : -1;
    char *map = MAP_FAILED, *second = NULL;
    if (!input || (file >= 0 && ftruncate(file, (off_t)whole) == 0))
        map = mmap(NULL, whole, PROT_NONE, flags, file, 0);
    if (input && map != MAP_FAILED)
        second = mmap(NULL, whole, PROT_READ | PROT_WRITE, flags, file, 0);
    if (file >= 0)
        close(file);
    if (map == MAP_FAILED)
        return false;
    *buffer = (guarded){.map = map, .map_size = whole, .second = second};
    if (second != MAP_FAILED && mprotect(map + page, inside, usable) == 0) {
        /* Map all pages now: else each costs a page fault, or two for an input. Large buffers, which timing has in huge
         * pages, get their pages when they are filled. */
        if (input)
            madvise(second + page, inside, MADV_POPULATE_WRITE);
        if (input || inside < HUGE_PAGE)
            madvise(map + page, inside, input ? MADV_POPULATE_READ : MADV_POPULATE_WRITE);
        return true;
    }
    munmap(map, whole);
    return false;
}

bool guard_create(guarded *buffer, const char *name, size_t size, guard_place place, size_t offset,
                  bool input)
{
    const size_t page = page_size(), half = page / 2;
    guarded made = {0};
    if (place == GUARD_BEHIND || place == GUARD_BEFORE)
        offset = 0;
    size_t least = offset > half ? offset : half; /* the least slack */
    if (place == GUARD_AMID) {
        offset += page;
        least = offset + page;
    }
    *buffer = made;
    if (size > SIZE_MAX / 2)
        return false;
    /* Round up, so that a slightly larger tensor, or one in another place, can reuse the mapping. */
    size_t inside = (size + least + page - 1) / page * page, step = page;
    while (step < (inside <= SMALL ? inside : inside / 4))
        step *= 2;
    inside = (inside + step - 1) / step * step;
    pthread_mutex_lock(&lock);
    guarded *slot = live_slot(NULL);
    bool fine = slot && find_map(&made, inside, input);
    if (fine) {
        made.name = name;
        made.size = size;
        made.read_only = input;
        made.poisoned = false;
        inside = inside_bytes(&made);
        made.data = made.map + page + (place == GUARD_BEHIND ? inside - size : offset);
        made.fill = input ? made.second + ((char *)made.data - made.map) : made.data;
        *slot = *buffer = made;
    }
    pthread_mutex_unlock(&lock);
    if (!fine)
        return false;
    char *first = (char *)inside_of(&made), *data = made.fill;
    memset(first, SLACK_PATTERN, (size_t)(data - first));
    memset(data + size, SLACK_PATTERN, (size_t)(first + inside - (data + size)));
    return true;
}

bool guard_protect(guarded *buffer, bool read_only)
{
    if (mprotect(buffer->map + page_size(), inside_bytes(buffer),
                 read_only ? PROT_READ : PROT_READ | PROT_WRITE) != 0)
        return false;
    buffer->read_only = live_slot(buffer->map)->read_only = read_only;
    return true;
}

void guard_destroy(guarded *buffer)
{
    if (!buffer->map)
        return;
    pthread_mutex_lock(&lock);
    *live_slot(buffer->map) = (guarded){0};
    if (buffer->map_size > MOST_WAITING_BYTES || (buffer->read_only && !buffer->second)) {
        unmap(buffer);
    } else {
        while (waiting_count == MOST_WAITING ||
               waiting_bytes + buffer->map_size > MOST_WAITING_BYTES) {
            unmap(&waiting[0]);
            take_waiting(0);
        }
        waiting[waiting_count++] = *buffer;
        waiting_bytes += buffer->map_size;
    }
    pthread_mutex_unlock(&lock);
    *buffer = (guarded){0};
}

void guard_poison_waiting(void)
{
    for (size_t i = 0; i < waiting_count; i++) {
        if (!waiting[i].poisoned)
            memset(inside_of(&waiting[i]), POISON, inside_bytes(&waiting[i]));
        waiting[i].poisoned = true;
    }
}

const char *guard_written_waiting(void)
{
    const char *found = written;
    written = NULL;
    return found;
}

void guard_forget_waiting(void)
{
    pthread_mutex_lock(&lock);
    for (; waiting_count > 0; take_waiting(0))
        unmap(&waiting[0]);
    pthread_mutex_unlock(&lock);
}

bool guard_slack_changed(const guarded *buffer, long *distance)
{
    if (!buffer->map)
        return false;
    const unsigned char *begin = inside_of(buffer), *end = begin + inside_bytes(buffer);
    const unsigned char *data = buffer->fill, *behind = data + buffer->size;
    if (!is_filled_with(behind, (size_t)(end - behind), SLACK_PATTERN)) {
        for (*distance = 0; behind[*distance] == SLACK_PATTERN;)
            ++*distance;
        return true;
    }
    if (!is_filled_with(begin, (size_t)(data - begin), SLACK_PATTERN)) {
        for (*distance = -1; data[*distance] == SLACK_PATTERN;)
            --*distance;
        return true;
    }
    return false;
}

void guard_find(const void *address, char *text, size_t size, verdict_kind *verdict)
{
    const uintptr_t at = (uintptr_t)address;
    for (size_t i = 0; i < MAX_LIVE; i++) {
        const guarded *buffer = &live[i];
        const uintptr_t map = (uintptr_t)buffer->map, data = (uintptr_t)buffer->data;
        if (!map || at < map || at >= map + buffer->map_size)
            continue;
        const long behind = (long)(at - (data + buffer->size)), before = (long)(data - at);
        if (behind > 0)
            snprintf(text, size, "reads or writes %ld bytes behind the end of %s", behind,
                     buffer->name);
        else if (behind == 0)
            snprintf(text, size, "reads or writes right behind the end of %s", buffer->name);
        else if (before > 0)
            snprintf(text, size, "reads or writes %ld bytes before %s", before, buffer->name);
        else if (buffer->read_only)
            snprintf(text, size, "wrote to %s", buffer->name);
        else /* the address is inside a writable buffer: somebody unmapped it */
            return;
        *verdict = behind >= 0 || before > 0 ? VERDICT_OVERRUN : VERDICT_INPUT_MODIFIED;
        return;
    }
}

/* ---- rows ---- */

void rows_lay_out(void *data, const role_extent *extent, const char *dense)
{
    if (extent->stride_bytes == extent->row_bytes) {
        memcpy(data, dense, extent_bytes(extent));
        return;
    }
    for (size_t row = 0; row < extent->rows; row++) {
        char *begin = (char *)data + row * extent->stride_bytes;
        memcpy(begin, dense + row * extent->row_bytes, extent->row_bytes);
        if (row + 1 < extent->rows)
            poison_gap(begin + extent->row_bytes, extent->stride_bytes - extent->row_bytes,
                       extent->element);
    }
}

/* Returns true if the pattern between the rows of an output is unchanged. */
static bool gaps_are_whole(const role_extent *extent, const void *data)
{
    const unsigned char *byte = data;
    for (size_t row = 0; row + 1 < extent->rows; row++)
        for (size_t i = row * extent->stride_bytes + extent->row_bytes;
             i < (row + 1) * extent->stride_bytes; i++)
            if (byte[i] != GAP_PATTERN)
                return false;
    return true;
}

/* ---- the tensors of a call ---- */

bool tensors_input_is_written(const call_tensors *of, size_t input)
{
    bool found = false;
    for (size_t i = 0; i < of->what->count; i++)
        found |= i != input && of->message->at.tensors[i] >= 0 &&
                 of->message->layout.tensors[i].lies_in == input;
    return found;
}

/* Copies the message's rows from `first` on. Altered rows have one random element replaced by another, or all elements
 * in reverse order. */
static void fill_input(call_tensors *of, size_t i, size_t first, bool altered)
{
    const role_extent *extent = &of->extents[i];
    char *data = of->buffers[i].fill;
    uint64_t drawn = of->message->seed + i;
    size_t from = role_is_parameter(&of->what->roles[i]) ? 0 : first * extent->row_bytes;
    rows_lay_out(data, extent, of->memory + of->message->at.tensors[i] + from);
    for (size_t r = 0; altered && r < extent->rows; r++) {
        const size_t size = extent->element, count = extent->row_bytes / size;
        const uint64_t word = splitmix64(&drawn);
        char *row = data + r * extent->stride_bytes, kept[sizeof(double)];
        if (word & 1)
            memcpy(row + (word >> 33) % count * size, row + (word >> 1) % count * size, size);
        for (size_t k = 0; !(word & 1) && k < count / 2; k++) {
            memcpy(kept, row + k * size, size);
            memcpy(row + k * size, row + (count - 1 - k) * size, size);
            memcpy(row + (count - 1 - k) * size, kept, size);
        }
    }
}

bool tensors_create(call_tensors *made, const worker_message *message, const char *memory,
                    const ln_problem *problem, ln_type accumulator, bool protects)
{
    *made = (call_tensors){.message = message,
                           .what = operations[message->operation],
                           .memory = memory,
                           .problem = *problem};
    for (size_t i = 0; i < made->what->count; i++) {
        const tensor_role *role = &made->what->roles[i];
        const tensor_layout *layout = &message->layout.tensors[i];
        bool input = protects && !role->output && !tensors_input_is_written(made, i);
        made->extents[i] = role_extent_of(role, problem, accumulator);
        if (message->at.tensors[i] < 0)
            continue;
        if (layout->lies_in == i &&
            !guard_create(&made->buffers[i], role->name, extent_bytes(&made->extents[i]),
                          layout->place, layout->offset, input))
            return false;
        if (layout->lies_in == i && !role->output && role_is_parameter(role))
            fill_input(made, i, 0, false);
        role_set(i, &made->given, made->buffers[layout->lies_in].data);
    }
    return true;
}

void tensors_fill(call_tensors *of, size_t first, bool altered)
{
    bool parameters = of->message->layout.calls == CALLS_REPEATED;
    for (size_t i = 0; i < of->what->count; i++) {
        const tensor_role *role = &of->what->roles[i];
        if (!of->buffers[i].map)
            continue;
        const role_extent *extent = &of->extents[i];
        char *data = of->buffers[i].data;
        if (!role->output) {
            if (parameters || !role_is_parameter(role))
                fill_input(of, i, first, altered);
        } else if (role->type == TYPE_ACCUMULATOR) {
            poison_statistics(data, extent_bytes(extent), extent->element);
        } else { /* poison in the rows, and between them a pattern that must not change */
            memset(data, GAP_PATTERN, extent_bytes(extent));
            for (size_t row = 0; row < extent->rows; row++)
                memset(data + row * extent->stride_bytes, POISON, extent->row_bytes);
        }
    }
}

bool tensors_are_clean(const call_tensors *of, char *text, size_t size)
{
    for (size_t i = 0; i < of->what->count; i++) {
        const guarded *buffer = &of->buffers[i];
        long distance;
        if (guard_slack_changed(buffer, &distance)) {
            if (distance == 0)
                snprintf(text, size, "wrote right behind the end of %s", buffer->name);
            else
                snprintf(text, size, "wrote %ld bytes %s %s", labs(distance),
                         distance < 0 ? "before" : "behind the end of", buffer->name);
            return false;
        }
    }
    for (size_t i = 0; i < of->what->count; i++)
        if (of->buffers[i].map && of->what->roles[i].output &&
            !gaps_are_whole(&of->extents[i], of->buffers[i].data)) {
            snprintf(text, size,
                     "wrote between the rows of y or sum: it must use y_stride and sum_stride, or "
                     "decline them in supports()");
            return false;
        }
    return true;
}

void tensors_hand_back(const call_tensors *of, size_t first)
{
    for (size_t i = 0; i < of->what->count; i++) {
        const off_t at = of->message->at.tensors[i];
        const role_extent *extent = &of->extents[i];
        char *dense = (char *)(uintptr_t)of->memory + at + first * extent->row_bytes;
        const char *data = role_get(i, &of->given);
        for (size_t row = 0; of->what->roles[i].output && at >= 0 && row < extent->rows; row++)
            memcpy(dense + row * extent->row_bytes, data + row * extent->stride_bytes,
                   extent->row_bytes);
    }
}

void tensors_destroy(call_tensors *of)
{
    for (size_t i = 0; i < ROLES_MOST; i++)
        guard_destroy(&of->buffers[i]);
}
