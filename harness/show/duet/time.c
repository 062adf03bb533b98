/* Times a pair in alternation: fresh worker processes, in each of them buffers at a drawn place and
 * rounds in which both sides run once, in an order drawn anew. The search stops where the answer is
 * clear, which biases what it found: it says only how long to measure. The confirmation, of a
 * length fixed before it begins and of processes of its own, gives the interval and the verdict. */
#include "show/duet/duet.h"
#include "base/program.h"
#include "base/allocate.h"
#include "base/progress.h"
#include "conformance/timed_rows.h"
#include "run/session.h"
#include <math.h>

enum {
    ROUNDS = 20,
    FEW_ROUNDS = 5, /* where filling and comparing the buffers takes longer than timing */
    LEAST_ROUNDS = 3,
    FEW_BYTES = 16 << 20,
    SEARCH_STEP = 4,
    LINE = 64,
    PLACES = 4096 / LINE,
};

/* Ratios of rounds, process by process, and the times that they are of. */
typedef struct time_sample {
    double *ratios, *times[SIDES];
    size_t *start;
    size_t count, groups;
    size_t most_groups;
} time_sample;

/* Short, so that a burst of noise spoils few rounds; the calls of a round are many all the same. */
static const double least_seconds = 0.002;

/* A side's time in one round. */
typedef struct duet_round {
    double real_ns, cpu_ns;
} duet_round;

typedef struct pair_timing {
    duet_run *duet;
    const speed_group *group;
    const judge_block *blocks;
    comparison_pair *pair;
    const kernel_entry *const *kernels;
    void *(*outputs)[2];
    timed_rows rows[SIDES];
    unsigned rounds;
    double begun;
    unsigned processes; /* so far, of both samples */
    bool failed;        /* a side failed: its verdict is in the pair; or declined: refusals */
    char refusals[SIDES][DETAIL_MAX_LENGTH]; /* of the timed shape; "": none */
} pair_timing;

static void sample_free(time_sample *sample)
{
    free(sample->ratios);
    free(sample->times[BASE]);
    free(sample->times[NEW]);
    free(sample->start);
    *sample = (struct time_sample){0};
}

static void sample_reserve(time_sample *sample, unsigned rounds)
{
    if (sample->groups < sample->most_groups)
        return;
    size_t groups = sample->most_groups ? 2 * sample->most_groups : 32;
    size_t bytes = groups * rounds * sizeof(double);
    sample->ratios = reallocate(sample->ratios, bytes);
    sample->times[BASE] = reallocate(sample->times[BASE], bytes);
    sample->times[NEW] = reallocate(sample->times[NEW], bytes);
    sample->start = reallocate(sample->start, (groups + 1) * sizeof *sample->start);
    sample->start[0] = 0;
    sample->most_groups = groups;
}

/* The tensors and both sides' outputs in the arena; begin and entries are the orders. */
static void place(const pair_timing *timing, work_order *begin, work_order entries[SIDES])
{
    const speed_group *group = timing->group;
    worker_process *worker = timing->duet->worker;
    size_t bytes = timed_group_bytes(group);
    off_t end = 0;
    timed_group_place(group, timing->blocks, worker, 2 * SIDES, begin, &end);
    char *memory = worker_runner(worker)->memory;
    for (int side = 0; side < SIDES; side++) {
        arena_map *at = &entries[side].at;
        timed_group_put(memory, &end, &at->expected, timing->outputs[side][0], bytes);
        timed_group_put(memory, &end, &at->expected_other, timing->outputs[side][1], bytes);
    }
}

/* The orders of one process. Everything that is drawn follows from the seed, the shape and the
 * process's number. */
static void draw_order(const pair_timing *timing, unsigned process, work_order *begin,
                       work_order entries[SIDES], bool *new_first)
{
    const duet_run *duet = timing->duet;
    random_stream stream =
        random_stream_seeded(duet->comparison.settings.seed * 0x9e3779b97f4a7c15u + process);
    *begin = timed_group_order(timing->group, &duet->comparison.machine);
    begin->cpu = duet->cpu;
    begin->repetitions = timing->rounds;
    begin->min_seconds = least_seconds;
    begin->seed = random_stream_bits(&stream);
    begin->x_offset = LINE * random_stream_below(&stream, PLACES);
    begin->y_offset = LINE * random_stream_below(&stream, PLACES);
    *new_first = random_stream_below(&stream, 2) == 1;
    for (int side = 0; side < SIDES; side++)
        entries[side] = worker_order(ORDER_TIME_ENTRY, timing->kernels[side]);
}

