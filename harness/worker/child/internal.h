/* The worker's own parts: what runs in the exec'd process that holds kernels and never the
 * reference. */
#ifndef LNBENCH_WORKER_INSIDE_H
#define LNBENCH_WORKER_INSIDE_H

#include "base/arena.h"
#include "layernorm_plugin.h"
#include "worker/child/buffers.h"

enum { WORKER_MAX_ENTRIES = 512 };

/* ---- orders and answers (main.c) ---- */

/* The answer to the order that is obeyed: DONE, until order_fails(). */
extern worker_reply answer;
/* What an order needs, until the next one. Where memory runs out the process ends, and says so. */
extern arena order_memory;
_Noreturn void worker_out_of_memory(size_t bytes);

/* The answer is a failure. The first one stays. Returns false. */
bool order_fails(verdict_kind verdict, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Memory that is shared with the parent, at an offset of the order's. */
char *worker_memory(off_t at);

/* Sends what is no answer, at once: the process ends when the parent is gone. */
void worker_send(worker_reply *reply);
/* The answer, and nothing else is done. */
_Noreturn void worker_end_with_answer(void);
/* Names what runs now (an entry of a timed group; " in ..."), for the report of a fault. */
extern volatile unsigned running_entry;
extern const char *volatile running_where;

/* ---- plugins (main.c) ---- */

/* The floating-point state of a thread that calls a plugin, which must leave it as it found it. */
typedef struct thread_state {
    unsigned floating_point; /* control bits of MXCSR or FPCR, without the sticky flags */
    unsigned x87;            /* control word */
    bool x87_empty;          /* its registers, which MMX uses too */
} thread_state;

typedef struct worker_plugin {
    const ln_plugin_table *table; /* NULL: not loaded here */
    void *library;                /* of dlopen() */
    thread_state floating_point;  /* as loading it left it: its kernels are called so */
} worker_plugin;

const worker_plugin *plugin_of(const work_order *order);
/* NULL, and the order fails: there is none. */
const ln_kernel *kernel_of(const work_order *order);
/* Why the kernel cannot serve the problem, by its own word, or NULL if it can. */
const char *kernel_refuses(const ln_kernel *kernel, const ln_problem *problem);
/* Whether it has threads of its own, and takes so many. */
bool kernel_has_threads(const ln_plugin_table *plugin, const ln_kernel *kernel);
bool plugin_set_threads(const ln_plugin_table *plugin, unsigned threads);

/* Every call into a plugin, or a batch of them, stands between the two. What it changed of the
 * floating-point state is put back, and the order fails: false. */
void plugin_enter(thread_state *before);
bool plugin_leave(const thread_state *before, const char *callback);

/* ---- one call (judged_call.c) ---- */

void floating_point_read(thread_state *state);
void floating_point_set(const thread_state *state);
/* NULL if it did not change, else what did ("changed ..."), and how it was found; it is put back. */
const char *floating_point_compare(const thread_state *before, thread_state *found);
void worker_judge(const work_order *order, const ln_kernel *kernel);
/* The kernel that the library takes for a problem of its class; NULL: it has none, or does not say. */
const char *worker_kernel_behind(void *library, const ln_problem *problem);
/* After orders that had a call_place: the library's calls are by the caches of this machine again. */
void worker_leave_place(void);

/* ---- other orders ---- */

void worker_grow(const work_order *order, const ln_kernel *kernel);
void worker_call_large(const work_order *order, const ln_kernel *kernel);
void worker_time_begin(const work_order *order);
void worker_time_entry(const work_order *order);
void worker_time_run(const work_order *order);

/* ---- threads (threads.c) ---- */

/* Threads of a timed group: each has a CPU of its own, the first being `cpu` (-1: nobody is
 * pinned). False, and the order fails, where the system has no more threads. */
bool worker_threads_begin(unsigned threads, int cpu);
/* Before a call: the calling thread goes to its CPU, or, where a library has threads of its own, to
 * all CPUs of the group. */
void worker_threads_pin(bool own_threads);

/* A kernel with what it prepared: for the problem, or for each part of its rows, one a thread. */
typedef struct prepared_kernel {
    const ln_plugin_table *plugin;
    const ln_kernel *kernel;
    ln_problem problem; /* the whole */
    bool own_threads;
    bool watched; /* each call over several threads is looked at, which takes time */
    unsigned parts, prepared;
    ln_problem *problems;
    void **states;
    const char **changed; /* what the last such call changed of its thread's floating-point state */
} prepared_kernel;

/* False, and the order fails: it cannot be. kernel_release() it in either case, or let it live as long as
 * the process. Both are calls into the plugin, and heeded as such. */
bool kernel_prepare(prepared_kernel *made, arena *memory, const ln_plugin_table *plugin,
                    const ln_kernel *kernel, const ln_problem *problem, unsigned threads);
bool kernel_release(prepared_kernel *of);
/* One call, over all of its threads; returns when the last is done. */
void kernel_run(const prepared_kernel *of, const ln_tensors *tensors);
/* NULL, or what a watched call changed of the floating-point state of a thread of the group. */
const char *kernel_changed(const prepared_kernel *of);

/* Copies bytes from x to y, which are the same place or do not overlap. Both are at least 64-byte
 * aligned. */
typedef void roof_function(const void *x, void *y, size_t bytes);
void roof_run(roof_function *roof, unsigned threads, const void *x, void *y, size_t bytes);

/* ---- calls that overlap in time (overlap.c) ---- */

/* Makes one call. Returns whether its output has the known bits. */
typedef bool (*overlap_call)(void *context);

typedef struct overlap_plan {
    unsigned free_calls; /* of each caller at first, to learn how long a call takes: at least one */
    unsigned stops;      /* interruptions of the first caller */
    double part;         /* 0 to 1: where in a call the first interruption comes */
} overlap_plan;

typedef enum overlap_result {
    OVERLAP_SAME,
    OVERLAP_DIFFERS, /* an output had other bits */
    OVERLAP_REFUSED, /* the system gave no sockets, threads or timers, so that no calls overlapped */
} overlap_result;

/* Calls with the first context on this thread and with each other one on a thread of its own, AT_ONCE_MOST in
 * all. There are fewer interruptions where the next thread cannot go on meanwhile (the kernel holds a lock), and
 * for slow kernels. */
overlap_result worker_overlap(overlap_call call, void *const *contexts, size_t count,
                              const overlap_plan *plan);

#endif
