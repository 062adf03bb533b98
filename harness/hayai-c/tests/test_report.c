/* SPDX-License-Identifier: Apache-2.0 */
/* Reporters of one's own, the context, memory and profiler managers. */
#include "capture.h"
#include <stdio.h>

static capture *seen;
static hayai_suite *suite;

static void fail_always(hayai_state *state, void *user)
{
    (void)user;
    hayai_state_skip_with_error(state, "broken");
}

static int set_up(void **state)
{
    (void)state;
    suite = suite_of("first", empty_loop, NULL, NULL);
    hayai_suite_add(suite, "second", fail_always, NULL, NULL);
    hayai_suite_add(suite, "third", empty_loop, NULL, NULL);
    seen = capture_create();
    return 0;
}

SUITE_TEST(test_all_callbacks_in_order)
{
    hayai_summary summary;
    assert_int_equal(capture_run(seen, suite, NULL, &summary), HAYAI_OK);
    assert_int_equal(seen->contexts, 1);
    assert_int_equal(seen->count, 3);
    assert_int_equal(seen->reports, 3);
    assert_int_equal(seen->finalized, 1);
    assert_int_equal(summary.instances, 3);
    assert_int_equal(summary.runs, 3);
    assert_int_equal(summary.errors, 1);
    assert_int_equal(summary.messages, 0);
    assert_string_equal(seen->runs[0].name, "first");
    assert_string_equal(seen->runs[0].function_name, "first");
    assert_string_equal(seen->runs[1].message, "broken");
    assert_int_equal(seen->runs[2].run.family, 2);
}

/* A filter leaves families out, and the rest is numbered anew, as Google Benchmark does. */
SUITE_TEST(test_families_are_numbered_as_they_match)
{
    const hayai_options options = {.iterations = 1, .filter = "third"};
    assert_int_equal(capture_run(seen, suite, &options, NULL), HAYAI_OK);
    assert_int_equal(seen->count, 1);
    assert_int_equal(seen->runs[0].run.family, 0);
}

SUITE_TEST(test_families_and_instances_have_their_numbers)
{
    static const int64_t families[] = {0, 0, 1, 1, 1}, instances[] = {0, 1, 0, 1, 2};
    hayai_benchmark *two, *three;
    hayai_suite *numbered = suite_of("two", empty_loop, NULL, &two);
    hayai_suite_add(numbered, "three", empty_loop, NULL, &three);
    hayai_benchmark_dense_range(two, 1, 3, 1);
    hayai_benchmark_dense_range(three, 1, 3, 1);
    const hayai_options options = {.iterations = 1, .repetitions = 2, .filter = "-two/2"};
    assert_int_equal(capture_run(seen, numbered, &options, NULL), HAYAI_OK);
    const size_t each = 2 + 4; /* repetitions and aggregates */
    assert_int_equal(seen->count, 5 * each);
    for (size_t i = 0; i < seen->count; i++) {
        assert_int_equal(seen->runs[i].run.family, families[i / each]);
        assert_int_equal(seen->runs[i].run.instance, instances[i / each]);
    }
}

SUITE_TEST(test_a_reporter_can_stop_at_each_stage)
{
    seen->context_status = HAYAI_STOPPED;
    assert_int_equal(capture_run(seen, suite, NULL, NULL), HAYAI_STOPPED);
    assert_int_equal(seen->count, 0);
    assert_int_equal(seen->finalized, 1);
    seen->context_status = HAYAI_OK;
    seen->stop_at_run = 2;
    assert_int_equal(capture_run(seen, suite, NULL, NULL), HAYAI_STOPPED);
    assert_int_equal(seen->count, 2);
    assert_int_equal(seen->finalized, 2);
    seen->stop_at_run = 0;
    seen->report_status = HAYAI_ERROR_IO;
    assert_int_equal(capture_run(seen, suite, NULL, NULL), HAYAI_ERROR_IO);
    assert_int_equal(seen->count, 3);
    assert_int_equal(seen->finalized, 3);
    seen->report_status = HAYAI_OK;
    seen->finalize_status = HAYAI_ERROR_IO;
    assert_int_equal(capture_run(seen, suite, NULL, NULL), HAYAI_ERROR_IO);
    seen->finalize_status = HAYAI_OK;
    assert_int_equal(capture_run(seen, suite, NULL, NULL), HAYAI_OK); /* nothing is left over */
}

