/* Plans: the cases of a run.
 *
 *     plan_request request = {.name = "quick", .only = "accuracy", .seed = 1};
 *     plan_make(&request, &kernels, &machine, &plan);
 *     case_key key = accuracy_key(&plan.accuracy[0], plan.kernels[0]);
 */
#ifndef LNBENCH_PLAN_H
#define LNBENCH_PLAN_H

#include "base/arena.h"
#include "domain/machine.h"
#include "base/text.h"
#include "domain/operation.h"
#include "worker/worker.h"

/* The request for a plan. Empty lists restrict nothing. */
typedef struct plan_request {
    const char *name; /* "quick", "default", "full" */
    word_list kernels, conventions, dtypes, shapes, inputs, caches, threads;
    const char *operation; /* a name or "all"; NULL: those of the conventions, or the first */
    const char *only;      /* "speed", "accuracy" or NULL */
    const char *time_on;   /* the input that is timed; NULL: "normal" */
    const char *param;     /* type of gamma and beta; NULL: any */
    uint64_t seed;
    uint64_t processes, repetitions; /* 0: the plan's own */
    bool conformance;                /* with conformance tests, which the session adds */
    /* only the problems of the covering array: no large tensors, no more hidden sizes */
    bool few_checks;
    uint64_t settings; /* hash of other settings that decide results: limits, pages */
} plan_request;

/* Rows of one input under one convention, judged for every kernel of these types; or a conformance test, which
 * session_add_checks() adds (run/session.h), for kernels without a proven bound: plugins, peers and the library's own
 * calls. */
typedef struct accuracy_group {
    ln_convention convention;
    char convention_label[CONVENTION_MAX_LENGTH];
    char input[INPUT_MAX_LENGTH];
    ln_type dtype, param;                 /* of its kernels */
    size_t rows, distinct, hidden;        /* after `distinct` rows the first ones are repeated */
    size_t elements;                      /* to estimate the time left */
    const struct conformance_task *check; /* NULL: rows of the input */
    bool for_ours;                        /* a conformance test for lnbench's own kernels too */
} accuracy_group;

/* One shape that is timed for every kernel of these types and for the copies, on a judged block of rows. */
typedef struct speed_group {
    ln_convention convention;
    char convention_label[CONVENTION_MAX_LENGTH];
    char input[INPUT_MAX_LENGTH];
    ln_type dtype, param;
    size_t rows, hidden, block_rows;
    cache_state cache;
    unsigned threads;
    unsigned processes, repetitions;
    unsigned slow_repetitions; /* the fewest, for a call that is known to be long */
    double min_seconds;
} speed_group;

/* The operation and types for which groups are being added. */
typedef struct plan_adding {
    ln_operation operation;
    ln_type dtype, param;
} plan_adding;

/* The conventions of one operation: those that the user named, or else the presets. */
typedef struct plan_conventions {
    word_list words;
    ln_convention *list; /* of the words, for rows of the current type */
    size_t count;
    bool named;
} plan_conventions;

typedef struct case_plan {
    char name[16];
    unsigned operations;          /* bits of ln_operation */
    const kernel_entry **kernels; /* the chosen ones, borrowed, grouped by operation */
    size_t kernel_count;
    size_t related_count; /* number with their families on other ISAs of this CPU */
    accuracy_group *accuracy;
    size_t accuracy_count;
    plan_conventions conventions[OPERATIONS];
    bool quick, full, conformance, few_checks;
    struct plan_checks *checks; /* owned by the session; NULL: no conformance tests were added */
    speed_group *speed;
    size_t speed_count;
    uint64_t seed;
    uint64_t worst_hash;  /* of the adversarial rows of the plan */
    char worst_rows[256]; /* these rows in words; "": none */
    char hash[65];
    char request_hash[17]; /* of the request, whatever kernels match it */
    plan_adding adding;
    arena memory; /* owns all these, except the groups */
} case_plan;

/* Makes the plan of a request. An unknown word ends the program (2), and so do more threads than this process has
 * CPUs (7). */
void plan_make(const plan_request *request, const kernel_list *kernels,
               const machine_facts *machine, case_plan *plan);
void plan_free(case_plan *plan);

/* Sets plan->adding to the next pair of storage and parameter type that a chosen kernel of plan->adding.operation has,
 * in the order of the types. *next must be 0 at first. False: there are no more. */
bool plan_next_types(case_plan *plan, int *next);
/* Returns the number of different rows that are generated for an input; further rows repeat them. */
size_t distinct_rows(const char *input, size_t rows);
/* Adds a group of the types in plan->adding, and returns it. */
accuracy_group *plan_add_accuracy(case_plan *plan, const ln_convention *convention,
                                  const char *input, size_t rows, size_t hidden);

/* Return whether a group is for this kernel. */
bool speed_takes(const speed_group *group, const kernel_entry *kernel);
bool group_takes(const accuracy_group *group, const kernel_entry *kernel);

/* Return the key of a case of a group. */
case_key accuracy_key(const accuracy_group *group, const kernel_entry *kernel);
case_key speed_key(const speed_group *group, const char *kernel);

/* Splits words into conventions. "torch,eps=1e-6@std,affine=vector" is two: one begins at a name, or at the key that
 * began the list before it. Lists that name no operation are of `whose`, unless that is NULL or "all". */
void split_conventions(const word_list *given, const char *whose, word_list *conventions);
#endif
