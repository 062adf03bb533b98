/* RMSNorm: correct kernels pass under every convention, and planted mistakes are found and named. */
#include "domain/operation.h"
#include "conformance/internal.h"
#include "judging.h"
#include "judge/judge.h"
#include "metrics/storage.h"
#include <string.h>

/* Judges a kernel on one block. mistakes: gets the mistakes that explain a failure; may be NULL. */
static case_verdict judged(const kernel_entry *kernel, const ln_convention *convention,
                           const char *input, bool residual, size_t rows, size_t hidden,
                           covering_run *mistakes)
{
    judge_block block;
    case_judgement judgement = {0};
    judge_block_generate(
        the_judge, &block,
        call_dense(convention, kernel->facts.storage, kernel->facts.param, rows, hidden), input,
        residual ? "normal" : NULL, 0);
    judge_kernel(the_judge, &block, kernel, &judgement);
    judge_block_free(&block);
    if (mistakes)
        covering_run_note(mistakes, hidden, &judgement);
    return judgement.verdict;
}

/* Tests the library's kernels that run here and the plugin's, with every field of the convention at every level. */
TEST(right_kernels_are_right_under_every_convention)
{
    static const char *const inputs[] = {
        "normal", "positive",     "offset",        "wide-gamma",
        "nan",    "signed-zeros", "subnormal-out", "massive-activations"};
    const operation *what = operations[LN_OPERATION_RMSNORM];
    size_t supported = 0;
    for (size_t number = 0; number < convention_count(what); number++)
        for (size_t k = 0; k < kernels.count; k++) {
            const kernel_entry *kernel = &kernels.kernels[k];
            ln_convention convention = convention_numbered(what, number);
            convention.eps = convention.eps_place == LN_EPS_NONE ? 0 : 1e-5;
            bool right = strstr(kernel->facts.name, "rmsnorm.right");
            bool ours = strcmp(kernel->source, "builtin") == 0 && !kernel->unsupported[0];
            if (kernel->facts.operation != LN_OPERATION_RMSNORM || !(right || ours) ||
                (number * 5 + k) % (right ? 2 : 7) != 0)
                continue;
            const char *input = inputs[(number + k) % (sizeof inputs / sizeof *inputs)];
            bool residual = (number + k) % 3 == 0;
            case_verdict verdict = judged(kernel, &convention, input, residual, 6, 100, NULL);
            char list[CONVENTION_MAX_LENGTH], words[DETAIL_MAX_LENGTH];
            supported += verdict.kind != VERDICT_UNSUPPORTED;
            if (verdict_exit_code(&verdict) != EXIT_CODE_FINE &&
                verdict.kind != VERDICT_UNSUPPORTED)
                fail_msg("%s, %s, %s, %sresidual: %s", kernel->facts.name,
                         convention_format(&convention, list), input, residual ? "" : "no ",
                         verdict_describe(&verdict, words, sizeof words));
        }
    assert_true(supported > 400);
}

static const struct {
    const char *mistake, *convention, *words;
    bool residual;
} planted[] = {
    {"layernorm", "llama", "subtracts the mean (LayerNorm)", false},
    {"mean_subtracted", "gemma3n", "subtracts the mean from x", false},
    {"variance", "torch-rms", "root of the variance", false},
    {"n_minus_1", "gemma", "N - 1", false},
    {"eps_elsewhere", "operation=rmsnorm,eps=.1@square,weight=w", "adds eps to the root", false},
    {"eps_left_out", "operation=rmsnorm,eps=.1@square,weight=w", "leaves eps out", false},
    {"eps_1e_3", "operation=rmsnorm,eps=.1@root,weight=1+w", "has an eps of 0.001", false},
    {"root_of_12_bits", "llama", "", false}, /* for f32 only: no known mistake, so none is named */
    {"tail_dropped", "llama", "", false},
    {"no_weight", "torch-rms", "does not multiply by the weight", false},
    {"first_weight", "gemma3n", "takes the first weight", false},
    {"other_offset", "llama", "multiplies by 1 + weight", false},
    {"other_offset", "gemma", "where the convention adds 1 to it", false},
    {"no_square_root", "te", "without its root", false},
    {"no_residual", "llama", "does not add the residual", true},
    /* Mistakes that are visible only in 16-bit rows. */
    {"cast_otherwise", "gemma", "rounds xhat", false},
    {"cast_otherwise", "llama", "does not round xhat", false},
    {"root_otherwise", "torch-rms", "rounds the root", false},
    {"root_otherwise", "candle", "does not round the root", false},
    {"offset_rounded", "gemma", "rounds 1 + weight", false},
    {"order", "torch-rms", "before it rounds the sum", true},
    {"order", "flashinfer", "before it normalises the sum", true},
};

