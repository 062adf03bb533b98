/* grouped: rows in groups that stay in L1 (long ones in L2): first their sums, then the estimates of all rows together,
 * then y of COLUMNS columns of each row in turn, with gamma and beta of these columns kept in double in L1. For
 * statistics `exact` and apply `certified`.
 *
 * Around the caches (LN_NONTEMPORAL) the sums of the next group are computed while y of one is stored: STEP of its
 * columns after each STEP of y, so that memory reads while it writes. A vector that is not certain is stored again
 * through the caches: a processor keeps the order of its own stores to an address, of both kinds.
 *
 * If y is x, a row is computed twice: first to find out whether its sums are needed in integers, which need the x that
 * y overwrites. */
#ifndef LN_SCHEDULE_H
#define LN_SCHEDULE_H

#include "statistics/exact.h"
#include "convention.h"

#ifndef APPLY_CERTIFIED
#error "the schedule grouped is for the apply certified"
#endif

/* The bits of a parameter. */
typedef uint32_t bits_f32 __attribute__((may_alias));
typedef uint16_t bits_bf16 __attribute__((may_alias));
typedef uint16_t bits_f16 __attribute__((may_alias));
typedef LN_PASTE(bits_, LN_PARAM) param_bits;

/* With short vectors the code is kept short. */
enum { IS_SHORT = LN_LANES < 8 };

/* The number of groups at a time: the one whose y is computed and, around the caches, the next. */
enum { GROUPS = 1 + LN_NONTEMPORAL };

/* STEP columns are stored, WIDTH at a time, and computed again if an element is not certain. */
#ifdef LANE_SINGLE
enum { STEP = LN_PASTE(SINGLE_STEP_, LN_STORAGE), WIDTH = SINGLE_LANES };
_Static_assert(!LN_NONTEMPORAL, "single_store_T() stores through the caches");
#else
enum { STEP = LN_NONTEMPORAL ? 1024 / (int)sizeof(storage) : 16 * LANES, WIDTH = LANES };
#endif

enum { GROUP_ROWS = 8, LEAST_ROWS = 4, GROUP_BYTES = 16384, LONG_BYTES = 262144 };

typedef struct job {
    const ln_problem *problem;
    const ln_tensors *tensors;
    statistics statistics;
    convention rules;
    residual_form form;
    real gamma_most; /* max |gamma|, NaN if one is not finite */
    real beta_most;
    int in_place;
    _Alignas(64) column_terms terms; /* gamma and beta of the current columns */
} job;

typedef struct group {
    real sum[GROUP_ROWS];
    real square[GROUP_ROWS];
    real most[GROUP_ROWS];
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
    unsigned begun;    /* a bit for each row g whose exact[g] is set up */
    unsigned constant; /* a bit for each row of equal elements, whose xhat is 0 */
    size_t swept;      /* the number of rows that have their sums */
    sweeping sweep;    /* of the row after them; i is 0 if it has not begun */
    ln_exact_row
        *exact; /* GROUP_ROWS, shared by all groups, since y of one group is computed at a time */
} group;

/* ---- Preparation ---- */

/* Returns the largest |a|, NaN if one is not finite: absolute values have the order of their bits as integers. The loop
 * has several parts so that compilers vectorise it. */
