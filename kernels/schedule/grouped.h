/* grouped: rows in groups that stay in L1: their sums, what follows from those for all of them
 * together, then y of four rows at a time, which share gamma and beta. For statistics `exact` and apply
 * `certified`.
 *
 * Where y is x, a row is gone over twice: once to find out whether its sums are needed in integers,
 * which y would spoil. */
#ifndef LN_SCHEDULE_H
#define LN_SCHEDULE_H

#include "statistics/exact.h"
#include "convention.h"

#ifndef APPLY_CERTIFIED
#error "the schedule grouped is for the apply certified"
#endif

/* The bits of a parameter. */
typedef uint32_t bits_f32;
typedef uint16_t bits_bf16;
typedef uint16_t bits_f16;
typedef LN_PASTE(bits_, LN_PARAM) param_bits;

/* Code is kept short where vectors are. */
enum { IS_SHORT = LN_LANES < 8 };

enum { GROUP_ROWS = 8, GROUP_BYTES = 16384, QUAD = 4 };

typedef struct job {
    const ln_problem *problem;
    const ln_tensors *tensors;
    statistics statistics;
    convention rules;
    residual_form form;
    real gamma_most; /* max |gamma|, NaN where one is not finite */
    real beta_most;
    int in_place;
} job;

typedef struct group {
    real sum[GROUP_ROWS];
    real square[GROUP_ROWS];
    real pivot[GROUP_ROWS];
    real rstd[GROUP_ROWS];
    real addend[GROUP_ROWS];
    real relative[GROUP_ROWS];
    real absolute[GROUP_ROWS];
    real mean[GROUP_ROWS];
    real mean_error[GROUP_ROWS];
    real least[GROUP_ROWS];
    row views[GROUP_ROWS];
    size_t first;
    size_t count;
    unsigned begun;    /* rows of `exact` that have been */
    unsigned constant; /* rows of one value, whose xhat is 0 */
    ln_exact_row exact[GROUP_ROWS];
} group;

/* ---- Preparation ---- */

/* The largest |a|, NaN where one is not finite: sizes are ordered as their bits are, as integers. */
LN_APART real largest_of(const param *a, size_t count)
{
    param_bits most = 0;
    param largest;
    for (size_t i = 0; i < count; i++) {
        param_bits bits;
        memcpy(&bits, a + i, sizeof bits);
        bits = (param_bits)(bits << 1); /* without the sign */
        most = bits > most ? bits : most;
    }
    most >>= 1;
    memcpy(&largest, &most, sizeof largest);
    real size = LN_PASTE(item_of_, LN_PARAM)(largest);
    return isfinite(size) ? size : (real)NAN;
}

LN_INLINE void find_parameters(job *run)
{
    ln_affine affine = run->rules.affine;
    size_t count = ln_parameter_elements(affine, run->problem->hidden);
    run->gamma_most = ln_has_gamma(affine) ? largest_of(run->rules.gamma, count) : 1;
    run->gamma_most += affine == LN_AFFINE_GAMMA1 ? 1 : 0;
    run->beta_most = ln_has_beta(affine) ? largest_of(run->rules.beta, count) : 0;
}

LN_INLINE size_t stride_of(const ln_problem *problem, size_t stride)
{
    return stride ? stride : problem->hidden;
}

LN_INLINE row row_of(const job *run, size_t r)
{
    const ln_problem *problem = run->problem;
    const ln_tensors *tensors = run->tensors;
    row view = {.hidden = problem->hidden, .form = run->form};
    view.x = (const storage *)tensors->x + r * stride_of(problem, problem->x_stride);
    view.y = (storage *)tensors->y + r * stride_of(problem, problem->y_stride);
    if (run->form == RESIDUAL_ADDED) {
        view.residual =
            (const storage *)tensors->residual + r * stride_of(problem, problem->residual_stride);
        if (tensors->sum)
            view.sum = (storage *)tensors->sum + r * stride_of(problem, problem->sum_stride);
    }
    return view;
}

