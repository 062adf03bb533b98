/* Probe rows: is it the convention that was asked for?
 *
 * A proven bound that holds at large N is too wide to tell one convention from another, and a
 * kernel without a bound has none at all. So every kernel also runs rows on which neighbouring
 * conventions lie more than 1000 ULP apart, and fails when its output lies nearer to a neighbour
 * than to its own convention, or further from its own than half the distance to the nearest
 * neighbour, or beyond its own bound. */
#include "inputs/inputs.h"
#include "judge/judging.h"
#include "referee/ahead.h"
#include "referee/internal.h"
#include "exact/scale.h"
#include "base/number.h"
#include <math.h>
#include <stdarg.h>
#include <stdio.h>

enum {
    MOST_PROBE_ROWS = 16,
    /* Longer rows cost the reference minutes and gigabytes, and tell no more. */
    MOST_PROBE_HIDDEN = 1 << 16,
};

enum { SHORT_ROW = 16 };

/* Below this distance, in row ULP, neighbours are not told apart. On short rows a kernel that is
 * nearer to a neighbour even 64 ULP away is off by more than 32, which rounding alone does not do
 * there; an eps left out on the quotient never shows as more than eps * 2^24, 168 for 1e-5.
 *
 * 16-bit types have no 1000 ULP to spare (the other divisor at N = 16 is 8 away in bf16), nor need
 * they: a kernel that computes in f32 and rounds once is off by little more than 1/2 ULP there, and
 * one that rounds xhat and the product too by 2. So 6 ULP apart is told apart, and more than 3 off
 * is the fault. */
static double clear_distance(const judge_block *block)
{
    if (block->storage == LN_BF16 || block->storage == LN_F16)
        return 6;
    return block->hidden <= SHORT_ROW ? 64 : 1000;
}

/* From this distance on half of it is the limit of an error. */
static double limiting_distance(const judge_block *block)
{
    return block->storage == LN_BF16 || block->storage == LN_F16 ? 6 : 1000;
}

/* Largest distance, in row ULP of the own convention, from given values to an exact answer;
 * infinite where classes differ. `values` or, where that is NULL, the block's own exact answers. */
static double distance(const judge_block *block, size_t row, const double *row_ulps,
                       const void *values, const double *exact)
{
    double largest = 0;
    for (size_t i = 0; i < block->hidden; i++) {
        double value =
            values ? storage_load(block->storage, values, i) : block->results[row].exact[i];
        if (isnan(value) && isnan(exact[i]))
            continue;
        double ulps = fabs(value - exact[i]) / row_ulps[i];
        if (!(ulps <= largest))
            largest = isnan(ulps) ? INFINITY : ulps;
    }
    return largest;
}

