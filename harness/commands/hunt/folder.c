/* Folders of shards: what is there, what is missing, what does not belong there. */
#include "commands/hunt/folder.h"
#include "base/allocate.h"
#include "base/text.h"
#include <dirent.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

enum { MOST_SHARDS = 1 << 20 };

/* What reading goes on with. */
typedef struct reading {
    shard_folder *folder;
    bool (*take)(hunt_shard *, void *, error *);
    void *context;
} reading;

static bool begin(shard_folder *folder, const hunt_shard *shard, const char *path, error *err)
{
    uint64_t shards = shard->hunt.settings.shards;
    if (shards > MOST_SHARDS)
        return fail(err, EXIT_CODE_USAGE, "%s: %llu shards are too many", path,
                    (unsigned long long)shards);
    folder->first = *shard;
    folder->first.hunt = (hunt_state){.settings = shard->hunt.settings};
    folder->first.records = NULL;
    folder->first.record_count = 0;
    snprintf(folder->first_path, sizeof folder->first_path, "%s", path);
    folder->is_there = allocate_zeroed(shards, sizeof *folder->is_there);
    folder->contents = allocate_zeroed(shards, sizeof *folder->contents);
    return true;
}

/* *wanted: it is the first with this number that counts. */
static bool enter(shard_folder *folder, const hunt_shard *shard, const char *path, bool *wanted,
                  error *err)
{
    size_t number = (size_t)shard->hunt.settings.shard;
    uint64_t content = hunt_shard_content(shard);
    *wanted = false;
    if (folder->is_there[number]) {
        folder->duplicates++;
        return folder->contents[number] == content ||
               fail(
                   err, EXIT_CODE_USAGE,
                   "%s: shard %zu is there already, with other finds: one of the machines is wrong",
                   path, number);
    }
    folder->is_there[number] = true;
    folder->contents[number] = content;
    folder->complete++;
    *wanted = true;
    return true;
}

static bool add_file(reading *on, const char *path, error *err)
{
    shard_folder *folder = on->folder;
    hunt_shard shard;
    uint64_t first, end;
    bool wanted = false;
    if (!hunt_shard_read(path, &shard, err))
        return false;
    hunt_range(&shard.hunt.settings, &first, &end);
    bool fine = folder->is_there || begin(folder, &shard, path, err);
    const char *differs = fine ? hunt_shard_difference(&folder->first, &shard) : NULL;
    if (differs)
        fine = fail(err, EXIT_CODE_USAGE, "%s: not of the hunt of %s: %s differs", path,
                    folder->first_path, differs);
    if (fine && shard.hunt.done == end - first)
        fine = enter(folder, &shard, path, &wanted, err);
    fine = fine && (!wanted || on->take(&shard, on->context, err));
    hunt_shard_free(&shard);
    return fine;
}

static int is_complete(const struct dirent *entry)
{
    bool begun;
    return hunt_shard_named(entry->d_name, &begun) && !begun;
}

static bool add_folder(reading *on, const char *path, error *err)
{
    struct dirent **names = NULL;
    int count = scandir(path, &names, is_complete, alphasort);
    bool fine = count >= 0 ||
                fail(err, EXIT_CODE_ENVIRONMENT, "%s: cannot read it: %s", path, strerror(errno));
    for (int i = 0; i < count; i++) {
        char file[SHARD_PATH];
        snprintf(file, sizeof file, "%.700s/%.300s", path, names[i]->d_name);
        free(names[i]);
        fine = fine && add_file(on, file, err);
    }
    free(names);
    return fine;
}

bool shard_folder_read(const word_list *paths, shard_folder *folder,
                       bool (*take)(hunt_shard *, void *, error *), void *context, error *err)
{
    reading on = {folder, take, context};
    bool fine = true;
    *folder = (struct shard_folder){0};
    for (size_t i = 0; fine && i < paths->count; i++) {
        struct stat status;
        bool is_folder = stat(paths->words[i], &status) == 0 && S_ISDIR(status.st_mode);
        fine = is_folder ? shard_folder_fits(paths->words[i], err) &&
                               add_folder(&on, paths->words[i], err)
                         : add_file(&on, paths->words[i], err);
    }
    return fine &&
           (folder->is_there || fail(err, EXIT_CODE_USAGE,
                                     "%s: no complete shard of a hunt is there", paths->words[0]));
}

bool shard_folder_is_whole(const shard_folder *folder, error *err)
{
    size_t shards = (size_t)folder->first.hunt.settings.shards, missing = shards - folder->complete;
    text_buffer names = {0};
    size_t ranges = 0;
    if (missing == 0)
        return true;
    for (size_t i = 0; i < shards; i++) {
        size_t last = i;
        if (folder->is_there[i])
            continue;
        while (last + 1 < shards && !folder->is_there[last + 1])
            last++;
        if (++ranges <= 12)
            text_format(&names, last > i ? "%s%zu-%zu" : "%s%zu", names.length ? "," : "", i, last);
        i = last;
    }
    fail(err, EXIT_CODE_USAGE, "%zu of %zu shards %s missing: %s%s", missing, shards,
         missing == 1 ? "is" : "are", names.bytes ? names.bytes : "", ranges > 12 ? ",..." : "");
    text_free(&names);
    return false;
}

void shard_folder_free(shard_folder *folder)
{
    free(folder->is_there);
    free(folder->contents);
    *folder = (struct shard_folder){0};
}
