/* The dispatch table: every kernel that it names is in kernels.def and of the row's types, every
 * class answers for every storage type and ISA that was measured, and on a CPU without an ISA the
 * lesser one's rows hold. Built with DISPATCH_PLANTED it has a row with an unknown name, and must
 * fail. */
#include "tests.h"

#include "dispatch_table.h"

#include <stdio.h>

typedef struct row {
    const char *class, *storage, *param, *isa, *regime;
    size_t hidden_to;
    const char *kernel;
} row;

#define READ_ROW(class, storage, param, isa, regime, hidden_to, kernel)                            \
    {#class, #storage, #param, #isa, #regime, hidden_to, kernel},

static const row rows[] = {LAYERNORM_DISPATCH(READ_ROW)
#ifdef DISPATCH_PLANTED
                               READ_ROW(fast, f32, f32, scalar, L1, SIZE_MAX, "nobody_f32_scalar")
#endif
};
enum { ROWS = sizeof rows / sizeof *rows, CLASSES = 3, REGIMES = 4 };

static const char *const classes[CLASSES] = {"fast", "accurate", "reproducible"};
static const char *const regimes[REGIMES] = {"L1", "L2", "L3", "DRAM"};
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

static int is_measured(const char *storage, const char *isa)
{
    for (size_t i = 0; i < ROWS; i++)
        if (strcmp(rows[i].storage, storage) == 0 && strcmp(rows[i].isa, isa) == 0)
            return 1;
    return 0;
}

/* Whether a cell's rows are in order and reach to the longest rows. */
static int is_whole(const char *class, const char *storage, const char *isa, const char *regime)
{
    size_t last = 0;
    for (size_t i = 0; i < ROWS; i++) {
        if (strcmp(rows[i].class, class) != 0 || strcmp(rows[i].storage, storage) != 0 ||
            strcmp(rows[i].param, storage) != 0 || strcmp(rows[i].isa, isa) != 0 ||
            strcmp(rows[i].regime, regime) != 0)
            continue;
        assert_true(rows[i].hidden_to > last);
        last = rows[i].hidden_to;
    }
    return last == SIZE_MAX;
}

static void every_cell_answers(void **state)
{
    (void)state;
    static const char *const isas[] = {"scalar", "avx2", "avx512", "neon"};
    for (size_t type = 0; type < 4; type++)
        for (size_t isa = 0; isa < 4; isa++) {
            if (!is_measured(type_names[type], isas[isa])) {
                printf("%s on %s: not measured\n", type_names[type], isas[isa]);
                continue;
            }
            for (size_t class = 0; class < CLASSES; class ++)
                for (size_t regime = 0; regime < REGIMES; regime++)
                    if (!is_whole(classes[class], type_names[type], isas[isa], regimes[regime]))
                        fail_msg("no whole rows for %s, %s, %s, %s", classes[class],
                                 type_names[type], isas[isa], regimes[regime]);
        }
    assert_true(is_measured("f32", "scalar"));
}

/* What the library takes is a row of the table, for an ISA that it has; or made like one, where the
 * ISA was not measured. */
static void the_library_takes_rows(void **state)
{
    (void)state;
    static const size_t sizes[] = {1, 63, 64, 300, 768, 1024, 5000, 12288, 100000};
    for (int class = 0; class < CLASSES; class ++)
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
            for (size_t count = 1; count <= 100000; count *= 10) {
                ln_problem problem =
                    problem_of((types){LN_F32, LN_F32}, count, sizes[i], convention_number(24));
                problem.accuracy = (ln_accuracy) class;
                const char *name = ln_layernorm_kernel(&problem);
                assert_non_null(name);
                const ln_kernel *taken = find(name);
                int found = 0;
                for (size_t r = 0; r < ROWS; r++)
                    found |= strcmp(rows[r].class, classes[class]) == 0 &&
                             (strcmp(rows[r].kernel, name) == 0 ||
                              (!is_measured("f32", taken->isa) &&
                               strcmp(find(rows[r].kernel)->statistics, taken->statistics) == 0));
                assert_true(found);
                assert_null(taken->supports(&problem));
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_name_is_known),
        cmocka_unit_test(every_cell_answers),
        cmocka_unit_test(the_library_takes_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
