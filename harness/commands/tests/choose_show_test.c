/* What choices look like: strict JSON, a C table that compiles and names the right kernel for every
 * shape, whatever its name is. (Printed texts: cli_hostile.) */
#include "choose_sample.h"
#include "layernorm.h"
#include "domain/models.h"
#include <sys/wait.h>

static const char hostile_name[] = "a\"b\\c\033[2J\n?\?/*/<script>|`$(x)`\t=cmd\xff";

static void expect_said(void **state, const chosen *one, const char *words)
{
    char *shown = printed(state, one, 1, (output_file){.format = OUTPUT_TEXT}, false);
    if (!strstr(shown, words))
        fail_msg("'%s' is missing:\n%s", words, shown);
    free(shown);
}

static chosen hostile(void **state)
{
    sample_run run = SAMPLE_RUN;
    const sample_kernel kernel = {hostile_name, 50, 0, 1, 2, 0};
    result_store *store = sample_store(state, &run);
    sample_put(&run, &kernel);
    sample_verdict(&run, "mid", "spike", (case_verdict){VERDICT_CRASHED, false, "\033]0;x\007"},
                   NAN, NAN);
    chosen one = sample_choose(store, sample_wanted(85, 768));
    store_close(store);
    return one;
}

TEST_IN_SCRATCH(test_json)
{
    chosen one = hostile(state), two[] = {one, one};
    assert_string_equal(kernel_of(one.choice.best), hostile_name);
    json_t *json = chosen_json(&one, 1);
    assert_non_null(json);
    char *text = json_dumps(json, 0);
    assert_non_null(text);
    json_t *again = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
    assert_non_null(again);
    assert_string_equal(json_string_value(json_object_get(again, "schema")), "lnbench-choose-1");
    const json_t *best = json_object_get(again, "best");
    assert_true(json_is_string(json_object_get(best, "kernel")));
    assert_true(json_is_object(json_object_get(best, "metrics")));
    assert_true(json_is_object(json_object_get(best, "speed")));
    assert_true(json_is_false(json_object_get(best, "estimated")));
    assert_int_equal(
        json_integer_value(json_object_get(json_object_get(again, "coverage"), "judged")),
        SAMPLE_KERNELS + 1);
    /* sloppy, twin, exact, slow; mid crashed */
    assert_int_equal(json_array_size(json_object_get(again, "runners_up")), 4);
    assert_int_equal(json_array_size(json_object_get(again, "others")), 1);
    assert_int_equal(json_array_size(json_object_get(again, "pareto")), 2);
    json_decref(again);
    json_decref(json);
    free(text);
    json = chosen_json(two, 2);
    assert_int_equal(json_array_size(json_object_get(json, "choices")), 2);
    json_decref(json);
    one.choice.best = NULL;
    json = chosen_json(&one, 1);
    assert_true(json_is_null(json_object_get(json, "best")));
    json_decref(json);
    chosen_free(&one);
}

/* The line of a table that begins with the word. */
static char *line_of(char *shown, const char *word)
{
    char begin[64];
    snprintf(begin, sizeof begin, "\n%s ", word);
    char *line = strstr(shown, begin);
    assert_non_null(line);
    line[1 + strcspn(line + 1, "\n")] = '\0';
    return line;
}

/* The class of each kernel, in brackets where it was not measured; also where there is no room for
 * every column. */
TEST_IN_SCRATCH(test_classes)
{
    sample_run run = SAMPLE_RUN;
    result_store *store = sample_store(state, &run);
    chosen one = sample_choose(store, sample_wanted(85, 768));
    static const size_t widths[] = {0, 90};
    for (size_t i = 0; i < 2; i++) {
        char *shown =
            printed(state, &one, 1, (output_file){.format = OUTPUT_TEXT, .width = widths[i]}, true);
        char *again = strdup(shown);
        assert_non_null(strstr(line_of(shown, "exact"), "  row"));
        assert_non_null(strstr(line_of(again, "mid"), "  (isa)"));
        free(shown);
        free(again);
    }
    json_t *json = chosen_json(&one, 1);
    const json_t *others = json_object_get(json, "runners_up");
    size_t index, rows = 0;
    json_t *other;
    json_array_foreach(others, index, other)
    {
        const char *class = json_string_value(json_object_get(other, "reproducibility"));
        bool exact = strcmp(json_string_value(json_object_get(other, "kernel")), "exact") == 0;
        assert_int_equal(exact, class && strcmp(class, "row") == 0);
        rows += exact;
    }
    assert_int_equal(rows, 1);
    json_decref(json);
    chosen_free(&one);
    store_close(store);
}

