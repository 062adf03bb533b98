/* A second operation, y = x gamma, goes through worker and judge by its line of operations.def and its own files. */
#include "domain/convention.h"
#include "inputs/inputs.h"
#include "judging.h"
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { ROWS = 5, HIDDEN = 37 };

static judge_block block;

static int set_up(void **state)
{
    const ln_convention convention = {.operation = LN_OPERATION_TOY, .affine = LN_AFFINE_GAMMA};
    (void)state;
    if (judging_start(TOY_WORKER, TOY_PLUGIN, 3) != 0)
        return -1;
    judge_block_generate(the_judge, &block, call_dense(&convention, LN_F32, LN_F32, ROWS, HIDDEN),
                         "normal", NULL, 0);
    return 0;
}

static int tear_down(void **state)
{
    judge_block_free(&block);
    return judging_stop(state);
}

static case_judgement judged(const char *name)
{
    case_judgement judgement = {0};
    judge_kernel(the_judge, &block, kernel_named(name), &judgement);
    return judgement;
}

static void expect(const char *name, verdict_kind kind, const char *words)
{
    case_judgement judgement = judged(name);
    if (judgement.verdict.kind != kind || !strstr(judgement.verdict.detail, words))
        fail_msg("%s: verdict %d, '%s'; %d with '%s' was expected", name,
                 (int)judgement.verdict.kind, judgement.verdict.detail, (int)kind, words);
}

TEST(a_block_has_the_tensors_of_its_operation)
{
    assert_null(block.inputs[ROLE_RESIDUAL]);
    assert_null(block.inputs[ROLE_BETA]);
    assert_false(role_is_kept(&operations[LN_OPERATION_TOY]->roles[ROLE_RESIDUAL])); /* a gap */
    const float *x = block.inputs[ROLE_X], *gamma = block.inputs[ROLE_GAMMA], *y = block.rounded;
    for (size_t i = 0; i < ROWS * HIDDEN; i++)
        assert_true(y[i] == x[i] * gamma[i % HIDDEN]);
}

TEST(it_takes_the_families_that_need_none_of_the_tensors_it_lacks)
{
    size_t count, without = 0;
    const input_family *families = input_families(&count);
    for (size_t i = 0; i < count; i++) {
        assert_true(input_suits(&families[i], LN_OPERATION_LAYERNORM));
        without += !input_suits(&families[i], LN_OPERATION_TOY);
        if (strcmp(families[i].name, "wide-gamma") == 0)
            assert_true(input_suits(&families[i], LN_OPERATION_TOY));
        if (strcmp(families[i].name, "ties") == 0)
            assert_false(input_suits(&families[i], LN_OPERATION_TOY));
    }
    assert_int_equal(without, 2); /* the two that are made with a beta */
}

TEST(a_convention_tells_its_operation)
{
    const operation *what = operations[LN_OPERATION_TOY];
    char list[CONVENTION_MAX_LENGTH];
    ln_convention read;
    error err = {0};
    assert_int_equal(convention_count(what), 6);
    for (size_t i = 0; i < 6; i++) {
        ln_convention made = convention_numbered(what, i);
        assert_int_equal(made.operation, LN_OPERATION_TOY);
        assert_int_equal(convention_form(&made), i % 3 ? LN_AFFINE_GAMMA1 : LN_AFFINE_GAMMA);
        assert_true(convention_parse(convention_label(&made, list), &read, &err));
        assert_true(convention_equal(&made, &read));
    }
    assert_string_equal(list, "operation=toy,weight=rounded,cast=yes");
    assert_true(convention_parse("operation=toy,cast=yes", &read, &err));
    assert_int_equal(convention_level(&what->fields[0], &read), 0);
    assert_int_equal(convention_level(&what->fields[1], &read), 1);
    assert_false(convention_parse("operation=toy,weight=2w", &read, &err));
    assert_non_null(strstr(err.message, "weight '2w': must be w, 1+w or rounded"));
    assert_false(convention_parse("operation=toy,ddof=0", &read, &err));
    assert_non_null(strstr(err.message, "expected weight or cast"));
    assert_false(convention_parse("operation=tory", &read, &err));
}

TEST(a_kept_row_is_of_the_operation_of_its_convention)
{
    float x[] = {1, 2, 3}, gamma[] = {4, 5, 6};
    worst_row row = {.operation = LN_OPERATION_TOY,
                     .kernel = "toy.product",
                     .convention = "operation=toy,weight=w,cast=yes",
                     .rows = 1,
                     .hidden = 3,
                     .parameters = 3,
                     .inputs = {[ROLE_X] = x, [ROLE_GAMMA] = gamma}};
    text_buffer text = {0};
    worst_list list = {0};
    worst_row_format(&row, &text);
    char path[32];
    int file = memfd_create("rows", 0);
    assert_int_equal(write(file, text.bytes, text.length), text.length);
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    worst_list_read(path, &list);
    close(file);
    text_free(&text);
    assert_int_equal(list.rows->operation, LN_OPERATION_TOY);
    assert_memory_equal(list.rows->inputs[ROLE_GAMMA], gamma, sizeof gamma);
    worst_list_free(&list);
}

TEST(a_right_kernel_is_right_in_every_placement)
{
    case_judgement judgement = judged("toy.product");
    assert_int_equal(judgement.verdict.kind, VERDICT_RIGHT_NO_BOUND);
    assert_int_equal(judgement.metrics.elements, ROWS * HIDDEN);
    assert_true(judgement.metrics.correctly_rounded == 1);
    assert_true(isnan(judgement.metrics.mean_ulp_max));
}

TEST(wrong_kernels_get_their_verdict)
{
    expect("toy.sum", VERDICT_INACCURATE, "row");
    expect("toy.last_off", VERDICT_INACCURATE, "the last of 37 columns");
    expect("toy.not_written", VERDICT_WRONG_CLASS, "column 3 of 37 alone: NaN");
    expect("toy.overrun", VERDICT_OVERRUN, "y");
    expect("toy.writes_gamma", VERDICT_INPUT_MODIFIED, "gamma");
}

TEST(a_parameter_is_filled_whatever_the_affine_form)
{
    float x[HIDDEN], gamma[HIDDEN] = {0};
    const ln_convention scalar = {.operation = LN_OPERATION_TOY, .affine = LN_AFFINE_SCALAR};
    operation_call call = call_dense(&scalar, LN_F32, LN_F32, 1, HIDDEN);
    call.inputs[ROLE_X] = x;
    call.inputs[ROLE_GAMMA] = gamma;
    input_call("normal", NULL, &call, 1, 0);
    for (size_t i = 0; i < HIDDEN; i++)
        assert_true(gamma[i] != 0);
}

TEST(a_judge_goes_on_to_another_operation)
{
    const ln_convention convention = {.affine = LN_AFFINE_GAMMA};
    case_judgement judgement = judged("toy.product");
    judge_block own = block;
    judge_block_generate(the_judge, &block, call_dense(&convention, LN_F32, LN_F32, ROWS, HIDDEN),
                         "normal", NULL, 0);
    judgement = judged("naive_f32_scalar");
    judge_block_free(&block);
    block = own;
    assert_int_equal(judgement.verdict.kind, VERDICT_RIGHT);
}

int main(void)
{
    return test_run(set_up, tear_down);
}
