/* Tests the thread pool: every part runs once and on its own thread; jobs come from many callers; threads sleep and
 * wake up; the size changes; the process forks; the system refuses threads. builds_test.cmake builds this file with
 * clang's ThreadSanitizer too. */
#include "test_list.h"
#include "pool.h"

#include <fenv.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer) || __has_feature(address_sanitizer)
#define SANITIZED 1
#endif
#endif

enum { MOST_PARTS = 100 };

typedef struct counts {
    unsigned done[MOST_PARTS]; /* not atomic: no two threads may have the same part */
    pthread_t by[MOST_PARTS];
    int rounding[MOST_PARTS];
} counts;

static void count_part(void *context, unsigned part)
{
    counts *seen = context;
    seen->done[part]++;
    seen->by[part] = pthread_self();
    seen->rounding[part] = fegetround();
}

static void assert_each_once(const counts *seen, unsigned parts)
{
    for (unsigned part = 0; part < MOST_PARTS; part++)
        assert_int_equal(seen->done[part], part < parts);
}

TEST(every_part_runs_once)
{
    for (unsigned threads = 1; threads <= 5; threads++) {
        assert_int_equal(ln_pool_resize(threads), LN_OK);
        assert_int_equal(ln_pool_threads(), threads);
        for (unsigned parts = 0; parts <= 12; parts++) {
            counts seen = {0};
            ln_pool_run(parts, count_part, &seen);
            assert_each_once(&seen, parts);
            for (unsigned part = 0; part < parts; part++)
                assert_true(pthread_equal(seen.by[part], seen.by[part % threads]));
            for (unsigned part = 1; part < parts && part < threads; part++)
                assert_false(pthread_equal(seen.by[part], pthread_self()));
        }
    }
}

TEST(jobs_follow_each_other)
{
    assert_int_equal(ln_pool_resize(3), LN_OK);
    for (int i = 0; i < 2000; i++) {
        counts seen = {0};
        unsigned parts = 1 + (unsigned)i % 7;
        ln_pool_run(parts, count_part, &seen);
        assert_each_once(&seen, parts);
        /* Sometimes waits until the threads sleep. */
        if (i % 100 == 0)
            nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
    }
}

static void *call_often(void *context)
{
    atomic_uint *wrong = context;
    for (int i = 0; i < 300; i++) {
        counts seen = {0};
        ln_pool_run(6, count_part, &seen);
        for (unsigned part = 0; part < MOST_PARTS; part++)
            atomic_fetch_add(wrong, seen.done[part] != (part < 6));
    }
    return NULL;
}

TEST(many_call_at_once)
{
    enum { CALLERS = 4 };
    pthread_t callers[CALLERS];
    atomic_uint wrong = 0;
    for (int i = 0; i < CALLERS; i++)
        assert_int_equal(pthread_create(&callers[i], NULL, call_often, &wrong), 0);
    for (unsigned i = 0; i < 20; i++)
        assert_int_equal(ln_pool_resize(1 + i % 4), LN_OK);
    for (int i = 0; i < CALLERS; i++)
        pthread_join(callers[i], NULL);
    assert_int_equal(atomic_load(&wrong), 0);
}

static void run_inside(void *context, unsigned part)
{
    counts *inner = context;
    ln_pool_run(3, count_part, &inner[part]);
}

TEST(a_job_within_a_job_runs_alone)
{
    counts inner[4] = {{{0}, {0}, {0}}};
    assert_int_equal(ln_pool_resize(2), LN_OK);
    ln_pool_run(4, run_inside, inner);
    for (int i = 0; i < 4; i++)
        assert_each_once(&inner[i], 3);
}

TEST(parts_round_as_the_caller)
{
    assert_int_equal(ln_pool_resize(3), LN_OK);
    const int modes[] = {FE_UPWARD, FE_TONEAREST, FE_DOWNWARD, FE_TONEAREST};
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        counts seen = {0};
        fesetround(modes[i]);
        ln_pool_run(3, count_part, &seen);
        fesetround(FE_TONEAREST);
        for (unsigned part = 0; part < 3; part++)
            assert_int_equal(seen.rounding[part], modes[i]);
    }
}

