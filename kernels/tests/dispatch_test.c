/* Tests that the library chooses kernels by the dispatch table and the caches of the machine. */
#include "tests.h"
#include "caches.h"
#include "dispatch_table.h"
#include "layernorm_plugin.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- The table ------------------------------------------------------------------------------- */

/* Every kernel in the dispatch table is in kernels.def and has the row's types. Every class has rows for
 * every pair of types on every ISA, the last of which is always true, and on a CPU without an ISA the rows of a lower
 * one are used. Built with DISPATCH_PLANTED the table has a row with an unknown name, and the test must fail. */

typedef struct row {
    const char *class, *storage, *param, *isa;
    ln_when when;
    const char *kernel;
} row;

#define READ_ROW(class, storage, param, isa, when, kernel)                                         \
    {#class, #storage, #param, #isa, LN_WHEN_##when, kernel},

static const row layernorm_rows[] = {
    LN_LAYERNORM_ROWS(READ_ROW)
#ifdef DISPATCH_PLANTED
        READ_ROW(fast, f32, f32, scalar, always, "nobody_f32_scalar")
#endif
};
static const row rmsnorm_rows[] = {LN_RMSNORM_ROWS(READ_ROW)};
enum { CLASSES = 3 };
#ifdef DISPATCH_PLANTED
enum { PLANTED = 1 };
#else
enum { PLANTED = 0 };
#endif
enum { ROWS = sizeof layernorm_rows / sizeof(row), RMS_ROWS = sizeof rmsnorm_rows / sizeof(row) };

static const char *const classes[CLASSES] = {"fast", "accurate", "reproducible"};
static const char *const type_names[] = {"f32", "f64", "bf16", "f16"};

static const ln_kernel *find(const char *name)
{
    const ln_plugin_table *plugin = ln_plugin();
    for (size_t i = 0; i < plugin->count; i++)
        if (strcmp(plugin->kernels[i].name, name) == 0)
            return &plugin->kernels[i];
    return NULL;
}

static void check_names(const row *rows, size_t count, const char *reproducible)
{
    for (size_t i = 0; i < count; i++) {
        const ln_kernel *kernel = find(rows[i].kernel);
        if (!kernel)
            fail_msg("dispatch_table.h names %s, which kernels.def has not", rows[i].kernel);
        assert_string_equal(type_names[kernel->storage], rows[i].storage);
        assert_string_equal(type_names[kernel->param], rows[i].param);
        if (strcmp(rows[i].class, "reproducible") == 0)
            assert_string_equal(kernel->statistics, reproducible);
        if (strcmp(rows[i].class, "fast") == 0)
            assert_true(strcmp(kernel->statistics, "naive") != 0);
    }
}

TEST(every_name_is_known)
{
    check_names(layernorm_rows, ROWS, "reproducible");
    check_names(rmsnorm_rows, RMS_ROWS, "rms_tiled");
}

/* The rows of a class, pair of types and ISA are contiguous, and the last is always true. */
static void check_cell(const row *rows, size_t count, const char *class, const char *storage,
                       const char *param, const char *isa)
{
    size_t groups = 0;
    bool was_own = false;
    for (size_t i = 0; i < count; i++) {
        const bool own = strcmp(rows[i].class, class) == 0 &&
                         strcmp(rows[i].storage, storage) == 0 &&
                         strcmp(rows[i].param, param) == 0 && strcmp(rows[i].isa, isa) == 0;
        if (was_own && !own)
            assert_int_equal(rows[i - 1].when, LN_WHEN_always);
        if (was_own && own)
            assert_true(rows[i - 1].when != LN_WHEN_always);
        groups += own && !was_own;
        was_own = own;
    }
    if (was_own)
        assert_int_equal(rows[count - 1].when, LN_WHEN_always);
    if (groups != 1)
        fail_msg("%zu groups of rows for %s, %s, %s, %s", groups, class, storage, param, isa);
}

/* RMSNorm has no f64 kernels with f32 parameters, and no accurate f64 kernel. */
static void check_all(bool rms)
{
    static const char *const isas[] = {"scalar", "avx2", "avx512", "neon", "avx512bf16"};
    for (size_t pair = 0; pair < TYPE_PAIRS; pair++)
        for (size_t class = 0; class < CLASSES; class ++) {
            bool is_f64 = type_pairs[pair].storage == LN_F64;
            if (rms && is_f64 && (class == 1 || type_pairs[pair].param == LN_F32))
                continue;
            bool has_bf16 = type_pairs[pair].storage == LN_BF16 && class < 2;
            for (size_t isa = 0; isa < 4 + (size_t)has_bf16; isa++)
                check_cell(rms ? rmsnorm_rows : layernorm_rows, rms ? RMS_ROWS : ROWS - PLANTED,
                           classes[class], type_names[type_pairs[pair].storage],
                           type_names[type_pairs[pair].param], isas[isa]);
        }
}

TEST(every_cell_answers)
{
    check_all(false);
    check_all(true);
}

/* The chosen kernel has these types, and is in a row for this CPU. */
static void check_taken(types pair, int class, size_t count, size_t hidden)
{
    const char *storage = type_names[pair.storage], *param = type_names[pair.param];
    ln_problem problem = problem_of(pair, count, hidden, convention_number(24));
    problem.accuracy = (ln_accuracy) class;
    const char *name = ln_layernorm_kernel_name(&problem);
    assert_non_null(name);
    assert_null(find(name)->supports(&problem));
    bool found = false;
    for (size_t r = 0; r < ROWS; r++)
        found |= strcmp(layernorm_rows[r].class, classes[class]) == 0 &&
                 strcmp(layernorm_rows[r].storage, storage) == 0 &&
                 strcmp(layernorm_rows[r].param, param) == 0 &&
                 strcmp(layernorm_rows[r].kernel, name) == 0;
    if (!found)
        fail_msg("%s, %s, %s, %zu x %zu: %s is taken, which is in no row", classes[class], storage,
                 param, count, hidden, name);
}

TEST(the_library_takes_rows)
{
    static const size_t sizes[] = {1, 63, 64, 300, 768, 1024, 5000, 12288, 100000};
    for (size_t type = 0; type < sizeof type_pairs / sizeof *type_pairs; type++)
        for (int class = 0; class < CLASSES; class ++)
            for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
                for (size_t count = 1; count <= 100000; count *= 10)
                    check_taken(type_pairs[type], class, count, sizes[i]);
}

/* Checks each condition with calls that meet it or not. */
TEST(conditions_hold)
{
    static const struct {
        size_t rows, hidden, y_stride;
        int in_memory;
        unsigned holds; /* a bit for each condition */
    } calls[] = {
        {3, 64, 0, 0, 1 << LN_WHEN_few | 1 << LN_WHEN_narrow},
        {4, 128, 0, 0, 1 << LN_WHEN_narrow},
        {4, 129, 0, 0, 1 << LN_WHEN_uneven},
        {4, 4096, 0, 0, 1 << LN_WHEN_long_even},
        {4, 4096, 4097, 0, 1 << LN_WHEN_uneven},
        {4, 4095, 4096, 0, 0},
        {3, 768, 0, 1, 1 << LN_WHEN_memory},
        {9, 64, 0, 1, 1 << LN_WHEN_narrow | 1 << LN_WHEN_memory | 1 << LN_WHEN_narrow_memory},
        {9, 5000, 0, 1,
         1 << LN_WHEN_uneven | 1 << LN_WHEN_memory | 1 << LN_WHEN_uneven_memory |
             1 << LN_WHEN_long_memory},
    };
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        const ln_problem problem = {
            .rows = calls[i].rows, .hidden = calls[i].hidden, .y_stride = calls[i].y_stride};
        for (int when = LN_WHEN_few; when < LN_WHEN_always; when++)
            assert_int_equal(
                ln_when_holds((ln_when)when, &problem, sizeof(float), calls[i].in_memory),
                calls[i].holds >> when & 1);
        assert_true(ln_when_holds(LN_WHEN_always, &problem, sizeof(float), calls[i].in_memory));
    }
}

