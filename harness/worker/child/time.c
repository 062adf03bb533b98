/* Times the kernels of a group, which share a shape.
 *
 * 1. TIME_BEGIN makes buffers for x and y, and reads the two judged inputs.
 * 2. TIME_ENTRY, once for each kernel and each copy, calls prepare(), and moves the code to random pages.
 * 3. TIME_RUN: Google Benchmark runs all entries, interleaved. Before each repetition y is poisoned and x gets
 *    one of the two inputs; afterwards the output must be bit for bit the judged one. If a row's bits depend on
 *    its place in the batch, the rows that differ are sent to be judged too, and all later repetitions must give
 *    that output. None of this is timed.
 *
 * In place (y is x) a call overwrites its input, so the calls use copies of x in turn. When all are used up they are
 * restored, untimed. A timed copy then copies each x onto itself: every byte is read and written once, as by the best
 * kernel. */
#include "base/clock.h"
#include "base/hash.h"
#include "domain/operation.h"
#include "hayai.h"
#include "hayai_benchmark.h"
#include "worker/child/internal.h"
#include <errno.h>
#include <link.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

/* ---- copies, which measure the cost of moving the bytes: loops with the widest vectors of this CPU (memcpy is half as
 * fast at some offsets in L2), with ordinary or with non-temporal stores, and `rep movsb` ---- */

#if defined(__x86_64__)
#include <immintrin.h>

/* Defines a loop that copies four vectors in each iteration, with aligned loads and the given stores. */
#define COPY(name, isa, vector, load, store, fence)                                                \
    __attribute__((target(isa))) static void name(const void *x, void *y, size_t bytes)            \
    {                                                                                              \
        const vector *from = x;                                                                    \
        vector *to = y;                                                                            \
        size_t i = 0, vectors = bytes / sizeof(vector) & ~(size_t)3;                               \
        for (; i < vectors; i += 4) {                                                              \
            vector a = load(from + i), b = load(from + i + 1);                                     \
            vector c = load(from + i + 2), d = load(from + i + 3);                                 \
            store(to + i, a);                                                                      \
            store(to + i + 1, b);                                                                  \
            store(to + i + 2, c);                                                                  \
            store(to + i + 3, d);                                                                  \
        }                                                                                          \
        memmove(to + i, from + i, bytes - i * sizeof(vector));                                     \
        fence();                                                                                   \
    }

static inline void no_fence(void)
{
}

COPY(copy_avx512, "avx512f", __m512i, _mm512_load_si512, _mm512_store_si512, no_fence)
COPY(copy_nt_avx512, "avx512f", __m512i, _mm512_load_si512, _mm512_stream_si512, _mm_sfence)
COPY(copy_avx2, "avx2", __m256i, _mm256_load_si256, _mm256_store_si256, no_fence)
COPY(copy_nt_avx2, "avx2", __m256i, _mm256_load_si256, _mm256_stream_si256, _mm_sfence)
COPY(copy_nt_baseline, "sse2", __m128i, _mm_load_si128, _mm_stream_si128, _mm_sfence)
#endif

static void copy_baseline(const void *x, void *y, size_t bytes)
{
    memmove(y, x, bytes);
}

/* Copies with the CPU's own instruction, or with the C library if there is none. */
static void copy_rep(const void *x, void *y, size_t bytes)
{
#if defined(__x86_64__)
    __asm__ volatile("rep movsb" : "+D"(y), "+S"(x), "+c"(bytes) : : "memory");
#else
    memmove(y, x, bytes);
#endif
}

/* Finds the copy of a name in copy_names. On other CPUs than x86-64 both loops are the same. */
static copy_function *copy_find(const char *name)
{
    bool plain = strcmp(name, copy_names[COPY_PLAIN]) == 0;
    if (!plain && strcmp(name, copy_names[COPY_NT]) != 0)
        return copy_rep;
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f"))
        return plain ? copy_avx512 : copy_nt_avx512;
    if (__builtin_cpu_supports("avx2"))
        return plain ? copy_avx2 : copy_nt_avx2;
    return plain ? copy_baseline : copy_nt_baseline;
#else
    return copy_baseline;
#endif
}

