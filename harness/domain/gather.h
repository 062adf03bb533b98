/* What the files that gather machine facts share, and what their tests need. */
#ifndef LNBENCH_MACHINE_INTERNAL_H
#define LNBENCH_MACHINE_INTERNAL_H

#include "domain/machine.h"
#include <stdbool.h>
#include <stdio.h>

/* A machine that is being read. Files are looked for under `root`, "" for the real ones. */
typedef struct fact_gather {
    machine_facts *machine;
    const char *root;
    unsigned cpu; /* the one we run on */
} fact_gather;

/* As machine_read(), but from the files under a directory and for that CPU. Build and process facts
 * are the real ones. */
void machine_read_under(const char *root, unsigned cpu, machine_facts *machine);

/* Appends a fact; NULL and "" are "unknown". */
void add_fact(fact_gather *gather, const char *name, const char *value);
void add_number(fact_gather *gather, const char *name, unsigned long long value);

/* NULL where it cannot be opened. */
FILE *open_under(const fact_gather *gather, const char *path);
/* The first line of a file under the root, trimmed; false where it cannot be read. */
bool read_line(const fact_gather *gather, const char *path, char *line, size_t size);
/* A fact that is one line of one file. */
void add_file(fact_gather *gather, const char *name, const char *path);
/* The value after "key:" or "key :" in a file of such lines. `of_cpu` looks only behind the line
 * "processor : N" of the CPU we run on. */
bool read_keyed(const fact_gather *gather, const char *path, const char *key, bool of_cpu,
                char *value, size_t size);

/* As in machine.h. Of the CPU quota: how many CPUs. */
double control_group_cpus_under(const fact_gather *gather);
double control_group_memory_under(const fact_gather *gather);
long control_group_oom_kills_under(const fact_gather *gather);

void gather_build(fact_gather *gather);     /* system.c: commit, compiler, flags, libraries */
void gather_processor(fact_gather *gather); /* processor.c: model, caches, cores, frequency */
void gather_system(fact_gather *gather);    /* system.c: kernel, memory, load, process state */

#endif
