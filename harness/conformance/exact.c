/* The check of kernels that claim to round correctly (LN_TRAIT_CORRECTLY_ROUNDED): their bits are compared
 * with those of the certified reference.
 *
 * The blocks: 100,000 elements of every operation, under its conventions with several eps, of the input
 * families and of rows aimed at midpoints of two numbers, with and without a residual, short rows and long
 * ones. Which blocks there are follows from the operation, and what they hold from the seed. */
#include "base/arena.h"
#include "base/random.h"
#include "domain/convention.h"
#include "inputs/inputs.h"
#include "metrics/storage.h"
#include "conformance/internal.h"
#include <math.h>
#include <string.h>

enum {
    ELEMENTS = 100000, /* of all blocks, at least */
    BLOCK_ELEMENTS = 1000,
    MOST_ROWS = 9,
    MOST_HIDDEN = 4099,
    AIMED_EACH = 4
};

/* One block. */
typedef struct exact_case {
    ln_convention convention;
    const char *input; /* NULL: aimed at midpoints */
    size_t rows, hidden;
    bool residual;
} exact_case;

static uint64_t below(uint64_t *state, uint64_t limit)
{
    return splitmix64(state) % limit;
}

static exact_case case_at(ln_operation kind, size_t index)
{
    static const double eps[] = {1e-5, 1e-12, 1e-3, 1, 0x1p-1074, 1e300};
    static const size_t short_rows[] = {1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33};
    size_t families;
    const input_family *family = input_families(&families);
    const operation *what = operations[kind];
    uint64_t own = index, *state = &own;
    exact_case one = {
        .convention = convention_numbered(what, index % convention_count(what)),
        .input = family[below(state, families)].name,
    };
    uint64_t size = below(state, 4);
    one.hidden = size == 0   ? short_rows[below(state, sizeof short_rows / sizeof *short_rows)]
                 : size == 1 ? 64 + below(state, 200)
                 : size == 2 ? 768
                             : 1 + below(state, MOST_HIDDEN);
    if (one.convention.eps_place != LN_EPS_NONE)
        one.convention.eps = eps[below(state, below(state, 4) ? 2 : sizeof eps / sizeof *eps)];
    one.residual = below(state, 4) == 0;
    if (below(state, AIMED_EACH) == 0 && kind == LN_OPERATION_LAYERNORM) {
        one.input = NULL;
        one.residual = false;
        one.convention.ddof = 0;
        one.convention.affine = LN_AFFINE_VECTOR;
        one.hidden += one.hidden % 2;
        if (one.convention.eps_place != LN_EPS_NONE)
            one.convention.eps = ldexp(1, -30 - (int)below(state, 60));
    }
    one.rows = BLOCK_ELEMENTS / one.hidden;
    one.rows = one.rows < 1 ? 1 : one.rows > MOST_ROWS ? MOST_ROWS : one.rows;
    return one;
}

/* ---- Rows aimed at midpoints ---- */

static int digits_of(ln_type type)
{
    return type == LN_F32 ? 24 : type == LN_F16 ? 11 : type == LN_BF16 ? 8 : 53;
}

/* An exact value. */
static void put_exact(ln_type type, void *values, size_t i, double value)
{
    if (type == LN_F32)
        ((float *)values)[i] = (float)value;
    else if (type == LN_F64)
        ((double *)values)[i] = value;
    else
        ((uint16_t *)values)[i] = storage_round(type, value, 0);
}

/* Half of the elements are c, the others -c: without eps xhat is 1 and -1. y = gamma xhat + beta is
 * then a midpoint between two numbers of [2, 4), where gamma is in [1, 2) and beta is what is missing
 * (or next to it); an eps of 2^-30 or less moves it away from there by as little. */
static void aim(uint64_t *state, const exact_case *one, ln_type storage, ln_type param, void *x,
                void *gamma, void *beta)
{
    int digits = digits_of(storage), fine = digits_of(param) < 24 ? digits_of(param) : 24;
    double last = ldexp(1, 1 - fine), half = ldexp(1, 1 - digits);
    for (size_t r = 0; r < one->rows; r++) {
        double c = 1 + (double)below(state, 1u << (digits < 12 ? digits - 1 : 12)) *
                           ldexp(1, -(digits < 12 ? digits - 1 : 12));
        c = ldexp(c, (int)below(state, 9) - 4);
        for (size_t i = 0; i < one->hidden; i++)
            put_exact(storage, x, r * one->hidden + i, i % 2 ? -c : c);
    }
    for (size_t i = 0; i < one->hidden; i++) {
        double factor = 1 + (double)below(state, 1u << (fine - 1)) * last, sign = i % 2 ? -1 : 1;
        double target = 2 + (2 * (double)below(state, UINT64_C(1) << (digits - 2)) + 1) * half;
        double missing =
            target - factor +
            ((double)below(state, 3) - 1) * last * 0x1p-1 * (double)(below(state, 2) == 0);
        put_exact(param, gamma, i, factor);
        put_exact(param, beta, i, sign * missing);
    }
}

