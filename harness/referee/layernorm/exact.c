#include "referee/layernorm/exact.h"
#include "base/hash.h"
#include "base/random.h"
#include "domain/convention.h"
#include "inputs/inputs.h"
#include "metrics/storage.h"
#include "referee/internal.h"
#include "base/number.h"
#include <math.h>
#include <string.h>

enum { BLOCK_ELEMENTS = 6000, MOST_ROWS = 9, MOST_HIDDEN = 4099, AIMED_EACH = 4 };

/* One block of the corpus. */
typedef struct corpus_case {
    ln_convention convention;
    const char *input; /* NULL: aimed at midpoints */
    size_t rows, hidden;
    bool residual;
} corpus_case;

static uint64_t below(uint64_t *state, uint64_t limit)
{
    return splitmix64(state) % limit;
}

static corpus_case case_at(ln_operation kind, uint64_t *state, uint64_t index)
{
    static const double eps[] = {1e-5, 1e-12, 1e-3, 1, 0x1p-1074, 1e300};
    static const size_t short_rows[] = {1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33};
    size_t families;
    const input_family *family = input_families(&families);
    const operation *what = operations[kind];
    corpus_case one = {
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
static void aim(uint64_t *state, const corpus_case *one, ln_type storage, ln_type param, void *x,
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

static bool make_block(row_judge *judge, const corpus_case *one, const kernel_entry *kernel,
                       uint64_t *state, judge_block *block, error *err)
{
    ln_type storage = kernel->facts.storage, param = kernel->facts.param;
    uint64_t seed = splitmix64(state);
    operation_call call = call_dense(&one->convention, storage, param, one->rows, one->hidden);
    bool fine = call_allocate(&call, one->residual) || fail_memory(err, "rows");
    if (fine && !one->input)
        aim(state, one, storage, param, call.inputs[ROLE_X], call.inputs[ROLE_GAMMA],
            call.inputs[ROLE_BETA]);
    else
        fine =
            fine && input_call(one->input, one->residual ? one->input : NULL, &call, seed, 0, err);
    fine = fine && judge_block_from(judge, block, &call, err);
    call_free(&call);
    return fine;
}

/* The bits of an element, a NaN of the reference's as the canonical quiet one. */
static uint64_t bits_at(ln_type type, const void *values, size_t i, bool canonical)
{
    static const uint64_t nans[] = {[LN_F32] = 0x7fc00000,
                                    [LN_F64] = 0x7ff8000000000000,
                                    [LN_BF16] = 0x7fc0,
                                    [LN_F16] = 0x7e00};
    uint64_t wide;
    uint32_t word;
    if (canonical && isnan(storage_load(type, values, i)))
        return nans[type];
    if (type == LN_F64) {
        memcpy(&wide, (const double *)values + i, sizeof wide);
        return wide;
    }
    if (type != LN_F32)
        return ((const uint16_t *)values)[i];
    memcpy(&word, (const float *)values + i, sizeof word);
    return word;
}

/* By value, so that both byte orders have the same. */
static void add_hash(exact_findings *found, uint64_t bits)
{
    unsigned char bytes[8];
    for (int i = 0; i < 8; i++)
        bytes[i] = (unsigned char)(bits >> 8 * i);
    found->hash = hash_bytes(found->hash, bytes, sizeof bytes);
}

static void tell_first(exact_findings *found, const corpus_case *one, const judge_block *block,
                       const char *what, size_t row, size_t column, double given, double right)
{
    char label[CONVENTION_MAX_LENGTH];
    if (found->first[0])
        return;
    convention_label(&block->convention, label);
    number_print(found->first, sizeof found->first,
                 "%s, %s, %zux%zu%s: %s of row %zu, column %zu is %a, and %a is right",
                 one->input ? one->input : "aimed at midpoints", label, block->rows, block->hidden,
                 one->residual ? " with a residual" : "", what, row, column, given, right);
}

static void compare_y(const corpus_case *one, const judge_block *block, const void *y, bool counts,
                      exact_findings *found)
{
    ln_type type = block->storage;
    for (size_t i = 0; i < block->rows * block->hidden; i++) {
        uint64_t given = bits_at(type, y, i, false), right = bits_at(type, block->rounded, i, true);
        if (counts)
            add_hash(found, given);
        if (given == right)
            continue;
        found->wrong++;
        tell_first(found, one, block, counts ? "y" : "y in place", i / block->hidden,
                   i % block->hidden, storage_load(type, y, i),
                   storage_load(type, block->rounded, i));
    }
}

static void compare_fact(const corpus_case *one, const judge_block *block, const char *what,
                         size_t row, double given, float right, exact_findings *found)
{
    float rounded = (float)given;
    uint64_t bits = bits_at(LN_F32, &rounded, 0, true);
    found->facts++;
    add_hash(found, bits);
    if (bits == bits_at(LN_F32, &right, 0, true) && (isnan(given) || (double)rounded == given))
        return;
    found->wrong_facts++;
    tell_first(found, one, block, what, row, 0, given, (double)right);
}

static bool verify_block(row_judge *judge, const corpus_case *one, const judge_block *block,
                         const kernel_entry *kernel, exact_findings *found, error *err)
{
    err->code = EXIT_CODE_FINE;
    if (!judge_reserve(judge, block, err))
        return false;
    if (!judge_run(judge, block, kernel, LAYOUT_BEFORE, judge->computed, &found->verdict, err))
        return err->code == EXIT_CODE_FINE;
    compare_y(one, block, judge->computed, true, found);
    found->elements += block->rows * block->hidden;
    found->aimed += one->input ? 0 : block->rows * block->hidden;
    for (size_t r = 0; r < block->rows && kernel->facts.accumulator == LN_F32; r++) {
        const ln_reference_result *right = &block->results[r];
        bool has_mean = operations[block->operation]->roles[ROLE_MEAN].shape != SHAPE_NONE;
        if (has_mean && judge_is_given(&judge->given[ROLE_MEAN][r]))
            compare_fact(one, block, "mean", r, judge->given[ROLE_MEAN][r], right->mean_rounded,
                         found);
        if (judge_is_given(&judge->given[ROLE_RSTD][r]))
            compare_fact(one, block, "rstd", r, judge->given[ROLE_RSTD][r], right->rstd_rounded,
                         found);
    }
    if (kernel->facts.traits & LN_TRAIT_NOT_IN_PLACE)
        return true;
    if (!judge_run(judge, block, kernel, LAYOUT_IN_PLACE, judge->other, &found->verdict, err))
        return err->code == EXIT_CODE_FINE;
    compare_y(one, block, judge->other, false, found);
    return true;
}

/* What a kernel does not take is left out of its corpus; one that takes nothing of so many blocks in
 * a row is unsupported. */
enum { MOST_UNSUPPORTED = 400 };

bool exact_verify(row_judge *judge, const exact_request *request, const kernel_entry *kernel,
                  exact_findings *found, error *err)
{
    uint64_t state = request->seed;
    unsigned unsupported = 0;
    bool fine = true;
    *found = (exact_findings){.verdict.kind = VERDICT_RIGHT, .hash = HASH_START};
    for (uint64_t i = 0; fine && found->elements < request->elements; i++) {
        corpus_case one = case_at(kernel->facts.operation, &state, i);
        judge_block block = {0};
        uint64_t before = found->elements;
        if (kernel->facts.traits & LN_TRAIT_NO_RESIDUAL)
            one.residual = false;
        found->verdict.kind = VERDICT_RIGHT;
        fine = make_block(judge, &one, kernel, &state, &block, err) &&
               verify_block(judge, &one, &block, kernel, found, err);
        judge_block_free(&block);
        unsupported = found->verdict.kind == VERDICT_DECLINED ? unsupported + 1 : 0;
        if (found->verdict.kind != VERDICT_RIGHT &&
            (!unsupported || unsupported == MOST_UNSUPPORTED))
            break;
        if (request->progress)
            progress_step(request->progress, (double)(found->elements - before),
                          kernel->facts.name);
    }
    return fine;
}
