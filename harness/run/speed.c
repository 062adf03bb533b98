/* Measures the speed half of a run. Judges two blocks of each group, then times all kernels and the copies,
 * interleaved, in several fresh worker processes. If a process fails, each kernel runs once alone to find the cause. */
#include "base/arena.h"
#include "base/program.h"
#include "conformance/conformance.h"
#include "domain/operation.h"
#include "domain/kernel.h"
#include "run/session.h"
#include <math.h>
#include <string.h>

/* One kernel (or copy) of the group that is being timed. */
typedef struct timed_case {
    const kernel_entry *kernel; /* NULL: a copy */
    case_key key;
    void *judged[TIMED_BLOCKS];
    case_judgement judgement; /* of the first block */
    timed_rows rows;
    bool included;  /* false: not timed any more; its verdict is stored */
    double call_ns; /* time of the shortest repetition so far; 0: none yet */
} timed_case;

enum { NOBODY = -1 };

/* Why a process failed: the worker's answer, and the index of the case that it blames, or NOBODY. */
typedef struct process_failure {
    bool failed;
    int64_t suspect;
    worker_reply reply;
} process_failure;

typedef struct timed_result {
    timed_case *timed;
    timed_repetition repetition;
} timed_result;

typedef struct timed_round {
    arena memory;
    run_session *session;
    const speed_group *group;
    judge_block blocks[TIMED_BLOCKS];
    timed_case *cases;
    size_t count;
    size_t *entries; /* case of each entry of the current process */
    size_t entry_count;
    timed_result *results; /* of the current process */
    size_t result_count;
    int64_t alone;        /* the only case to run, to find a fault; NOBODY: all cases run */
    unsigned unexplained; /* failed processes for which no single kernel failed */
} timed_round;

/* Makes the timed cases of a group, its kernels and then the copies, and generates their blocks of rows. */
static void timing_begin(timed_round *timing, run_session *session, const speed_group *group)
{
    const size_t most = session->plan.kernel_count + COPY_KINDS;
    size_t kernels = 0;
    *timing = (struct timed_round){.session = session, .group = group, .alone = NOBODY};
    timing->cases = arena_new(&timing->memory, timed_case, most);
    timing->entries = arena_new(&timing->memory, size_t, most);
    for (size_t i = 0; i < session->plan.kernel_count; i++)
        if (speed_takes(group, session->plan.kernels[i]))
            timing->cases[kernels++].kernel = session->plan.kernels[i];
    timing->count = kernels + COPY_KINDS;
    for (size_t i = 0; i < timing->count; i++) {
        timed_case *timed = &timing->cases[i];
        timed->key =
            speed_key(group, timed->kernel ? timed->kernel->facts.name : copy_names[i - kernels]);
        timed->included = true;
    }
    for (size_t i = 0; i < TIMED_BLOCKS; i++)
        judge_block_generate(session->judge, &timing->blocks[i],
                             call_dense(&group->convention, group->dtype, group->param,
                                        group->block_rows, group->hidden),
                             group->input, NULL, i * group->block_rows);
}

/* Returns whether a case with this verdict is timed. A state-changed verdict does not prevent it if the
 * constructor of the plugin set that state. */
static bool is_timed(const timed_case *timed, const case_verdict *verdict)
{
    const char *set = timed->kernel ? timed->kernel->set_at_load : "";
    return verdict_is_right(verdict->kind) || verdict_is_limit(verdict->kind) ||
           verdict->kind == VERDICT_INACCURATE || verdict->kind == VERDICT_WRONG_CLASS ||
           (verdict->kind == VERDICT_STATE_CHANGED && set[0] &&
            strncmp(verdict->detail, set, strlen(set)) == 0);
}

/* Judges both blocks, and keeps the outputs to compare with in timing. Inaccurate kernels are timed too, because their
 * speed is of interest; a kernel that crashed or wrote outside its buffers is not. */
