/* Measures two builds. A pair is timed in fresh worker processes, each with randomly placed buffers, in rounds that run
 * both sides once in random order. The search ends when the answer is clear, which biases its result, so it only
 * determines how long to measure. The confirmation uses its own processes, whose number is fixed before it begins, and
 * gives the interval and the verdict.
 *
 * After an interruption (interrupted()) every function here returns early, and its results must not be used. */
#include "show/duet.h"
#include "base/arena.h"
#include "base/program.h"
#include "conformance/conformance.h"
#include "domain/kernel.h"
#include "run/session.h"
#include "store/speed.h"
#include <errno.h>
#include <math.h>
#include <sys/stat.h>

enum {
    BLOCKS = 2, /* blocks of timed rows */
    ROUNDS = 20,
    FEW_ROUNDS = 5, /* used if filling and comparing the buffers takes longer than timing */
    LEAST_ROUNDS = 3,
    FEW_BYTES = 16 << 20,
    SEARCH_STEP = 4,
    LEAST_CONFIRMATION = 20,
    LINE = 64,
    PLACES = 4096 / LINE,
};

/* The time of a side in a round. It is short, so that a burst of noise spoils few rounds, but has many calls. */
static const double least_seconds = 0.002;

/* The kernel of new that is paired with one of base, or why there is none. */
typedef struct duet_partner {
    const kernel_entry *kernel; /* NULL: there is no partner */
    const char *classes[SIDES]; /* the reproducibility classes of both kernels */
    lone_kind lone;             /* why there is no partner */
    char why[DETAIL_MAX_LENGTH];
} duet_partner;

/* A pair, its kernels, and their outputs on both blocks (NULL if a kernel failed). */
typedef struct duet_pair {
    const kernel_entry *kernels[SIDES];
    void *outputs[SIDES][BLOCKS];
    comparison_pair pair;
} duet_pair;

/* ---- loading both builds ---- */

static const char *const options[SIDES] = {"--base", "--new"};

/* Checks that the builds share no code. The loader opens a file only once, so one file cannot be given twice. Every
 * file that a build loads alone must also be loaded together with the other build; if not, the loader has given it the
 * other build's copy of a library with the same soname. */
static void load_builds(duet_run *duet)
{
    const char *const *paths = duet->comparison.settings.files;
    struct stat status[SIDES];
    word_list both = {0};
    for (int side = 0; side < SIDES; side++) {
        if (stat(paths[side], &status[side]) != 0)
            die(EXIT_CODE_ENVIRONMENT, "%s %s: %s", options[side], paths[side], strerror(errno));
        if (!S_ISREG(status[side].st_mode))
            die(EXIT_CODE_ENVIRONMENT, "%s %s: is not a file", options[side], paths[side]);
    }
    if (status[BASE].st_dev == status[NEW].st_dev && status[BASE].st_ino == status[NEW].st_ino)
        die(EXIT_CODE_USAGE,
            "--base %s and --new %s are one file: to compare a build with itself, give a "
            "copy of it (cp, no link)",
            paths[BASE], paths[NEW]);
    duet->worker = worker_start_builds(paths, SIDES, duet->kernels);
    worker_files(duet->worker, &both);
    for (int side = 0; side < SIDES; side++) {
        kernel_list kernels;
        word_list files = {0};
        worker_process *alone = worker_start_builds(&paths[side], 1, &kernels);
        worker_files(alone, &files);
        for (size_t i = 0; i < files.count; i++)
            if (!word_is_in(files.words[i], both.words, both.count))
                die(EXIT_CODE_NOT_COMPARABLE,
                    "%s %s: both builds load the same %.200s: link it statically, or "
                    "change a soname",
                    options[side], paths[side], files.words[i]);
        word_list_free(&files);
        kernel_list_free(&kernels);
        worker_stop(alone);
        snprintf(duet->comparison.identity[side], sizeof duet->comparison.identity[side], "%016llx",
                 (unsigned long long)duet->kernels[side].kernels[0].object_hash);
    }
    word_list_free(&both);
}

static const kernel_entry *named(const kernel_list *list, const char *name)
{
    for (size_t i = 0; i < list->count; i++)
        if (strcmp(list->kernels[i].facts.name, name) == 0)
            return &list->kernels[i];
    return NULL;
}

