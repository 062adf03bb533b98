/* The library's own table, by `lnbench choose --emit c --class all`, from a synthetic store of this
 * machine whose answer is known. */
#include "choose_sample.h"
#include "commands/choose/table.h"
#include "inputs/inputs.h"
#include <stdio.h>
#include <unistd.h>

/* A kernel: its time of a call, `late` from hidden 4096 on, and its error on every family but one.
 */
typedef struct table_kernel {
    const char *name, *statistics, *isa;
    double time, late, row_ulp;
    const char *family; /* on which it has 1000 row ULP */
    const char *source; /* NULL: the library's own */
    ln_type dtype;
} table_kernel;

static const table_kernel kernels[] = {
    {"quick_f32_avx512", "naive", "avx512", 100, 160, 10, NULL, NULL, LN_F32},
    {"quick_f32_avx2", "naive", "avx2", 150, 150, 10, NULL, NULL, LN_F32},
    {"wrong_f32_avx512", "naive", "avx512", 10, 10, 0.5, "spike", NULL, LN_F32},
    {"exact_f32_avx512", "two_pass", "avx512", 300, 300, 0.5, NULL, NULL, LN_F32},
    {"exact_f32_avx2", "two_pass", "avx2", 250, 250, 0.5, NULL, NULL, LN_F32},
    {"exact_f32_scalar", "two_pass", "scalar", 1000, 1000, 1, NULL, NULL, LN_F32},
    {"overflows_f32_avx2", "naive", "avx2", 140, 140, 1, "overflow", NULL, LN_F32},
    {"same_f32_scalar", "reproducible", "scalar", 2000, 2000, 5, NULL, NULL, LN_F32},
    {"plugin_f32_avx512", "two_pass", "avx512", 1, 1, 0.5, NULL, "mine",
     LN_F32}, /* can't be called */
    {"short_bf16_avx512bf16", "naive", "avx512bf16", 100, 100, 0.5, NULL, NULL, LN_BF16},
};
enum { KERNELS = sizeof kernels / sizeof *kernels };

static void describe(const sample_run *run, const table_kernel *kernel)
{
    char text[256];
    snprintf(
        text, sizeof text,
        "{\"name\": \"%s\", \"object_hash\": \"aaaa\", \"statistics\": \"%s\", \"isa\": \"%s\", "
        "\"param\": \"%s\", \"source\": \"%s\"}",
        kernel->name, kernel->statistics, kernel->isa, dtype_name(kernel->dtype),
        kernel->source ? kernel->source : "builtin");
    CHECK(store_put_kernel(run->store, run->id, kernel->name, text, &problem));
}

static void judge_kernel_on_all(const sample_run *run, const table_kernel *kernel)
{
    size_t count;
    const input_family *family = input_families(&count);
    case_verdict fine = {.kind = VERDICT_OK};
    for (size_t i = 0; i < count; i++) {
        bool bad = kernel->family && strcmp(family[i].name, kernel->family) == 0;
        double row_ulp = bad ? 1000 : kernel->row_ulp;
        sample_verdict(run, kernel->name, family[i].name, fine, row_ulp, 2 * row_ulp);
    }
}

/* A later run of DRAM alone, in which others are faster, but not by as much. */
static double time_again(const table_kernel *kernel, size_t hidden)
{
    double time = hidden >= 4096 ? kernel->late : kernel->time;
    if (strcmp(kernel->name, "quick_f32_avx512") == 0)
        return hidden >= 4096 ? 125 : 145;
    if (strcmp(kernel->name, "quick_f32_avx2") == 0)
        return hidden >= 4096 ? time : 135;
    return strcmp(kernel->name, "overflows_f32_avx2") == 0 && hidden >= 4096 ? 130 : time;
}

static void fill_again(sample_run *run, const run_info *info)
{
    CHECK(store_begin_run(run->store, info, &run->id, &problem));
    CHECK(store_together(run->store, &problem));
    run->cache = CACHE_HOT;
    for (size_t k = 0; k < KERNELS; k++) {
        describe(run, &kernels[k]);
        run->dtype = kernels[k].dtype;
        for (size_t i = REGIME_DRAM; i < TABLE_SHAPES; i += TABLE_REGIMES) {
            table_shape(info->machine, run->dtype, i, &run->rows, &run->hidden);
            run->rows = rows_to_time(run->rows, run->hidden, run->dtype, info->machine);
            sample_time(run, kernels[k].name, time_again(&kernels[k], run->hidden), 0);
            if (k == 0 || kernels[k].dtype != kernels[k - 1].dtype)
                sample_time(run, "roof_copy", 50, 0);
        }
    }
    CHECK(store_import_end(run->store, run->id, &problem));
    CHECK(store_together_end(run->store, true, &problem));
    CHECK(store_end_run(run->store, run->id, RUN_COMPLETE, &problem));
}