/* Returns whether there is a correctly rounded kernel of this ISA that stores around the caches. */
static bool streams_exactly(const char *isa)
{
    const ln_plugin_table *plugin = ln_plugin();
    const unsigned wanted = LN_TRAIT_CORRECTLY_ROUNDED | LN_TRAIT_NONTEMPORAL;
    for (size_t i = 0; i < plugin->count; i++)
        if ((plugin->kernels[i].traits & wanted) == wanted &&
            plugin->kernels[i].storage == LN_F32 && strcmp(plugin->kernels[i].isa, isa) == 0)
            return true;
    return false;
}

/* Kernels of `exact` are correctly rounded, and store around the caches if and only if x and y do not fit into them. */
TEST(exact_streams_to_memory)
{
    const types f32 = {LN_F32, LN_F32};
    assert_int_equal(ln_set_cache_bytes(1 << 15, 1 << 20, 1 << 25), LN_OK);
    for (size_t count = 1; count <= 100000; count *= 10) {
        ln_problem problem = problem_of(f32, count, 768, convention_number(24));
        problem.accuracy = LN_ACCURACY_EXACT;
        const ln_kernel *taken = find(ln_layernorm_kernel_name(&problem));
        bool is_large = 2 * sizeof(float) * count * 768 > 1 << 25;
        assert_true(taken->traits & LN_TRAIT_CORRECTLY_ROUNDED);
        assert_int_equal((taken->traits & LN_TRAIT_NONTEMPORAL) != 0,
                         is_large && streams_exactly(taken->isa));
    }
    assert_int_equal(ln_set_cache_bytes(0, 0, 0), LN_OK);
}

