#include "choose_measure.h"
#include "interrupt.h"
#include "number.h"
#include "paths.h"
#include "session_setup.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { JUDGED_ROWS = 18 /* two rounds of the kappa sweep, as in every plan */ };

/* Adds "ROWSxHIDDEN", once. */
static bool add_shape(word_list *shapes, size_t rows, size_t hidden, error *error)
{
    char word[64];
    snprintf(word, sizeof word, "%zux%zu", rows, hidden);
    for (size_t i = 0; i < shapes->count; i++)
        if (strcmp(shapes->words[i], word) == 0)
            return true;
    return word_list_add(shapes, word, error);
}

static bool add_shapes(const choose_lack *lacks, size_t count, const machine *machine,
                       word_list *timed, word_list *judged, error *error)
{
    for (size_t i = 0; i < count; i++) {
        const choose_wanted *wanted = lacks[i].wanted;
        size_t rows = rows_to_time(wanted->rows, wanted->hidden, wanted->dtype, machine);
        if ((lacks[i].speed && !add_shape(timed, rows, wanted->hidden, error)) ||
            (lacks[i].accuracy && !add_shape(judged, JUDGED_ROWS, wanted->hidden, error)))
            return false;
    }
    return true;
}

/* Normal rows, and where the budget has a kappa the sweep and rows of just that kappa. */
static bool add_inputs(const choose_budget *budget, word_list *inputs, error *error)
{
    char number[32], offset[64];
    if (!word_list_add(inputs, "normal", error))
        return false;
    if (isnan(budget->kappa))
        return true;
    snprintf(offset, sizeof offset, "offset:%s", number_format(budget->kappa, number));
    return word_list_add(inputs, "offset", error) && word_list_add(inputs, offset, error);
}

/* The words that plans are made from, in the lists of one request. */
static bool make_request(const choose_wanted *wanted, plan_request *request, error *error)
{
    char threads[16];
    snprintf(threads, sizeof threads, "%u", wanted->threads);
    for (size_t i = 0; wanted->kernels && i < wanted->kernels->count; i++)
        if (!word_list_add(&request->kernels, wanted->kernels->words[i], error))
            return false;
    return word_list_add(&request->conventions, wanted->convention_label, error) &&
           word_list_add(&request->dtypes, dtype_name(wanted->dtype), error) &&
           word_list_add(&request->caches, cache_name(wanted->cache), error) &&
           word_list_add(&request->threads, threads, error) &&
           (wanted->every_input || add_inputs(&wanted->budget, &request->inputs, error));
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
static bool plan_within(const choose_meter *meter, plan_request *request, double seconds,
                        plan *plan, bool *short_of_time, error *error)
{
    static const struct {
        unsigned processes, repetitions;
    } steps[] = {{9, 5}, {7, 5}, {5, 5}, {5, 3}, {3, 3}, {3, 2}};
    enum { STEPS = sizeof steps / sizeof *steps };
    for (size_t i = 0; i < STEPS; i++) {
        request->processes = steps[i].processes;
        request->repetitions = steps[i].repetitions;
        if (!plan_make(request, meter->kernels, meter->machine, plan, error))
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

/* Both plans: what is to be timed, and what is to be judged. Either may be empty. */
typedef struct plans {
    plan speed, accuracy;
} plans;

static bool make_plans(const choose_meter *meter, const choose_lack *lacks, size_t count,
                       plans *plans, bool *short_of_time, error *error)
{
    plan_request request = {.name = "default", .seed = meter->seed};
    word_list timed = {0}, judged = {0};
    bool fine = make_request(lacks[0].wanted, &request, error) &&
                add_shapes(lacks, count, meter->machine, &timed, &judged, error);
    double left = meter->seconds;
    if (fine && judged.count) {
        request.only = "accuracy";
        request.shapes = judged;
        fine = plan_make(&request, meter->kernels, meter->machine, &plans->accuracy, error);
        left -= fine ? session_plan_seconds(&plans->accuracy) : 0;
    }
    if (fine && timed.count) {
        request.only = "speed";
        request.shapes = timed;
        fine = plan_within(meter, &request, left, &plans->speed, short_of_time, error);
    }
    request.shapes = (word_list){0};
    word_list_free(&timed);
    word_list_free(&judged);
    request_free(&request);
    return fine;
}

static bool begin(session *session, const choose_meter *meter, error *error)
{
    run_info info = {
        .command_line = meter->command_line,
        .plan = "choose",
        .plan_hash = session->plan.hash,
        .seed = meter->seed,
        .machine = meter->machine,
    };
    return store_begin_run(session->store, &info, &session->run, error) &&
           session_store_kernels(session, error);
}

/* One run, two plans: the session turns from the one to the other. */
static bool run_both(session *session, const plans *plans, const choose_meter *meter, error *error)
{
    session->plan = plans->speed.kernel_count ? plans->speed : plans->accuracy;
    if (!begin(session, meter, error))
        return false;
    progress_begin(&session->progress,
                   session_plan_seconds(&plans->speed) + session_plan_seconds(&plans->accuracy));
    bool fine = true;
    if (plans->accuracy.kernel_count) {
        session->plan = plans->accuracy;
        fine = session_accuracy(session, error);
    }
    if (fine && plans->speed.kernel_count) {
        session->plan = plans->speed;
        fine = session_speed(session, error);
    }
    progress_end(&session->progress);
    struct error ending = {0};
    bool ended = store_end_run(session->store, session->run, fine ? RUN_COMPLETE : RUN_INTERRUPTED,
                               fine ? error : &ending);
    return fine && ended;
}

bool choose_measure(const choose_meter *meter, const choose_lack *lacks, size_t count, int64_t *run,
                    bool *short_of_time, error *error)
{
    plans plans = {0};
    judge_settings settings = {
        .seed = meter->seed, .max_row_ulp = INFINITY, .deadline_seconds = meter->deadline};
    session session = {.worker = meter->worker,
                       .machine = *meter->machine,
                       .cpu = session_last_cpu(),
                       .deadline_seconds = meter->deadline};
    *short_of_time = false;
    bool fine = make_plans(meter, lacks, count, &plans, short_of_time, error);
    if (fine && !(session.judge = judge_create(meter->worker, &settings)))
        fine = fail_memory(error, "the judge");
    fine = fine && make_parent_directory(meter->database, error) &&
           store_open(meter->database, STORE_WRITE, &session.store, error);
    fine = fine && run_both(&session, &plans, meter, error);
    *run = session.run;
    store_close(session.store);
    judge_destroy(session.judge);
    plan_free(&plans.speed);
    plan_free(&plans.accuracy);
    return fine;
}
