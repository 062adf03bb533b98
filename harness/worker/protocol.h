/* The messages that lnbench sends to a worker process, and the worker's answers. Both have a fixed size and travel over
 * a SOCK_SEQPACKET socket. Tensors are in shared memory (shared_arena); the worker copies them into buffers for the
 * kernel, in the layout that the message names.
 *
 *     worker_message message = message_for(MESSAGE_JUDGE, kernel);
 *     message.layout = layout_named(LAYOUT_BEFORE, operations[LN_OPERATION_LAYERNORM], hidden);
 */
#ifndef LNBENCH_PROTOCOL_H
#define LNBENCH_PROTOCOL_H

#include <stddef.h>
#include <stdbool.h>
#include "base/die.h"
#include "domain/kernel.h"
#include "domain/operation.h"
#include "layernorm_plugin.h"
#include <sys/types.h>

enum {
    WORKER_SOCKET_FD = 3,
    WORKER_ARENA_FD = 4,
    WORKER_ERRORS_FD = 5, /* standard error while a plugin is loaded; otherwise that is /dev/null */
    PROTOCOL_PATH_LENGTH = 1024,
    PLUGINS_MOST = 64, /* including the library and the peers */
    REPLY_ENDS_RUN = -1,
    REPLY_NO_MEMORY = -2, /* memory or file descriptors ran out, perhaps by earlier calls */
};

/* ---- the layout of a judged call: the place of each tensor, the wanted outputs, and the calls to make ---- */

/* The place of a tensor between two inaccessible pages. */
typedef enum guard_place {
    GUARD_BEHIND, /* the last byte touches the inaccessible page after it */
    GUARD_BEFORE, /* the first byte touches the inaccessible page before it */
    GUARD_TIMED,  /* as in timing: `offset` bytes into the first page */
    GUARD_AMID,   /* `offset` bytes into the second page, with an accessible page after it */
} guard_place;

/* The offset of a timed buffer in its page. x and y are 2048 bytes apart modulo 4096, since a distance
 * near 0 makes loads wait for stores with the same low address bits. */
enum { GUARD_TIMED_READ_OFFSET = 0, GUARD_TIMED_WRITE_OFFSET = 2048 };

typedef struct tensor_layout {
    size_t lies_in; /* the role whose memory it uses: its own, or an input */
    guard_place place;
    size_t offset; /* GUARD_TIMED, GUARD_AMID: bytes into the page */
    size_t gap;    /* for a table: elements between the end of a row and the next row */
} tensor_layout;

/* The calls that a message asks for. The last call must give the same output bits as the first; for the last two kinds
 * it follows the release of the other problem. */
typedef enum call_order {
    CALLS_ONCE,
    CALLS_REPEATED, /* with other contents in the same memory, then twice with the given ones */
    CALLS_HALVES,   /* the halves of the rows in the same buffers, then the first half twice more */
    CALLS_IN_TURN,  /* in turn with a problem of another shape, which is prepared first */
    CALLS_PREPARED, /* in turn with a problem of another convention, which is prepared later */
    CALL_ORDERS
} call_order;

enum { AT_ONCE_MOST = 5 };

typedef struct call_layout {
    tensor_layout tensors[ROLES_MOST]; /* indexed by role */
    unsigned outputs; /* the outputs of the call besides the result, a bit (ROLE_BIT) for each */
    unsigned at_once; /* threads that call at the same time, each in buffers of its own */
    call_order calls;
} call_layout;

/* Fixed layouts, which are not taken from the covering array. */
typedef enum layout_name {
    LAYOUT_TIMED,    /* dense, with the offsets of timing */
    LAYOUT_BEHIND,   /* each tensor ends at an inaccessible page; dense; statistics, but no sum */
    LAYOUT_BEFORE,   /* each tensor begins at an inaccessible page; strided rows, all outputs */
    LAYOUT_IN_PLACE, /* y is x, and the sum is the residual; strided if hidden is odd */
    LAYOUT_NAMES
} layout_name;

call_layout layout_named(layout_name name, const operation *what, size_t hidden);

/* Sets the strides of the problem's tables, which are dense in shared memory. */
void layout_strides(const call_layout *layout, const operation *what, ln_problem *problem);