static void fill(const char *path)
{
    sample_run run = {.convention = "torch", .hash = "aaaa"};
    machine_facts machine;
    machine_read(&machine);
    run_info info = {.command_line = "synthetic",
                     .plan = "choose",
                     .plan_hash = "0",
                     .seed = 1,
                     .machine = &machine};
    CHECK(store_open(path, STORE_WRITE, &run.store, &problem));
    CHECK(store_begin_run(run.store, &info, &run.id, &problem));
    CHECK(store_together(run.store, &problem));
    for (size_t k = 0; k < KERNELS; k++) {
        describe(&run, &kernels[k]);
        run.dtype = kernels[k].dtype;
        for (size_t i = 0; i < TABLE_SHAPES; i++) {
            table_shape(&machine, run.dtype, i, &run.rows, &run.hidden);
            run.rows = rows_to_time(run.rows, run.hidden, run.dtype, &machine);
            run.cache = table_cache(i);
            sample_time(&run, kernels[k].name,
                        run.hidden >= 4096 ? kernels[k].late : kernels[k].time, 0);
            if (k == 0 || kernels[k].dtype != kernels[k - 1].dtype)
                sample_time(&run, "roof_copy", 50, 0);
            run.rows = 18;
            if (i % TABLE_REGIMES == 0)
                judge_kernel_on_all(&run, &kernels[k]);
        }
    }
    CHECK(store_import_end(run.store, run.id, &problem));
    CHECK(store_together_end(run.store, true, &problem));
    CHECK(store_end_run(run.store, run.id, RUN_COMPLETE, &problem));
    fill_again(&run, &info);
    store_close(run.store);
    machine_free(&machine);
}

static int set_up(void **state)
{
    if (scratch_create(state) != 0)
        return -1;
    fill(scratch_path(state, "table.db"));
    return 0;
}

