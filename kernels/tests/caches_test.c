/* The caches that the library goes by, on machines that are made up: sysfs of files, cpuid and
 * sysconf of functions. */
#include "tests.h"

#include "caches.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { K = 1 << 10, M = 1 << 20 };

static char root[] = "/tmp/lnbench-caches-XXXXXX";
static long told[LN_CACHES]; /* by sysconf */
static unsigned leaf_of_cpu; /* 4, 0x8000001d, or 0: none */
static unsigned leaf[4][4];  /* its subleaves */
static cache_sizes found;

static long sysconf_told(int level)
{
    return told[level];
}

static void cpuid_told(unsigned wanted, unsigned subleaf, unsigned registers[4])
{
    memset(registers, 0, sizeof leaf[0]);
    if (leaf_of_cpu && wanted == leaf_of_cpu && subleaf < 4)
        memcpy(registers, leaf[subleaf], sizeof leaf[0]);
}

/* ways x one partition x lines of 64 x sets */
static void describe(unsigned subleaf, unsigned type, unsigned level, unsigned ways, unsigned sets)
{
    leaf[subleaf][0] = type | level << 5;
    leaf[subleaf][1] = (ways - 1) << 22 | 63;
    leaf[subleaf][2] = sets - 1;
}

static void put(unsigned cpu, unsigned index, const char *what, const char *text)
{
    char path[256];
    snprintf(path, sizeof path, "%s/cpu%u", root, cpu);
    mkdir(path, 0700);
    strcat(path, "/cache");
    mkdir(path, 0700);
    snprintf(path + strlen(path), 32, "/index%u", index);
    mkdir(path, 0700);
    snprintf(path + strlen(path), 32, "/%s", what);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file, "%s\n", text);
    fclose(file);
}

static void cache(unsigned cpu, unsigned index, const char *level, const char *type,
                  const char *size)
{
    put(cpu, index, "level", level);
    put(cpu, index, "type", type);
    put(cpu, index, "size", size);
}

static void begin(void)
{
    char command[64];
    snprintf(command, sizeof command, "rm -rf %s", root);
    memset(told, 0, sizeof told);
    leaf_of_cpu = 0;
    assert_int_equal(system(command), 0);
    assert_int_equal(mkdir(root, 0700), 0);
}

static void find(const char *environment)
{
    const cache_sources sources = {root, environment, cpuid_told, sysconf_told};
    ln_caches_find(&sources, &found);
}

static void expect(int level, size_t bytes, const char *from)
{
    if (found.bytes[level] != bytes || strcmp(found.from[level], from) != 0)
        fail_msg("L%d: %zu bytes by %s where %zu by %s were expected", level + 1,
                 found.bytes[level], found.from[level], bytes, from);
}

/* The first CPU that this process may run on, and another where there is one. */
static unsigned allowed_cpu(unsigned number)
{
    cpu_set_t set;
    assert_int_equal(sched_getaffinity(0, sizeof set, &set), 0);
    unsigned last = 0;
    for (unsigned cpu = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, &set)) {
            last = cpu;
            if (number-- == 0)
                break;
        }
    return last;
}

TEST(nobody_knows)
{
    begin();
    find(NULL);
    for (int level = LN_L1; level < LN_CACHES; level++)
        expect(level, 0, "nobody");
}

/* A package of twelve dies: sysconf adds their third level up. */
TEST(the_smaller_counts)
{
    begin();
    unsigned cpu = allowed_cpu(0);
    cache(cpu, 0, "1", "Data", "48K");
    cache(cpu, 1, "1", "Instruction", "32K");
    cache(cpu, 2, "2", "Unified", "1024K");
    cache(cpu, 3, "3", "Unified", "32768K");
    told[LN_L1] = 48 * K, told[LN_L2] = 1 * M, told[LN_L3] = 384 * M;
    find(NULL);
    expect(LN_L1, 48 * K, "sysfs");
    expect(LN_L2, 1 * M, "sysfs");
    expect(LN_L3, 32 * M, "sysfs");
    told[LN_L3] = 16 * M;
    find(NULL);
    expect(LN_L3, 16 * M, "sysconf");
}

/* Of an L3 of more a call has a part. LN_CACHE_BYTES is not limited. */
TEST(many_cores_share_the_largest)
{
    begin();
    unsigned cpu = allowed_cpu(0);
    cache(cpu, 0, "3", "Unified", "129M");
    find(NULL);
    expect(LN_L3, 128 * M, "limit of 128 MiB");
    find("48K,2M,480M");
    expect(LN_L3, 480 * M, "LN_CACHE_BYTES");
    cache(cpu, 0, "3", "Unified", "128M");
    find(NULL);
    expect(LN_L3, 128 * M, "sysfs");
}

