/* Prepares a run and measures its accuracy half. A worker computes and a judge compares in turn, which keeps one
 * processor busy; so there are several threads with a worker and a judge each. The cases are assigned in the order of
 * the plan and stored in that order, so that the store does not depend on the number of threads. */
#include "run/session.h"
#include "base/arena.h"
#include "base/program.h"
#include "conformance/conformance.h"
#include "domain/kernel.h"
#include "inputs/worst.h"
#include <pthread.h>
#include <sched.h>
#include <string.h>

enum {
    THREADS_MOST = 4,
    JUDGEMENTS_A_THREAD = 8, /* per thread; fewer do not justify another worker */
    LONG_ELEMENTS = 1 << 22, /* larger blocks are judged by the first thread only */
};

/* ---- preparing a run ---- */

/* Every element is computed twice, and once exactly. */
double session_judgement_seconds(size_t elements)
{
    return 0.0005 + 2e-7 * (double)elements;
}

double session_repetition_seconds(const speed_group *group)
{
    double bytes = call_bytes(operations[group->convention.operation], group->rows, group->hidden,
                              group->dtype);
    double call = bytes / 16e9; /* the time of a kernel of average speed */
    /* A repetition also has a call that settles the caches, the poisoning of the output and its comparison. */
    return (call > group->min_seconds ? call : group->min_seconds) * 1.2 + call + bytes / 8e9;
}

double session_timed_judgement_seconds(const speed_group *group)
{
    return TIMED_BLOCKS * session_judgement_seconds(group->block_rows * group->hidden);
}

plan_cost session_cost(const case_plan *plan)
{
    plan_cost cost = {.threads = 1};
    double judging = 0, timing = 0; /* kernels that this CPU cannot run take no time */
    cpu_set_t set;
    for (size_t i = 0; i < plan->accuracy_count; i++)
        for (size_t k = 0; k < plan->kernel_count; k++) {
            if (!group_takes(&plan->accuracy[i], plan->kernels[k]))
                continue;
            cost.judgements++;
            if (!plan->kernels[k]->unsupported[0])
                judging += session_judgement_seconds(plan->accuracy[i].elements);
        }
    if (sched_getaffinity(0, sizeof set, &set) == 0)
        cost.threads = (size_t)CPU_COUNT(&set);
    cost.threads = cost.threads < THREADS_MOST ? cost.threads : THREADS_MOST;
    const size_t worth = cost.judgements / JUDGEMENTS_A_THREAD;
    cost.threads = cost.threads < worth ? cost.threads : worth ? worth : 1;
    for (size_t i = 0; i < plan->speed_count; i++) {
        const speed_group *group = &plan->speed[i];
        const size_t repetitions = (size_t)group->processes * group->repetitions;
        size_t kernels = 0, here = 0;
        for (size_t k = 0; k < plan->kernel_count; k++)
            if (speed_takes(group, plan->kernels[k])) {
                kernels++;
                here += !plan->kernels[k]->unsupported[0];
            }
        cost.judgements += kernels;
        cost.repetitions += (kernels + COPY_KINDS) * repetitions;
        timing +=
            (double)(here + COPY_KINDS) * (session_timed_judgement_seconds(group) +
                                           (double)repetitions * session_repetition_seconds(group));
    }
    cost.seconds =
        (double)plan->related_count * invariance_seconds + judging / (double)cost.threads + timing;
    return cost;
}

int session_last_cpu(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) != 0)
        return -1;
    for (int cpu = CPU_SETSIZE; cpu-- > 0;)
        if (CPU_ISSET((size_t)cpu, &set))
            return cpu;
    return -1;
}

