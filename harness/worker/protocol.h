/* The messages between lnbench and a worker process: requests ("orders") and answers ("replies") of fixed size over a
 * SOCK_SEQPACKET socket. Tensors are in shared memory (shared_arena); the worker copies them into buffers for the
 * kernel, in the layout that the message names.
 *
 *     work_order order = worker_order(ORDER_JUDGE, kernel);
 *     order.layout = layout_named(LAYOUT_BEFORE, operations[LN_OPERATION_LAYERNORM], hidden);
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
    WORKER_ERRORS_FD = 5, /* is standard error while a plugin is loaded; /dev/null is else */
    PROTOCOL_PATH_LENGTH = 1024,
    PLUGINS_MOST = 64, /* the library and the peers among them */
    REPLY_ENDS_RUN = -1,
    REPLY_NO_MEMORY =
        -2, /* or no descriptors; earlier calls in the process may have used them up */
};

/* ---- how one judged call is made: the place of each tensor, the wanted outputs, and other calls with it ---- */

/* The place of a tensor between two inaccessible pages. */
typedef enum guard_place {
    GUARD_BEHIND, /* the last byte touches the inaccessible page behind */
    GUARD_BEFORE, /* the first byte touches the inaccessible page before */
    GUARD_TIMED,  /* as in timing: `offset` bytes into the first page */
    GUARD_AMID,   /* `offset` bytes into the second page, with an accessible page behind */
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

/* The calls that an order makes. The output bits of the last call must be those of the first. */
typedef enum call_order {
    CALLS_ONCE,
    CALLS_REPEATED, /* first with other contents in the same memory, then twice with those of the order */
    CALLS_HALVES, /* the first half of the rows, the second half in the same buffers, then the first half
                       twice more */
    CALLS_IN_TURN, /* alternating with a problem of another shape, which was prepared before */
    CALLS_PREPARED, /* while a problem of another convention, prepared later, is called too, and after
                       that problem was released */
    CALL_ORDERS
} call_order;

enum { AT_ONCE_MOST = 5 };

typedef struct call_layout {
    tensor_layout tensors[ROLES_MOST]; /* by role */
    unsigned
        outputs; /* the wanted ones besides the result, a bit for each role; the call has no others */
    unsigned at_once; /* threads that call, each with its own buffers: 1 to AT_ONCE_MOST */
    call_order calls;
} call_layout;

/* Layouts besides those of the covering array. */
typedef enum layout_name {
    LAYOUT_TIMED,    /* dense, with the offsets of timing */
    LAYOUT_BEHIND,   /* each tensor ends at the page behind it; statistics, but no sum */
    LAYOUT_BEFORE,   /* each tensor begins at the page before it; strided rows, all outputs */
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
    /* Rows of the block: whole pages for any type, and no power of two, so that a row whose number lost its
     * upper bits is a different one. */
    LARGE_PERIOD = 6144,
    /* The row of the block with which the residual begins, also at a page. */
    LARGE_RESIDUAL_ROW = 2048,
    LARGE_ROWS = 48, /* at most */
};

/* Writes the judged rows in rising order, and returns how many. The stride must be a multiple of hidden. */
size_t large_rows(const ln_problem *problem, uint64_t seed, size_t rows[LARGE_ROWS]);

/* The row of the block that is mapped at row `row`. */
static inline size_t large_row_of_block(const ln_problem *of, size_t row)
{
    return row * (of->x_stride / of->hidden) % LARGE_PERIOD;
}

/* ---- messages ---- */

typedef enum order_kind {
    ORDER_GREET = 1, /* replies DONE */
    ORDER_LOAD, /* open a plugin: replies LOADED, with what order.describes wants at the arena's start */
    ORDER_SUPPORTS, /* whether the kernel takes the problem: replies DONE, or FAILED as unsupported */
    ORDER_JUDGE,    /* run as order.layout says: replies DONE (value: 1 if upper halves of vector
                        registers are in use; threads, if several) or FAILED */
    ORDER_GROW,     /* `count` calls and more, which must keep nothing: replies DONE or FAILED */
    ORDER_CALL_LARGE, /* one call on the problem's rows (x: LARGE_PERIOD rows); y: large_rows() */
    ORDER_BOUND,      /* bounds for rows of facts, proven or, with a chance, probable: replies DONE
                    (value: 1 if the kernel has such a bound) */
    ORDER_TIME_BEGIN, /* buffers of one timed group: replies DONE */
    ORDER_TIME_ENTRY, /* one more kernel (or copy) of the group: replies DONE or FAILED; for a call of the library
                         DONE names the kernel behind it in text, "" if that is not known */
    ORDER_TIME_RUN, /* replies STARTED and REPETITION each time, then DONE; after FAILED an entry is left out
                     */
    ORDER_GO_ON, /* the answer to ROWS, while TIME_RUN goes on */
} order_kind;

/* The cache in which ln_layernorm() takes the rows of a judged call to be. */
typedef enum call_place {
    PLACE_ITS_OWN, /* according to the caches of this machine */
    PLACE_FEW,     /* 1 to 3 rows, according to rows_at_once */
    PLACE_CACHES,
    PLACE_MEMORY,
    CALL_PLACES,
} call_place;

/* Offsets into shared memory, in bytes; -1: absent. */
typedef struct arena_map {
    off_t tensors[ROLES_MOST];      /* by role of the operation */
    off_t x_other;                  /* the second judged input of a timed group */
    off_t expected, expected_other; /* judged outputs of one timed entry */
    off_t facts, bounds;            /* arrays of ln_row_facts, ln_bound */
    off_t varied; /* timed group: room for block_rows rows, each after its number, a uint64_t that
                     counts through both judged blocks */
} arena_map;

/* What LOAD tells of the plugin's kernels: a kernel_description each. */
typedef enum description_kind {
    DESCRIBES_NOTHING,
    DESCRIBES_FACTS,
    DESCRIBES_SUPPORT
} description_kind;

typedef struct kernel_description {
    kernel_facts facts;
    char unsupported
        [REPLY_TEXT_LENGTH]; /* DESCRIBES_SUPPORT: why no preset at a common size is taken, for the
                                            first reason it gave; "" where one is */
} kernel_description;

typedef struct work_order {
    order_kind kind;
    ln_operation operation;
    uint32_t plugin, kernel;         /* indexes as loaded; for a copy see is_copy() */
    char text[PROTOCOL_PATH_LENGTH]; /* path to load; name of a timed entry */
    ln_problem problem;              /* with dense rows; the worker sets other strides */
    call_layout layout;              /* to judge */
    arena_map at;
    size_t arena_bytes; /* mapped */
    size_t block_rows;  /* timed group: rows of the judged block */
    size_t count;       /* bounds wanted */
    double chance;      /* probability that a row's bound fails; 0: proven bounds */
    cache_state cache;
    size_t rotated_bytes; /* cold: x and y fill at least this; in place: copies of x at most this */
    int cpu;              /* pin to this CPU, further threads to others; -1: do not pin */
    unsigned threads;     /* of one call; 0 is 1 */
    unsigned again;       /* judging: further calls, which must give the same bits */
    size_t rows_at_once;  /* judging: rows of a call, a divisor of all rows; 0: all rows */
    call_place place;     /* judging: only the library's calls have another than PLACE_ITS_OWN */
    ln_accuracy accuracy; /* class of a call of the library, to judge (DONE then names the kernel in
                                  text) and to a timed entry */
    size_t x_offset, y_offset;  /* timed group: where x and y begin in their first page */
    description_kind describes; /* load */
    bool own_file; /* load: kernels must be in the file itself, not in a library that it loads */
    uint64_t seed;
    unsigned repetitions; /* of each entry; for an entry: its own, fewer; 0: those of the group */
    double min_seconds;
    uint64_t iterations; /* timed entry: calls of a repetition; 0: the worker finds the number */
} work_order;

typedef enum reply_kind {
    REPLY_LOADED = 1,
    REPLY_DONE,
    REPLY_FAILED,
    REPLY_STARTED,
    REPLY_REPETITION,
    REPLY_ROWS, /* shared memory has timed rows with other bits than the judged ones (count: the entry;
                     value: how many); waits for GO_ON */
    REPLY_ALIVE, /* no answer: the order is still running */
} reply_kind;

typedef struct worker_reply {
    reply_kind kind;
    verdict_kind verdict; /* FAILED: which */
    uint32_t count;       /* LOADED: kernels; STARTED, FAILED in a group: the entry */
    /* MISSING: REPLY_ENDS_RUN, REPLY_NO_MEMORY, for ORDER_LOAD an exit code, or 0 */
    int64_t value;
    char text[REPLY_TEXT_LENGTH];  /* DONE with GROW: a remark, or ""; LOADED: the plugin's name */
    char version[NAME_MAX_LENGTH]; /* LOADED: of the library behind the plugin, or "" */
    char set_at_load
        [CHANGE_LENGTH]; /* LOADED: changed floating-point control, with which its kernels
                                        are called; "": none */
    timed_repetition repetition;
} worker_reply;

/* An order without tensors; kernel NULL: for no kernel. */
work_order worker_order(order_kind kind, const kernel_entry *kernel);

/* Whether the process that sent it must get no more orders. */
static inline bool reply_ends_process(const worker_reply *reply)
{
    return reply->kind == REPLY_FAILED && reply->verdict != VERDICT_UNSUPPORTED &&
           reply->verdict != VERDICT_NONDETERMINISTIC;
}

/* Whether a failed reply is due to an interruption. False: a kernel failed. If no worker can be started, the program
 * ends (7). */
bool reply_was_interrupted(const worker_reply *reply);

/* The memory shared by lnbench and its worker's processes: a memory file, of which each process maps as much as it
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

/* Its size is fixed. */
void shared_arena_open(shared_arena *made);
/* Maps at least `bytes` bytes; contents stay, but their address may change. False: errno says why. */
bool shared_arena_reach(shared_arena *of, size_t bytes);
void shared_arena_close(shared_arena *of);

#endif
