/* Bytes that are no reply are seen: what sends them has crashed. */
#include "test.h"
#include "worker/protocol.h"
#include <string.h>

static worker_reply described(void)
{
    return (worker_reply){.magic = PROTOCOL_MAGIC,
                          .kind = REPLY_KERNEL,
                          .kernel = {.name = "welford_f32_scalar", .isa = "scalar"}};
}

TEST(what_is_no_reply_is_seen)
{
    worker_reply good = described();
    assert_true(reply_is_sane(&good));
    worker_reply bad[6];
    for (size_t i = 0; i < 6; i++)
        bad[i] = good;
    bad[0].magic++;
    bad[1].kind = REPLY_KIND_END;
    bad[2].verdict = VERDICT_COUNT;
    memset(bad[3].text, 'x', sizeof bad[3].text); /* not terminated */
    strcpy(bad[4].kernel.name, "two\nlines");
    bad[5].kernel.storage = (ln_type)99;
    for (size_t i = 0; i < 6; i++)
        assert_false(reply_is_sane(&bad[i]));
}
