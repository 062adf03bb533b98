/* The list of facts, and reading the small files they come from. */
#include "machine/internal.h"
#include "base/allocate.h"
#include "base/number.h"
#include "base/text.h"
#include "domain/operation.h"
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

machine_fact *machine_add_fact(machine_facts *machine)
{
    machine->facts = allocate_room(machine->facts, machine->count, sizeof *machine->facts);
    return &machine->facts[machine->count++];
}

void add_fact(fact_gather *gather, const char *name, const char *value)
{
    machine_fact *fact = machine_add_fact(gather->machine);
    snprintf(fact->name, sizeof fact->name, "%s", name);
    text_copy(fact->value, sizeof fact->value, value && value[0] ? value : "unknown");
}

void add_number(fact_gather *gather, const char *name, unsigned long long value)
{
    char text[24];
    snprintf(text, sizeof text, "%llu", value);
    add_fact(gather, name, text);
}

static void trim_end(char *line)
{
    size_t length = strlen(line);
    while (length && strchr(" \t\r\n", line[length - 1]))
        line[--length] = '\0';
}

FILE *open_under(const fact_gather *gather, const char *path)
{
    char full[1024];
    int length = snprintf(full, sizeof full, "%s%s", gather->root, path);
    return length > 0 && (size_t)length < sizeof full ? fopen(full, "r") : NULL;
}

bool read_line(const fact_gather *gather, const char *path, char *line, size_t size)
{
    FILE *file = open_under(gather, path);
    if (!file)
        return false;
    bool fine = fgets(line, (int)size, file) != NULL;
    fclose(file);
    if (fine)
        trim_end(line);
    return fine;
}

void add_file(fact_gather *gather, const char *name, const char *path)
{
    char line[256];
    add_fact(gather, name, read_line(gather, path, line, sizeof line) ? line : NULL);
}

/* The text after "key <blanks> :", or "key=" (os-release), with blanks skipped; else NULL. */
static char *value_of(char *line, const char *key)
{
    size_t length = strlen(key);
    if (strncmp(line, key, length) != 0)
        return NULL;
    char *at = line + length;
    at += strspn(at, " \t");
    if (*at != ':' && *at != '=')
        return NULL;
    at++;
    return at + strspn(at, " \t");
}

bool read_keyed(const fact_gather *gather, const char *path, const char *key, bool of_cpu,
                char *value, size_t size)
{
    FILE *file = open_under(gather, path);
    if (!file)
        return false;
    char *line = NULL;
    size_t capacity = 0;
    bool found = false, here = !of_cpu;
    while (!found && getline(&line, &capacity, file) >= 0) {
        const char *processor = of_cpu ? value_of(line, "processor") : NULL;
        if (processor)
            here = strtoul(processor, NULL, 10) == gather->cpu;
        char *at = here ? value_of(line, key) : NULL;
        if (at) {
            trim_end(at);
            snprintf(value, size, "%s", at);
            found = true;
        }
    }
    free(line);
    fclose(file);
    return found;
}

static void gather_time(fact_gather *gather)
{
    char text[32];
    time_t now = time(NULL);
    struct tm utc;
    bool known = gmtime_r(&now, &utc) && strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc);
    add_fact(gather, "time", known ? text : NULL);
}

void machine_read_under(const char *root, unsigned cpu, machine_facts *machine)
{
    *machine = (struct machine_facts){0};
    fact_gather gather = {.machine = machine, .root = root, .cpu = cpu};
    gather_time(&gather);
    gather_build(&gather);
    gather_processor(&gather);
    gather_system(&gather);
}

void machine_read(machine_facts *machine)
{
    int cpu = sched_getcpu();
    machine_read_under("", cpu < 0 ? 0 : (unsigned)cpu, machine);
}

static size_t size_fact(const machine_facts *machine, const char *name)
{
    return strtoul(machine_fact_value(machine, name), NULL, 10);
}

void machine_fill_sizes(machine_facts *machine)
{
    machine->l1d_bytes = size_fact(machine, "l1d_bytes");
    machine->l2_bytes = size_fact(machine, "l2_bytes");
    machine->l3_bytes = size_fact(machine, "l3_bytes");
    machine->cores = (unsigned)size_fact(machine, "cores");
}

