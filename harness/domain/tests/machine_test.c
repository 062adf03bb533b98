/* Facts about a machine are read from made-up system files, and doctor draws the right conclusions from them. */
#include "domain/machine.h"
#include "test.h"
#include <errno.h>
#include <fenv.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static int create(void **state)
{
    char *root = strdup("root-XXXXXX");
    *state = root;
    return root && mkdtemp(root) ? 0 : -1;
}

static int remove_entry(const char *path, const struct stat *about, int type, struct FTW *where)
{
    (void)about, (void)type, (void)where;
    return remove(path);
}

static int destroy(void **state)
{
    nftw(*state, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
    free(*state);
    return 0;
}

/* Writes root/path, with the directories above it. */
static void put(const char *root, const char *path, const char *content)
{
    char full[512];
    snprintf(full, sizeof full, "%s%s", root, path);
    for (char *at = full + strlen(root) + 1; (at = strchr(at, '/')); at++) {
        *at = '\0';
        assert_true(mkdir(full, 0777) == 0 || errno == EEXIST);
        *at = '/';
    }
    FILE *file = fopen(full, "w");
    assert_non_null(file);
    fputs(content, file);
    fclose(file);
}

static void put_cache(const char *root, unsigned cpu, unsigned index, const char *level,
                      const char *type, const char *size)
{
    char path[128];
    const char *const names[] = {"level", "type", "size"}, *const values[] = {level, type, size};
    for (int i = 0; i < 3; i++) {
        snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%u/cache/index%u/%s", cpu, index,
                 names[i]);
        put(root, path, values[i]);
    }
}

/* Writes every file that is read, for two CPUs that differ, so that the test finds facts of the wrong CPU. */
static void fill_root(const char *root)
{
    put(root, "/proc/cpuinfo",
        "processor\t: 0\nvendor_id\t: Wrong\ncpu family\t: 1\nmodel\t\t: 1\nmodel name\t: Wrong\n"
        "stepping\t: 1\nmicrocode\t: 0x1\ncpu MHz\t\t: 1.0\nflags\t\t: fpu sse2\n\n"
        "processor\t: 1\nvendor_id\t: Maker\ncpu family\t: 26\n"
        "model name\t: Some Processor 9000\nmodel\t\t: 2\nstepping\t: 4\nmicrocode\t: 0xb0de\n"
        "cpu MHz\t\t: 3100.250\nflags\t\t: fpu sse2 hypervisor avx avx2 fma avx512f xsave\n\n");
    for (unsigned cpu = 0; cpu < 2; cpu++) {
        put_cache(root, cpu, 0, "1\n", "Data\n", "48K\n");
        put_cache(root, cpu, 1, "1\n", "Instruction\n", "32K\n");
        put_cache(root, cpu, 2, "2\n", "Unified\n", "2048K\n");
        put_cache(root, cpu, 3, "3\n", "Unified\n", "33792K\n");
    }
    put(root, "/sys/devices/system/cpu/cpu0/cpu_capacity", "512\n");
    put(root, "/sys/devices/system/cpu/cpu1/cpu_capacity", "1024\n");
    put(root, "/sys/devices/system/cpu/smt/active", "1\n");
    put(root, "/sys/devices/system/cpu/online", "0-1\n");
    put(root, "/sys/devices/system/cpu/cpu1/cpufreq/scaling_governor", "powersave\n");
    put(root, "/sys/devices/system/cpu/cpu1/cpufreq/scaling_driver", "intel_pstate\n");
    put(root, "/sys/devices/system/cpu/intel_pstate/no_turbo", "0\n");
    put(root, "/sys/devices/system/clocksource/clocksource0/current_clocksource", "hpet\n");
    put(root, "/sys/kernel/mm/transparent_hugepage/enabled", "always madvise [never]\n");
    put(root, "/proc/sys/kernel/randomize_va_space", "2\n");
    put(root, "/proc/loadavg", "1.25 0.50 0.25 2/99 1234\n");
    put(root, "/proc/meminfo",
        "MemTotal:  4096 kB\nMemFree: 1 kB\nMemAvailable:  2048 kB\n"
        "SwapTotal: 100 kB\nSwapFree:  90 kB\n");
    put(root, "/proc/self/cgroup", "0::/box/inner\n");
    put(root, "/sys/fs/cgroup/box/cpu.max", "150000 100000\n");
    put(root, "/sys/fs/cgroup/box/inner/cpu.max", "max 100000\n");
    put(root, "/etc/os-release", "NAME=x\nPRETTY_NAME=\"Some Linux 1 (name)\"\n");
}