static void judge_timed_case(timed_round *timing, timed_case *timed)
{
    run_session *session = timing->session;
    size_t bytes = timed_group_bytes(timing->group);
    case_judgement judgement = {0};
    if (session_gave_up(session, timed->kernel, &judgement.verdict)) {
        timed->included = false;
        session_put(session, &timed->key, &judgement);
    }
    for (size_t i = 0; i < TIMED_BLOCKS && timed->included; i++) {
        judge_kernel(session->judge, &timing->blocks[i], timed->kernel, &judgement);
        if (interrupted())
            return;
        timed->included = is_timed(timed, &judgement.verdict);
        if (timed->included) {
            timed->judged[i] = arena_take(&timing->memory, bytes, 1);
            memcpy(timed->judged[i], judgement.computed, bytes);
        }
        if (i == 0)
            timed->judgement = judgement;
        bool worse = !verdict_is_right(judgement.verdict.kind);
        if (i == 0 || worse)
            session_put(session, &timed->key, &judgement);
        if (worse)
            timed->judgement = judgement;
    }
    if (timed->included && !timed_rows_begin(&timed->rows, session->judge, timing->blocks,
                                             timed->kernel, timed->judged, &judgement.verdict)) {
        timed->included = false; /* its bound() failed */
        session_put(session, &timed->key, &judgement);
    }
}

/* Removes a case that failed or is unsupported in timing, and stores its verdict. */
static void drop(timed_round *timing, size_t index, const worker_reply *reply)
{
    timed_case *timed = &timing->cases[index];
    case_judgement judgement = {.verdict.kind = reply->verdict, .bound_row_ulp = NAN};
    timed->included = false;
    verdict_say(&judgement.verdict, "%s", reply->text);
    session_put(timing->session, &timed->key, &judgement);
}

/* Returns whether a case runs: all included ones, or only timing->alone when a fault is searched for. */
static bool takes_part(const timed_round *timing, size_t index)
{
    return timing->cases[index].included &&
           (timing->alone == NOBODY || timing->alone == (int64_t)index);
}

/* Notes a failure. Returns false if it was an interruption. A failure of the worker itself ends the program. */
static bool note_failure(process_failure *failure, int64_t suspect, const worker_reply *reply)
{
    if (reply_was_interrupted(reply))
        return false;
    if (reply->verdict == VERDICT_MISSING)
        die(EXIT_CODE_ENVIRONMENT, "the timing worker: %s", reply->text);
    *failure = (process_failure){.failed = true, .suspect = suspect, .reply = *reply};
    return true;
}

/* Sets the numbers of calls and repetitions. In the first process, Google Benchmark searches for the number of calls,
 * which costs as much as a repetition and exceeds the need by up to a half; later ones get it from here. A long call
 * needs fewer repetitions, because it averages the noise of several short ones. */
static void set_length(worker_message *entry, const speed_group *group, double call_ns)
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

/* Begins the group in the worker and enters all cases that run. */
static bool enter_all(timed_round *timing, const worker_message *begin, off_t end,
                      process_failure *failure)
{
    worker_process *worker = timing->session->worker;
    double deadline = timing->session->deadline_seconds;
    size_t bytes = timed_group_bytes(timing->group);
    char *memory = worker_runner(worker)->memory;
    worker_reply reply;
    timing->entry_count = 0;
    if (!worker_ask(worker, begin, deadline, &reply))
        return note_failure(failure, NOBODY, &reply);
    for (size_t i = 0; i < timing->count; i++) {
        timed_case *timed = &timing->cases[i];
        if (!takes_part(timing, i))
            continue;
        worker_message entry = message_for(MESSAGE_TIME_ENTRY, timed->kernel);
        snprintf(entry.text, sizeof entry.text, "%s", timed->key.kernel);
        if (timed->kernel) {
            off_t at = end; /* all entries use the same memory in turn */
            timed_group_put(memory, &at, &entry.at.expected, timed->judged[0], bytes);
            timed_group_put(memory, &at, &entry.at.expected_other, timed->judged[1], bytes);
        }
        set_length(&entry, timing->group, timed->call_ns);
        bool is_call = timed->kernel && call_class(&timed->kernel->facts, &entry.accuracy);
        if (worker_ask(worker, &entry, deadline, &reply)) {
            timing->entries[timing->entry_count++] = i;
            if (is_call && reply.text[0])
                store_put_dispatched(timing->session->store, timing->session->run, &timed->key,
                                     reply.text);
        } else if (reply.verdict != VERDICT_UNSUPPORTED) {
            return note_failure(failure, (int64_t)i, &reply);
        } else {
            drop(timing, i, &reply);
        }
    }
    return true;
}

