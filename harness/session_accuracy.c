/* The accuracy half of a run. Judging takes turns between a worker that computes and the judge that
 * compares, so that one pair of them keeps one processor busy: there are as many lanes, a worker
 * and a judge each, as there are processors for them. Cases are dealt out in the order of the plan
 * and stored in that order, so that what is stored does not tell how many lanes there were. */
#include "interrupt.h"
#include "session.h"
#include "worst_row.h"
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

enum {
    LANES_MOST = 4,
    JUDGEMENTS_A_LANE = 64,  /* fewer are not worth another worker */
    LONG_ELEMENTS = 1 << 22, /* blocks of more are judged in one lane: they are large */
};

double session_judgement_seconds(size_t elements)
{
    return 0.0005 + 6.5e-8 * (double)elements;
}

/* What a case shows of a kernel's bits adds to what the matrix showed. */
static void note_varies(session *session, const case_key *key, const judgement *judgement)
{
    for (size_t i = 0; session->invariance && i < session->plan.kernel_count; i++) {
        invariance *found = &session->invariance[i];
        if (strcmp(session->plan.kernels[i]->facts.name, key->kernel) != 0)
            continue;
        found->varies |= judgement->varies;
        if (judgement->verdict.kind == VERDICT_NONDETERMINISTIC)
            found->varies |= 1u << AXIS_CALL;
    }
}

/* What is wrong with a peer stands in the table, and does not make the run fail. */
static bool is_peer(const session *session, const char *kernel)
{
    for (size_t i = 0; i < session->plan.kernel_count; i++)
        if (strcmp(session->plan.kernels[i]->facts.name, kernel) == 0)
            return session->plan.kernels[i]->version[0] != '\0';
    return false;
}

bool session_put(session *session, const case_key *key, const judgement *judgement, error *error)
{
    const ln_metrics *metrics = judgement->metrics.elements ? &judgement->metrics : NULL;
    if (!is_peer(session, key->kernel))
        session->worst = worse_exit_code(session->worst, verdict_exit_code(&judgement->verdict));
    note_varies(session, key, judgement);
    return store_put_accuracy(session->store, session->run, key, &judgement->verdict, metrics,
                              judgement->bound_row_ulp, error) &&
           (!metrics ||
            store_put_output(session->store, session->run, key, judgement->output_hash, error));
}

/* The verdict of a kernel's probe rows, for one convention and hidden size. */
typedef struct probed {
    unsigned epoch;
    verdict verdict; /* VERDICT_PENDING: not probed yet */
} probed;

/* What the lanes share. All of it is under the lock. */
typedef struct accuracy_part {
    session *session;
    pthread_mutex_t lock;
    pthread_cond_t moved; /* a case was stored, or the cursor went on, or it is over */
    size_t group, kernel; /* the next case to be dealt out */
    size_t dealt, stored; /* cases so far */
    unsigned epoch;       /* how often convention or hidden size changed so far */
    probed *probes;       /* a kernel each */
    bool over;            /* nothing is left, or there is an error */
    error error;
} accuracy_part;

typedef struct lane {
    accuracy_part *part;
    size_t number;
    worker *worker; /* NULL: the session's */
    judge *judge;
    pthread_t thread;
    /* Its case. */
    const accuracy_group *group;
    size_t kernel, turn;
    unsigned epoch;
    case_key key;
    judge_block block;
    const accuracy_group *block_of; /* NULL: no block */
} lane;

/* What a case has to store; the judge's own rows are gone with its next call. */
typedef struct judged_case {
    judgement judgement;
    worst_row worst;
    judged_row *rows; /* NULL: not kept */
    bool measured;
} judged_case;

static bool same_convention(const ln_convention *a, const ln_convention *b)
{
    return a->ddof == b->ddof && a->eps_place == b->eps_place && a->eps == b->eps &&
           a->affine == b->affine;
}