/* ---- Estimates ---- */

/* See apply/certified.h. */
LN_INLINE void group_estimate(const job *run, group *set, size_t g)
{
    const real scale = 0x1p54 / (real)MARGIN * (1 + 0x1p-7);
    const exact_sums found = {set->sum[g], set->square[g]};
    ln_exact_estimate near = estimate_of(&run->statistics, set->pivot[g], found);
    real least = scale * (run->gamma_most * near.absolute + run->beta_most * near.relative +
                          LN_EXACT_UNDERFLOW);
    least = least > NORMAL ? least : NORMAL + (least - least);
    set->rstd[g] = near.rstd;
    set->addend[g] = near.addend;
    set->relative[g] = near.relative <= (real)MARGIN * 0x1p-54 ? near.relative : (real)INFINITY;
    set->absolute[g] = near.absolute;
    set->mean[g] = near.mean;
    set->mean_error[g] = near.mean_error;
    set->least[g] = least < 0x1p120 ? least : (real)NAN; /* y as f32 may be infinite */
}

LN_INLINE ln_exact_estimate estimate_at(const group *set, size_t g)
{
    return (ln_exact_estimate){set->pivot[g],    set->rstd[g], set->addend[g],    set->relative[g],
                               set->absolute[g], set->mean[g], set->mean_error[g]};
}

LN_INLINE int is_known(const group *set, size_t g)
{
    return set->relative[g] < (real)INFINITY;
}

/* A row whose deviations from an element are all 0: so are all xhat, and mean is the element. */
LN_APART void group_try_constant(const job *run, group *set, size_t g)
{
    real first[LANES];
    item_store(first, exact_again(&set->views[g], 0, 1));
    real std = sqrt(run->statistics.eps_in_variance) + run->statistics.eps_on_std;
    int defined = std >= 0x1p-500 && std <= 0x1p500 && run->statistics.inverse_divisor < 2;
    if (!defined || !(sweep_again(&set->views[g], first[0]).square == 0))
        return;
    set->constant |= 1u << g;
    set->pivot[g] = set->mean[g] = first[0];
    set->rstd[g] = 1 / std;
    set->relative[g] = 24 * REAL_UNIT;
    set->addend[g] = set->absolute[g] = set->mean_error[g] = 0;
    set->least[g] = (real)NAN;
}

LN_APART void group_estimate_one(const job *run, group *set, size_t g)
{
    group_estimate(run, set, g);
}

/* Of all rows at once, where vectors are long; those that are not there are as they were. */
LN_INLINE void group_estimate_all(const job *run, group *set)
{
    if (IS_SHORT) {
        for (size_t g = 0; g < set->count; g++)
            group_estimate_one(run, set, g);
        return;
    }
    LN_VECTORIZED
    for (size_t g = 0; g < GROUP_ROWS; g++)
        group_estimate(run, set, g);
}

/* A row that has to be swept about its mean. */
LN_APART void group_look_again(const job *run, group *set, size_t g)
{
    set->pivot[g] = set->sum[g] * run->statistics.inverse;
    exact_sums found = sweep_again(&set->views[g], set->pivot[g]);
    set->sum[g] = found.sum;
    set->square[g] = found.square;
    group_estimate_one(run, set, g);
    if (!is_known(set, g))
        group_try_constant(run, set, g);
}

LN_APART ln_exact_row *exact_row_at(const job *run, group *set, size_t g)
{
    if (!(set->begun >> g & 1))
        ln_exact_begin(&set->exact[g], run->problem, run->tensors, set->first + g);
    set->begun |= 1u << g;
    return &set->exact[g];
}