/* Reads the repetitions of one process. Keeps none if a kernel runs alone to find a fault. */
static bool follow(timed_round *timing, const worker_message *begin, unsigned process,
                   process_failure *failure)
{
    run_session *session = timing->session;
    const speed_group *group = timing->group;
    const bool kept = timing->alone == NOBODY;
    worker_message run = *begin, go_on = message_for(MESSAGE_GO_ON, NULL);
    worker_reply reply;
    timed_case *running = NULL;
    /* The time of a slow kernel's whole repetition with its calibration, poisoning and comparison. */
    const double deadline = session->deadline_seconds + 20 * session_repetition_seconds(group);
    run.kind = MESSAGE_TIME_RUN;
    bool fine = worker_send_message(session->worker, &run, &reply);
    while (fine && (fine = worker_next(session->worker, deadline, &reply)) &&
           reply.kind != REPLY_DONE) {
        timed_case *timed = &timing->cases[timing->entries[reply.count]];
        if (reply.kind == REPLY_STARTED) {
            running = timed;
        } else if (reply.kind == REPLY_REPETITION && kept) {
            timed_repetition repetition = reply.repetition;
            char what[160];
            repetition.process = process;
            if (!(timed->call_ns > 0) || repetition.real_ns < timed->call_ns)
                timed->call_ns = repetition.real_ns;
            snprintf(what, sizeof what, "%s  %zux%zu", timed->key.kernel, group->rows,
                     group->hidden);
            progress_step(&session->progress, session_repetition_seconds(group), what);
            timing->results =
                allocate_room(timing->results, timing->result_count, sizeof *timing->results);
            timing->results[timing->result_count++] = (timed_result){timed, repetition};
        } else if (reply.kind != REPLY_REPETITION) {
            /* These are rows whose bits depend on their position. */
            case_judgement judgement = timed->judgement;
            judgement.varies |= 1u << (group->threads > 1 ? AXIS_THREADS : AXIS_POSITION);
            if (kept)
                timed_rows_take(&timed->rows, session->judge, begin, &reply);
            if (kept && timed_rows_judge(&timed->rows, session->judge, &judgement))
                session_put(session, &timed->key, &judgement);
            fine = worker_send_message(session->worker, &go_on, &reply);
        }
    }
    /* The repetitions of a process are stored together. If it failed, none is kept, and it is timed again. */
    if ((fine || interrupted()) && timing->result_count > 0) {
        store_together(session->store);
        for (size_t i = 0; i < timing->result_count; i++)
            store_put_repetition(session->store, session->run, &timing->results[i].timed->key,
                                 &timing->results[i].repetition);
        store_together_leave(session->store);
    }
    timing->result_count = 0;
    if (fine && !interrupted())
        return true;
    return note_failure(failure, running ? running - timing->cases : NOBODY, &reply);
}

/* Returns whether a kernel is left; copies only would have nothing to compare with. */
static bool anyone_left(const timed_round *timing)
{
    for (size_t i = 0; i < timing->count; i++)
        if (timing->cases[i].kernel && timing->cases[i].included)
            return true;
    return false;
}