static bool is_fine_so_far(const verdict *verdict)
{
    return verdict->kind == VERDICT_OK || verdict->kind == VERDICT_OK_NO_BOUND || verdict->declared;
}

bool session_probe(session *session, const kernel_entry *kernel, const ln_convention *convention,
                   size_t hidden, judgement *judgement, error *error)
{
    verdict probed;
    if (!is_fine_so_far(&judgement->verdict))
        return true;
    if (!judge_probes(session->judge, kernel, convention, hidden, &probed, error))
        return false;
    if (probed.kind != VERDICT_OK)
        judgement->verdict = probed;
    return true;
}

/* Probes once for each convention and hidden size; every lane sees what one found. */
static bool apply_probes(lane *lane, judgement *judgement, error *error)
{
    accuracy_part *part = lane->part;
    probed *kept = &part->probes[lane->kernel];
    if (!is_fine_so_far(&judgement->verdict))
        return true;
    pthread_mutex_lock(&part->lock);
    verdict found = {.kind = kept->epoch == lane->epoch ? kept->verdict.kind : VERDICT_PENDING};
    if (found.kind != VERDICT_PENDING)
        found = kept->verdict;
    pthread_mutex_unlock(&part->lock);
    if (found.kind == VERDICT_PENDING) {
        if (!judge_probes(lane->judge, part->session->plan.kernels[lane->kernel],
                          &lane->group->convention, lane->group->hidden, &found, error))
            return false;
        pthread_mutex_lock(&part->lock);
        *kept = (probed){lane->epoch, found};
        pthread_mutex_unlock(&part->lock);
    }
    if (found.kind != VERDICT_OK)
        judgement->verdict = found;
    return true;
}

/* ---- storing a case ---- */

static bool put_rows(session *session, const case_key *key, const judged_row *rows, size_t count,
                     error *error)
{
    for (size_t row = 0; rows && row < count; row++) {
        const judged_row *judged = &rows[row];
        const stored_row put = {.row = row,
                                .kappa = judged->kappa,
                                .row_ulp = judged->row_ulp,
                                .norm_max = judged->norm_max,
                                .bound_row_ulp = judged->bound_row_ulp,
                                .mean_error = judged->mean_error,
                                .rstd_error = judged->rstd_error};
        if (!store_put_row(session->store, session->run, key, &put, error))
            return false;
    }
    return true;
}

/* The worst row with what went with it; a very long one is made anew from its seed when it is
 * wanted. */
static bool put_worst(session *session, const case_key *key, const worst_row *worst, error *error)
{
    enum { MOST_BYTES = 1 << 20 };
    size_t x_bytes = worst->hidden * dtype_size(worst->storage);
    size_t parameter_bytes = worst->parameters * dtype_size(worst->param);
    bool kept = x_bytes <= MOST_BYTES;
    stored_worst stored = {
        .y_hash = worst->y_hash,
        .x = kept ? worst->x : NULL,
        .gamma = kept ? worst->gamma : NULL,
        .beta = kept ? worst->beta : NULL,
        .x_bytes = x_bytes,
        .gamma_bytes = parameter_bytes,
        .beta_bytes = parameter_bytes,
    };
    return store_put_worst(session->store, session->run, key, &stored, error);
}

static bool put_case(session *session, const case_key *key, const judged_case *found, size_t rows,
                     error *error)
{
    return put_rows(session, key, found->rows, rows, error) &&
           session_put(session, key, &found->judgement, error) &&
           (!found->measured || put_worst(session, key, &found->worst, error));
}

/* ---- judging a case ---- */

static bool is_swept(const char *input)
{
    return strncmp(input, "offset", 6) == 0 || strcmp(input, "kappa") == 0;
}

static bool keep_rows(const lane *lane, judged_case *found, error *error)
{
    size_t bytes = lane->block.rows * sizeof *found->rows;
    if (!is_swept(lane->key.input) || !found->judgement.by_row)
        return true;
    found->rows = malloc(bytes);
    if (!found->rows)
        return fail_memory(error, "a case's rows");
    memcpy(found->rows, found->judgement.by_row, bytes);
    return true;
}

