/* The climbs of a hunt: a climb begins with a row of an input family, and goes on to the worst of a batch of changed
 * rows until the kernel's error no longer grows. And the file of the finds. */
#include "base/arena.h"
#include "base/program.h"
#include "base/hash.h"
#include "base/text.h"
#include "conformance/conformance.h"
#include "domain/operation.h"
#include "exact/scale.h"
#include "inputs/inputs.h"
#include "metrics/storage.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

uint32_t hunt_draw(hunt_random *random)
{
    /* The input families use the seed itself as their key; this gives other random numbers than theirs. */
    static const uint64_t apart = UINT64_C(0x68756e7468756e74);
    if (random->left == 0) {
        philox4x32(random->seed ^ apart, random->counter++, random->restart, random->words);
        random->left = 4;
    }
    return random->words[--random->left];
}

/* A row that is being changed. */
typedef struct changing {
    ln_type type;
    size_t hidden;
    void *x;
} changing;

static double at(const changing *row, size_t i)
{
    return storage_load(row->type, row->x, i);
}

static void copy_element(const changing *row, size_t to, size_t from)
{
    size_t size = dtype_size(row->type);
    memmove((char *)row->x + to * size, (char *)row->x + from * size, size);
}

/* Stores a value rounded to the row's type, unless that is not finite. */
static void put_element(const changing *row, size_t i, double value)
{
    double rounded;
    storage_store(row->type, &rounded, 0, value);
    if (isfinite(storage_load(row->type, &rounded, 0)))
        storage_store(row->type, row->x, i, value);
}

/* Flips bit `flipped` of an element (64: none) and adds `steps` to its bits, unless the result is not finite. */
static void change_bits(const changing *row, size_t i, unsigned flipped, int steps)
{
    size_t size = dtype_size(row->type);
    void *element = (char *)row->x + i * size;
    uint64_t bits = 0, changed;
    memcpy(&bits, element, size);
    changed = (flipped < 64 ? bits ^ UINT64_C(1) << flipped : bits) + (uint64_t)(int64_t)steps;
    memcpy(element, &changed, size);
    if (!isfinite(at(row, i)))
        memcpy(element, &bits, size);
}

/* Returns a random power of two, from 1 down to the smallest one that changes 1 when it is added. */
static double part_of(ln_type type, uint32_t drawn)
{
    return ldexp(1, -(int)((drawn >> 16) % (unsigned)format_of(type).precision));
}

/* Changes one element. */
static void move_element(hunt_random *random, const changing *row)
{
    enum { NO_BIT = 64 };
    size_t i = hunt_draw(random) % row->hidden, j = hunt_draw(random) % row->hidden;
    uint32_t drawn = hunt_draw(random);
    double sign = drawn & 0x100 ? 1 : -1, part = part_of(row->type, drawn);
    switch (drawn % 8) {
    case 0:
        change_bits(row, i, (drawn >> 16) % (8 * (unsigned)dtype_size(row->type)), 0);
        break;
    case 1:
    case 2:
        change_bits(row, i, NO_BIT, (int)((drawn >> 16) % 9) - 4);
        break;
    case 3:
        copy_element(row, i, j);
        break;
    case 4: {
        double kept = at(row, i);
        copy_element(row, i, j);
        put_element(row, j, kept);
        break;
    }
    case 5:
        put_element(row, i, -at(row, i));
        break;
    case 6:
        put_element(row, i, at(row, i) * (drawn & 0x100 ? 2 : 0.5));
        break;
    default:
        put_element(row, i, at(row, j) * (1 + sign * part));
    }
}

