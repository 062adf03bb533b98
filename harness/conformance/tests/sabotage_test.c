/* Every broken kernel of sabotage_plugin.c and some of faults.def get the right verdict, and every good kernel of the
 * library passes on every input. */
#include "domain/operation.h"
#include "inputs/inputs.h"
#include "block.h"
#include "judging.h"
#include "conformance/internal.h"
#include <string.h>

/* Judges the output in the layout of timing, and runs the kernel in all other layouts. */
static case_verdict judge_all_layouts(const judge_block *block, const kernel_entry *kernel)
{
    case_judgement judgement;
    judge_kernel(the_judge, block, kernel, &judgement);
    for (int name = 0; verdict_is_right(judgement.verdict.kind) && name < LAYOUT_NAMES; name++)
        if (name != LAYOUT_IN_PLACE || !(kernel->facts.traits & LN_TRAIT_NOT_IN_PLACE)) {
            worker_message message = judge_message((layout_name)name, block, kernel);
            judge_run(the_judge, block, kernel, &message, the_judge->other, &judgement.verdict);
        }
    return judgement.verdict;
}

static case_verdict judge_case(const kernel_entry *kernel, const char *convention_name,
                               const char *input, size_t hidden)
{
    judge_block block;
    block_of(the_judge, &block, convention_name, LN_F32, LN_F32, input, 8, hidden);
    case_verdict verdict = judge_all_layouts(&block, kernel);
    judge_block_free(&block);
    return verdict;
}

static const struct plant {
    const char *kernel;
    const char *convention;
    size_t hidden;
    verdict_kind verdict;
    const char *detail; /* a text that the verdict's detail must contain */
} plants[] = {
    {"naive.good", "torch", 768, VERDICT_PASS_NO_BOUND, ""},
    {"naive.good", "annotated-transformer", 4096, VERDICT_PASS_NO_BOUND, ""},
    {"naive.n_for_n_minus_1", "annotated-transformer", 4096, VERDICT_INACCURATE,
     "0.000122 gamma xhat"},
    {"naive.n_for_n_minus_1", "zscore", 4096, VERDICT_INACCURATE, "0.000122 gamma xhat"},
    {"naive.eps_on_wrong_side", "torch", 768, VERDICT_INACCURATE, "-4.94e-06 gamma xhat"},
    {"naive.eps_on_wrong_side", "formula-std", 768, VERDICT_INACCURATE, "5.07e-06 gamma xhat"},
    {"naive.unwritten_output", "torch", 768, VERDICT_WRONG_CLASS, "nothing was written"},
    {"fault.x_changed", "torch", 768, VERDICT_INPUT_MODIFIED, "x"},
    {"naive.writes_one_behind", "torch", 768, VERDICT_OVERRUN, "y"},
    {"naive.writes_one_before", "torch", 768, VERDICT_OVERRUN, "y"},
    {"fault.writes_gap", "torch", 768, VERDICT_OVERRUN, "between the rows"},
    {"fault.reads_behind", "torch", 768, VERDICT_OVERRUN, "right behind the end of x"},
    {"naive.writes_to_former_y", "torch", 768, VERDICT_OVERRUN, "wrote "},
    {"naive.nan_output", "torch", 768, VERDICT_WRONG_CLASS, "NaN"},
    {"naive.mxcsr_changed", "torch", 768, VERDICT_STATE_CHANGED, "MXCSR"},
    {"naive.crash", "torch", 768, VERDICT_CRASHED, "SIGSEGV"},
    {"naive.exits", "torch", 768, VERDICT_CRASHED, "exited with status 0"},
    {"naive.endless_loop", "torch", 768, VERDICT_TIMEOUT, "3 s"},
    {"naive.random_bit", "torch", 768, VERDICT_NONDETERMINISTIC, ""},
};

