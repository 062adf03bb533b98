/* lnbench hunt --merge: the shards of a hunt put together are the hunt, byte for byte. */
#include "cli/command.h"
#include "commands/hunt/show.h"
#include "base/allocate.h"
#include "base/text.h"
#include "base/words.h"
#include "referee/hunt/shard.h"
#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>

typedef struct shard_folder {
    hunt_shard first; /* without finds: whose hunt it is */
    char first_path[SHARD_PATH];
    bool *is_there;     /* each shard, complete */
    uint64_t *contents; /* of those that are there */
    size_t complete, duplicates;
} shard_folder;

enum { MOST_SHARDS = 1 << 20 };

/* What reading goes on with. */
typedef struct reading {
    shard_folder *folder;
    bool (*take)(hunt_shard *, void *, error *);
    void *context;
} reading;

static bool begin_folder(shard_folder *folder, const hunt_shard *shard, const char *path,
                         error *err)
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
    bool fine = folder->is_there || begin_folder(folder, &shard, path, err);
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

/* Calls take() with each complete shard once; what the shard owns may be taken from it. Errors (2): a
 * file that is no shard, was cut off, or is of another hunt; two files with other finds for the same
 * shard; none at all. */
static bool shard_folder_read(const word_list *paths, shard_folder *folder,
                              bool (*take)(hunt_shard *, void *, error *), void *context,
                              error *err)
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

/* Errors (2) name what is missing. */
static bool shard_folder_is_whole(const shard_folder *folder, error *err)
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

static void shard_folder_free(shard_folder *folder)
{
    free(folder->is_there);
    free(folder->contents);
    *folder = (struct shard_folder){0};
}

/* Where it goes, and how it is shown. */
typedef struct merge_options {
    const char *out;
    output_file printed;
} merge_options;

static bool keep_finds(hunt_shard *shard, void *context, error *err)
{
    hunt_state *merged = context;
    bool fine = true;
    merged->settings = shard->hunt.settings;
    for (size_t i = 0; fine && i < shard->hunt.find_count; i++)
        fine = hunt_keep(merged, &shard->hunt.finds[i], err);
    merged->done += shard->hunt.done;
    merged->rows += shard->hunt.rows;
    return fine;
}

static exit_code merge_files(void *context, const cli_call *call, error *err)
{
    const merge_options *options = context;
    hunt_state merged = {0};
    shard_folder folder = {0};
    bool fine =
        (call->operands->count > 0 ||
         fail(err, EXIT_CODE_USAGE, "hunt --merge: the folder of the shards was expected")) &&
        (options->out || fail(err, EXIT_CODE_USAGE, "--out FILE is missing"));
    fine = fine && shard_folder_read(call->operands, &folder, keep_finds, &merged, err) &&
           shard_folder_is_whole(&folder, err);
    merged.settings.shard = 0;
    merged.settings.shards = 1;
    fine = fine && hunt_save(&merged, "complete", options->out, err) &&
           hunt_print(&merged, options->out, NAN, &options->printed, err);
    if (fine)
        output_line(&options->printed, "%zu shards", folder.complete);
    if (fine && folder.duplicates > 0)
        output_line(&options->printed, "%zu files hold a shard once more, and count once",
                    folder.duplicates);
    shard_folder_free(&folder);
    hunt_free(&merged);
    return fine ? EXIT_CODE_FINE : err->code;
}

static const cli_option options[] = {
    {"out", "FILE", "where the whole hunt goes", OPTION_TEXT, offsetof(merge_options, out)},
    OUTPUT_OPTIONS(merge_options, printed),
};

const cli_command hunt_merge = {
    .name = "hunt --merge",
    .brief = "put the shards of a hunt together",
    .usage = "DIR|FILE... --out FILE",
    .summary = "Puts the shards of a hunt together.",
    .details =
        "DIR holds the files that hunt --shard I/N --out DIR wrote, in any order; FILE is one of\n"
        "them (4096 at most; a DIR may hold more). All N must be there: what is missing is named.\n"
        "The result is byte for byte the file that one process writes. A shard that is there\n"
        "twice counts once.\n"
        "Exit code: 0 fine; 2 what is no shard or was cut off, shards of two hunts, a shard twice\n"
        "with other finds, or a missing one; 7 files or environment.",
    OPTIONS(options),
    .most_operands = 4096,
    .size = sizeof(merge_options),
    .body = merge_files,
};