static machine_facts read_root(const char *root, unsigned cpu)
{
    machine_facts machine;
    machine_read_under(root, cpu, &machine);
    return machine;
}

static void assert_fact(const machine_facts *machine, const char *name, const char *expected)
{
    const char *value = machine_fact_value(machine, name);
    if (strcmp(value, expected) != 0)
        fail_msg("%s is '%s', not '%s'", name, value, expected);
}

TEST_WITH(test_facts, create, destroy)
{
    static const char *const expected[][2] = {
        {"cpu_model", "Some Processor 9000"},
        {"cpu_family", "26"},
        {"cpu_model_number", "2"},
        {"cpu_stepping", "4"},
        {"microcode", "0xb0de"},
        {"mhz", "3100.250"},
        {"simd", "sse2 avx avx2 fma avx512f"},
        {"l1d_bytes", "49152"},
        {"l2_bytes", "2097152"},
        {"l3_bytes", "34603008"},
        {"core_kinds", "2"},
        {"smt", "on"},
        {"governor", "powersave"},
        {"boost", "on"},
        {"clock_source", "hpet"},
        {"hypervisor", "yes"},
        {"thp", "never"},
        {"aslr", "2"},
        {"load_1m", "1.25"},
        {"memory_bytes", "4194304"},
        {"memory_available_bytes", "2097152"},
        {"swap_used_bytes", "10240"},
        {"cpu_quota", "1.50"},
        {"os_release", "Some Linux 1 (name)"},
    };
    fill_root(*state);
    machine_facts machine = read_root(*state, 1);
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++)
        assert_fact(&machine, expected[i][0], expected[i][1]);
    assert_true(machine.l1d_bytes == 49152 && machine.l2_bytes == 2097152);
    assert_true(machine.l3_bytes == 34603008 && machine.cores >= 1);
    machine_free(&machine);
}

/* An Arm processor, which has no model name, but AMD's file for the boost. Its two kinds of core differ in L1d. */
TEST_WITH(test_other_files, create, destroy)
{
    put(*state, "/proc/cpuinfo",
        "processor\t: 0\nCPU implementer\t: 0x41\nCPU part\t: 0xd0c\n"
        "CPU revision\t: 1\nFeatures\t: fp asimd sve\n");
    put(*state, "/sys/devices/system/cpu/cpufreq/boost", "0\n");
    put(*state, "/sys/kernel/mm/transparent_hugepage/enabled", "[always] madvise never\n");
    put_cache(*state, 0, 0, "1\n", "Data\n", "48K\n");
    put_cache(*state, 1, 0, "1\n", "Data\n", "32K\n");
    machine_facts machine = read_root(*state, 0);
    assert_fact(&machine, "cpu_model", "implementer 0x41, part 0xd0c");
    assert_fact(&machine, "cpu_stepping", "1");
    assert_fact(&machine, "simd", "asimd sve");
    assert_fact(&machine, "boost", "off");
    assert_fact(&machine, "thp", "always");
    assert_fact(&machine, "l1d_bytes", "49152");
    assert_fact(&machine, "core_kinds", "2");
    machine_free(&machine);
}

#define GROUPS "/sys/fs/cgroup"

