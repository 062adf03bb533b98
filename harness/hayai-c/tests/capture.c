/* SPDX-License-Identifier: Apache-2.0 */
#include "capture.h"
#include <math.h>
#include <stdio.h>
#include <unistd.h>

static void copy(char *to, const char *from)
{
    snprintf(to, CAPTURE_TEXT, "%s", from);
}

static hayai_status on_context(const hayai_context *machine, void *user)
{
    capture *got = user;
    assert_non_null(machine->library_version);
    got->contexts++;
    return got->context_status;
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
    capture *got = user;
    assert_true(got->count < CAPTURE_RUNS);
    keep(&got->runs[got->count++], run);
    return got->count == got->stop_at_run ? HAYAI_STOPPED : HAYAI_OK;
}

static hayai_status on_report(const hayai_run *runs, size_t count, void *user)
{
    capture *got = user;
    assert_string_equal(got->runs[got->count - 1].name, runs[count - 1].name);
    got->report_sizes[got->reports++] = count;
    return got->report_status;
}

static hayai_status on_finalize(void *user)
{
    capture *got = user;
    got->finalized++;
    return got->finalize_status;
}

enum { MADE = 8 };
static capture *captures[MADE];
static hayai_suite *suites[MADE];

capture *capture_create(void)
{
    size_t i = 0;
    while (captures[i])
        assert_true(++i < MADE);
    captures[i] = calloc(1, sizeof *captures[i]);
    assert_non_null(captures[i]);
    return captures[i];
}

hayai_suite *suite_empty(void)
{
    size_t i = 0;
    while (suites[i])
        assert_true(++i < MADE);
    suites[i] = hayai_suite_create();
    assert_non_null(suites[i]);
    return suites[i];
}

int free_what_was_made(void **state)
{
    (void)state;
    for (size_t i = 0; i < MADE; i++) {
        hayai_suite_destroy(suites[i]);
        free(captures[i]);
        suites[i] = NULL;
        captures[i] = NULL;
    }
    return 0;
}

hayai_reporter capture_reporter(capture *got)
{
    return (hayai_reporter){.context = on_context,
                            .run = on_run,
                            .report = on_report,
                            .finalize = on_finalize,
                            .user = got};
}

hayai_status capture_run(capture *got, hayai_suite *suite, const hayai_options *options,
                         hayai_summary *summary)
{
    const hayai_reporter reporter = capture_reporter(got);
    hayai_options settings = options ? *options : (hayai_options){.iterations = 1};
    settings.reporters = &reporter;
    settings.reporter_count = 1;
    return hayai_suite_run(suite, &settings, summary);
}

captured capture_first(hayai_suite *suite)
{
    capture *got = capture_create();
    assert_int_equal(capture_run(got, suite, NULL, NULL), HAYAI_OK);
    assert_int_equal(got->count, 1);
    const captured run = got->runs[0];
    free_what_was_made(NULL);
    return run;
}

enum { CAUGHT = 1 << 16 };
static int standard[2];
static FILE *caught;

void output_catch(void)
{
    fflush(stdout);
    caught = tmpfile();
    assert_non_null(caught);
    for (int i = 0; i < 2; i++) {
        standard[i] = dup(1 + i);
        dup2(fileno(caught), 1 + i);
    }
}

char *output_caught(void)
{
    fflush(stdout);
    for (int i = 0; i < 2; i++) {
        dup2(standard[i], 1 + i);
        close(standard[i]);
    }
    static char bytes[CAUGHT];
    rewind(caught);
    bytes[fread(bytes, 1, CAUGHT - 1, caught)] = '\0';
    fclose(caught);
    return bytes;
}

bool capture_has(const capture *got, const char *name)
{
    for (size_t i = 0; i < got->count; i++)
        if (strcmp(got->runs[i].name, name) == 0)
            return true;
    return false;
}

const captured *capture_find(const capture *got, const char *name)
{
    for (size_t i = 0; i < got->count; i++)
        if (strcmp(got->runs[i].name, name) == 0)
            return &got->runs[i];
    for (size_t i = 0; i < got->count; i++)
        print_error("there is %s\n", got->runs[i].name);
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

hayai_suite *suite_of(const char *name, hayai_function *function, void *user,
                      hayai_benchmark **benchmark)
{
    hayai_suite *suite = suite_empty();
    assert_int_equal(hayai_suite_add(suite, name, function, user, benchmark), HAYAI_OK);
    return suite;
}

static char names[8192];

static int add_name(const char *name, void *user)
{
    (void)user;
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

char directory[96];

int directory_create(void **state)
{
    const char *place = getenv("TMPDIR");
    (void)state;
    snprintf(directory, sizeof directory, "%s/hayai-XXXXXX", place ? place : "/tmp");
    return mkdtemp(directory) ? 0 : -1;
}

int directory_remove(void **state)
{
    char command[160];
    (void)state;
    snprintf(command, sizeof command, "rm -r %s", directory);
    return system(command);
}

int library_version(void)
{
    int parts[3] = {0};
    assert_true(
        sscanf(hayai_google_benchmark_version(), "%d.%d.%d", &parts[0], &parts[1], &parts[2]) >= 2);
    return parts[0] * 10000 + parts[1] * 100 + parts[2];
}

void assert_near(double value, double expected, double tolerance)
{
    if (!(fabs(value - expected) <= tolerance))
        fail_msg("%.17g, expected %.17g", value, expected);
}

void assert_close(double value, double expected)
{
    /* Allow ten roundings of half a unit in the last place each. */
    assert_near(value, expected, 10 * 1.1102230246251565e-16 * fabs(expected));
}

void empty_loop(hayai_state *state, void *user)
{
    (void)user;
    while (hayai_state_keep_running(state))
        hayai_clobber();
}

/* ---- The tests of a program --------------------------------------------------------------------- */

enum { TESTS_MOST = 100 };
static struct CMUnitTest tests[TESTS_MOST];
static size_t tests_count;

void test_add(const char *name, CMUnitTestFunction function, CMFixtureFunction setup,
              CMFixtureFunction teardown)
{
    if (tests_count == TESTS_MOST)
        abort();
    tests[tests_count++] = (struct CMUnitTest){name, function, setup, teardown, NULL};
}

int test_run(CMFixtureFunction setup, CMFixtureFunction teardown)
{
    return _cmocka_run_group_tests("tests", tests, tests_count, setup, teardown);
}

__attribute__((weak)) int main(void)
{
    return test_run(NULL, NULL);
}
