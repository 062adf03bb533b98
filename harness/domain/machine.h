/* The context of a run: machine, build and environment, as name and value, in a fixed order. */
#ifndef LNBENCH_MACHINE_H
#define LNBENCH_MACHINE_H

#include "domain/case.h"
#include <stdbool.h>
#include <stddef.h>

/* Names are snake_case keys ("cpu_model", "microcode", "l1d_bytes", "governor", ...). What cannot
 * be read is "unknown". */
typedef struct machine_fact {
    char name[32];
    char value[256];
} machine_fact;

typedef struct machine_facts {
    machine_fact *facts;
    size_t count;
    size_t l1d_bytes, l2_bytes, l3_bytes; /* of the CPU we run on; 0: unknown */
    unsigned cores;                       /* that this process may use */
} machine_facts;

void machine_read(machine_facts *machine);
/* The same of that CPU, from the files under a directory ("": the real ones), for tests. Build and process facts
 * are the real ones. */
void machine_read_under(const char *root, unsigned cpu, machine_facts *machine);
/* A fact more; and the sizes that machine_read() sets, from the facts. */
void machine_add_fact(machine_facts *machine, const char *name, const char *value);
void machine_fill_sizes(machine_facts *machine);
const char *machine_fact_value(const machine_facts *machine,
                               const char *name); /* "unknown" when absent */
void machine_free(machine_facts *machine);

/* What makes two runs runs of one machine: processor, caches, cores, hypervisor. A virtual machine
 * that moves to another host of the same kind stays the same machine. */
enum { MACHINE_IDENTITY_LENGTH = 512 };
void machine_identity(const machine_facts *machine, char identity[MACHINE_IDENTITY_LENGTH]);

/* What two machines must share for their times to be compared: processor, caches, compiler, what is
 * switched off and how kernels are run. "" where the processor has no name, or there are no facts. */
enum { MACHINE_KEY_LENGTH = 512 };
const char *machine_key(const machine_facts *machine, char key[MACHINE_KEY_LENGTH]);

/* What makes timings here untrustworthy, and how to mend it. */
typedef enum finding_grade { FINDING_FINE, FINDING_NOTE, FINDING_WARNING } finding_grade;
typedef struct finding {
    finding_grade grade;
    char what[256];
    const char *remedy;
} finding;
/* Warnings first, then notes; returns how many there are. */
enum { FINDINGS_MOST = 64 };
size_t machine_findings(const machine_facts *machine, finding findings[FINDINGS_MOST]);

/* Over how many bytes timed calls go in turn: cold, at least; in place, at most. Hot: 0. */
size_t machine_rotated_bytes(const machine_facts *machine, cache_state cache);

/* Bytes of memory that a process here may have at most, by the machine or by its control group; 0:
 * unknown. `of_group`: the group's limit is the less one; may be NULL. */
double machine_memory(const machine_facts *machine, bool *of_group);

/* The regime of a call on that machine: "L1", "L2", "L3" or "DRAM". */
const char *machine_regime(const machine_facts *machine, ln_operation kind, size_t rows,
                           size_t hidden, ln_type dtype);

/* How many rows of this hidden make a call typical of a regime: x and y take 24 KiB (L1), half of
 * L2, a quarter of L3, or four times L3 (DRAM; twice where that is 512 MiB or more, 512 MiB between).
 * At least 1. */
size_t machine_rows(const machine_facts *machine, cache_regime of, ln_operation kind, size_t hidden,
                    ln_type dtype);

/* The control group (version 2) that this process is in. A limit is the least of its own group's and
 * those of all groups above it that can be seen from here. root: as machine_read_under(). */

/* Bytes of memory; 0: no limit; -1: not known. */
double control_group_memory(const char *root);

/* How many processes of the group the system has ended so far because memory ran out; -1: not
 * known. */
long control_group_oom_kills(const char *root);

#endif