const char *machine_fact_value(const machine_facts *machine, const char *name)
{
    for (size_t i = 0; i < machine->count; i++)
        if (strcmp(machine->facts[i].name, name) == 0)
            return machine->facts[i].value;
    return "unknown";
}

void machine_identity(const machine_facts *machine, char identity[MACHINE_IDENTITY_LENGTH])
{
    static const char *const facts[] = {"architecture", "cpu_model", "l1d_bytes", "l2_bytes",
                                        "l3_bytes",     "cores",     "hypervisor"};
    size_t length = 0;
    identity[0] = '\0';
    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++) {
        int added = snprintf(identity + length, MACHINE_IDENTITY_LENGTH - length, "%s%.64s",
                             i ? " | " : "", machine_fact_value(machine, facts[i]));
        length += added > 0 ? (size_t)added : 0;
    }
}

void machine_free(machine_facts *machine)
{
    free(machine->facts);
    *machine = (struct machine_facts){0};
}

/* Copies in half the L2 are found there by each call, and many a batch make reading the clock
 * cheap.
 */
size_t machine_rotated_bytes(const machine_facts *machine, cache_state cache)
{
    if (cache == CACHE_COLD)
        return 2 * (machine->l3_bytes ? machine->l3_bytes : 1u << 26);
    return cache == CACHE_IN_PLACE ? (machine->l2_bytes ? machine->l2_bytes : 1u << 20) / 2 : 0;
}

double machine_memory(const machine_facts *machine, bool *of_group)
{
    double memory = number_read(machine_fact_value(machine, "memory_bytes"), NULL);
    double limit = number_read(machine_fact_value(machine, "memory_limit_bytes"), NULL);
    bool less = limit > 0 && !(memory > 0 && memory <= limit); /* words are 0 */
    if (of_group)
        *of_group = less;
    return less ? limit : memory;
}

const char *machine_regime(const machine_facts *machine, ln_operation kind, size_t rows,
                           size_t hidden, ln_type dtype)
{
    return regime_names[regime_of(call_bytes(operations[kind], rows, hidden, dtype),
                                  machine->l1d_bytes, machine->l2_bytes, machine->l3_bytes)];
}

size_t machine_rows(const machine_facts *machine, cache_regime of, ln_operation kind, size_t hidden,
                    ln_type dtype)
{
    size_t l2 = machine->l2_bytes ? machine->l2_bytes : 1u << 20;
    size_t l3 = machine->l3_bytes ? machine->l3_bytes : l2 * 8;
    size_t beyond = 4 * l3 < 512u << 20 ? 4 * l3 : 2 * l3 > 512u << 20 ? 2 * l3 : 512u << 20;
    const size_t bytes[REGIMES] = {24 * 1024, l2 / 2, l3 / 4, beyond};
    size_t rows = (size_t)((double)bytes[of] / call_bytes(operations[kind], 1, hidden, dtype));
    return rows ? rows : 1;
}

static const char *const timing_facts[] = {"cpu_model", "l1d_bytes",    "l2_bytes", "l3_bytes",
                                           "compiler",  "isa_disabled", "worker"};
enum { TIMING_FACTS = sizeof timing_facts / sizeof *timing_facts };

const char *machine_key(const machine_facts *machine, char key[MACHINE_KEY_LENGTH])
{
    size_t length = 0;
    key[0] = '\0';
    if (!machine || strcmp(machine_fact_value(machine, "cpu_model"), "unknown") == 0)
        return key;
    for (size_t i = 0; i < TIMING_FACTS && length < MACHINE_KEY_LENGTH; i++)
        length += (size_t)snprintf(key + length, MACHINE_KEY_LENGTH - length, "%s%.255s",
                                   i ? " | " : "", machine_fact_value(machine, timing_facts[i]));
    return key;
}

const char *machine_difference(const machine_facts *a, const machine_facts *b)
{
    for (size_t i = 0; i < TIMING_FACTS; i++) {
        const char *value = machine_fact_value(a, timing_facts[i]);
        if (strcmp(value, machine_fact_value(b, timing_facts[i])) != 0 ||
            (i == 0 && strcmp(value, "unknown") == 0))
            return timing_facts[i];
    }
    return NULL;
}
