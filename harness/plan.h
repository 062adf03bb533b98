/* Plans: which cases a run has. */
#ifndef LNBENCH_PLAN_H
#define LNBENCH_PLAN_H

#include "machine.h"
#include "options.h"
#include "worker.h"

/* What narrows a plan; empty lists narrow nothing. */
typedef struct plan_request {
    const char *name; /* "quick", "default", "full" */
    word_list kernels, conventions, dtypes, shapes, inputs, caches, threads;
    const char *only; /* "speed", "accuracy" or NULL */
    uint64_t seed;
    uint64_t processes, repetitions; /* 0: the plan's own */
    uint64_t settings;               /* a hash of what else decides results: limits, pages */
} plan_request;

/* Rows of one input under one convention, judged for every kernel of these types. */
typedef struct accuracy_group {
    ln_convention convention;
    char convention_label[CONVENTION_MAX_LENGTH];
    char input[INPUT_MAX_LENGTH];
    ln_type dtype, param; /* of the kernels that it is for */
    size_t rows, hidden;
} accuracy_group;

/* One shape timed for every kernel of these types and the roofs, on a judged block of normal rows.
 */
typedef struct speed_group {
    ln_convention convention;
    char convention_label[CONVENTION_MAX_LENGTH];
    ln_type dtype, param;
    size_t rows, hidden, block_rows;
    cache_state cache;
    unsigned threads;
    unsigned processes, repetitions;
    unsigned slow_repetitions; /* in processes that know a call to be long */
    double min_seconds;
} speed_group;

/* The types of the groups that are being added. */
typedef struct plan_adding {
    ln_type dtype, param;
} plan_adding;

typedef struct plan {
    char name[16];
    const kernel_entry **kernels; /* chosen ones, borrowed */
    size_t kernel_count;
    accuracy_group *accuracy;
    size_t accuracy_count;
    speed_group *speed;
    size_t speed_count;
    uint64_t seed;
    uint64_t worst_hash; /* of the rows of the input "worst", where it takes part */
    char hash[65];
    plan_adding adding;
} plan;

/* Errors (usage) name the unknown word and the nearest known one. */
bool plan_make(const plan_request *request, const kernel_list *kernels, const machine *machine,
               plan *plan, error *error);
void plan_free(plan *plan);

/* The distinct numbers of threads asked for, 1 where none was. Errors: no number (2), more threads
 * than this process has CPUs (7). */
enum { PLAN_THREAD_NUMBERS = 32 };
bool plan_threads(const word_list *given, unsigned numbers[], size_t *count, error *error);

/* How many judgements and repetitions there are, and roughly how long they take. */
size_t plan_judgements(const plan *plan);
size_t plan_repetitions(const plan *plan);

/* Whether a group of these types is for this kernel; how many of the plan it is for. */
bool plan_takes(const kernel_entry *kernel, ln_type dtype, ln_type param);
size_t plan_kernels_of(const plan *plan, ln_type dtype, ln_type param);

/* The kernels that the request names, of the types that it has. */
bool plan_choose_kernels(const plan_request *request, const kernel_list *kernels, plan *plan,
                         error *error);

/* Over how many bytes timed calls go in turn: cold, at least; in place, at most. Hot: 0. */
size_t plan_rotated_bytes(const machine *machine, cache_state cache);

/* Fills the plan's hash, of everything that decides what is measured. */
void plan_identify(plan *plan, const plan_request *request);

/* The key of a case of a group. */
case_key accuracy_key(const accuracy_group *group, const kernel_entry *kernel);
case_key speed_key(const speed_group *group, const char *kernel);

/* "torch,ddof=1,eps=1e-6@std,affine=vector" is two conventions: a key that comes again, or a name,
 * begins a new one. */
bool split_conventions(const word_list *given, word_list *conventions, error *error);

#endif
