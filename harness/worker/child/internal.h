/* The parts of the worker process, which has the kernels and never the reference. */
#ifndef LNBENCH_WORKER_INSIDE_H
#define LNBENCH_WORKER_INSIDE_H

#include "base/arena.h"
#include "layernorm_plugin.h"
#include "worker/child/buffers.h"

enum { WORKER_MAX_ENTRIES = 512 };

/* ---- orders and answers (main.c) ---- */

/* The answer to the current order: DONE, until order_fails(). */
extern worker_reply answer;
/* Memory that an order may use until the next order. If memory runs out, the process ends with that answer. */
extern arena order_memory;
_Noreturn void worker_out_of_memory(size_t bytes);

/* Makes the answer a failure; the first one stays. Returns false. */
bool order_fails(verdict_kind verdict, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The memory shared with the parent, at an offset of the order. */
char *worker_memory(off_t at);

/* Sends a message that is no answer at once. If the parent has ended, so does this process. */
void worker_send(worker_reply *reply);
/* Sends the answer and ends the process. */
_Noreturn void worker_end_with_answer(void);
/* What runs now (the entry of a timed group; " in ..."), for the report of a fault. */
extern volatile unsigned running_entry;
extern const char *volatile running_where;

/* ---- plugins (main.c) ---- */

/* The floating-point state of a thread, which a plugin must not change. */
typedef struct thread_state {
    unsigned floating_point; /* control bits of MXCSR or FPCR, without the sticky flags */
    unsigned x87;            /* control word */
    bool x87_empty;          /* its registers are empty; MMX uses them too */
} thread_state;

typedef struct worker_plugin {
    const ln_plugin_table *table; /* NULL: not loaded here */
    void *library;                /* of dlopen() */
    thread_state floating_point;  /* after loading; its kernels are called in it */
} worker_plugin;

/* The library that lnbench came with; NULL: it is not loaded here. */
extern const ln_plugin_table *own_library;

const worker_plugin *plugin_of(const work_order *order);
/* NULL: there is no such kernel, and the order fails. */
const ln_kernel *kernel_of(const work_order *order);
/* Why the kernel does not support the problem, in its own words; NULL: it does. */
const char *kernel_refuses(const ln_kernel *kernel, const ln_problem *problem);
/* Whether the kernel has threads of its own; and sets their number. */
bool kernel_has_threads(const ln_plugin_table *plugin, const ln_kernel *kernel);
bool plugin_set_threads(const ln_plugin_table *plugin, unsigned threads);

/* Must surround every call into a plugin, or a series of them. plugin_leave() restores changed floating-point
 * state; then the order fails, and it returns false. */
void plugin_enter(thread_state *before);
bool plugin_leave(const thread_state *before, const char *callback);

/* ---- one call (judged_call.c) ---- */

void floating_point_read(thread_state *state);
void floating_point_set(const thread_state *state);
/* NULL if the state did not change, else what changed ("changed ..."), with the state found; restores it. */
const char *floating_point_compare(const thread_state *before, thread_state *found);
void worker_judge(const work_order *order, const ln_kernel *kernel);
/* The kernel that the library takes for a problem of its class; NULL: none, or not known. */
const char *worker_kernel_behind(void *library, const ln_problem *problem);
/* After orders with a call_place: makes the library use the caches of this machine again. */
void worker_leave_place(void);

/* ---- other orders ---- */

void worker_grow(const work_order *order, const ln_kernel *kernel);
void worker_call_large(const work_order *order, const ln_kernel *kernel);
void worker_time_begin(const work_order *order);
void worker_time_entry(const work_order *order);
void worker_time_run(const work_order *order);

/* ---- threads (threads.c) ---- */

/* Starts the threads of a timed group; each has its own CPU, the first one `cpu` (-1: none is pinned).
 * False: the system has no more threads, and the order fails. */
bool worker_threads_begin(unsigned threads, int cpu);
/* Before a call: pins the calling thread to its CPU, or, if a library has threads of its own, to all CPUs
 * of the group. */
void worker_threads_pin(bool own_threads);

/* A prepared kernel: with a state for the problem, or for the part of the rows of each thread. */
typedef struct prepared_kernel {
    const ln_plugin_table *plugin;
    const ln_kernel *kernel;
    ln_problem problem; /* the whole */
    bool own_threads;
    bool watched; /* check the state of each thread after each call, which takes time */
    unsigned parts, prepared;
    ln_problem *problems;
    void **states;
    const char **changed; /* each thread's change of floating-point state by the last such call */
} prepared_kernel;

/* False: it failed, and so does the order. kernel_release() may follow in either case, or the state lives as long as
 * the process. Both are calls into the plugin, and checked as such. */
bool kernel_prepare(prepared_kernel *made, arena *memory, const ln_plugin_table *plugin,
                    const ln_kernel *kernel, const ln_problem *problem, unsigned threads);
bool kernel_release(prepared_kernel *of);
/* Makes one call on all of its threads, and returns when the last one is done. */
void kernel_run(const prepared_kernel *of, const ln_tensors *tensors);
/* The change of a thread's floating-point state by a watched call; NULL: none. */
const char *kernel_changed(const prepared_kernel *of);

/* Copies bytes from x to y, which are equal or do not overlap. Both are at least 64-byte aligned. */
typedef void copy_function(const void *x, void *y, size_t bytes);
void copy_run(copy_function *copier, unsigned threads, const void *x, void *y, size_t bytes);

/* ---- calls that overlap in time (overlap.c) ---- */

/* Makes one call, and returns whether its output has the known bits. */
typedef bool (*overlap_call)(void *context);

typedef struct overlap_plan {
    unsigned free_calls; /* calls of each caller at first, to measure their time: at least one */
    unsigned stops;      /* interruptions of the first caller */
    double part;         /* 0 to 1: the moment of the first interruption within a call */
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
