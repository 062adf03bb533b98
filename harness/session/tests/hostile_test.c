/* Every deed at every moment (hostile.def): the plugin gets its verdict, and the kernel that is judged
 * and timed beside it the figures that it has alone. A sample; all of them with LNBENCH_FULL. */
#include "scratch.h"
#include "session/session.h"
#include "test.h"
#include <math.h>

typedef enum deed_kind { CHANGES, ENDS, HANGS, WRITES } deed_kind;
typedef enum moment_kind { LOAD, ASKED, CALLED, TIMED } moment_kind;

static const struct {
    const char *name;
    deed_kind kind;
} deeds[] = {
#define DEED(name, kind) {#name, kind},
#include "hostile/hostile.def"
};

static const struct {
    const char *name;
    moment_kind kind;
} moments[] = {
#define MOMENT(name, kind) {#name, kind},
#include "hostile/hostile.def"
};

enum { DEEDS = sizeof deeds / sizeof *deeds, MOMENTS = sizeof moments / sizeof *moments };

/* ---- what is expected: a set of verdicts ---- */

enum {
    FINE = 1u << VERDICT_RIGHT_NO_BOUND,
    STATE = 1u << VERDICT_STATE_CHANGED,
    CRASH = 1u << VERDICT_CRASHED,
    TIMEOUT = 1u << VERDICT_TIMEOUT,
    OVERRUN = 1u << VERDICT_OVERRUN,
    NOT_LOADED = 1u << VERDICT_COUNT,
};

static unsigned expected_of(size_t deed, size_t moment)
{
    bool loads = moments[moment].kind == LOAD;
    switch (deeds[deed].kind) {
    case CHANGES:
        return STATE;
    case ENDS:
        return loads ? NOT_LOADED : CRASH;
    case HANGS:
        return loads ? NOT_LOADED : TIMEOUT;
    case WRITES: /* there is no y before the first call */
        return loads ? FINE : OVERRUN | CRASH;
    }
    return 0;
}

/* It takes as long as a plugin may take to be loaded. */
static bool is_slow(size_t deed, size_t moment)
{
    return deeds[deed].kind == HANGS &&
           (moments[moment].kind == LOAD || moments[moment].kind == ASKED);
}

/* ---- a run ---- */

static const char neighbour[] = "two_pass_f32_scalar";
static result_store *store;
static machine_facts machine;
static ln_metrics neighbour_alone;

typedef struct trial_outcome {
    unsigned hostile; /* the bit of its verdict */
    bool neighbour_fine;
    char described[256];
} trial_outcome;

static void read_outcome(const stored_cases *cases, trial_outcome *outcome)
{
    for (size_t i = 0; i < cases->count; i++) {
        const stored_case *one = &cases->cases[i];
        if (strcmp(one->key.kernel, "hostile") == 0) {
            outcome->hostile = 1u << one->verdict.kind;
            verdict_describe(&one->verdict, outcome->described, sizeof outcome->described);
        } else if (strcmp(one->key.kernel, neighbour) == 0) {
            if (neighbour_alone.elements == 0)
                neighbour_alone = one->metrics;
            outcome->neighbour_fine = one->verdict.kind == VERDICT_RIGHT &&
                                      one->repetition_count == 3 &&
                                      one->metrics.row_ulp_max == neighbour_alone.row_ulp_max &&
                                      one->metrics.ulp_mean == neighbour_alone.ulp_mean &&
                                      one->metrics.elements == neighbour_alone.elements;
        }
    }
}

static void run_session_of(run_session *session, kernel_list *kernels, trial_outcome *outcome)
{
    error err = {0};
    stored_cases cases = {0};
    plan_request request = {
        .name = "quick", .only = "speed", .seed = 1, .processes = 1, .repetitions = 3};
    judge_settings settings = {.seed = 1, .max_row_ulp = INFINITY, .deadline_seconds = 1};
    run_info info = {.command_line = "", .plan = "quick", .plan_hash = "0", .machine = &machine};
    bool fine = word_list_split(&request.kernels, "hostile,two_pass_f32_scalar", &err) &&
                word_list_split(&request.shapes, "2000x16", &err) &&
                plan_make(&request, kernels, &machine, &session->plan, &err) &&
                (session->judge = judge_create(worker_runner(session->worker), &settings)) &&
                store_begin_run(store, &info, &session->run, &err) &&
                session_speed(session, &err) && store_cases(store, session->run, &cases, &err);
    if (!fine)
        snprintf(outcome->described, sizeof outcome->described, "the run ended: %.200s",
                 err.message);
    read_outcome(&cases, outcome);
    stored_cases_free(&cases);
    judge_destroy(session->judge);
    plan_free(&session->plan);
    word_list_free(&request.kernels);
    word_list_free(&request.shapes);
}

static trial_outcome try_pair(const char *deed, const char *moment)
{
    error err = {0};
    const char *plugins[] = {HOSTILE_PLUGIN};
    kernel_list kernels;
    trial_outcome outcome = {0};
    run_session session = {.store = store, .cpu = -1, .deadline_seconds = 1, .machine = machine};
    setenv("LNBENCH_HOSTILE_DEED", deed, 1);
    setenv("LNBENCH_HOSTILE_MOMENT", moment, 1);
    if (!worker_start(plugins, 1, &session.worker, &kernels, &err)) {
        outcome.hostile = err.code == EXIT_CODE_KERNEL_FAILED ? NOT_LOADED : 0;
        outcome.neighbour_fine = true; /* nothing was measured */
        snprintf(outcome.described, sizeof outcome.described, "%.250s", err.message);
        return outcome;
    }
    run_session_of(&session, &kernels, &outcome);
    worker_stop(session.worker);
    kernel_list_free(&kernels);
    return outcome;
}

static bool gets_its_verdict(size_t deed, size_t moment)
{
    trial_outcome outcome = try_pair(deeds[deed].name, moments[moment].name);
    bool fine = (outcome.hostile & expected_of(deed, moment)) && outcome.neighbour_fine;
    if (!fine)
        print_error("%s at %s: %s; its neighbour: %s\n", deeds[deed].name, moments[moment].name,
                    outcome.described, outcome.neighbour_fine ? "as alone" : "other figures");
    return fine;
}

static int set_up(void **state)
{
    error err = {0};
    setenv("LNBENCH_WORKER", LNBENCH_WORKER_PATH, 1);
    setenv("LNBENCH_LIBRARY", LNBENCH_LIBRARY_PATH, 1);
    machine_read(&machine);
    return scratch_create(state) ||
           !store_open(scratch_path(state, "session.db"), STORE_WRITE, &store, &err);
}

static int tear_down(void **state)
{
    store_close(store);
    machine_free(&machine);
    return scratch_remove(state);
}

TEST_WITH(every_deed_gets_its_verdict, set_up, tear_down)
{
    bool all = getenv("LNBENCH_FULL") != NULL;
    size_t tried = 0, wrong = 0;
    trial_outcome nothing = try_pair("", "");
    assert_int_equal(nothing.hostile, FINE);
    assert_true(nothing.neighbour_fine);
    for (size_t deed = 0; deed < DEEDS; deed++)
        for (size_t moment = 0; moment < MOMENTS; moment++) {
            bool drawn = (deed * 5 + moment) % 7 == 3 && !is_slow(deed, moment);
            if (!all && !drawn)
                continue;
            tried++;
            wrong += !gets_its_verdict(deed, moment);
        }
    print_message("%zu of %d pairs, %zu wrong\n", tried, DEEDS * MOMENTS, wrong);
    assert_true(tried >= (all ? 100 : 8));
    assert_int_equal(wrong, 0);
}
