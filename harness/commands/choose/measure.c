#include "commands/choose/measure.h"
#include "base/allocate.h"
#include "domain/kernel_name.h"
#include "base/number.h"
#include "base/paths.h"
#include "session/setup.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { JUDGED_ROWS = 18 /* two rounds of the kappa sweep, as in every plan */ };

/* Adds "ROWSxHIDDEN", once. */
static void add_shape(word_list *shapes, size_t rows, size_t hidden)
{
    char word[64];
    snprintf(word, sizeof word, "%zux%zu", rows, hidden);
    for (size_t i = 0; i < shapes->count; i++)
        if (strcmp(shapes->words[i], word) == 0)
            return;
    word_list_add(shapes, word);
}

static void add_shapes(const choose_wanted *const *lacking, size_t count,
                       const machine_facts *machine, word_list *timed, word_list *judged)
{
    for (size_t i = 0; i < count; i++) {
        const choose_wanted *wanted = lacking[i];
        size_t rows = rows_to_time(wanted->rows, wanted->hidden, wanted->dtype, machine);
        add_shape(timed, rows, wanted->hidden);
        add_shape(judged, JUDGED_ROWS, wanted->hidden);
    }
}

/* Normal rows, and where the budget has a kappa the sweep and rows of just that kappa. */
static void add_inputs(const choose_budget *budget, word_list *inputs)
{
    char number[32], offset[64];
    word_list_add(inputs, "normal");
    if (isnan(budget->kappa))
        return;
    snprintf(offset, sizeof offset, "offset:%s", number_format(budget->kappa, number));
    word_list_add(inputs, "offset");
    word_list_add(inputs, offset);
}

/* The kernels whose parameters are of the type wanted. */
static kernel_list narrow(const choose_wanted *wanted, const kernel_list *kernels)
{
    kernel_list narrowed = {.kernels = allocate_zeroed(kernels->count + 1, sizeof(kernel_entry))};
    for (size_t i = 0; i < kernels->count; i++)
        if (!wanted->param ||
            strcmp(wanted->param, dtype_name(kernels->kernels[i].facts.param)) == 0)
            narrowed.kernels[narrowed.count++] = kernels->kernels[i];
    return narrowed;
}

static bool has_match(const char *glob, const kernel_list *kernels)
{
    for (size_t i = 0; i < kernels->count; i++)
        if (kernel_is_meant(&kernels->kernels[i], glob))
            return true;
    return false;
}

/* The globs but those that match kernels with other parameters alone. */
static bool add_globs(const choose_wanted *wanted, const kernel_list *all,
                      const kernel_list *narrowed, word_list *globs, error *err)
{
    size_t count = wanted->kernels ? wanted->kernels->count : 0;
    for (size_t i = 0; i < count; i++) {
        const char *glob = wanted->kernels->words[i];
        if (has_match(glob, narrowed) || !has_match(glob, all))
            word_list_add(globs, glob);
    }
    return count == 0 || globs->count > 0 ||
           fail(err, EXIT_CODE_USAGE,
                "no kernel of --kernels has %s parameters: choose their type with --param",
                wanted->param);
}

/* The words that plans are made from, in the lists of one request. */
static void make_request(const choose_wanted *wanted, plan_request *request)
{
    char threads[16];
    snprintf(threads, sizeof threads, "%u", wanted->threads);
    word_list_add(&request->conventions, wanted->convention_label);
    word_list_add(&request->dtypes, dtype_name(wanted->dtype));
    word_list_add(&request->caches, cache_name(wanted->cache));
    word_list_add(&request->threads, threads);
    if (!wanted->every_row && wanted->class == CLASS_ANY)
        add_inputs(&wanted->budget, &request->inputs);
}

static void request_free(plan_request *request)
{
    word_list *lists[] = {&request->kernels, &request->conventions, &request->dtypes,
                          &request->shapes,  &request->inputs,      &request->caches,
                          &request->threads};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        word_list_free(lists[i]);
}

