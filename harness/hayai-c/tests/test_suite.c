/* SPDX-License-Identifier: Apache-2.0 */
/* Suites: how benchmarks are added, their ABI, and runs of many of them. */
#define HAYAI_SHORT_NAMES
#include "capture.h"
#include <math.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

/* ---- The ABI --------------------------------------------------------------------------------- */

/* The ABI: structs of an older and a newer caller, and sizes that never change. */

TEST(test_versions)
{
    char text[32];
    snprintf(text, sizeof text, "%d.%d.%d", HAYAI_VERSION_MAJOR, HAYAI_VERSION_MINOR,
             HAYAI_VERSION_PATCH);
    assert_string_equal(text, HAYAI_VERSION_STRING);
    assert_string_equal(hayai_version(), HAYAI_VERSION_STRING);
    assert_int_equal(HAYAI_VERSION, 200);
#if HAYAI_VERSION < 200
#error "HAYAI_VERSION must be usable by the preprocessor"
#endif
}

/* 64-bit sizes of 0.2: with the same soname they stay, or grow after struct_size. */
TEST(test_sizes)
{
    if (sizeof(void *) != 8)
        skip();
    assert_int_equal(sizeof(hayai_counter_value), 24);
    assert_int_equal(sizeof(hayai_run), 288);
    assert_int_equal(sizeof(hayai_summary), 64);
    assert_int_equal(sizeof(hayai_cache), 32);
    assert_int_equal(sizeof(hayai_custom), 16);
    assert_int_equal(sizeof(hayai_range), 16);
    assert_int_equal(sizeof(hayai_list), 16);
    assert_int_equal(sizeof(hayai_memory), 32);
    assert_int_equal(sizeof(hayai_node), 32);
    assert_int_equal(offsetof(hayai_options, struct_size), 128);
    assert_int_equal(offsetof(hayai_interleave, struct_size), 56);
    assert_int_equal(offsetof(hayai_reporter, struct_size), 48);
    assert_int_equal(offsetof(hayai_memory_manager, struct_size), 24);
    assert_int_equal(offsetof(hayai_profiler_manager, struct_size), 24);
}

/* Returns a struct at the end of accessible memory, so that reading beyond it crashes. */
static void *at_the_end(const void *bytes, size_t size)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *map = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(map != MAP_FAILED);
    assert_int_equal(mprotect(map + page, page, PROT_NONE), 0);
    return memcpy(map + page - size, bytes, size);
}

static int stop_at_once(const hayai_repetition *repetition, void *user)
{
    (void)repetition;
    (void)user;
    return 0;
}

TEST(test_struct_sizes)
{
    hayai_suite *suite = suite_of("one", empty_loop, NULL, NULL);
    const hayai_reporter quiet = {0};
    hayai_options options = {.iterations = 1, .reporters = &quiet, .reporter_count = 1};
    hayai_options *last = at_the_end(&options, sizeof options);
    assert_int_equal(hayai_suite_run(suite, last, NULL), HAYAI_OK);
    last->struct_size = sizeof *last;
    assert_int_equal(hayai_suite_run(suite, last, NULL), HAYAI_OK);
    last->struct_size = sizeof *last - 1;
    assert_int_equal(hayai_suite_run(suite, last, NULL), HAYAI_ERROR_ARGUMENT);
    /* A newer caller: accepted as long as unknown members are not used. */
    struct {
        hayai_options options;
        uint64_t newer;
    } larger = {.options = options};
    larger.options.struct_size = sizeof larger;
    assert_int_equal(hayai_suite_run(suite, &larger.options, NULL), HAYAI_OK);
    larger.newer = 1;
    assert_int_equal(hayai_suite_run(suite, &larger.options, NULL), HAYAI_ERROR_UNSUPPORTED);
    const hayai_interleave interleave = {
        .repetitions = 1, .on_repetition = stop_at_once, .struct_size = 8};
    assert_int_equal(hayai_suite_run_interleaved(suite, &interleave), HAYAI_ERROR_ARGUMENT);
    const hayai_memory_manager manager = {.struct_size = 1};
    assert_int_equal(hayai_register_memory_manager(&manager), HAYAI_ERROR_ARGUMENT);
}

