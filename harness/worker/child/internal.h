/* The worker's own parts: what runs in the exec'd process that holds kernels and never the
 * reference. */
#ifndef LNBENCH_WORKER_INSIDE_H
#define LNBENCH_WORKER_INSIDE_H

#include "worker/child/buffers.h"
#include "layernorm_plugin.h"
#include "worker/protocol.h"

/* Copies bytes from x to y, which are the same place or do not overlap. Both are at least 64-byte
 * aligned. */
typedef void roof_function(const void *x, void *y, size_t bytes);

enum { WORKER_MAX_PLUGINS = 64, WORKER_MAX_ENTRIES = 512 };

/* ---- the tensors of an order, by role ---- */

static inline const tensor_role *role_of(const work_order *order, size_t role)
{
    return &operations[order->operation]->roles[role];
}

static inline size_t role_count(const work_order *order)
{
    return operations[order->operation]->count;
}

/* Whether a kernel that takes no residual cannot serve the order. */
static inline const char *refuses_residual(const ln_kernel *kernel, const work_order *order)
{
    bool refused = order->at.tensors[ROLE_RESIDUAL] >= 0 && (kernel->traits & LN_TRAIT_NO_RESIDUAL);
    return refused ? "it takes no residual" : NULL;
}

/* The parameters of the order as in timing, read-only. buffers_destroy() them in either case. */
bool parameters_create(guarded buffers[ROLES_MOST], const work_order *order);
/* Points a call at the buffers that are in use; the rest of it stays as it is. */
void buffers_set(const work_order *order, const guarded buffers[ROLES_MOST], ln_tensors *tensors);
void buffers_destroy(guarded buffers[ROLES_MOST]);

/* ---- state, plugins, messages ---- */

/* The floating-point state of a thread that calls a plugin, which must leave it as it found it. */
typedef struct thread_state {
    unsigned floating_point; /* control bits of MXCSR or FPCR, without the sticky flags */
    unsigned x87;            /* control word */
    bool x87_empty;          /* its registers, which MMX uses too */
} thread_state;

typedef struct plugin_load {
    char changed[REPLY_TEXT_LENGTH]; /* what its kernels are not called for; "": nothing */
    char set[CHANGE_LENGTH]; /* of floating-point control, which its kernels have; "": nothing */
    thread_state floating_point; /* in which they are called */
} plugin_load;

typedef struct worker_plugins {
    const ln_plugin_table *plugins[WORKER_MAX_PLUGINS]; /* NULL: not loaded here */
    plugin_load loads[WORKER_MAX_PLUGINS];
    void *libraries[WORKER_MAX_PLUGINS]; /* of dlopen() */
    bool trusted;                        /* the first one is the library that lnbench came with */
} worker_plugins;

/* Memory that is shared with the parent, at an offset of the order's. */
char *worker_memory(off_t at);

/* Sends a reply, with those to the orders before in the same message or when all of them are obeyed; the
 * process ends when the parent is gone. */
void worker_send(worker_reply *reply);
void worker_send_done(const char *text, int64_t value);
/* That an order of many calls goes on: the parent's deadline begins anew. Between calls, as often as
 * one likes. */
