/* Two calls that share a variable meet in it, on any machine and under any load; a lock that keeps
 * them apart ends the meetings and hangs nothing. */
#include "worker/child/meet.h"
#include "test.h"
#include <pthread.h>

static void work(unsigned turns)
{
    for (volatile unsigned turn = 0; turn < turns; turn++)
        ;
}

/* A hundredth of the call lies between the writing and the reading of a static variable. */
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

static void what_two_calls_share_is_found(void **state)
{
    int first, second;
    (void)state;
    assert_false(worker_meet(call_through_static, &first, &second));
}

static void separate_calls_and_locked_ones_pass(void **state)
{
    int first, second;
    (void)state;
    assert_true(worker_meet(call_through_stack, &first, &second));
    assert_true(worker_meet(call_with_lock, &first, &second));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_two_calls_share_is_found),
        cmocka_unit_test(separate_calls_and_locked_ones_pass),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
