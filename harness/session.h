/* A run while it goes on: what its accuracy and its speed part share. */
#ifndef LNBENCH_SESSION_H
#define LNBENCH_SESSION_H

#include "invariance.h"
#include "plan.h"
#include "progress.h"
#include "store.h"

typedef struct session {
    plan plan;
    worker *worker;
    judge *judge;
    store *store;
    int64_t run;
    bool resumed;
    unsigned next_process; /* numbers the timing processes of the run */
    bool huge_pages;
    double deadline_seconds;
    int cpu; /* timed workers are pinned to it; -1: none */
    machine machine;
    progress progress;
    exit_code worst;        /* of all verdicts so far */
    invariance *invariance; /* one a kernel of the plan; NULL: not measured */
} session;

/* Rough costs for the time left: a judgement, a repetition. */
double session_judgement_seconds(size_t elements);
double session_repetition_seconds(const speed_group *group);

/* Judges every accuracy group; stores each case as it is known. False: an error that ends the run
 * (130: interrupted). */
bool session_accuracy(session *session, error *error);
/* In how many lanes at once. */
size_t session_lanes(const plan *plan);
/* Judges and times every speed group. */
bool session_speed(session *session, error *error);

/* Gives a judgement that is fine so far the verdict of its kernel's probe rows, if that is not. A
 * kernel that runs well but computes another convention is inaccurate on every input. The rows of
 * the judgement are gone after it. */
bool session_probe(session *session, const kernel_entry *kernel, const ln_convention *convention,
                   size_t hidden, judgement *judgement, error *error);

/* Stores a judgement and remembers its exit code. */
bool session_put(session *session, const case_key *key, const judgement *judgement, error *error);

#endif
