/* The parts of the worker process, which loads the kernels and never the reference. */
#ifndef LNBENCH_WORKER_INSIDE_H
#define LNBENCH_WORKER_INSIDE_H

#include "base/arena.h"
#include "layernorm_plugin.h"
#include "worker/child/buffers.h"

enum { WORKER_MAX_ENTRIES = 512 };

/* ---- messages and answers (main.c) ---- */

/* The answer to the current message: DONE, until message_fails(). */
extern worker_reply answer;
/* Memory that lives until the next message. If memory runs out, the process ends with that answer. */
extern arena message_memory;
_Noreturn void worker_out_of_memory(size_t bytes);

/* Makes the answer a failure; the first one stays. Returns false. */
bool message_fails(verdict_kind verdict, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Returns the address of an offset in the memory that is shared with the parent. */
char *worker_memory(off_t at);

/* Sends an answer now. If the parent has ended, so does this process. */
void worker_send(worker_reply *reply);
/* Sends `answer` and ends the process. */
_Noreturn void worker_end_with_answer(void);
/* The entry of a timed group that runs now, and words that follow a fault's name (" in ..."), for its report. */
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
    const ln_plugin_table *table; /* NULL: not loaded in this process */
    void *library;                /* the result of dlopen() */
    thread_state floating_point;  /* the state after loading, in which its kernels are called */
} worker_plugin;

/* The table of the library that lnbench came with; NULL: it is not loaded in this process. */
extern const ln_plugin_table *own_library;

const worker_plugin *plugin_of(const worker_message *message);
/* Returns the kernel of a message; NULL: there is no such kernel, and the message fails. */
const ln_kernel *kernel_of(const worker_message *message);
/* Returns the kernel's reason for not supporting the problem; NULL: it supports it. */
const char *kernel_refuses(const ln_kernel *kernel, const ln_problem *problem);
/* Returns true if the kernel uses threads of the plugin's own. */
bool kernel_has_threads(const ln_plugin_table *plugin, const ln_kernel *kernel);
bool plugin_set_threads(const ln_plugin_table *plugin, unsigned threads);

/* Surround every call into a plugin, or a series of them. If the floating-point state changed, plugin_leave() restores
 * it, makes the message fail, and returns false. */
void plugin_enter(thread_state *before);
bool plugin_leave(const thread_state *before, const char *callback);

/* ---- one call (judged_call.c) ---- */

void floating_point_read(thread_state *state);
void floating_point_set(const thread_state *state);
/* Reads the state into *found. Returns NULL if it did not change; else restores it and returns "changed ...". */
const char *floating_point_compare(const thread_state *before, thread_state *found);
void worker_judge(const worker_message *message, const ln_kernel *kernel);
/* Returns the kernel to which the library dispatches a problem of its class; NULL: none, or not known. */
const char *worker_kernel_behind(void *library, const ln_problem *problem);
/* Makes the library use the caches of this machine again, after messages with a call_place. */
void worker_leave_place(void);

/* ---- other messages ---- */

void worker_grow(const worker_message *message, const ln_kernel *kernel);
void worker_call_large(const worker_message *message, const ln_kernel *kernel);
void worker_time_begin(const worker_message *message);
void worker_time_entry(const worker_message *message);
void worker_time_run(const worker_message *message);

/* ---- threads (threads.c) ---- */

/* Starts the threads of a timed group; each has its own CPU, the first one `cpu` (-1: none is pinned).
 * False: the system has no more threads, and the message fails. */
bool worker_threads_begin(unsigned threads, int cpu);
/* Pins the calling thread before a call: to its own CPU, or with own_threads to all CPUs of the group. */
void worker_threads_pin(bool own_threads);

/* A kernel after prepare(): it has one state for the problem, or one for each thread's part of the rows. */
typedef struct prepared_kernel {
    const ln_plugin_table *plugin;
    const ln_kernel *kernel;
    ln_problem problem; /* with all rows */
    bool own_threads;
    bool watched; /* check each thread's floating-point state after each call, which takes time */
    unsigned parts, prepared;
    ln_problem *problems;
    void **states;
    const char **changed; /* each thread's change of state by the last watched call; NULL: none */
} prepared_kernel;

/* Prepares the kernel for 1 or more threads. False: it failed, and so does the message. kernel_release() may follow in
 * either case; without it the states live as long as the process. Both check the plugin's floating-point state. */
bool kernel_prepare(prepared_kernel *made, arena *memory, const ln_plugin_table *plugin,
                    const ln_kernel *kernel, const ln_problem *problem, unsigned threads);
bool kernel_release(prepared_kernel *of);
/* Makes one call on all of its threads, and returns when the last one is done. */
void kernel_run(const prepared_kernel *of, const ln_tensors *tensors);
/* Returns the first thread's change of floating-point state by the last watched call; NULL: none. */
const char *kernel_changed(const prepared_kernel *of);

/* Copies bytes from x to y, which are equal or do not overlap. Both are at least 64-byte aligned. */
typedef void copy_function(const void *x, void *y, size_t bytes);
void copy_run(copy_function *copier, unsigned threads, const void *x, void *y, size_t bytes);

/* ---- calls that overlap in time (overlap.c) ---- */

/* Makes one call, and returns true if its output has the known bits. */
typedef bool (*overlap_call)(void *context);

typedef struct overlap_plan {
    unsigned free_calls; /* the calls that each caller first makes to measure their time; not 0 */
    unsigned stops;      /* interruptions of the first caller */
    double part;         /* 0 to 1: the moment of the first interruption within a call */
} overlap_plan;

typedef enum overlap_result {
    OVERLAP_SAME,
    OVERLAP_DIFFERS, /* an output had other bits */
    OVERLAP_REFUSED, /* the system gave no sockets, threads or timers, so that no calls overlapped */
} overlap_result;

/* Makes calls that overlap, with the first context on this thread and with each other one on a thread of its own; at
 * most AT_ONCE_MOST in all. There are fewer interruptions for slow kernels, and if the next thread cannot make its call
 * meanwhile because the kernel holds a lock. */
overlap_result worker_overlap(overlap_call call, void *const *contexts, size_t count,
                              const overlap_plan *plan);

#endif