TEST(planted_mistakes_are_caught_and_named)
{
    static const char *const types[] = {"f32", "bf16", "f16"};
    size_t first_of_16_bits = sizeof planted / sizeof *planted - 7, missed = 0;
    for (size_t i = 0; i < sizeof planted / sizeof *planted; i++)
        for (size_t type = i >= first_of_16_bits ? 1 : 0; type < (*planted[i].words ? 3 : 1);
             type++) {
            char name[NAME_MAX_LENGTH];
            error err = {0};
            ln_convention convention;
            snprintf(name, sizeof name, "rmsnorm.%s.%s", planted[i].mistake, types[type]);
            const kernel_entry *kernel = kernel_named(name);
            assert_true(convention_parse(planted[i].convention, &convention, &err));
            covering_run seen = {0};
            char why[ROW_FAULT_LENGTH] = "";
            case_verdict verdict =
                judged(kernel, &convention, "positive", planted[i].residual, 24, 77, &seen);
            /* One hidden size is not enough to name a mistake. */
            assert_false(covering_run_mistake(&seen, &convention, why));
            judged(kernel, &convention, "positive", planted[i].residual, 24, 300, &seen);
            bool caught = verdict.kind == VERDICT_INACCURATE;
            bool said = covering_run_mistake(&seen, &convention, why);
            bool named = said == (*planted[i].words != 0) && strstr(why, planted[i].words);
            missed += !caught || (!named && (type == 0 || i >= first_of_16_bits));
            if (!caught || !named)
                print_error("%s, %s: verdict %d, '%s'\n", name, planted[i].convention,
                            (int)verdict.kind, verdict.detail);
        }
    assert_int_equal(missed, 0);
}

/* If all terms are added one after the other in f32, all rows have an error of the same sign, as with a mistake that
 * rounds nearly equal numbers; it must not be taken for one. */
TEST(one_chain_of_f32_is_no_other_rounding)
{
    enum { ROWS = 24, HIDDEN = 4096 };
    static uint16_t x[ROWS * HIDDEN], y[ROWS * HIDDEN], weight[HIDDEN];
    static const char *const conventions[] = {"torch-rms", "llama", "gemma"};
    const float spreads[] = {0, 0x1p-10f, 0x1p-8f, 0x1p-6f};
    uint32_t drawn = 1;
    for (size_t c = 0; c < 12; c++) {
        error err = {0};
        ln_convention convention;
        judge_block block;
        row_findings findings = {.verdict.kind = VERDICT_PASS};
        assert_true(convention_parse(conventions[c % 3], &convention, &err));
        const float spread = spreads[c / 3], eps = (float)convention.eps;
        for (size_t i = 0; i < ROWS * HIDDEN; i++, drawn = drawn * 1664525 + 1013904223)
            storage_store(LN_F16, x, i, 1.3f + spread * (float)(drawn >> 8) * 0x1p-24f);
        for (size_t i = 0; i < HIDDEN; i++, drawn = drawn * 1664525 + 1013904223)
            storage_store(LN_F16, weight, i, (float)(drawn >> 8) * 0x1p-24f);
        for (size_t row = 0; row < ROWS; row++) {
            const size_t first = row * HIDDEN;
            float sum = 0;
            for (size_t i = 0; i < HIDDEN; i++)
                sum += (float)storage_load(LN_F16, x, first + i) *
                       (float)storage_load(LN_F16, x, first + i);
            const float inverse = 1 / sqrtf(sum / HIDDEN + eps);
            for (size_t i = 0; i < HIDDEN; i++) {
                float factor = (float)storage_load(LN_F16, weight, i);
                double xhat = (float)storage_load(LN_F16, x, first + i) * inverse;
                if (convention.cast) {
                    storage_store(LN_F16, y, first + i, xhat);
                    xhat = storage_load(LN_F16, y, first + i);
                }
                factor += convention.weight >= LN_RMS_WEIGHT_OFFSET ? 1 : 0;
                storage_store(LN_F16, y, first + i, factor * (float)xhat);
            }
        }
        operation_call call = call_dense(&convention, LN_F16, LN_F16, ROWS, HIDDEN);
        call.inputs[ROLE_X] = x;
        call.inputs[ROLE_GAMMA] = weight;
        judge_block_from(the_judge, &block, &call);
        judge_rounding(&block, y, &findings);
        judge_block_free(&block);
        if (findings.verdict.kind != VERDICT_PASS)
            print_error("%s, spread %g: bit %d\n", conventions[c % 3], (double)spread,
                        __builtin_ctzll(findings.mistakes.fit));
        assert_int_equal(findings.verdict.kind, VERDICT_PASS);
    }
}

TEST(a_convention_of_another_operation_is_declined_in_words)
{
    error err = {0};
    ln_convention torch;
    const kernel_entry *kernel = kernel_named("rmsnorm.right.f32");
    assert_true(convention_parse("torch", &torch, &err));
    case_verdict verdict = judged(kernel, &torch, "normal", false, 2, 8, NULL);
    assert_int_equal(verdict.kind, VERDICT_UNSUPPORTED);
    assert_non_null(strstr(verdict.detail, "it computes rmsnorm, not layernorm"));
}

static int start(void **state)
{
    (void)state;
    return judging_start(LNBENCH_WORKER_PATH, RMSNORM_PLUGIN, 3);
}

int main(void)
{
    return test_run(start, judging_stop);
}
