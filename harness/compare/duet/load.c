/* Opens two builds side by side. */
#include "compare/duet/duet.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const char *const options[SIDES] = {"--base", "--new"};

/* The loader opens one file once: what is given twice is not two builds. */
static bool check_files(const comparison_settings *settings, error *err)
{
    struct stat status[SIDES];
    for (int side = 0; side < SIDES; side++) {
        const char *file = settings->files[side];
        if (stat(file, &status[side]) != 0)
            return fail(err, EXIT_CODE_ENVIRONMENT, "%s %s: %s", options[side], file,
                        strerror(errno));
        if (!S_ISREG(status[side].st_mode))
            return fail(err, EXIT_CODE_ENVIRONMENT, "%s %s: is not a file", options[side], file);
    }
    if (status[BASE].st_dev == status[NEW].st_dev && status[BASE].st_ino == status[NEW].st_ino)
        return fail(err, EXIT_CODE_USAGE,
                    "--base %s and --new %s are one file: to compare a build with itself, give a "
                    "copy of it (cp, no link)",
                    settings->files[BASE], settings->files[NEW]);
    return true;
}

static bool is_listed(const word_list *files, const char *path)
{
    for (size_t i = 0; i < files->count; i++)
        if (strcmp(files->words[i], path) == 0)
            return true;
    return false;
}

/* What a build loads when it is alone must be there when both are: else the loader has given it the
 * other's copy of a library with the same soname, and the two run the same code. */
static bool check_alone(duet_run *duet, int side, const word_list *both, error *err)
{
    worker_process *alone;
    kernel_list kernels;
    word_list files = {0};
    if (!worker_start_builds(&duet->comparison.settings.files[side], 1, &alone, &kernels, err))
        return false;
    bool fine = worker_files(alone, &files, err);
    for (size_t i = 0; fine && i < files.count; i++)
        if (!is_listed(both, files.words[i]))
            fine = fail(err, EXIT_CODE_NOT_COMPARABLE,
                        "%s %s: beside the other it does not get its own %.200s: both would run "
                        "one copy (link it statically, or give its copies different sonames)",
                        options[side], duet->comparison.settings.files[side], files.words[i]);
    word_list_free(&files);
    kernel_list_free(&kernels);
    worker_stop(alone);
    return fine;
}

bool duet_load(duet_run *duet, error *err)
{
    word_list files = {0};
    if (!check_files(&duet->comparison.settings, err) ||
        !worker_start_builds(duet->comparison.settings.files, SIDES, &duet->worker, duet->kernels,
                             err) ||
        !worker_files(duet->worker, &files, err))
        return false;
    bool fine = check_alone(duet, BASE, &files, err) && check_alone(duet, NEW, &files, err);
    word_list_free(&files);
    for (int side = 0; fine && side < SIDES; side++)
        snprintf(duet->comparison.identity[side], sizeof duet->comparison.identity[side], "%016llx",
                 (unsigned long long)duet->kernels[side].kernels[0].object_hash);
    return fine;
}