static hayai_status count_runs(const hayai_run *run, void *user)
{
    for (size_t i = 0; i < sizeof run->reserved / sizeof *run->reserved; i++)
        assert_int_equal(run->reserved[i], 0);
    ++*(int *)user;
    return HAYAI_OK;
}

/* The size of array elements is the caller's. */
TEST(test_reporters_of_a_newer_caller)
{
    struct newer {
        hayai_reporter reporter;
        uint64_t newer[3];
    } reporters[2] = {0};
    int counts[2] = {0};
    for (int i = 0; i < 2; i++)
        reporters[i].reporter = (hayai_reporter){
            .run = count_runs, .user = &counts[i], .struct_size = sizeof reporters[0]};
    hayai_suite *suite = suite_of("one", empty_loop, NULL, NULL);
    const hayai_options options = {
        .iterations = 1, .reporters = &reporters[0].reporter, .reporter_count = 2};
    assert_int_equal(hayai_suite_run(suite, &options, NULL), HAYAI_OK);
    assert_true(counts[0] == 1 && counts[1] == 1);
    reporters[1].reporter.struct_size = sizeof(hayai_reporter);
    assert_int_equal(hayai_suite_run(suite, &options, NULL), HAYAI_ERROR_ARGUMENT);
}

/* ---- Macros ---------------------------------------------------------------------------------- */

/* The macros in C; test_cpp.cpp has them in C++, and macros_short.c the short names. */

static int called[8];

HAYAI_BENCHMARK(group, plain)
{
    called[0]++;
    empty_loop(state, NULL);
}

HAYAI_BENCHMARK_WITH(group, ranged, hayai_benchmark_range_multiplier(benchmark, 2);
                     hayai_benchmark_args(benchmark, (int64_t[]){3, 4}, 2))
{
    called[1]++;
    assert_int_equal(hayai_state_range(state, 1), 4);
    empty_loop(state, NULL);
}

HAYAI_FIXTURE(numbers)
{
    int value, zero;
};

HAYAI_SET_UP(numbers)
{
    assert_int_equal(fixture->value, 0);
    assert_int_equal(fixture->zero, 0);
    fixture->value = 5;
    called[2]++;
}

HAYAI_TEAR_DOWN(numbers)
{
    assert_int_equal(fixture->value, 6);
    called[3]++;
}

HAYAI_BENCHMARK_F(numbers, add)
{
    assert_int_equal(fixture->value, 5);
    fixture->value++;
    empty_loop(state, NULL);
}

HAYAI_BENCHMARK_F_WITH(numbers, add_ranged, hayai_benchmark_arg(benchmark, 9))
{
    fixture->value++;
    assert_int_equal(hayai_state_range(state, 0), 9);
    empty_loop(state, NULL);
}

HAYAI_BENCHMARK_P(group, multiply, (int a, int b))
{
    called[4] += a * b;
    empty_loop(state, NULL);
}
HAYAI_BENCHMARK_P_INSTANCE(group, multiply, (2, 3))
HAYAI_BENCHMARK_P_INSTANCE_WITH(group, multiply, (4, 5), hayai_benchmark_repetitions(benchmark, 2))

HAYAI_BENCHMARK_PF(numbers, both, (int c))
{
    fixture->value += c;
    called[5]++;
    empty_loop(state, NULL);
}
HAYAI_BENCHMARK_PF_INSTANCE(numbers, both, (1))

HAYAI_BENCHMARK_PF_INSTANCE_WITH(numbers, both, (1), hayai_benchmark_arg(benchmark, 3))