/* What was not timed is scaled by bytes, and marked in every form; the sample's median is 1.6 times
 * its time. */
TEST_IN_SCRATCH(test_estimates)
{
    static const struct {
        size_t timed[2], wanted[2];
        double us;
        const char *said;
    } cases[] = {{{1024, 1600}, {333, 1000}, 213, "use mid: ~43 us, from 1024 x 1600; "},
                 {{85, 768}, {64, 512}, 4.04, "use mid: ~2.0 us, from 85 x 768; "},
                 {{85, 768}, {85, 768}, 4.04, "use mid: 4.04 ["}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sample_run run = SAMPLE_RUN;
        const sample_kernel mid = {"mid", cases[i].us * 1e3 / 1.6, 0, 1, 2, 0};
        CHECK(store_open(scratch_path(state, "estimate.db"), STORE_WRITE, &run.store, &problem));
        run.rows = cases[i].timed[0];
        run.hidden = cases[i].timed[1];
        sample_begin(&run);
        sample_put(&run, &mid);
        chosen one =
            sample_choose(run.store, sample_wanted(cases[i].wanted[0], cases[i].wanted[1]));
        bool estimated = strchr(cases[i].said, '~') != NULL;
        double scaled = cases[i].us * 1e3 * (double)(cases[i].wanted[0] * cases[i].wanted[1]) /
                        (double)(cases[i].timed[0] * cases[i].timed[1]);
        expect_said(state, &one, cases[i].said);
        expect_said(state, &one, "Noisy: 1 of 1 speeds uncertain");
        json_t *json = chosen_json(&one, 1), *best = json_object_get(json, "best");
        json_t *time = json_object_get(json_object_get(best, "speed"), "time_ns");
        assert_true(fabs(json_number_value(time) / scaled - 1) < 1e-9);
        assert_int_equal(json_is_true(json_object_get(best, "estimated")), estimated);
        assert_int_equal(json_integer_value(json_object_get(best, "rows")), cases[i].wanted[0]);
        text_buffer code = {0};
        assert_true(chosen_emit_c(&one, 1, &code));
        assert_int_equal(strstr(code.bytes, ": an estimate, from ") != NULL, estimated);
        text_free(&code);
        json_decref(json);
        chosen_free(&one);
        store_close(run.store);
        remove(scratch_path(state, "estimate.db"));
    }
}

/* A kernel that was asked for and has no time, or no errors, is lost, and named; one that the run
 * does not take is declined. */
TEST_IN_SCRATCH(test_lost)
{
    sample_run run = SAMPLE_RUN;
    CHECK(store_open(scratch_path(state, "lost.db"), STORE_WRITE, &run.store, &problem));
    sample_begin(&run);
    static const char *const names[] = {"sloppy", "mid", "untimed", "unreached", "absent"};
    for (size_t i = 0; i < 5; i++) {
        asked_case asked = {.key = sample_key(&run, names[i], "normal"),
                            .parts = ASKED_TO_JUDGE | ASKED_TO_TIME};
        CHECK(store_put_asked(run.store, run.id, &asked, &problem));
        sample_describe(&run, names[i]);
    }
    CHECK(store_count_asked(run.store, run.id, &problem));
    for (size_t i = 0; i < 3; i++)
        sample_verdict(&run, names[i], "normal", (case_verdict){.kind = VERDICT_OK}, 1, 2);
    for (size_t i = 0; i < 2; i++)
        sample_time(&run, names[i], 100 + 50 * (double)i, 0);
    sample_verdict(&run, "absent", "normal",
                   (case_verdict){VERDICT_UNSUPPORTED, false, "no AVX-512 on this CPU"}, NAN, NAN);
    chosen one = sample_choose(run.store, sample_wanted(85, 768));
    expect_said(state, &one,
                "asked 5, judged 2, declined 1, lost 2: untimed 85x768 (judged, not timed); "
                "unreached 85x768 (not reached)\n");
    expect_said(state, &one, "is not complete: --fresh measures anew");
    assert_true(chosen_lacks_times(&one));
    chosen_free(&one);
    choose_wanted wanted = sample_wanted(85, 768);
    wanted.budget.kappa = 10;
    one = sample_choose(run.store, wanted);
    expect_said(state, &one, "judged 0, declined 1, lost 4: ");
    chosen_free(&one);
    store_close(run.store);
}