/* Runs one fresh process with all cases that run. */
static bool try_process(timed_round *timing, unsigned process, process_failure *failure)
{
    worker_message begin;
    off_t end;
    worker_reply reply;
    const kernel_entry **kernels = arena_new(&timing->memory, const kernel_entry *, timing->count);
    size_t count = 0;
    *failure = (process_failure){.suspect = NOBODY};
    for (size_t i = 0; i < timing->count; i++)
        if (timing->cases[i].kernel && takes_part(timing, i))
            kernels[count++] = timing->cases[i].kernel;
    bool renewed = worker_renew(timing->session->worker, kernels, count, &reply);
    for (size_t i = 0; !renewed && i < timing->count && failure->suspect == NOBODY; i++)
        if (timing->cases[i].kernel && takes_part(timing, i) &&
            timing->cases[i].kernel->plugin == reply.count)
            failure->suspect = (int64_t)i;
    if (!renewed)
        return note_failure(failure, failure->suspect, &reply);
    /* The message begins the group, with its tensors in the shared memory; expected outputs follow at `end`. */
    const run_session *session = timing->session;
    begin = timed_group_message(timing->group, &session->machine);
    begin.cpu = session->cpu;
    begin.repetitions = timing->group->repetitions;
    begin.min_seconds = timing->group->min_seconds;
    begin.seed = session->plan.seed * 0x9e3779b97f4a7c15u + process;
    timed_group_place(timing->group, timing->blocks, session->worker, 2, &begin, &end);
    return enter_all(timing, &begin, end, failure) &&
           (failure->failed || follow(timing, &begin, process, failure));
}

/* ---- a process that failed ---- */

/* Runs each kernel of the group once in its own process: a kernel that fails there gets the verdict, and the others are
 * timed again. If none fails alone, the group is timed again; the next time, the kernel that was running gets the
 * verdict. */
static bool find_failing(timed_round *timing, const process_failure *together)
{
    bool found = false;
    for (size_t i = 0; i < timing->count; i++) {
        process_failure alone;
        if (!timing->cases[i].kernel || !timing->cases[i].included)
            continue;
        timing->alone = (int64_t)i;
        bool fine = try_process(timing, timing->session->next_process, &alone);
        timing->alone = NOBODY;
        if (!fine)
            return false;
        if (alone.failed)
            drop(timing, i, &alone.reply);
        found |= alone.failed;
    }
    if (found || timing->unexplained++ == 0)
        return true;
    if (together->suspect == NOBODY || !timing->cases[together->suspect].kernel)
        die(EXIT_CODE_ENVIRONMENT, "the timing worker: %s", together->reply.text);
    drop(timing, (size_t)together->suspect, &together->reply);
    return true;
}

/* Returns how many processes of the interrupted run finished this group. Only kernels are counted, because groups that
 * differ only in the parameters' type share the cases of their copies. A case that failed then stays out, since a rare
 * failure might pass today and overwrite its verdict. */
static unsigned resume_group(timed_round *timing)
{
    run_session *session = timing->session;
    unsigned done = 0;
    for (size_t i = 0; i + COPY_KINDS < timing->count; i++) {
        unsigned processes =
            store_process_count(session->store, session->run, &timing->cases[i].key);
        done = processes > done ? processes : done;
    }
    stored_cases cases = store_cases(session->store, session->run);
    for (size_t i = 0; i < timing->count; i++)
        for (size_t k = 0; k < cases.count; k++) {
            const stored_case *stored = &cases.cases[k];
            if (case_key_equal(&stored->key, &timing->cases[i].key) && stored->judged &&
                stored->verdict.kind != VERDICT_MISSING &&
                !is_timed(&timing->cases[i], &stored->verdict))
                timing->cases[i].included = false;
        }
    stored_cases_free(&cases);
    return done;
}