void session_put_requested(run_session *session)
{
    const case_plan *plan = &session->plan;
    store_together(session->store);
    for (size_t i = 0; i < plan->accuracy_count + plan->speed_count; i++)
        for (size_t k = 0; k < plan->kernel_count; k++) {
            const kernel_entry *kernel = plan->kernels[k];
            const accuracy_group *judged = i < plan->accuracy_count ? &plan->accuracy[i] : NULL;
            const speed_group *timed = judged ? NULL : &plan->speed[i - plan->accuracy_count];
            if (judged ? !group_takes(judged, kernel) : !speed_takes(timed, kernel))
                continue;
            const requested_case requested = {
                .key = judged ? accuracy_key(judged, kernel) : speed_key(timed, kernel->facts.name),
                .parts = judged ? REQUESTED_JUDGEMENT : REQUESTED_JUDGEMENT | REQUESTED_TIMING};
            store_put_requested(session->store, session->run, &requested);
        }
    store_count_requested(session->store, session->run);
    store_together_end(session->store);
}

void session_store_kernels(run_session *session)
{
    for (size_t i = 0; i < session->plan.kernel_count; i++)
        store_put_kernel(session->store, session->run,
                         kernel_json(session->plan.kernels[i],
                                     session->invariance ? &session->invariance[i] : NULL));
}

/* Measures under the first convention of each operation; the kernels of an operation are adjacent. */
bool session_invariance(run_session *session, const kernel_list *kernels)
{
    const case_plan *plan = &session->plan;
    bool fine = true;
    session->invariance = arena_new(&session->plan.memory, invariance_result, kernels->count);
    for (size_t first = 0, count; fine && first < plan->kernel_count; first += count) {
        const ln_operation kind = plan->kernels[first]->facts.operation;
        const ln_convention *convention = NULL;
        for (size_t i = plan->speed_count; i-- > 0;)
            if (plan->speed[i].convention.operation == kind)
                convention = &plan->speed[i].convention;
        for (size_t i = plan->accuracy_count; i-- > 0;)
            if (plan->accuracy[i].convention.operation == kind)
                convention = &plan->accuracy[i].convention;
        for (count = 1; first + count < plan->kernel_count &&
                        plan->kernels[first + count]->facts.operation == kind;)
            count++;
        fine = !convention ||
               invariance_measure(session->judge, convention, &session->progress, kernels,
                                  plan->kernels + first, session->invariance + first, count);
    }
    worker_forget(session->worker); /* so that verdicts do not depend on calls made here */
    session_store_kernels(session);
    return fine;
}

/* ---- the conformance tests ---- */

/* Returns the covering array of a named convention, or else of its operation. Makes it at the first request. */
static const combination_set *set_of(case_plan *plan, const ln_convention *defaults)
{
    plan_checks *checks = plan->checks;
    const combinations_request request = {.defaults = *defaults,
                                          .alone = plan->conventions[defaults->operation].named,
                                          .seed = plan->seed,
                                          .quick = plan->quick};
    for (size_t i = 0; i < checks->count; i++)
        if (request.alone ? convention_equal(&checks->defaults[i], defaults)
                          : checks->defaults[i].operation == defaults->operation)
            return checks->sets[i];
    checks->defaults[checks->count] = *defaults;
    return checks->sets[checks->count++] = combinations_make(&plan->memory, &request);
}

/* Adds a part of a conformance test. Returns false if there are fewer parts, or if no kernel needs it. */
static bool add_pack(case_plan *plan, conformance_check check, size_t pack)
{
    const bool of_array = check == CHECK_COMBINATIONS;
    const plan_conventions *conventions = &plan->conventions[plan->adding.operation];
    const size_t named = conventions->named ? conventions->count : 1;
    const size_t turn = of_array ? pack % (named < CHECK_TURNS ? named : CHECK_TURNS) : 0;
    size_t rows, hidden;
    conformance_task task = {.check = check,
                             .convention = conventions->list[turn],
                             .storage = plan->adding.dtype,
                             .param = plan->adding.param,
                             .set = of_array ? set_of(plan, &conventions->list[turn]) : NULL};
    if (!conformance_pack(&task, pack, &rows, &hidden))
        return false;
    accuracy_group *made =
        plan_add_accuracy(plan, &task.convention, check_names[check], rows, hidden);
    conformance_task *kept = arena_new(&plan->memory, conformance_task, 1);
    *kept = task;
    made->check = kept;
    made->elements = conformance_elements(&task);
    made->for_ours = plan->full;
    for (size_t i = 0; i < plan->kernel_count; i++)
        if (group_takes(made, plan->kernels[i]))
            return true;
    plan->accuracy_count--; /* no kernel of these types needs it */
    return false;
}