/* ---- code pages ----
 *
 * Every process that maps a file has its code on the same physical pages, those of the page cache. So the placement of
 * a file's code can slow it down in all processes: of two copies of one library, one was 2.7 % slower at 16x4096 in
 * every process, as long as its file was in the page cache. Random pages in each process turn this bias, which no
 * confidence interval shows, into noise, which the interval includes.
 *
 * The cause was not measured. It may be a cache that is indexed by physical address and includes the first level: data
 * that maps to the code's sets evicts the code from both levels, since code that runs from the first level looks old
 * to the second. */

enum { CODE_PLACE_MOST = 16 << 20, MOST_OBJECTS = 16, UNUSED_PAGES = 64 };

static char *take_pages(size_t bytes)
{
    void *map = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return map == MAP_FAILED ? NULL : map;
}

/* Copies whole pages word by word: AddressSanitizer reports memcpy() of the gaps between a program's variables. */
__attribute__((no_sanitize("address"))) static void copy_pages(char *to, const void *from,
                                                               size_t bytes)
{
    const volatile uint64_t *words = from;
    for (size_t i = 0; i < bytes / sizeof(*words); i++)
        ((volatile uint64_t *)(void *)to)[i] = words[i];
}

/* Replaces the pages of a segment by a copy in one step, since its code may be running. */
static bool move_segment(uintptr_t address, size_t bytes, int protection)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    uintptr_t begin = address / page * page;
    size_t whole = (address + bytes - begin + page - 1) / page * page;
    void *place = (void *)begin; // NOLINT(performance-no-int-to-ptr)
    char *copy = take_pages(whole);
    if (!copy)
        return false;
    copy_pages(copy, place, whole);
    if (mprotect(copy, whole, protection) != 0 ||
        mremap(copy, whole, whole, MREMAP_MAYMOVE | MREMAP_FIXED, place) == MAP_FAILED) {
        munmap(copy, whole);
        return false;
    }
    __builtin___clear_cache(place, (char *)place + whole);
    return true;
}

static bool is_read_only(const ElfW(Phdr) * segment)
{
    return segment->p_type == PT_LOAD && segment->p_flags & PF_R && !(segment->p_flags & PF_W);
}

static int visit_object(struct dl_phdr_info *info, size_t size, void *context)
{
    static uintptr_t moved[MOST_OBJECTS]; /* the load addresses of the moved objects */
    static size_t moved_count;
    const uintptr_t address = *(const uintptr_t *)context;
    bool found = false;
    size_t bytes = 0;
    (void)size;
    for (size_t i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        found |= segment->p_type == PT_LOAD &&
                 address - (info->dlpi_addr + segment->p_vaddr) < segment->p_memsz;
        bytes += is_read_only(segment) ? segment->p_memsz : 0;
    }
    bool movable = found && bytes <= CODE_PLACE_MOST && moved_count < MOST_OBJECTS;
    for (size_t i = 0; i < moved_count; i++)
        movable &= moved[i] != info->dlpi_addr;
    if (!movable)
        return found;
    moved[moved_count++] = info->dlpi_addr;
    bool done = true;
    for (size_t i = 0; done && i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        int protection = PROT_READ | (segment->p_flags & PF_X ? PROT_EXEC : 0);
        if (is_read_only(segment))
            done = move_segment(info->dlpi_addr + segment->p_vaddr, segment->p_memsz, protection);
    }
    return found;
}

/* Moves the code and constants of the file that contains `function` to new physical pages, after a random number of
 * unused pages. Addresses stay the same. A process moves each file once, and none with more than 16 MiB of code. If it
 * fails, the old pages are used. */