/* What a failed reply means for the pair. False: interrupted. */
static bool blame(pair_timing *timing, int side, const worker_reply *reply)
{
    if (reply_was_interrupted(reply))
        return false;
    if (reply->verdict == VERDICT_DECLINED && side < SIDES) {
        snprintf(timing->refusals[side], sizeof timing->refusals[side], "%.190s", reply->text);
        timing->failed = true;
        return true;
    }
    if (reply->verdict == VERDICT_LOST || side == SIDES)
        die(EXIT_CODE_ENVIRONMENT, "the timing worker: %.180s", reply->text);
    case_verdict *verdict = &timing->pair->sides[side].verdict;
    verdict->kind = reply->verdict;
    verdict_say(verdict, "in timing: %s", reply->text);
    timing->failed = true;
    return true;
}

/* Rows whose bits depend on their place: right or wrong, they are the same for as long as the
 * process lives, so that timing goes on. */
static bool take_rows(pair_timing *timing, int side, const work_order *begin,
                      const worker_reply *reply)
{
    work_order go_on = worker_order(ORDER_GO_ON, NULL);
    worker_reply failed;
    timed_rows *rows = &timing->rows[side];
    case_verdict *verdict = &timing->pair->sides[side].verdict;
    timed_rows_take(rows, timing->duet->judge, begin, reply);
    if (verdict_exit_code(&rows->verdict) != EXIT_CODE_FINE &&
        verdict_exit_code(verdict) == EXIT_CODE_FINE)
        *verdict = rows->verdict;
    return worker_send_order(timing->duet->worker, &go_on, &failed) || blame(timing, side, &failed);
}

static void note_counts(comparison_pair *pair, int side, const timed_repetition *repetition)
{
    pair->sides[side].cycles = fmin(pair->sides[side].cycles, repetition->cycles);
    pair->sides[side].instructions = fmin(pair->sides[side].instructions, repetition->instructions);
}

static bool follow(pair_timing *timing, const work_order *begin, const int side_of[SIDES],
                   duet_round (*rounds)[SIDES])
{
    worker_process *worker = timing->duet->worker;
    work_order run = *begin;
    worker_reply reply;
    int running = SIDES;
    size_t size = 2 * dtype_size(timing->group->dtype);
    double bytes = (double)(size * timing->group->rows * timing->group->hidden);
    double deadline = timing->duet->deadline + 20 * bytes / 1e9;
    run.kind = ORDER_TIME_RUN;
    if (!worker_send_order(worker, &run, &reply))
        return blame(timing, SIDES, &reply);
    for (;;) {
        bool fine = worker_next(worker, deadline, &reply);
        if (!fine) {
            bool own = reply.verdict == VERDICT_NONDETERMINISTIC;
            return blame(timing, own ? side_of[reply.count] : running, &reply);
        }
        if (reply.kind == REPLY_DONE)
            return true;
        if (reply.kind == REPLY_ROWS && !take_rows(timing, side_of[reply.count], begin, &reply))
            return false;
        if (timing->failed)
            return true;
        if (reply.kind == REPLY_STARTED)
            running = side_of[reply.count];
        if (reply.kind == REPLY_REPETITION)
            note_counts(timing->pair, side_of[reply.count], &reply.repetition);
        if (reply.kind == REPLY_REPETITION)
            rounds[reply.repetition.repetition][side_of[reply.count]] =
                (duet_round){reply.repetition.real_ns, reply.repetition.cpu_ns};
    }
}

static bool is_time(double ns)
{
    return ns > 0 && isfinite(ns);
}

/* Whether the process had the CPU for all but a hundredth of a lap. */
static bool is_undisturbed(const duet_round *lap)
{
    return is_time(lap->cpu_ns) && lap->real_ns - lap->cpu_ns < 0.01 * lap->real_ns;
}

/* Rounds in which another process took the CPU from a side say nothing of either; where hardly any
 * other is left (a busy machine, or a kernel that waits), all count. */
