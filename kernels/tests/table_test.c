/* Tests that kernels.def, the kernels' descriptors and the exported symbols agree, and that the example plugin loads in
 * the same way. If LN_DISABLE_ISA is set, the program tests the effect of that setting instead. */
#include "tests.h"

#include "layernorm_plugin.h"

#include <dlfcn.h>
#include <stdio.h>

enum { FIELDS = 9, LENGTH = 64 };
enum { ROLE, STATISTICS, APPLY, SCHEDULE, STORAGE, PARAM, ACCUMULATOR, ISA, UNROLL };

typedef struct line {
    char field[FIELDS][LENGTH];
} line;

/* Reads the next kernel of the file: a line has one for each of its ISAs. */
static int read_line(FILE *file, line *read)
{
    static char isas[LENGTH]; /* the remaining ISAs of the last line */
    char text[512], (*f)[LENGTH] = read->field;
    while (*isas || fgets(text, sizeof(text), file)) {
        if (*isas) {
            char *end = strchrnul(isas, ' ');
            snprintf(f[ISA], LENGTH, "%.*s", (int)(end - isas), isas);
            const char *next = *end ? end + 1 : end;
            memmove(isas, next, strlen(next) + 1);
            return 1;
        }
        if (sscanf(text,
                   "LN_KERNEL(%63[^,], %63[^,], %63[^,], %63[^,], %63[^,], %63[^,], %63[^,], "
                   "%63[^,], %63[^)])",
                   f[0], f[1], f[2], f[3], f[4], f[5], f[6], isas, f[8]) != FIELDS)
            *isas = '\0';
    }
    return 0;
}

static void append(char *name, const char *part)
{
    if (*name)
        strcat(name, "_");
    strcat(name, part);
}

/* Makes the name by the rule in kernels.def. The default unroll of every ISA is 4, except 2
 * for AVX512-BF16, whose vectors are two registers. */
static void name_of(const line *read, char name[FIELDS * LENGTH])
{
    char unroll[LENGTH + 1] = "u";
    strcat(unroll, read->field[UNROLL]);
    strcpy(name, read->field[STATISTICS]);
    if (strcmp(read->field[APPLY], "direct") != 0 && strcmp(read->field[APPLY], "scaled") != 0)
        append(name, read->field[APPLY]);
    if (strcmp(read->field[SCHEDULE], "plain") != 0)
        append(name, read->field[SCHEDULE]);
    append(name, read->field[STORAGE]);
    if (strcmp(read->field[PARAM], read->field[STORAGE]) != 0) {
        append(name, "param");
        append(name, read->field[PARAM]);
    }
    bool sums_f64 =
        strcmp(read->field[STORAGE], "f64") == 0 || strcmp(read->field[APPLY], "split") == 0;
    const char *usual = sums_f64 ? "f64" : "f32";
    if (strcmp(read->field[ACCUMULATOR], usual) != 0) {
        append(name, "acc");
        append(name, read->field[ACCUMULATOR]);
    }
    append(name, read->field[ISA]);
    const char *usual_unroll = strcmp(read->field[ISA], "avx512bf16") == 0 ? "2" : "4";
    if (strcmp(read->field[UNROLL], usual_unroll) != 0)
        append(name, unroll);
}

/* Returns whether a line is of RMSNorm, whose lines follow those of LayerNorm. */
static bool is_of_rmsnorm(const line *read)
{
    return strncmp(read->field[STATISTICS], "rms", 3) == 0;
}

