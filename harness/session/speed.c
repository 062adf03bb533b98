/* Times the speed groups: judges the two blocks, then measures in several fresh worker processes,
 * all kernels and both roofs interleaved. */
#include "base/interrupt.h"
#include "domain/regime.h"
#include "referee/timed_rows.h"
#include "worker/roof.h"
#include "session/session.h"
#include "session/timed_group.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCKS = 2 };

/* One kernel (or roof) of the group that is being timed. */
typedef struct timed_case {
    const kernel_entry *kernel; /* NULL: a roof */
    case_key key;
    void *judged[BLOCKS];
    case_judgement judgement; /* of the first block */
    timed_rows rows;
    bool timed;     /* false: left out, its verdict is stored */
    double call_ns; /* the shortest repetition's, so far; 0: none yet */
} timed_case;

typedef struct timed_round {
    run_session *session;
    const speed_group *group;
    judge_block blocks[BLOCKS];
    timed_case *contenders;
    size_t count;
    size_t *entries; /* contender of each entry of the process that runs */
    size_t entry_count;
} timed_round;

double session_repetition_seconds(const speed_group *group)
{
    double bytes = call_bytes(group->rows, group->hidden, group->dtype);
    double call = bytes / 16e9; /* of a kernel that is neither fast nor slow */
    /* Besides what is timed: a call that settles the caches, poison, comparison. */
    return (call > group->min_seconds ? call : group->min_seconds) * 1.2 + call + bytes / 8e9;
}

double session_timed_judgement_seconds(const speed_group *group)
{
    return BLOCKS * session_judgement_seconds(group->block_rows * group->hidden);
}

static void heat_free(timed_round *heat)
{
    for (size_t i = 0; i < BLOCKS; i++)
        judge_block_free(&heat->blocks[i]);
    for (size_t i = 0; heat->contenders && i < heat->count; i++) {
        timed_rows_free(&heat->contenders[i].rows);
        for (size_t block = 0; block < BLOCKS; block++)
            free(heat->contenders[i].judged[block]);
    }
    free(heat->contenders);
    free(heat->entries);
}

static bool heat_create(timed_round *heat, run_session *session, const speed_group *group,
                        error *err)
{
    size_t kernels = plan_kernels_of(&session->plan, group->dtype, group->param);
    *heat = (struct timed_round){.session = session, .group = group, .count = kernels + ROOFS};
    heat->contenders = calloc(heat->count, sizeof *heat->contenders);
    heat->entries = calloc(heat->count, sizeof *heat->entries);
    if (!heat->contenders || !heat->entries)
        return fail_memory(err, "a timed group");
    size_t next = 0;
    for (size_t i = 0; i < session->plan.kernel_count; i++)
        if (plan_takes(session->plan.kernels[i], group->dtype, group->param))
            heat->contenders[next++].kernel = session->plan.kernels[i];
    for (size_t i = 0; i < heat->count; i++) {
        timed_case *contender = &heat->contenders[i];
        contender->key = speed_key(group, contender->kernel ? contender->kernel->facts.name
                                                            : roof_names[i - kernels]);
        contender->timed = true;
    }
    for (size_t i = 0; i < BLOCKS; i++)
        if (!judge_block_generate(session->judge, &heat->blocks[i], &group->convention,
                                  group->dtype, group->param, "normal", i * group->block_rows,
                                  group->block_rows, group->hidden, err))
            return false;
    return true;
}

static bool is_fit(const case_verdict *verdict)
{
    return verdict->kind == VERDICT_OK || verdict->kind == VERDICT_OK_NO_BOUND ||
           verdict->kind == VERDICT_INACCURATE || verdict->kind == VERDICT_WRONG_CLASS;
}

/* Judges both blocks; keeps the outputs, which timing then compares with. Wrong kernels are timed
 * too: how fast a wrong answer is has interest; one that crashed or wrote elsewhere is not. */