/* ---- tensors beyond 2^31 elements ----
 *
 * Few machines have room for such a tensor. x is one block of rows that is mapped repeatedly, and so is y,
 * but y has separate pages for the judged rows: the first and last ones, those near row 2^16 and 2^23 and
 * near element 2^31 and 2^32, and some random ones. */

enum {
    /* Rows of the block: whole pages for any type. It is no power of two, so that a row whose index lost its upper
     * bits has other contents. */
    LARGE_PERIOD = 6144,
    LARGE_RESIDUAL_ROW = 2048, /* the row of the block at which the residual begins, at a page */
    LARGE_ROWS = 48,           /* the largest number of judged rows */
};

/* Writes the judged rows' indexes in ascending order; returns their number. The stride must be a multiple of hidden. */
size_t large_rows(const ln_problem *problem, uint64_t seed, size_t rows[LARGE_ROWS]);

/* Returns the row of the block that is mapped at row `row`. */
static inline size_t large_row_of_block(const ln_problem *of, size_t row)
{
    return row * (of->x_stride / of->hidden) % LARGE_PERIOD;
}

/* ---- messages ---- */

typedef enum message_kind {
    /* Without another note, a message is answered by DONE or FAILED. */
    MESSAGE_GREET = 1,
    MESSAGE_LOAD,     /* load a plugin: LOADED, with kernel_descriptions at the arena's start */
    MESSAGE_SUPPORTS, /* find out whether the kernel supports the problem */
    /* Run the kernel as `layout` says. DONE has as value the number of threads if several, else 1 if the kernel left
     * upper halves of vector registers in use. */
    MESSAGE_JUDGE,
    MESSAGE_GROW,       /* make `count` calls and prepare states, which must keep nothing */
    MESSAGE_CALL_LARGE, /* make one call on a large tensor; x: LARGE_PERIOD rows; y: large_rows() */
    MESSAGE_BOUND, /* compute bounds for rows of facts; value: 1 if the kernel has such bounds */
    MESSAGE_TIME_BEGIN, /* make the buffers of a timed group */
    /* Add a kernel or copy to the group. For a call of the library the text of DONE is the kernel behind it, or "". */
    MESSAGE_TIME_ENTRY,
    MESSAGE_TIME_RUN, /* time the group: STARTED and REPETITION for each repetition, then DONE */
    MESSAGE_GO_ON,    /* sent after ROWS, so that TIME_RUN continues */
} message_kind;

/* The place where ln_layernorm() is made to assume the rows of a judged call; it dispatches to a kernel accordingly. */
typedef enum call_place {
    PLACE_ITS_OWN, /* in the caches of this machine */
    PLACE_FEW,     /* in caches, with 1 to 3 rows in a call (rows_at_once) */
    PLACE_CACHES,
    PLACE_MEMORY,
    CALL_PLACES,
} call_place;

/* Offsets into shared memory, in bytes; -1: absent. */
typedef struct arena_map {
    off_t tensors[ROLES_MOST];      /* indexed by role */
    off_t x_other;                  /* the second judged input of a timed group */
    off_t expected, expected_other; /* judged outputs of one timed entry */
    off_t facts, bounds;            /* arrays of ln_row_facts, ln_bound */
    /* Timed group: room for block_rows rows, each after its index, a uint64_t. Rows of the second judged block have
     * indexes from block_rows on. */
    off_t varied;
} arena_map;

/* The contents of the kernel_descriptions that LOAD writes, one for each kernel. */
typedef enum description_kind {
    DESCRIBES_NOTHING,
    DESCRIBES_FACTS,
    DESCRIBES_SUPPORT
} description_kind;

typedef struct kernel_description {
    kernel_facts facts;
    /* DESCRIBES_SUPPORT: the first reason why the kernel supports no preset at a common size; "": it supports one. */
    char unsupported[REPLY_TEXT_LENGTH];
} kernel_description;