/* Each step adds or replaces one file of a control group; then the limits must be the expected ones. */
TEST_WITH(test_control_groups, create, destroy)
{
    static const struct {
        const char *path, *content, *quota, *memory;
        long kills;
    } steps[] = {
        {"/proc/self/cgroup", "0::/box/inner\n", "unknown", "unknown", -1},
        {GROUPS "/box/cpu.max", "150000 100000\n", "1.50", "unknown", -1},
        {GROUPS "/box/inner/cpu.max", "max 100000\n", "1.50", "unknown", -1},
        {GROUPS "/box/inner/cpu.max", "300000 100000\n", "1.50", "unknown", -1},
        {GROUPS "/box/inner/cpu.max", "50000 100000\n", "0.50", "unknown", -1},
        {GROUPS "/box/inner/memory.max", "max\n", "0.50", "none", -1},
        {GROUPS "/box/memory.max", "1048576\n", "0.50", "1048576", -1},
        {GROUPS "/box/inner/memory.events", "oom 4\noom_kill 3\n", "0.50", "1048576", 3},
        /* A container that sees its own group as the root, and then a group that is not visible. */
        {"/proc/self/cgroup", "4:memory:/m\n0::/outer/own\n", "unknown", "unknown", -1},
        {GROUPS "/memory.max", "2048\n", "unknown", "2048", -1},
        {GROUPS "/memory.events", "oom_kill 5\n", "unknown", "2048", 5},
        {GROUPS "/cpu.max", "30000 100000\n", "0.30", "2048", 5},
        {"/proc/self/cgroup", "0::/../x\n", "unknown", "unknown", -1},
    };
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        put(*state, steps[i].path, steps[i].content);
        machine_facts machine = read_root(*state, 0);
        assert_fact(&machine, "cpu_quota", steps[i].quota);
        assert_fact(&machine, "memory_limit_bytes", steps[i].memory);
        assert_int_equal(control_group_oom_kills(*state), steps[i].kills);
        machine_free(&machine);
    }
}

/* If no file can be read, every fact is still listed, as "unknown". */
TEST_WITH(test_nothing_there, create, destroy)
{
    static const char *const known[] = {"lnbench_version",
                                        "git_commit",
                                        "git_dirty",
                                        "compiler",
                                        "libc",
                                        "compiler_flags",
                                        "build_type",
                                        "mpfr",
                                        "gmp",
                                        "counters",
                                        "cores",
                                        "google_benchmark",
                                        "google_benchmark_build",
                                        "architecture",
                                        "kernel_release",
                                        "ftz",
                                        "daz",
                                        "rounding"};
    fill_root(*state);
    machine_facts full = read_root(*state, 1), machine = read_root("/nonexistent", 0);
    assert_int_equal(machine.count, full.count);
    for (size_t i = 0; i < machine.count; i++) {
        assert_string_equal(machine.facts[i].name, full.facts[i].name); /* the order is fixed */
        bool is_known = false;
        for (size_t j = 0; j < sizeof known / sizeof *known; j++)
            is_known = is_known || strcmp(machine.facts[i].name, known[j]) == 0;
        if (!is_known)
            assert_string_equal(machine.facts[i].value, "unknown");
        for (size_t j = 0; j < i; j++)
            assert_string_not_equal(machine.facts[i].name, machine.facts[j].name);
    }
    assert_int_equal(machine.l2_bytes, 0);
    finding findings[FINDINGS_MOST];
    assert_true(machine_findings(&machine, findings) > 10);
    machine_free(&machine);
    machine_free(&full);
}

/* On the real machine the facts that every Linux system has are known. */
TEST(test_this_machine)
{
    machine_facts machine;
    fesetround(FE_DOWNWARD);
    machine_read(&machine);
    fesetround(FE_TONEAREST);
    assert_fact(&machine, "rounding", "directed");
    assert_fact(&machine, "ftz", "off");
    assert_fact(&machine, "daz", "off");
    static const char *const needed[] = {"compiler", "build_type", "libc",          "mpfr",
                                         "gmp",      "cores",      "kernel_release"};
    for (size_t i = 0; i < sizeof needed / sizeof *needed; i++)
        assert_string_not_equal(machine_fact_value(&machine, needed[i]), "unknown");
    assert_string_equal(machine_fact_value(&machine, "no such fact"), "unknown");
    machine_free(&machine);
}