static void keep_rounds(time_sample *sample, duet_round (*rounds)[SIDES], unsigned count)
{
    unsigned undisturbed = 0;
    for (unsigned i = 0; i < count; i++)
        undisturbed += is_undisturbed(&rounds[i][BASE]) && is_undisturbed(&rounds[i][NEW]);
    for (unsigned i = 0; i < count; i++) {
        const duet_round *base = &rounds[i][BASE], *new = &rounds[i][NEW];
        if (!is_time(base->real_ns) || !is_time(new->real_ns) ||
            (undisturbed >= LEAST_ROUNDS && !(is_undisturbed(base) && is_undisturbed(new))))
            continue;
        sample->times[BASE][sample->count] = base->real_ns;
        sample->times[NEW][sample->count] = new->real_ns;
        sample->ratios[sample->count++] = log(new->real_ns / base->real_ns);
    }
    if (sample->count > sample->start[sample->groups])
        sample->start[++sample->groups] = sample->count;
}

static bool run_process(pair_timing *timing, time_sample *sample)
{
    duet_run *duet = timing->duet;
    work_order begin, entries[SIDES];
    worker_reply reply;
    bool new_first;
    duet_round rounds[ROUNDS][SIDES] = {0};
    draw_order(timing, duet->next_process++, &begin, entries, &new_first);
    sample_reserve(sample, timing->rounds);
    if (!worker_renew(duet->worker, NULL, 0, &reply))
        return blame(timing, SIDES, &reply);
    place(timing, &begin, entries);
    if (!worker_ask(duet->worker, &begin, duet->deadline, &reply))
        return blame(timing, SIDES, &reply);
    const int side_of[SIDES] = {new_first ? NEW : BASE, new_first ? BASE : NEW};
    for (int i = 0; i < SIDES; i++) {
        bool taken = worker_ask(duet->worker, &entries[side_of[i]], duet->deadline, &reply);
        if (!taken && !blame(timing, side_of[i], &reply))
            return false;
        if (!taken && !timing->refusals[side_of[i]][0])
            return true;
    }
    if (timing->failed)
        return true;
    if (!follow(timing, &begin, side_of, rounds))
        return false;
    if (!timing->failed)
        keep_rounds(sample, rounds, timing->rounds);
    timing->processes++;
    return true;
}

/* `count` more processes, as long as nobody fails. */
static bool run_processes(pair_timing *timing, time_sample *sample, unsigned count,
                          const char *what)
{
    const case_key *key = &timing->pair->key;
    char line[160];
    snprintf(line, sizeof line, "%s %s  %zux%zu", what, key->kernel, key->rows, key->hidden);
    for (unsigned i = 0; i < count && !timing->failed; i++) {
        double before = seconds_now();
        if (!run_process(timing, sample))
            return false;
        progress_step(&timing->duet->progress, seconds_now() - before, line);
    }
    return true;
}

static interval_estimate ratio_of(const pair_timing *timing, const time_sample *sample)
{
    const comparison_settings *settings = &timing->duet->comparison.settings;
    grouped_values grouped = {sample->ratios, sample->start, sample->groups};
    interval_estimate ratio =
        bootstrap_median(&grouped, RESAMPLE_GROUPS, settings->confidence, settings->seed);
    return (interval_estimate){exp(ratio.middle), exp(ratio.lo), exp(ratio.hi)};
}

/* Until the answer is clear, or a third of the time is spent, but with the least number of
 * processes at any rate as long as there is time for as many again. */
static bool search(pair_timing *timing, time_sample *sample, unsigned least)
{
    const comparison_settings *settings = &timing->duet->comparison.settings;
    while (timing->processes < least && !timing->failed) {
        if (seconds_now() - timing->begun > settings->seconds / 2)
            return true;
        if (!run_processes(timing, sample, 1, "searching"))
            return false;
    }
    while (!timing->failed) {
        interval_estimate ratio = ratio_of(timing, sample);
        if (speed_lean(&ratio, settings->threshold) != SPEED_INCONCLUSIVE ||
            seconds_now() - timing->begun > settings->seconds / 3)
            return true;
        if (!run_processes(timing, sample, SEARCH_STEP, "searching"))
            return false;
    }
    return true;
}

/* What a sample says, which no choice of its length has biased. */
static void take_sample(pair_timing *timing, const time_sample *sample)
{
    comparison_pair *pair = timing->pair;
    if (timing->failed || sample->groups == 0)
        return;
    for (int side = 0; side < SIDES; side++)
        pair->sides[side].time_ns = median(sample->times[side], sample->count);
    pair->sides[BASE].processes = pair->sides[NEW].processes = (unsigned)sample->groups;
    pair->ratio = ratio_of(timing, sample);
}

