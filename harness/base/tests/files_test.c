/* A file appears only when it is complete; an unfinished one leaves nothing. */
#include "base/program.h"
#include "scratch.h"
#include <dirent.h>

static int names_in(const char *directory)
{
    int count = 0;
    DIR *folder = opendir(directory);
    for (struct dirent *entry; folder && (entry = readdir(folder));)
        count += entry->d_name[0] != '.';
    if (folder)
        closedir(folder);
    return count;
}

TEST_IN_SCRATCH(whole_or_absent)
{
    whole_file kept, dropped;
    whole_file_begin(&kept, scratch_path(state, "kept"));
    whole_file_begin(&dropped, scratch_path(state, "dropped"));
    assert_int_equal(names_in(*state), 2);
    whole_file_drop(&dropped);
    whole_file_end(&kept);
    assert_int_equal(names_in(*state), 1);
    assert_int_equal(access(scratch_path(state, "kept"), F_OK), 0);
}

TEST_IN_SCRATCH(nothing_is_left_by_a_sudden_end)
{
    whole_file files[3];
    for (int i = 0; i < 3; i++) {
        const char *path = scratch_path(state, i == 0 ? "one" : i == 1 ? "two" : "three");
        whole_file_begin(&files[i], path);
    }
    whole_file_end(&files[1]);
    tidy_up();
    assert_int_equal(names_in(*state), 1);
    assert_int_equal(access(scratch_path(state, "two"), F_OK), 0);
    whole_file_drop(&files[0]);
    whole_file_drop(&files[2]);
}