/* Plans the requested kernels of both builds. Every kernel of the two files that has a requested type and name is
 * planned. Both lists are planned as one, without versions, because a plan leaves out unnamed peers, which it
 * recognizes by a version. */
static void plan_kernels(duet_run *duet, const plan_request *request)
{
    const kernel_list *base = &duet->kernels[BASE], *new = &duet->kernels[NEW];
    kernel_list both = {.count = base->count + new->count};
    both.kernels = allocate((both.count + 1) * sizeof *both.kernels);
    memcpy(both.kernels, base->kernels, base->count * sizeof *both.kernels);
    memcpy(both.kernels + base->count, new->kernels, new->count * sizeof *both.kernels);
    for (size_t i = 0; i < both.count; i++)
        both.kernels[i].version[0] = '\0';
    case_plan requested;
    plan_make(request, &both, &duet->comparison.machine, &requested);
    for (size_t i = 0; i < requested.kernel_count; i++) {
        const kernel_entry *kernel = requested.kernels[i];
        case_key key = {.threads = 1};
        snprintf(key.kernel, sizeof key.kernel, "%s", kernel->facts.name);
        if ((size_t)(kernel - both.kernels) < base->count)
            word_list_add(&duet->requested, kernel->facts.name);
        else if (!named(base, kernel->facts.name))
            comparison_set_lone(&duet->comparison, LONE_NEW, &key, "only in new");
    }
    plan_free(&requested);
    free(both.kernels);
    plan_request own = *request;
    own.kernels = duet->requested;
    own.dtypes = (word_list){0};
    if (duet->requested.count > 0)
        plan_make(&own, base, &duet->comparison.machine, &duet->plan);
}

/* Finds the partner of each kernel of the plan by its name: partners[i] belongs to plan.kernels[i]. */
static void find_partners(const duet_run *duet, duet_partner *partners)
{
    for (size_t i = 0; i < duet->plan.kernel_count; i++) {
        const kernel_entry *base = duet->plan.kernels[i];
        const kernel_entry *new = named(&duet->kernels[NEW], base->facts.name);
        duet_partner *partner = &partners[i];
        const size_t room = sizeof partner->why;
        partner->lone = LONE_MISSING;
        if (!new) {
            snprintf(partner->why, room, "only in base");
        } else if (base->facts.storage != new->facts.storage ||
                   base->facts.param != new->facts.param) {
            snprintf(partner->why, room, "other element types in new");
        } else if (base->unsupported[0]) {
            partner->lone = new->unsupported[0] ? LONE_UNSUPPORTED : LONE_NEW;
            snprintf(partner->why, room, "%s: %.170s", new->unsupported[0] ? "both" : "base",
                     base->unsupported);
        } else if (new->unsupported[0]) {
            snprintf(partner->why, room, "new: %.170s", new->unsupported);
        } else {
            partner->kernel = new;
        }
    }
}

/* Finds the reproducibility class of both kernels of each pair, under the first timed convention. */
static void find_classes(const duet_run *duet, duet_partner *partners)
{
    const bool judged = duet->comparison.settings.accuracy && duet->plan.speed_count > 0;
    const size_t most = duet->plan.kernel_count + 1;
    const kernel_entry **own = allocate_zeroed(most, sizeof *own);
    for (int side = 0; side < SIDES; side++) {
        invariance_result *found = allocate_zeroed(most, sizeof *found);
        size_t count = 0, next = 0;
        for (size_t i = 0; i < duet->plan.kernel_count; i++)
            if (partners[i].kernel)
                own[count++] = side == BASE ? duet->plan.kernels[i] : partners[i].kernel;
        const bool measured = judged && !interrupted() &&
                              invariance_measure(duet->judge, &duet->plan.speed[0].convention, NULL,
                                                 &duet->kernels[side], own, found, count);
        for (size_t i = 0; i < duet->plan.kernel_count; i++)
            if (partners[i].kernel) {
                partners[i].classes[side] =
                    reproducible_found(&own[next]->facts, measured ? &found[next] : NULL);
                next++;
            }
        free(found);
    }
    free(own);
}

