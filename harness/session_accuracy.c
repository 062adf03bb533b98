#include "interrupt.h"
#include "session.h"
#include "worst_row.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

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

/* Probe verdicts, one for each kernel, for one convention and hidden size at a time. */
typedef struct probes {
    ln_convention convention;
    size_t hidden;
    verdict *verdicts; /* VERDICT_PENDING: not probed yet */
} probes;

static bool same_convention(const ln_convention *a, const ln_convention *b)
{
    return a->ddof == b->ddof && a->eps_place == b->eps_place && a->eps == b->eps &&
           a->affine == b->affine;
}

static void turn_to(probes *probes, const ln_convention *convention, size_t hidden, size_t kernels)
{
    if (same_convention(&probes->convention, convention) && probes->hidden == hidden)
        return;
    probes->convention = *convention;
    probes->hidden = hidden;
    memset(probes->verdicts, 0, kernels * sizeof *probes->verdicts);
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

static bool apply_probes(session *session, probes *probes, size_t kernel, judgement *judgement,
                         error *error)
{
    verdict *probed = &probes->verdicts[kernel];
    if (!is_fine_so_far(&judgement->verdict))
        return true;
    if (probed->kind == VERDICT_PENDING &&
        !judge_probes(session->judge, session->plan.kernels[kernel], &probes->convention,
                      probes->hidden, probed, error))
        return false;
    if (probed->kind != VERDICT_OK)
        judgement->verdict = *probed;
    return true;
}

static bool put_rows(session *session, const case_key *key, const judgement *judgement, size_t rows,
                     error *error)
{
    bool swept = strncmp(key->input, "offset", 6) == 0 || strcmp(key->input, "kappa") == 0;
    if (!swept || !judgement->by_row)
        return true;
    for (size_t row = 0; row < rows; row++) {
        const judged_row *judged = &judgement->by_row[row];
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

static bool judge_one(session *session, const judge_block *block, probes *probes, size_t kernel,
                      const case_key *key, error *error)
{
    judgement judgement;
    worst_row worst = {0};
    if (!judge_kernel(session->judge, block, session->plan.kernels[kernel], &judgement, error))
        return false;
    /* The rows are the judge's until its next call, which a probe is. */
    bool measured = judgement.metrics.elements > 0;
    bool fine = (!measured || worst_row_take(block, judgement.metrics.worst_row, &judgement,
                                             key->kernel, key->convention, &worst, error)) &&
                put_rows(session, key, &judgement, block->rows, error) &&
                apply_probes(session, probes, kernel, &judgement, error) &&
                session_put(session, key, &judgement, error) &&
                (!measured || put_worst(session, key, &worst, error));
    worst_row_free(&worst);
    return fine;
}

static bool judge_group(session *session, const accuracy_group *group, probes *probes, error *error)
{
    judge_block block = {0};
    bool fine = true;
    for (size_t kernel = 0; fine && kernel < session->plan.kernel_count; kernel++) {
        case_key key = accuracy_key(group, session->plan.kernels[kernel]);
        bool has = false;
        if (!plan_takes(session->plan.kernels[kernel], group->dtype, group->param))
            continue;
        char what[160];
        snprintf(what, sizeof what, "%.40s  %.30s  %.50s  %zu", key.kernel, key.convention,
                 key.input, key.hidden);
        progress_step(&session->progress, session_judgement_seconds(group->rows * group->hidden),
                      what);
        if (interrupted())
            fine = fail(error, EXIT_CODE_INTERRUPTED, "interrupted");
        if (fine && session->resumed)
            fine = store_has_accuracy(session->store, session->run, &key, &has, error);
        if (!fine || has)
            continue;
        if (!block.x)
            fine = judge_block_generate_typed(session->judge, &block, &group->convention,
                                              group->dtype, group->param, group->input, 0,
                                              group->rows, group->hidden, error);
        fine = fine && judge_one(session, &block, probes, kernel, &key, error);
    }
    judge_block_free(&block);
    return fine;
}

bool session_accuracy(session *session, error *error)
{
    plan *plan = &session->plan;
    probes probes = {.verdicts = calloc(plan->kernel_count, sizeof *probes.verdicts)};
    bool fine = probes.verdicts || fail_memory(error, "probe verdicts");
    for (size_t i = 0; fine && i < plan->accuracy_count; i++) {
        const accuracy_group *group = &plan->accuracy[i];
        turn_to(&probes, &group->convention, group->hidden, plan->kernel_count);
        fine = judge_group(session, group, &probes, error);
    }
    free(probes.verdicts);
    return fine;
}
