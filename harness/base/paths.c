#include "base/paths.h"
#include "base/files.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH_LENGTH = 1024 };

/* Directory of the running executable, without a slash at the end. */
static bool own_directory(char directory[PATH_LENGTH], error *err)
{
    ssize_t length = readlink("/proc/self/exe", directory, PATH_LENGTH - 1);
    if (length <= 0)
        return fail(err, EXIT_CODE_ENVIRONMENT, "/proc/self/exe: %s (is /proc mounted?)",
                    strerror(errno));
    directory[length] = '\0';
    char *slash = strrchr(directory, '/');
    if (slash)
        *slash = '\0';
    return true;
}

/* The first that exists: the variable's value, then each candidate, relative to the executable or
 * absolute. */
static bool find_path(const char *variable, const char *const *candidates, size_t count,
                      const char *what, char *path, size_t size, error *err)
{
    const char *given = getenv(variable);
    if (given && given[0]) {
        snprintf(path, size, "%s", given);
        if (access(path, R_OK) == 0)
            return true;
        return fail(err, EXIT_CODE_ENVIRONMENT, "%s=%s: %s", variable, given, strerror(errno));
    }
    char directory[PATH_LENGTH];
    if (!own_directory(directory, err))
        return false;
    for (size_t i = 0; i < count; i++) {
        bool absolute = candidates[i][0] == '/';
        snprintf(path, size, "%s%s%s", absolute ? "" : directory, absolute ? "" : "/",
                 candidates[i]);
        if (access(path, R_OK) == 0)
            return true;
    }
    return fail(err, EXIT_CODE_ENVIRONMENT,
                "%s not found near %s: build or install lnbench whole, or set %s", what, directory,
                variable);
}

bool path_of_worker(char *path, size_t size, error *err)
{
    static const char *const candidates[] = {"lnbench-worker", "../libexec/lnbench/lnbench-worker"};
    return find_path("LNBENCH_WORKER", candidates, 2, "lnbench-worker", path, size, err);
}

bool path_of_library(char *path, size_t size, error *err)
{
    static const char *const candidates[] = {"../lib/liblayernorm.so", LNBENCH_INSTALLED_LIBRARY};
    return find_path("LNBENCH_LIBRARY", candidates, 2, "liblayernorm.so", path, size, err);
}

bool path_of_peers(char *path, size_t size)
{
    static const char *const candidates[] = {"../lib/peers", LNBENCH_INSTALLED_PEERS};
    error none = {0};
    return find_path("LNBENCH_PEERS_DIRECTORY", candidates, 2, "peers", path, size, &none);
}

bool path_of_plots(char *path, size_t size, error *err)
{
    static const char *const candidates[] = {"../share/lnbench/plots", LNBENCH_SOURCE_PLOTS};
    return find_path("LNBENCH_PLOTS", candidates, 2, "the plots directory", path, size, err);
}

bool path_of_worst(char *path, size_t size, error *err)
{
    static const char *const candidates[] = {"../share/lnbench/worst", LNBENCH_SOURCE_WORST};
    return find_path("LNBENCH_WORST", candidates, 2, "the worst rows", path, size, err);
}

bool make_directories(const char *path, error *err)
{
    char part[PATH_LENGTH];
    if (snprintf(part, sizeof part, "%s", path) >= (int)sizeof part)
        return fail(err, EXIT_CODE_USAGE, "%.60s...: path of more than %d characters", path,
                    PATH_LENGTH - 1);
    for (char *at = part + 1;; at++) {
        if (*at != '/' && *at != '\0')
            continue;
        char kept = *at;
        *at = '\0';
        if (mkdir(part, 0777) == 0 ? !sync_folder_of(part) : errno != EEXIST)
            return fail(err, EXIT_CODE_ENVIRONMENT, "%s: cannot make the directory: %s", part,
                        strerror(errno));
        *at = kept;
        if (kept == '\0')
            break;
    }
    struct stat status;
    if (stat(path, &status) != 0 || !S_ISDIR(status.st_mode))
        return fail(err, EXIT_CODE_ENVIRONMENT, "%s: is not a directory", path);
    return true;
}

bool make_parent_directory(const char *path, error *err)
{
    char directory[1024];
    snprintf(directory, sizeof directory, "%s", path);
    char *slash = strrchr(directory, '/');
    if (!slash || slash == directory)
        return true;
    *slash = '\0';
    return make_directories(directory, err);
}
