/* The messages between lnbench and a worker process: orders and replies of fixed size over a SOCK_SEQPACKET
 * socket. Tensors lie in shared memory (shared_arena); the worker copies them into buffers for the kernel, as the
 * layout of its order says, and chooses nothing.
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
    PROTOCOL_PATH_LENGTH = 1024,
    PLUGINS_MOST = 64, /* the library and the peers among them */
    REPLY_ENDS_RUN = -1,
    REPLY_NO_MEMORY = -2, /* or descriptors: what ran before in the process may have used them up */
};

/* ---- how one judged call is made: where each tensor lies, which outputs are wanted, and which other calls are made
 * beside it ---- */

/* Where a tensor lies between two inaccessible pages. */
typedef enum guard_place {
    GUARD_BEHIND, /* the last byte touches the inaccessible page behind */
    GUARD_BEFORE, /* the first byte touches the inaccessible page before */
    GUARD_TIMED,  /* as in timing: `offset` bytes into the first page */
    GUARD_AMID,   /* likewise of the second page, and a page that can be accessed lies behind */
} guard_place;

/* Distance of a timed buffer's start from its page: x and y lie 2048 bytes apart modulo 4096, since
 * a distance near 0 makes loads wait for stores of the same low address bits. */
enum { GUARD_TIMED_READ_OFFSET = 0, GUARD_TIMED_WRITE_OFFSET = 2048 };

typedef struct tensor_layout {
    size_t lies_in; /* the role in whose memory it lies: its own, or that of an input */
    guard_place place;
    size_t offset; /* GUARD_TIMED, GUARD_AMID: bytes into the page */
    size_t gap;    /* of a table: elements from the end of a row to the next row */
} tensor_layout;

/* The calls of an order. The bits that come out of the last one must be those of the first. */
typedef enum call_order {
    CALLS_ONCE,
    CALLS_REPEATED, /* first on other contents in the same places, then twice on those of the order */
    CALLS_HALVES, /* the first half of the rows, then the second in the same buffers, then twice more
                       the first */
    CALLS_IN_TURN, /* with those of a problem of another shape, prepared before this one */
    CALLS_PREPARED, /* while a problem of another convention is prepared too, later than this one, and
                       called, and after it was released */
    CALL_ORDERS
} call_order;

enum { AT_ONCE_MOST = 5 };

typedef struct call_layout {
    tensor_layout tensors[ROLES_MOST]; /* by role */
    unsigned
        outputs; /* wanted ones beside the result, a bit for each role; the call has no others */
    unsigned at_once; /* threads that call, each in buffers of its own: 1 to AT_ONCE_MOST */
    call_order calls;
} call_layout;

/* Layouts beside those of the covering array. */
typedef enum layout_name {
    LAYOUT_TIMED,    /* dense, at the distance that timing has */
    LAYOUT_BEHIND,   /* each tensor flush with the page behind it; statistics and no sum */
    LAYOUT_BEFORE,   /* flush with the page before, rows strided, all outputs */
    LAYOUT_IN_PLACE, /* y is x, the sum takes the residual's place; strided where hidden is odd */
    LAYOUT_NAMES
} layout_name;

call_layout layout_named(layout_name name, const operation *what, size_t hidden);

/* Strides of the problem's tables, which are dense in the arena. */
void layout_strides(const call_layout *layout, const operation *what, ln_problem *problem);

/* ---- tensors beyond 2^31 elements ----
 *
 * No machine holds such a tensor. x is one block of rows, mapped again and again, and so is y; but
 * y has pages of its own where a row is looked at: the first and the last ones, those about row
 * 2^16 and 2^23 and about element 2^31 and 2^32, and some drawn from the seed. */

enum {
    /* Rows of the block: whole pages of any type, and no power of two, so that a row whose number
     * lost its upper bits is another one. */
    LARGE_PERIOD = 6144,
    /* The row of the block with which the residual begins: whole pages too. */
    LARGE_RESIDUAL_ROW = 2048,
    LARGE_ROWS = 48, /* at most */
};

/* The rows that are looked at, in rising order; how many. The stride is a multiple of hidden. */
size_t large_rows(const ln_problem *problem, uint64_t seed, size_t rows[LARGE_ROWS]);

/* The row of the block that lies at row `row`. */
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
    ORDER_TIME_ENTRY, /* one more kernel (or roof) of the group: replies DONE or FAILED; of a call of the library
                         DONE names the kernel behind it in text, "" if that is not known */
    ORDER_TIME_RUN, /* replies STARTED and REPETITION each time, then DONE; a FAILED one is left out
                     */
    ORDER_GO_ON,    /* the answer to ROWS, while TIME_RUN goes on */
} order_kind;