void duet_prepare(duet_run *duet, const plan_request *request)
{
    judge_settings settings = {
        .seed = duet->comparison.settings.seed,
        .max_row_ulp = INFINITY,
        .deadline_seconds = duet->deadline,
    };
    machine_read(&duet->comparison.machine);
    comparison_begin(&duet->comparison);
    load_builds(duet);
    plan_kernels(duet, request);
    duet->judge = judge_create(worker_runner(duet->worker), &settings);
    duet->cpu = session_last_cpu();
}

void duet_free(duet_run *duet)
{
    judge_destroy(duet->judge);
    worker_stop(duet->worker);
    plan_free(&duet->plan);
    word_list_free(&duet->requested);
    kernel_list_free(&duet->kernels[BASE]);
    kernel_list_free(&duet->kernels[NEW]);
    comparison_free(&duet->comparison);
}

/* ---- judging ---- */

/* Judges both sides on the same rows and compares the outputs bit for bit. timed: the index of a timed block, or -1.
 * The outputs on timed blocks are kept; block 0 gives the pair's figures. */
static void judge_pair(duet_run *duet, const judge_block *block, duet_pair *own, const char *what,
                       int timed)
{
    const size_t bytes = block->rows * block->hidden * dtype_size(block->storage);
    judged_side sides[SIDES];
    for (int side = 0; side < SIDES; side++) {
        case_judgement judgement;
        if (interrupted())
            return;
        judge_kernel(duet->judge, block, own->kernels[side], &judgement);
        sides[side] = (judged_side){judgement.verdict, judgement.metrics, judgement.output_hash};
        if (timed >= 0 && judgement.computed)
            own->outputs[side][timed] = allocate_copy(judgement.computed, bytes);
        if (timed == 0) {
            own->pair.sides[side].metrics = judgement.metrics;
            own->pair.sides[side].bound_row_ulp = judgement.bound_row_ulp;
        }
    }
    pair_compare(&duet->comparison.memory, &own->pair, sides, what);
}

/* Judges the timed convention, and those without eps, on every input family, the others on normal rows only. Divisor
 * and eps are applied once per row, so a family that breaks one convention breaks all, unless an eps hides it. */
static void judge_families(duet_run *duet, const speed_group *group, duet_pair *pairs, size_t count)
{
    for (size_t i = 0; i < duet->plan.accuracy_count && !interrupted(); i++) {
        const accuracy_group *judged = &duet->plan.accuracy[i];
        const bool normal = strcmp(judged->input, "normal") == 0;
        const bool timed = strcmp(judged->convention_label, group->convention_label) == 0;
        judge_block block;
        char what[DETAIL_MAX_LENGTH];
        if (judged->dtype != group->dtype || judged->param != group->param ||
            (!timed && !normal && judged->convention.eps_place != LN_EPS_NONE))
            continue;
        judge_block_generate(duet->judge, &block,
                             call_dense(&judged->convention, judged->dtype, judged->param,
                                        judged->rows, judged->hidden),
                             judged->input, NULL, 0);
        snprintf(what, sizeof what, "%.60s, %.30s", judged->input, judged->convention_label);
        for (size_t k = 0; k < count; k++)
            judge_pair(duet, &block, &pairs[k], what, -1);
        judge_block_free(&block);
    }
}

/* ---- timing ---- */

/* The logarithms of the ratios of rounds, and the times behind them. */
typedef struct time_sample {
    speed_sample ratios, times[SIDES];
} time_sample;

/* A side's time in one round. */
typedef struct duet_round {
    double real_ns, cpu_ns;
} duet_round;

typedef struct pair_timing {
    duet_run *duet;
    const speed_group *group;
    const judge_block *blocks;
    duet_pair *own;
    timed_rows rows[SIDES];
    unsigned rounds;
    double begun;
    unsigned processes; /* number so far, in search and confirmation */
    bool over; /* interrupted, or a side failed (its verdict is in the pair) or is unsupported */
    char refusals[SIDES][DETAIL_MAX_LENGTH]; /* why it does not support the timed shape, or "" */
} pair_timing;