LN_APART void group_keep_facts(const job *run, group *set, size_t g)
{
    ln_exact_estimate near = estimate_at(set, g);
    ln_exact_row *exact = exact_row_at(run, set, g);
    if (run->tensors->mean)
        ((float *)run->tensors->mean)[set->first + g] = ln_exact_mean(exact, &near);
    if (run->tensors->rstd)
        ((float *)run->tensors->rstd)[set->first + g] = ln_exact_rstd(exact, &near);
}

/* ---- y ---- */

/* What y of a row is made with. */
typedef struct terms_of_row {
    vec pivot;
    vec rstd;
    vec addend;
    vec least;
} terms_of_row;

LN_INLINE terms_of_row terms_at(const group *set, size_t g)
{
    return (terms_of_row){lane_set(set->pivot[g]), lane_set(set->rstd[g]), lane_set(set->addend[g]),
                          lane_set(set->least[g])};
}

/* y of the n elements from i on, before it is rounded. */
LN_INLINE vec y_of(const row *view, const terms_of_row *by, affine_terms terms, size_t i, size_t n)
{
    vec x = lane_subtract(exact_again(view, i, n), by->pivot);
    return convention_finish_any(multiply_add(x, by->rstd, by->addend), terms);
}

/* Whether both ends of a lane's interval are stored alike, and not as 0: a bit for each that is not.
 * 16-bit storage is rounded twice (lane/f64.h), which tells nothing here. */
LN_INLINE unsigned unequal_ends(const group *set, size_t g, vec y, affine_terms terms)
{
    vec error = lane_multiply(lane_add(lane_absolute(y), lane_absolute(terms.beta)),
                              lane_set(set->relative[g]));
    vec rest = lane_multiply(lane_absolute(terms.gamma), lane_set(set->absolute[g]));
    error = lane_add(lane_add(error, rest), lane_set(LN_EXACT_UNDERFLOW));
    return lane_unequal(lane_stored(lane_subtract(y, error)), lane_stored(lane_add(y, error)));
}

/* Vector i of row g, some of whose elements may be in doubt, stored to y. */
LN_RARE void store_doubtful(const job *run, group *set, size_t g, size_t i, size_t n, storage *y)
{
    const terms_of_row by = terms_at(set, g);
    const affine_terms terms = convention_terms_any(&run->rules, i, n);
    vec found = y_of(&set->views[g], &by, terms, i, n);
    unsigned doubts = lane_doubtful(found, by.least, DROPPED, MARGIN);
    if (sizeof(storage) == sizeof(float))
        doubts &= unequal_ends(set, g, found, terms);
    if (n < LANES)
        doubts &= (1u << n) - 1;
    uint32_t bits[LANES] = {0};
    const ln_exact_estimate near = estimate_at(set, g);
    for (size_t j = 0; doubts >> j; j++)
        if (doubts >> j & 1)
            bits[j] = ln_exact_y(exact_row_at(run, set, g), &near, i + j);
    row_store(y, found, n);
    for (size_t j = 0; doubts >> j; j++)
        if (doubts >> j & 1)
            ln_exact_store(run->problem->storage, y, j, bits[j]);
}

/* Row g to y, or, where `keep` is 0, to the first LANES elements of y again and again. */
LN_APART void apply_one(const job *run, group *set, size_t g, storage *y, size_t keep)
{
    const row view = set->views[g];
    const convention rules = run->rules;
    const terms_of_row by = terms_at(set, g);
    for (size_t i = 0; i < view.hidden; i += LANES) {
        size_t n = view.hidden - i < LANES ? view.hidden - i : LANES;
        vec found = y_of(&view, &by, convention_terms_any(&rules, i, n), i, n);
        unsigned doubts = lane_doubtful(found, by.least, DROPPED, MARGIN) & ((1u << n) - 1);
        if (__builtin_expect(doubts != 0, 0))
            store_doubtful(run, set, g, i, n, y + (i & keep));
        else
            row_store(y + (i & keep), found, n);
    }
}

