/* Buffers between inaccessible pages, so that a kernel that reads or writes one element too far faults at once; and the
 * tensors of a call, each in such a buffer.
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
    void *fill; /* the address to write the data: data, except for an input */
    size_t size;
    bool read_only;
    char *map; /* the first inaccessible page; NULL: not in use */
    size_t map_size;
    char *second;  /* the writable mapping of an input; NULL: it is no input */
    bool poisoned; /* after guard_destroy(): all its bytes are POISON */
} guarded;

/* Maps a buffer of size bytes, which may be 0, and fills the rest of its pages (the slack) with a pattern. An input is
 * mapped twice: read-only at `data`, writable at `fill`. False: memory ran out. */
bool guard_create(guarded *buffer, const char *name, size_t size, guard_place place, size_t offset,
                  bool input);
/* Makes a buffer that is no input read-only, or writable again. False: the system refused. */
bool guard_protect(guarded *buffer, bool read_only);
/* Keeps the memory for later buffers (it then waits), or unmaps it. An all-zero buffer is ignored. */
void guard_destroy(guarded *buffer);
/* Fills the waiting memory with NaN, so that a kernel that still reads a tensor of an earlier call gets NaN. */
void guard_poison_waiting(void);
/* Returns the name of a waiting buffer that was written to, and forgets it; NULL: none. */
const char *guard_written_waiting(void);
/* Unmaps the waiting buffers. */
void guard_forget_waiting(void);

/* Returns true if the slack of a buffer was changed; *distance: from the data to the first such byte (< 0: before). */
bool guard_slack_changed(const guarded *buffer, long *distance);

/* Describes the access to an address that faulted, and its verdict, if the address is in or near a live buffer; else
 * leaves both as they are. May be called in a signal handler. */
void guard_find(const void *address, char *text, size_t size, verdict_kind *verdict);

/* Copies dense rows to rows with the stride of `extent`, with NaN in the gaps. */
void rows_lay_out(void *data, const role_extent *extent, const char *dense);

/* ---- the tensors of a call ---- */

typedef struct call_tensors {
    const worker_message *message; /* its layout has the place of each tensor */
    const operation *what;
    const char *memory; /* the memory into which the message's offsets point */
    ln_problem problem; /* the problem that the kernel gets */
    ln_tensors given;
    guarded buffers[ROLES_MOST];
    role_extent extents[ROLES_MOST];
} call_tensors;

/* Makes a buffer for each tensor of the message, and fills the parameters. `protects`: inputs are read-only for the
 * kernel. tensors_destroy() must follow in either case. False: memory ran out. */
bool tensors_create(call_tensors *made, const worker_message *message, const char *memory,
                    const ln_problem *problem, ln_type accumulator, bool protects);
/* Fills the inputs with the message's rows from `first` on, and the outputs with poison. `altered`: some elements
 * of rows and parameters are changed. */
void tensors_fill(call_tensors *of, size_t first, bool altered);
/* Returns true if an output uses the buffer of this input. */
bool tensors_input_is_written(const call_tensors *of, size_t input);
/* Returns true if a call wrote nothing outside its outputs; else `text` says where it wrote. */
bool tensors_are_clean(const call_tensors *of, char *text, size_t size);
/* Copies the rows of all outputs to the message's dense rows from `first` on. */
void tensors_hand_back(const call_tensors *of, size_t first);
void tensors_destroy(call_tensors *of);

#endif