static void sample_free(time_sample *sample)
{
    speed_sample_free(&sample->ratios);
    speed_sample_free(&sample->times[BASE]);
    speed_sample_free(&sample->times[NEW]);
}

/* Handles a failed answer of the worker: sets the verdict of `side`, or ends the program if that is SIDES (no side). */
static void note_failure(pair_timing *timing, int side, const worker_reply *reply)
{
    timing->over = true;
    if (reply_was_interrupted(reply))
        return;
    if (reply->verdict == VERDICT_UNSUPPORTED && side < SIDES) {
        snprintf(timing->refusals[side], sizeof timing->refusals[side], "%.190s", reply->text);
        return;
    }
    if (reply->verdict == VERDICT_MISSING || side == SIDES)
        die(EXIT_CODE_ENVIRONMENT, "the timing worker: %.180s", reply->text);
    case_verdict *verdict = &timing->own->pair.sides[side].verdict;
    verdict->kind = reply->verdict;
    verdict_say(verdict, "in timing: %s", reply->text);
}

/* Judges rows whose bits depend on their position. Timing then goes on, because these bits stay the same as long as the
 * process lives. */
static void judge_moved_rows(pair_timing *timing, int side, const worker_message *begin,
                             const worker_reply *reply)
{
    worker_message go_on = message_for(MESSAGE_GO_ON, NULL);
    worker_reply failed;
    timed_rows *rows = &timing->rows[side];
    case_verdict *verdict = &timing->own->pair.sides[side].verdict;
    timed_rows_take(rows, timing->duet->judge, begin, reply);
    if (verdict_exit_code(&rows->verdict) != EXIT_CODE_FINE &&
        verdict_exit_code(verdict) == EXIT_CODE_FINE)
        *verdict = rows->verdict;
    if (!worker_send_message(timing->duet->worker, &go_on, &failed))
        note_failure(timing, side, &failed);
}

/* Runs the rounds of a process and stores their times. side_of: the sides in the order in which they were entered. */
static void run_rounds(pair_timing *timing, const worker_message *begin, const int side_of[SIDES],
                       duet_round (*rounds)[SIDES])
{
    worker_process *worker = timing->duet->worker;
    worker_message run = *begin;
    worker_reply reply;
    int running = SIDES;
    const size_t size = 2 * dtype_size(timing->group->dtype);
    const double bytes = (double)(size * timing->group->rows * timing->group->hidden);
    const double deadline = timing->duet->deadline + 20 * bytes / 1e9;
    run.kind = MESSAGE_TIME_RUN;
    if (!worker_send_message(worker, &run, &reply))
        note_failure(timing, SIDES, &reply);
    while (!timing->over) {
        if (!worker_next(worker, deadline, &reply)) {
            const bool own = reply.verdict == VERDICT_NONDETERMINISTIC;
            note_failure(timing, own ? side_of[reply.count] : running, &reply);
        } else if (reply.kind == REPLY_DONE) {
            return;
        } else if (reply.kind == REPLY_ROWS) {
            judge_moved_rows(timing, side_of[reply.count], begin, &reply);
        } else if (reply.kind == REPLY_STARTED) {
            running = side_of[reply.count];
        } else if (reply.kind == REPLY_REPETITION) {
            const timed_repetition *timed = &reply.repetition;
            compared_side *side = &timing->own->pair.sides[side_of[reply.count]];
            side->speed.cycles = fmin(side->speed.cycles, timed->cycles);
            side->speed.instructions = fmin(side->speed.instructions, timed->instructions);
            rounds[timed->repetition][side_of[reply.count]] =
                (duet_round){timed->real_ns, timed->cpu_ns};
        }
    }
}

static bool is_time(double ns)
{
    return ns > 0 && isfinite(ns);
}

/* Returns whether the process had the CPU for at least 99 % of the time. */
static bool is_undisturbed(const duet_round *lap)
{
    return is_time(lap->cpu_ns) && lap->real_ns - lap->cpu_ns < 0.01 * lap->real_ns;
}

/* Keeps the rounds in which no other process took the CPU from a side. If hardly any is left (a busy machine, or a
 * kernel that waits), all count. */
