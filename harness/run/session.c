#include "run/session.h"
#include "base/allocate.h"
#include "domain/kernel_json.h"
#include <sched.h>

/* What this CPU cannot run takes no time. */
static double kernels_here(const case_plan *plan, const accuracy_group *judged,
                           const speed_group *timed)
{
    size_t count = 0;
    for (size_t i = 0; i < plan->kernel_count; i++)
        count +=
            !plan->kernels[i]->unsupported[0] &&
            (judged ? group_takes(judged, plan->kernels[i]) : speed_takes(timed, plan->kernels[i]));
    return (double)count;
}

double session_plan_seconds(const case_plan *plan)
{
    double seconds = 0, lanes = (double)session_lanes(plan);
    for (size_t i = 0; i < plan->accuracy_count; i++)
        seconds += 1 / lanes * kernels_here(plan, &plan->accuracy[i], NULL) *
                   session_judgement_seconds(plan->accuracy[i].elements);
    for (size_t i = 0; i < plan->speed_count; i++) {
        const speed_group *group = &plan->speed[i];
        double entries = kernels_here(plan, NULL, group) + ROOFS;
        seconds += entries * session_timed_judgement_seconds(group);
        seconds +=
            entries * group->processes * group->repetitions * session_repetition_seconds(group);
    }
    return seconds;
}

double session_run_seconds(const case_plan *plan)
{
    return (double)plan->related_count * invariance_seconds + session_plan_seconds(plan);
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

/* Under the first convention of each operation; kernels of one stand together. */
bool session_invariance(run_session *session, const kernel_list *kernels)
{
    const case_plan *plan = &session->plan;
    bool fine = true;
    session->invariance = allocate_zeroed(kernels->count + 1, sizeof *session->invariance);
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
    worker_forget(session->worker); /* so that a verdict depends on no call made here */
    session_store_kernels(session);
    return fine;
}

static void put_asked(run_session *session, const case_key *key, unsigned parts)
{
    asked_case asked = {.key = *key, .parts = parts};
    store_put_asked(session->store, session->run, &asked);
}

void session_ask(run_session *session, const case_plan *plan)
{
    store_together(session->store);
    for (size_t i = 0; i < plan->accuracy_count; i++)
        for (size_t k = 0; k < plan->kernel_count; k++) {
            case_key key = accuracy_key(&plan->accuracy[i], plan->kernels[k]);
            if (group_takes(&plan->accuracy[i], plan->kernels[k]))
                put_asked(session, &key, ASKED_TO_JUDGE);
        }
    for (size_t i = 0; i < plan->speed_count; i++)
        for (size_t k = 0; k < plan->kernel_count; k++) {
            const speed_group *group = &plan->speed[i];
            case_key key = speed_key(group, plan->kernels[k]->facts.name);
            if (speed_takes(group, plan->kernels[k]))
                put_asked(session, &key, ASKED_TO_JUDGE | ASKED_TO_TIME);
        }
    store_count_asked(session->store, session->run);
    store_together_end(session->store);
}

void session_store_kernels(run_session *session)
{
    for (size_t i = 0; i < session->plan.kernel_count; i++) {
        json_t *json = kernel_json(session->plan.kernels[i],
                                   session->invariance ? &session->invariance[i] : NULL);
        char *dumped = json_dumps(json, JSON_COMPACT);
        store_put_kernel(session->store, session->run, session->plan.kernels[i]->facts.name,
                         dumped);
        free(dumped);
        json_decref(json);
    }
}