LN_APART real largest_of(const param *a, size_t count)
{
    enum { PARTS = 128 };
    const param_bits *bits = (const param_bits *)a;
    param_bits parts[PARTS] = {0}, most = 0;
    param largest;
    for (; count >= PARTS; count -= PARTS, bits += PARTS)
        for (size_t k = 0; k < PARTS; k++) {
            param_bits size = (param_bits)(bits[k] << 1); /* without the sign */
            parts[k] = size > parts[k] ? size : parts[k];
        }
    for (size_t k = 0; k < count; k++) {
        param_bits size = (param_bits)(bits[k] << 1);
        parts[k] = size > parts[k] ? size : parts[k];
    }
    for (size_t k = 0; k < PARTS; k++)
        most = parts[k] > most ? parts[k] : most;
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

/* ---- Sums ---- */

LN_INLINE void group_begin(const job *run, group *set, size_t first, size_t most)
{
    size_t rows = run->problem->rows, left = first < rows ? rows - first : 0;
    set->first = first;
    set->count = left < most ? left : most;
    set->begun = set->constant = 0;
    set->swept = set->sweep.i = 0;
    for (size_t g = 0; g < set->count; g++)
        set->views[g] = row_of(run->problem, run->tensors, run->form, first + g);
}

LN_INLINE void group_keep_sums(group *set, size_t g, exact_sums found)
{
    set->sum[g] = found.sum;
    set->square[g] = found.square;
    set->most[g] = found.most;
    set->pivot[g] = 0;
}

#if LN_NONTEMPORAL
/* x is fetched a page ahead, to L2, since this group fills L1 (docs/lab/experiments.md#grouped). */
enum { SWEEP_BLOCKS = STEP / BLOCK, FETCH_AHEAD = 4096 / (int)sizeof(storage) };
_Static_assert(LN_CHUNK % SWEEP_BLOCKS == 0, "chunks end where steps do");

/* Fetches STEP columns from i on. An address that is fetched need not exist. */
LN_INLINE void fetch_ahead(const row *view, size_t i)
{
    enum { TO_L2 = 2 };
    for (size_t k = 0; k < STEP; k += LINE) {
        size_t at = (i + k) * sizeof(storage);
        __builtin_prefetch((const void *)((uintptr_t)view->x + at), 0, TO_L2);
        if (view->form == RESIDUAL_ADDED)
            __builtin_prefetch((const void *)((uintptr_t)view->residual + at), 0, TO_L2);
    }
}

/* Adds STEP columns, or the rest, of the first row whose sums are incomplete. Does nothing if all are complete. */
LN_INLINE void sweep_step(residual_form form, group *set)
{
    if (set->swept == set->count)
        return;
    row view = set->views[set->swept];
    const acc none = acc_set(0);
    sweeping *so_far = &set->sweep;
    view.form = form;
    if (so_far->i == 0)
        sweep_begin(so_far);
    fetch_ahead(&view, so_far->i + FETCH_AHEAD);
    sweep_blocks(so_far, &view, 1, 0, none, SWEEP_BLOCKS);
    if (view.hidden - so_far->i >= BLOCK) {
        if (so_far->i % (BLOCK * LN_CHUNK) == 0)
            sweep_end_chunk(so_far);
        return;
    }
    sweep_end_chunk(so_far);
    group_keep_sums(set, set->swept++, sweep_end(so_far, &view, 1, 0, none));
    so_far->i = 0;
}

LN_APART void sweep_rest(residual_form form, group *set)
{
    while (set->swept < set->count)
        if (form == RESIDUAL_NONE)
            sweep_step(RESIDUAL_NONE, set);
        else
            sweep_step(RESIDUAL_ADDED, set);
}
#else
LN_INLINE void sweep_step(residual_form form, group *set)
{
    (void)form, (void)set;
}

LN_INLINE void sweep_rest(residual_form form, group *set)
{
    for (size_t g = 0; g < set->count; g++) {
        const row *view = &set->views[g];
        group_keep_sums(set, g, form == RESIDUAL_NONE ? sweep_plain(view) : sweep_residual(view));
    }
}
#endif

/* ---- Estimates ---- */

/* Computes the estimate of row g and its error (apply/certified.h). */
LN_INLINE void group_estimate(const job *run, group *set, size_t g)
{
    const real smallest = NORMAL * LN_PASTE(UNIT_, LN_STORAGE);
    const exact_sums found = {set->sum[g], set->square[g], set->most[g]};
    ln_exact_estimate near = estimate_of(&run->statistics, set->pivot[g], found);
    real xhat_most = sqrt(found.most) * near.rstd + fabs(near.addend);
    real y_most = xhat_most * run->gamma_most + 2 * run->beta_most;
    real error = run->gamma_most * near.absolute + y_most * near.relative + LN_EXACT_UNDERFLOW;
    real least = 4 * (1 + 0x1p-5) * error;
    set->rstd[g] = near.rstd;
    set->addend[g] = near.addend;
    set->relative[g] = near.relative <= MOST_RELATIVE ? near.relative : (real)INFINITY;
    set->absolute[g] = near.absolute;
    set->mean[g] = near.mean;
    set->mean_error[g] = near.mean_error;
    set->least[g] = least > smallest ? least : smallest + (least - least); /* NaN stays */
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

/* Marks row g as constant if its elements are all equal: all xhat are 0, and the mean is the element. */
LN_APART void group_try_constant(const job *run, group *set, size_t g)
{
    real first[LANES];
    item_store(first, exact_again(&set->views[g], 0, 1));
    real std = sqrt(run->statistics.eps_in_variance) + run->statistics.eps_on_std;
    int defined = std >= 0x1p-500 && std <= 0x1p500 && run->statistics.inverse_divisor < 2;
    if (!defined || (UNCENTRED && first[0] != 0) ||
        !(sweep_again(&set->views[g], first[0]).square == 0))
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

/* Computes the estimates of all rows at once if vectors are long. The numbers of missing rows are old ones. */
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

/* Sweeps a row again, about its mean. */
LN_APART void group_look_again(const job *run, group *set, size_t g)
{
    set->pivot[g] = set->sum[g] * run->statistics.inverse;
    exact_sums found = sweep_again(&set->views[g], set->pivot[g]);
    set->sum[g] = found.sum;
    set->square[g] = found.square;
    set->most[g] = found.most;
    group_estimate_one(run, set, g);
    if (!is_known(set, g))
        group_try_constant(run, set, g);
}

LN_APART ln_exact_row *exact_row_at(const job *run, group *set, size_t g)
{
    ln_exact_row *exact = &set->exact[g];
    if (set->begun >> g & 1)
        return exact;
    ln_exact_begin(exact, run->problem, run->tensors, set->first + g);
    exact->add_up = is_known(set, g) ? sweep_fine : NULL;
    exact->view = &set->views[g];
    exact->uncentred = UNCENTRED;
    set->begun |= 1u << g;
    return exact;
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

LN_INLINE terms_of_row terms_at(const group *set, size_t g)
{
    return (terms_of_row){lane_set(set->pivot[g]), lane_set(set->rstd[g]), lane_set(set->addend[g]),
                          lane_set(set->least[g])};
}

/* Returns y of the n elements from i on, before it is rounded. */
LN_INLINE vec y_of(const row *view, const terms_of_row *by, affine_terms terms, size_t i, size_t n)
{
    vec x = lane_subtract(exact_again(view, i, n), by->pivot);
    return convention_finish_any(multiply_add(x, by->rstd, by->addend), terms);
}

/* Returns a bit for each lane that is not certain: the ends of its interval are stored as different numbers, or as 0.
 * All lanes are uncertain for 16-bit storage, which is rounded twice (lane/lane.h). */
LN_INLINE unsigned unequal_ends(const group *set, size_t g, vec y, affine_terms terms)
{
    vec error = lane_multiply(lane_add(lane_absolute(y), lane_absolute(terms.beta)),
                              lane_set(set->relative[g]));
    vec rest = lane_multiply(lane_absolute(terms.gamma), lane_set(set->absolute[g]));
    error = lane_add(lane_add(error, rest), lane_set(LN_EXACT_UNDERFLOW));
    return lane_unequal(lane_stored(lane_subtract(y, error)), lane_stored(lane_add(y, error)));
}

/* Stores vector i of row g, some of whose elements may be uncertain, to y. */
LN_APART void store_doubtful(const job *run, group *set, size_t g, size_t i, size_t n, storage *y)
{
    const terms_of_row by = terms_at(set, g);
    const affine_terms terms = convention_terms_any(&run->rules, i, n);
    vec found = y_of(&set->views[g], &by, terms, i, n);
    unsigned doubts = IS_ROUNDED_TWICE ? lane_below(distance_of(found), by.least)
                                       : unequal_ends(set, g, found, terms);
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

/* Computes row g and stores it to y, or all of it to the first LANES elements of y if `keep` is 0. Each vector is
 * complete before it is stored, since y may be x. */
LN_APART void apply_one(const job *run, group *set, size_t g, storage *y, size_t keep)
{
    const row view = set->views[g];
    const convention rules = run->rules;
    const terms_of_row by = terms_at(set, g);
    for (size_t i = 0; i < view.hidden; i += LANES) {
        size_t n = view.hidden - i < LANES ? view.hidden - i : LANES;
        vec found = y_of(&view, &by, convention_terms_any(&rules, i, n), i, n);
        if (__builtin_expect((lane_below(distance_of(found), by.least) & ((1u << n) - 1)) != 0, 0))
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

/* Stores beta, with -0 as +0, which is the result if beta is finite and has the storage type. */
LN_APART void apply_constant(const job *run, group *set, size_t g)
{
    const row view = set->views[g];
    for (size_t i = 0; i < view.hidden; i += LANES) {
        affine_terms terms = convention_terms_any(&run->rules, i, view.hidden - i);
        row_store(view.y + i, lane_add(terms.beta, lane_set(0)), view.hidden - i);
    }
}

/* ---- Rows without pivots: COLUMNS columns of each row in turn ---- */

/* Converts gamma and beta of COLUMNS columns from `begin` on to double in `run`. */
LN_APART void widen_parameters(job *run, size_t begin)
{
    const convention rules = run->rules;
    size_t left = run->problem->hidden - begin, count = left < COLUMNS ? left : COLUMNS;
    for (size_t i = 0; i < count; i += LANES) {
        const affine_terms terms =
            convention_terms_any(&rules, begin + i, count - i < LANES ? count - i : LANES);
        column_terms_keep(&run->terms, i, terms.gamma, terms.beta);
    }
}

/* Computes the columns `begin` to `end` of row g again: whole vectors, some of which are uncertain. */
LN_APART void step_again(const job *run, group *set, size_t g, size_t begin, size_t end)
{
    const terms_of_row by = terms_at(set, g);
    storage *y = set->views[g].y;
    for (size_t i = begin; i < end; i += LANES) {
        vec found =
            y_of(&set->views[g], &by, convention_terms_any(&run->rules, i, LANES), i, LANES);
        if (lane_below(distance_of(found), by.least))
            store_doubtful(run, set, g, i, LANES, y + i);
        else if (IS_SINGLE)
            row_store(y + i, found, LANES);
    }
}

#if LN_NONTEMPORAL
/* Stores the columns from `begin` to the next cache line of y, or to `last`. Returns that column. */
LN_INLINE size_t store_to_line(const job *run, group *set, size_t g, size_t begin, size_t last)
{
    storage *y = set->views[g].y;
    size_t to_line = columns_to_line(&set->views[g], begin);
    size_t end = to_line < last - begin ? begin + to_line : last;
    for (size_t i = begin; i < end; i += LANES)
        store_doubtful(run, set, g, i, end - i < LANES ? end - i : LANES, y + i);
    return end;
}
#else
LN_INLINE size_t store_to_line(const job *run, group *set, size_t g, size_t begin, size_t last)
{
    (void)run, (void)set, (void)g, (void)last;
    return begin;
}
#endif

LN_INLINE row_terms row_terms_at(const job *run, const group *set, size_t g)
{
#ifdef LANE_SINGLE
    return single_terms_of(estimate_at(set, g), run->statistics.quotient);
#else
    (void)run;
    return terms_at(set, g);
#endif
}

/* Computes COLUMNS columns from `begin` on. */
LN_INLINE void apply_columns(residual_form form, const job *run, group *set, group *next, size_t g,
                             size_t begin)
{
    const size_t hidden = run->problem->hidden;
    const size_t last = hidden - begin < COLUMNS ? hidden : begin + COLUMNS;
    const size_t first = store_to_line(run, set, g, begin, last);
    const size_t whole = last - (last - first) % WIDTH;
    const row_terms by = row_terms_at(run, set, g);
    row view = set->views[g];
    view.form = form;
    for (size_t i = first, end; i < whole; i = end) {
        end = whole - i < STEP ? whole : i + STEP;
        int doubt = store_columns(&view, &by, &run->terms, begin, i, end);
        sweep_step(form, next);
        if (__builtin_expect(doubt, 0))
            step_again(run, set, g, i, end);
    }
    for (size_t i = whole; i < last; i += LANES)
        store_doubtful(run, set, g, i, last - i < LANES ? last - i : LANES, view.y + i);
}

LN_APART void apply_columns_plain(const job *run, group *set, group *next, size_t g, size_t begin)
{
    apply_columns(RESIDUAL_NONE, run, set, next, g, begin);
}

LN_APART void apply_columns_residual(const job *run, group *set, group *next, size_t g,
                                     size_t begin)
{
    apply_columns(RESIDUAL_ADDED, run, set, next, g, begin);
}

/* ---- Groups ---- */

LN_INLINE int is_plain(const job *run, const group *set, size_t g)
{
    if (run->in_place || !is_known(set, g) || set->pivot[g] != 0 || (set->constant >> g & 1))
        return 0;
#ifdef LANE_SINGLE
    return (run->form == RESIDUAL_NONE || set->views[g].sum) &&
           is_single(estimate_at(set, g), run->statistics.quotient, run->gamma_most,
                     run->beta_most);
#else
    return 1;
#endif
}

LN_APART void apply_special(const job *run, group *set, size_t g)
{
    if (!is_known(set, g))
        ln_exact_fill(exact_row_at(run, set, g), set->views[g].y);
    else if (set->constant >> g & 1 && PARAM_IS_STORAGE && isfinite(run->gamma_most) &&
             isfinite(run->beta_most))
        apply_constant(run, set, g);
    else if (run->in_place)
        apply_in_place(run, set, g);
    else
        apply_one(run, set, g, set->views[g].y, SIZE_MAX);
}

LN_INLINE void apply_group(job *run, group *set, group *next)
{
    for (size_t g = 0; g < set->count; g++)
        if (!is_plain(run, set, g))
            apply_special(run, set, g);
    for (size_t begin = 0; begin < run->problem->hidden; begin += COLUMNS) {
        if (run->problem->hidden > COLUMNS)
            widen_parameters(run, begin);
        for (size_t g = 0; g < set->count; g++)
            if (is_plain(run, set, g)) {
                if (run->form == RESIDUAL_NONE)
                    apply_columns_plain(run, set, next, g, begin);
                else
                    apply_columns_residual(run, set, next, g, begin);
            }
    }
}

LN_INLINE void group_run(job *run, group *set, group *next)
{
    sweep_rest(run->form, set);
    group_estimate_all(run, set);
    for (size_t g = 0; g < set->count; g++)
        if (!is_known(set, g))
            group_look_again(run, set, g);
    if (run->tensors->mean || run->tensors->rstd)
        for (size_t g = 0; g < set->count; g++)
            group_keep_facts(run, set, g);
    apply_group(run, set, next);
}

/* Returns the number of rows in a group: as many as fit into L1 (long ones: L2), about the same in all groups. */
LN_INLINE size_t rows_of_group(const ln_problem *problem)
{
    size_t bytes = problem->hidden > COLUMNS ? LONG_BYTES : GROUP_BYTES;
    size_t most = bytes / sizeof(storage) / problem->hidden;
    most = most < LEAST_ROWS ? LEAST_ROWS : (most < GROUP_ROWS ? most : GROUP_ROWS);
    size_t groups = (problem->rows + most - 1) / most;
    return groups ? (problem->rows + groups - 1) / groups : most;
}

/* One function for all forms keeps the code short: constants would gain nothing here. */
LN_APART void schedule_run(const ln_problem *problem, const ln_tensors *tensors, ln_affine affine,
                           residual_form form)
{
    job run;
    run.problem = problem;
    run.tensors = tensors;
    run.form = form;
    group sets[GROUPS];
    ln_exact_row exact[GROUP_ROWS];
    size_t rows_each = rows_of_group(problem);
    run.statistics = statistics_prepare(problem);
    run.rules = convention_prepare(problem, tensors, affine, form);
    run.in_place = tensors->y == (tensors->sum ? tensors->sum : tensors->x);
    find_parameters(&run);
    if (problem->hidden <= COLUMNS)
        widen_parameters(&run, 0);
    for (size_t k = 0; k < GROUPS; k++) {
        const group *set = &sets[k];
        memset(sets[k].sum, 0,
               sizeof set->sum + sizeof set->square + sizeof set->most + sizeof set->pivot);
        sets[k].exact = exact;
        group_begin(&run, &sets[k], k * rows_each, rows_each);
    }
    for (size_t now = 0; sets[now].count > 0; now = (now + 1) % GROUPS) {
        group *this = &sets[now], *next = &sets[(now + 1) % GROUPS];
        group_run(&run, this, next);
        group_begin(&run, this, this->first + GROUPS * rows_each, rows_each);
    }
}

#endif
