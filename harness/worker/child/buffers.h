/* Buffers between inaccessible pages: a kernel that reads or writes one element too far is seen at
 * once.
 *
 *     guarded buffer;
 *     if (!guard_create(&buffer, "y", size, GUARD_BEHIND, 0)) ...    // memory ran out
 *     fill(buffer.data);
 *     guard_protect(&buffer);            // read-only from here
 *     ...
 *     if (guard_slack_changed(&buffer, &distance)) ...
 *     guard_destroy(&buffer);
 */
#ifndef LNBENCH_BUFFERS_H
#define LNBENCH_BUFFERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum guard_place {
    GUARD_BEHIND, /* the last byte touches the inaccessible page behind */
    GUARD_BEFORE, /* the first byte touches the inaccessible page before */
    GUARD_TIMED,  /* as in timing: `offset` bytes into the first page */
} guard_place;

/* The mapping that a buffer lies in the end of. */
typedef struct guard_map {
    char *begin;
    size_t size;
    size_t open;   /* bytes before the last page that can be accessed */
    bool writable; /* they can be written to */
    char *fill;    /* the same memory, writable all the time; NULL: there is none */
    bool poisoned; /* all that is open is POISON */
    const char *name;
} guard_map;

typedef struct guarded {
    const char *name; /* "x", "y", ...: for verdicts */
    void *data;
    void *fill; /* where the worker writes it: data, but for an input */
    size_t size;
    bool read_only;
    char *map; /* the first inaccessible page; NULL: not in use */
    size_t map_size;
    guard_map of;
} guarded;

/* What an address that faulted means. */
typedef struct guard_fault {
    const guarded *buffer; /* NULL: no buffer of ours */
    bool write_to_input;   /* the address lies inside a read-only buffer */
    long bytes_behind;     /* >= 0: this many bytes behind the end */
    long bytes_before;     /* > 0: this many bytes before the start */
} guard_fault;

/* Distance of a timed buffer's start from its page: x and y lie 2048 bytes apart modulo 4096, since
 * a distance near 0 makes loads wait for stores of the same low address bits. */
enum { GUARD_TIMED_READ_OFFSET = 0, GUARD_TIMED_WRITE_OFFSET = 2048 };

/* Maps a buffer of size bytes (at least 1 is mapped), filled with the slack pattern around the
 * data. False: memory ran out. */
bool guard_create(guarded *buffer, const char *name, size_t size, guard_place place, size_t offset);
/* The same that is read-only in its place from the beginning: it is filled in another one. */
bool guard_create_input(guarded *buffer, const char *name, size_t size, guard_place place,
                        size_t offset);
bool guard_protect(guarded *buffer); /* read-only */
bool guard_release(guarded *buffer); /* writable again, but for an input */
void guard_destroy(guarded *buffer); /* harmless on one that is all zero */
/* Fills what guard_destroy() keeps for the next buffer with NaN until it is used, so that a kernel
 * that reads where a tensor of an earlier call lay is seen. */
void guard_poison_waiting(void);
/* The name of a buffer that was written to while it waited, since this was asked last; NULL: none. */
const char *guard_written_waiting(void);

/* Whether bytes around the data, within its own pages, were changed; *distance tells how far from
 * it (negative: before). */
bool guard_slack_changed(const guarded *buffer, long *distance);

/* Looks the address up among all live buffers; usable in a signal handler. */
guard_fault guard_find(const void *address);

/* ---- memory of the worker's own ---- */

/* It goes from call to call and from order to order: copies of inputs, outputs as they were judged. It lies
 * in huge pages where the system has them and is not given back, so that the system is seldom asked for
 * pages. What is timed never reads there. NULL: memory ran out. */
void *scratch_take(size_t bytes);
void scratch_give(void *place, size_t bytes);

#endif