TEST(cpuid_of_either_maker)
{
    begin();
    static const unsigned leaves[] = {4, 0x8000001d};
    describe(0, 1, 1, 8, 64);     /* data: 32 KiB */
    describe(1, 2, 1, 8, 128);    /* instructions: 64 KiB, not asked for */
    describe(2, 3, 2, 16, 2048);  /* 2 MiB */
    describe(3, 3, 3, 12, 49152); /* 36 MiB */
    for (size_t i = 0; i < 2; i++) {
        leaf_of_cpu = leaves[i];
        find(NULL);
        expect(LN_L1, 32 * K, "cpuid");
        expect(LN_L2, 2 * M, "cpuid");
        expect(LN_L3, 36 * M, "cpuid");
    }
}

/* A cache of 0 bytes, of none, of more than there is: as if nothing was said. */
TEST(nonsense_is_not_taken)
{
    begin();
    static const char *const sizes[] = {"0K", "", "many", "-32K", "99999999999999999999G", "7"};
    unsigned cpu = allowed_cpu(0);
    told[LN_L1] = -1, told[LN_L2] = 0, told[LN_L3] = 8 * M;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        cache(cpu, 0, "1", "Data", sizes[i]);
        cache(cpu, 1, "3", "Unified", sizes[i]);
        cache(cpu, 2, "9", "Unified", "32K");
        find(NULL);
        expect(LN_L1, 0, "nobody");
        expect(LN_L2, 0, "nobody");
        expect(LN_L3, 8 * M, "sysconf");
    }
}

/* Big cores and little ones: of those that the process may run on the smallest. */
TEST(two_kinds_of_cores)
{
    begin();
    unsigned big = allowed_cpu(0), little = allowed_cpu(1);
    cache(big, 0, "2", "Unified", "2048K");
    cache(1023, 0, "2", "Unified", "128K"); /* not one of ours */
    find(NULL);
    expect(LN_L2, 2 * M, "sysfs");
    cache(little, 0, "2", "Unified", "512K");
    find(NULL);
    expect(LN_L2, 512 * K, "sysfs");
}

TEST(the_environment_comes_first)
{
    begin();
    static const char *const malformed[] = {
        "",          "32K",        "32K,1M",   "32K,1M,32M,", "1M,32K,2M",   "32K,1M,32MB",
        "-1,1M,32M", "32K;1M;32M", "0,1M,32M", "a,b,c",       "32K, 1M, 32M"};
    told[LN_L3] = 8 * M;
    find("32K,1M,24M");
    expect(LN_L1, 32 * K, "LN_CACHE_BYTES");
    expect(LN_L2, 1 * M, "LN_CACHE_BYTES");
    expect(LN_L3, 24 * M, "LN_CACHE_BYTES");
    assert_null(found.refused);
    for (size_t i = 0; i < sizeof malformed / sizeof *malformed; i++) {
        find(malformed[i]);
        expect(LN_L3, 8 * M, "sysconf");
        assert_true(found.refused == malformed[i]);
    }
}

static const char *kernel_of(size_t rows)
{
    ln_problem problem = problem_of((types){LN_F32, LN_F32}, rows, 4096, convention_number(24));
    return ln_layernorm_kernel_name(&problem);
}

/* What a call gets follows the caches that were set. */
TEST(the_library_goes_by_them)
{
    assert_int_equal(ln_set_cache_bytes(32 * K, 1 * M, (size_t)1 << 40), LN_OK);
    const char *cached = kernel_of(4096);
    assert_int_equal(ln_set_cache_bytes(32 * K, 1 * M, 32 * M), LN_OK);
    const char *streamed = kernel_of(4096);
    assert_non_null(cached);
    assert_non_null(streamed);
    if (strstr(cached, "avx512"))
        assert_true(strcmp(cached, streamed) != 0);
    assert_int_equal(ln_set_cache_bytes(0, 1 * M, 32 * M), LN_ERROR_ARGUMENT);
    assert_int_equal(ln_set_cache_bytes(2 * M, 1 * M, 32 * M), LN_ERROR_ARGUMENT);
    assert_int_equal(ln_set_cache_bytes(32 * K, 64 * M, 32 * M), LN_ERROR_ARGUMENT);
    assert_string_equal(kernel_of(4096), streamed);
    assert_int_equal(ln_set_cache_bytes(0, 0, 0), LN_OK);
}

int main(void)
{
    if (!mkdtemp(root))
        return 1;
    int failures = test_run(NULL, NULL);
    begin();
    return rmdir(root) != 0 ? 1 : failures;
}