/* ---- A block ---- */

size_t exact_blocks(ln_operation kind)
{
    size_t elements = 0, count = 0;
    while (elements < ELEMENTS) {
        exact_case one = case_at(kind, count++);
        elements += one.rows * one.hidden;
    }
    return count;
}

ln_problem exact_problem(const conformance_task *task, size_t index)
{
    exact_case one = case_at(task->convention.operation, index);
    return problem_dense(&one.convention, task->storage, task->param, one.rows, one.hidden);
}

void exact_make(row_judge *judge, const conformance_task *task, size_t index, judge_block *block)
{
    exact_case one = case_at(task->convention.operation, index);
    uint64_t state = judge->settings.seed ^ (uint64_t)(index + 1) << 32, seed = splitmix64(&state);
    operation_call call =
        call_dense(&one.convention, task->storage, task->param, one.rows, one.hidden);
    arena memory = {0};
    call_allocate(&memory, &call, one.residual);
    if (!one.input)
        aim(&state, &one, task->storage, task->param, call.inputs[ROLE_X], call.inputs[ROLE_GAMMA],
            call.inputs[ROLE_BETA]);
    else
        input_call(one.input, one.residual ? one.input : NULL, &call, seed, 0);
    judge_block_from(judge, block, &call);
    arena_free(&memory);
}

/* Whether element i has the right bits; a NaN has to be the canonical quiet one. */
static bool is_same(ln_type type, const void *computed, const void *right, size_t i)
{
    static const uint32_t nan_f32 = 0x7fc00000;
    static const uint64_t nan_f64 = UINT64_C(0x7ff8000000000000);
    static const uint16_t nan_bf16 = 0x7fc0, nan_f16 = 0x7e00;
    static const void *const nans[] = {
        [LN_F32] = &nan_f32, [LN_F64] = &nan_f64, [LN_BF16] = &nan_bf16, [LN_F16] = &nan_f16};
    size_t size = dtype_size(type);
    const void *wanted =
        isnan(storage_load(type, right, i)) ? nans[type] : (const char *)right + i * size;
    return memcmp((const char *)computed + i * size, wanted, size) == 0;
}

static void tell(case_verdict *verdict, size_t index, const judge_block *block, const char *what,
                 size_t row, size_t column, double given, double right)
{
    char label[CONVENTION_MAX_LENGTH];
    const char *input = case_at(block->operation, index).input;
    convention_label(&block->convention, label);
    verdict->kind = VERDICT_INACCURATE;
    verdict_say(
        verdict,
        "not correctly rounded, as it claims to be: %s of row %zu, column %zu is %a, and %a is "
        "right (%s, %s)",
        what, row, column, given, right, input ? input : "aimed at midpoints", label);
}

/* The first y of all that is another one. */
static void compare_y(size_t index, const judge_block *block, const void *y, case_verdict *verdict)
{
    ln_type type = block->storage;
    for (size_t i = 0; verdict_is_right(verdict->kind) && i < block->rows * block->hidden; i++)
        if (!is_same(type, y, block->rounded, i))
            tell(verdict, index, block, "y", i / block->hidden, i % block->hidden,
                 storage_load(type, y, i), storage_load(type, block->rounded, i));
}

/* The same of mean or rstd, which are rounded to f32. */
static void compare_statistic(size_t index, const judge_block *block, const char *what, size_t row,
                              double given, float right, case_verdict *verdict)
{
    float rounded = (float)given;
    bool exact = isnan(given) || (double)rounded == given;
    if (verdict_is_right(verdict->kind) && !(exact && is_same(LN_F32, &rounded, &right, 0)))
        tell(verdict, index, block, what, row, 0, given, (double)right);
}

void exact_judge(row_judge *judge, const judge_block *block, size_t index,
                 const kernel_entry *kernel, case_judgement *judgement)
{
    case_verdict *verdict = &judgement->verdict;
    const operation *what = operations[block->operation];
    judge_as_it_is(judge, block, kernel, judgement);
    if (!verdict_is_right(verdict->kind))
        return;
    compare_y(index, block, judge->computed, verdict);
    for (size_t row = 0; row < block->rows && kernel->facts.accumulator == LN_F32; row++) {
        const ln_reference_result *right = &block->results[row];
        if (what->roles[ROLE_MEAN].shape != SHAPE_NONE &&
            judge_is_given(&judge->given[ROLE_MEAN][row]))
            compare_statistic(index, block, "mean", row, judge->given[ROLE_MEAN][row],
                              right->mean_rounded, verdict);
        if (judge_is_given(&judge->given[ROLE_RSTD][row]))
            compare_statistic(index, block, "rstd", row, judge->given[ROLE_RSTD][row],
                              right->rstd_rounded, verdict);
    }
}
