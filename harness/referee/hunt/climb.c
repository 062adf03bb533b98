/* One restart of a hunt: from a row of some family, the best of a batch of changed rows again and
 * again, until nothing gets worse for the kernel any more. */
#include "domain/convention.h"
#include "base/seconds.h"
#include "referee/hunt/hunt.h"
#include "inputs/inputs.h"
#include "base/interrupt.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    BATCH = 64, /* rows of one call */
    MOST_STEPS = 1000,
    MOST_STALL = 30, /* steps without a gain */
};

/* Where climbs begin, in turn: every family whose rows are finite numbers. */
static const char *const starts[] = {
    "normal",       "kappa",    "near-constant", "offset",      "two-valued",
    "sorted",       "blocks",   "bad-pivot",     "alternating", "outlier-channels",
    "positive",     "sparse",   "var-near-eps",  "geometric",   "massive-activations",
    "spike",        "ramp",     "heavy-tails",   "quantised",   "alternating-scales",
    "uniform",      "ties",     "constant",      "overflow",    "underflow",
    "signed-zeros", "subnormal"};
enum { STARTS = sizeof starts / sizeof *starts };

/* A climb under way. */
typedef struct hill_climb {
    hunt_state *hunt;
    uint64_t number;
    hunt_random random;
    char *row, *batch;
    size_t row_bytes;
    row_score scores[BATCH];
    double score;
    unsigned steps;
    bool failed; /* the kernel itself; the find is made */
} hill_climb;

/* The best so far is still judged and kept, for which the worker is needed. */
static void give_up(hunt_state *hunt)
{
    hunt->cut = hunt->interrupted = true;
    interrupt_forgive();
}

static bool must_stop(hunt_state *hunt)
{
    if (hunt->until > 0 && seconds_now() >= hunt->until)
        hunt->cut = true;
    if (interrupted())
        give_up(hunt);
    return hunt->cut;
}

bool hunt_begin(hunt_state *hunt, error *err)
{
    const hunt_settings *settings = &hunt->settings;
    if (!convention_parse(settings->convention, &hunt->convention, err))
        return false;
    if (settings->seconds > 0)
        hunt->until = seconds_now() + settings->seconds;
    if (hunt->convention.affine == LN_AFFINE_NONE)
        return true;
    hunt->gamma = malloc(settings->hidden * dtype_size(settings->param));
    hunt->beta = malloc(settings->hidden * dtype_size(settings->param));
    if (!hunt->gamma || !hunt->beta)
        return fail_memory(err, "gamma and beta");
    if (!input_parameters("normal", &hunt->convention, settings->param, settings->seed,
                          settings->hidden, hunt->gamma, hunt->beta, err))
        return false;
    if (!ln_has_beta(hunt->convention.affine)) {
        free(hunt->beta);
        hunt->beta = NULL;
    }
    return true;
}

static bool block_of(hunt_state *hunt, const void *rows, size_t count, judge_block *block,
                     error *err)
{
    const hunt_settings *settings = &hunt->settings;
    return judge_block_from(hunt->judge, block, &hunt->convention, settings->storage,
                            settings->param, count, settings->hidden, rows, NULL, hunt->gamma,
                            hunt->beta, err);
}

/* What a row counts: -1 for one that does not. */
static double score_of(const hunt_settings *settings, const row_score *row)
{
    bool claims = isfinite(row->bound_row_ulp);
    if (row->kappa > settings->max_kappa || isnan(row->kappa) || (settings->claimed && !claims))
        return -1;
    if (settings->goal == GOAL_ROW_ULP)
        return row->row_ulp;
    return claims && row->bound_row_ulp > 0 ? row->row_ulp / row->bound_row_ulp : -1;
}

/* Judges the rows as a find is judged when it is replayed, and keeps them. */
static bool make_find(hill_climb *climb, const void *rows, size_t count, double score, error *err)
{
    hunt_state *hunt = climb->hunt;
    worst_row find = {0};
    judge_block block;
    case_judgement judgement;
    if (!block_of(hunt, rows, count, &block, err))
        return false;
    bool fine = judge_kernel(hunt->judge, &block, hunt->kernel, &judgement, err) &&
                worst_row_take(&block, judgement.metrics.worst_row, &judgement,
                               hunt->settings.kernel, hunt->settings.convention, &find, err);
    if (fine && count > 1) { /* together or not at all */
        free(find.x);
        find.x = malloc(count * climb->row_bytes);
        find.rows = count;
        find.row = judgement.metrics.worst_row;
        fine = find.x != NULL || fail_memory(err, "a find");
        if (fine)
            memcpy(find.x, rows, count * climb->row_bytes);
    }
    judge_block_free(&block);
    if (fine)
        snprintf(find.origin, sizeof find.origin, "restart %llu of seed %llu: %s, %u steps",
                 (unsigned long long)climb->number, (unsigned long long)hunt->settings.seed,
                 starts[climb->number % STARTS], climb->steps);
    find.hunted = true;
    find.score = score;
    find.restart = climb->number;
    if (fine)
        return hunt_keep(hunt, &find, err);
    worst_row_free(&find);
    return false;
}