static void code_place_draw(void (*function)(void), uint64_t draw)
{
    uintptr_t address = (uintptr_t)function;
    /* These pages are touched and kept, so that the next ones are at another physical address. */
    size_t page = (size_t)sysconf(_SC_PAGESIZE), count = draw % UNUSED_PAGES;
    volatile char *unused = count > 0 ? take_pages(count * page) : NULL;
    for (size_t i = 0; unused && i < count; i++)
        unused[i * page] = 1;
    dl_iterate_phdr(visit_object, &address);
}

/* ---- a group ---- */

enum { PAGE = 4096, LINE = 64, MOST_COPIES = 256 };

enum { SEEN_NOTHING, SEEN_JUDGED, SEEN_OTHER };

typedef struct timed_entry {
    char name[NAME_MAX_LENGTH];
    unsigned index;
    const ln_kernel *kernel;            /* NULL: a copy */
    const thread_state *floating_point; /* the state in which its plugin is called */
    copy_function *copier;
    prepared_kernel prepared;
    char *expected[2];  /* the judged outputs of both inputs; for a copy, the inputs themselves */
    uint64_t *seen[2];  /* for each input and slot: SEEN_*, or the hash of other bits */
    hash_set varied;    /* hashes of the rows with other bits that were sent to be judged */
    unsigned rounds;    /* repetitions that are done */
    double cpu_seconds; /* in place: processor time of one call, without restoring the copies */
    double counted[COUNTS]; /* counters of the last repetition */
} timed_entry;

/* The group that is being timed; a worker has one at a time. */
static struct {
    ln_problem problem;
    unsigned threads;
    size_t row_bytes, block_bytes, tensor_bytes, slot_bytes, slots;
    off_t varied;
    guarded x, y;
    call_tensors parameters;
    worker_message message; /* the message that `parameters` refers to */
    char *block[2];
    int filled;          /* the input that x holds; -1: none */
    ln_tensors *tensors; /* the tensors of each slot, in the order in which calls use them */
    bool in_place;       /* there is no y */
    bool read_back;      /* y is read after each call */
    char *evictor;       /* cold: memory that is read before each repetition; else NULL */
    size_t evictor_bytes;
    timed_entry entries[WORKER_MAX_ENTRIES];
    unsigned count;
    uint64_t choice; /* state of the random generator */
    int first;       /* input of the first round */
    hayai_suite *suite;
    int counters[COUNTS];
} group;

static arena memory; /* of the group; it is never freed */

/* Copies a judged input or output from shared memory. */
static char *read_block(off_t at)
{
    return memcpy(arena_new(&memory, char, group.block_bytes), worker_memory(at),
                  group.block_bytes);
}

/* Makes the tensors of each slot, in random order: the CPU would prefetch slots that are used in ascending order. */
static void make_tensors(const worker_message *message)
{
    const operation *what = operations[message->operation];
    group.message = *message;
    group.message.layout = layout_named(LAYOUT_TIMED, what, message->problem.hidden);
    for (size_t i = 0; i < what->count; i++)
        if (!role_is_parameter(&what->roles[i]))
            group.message.at.tensors[i] = -1;
    if (!tensors_create(&group.parameters, &group.message, worker_memory(0), &message->problem,
                        message->problem.storage, false))
        worker_out_of_memory(0);
    for (size_t i = 0; i < what->count; i++)
        if (group.parameters.buffers[i].map)
            guard_protect(&group.parameters.buffers[i], true);
    group.tensors = arena_new(&memory, ln_tensors, group.slots);
    for (size_t i = 0; i < group.slots; i++) {
        size_t other = (size_t)(splitmix64(&group.choice) % (i + 1));
        group.tensors[i] = group.tensors[other];
        group.tensors[other] = group.parameters.given;
        group.tensors[other].x = (char *)group.x.data + i * group.slot_bytes;
        group.tensors[other].y =
            (char *)(group.in_place ? group.x : group.y).data + i * group.slot_bytes;
    }
}

