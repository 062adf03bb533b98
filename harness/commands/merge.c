/* lnbench merge: the shards of a hunt put together are the hunt, byte for byte. */
#include "cli/command.h"
#include "commands/hunt/show.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The first setting in which two shards differ, NULL where they are of one hunt. */
static const char *difference(const hunt_settings *a, const hunt_settings *b)
{
    return strcmp(a->kernel, b->kernel) != 0           ? "kernel"
           : strcmp(a->convention, b->convention) != 0 ? "convention"
           : a->storage != b->storage                  ? "dtype"
           : a->param != b->param                      ? "param"
           : a->hidden != b->hidden                    ? "hidden"
           : a->seed != b->seed                        ? "seed"
           : a->goal != b->goal                        ? "goal"
           : a->max_kappa != b->max_kappa              ? "max_kappa"
           : a->claimed != b->claimed                  ? "claimed"
           : a->keep != b->keep                        ? "keep"
           : a->restarts != b->restarts                ? "restarts"
           : a->seconds != b->seconds                  ? "seconds"
           : a->shards != b->shards                    ? "the number of shards"
                                                       : NULL;
}

/* Moves the finds of one file into the hunt. */
static bool add_shard(const char *path, const char *first, hunt_state *merged, bool *seen,
                      bool *complete, error *err)
{
    hunt_state shard;
    bool whole;
    if (!hunt_load(path, &shard, &whole, err))
        return false;
    const char *differs = difference(&merged->settings, &shard.settings);
    size_t number = (size_t)shard.settings.shard;
    bool fine = !differs || fail(err, EXIT_CODE_USAGE, "%s: not of the hunt of %s: %s differs",
                                 path, first, differs);
    if (fine && seen[number])
        fine = fail(err, EXIT_CODE_USAGE, "%s: shard %zu of %llu is there already", path, number,
                    (unsigned long long)shard.settings.shards);
    for (size_t i = 0; fine && i < shard.find_count; i++)
        fine = hunt_keep(merged, &shard.finds[i], err);
    if (fine) {
        seen[number] = true;
        merged->done += shard.done;
        *complete = *complete && whole;
    }
    hunt_free(&shard);
    return fine;
}

static bool merge(const word_list *files, hunt_state *merged, bool *complete, error *err)
{
    enum { MOST_SHARDS = 1 << 20 };
    bool whole, fine = true;
    hunt_state first;
    if (!hunt_load(files->words[0], &first, &whole, err))
        return false;
    merged->settings = first.settings;
    hunt_free(&first);
    uint64_t shards = merged->settings.shards;
    bool *seen = shards <= MOST_SHARDS ? calloc(shards, sizeof *seen) : NULL;
    if (!seen)
        return fail(err, EXIT_CODE_USAGE, "%s: %llu shards are too many", files->words[0],
                    (unsigned long long)shards);
    *complete = true;
    for (size_t i = 0; fine && i < files->count; i++)
        fine = add_shard(files->words[i], files->words[0], merged, seen, complete, err);
    for (size_t i = 0; fine && i < shards; i++)
        if (!seen[i])
            fine = fail(err, EXIT_CODE_USAGE, "shard %zu of %llu is missing", i,
                        (unsigned long long)shards);
    free(seen);
    merged->settings.shard = 0;
    merged->settings.shards = 1;
    return fine;
}

/* Where it goes, and how it is shown. */
typedef struct merge_options {
    const char *out;
    output_file printed;
} merge_options;

static exit_code merge_files(void *context, const cli_call *call, error *err)
{
    const merge_options *options = context;
    const word_list *files = call->operands;
    hunt_state merged = {0};
    bool complete = false;
    bool fine = (files->count > 0 ||
                 fail(err, EXIT_CODE_USAGE, "merge: the files of all shards were expected")) &&
                (options->out || fail(err, EXIT_CODE_USAGE, "--out FILE is missing"));
    fine = fine && merge(files, &merged, &complete, err) &&
           hunt_save(&merged, complete ? "complete" : "interrupted", options->out, err);
    merged.interrupted = !complete;
    fine = fine && hunt_print(&merged, options->out, NAN, &options->printed, err);
    if (fine)
        output_line(&options->printed, "%zu shards%s", files->count,
                    complete ? "" : "; one of them was interrupted");
    hunt_free(&merged);
    return fine ? EXIT_CODE_FINE : err->code;
}

static const cli_option options[] = {
    {"out", "FILE", "where the whole hunt goes", OPTION_TEXT, offsetof(merge_options, out)},
    OUTPUT_OPTIONS(merge_options, printed),
};

const cli_command command_merge = {
    .name = "merge",
    .brief = "put the shards of a hunt together",
    .usage = "FILE... --out FILE",
    .summary = "Puts the shards of a hunt together.",
    .details =
        "With --restarts the result is byte for byte the file that one process writes.\n"
        "Exit code: 0 fine; 2 files that are no hunt, not of one hunt, twice the same shard, or a\n"
        "missing one; 7 files or environment.",
    OPTIONS(options),
    .most_operands = 4096,
    .size = sizeof(merge_options),
    .body = merge_files,
};