/* Names that are equal when they are joined. */
HAYAI_BENCHMARK(join_a, b)
{
    empty_loop(state, NULL);
}
HAYAI_BENCHMARK(join, a_b)
{
    empty_loop(state, NULL);
}

HAYAI_BENCHMARK_NAMED(empty_loop, plain)
HAYAI_BENCHMARK_NAMED_WITH(empty_loop, ranged, hayai_benchmark_arg(benchmark, 5))

HAYAI_FIXTURE(broken)
{
    int unused;
};

HAYAI_SET_UP(broken)
{
    hayai_state_skip_with_message(state, "no fixture here");
}

HAYAI_TEAR_DOWN(broken)
{
    called[7]++;
}

HAYAI_BENCHMARK_F(broken, never)
{
    (void)state;
    called[6]++;
}

/* The short names, which a file requests. */

BENCHMARK(short_group, plain)
{
    while (hayai_state_keep_running(state))
        continue;
}

BENCHMARK_WITH(short_group, with, hayai_benchmark_arg(benchmark, 7))
{
    while (hayai_state_keep_running(state))
        continue;
}

FIXTURE(short_fixture)
{
    int value;
};

SET_UP(short_fixture)
{
    fixture->value = 1;
}

TEAR_DOWN(short_fixture)
{
}

BENCHMARK_F(short_fixture, one)
{
    while (hayai_state_keep_running(state))
        hayai_do_not_optimize(fixture->value);
}

BENCHMARK_P(short_group, parameters, (int a))
{
    while (hayai_state_keep_running(state))
        hayai_do_not_optimize(a);
}
BENCHMARK_P_INSTANCE(short_group, parameters, (1))

TEST(test_everything_is_registered_in_order)
{
    assert_string_equal(names_of(hayai_default_suite(), "-short"),
                        "group/plain\ngroup/ranged/3/4\nnumbers/add\nnumbers/add_ranged/9\n"
                        "group/multiply(2, 3)\ngroup/multiply(4, 5)/repeats:2\n"
                        "numbers/both(1)\nnumbers/both(1)/3\njoin_a/b\njoin/a_b\nempty_loop/plain\n"
                        "empty_loop/ranged/5\nbroken/never\n");
}

TEST(test_short_names)
{
    assert_string_equal(names_of(hayai_default_suite(), "short"),
                        "short_group/plain\nshort_group/with/7\nshort_fixture/one\n"
                        "short_group/parameters(1)\n");
}

TEST(test_everything_runs)
{
    capture *got = capture_create();
    hayai_summary summary;
    assert_int_equal(capture_run(got, hayai_default_suite(), NULL, &summary), HAYAI_OK);
    assert_int_equal(summary.errors, 0);
    assert_int_equal(summary.messages, 1);
    const int expected[8] = {1, 1, 4, 4, 2 * 3 + 2 * 4 * 5, 2, 0, 1};
    assert_memory_equal(called, expected, sizeof called);
    assert_string_equal(capture_find(got, "broken/never")->message, "no fixture here");
}

TEST(test_the_optimizer_is_held_back)
{
    int value = 1;
    hayai_do_not_optimize(&value);
    hayai_do_not_optimize(value);
    hayai_do_not_optimize(value + 1);
    hayai_do_not_optimize_in_out(value);
    hayai_clobber();
    assert_int_equal(value, 1);
}

/* ---- Many benchmarks ------------------------------------------------------------------------- */

/* Thousands of instances, each of which is identified. */

enum { MANY = 10000 };

static int64_t calls_of[MANY + 1];

static void note_call(hayai_state *state, void *user)
{
    (void)user;
    calls_of[hayai_state_range(state, 0)]++;
    empty_loop(state, NULL);
}

typedef struct reports {
    size_t count, wrong;
} reports;

