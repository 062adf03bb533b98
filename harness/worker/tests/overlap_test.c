/* Overlapping calls that share a variable, or two variables in turn, are found on any machine and under any load. A
 * kernel that takes a lock passes, and nothing hangs. */
#include "worker/child/internal.h"
#include "test.h"
#include <pthread.h>

static void work(unsigned turns)
{
    for (volatile unsigned turn = 0; turn < turns; turn++)
        ;
}

/* Writes a static variable and reads it again after a hundredth of the call's time. */
static bool call_through_static(void *context)
{
    static void *volatile kept;
    work(9000);
    kept = context;
    work(100);
    bool fine = kept == context;
    work(900);
    return fine;
}

/* Uses two static variables in turn, so that only three overlapping calls use the same one twice. */
static bool call_through_two_places(void *context)
{
    static void *volatile kept[2];
    static unsigned calls;
    unsigned place = __atomic_fetch_add(&calls, 1, __ATOMIC_RELAXED) % 2;
    work(100);
    kept[place] = context;
    work(9000);
    bool fine = kept[place] == context;
    work(900);
    return fine;
}

static bool call_through_stack(void *context)
{
    void *volatile kept = context;
    work(10000);
    return kept == context;
}

static bool call_with_lock(void *context)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&lock);
    bool fine = call_through_static(context);
    pthread_mutex_unlock(&lock);
    return fine;
}

static const overlap_plan plan = {.free_calls = 300, .stops = 1000};
static int rows[AT_ONCE_MOST];
static void *const contexts[AT_ONCE_MOST] = {&rows[0], &rows[1], &rows[2], &rows[3], &rows[4]};

TEST(what_calls_share_is_found)
{
    assert_int_equal(worker_overlap(call_through_static, contexts, 2, &plan), OVERLAP_DIFFERS);
    assert_int_equal(worker_overlap(call_through_static, contexts, AT_ONCE_MOST, &plan),
                     OVERLAP_DIFFERS);
    assert_int_equal(worker_overlap(call_through_two_places, contexts, AT_ONCE_MOST, &plan),
                     OVERLAP_DIFFERS);
}

TEST(separate_calls_and_locked_ones_pass)
{
    assert_int_equal(worker_overlap(call_through_stack, contexts, AT_ONCE_MOST, &plan),
                     OVERLAP_SAME);
    assert_int_equal(worker_overlap(call_with_lock, contexts, AT_ONCE_MOST, &plan), OVERLAP_SAME);
    assert_int_equal(worker_overlap(call_through_static, contexts, 1, &plan), OVERLAP_SAME);
}