static bool confirm(pair_timing *timing, unsigned processes)
{
    time_sample sample = {0};
    bool fine = run_processes(timing, &sample, processes, "confirming");
    if (fine)
        take_sample(timing, &sample);
    double threshold = timing->duet->comparison.settings.threshold;
    if (timing->pair->sides[NEW].processes > 0)
        timing->pair->speed = speed_lean(&timing->pair->ratio, threshold);
    sample_free(&sample);
    return fine;
}

/* Where a confirmation leaves the answer open and there is time for a longer one, that one decides. */
static bool time_adaptively(pair_timing *timing)
{
    const comparison_settings *settings = &timing->duet->comparison.settings;
    comparison_pair *pair = timing->pair;
    unsigned least = duet_least_processes(settings->confidence), confirmed = 0;
    time_sample sample = {0};
    bool fine = search(timing, &sample, least);
    sample_free(&sample);
    pair->searched = timing->processes;
    while (fine && !timing->failed && timing->processes >= least) {
        double spent = seconds_now() - timing->begun;
        unsigned before = confirmed ? confirmed : timing->processes;
        unsigned processes =
            duet_confirmation(before, least, settings->seconds - spent, spent / timing->processes);
        if (processes <= confirmed)
            break;
        confirmed = processes;
        pair->searched = timing->processes;
        fine = confirm(timing, processes);
        if (pair->speed != SPEED_INCONCLUSIVE)
            break;
    }
    if (fine && !timing->failed && timing->processes > 0 && !confirmed)
        snprintf(pair->detail, sizeof pair->detail,
                 "no interval of this confidence in %g s; --time %.0f would do", settings->seconds,
                 ceil(2.5 * least * (seconds_now() - timing->begun) / timing->processes));
    return fine;
}

/* As many processes as the time holds, at least as many as an interval needs: a length that no
 * result decides. */
static bool time_fixed(pair_timing *timing)
{
    const comparison_settings *settings = &timing->duet->comparison.settings;
    unsigned least = duet_least_processes(settings->confidence);
    time_sample sample = {0};
    bool fine = true;
    while (fine && !timing->failed &&
           (timing->processes < least || seconds_now() - timing->begun < settings->seconds))
        fine = run_processes(timing, &sample, 1, "measuring the noise");
    if (fine)
        take_sample(timing, &sample);
    sample_free(&sample);
    return fine;
}

/* The rows that were judged are fewer than those that are timed: a kernel may decline these alone. */
static void note_refusals(const pair_timing *timing)
{
    comparison_pair *pair = timing->pair;
    const char *base = timing->refusals[BASE], *new = timing->refusals[NEW];
    case_verdict declined = {.kind = VERDICT_DECLINED};
    char described[DETAIL_MAX_LENGTH + 16];
    verdict_say(&declined, "%s", base[0] ? base : new);
    verdict_describe(&declined, described, sizeof described);
    if (base[0])
        snprintf(pair->detail, sizeof pair->detail, "not timed: %s: %.170s",
                 new[0] ? "both" : "base", described);
    else if (new[0])
        snprintf(pair->lost, sizeof pair->lost, "new, in timing: %.170s", described);
}

bool duet_time(duet_run *duet, const speed_group *group, const judge_block blocks[2],
               duet_pair *entered, duet_outputs outputs)
{
    bool large = call_bytes(operations[group->convention.operation], group->rows, group->hidden,
                            group->dtype) > FEW_BYTES;
    comparison_pair *pair = &entered->pair;
    pair_timing timing = {.duet = duet,
                          .group = group,
                          .blocks = blocks,
                          .pair = pair,
                          .kernels = entered->kernels,
                          .outputs = outputs,
                          .rounds = large ? FEW_ROUNDS : ROUNDS,
                          .begun = seconds_now()};
    pair->speed = SPEED_INCONCLUSIVE;
    for (int side = 0; side < SIDES && !timing.failed; side++)
        timing.failed =
            !timed_rows_begin(&timing.rows[side], duet->judge, blocks, entered->kernels[side],
                              outputs[side], &pair->sides[side].verdict);
    bool fine = !interrupted();
    if (fine && !timing.failed)
        fine = duet->fixed ? time_fixed(&timing) : time_adaptively(&timing);
    timed_rows_free(&timing.rows[BASE]);
    timed_rows_free(&timing.rows[NEW]);
    if (timing.failed)
        pair->speed = SPEED_NOT_MEASURED;
    note_refusals(&timing);
    pair->seconds = seconds_now() - timing.begun;
    return fine;
}