/* The kernel failed on a batch: the first row that does it alone is the find, else all of them. */
static bool find_failure(hill_climb *climb, const case_verdict *verdict, error *err)
{
    hunt_state *hunt = climb->hunt;
    size_t row_bytes = climb->row_bytes, culprit = BATCH;
    climb->failed = true;
    if (verdict->kind == VERDICT_UNSUPPORTED || verdict->kind == VERDICT_SKIPPED)
        return fail(err, EXIT_CODE_ENVIRONMENT, "%s: %s: %s", hunt->settings.kernel,
                    verdict_name(verdict->kind), verdict->detail);
    for (size_t row = 0; culprit == BATCH && row < BATCH; row++) {
        struct case_verdict alone;
        judge_block block;
        bool fine =
            block_of(hunt, climb->batch + row * row_bytes, 1, &block, err) &&
            judge_score(hunt->judge, &block, hunt->kernel, false, climb->scores, &alone, err);
        judge_block_free(&block);
        if (!fine)
            return false;
        if (alone.kind != VERDICT_OK)
            culprit = row;
    }
    return culprit < BATCH ? make_find(climb, climb->batch + culprit * row_bytes, 1, INFINITY, err)
                           : make_find(climb, climb->batch, BATCH, INFINITY, err);
}

/* Scores the batch; *best is its best row. */
static bool try_batch(hill_climb *climb, size_t *best, double *score, error *err)
{
    hunt_state *hunt = climb->hunt;
    const hunt_settings *settings = &hunt->settings;
    judge_block block;
    case_verdict verdict;
    bool bounds = settings->claimed || settings->goal == GOAL_BOUND;
    if (!block_of(hunt, climb->batch, BATCH, &block, err))
        return false;
    bool fine =
        judge_score(hunt->judge, &block, hunt->kernel, bounds, climb->scores, &verdict, err);
    judge_block_free(&block);
    hunt->rows += BATCH;
    if (!fine)
        return false;
    if (verdict.kind != VERDICT_OK)
        return find_failure(climb, &verdict, err);
    *score = -INFINITY;
    for (size_t row = 0; row < BATCH; row++) {
        double here = score_of(settings, &climb->scores[row]);
        if (here > *score) {
            *score = here;
            *best = row;
        }
    }
    return true;
}

static bool climb_on(hill_climb *climb, error *err)
{
    const hunt_settings *settings = &climb->hunt->settings;
    size_t bytes = climb->row_bytes;
    unsigned stall = 0;
    while (climb->steps < MOST_STEPS && stall < MOST_STALL && !must_stop(climb->hunt)) {
        size_t best = 0;
        double score = -1;
        for (size_t row = 0; row < BATCH; row++) {
            char *changed = climb->batch + row * bytes;
            memcpy(changed, climb->row, bytes);
            /* The first batch has the start itself in it. */
            if (row > 0 || climb->steps > 0)
                hunt_mutate(&climb->random, settings->storage, changed, settings->hidden);
        }
        climb->steps++;
        if (!try_batch(climb, &best, &score, err)) {
            if (err->code != EXIT_CODE_INTERRUPTED)
                return false;
            give_up(climb->hunt);
            break;
        }
        if (climb->failed)
            return true;
        stall = score > climb->score ? 0 : stall + 1;
        /* Along a plateau as well: what was as bad may lead to worse. */
        if (score >= climb->score) {
            climb->score = score;
            memcpy(climb->row, climb->batch + best * bytes, bytes);
        }
        if (climb->score == INFINITY)
            break;
    }
    return climb->score < 0 || make_find(climb, climb->row, 1, climb->score, err);
}

bool hunt_restart(hunt_state *hunt, uint64_t number, error *err)
{
    size_t hidden = hunt->settings.hidden;
    ln_type type = hunt->settings.storage;
    hill_climb climb = {.hunt = hunt,
                        .number = number,
                        .score = -1,
                        .row_bytes = hidden * dtype_size(type),
                        .random = {.seed = hunt->settings.seed, .restart = number}};
    if (must_stop(hunt))
        return true;
    climb.row = malloc(climb.row_bytes);
    climb.batch = malloc(BATCH * climb.row_bytes);
    bool fine = (climb.row && climb.batch) || fail_memory(err, "rows to try");
    fine = fine && input_rows(starts[number % STARTS], type, hunt->settings.seed,
                              hunt_draw(&climb.random) % 4096, 1, hidden, climb.row, err);
    fine = fine && climb_on(&climb, err);
    hunt->done += fine && !hunt->cut;
    free(climb.row);
    free(climb.batch);
    return fine;
}

void hunt_free(hunt_state *hunt)
{
    for (size_t i = 0; i < hunt->find_count; i++)
        worst_row_free(&hunt->finds[i]);
    free(hunt->finds);
    free(hunt->gamma);
    free(hunt->beta);
    *hunt = (struct hunt_state){0};
}