void worker_time_begin(const worker_message *message)
{
    const ln_problem *problem = &message->problem;
    group.problem = *problem;
    group.row_bytes = problem->hidden * dtype_size(problem->storage);
    group.block_bytes = message->block_rows * group.row_bytes;
    group.varied = message->at.varied;
    group.tensor_bytes = problem->rows * group.row_bytes;
    /* Slots are whole cache lines, not pages: small tensors in pages of their own would use so few sets of a cache that
     * it holds them all. x and y have the same distance modulo 4096 in every slot. */
    group.slot_bytes = (group.tensor_bytes + LINE - 1) / LINE * LINE;
    group.slots = 1;
    group.filled = -1;
    group.choice = message->seed;
    group.first = (int)(splitmix64(&group.choice) >> 63);
    group.threads = message->threads > 1 ? message->threads : 1;
    if (!worker_threads_begin(group.threads, message->cpu))
        return;
    group.in_place = message->cache == CACHE_IN_PLACE;
    group.read_back = message->cache == CACHE_READ;
    size_t copies = message->rotated_bytes / group.slot_bytes;
    if (group.in_place && copies > 1)
        group.slots = copies < MOST_COPIES ? copies : MOST_COPIES;
    /* Cold: x and y of all slots together fill rotated_bytes (more than the last-level cache). As much other memory is
     * read before each repetition, since poisoning and comparing leave the caches full of y. */
    if (message->cache == CACHE_COLD) {
        group.slots = message->rotated_bytes / (2 * group.slot_bytes) + 2;
        group.evictor_bytes = message->rotated_bytes;
        group.evictor = arena_new(&memory, char, message->rotated_bytes);
        /* Written, since all untouched pages share one physical page. */
        memset(group.evictor, 1, message->rotated_bytes);
    }
    group.suite = hayai_suite_create();
    if (!group.suite)
        worker_out_of_memory(0);
    char why[64]; /* not reported here: lnbench doctor reports it */
    bool counts = group.threads == 1 && !group.in_place;
    if (!counts || !counters_open(group.counters, why, sizeof why))
        group.counters[COUNT_CYCLES] = -1; /* counters_read() then gives NaN */
    group.block[0] = read_block(message->at.tensors[ROLE_X]);
    group.block[1] = read_block(message->at.x_other);
    size_t bytes = group.slots * group.slot_bytes;
    if (!guard_create(&group.x, "x", bytes, GUARD_TIMED, message->x_offset % PAGE, false) ||
        (!group.in_place &&
         !guard_create(&group.y, "y", bytes, GUARD_TIMED, message->y_offset % PAGE, false)))
        worker_out_of_memory(bytes);
    make_tensors(message);
}

/* Fills x with repeats of the input's block. */
static void fill_slot(char *x, int input)
{
    for (size_t at = 0; at < group.tensor_bytes; at += group.block_bytes) {
        size_t left = group.tensor_bytes - at;
        memcpy(x + at, group.block[input], left < group.block_bytes ? left : group.block_bytes);
    }
}

static void fill_slots(int input)
{
    for (size_t slot = 0; slot < group.slots; slot++)
        fill_slot((char *)group.x.data + slot * group.slot_bytes, input);
}

/* Fills every slot of x with an input, unless it holds it already, and makes x read-only. In place, x stays writable,
 * and must be filled again each time. */
static void fill_input(int input)
{
    if (group.filled == input)
        return;
    if (group.x.read_only && !guard_protect(&group.x, false))
        worker_out_of_memory(0);
    fill_slots(input);
    group.filled = group.in_place ? -1 : input;
    if (!group.in_place && !guard_protect(&group.x, true))
        worker_out_of_memory(0);
}

static void call_once(const timed_entry *entry, const ln_tensors *tensors)
{
    if (entry->kernel)
        kernel_run(&entry->prepared, tensors);
    else
        copy_run(entry->copier, group.threads, tensors->x, tensors->y, group.tensor_bytes);
    hayai_clobber();
}

/* Reads y as the next layer would: one word of each cache line, which fetches the line. */
static void read_lines(const char *y)
{
    uint64_t sum = 0, word;
    for (size_t at = 0; at + sizeof word <= group.tensor_bytes; at += LINE) {
        memcpy(&word, y + at, sizeof word);
        sum += word;
    }
    hayai_do_not_optimize(sum);
}