static hayai_status check_run(const hayai_run *run, void *user)
{
    reports *tally = user;
    char expected[32];
    snprintf(expected, sizeof expected, "many/%zu", ++tally->count);
    tally->wrong += strcmp(run->name, expected) != 0 || run->family != 0 ||
                    run->instance != (int64_t)tally->count - 1;
    return HAYAI_OK;
}

TEST(test_ten_thousand_instances)
{
    hayai_benchmark *benchmark;
    hayai_suite *suite = suite_of("many", note_call, NULL, &benchmark);
    reports tally = {0};
    hayai_summary summary;
    const hayai_reporter reporter = {.run = check_run, .user = &tally};
    const hayai_options options = {.iterations = 1, .reporters = &reporter, .reporter_count = 1};
    hayai_benchmark_dense_range(benchmark, 1, MANY, 1);
    assert_int_equal(hayai_suite_run(suite, &options, &summary), HAYAI_OK);
    assert_int_equal(summary.runs, MANY);
    assert_int_equal(tally.count, MANY);
    assert_int_equal(tally.wrong, 0);
    for (int i = 1; i <= MANY; i++)
        assert_int_equal(calls_of[i], 1);
}

static void tell_numbers(hayai_state *state, void *user)
{
    empty_loop(state, NULL);
    hayai_state_set_label(state, user ? user : "none");
    hayai_state_set_counter(state, "first", (double)hayai_state_range(state, 0), 0,
                            HAYAI_ONE_K_1000);
}

TEST(test_filters_number_what_matches)
{
    static const int64_t sets[][2] = {{1, 2}, {2, 1}, {1, 1}, {2, 2}};
    hayai_benchmark *benchmark;
    hayai_suite *suite = suite_of("DISABLED_off", tell_numbers, NULL, NULL);
    hayai_suite_add(suite, "left_out", tell_numbers, NULL, NULL);
    hayai_suite_add(suite, "pair", tell_numbers, "pair", &benchmark);
    for (size_t i = 0; i < 4; i++)
        hayai_benchmark_args(benchmark, sets[i], 2);
    hayai_benchmark_thread_range(benchmark, 1, 2);
    hayai_suite_add(suite, "pair", tell_numbers, "again", &benchmark);
    hayai_benchmark_args(benchmark, sets[1], 2);
    capture *got = capture_create();
    const hayai_options options = {.iterations = 2, .filter = "pair/2/"};
    assert_int_equal(capture_run(got, suite, &options, NULL), HAYAI_OK);
    static const char *const names[] = {"pair/2/1/threads:1", "pair/2/1/threads:2",
                                        "pair/2/2/threads:1", "pair/2/2/threads:2", "pair/2/1"};
    assert_int_equal(got->count, 5);
    for (size_t i = 0; i < 5; i++) {
        const captured *run = &got->runs[i];
        assert_string_equal(run->name, names[i]);
        assert_int_equal(run->run.family, i / 4);
        assert_int_equal(run->run.instance, i % 4);
        assert_string_equal(run->label, i < 4 ? "pair" : "again");
        assert_close(capture_counter(run, "first"), 2.0 * (double)run->run.threads);
    }
}

static void count_bytes(hayai_memory *result, void *user)
{
    result->max_bytes_used = ++*(int64_t *)user;
}

static void start(void *user)
{
    (void)user;
}

/* Calls of equal instances cannot be distinguished; their results can. */
TEST(test_instances_that_are_equal)
{
    int64_t number = 0;
    hayai_benchmark *benchmark;
    hayai_suite *suite = suite_of("twin", tell_numbers, "twin", &benchmark);
    hayai_benchmark_arg(benchmark, 7);
    hayai_benchmark_arg(benchmark, 7);
    hayai_benchmark_repetitions(benchmark, 2);
    const hayai_memory_manager manager = {.start = start, .stop = count_bytes, .user = &number};
    hayai_register_memory_manager(&manager);
    capture *got = capture_create();
    assert_int_equal(capture_run(got, suite, NULL, NULL), HAYAI_OK);
    hayai_register_memory_manager(NULL);
    int64_t expected = 0;
    for (size_t i = 0; i < got->count; i++)
        if (got->runs[i].run.type == HAYAI_RUN_TYPE_ITERATION)
            assert_int_equal(got->runs[i].memory.max_bytes_used, ++expected);
    assert_int_equal(expected, 4);
}