static void keep_rounds(time_sample *sample, unsigned process, duet_round (*rounds)[SIDES],
                        unsigned count)
{
    unsigned undisturbed = 0;
    for (unsigned i = 0; i < count; i++)
        undisturbed += is_undisturbed(&rounds[i][BASE]) && is_undisturbed(&rounds[i][NEW]);
    for (unsigned i = 0; i < count; i++) {
        const duet_round *base = &rounds[i][BASE], *new = &rounds[i][NEW];
        if (!is_time(base->real_ns) || !is_time(new->real_ns) ||
            (undisturbed >= LEAST_ROUNDS && !(is_undisturbed(base) && is_undisturbed(new))))
            continue;
        speed_sample_add(&sample->ratios, process, log(new->real_ns / base->real_ns));
        for (int side = 0; side < SIDES; side++)
            speed_sample_add(&sample->times[side], process, rounds[i][side].real_ns);
    }
}

/* Runs one process. The seed, the shape and the process's number determine its random choices. */
static void run_process(pair_timing *timing, time_sample *sample)
{
    duet_run *duet = timing->duet;
    const size_t bytes = timed_group_bytes(timing->group);
    random_stream stream = random_stream_seeded(
        duet->comparison.settings.seed * 0x9e3779b97f4a7c15u + duet->next_process++);
    worker_message begin = timed_group_message(timing->group, &duet->comparison.machine),
                   entries[SIDES];
    worker_reply reply;
    duet_round rounds[ROUNDS][SIDES] = {0};
    off_t end = 0;
    begin.cpu = duet->cpu;
    begin.repetitions = timing->rounds;
    begin.min_seconds = least_seconds;
    begin.seed = random_stream_bits(&stream);
    begin.x_offset = LINE * random_stream_below(&stream, PLACES);
    begin.y_offset = LINE * random_stream_below(&stream, PLACES);
    const int first = random_stream_below(&stream, 2) == 1 ? NEW : BASE;
    const int side_of[SIDES] = {first, first == NEW ? BASE : NEW};
    if (!worker_renew(duet->worker, NULL, 0, &reply)) {
        note_failure(timing, SIDES, &reply);
        return;
    }
    /* The tensors and the expected outputs of both sides go into the shared memory. */
    timed_group_place(timing->group, timing->blocks, duet->worker, 2 * SIDES, &begin, &end);
    char *memory = worker_runner(duet->worker)->memory;
    for (int side = 0; side < SIDES; side++) {
        void *const *outputs = timing->own->outputs[side];
        entries[side] = message_for(MESSAGE_TIME_ENTRY, timing->own->kernels[side]);
        timed_group_put(memory, &end, &entries[side].at.expected, outputs[0], bytes);
        timed_group_put(memory, &end, &entries[side].at.expected_other, outputs[1], bytes);
    }
    if (!worker_ask(duet->worker, &begin, duet->deadline, &reply)) {
        note_failure(timing, SIDES, &reply);
        return;
    }
    for (int i = 0; i < SIDES; i++) {
        const int side = side_of[i];
        if (worker_ask(duet->worker, &entries[side], duet->deadline, &reply))
            continue;
        note_failure(timing, side, &reply);
        if (!timing->refusals[side][0]) /* the other one may be unsupported too */
            return;
    }
    if (timing->over)
        return;
    run_rounds(timing, &begin, side_of, rounds);
    if (!timing->over)
        keep_rounds(sample, timing->processes, rounds, timing->rounds);
    timing->processes++;
}

/* Runs `count` more processes, as long as no side fails. */
static void run_processes(pair_timing *timing, time_sample *sample, unsigned count,
                          const char *what)
{
    const case_key *key = &timing->own->pair.key;
    char line[160];
    snprintf(line, sizeof line, "%s %s  %zux%zu", what, key->kernel, key->rows, key->hidden);
    for (unsigned i = 0; i < count && !timing->over; i++) {
        const double before = seconds_now();
        run_process(timing, sample);
        progress_step(&timing->duet->progress, seconds_now() - before, line);
    }
}