/* ---- The caches ------------------------------------------------------------------------------ */

/* The cache sizes that the library finds on simulated machines: sysfs is made of files, cpuid and
 * sysconf of functions. */

enum { K = 1 << 10, M = 1 << 20 };

static char root[] = "/tmp/lnbench-caches-XXXXXX";
static long sysconf_bytes[LN_CACHES]; /* the sizes from sysconf */
static unsigned leaf_of_cpu;          /* 4, 0x8000001d, or 0: none */
static unsigned leaf[4][4];           /* the subleaves of that leaf */
static cache_sizes found;

static long reported_sysconf(int level)
{
    return sysconf_bytes[level];
}

static void reported_cpuid(unsigned wanted, unsigned subleaf, unsigned registers[4])
{
    memset(registers, 0, sizeof leaf[0]);
    if (leaf_of_cpu && wanted == leaf_of_cpu && subleaf < 4)
        memcpy(registers, leaf[subleaf], sizeof leaf[0]);
}

/* Describes a cache of ways x 1 partition x lines of 64 bytes x sets. */
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
    memset(sysconf_bytes, 0, sizeof sysconf_bytes);
    leaf_of_cpu = 0;
    assert_int_equal(system(command), 0);
    assert_int_equal(mkdir(root, 0700), 0);
}

static void find_caches(const char *environment)
{
    const cache_sources sources = {root, environment, reported_cpuid, reported_sysconf};
    ln_caches_find(&sources, &found);
}

static void expect(int level, size_t bytes, const char *from)
{
    if (found.bytes[level] != bytes || strcmp(found.from[level], from) != 0)
        fail_msg("L%d: %zu bytes by %s where %zu by %s were expected", level + 1,
                 found.bytes[level], found.from[level], bytes, from);
}

/* Returns the first CPU on which this process may run, or another one if there is one. */
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
    find_caches(NULL);
    for (int level = LN_L1; level < LN_CACHES; level++)
        expect(level, 0, "nobody");
}

/* For a package of twelve dies sysconf reports the sum of their third levels. */
TEST(the_smaller_counts)
{
    begin();
    unsigned cpu = allowed_cpu(0);
    cache(cpu, 0, "1", "Data", "48K");
    cache(cpu, 1, "1", "Instruction", "32K");
    cache(cpu, 2, "2", "Unified", "1024K");
    cache(cpu, 3, "3", "Unified", "32768K");
    sysconf_bytes[LN_L1] = 48 * K, sysconf_bytes[LN_L2] = 1 * M, sysconf_bytes[LN_L3] = 384 * M;
    find_caches(NULL);
    expect(LN_L1, 48 * K, "sysfs");
    expect(LN_L2, 1 * M, "sysfs");
    expect(LN_L3, 32 * M, "sysfs");
    sysconf_bytes[LN_L3] = 16 * M;
    find_caches(NULL);
    expect(LN_L3, 16 * M, "sysconf");
}