TEST(test_names_with_line_ends)
{
    hayai_benchmark *benchmark;
    hayai_suite *suite = suite_of("two\nlines", tell_numbers, NULL, &benchmark);
    hayai_benchmark_arg_name(benchmark, "a\nb\n");
    hayai_benchmark_arg(benchmark, 1);
    hayai_benchmark_arg(benchmark, 2);
    hayai_suite_add(suite, "two", tell_numbers, NULL, &benchmark);
    hayai_benchmark_arg(benchmark, 3);
    assert_string_equal(names_of(suite, NULL), "two\nlines/a\nb\n:1\ntwo\nlines/a\nb\n:2\ntwo/3\n");
    assert_string_equal(names_of(suite, "lines.*2|two/3"), "two\nlines/a\nb\n:2\ntwo/3\n");
}

/* ---- Interleaving ---------------------------------------------------------------------------- */

/* hayai's own interleaving. */

enum { BENCHMARKS = 4, ROUNDS = 6, MOST = 200 };

typedef struct seen_repetition {
    char name[64], error[64], label[64];
    hayai_repetition at;
    double counter;
} seen_repetition;

static seen_repetition seen[MOST];
static size_t seen_count, stop_at;
static int64_t calls[BENCHMARKS], most_iterations;

static int note_repetition(const hayai_repetition *repetition, void *user)
{
    assert_ptr_equal(user, seen);
    assert_true(seen_count < MOST);
    seen_repetition *kept = &seen[seen_count++];
    snprintf(kept->name, sizeof kept->name, "%s", repetition->name);
    snprintf(kept->error, sizeof kept->error, "%s", repetition->error ? repetition->error : "");
    snprintf(kept->label, sizeof kept->label, "%s", repetition->label);
    kept->at = *repetition;
    kept->counter = repetition->counter_count > 0 ? repetition->counters[0].value : -1;
    return seen_count == stop_at;
}

/* Reports a millisecond per iteration; user has the benchmark's number. */
static void tell_a_millisecond(hayai_state *state, void *user)
{
    calls[(int64_t *)user - calls]++;
    if (hayai_state_max_iterations(state) > most_iterations)
        most_iterations = hayai_state_max_iterations(state);
    while (hayai_state_keep_running(state))
        hayai_state_set_iteration_time(state, 0.001);
    hayai_state_set_counter(state, "seven", 7, 0, HAYAI_ONE_K_1000);
    hayai_state_set_label(state, "label");
}

static hayai_suite *suite;

static int set_up(void **state)
{
    (void)state;
    seen_count = stop_at = 0;
    most_iterations = 0;
    memset(calls, 0, sizeof calls);
    suite = suite_empty();
    for (int i = 0; i < BENCHMARKS; i++) {
        char name[16];
        hayai_benchmark *benchmark;
        snprintf(name, sizeof name, "b%d", i);
        hayai_suite_add(suite, name, tell_a_millisecond, &calls[i], &benchmark);
        hayai_benchmark_use_manual_time(benchmark);
    }
    return 0;
}

static hayai_interleave settings(uint64_t seed)
{
    return (hayai_interleave){.seed = seed,
                              .repetitions = ROUNDS,
                              .min_seconds = 0.01,
                              .on_repetition = note_repetition,
                              .user = seen};
}

