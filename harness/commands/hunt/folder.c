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
    bool progress;
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
    folder->states = allocate_zeroed(shards, sizeof *folder->states);
    folder->contents = allocate_zeroed(shards, sizeof *folder->contents);
    return true;
}

/* *wanted: it is the first with this number that counts. */
static bool enter(shard_folder *folder, const hunt_shard *shard, const char *path, bool complete,
                  bool *wanted, error *err)
{
    size_t number = (size_t)shard->hunt.settings.shard;
    uint64_t content = hunt_shard_content(shard);
    *wanted = false;
    if (!complete) {
        *wanted = folder->states[number] == SHARD_MISSING;
        folder->begun += *wanted;
        if (*wanted)
            folder->states[number] = SHARD_BEGUN;
        return true;
    }
    if (folder->states[number] == SHARD_COMPLETE) {
        folder->duplicates++;
        return folder->contents[number] == content ||
               fail(
                   err, EXIT_CODE_USAGE,
                   "%s: shard %zu is there already, with other finds: one of the machines is wrong",
                   path, number);
    }
    folder->states[number] = SHARD_COMPLETE;
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
    error why = {0};
    if (!hunt_shard_read(path, &shard, &why)) {
        *err = why;
        if (!on->progress || why.code != EXIT_CODE_USAGE)
            return false;
        *err = (struct error){0};
        word_list_add(&folder->broken, path);
        return true;
    }
    hunt_range(&shard.hunt.settings, &first, &end);
    bool complete = shard.hunt.done == end - first;
    bool fine = folder->states || begin(folder, &shard, path, err);
    const char *differs = fine ? hunt_shard_difference(&folder->first, &shard) : NULL;
    if (differs)
        fine = fail(err, EXIT_CODE_USAGE, "%s: not of the hunt of %s: %s differs", path,
                    folder->first_path, differs);
    if (fine && (complete || on->progress))
        fine = enter(folder, &shard, path, complete, &wanted, err);
    fine = fine && (!wanted || on->take(&shard, on->context, err));
    hunt_shard_free(&shard);
    return fine;
}

static int is_complete(const struct dirent *entry)
{
    bool begun;
    return hunt_shard_named(entry->d_name, &begun) && !begun;
}

static int is_begun(const struct dirent *entry)
{
    bool begun;
    return hunt_shard_named(entry->d_name, &begun) && begun;
}

/* Complete ones first: what is begun counts only where it is not. */
static bool add_folder(reading *on, const char *path, bool begun, error *err)
{
    struct dirent **names = NULL;
    int count = scandir(path, &names, begun ? is_begun : is_complete, alphasort);
    bool fine = count >= 0 ||
                fail(err, EXIT_CODE_ENVIRONMENT, "%s: cannot read it: %s", path, strerror(errno));
    for (int i = 0; i < count; i++) {
        char file[SHARD_PATH];
        snprintf(file, sizeof file, "%.700s/%.300s", path, names[i]->d_name);
        free(names[i]);
        fine = fine && add_file(on, file, err);
        if (!fine && on->progress && err->code == EXIT_CODE_ENVIRONMENT) {
            *err = (struct error){0}; /* it was completed or made anew meanwhile */
            fine = true;
        }
    }
    free(names);
    return fine;
}

bool shard_folder_read(const word_list *paths, bool progress, shard_folder *folder,
                       bool (*take)(hunt_shard *, void *, error *), void *context, error *err)
{
    reading on = {folder, progress, take, context};
    bool fine = true;
    *folder = (struct shard_folder){0};
    for (int begun = 0; begun <= progress; begun++)
        for (size_t i = 0; fine && i < paths->count; i++) {
            struct stat status;
            bool is_folder = stat(paths->words[i], &status) == 0 && S_ISDIR(status.st_mode);
            if (is_folder)
                fine = shard_folder_fits(paths->words[i], err) &&
                       add_folder(&on, paths->words[i], begun, err);
            else if (!begun)
                fine = add_file(&on, paths->words[i], err);
        }
    if (fine && !folder->states)
        fine = fail(err, EXIT_CODE_USAGE, "%s: no %sshard of a hunt is there", paths->words[0],
                    progress ? "" : "complete ");
    return fine;
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
        if (folder->states[i] == SHARD_COMPLETE)
            continue;
        while (last + 1 < shards && folder->states[last + 1] != SHARD_COMPLETE)
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
    free(folder->states);
    free(folder->contents);
    word_list_free(&folder->broken);
    *folder = (struct shard_folder){0};
}