/* Where the rows of a judged call of the library lie, as ln_layernorm() sees it. */
typedef enum call_place {
    PLACE_ITS_OWN, /* by the caches of this machine */
    PLACE_FEW,     /* 1 to 3 rows, by the order's rows_at_once */
    PLACE_CACHES,
    PLACE_MEMORY,
    CALL_PLACES,
} call_place;

/* Offsets into the arena, in bytes; -1: absent. */
typedef struct arena_map {
    off_t tensors[ROLES_MOST];      /* by role of the operation */
    off_t x_other;                  /* the second judged input of a timed group */
    off_t expected, expected_other; /* judged outputs of one timed entry */
    off_t facts, bounds;            /* arrays of ln_row_facts, ln_bound */
    off_t varied; /* timed group: room for block_rows rows, each behind its number: a uint64_t that
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
    uint32_t plugin, kernel;         /* as loaded; kernel of a roof: see is_roof */
    char text[PROTOCOL_PATH_LENGTH]; /* path to load; name of a timed entry */
    ln_problem problem; /* rows are dense here; other strides are the worker's business */
    call_layout layout; /* to judge */
    arena_map at;
    size_t arena_bytes; /* mapped */
    size_t block_rows;  /* timed group: rows of the judged block */
    size_t count;       /* bounds wanted */
    double chance;      /* that a row's bound fails; 0: proven */
    cache_state cache;
    size_t rotated_bytes; /* cold: x and y fill at least this; in place: copies of x fill no more */
    bool huge_pages;
    int cpu;              /* pin to this CPU, further threads to others; -1: leave */
    unsigned threads;     /* of one call; 0 is 1 */
    unsigned again;       /* to judge: so many calls more must give the same bits */
    size_t rows_at_once;  /* to judge: rows of a call, a divisor of all; 0: no such limit */
    call_place place;     /* to judge: another than its own is for the library's calls */
    ln_accuracy accuracy; /* class of a call of the library, to judge (DONE then names the kernel in
                                  text) and to a timed entry */
    size_t x_offset, y_offset;  /* timed group: where x and y begin in their first page */
    description_kind describes; /* load */
    bool own_file; /* load: kernels must lie in the file itself, not in what it loads */
    uint64_t seed;
    unsigned repetitions; /* of each entry; to an entry: its own, fewer; 0: as the group's */
    double min_seconds;
    uint64_t iterations; /* to a timed entry: calls of a repetition; 0: to be found */
} work_order;

typedef enum reply_kind {
    REPLY_LOADED = 1,
    REPLY_DONE,
    REPLY_FAILED,
    REPLY_STARTED,
    REPLY_REPETITION,
    REPLY_ROWS,  /* timed rows with other bits than the judged ones lie in the arena (count: the
                     entry;   value: how many); waits for GO_ON */
    REPLY_ALIVE, /* no answer: the order goes on */
} reply_kind;

typedef struct worker_reply {
    reply_kind kind;
    verdict_kind verdict; /* FAILED: which */
    uint32_t count;       /* LOADED: kernels; STARTED, FAILED in a group: the entry */
    /* LOST: REPLY_ENDS_RUN, REPLY_NO_MEMORY, of ORDER_LOAD an exit code, or 0 */
    int64_t value;
    char text[REPLY_TEXT_LENGTH];  /* DONE with GROW: a remark, or ""; LOADED: the plugin's name */
    char version[NAME_MAX_LENGTH]; /* LOADED: of the library behind the plugin, or "" */
    char set_at_load[CHANGE_LENGTH]; /* LOADED: of floating-point control, in which its kernels are
                                        called; "": nothing */
    timed_repetition repetition;
} worker_reply;

/* An order with nothing in the arena; NULL: of no kernel. */
work_order worker_order(order_kind kind, const kernel_entry *kernel);

/* Whether the process that sent it should get no more orders. */
static inline bool reply_ends_process(const worker_reply *reply)
{
    return reply->kind == REPLY_FAILED && reply->verdict != VERDICT_UNSUPPORTED &&
           reply->verdict != VERDICT_NONDETERMINISTIC;
}

/* Of a failed reply. False: a kernel is at fault. Where no worker can be started, the program ends (7). */
bool reply_was_interrupted(const worker_reply *reply);

/* The memory that lnbench and its worker's processes share: a memory file, which each maps as far as it is
 * needed.
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
/* Contents stay, but their place in the process may be another. False: errno says why. */
bool shared_arena_reach(shared_arena *of, size_t bytes);
void shared_arena_close(shared_arena *of);

#endif