TEST_WITH(test_each_round_holds_each_benchmark_once, set_up)
{
    const hayai_interleave interleave = settings(1);
    assert_int_equal(hayai_suite_run_interleaved(suite, &interleave), HAYAI_OK);
    assert_int_equal(seen_count, BENCHMARKS * ROUNDS);
    for (unsigned round = 0; round < ROUNDS; round++) {
        unsigned in_round = 0;
        for (unsigned i = 0; i < BENCHMARKS; i++) {
            const hayai_repetition *at = &seen[round * BENCHMARKS + i].at;
            assert_int_equal(at->repetition, round);
            assert_int_equal(at->order, round * BENCHMARKS + i);
            in_round |= 1u << at->benchmark;
        }
        assert_int_equal(in_round, (1u << BENCHMARKS) - 1);
    }
}

TEST_WITH(test_a_number_of_its_own_leaves_later_rounds_out, set_up)
{
    enum { FEWER = 2 };
    const hayai_interleave interleave = settings(1);
    hayai_benchmark *benchmark;
    hayai_suite_add(suite, "fewer", tell_a_millisecond, &calls[0], &benchmark);
    hayai_benchmark_repetitions(benchmark, FEWER);
    assert_int_equal(hayai_suite_run_interleaved(suite, &interleave), HAYAI_OK);
    assert_int_equal(seen_count, BENCHMARKS * ROUNDS + FEWER);
    unsigned found = 0;
    for (size_t i = 0; i < seen_count; i++)
        if (seen[i].at.benchmark == BENCHMARKS)
            assert_int_equal(seen[i].at.repetition, found++);
    assert_int_equal(found, FEWER);
}

TEST_WITH(test_what_a_repetition_tells, set_up)
{
    const hayai_interleave interleave = settings(1);
    assert_int_equal(hayai_suite_run_interleaved(suite, &interleave), HAYAI_OK);
    for (size_t i = 0; i < seen_count; i++) {
        char name[32];
        snprintf(name, sizeof name, "b%zu/manual_time", seen[i].at.benchmark);
        assert_string_equal(seen[i].name, name);
        assert_string_equal(seen[i].label, "label");
        assert_string_equal(seen[i].error, "");
        assert_close(seen[i].at.real_seconds, 0.001);
        assert_true(seen[i].at.cpu_seconds > 0);
        assert_int_equal(seen[i].at.counter_count, 1);
        assert_true(seen[i].counter == 7);
        assert_int_equal(seen[i].at.threads, 1);
    }
}

static void order_of(uint64_t seed, char *order)
{
    const hayai_interleave interleave = settings(seed);
    seen_count = 0;
    assert_int_equal(hayai_suite_run_interleaved(suite, &interleave), HAYAI_OK);
    for (size_t i = 0; i < seen_count; i++)
        order[i] = (char)('0' + seen[i].at.benchmark);
    order[seen_count] = '\0';
}

TEST_WITH(test_the_order_is_the_seeds, set_up)
{
    char first[MOST], again[MOST], other[MOST];
    order_of(42, first);
    order_of(42, again);
    order_of(43, other);
    assert_string_equal(first, again);
    assert_string_not_equal(first, other);
}

/* All 24 orders of four occur about equally often: for 4800 rounds the count of each is 200 +- 14;
 * the bound is six standard deviations. */
static size_t orders_seen[256];
static unsigned round_order, in_round;

static int count_orders(const hayai_repetition *repetition, void *user)
{
    (void)user;
    round_order = (round_order << 2 | (unsigned)repetition->benchmark) & 255;
    if (++in_round % BENCHMARKS == 0)
        orders_seen[round_order]++;
    return 0;
}

TEST_WITH(test_all_orders_are_as_likely, set_up)
{
    hayai_suite *quick = suite_empty();
    for (int i = 0; i < BENCHMARKS; i++) {
        hayai_benchmark *benchmark;
        hayai_suite_add(quick, "q", empty_loop, NULL, &benchmark);
        hayai_benchmark_iterations(benchmark, 1);
    }
    const hayai_interleave interleave = {
        .seed = 7, .repetitions = 4800, .on_repetition = count_orders};
    assert_int_equal(hayai_suite_run_interleaved(quick, &interleave), HAYAI_OK);
    size_t orders = 0;
    for (int i = 0; i < 256; i++)
        if (orders_seen[i] > 0) {
            orders++;
            assert_true(orders_seen[i] > 200 - 6 * 14 && orders_seen[i] < 200 + 6 * 14);
        }
    assert_int_equal(orders, 24);
}

