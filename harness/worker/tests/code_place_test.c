/* Code that was moved is anonymous memory, holds the same bytes, and runs. */
#include "worker/child/internal.h"
#include "test.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* A function of the program, whose file is moved while it runs. */
static void inside(void)
{
}

/* Where the function lies: the mapping's protection and inode (0: it is of no file). */
static void mapping_of(void (*function)(void), char protection[5], uintmax_t *inode)
{
    char line[512];
    uintmax_t begin, end;
    FILE *maps = fopen("/proc/self/maps", "re");
    assert_non_null(maps);
    while (fgets(line, sizeof line, maps)) {
        int fields = sscanf(line, "%jx-%jx %4s %*s %*s %ju", &begin, &end, protection, inode);
        if (fields == 4 && (uintptr_t)function >= begin && (uintptr_t)function < end) {
            fclose(maps);
            return;
        }
    }
    fail_msg("the function lies nowhere");
}

TEST(code_moves_once_and_stays_itself)
{
    char protection[5], before[16];
    uintmax_t inode;
    mapping_of(inside, protection, &inode);
    assert_true(inode != 0);
    memcpy(before, (const void *)(uintptr_t)inside, sizeof before);

    assert_true(code_place_draw(inside, 5));
    mapping_of(inside, protection, &inode);
    assert_int_equal(inode, 0);
    assert_string_equal(protection, "r-xp");
    assert_memory_equal(before, (const void *)(uintptr_t)inside, sizeof before);
    inside();

    assert_false(code_place_draw(inside, 0));
}

TEST(code_of_another_file_moves_by_itself)
{
    char protection[5];
    uintmax_t inode;
    void (*elsewhere)(void) = (void (*)(void))_cmocka_run_group_tests;
    assert_true(code_place_draw(elsewhere, 0));
    mapping_of(elsewhere, protection, &inode);
    assert_int_equal(inode, 0);
}