TEST(table_and_descriptors_agree)
{
    const ln_plugin_table *plugin = ln_plugin();
    assert_int_equal(plugin->abi_version, LN_PLUGIN_ABI);
    assert_int_equal(plugin->struct_size, sizeof(ln_plugin_table));
    assert_int_equal(plugin->kernel_size, sizeof(ln_kernel));
    assert_string_equal(plugin->name, "layernorm");
    FILE *file = fopen(LN_SOURCES "/table/kernels.def", "r");
    assert_non_null(file);
    line read;
    size_t count = 0;
    for (; read_line(file, &read) && !is_of_rmsnorm(&read); count++) {
        char name[FIELDS * LENGTH];
        name_of(&read, name);
        assert_true(count < count_lines(plugin));
        const ln_kernel *kernel = &plugin->kernels[count];
        assert_int_equal(kernel->operation, LN_OPERATION_LAYERNORM);
        assert_string_equal(kernel->name, name);
        assert_string_equal(kernel->statistics, read.field[STATISTICS]);
        assert_string_equal(kernel->apply, read.field[APPLY]);
        assert_string_equal(kernel->schedule, read.field[SCHEDULE]);
        assert_string_equal(kernel->isa, read.field[ISA]);
        assert_string_equal(element_name(kernel->storage), read.field[STORAGE]);
        assert_string_equal(element_name(kernel->param), read.field[PARAM]);
        assert_string_equal(element_name(kernel->accumulator), read.field[ACCUMULATOR]);
        assert_int_equal(kernel->unroll, atoi(read.field[UNROLL]));
        int unfused =
            strcmp(kernel->isa, "scalar") == 0 || strcmp(kernel->statistics, "reproducible") == 0;
        assert_true(strlen(name) <= 48);
        assert_string_equal(kernel->role, read.field[ROLE]);
        assert_non_null(kernel->probable_bound);
        int exact = strcmp(kernel->statistics, "exact") == 0;
        int split = strcmp(kernel->apply, "split") == 0;
        size_t length = strlen(kernel->schedule);
        int nontemporal = length > 3 && strcmp(kernel->schedule + length - 3, "_nt") == 0;
        bool everywhere = exact || strcmp(kernel->statistics, "reproducible") == 0;
        assert_int_equal(
            kernel->traits,
            (unfused ? 0u : LN_TRAIT_FMA) | (nontemporal ? LN_TRAIT_NONTEMPORAL : 0u) |
                LN_TRAIT_ROW_REPRODUCIBLE | (everywhere ? LN_TRAIT_ISA_REPRODUCIBLE : 0u) |
                (exact ? LN_TRAIT_CORRECTLY_ROUNDED : 0u) | (split ? LN_TRAIT_ROUNDED_LAST : 0u));
        assert_true(kernel->run && kernel->bound && kernel->supports);
        assert_true(!kernel->prepare && !kernel->release);
        const ln_problem other = {.hidden = 4, .rows = 1, .storage = LN_F16, .param = LN_BF16};
        assert_non_null(kernel->supports(&other));
    }
    assert_int_equal(count, count_lines(plugin));
    assert_true(count < count_layernorm(plugin));
    while (count < count_layernorm(plugin)) /* the calls */
        assert_string_equal(plugin->kernels[count++].role, "library");
    do {
        char name[FIELDS * LENGTH];
        name_of(&read, name);
        assert_true(is_of_rmsnorm(&read) && count < plugin->count);
        assert_string_equal(plugin->kernels[count].name, name);
        assert_string_equal(plugin->kernels[count].role, read.field[ROLE]);
        assert_int_equal(plugin->kernels[count++].operation, LN_OPERATION_RMSNORM);
    } while (read_line(file, &read));
    assert_true(count < plugin->count);
    for (; count < plugin->count; count++) { /* the calls */
        assert_string_equal(plugin->kernels[count].role, "library");
        assert_int_equal(plugin->kernels[count].operation, LN_OPERATION_RMSNORM);
    }
    fclose(file);
}

/* The library exports only its API. */
TEST(symbols_agree)
{
    static const char *const api[] = {"ln_layernorm",
                                      "ln_layernorm_kernel",
                                      "ln_layernorm_kernel_name",
                                      "ln_layernorm_with",
                                      "ln_layernorm_parallel",
                                      "ln_layernorm_parallel_with",
                                      "ln_set_threads",
                                      "ln_threads",
                                      "ln_status_string",
                                      "ln_version",
                                      "ln_plugin"};
    static const char *const hidden[] = {"ln_pool_run", "ln_pool_resize", "ln_dispatch",
                                         "ln_isa_is_usable"};
    void *library = dlopen(LN_LIBRARY, RTLD_NOW | RTLD_LOCAL);
    assert_non_null(library);
    for (size_t i = 0; i < sizeof(api) / sizeof(api[0]); i++)
        assert_non_null(dlsym(library, api[i]));
    for (size_t i = 0; i < sizeof(hidden) / sizeof(hidden[0]); i++)
        assert_null(dlsym(library, hidden[i]));
    const ln_plugin_table *plugin = ln_plugin();
    for (size_t i = 0; i < count_lines(plugin); i++) {
        char symbol[128];
        snprintf(symbol, sizeof(symbol), "ln_run_%s", plugin->kernels[i].name);
        assert_null(dlsym(library, symbol));
    }
    dlclose(library);
}