/* Kernels that are judged in turn with a good one. */
static const struct plant special_plants[] = {
    {"special.rounds_to_zero", "torch", 768, VERDICT_STATE_CHANGED, "rounding"},
    {"special.traps_division", "torch", 768, VERDICT_STATE_CHANGED, "exceptions"},
    {"special.aborts", "torch", 768, VERDICT_CRASHED, "SIGABRT"},
    {"special.overflows_stack", "torch", 768, VERDICT_CRASHED, "SIGSEGV"},
    {"special.closes_socket", "torch", 768, VERDICT_CRASHED, ""},
#if defined(__x86_64__) || defined(__aarch64__)
    {"special.clobbers_register", "torch", 768, VERDICT_STATE_CHANGED, "14, which a function must"},
#endif
#if defined(__x86_64__)
    {"special.narrows_x87", "torch", 768, VERDICT_STATE_CHANGED, "x87 control word"},
    {"special.leaves_mmx", "torch", 768, VERDICT_STATE_CHANGED, "emms"},
    /* The output is right, but code that runs after it becomes slow. */
    {"special.leaves_upper_halves", "torch", 768, VERDICT_PASS_NO_BOUND, SPEED_TRAP},
#endif
    {"special.unless_refused", "torch", 768, VERDICT_UNSUPPORTED, "an affine form"},
    {"special.unless_refused", "zscore", 100, VERDICT_UNSUPPORTED, "no multiple of 64"},
    {"special.unless_refused", "zscore", 768, VERDICT_PASS_NO_BOUND, ""},
    {"special.unprepared", "torch", 768, VERDICT_UNSUPPORTED, "prepare() failed"},
    {"special.flushing", "torch", 768, VERDICT_STATE_CHANGED, "prepare"},
    {"special.nan_bound", "torch", 768, VERDICT_INACCURATE, "bound"},
    {"special.shifts_mean", "torch", 768, VERDICT_INACCURATE, "mean is"},
    {"special.narrow_bound", "torch", 768, VERDICT_PASS, ""},
    {"special.crashing_bound", "torch", 768, VERDICT_CRASHED, "in bound(): SIGABRT"},
    {"special.wide_parameters", "torch", 768, VERDICT_UNSUPPORTED, "element types"},
};

static bool gets_its_verdict(const struct plant *plant)
{
    char described[VERDICT_MAX_LENGTH];
    case_verdict verdict =
        judge_case(kernel_named(plant->kernel), plant->convention, "normal", plant->hidden);
    if (verdict.kind == plant->verdict && strstr(verdict.detail, plant->detail))
        return true;
    print_error("%s, %s, %zu: %s; %s with '%s' was expected\n", plant->kernel, plant->convention,
                plant->hidden, verdict_describe(&verdict, described, sizeof described),
                verdict_phrase(plant->verdict), plant->detail);
    return false;
}

TEST(every_planted_fault_is_named)
{
    size_t wrong = 0;
    for (size_t i = 0; i < sizeof plants / sizeof *plants; i++)
        wrong += !gets_its_verdict(&plants[i]);
    assert_int_equal(wrong, 0);
}

static const struct plant good = {"naive.good", "torch", 768, VERDICT_PASS_NO_BOUND, ""};

/* Harm to the process is named, and the next case is judged as usual. */
TEST(what_is_done_to_the_process_is_named)
{
    size_t wrong = 0;
    for (size_t i = 0; i < sizeof special_plants / sizeof *special_plants; i++) {
        wrong += !gets_its_verdict(&special_plants[i]);
        wrong += !gets_its_verdict(&good);
    }
    assert_int_equal(wrong, 0);
}

static case_judgement judge_residual(judge_block *block, const char *kernel)
{
    error err = {0};
    case_judgement judgement;
    ln_convention convention;
    float x[4 * 100], residual[4 * 100];
    input_rows("normal", LN_F32, 1, 0, 4, 100, x);
    input_rows("normal", LN_F32, 2, 0, 4, 100, residual);
    assert_true(convention_parse("tinyllm", &convention, &err));
    block_from(the_judge, block, &convention, LN_F32, LN_F32, 4, 100, x, residual, NULL, NULL);
    judge_kernel(the_judge, block, kernel_named(kernel), &judgement);
    return judgement;
}

TEST(the_sum_with_the_residual_is_judged)
{
    judge_block block;
    case_judgement right = judge_residual(&block, "naive.good");
    judge_block_free(&block);
    assert_int_equal(right.verdict.kind, VERDICT_PASS_NO_BOUND);
    case_judgement wrong = judge_residual(&block, "special.wrong_sum");
    judge_block_free(&block);
    assert_int_equal(wrong.verdict.kind, VERDICT_INACCURATE);
    assert_non_null(strstr(wrong.verdict.detail, "row 0, column 1: the sum"));
}