/* Returns time of new / time of base: the median over processes of their medians, with its interval. */
static interval_estimate ratio_of(const pair_timing *timing, const time_sample *sample)
{
    const comparison_settings *settings = &timing->duet->comparison.settings;
    const speed_sample *ratios = &sample->ratios;
    grouped_values grouped = {ratios->values, ratios->start, ratios->groups};
    interval_estimate ratio =
        bootstrap_median(&grouped, RESAMPLE_GROUPS, COMPARISON_CONFIDENCE, settings->seed);
    return (interval_estimate){exp(ratio.middle), exp(ratio.lo), exp(ratio.hi)};
}

static double seconds_spent(const pair_timing *timing)
{
    return seconds_now() - timing->begun;
}

/* Adds processes until the answer is clear or a third of the time is spent. Runs at least DUET_LEAST_PROCESSES, unless
 * they take more than half of the time. */
static void search(pair_timing *timing)
{
    const comparison_settings *settings = &timing->duet->comparison.settings;
    time_sample sample = {0};
    while (timing->processes < DUET_LEAST_PROCESSES && !timing->over &&
           seconds_spent(timing) <= settings->seconds / 2)
        run_processes(timing, &sample, 1, "searching");
    while (timing->processes >= DUET_LEAST_PROCESSES && !timing->over) {
        interval_estimate ratio = ratio_of(timing, &sample);
        if (speed_lean(&ratio, settings->threshold) != SPEED_INCONCLUSIVE ||
            seconds_spent(timing) > settings->seconds / 3)
            break;
        run_processes(timing, &sample, SEARCH_STEP, "searching");
    }
    sample_free(&sample);
}

/* Sets the pair's figures from a sample whose length does not depend on its results; frees the sample. */
static void take_sample(pair_timing *timing, time_sample *sample)
{
    comparison_pair *pair = &timing->own->pair;
    if (!timing->over && sample->ratios.groups > 0) {
        for (int side = 0; side < SIDES; side++) {
            pair->sides[side].speed.time_ns =
                median(sample->times[side].values, sample->times[side].count);
            pair->sides[side].speed.processes = (unsigned)sample->ratios.groups;
        }
        pair->ratio = ratio_of(timing, sample);
    }
    sample_free(sample);
}

/* Searches, then confirms with fresh processes. If the confirmation is inconclusive and there is time for a longer one,
 * that one decides. */
static void time_adaptively(pair_timing *timing)
{
    const comparison_settings *settings = &timing->duet->comparison.settings;
    comparison_pair *pair = &timing->own->pair;
    unsigned confirmed = 0;
    search(timing);
    pair->searched = timing->processes;
    while (!timing->over && timing->processes >= DUET_LEAST_PROCESSES) {
        const double spent = seconds_spent(timing);
        const unsigned processes =
            duet_confirmation(confirmed ? confirmed : timing->processes, settings->seconds - spent,
                              spent / timing->processes);
        if (processes <= confirmed)
            break;
        time_sample sample = {0};
        confirmed = processes;
        pair->searched = timing->processes;
        run_processes(timing, &sample, processes, "confirming");
        take_sample(timing, &sample);
        if (pair->sides[NEW].speed.processes > 0)
            pair->speed = speed_lean(&pair->ratio, settings->threshold);
        if (pair->speed != SPEED_INCONCLUSIVE)
            break;
    }
    if (!timing->over && timing->processes > 0 && !confirmed)
        pair->detail = arena_format(
            &timing->duet->comparison.memory, "too few repetitions in %g s: use --time %.0f",
            settings->seconds,
            ceil(2.5 * DUET_LEAST_PROCESSES * seconds_spent(timing) / timing->processes));
}

/* Runs as many processes as the time allows, and at least as many as an interval needs. The length does not depend on
 * results; the ratio gets no verdict. */
static void time_fixed(pair_timing *timing)
{
    const comparison_settings *settings = &timing->duet->comparison.settings;
    time_sample sample = {0};
    while (!timing->over &&
           (timing->processes < DUET_LEAST_PROCESSES || seconds_spent(timing) < settings->seconds))
        run_processes(timing, &sample, 1, "measuring the noise");
    take_sample(timing, &sample);
}