/* A larger L3 is limited to a part, but not the value of LN_CACHE_BYTES. */
TEST(many_cores_share_the_largest)
{
    begin();
    unsigned cpu = allowed_cpu(0);
    cache(cpu, 0, "3", "Unified", "129M");
    find_caches(NULL);
    expect(LN_L3, 128 * M, "limit of 128 MiB");
    find_caches("48K,2M,480M");
    expect(LN_L3, 480 * M, "LN_CACHE_BYTES");
    cache(cpu, 0, "3", "Unified", "128M");
    find_caches(NULL);
    expect(LN_L3, 128 * M, "sysfs");
}

TEST(cpuid_of_either_maker)
{
    begin();
    static const unsigned leaves[] = {4, 0x8000001d};
    describe(0, 1, 1, 8, 64);     /* data: 32 KiB */
    describe(1, 2, 1, 8, 128);    /* instructions: 64 KiB, ignored */
    describe(2, 3, 2, 16, 2048);  /* 2 MiB */
    describe(3, 3, 3, 12, 49152); /* 36 MiB */
    for (size_t i = 0; i < 2; i++) {
        leaf_of_cpu = leaves[i];
        find_caches(NULL);
        expect(LN_L1, 32 * K, "cpuid");
        expect(LN_L2, 2 * M, "cpuid");
        expect(LN_L3, 36 * M, "cpuid");
    }
}

/* Sizes of 0, without a number, or too large are ignored. */
TEST(nonsense_is_not_taken)
{
    begin();
    static const char *const sizes[] = {"0K", "", "many", "-32K", "99999999999999999999G", "7"};
    unsigned cpu = allowed_cpu(0);
    sysconf_bytes[LN_L1] = -1, sysconf_bytes[LN_L2] = 0, sysconf_bytes[LN_L3] = 8 * M;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        cache(cpu, 0, "1", "Data", sizes[i]);
        cache(cpu, 1, "3", "Unified", sizes[i]);
        cache(cpu, 2, "9", "Unified", "32K");
        find_caches(NULL);
        expect(LN_L1, 0, "nobody");
        expect(LN_L2, 0, "nobody");
        expect(LN_L3, 8 * M, "sysconf");
    }
}

/* With big and little cores the smallest size of the cores on which the process may run is used. */
TEST(two_kinds_of_cores)
{
    begin();
    unsigned big = allowed_cpu(0), little = allowed_cpu(1);
    cache(big, 0, "2", "Unified", "2048K");
    cache(1023, 0, "2", "Unified", "128K"); /* the process may not run on it */
    find_caches(NULL);
    expect(LN_L2, 2 * M, "sysfs");
    cache(little, 0, "2", "Unified", "512K");
    find_caches(NULL);
    expect(LN_L2, 512 * K, "sysfs");
}

TEST(the_environment_comes_first)
{
    begin();
    static const char *const malformed[] = {
        "",          "32K",        "32K,1M",   "32K,1M,32M,", "1M,32K,2M",   "32K,1M,32MB",
        "-1,1M,32M", "32K;1M;32M", "0,1M,32M", "a,b,c",       "32K, 1M, 32M"};
    sysconf_bytes[LN_L3] = 8 * M;
    find_caches("32K,1M,24M");
    expect(LN_L1, 32 * K, "LN_CACHE_BYTES");
    expect(LN_L2, 1 * M, "LN_CACHE_BYTES");
    expect(LN_L3, 24 * M, "LN_CACHE_BYTES");
    assert_null(found.refused);
    for (size_t i = 0; i < sizeof malformed / sizeof *malformed; i++) {
        find_caches(malformed[i]);
        expect(LN_L3, 8 * M, "sysconf");
        assert_true(found.refused == malformed[i]);
    }
}

static const char *kernel_of(size_t rows)
{
    ln_problem problem = problem_of((types){LN_F32, LN_F32}, rows, 4096, convention_number(24));
    return ln_layernorm_kernel_name(&problem);
}

/* The kernel of a call depends on the cache sizes that were set. */
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
