/* The dispatch table: every kernel that it names is in kernels.def and of the row's types, every
 * class answers for every storage type and ISA that was measured, and on a CPU without an ISA the
 * lesser one's rows hold. Built with DISPATCH_PLANTED it has a row with an unknown name, and must
 * fail. */
#include "tests.h"

#include "dispatch_table.h"
#include "dispatch_unmeasured.h"

#include <stdio.h>

typedef struct row {
    const char *class, *storage, *param, *isa, *regime;
    size_t hidden_to;
    const char *kernel;
} row;

#define READ_ROW(class, storage, param, isa, regime, hidden_to, kernel)                            \
    {#class, #storage, #param, #isa, #regime, hidden_to, kernel},

static const row rows[] = {LAYERNORM_DISPATCH_UNMEASURED(READ_ROW) LAYERNORM_DISPATCH(READ_ROW)
#ifdef DISPATCH_PLANTED
                               READ_ROW(fast, f32, f32, scalar, L1, SIZE_MAX, "nobody_f32_scalar")
#endif
};
enum { ROWS = sizeof rows / sizeof *rows, CLASSES = 3, REGIMES = 5 };

static const char *const classes[CLASSES] = {"fast", "accurate", "reproducible"};
static const char *const regimes[REGIMES] = {"L1", "L2", "L3", "DRAM", "few"};
static const char *const type_names[] = {"f32", "f64", "bf16", "f16"};

static const ln_kernel *find(const char *name)
{
    const ln_plugin *plugin = ln_plugin_v1();
    for (size_t i = 0; i < plugin->count; i++)
        if (strcmp(plugin->kernels[i].name, name) == 0)
            return &plugin->kernels[i];
    return NULL;
}

static void every_name_is_known(void **state)
{
    (void)state;
    for (size_t i = 0; i < ROWS; i++) {
        const ln_kernel *kernel = find(rows[i].kernel);
        if (!kernel)
            fail_msg("dispatch_table.h names %s, which kernels.def has not: make the table anew",
                     rows[i].kernel);
        assert_string_equal(type_names[kernel->storage], rows[i].storage);
        assert_string_equal(type_names[kernel->param], rows[i].param);
        if (strcmp(rows[i].class, "reproducible") == 0)
            assert_string_equal(kernel->statistics, "reproducible");
    }
}

/* Any rows of these; NULL: of any class, or any regime. */
static int is_there(const char *class, const char *storage, const char *param, const char *isa,
                    const char *regime)
{
    for (size_t i = 0; i < ROWS; i++)
        if ((!class || strcmp(rows[i].class, class) == 0) &&
            strcmp(rows[i].storage, storage) == 0 && strcmp(rows[i].param, param) == 0 &&
            strcmp(rows[i].isa, isa) == 0 && (!regime || strcmp(rows[i].regime, regime) == 0))
            return 1;
    return 0;
}

static int is_measured(const char *class, const char *storage, const char *param, const char *isa)
{
    return is_there(class, storage, param, isa, NULL);
}

/* Whether a cell's rows are in order and reach to the longest rows. */
static int is_whole(const char *class, const char *storage, const char *param, const char *isa,
                    const char *regime)
{
    size_t last = 0;
    for (size_t i = 0; i < ROWS; i++) {
        if (strcmp(rows[i].class, class) != 0 || strcmp(rows[i].storage, storage) != 0 ||
            strcmp(rows[i].param, param) != 0 || strcmp(rows[i].isa, isa) != 0 ||
            strcmp(rows[i].regime, regime) != 0)
            continue;
        assert_true(rows[i].hidden_to > last);
        last = rows[i].hidden_to;
    }
    return last == SIZE_MAX;
}

/* One pair of types on one ISA: all regimes or none. f32 has kernels of every class, and every type
 * one that is fast; NEON, where nothing was measured, may have those that a proof asks for alone. */
static void check_cells(const char *storage, const char *param, const char *isa)
{
    if (!is_measured(NULL, storage, param, isa)) {
        if (strcmp(storage, param) == 0)
            printf("%s on %s: not measured\n", storage, isa);
        return;
    }
    for (size_t class = 0; class < CLASSES; class ++) {
        int may_lack = (strcmp(storage, "f32") != 0 && class > 0) || strcmp(isa, "neon") == 0;
        if (may_lack && !is_measured(classes[class], storage, param, isa)) {
            printf("%s, %s on %s: no %s kernel\n", storage, param, isa, classes[class]);
            continue;
        }
        bool has_few = is_there(classes[class], storage, param, isa, "few"); /* or as other calls */
        for (size_t regime = 0; regime < (size_t)REGIMES - !has_few; regime++)
            if (!is_whole(classes[class], storage, param, isa, regimes[regime]))
                fail_msg("no whole rows for %s, %s, %s, %s, %s", classes[class], storage, param,
                         isa, regimes[regime]);
    }
}

static void every_cell_answers(void **state)
{
    (void)state;
    static const char *const isas[] = {"scalar", "avx2", "avx512", "avx512bf16", "neon"};
    for (size_t storage = 0; storage < 4; storage++)
        for (size_t param = 0; param < 4; param++)
            for (size_t isa = 0; isa < sizeof isas / sizeof *isas; isa++)
                check_cells(type_names[storage], type_names[param], isas[isa]);
    assert_true(is_measured("fast", "f32", "f32", "scalar"));
}

/* What the library takes for these types is a row of the table, for an ISA that it has; or, where
 * the types or the ISA were not measured, made like what was taken for f32. */
static void check_taken(types pair, int class, size_t count, size_t hidden)
{
    const char *storage = type_names[pair.storage], *param = type_names[pair.param];
    ln_problem problem = problem_of(pair, count, hidden, convention_number(24));
    problem.accuracy = (ln_accuracy) class;
    const char *name = ln_layernorm_kernel(&problem);
    if (!name && class == LN_ACCURACY_REPRODUCIBLE && pair.storage != LN_F32)
        return;
    assert_non_null(name);
    const ln_kernel *taken = find(name);
    assert_true(taken->storage == pair.storage && taken->param == pair.param);
    assert_null(taken->supports(&problem));
    int measured = is_measured(classes[class], storage, param, taken->isa), found = 0;
    if (!measured && pair.storage != LN_F32)
        return;
    for (size_t r = 0; r < ROWS; r++)
        found |= strcmp(rows[r].class, classes[class]) == 0 &&
                 strcmp(rows[r].storage, storage) == 0 && strcmp(rows[r].param, param) == 0 &&
                 (strcmp(rows[r].kernel, name) == 0 ||
                  (!measured && strcmp(find(rows[r].kernel)->statistics, taken->statistics) == 0));
    if (!found)
        fail_msg("%s, %s, %s, %zu x %zu: %s is taken, which is in no row", classes[class], storage,
                 param, count, hidden, name);
}

static void the_library_takes_rows(void **state)
{
    (void)state;
    static const size_t sizes[] = {1, 63, 64, 300, 768, 1024, 5000, 12288, 100000};
    for (size_t type = 0; type < sizeof type_pairs / sizeof *type_pairs; type++)
        for (int class = 0; class < CLASSES; class ++)
            for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
                for (size_t count = 1; count <= 100000; count *= 10)
                    check_taken(type_pairs[type], class, count, sizes[i]);
}

/* Whether a kernel that rounds correctly, stores around the caches and is of this ISA is there. */
static bool streams_exactly(const char *isa)
{
    const ln_plugin *plugin = ln_plugin_v1();
    const unsigned wanted = LN_TRAIT_CORRECTLY_ROUNDED | LN_TRAIT_NONTEMPORAL;
    for (size_t i = 0; i < plugin->count; i++)
        if ((plugin->kernels[i].traits & wanted) == wanted &&
            plugin->kernels[i].storage == LN_F32 && strcmp(plugin->kernels[i].isa, isa) == 0)
            return true;
    return false;
}

/* `exact` is correctly rounded, and stores around the caches what they cannot hold, and only that. */
static void exact_streams_to_memory(void **state)
{
    (void)state;
    const types f32 = {LN_F32, LN_F32};
    assert_int_equal(ln_set_cache_bytes(1 << 15, 1 << 20, 1 << 25), LN_OK);
    for (size_t count = 1; count <= 100000; count *= 10) {
        ln_problem problem = problem_of(f32, count, 768, convention_number(24));
        problem.accuracy = LN_ACCURACY_EXACT;
        const ln_kernel *taken = find(ln_layernorm_kernel(&problem));
        bool is_large = 2 * sizeof(float) * count * 768 > 1 << 25;
        assert_true(taken->traits & LN_TRAIT_CORRECTLY_ROUNDED);
        assert_int_equal((taken->traits & LN_TRAIT_NONTEMPORAL) != 0,
                         is_large && streams_exactly(taken->isa));
    }
    assert_int_equal(ln_set_cache_bytes(0, 0, 0), LN_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_name_is_known),
        cmocka_unit_test(every_cell_answers),
        cmocka_unit_test(the_library_takes_rows),
        cmocka_unit_test(exact_streams_to_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