/* Times one pair, unless a side fails. */
static void time_pair(duet_run *duet, const speed_group *group, const judge_block blocks[BLOCKS],
                      duet_pair *own)
{
    const double bytes = call_bytes(operations[group->convention.operation], group->rows,
                                    group->hidden, group->dtype);
    comparison_pair *pair = &own->pair;
    pair_timing timing = {.duet = duet,
                          .group = group,
                          .blocks = blocks,
                          .own = own,
                          .rounds = bytes > FEW_BYTES ? FEW_ROUNDS : ROUNDS,
                          .begun = seconds_now()};
    pair->speed = SPEED_INCONCLUSIVE;
    for (int side = 0; side < SIDES && !timing.over; side++)
        timing.over = !timed_rows_begin(&timing.rows[side], duet->judge, blocks, own->kernels[side],
                                        own->outputs[side], &pair->sides[side].verdict);
    if (!interrupted() && !timing.over && duet->fixed)
        time_fixed(&timing);
    else if (!interrupted() && !timing.over)
        time_adaptively(&timing);
    timed_rows_free(&timing.rows[BASE]);
    timed_rows_free(&timing.rows[NEW]);
    if (timing.over)
        pair->speed = SPEED_NOT_MEASURED;
    /* Fewer rows are judged than timed, so a kernel may decline only the timed shape. */
    const char *base = timing.refusals[BASE], *new = timing.refusals[NEW];
    case_verdict unsupported = {.kind = VERDICT_UNSUPPORTED};
    char described[DETAIL_MAX_LENGTH + 16];
    verdict_say(&unsupported, "%s", base[0] ? base : new);
    verdict_describe(&unsupported, described, sizeof described);
    if (base[0])
        pair->detail = arena_format(&duet->comparison.memory, "not timed: %s: %.170s",
                                    new[0] ? "both" : "base", described);
    else if (new[0])
        pair->missing = arena_format(&duet->comparison.memory, "new, in timing: %.170s", described);
    pair->seconds = seconds_spent(&timing);
}

unsigned duet_confirmation(unsigned searched, double seconds_left, double seconds_each)
{
    unsigned wanted = 2 * searched > LEAST_CONFIRMATION ? 2 * searched : LEAST_CONFIRMATION;
    const double room = seconds_left / seconds_each;
    if (room < (double)wanted)
        wanted = room > 0 ? (unsigned)room : 0;
    return wanted < DUET_LEAST_PROCESSES ? 0 : wanted;
}

/* ---- shapes and kernels ---- */

/* A shape with its own plan, and the types that are timed at it. */
typedef struct timed_shape {
    char word[48];
    unsigned types; /* bits 1 << ln_type */
} timed_shape;

/* Lists the given shapes for all types, or else those that the quick plan times, each for its own type: with shorter
 * elements, a cache level holds more rows. */
static size_t list_shapes(const duet_run *duet, const plan_request *request, timed_shape **shapes)
{
    const size_t given = request->shapes.count, all = given ? given : duet->plan.speed_count;
    size_t count = 0;
    *shapes = allocate_zeroed(all + 1, sizeof **shapes);
    for (size_t i = 0; i < all; i++) {
        const speed_group *group = given ? NULL : &duet->plan.speed[i];
        timed_shape shape = {.types = given ? ~0u : 1u << group->dtype};
        size_t at = 0;
        if (given)
            snprintf(shape.word, sizeof shape.word, "%.47s", request->shapes.words[i]);
        else
            snprintf(shape.word, sizeof shape.word, "%zux%zu", group->rows, group->hidden);
        while (at < count && strcmp((*shapes)[at].word, shape.word) != 0)
            at++;
        shape.types |= (*shapes)[at].types;
        (*shapes)[at] = shape;
        count += at == count;
    }
    return count;
}

/* Fills the pairs of one shape and returns their number. Counts the cases that form no pair. */
static size_t list_pairs(duet_run *duet, const speed_group *group, const duet_partner *partners,
                         duet_pair *pairs)
{
    size_t count = 0;
    for (size_t i = 0; i < duet->plan.kernel_count; i++) {
        const kernel_entry *base = duet->plan.kernels[i], *new = partners[i].kernel;
        const case_key key = speed_key(group, (new ? new : base)->facts.name);
        if (!speed_takes(group, base))
            continue;
        if (!new) {
            comparison_set_lone(&duet->comparison, partners[i].lone, &key, partners[i].why);
            continue;
        }
        duet_pair *added = &pairs[count++];
        *added = (duet_pair){.kernels = {base, new}, .pair = comparison_pair_of(&key)};
        kernel_entry_label(new, added->pair.label);
        for (int side = 0; side < SIDES; side++)
            snprintf(added->pair.sides[side].reproducible,
                     sizeof added->pair.sides[side].reproducible, "%s", partners[i].classes[side]);
    }
    return count;
}