static bool judge_contender(timed_round *heat, timed_case *contender, error *err)
{
    run_session *session = heat->session;
    size_t bytes = timed_group_bytes(heat->group);
    case_judgement judgement = {0};
    for (size_t i = 0; i < BLOCKS && contender->timed; i++) {
        if (!judge_kernel(session->judge, &heat->blocks[i], contender->kernel, &judgement, err))
            return false;
        contender->timed = is_fit(&judgement.verdict);
        if (contender->timed) {
            contender->judged[i] = malloc(bytes);
            if (!contender->judged[i])
                return fail_memory(err, "judged outputs");
            memcpy(contender->judged[i], judgement.computed, bytes);
        }
        if (i == 0 && !session_probe(session, contender->kernel, &heat->group->convention,
                                     heat->group->hidden, &judgement, err))
            return false;
        if (i == 0)
            contender->judgement = judgement;
        bool worse =
            judgement.verdict.kind != VERDICT_OK && judgement.verdict.kind != VERDICT_OK_NO_BOUND;
        if ((i == 0 || worse) && !session_put(session, &contender->key, &judgement, err))
            return false;
        if (worse)
            contender->judgement = judgement;
    }
    if (!contender->timed)
        return true;
    if (timed_rows_begin(&contender->rows, session->judge, heat->blocks, contender->kernel,
                         contender->judged, &judgement.verdict, err))
        return true;
    contender->timed = false; /* bound() itself failed */
    return err->code == EXIT_CODE_FINE && session_put(session, &contender->key, &judgement, err);
}

/* The order that begins a group, with its tensors in the arena; *end is where expected outputs go.
 */
static bool place_group(const timed_round *heat, unsigned process, work_order *begin, off_t *end,
                        error *err)
{
    const speed_group *group = heat->group;
    run_session *session = heat->session;
    *begin = timed_group_order(group, &session->machine);
    begin->huge_pages = session->huge_pages;
    begin->cpu = session->cpu;
    begin->repetitions = group->repetitions;
    begin->min_seconds = group->min_seconds;
    begin->seed = session->plan.seed * 0x9e3779b97f4a7c15u + process;
    return timed_group_place(group, heat->blocks, session->worker, 2, begin, end, err);
}

/* A contender that fell out while being timed. */
static bool drop(timed_round *heat, size_t index, const worker_reply *reply, error *err)
{
    timed_case *contender = &heat->contenders[index];
    case_judgement judgement = {.verdict.kind = reply->verdict, .bound_row_ulp = NAN};
    contender->timed = false;
    snprintf(judgement.verdict.detail, sizeof judgement.verdict.detail, "%.180s", reply->text);
    return session_put(heat->session, &contender->key, &judgement, err);
}

/* A worker that is gone through nobody's fault: an interruption, or the machine's. */
static bool worker_lost(const worker_reply *reply, error *err)
{
    if (interrupted())
        return fail(err, EXIT_CODE_INTERRUPTED, "interrupted");
    return fail(err, EXIT_CODE_ENVIRONMENT, "the timing worker: %s", reply->text);
}

/* The first process finds how many calls make a repetition, by Google Benchmark's search, which
 * costs as much as a repetition and overshoots by up to a half; the others are told. A call that
 * alone is as long as several repetitions has averaged as much noise by itself. */
static void set_length(work_order *entry, const speed_group *group, double call_ns)
{
    double calls = call_ns > 0 ? round(group->min_seconds * 1e9 / call_ns) : 0;
    if (!(call_ns > 0))
        return;
    entry->iterations = calls < 1 ? 1 : calls > 1e9 ? 1000000000 : (uint64_t)calls;
    double enough = ceil(group->repetitions * group->min_seconds * 1e9 / call_ns);
    if (enough < group->repetitions)
        entry->repetitions =
            enough > group->slow_repetitions ? (unsigned)enough : group->slow_repetitions;
}

/* Begins the group and enters everyone who is still in it. *again: the process was lost, start
 * over. */