TEST_WITH(test_iterations_are_found_once_by_the_least_time, set_up)
{
    const hayai_interleave interleave = settings(5);
    assert_int_equal(hayai_suite_run_interleaved(suite, &interleave), HAYAI_OK);
    for (size_t i = 0; i < seen_count; i++) {
        assert_int_equal(seen[i].at.iterations, seen[0].at.iterations);
        assert_true((double)seen[i].at.iterations * 0.001 >= 0.01);
    }
    /* The search's calls, and then one per repetition. */
    const int64_t search = calls[0] - ROUNDS;
    assert_true(search >= 2 && search <= 4);
}

TEST_WITH(test_iterations_have_a_limit_in_the_search_too, set_up)
{
    hayai_interleave interleave = settings(5);
    interleave.max_iterations = 4;
    assert_int_equal(hayai_suite_run_interleaved(suite, &interleave), HAYAI_OK);
    assert_int_equal(seen_count, BENCHMARKS * ROUNDS);
    for (size_t i = 0; i < seen_count; i++) {
        assert_int_equal(seen[i].at.iterations, 4);
        assert_string_equal(seen[i].error, "");
    }
    assert_true(most_iterations <= 4);
}

TEST_WITH(test_own_iterations_need_no_search, set_up)
{
    hayai_benchmark *benchmark;
    int64_t *own = &calls[0];
    hayai_suite_add(suite, "own", tell_a_millisecond, own, &benchmark);
    hayai_benchmark_iterations(benchmark, 5);
    hayai_interleave interleave = settings(5);
    interleave.filter = "own";
    assert_int_equal(hayai_suite_run_interleaved(suite, &interleave), HAYAI_OK);
    assert_int_equal(*own, ROUNDS);
    assert_int_equal(seen[0].at.iterations, 5);
    assert_string_equal(seen[0].name, "own/iterations:5");
    assert_int_equal(seen[0].at.benchmark, BENCHMARKS);
}

TEST_WITH(test_arguments_and_threads, set_up)
{
    static const int64_t values[] = {3, 4};
    hayai_benchmark *benchmark;
    hayai_suite *one = suite_of("a", empty_loop, NULL, &benchmark);
    hayai_benchmark_args(benchmark, values, 2);
    hayai_benchmark_threads(benchmark, 1);
    hayai_benchmark_threads(benchmark, 2);
    hayai_benchmark_iterations(benchmark, 10);
    hayai_interleave interleave = settings(1);
    interleave.repetitions = 1;
    assert_int_equal(hayai_suite_run_interleaved(one, &interleave), HAYAI_OK);
    assert_int_equal(seen_count, 2);
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(seen[i].at.argument_count, 2);
        assert_int_equal(seen[i].at.threads, 1 + (int)seen[i].at.instance);
        assert_int_equal(seen[i].at.iterations, 10); /* per thread */
    }
}

static void fail_in_search(hayai_state *state, void *user)
{
    ++*(int *)user;
    hayai_state_skip_with_error(state, "not here");
}

static void fail_third(hayai_state *state, void *user)
{
    if (++*(int *)user == 3)
        hayai_state_skip_with_error(state, "the third");
    else
        empty_loop(state, NULL);
}

