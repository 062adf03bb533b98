/* The list of facts, and reading the small files they come from. */
#include "domain/machine.h"
#include "base/allocate.h"
#include "base/number.h"
#include "base/program.h"
#include "base/text.h"
#include "caches.h"
#include "domain/gather.h"
#include "domain/operation.h"
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

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

enum { GROUP_LENGTH = 512, PATH_LENGTH = 1280 };

/* Where the files of one controller lie: at mount, for the root, and below it, for our group. */
typedef struct group_place {
    bool v2;
    char mount[GROUP_LENGTH], group[GROUP_LENGTH]; /* "" or "/a/b" */
} group_place;

static bool has_word(const char *list, const char *word)
{
    size_t length = strlen(word);
    while (*list) {
        size_t here = strcspn(list, ",\n");
        if (here == length && strncmp(list, word, length) == 0)
            return true;
        list += here + (list[here] != '\0');
    }
    return false;
}

/* From lines "4:cpu,cpuacct:/a/b" (v1) and "0::/a/b" (v2): a controller is in one hierarchy. */
static bool find_group(const fact_gather *gather, const char *controller, group_place *place)
{
    FILE *file = open_under(gather, "/proc/self/cgroup");
    char line[GROUP_LENGTH + 128];
    bool found = false;
    place->v2 = true;
    while (file && place->v2 && fgets(line, sizeof line, file)) {
        char *list = strchr(line, ':'), *path = list ? strchr(list + 1, ':') : NULL;
        if (!path)
            continue;
        *path++ = '\0';
        path[strcspn(path, "\n")] = '\0';
        bool v1 = has_word(list + 1, controller);
        if (!v1 && list[1] != '\0')
            continue;
        place->v2 = !v1;
        found = true;
        snprintf(place->group, sizeof place->group, "%s", strcmp(path, "/") == 0 ? "" : path);
    }
    if (file)
        fclose(file);
    return found;
}

/* The mount's place and which group it shows as its root: /proc/self/mountinfo has
 * "35 31 0:32 ROOT POINT rw - cgroup cgroup rw,memory". */
static void find_mount(const fact_gather *gather, const char *controller, group_place *place,
                       char *root)
{
    FILE *file = open_under(gather, "/proc/self/mountinfo");
    char line[2048], type[32], options[512], of[GROUP_LENGTH], point[GROUP_LENGTH];
    snprintf(place->mount, sizeof place->mount, "/sys/fs/cgroup%s%s", place->v2 ? "" : "/",
             place->v2 ? "" : controller);
    root[0] = '\0';
    while (file && fgets(line, sizeof line, file)) {
        const char *rest = strstr(line, " - ");
        if (!rest || sscanf(line, "%*d %*d %*s %511s %511s", of, point) != 2 ||
            sscanf(rest, " - %31s %*s %511s", type, options) != 2 ||
            strcmp(type, place->v2 ? "cgroup2" : "cgroup") != 0 ||
            (!place->v2 && !has_word(options, controller)))
            continue;
        snprintf(place->mount, sizeof place->mount, "%s", point);
        snprintf(root, GROUP_LENGTH, "%s", strcmp(of, "/") == 0 ? "" : of);
        break;
    }
    if (file)
        fclose(file);
}

/* In a container the mount may show the container's group as its root. */
static bool find_place(const fact_gather *gather, const char *controller, group_place *place)
{
    char root[GROUP_LENGTH];
    if (!find_group(gather, controller, place) || strstr(place->group, "/.."))
        return false; /* beyond what can be seen */
    find_mount(gather, controller, place, root);
    size_t length = strlen(root);
    bool below = strncmp(place->group, root, length) == 0 && strchr("/", place->group[length]);
    memmove(place->group, place->group + (below ? length : strlen(place->group)),
            below ? strlen(place->group) - length + 1 : 1);
    return true;
}

static bool read_of(const fact_gather *gather, const char *directory, const char *file, char *line,
                    size_t size)
{
    char path[PATH_LENGTH];
    snprintf(path, sizeof path, "%s/%s", directory, file);
    return read_line(gather, path, line, size);
}

/* A limit of one group: 0: none; -1: it says nothing. */
typedef double limit_reader(const fact_gather *gather, const char *directory, bool v2);

