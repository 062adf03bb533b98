#include "judge/tolerance.h"
#include "base/arena.h"
#include "domain/convention.h"
#include "exact/scale.h"
#include "judge/judging.h"
#include "judge/sums.h"
#include <math.h>

static const double most_off = 0.25,
                    least_deviations = 7; /* of a slope of 1; cut-off results have 0.5 */

/* Whether errors of the sums, in any order, may move an element across the middle between two numbers. */
static bool may_move(const metrics_row *row, double g, size_t i)
{
    const ln_row_facts *facts = &row->answer->facts;
    double most =
        g * (element_scale(row, i) + 2 * gamma_size(row, i) * fabs(facts->mean * facts->rstd));
    double exact = row->answer->exact[i];
    return stored_in(row->storage, exact - most) != stored_in(row->storage, exact + most);
}

bool judge_follows(const judge_block *block, const void *y, taken_of *taken, const void *which)
{
    const double g = gamma_of((double)block->hidden + 4, unit_roundoff(LN_F32));
    double across = 0, square = 0, spread = 0;
    if (dtype_size(block->storage) != 2)
        return false;
    for (size_t row = 0; row < block->rows; row++) {
        metrics_row judged = judge_metrics_row(block, row);
        const void *given = judge_row_of(block, y, row);
        const ln_row_facts *facts = &judged.answer->facts;
        if (!isfinite(facts->max_abs) || !isfinite(facts->rstd))
            continue;
        for (size_t i = 0; i < block->hidden; i++) {
            double unit = ulp_in(format_of(block->storage), element_scale(&judged, i));
            double right = storage_load(block->storage, judged.answer->rounded, i);
            double other =
                judged.answer->exact[i] + taken(block, &judged, row * block->hidden + i, i, which);
            double a = (stored_in(block->storage, other) - right) / unit;
            double off = (storage_load(block->storage, given, i) - right) / unit;
            if (!isfinite(a) || !isfinite(off) || a == 0 || may_move(&judged, g, i))
                continue;
            across += off * a;
            square += a * a;
            spread += off * off * a * a;
        }
    }
    return fabs(across - square) < most_off * square && across > least_deviations * sqrt(spread);
}

/* atol for a difference at an element whose value is `value`. */
static double left_for_atol(double difference, double value, double rtol)
{
    return fmax(0, difference - rtol * fabs(value));
}

/* Both are off by so many row ULP, in opposite directions. */
static double atol_of(const judge_block *block, size_t row, double row_ulp, double rtol)
{
    metrics_row judged = judge_metrics_row(block, row);
    double most = 0;
    for (size_t i = 0; i < block->hidden && row_ulp > 0; i++) {
        double off = row_ulp * ulp_in(format_of(block->storage), element_scale(&judged, i));
        double exact = fabs(block->results[row].exact[i]);
        if (isfinite(exact))
            most = fmax(most, left_for_atol(2 * off, fmax(0, exact - off), rtol));
    }
    return most;
}

static void find_right(row_judge *judge, const judge_block *block, tolerance *found)
{
    judged_kind kind = judged_kind_unknown(block);
    for (size_t row = 0; row < block->rows; row++) {
        const row_limits *limits = judge_limits(judge, block, &kind, row);
        if (!isfinite(block->results[row].facts.rstd))
            continue;
        found->certain = fmax(found->certain, atol_of(block, row, limits->order_ulp, found->rtol));
        found->likely = fmax(found->likely, atol_of(block, row, limits->likely_ulp, found->rtol));
        found->usual =
            fmax(found->usual, atol_of(block, row, limits->textbook.row_ulp / 2, found->rtol));
    }
}

static void find_apart(const judge_block *block, const judge_block *other, double rtol,
                       tolerance_mistake *made)
{
    for (size_t i = 0; i < block->rows * block->hidden; i++) {
        double own = block->exact[i], theirs = other->exact[i];
        if (!same_class(own, theirs))
            made->atol = INFINITY;
        else if (isfinite(own))
            made->atol = fmax(made->atol, left_for_atol(fabs(own - theirs), own, rtol));
    }
}

static void find_mistakes(row_judge *judge, const judge_block *block, tolerance *found)
{
    ln_convention others[NEIGHBOURS_MOST];
    operation_call call = judge_block_call(block);
    char label[CONVENTION_MAX_LENGTH];
    size_t count = operations[block->operation]->neighbours(&block->convention, others);
    for (size_t i = 0; i < count; i++) {
        judge_block other;
        tolerance_mistake *made = &found->mistakes[found->count++];
        call.problem.convention = others[i];
        judge_block_from(judge, &other, &call);
        bool divisor =
            block->operation == LN_OPERATION_LAYERNORM && others[i].ddof != block->convention.ddof;
        snprintf(made->words, sizeof made->words, "%s%s",
                 divisor                              ? "another divisor: "
                 : others[i].eps_place == LN_EPS_NONE ? "no eps: "
                                                      : "",
                 convention_label(&others[i], label));
        find_apart(block, &other, found->rtol, made);
        judge_block_free(&other);
    }
}

/* Sums of 16 bits, as the worst of the textbook ways has them. */
static void find_short_sums(row_judge *judge, const judge_block *block, tolerance *found)
{
    const ln_type sums = block->storage == LN_F16 ? LN_F16 : LN_BF16;
    tolerance_mistake *made = &found->mistakes[found->count++];
    snprintf(made->words, sizeof made->words, "sums in %s", dtype_name(sums));
    for (size_t row = 0; row < block->rows; row++) {
        metrics_row judged = judge_metrics_row(block, row);
        textbook_errors worst;
        judge_load_row(judge, block, row);
        if (!judgings[block->operation]->textbook(&judge->book, &judged, judge->values, sums,
                                                  &worst))
            memory_is_out(block->hidden);
        if (isfinite(block->results[row].facts.rstd))
            made->atol = fmax(made->atol, atol_of(block, row, worst.row_ulp / 2, found->rtol));
    }
}

void tolerance_find(row_judge *judge, const judge_block *block, tolerance *found)
{
    *found = (tolerance){.rtol = 2 * unit_roundoff(block->storage)};
    find_right(judge, block, found);
    find_short_sums(judge, block, found);
    find_mistakes(judge, block, found);
}