TEST(example_plugin_works)
{
    void *library = dlopen(LN_EXAMPLE_PLUGIN, RTLD_NOW | RTLD_LOCAL);
    assert_non_null(library);
    const ln_plugin_table *(*entry)(void);
    *(void **)&entry = dlsym(library, LN_PLUGIN_SYMBOL);
    assert_true(entry != NULL && entry != ln_plugin);
    const ln_plugin_table *plugin = entry();
    assert_string_equal(plugin->name, "example");
    const ln_kernel *kernel = plugin->kernels;
    ln_convention convention = {.eps_place = LN_EPS_VAR, .eps = 1e-5, .affine = LN_AFFINE_VECTOR};
    ln_problem problem = problem_of((types){LN_F32, LN_F32}, 1, 4, convention);
    assert_null(kernel->supports(&problem));
    /* mean 2, var 5: y = gamma (x - 2) / sqrt(5.00001) + beta */
    const float x[] = {-1, 1, 3, 5}, gamma[] = {1, 2, 3, 4}, beta[] = {0, 1, 0, -1};
    float y[4];
    const ln_tensors tensors = {.x = x, .gamma = gamma, .beta = beta, .y = y};
    kernel->run(&problem, &tensors);
    for (int i = 0; i < 4; i++)
        assert_true(fabs((double)y[i] - (gamma[i] * (x[i] - 2) / sqrt(5.00001) + beta[i])) < 4e-6);
    problem.convention.ddof = 1;
    assert_non_null(kernel->supports(&problem));
    dlclose(library);
}

/* With LN_DISABLE_ISA=avx512,avx2,neon these ISAs and their extensions are unsupported, as on a CPU without them. */
static void disabled_isas_are_unsupported(void **state)
{
    (void)state;
    const ln_plugin_table *plugin = ln_plugin();
    const ln_convention none = convention_number(0);
    for (size_t i = 0; i < count_lines(plugin); i++) {
        const ln_problem problem = problem_of(types_of(&plugin->kernels[i]), 1, 8, none);
        const char *why = plugin->kernels[i].supports(&problem);
        const char *isa = plugin->kernels[i].isa;
        if (strcmp(isa, "scalar") == 0)
            assert_null(why);
        else
            assert_string_equal(why, strcmp(isa, "neon") == 0     ? "no NEON on this CPU"
                                     : strcmp(isa, "avx2") == 0   ? "no AVX2 on this CPU"
                                     : strcmp(isa, "avx512") == 0 ? "no AVX-512 on this CPU"
                                                                  : "no AVX512-BF16 on this CPU");
        /* Bounds can still be computed. */
        const ln_row_facts facts = {1, 1, 2, 1, 2, 1};
        assert_true(isfinite(plugin->kernels[i].bound(&problem, &facts).xhat_abs));
    }
    const ln_problem problem = problem_of((types){LN_F32, LN_F32}, 1, 8, none);
    const char *name = ln_layernorm_kernel_name(&problem);
    for (size_t i = 0; i < count_lines(plugin); i++)
        if (name && strcmp(plugin->kernels[i].name, name) == 0)
            assert_string_equal(plugin->kernels[i].isa, "scalar");
    assert_non_null(name);
}

int main(void)
{
    const struct CMUnitTest disabled[] = {cmocka_unit_test(disabled_isas_are_unsupported)};
    if (getenv("LN_DISABLE_ISA"))
        return cmocka_run_group_tests(disabled, NULL, NULL);
    return test_run(NULL, NULL);
}