/* Narrow terminals lose the least needed columns, never the kernel or the ratio. */
TEST_IN_SCRATCH(test_width)
{
    sample_run run = SAMPLE_RUN;
    result_store *store = sample_store(state, &run);
    chosen one = sample_choose(store, sample_wanted(85, 768));
    char *shown = printed(state, &one, 1, (output_file){.format = OUTPUT_TEXT, .width = 70}, false);
    char *line = strstr(shown, "\nkernel  ") + 1;
    assert_non_null(strstr(line, "times the best's"));
    for (char *end; *line && *line != '\n'; line = end + 1) {
        end = strchr(line, '\n');
        assert_true(end - line <= 70);
    }
    free(shown);
    chosen_free(&one);
    store_close(store);
}

/* A choice of one known kernel for a shape; the name's storage is the caller's. */
static chosen made(size_t rows, size_t hidden, const char *kernel)
{
    chosen one = {.wanted = sample_wanted(rows, hidden)};
    stored_case *stored = calloc(1, sizeof *stored);
    one.choice.candidates = calloc(1, sizeof *one.choice.candidates);
    assert_non_null(stored);
    assert_non_null(one.choice.candidates);
    snprintf(stored->key.kernel, sizeof stored->key.kernel, "%s", kernel);
    one.choice.candidates[0].view.stored = stored;
    one.choice.best = kernel[0] ? one.choice.candidates : NULL;
    one.choice.count = 1;
    return one;
}

static void made_free(chosen *all, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        free((void *)(uintptr_t)all[i].choice.candidates[0].view.stored);
        free(all[i].choice.candidates);
    }
}

