/* lnbench hunt --merge: the shards of a hunt put together are the hunt, byte for byte. */
#include "cli/command.h"
#include "commands/hunt/folder.h"
#include "commands/hunt/show.h"
#include <math.h>

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
