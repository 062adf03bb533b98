#include "capture.h"
#include <math.h>
#include <stdio.h>

static void copy(char *to, const char *from)
{
    snprintf(to, CAPTURE_TEXT, "%s", from);
}

static hayai_status on_context(const hayai_context *machine, void *user)
{
    capture *capture = user;
    assert_non_null(machine->library_version);
    capture->contexts++;
    return capture->context_status;
}

static void keep(captured *kept, const hayai_run *run)
{
    copy(kept->name, run->name);
    copy(kept->run_name, run->run_name);
    copy(kept->function_name, run->function_name);
    copy(kept->arguments, run->arguments);
    copy(kept->aggregate_name, run->aggregate_name);
    copy(kept->label, run->label);
    copy(kept->message, run->message);
    copy(kept->complexity, run->complexity);
    kept->run = *run;
    kept->has_memory = run->memory != NULL;
    if (run->memory)
        kept->memory = *run->memory;
    assert_true(run->counter_count < CAPTURE_COUNTERS);
    for (size_t i = 0; i < run->counter_count; i++) {
        copy(kept->counters[i].name, run->counters[i].name);
        kept->counters[i].value = run->counters[i];
    }
}

static hayai_status on_run(const hayai_run *run, void *user)
{
    capture *capture = user;
    assert_true(capture->count < CAPTURE_RUNS);
    keep(&capture->runs[capture->count++], run);
    return capture->count == capture->stop_at_run ? HAYAI_STOPPED : HAYAI_OK;
}

static hayai_status on_report(const hayai_run *runs, size_t count, void *user)
{
    capture *capture = user;
    assert_string_equal(capture->runs[capture->count - 1].name, runs[count - 1].name);
    capture->report_sizes[capture->reports++] = count;
    return capture->report_status;
}

static hayai_status on_finalize(void *user)
{
    capture *capture = user;
    capture->finalized++;
    return capture->finalize_status;
}

capture *capture_create(void)
{
    capture *capture = calloc(1, sizeof *capture);
    assert_non_null(capture);
    return capture;
}

hayai_reporter capture_reporter(capture *capture)
{
    return (hayai_reporter){.context = on_context,
                            .run = on_run,
                            .report = on_report,
                            .finalize = on_finalize,
                            .user = capture};
}

hayai_status capture_run(capture *capture, hayai_suite *suite, const hayai_options *options,
                         hayai_summary *summary)
{
    const hayai_reporter reporter = capture_reporter(capture);
    hayai_options settings = options ? *options : (hayai_options){.iterations = 1};
    settings.reporters = &reporter;
    settings.reporter_count = 1;
    return hayai_suite_run(suite, &settings, summary);
}

bool capture_has(const capture *capture, const char *name)
{
    for (size_t i = 0; i < capture->count; i++)
        if (strcmp(capture->runs[i].name, name) == 0)
            return true;
    return false;
}

const captured *capture_find(const capture *capture, const char *name)
{
    for (size_t i = 0; i < capture->count; i++)
        if (strcmp(capture->runs[i].name, name) == 0)
            return &capture->runs[i];
    for (size_t i = 0; i < capture->count; i++)
        print_error("there is %s\n", capture->runs[i].name);
    fail_msg("no run %s", name);
    return NULL;
}

double capture_counter(const captured *run, const char *name)
{
    for (size_t i = 0; i < run->run.counter_count; i++)
        if (strcmp(run->counters[i].name, name) == 0)
            return run->counters[i].value.value;
    fail_msg("%s: no counter %s", run->name, name);
    return 0;
}

hayai_suite *suite_of(const char *name, hayai_function *function, void *context,
                      hayai_benchmark **benchmark)
{
    hayai_suite *suite = hayai_suite_create();
    assert_non_null(suite);
    assert_int_equal(hayai_suite_add(suite, name, function, context, benchmark), HAYAI_OK);
    return suite;
}

static char names[8192];

static int add_name(const char *name, void *context)
{
    (void)context;
    const size_t length = strlen(names);
    snprintf(names + length, sizeof names - length, "%s\n", name);
    return 0;
}

const char *names_of(hayai_suite *suite, const char *filter)
{
    names[0] = '\0';
    const hayai_status status = hayai_suite_list(suite, filter, add_name, NULL);
    return status == HAYAI_OK ? names : hayai_status_string(status);
}

void assert_near(double value, double expected, double tolerance)
{
    if (!(fabs(value - expected) <= tolerance))
        fail_msg("%.17g, expected %.17g", value, expected);
}

void assert_close(double value, double expected)
{
    /* Ten roundings of half a unit in the last place each. */
    assert_near(value, expected, 10 * 1.1102230246251565e-16 * fabs(expected));
}

void empty_loop(hayai_state *state, void *context)
{
    (void)context;
    while (hayai_state_keep_running(state))
        hayai_clobber();
}
