/* The dispatch table: every kernel that it names is in kernels.def and of the row's types, every class has rows for
 * every pair of types on every ISA, of which the last holds always, and on a CPU without an ISA the lesser one's rows
 * hold. Built with DISPATCH_PLANTED it has a row with an unknown name, and must fail. */
#include "tests.h"

#include "caches.h"
#include "dispatch_table.h"
#include "layernorm_plugin.h"

#include <stdio.h>

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

/* The rows of a class, pair of types and ISA stand one behind the other, and the last holds always. */
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

/* RMSNorm has no kernels of f64 with parameters of f32, and none of f64 that is accurate. */
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

/* What the library takes is of these types, and in a row for this CPU. */
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

/* What each condition means, by hand. */
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
