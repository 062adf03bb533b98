/* Times the speed groups: judges the two blocks, then measures in several fresh worker processes,
 * all kernels and both roofs interleaved. */
#include "interrupt.h"
#include "judge_timed.h"
#include "roof.h"
#include "session.h"
#include "timed_group.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    BLOCKS = 2,
    ROOFS = 2,
    SLOW_CALL = 2, /* repetitions that one call of a slow kernel is as long as */
};

/* One kernel (or roof) of the group that is being timed. */
typedef struct contender {
    const kernel_entry *kernel; /* NULL: a roof */
    case_key key;
    void *judged[BLOCKS];
    judgement judgement; /* of the first block */
    timed_rows rows;
    bool timed;     /* false: left out, its verdict is stored */
    double call_ns; /* the shortest repetition's, so far; 0: none yet */
} contender;

typedef struct heat {
    session *session;
    const speed_group *group;
    judge_block blocks[BLOCKS];
    contender *contenders;
    size_t count;
    size_t *entries; /* contender of each entry of the process that runs */
    size_t entry_count;
} heat;

double session_repetition_seconds(const speed_group *group)
{
    double bytes = 2.0 * (double)(group->rows * group->hidden * dtype_size(group->dtype));
    double call = bytes / 16e9; /* of a kernel that is neither fast nor slow */
    /* Besides what is timed: a call that settles the caches, poison, comparison. */
    return (call > group->min_seconds ? call : group->min_seconds) * 1.2 + call + bytes / 8e9;
}

static void heat_free(heat *heat)
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

static bool heat_create(heat *heat, session *session, const speed_group *group, error *error)
{
    size_t kernels = plan_kernels_of(&session->plan, group->dtype, group->param);
    *heat = (struct heat){.session = session, .group = group, .count = kernels + ROOFS};
    heat->contenders = calloc(heat->count, sizeof *heat->contenders);
    heat->entries = calloc(heat->count, sizeof *heat->entries);
    if (!heat->contenders || !heat->entries)
        return fail_memory(error, "a timed group");
    size_t next = 0;
    for (size_t i = 0; i < session->plan.kernel_count; i++)
        if (plan_takes(session->plan.kernels[i], group->dtype, group->param))
            heat->contenders[next++].kernel = session->plan.kernels[i];
    for (size_t i = 0; i < heat->count; i++) {
        contender *contender = &heat->contenders[i];
        contender->key = speed_key(group, contender->kernel ? contender->kernel->facts.name
                                          : i == kernels    ? ROOF_COPY
                                                            : ROOF_COPY_NT);
        contender->timed = true;
    }
    for (size_t i = 0; i < BLOCKS; i++)
        if (!judge_block_generate_typed(session->judge, &heat->blocks[i], &group->convention,
                                        group->dtype, group->param, "normal", i * group->block_rows,
                                        group->block_rows, group->hidden, error))
            return false;
    return true;
}

static bool is_fit(const verdict *verdict)
{
    return verdict->kind == VERDICT_OK || verdict->kind == VERDICT_OK_NO_BOUND ||
           verdict->kind == VERDICT_INACCURATE || verdict->kind == VERDICT_WRONG_CLASS;
}

/* Judges both blocks; keeps the outputs, which timing then compares with. Wrong kernels are timed
 * too: how fast a wrong answer is has interest; one that crashed or wrote elsewhere is not. */
static bool judge_contender(heat *heat, contender *contender, error *error)
{
    session *session = heat->session;
    size_t bytes = timed_group_bytes(heat->group);
    judgement judgement = {0};
    for (size_t i = 0; i < BLOCKS && contender->timed; i++) {
        if (!judge_kernel(session->judge, &heat->blocks[i], contender->kernel, &judgement, error))
            return false;
        contender->timed = is_fit(&judgement.verdict);
        if (contender->timed) {
            contender->judged[i] = malloc(bytes);
            if (!contender->judged[i])
                return fail_memory(error, "judged outputs");
            memcpy(contender->judged[i], judgement.computed, bytes);
        }
        if (i == 0 && !session_probe(session, contender->kernel, &heat->group->convention,
                                     heat->group->hidden, &judgement, error))
            return false;
        if (i == 0)
            contender->judgement = judgement;
        bool worse =
            judgement.verdict.kind != VERDICT_OK && judgement.verdict.kind != VERDICT_OK_NO_BOUND;
        if ((i == 0 || worse) && !session_put(session, &contender->key, &judgement, error))
            return false;
        if (worse)
            contender->judgement = judgement;
    }
    if (!contender->timed)
        return true;
    if (timed_rows_begin(&contender->rows, session->judge, heat->blocks, contender->kernel,
                         contender->judged, &judgement.verdict, error))
        return true;
    contender->timed = false; /* bound() itself failed */
    return error->code == EXIT_CODE_FINE &&
           session_put(session, &contender->key, &judgement, error);
}

/* The order that begins a group, with its tensors in the arena; *end is where expected outputs go.
 */