/* Tests the pool in a child. Returns 0 if everything is right. */
static int child_works(void)
{
    counts seen = {0};
    alarm(20);
    ln_pool_run(4, count_part, &seen);
    for (unsigned part = 0; part < 4; part++)
        if (seen.done[part] != 1)
            return 1;
    if (ln_pool_threads() != 3 || pthread_equal(seen.by[1], pthread_self()))
        return 2;
    return ln_pool_resize(1) == LN_OK ? 0 : 3;
}

/* qemu-user aborts when a process with threads forks, and ThreadSanitizer cannot follow it. */
static int forks_are_skipped(const char *what)
{
#ifdef __SANITIZE_THREAD__
    int knows_forks = 0;
#else
    int knows_forks = !getenv("LN_UNDER_QEMU");
#endif
    if (knows_forks)
        return 0;
    printf("skipped: %s (qemu-user or ThreadSanitizer)\n", what);
    return 1;
}

TEST(a_child_has_threads_of_its_own)
{
    if (forks_are_skipped("threads of a child"))
        return;
    counts seen = {0};
    int status = -1;
    assert_int_equal(ln_pool_resize(3), LN_OK);
    ln_pool_run(3, count_part, &seen);
    pid_t child = fork();
    if (child == 0)
        _exit(child_works());
    assert_true(child > 0 && waitpid(child, &status, 0) == child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    memset(&seen, 0, sizeof seen);
    ln_pool_run(3, count_part, &seen);
    assert_each_once(&seen, 3);
}

#ifndef SANITIZED
/* Runs with too little address space for stacks. */
static int refused_threads_are_reported(void)
{
    counts seen = {0};
    const struct rlimit little = {1 << 20, 1 << 20};
    alarm(20);
    if (ln_pool_resize(2) != LN_OK || setrlimit(RLIMIT_AS, &little) != 0)
        return 1;
    if (ln_pool_resize(40) != LN_ERROR_THREADS || ln_pool_threads() != 2)
        return 2;
    ln_pool_run(MOST_PARTS, count_part, &seen);
    for (unsigned part = 0; part < MOST_PARTS; part++)
        if (seen.done[part] != 1)
            return 3;
    return 0;
}
#endif

TEST(errors_are_exact)
{
    assert_int_equal(ln_pool_resize(2), LN_OK);
    assert_int_equal(ln_pool_resize(LN_THREADS_MAX + 1), LN_ERROR_ARGUMENT);
    assert_int_equal(ln_pool_threads(), 2);
    assert_int_equal(ln_pool_resize(0), LN_OK);
    assert_true(ln_pool_threads() >= 1);
#ifdef SANITIZED
    printf("skipped: threads that the system refuses (a sanitizer needs the address space)\n");
#else
    int status = -1;
    if (forks_are_skipped("threads that the system refuses"))
        return;
    pid_t child = fork();
    if (child == 0)
        _exit(refused_threads_are_reported());
    assert_true(child > 0 && waitpid(child, &status, 0) == child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
#endif
}

/* Parts are contiguous, cover all rows, and their sizes differ by at most one row. */
TEST(parts_cover_all_rows)
{
    char x[1], y[1], mean[1];
    for (size_t rows = 1; rows < 50; rows++)
        for (unsigned parts = 1; parts <= rows && parts < 9; parts++) {
            const ln_problem problem = {
                .rows = rows, .hidden = 10, .x_stride = 12, .storage = LN_BF16};
            const ln_tensors tensors = {.x = x, .y = y, .mean = mean};
            size_t row = 0;
            for (unsigned part = 0; part < parts; part++) {
                ln_part cut = ln_part_of(&problem, &tensors, LN_F32, parts, part);
                assert_int_equal((uintptr_t)cut.tensors.x, (uintptr_t)x + row * 24);
                assert_int_equal((uintptr_t)cut.tensors.y, (uintptr_t)y + row * 20);
                assert_int_equal((uintptr_t)cut.tensors.mean, (uintptr_t)mean + row * 4);
                assert_null(cut.tensors.rstd);
                assert_true(cut.problem.rows - rows / parts <= 1);
                row += cut.problem.rows;
            }
            assert_int_equal(row, rows);
        }
}
