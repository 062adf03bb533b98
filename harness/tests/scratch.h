/* Makes a directory for a test, which is removed with its content (one level). Other users can reach it too, which is
 * not the case for a checkout in root's home. */
#ifndef LNBENCH_SCRATCH_H
#define LNBENCH_SCRATCH_H

#include "test.h"
#include "base/die.h"
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* No statement below changes a variable that is read after die(). */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wclobbered"
#endif

/* Returns whether a statement ends with die(); `problem` has its message. */
static error problem __attribute__((unused));
#define DIES(statement)                                                                            \
    __extension__({                                                                                \
        die_catcher caught = {0};                                                                  \
        die_caught_by = &caught;                                                                   \
        if (setjmp(caught.place) == 0)                                                             \
            statement;                                                                             \
        die_caught_by = NULL;                                                                      \
        problem = caught.error;                                                                    \
        problem.code != EXIT_CODE_FINE;                                                            \
    })

static inline int scratch_create(void **state)
{
    char *directory = strdup("/tmp/lnbench-test-XXXXXX");
    *state = directory;
    return directory && mkdtemp(directory) ? 0 : -1;
}

static inline int scratch_remove(void **state)
{
    char path[512];
    DIR *directory = opendir(*state);
    for (struct dirent *entry; directory && (entry = readdir(directory));) {
        snprintf(path, sizeof path, "%s/%s", (const char *)*state, entry->d_name);
        remove(path);
    }
    if (directory)
        closedir(directory);
    rmdir(*state);
    free(*state);
    return 0;
}

#define TEST_IN_SCRATCH(name) TEST_WITH(name, scratch_create, scratch_remove)

/* Returns DIRECTORY/NAME in one of four buffers, in rotation. */
static inline const char *scratch_path(void **state, const char *name)
{
    static char paths[4][512];
    static unsigned turn;
    char *path = paths[turn++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", (const char *)*state, name);
    return path;
}

#endif