void session_add_checks(case_plan *plan)
{
    enum { FEW_PACKS = 4 }; /* hold the quick plan's problems; later packs test more hidden sizes */
    const size_t before = plan->accuracy_count, size = sizeof *plan->accuracy;
    if (!plan->conformance)
        return;
    plan->checks = arena_new(&plan->memory, plan_checks, 1);
    for (int kind = 0; kind < OPERATIONS; kind++) {
        if (!(plan->operations & OPERATION_BIT(kind)))
            continue;
        plan->adding.operation = (ln_operation)kind;
        for (int next = 0; plan_next_types(plan, &next);) {
            /* The covering array is made only if a kernel needs it. */
            if (!add_pack(plan, CHECK_GROWTH, 0))
                continue;
            for (size_t pack = 0; (!plan->few_checks || pack < FEW_PACKS) &&
                                  add_pack(plan, CHECK_COMBINATIONS, pack);)
                pack++;
            if (plan->few_checks)
                continue;
            add_pack(plan, CHECK_LARGE, LARGE_QUICK);
            if (!plan->quick)
                add_pack(plan, CHECK_LARGE, LARGE_PLAIN);
            if (plan->full)
                add_pack(plan, CHECK_LARGE, LARGE_WHOLE);
        }
    }
    /* Move the conformance tests before the other groups. */
    const size_t added = plan->accuracy_count - before;
    accuracy_group *moved = arena_new(&plan->memory, accuracy_group, before);
    memcpy(moved, plan->accuracy, before * size);
    memmove(plan->accuracy, plan->accuracy + before, added * size);
    memcpy(plan->accuracy + added, moved, before * size);
}

/* ---- storing results ---- */

bool session_gave_up(run_session *session, const kernel_entry *kernel, case_verdict *verdict)
{
    enum { ENOUGH_TIMEOUTS = 3 };
    unsigned timeouts = 0;
    for (size_t i = 0; kernel && i < session->timeouts.count; i++)
        timeouts += strcmp(session->timeouts.words[i], kernel->facts.name) == 0;
    if (timeouts < ENOUGH_TIMEOUTS)
        return false;
    session->gave_up = true;
    *verdict = (case_verdict){.kind = VERDICT_MISSING};
    verdict_say(
        verdict,
        "not run after %d time-outs of this kernel; --deadline gives a call more time than %g s",
        ENOUGH_TIMEOUTS, session->deadline_seconds);
    return true;
}

void session_put(run_session *session, const case_key *key, const case_judgement *judgement)
{
    const stored_case stored = {.key = *key,
                                .judged = judgement->verdict.kind != VERDICT_PENDING,
                                .verdict = judgement->verdict,
                                .metrics = judgement->metrics,
                                .bound_row_ulp = judgement->bound_row_ulp,
                                .hashed = judgement->metrics.elements > 0,
                                .output_hash = judgement->output_hash};
    /* Differences in a kernel's bits that a case shows are added to those that the invariance matrix showed. */
    for (size_t i = 0; session->invariance && i < session->plan.kernel_count; i++)
        if (strcmp(session->plan.kernels[i]->facts.name, key->kernel) == 0)
            session->invariance[i].varies |=
                judgement->varies |
                (judgement->verdict.kind == VERDICT_NONDETERMINISTIC ? 1u << AXIS_CALL : 0);
    if (judgement->verdict.kind == VERDICT_TIMEOUT)
        word_list_add(&session->timeouts, key->kernel);
    store_put_judged(session->store, session->run, &stored);
}

/* ---- one case ---- */

/* The data that the threads share, protected by the lock. */
typedef struct accuracy_part {
    run_session *session;
    pthread_mutex_t lock;
    pthread_cond_t moved;    /* a case was stored or assigned, or there are no more */
    double threads;          /* their number, to estimate the time left */
    size_t group, kernel;    /* the next case to assign */
    size_t assigned, stored; /* number of cases so far */
    int *telling;            /* for each kernel: verdict_telling() of its best minimized failure */
    bool over;               /* no case is left, or it was interrupted */
    bool interrupted;
} accuracy_part;