/* Changes the whole row, or up to 16 neighbouring elements. */
static void move_row(hunt_random *random, const changing *row)
{
    size_t hidden = row->hidden;
    size_t first = hunt_draw(random) % hidden, second = hunt_draw(random) % hidden;
    uint32_t drawn = hunt_draw(random);
    double sign = drawn & 0x100 ? 1 : -1, part = part_of(row->type, drawn);
    size_t length = 1 + second % 16;
    switch (drawn % 4) {
    case 0: { /* shift the row by a part of some element */
        double shift = sign * part * at(row, first);
        for (size_t i = 0; i < hidden; i++)
            put_element(row, i, at(row, i) + shift);
        break;
    }
    case 1: /* scale the row by 2 or a half, or by a little */
        for (size_t i = 0; i < hidden; i++)
            put_element(row, i, at(row, i) * (part == 1 ? (sign > 0 ? 2 : 0.5) : 1 + sign * part));
        break;
    case 2: /* make neighbours equal to the first of them */
        for (size_t i = first; i < hidden && i < first + length; i++)
            copy_element(row, i, first);
        break;
    default: /* shift neighbours */
        for (size_t i = first; i < hidden && i < first + length; i++)
            put_element(row, i, at(row, i) + sign * part * at(row, second));
    }
}

void hunt_mutate(hunt_random *random, ln_type type, void *x, size_t hidden)
{
    const changing row = {type, hidden, x};
    uint32_t drawn = hunt_draw(random);
    unsigned moves = 1U << drawn % 4;
    for (unsigned i = 0; i < moves; i++) {
        if ((drawn >> (8 + i)) % 4 == 0)
            move_row(random, &row);
        else
            move_element(random, &row);
    }
}

enum {
    BATCH = 64, /* changed rows of a step */
    MOST_STEPS = 1000,
    MOST_STALL = 30, /* steps without a gain */
};

/* The families of the rows with which climbs begin, in turn: all whose rows are finite numbers. */
static const char *const starts[] = {
    "normal",       "kappa",    "near-constant", "offset",      "two-valued",
    "sorted",       "blocks",   "bad-pivot",     "alternating", "outlier-channels",
    "positive",     "sparse",   "var-near-eps",  "geometric",   "massive-activations",
    "spike",        "ramp",     "heavy-tails",   "quantised",   "alternating-scales",
    "uniform",      "ties",     "constant",      "overflow",    "underflow",
    "signed-zeros", "subnormal"};
enum { STARTS = sizeof starts / sizeof *starts };

/* A climb in progress. */
typedef struct hill_climb {
    hunt_state *hunt;
    uint64_t number;
    hunt_random random;
    char *row, *batch; /* batch: the changed rows of the current step */
    size_t row_bytes;
    double score;
    unsigned steps, stall;
    bool ended, failed; /* failed: the kernel failed, and the find is made */
} hill_climb;

/* Ends the hunt after an interruption, but lets the worker run on, which is needed to judge the worst row so far. */
static void give_up(hunt_state *hunt)
{
    hunt->cut = hunt->interrupted = true;
    interrupt_forgive();
}

void hunt_begin(hunt_state *hunt)
{
    const hunt_settings *settings = &hunt->settings;
    hunt->convention = convention_named(settings->convention);
    if (settings->seconds > 0)
        hunt->until = seconds_now() + settings->seconds;
    hunt->call =
        call_dense(&hunt->convention, settings->storage, settings->param, 1, settings->hidden);
    call_allocate(&hunt->memory, &hunt->call, false);
    input_parameters("normal", &hunt->call, settings->seed);
    call_drop_unneeded(&hunt->call);
}

static void block_of(hunt_state *hunt, const void *rows, size_t count, judge_block *block)
{
    operation_call call = hunt->call;
    call.problem.rows = count;
    call.inputs[ROLE_X] = (void *)rows;
    judge_block_from(hunt->judge, block, &call);
}

/* Returns the order of a find. 0: the kernel failed; 1: a wrong class; 2: an error. */
static int rank(const worst_row *find)
{
    if (verdict_exit_code(&find->verdict) == EXIT_CODE_KERNEL_FAILED)
        return 0;
    return find->score == INFINITY ? 1 : 2;
}

static bool comes_before(const worst_row *a, const worst_row *b)
{
    if (rank(a) != rank(b))
        return rank(a) < rank(b);
    return a->score != b->score ? a->score > b->score : a->restart < b->restart;
}

