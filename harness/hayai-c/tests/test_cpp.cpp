/* SPDX-License-Identifier: Apache-2.0 */
// The header in C++, callbacks that throw, the native state, and memory that runs out.
#include <benchmark/benchmark.h>
#include "hayai.h"
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <stdexcept>
#include <string>

extern "C" {
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
}

// ---- Memory that runs out at the n-th allocation
// -------------------------------------------------

static long allocations_left = -1; // -1: no limit
static std::atomic<int64_t> allocations;

void *operator new(std::size_t size)
{
    allocations++;
    if (allocations_left == 0)
        throw std::bad_alloc();
    if (allocations_left > 0)
        allocations_left--;
    if (void *memory = std::malloc(size ? size : 1))
        return memory;
    throw std::bad_alloc();
}

void *operator new(std::size_t size, const std::nothrow_t &) noexcept
{
    try {
        return operator new(size);
    } catch (const std::bad_alloc &) {
        return nullptr;
    }
}

void operator delete(void *memory) noexcept
{
    std::free(memory);
}

void operator delete(void *memory, std::size_t) noexcept
{
    std::free(memory);
}

// ---- Macros
// ---------------------------------------------------------------------------------------

HAYAI_BENCHMARK(cpp, plain)
{
    while (hayai_state_keep_running(state))
        continue;
}

HAYAI_FIXTURE(cpp_fixture)
{
    std::string text;
};

HAYAI_SET_UP(cpp_fixture)
{
    fixture->text = "a text that is too long to be kept in place";
}

HAYAI_TEAR_DOWN(cpp_fixture)
{
    assert_int_equal(fixture->text.size(), 43);
}

HAYAI_BENCHMARK_F(cpp_fixture, length)
{
    for (int64_t n; (n = hayai_state_batch(state)) > 0;)
        for (int64_t i = 0; i < n; i++)
            hayai_do_not_optimize(fixture->text.size());
}

HAYAI_BENCHMARK_P(cpp, parameters, (int a, const char *b))
{
    assert_true(a == 1 && std::strcmp(b, "two") == 0);
    while (hayai_state_keep_running(state))
        continue;
}
HAYAI_BENCHMARK_P_INSTANCE(cpp, parameters, (1, "two"))

struct outcome {
    int runs = 0, errors = 0;
    std::string message;
};

static hayai_status keep(const hayai_run *run, void *user)
{
    auto *kept = static_cast<outcome *>(user);
    kept->runs++;
    kept->errors += run->skipped == HAYAI_SKIP_ERROR;
    if (run->message[0])
        kept->message = run->message;
    return HAYAI_OK;
}

static hayai_status run(hayai_suite *suite, outcome &outcome)
{
    hayai_reporter reporter = {};
    reporter.run = keep;
    reporter.user = &outcome;
    hayai_options options = {};
    options.reporters = &reporter;
    options.reporter_count = 1;
    options.iterations = 3;
    return hayai_suite_run(suite, &options, nullptr);
}

static void test_macros(void **)
{
    outcome outcome;
    assert_int_equal(run(hayai_default_suite(), outcome), HAYAI_OK);
    assert_int_equal(outcome.runs, 3);
    assert_int_equal(outcome.errors, 0);
}

// ---- Exceptions
// -----------------------------------------------------------------------------------

static void throw_something(hayai_state *state, void *user)
{
    if (user)
        hayai_state_keep_running(state);
    throw std::runtime_error("thrown by the benchmark");
}

static void throw_a_number(hayai_state *, void *)
{
    throw 5;
}

static void test_exceptions_of_a_benchmark_are_its_error(void **)
{
    int inside = 1;
    for (int kind = 0; kind < 3; kind++) {
        hayai_suite *suite = hayai_suite_create();
        outcome outcome;
        hayai_suite_add(suite, "thrower", kind == 2 ? throw_a_number : throw_something,
                        kind == 1 ? &inside : nullptr, nullptr);
        assert_int_equal(run(suite, outcome), HAYAI_OK);
        assert_int_equal(outcome.errors, 1);
        assert_string_equal(outcome.message.c_str(), kind == 2 ? "the function threw an exception"
                                                               : "thrown by the benchmark");
        hayai_suite_destroy(suite);
    }
}

static hayai_status throw_in_reporter(const hayai_run *, void *)
{
    throw std::runtime_error("thrown by the reporter");
}

static void plain_loop(hayai_state *state, void *)
{
    while (hayai_state_keep_running(state))
        continue;
}

