/* SPDX-License-Identifier: Apache-2.0 */
/* More threads than there are, and threads of the caller's own. */
#include "capture.h"
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED 1
#endif
#endif

TEST(test_a_count_that_no_system_has)
{
    hayai_benchmark *benchmark;
    hayai_suite *suite = suite_of("many", empty_loop, NULL, &benchmark);
    assert_int_equal(hayai_benchmark_threads(benchmark, INT_MAX), HAYAI_ERROR_LIMIT);
    assert_string_equal(hayai_last_message(), "many: 2147483647 threads, at most 8192");
    assert_int_equal(hayai_benchmark_thread_range(benchmark, 1, INT_MAX), HAYAI_ERROR_LIMIT);
    assert_int_equal(hayai_benchmark_dense_thread_range(benchmark, 1, INT_MAX, 1),
                     HAYAI_ERROR_LIMIT);
    capture *got = capture_create();
    assert_int_equal(capture_run(got, suite, NULL, NULL), HAYAI_ERROR_LIMIT);
}

TEST(test_all_instances_count)
{
    hayai_benchmark *benchmark;
    suite_of("many", empty_loop, NULL, &benchmark);
    assert_int_equal(hayai_benchmark_dense_range(benchmark, 1, 200000, 1), HAYAI_OK);
    assert_int_equal(hayai_benchmark_dense_thread_range(benchmark, 1, 5, 1), HAYAI_OK);
    assert_int_equal(hayai_benchmark_threads(benchmark, 6), HAYAI_ERROR_LIMIT);
    assert_int_equal(hayai_benchmark_arg(benchmark, 1), HAYAI_ERROR_LIMIT);
}

static void do_nothing(const hayai_state *state, void *user)
{
    (void)state;
    (void)user;
}

/* Takes memory before the other threads are made, unless it is held back until then. */
static void allocate(hayai_state *state, void *user)
{
    void *bytes = malloc(1 << 20);
    hayai_do_not_optimize(bytes);
    empty_loop(state, user);
    free(bytes);
}

/* What a run of these threads comes to in a process with this much memory: a status, or 255 for a
 * message that does not say how many there are. Without a trial the process hangs, or ends by
 * std::terminate(). */
static int run_with_little_memory(int threads, rlim_t bytes, bool with_set_up)
{
    hayai_benchmark *benchmark;
    hayai_suite *suite = suite_of("many", allocate, NULL, &benchmark);
    hayai_benchmark_threads(benchmark, threads);
    if (with_set_up)
        hayai_benchmark_set_up(benchmark, do_nothing, NULL);
    const hayai_options options = {.iterations = 1};
    const struct rlimit limit = {bytes, bytes};
    capture *got = capture_create();
    alarm(60);
    if (setrlimit(RLIMIT_AS, &limit) != 0)
        return 255;
    const hayai_status status = capture_run(got, suite, &options, NULL);
    if (status == HAYAI_ERROR_LIMIT && !strstr(hayai_last_message(), " threads now, only "))
        return 255;
    return (int)status;
}

static int status_with_little_memory(int threads, rlim_t bytes, bool with_set_up)
{
    const pid_t child = fork();
    if (child == 0)
        _exit(run_with_little_memory(threads, bytes, with_set_up));
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

TEST(test_too_little_memory_for_the_threads)
{
#ifdef SANITIZED
    skip(); /* they need more address space than a limit leaves */
#endif
    const rlim_t mebibyte = 1 << 20;
    for (int with_set_up = 0; with_set_up < 2; with_set_up++)
        assert_int_equal(status_with_little_memory(500, 512 * mebibyte, with_set_up),
                         HAYAI_ERROR_LIMIT);
    /* Memory for the stacks, but hardly for more. */
    for (rlim_t size = 256; size < 4096; size += 128) {
        const int status = status_with_little_memory(100, size * mebibyte, size % 256 == 0);
        assert_true(status == HAYAI_OK || status == HAYAI_ERROR_LIMIT);
    }
}

/* ---- Threads of one's own -------------------------------------------------------------------- */

typedef struct one_thread {
    hayai_thread_body *body;
    void *work;
    int index;
} one_thread;

static void *start(void *user)
{
    const one_thread *one = user;
    one->body(one->index, one->work);
    return NULL;
}

static void run_threads(int threads, hayai_thread_body *body, void *work, void *user)
{
    pthread_t handles[8];
    one_thread all[8];
    assert_true(threads <= 8);
    ++*(int *)user;
    for (int i = 1; i < threads; i++) {
        all[i] = (one_thread){body, work, i};
        assert_int_equal(pthread_create(&handles[i], NULL, start, &all[i]), 0);
    }
    body(0, work);
    body(threads, work); /* there is no such thread: nothing happens */
    for (int i = 1; i < threads; i++)
        pthread_join(handles[i], NULL);
}

static void run_none(int threads, hayai_thread_body *body, void *work, void *user)
{
    (void)threads, (void)body, (void)work, (void)user;
}

static void count_threads(hayai_state *state, void *user)
{
    (void)user;
    empty_loop(state, NULL);
    hayai_state_set_counter(state, "index", hayai_state_thread_index(state), 0, HAYAI_ONE_K_1000);
}

TEST(test_a_thread_runner)
{
    int runs = 0;
    hayai_benchmark *benchmark;
    hayai_suite *suite = suite_of("own", count_threads, NULL, &benchmark);
    capture *got = capture_create();
    hayai_benchmark_threads(benchmark, 4);
    const hayai_status status = hayai_benchmark_thread_runner(benchmark, run_threads, &runs);
    assert_int_equal(status, library_version() < 10904 ? HAYAI_ERROR_UNSUPPORTED : HAYAI_OK);
    if (status == HAYAI_OK) {
        const hayai_options options = {.iterations = 3, .repetitions = 2};
        assert_int_equal(capture_run(got, suite, &options, NULL), HAYAI_OK);
        assert_int_equal(runs, 2);
        assert_close(capture_counter(&got->runs[0], "index"), 0 + 1 + 2 + 3);
        assert_int_equal(got->runs[0].run.iterations, 3 * 4);
        hayai_benchmark_thread_runner(benchmark, run_none, NULL);
        assert_int_equal(capture_run(got, suite, &options, NULL), HAYAI_ERROR_FAILED);
        assert_string_equal(hayai_last_message(), "the thread runner called 0 of 4 threads");
    }
}