typedef struct worker_message {
    message_kind kind;
    ln_operation operation;
    uint32_t plugin, kernel;         /* indexes as loaded; for a copy see is_copy() */
    char text[PROTOCOL_PATH_LENGTH]; /* the path to load, or the name of the kernel or copy */
    ln_problem problem;              /* with dense rows; the worker sets other strides */
    call_layout layout;              /* judging */
    arena_map at;
    size_t arena_bytes; /* the size of shared memory that lnbench has mapped */
    size_t block_rows;  /* timed group: rows of the judged block */
    size_t count;       /* the number of bounds, or of calls (GROW) */
    double chance;      /* probability that a row's bound fails; 0: proven bounds */
    cache_state cache;
    size_t rotated_bytes; /* cold: x and y fill at least this; in place: copies of x at most this */
    int cpu;              /* pin to this CPU, further threads to others; -1: do not pin */
    unsigned threads;     /* threads of one call; 0 means 1 */
    unsigned again;       /* judging: further calls, which must give the same bits */
    size_t rows_at_once;  /* judging: rows of a call, a divisor of all rows; 0: all rows */
    call_place place;     /* judging: only the library's calls have another than PLACE_ITS_OWN */
    /* The class of a call of the library, in JUDGE (DONE then names the kernel in text) and TIME_ENTRY. */
    ln_accuracy accuracy;
    size_t x_offset, y_offset;  /* timed group: offsets of x and y in their first page */
    description_kind describes; /* LOAD */
    bool own_file; /* LOAD: kernels must be in the file itself, not in a library that it loads */
    uint64_t seed;
    unsigned repetitions; /* TIME_RUN: of each entry; TIME_ENTRY: fewer for this one; 0: the same */
    double min_seconds;
    uint64_t iterations; /* timed entry: calls of a repetition; 0: the worker finds the number */
} worker_message;

typedef enum reply_kind {
    REPLY_LOADED = 1,
    REPLY_DONE,
    REPLY_FAILED,
    REPLY_STARTED,
    REPLY_REPETITION,
    REPLY_ROWS,  /* `value` rows of entry `count` differ from the judged ones; waits for GO_ON */
    REPLY_ALIVE, /* not an answer: the message is still being handled */
} reply_kind;

typedef struct worker_reply {
    reply_kind kind;
    verdict_kind verdict; /* FAILED */
    uint32_t count;       /* LOADED: the number of kernels; STARTED, FAILED in a group: the entry */
    /* See message_kind; for VERDICT_MISSING: REPLY_ENDS_RUN, REPLY_NO_MEMORY, an exit code (LOAD), or 0. */
    int64_t value;
    char text[REPLY_TEXT_LENGTH];  /* DONE with GROW: a remark, or ""; LOADED: the plugin's name */
    char version[NAME_MAX_LENGTH]; /* LOADED: of the library behind the plugin, or "" */
    /* LOADED: the change of floating-point control by loading, with which its kernels are called; "": none. */
    char set_at_load[CHANGE_LENGTH];
    timed_repetition repetition;
} worker_reply;

/* Returns a message without tensors; kernel NULL: for no kernel. */
worker_message message_for(message_kind kind, const kernel_entry *kernel);

/* Returns true if the process that sent the answer must get no more messages. */
static inline bool reply_ends_process(const worker_reply *reply)
{
    return reply->kind == REPLY_FAILED && reply->verdict != VERDICT_UNSUPPORTED &&
           reply->verdict != VERDICT_NONDETERMINISTIC;
}

/* Returns true if a failed answer is due to an interruption, false if a kernel failed. If no worker can be started, the
 * program ends (7). */
bool reply_was_interrupted(const worker_reply *reply);

/* The memory that lnbench shares with its worker processes: a memory file, of which each process maps as much as it
 * needs.
 *
 *     shared_arena shared;
 *     shared_arena_open(&shared);                          // lnbench; a worker has the descriptor
 *     if (!shared_arena_reach(&shared, bytes)) ...        // shared.memory[0] to [bytes - 1]
 *     shared_arena_close(&shared);
 */
typedef struct shared_arena {
    int file; /* -1: none */
    char *memory;
    size_t mapped, most; /* bytes */
} shared_arena;

/* Makes the file, with its largest possible size; failure ends the program (7). */
void shared_arena_open(shared_arena *made);
/* Maps at least `bytes` bytes; contents stay, but their address may change. False: errno says why. */
bool shared_arena_reach(shared_arena *of, size_t bytes);
void shared_arena_close(shared_arena *of);

#endif
