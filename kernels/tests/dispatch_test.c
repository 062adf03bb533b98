/* The dispatch tables: every kernel that it names is in kernels.def and of the row's types, every
 * class answers for every pair of types on every ISA, on a CPU without an ISA the lesser one's rows
 * hold, and a make of CPU has its own rows. Built with DISPATCH_PLANTED it has a row with an unknown name, and must
 * fail. */
#include "tests.h"

#include "cpu.h"
#define LAYERNORM_DISPATCH_EVERY_ISA
#include "dispatch_by_hand.h"
#include "dispatch_table.h"
#include "layernorm_plugin.h"
#include "rms_table.h"

#include <stdio.h>

typedef struct row {
    ln_cpu make;
    const char *class, *storage, *param, *isa, *regime;
    size_t hidden_to;
    const char *kernel;
} row;

#define READ_ROW_OF(make, class, storage, param, isa, regime, hidden_to, kernel)                   \
    {CPU_##make, #class, #storage, #param, #isa, #regime, hidden_to, kernel},
#define READ_ROW(...) READ_ROW_OF(any, __VA_ARGS__)

static const row layernorm_rows[] = {
    LAYERNORM_DISPATCH_BY_HAND(READ_ROW_OF) LAYERNORM_DISPATCH(READ_ROW)
#ifdef DISPATCH_PLANTED
        READ_ROW(fast, f32, f32, scalar, L1, SIZE_MAX, "nobody_f32_scalar")
#endif
};
static const row rmsnorm_rows[] = {RMSNORM_DISPATCH_BY_HAND(READ_ROW_OF)
                                       RMSNORM_DISPATCH(READ_ROW)};
enum { CLASSES = 3, REGIMES = 5 };
enum { ROWS = sizeof layernorm_rows / sizeof(row), RMS_ROWS = sizeof rmsnorm_rows / sizeof(row) };

/* Those that is_there() and is_whole() look at. */
static const row *rows = layernorm_rows;
static size_t row_count = ROWS;

static const char *const classes[CLASSES] = {"fast", "accurate", "reproducible"};
static const char *const regimes[REGIMES] = {"L1", "L2", "L3", "DRAM", "few"};
static const char *const type_names[] = {"f32", "f64", "bf16", "f16"};

static int number_of_class(const char *name)
{
    int class = 0;
    while (strcmp(classes[class], name) != 0)
        class ++;
    return class;
}

static const ln_kernel *find(const char *name)
{
    const ln_plugin_table *plugin = ln_plugin();
    for (size_t i = 0; i < plugin->count; i++)
        if (strcmp(plugin->kernels[i].name, name) == 0)
            return &plugin->kernels[i];
    return NULL;
}

TEST(every_name_of_rmsnorm_is_known)
{
    const ln_plugin_table *plugin = ln_plugin();
    for (size_t i = 0; i < RMS_ROWS; i++) {
        const row *own = &rmsnorm_rows[i];
        size_t k = 0;
        while (k < plugin->count && strcmp(plugin->kernels[k].name, own->kernel) != 0)
            k++;
        if (k == plugin->count)
            fail_msg("rms_table.h names %s, which kernels.def has not", own->kernel);
        assert_string_equal(type_names[plugin->kernels[k].storage], own->storage);
        assert_string_equal(type_names[plugin->kernels[k].param], own->param);
        if (strcmp(own->class, "reproducible") == 0)
            assert_true(plugin->kernels[k].traits & LN_TRAIT_ISA_REPRODUCIBLE);
    }
}

TEST(every_name_is_known)
{
    for (size_t i = 0; i < ROWS; i++) {
        const ln_kernel *kernel = find(rows[i].kernel);
        if (!kernel)
            fail_msg("dispatch_table.h names %s, which kernels.def has not: make the table anew",
                     rows[i].kernel);
        assert_string_equal(type_names[kernel->storage], rows[i].storage);
        assert_string_equal(type_names[kernel->param], rows[i].param);
        if (strcmp(rows[i].class, "reproducible") == 0)
            assert_string_equal(kernel->statistics, "reproducible");
        if (strcmp(rows[i].class, "fast") == 0)
            assert_true(strcmp(kernel->statistics, "naive") != 0);
    }
}

/* Any rows for every make; NULL: of any regime. */
static int is_there(const char *class, const char *storage, const char *param, const char *isa,
                    const char *regime)
{
    for (size_t i = 0; i < row_count; i++)
        if (rows[i].make == CPU_any && strcmp(rows[i].class, class) == 0 &&
            strcmp(rows[i].storage, storage) == 0 && strcmp(rows[i].param, param) == 0 &&
            strcmp(rows[i].isa, isa) == 0 && (!regime || strcmp(rows[i].regime, regime) == 0))
            return 1;
    return 0;
}

/* Whether a cell's rows are in order and reach to the longest rows. */
static int is_whole(ln_cpu make, const char *class, const char *storage, const char *param,
                    const char *isa, const char *regime)
{
    size_t last = 0;
    for (size_t i = 0; i < row_count; i++) {
        if (rows[i].make != make || strcmp(rows[i].class, class) != 0 ||
            strcmp(rows[i].storage, storage) != 0 || strcmp(rows[i].param, param) != 0 ||
            strcmp(rows[i].isa, isa) != 0 || strcmp(rows[i].regime, regime) != 0)
            continue;
        assert_true(rows[i].hidden_to > last);
        last = rows[i].hidden_to;
    }
    return last == SIZE_MAX;
}

/* All regimes of a class, pair of types and ISA; few rows may go as other calls. */
static void check_cells(const char *class, const char *storage, const char *param, const char *isa)
{
    bool has_few = is_there(class, storage, param, isa, "few");
    for (size_t regime = 0; regime < (size_t)REGIMES - !has_few; regime++)
        if (!is_whole(CPU_any, class, storage, param, isa, regimes[regime]))
            fail_msg("no whole rows for %s, %s, %s, %s, %s", class, storage, param, isa,
                     regimes[regime]);
}

/* RMSNorm has no kernels of f64 with parameters of f32, and none of f64 that is accurate. */
static void check_all(bool rms)
{
    static const char *const isas[] = {"scalar", "avx2", "avx512", "neon", "avx512bf16"};
    rows = rms ? rmsnorm_rows : layernorm_rows;
    row_count = rms ? RMS_ROWS : ROWS;
    for (size_t pair = 0; pair < TYPE_PAIRS; pair++)
        for (size_t class = 0; class < CLASSES; class ++) {
            bool is_f64 = type_pairs[pair].storage == LN_F64;
            if (rms && is_f64 && (class == 1 || type_pairs[pair].param == LN_F32))
                continue;
            size_t count = type_pairs[pair].storage == LN_BF16 && !rms ? 5 : 4;
            for (size_t isa = 0; isa < count; isa++)
                check_cells(classes[class], type_names[type_pairs[pair].storage],
                            type_names[type_pairs[pair].param], isas[isa]);
        }
    rows = layernorm_rows;
    row_count = ROWS;
}

TEST(every_cell_answers)
{
    check_all(false);
    check_all(true);
}

/* What the library takes is of these types, and in a row for this CPU. */
static void check_taken(types pair, int class, size_t count, size_t hidden)
{
    const char *storage = type_names[pair.storage], *param = type_names[pair.param];
    ln_problem problem = problem_of(pair, count, hidden, convention_number(24));
    problem.accuracy = (ln_accuracy) class;
    const char *name = ln_layernorm_kernel_name(&problem);
    assert_non_null(name);
    assert_null(find(name)->supports(&problem));
    const cache_sources here = ln_cache_sources();
    bool found = false;
    for (size_t r = 0; r < ROWS; r++)
        found |= (rows[r].make == CPU_any || rows[r].make == ln_cpu_make(&here)) &&
                 strcmp(rows[r].class, classes[class]) == 0 &&
                 strcmp(rows[r].storage, storage) == 0 && strcmp(rows[r].param, param) == 0 &&
                 strcmp(rows[r].kernel, name) == 0;
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

/* Whether rows for every make are of a better ISA: this make's, which come first, would hide them. */
static bool has_better_rows(const row *own)
{
    static const char *const isas[] = {"scalar", "avx2", "avx512", "avx512bf16"};
    size_t isa = sizeof isas / sizeof *isas;
    while (strcmp(isas[--isa], own->isa) != 0)
        if (is_there(own->class, own->storage, own->param, isas[isa], own->regime))
            return true;
    return false;
}

/* The rows of one make: a cell reaches to the longest rows, and what the library takes in DRAM where
 * this CPU is of that make is the cell's kernel. (No make has rows for the caches.) */
TEST(a_make_has_its_rows)
{
    const cache_sources here = ln_cache_sources();
    const ln_cpu make = ln_cpu_make(&here);
    assert_int_equal(ln_set_cache_bytes(1 << 12, 1 << 13, 1 << 14), LN_OK);
    size_t checked = 0;
    for (size_t i = 0; i < ROWS; i++) {
        const row *own = &rows[i];
        if (own->make == CPU_any)
            continue;
        checked++;
        assert_string_equal(own->regime, "DRAM");
        assert_true(is_whole(own->make, own->class, own->storage, own->param, own->isa, "DRAM"));
        const ln_kernel *kernel = find(own->kernel);
        size_t hidden = own->hidden_to == SIZE_MAX ? 100000 : own->hidden_to;
        ln_problem problem = problem_of((types){kernel->storage, kernel->param}, 1000, hidden,
                                        convention_number(24));
        problem.accuracy = (ln_accuracy)number_of_class(own->class);
        assert_false(has_better_rows(own));
        if (own->make == make && !kernel->supports(&problem))
            assert_string_equal(ln_layernorm_kernel_name(&problem), own->kernel);
    }
    assert_true(checked > 0);
    assert_int_equal(ln_set_cache_bytes(0, 0, 0), LN_OK);
}

static const char *vendor_told;
static unsigned version_told;

static void cpuid_told(unsigned leaf, unsigned subleaf, unsigned registers[4])
{
    memset(registers, 0, 4 * sizeof *registers);
    if (subleaf == 0 && leaf == 0) {
        memcpy(&registers[1], vendor_told, 4);
        memcpy(&registers[3], vendor_told + 4, 4);
        memcpy(&registers[2], vendor_told + 8, 4);
    } else if (subleaf == 0 && leaf == 1)
        registers[0] = version_told;
}

/* What leaf 1 says of a Sapphire Rapids, a Milan, a Genoa, a Turin and a Rome. */
TEST(makes_are_told_apart)
{
    static const struct {
        const char *vendor;
        unsigned version;
        ln_cpu make;
    } cpus[] = {{"GenuineIntel", 0x806f8, CPU_intel},  {"AuthenticAMD", 0xa00f11, CPU_amd25},
                {"AuthenticAMD", 0xa10f11, CPU_amd25}, {"AuthenticAMD", 0xb00f21, CPU_any},
                {"AuthenticAMD", 0x830f10, CPU_any},   {"HygonGenuine", 0xa00f11, CPU_any},
                {"\0\0\0\0\0\0\0\0\0\0\0", 0, CPU_any}};
    const cache_sources sources = {.cpuid = cpuid_told};
    for (size_t i = 0; i < sizeof cpus / sizeof *cpus; i++) {
        vendor_told = cpus[i].vendor;
        version_told = cpus[i].version;
        assert_int_equal(ln_cpu_make(&sources), cpus[i].make);
    }
}

/* Whether a kernel that rounds correctly, stores around the caches and is of this ISA is there. */
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

/* `exact` is correctly rounded, and stores around the caches what they cannot hold, and only that. */
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
