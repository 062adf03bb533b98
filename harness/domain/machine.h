/* The context of a run: facts of machine, build and environment, each a name and a value, in a fixed order. */
#ifndef LNBENCH_MACHINE_H
#define LNBENCH_MACHINE_H

#include "domain/case.h"
#include <stdbool.h>
#include <stddef.h>

/* Names are snake_case keys ("cpu_model", "microcode", "l1d_bytes", "governor", ...). A value that cannot
 * be read is "unknown". */
typedef struct machine_fact {
    char name[32];
    char value[256];
} machine_fact;

typedef struct machine_facts {
    machine_fact *facts;
    size_t count;
    size_t l1d_bytes, l2_bytes, l3_bytes; /* of the current CPU; 0: unknown */
    unsigned cores;                       /* how many this process may use */
} machine_facts;

void machine_read(machine_facts *machine);
/* Does the same for tests: for CPU `cpu`, from the files under a directory ("": the real ones). Facts of build and
 * process are the real ones. */
void machine_read_under(const char *root, unsigned cpu, machine_facts *machine);
/* The fact of a run that names the operations for which the user gave conventions; their covering arrays have only
 * these conventions. */
#define NAMED_CONVENTIONS "conventions_named_of"

/* Add a fact, and set the sizes and `cores` from the facts. */
void machine_add_fact(machine_facts *machine, const char *name, const char *value);
void machine_fill_sizes(machine_facts *machine);
/* Returns the value of a fact, or "unknown" if it is absent. */
const char *machine_fact_value(const machine_facts *machine, const char *name);
void machine_free(machine_facts *machine);

/* Writes the facts that identify a machine: processor, caches, cores, hypervisor. Runs with equal facts belong to the
 * same machine, so a virtual machine that moves to another host of the same kind stays the same machine. */
enum { MACHINE_IDENTITY_LENGTH = 512 };
void machine_identity(const machine_facts *machine, char identity[MACHINE_IDENTITY_LENGTH]);

/* Writes the facts that two machines must share so that their times can be compared: processor, caches, compiler,
 * disabled ISAs and the kind of worker. Writes "" if the processor has no name, or there are no facts. */
enum { MACHINE_KEY_LENGTH = 512 };
const char *machine_key(const machine_facts *machine, char key[MACHINE_KEY_LENGTH]);

/* A reason not to trust timings on this machine, and its remedy. */
typedef enum finding_grade { FINDING_FINE, FINDING_NOTE, FINDING_WARNING } finding_grade;
typedef struct finding {
    finding_grade grade;
    char what[256];
    const char *remedy;
} finding;
enum { FINDINGS_MOST = 64 };
/* Lists a finding for each checked fact, warnings first, then notes, then fine ones; returns their number. */
size_t machine_findings(const machine_facts *machine, finding findings[FINDINGS_MOST]);

/* Returns the bytes of all buffers that timed calls use in turn: at least (cold), at most (in place), or 0 (hot). */
size_t machine_rotated_bytes(const machine_facts *machine, cache_state cache);

/* Returns the largest memory of a process in bytes, limited by the machine or its control group; 0: unknown.
 * Sets *of_group (may be NULL) if the group's limit is the smaller one. */
double machine_memory(const machine_facts *machine, bool *of_group);

/* Returns the regime of a call on that machine: "L1", "L2", "L3" or "DRAM". */
const char *machine_regime(const machine_facts *machine, ln_operation kind, size_t rows,
                           size_t hidden, ln_type dtype);

/* Returns the number of rows, at least 1, with which a call of this hidden size is typical of a regime: x and y take
 * 24 KiB (L1), half of L2, a quarter of L3, or four times L3 (DRAM: at most 512 MiB, but at least twice L3). */
size_t machine_rows(const machine_facts *machine, cache_regime of, ln_operation kind, size_t hidden,
                    ln_type dtype);

/* The control group (version 2) of this process. A limit is the smallest one of its group and of all visible groups
 * above it. root: see machine_read_under(). */

/* Returns the limit of memory in bytes; 0: no limit; -1: not known. */
double control_group_memory(const char *root);

/* Returns the number of the group's processes that the system has killed because memory ran out; -1: not known. */
long control_group_oom_kills(const char *root);

#endif
