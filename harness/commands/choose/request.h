/* What choose was asked for, read from its options. */
#ifndef LNBENCH_CHOOSE_REQUEST_H
#define LNBENCH_CHOOSE_REQUEST_H

#include "base/output.h"
#include "commands/choose/show.h"
#include "domain/models.h"
#include "worker/worker.h"

typedef struct choose_options {
    word_list shapes, tokens, conventions, kernels, plugins;
    const char *model, *dtype, *param, *cache, *time_on, *database, *class, *machine;
    output_file printed;
    uint64_t threads, seed, run;
    choose_budget budget;
    double time, deadline;
    bool explain, fresh, stored, exact, allow_missing;
} choose_options;

typedef struct choose_request {
    chosen *all;
    size_t count;
    worker_process *worker;
    kernel_list kernels;
    word_list libraries;
    machine_facts machine;
    const char *command_line;
    coverage covered;
} choose_request;

/* All that the options ask for. */
bool request_read(const choose_options *options, choose_request *choosing, error *err);

#endif