/* Defines a timed loop over one call, after the given declarations. Hot, there is one slot, so the tensors' addresses
 * are constant; cold, the loop uses the slots in turn. */
#define TIMED_LOOP(name, call, ...)                                                                \
    static size_t name(hayai_state *state, const timed_entry *entry)                               \
    {                                                                                              \
        __VA_ARGS__;                                                                               \
        size_t slot = 0, used = 0;                                                                 \
        for (int64_t n; (n = hayai_state_batch(state)) > 0;) {                                     \
            used += (size_t)n;                                                                     \
            for (int64_t i = 0; i < n; i++) {                                                      \
                const ln_tensors *at = &group.tensors[slot];                                       \
                call;                                                                              \
                if (++slot == group.slots)                                                         \
                    slot = 0;                                                                      \
                hayai_clobber();                                                                   \
            }                                                                                      \
        }                                                                                          \
        return used;                                                                               \
    }
TIMED_LOOP(loop_kernel, run(prepared, at),
           void (*run)(const void *, const ln_tensors *) = entry->kernel->run;
           const void *prepared = entry->prepared.states[0])
TIMED_LOOP(loop_copy, copy(at->x, at->y, group.tensor_bytes), copy_function *copy = entry->copier)
/* For several threads, or if y is read: such calls are so long that call_once() costs nothing compared with them. */
TIMED_LOOP(loop_others, call_once(entry, at); if (group.read_back) read_lines(at->y), )

/* Times calls that use up the copies of x, and restores all copies when none is left. At the end the copies are as the
 * last calls left them. */
static size_t loop_in_place(hayai_state *state, timed_entry *entry, int input)
{
    double real = 0, cpu = 0;
    size_t used = 0;
    int64_t calls = 0;
    for (int64_t n; (n = hayai_state_batch(state)) > 0;) {
        calls += n;
        for (int64_t left = n; left > 0; left -= (int64_t)used) {
            if (used > 0)
                fill_slots(input);
            used = left < (int64_t)group.slots ? (size_t)left : group.slots;
            double cpu_start = seconds_of(CLOCK_THREAD_CPUTIME_ID);
            double start = seconds_of(CLOCK_MONOTONIC);
            for (size_t slot = 0; slot < used; slot++)
                call_once(entry, &group.tensors[slot]);
            real += seconds_of(CLOCK_MONOTONIC) - start;
            cpu += seconds_of(CLOCK_THREAD_CPUTIME_ID) - cpu_start;
        }
    }
    hayai_state_set_iteration_time(state, real);
    entry->cpu_seconds = calls > 0 ? cpu / (double)calls : 0;
    return used;
}

/* Hashes eight bytes at a time; the rotation mixes high bits into low ones. The hash is used in this process only. */
static uint64_t hash_words(uint64_t hash, const char *bytes, size_t size)
{
    for (uint64_t word; size >= sizeof word; bytes += sizeof word, size -= sizeof word) {
        memcpy(&word, bytes, sizeof word);
        hash ^= word;
        hash = (hash << 29 | hash >> 35) * 0x9e3779b97f4a7c15u;
    }
    return hash_bytes(hash, bytes, size);
}

/* Returns SEEN_JUDGED if every repeat of the block in y is the judged output; else a hash of y with bit SEEN_OTHER. */
static uint64_t compare_y(const timed_entry *entry, int input, const char *y)
{
    for (size_t at = 0; at < group.tensor_bytes; at += group.block_bytes) {
        size_t left = group.tensor_bytes - at;
        size_t size = left < group.block_bytes ? left : group.block_bytes;
        if (memcmp(y + at, entry->expected[input], size) != 0)
            return hash_words(HASH_START, y, group.tensor_bytes) | SEEN_OTHER;
    }
    return SEEN_JUDGED;
}