SUITE_TEST(test_callbacks_may_be_missing)
{
    const hayai_reporter none = {0};
    const hayai_options options = {.iterations = 1, .reporters = &none, .reporter_count = 1};
    assert_int_equal(hayai_suite_run(suite, &options, NULL), HAYAI_OK);
}

SUITE_TEST(test_several_reporters)
{
    capture *other = capture_create();
    const hayai_reporter both[] = {capture_reporter(seen), capture_reporter(other)};
    const hayai_options options = {.iterations = 1, .reporters = both, .reporter_count = 2};
    assert_int_equal(hayai_suite_run(suite, &options, NULL), HAYAI_OK);
    assert_int_equal(seen->count, 3);
    assert_int_equal(other->count, 3);
    assert_int_equal(other->finalized, 1);
}

/* ---- Context --------------------------------------------------------------------------------- */

typedef struct machine {
    char custom[512];
    char executable[64], version[32], build[32], date[64], host[64];
    int processors;
    size_t caches, name_width;
} machine;

static hayai_status keep_machine(const hayai_context *context, void *user)
{
    machine *kept = user;
    kept->custom[0] = '\0';
    for (size_t i = 0; i < context->custom_count; i++) {
        const size_t length = strlen(kept->custom);
        snprintf(kept->custom + length, sizeof kept->custom - length, "%s=%s;",
                 context->custom[i].key, context->custom[i].value);
    }
    snprintf(kept->executable, sizeof kept->executable, "%s", context->executable);
    snprintf(kept->version, sizeof kept->version, "%s", context->library_version);
    snprintf(kept->build, sizeof kept->build, "%s", context->library_build);
    snprintf(kept->date, sizeof kept->date, "%s", context->date);
    snprintf(kept->host, sizeof kept->host, "%s", context->host_name);
    kept->processors = context->processors;
    kept->caches = context->cache_count;
    kept->name_width = context->name_width;
    return HAYAI_OK;
}

SUITE_TEST(test_context)
{
    machine kept;
    const hayai_reporter reporter = {.context = keep_machine, .user = &kept};
    const hayai_options options = {
        .iterations = 1, .reporters = &reporter, .reporter_count = 1, .executable = "the program"};
    assert_int_equal(hayai_add_context("zebra", "striped"), HAYAI_OK);
    assert_int_equal(hayai_add_context("ape", "hairy"), HAYAI_OK);
    assert_int_equal(hayai_add_context("ape", "bald"), HAYAI_ERROR_ARGUMENT);
    assert_int_equal(hayai_add_context("", "x"), HAYAI_ERROR_ARGUMENT);
    assert_int_equal(hayai_add_context("x", NULL), HAYAI_ERROR_ARGUMENT);
    assert_int_equal(hayai_suite_run(suite, &options, NULL), HAYAI_OK);
    assert_string_equal(kept.custom, "ape=hairy;zebra=striped;");
    assert_string_equal(kept.executable, "the program");
    assert_string_equal(kept.version, hayai_google_benchmark_version());
    assert_string_equal(kept.build, hayai_library_build());
    assert_int_equal(strlen(kept.date), strlen("2024-02-29T12:00:00+01:00"));
    assert_true(strlen(kept.host) > 0);
    assert_true(kept.processors > 0);
    assert_true(kept.name_width >= strlen("second"));
    hayai_shutdown();
    assert_int_equal(hayai_suite_run(suite, &options, NULL), HAYAI_OK);
    assert_string_equal(kept.custom, "");
    assert_int_equal(hayai_add_context("ape", "new"), HAYAI_OK);
    hayai_shutdown();
}

SUITE_TEST(test_versions)
{
    int major, minor;
    assert_int_equal(sscanf(hayai_google_benchmark_version(), "%d.%d", &major, &minor), 2);
    assert_true(major >= 1);
    assert_int_equal(sscanf(hayai_version(), "%d.%d", &major, &minor), 2);
    const char *build = hayai_library_build();
    assert_true(strcmp(build, "debug") == 0 || strcmp(build, "release") == 0);
}