static void test_exceptions_of_a_reporter_are_a_status(void **)
{
    hayai_suite *suite = hayai_suite_create();
    hayai_suite_add(suite, "b", plain_loop, nullptr, nullptr);
    hayai_reporter reporter = {};
    reporter.run = throw_in_reporter;
    hayai_options options = {};
    options.reporters = &reporter;
    options.reporter_count = 1;
    options.iterations = 1;
    assert_int_equal(hayai_suite_run(suite, &options, nullptr), HAYAI_ERROR_FAILED);
    assert_string_equal(hayai_last_message(), "thrown by the reporter");
    hayai_suite_destroy(suite);
}

// ---- The native state
// -----------------------------------------------------------------------------

static void native_loop(hayai_state *state, void *user)
{
    auto &native = *static_cast<benchmark::State *>(hayai_state_native(state));
    int64_t count = 0;
    for (auto _ : native)
        count++;
    *static_cast<int64_t *>(user) = count;
}

static void test_a_native_loop(void **)
{
    int64_t count = 0;
    outcome outcome;
    hayai_suite *suite = hayai_suite_create();
    hayai_suite_add(suite, "native", native_loop, &count, nullptr);
    assert_int_equal(run(suite, outcome), HAYAI_OK);
    assert_int_equal(outcome.errors, 0);
    assert_int_equal(count, 3);
    hayai_suite_destroy(suite);
}

// ---- Out of memory
// --------------------------------------------------------------------------------

// Builds, lists and runs with only n allocations succeeding: every result is a status.
static bool survives(long n)
{
    hayai_suite *suite = hayai_suite_create();
    hayai_benchmark *benchmark = nullptr;
    hayai_summary summary;
    hayai_reporter reporter = {};
    const char *none = "none";
    hayai_options options = {};
    options.reporters = &reporter;
    options.reporter_count = 1;
    options.outputs = &none;
    options.output_count = 1;
    options.iterations = 1;
    options.repetitions = 2;
    allocations_left = n;
    hayai_status status =
        hayai_suite_add(suite, "a benchmark with a longer name", plain_loop, nullptr, &benchmark);
    if (status == HAYAI_OK)
        status = hayai_benchmark_range(benchmark, 1, 8);
    if (status == HAYAI_OK)
        status = hayai_suite_run(suite, &options, &summary);
    const bool ran_out = allocations_left == 0;
    allocations_left = -1;
    if (status != HAYAI_OK && status != HAYAI_ERROR_MEMORY)
        fail_msg("%ld allocations: %s: %s", n, hayai_status_string(status), hayai_last_message());
    hayai_suite_destroy(suite);
    return ran_out;
}

static void test_out_of_memory_is_a_status(void **)
{
    survives(100000); // now the library has allocated what it keeps for ever
    long n = 0;
    while (survives(n))
        n++;
    assert_true(n > 20);
}

// ---- Memory that is measured
// -----------------------------------------------------------------------

static void start_counting(void *)
{
    allocations = 0;
}

static void stop_counting(hayai_memory *result, void *user)
{
    result->allocations = *static_cast<int64_t *>(user) = allocations;
}

// The run that measures memory has one thread, so it shows no other threads.
static int64_t allocations_with(int threads)
{
    int64_t count = -1;
    hayai_benchmark *benchmark = nullptr;
    hayai_suite *suite = hayai_suite_create();
    hayai_suite_add(suite, "x", plain_loop, nullptr, &benchmark);
    hayai_benchmark_threads(benchmark, threads);
    hayai_memory_manager manager = {};
    manager.start = start_counting;
    manager.stop = stop_counting;
    manager.user = &count;
    hayai_register_memory_manager(&manager);
    const char *none = "none";
    hayai_options options = {};
    options.outputs = &none;
    options.output_count = 1;
    options.iterations = 1;
    assert_int_equal(hayai_suite_run(suite, &options, nullptr), HAYAI_OK);
    hayai_register_memory_manager(nullptr);
    hayai_suite_destroy(suite);
    return count;
}

static void test_measured_memory_is_not_that_of_threads(void **)
{
    const int64_t of_two = allocations_with(2);
    assert_true(of_two >= 0);
    assert_int_equal(of_two, allocations_with(9));
}

int main()
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_macros),
        cmocka_unit_test(test_exceptions_of_a_benchmark_are_its_error),
        cmocka_unit_test(test_exceptions_of_a_reporter_are_a_status),
        cmocka_unit_test(test_a_native_loop),
        cmocka_unit_test(test_measured_memory_is_not_that_of_threads),
        cmocka_unit_test(test_out_of_memory_is_a_status),
    };
    return cmocka_run_group_tests(tests, nullptr, nullptr);
}