LN_APART void apply_in_place(const job *run, group *set, size_t g)
{
    storage unused[LANES];
    apply_one(run, set, g, unused, 0);
    apply_one(run, set, g, set->views[g].y, SIZE_MAX);
}

/* Beta, and -0 as +0: right at once where beta is finite and of the storage type. */
LN_APART void apply_constant(const job *run, group *set, size_t g)
{
    const row view = set->views[g];
    for (size_t i = 0; i < view.hidden; i += LANES) {
        affine_terms terms = convention_terms_any(&run->rules, i, view.hidden - i);
        row_store(view.y + i, lane_add(terms.beta, lane_set(0)), view.hidden - i);
    }
}

/* Four rows without pivots share gamma and beta. Vectors in doubt are stored as they are, and once
 * more when SEGMENT columns are done: no branch in the loop waits for doubts. */
enum { SEGMENT = 64 * LANES };

typedef struct quad {
    row views[QUAD];
    terms_of_row by[QUAD];
    vec least;
} quad;

LN_INLINE int any_doubtful(const vec y[QUAD], vec least)
{
#ifdef LANE_DOUBTFUL_FOUR
    return lane_doubtful_four(y, least, DROPPED, MARGIN);
#else
    unsigned doubts = 0;
    LN_UNROLLED
    for (size_t r = 0; r < QUAD; r++)
        doubts |= lane_doubtful(y[r], least, DROPPED, MARGIN);
    return doubts != 0;
#endif
}

/* The vectors from `begin` to `end`, whole ones. Returns how many are in doubt. */
LN_INLINE size_t apply_segment(const convention *rules, const quad *four, size_t begin, size_t end,
                               size_t doubtful[])
{
    size_t count = 0;
    for (size_t i = begin; i < end; i += LANES) {
        const affine_terms terms = convention_terms_any(rules, i, LANES);
        vec found[QUAD];
        LN_UNROLLED
        for (size_t r = 0; r < QUAD; r++) {
            vec x = exact_again(&four->views[r], i, LANES);
            found[r] = multiply_add(x, four->by[r].rstd, four->by[r].addend);
            found[r] = convention_finish_any(found[r], terms);
        }
        LN_UNROLLED
        for (size_t r = 0; r < QUAD; r++)
            row_store(four->views[r].y + i, found[r], LANES);
        doubtful[count] = i;
        count += (size_t)any_doubtful(found, four->least);
    }
    return count;
}

/* Vector i of four rows, of which some may be in doubt. */
LN_RARE void store_doubtful_four(const job *run, group *set, size_t g, size_t i)
{
    const affine_terms terms = convention_terms_any(&run->rules, i, LANES);
    for (size_t r = g; r < g + QUAD; r++) {
        const terms_of_row by = terms_at(set, r);
        vec found = y_of(&set->views[r], &by, terms, i, LANES);
        if (lane_doubtful(found, by.least, DROPPED, MARGIN))
            store_doubtful(run, set, r, i, LANES, set->views[r].y + i);
    }
}

LN_INLINE void apply_four(ln_affine affine, residual_form form, const job *run, group *set,
                          size_t g)
{
    quad four;
    size_t hidden = run->problem->hidden, whole = hidden - hidden % LANES;
    size_t doubtful[SEGMENT / LANES];
    convention rules = run->rules;
    real least = 0;
    rules.affine = affine;
    LN_UNROLLED
    for (size_t r = 0; r < QUAD; r++) {
        four.views[r] = set->views[g + r];
        four.views[r].form = form;
        four.by[r] = terms_at(set, g + r);
        least = isnan(least) || set->least[g + r] <= least ? least : set->least[g + r];
    }
    four.least = lane_set(least);
    for (size_t i = 0; i < whole; i += SEGMENT) {
        size_t end = whole - i < SEGMENT ? whole : i + SEGMENT;
        size_t count = apply_segment(&rules, &four, i, end, doubtful);
        for (size_t d = 0; d < count; d++)
            store_doubtful_four(run, set, g, doubtful[d]);
    }
    for (size_t r = 0; r < QUAD && whole < hidden; r++)
        store_doubtful(run, set, g + r, whole, hidden - whole, set->views[g + r].y + whole);
}