/* Judges every kernel on the group's rows, then times all suitable ones, process after process. */
static bool time_group(run_session *session, const speed_group *group)
{
    timed_round timing;
    timing_begin(&timing, session, group);
    unsigned done = session->resumed ? resume_group(&timing) : 0;
    for (size_t i = 0; done < group->processes && !interrupted() && i < timing.count; i++) {
        char what[160];
        snprintf(what, sizeof what, "judging %s  %zux%zu", timing.cases[i].key.kernel, group->rows,
                 group->hidden);
        if (!timing.cases[i].kernel || !timing.cases[i].kernel->unsupported[0])
            progress_step(&session->progress, session_timed_judgement_seconds(group), what);
        if (timing.cases[i].kernel)
            judge_timed_case(&timing, &timing.cases[i]);
    }
    bool fine = !interrupted();
    /* A process is repeated whenever a kernel in it fails, each time with a new number. */
    while (fine && done < group->processes && anyone_left(&timing)) {
        const unsigned process = session->next_process++;
        process_failure failure;
        fine = try_process(&timing, process, &failure);
        if (fine && failure.failed)
            fine = find_failing(&timing, &failure);
        else if (fine)
            store_end_process(session->store, session->run, process);
        done += fine && !failure.failed;
    }
    for (size_t block = 0; block < TIMED_BLOCKS; block++)
        judge_block_free(&timing.blocks[block]);
    for (size_t i = 0; i < timing.count; i++)
        timed_rows_free(&timing.cases[i].rows);
    arena_free(&timing.memory);
    free(timing.results);
    return fine;
}

bool session_speed(run_session *session)
{
    for (size_t i = 0; i < session->plan.speed_count; i++)
        if (!time_group(session, &session->plan.speed[i]))
            return false;
    return true;
}

enum { LINE = 64 };

static size_t whole_lines(size_t bytes)
{
    return (bytes + LINE - 1) / LINE * LINE;
}

size_t timed_group_bytes(const speed_group *group)
{
    return group->block_rows * group->hidden * dtype_size(group->dtype);
}

worker_message timed_group_message(const speed_group *group, const machine_facts *machine)
{
    worker_message begin = message_for(MESSAGE_TIME_BEGIN, NULL);
    begin.problem =
        problem_dense(&group->convention, group->dtype, group->param, group->rows, group->hidden);
    begin.operation = group->convention.operation;
    begin.block_rows = group->block_rows;
    begin.cache = group->cache;
    begin.threads = group->threads;
    begin.rotated_bytes = machine_rotated_bytes(machine, group->cache);
    return begin;
}

void timed_group_put(char *memory, off_t *end, off_t *at, const void *data, size_t bytes)
{
    *at = data ? *end : -1;
    if (!data)
        return;
    *end += (off_t)whole_lines(bytes);
    memcpy(memory + *at, data, bytes);
}

void timed_group_place(const speed_group *group, const judge_block blocks[2],
                       worker_process *worker, size_t outputs, worker_message *begin, off_t *end)
{
    const operation *what = operations[begin->operation];
    size_t bytes = timed_group_bytes(group), row = group->hidden * sizeof(double);
    size_t varied = timed_rows_room(blocks), tensors = 2 + outputs;
    /* Each tensor, the parameters and the varied rows may need up to a cache line more. */
    kernel_runner *runner = worker_runner(worker);
    runner->reserve(runner, tensors * bytes + varied + 2 * row + (tensors + 3) * LINE);
    char *memory = runner->memory;
    begin->at.varied = 0;
    *end = (off_t)whole_lines(varied);
    timed_group_put(memory, end, &begin->at.tensors[ROLE_X], blocks[0].inputs[ROLE_X], bytes);
    timed_group_put(memory, end, &begin->at.x_other, blocks[1].inputs[ROLE_X], bytes);
    for (size_t i = 0; i < what->count; i++) {
        role_extent extent = role_extent_of(&what->roles[i], &begin->problem, group->dtype);
        if (role_is_parameter(&what->roles[i]) && !what->roles[i].output)
            timed_group_put(memory, end, &begin->at.tensors[i], blocks[0].inputs[i],
                            extent_bytes(&extent));
    }
}
