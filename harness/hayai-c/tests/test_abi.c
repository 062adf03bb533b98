/* SPDX-License-Identifier: Apache-2.0 */
/* The ABI: what an older and a newer caller's structs do, and what never changes its size. */
#include "capture.h"
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

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

/* 64-bit sizes of 0.2: with the same soname they stay, or grow behind struct_size. */
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

/* A struct at the end of the memory there is: what is behind it can't be read. */
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
    /* A newer caller: fine as long as what we do not know is not used. */
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

static hayai_status count(const hayai_run *run, void *user)
{
    for (size_t i = 0; i < sizeof run->reserved / sizeof *run->reserved; i++)
        assert_int_equal(run->reserved[i], 0);
    ++*(int *)user;
    return HAYAI_OK;
}

/* Arrays are walked by the caller's size. */
TEST(test_reporters_of_a_newer_caller)
{
    struct newer {
        hayai_reporter reporter;
        uint64_t newer[3];
    } reporters[2] = {0};
    int counts[2] = {0};
    for (int i = 0; i < 2; i++)
        reporters[i].reporter =
            (hayai_reporter){.run = count, .user = &counts[i], .struct_size = sizeof reporters[0]};
    hayai_suite *suite = suite_of("one", empty_loop, NULL, NULL);
    const hayai_options options = {
        .iterations = 1, .reporters = &reporters[0].reporter, .reporter_count = 2};
    assert_int_equal(hayai_suite_run(suite, &options, NULL), HAYAI_OK);
    assert_true(counts[0] == 1 && counts[1] == 1);
    reporters[1].reporter.struct_size = sizeof(hayai_reporter);
    assert_int_equal(hayai_suite_run(suite, &options, NULL), HAYAI_ERROR_ARGUMENT);
}