/* Tells the parent that *rows rows are in shared memory, and waits until it has read them; ends if the parent did. */
static void send_rows(const timed_entry *entry, size_t *rows)
{
    static worker_message message;
    worker_reply reply = {.kind = REPLY_ROWS, .count = entry->index, .value = (int64_t)*rows};
    ssize_t got;
    if (*rows == 0)
        return;
    worker_send(&reply);
    do
        got = recv(WORKER_SOCKET_FD, &message, sizeof message, 0);
    while (got < 0 && errno == EINTR);
    if (got <= 0 || message.kind != MESSAGE_GO_ON)
        _exit(1);
    *rows = 0;
}

/* Sends the rows of y that differ from the judged ones (which repeat) and were not sent before, each with its index, as
 * arena_map.varied describes. */
static void send_varied_rows(timed_entry *entry, int input, const char *y)
{
    const size_t bytes = group.row_bytes, judged_rows = group.block_bytes / bytes;
    size_t waiting = 0;
    for (size_t row = 0; row < group.problem.rows; row++) {
        const char *here = y + row * bytes;
        uint64_t number = row % judged_rows;
        if (memcmp(here, entry->expected[input] + number * bytes, bytes) == 0)
            continue;
        number += (size_t)input * judged_rows;
        const uint64_t start = hash_words(HASH_START, (const char *)&number, sizeof number);
        if (!hash_set_add(&entry->varied, hash_words(start, here, bytes)))
            continue;
        char *at = worker_memory(group.varied) + waiting * (sizeof number + bytes);
        memcpy(at, &number, sizeof number);
        memcpy(at + sizeof number, here, bytes);
        if (++waiting == judged_rows)
            send_rows(entry, &waiting);
    }
    send_rows(entry, &waiting);
}

/* Returns what is wrong with the output in the first `slots` slots that were used, or NULL. A row's bits may depend on
 * its place (neighbouring rows, thread, address); such rows are judged too. They may not depend on anything else. */
static const char *check_output(timed_entry *entry, int input, size_t slots)
{
    for (size_t slot = 0; slot < slots; slot++) {
        const ln_tensors *tensors = &group.tensors[slot];
        uint64_t *seen = &entry->seen[input][slot], found = compare_y(entry, input, tensors->y);
        if (*seen == found)
            continue;
        if (*seen != SEEN_NOTHING)
            return "the timed output differs from that of an earlier repetition";
        *seen = found;
        if (found == SEEN_JUDGED)
            continue;
        if (!entry->kernel)
            return "the copy differs from what was copied";
        /* Repeat the call on the same buffers, an odd number of times, to find outputs that alternate. */
        for (int again = 0; again < 3; again++) {
            if (group.in_place)
                fill_slot(tensors->y, input);
            else
                memset(tensors->y, POISON, group.tensor_bytes);
            call_once(entry, tensors);
            if (compare_y(entry, input, tensors->y) != found)
                return "two calls on the same rows in the same place differ";
        }
        send_varied_rows(entry, input, tensors->y);
    }
    return NULL;
}

/* Returns true if a call takes so long that a repetition is a single call. */
static bool is_large(void)
{
    return group.tensor_bytes > (size_t)16 << 20;
}

/* Makes calls as they are timed, into a y that holds the last result, and checks each output: an error in every tenth
 * call could otherwise hide, since only the last output of a repetition is checked. They take about a millisecond. For
 * a large tensor, where a repetition is one call, one call is made after a quarter of the repetitions. */
static const char *check_calls(timed_entry *entry, int input)
{
    enum { MOST_CALLS = 64 };
    static const double seconds = 1e-3;
    const ln_tensors *tensors = &group.tensors[0];
    if (is_large() && splitmix64(&group.choice) % 4 > 0)
        return NULL;
    const uint64_t expected = compare_y(entry, input, tensors->y);
    double end = seconds_of(CLOCK_MONOTONIC) + seconds;
    entry->prepared.watched = true;
    for (int call = 0; call < MOST_CALLS && seconds_of(CLOCK_MONOTONIC) < end; call++) {
        call_once(entry, tensors);
        if (compare_y(entry, input, tensors->y) != expected)
            return "a call between two timed ones gives other bits";
    }
    entry->prepared.watched = false;
    return NULL;
}