/* Judges every kernel of the library on the same rows, and returns the number of bad verdicts. */
static size_t count_bad_verdicts(const char *convention, const char *input, size_t hidden,
                                 size_t number, size_t every)
{
    judge_block block;
    size_t wrong = 0, judged = 0;
    for (size_t k = 0; k < kernels.count; k++) {
        const kernel_entry *kernel = &kernels.kernels[k];
        char described[VERDICT_MAX_LENGTH];
        if (strcmp(kernel->source, "builtin") != 0 ||
            kernel->facts.operation != LN_OPERATION_LAYERNORM || (number + k * 3) % every != 0)
            continue;
        if (judged++ == 0)
            block_of(the_judge, &block, convention, LN_F32, LN_F32, input, 8, hidden);
        case_verdict verdict = judge_all_layouts(&block, kernel);
        if (verdict_exit_code(&verdict) == EXIT_CODE_FINE)
            continue;
        wrong++;
        print_error("%s, %s, %s, %zu: %s\n", kernel->facts.name, convention, input, hidden,
                    verdict_describe(&verdict, described, sizeof described));
    }
    if (judged > 0)
        judge_block_free(&block);
    return wrong;
}

/* Kernels that claim to be correctly rounded are so, except the planted one's mean. naive, made to claim it, is not. */
TEST(correct_rounding_is_checked)
{
    static const char *const inputs[] = {"normal", "ties", "huge"};
    for (size_t i = 0; i < kernels.count; i++) {
        kernel_entry claiming = kernels.kernels[i];
        const char *name = claiming.facts.name;
        const bool wrong =
            strcmp(name, "special.nearly_exact") == 0 || strcmp(name, "naive_f32_scalar") == 0;
        if (claiming.unsupported[0] ||
            !(wrong || claiming.facts.traits & LN_TRAIT_CORRECTLY_ROUNDED))
            continue;
        claiming.facts.traits |= LN_TRAIT_CORRECTLY_ROUNDED;
        for (size_t input = 0; input < (wrong ? 1 : 3); input++) {
            judge_block block;
            case_judgement judgement;
            block_of(the_judge, &block,
                     claiming.facts.operation == LN_OPERATION_RMSNORM ? "torch-rms" : "torch",
                     claiming.facts.storage, claiming.facts.param, inputs[input], 8, 64);
            judge_kernel(the_judge, &block, &claiming, &judgement);
            judge_block_free(&block);
            const char *says = strstr(judgement.verdict.detail, "claims correct rounding, but");
            if (wrong ? !says : !verdict_is_right(judgement.verdict.kind))
                fail_msg("%s, %s: %s", name, inputs[input], judgement.verdict.detail);
        }
    }
}

/* Every verdict under every preset on every input family is a pass or type-limited. Each has one of the sizes and an
 * eighth of the kernels, in turn; with LNBENCH_FULL, all of them. */
TEST(no_good_kernel_gets_a_bad_verdict)
{
    size_t presets, families, wrong = 0;
    const convention_preset *preset = convention_presets(LN_OPERATION_LAYERNORM, &presets);
    const input_family *family = input_families(&families);
    bool full = getenv("LNBENCH_FULL") != NULL;
    static const size_t sizes[] = {33, 1, 7, 768, 1025, 4096};
    for (size_t i = 0; i < families * presets; i++)
        for (size_t size = 0; size < sizeof sizes / sizeof *sizes; size++)
            if (full || (i * 5 + size) % (sizeof sizes / sizeof *sizes) == 0)
                wrong += count_bad_verdicts(preset[i % presets].name, family[i / presets].name,
                                            sizes[size], i * 7 + size * 5, full ? 1 : 8);
    assert_int_equal(wrong, 0);
}

static int start(void **state)
{
    (void)state;
    static const char *const plugins[] = {SABOTAGE_PLUGIN, FAULTS_PLUGIN};
    return judging_start_with(LNBENCH_WORKER_PATH, plugins, 2, 3);
}

int main(void)
{
    return test_run(start, judging_stop);
}