/* --- doctor ----------------------------------------------------------------------------------- */

static const finding *find(const finding *findings, size_t count, const char *beginning)
{
    for (size_t i = 0; i < count; i++)
        if (strncmp(findings[i].what, beginning, strlen(beginning)) == 0)
            return &findings[i];
    fail_msg("no finding '%s'", beginning);
    return NULL;
}

/* For each check a value that is fine, one that is not, and words of the remedy. */
TEST(test_findings)
{
    static const struct {
        const char *fact, *fine, *bad, *title, *remedy;
        finding_grade grade;
    } checks[] = {
        {"governor", "performance", "powersave", "CPU frequency governor", "scaling_governor", 2},
        {"smt", "off", "on", "SMT", "smt/control", 2},
        {"hypervisor", "none", "KVMKVMKVM", "hypervisor", "bare metal", 1},
        {"clock_source", "tsc", "hpet", "clock source", "current_clocksource", 2},
        {"core_kinds", "1", "2", "kinds of core", "taskset", 2},
        {"build_type", "Release", "Debug", "build type", "CMAKE_BUILD_TYPE=Release", 2},
        {"cpu_quota", "none", "0.50", "CPU quota", "--cpus", 2},
        {"boost", "off", "on", "frequency boost", "cpufreq/boost", 2},
        {"load_1m", "0.10", "0.90", "load", "top", 2},
        {"thp", "madvise", "never", "transparent huge pages", "transparent_hugepage", 2},
        {"memory_available_bytes", "8589934592", "104857600", "memory: ", "ps aux", 2},
        {"swap_used_bytes", "0", "1048576", "swap", "swapoff", 2},
        {"memory_limit_bytes", "none", "62914560", "memory limit", "MemoryMax", 2},
        {"ftz", "off", "on", "flush to zero", "-ffast-math", 2},
        {"daz", "off", "on", "denormals are zero", "-ffast-math", 2},
    };
    for (size_t i = 0; i < sizeof checks / sizeof *checks; i++) {
        machine_fact fact = {"", ""};
        machine_facts machine = {.facts = &fact, .count = 1, .cores = 8};
        finding findings[FINDINGS_MOST];
        snprintf(fact.name, sizeof fact.name, "%s", checks[i].fact);
        snprintf(fact.value, sizeof fact.value, "%s", checks[i].fine);
        size_t count = machine_findings(&machine, findings);
        assert_int_equal(find(findings, count, checks[i].title)->grade, FINDING_FINE);
        assert_string_equal(find(findings, count, checks[i].title)->remedy, "");
        snprintf(fact.value, sizeof fact.value, "%s", checks[i].bad);
        count = machine_findings(&machine, findings);
        const finding *found = find(findings, count, checks[i].title);
        assert_int_equal(found->grade, checks[i].grade);
        if (!strstr(found->remedy, checks[i].remedy))
            fail_msg("'%s' does not say '%s'", found->remedy, checks[i].remedy);
    }
}

TEST(test_cores)
{
    static const struct {
        unsigned cores;
        finding_grade grade;
    } expected[] = {{1, FINDING_WARNING}, {2, FINDING_FINE}};
    for (size_t i = 0; i < 2; i++) {
        machine_fact fact = {.name = "cores"};
        machine_facts machine = {.facts = &fact, .count = 1};
        finding findings[FINDINGS_MOST];
        snprintf(fact.value, sizeof fact.value, "%u", expected[i].cores);
        size_t count = machine_findings(&machine, findings);
        assert_int_equal(find(findings, count, "cores")->grade, expected[i].grade);
    }
}