/* Poisons y and brings the caches into the state that the timed calls need. Poisoned lines in the caches have to be
 * written back. If a repetition is one call, as in DRAM, that call pays for it: a non-temporal copy took 9 % longer. So
 * hot, one untimed call follows, and y is poisoned again in so few places that it costs nothing; cold, the evictor is
 * read. */
static void prepare_caches(const timed_entry *entry, int input)
{
    if (group.in_place) {
        call_once(entry, &group.tensors[0]);
        fill_slots(input);
        return;
    }
    if (group.evictor || !is_large()) /* else y is poisoned only below */
        memset(group.y.data, POISON, group.y.size);
    if (!group.evictor) {
        call_once(entry, &group.tensors[0]);
        /* A few bytes in every page (every eighth page of a large tensor) are enough to find elements that the kernel
         * does not write. */
        char *y = group.y.data;
        const size_t step = is_large() ? 8 * PAGE : PAGE;
        for (size_t at = splitmix64(&group.choice) % (step / PAGE) * PAGE; at < group.y.size;
             at += step) {
            size_t left = group.y.size - at, room = left < PAGE ? left : PAGE;
            size_t bytes = room < sizeof(float) ? room : sizeof(float);
            memset(y + at + splitmix64(&group.choice) % (room - bytes + 1), POISON, bytes);
        }
        return;
    }
    for (size_t at = 0; at < group.evictor_bytes; at += LINE)
        hayai_do_not_optimize(((const volatile char *)group.evictor)[at]);
}

static void time_entry(hayai_state *state, void *context)
{
    timed_entry *entry = context;
    running_entry = entry->index;
    worker_reply started = {.kind = REPLY_STARTED, .count = entry->index};
    worker_send(&started);
    /* The input alternates from round to round, so that an output kept from the last call is found. All entries of a
     * round have the same one, since in DRAM filling x costs more than a call. */
    int input = (int)((unsigned)group.first + entry->rounds) & 1;
    fill_input(input);
    thread_state own, before;
    long distance;
    floating_point_read(&own);
    worker_threads_pin(entry->prepared.own_threads);
    if (entry->kernel)
        floating_point_set(entry->floating_point);
    plugin_enter(&before);
    prepare_caches(entry, input);
    double before_loop[COUNTS];
    counters_read(group.counters, before_loop);
    size_t used = group.in_place                         ? loop_in_place(state, entry, input)
                  : group.read_back || group.threads > 1 ? loop_others(state, entry)
                  : entry->kernel                        ? loop_kernel(state, entry)
                                                         : loop_copy(state, entry);
    counters_read(group.counters, entry->counted);
    for (int i = 0; i < COUNTS; i++)
        entry->counted[i] -= before_loop[i];
    bool overrun = guard_slack_changed(group.in_place ? &group.x : &group.y, &distance);
    const char *wrong =
        overrun ? NULL : check_output(entry, input, used < group.slots ? used : group.slots);
    if (!overrun && !wrong && entry->kernel && !group.in_place)
        wrong = check_calls(entry, input);
    plugin_leave(&before, "run()");
    const char *changed = entry->kernel ? kernel_changed(&entry->prepared) : NULL;
    if (changed)
        message_fails(VERDICT_STATE_CHANGED, "run() %s", changed);
    if (overrun)
        message_fails(VERDICT_OVERRUN, "wrote %s y", distance < 0 ? "before" : "behind");
    if (wrong)
        message_fails(VERDICT_NONDETERMINISTIC, "%s", wrong);
    if (answer.kind == REPLY_FAILED)
        worker_end_with_answer();
    floating_point_set(&own);
}