/* Judges the rows as replay judges a find, and inserts them into the sorted finds, which lose the last one if there are
 * too many. False: interrupted. */
static bool make_find(hill_climb *climb, const void *rows, size_t count, double score)
{
    hunt_state *hunt = climb->hunt;
    judge_block block;
    case_judgement judgement;
    block_of(hunt, rows, count, &block);
    judge_kernel(hunt->judge, &block, hunt->kernel, &judgement);
    /* The same row passed a moment ago, so try once more, as in make_step(). */
    if (isfinite(score) && verdict_exit_code(&judgement.verdict) == EXIT_CODE_KERNEL_FAILED)
        judge_kernel(hunt->judge, &block, hunt->kernel, &judgement);
    if (!interrupted()) {
        worst_row find = worst_row_of(&block, judgement.metrics.worst_row, &judgement,
                                      hunt->settings.kernel, hunt->settings.convention);
        if (count > 1) { /* the kernel failed on no single row, so the find has all of them */
            find.inputs[ROLE_X] = block.inputs[ROLE_X];
            find.rows = count;
            find.row = judgement.metrics.worst_row;
        }
        snprintf(find.origin, sizeof find.origin, "restart %llu of seed %llu: %s, %u steps",
                 (unsigned long long)climb->number, (unsigned long long)hunt->settings.seed,
                 starts[climb->number % STARTS], climb->steps);
        find.score = score;
        find.restart = climb->number;
        size_t at = hunt->find_count;
        for (; at > 0 && comes_before(&find, &hunt->finds[at - 1]); at--)
            ;
        if (at < HUNT_FINDS) {
            worst_row_keep(&hunt->memory, &find);
            hunt->find_count += hunt->find_count < HUNT_FINDS;
            memmove(&hunt->finds[at + 1], &hunt->finds[at],
                    (hunt->find_count - 1 - at) * sizeof find);
            hunt->finds[at] = find;
        }
    }
    judge_block_free(&block);
    return !interrupted();
}

/* Makes a find after the kernel failed on a batch: the first row on which it fails, or all rows if there is none. */
static bool find_failure(hill_climb *climb, const case_verdict *verdict)
{
    hunt_state *hunt = climb->hunt;
    size_t row_bytes = climb->row_bytes, culprit = BATCH;
    row_score score;
    climb->failed = climb->ended = true;
    if (verdict->kind == VERDICT_UNSUPPORTED || verdict->kind == VERDICT_MISSING)
        die(EXIT_CODE_ENVIRONMENT, "%s: %s: %s", hunt->settings.kernel,
            verdict_phrase(verdict->kind), verdict->detail);
    for (size_t row = 0; culprit == BATCH && row < BATCH; row++) {
        struct case_verdict alone;
        judge_block block;
        block_of(hunt, climb->batch + row * row_bytes, 1, &block);
        judge_score(hunt->judge, &block, hunt->kernel, &score, &alone);
        judge_block_free(&block);
        if (interrupted())
            return false;
        if (alone.kind != VERDICT_PASS)
            culprit = row;
    }
    return culprit < BATCH ? make_find(climb, climb->batch + culprit * row_bytes, 1, INFINITY)
                           : make_find(climb, climb->batch, BATCH, INFINITY);
}

/* Judges a batch of changed rows, and moves to the one with the largest error unless that is smaller than the error of
 * the climb's row. A batch on which the kernel fails is run once more, since somebody may have killed the worker.
 * False: interrupted. */
