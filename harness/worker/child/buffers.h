/* Buffers between inaccessible pages: a kernel that reads or writes one element too far is seen at
 * once. And the tensors of a call, each in such a buffer.
 *
 *     guarded buffer;
 *     if (!guard_create(&buffer, "y", size, GUARD_BEHIND, 0, false)) ...    // memory ran out
 *     fill(buffer.fill);
 *     ...
 *     if (guard_slack_changed(&buffer, &distance)) ...
 *     guard_destroy(&buffer);
 */
#ifndef LNBENCH_BUFFERS_H
#define LNBENCH_BUFFERS_H

#include "worker/protocol.h"
#include <sys/mman.h>

typedef struct guarded {
    const char *name; /* "x", "y", ...: for verdicts */
    void *data;
    void *fill; /* where it is written: data, but for an input */
    size_t size;
    bool read_only;
    char *map; /* the first inaccessible page; NULL: not in use */
    size_t map_size;
    char *second;  /* an input's memory, writable; NULL: it is no input */
    bool poisoned; /* while it waits for the next tensor: all of it is POISON */
} guarded;

/* Maps a buffer of size bytes (at least 1 is mapped), filled with the slack pattern around the
 * data. `input`: it is read-only in its place, and is filled in another one. False: memory ran out. */
bool guard_create(guarded *buffer, const char *name, size_t size, guard_place place, size_t offset,
                  bool input);
/* Read-only, or writable again: what is no input. False: the system refuses it. */
bool guard_protect(guarded *buffer, bool read_only);
void guard_destroy(guarded *buffer); /* harmless on one that is all zero */
/* Fills what guard_destroy() keeps for the next buffer with NaN until it is used, so that a kernel
 * that reads where a tensor of an earlier call lay is seen. */
void guard_poison_waiting(void);
/* The name of a buffer that was written to while it waited, since the last call of this function; NULL: none. */
const char *guard_written_waiting(void);
/* Gives back what waits. */
void guard_forget_waiting(void);

/* Whether bytes around the data, within its own pages, were changed; *distance tells how far from
 * it (negative: before). */
bool guard_slack_changed(const guarded *buffer, long *distance);

/* What access to an address that faulted did, where it lies in or about a live buffer: text and verdict are of that
 * then. Usable in a signal handler. */
void guard_find(const void *address, char *text, size_t size, verdict_kind *verdict);

/* Dense rows to where they lie in memory, with NaN between them. */
void rows_lay_out(void *data, const role_extent *extent, const char *dense);

/* ---- the tensors of a call ---- */

typedef struct call_tensors {
    const work_order *order; /* whose layout says where each lies */
    const operation *what;
    const char *memory; /* where the order's tensors lie, by its offsets */
    ln_problem problem; /* as the kernel sees it */
    ln_tensors given;
    guarded buffers[ROLES_MOST];
    role_extent extents[ROLES_MOST];
} call_tensors;

/* A buffer for each tensor that the order has, and the parameters in theirs; `protects`: inputs are
 * read-only for the kernel. tensors_destroy() them in either case. False: memory ran out. */
bool tensors_create(call_tensors *made, const work_order *order, const char *memory,
                    const ln_problem *problem, ln_type accumulator, bool protects);
/* The order's rows from `first` on in the inputs, and poison in the outputs. `altered`: some elements of
 * rows and parameters are others. */
void tensors_fill(call_tensors *of, size_t first, bool altered);
/* Whether an output lies in the buffer of this input. */
bool tensors_input_is_written(const call_tensors *of, size_t input);
/* Whether a call wrote only where it may; else `text` says where it did. */
bool tensors_are_clean(const call_tensors *of, char *text, size_t size);
/* The rows of all outputs, dense, to where the order has its rows from `first` on. */
void tensors_hand_back(const call_tensors *of, size_t first);
void tensors_destroy(call_tensors *of);

#endif