/* The plan with the most repetitions that fit into the time. */
static bool plan_within(const choose_meter *meter, const kernel_list *kernels,
                        plan_request *request, double seconds, case_plan *plan, bool *short_of_time,
                        error *err)
{
    static const struct {
        unsigned processes, repetitions;
    } steps[] = {{9, 5}, {7, 5}, {5, 5}, {5, 3}, {3, 3}, {3, 2}};
    enum { STEPS = sizeof steps / sizeof *steps };
    for (size_t i = 0; i < STEPS; i++) {
        request->processes = steps[i].processes;
        request->repetitions = steps[i].repetitions;
        if (!plan_make(request, kernels, meter->machine, plan, err))
            return false;
        bool fits = session_plan_seconds(plan) <= seconds;
        if (fits || i + 1 == STEPS) {
            *short_of_time = !fits;
            return true;
        }
        plan_free(plan);
    }
    return false;
}

/* What is to be timed, and what is to be judged. */
typedef struct measure_plans {
    case_plan speed, accuracy;
    kernel_list kernels; /* that the plans choose from */
} measure_plans;

static bool make_plans(const choose_meter *meter, const choose_wanted *const *lacking, size_t count,
                       measure_plans *plans, bool *short_of_time, error *err)
{
    plan_request request = {.name = "default", .seed = meter->seed};
    word_list timed = {0}, judged = {0};
    const choose_wanted *first = lacking[0];
    kernel_list *narrowed = &plans->kernels;
    *narrowed = narrow(first, meter->kernels);
    bool fine = add_globs(first, meter->kernels, narrowed, &request.kernels, err);
    make_request(first, &request);
    add_shapes(lacking, count, meter->machine, &timed, &judged);
    request.only = "accuracy";
    request.shapes = judged;
    fine = fine && plan_make(&request, narrowed, meter->machine, &plans->accuracy, err);
    request.only = "speed";
    request.time_on = first->time_on;
    request.shapes = timed;
    fine = fine && plan_within(meter, narrowed, &request,
                               meter->seconds - session_plan_seconds(&plans->accuracy),
                               &plans->speed, short_of_time, err);
    request.shapes = (word_list){0};
    word_list_free(&timed);
    word_list_free(&judged);
    request_free(&request);
    return fine;
}

static bool begin(run_session *session, const choose_meter *meter, error *err)
{
    run_info info = {
        .command_line = meter->command_line,
        .plan = "choose",
        .plan_hash = session->plan.hash,
        .seed = meter->seed,
        .machine = meter->machine,
        .command = "choose",
        .request_hash = session->plan.request_hash,
    };
    return store_begin_run(session->store, &info, &session->run, err) &&
           session_store_kernels(session, err);
}

/* One run, two plans: the session turns from the one to the other. */
static bool run_both(run_session *session, const measure_plans *plans, const choose_meter *meter,
                     error *err)
{
    session->plan = plans->speed;
    if (!begin(session, meter, err) || !session_ask(session, &plans->speed, err) ||
        !session_ask(session, &plans->accuracy, err))
        return false;
    progress_begin(&session->progress,
                   session_plan_seconds(&plans->speed) + session_plan_seconds(&plans->accuracy));
    session->plan = plans->accuracy;
    bool fine = session_accuracy(session, err);
    session->plan = plans->speed;
    fine = fine && session_speed(session, err);
    progress_end(&session->progress);
    struct error ending = {0};
    bool ended = store_end_run(session->store, session->run, fine ? RUN_COMPLETE : RUN_INTERRUPTED,
                               fine ? err : &ending);
    return fine && ended;
}

bool choose_measure(const choose_meter *meter, const choose_wanted *const *lacking, size_t count,
                    int64_t *run, bool *short_of_time, error *err)
{
    measure_plans plans = {0};
    judge_settings settings = {
        .seed = meter->seed, .max_row_ulp = INFINITY, .deadline_seconds = meter->deadline};
    run_session session = {.worker = meter->worker,
                           .machine = *meter->machine,
                           .cpu = session_last_cpu(),
                           .deadline_seconds = meter->deadline};
    *short_of_time = false;
    bool fine = make_plans(meter, lacking, count, &plans, short_of_time, err);
    if (fine && !(session.judge = judge_create(worker_runner(meter->worker), &settings)))
        fine = fail_memory(err, "the judge");
    fine = fine && make_parent_directory(meter->database, err) &&
           store_open(meter->database, STORE_WRITE, &session.store, err);
    fine = fine && run_both(&session, &plans, meter, err);
    *run = session.run;
    store_close(session.store);
    judge_destroy(session.judge);
    plan_free(&plans.speed);
    plan_free(&plans.accuracy);
    free(plans.kernels.kernels);
    return fine;
}