static bool place_group(const heat *heat, unsigned process, order *begin, off_t *end, error *error)
{
    const speed_group *group = heat->group;
    session *session = heat->session;
    *begin = timed_group_order(group, &session->machine);
    begin->huge_pages = session->huge_pages;
    begin->cpu = session->cpu;
    begin->repetitions = group->repetitions;
    begin->min_seconds = group->min_seconds;
    begin->seed = session->plan.seed * 0x9e3779b97f4a7c15u + process;
    return timed_group_place(group, heat->blocks, session->worker, 2, begin, end, error);
}

/* A contender that fell out while being timed. */
static bool drop(heat *heat, size_t index, const reply *reply, error *error)
{
    contender *contender = &heat->contenders[index];
    judgement judgement = {.verdict.kind = reply->verdict, .bound_row_ulp = NAN};
    contender->timed = false;
    snprintf(judgement.verdict.detail, sizeof judgement.verdict.detail, "%.180s", reply->text);
    return session_put(heat->session, &contender->key, &judgement, error);
}

/* A worker that is gone through nobody's fault: an interruption, or the machine's. */
static bool worker_lost(const reply *reply, error *error)
{
    if (interrupted())
        return fail(error, EXIT_CODE_INTERRUPTED, "interrupted");
    return fail(error, EXIT_CODE_ENVIRONMENT, "the timing worker: %s", reply->text);
}

/* The first process finds how many calls make a repetition, by Google Benchmark's search, which
 * costs as much as a repetition and overshoots by up to a half; the others are told. A call that
 * alone is as long as several repetitions has averaged as much noise by itself. */
static void set_length(order *entry, const speed_group *group, double call_ns)
{
    double calls = call_ns > 0 ? round(group->min_seconds * 1e9 / call_ns) : 0;
    if (!(call_ns > 0))
        return;
    entry->iterations = calls < 1 ? 1 : calls > 1e9 ? 1000000000 : (uint64_t)calls;
    if (call_ns > SLOW_CALL * group->min_seconds * 1e9)
        entry->repetitions = group->slow_repetitions;
}

/* Begins the group and enters everyone who is still in it. *again: the process was lost, start
 * over. */
static bool enter_all(heat *heat, const order *begin, off_t end, bool *again, error *error)
{
    worker *worker = heat->session->worker;
    double deadline = heat->session->deadline_seconds;
    size_t bytes = timed_group_bytes(heat->group);
    int arena = worker_arena(worker);
    reply reply;
    *again = false;
    heat->entry_count = 0;
    if (!worker_ask(worker, begin, deadline, &reply))
        return worker_lost(&reply, error);
    for (size_t i = 0; i < heat->count; i++) {
        contender *contender = &heat->contenders[i];
        if (!contender->timed)
            continue;
        order entry = worker_order(ORDER_TIME_ENTRY, contender->kernel);
        snprintf(entry.text, sizeof entry.text, "%s", contender->key.kernel);
        if (contender->kernel) {
            entry.at.expected = end;
            entry.at.expected_other = end + (off_t)((bytes + 63) / 64 * 64);
            if (!arena_write(arena, entry.at.expected, contender->judged[0], bytes) ||
                !arena_write(arena, entry.at.expected_other, contender->judged[1], bytes))
                return fail(error, EXIT_CODE_ENVIRONMENT, "memory file: %s", strerror(errno));
        }
        set_length(&entry, heat->group, contender->call_ns);
        if (worker_ask(worker, &entry, deadline, &reply)) {
            heat->entries[heat->entry_count++] = i;
            continue;
        }
        if (interrupted() || reply.verdict == VERDICT_SKIPPED)
            return worker_lost(&reply, error);
        *again = reply.verdict != VERDICT_UNSUPPORTED;
        if (!drop(heat, i, &reply, error))
            return false;
        if (*again)
            return true;
    }
    return true;
}

static bool store_one(heat *heat, unsigned process, const reply *reply, error *error)
{
    contender *contender = &heat->contenders[heat->entries[reply->count]];
    repetition repetition = reply->repetition;
    char what[160];
    repetition.process = process;
    if (!(contender->call_ns > 0) || repetition.real_ns < contender->call_ns)
        contender->call_ns = repetition.real_ns;
    snprintf(what, sizeof what, "%s  %zux%zu", contender->key.kernel, heat->group->rows,
             heat->group->hidden);
    progress_step(&heat->session->progress, session_repetition_seconds(heat->group), what);
    return store_put_repetition(heat->session->store, heat->session->run, &contender->key,
                                &repetition, error);
}

/* Rows whose bits depend on their place. */
static bool take_rows(heat *heat, const order *begin, const reply *reply, error *error)
{
    contender *contender = &heat->contenders[heat->entries[reply->count]];
    session *session = heat->session;
    judgement judgement = contender->judgement;
    judgement.varies |= 1u << (heat->group->threads > 1 ? AXIS_THREADS : AXIS_POSITION);
    if (!contender->kernel) /* a copy has nothing to judge */
        return fail(error, EXIT_CODE_ENVIRONMENT, "the timing worker: rows of a roof");
    return timed_rows_take(&contender->rows, session->judge, session->worker, begin, reply,
                           error) &&
           timed_rows_judge(&contender->rows, session->judge, &judgement) &&
           session_put(session, &contender->key, &judgement, error);
}