static bool blame(case_verdict *verdict, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static bool blame(case_verdict *verdict, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    verdict->kind = VERDICT_INACCURATE;
    number_print_list(verdict->detail, sizeof verdict->detail, format, arguments);
    va_end(arguments);
    return false;
}

/* One row of one output: its convention must be the nearest, and near enough. */
static bool probe_row(row_judge *judge, const judge_block *block, const judge_block *neighbours,
                      size_t count, size_t row, const void *y, bool has_bound,
                      case_verdict *verdict)
{
    const ln_reference_result *result = &block->results[row];
    metrics_row judged = judge_metrics_row(block, row);
    double *row_ulps = judge->values; /* has room for a row */
    for (size_t i = 0; i < block->hidden; i++)
        row_ulps[i] = ulp_in(format_of(block->storage), element_scale(&judged, i));
    double own = distance(block, row, row_ulps, y, result->exact), nearest = own;
    double limit = INFINITY, worst;
    const judge_block *taken = NULL;
    for (size_t i = 0; i < count; i++) {
        double apart = distance(block, row, row_ulps, NULL, neighbours[i].results[row].exact);
        if (!(apart > clear_distance(block)))
            continue;
        if (apart > limiting_distance(block) && apart / 2 < limit)
            limit = apart / 2;
        double other = distance(block, row, row_ulps, y, neighbours[i].results[row].exact);
        if (other < nearest) {
            nearest = other;
            taken = &neighbours[i];
        }
    }
    char why[ROW_FAULT_LENGTH];
    if (taken || own > limit) {
        if (!judge_describe_row(judge, block, row, y, clear_distance(block) / 2, why))
            number_print(why, sizeof why,
                         "%.4g row ULP off, more than half way to another convention", own);
        return blame(verdict, "probe rows of %zu: %s", block->hidden, why);
    }
    if (has_bound && !ln_bound_holds(&judge->bounds[row], &judged, y, &worst))
        return blame(verdict, "probe rows of %zu: the error is %.3g times the proven bound",
                     block->hidden, worst);
    return true;
}

/* In every layout: a kernel that is right only where y is not x, or rows are dense, shows here
 * even if it claims no bound. */
static bool probe_layouts(row_judge *judge, const judge_block *block, const judge_block *neighbours,
                          size_t count, const kernel_entry *kernel, bool has_bound,
                          case_verdict *verdict, error *err)
{
    for (int where = 0; where < LAYOUT_NAMES; where++) {
        if (where == LAYOUT_IN_PLACE && (kernel->facts.traits & LN_TRAIT_NOT_IN_PLACE))
            continue;
        if (!judge_run(judge, block, kernel, (layout_name)where, judge->computed, verdict, err))
            return false;
        for (size_t row = 0; row < block->rows; row++)
            if (!probe_row(judge, block, neighbours, count, row,
                           judge_row_of(block, judge->computed, row), has_bound, verdict))
                return true;
    }
    return true;
}

static bool probe_block(row_judge *judge, const judge_block *block, const kernel_entry *kernel,
                        case_verdict *verdict, error *err)
{
    ln_convention others[NEIGHBOURS_MOST];
    judge_block neighbours[NEIGHBOURS_MOST];
    operation_call call = judge_block_call(block);
    size_t wanted = operations[block->operation]->neighbours(&block->convention, others), made = 0;
    bool has_bound;
    ahead_begin(judge);
    bool fine = judge_reserve(judge, block, err) && ahead_add_bounds(judge, block, kernel, err) &&
                ahead_add_layouts(judge, block, kernel, err) &&
                (judge_load_row(judge, block, 0) || fail_memory(err, "probe rows"));
    if (fine)
        ahead_send(judge);
    fine = fine && judge_bounds(judge, block, kernel, &has_bound, verdict, err);
    for (; fine && made < wanted; made++) {
        call.problem.convention = others[made];
        fine = judge_block_from(judge, &neighbours[made], &call, err);
        if (!fine)
            break;
    }
    bool ran =
        fine && probe_layouts(judge, block, neighbours, wanted, kernel, has_bound, verdict, err);
    while (made > 0)
        judge_block_free(&neighbours[--made]);
    return ran || err->code == EXIT_CODE_FINE;
}

/* The probe rows of one hidden size. */
static bool probe_hidden(row_judge *judge, const kernel_entry *kernel,
                         const ln_convention *convention, size_t hidden, case_verdict *verdict,
                         error *err)
{
    size_t most = hidden <= 16 ? MOST_PROBE_ROWS : 4;
    operation_call call =
        call_dense(convention, kernel->facts.storage, kernel->facts.param, most, hidden);
    judge_block block;
    bool fine =
        (call_allocate(&call, false) || fail_memory(err, "probe rows")) &&
        judgings[call.operation]->probe_rows(convention, kernel->facts.storage, hidden, most,
                                             call.inputs[ROLE_X], &call.problem.rows, err) &&
        input_parameters("normal", &call, judge->settings.seed, err);
    if (fine && call.problem.rows > 0) {
        fine = judge_block_from(judge, &block, &call, err);
        if (fine) {
            fine = probe_block(judge, &block, kernel, verdict, err);
            judge_block_free(&block);
        }
    }
    call_free(&call);
    return fine;
}

bool judge_probes(row_judge *judge, const kernel_entry *kernel, const ln_convention *convention,
                  size_t hidden, case_verdict *verdict, error *err)
{
    size_t sizes[] = {3, 8, 16, hidden < MOST_PROBE_HIDDEN ? hidden : MOST_PROBE_HIDDEN};
    size_t count = sizeof sizes / sizeof *sizes - (hidden <= 16);
    *verdict = (struct case_verdict){.kind = VERDICT_RIGHT};
    err->code = EXIT_CODE_FINE;
    for (size_t i = 0; judgings[convention->operation]->probe_rows && i < count; i++) {
        if (!probe_hidden(judge, kernel, convention, sizes[i], verdict, err))
            return err->code == EXIT_CODE_FINE;
        /* It need not take these sizes: its verdict is about the case's own. */
        if (verdict->kind == VERDICT_DECLINED)
            *verdict = (struct case_verdict){.kind = VERDICT_RIGHT};
        if (verdict->kind != VERDICT_RIGHT)
            break;
    }
    return true;
}
