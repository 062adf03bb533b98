#include "worker/peers.h"
#include "base/paths.h"
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* What a peer opens for itself lies beside it, and has a library's name. */
static bool is_plugin(const char *path)
{
    const char *slash = strrchr(path, '/');
    return strncmp(slash ? slash + 1 : path, "lib", 3) != 0;
}

static bool is_same_file(const char *a, const char *b)
{
    struct stat one, other;
    return stat(a, &one) == 0 && stat(b, &other) == 0 && one.st_dev == other.st_dev &&
           one.st_ino == other.st_ino;
}

bool peers_find(word_list *paths, const char *const *plugins, size_t count, error *err)
{
    char pattern[1024];
    glob_t found;
    const char *wanted = getenv("LNBENCH_PEERS");
    if ((wanted && strcmp(wanted, "0") == 0) || !path_of_peers(pattern, sizeof pattern - 5))
        return true;
    strcat(pattern, "/*.so");
    int status = glob(pattern, 0, NULL, &found);
    bool fine = status != GLOB_NOSPACE || fail_memory(err, "the list of peers");
    for (size_t i = 0; status == 0 && i < found.gl_pathc; i++) {
        bool named = false;
        for (size_t plugin = 0; plugin < count; plugin++)
            named |= is_same_file(plugins[plugin], found.gl_pathv[i]);
        if (!named && is_plugin(found.gl_pathv[i]))
            word_list_add(paths, found.gl_pathv[i]);
    }
    if (status == 0)
        globfree(&found);
    return fine;
}
