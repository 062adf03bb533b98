/* Runs every kernel with a proven bound on random rows that may break it: elements, gamma, beta and eps are anywhere in
 * the type's range, so that intermediate results (rstd, gamma * rstd, the mean, squares) that a proof assumes to be
 * exact, normal or finite underflow, overflow or lose their digits. Then on rows at the lower end of the range, where
 * numbers round to 0. Arguments: the number of blocks, and the start of the random numbers. */
#include "base/hash.h"
#include "metrics/storage.h"
#include "block.h"
#include "judging.h"
#include <stdio.h>

enum { ROWS = 6, MOST_HIDDEN = 1100, SEED = 1 };

static size_t block_count = 40;

/* The counter from which random numbers are computed. */
static uint64_t drawn;

static uint32_t below(uint32_t limit)
{
    uint32_t words[4];
    philox4x32(SEED, drawn++, 0x626f756e6473, words);
    return (uint32_t)((uint64_t)words[0] * limit >> 32);
}

static double draw_unit(void)
{
    return (below(1u << 30) + 0.5) * 0x1p-30;
}

typedef struct range {
    int least, most; /* exponents: from the subnormals to the largest number */
} range;

static range range_of(ln_type type)
{
    static const range ranges[] = {[LN_F32] = {-149, 127},
                                   [LN_F64] = {-1074, 1023},
                                   [LN_BF16] = {-133, 127},
                                   [LN_F16] = {-24, 15}};
    return ranges[type];
}

/* Draws an exponent: a moderate one half of the time, else any in the type's range. */
static int draw_exponent(ln_type type)
{
    range all = range_of(type);
    static const int moderate = 12;
    if (below(2))
        return (int)below(2 * (uint32_t)moderate + 1) - moderate;
    return all.least + (int)below((uint32_t)(all.most - all.least + 1));
}

static double sign_of(size_t i, uint32_t kind)
{
    return (kind == 0 ? i & 1 : kind == 1 ? below(2) : kind == 2 ? i % 7 == 0 : 0) ? -1 : 1;
}

/* Fills a row with random numbers of size 2^e, perhaps with an offset, perhaps with one outlier. */
static void fill_row(ln_type type, size_t hidden, void *row)
{
    int scale = draw_exponent(type), offset = draw_exponent(type);
    uint32_t signs = below(4), shape = below(4);
    double largest = type == LN_F64 ? 0x1.fffffffffffffp1023 : type == LN_F16 ? 65504 : 0x1.fep127;
    for (size_t i = 0; i < hidden; i++) {
        double value = sign_of(i, signs) * ldexp(shape & 1 ? 1 : 1 + draw_unit(), scale);
        if (shape & 2)
            value += ldexp(1, offset);
        storage_store(type, row, i, fmax(-largest, fmin(largest, value)));
    }
    if (below(4) == 0)
        storage_store(type, row, below((uint32_t)hidden), ldexp(1, draw_exponent(type)));
}

/* Fills a row with a few multiples of the smallest number; or two neighbouring ones in turn; or equal ones except for
 * one element; or numbers from the smallest to tiny normal ones; or numbers whose squares are near the smallest
 * number. */
static void fill_small_row(ln_type type, size_t hidden, void *row)
{
    uint32_t kind = below(5), signs = below(4), span = 1 + below(4);
    int least = range_of(type).least, from = below(2) ? (int)below(4) : (int)below(1u << below(20));
    for (size_t i = 0; i < hidden; i++) {
        int whole = kind == 1   ? from + (int)(i & 1)
                    : kind == 2 ? from + (i == hidden / 2)
                                : from + (int)below(span + 1);
        double value = ldexp(whole, least);
        if (kind > 2)
            value = ldexp(1 + draw_unit(), (kind == 3 ? least : least / 2 - 12) + (int)below(24));
        if (kind == 3 && type == LN_F64)
            value *= ldexp(1, (int)below(50));
        storage_store(type, row, i, (kind == 1 || kind == 2 ? 1 : sign_of(i, signs)) * value);
    }
}

static void fill_parameter(ln_type type, size_t hidden, void *values)
{
    int scale = draw_exponent(type);
    bool mixed = below(2);
    for (size_t i = 0; i < hidden; i++)
        storage_store(type, values, i,
                      (below(2) ? -1 : 1) *
                          ldexp(1 + 0.99 * draw_unit(), mixed ? draw_exponent(type) : scale));
}

static ln_convention draw_convention(bool is_small)
{
    ln_convention made = {
        .ddof = (int)below(2), .eps_place = (ln_eps_place)below(4), .affine = (ln_affine)below(4)};
    static const double usual[] = {1e-5, 1e-6, 1e-12, 1e-3};
    made.eps = made.eps_place == LN_EPS_NONE ? 0
               : below(2)                    ? usual[below(4)]
                                             : ldexp(1 + draw_unit(), (int)below(180) - 140);
    if (is_small && made.eps != 0 && below(2))
        made.eps = below(4) ? ldexp(1 + draw_unit(), -1074 + (int)below(1000)) : 0;
    return made;
}

