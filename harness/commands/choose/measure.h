/* Measuring what a choice lacks. */
#ifndef LNBENCH_CHOOSE_MEASURE_H
#define LNBENCH_CHOOSE_MEASURE_H

#include "commands/choose/choose.h"
#include "worker/worker.h"

typedef struct choose_meter {
    const char *database, *command_line;
    worker_process *worker;
    const kernel_list *kernels;
    const machine_facts *machine;
    double seconds; /* to spend, roughly */
    double deadline;
    uint64_t seed;
} choose_meter;

/* A new run in the database with times and errors of what is lacking; all of it has the same budget,
 * convention and so on. *run: its number, set once it is begun. *short_of_time: not even the fewest
 * repetitions fit into the seconds; they were made all the same. Interrupted (130): what was measured is
 * kept. */
bool choose_measure(const choose_meter *meter, const choose_wanted *const *lacking, size_t count,
                    int64_t *run, bool *short_of_time, error *err);

#endif