typedef struct judge_thread {
    accuracy_part *part;
    size_t number;
    worker_process *worker;
    row_judge *judge;
    pthread_t thread;
    /* The assigned case. */
    const accuracy_group *group;
    size_t kernel, turn;
    case_key key;
    judge_block block;
    conformance_blocks problems;    /* used instead of the block for a conformance test */
    const accuracy_group *block_of; /* the group of the block; NULL: no block */
} judge_thread;

/* The results of a case; the rows belong to the thread's judge. */
typedef struct judged_case {
    case_judgement judgement;
    const judged_row *rows; /* NULL: not stored */
} judged_case;

/* Frees the block, before that of another group is made, and while the thread waits, since blocks may be large. */
static void free_block(judge_thread *self)
{
    judge_block_free(&self->block);
    conformance_release(&self->problems);
    self->block_of = NULL;
}

/* Makes the block of the group, unless the previous case had it, and judges the kernel on it. */
static void judge_case(judge_thread *self, judged_case *found)
{
    const accuracy_group *group = self->group;
    const kernel_entry *kernel = self->part->session->plan.kernels[self->kernel];
    case_judgement *judgement = &found->judgement;
    const bool is_swept =
        strncmp(group->input, "offset", 6) == 0 || strcmp(group->input, "kappa") == 0;
    if (self->block_of != group)
        free_block(self);
    if (group->check) {
        if (self->block_of != group)
            conformance_prepare(self->judge, group->check, &self->problems);
        self->block_of = group;
        conformance_examine(self->judge, &self->problems, kernel, judgement);
        return;
    }
    if (self->block_of != group) {
        judge_block_generate(self->judge, &self->block,
                             call_dense(&group->convention, group->dtype, group->param,
                                        group->distinct, group->hidden),
                             group->input, NULL, 0);
        judge_block_repeat(&self->block, group->rows);
    }
    self->block_of = group;
    judge_kernel(self->judge, &self->block, kernel, judgement);
    judge_promise(&self->block, kernel, self->key.input, judgement);
    found->rows = is_swept ? judgement->by_row : NULL;
}

/* Stores the judgement of a case, and its judged rows if it has any. */
static void put_case(run_session *session, const case_key *key, const judged_case *found,
                     size_t rows)
{
    store_together(session->store);
    for (size_t row = 0; found->rows && row < rows; row++) {
        const judged_row *judged = &found->rows[row];
        const stored_row put = {.row = row,
                                .kappa = judged->kappa,
                                .row_ulp = judged->row_ulp,
                                .norm_max = judged->norm_max,
                                .bound_row_ulp = judged->bound_row_ulp,
                                .mean_error = judged->statistic_errors[ROLE_MEAN],
                                .rstd_error = judged->statistic_errors[ROLE_RSTD]};
        store_put_row(session->store, session->run, key, &put);
    }
    session_put(session, key, &found->judgement);
    store_together_leave(session->store);
}

/* ---- the threads ---- */

/* Needs the lock. */
static void end_interrupted(accuracy_part *part)
{
    part->interrupted = part->over = true;
    pthread_cond_broadcast(&part->moved);
}

/* Advances to the next case and returns whether this thread judges it. Needs the lock. */
static bool take_next(judge_thread *self)
{
    accuracy_part *part = self->part;
    run_session *session = part->session;
    const accuracy_group *group = &session->plan.accuracy[part->group];
    const kernel_entry *kernel = session->plan.kernels[part->kernel];
    char what[160];
    self->group = group;
    self->kernel = part->kernel;
    if (++part->kernel == session->plan.kernel_count) {
        part->group++;
        part->kernel = 0;
    }
    if (!group_takes(group, kernel))
        return false;
    self->key = accuracy_key(group, kernel);
    snprintf(what, sizeof what, "%.40s  %.30s  %.50s  %zu", self->key.kernel, self->key.convention,
             self->key.input, self->key.hidden);
    if (!kernel->unsupported[0])
        progress_step(&session->progress,
                      session_judgement_seconds(group->elements) / part->threads, what);
    return !session->resumed || !store_has_accuracy(session->store, session->run, &self->key);
}