TEST_WITH(test_errors_in_the_search_and_later, set_up)
{
    int broken = 0, sometimes = 0;
    hayai_benchmark *benchmark;
    hayai_suite_add(suite, "broken", fail_in_search, &broken, NULL);
    hayai_suite_add(suite, "sometimes", fail_third, &sometimes, &benchmark);
    hayai_benchmark_iterations(benchmark, 2);
    hayai_interleave interleave = settings(9);
    interleave.filter = "broken|sometimes";
    assert_int_equal(hayai_suite_run_interleaved(suite, &interleave), HAYAI_OK);
    assert_int_equal(broken, 1);
    assert_int_equal(sometimes, ROUNDS);
    assert_int_equal(seen_count, 1 + ROUNDS);
    int errors = 0;
    for (size_t i = 0; i < seen_count; i++) {
        if (!seen[i].error[0])
            continue;
        errors++;
        const bool first = strcmp(seen[i].name, "broken") == 0;
        assert_string_equal(seen[i].error, first ? "not here" : "the third");
        assert_int_equal(seen[i].at.repetition, first ? 0 : 2);
        assert_true(seen[i].at.real_seconds == 0);
    }
    assert_int_equal(errors, 2);
}

TEST_WITH(test_the_callback_stops_it, set_up)
{
    const hayai_interleave interleave = settings(1);
    stop_at = 3;
    assert_int_equal(hayai_suite_run_interleaved(suite, &interleave), HAYAI_STOPPED);
    assert_int_equal(seen_count, 3);
    stop_at = 0;
    assert_int_equal(hayai_suite_run_interleaved(suite, &interleave), HAYAI_OK);
}

TEST_WITH(test_bad_settings, set_up)
{
    hayai_interleave bad[6];
    for (int i = 0; i < 6; i++)
        bad[i] = settings(1);
    bad[0].repetitions = 0;
    bad[1].min_seconds = -1;
    bad[2].min_seconds = NAN;
    bad[3].max_iterations = -1;
    bad[4].on_repetition = NULL;
    bad[5].filter = "(";
    for (int i = 0; i < 6; i++)
        assert_int_equal(hayai_suite_run_interleaved(suite, &bad[i]), HAYAI_ERROR_ARGUMENT);
    assert_int_equal(hayai_suite_run_interleaved(NULL, &bad[0]), HAYAI_ERROR_ARGUMENT);
    assert_int_equal(hayai_suite_run_interleaved(suite, NULL), HAYAI_ERROR_ARGUMENT);
    bad[0] = settings(1);
    bad[0].filter = "nothing";
    assert_int_equal(hayai_suite_run_interleaved(suite, &bad[0]), HAYAI_ERROR_NO_MATCH);
    assert_int_equal(seen_count, 0);
}

TEST_WITH(test_reporters_get_each_repetition_at_once, set_up)
{
    capture *got = capture_create();
    const hayai_options options = {
        .min_seconds = 0.002, .repetitions = 3, .interleave = true, .seed = 3};
    assert_int_equal(capture_run(got, suite, &options, NULL), HAYAI_OK);
    assert_int_equal(got->count, BENCHMARKS * (3 + 4));
    for (size_t i = 0; i < BENCHMARKS * 3; i++) {
        assert_int_equal(got->report_sizes[i], 1);
        assert_int_equal(got->runs[i].run.repetition, i / BENCHMARKS);
        assert_int_equal(got->runs[i].run.repetitions, 3);
        assert_null(strstr(got->runs[i].name, "iterations"));
        assert_null(strstr(got->runs[i].name, "repeats"));
    }
    assert_true(capture_has(got, "b3/manual_time_median"));
}

/* Google Benchmark prints nothing to the standard streams, whatever the environment says. */
TEST_WITH(test_nothing_is_printed, set_up)
{
    const hayai_interleave interleave = settings(1);
    output_catch();
    const hayai_status status = hayai_suite_run_interleaved(suite, &interleave);
    names_of(suite, NULL);
    hayai_library_build();
    char *printed = output_caught();
    assert_int_equal(status, HAYAI_OK);
    assert_string_equal(printed, "");
    assert_int_equal(seen_count, BENCHMARKS * ROUNDS);
}