SUITE_TEST(test_status_texts)
{
    for (int status = HAYAI_OK; status <= HAYAI_ERROR_NO_MATCH; status++) {
        assert_string_not_equal(hayai_status_string((hayai_status)status), "unknown status");
        for (int other = HAYAI_OK; other < status; other++)
            assert_string_not_equal(hayai_status_string((hayai_status)status),
                                    hayai_status_string((hayai_status)other));
    }
    assert_string_equal(hayai_status_string((hayai_status)99), "unknown status");
}

/* ---- Managers -------------------------------------------------------------------------------- */

typedef struct meter {
    int started, stopped;
    bool complete;
} meter;

static void start(void *user)
{
    ((meter *)user)->started++;
}

static void stop(hayai_memory *result, void *user)
{
    meter *gauge = user;
    gauge->stopped++;
    result->allocations = 40 * gauge->stopped;
    result->max_bytes_used = 1000 + gauge->stopped;
    if (gauge->complete) {
        result->total_allocated_bytes = 7;
        result->net_heap_growth = -3;
    }
}

SUITE_TEST(test_memory_manager)
{
    meter gauge = {0};
    const hayai_memory_manager manager = {.start = start, .stop = stop, .user = &gauge};
    const hayai_options options = {.iterations = 10, .repetitions = 5, .filter = "first|third"};
    assert_int_equal(hayai_register_memory_manager(&manager), HAYAI_OK);
    assert_int_equal(capture_run(seen, suite, &options, NULL), HAYAI_OK);
    assert_int_equal(gauge.started, 10);
    assert_int_equal(gauge.stopped, 10);
    int number = 0;
    for (size_t i = 0; i < seen->count; i++) {
        const captured *run = &seen->runs[i];
        assert_int_equal(run->has_memory, run->run.type == HAYAI_RUN_TYPE_ITERATION);
        if (!run->has_memory)
            continue;
        number++;
        assert_int_equal(run->memory.allocations, 40 * number);
        assert_int_equal(run->memory.max_bytes_used, 1000 + number);
        assert_true(run->memory.total_allocated_bytes == HAYAI_MEMORY_UNKNOWN);
        assert_close(run->run.allocations_per_iteration, 4 * number);
    }
    assert_int_equal(hayai_register_memory_manager(NULL), HAYAI_OK);
    seen->count = seen->reports = 0;
    assert_int_equal(capture_run(seen, suite, NULL, NULL), HAYAI_OK);
    assert_false(seen->runs[0].has_memory);
}

SUITE_TEST(test_memory_manager_while_interleaving)
{
    meter gauge = {.complete = true};
    const hayai_memory_manager manager = {.start = start, .stop = stop, .user = &gauge};
    const hayai_options options = {.iterations = 10, .repetitions = 3, .interleave = true};
    hayai_register_memory_manager(&manager);
    assert_int_equal(capture_run(seen, suite, &options, NULL), HAYAI_OK);
    hayai_register_memory_manager(NULL);
    assert_int_equal(seen->runs[4].memory.max_bytes_used, 1005);
    assert_int_equal(seen->runs[4].memory.total_allocated_bytes, 7);
    assert_int_equal(seen->runs[4].memory.net_heap_growth, -3);
}

SUITE_TEST(test_bad_managers)
{
    const hayai_memory_manager half = {.start = start};
    const hayai_profiler_manager none = {0};
    assert_int_equal(hayai_register_memory_manager(&half), HAYAI_ERROR_ARGUMENT);
    assert_int_equal(hayai_register_profiler_manager(&none), HAYAI_ERROR_ARGUMENT);
}

static void count_up(void *user)
{
    ++*(int *)user;
}

SUITE_TEST(test_profiler_manager_or_a_status)
{
    int count = 0;
    const hayai_profiler_manager manager = {
        .after_set_up_start = count_up, .before_tear_down_stop = count_up, .user = &count};
    const hayai_status status = hayai_register_profiler_manager(&manager);
    assert_int_equal(status, library_version() < 10805 ? HAYAI_ERROR_UNSUPPORTED : HAYAI_OK);
    /* Newer libraries abort where one is registered already. */
    assert_int_equal(hayai_register_profiler_manager(&manager), status);
    assert_int_equal(capture_run(seen, suite, NULL, NULL), HAYAI_OK);
    assert_int_equal(count, status == HAYAI_OK ? 2 * 3 : 0);
    hayai_shutdown();
}