/* "max 100000" or "150000 100000" microseconds; in v1 two files, and -1 for no quota. */
static double read_cpus(const fact_gather *gather, const char *directory, bool v2)
{
    char quota[64], period[64];
    if (!read_of(gather, directory, v2 ? "cpu.max" : "cpu.cfs_quota_us", quota, sizeof quota))
        return -1;
    if (strncmp(quota, "max", 3) == 0 || quota[0] == '-')
        return 0;
    const char *space = strchr(quota, ' ');
    if (v2)
        snprintf(period, sizeof period, "%s", space ? space : "");
    else if (!read_of(gather, directory, "cpu.cfs_period_us", period, sizeof period))
        return -1;
    double of = number_read(period, NULL);
    return of > 0 ? number_read(quota, NULL) / of : -1;
}

/* v1 writes the largest number of bytes where there is no limit. */
static double read_memory(const fact_gather *gather, const char *directory, bool v2)
{
    char bytes[64];
    if (!read_of(gather, directory, v2 ? "memory.max" : "memory.limit_in_bytes", bytes,
                 sizeof bytes))
        return -1;
    double limit = strncmp(bytes, "max", 3) == 0 ? 0 : number_read(bytes, NULL);
    return limit < 0x1p60 ? limit : 0;
}

/* From our own group up to the root: the narrowest limit counts. */
static double least_limit(const fact_gather *gather, const char *controller, limit_reader *reader)
{
    group_place place;
    char directory[PATH_LENGTH - 64];
    double least = -1;
    if (!find_place(gather, controller, &place))
        return -1;
    for (;;) {
        snprintf(directory, sizeof directory, "%s%s", place.mount, place.group);
        double limit = reader(gather, directory, place.v2);
        if (limit > 0 && (least <= 0 || limit < least))
            least = limit;
        else if (limit == 0 && least < 0)
            least = 0;
        if (!place.group[0])
            return least;
        char *slash = strrchr(place.group, '/');
        *(slash ? slash : place.group) = '\0';
    }
}

double control_group_cpus_under(const fact_gather *gather)
{
    return least_limit(gather, "cpu", read_cpus);
}

double control_group_memory_under(const fact_gather *gather)
{
    return least_limit(gather, "memory", read_memory);
}

/* Counted where the process was, whichever group's limit it was. */
long control_group_oom_kills_under(const fact_gather *gather)
{
    group_place place;
    char path[PATH_LENGTH], line[64];
    long kills = -1;
    if (!find_place(gather, "memory", &place))
        return -1;
    snprintf(path, sizeof path, "%s%s/%s", place.mount, place.group,
             place.v2 ? "memory.events" : "memory.oom_control");
    FILE *file = open_under(gather, path);
    while (file && fgets(line, sizeof line, file) && sscanf(line, "oom_kill %ld", &kills) != 1)
        ;
    if (file)
        fclose(file);
    return kills;
}

double control_group_memory(void)
{
    return control_group_memory_under(&(fact_gather){.root = ""});
}

long control_group_oom_kills(void)
{
    return control_group_oom_kills_under(&(fact_gather){.root = ""});
}

/* What on this machine makes timings untrustworthy, judged from its facts. */

typedef struct doctor_findings {
    finding *list;
    size_t count, most;
} doctor_findings;

static void add_finding(doctor_findings *findings, finding_grade grade, const char *remedy,
                        const char *format, ...) __attribute__((format(printf, 4, 5)));

static void add_finding(doctor_findings *findings, finding_grade grade, const char *remedy,
                        const char *format, ...)
{
    if (findings->count == findings->most)
        return;
    finding *made = &findings->list[findings->count++];
    made->grade = grade;
    snprintf(made->remedy, sizeof made->remedy, "%s", remedy);
    va_list arguments;
    va_start(arguments, format);
    number_print_list(made->what, sizeof made->what, format, arguments);
    va_end(arguments);
}

/* A fact of the machine, the values that are fine, and what another value means. Patterns are words, and
 * limits of numbers (">=2", "<=0.3"), with | between them. */
typedef struct checked_fact {
    const char *fact, *fine, *title;
    finding_grade grade; /* of a value that is not fine */
    const char *meaning, *advice;
} checked_fact;