/* Writes the table and a main after it, compiles both with warnings as errors, and runs that. */
static int compiled(void **state, const chosen *all, size_t count, const char *program)
{
    text_buffer code = {0};
    char command[2048];
    assert_true(chosen_emit_c(all, count, &code));
    FILE *file = fopen(scratch_path(state, "table.c"), "w");
    assert_non_null(file);
    fprintf(file, "%s%s", code.bytes, program);
    assert_int_equal(fclose(file), 0);
    text_free(&code);
    snprintf(command, sizeof command,
             "cd %s && %s -std=c17 -Wall -Wextra -Wpedantic -Wconversion -Wmissing-prototypes "
             "-Werror -I %s -o table table.c %s -Wl,-rpath,%s -lm && ./table",
             (const char *)*state, C_COMPILER, KERNELS_DIRECTORY, LNBENCH_LIBRARY_PATH,
             LNBENCH_LIBRARY_DIRECTORY);
    int status = system(command);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* Between 64 and 1024 lies 256, between 1 and 100 lies 10. */
TEST_IN_SCRATCH(test_emitted_ranges)
{
    chosen all[] = {made(100, 1024, "many"), made(1, 1024, "one"),     made(7, 64, "small"),
                    made(1, 1024, "again"),  made(5000, 1024, "many"), made(3, 300, "")};
    static const char program[] =
        "#include <string.h>\n"
        "static int is(size_t rows, size_t hidden, const char *kernel)\n"
        "{ return strcmp(layernorm_kernel_for(rows, hidden), kernel) == 0; }\n"
        "int main(void)\n{\n"
        "    if (!is(0, 0, \"small\") || !is(SIZE_MAX, 256, \"small\")) return 1;\n"
        "    if (!is(1, 257, \"one\") || !is(10, 1024, \"one\")) return 2;\n"
        "    if (!is(11, 1024, \"many\") || !is(SIZE_MAX, SIZE_MAX, \"many\")) return 3;\n"
        "    if (layernorm_kernels[1].rows_to + 1 != layernorm_kernels[2].rows_from) return 5;\n"
        "    return sizeof layernorm_kernels / sizeof *layernorm_kernels == 3 ? 0 : 4;\n}\n";
    size_t count = sizeof all / sizeof *all;
    assert_int_equal(compiled(state, all, count, program), 0);
    text_buffer code = {0};
    assert_false(chosen_emit_c(&all[5], 1, &code)); /* nothing chosen */
    assert_null(code.bytes);
    made_free(all, count);
}

/* The emitted function's answer runs, and gives what that kernel gives. */
TEST_IN_SCRATCH(test_emitted_runs)
{
    chosen all[] = {made(4, 8, "two_pass_f32_scalar"), made(4, 512, "naive_f32_scalar")};
    static const char program[] =
        "#include <layernorm.h>\n#include <string.h>\n"
        "int main(void)\n{\n"
        "    enum { HIDDEN = 600 };\n"
        "    static float x[HIDDEN], y[HIDDEN], z[HIDDEN];\n"
        "    for (int i = 0; i < HIDDEN; i++) x[i] = (float)(i * i % 97);\n"
        "    ln_problem problem = {.rows = 1, .hidden = HIDDEN, .convention = "
        "{.eps_place = LN_EPS_VAR, .eps = 1e-5}};\n"
        "    ln_tensors tensors = {.x = x, .y = y};\n"
        "    if (ln_layernorm_with(layernorm_kernel_for(1, HIDDEN), &problem, &tensors) != LN_OK)\n"
        "        return 1;\n"
        "    tensors.y = z;\n"
        "    if (ln_layernorm_with(\"naive_f32_scalar\", &problem, &tensors) != LN_OK) return 2;\n"
        "    return y[0] < 0 && memcmp(y, z, sizeof y) == 0 ? 0 : 3;\n}\n";
    assert_int_equal(compiled(state, all, 2, program), 0);
    made_free(all, 2);
}

/* Whatever a name is, the compiled literal is that name and nothing of it is code. */
TEST_IN_SCRATCH(test_emitted_hostile)
{
    chosen one = hostile(state);
    char program[1024] = "#include <string.h>\nint main(void)\n{\n    static const char name[] = {";
    for (const char *at = hostile_name; *at; at++)
        snprintf(program + strlen(program), 16, "(char)%d, ", (unsigned char)*at);
    strcat(program, "0};\n    return strcmp(layernorm_kernel_for(1, 1), name) != 0;\n}\n");
    snprintf(one.wanted.convention_label, sizeof one.wanted.convention_label, "*/ #error \\\n?\?/");
    snprintf(one.evidence.machine.facts[0].value, 64, "*/\n#error x");
    assert_int_equal(compiled(state, &one, 1, program), 0);
    chosen_free(&one);
}

TEST(test_what_is_asked_for)
{
    text_buffer out = {0};
    choose_wanted wanted = {.time_on = "normal", .budget = {NAN, NAN, NAN, NAN, NAN, false}};
    budget_words(&wanted, &out);
    assert_string_equal(out.bytes, "no error budget");
    text_free(&out);
    wanted.class = CLASS_FAST;
    budget_words(&wanted, &out);
    assert_string_equal(out.bytes, "class fast");
    text_free(&out);
    wanted.budget.row_ulp = 4;
    wanted.budget.kappa = 100;
    budget_words(&wanted, &out);
    assert_string_equal(out.bytes, "class fast, row ULP at most 4, rows of kappa to 100");
    text_free(&out);
}

/* What can't end a comment, continue its line or make a trigraph is shown as it is. */
TEST(test_comments)
{
    text_buffer out = {0};
    emit_comment(&out, "8 times the best peer's, \"x\" < 100 %");
    assert_string_equal(out.bytes, "8 times the best peer's, \"x\" < 100 %");
    text_free(&out);
    emit_comment(&out, "a*/b\\c?\?/d\n\t\x7f\xc3\xa9");
    assert_string_equal(out.bytes, "a./b.c../d.....");
    text_free(&out);
}

TEST(test_models)
{
    size_t count, rows[3];
    const model_shape *all = models(&count);
    assert_true(count >= 40);
    for (size_t i = 0; i < count; i++) {
        ln_convention convention;
        assert_true(all[i].hidden % 64 == 0 && all[i].tokens > 0 && all[i].source[0]);
        assert_true(convention_parse(all[i].convention, &convention, &problem));
        assert_ptr_equal(model_find(all[i].name, &problem), &all[i]);
        for (size_t j = 0; j < i; j++)
            assert_string_not_equal(all[i].name, all[j].name);
    }
    const model_shape *xl = model_find("gpt2-xl", &problem);
    assert_int_equal(xl->hidden, 1600);
    model_rows(xl, rows);
    assert_true(rows[0] == 1 && rows[1] == 512 && rows[2] == 8192);
    model_rows(model_find("vit-b-16", &problem), rows);
    assert_true(rows[1] == 197 && rows[2] == 8 * 197);
    assert_null(model_find("gpt2-lx", &problem));
    assert_int_equal(problem.code, EXIT_CODE_USAGE);
    assert_non_null(strstr(problem.message, "'gpt2-xl'"));
    assert_null(model_find("Llama-3-8B", &problem));
    assert_non_null(strstr(problem.message, "RMSNorm"));
    assert_null(model_find("", &problem));
    char large[10001];
    memset(large, 'x', 10000);
    large[10000] = '\0';
    assert_null(model_find(large, &problem));
}