static bool make_block(lane *lane, error *error)
{
    const accuracy_group *group = lane->group;
    if (lane->block_of == group)
        return true;
    judge_block_free(&lane->block);
    lane->block_of = NULL;
    if (!judge_block_generate_typed(lane->judge, &lane->block, &group->convention, group->dtype,
                                    group->param, group->input, 0, group->rows, group->hidden,
                                    error))
        return false;
    lane->block_of = group;
    return true;
}

static bool judge_case(lane *lane, judged_case *found, error *error)
{
    const kernel_entry *kernel = lane->part->session->plan.kernels[lane->kernel];
    judgement *judgement = &found->judgement;
    if (!make_block(lane, error) ||
        !judge_kernel(lane->judge, &lane->block, kernel, judgement, error))
        return false;
    /* The rows are the judge's until its next call, which a probe is. */
    found->measured = judgement->metrics.elements > 0;
    return (!found->measured ||
            worst_row_take(&lane->block, judgement->metrics.worst_row, judgement, lane->key.kernel,
                           lane->key.convention, &found->worst, error)) &&
           keep_rows(lane, found, error) && apply_probes(lane, judgement, error);
}

/* ---- the lanes ---- */

/* Under the lock. */
static void end_with(accuracy_part *part, const error *error)
{
    if (part->error.code == EXIT_CODE_FINE)
        part->error = *error;
    part->over = true;
    pthread_cond_broadcast(&part->moved);
}

static bool is_long(const accuracy_part *part)
{
    const plan *plan = &part->session->plan;
    return part->group < plan->accuracy_count &&
           plan->accuracy[part->group].rows * plan->accuracy[part->group].hidden > LONG_ELEMENTS;
}

static void advance(accuracy_part *part)
{
    const plan *plan = &part->session->plan;
    if (++part->kernel < plan->kernel_count)
        return;
    const accuracy_group *left = &plan->accuracy[part->group++];
    part->kernel = 0;
    if (part->group == plan->accuracy_count || left[1].hidden != left->hidden ||
        !same_convention(&left[1].convention, &left->convention))
        part->epoch++;
}

/* Whether the case at the cursor is to be judged; its key. */
static bool is_wanted(accuracy_part *part, case_key *key, bool *wanted, error *error)
{
    session *session = part->session;
    const accuracy_group *group = &session->plan.accuracy[part->group];
    const kernel_entry *kernel = session->plan.kernels[part->kernel];
    bool has = false;
    *wanted = plan_takes(kernel, group->dtype, group->param);
    if (!*wanted)
        return true;
    *key = accuracy_key(group, kernel);
    char what[160];
    snprintf(what, sizeof what, "%.40s  %.30s  %.50s  %zu", key->kernel, key->convention,
             key->input, key->hidden);
    progress_step(&session->progress, session_judgement_seconds(group->rows * group->hidden), what);
    if (session->resumed && !store_has_accuracy(session->store, session->run, key, &has, error))
        return false;
    *wanted = !has;
    return true;
}

/* Under the lock: the next case becomes the lane's. False: there is none left. */
static bool deal(lane *lane)
{
    accuracy_part *part = lane->part;
    error error = {0};
    bool wanted = false;
    while (!part->over && !wanted) {
        if (part->group == part->session->plan.accuracy_count) {
            part->over = true;
        } else if (is_long(part) && lane->number > 0) {
            judge_block_free(&lane->block);
            lane->block_of = NULL;
            pthread_cond_wait(&part->moved, &part->lock);
            continue;
        } else if (interrupted()) {
            fail(&error, EXIT_CODE_INTERRUPTED, "interrupted");
            end_with(part, &error);
        } else if (!is_wanted(part, &lane->key, &wanted, &error)) {
            end_with(part, &error);
        } else {
            lane->group = &part->session->plan.accuracy[part->group];
            lane->kernel = part->kernel;
            lane->epoch = part->epoch;
            advance(part);
        }
    }
    if (wanted)
        lane->turn = part->dealt++;
    pthread_cond_broadcast(&part->moved);
    return wanted;
}