static const checked_fact checked_facts[] = {
    {"governor", "performance", "CPU frequency governor", FINDING_WARNING,
     "the clock rises and falls with load",
     "echo performance | sudo tee /sys/devices/system/cpu/cpu*/cpufreq/scaling_governor"},
    {"smt", "off", "SMT (hyper-threading)", FINDING_WARNING,
     "work on the sibling thread takes half a core away",
     "echo off | sudo tee /sys/devices/system/cpu/smt/control"},
    {"boost", "off", "frequency boost", FINDING_WARNING,
     "the clock depends on temperature and on the other cores",
     "echo 0 | sudo tee /sys/devices/system/cpu/cpufreq/boost (Intel: echo 1 | sudo tee "
     "/sys/devices/system/cpu/intel_pstate/no_turbo)"},
    {"hypervisor", "none", "hypervisor", FINDING_NOTE,
     "the host may take the CPU away, and caches are shared with strangers",
     "trust ratios of one run more than absolute figures; for absolute ones use bare metal"},
    {"clock_source", "tsc", "clock source", FINDING_WARNING, "reading it may cost a system call",
     "echo tsc | sudo tee /sys/devices/system/clocksource/clocksource0/current_clocksource"},
    {"core_kinds", "1", "kinds of core", FINDING_WARNING,
     "a run may land on a big or on a little core",
     "keep to cores of one kind: taskset -c 0 lnbench run"},
    {"cores", ">=2", "cores", FINDING_WARNING,
     "lnbench, the system and the kernel under test share one",
     "give the container or virtual machine at least two CPUs, or widen the affinity (taskset)"},
    {"cores", ">=4", "cores for several threads", FINDING_NOTE,
     "enough for one thread; figures for more threads will be noisy", ""},
    /* A third of one CPU is enough to meet a single-threaded run now and then. */
    {"load_1m", "<=0.3", "load over the last minute", FINDING_WARNING,
     "other work takes time and caches away",
     "run `top` to see which process, and wait a minute after a build"},
    {"cpu_quota", "none", "CPU quota of the control group", FINDING_WARNING,
     "the kernel stops us in the middle of a measurement when it is used up",
     "start the container without --cpus, or lift CPUQuota= of the unit"},
    {"aslr", "0|off for this process", "address space randomisation", FINDING_NOTE,
     "layouts differ from process to process; the intervals take that in, since every run measures "
     "in several processes",
     "setarch -R lnbench run"},
    {"thp", "always|madvise", "transparent huge pages", FINDING_WARNING,
     "page walks slow down and scatter large shapes",
     "echo madvise | sudo tee /sys/kernel/mm/transparent_hugepage/enabled"},
    {"memory_available_bytes", ">=1073741824", "memory: available", FINDING_WARNING,
     "lnbench takes up to 1 GiB", "close what uses it: ps aux --sort=-rss | head"},
    {"memory_limit_bytes", "none|>=1073741824", "memory limit of the control group",
     FINDING_WARNING, "lnbench takes up to 1 GiB",
     "give the container more --memory, or raise MemoryMax= of the unit"},
    {"swap_used_bytes", "0", "swap in use", FINDING_WARNING,
     "pages may have to come back from disk", "sudo swapoff -a && sudo swapon -a"},
    {"ftz", "off", "flush to zero (FTZ)", FINDING_WARNING,
     "subnormal results are lost: a library was built with -ffast-math",
     "build without -ffast-math, and load no plugin that was linked with it"},
    {"daz", "off", "denormals are zero (DAZ)", FINDING_WARNING,
     "subnormal operands are lost: a library was built with -ffast-math",
     "build without -ffast-math, and load no plugin that was linked with it"},
    {"rounding", "to nearest", "rounding mode", FINDING_WARNING,
     "every proven bound assumes rounding to nearest", "unset it where it was set (fesetround)"},
    {"build_type", "Release", "build type", FINDING_WARNING,
     "timings of such a build say nothing about a release",
     "cmake -B build -DCMAKE_BUILD_TYPE=Release && cmake --build build"},
    {"google_benchmark_build", "release", "Google Benchmark's build", FINDING_NOTE,
     "Debian's calls itself so: harmless here, it only reads the clock around a batch of calls",
     ""},
    {"counters", "cycles, instructions", "counted by the CPU", FINDING_NOTE,
     "times alone show regressions",
     "on a machine of its own: sudo sysctl kernel.perf_event_paranoid=2"},
};