static bool enter_all(timed_round *heat, const work_order *begin, off_t end, bool *again,
                      error *err)
{
    worker_process *worker = heat->session->worker;
    double deadline = heat->session->deadline_seconds;
    size_t bytes = timed_group_bytes(heat->group);
    int arena = worker_arena(worker);
    worker_reply reply;
    *again = false;
    heat->entry_count = 0;
    if (!worker_ask(worker, begin, deadline, &reply))
        return worker_lost(&reply, err);
    for (size_t i = 0; i < heat->count; i++) {
        timed_case *contender = &heat->contenders[i];
        if (!contender->timed)
            continue;
        work_order entry = worker_order(ORDER_TIME_ENTRY, contender->kernel);
        snprintf(entry.text, sizeof entry.text, "%s", contender->key.kernel);
        if (contender->kernel) {
            entry.at.expected = end;
            entry.at.expected_other = end + (off_t)((bytes + 63) / 64 * 64);
            if (!arena_write(arena, entry.at.expected, contender->judged[0], bytes) ||
                !arena_write(arena, entry.at.expected_other, contender->judged[1], bytes))
                return fail(err, EXIT_CODE_ENVIRONMENT, "memory file: %s", strerror(errno));
        }
        set_length(&entry, heat->group, contender->call_ns);
        if (worker_ask(worker, &entry, deadline, &reply)) {
            heat->entries[heat->entry_count++] = i;
            continue;
        }
        if (interrupted() || reply.verdict == VERDICT_SKIPPED)
            return worker_lost(&reply, err);
        *again = reply.verdict != VERDICT_UNSUPPORTED;
        if (!drop(heat, i, &reply, err))
            return false;
        if (*again)
            return true;
    }
    return true;
}

static bool store_one(timed_round *heat, unsigned process, const worker_reply *reply, error *err)
{
    timed_case *contender = &heat->contenders[heat->entries[reply->count]];
    timed_repetition repetition = reply->repetition;
    char what[160];
    repetition.process = process;
    if (!(contender->call_ns > 0) || repetition.real_ns < contender->call_ns)
        contender->call_ns = repetition.real_ns;
    snprintf(what, sizeof what, "%s  %zux%zu", contender->key.kernel, heat->group->rows,
             heat->group->hidden);
    progress_step(&heat->session->progress, session_repetition_seconds(heat->group), what);
    return store_put_repetition(heat->session->store, heat->session->run, &contender->key,
                                &repetition, err);
}

/* Rows whose bits depend on their place. */
static bool take_rows(timed_round *heat, const work_order *begin, const worker_reply *reply,
                      error *err)
{
    timed_case *contender = &heat->contenders[heat->entries[reply->count]];
    run_session *session = heat->session;
    case_judgement judgement = contender->judgement;
    judgement.varies |= 1u << (heat->group->threads > 1 ? AXIS_THREADS : AXIS_POSITION);
    if (!contender->kernel) /* a copy has nothing to judge */
        return fail(err, EXIT_CODE_ENVIRONMENT, "the timing worker: rows of a roof");
    return timed_rows_take(&contender->rows, session->judge, session->worker, begin, reply, err) &&
           timed_rows_judge(&contender->rows, session->judge, &judgement) &&
           session_put(session, &contender->key, &judgement, err);
}

/* The stream of repetitions of one process. *again: it was lost. */
static bool follow(timed_round *heat, const work_order *begin, unsigned process, bool *again,
                   error *err)
{
    worker_process *worker = heat->session->worker;
    work_order run = *begin;
    worker_reply reply;
    size_t running = 0;
    /* A slow kernel's whole repetition, its calibration, poison and comparison. */
    double deadline =
        heat->session->deadline_seconds + 20 * session_repetition_seconds(heat->group);
    run.kind = ORDER_TIME_RUN;
    if (!worker_send_order(worker, &run, &reply))
        return worker_lost(&reply, err);
    for (;;) {
        bool fine = worker_next(worker, deadline, &reply);
        bool known = reply.count < heat->entry_count;
        if (interrupted())
            return worker_lost(&reply, err);
        if (fine && reply.kind == REPLY_DONE)
            return true;
        if (fine && reply.kind == REPLY_STARTED && known)
            running = reply.count;
        if (fine && reply.kind == REPLY_REPETITION && known &&
            !store_one(heat, process, &reply, err))
            return false;
        if (fine && reply.kind == REPLY_ROWS && known && !take_rows(heat, begin, &reply, err))
            return false;
        if (fine)
            continue;
        if (reply.verdict == VERDICT_SKIPPED)
            return worker_lost(&reply, err);
        bool alive = reply.verdict == VERDICT_NONDETERMINISTIC;
        if (!drop(heat, heat->entries[alive && known ? reply.count : running], &reply, err))
            return false;
        if (alive)
            continue;
        *again = true;
        return true;
    }
}