TEST_WITH(test_surroundings, create, destroy)
{
    char before[512];
    assert_non_null(getcwd(before, sizeof before));
    const char *path = getenv("PATH");
    char *kept = strdup(path ? path : "");
    machine_facts machine = {.cores = 2};
    finding findings[FINDINGS_MOST];
    put(*state, "/bin/gnuplot", "");
    char program[512];
    snprintf(program, sizeof program, "%s/bin/gnuplot", (const char *)*state);
    assert_int_equal(chmod(program, 0755), 0);
    assert_int_equal(chdir(*state), 0);
    setenv("PATH", "/nonexistent", 1);
    size_t count = machine_findings(&machine, findings);
    assert_int_equal(find(findings, count, "gnuplot")->grade, FINDING_WARNING);
    assert_int_equal(find(findings, count, "results")->grade, FINDING_FINE);
    setenv("PATH", "/nonexistent:bin", 1);
    count = machine_findings(&machine, findings);
    assert_int_equal(find(findings, count, "gnuplot")->grade, FINDING_FINE);
    put(".", "/results", "a file, not a directory"); /* so that not even root can write into it */
    assert_int_equal(chmod("results", 0444), 0);
    count = machine_findings(&machine, findings);
    assert_int_equal(find(findings, count, "results")->grade, FINDING_WARNING);
    setenv("PATH", kept, 1);
    free(kept);
    assert_int_equal(chdir(before), 0);
}

TEST(test_regimes)
{
    static const struct {
        size_t rows, hidden;
        ln_type dtype;
        const char *regime;
    } expected[] = {{4, 1024, LN_F32, "L1"},    {4, 1025, LN_F32, "L2"},
                    {8, 1024, LN_BF16, "L1"},   {128, 1024, LN_F32, "L2"},
                    {129, 1024, LN_F32, "L3"},  {64, 1024, LN_F64, "L2"},
                    {4096, 1024, LN_F32, "L3"}, {4097, 1024, LN_F32, "DRAM"}};
    machine_facts known = {.l1d_bytes = 32768, .l2_bytes = 1 << 20, .l3_bytes = 32 << 20};
    machine_facts unknown = {0};
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        size_t rows = expected[i].rows, hidden = expected[i].hidden;
        ln_type dtype = expected[i].dtype;
        assert_string_equal(machine_regime(&known, LN_OPERATION_LAYERNORM, rows, hidden, dtype),
                            expected[i].regime);
        /* If the sizes are unknown, common ones are assumed, which are those of `known`. */
        assert_string_equal(machine_regime(&unknown, LN_OPERATION_LAYERNORM, rows, hidden, dtype),
                            expected[i].regime);
    }
    known.l3_bytes = 0;
    assert_string_equal(machine_regime(&known, LN_OPERATION_LAYERNORM, 1 << 20, 1 << 20, LN_F32),
                        "DRAM");
}

/* A call with the number of rows that machine_rows() gives for a regime is in that regime. */
TEST(test_rows_of_a_regime)
{
    static const size_t hidden[] = {1, 31, 64, 768, 12288};
    machine_facts machine = {.l1d_bytes = 48 << 10, .l2_bytes = 1 << 20, .l3_bytes = 32 << 20};
    for (size_t i = 0; i < sizeof hidden / sizeof *hidden; i++)
        for (int of = hidden[i] > 2000 ? REGIME_L2 : REGIME_L1; of < REGIMES; of++) {
            size_t rows =
                machine_rows(&machine, (cache_regime)of, LN_OPERATION_LAYERNORM, hidden[i], LN_F32);
            assert_string_equal(
                machine_regime(&machine, LN_OPERATION_LAYERNORM, rows, hidden[i], LN_F32),
                regime_names[of]);
        }
    assert_int_equal(machine_rows(&machine, REGIME_L1, LN_OPERATION_LAYERNORM, 1 << 20, LN_F64), 1);
    static const size_t mebibytes[][2] = {{32, 128}, {128, 512}, {160, 512}, {480, 960}};
    for (size_t i = 0; i < sizeof mebibytes / sizeof *mebibytes; i++) {
        machine.l3_bytes = mebibytes[i][0] << 20;
        assert_int_equal(machine_rows(&machine, REGIME_DRAM, LN_OPERATION_LAYERNORM, 1024, LN_F32),
                         mebibytes[i][1] * 128);
    }
}
