/* The choices of each machine of the store, for one table in C. Nothing is measured: the other
 * machines are not here. */
#include "commands/choose/show.h"
#include "base/allocate.h"
#include "store/store.h"
#include <string.h>

enum { MOST_MACHINES = 64 };

/* An emulated kind is no CPU that a program could find itself on. */
static bool is_emulated(const machine_facts *machine)
{
    return strcmp(machine_fact_value(machine, "isa_disabled"), "unknown") != 0 ||
           strcmp(machine_fact_value(machine, "worker"), "unknown") != 0;
}

/* Each machine once, the one that was measured last first. */
static bool find_machines(result_store *store, machine_facts *machines, size_t *count, error *err)
{
    stored_run *runs;
    size_t run_count;
    bool fine = store_runs(store, &runs, &run_count, err);
    if (!fine)
        return false;
    for (size_t i = run_count; fine && i-- > 0 && *count < MOST_MACHINES;) {
        machine_facts facts;
        fine = store_machine(store, runs[i].id, &facts, err);
        bool known = fine && is_emulated(&facts);
        for (size_t k = 0; fine && !known && k < *count; k++)
            known = machine_difference(&machines[k], &facts) == NULL;
        if (fine && !known)
            machines[(*count)++] = facts;
        else if (fine)
            machine_free(&facts);
    }
    free(runs);
    return fine;
}

static bool choose_for(result_store *store, const machine_facts *machine, chosen *all, size_t count,
                       error *err)
{
    for (size_t i = 0; i < count; i++) {
        if (!evidence_gather(store, &all[i].wanted, machine, &all[i].evidence, err))
            return false;
        choice_make(&all[i].wanted, &all[i].evidence, &all[i].choice);
    }
    return true;
}

bool choose_machines(const char *database, const chosen *wanted, size_t count, text_buffer *out,
                     coverage *covered, error *err)
{
    machine_facts machines[MOST_MACHINES];
    const chosen *choices[MOST_MACHINES];
    result_store *store;
    size_t machine_count = 0;
    if (!store_open(database, STORE_READ, &store, err))
        return false;
    bool fine = find_machines(store, machines, &machine_count, err);
    chosen *all = fine ? allocate_zeroed(machine_count * count + 1, sizeof *all) : NULL;
    for (size_t m = 0; fine && m < machine_count; m++) {
        chosen *here = all + m * count;
        choices[m] = here;
        for (size_t i = 0; i < count; i++) {
            here[i].wanted = wanted[i].wanted;
            here[i].wanted.libraries = NULL; /* each machine has its own build */
        }
        fine = choose_for(store, &machines[m], here, count, err);
    }
    if (fine && !chosen_emit_machines(choices, machine_count, count, out))
        fine = fail(err, EXIT_CODE_ACCURACY,
                    "%.200s: on no machine a kernel was timed near these shapes that meets the "
                    "budget",
                    database);
    for (size_t i = 0; all && i < machine_count * count; i++) {
        if (fine)
            chosen_cover(&all[i], covered);
        evidence_free(&all[i].evidence);
        choice_free(&all[i].choice);
    }
    for (size_t m = 0; m < machine_count; m++)
        machine_free(&machines[m]);
    free(all);
    store_close(store);
    return fine;
}