static bool make_step(hill_climb *climb)
{
    hunt_state *hunt = climb->hunt;
    const hunt_settings *settings = &hunt->settings;
    row_score scores[BATCH];
    case_verdict verdict = {.kind = VERDICT_PASS};
    size_t best = 0;
    double score = -INFINITY;
    for (size_t row = 0; row < BATCH; row++) {
        char *changed = climb->batch + row * climb->row_bytes;
        memcpy(changed, climb->row, climb->row_bytes);
        /* The first row of the first batch is the unchanged row with which the climb begins. */
        if (row > 0 || climb->steps > 0)
            hunt_mutate(&climb->random, settings->storage, changed, settings->hidden);
    }
    climb->steps++;
    hunt->rows += BATCH;
    for (int turn = 0; turn == 0 || (turn == 1 && verdict.kind != VERDICT_PASS); turn++) {
        judge_block block;
        block_of(hunt, climb->batch, BATCH, &block);
        judge_score(hunt->judge, &block, hunt->kernel, scores, &verdict);
        judge_block_free(&block);
        if (interrupted())
            return false;
    }
    if (verdict.kind != VERDICT_PASS)
        return find_failure(climb, &verdict);
    for (size_t row = 0; row < BATCH; row++) {
        /* A row for which a kernel's bound is infinite does not count. */
        bool unclaimed = hunt->kernel->facts.has_bound && !isfinite(scores[row].bound_row_ulp);
        double here = isnan(scores[row].kappa) || unclaimed ? -1 : scores[row].row_ulp;
        if (here > score) {
            score = here;
            best = row;
        }
    }
    climb->stall = score > climb->score ? 0 : climb->stall + 1;
    /* Move to a row with the same error too, since it may lead to one with a larger error. */
    if (score >= climb->score) {
        climb->score = score;
        memcpy(climb->row, climb->batch + best * climb->row_bytes, climb->row_bytes);
    }
    climb->ended =
        climb->score == INFINITY || climb->steps == MOST_STEPS || climb->stall == MOST_STALL;
    return true;
}

void hunt_climb(hunt_state *hunt, uint64_t number)
{
    const hunt_settings *settings = &hunt->settings;
    size_t row_bytes = settings->hidden * dtype_size(settings->storage);
    hill_climb climb = {.hunt = hunt,
                        .number = number,
                        .score = -1,
                        .row = allocate(row_bytes),
                        .batch = allocate(BATCH * row_bytes),
                        .row_bytes = row_bytes,
                        .random = {.seed = settings->seed, .restart = number}};
    input_rows(starts[number % STARTS], settings->storage, settings->seed,
               hunt_draw(&climb.random) % 4096, 1, settings->hidden, climb.row);
    while (!climb.ended && !hunt->cut) {
        if (hunt->until > 0 && seconds_now() >= hunt->until)
            hunt->cut = true;
        else if (interrupted() || !make_step(&climb))
            give_up(hunt);
    }
    hunt->done += climb.ended;
    if (!climb.failed && climb.score >= 0 && !make_find(&climb, climb.row, 1, climb.score))
        give_up(hunt);
    free(climb.row);
    free(climb.batch);
}

void hunt_free(hunt_state *hunt)
{
    arena_free(&hunt->memory);
    *hunt = (struct hunt_state){0};
}

void hunt_save(const hunt_state *hunt, const char *state, const char *path)
{
    const hunt_settings *settings = &hunt->settings;
    char number[32];
    text_buffer out = {0};
    text_format(&out,
                "# Rows on which a kernel is worst, found by lnbench hunt (docs/accuracy.md).\n"
                "# Again, bit for bit: lnbench replay THIS-FILE\n"
                "# lnbench hunt --kernels %s --conventions %s --hidden %zu --seed %llu",
                settings->kernel, settings->convention, settings->hidden,
                (unsigned long long)settings->seed);
    if (settings->seconds > 0)
        text_format(&out, " --time %s", number_format(settings->seconds, number));
    text_format(&out, "\n# %s: %llu climbs, %llu rows tried\n", state,
                (unsigned long long)hunt->done, (unsigned long long)hunt->rows);
    for (size_t i = 0; i < hunt->find_count; i++) {
        text_add(&out, "\n");
        worst_row_format(&hunt->finds[i], &out);
    }
    write_whole_file(path, &out);
    text_free(&out);
}
