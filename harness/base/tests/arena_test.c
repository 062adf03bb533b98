/* An arena gives memory that is zeroed and aligned, can be reset, and reports when memory runs out. */
#include "base/arena.h"
#include "test.h"
#include <setjmp.h>
#include <stdint.h>
#include <string.h>

TEST(memory_is_zeroed_aligned_and_apart)
{
    enum { COUNT = 2000 };
    arena memory = {0};
    unsigned char *taken[COUNT];
    for (int round = 0; round < 3; round++) {
        for (size_t i = 0; i < COUNT; i++) {
            taken[i] = arena_new(&memory, unsigned char, i + 1);
            assert_int_equal((uintptr_t)taken[i] % _Alignof(max_align_t), 0);
            for (size_t k = 0; k <= i; k++)
                assert_int_equal(taken[i][k], 0);
            memset(taken[i], (int)(i % 255 + 1), i + 1);
        }
        for (size_t i = 0; i < COUNT; i++)
            for (size_t k = 0; k <= i; k++)
                assert_int_equal(taken[i][k], i % 255 + 1);
        arena_reset(&memory);
    }
    arena_free(&memory);
    assert_non_null(arena_new(&memory, double, 0));
    arena_free(&memory);
    arena_reset(&memory);
}

TEST(large_blocks)
{
    enum { MANY = 10000000 };
    arena memory = {0};
    double *values = arena_new(&memory, double, MANY);
    char *behind = arena_new(&memory, char, 1);
    values[0] = values[MANY - 1] = 1;
    assert_int_equal(*behind, 0);
    arena_free(&memory);
}

TEST(text)
{
    arena memory = {0};
    assert_string_equal(arena_format(&memory, "%s/%d", "folder", 17), "folder/17");
    assert_int_equal(strlen(arena_format(&memory, "%10000d", 1)), 10000);
    assert_string_equal(arena_format(&memory, "%s", ""), "");
    arena_free(&memory);
}

static jmp_buf without_memory;
static size_t wanted;

static void go_back(size_t bytes)
{
    wanted = bytes;
    longjmp(without_memory, 1);
}

/* Catches the failure and continues, as a library would. */
TEST(out_of_memory_may_return_to_the_caller)
{
    arena memory = {0};
    volatile size_t count = SIZE_MAX / 8;
    volatile int failures = 0;
    out_of_memory = go_back;
    if (setjmp(without_memory) == 0)
        arena_new(&memory, double, count);
    else
        failures++;
    count = SIZE_MAX / 2;
    if (setjmp(without_memory) == 0)
        arena_new(&memory, double, count);
    else
        failures++;
    out_of_memory = NULL;
    assert_int_equal(failures, 2);
    assert_true(wanted > SIZE_MAX / 8);
    assert_non_null(arena_new(&memory, double, 1));
    arena_free(&memory);
}