/* Judges all pairs of a group, then times them one after the other. */
static void measure_group(duet_run *duet, const speed_group *group, const duet_partner *partners,
                          bool first_of_types)
{
    const comparison_settings *settings = &duet->comparison.settings;
    duet_pair *pairs = allocate_zeroed(duet->plan.kernel_count, sizeof *pairs);
    const size_t count = list_pairs(duet, group, partners, pairs);
    size_t done = 0;
    judge_block blocks[BLOCKS] = {0};
    for (size_t i = 0; i < BLOCKS && !interrupted(); i++)
        judge_block_generate(duet->judge, &blocks[i],
                             call_dense(&group->convention, group->dtype, group->param,
                                        group->block_rows, group->hidden),
                             group->input, NULL, i * group->block_rows);
    for (size_t i = 0; i < count && !interrupted(); i++) {
        for (int block = 0; block < BLOCKS; block++)
            judge_pair(duet, &blocks[block], &pairs[i], "normal, as timed", block);
        progress_step(&duet->progress, 0, pairs[i].pair.key.kernel);
    }
    if (settings->accuracy && first_of_types)
        judge_families(duet, group, pairs, count);
    for (; done < count && !interrupted(); done += !interrupted()) {
        void *(*outputs)[BLOCKS] = pairs[done].outputs;
        if (settings->speed && outputs[BASE][0] && outputs[BASE][1] && outputs[NEW][0] &&
            outputs[NEW][1] && pair_failed(&pairs[done].pair) == FAILED_NOT)
            time_pair(duet, group, blocks, &pairs[done]);
    }
    for (size_t i = done; i < count; i++) /* those without a verdict */
        comparison_set_lone(&duet->comparison, LONE_MISSING, &pairs[i].pair.key, "interrupted");
    for (size_t i = 0; i < done; i++)
        comparison_settle(&duet->comparison, &pairs[i].pair);
    duet->stopped |= done < count;
    for (size_t i = 0; i < count; i++)
        for (int each = 0; each < SIDES * BLOCKS; each++)
            free(pairs[i].outputs[each / BLOCKS][each % BLOCKS]);
    judge_block_free(&blocks[0]);
    judge_block_free(&blocks[1]);
    free(pairs);
}

bool duet_measure(duet_run *duet, const plan_request *request)
{
    const comparison_settings *settings = &duet->comparison.settings;
    duet_partner *partners = allocate_zeroed(duet->plan.kernel_count + 1, sizeof *partners);
    timed_shape *shapes;
    const size_t count = list_shapes(duet, request, &shapes);
    find_partners(duet, partners);
    find_classes(duet, partners);
    progress_begin(&duet->progress, (double)(count * duet->plan.kernel_count) *
                                        (settings->speed ? settings->seconds / 4 : 1));
    for (size_t i = 0; duet->requested.count > 0 && i < count; i++) {
        plan_request own = *request;
        const char *word = shapes[i].word;
        own.shapes = (word_list){&word, 1};
        own.kernels = duet->requested;
        own.dtypes = (word_list){0};
        plan_free(&duet->plan);
        plan_make(&own, &duet->kernels[BASE], &duet->comparison.machine, &duet->plan);
        /* Groups of the same types are adjacent: one for each cache state and number of threads. */
        for (size_t g = 0; g < duet->plan.speed_count; g++) {
            const speed_group *group = &duet->plan.speed[g];
            if (shapes[i].types & 1u << group->dtype)
                measure_group(duet, group, partners,
                              g == 0 || group[-1].dtype != group->dtype ||
                                  group[-1].param != group->param);
        }
    }
    progress_end(&duet->progress);
    free(shapes);
    free(partners);
    return !duet->stopped;
}