/* Assigns the next case to the thread. Returns false if there is none left. Needs the lock. */
static bool assign_next(judge_thread *self)
{
    accuracy_part *part = self->part;
    const case_plan *plan = &part->session->plan;
    bool wanted = false;
    while (!part->over && !wanted) {
        const accuracy_group *next = &plan->accuracy[part->group];
        if (part->group == plan->accuracy_count) {
            part->over = true;
        } else if (self->number > 0 && next->rows * next->hidden > LONG_ELEMENTS) {
            free_block(self);
            pthread_cond_wait(&part->moved, &part->lock);
        } else if (interrupted()) {
            end_interrupted(part);
        } else {
            wanted = take_next(self);
        }
    }
    if (wanted)
        self->turn = part->assigned++;
    pthread_cond_broadcast(&part->moved);
    return wanted;
}

/* Stores the case after all cases before it; results after an interruption are dropped. A failure that tells more about
 * a kernel than its earlier ones is minimized first, without the lock. */
static void put_in_turn(judge_thread *self, judged_case *found)
{
    accuracy_part *part = self->part;
    const accuracy_group *group = self->group;
    while (part->stored != self->turn && !part->interrupted)
        pthread_cond_wait(&part->moved, &part->lock);
    const int tells = verdict_telling(&found->judgement.verdict);
    if (!interrupted() && !part->interrupted && group->check &&
        group->check->check == CHECK_COMBINATIONS && tells > part->telling[self->kernel]) {
        part->telling[self->kernel] = tells;
        pthread_mutex_unlock(&part->lock);
        conformance_minimize(self->judge, &self->problems,
                             part->session->plan.kernels[self->kernel], &found->judgement);
        pthread_mutex_lock(&part->lock);
    }
    if (interrupted() || part->interrupted) {
        end_interrupted(part);
        return;
    }
    put_case(part->session, &self->key, found, group->distinct);
    part->stored++;
    pthread_cond_broadcast(&part->moved);
}

/* Runs one thread: judges cases until none is left. */
static void *run_thread(void *context)
{
    judge_thread *self = context;
    accuracy_part *part = self->part;
    pthread_mutex_lock(&part->lock);
    while (assign_next(self)) {
        judged_case found = {0};
        bool gave_up = session_gave_up(part->session, part->session->plan.kernels[self->kernel],
                                       &found.judgement.verdict);
        pthread_mutex_unlock(&part->lock);
        if (!gave_up)
            judge_case(self, &found);
        pthread_mutex_lock(&part->lock);
        put_in_turn(self, &found);
    }
    pthread_mutex_unlock(&part->lock);
    free_block(self);
    return NULL;
}

bool session_accuracy(run_session *session)
{
    judge_thread threads[THREADS_MOST];
    const size_t wanted = session_cost(&session->plan).threads;
    accuracy_part part = {.session = session,
                          .threads = (double)wanted,
                          .lock = PTHREAD_MUTEX_INITIALIZER,
                          .moved = PTHREAD_COND_INITIALIZER,
                          .telling =
                              arena_new(&session->plan.memory, int, session->plan.kernel_count)};
    for (size_t i = 0; i < wanted; i++) {
        worker_process *worker = i > 0 ? worker_start_another(session->worker) : session->worker;
        threads[i] = (judge_thread){.part = &part, .number = i, .worker = worker};
        threads[i].judge =
            i > 0 ? judge_create(worker_runner(worker), &session->judge->settings) : session->judge;
        if (i > 0 && pthread_create(&threads[i].thread, NULL, run_thread, &threads[i]) != 0)
            die(EXIT_CODE_ENVIRONMENT, "cannot start a thread");
    }
    run_thread(&threads[0]);
    for (size_t i = 1; i < wanted; i++) {
        pthread_join(threads[i].thread, NULL);
        judge_destroy(threads[i].judge);
        worker_stop(threads[i].worker);
    }
    return !part.interrupted;
}