/* Runs lnbench choose with these words; what it said, and its exit code. */
static int choose(const char *words, char *said, size_t size)
{
    char command[1024];
    snprintf(command, sizeof command, "exec '%s' choose %s 2>&1", LNBENCH_PATH, words);
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    size_t length = fread(said, 1, size - 1, pipe);
    said[length] = '\0';
    int status = pclose(pipe);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

/* The rows of one class and ISA, as the table must have them in each regime. */
static void expect(text_buffer *wanted, const char *class, const char *isa, const char *small,
                   const char *large)
{
    for (size_t i = 0; i < TABLE_REGIMES; i++) {
        /* Between 1024 and 4096, where the other is faster: sqrt(1024 * 4096). */
        if (strcmp(small, large) != 0)
            text_format(wanted, " \\\n    row(%s, f32, f32, %s, %s, 2048, \"%s\")", class, isa,
                        table_regime(i), small);
        text_format(wanted, " \\\n    row(%s, f32, f32, %s, %s, SIZE_MAX, \"%s\")", class, isa,
                    table_regime(i), large);
    }
}

TEST(test_table)
{
    static char said[1 << 16];
    char words[640];
    text_buffer wanted = {0};
    const char *path = scratch_path(state, "table.db");
    snprintf(words, sizeof words, "--emit c --class all --stored --db '%s'", path);
    int code = choose(words, said, sizeof said);
    if (code != 0)
        fail_msg("exit code %d: %s", code, said);
    text_add(&wanted, "#define LAYERNORM_DISPATCH(row)");
    /* Of overflowing squares `fast` promises nothing. */
    expect(&wanted, "fast", "avx512", "quick_f32_avx512", "overflows_f32_avx2");
    expect(&wanted, "fast", "avx2", "overflows_f32_avx2", "overflows_f32_avx2");
    expect(&wanted, "fast", "scalar", "exact_f32_scalar", "exact_f32_scalar");
    /* The lesser ISA's where it is faster. */
    expect(&wanted, "accurate", "avx512", "exact_f32_avx2", "exact_f32_avx2");
    expect(&wanted, "accurate", "avx2", "exact_f32_avx2", "exact_f32_avx2");
    expect(&wanted, "accurate", "scalar", "exact_f32_scalar", "exact_f32_scalar");
    for (int isa = 0; isa < 3; isa++)
        expect(&wanted, "reproducible",
               isa == 0   ? "avx512"
               : isa == 1 ? "avx2"
                          : "scalar",
               "same_f32_scalar", "same_f32_scalar");
    text_add(&wanted, "\n\n#endif\n");
    const char *table = strstr(said, "#define LAYERNORM_DISPATCH(row)");
    assert_non_null(table);
    assert_string_equal(table, wanted.bytes);
    assert_non_null(strstr(said, "lnbench choose --emit c --class all --stored"));
    text_free(&wanted);
}

/* With another element type: its rows behind those of f32, in each class that it has kernels of. */
TEST(test_two_types)
{
    static char said[1 << 16];
    static const char *const classes[] = {"fast", "accurate"};
    char words[640];
    const char *path = scratch_path(state, "table.db");
    snprintf(words, sizeof words, "--emit c --class all --dtype f32,bf16 --stored --db '%s'", path);
    int code = choose(words, said, sizeof said);
    if (code != 0)
        fail_msg("exit code %d: %s", code, said);
    for (int class = 0; class < 2; class ++) {
        text_buffer wanted = {0};
        text_format(&wanted,
                    " \\\n    row(%s, f32, f32, scalar, few, SIZE_MAX, "
                    "\"exact_f32_scalar\")",
                    classes[class]);
        for (size_t i = 0; i < TABLE_REGIMES; i++)
            text_format(&wanted,
                        " \\\n    row(%s, bf16, bf16, avx512bf16, %s, SIZE_MAX, "
                        "\"short_bf16_avx512bf16\")",
                        classes[class], table_regime(i));
        text_format(&wanted, " \\\n    row(%s, f32, f32, avx512, L1, ",
                    class == 0 ? "accurate" : "reproducible");
        if (!strstr(said, wanted.bytes))
            fail_msg("not there:%s\nin:\n%s", wanted.bytes, said);
        text_free(&wanted);
    }
    assert_null(strstr(said, "row(reproducible, bf16"));
    assert_non_null(strstr(said, ", bf16\n"));
    snprintf(words, sizeof words, "--emit c --class all --dtype f16 --stored --db '%s'", path);
    assert_int_equal(choose(words, said, sizeof said), EXIT_CODE_ENVIRONMENT);
    assert_non_null(strstr(said, "was timed on this machine for f16"));
    assert_int_equal(choose("--emit c --class all --dtype bf16,bf16", said, sizeof said),
                     EXIT_CODE_USAGE);
    assert_non_null(strstr(said, "bf16 stands there twice"));
}

/* The same store, one class for one shape. A plugin's kernel is chosen like any; the table, which
 * the library calls by, has none. */
TEST(test_one_class)
{
    static char said[1 << 16];
    char words[640];
    const char *path = scratch_path(state, "table.db");
    machine_facts machine;
    size_t rows, hidden;
    machine_read(&machine);
    table_shape(&machine, LN_F32, 1, &rows, &hidden);
    machine_free(&machine);
    snprintf(words, sizeof words,
             "--class accurate --cache read --shape %zux%zu --stored --explain --db '%s'", rows,
             hidden, path);
    assert_int_equal(choose(words, said, sizeof said), 0);
    assert_non_null(strstr(said, "use plugin_f32_avx512: "));
    assert_non_null(strstr(said, "proven row ULP 2000 on spike"));
    assert_non_null(strstr(said, "proven row ULP 2000 on overflow"));
    assert_non_null(strstr(said, "accurate has 2.00 at most"));
    snprintf(words, sizeof words,
             "--class reproducible --cache read --shape %zux%zu --stored --explain --db '%s'", rows,
             hidden, path);
    assert_int_equal(choose(words, said, sizeof said), 0);
    assert_non_null(strstr(said, "use same_f32_scalar: "));
    assert_non_null(strstr(said, "its bits depend on the ISA"));
}

TEST(test_bad)
{
    static char said[1 << 16];
    char words[640];
    const char *path = scratch_path(state, "none.db");
    snprintf(words, sizeof words, "--emit c --class all --stored --db '%s'", path);
    assert_int_equal(choose(words, said, sizeof said), EXIT_CODE_ENVIRONMENT);
    assert_non_null(strstr(said, "none of the table's shapes was timed on this machine"));
    assert_int_equal(choose("--emit c --class all --shape 1x8", said, sizeof said),
                     EXIT_CODE_USAGE);
    assert_non_null(strstr(said, "no --shape"));
    assert_int_equal(choose("--class best --shape 1x8", said, sizeof said), EXIT_CODE_USAGE);
    assert_non_null(strstr(said, "fast, accurate, reproducible or exact was expected"));
}

int main(void)
{
    return test_run(set_up, scratch_remove);
}