void worker_time_entry(const worker_message *message)
{
    if (group.count == WORKER_MAX_ENTRIES) {
        message_fails(VERDICT_MISSING, "too many entries in a timed group");
        return;
    }
    timed_entry *entry = &group.entries[group.count];
    *entry = (struct timed_entry){.index = group.count};
    memcpy(entry->name, message->text, sizeof entry->name - 1);
    entry->seen[0] = arena_new(&memory, uint64_t, group.slots);
    entry->seen[1] = arena_new(&memory, uint64_t, group.slots);
    if (is_copy(entry->name)) {
        entry->copier = copy_find(entry->name);
        entry->expected[0] = group.block[0];
        entry->expected[1] = group.block[1];
    } else {
        entry->kernel = kernel_of(message);
        entry->floating_point = &plugin_of(message)->floating_point;
        entry->expected[0] = read_block(message->at.expected);
        entry->expected[1] = read_block(message->at.expected_other);
        if (!entry->kernel)
            return;
        const char *refusal = kernel_refuses(entry->kernel, &group.problem);
        if (!refusal && group.in_place && (entry->kernel->traits & LN_TRAIT_NOT_IN_PLACE))
            refusal = "y must not be x";
        if (refusal)
            message_fails(VERDICT_UNSUPPORTED, "%s", refusal);
        const ln_plugin_table *plugin = plugin_of(message)->table;
        worker_threads_pin(kernel_has_threads(plugin, entry->kernel));
        if (refusal || !kernel_prepare(&entry->prepared, &memory, plugin, entry->kernel,
                                       &group.problem, group.threads))
            return;
        ln_problem problem = group.problem;
        problem.accuracy = message->accuracy;
        const char *role = entry->kernel->role; /* may be NULL for a plugin */
        const char *behind = role && strcmp(role, KERNEL_ROLE_CALL) == 0
                                 ? worker_kernel_behind(plugin_of(message)->library, &problem)
                                 : NULL;
        snprintf(answer.text, sizeof answer.text, "%s", behind ? behind : "");
    }
    code_place_draw(entry->kernel ? (void (*)(void))entry->kernel->run
                                  : (void (*)(void))entry->copier,
                    splitmix64(&group.choice));
    hayai_benchmark *added;
    const bool found = message->iterations > 0, fewer = message->repetitions > 0;
    if (hayai_suite_add(group.suite, entry->name, time_entry, entry, &added) != HAYAI_OK ||
        (group.in_place && hayai_benchmark_use_manual_time(added) != HAYAI_OK) ||
        (found && hayai_benchmark_iterations(added, (int64_t)message->iterations) != HAYAI_OK) ||
        (fewer && hayai_benchmark_repetitions(added, (int)message->repetitions) != HAYAI_OK)) {
        message_fails(VERDICT_MISSING, "%s", hayai_last_message());
        return;
    }
    group.count++;
}

static int send_repetition(const hayai_repetition *done, void *context)
{
    (void)context;
    timed_entry *entry = &group.entries[done->benchmark];
    entry->rounds = done->repetition + 1;
    if (done->error)
        return 0;
    worker_reply sent = {.kind = REPLY_REPETITION, .count = (uint32_t)done->benchmark};
    sent.repetition = (timed_repetition){
        .repetition = done->repetition,
        .order = done->order,
        .iterations = (uint64_t)done->iterations,
        .real_ns = done->real_seconds * 1e9,
        .cycles = entry->counted[COUNT_CYCLES] / (double)done->iterations,
        .instructions = entry->counted[COUNT_INSTRUCTIONS] / (double)done->iterations,
        .cpu_ns = (group.in_place ? entry->cpu_seconds : done->cpu_seconds) * 1e9,
    };
    worker_send(&sent);
    return 0;
}

void worker_time_run(const worker_message *message)
{
    hayai_interleave interleave = {
        .seed = message->seed,
        .repetitions = message->repetitions,
        .min_seconds = message->min_seconds,
        .on_repetition = send_repetition,
    };
    if (hayai_suite_run_interleaved(group.suite, &interleave) != HAYAI_OK)
        message_fails(VERDICT_MISSING, "%s", hayai_last_message());
}
