/* What a worker says is believed only where it can be true. */
#include "test.h"
#include "worker/protocol.h"
#include <math.h>
#include <string.h>

static const double seconds = 1; /* since the order */

static worker_reply repetition(void)
{
    return (worker_reply){.magic = PROTOCOL_MAGIC,
                          .kind = REPLY_REPETITION,
                          .repetition = {.iterations = 1000, .real_ns = 1e5, .cpu_ns = 1e5}};
}

TEST(a_repetition_has_the_length_that_it_can_have)
{
    worker_reply good = repetition();
    assert_true(reply_is_sane(&good, ORDER_TIME_RUN, seconds));
    assert_false(reply_is_sane(&good, ORDER_JUDGE, seconds));
    static const timed_repetition bad[] = {
        {.iterations = 0, .real_ns = 1e5, .cpu_ns = 1e5},
        {.iterations = UINT64_MAX, .real_ns = 1e-30, .cpu_ns = 1e-30},
        {.iterations = 1000, .real_ns = -1e308, .cpu_ns = 1e5},
        {.iterations = 1000, .real_ns = 0, .cpu_ns = 1e5},
        {.iterations = 1000, .real_ns = (double)NAN, .cpu_ns = 1e5},
        {.iterations = 1000, .real_ns = 1e5, .cpu_ns = (double)NAN},
        {.iterations = 1000, .real_ns = 1e5, .cpu_ns = -1},
        {.iterations = 1000, .real_ns = 1e5, .cpu_ns = (double)INFINITY},
        {.iterations = 1000, .real_ns = 1.1e6, .cpu_ns = 1e5}, /* longer than there was time */
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        worker_reply reply = repetition();
        reply.repetition = bad[i];
        assert_false(reply_is_sane(&reply, ORDER_TIME_RUN, seconds));
    }
}

/* Of all kinds, which answer which order; here with an index that fits the first and the later. */
TEST(each_order_has_its_answers)
{
    static const struct {
        order_kind order;
        bool answers[REPLY_KIND_END];
    } orders[] = {
        {ORDER_LOAD, {[REPLY_LOADED] = true, [REPLY_KERNEL] = true, [REPLY_FAILED] = true}},
        {ORDER_JUDGE, {[REPLY_DONE] = true, [REPLY_FAILED] = true}},
        {ORDER_TIME_ENTRY, {[REPLY_DONE] = true, [REPLY_FAILED] = true}},
        {ORDER_TIME_RUN,
         {[REPLY_STARTED] = true,
          [REPLY_REPETITION] = true,
          [REPLY_ROWS] = true,
          [REPLY_DONE] = true,
          [REPLY_FAILED] = true}},
    };
    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++)
        for (reply_kind kind = 0; kind <= REPLY_KIND_END; kind++) {
            worker_reply reply = repetition();
            reply.kind = kind;
            reply.index = kind == REPLY_LOADED ? 0 : 3;
            reply.count = kind == REPLY_LOADED ? 1 : 2;
            reply.value = 1;
            reply.verdict = VERDICT_CRASHED;
            bool expected =
                kind == REPLY_ALIVE || (kind < REPLY_KIND_END && orders[i].answers[kind]);
            assert_int_equal(reply_is_sane(&reply, orders[i].order, seconds), expected);
        }
}

/* Nothing good is a failure, and only the parent knows of a time-out. */
TEST(a_failure_is_one)
{
    static const verdict_kind failures[] = {
        VERDICT_OVERRUN, VERDICT_INPUT_MODIFIED, VERDICT_STATE_CHANGED, VERDICT_NONDETERMINISTIC,
        VERDICT_CRASHED, VERDICT_DECLINED,       VERDICT_LOST,
    };
    for (unsigned kind = 0; kind <= VERDICT_COUNT; kind++) {
        bool expected = false;
        for (size_t i = 0; i < sizeof failures / sizeof *failures; i++)
            expected |= failures[i] == (verdict_kind)kind;
        worker_reply reply = repetition();
        reply.kind = REPLY_FAILED;
        reply.verdict = (verdict_kind)kind;
        assert_int_equal(reply_is_sane(&reply, ORDER_JUDGE, seconds), expected);
    }
}

TEST(strings_end)
{
    worker_reply reply = repetition();
    memset(reply.text, 'a', sizeof reply.text);
    assert_false(reply_is_sane(&reply, ORDER_TIME_RUN, seconds));
    reply = repetition();
    memset(reply.kernel.name, 'a', sizeof reply.kernel.name);
    assert_false(reply_is_sane(&reply, ORDER_TIME_RUN, seconds));
    reply = repetition();
    reply.kernel.storage = (ln_type)77;
    assert_false(reply_is_sane(&reply, ORDER_TIME_RUN, seconds));
    reply = repetition();
    reply.magic++;
    assert_false(reply_is_sane(&reply, ORDER_TIME_RUN, seconds));
}
