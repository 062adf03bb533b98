/* Buffers between inaccessible pages, so that a kernel that reads or writes one element too far faults at
 * once; and the tensors of a call, each in such a buffer.
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
    void *fill; /* the address for writing it: data, except for an input */
    size_t size;
    bool read_only;
    char *map; /* the first inaccessible page; NULL: not in use */
    size_t map_size;
    char *second;  /* a writable mapping of an input; NULL: it is no input */
    bool poisoned; /* a waiting buffer whose bytes are all POISON */
} guarded;

/* Maps a buffer of size bytes (at least 1 is mapped), with the slack pattern around the data. `input`: it is
 * read-only there, and is written through a second mapping. False: memory ran out. */
bool guard_create(guarded *buffer, const char *name, size_t size, guard_place place, size_t offset,
                  bool input);
/* Makes a buffer that is no input read-only, or writable again. False: the system refused. */
bool guard_protect(guarded *buffer, bool read_only);
void guard_destroy(guarded *buffer); /* may be called for an all-zero one */
/* Fills the memory that guard_destroy() keeps for later buffers with NaN, so that reading a tensor of an
 * earlier call shows. */
void guard_poison_waiting(void);
/* The name of a waiting buffer that was written to since the last call of this function; NULL: none. */
const char *guard_written_waiting(void);
/* Unmaps the waiting buffers. */
void guard_forget_waiting(void);

/* Whether bytes around the data, within its pages, were changed; *distance: how far from the data (negative:
 * before). */
bool guard_slack_changed(const guarded *buffer, long *distance);

/* What access to an address that faulted did, where it lies in or about a live buffer: text and verdict are of that
 * then. Usable in a signal handler. */
void guard_find(const void *address, char *text, size_t size, verdict_kind *verdict);

/* Copies dense rows to their places in memory, with NaN between them. */
void rows_lay_out(void *data, const role_extent *extent, const char *dense);

/* ---- the tensors of a call ---- */

typedef struct call_tensors {
    const work_order *order; /* its layout has the place of each tensor */
    const operation *what;
    const char *memory; /* the tensors of the order, by its offsets */
    ln_problem problem; /* as the kernel gets it */
    ln_tensors given;
    guarded buffers[ROLES_MOST];
    role_extent extents[ROLES_MOST];
} call_tensors;

/* Makes a buffer for each tensor of the order, and fills the parameters. `protects`: inputs are read-only for
 * the kernel. tensors_destroy() must follow in either case. False: memory ran out. */
bool tensors_create(call_tensors *made, const work_order *order, const char *memory,
                    const ln_problem *problem, ln_type accumulator, bool protects);
/* Fills the inputs with the order's rows from `first` on, and the outputs with poison. `altered`: some elements
 * of rows and parameters are changed. */
void tensors_fill(call_tensors *of, size_t first, bool altered);
/* Whether an output uses the buffer of this input. */
bool tensors_input_is_written(const call_tensors *of, size_t input);
/* Whether a call wrote only where it may; else `text` says where it wrote. */
bool tensors_are_clean(const call_tensors *of, char *text, size_t size);
/* Copies the rows of all outputs, dense, to the order's rows from `first` on. */
void tensors_hand_back(const call_tensors *of, size_t first);
void tensors_destroy(call_tensors *of);

#endif