static size_t draw_hidden(bool is_small)
{
    if (is_small && below(4))
        return 1 + below(64);
    static const size_t usual[] = {1, 2, 3, 4, 8, 13, 16, 17, 31, 64, 65, 100, 256, 768, 1030};
    return usual[below(sizeof usual / sizeof *usual)];
}

static void make_block(ln_type storage, ln_type param, bool is_small, judge_block *block)
{
    double x[ROWS * MOST_HIDDEN], residual[ROWS * MOST_HIDDEN]; /* room for any type */
    double gamma[MOST_HIDDEN], beta[MOST_HIDDEN];
    ln_convention convention = draw_convention(is_small);
    size_t hidden = draw_hidden(is_small);
    if (hidden <= (size_t)convention.ddof)
        convention.ddof = 0;
    for (size_t row = 0; row < ROWS; row++) {
        size_t at = row * hidden * dtype_size(storage);
        (is_small ? fill_small_row : fill_row)(storage, hidden, (char *)x + at);
        if (is_small)
            fill_small_row(storage, hidden, (char *)residual + at);
    }
    fill_parameter(param, hidden, gamma);
    fill_parameter(param, hidden, beta);
    block_from(the_judge, block, &convention, storage, param, ROWS, hidden, x,
               is_small && below(3) == 0 ? residual : NULL,
               ln_has_gamma(convention.affine) ? gamma : NULL,
               ln_has_beta(convention.affine) ? beta : NULL);
}

static void show(const judge_block *block, const kernel_entry *kernel, const case_verdict *verdict)
{
    const ln_convention *own = &block->convention;
    print_error("%s, hidden %zu, ddof %d, eps %a at %d, affine %d: %s\n", kernel->facts.name,
                block->hidden, own->ddof, own->eps, (int)own->eps_place, (int)own->affine,
                verdict->detail);
}

/* Returns 1 if the kernel breaks its bound on a block. If a class is wrong, the judge decides. */
static size_t attack(const judge_block *block, const kernel_entry *kernel, double *claimed)
{
    row_score scores[ROWS];
    case_verdict verdict;
    case_judgement judgement;
    bool suspect = false;
    judge_score(the_judge, block, kernel, scores, &verdict);
    if (verdict.kind == VERDICT_UNSUPPORTED)
        return 0;
    suspect = verdict.kind != VERDICT_PASS;
    for (size_t row = 0; !suspect && row < block->rows; row++) {
        double bound = scores[row].bound_row_ulp, off = scores[row].row_ulp;
        *claimed += isfinite(bound);
        suspect = isinf(off) && !isinf(bound);
        if (suspect || off <= bound * (1 + 0x1p-40))
            continue;
        snprintf(verdict.detail, sizeof verdict.detail, "row %zu: %g row ulp, %g are proven", row,
                 off, bound);
        show(block, kernel, &verdict);
        return 1;
    }
    if (!suspect)
        return 0;
    judge_kernel(the_judge, block, kernel, &judgement);
    if (judgement.verdict.kind == VERDICT_PASS || judgement.verdict.kind == VERDICT_PASS_NO_BOUND ||
        verdict_is_limit(judgement.verdict.kind))
        return 0;
    show(block, kernel, &judgement.verdict);
    return 1;
}

static void attack_all(size_t count, bool is_small)
{
    static const ln_type types[] = {LN_F32, LN_F64, LN_BF16, LN_F16};
    size_t broken = 0;
    double claimed = 0;
    for (size_t block = 0; block < count; block++)
        for (size_t pair = 0; pair < 16; pair++) {
            ln_type storage = types[pair / 4], param = types[pair % 4];
            judge_block rows;
            bool made = false;
            for (size_t i = 0; i < kernels.count; i++) {
                const kernel_facts *facts = &kernels.kernels[i].facts;
                if (!facts->has_bound || facts->storage != storage || facts->param != param)
                    continue;
                if (!made)
                    make_block(storage, param, is_small, &rows);
                made = true;
                broken += attack(&rows, &kernels.kernels[i], &claimed);
            }
            if (made)
                judge_block_free(&rows);
        }
    print_message("%zu blocks of each type, %g rows with a bound\n", count, claimed);
    assert_true(claimed > 0);
    assert_int_equal(broken, 0);
}

TEST(no_bound_is_broken)
{
    attack_all(block_count, false);
}

TEST(no_bound_is_broken_by_small_rows)
{
    attack_all(2 * block_count, true);
}

static int start(void **state)
{
    (void)state;
    return judging_start(LNBENCH_WORKER_PATH, NULL, 60);
}

int main(int argc, char **argv)
{
    if (argc > 1)
        block_count = strtoul(argv[1], NULL, 10);
    if (argc > 2)
        drawn = strtoul(argv[2], NULL, 10) << 32;
    return test_run(start, judging_stop);
}