/* Stores the case when all before it are; where one of them failed, it is lost. */
static void put_in_turn(lane *lane, const judged_case *found, bool fine, error *error)
{
    accuracy_part *part = lane->part;
    while (part->stored != lane->turn && part->error.code == EXIT_CODE_FINE)
        pthread_cond_wait(&part->moved, &part->lock);
    if (part->error.code != EXIT_CODE_FINE)
        return;
    fine = fine && put_case(part->session, &lane->key, found, lane->block.rows, error);
    if (!fine)
        end_with(part, error);
    part->stored++;
    pthread_cond_broadcast(&part->moved);
}

static void *run_lane(void *context)
{
    lane *lane = context;
    accuracy_part *part = lane->part;
    pthread_mutex_lock(&part->lock);
    while (deal(lane)) {
        judged_case found = {0};
        error error = {0};
        pthread_mutex_unlock(&part->lock);
        bool fine = judge_case(lane, &found, &error);
        pthread_mutex_lock(&part->lock);
        put_in_turn(lane, &found, fine, &error);
        worst_row_free(&found.worst);
        free(found.rows);
    }
    pthread_mutex_unlock(&part->lock);
    judge_block_free(&lane->block);
    return NULL;
}

/* A worker and a judge more. False: it goes without them. */
static bool open_lane(lane *lane)
{
    const session *session = lane->part->session;
    error ignored = {0};
    if (!worker_start_another(session->worker, &lane->worker, &ignored))
        return false;
    lane->judge = judge_create_another(session->judge, lane->worker);
    if (lane->judge && pthread_create(&lane->thread, NULL, run_lane, lane) == 0)
        return true;
    judge_destroy(lane->judge);
    worker_stop(lane->worker);
    return false;
}

size_t session_lanes(const plan *plan)
{
    size_t lanes = 1, judgements = 0;
    cpu_set_t set;
    for (size_t i = 0; i < plan->accuracy_count; i++)
        judgements += plan_kernels_of(plan, plan->accuracy[i].dtype, plan->accuracy[i].param);
    if (sched_getaffinity(0, sizeof set, &set) == 0)
        lanes = (size_t)CPU_COUNT(&set);
    lanes = lanes < LANES_MOST ? lanes : LANES_MOST;
    size_t worth = judgements / JUDGEMENTS_A_LANE;
    return lanes < worth ? lanes : worth ? worth : 1;
}

bool session_accuracy(session *session, error *error)
{
    lane lanes[LANES_MOST] = {0};
    accuracy_part part = {.session = session,
                          .lock = PTHREAD_MUTEX_INITIALIZER,
                          .moved = PTHREAD_COND_INITIALIZER,
                          .epoch = 1,
                          .probes = calloc(session->plan.kernel_count + 1, sizeof *part.probes)};
    if (!part.probes)
        return fail_memory(error, "probe verdicts");
    size_t wanted = session_lanes(&session->plan), opened = 1;
    for (size_t i = 0; i < LANES_MOST; i++)
        lanes[i] = (lane){.part = &part, .number = i};
    lanes[0].judge = session->judge;
    while (opened < wanted && open_lane(&lanes[opened]))
        opened++;
    run_lane(&lanes[0]);
    for (size_t i = 1; i < opened; i++) {
        pthread_join(lanes[i].thread, NULL);
        judge_destroy(lanes[i].judge);
        worker_stop(lanes[i].worker);
    }
    free(part.probes);
    if (part.error.code != EXIT_CODE_FINE)
        *error = part.error;
    return part.error.code == EXIT_CODE_FINE;
}