static bool is_fine(const char *pattern, const char *value)
{
    char *end;
    for (const char *at = pattern;; at += strcspn(at, "|") + 1) {
        size_t length = strcspn(at, "|");
        double number = number_read(value, &end);
        bool limit = at[1] == '=' && (at[0] == '<' || at[0] == '>');
        if (limit && end > value) {
            double most = number_read(at + 2, NULL);
            if (at[0] == '<' ? number <= most : number >= most)
                return true;
        }
        if (!limit && strlen(value) == length && strncmp(at, value, length) == 0)
            return true;
        if (!at[length])
            return false;
    }
}

static void check_facts(const machine_facts *machine, doctor_findings *findings)
{
    for (size_t i = 0; i < sizeof checked_facts / sizeof *checked_facts; i++) {
        const checked_fact *check = &checked_facts[i];
        const char *said = machine_fact_value(machine, check->fact);
        char value[96], *end;
        double bytes = number_read(said, &end);
        snprintf(value, sizeof value, "%.80s", said);
        if (strstr(check->fact, "_bytes") && end > said)
            snprintf(value, sizeof value, "%.0f MiB", bytes / 0x1p20);
        if (is_fine(check->fine, said))
            add_finding(findings, FINDING_FINE, "", "%s: %.80s", check->title, value);
        else if (strcmp(said, "unknown") == 0)
            add_finding(findings, FINDING_NOTE, "", "%s: cannot be read here", check->title);
        else
            add_finding(findings, check->grade, check->advice, "%s: %.80s: %s", check->title, value,
                        check->meaning);
    }
}

/* What liblayernorm goes by; another source that says much more is the mistake that it avoids. */
static void check_caches(doctor_findings *findings)
{
    const cache_sources here = ln_cache_sources();
    cache_sizes sizes;
    char words[160] = "";
    ln_caches_find(&here, &sizes);
    for (int level = LN_L1; level < LN_CACHES; level++) {
        char *end = words + strlen(words);
        size_t room = sizeof words - strlen(words);
        if (sizes.bytes[level])
            snprintf(end, room, "%sL%d %.6g KiB (%s)", level ? ", " : "", level + 1,
                     (double)sizes.bytes[level] / 1024, sizes.from[level]);
        else
            snprintf(end, room, "%sL%d unknown", level ? ", " : "", level + 1);
    }
    add_finding(findings, sizes.bytes[LN_L3] ? FINDING_FINE : FINDING_NOTE,
                sizes.bytes[LN_L3] ? ""
                                   : "export LN_CACHE_BYTES=32K,1M,32M (this CPU's L1d, L2, L3)",
                "caches that ln_layernorm() goes by: %s", words);
    size_t most = sizes.told[LN_L3][2];
    if (sizes.bytes[LN_L3] && most > 2 * sizes.bytes[LN_L3])
        add_finding(
            findings, FINDING_NOTE, "",
            "caches: the C library says L3 has %.6g KiB, as a whole package may; the smaller size "
            "is taken",
            (double)most / 1024);
    if (sizes.refused)
        add_finding(findings, FINDING_WARNING, "export LN_CACHE_BYTES=32K,1M,32M",
                    "caches: LN_CACHE_BYTES=%.60s is not L1,L2,L3 in rising order: not taken",
                    sizes.refused);
}

static void check_surroundings(doctor_findings *findings)
{
    char path[1024];
    if (program_find("gnuplot", path, sizeof path))
        add_finding(findings, FINDING_FINE, "", "gnuplot: found");
    else
        add_finding(findings, FINDING_WARNING, "sudo apt-get install gnuplot-nox",
                    "gnuplot: not found: there will be tables, but no charts");
    bool there = access("results", F_OK) == 0;
    if (access(there ? "results" : ".", W_OK | X_OK) == 0)
        add_finding(findings, FINDING_FINE, "", "results: can be written");
    else
        add_finding(findings, FINDING_WARNING, "lnbench run --db FILE --out DIRECTORY",
                    "results: %s cannot be written to",
                    there ? "the directory 'results'" : "this directory");
}

/* What has to be done comes first. */
static void sort_by_grade(finding *list, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        finding own = list[i];
        size_t at = i;
        for (; at > 0 && list[at - 1].grade < own.grade; at--)
            list[at] = list[at - 1];
        list[at] = own;
    }
}

size_t machine_findings(const machine_facts *machine, finding *list, size_t most)
{
    doctor_findings findings = {.list = list, .most = most};
    check_facts(machine, &findings);
    check_caches(&findings);
    check_surroundings(&findings);
    sort_by_grade(list, findings.count);
    return findings.count;
}