void worker_send_alive(void);
void worker_send_failed(verdict_kind verdict, unsigned entry, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* It ends the run: what is left out for want of memory is not taken for what there is. */
void worker_send_no_memory(void);
/* Why a kernel cannot be run after its prepare() failed: of the library that lnbench came with, whose
 * own has no other reason, because memory ran out. */
const char *worker_unprepared(void);
/* Answers that a kernel refuses, or that memory or threads ran out where `refusal` is that string. */
extern const char worker_no_memory[], worker_no_threads[];
void worker_send_refusal(unsigned entry, const char *refusal);

/* Names what runs now (an entry of a timed group), for that report. */
void worker_fault_entry(unsigned entry);
/* Likewise what that report ends with (" in ..."); "": nothing. */
void worker_fault_where(const char *where);

void floating_point_read(thread_state *state);
void floating_point_set(const thread_state *state);
/* NULL if it did not change, else what did ("changed ..."); it is put back. */
const char *floating_point_compare(const thread_state *before);
/* The same of its control alone, and how it was found. */
const char *floating_point_take(const thread_state *before, thread_state *found);
/* Which resource of the process a plugin used up, so that the worker cannot go on; NULL: none. */
const char *process_exhausted(void);

/* Every call into a plugin, or a batch of them, stands between the two. What it changed of the
 * floating-point state is put back, and is the answer to the order unless a worse one comes. False:
 * something did. */
void plugin_enter(thread_state *before);
bool plugin_leave(const thread_state *before, const char *callback);
/* The same of a change that was found otherwise; NULL: none. */
bool plugin_blame(const char *callback, const char *changed);
/* Answers with what was found. */
void worker_send_blame(void);

const ln_kernel *worker_kernel(const worker_plugins *plugins, const work_order *order);
/* Why the kernel cannot serve the problem, by its own word, or NULL if it can. */
const char *kernel_refuses(const ln_kernel *kernel, const ln_problem *problem);

/* Why a plugin can't be taken, or NULL. */
const char *plugin_fault(const ln_plugin_table *plugin);
void worker_judge(const worker_plugins *plugins, const work_order *order);
/* After orders that had a call_place: the library's calls are by the caches of this machine again. */
void worker_leave_place(void);
void worker_call(const worker_plugins *plugins, const work_order *order);
void worker_call_large(const worker_plugins *plugins, const work_order *order);
void worker_bound(const worker_plugins *plugins, const work_order *order);

/* Threads of a timed group: each has a CPU of its own, the first being `cpu` (-1: nobody is
 * pinned). False where the system has no more threads. */
bool worker_threads_begin(unsigned threads, int cpu);
/* Of a judged call: those that are not the plugin's own begin with split_prepare(), and end with 1. */
void worker_threads_judge(unsigned threads);
/* Before a call: the calling thread goes to its CPU, or, where a library has threads of its own, to
 * all CPUs of the group. */
void worker_threads_pin(bool own_threads);
bool plugin_has_threads(const ln_plugin_table *plugin);
bool plugin_set_threads(const ln_plugin_table *plugin, unsigned threads); /* false: it can't */
bool kernel_has_threads(const ln_plugin_table *plugin, const ln_kernel *kernel);

/* A kernel with what it prepared for each part of the rows. */
typedef struct split_kernel {
    const ln_kernel *kernel;
    const ln_problem *problem; /* the whole */
    bool own_threads;
    bool watched; /* each call is looked at, which takes time */
    unsigned parts, prepared;
    ln_problem *problems;
    void **states;
    const char **changed; /* what the last such call changed of its thread's floating-point state */
} split_kernel;

/* NULL, or why it cannot be; split_release() it in either case, or let it live as long as the
 * process. */
const char *split_prepare(split_kernel *split, const ln_plugin_table *plugin,
                          const ln_kernel *kernel, const ln_problem *problem);
void split_release(split_kernel *split);
/* NULL, or what a watched call changed of the floating-point state of a thread of the group. */
const char *split_changed(const split_kernel *split);
/* One call, over all threads of the group; returns when the last is done. */
void split_run(const split_kernel *split, const ln_tensors *tensors);
void split_copy(roof_function *roof, const void *x, void *y, size_t bytes);

void worker_time_begin(const work_order *order);
void worker_time_entry(const worker_plugins *plugins, const work_order *order);
void worker_time_run(const work_order *order);

/* Puts the pages of code and constants of the file in which `function` lies into fresh memory, behind a
 * number of unused pages that `draw` decides. Addresses stay as they are. An object is moved once a process;
 * files of more than 16 MiB of code stay in place. False: nothing was moved, or not everything; what runs is
 * the same. */
bool code_place_draw(void (*function)(void), uint64_t draw);

#endif