/* The stream of repetitions of one process. *again: it was lost. */
static bool follow(heat *heat, const order *begin, unsigned process, bool *again, error *error)
{
    worker *worker = heat->session->worker;
    order run = *begin;
    reply reply;
    size_t running = 0;
    /* A slow kernel's whole repetition, its calibration, poison and comparison. */
    double deadline =
        heat->session->deadline_seconds + 20 * session_repetition_seconds(heat->group);
    run.kind = ORDER_TIME_RUN;
    if (!worker_send_order(worker, &run, &reply))
        return worker_lost(&reply, error);
    for (;;) {
        bool fine = worker_next(worker, deadline, &reply);
        bool known = reply.count < heat->entry_count;
        if (interrupted())
            return worker_lost(&reply, error);
        if (fine && reply.kind == REPLY_DONE)
            return true;
        if (fine && reply.kind == REPLY_STARTED && known)
            running = reply.count;
        if (fine && reply.kind == REPLY_REPETITION && known &&
            !store_one(heat, process, &reply, error))
            return false;
        if (fine && reply.kind == REPLY_ROWS && known && !take_rows(heat, begin, &reply, error))
            return false;
        if (fine)
            continue;
        if (reply.verdict == VERDICT_SKIPPED)
            return worker_lost(&reply, error);
        bool alive = reply.verdict == VERDICT_NONDETERMINISTIC;
        if (!drop(heat, heat->entries[alive && known ? reply.count : running], &reply, error))
            return false;
        if (alive)
            continue;
        *again = true;
        return true;
    }
}

/* Roofs alone have nothing to be compared with. */
static bool anyone_left(const heat *heat)
{
    for (size_t i = 0; i < heat->count; i++)
        if (heat->contenders[i].kernel && heat->contenders[i].timed)
            return true;
    return false;
}

/* One process; started over without the culprit as often as one is found, each time under a number
 * of its own: what the lost one sent is stored. */
static bool run_process(heat *heat, error *error)
{
    for (;;) {
        unsigned process = heat->session->next_process++;
        order begin;
        off_t end;
        bool again = false;
        if (!worker_renew(heat->session->worker, error) ||
            !place_group(heat, process, &begin, &end, error) ||
            !enter_all(heat, &begin, end, &again, error))
            return false;
        if (!again && !follow(heat, &begin, process, &again, error))
            return false;
        if (again && !anyone_left(heat))
            return true;
        if (!again)
            return store_end_process(heat->session->store, heat->session->run, process, error);
    }
}

/* Processes of an earlier try that timed this group to their end. Groups that differ in the type of
 * the parameters alone share their roofs' cases: the kernels tell. */
static bool processes_done(heat *heat, unsigned *done, error *error)
{
    *done = 0;
    for (size_t i = 0; heat->session->resumed && i + ROOFS < heat->count; i++) {
        unsigned processes;
        if (!store_process_count(heat->session->store, heat->session->run, &heat->contenders[i].key,
                                 &processes, error))
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
static bool leave_out_the_fallen(heat *heat, error *error)
{
    stored_cases cases;
    if (!heat->session->resumed)
        return true;
    if (!store_cases(heat->session->store, heat->session->run, &cases, error))
        return false;
    for (size_t i = 0; i < heat->count; i++)
        for (size_t stored = 0; stored < cases.count; stored++)
            if (fell_out(&cases.cases[stored]) &&
                same_case(&cases.cases[stored].key, &heat->contenders[i].key))
                heat->contenders[i].timed = false;
    stored_cases_free(&cases);
    return true;
}

static bool time_group(session *session, const speed_group *group, error *error)
{
    heat heat;
    unsigned done = 0;
    bool fine = heat_create(&heat, session, group, error) && processes_done(&heat, &done, error) &&
                leave_out_the_fallen(&heat, error);
    for (size_t i = 0; fine && done < group->processes && i < heat.count; i++) {
        char what[160];
        snprintf(what, sizeof what, "judging %s  %zux%zu", heat.contenders[i].key.kernel,
                 group->rows, group->hidden);
        progress_step(&session->progress,
                      session_judgement_seconds(group->block_rows * group->hidden), what);
        if (interrupted())
            fine = fail(error, EXIT_CODE_INTERRUPTED, "interrupted");
        else if (heat.contenders[i].kernel)
            fine = judge_contender(&heat, &heat.contenders[i], error);
    }
    for (; fine && done < group->processes && anyone_left(&heat); done++)
        fine = run_process(&heat, error);
    heat_free(&heat);
    return fine;
}

bool session_speed(session *session, error *error)
{
    for (size_t i = 0; i < session->plan.speed_count; i++)
        if (!time_group(session, &session->plan.speed[i], error))
            return false;
    return true;
}
