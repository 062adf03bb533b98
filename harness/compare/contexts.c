/* What two runs must have in common before any figure of theirs may be compared. */
#include "compare/compare.h"
#include "exchange/run_read.h"
#include <string.h>

/* These decide how fast the same code is. */
static const char *const decisive[] = {
    "architecture", "cpu_model", "simd",       "l1d_bytes", "l2_bytes",
    "l3_bytes",     "cores",     "hypervisor", "compiler",  "compiler_flags",
    "build_type",   "host_name", "num_cpus",   "caches",    "library_build_type"};

/* These move all the time, or are what is to be compared. */
static const char *const passing[] = {
    "mhz",       "load_1m",         "memory_available_bytes", "git_commit",
    "git_dirty", "swap_used_bytes", "lnbench_version"};

static bool stands_in(const char *name, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

static void note(word_list *list, const char *name, const char *base, const char *new)
{
    char line[640];
    snprintf(line, sizeof line, "%s: %.256s (base), %.256s (new)", name, base, new);
    if (strcmp(base, new) != 0)
        word_list_add(list, line);
}

static bool has_fact(const machine_facts *machine, const char *name)
{
    for (size_t i = 0; i < machine->count; i++)
        if (strcmp(machine->facts[i].name, name) == 0)
            return true;
    return false;
}

/* Every fact of either, once. */
static void compare_facts(run_comparison *comparison, const machine_facts *base,
                          const machine_facts *new, bool second)
{
    const machine_facts *walked = second ? new : base;
    for (size_t i = 0; i < walked->count; i++) {
        const char *name = walked->facts[i].name;
        if ((second && has_fact(base, name)) ||
            stands_in(name, passing, sizeof passing / sizeof *passing))
            continue;
        bool decides = stands_in(name, decisive, sizeof decisive / sizeof *decisive);
        note(decides ? &comparison->differences : &comparison->remarks, name,
             machine_fact_value(base, name), machine_fact_value(new, name));
    }
}

/* Runs that were asked for different things lack each other's cases; of a run that does not say what
 * it was asked for, nobody knows what it lost. */
static void note_requests(run_comparison *comparison, const stored_run *base, const stored_run *new)
{
    bool known[SIDES] = {base->counts.known, new->counts.known};
    char line[128];
    comparison->asked_known = known[BASE] && known[NEW];
    snprintf(
        line, sizeof line,
        "what %s asked for is not known (an older run or file): what it lost itself is not seen",
        known[NEW]    ? "base"
        : known[BASE] ? "new"
                      : "either");
    if (!comparison->asked_known)
        word_list_add(&comparison->remarks, line);
    if (base->request_hash[0] && new->request_hash[0] &&
        strcmp(base->request_hash, new->request_hash) != 0)
        note(&comparison->remarks, "asked for", base->command_line, new->command_line);
}

void compare_contexts(run_comparison *comparison, const run_view *base, const run_view *new)
{
    char seeds[SIDES][24];
    snprintf(seeds[BASE], sizeof seeds[BASE], "%llu", (unsigned long long)base->run.seed);
    snprintf(seeds[NEW], sizeof seeds[NEW], "%llu", (unsigned long long)new->run.seed);
    if (run_is_foreign(base) != run_is_foreign(new)) {
        word_list_add(&comparison->differences,
                      "kind: one is a run of lnbench, the other Google Benchmark's own");
        return;
    }
    note_requests(comparison, &base->run, &new->run);
    note(&comparison->differences, "plan", base->run.plan, new->run.plan);
    note(&comparison->differences, "seed", seeds[BASE], seeds[NEW]);
    compare_facts(comparison, &base->machine, &new->machine, false);
    compare_facts(comparison, &base->machine, &new->machine, true);
}
