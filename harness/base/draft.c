#include "base/draft.h"
#include "base/files.h"
#include "base/paths.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

bool draft_begin(file_draft *begun, const char *target, error *err)
{
    char data[1100];
    begun->target = target;
    begun->folder.path[0] = '\0';
    if (!make_directories(target, err) ||
        !temporary_folder_make(&begun->folder, target, "draft", err))
        return false;
    snprintf(data, sizeof data, "%s/data", begun->folder.path);
    return mkdir(data, 0777) == 0 ||
           fail(err, EXIT_CODE_ENVIRONMENT, "%.400s: %s", data, strerror(errno));
}

/* Hidden ones, and folders, are nobody's result. */
static bool move_files(const char *from, const char *to, error *err)
{
    char path[1400], name[1400];
    struct stat about;
    bool fine = true;
    DIR *folder = opendir(from);
    for (struct dirent *entry; folder && fine && (entry = readdir(folder));) {
        snprintf(path, sizeof path, "%s/%s", from, entry->d_name);
        snprintf(name, sizeof name, "%s/%s", to, entry->d_name);
        if (entry->d_name[0] != '.' && lstat(path, &about) == 0 && S_ISREG(about.st_mode))
            fine = publish_file(path, name) ||
                   fail(err, EXIT_CODE_ENVIRONMENT, "%.400s: cannot write it: %s", name,
                        strerror(errno));
    }
    if (!folder)
        return fail(err, EXIT_CODE_ENVIRONMENT, "%.400s: %s", from, strerror(errno));
    closedir(folder);
    return fine;
}

static void remove_older(const file_draft *begun, const word_list *older)
{
    char path[1400];
    for (size_t i = 0; older && i < older->count; i++) {
        snprintf(path, sizeof path, "%s/%s", begun->folder.path, older->words[i]);
        if (access(path, F_OK) == 0)
            continue;
        snprintf(path, sizeof path, "%s/%s", begun->target, older->words[i]);
        unlink(path);
    }
}

bool draft_publish(file_draft *begun, const word_list *older, error *err)
{
    char from[1100], to[1100];
    snprintf(from, sizeof from, "%s/data", begun->folder.path);
    snprintf(to, sizeof to, "%s/data", begun->target);
    /* One at a time; where there are no locks, or Ctrl-C ends the wait, all the same. */
    int place = open(begun->target, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (place >= 0)
        flock(place, LOCK_EX);
    remove_older(begun, older);
    bool fine = make_directories(to, err) && move_files(from, to, err) &&
                move_files(begun->folder.path, begun->target, err);
    if (place >= 0)
        close(place);
    return fine;
}

void draft_end(file_draft *begun)
{
    temporary_folder_remove(&begun->folder);
}