LN_APART void apply_four_vector(const job *run, group *set, size_t g)
{
    apply_four(LN_AFFINE_VECTOR, RESIDUAL_NONE, run, set, g);
}

LN_APART void apply_four_any(const job *run, group *set, size_t g)
{
    apply_four(run->rules.affine, run->form, run, set, g);
}

/* ---- Groups ---- */

LN_INLINE int is_usual(const job *run)
{
    return run->rules.affine == LN_AFFINE_VECTOR && run->form == RESIDUAL_NONE;
}

LN_INLINE int are_plain(const job *run, const group *set, size_t g)
{
    int plain = !run->in_place && set->count - g >= QUAD && (!IS_SHORT || is_usual(run));
    for (size_t r = g; r < g + QUAD && plain; r++)
        plain = is_known(set, r) && set->pivot[r] == 0 && !(set->constant >> r & 1);
    return plain;
}

LN_INLINE void apply_group(const job *run, group *set)
{
    for (size_t g = 0; g < set->count;) {
        if (are_plain(run, set, g)) {
            IS_SHORT || is_usual(run) ? apply_four_vector(run, set, g)
                                      : apply_four_any(run, set, g);
            g += QUAD;
            continue;
        }
        if (!is_known(set, g))
            ln_exact_fill(exact_row_at(run, set, g), set->views[g].y);
        else if (set->constant >> g & 1 && PARAM_IS_STORAGE && isfinite(run->gamma_most) &&
                 isfinite(run->beta_most))
            apply_constant(run, set, g);
        else if (run->in_place)
            apply_in_place(run, set, g);
        else
            apply_one(run, set, g, set->views[g].y, SIZE_MAX);
        g++;
    }
}

LN_INLINE void group_run(const job *run, group *set)
{
    set->begun = set->constant = 0;
    for (size_t g = 0; g < set->count; g++) {
        set->views[g] = row_of(run, set->first + g);
        exact_sums found = run->form == RESIDUAL_NONE ? sweep_plain(&set->views[g])
                                                      : sweep_residual(&set->views[g]);
        set->sum[g] = found.sum;
        set->square[g] = found.square;
        set->pivot[g] = 0;
    }
    group_estimate_all(run, set);
    for (size_t g = 0; g < set->count; g++)
        if (!is_known(set, g))
            group_look_again(run, set, g);
    if (run->tensors->mean || run->tensors->rstd)
        for (size_t g = 0; g < set->count; g++)
            group_keep_facts(run, set, g);
    apply_group(run, set);
}

/* One function for all forms, to keep the code short: constants would gain nothing out here. */
LN_APART void schedule_run(const ln_problem *problem, const ln_tensors *tensors, ln_affine affine,
                           residual_form form)
{
    job run = {.problem = problem, .tensors = tensors, .form = form};
    group set;
    size_t fit = GROUP_BYTES / sizeof(storage) / problem->hidden;
    size_t most = fit < QUAD ? QUAD : (fit < GROUP_ROWS ? fit / QUAD * QUAD : GROUP_ROWS);
    run.statistics = statistics_prepare(problem);
    run.rules = convention_prepare(problem, tensors, affine);
    run.in_place = tensors->y == (tensors->sum ? tensors->sum : tensors->x);
    find_parameters(&run);
    memset(set.sum, 0, sizeof set.sum + sizeof set.square + sizeof set.pivot);
    for (set.first = 0; set.first < problem->rows; set.first += most) {
        size_t left = problem->rows - set.first;
        set.count = left < most ? left : most;
        group_run(&run, &set);
    }
}

#endif