/* Roofs alone have nothing to be compared with. */
static bool anyone_left(const timed_round *heat)
{
    for (size_t i = 0; i < heat->count; i++)
        if (heat->contenders[i].kernel && heat->contenders[i].timed)
            return true;
    return false;
}

/* One process; started over without the culprit as often as one is found, each time under a number
 * of its own: what the lost one sent is stored. */
static bool run_process(timed_round *heat, error *err)
{
    for (;;) {
        unsigned process = heat->session->next_process++;
        work_order begin;
        off_t end;
        bool again = false;
        if (!worker_renew(heat->session->worker, err) ||
            !place_group(heat, process, &begin, &end, err) ||
            !enter_all(heat, &begin, end, &again, err))
            return false;
        if (!again && !follow(heat, &begin, process, &again, err))
            return false;
        if (again && !anyone_left(heat))
            return true;
        if (!again)
            return store_end_process(heat->session->store, heat->session->run, process, err);
    }
}

/* Processes of an earlier try that timed this group to their end. Groups that differ in the type of
 * the parameters alone share their roofs' cases: the kernels tell. */
static bool processes_done(timed_round *heat, unsigned *done, error *err)
{
    *done = 0;
    for (size_t i = 0; heat->session->resumed && i + ROOFS < heat->count; i++) {
        unsigned processes;
        if (!store_process_count(heat->session->store, heat->session->run, &heat->contenders[i].key,
                                 &processes, err))
            return false;
        if (processes > *done)
            *done = processes;
    }
    return true;
}

static bool same_case(const case_key *a, const case_key *b)
{
    return strcmp(a->kernel, b->kernel) == 0 && strcmp(a->convention, b->convention) == 0 &&
           strcmp(a->input, b->input) == 0 && a->rows == b->rows && a->hidden == b->hidden &&
           a->dtype == b->dtype && a->cache == b->cache && a->threads == b->threads;
}

static bool fell_out(const stored_case *stored)
{
    return stored->judged && stored->verdict.kind != VERDICT_SKIPPED && !is_fit(&stored->verdict);
}

/* Who fell out in an earlier try stays out, or its verdict would be written over: what goes wrong
 * once in a while may go right today. */
static bool leave_out_the_fallen(timed_round *heat, error *err)
{
    stored_cases cases;
    if (!heat->session->resumed)
        return true;
    if (!store_cases(heat->session->store, heat->session->run, &cases, err))
        return false;
    for (size_t i = 0; i < heat->count; i++)
        for (size_t stored = 0; stored < cases.count; stored++)
            if (fell_out(&cases.cases[stored]) &&
                same_case(&cases.cases[stored].key, &heat->contenders[i].key))
                heat->contenders[i].timed = false;
    stored_cases_free(&cases);
    return true;
}

static bool time_group(run_session *session, const speed_group *group, error *err)
{
    timed_round heat;
    unsigned done = 0;
    bool fine = heat_create(&heat, session, group, err) && processes_done(&heat, &done, err) &&
                leave_out_the_fallen(&heat, err);
    for (size_t i = 0; fine && done < group->processes && i < heat.count; i++) {
        char what[160];
        snprintf(what, sizeof what, "judging %s  %zux%zu", heat.contenders[i].key.kernel,
                 group->rows, group->hidden);
        progress_step(&session->progress, session_timed_judgement_seconds(group), what);
        if (interrupted())
            fine = fail(err, EXIT_CODE_INTERRUPTED, "interrupted");
        else if (heat.contenders[i].kernel)
            fine = judge_contender(&heat, &heat.contenders[i], err);
    }
    for (; fine && done < group->processes && anyone_left(&heat); done++)
        fine = run_process(&heat, err);
    heat_free(&heat);
    return fine;
}

bool session_speed(run_session *session, error *err)
{
    for (size_t i = 0; i < session->plan.speed_count; i++)
        if (!time_group(session, &session->plan.speed[i], err))
            return false;
    return true;
}
