/* The messages between lnbench and a worker process: orders and replies of fixed size over a SOCK_SEQPACKET
 * socket. Tensors lie in shared memory (shared_arena); the worker copies them into buffers for the kernel. */
#ifndef LNBENCH_PROTOCOL_H
#define LNBENCH_PROTOCOL_H

#include <stddef.h>
#include <stdbool.h>
#include "base/die.h"
#include "domain/kernel.h"
#include "domain/operation.h"
#include "layernorm_plugin.h"
#include "worker/layout.h"
#include <sys/types.h>

enum {
    WORKER_SOCKET_FD = 3,
    WORKER_ARENA_FD = 4,
    WORKER_WORDS_FD = 5, /* where a plugin writes its standard error while it is loaded */
    PROTOCOL_PATH_LENGTH = 1024,
    BATCH_MOST = 32, /* orders in one message; their answers are one too */
    REPLY_ENDS_RUN = -1,
    REPLY_NO_MEMORY = -2, /* or descriptors: what ran before in the process may have used them up */
};

#define PROTOCOL_MAGIC 0x6c6e6231u

typedef enum order_kind {
    ORDER_GREET = 1, /* replies DONE */
    ORDER_LOAD,      /* open a plugin: replies LOADED, then one KERNEL each */
    ORDER_SUPPORTS,  /* replies DONE with the reason in text, "" for yes; of a problem without rows:
                        whether it takes any preset at a common size */
    ORDER_JUDGE,     /* run as order.layout says: replies DONE (value: 1 if upper halves of vector
                        registers are in use; threads, if several) or FAILED */
    ORDER_GROW,      /* `count` calls and more, which must keep nothing: replies DONE or FAILED */
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
    size_t x_offset, y_offset; /* timed group: where x and y begin in their first page */
    bool trusted;              /* load: the library that lnbench came with, and no plugin */
    bool own_file; /* load: the table must lie in the file itself, not in what it loads */
    uint64_t seed;
    unsigned repetitions; /* of each entry; to an entry: its own, fewer; 0: as the group's */
    double min_seconds;
    uint64_t iterations; /* to a timed entry: calls of a repetition; 0: to be found */
} work_order;

typedef enum reply_kind {
    REPLY_LOADED = 1,
    REPLY_KERNEL, /* text: the version of what it comes from, or "" */
    REPLY_DONE,
    REPLY_FAILED,
    REPLY_STARTED,
    REPLY_REPETITION,
    REPLY_ROWS,  /* timed rows with other bits than the judged ones lie in the arena (count: the
                     entry;   value: how many); waits for GO_ON */
    REPLY_ALIVE, /* no answer: the order goes on */
} reply_kind;

typedef struct worker_reply {
    uint32_t magic;
    reply_kind kind;
    verdict_kind verdict; /* FAILED: which */
    uint32_t count; /* LOADED: kernels; KERNEL: its index; STARTED, FAILED in a group: the entry */
    /* LOST: REPLY_ENDS_RUN, REPLY_NO_MEMORY, of ORDER_LOAD an exit code, or 0 */
    int64_t value;
    char text[REPLY_TEXT_LENGTH];    /* DONE with GROW: a remark, or "" */
    char set_at_load[CHANGE_LENGTH]; /* LOADED: of floating-point control, in which its kernels are
                                        called; "": nothing */
    kernel_facts kernel;
    timed_repetition repetition;
} worker_reply;

/* An order with nothing in the arena; NULL: of no kernel. */
work_order worker_order(order_kind kind, const kernel_entry *kernel);

/* Whether the process that sent it should get no more orders. */
static inline bool reply_ends_process(const worker_reply *reply)
{
    return reply->kind == REPLY_FAILED && reply->verdict != VERDICT_DECLINED &&
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

/* Its size is fixed, and sealed. */
void shared_arena_open(shared_arena *made);
/* Contents stay, but their place in the process may be another. False: errno says why. */
bool shared_arena_reach(shared_arena *of, size_t bytes);
void shared_arena_close(shared_arena *of);

#endif
