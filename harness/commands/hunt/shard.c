/* One shard of a hunt. What is under way stands in a file of its own, so that no process that comes
 * late can put it in the place of one that is complete. */
#include "commands/hunt/shard.h"
#include "base/files.h"
#include "base/paths.h"
#include "base/progress.h"
#include "base/seconds.h"
#include "machine/machine.h"
#include <dirent.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

static const double seconds_between_saves = 5;

/* Which machine this is, and what the shard is of. */
static void introduce(hunt_shard *shard)
{
    machine_facts machine;
    machine_read(&machine);
    snprintf(shard->cpu, sizeof shard->cpu, "%.127s", machine_fact_value(&machine, "cpu_model"));
    machine_free(&machine);
    if (gethostname(shard->host, sizeof shard->host - 1) != 0)
        snprintf(shard->host, sizeof shard->host, "unknown");
    hunt_plan_hash(&shard->hunt.settings, shard->plan);
    snprintf(shard->library, sizeof shard->library, "%016llx",
             (unsigned long long)shard->hunt.kernel->object_hash);
}

static bool of_one_hunt(const char *path, const hunt_shard *there, const hunt_shard *shard,
                        error *err)
{
    const char *differs = hunt_shard_difference(there, shard);
    return !differs || fail(err, EXIT_CODE_USAGE,
                            "%s: of another hunt: %s differs; each hunt needs a folder of its own",
                            path, differs);
}

/* Takes over what a file has. A file that was cut off counts as none. */
static bool take_up(hunt_shard *shard, const char *path, bool *taken, const output_file *printed,
                    error *err)
{
    hunt_shard there;
    error why = {0};
    *taken = false;
    if (access(path, F_OK) != 0)
        return true;
    if (!hunt_shard_read(path, &there, &why)) {
        if (why.code == EXIT_CODE_USAGE) {
            output_line(printed, "%s: cut off or changed: hunted again", path);
            return true;
        }
        *err = why;
        return false;
    }
    bool fine = of_one_hunt(path, &there, shard, err);
    if (fine && there.hunt.settings.shard != shard->hunt.settings.shard)
        fine = fail(err, EXIT_CODE_USAGE, "%s: holds shard %llu: it was renamed", path,
                    (unsigned long long)there.hunt.settings.shard);
    if (fine) {
        hunt_state *hunt = &shard->hunt;
        while (hunt->find_count > 0)
            worst_row_free(&hunt->finds[--hunt->find_count]);
        free(hunt->finds);
        hunt->finds = there.hunt.finds;
        hunt->find_count = there.hunt.find_count;
        hunt->done = there.hunt.done;
        hunt->rows = there.hunt.rows;
        free(shard->records);
        shard->records = there.records;
        shard->record_count = there.record_count;
        shard->seconds = there.seconds;
        there.hunt.finds = NULL;
        there.hunt.find_count = 0;
        there.records = NULL;
        *taken = true;
    }
    hunt_shard_free(&there);
    return fine;
}

/* One file of the folder stands for all: merge looks at each. */
static bool check_folder(const hunt_shard *shard, const char *directory, error *err)
{
    DIR *folder = opendir(directory);
    bool fine = true, begun, looked = false;
    if (!folder)
        return fail(err, EXIT_CODE_ENVIRONMENT, "%s: cannot read it: %s", directory,
                    strerror(errno));
    for (struct dirent *entry; fine && !looked && (entry = readdir(folder));) {
        char path[SHARD_PATH];
        hunt_shard there;
        if (!hunt_shard_named(entry->d_name, &begun))
            continue;
        snprintf(path, sizeof path, "%.700s/%.300s", directory, entry->d_name);
        looked = hunt_shard_read(path, &there, NULL);
        fine = !looked || of_one_hunt(path, &there, shard, err);
        if (looked)
            hunt_shard_free(&there);
    }
    closedir(folder);
    return fine;
}

/* Complete: on the disk first, then under its name. Who was faster has the same finds. */
static bool publish(const char *begun, const char *complete, error *err)
{
    return publish_file(begun, complete) || (errno == ENOENT && access(complete, F_OK) == 0) ||
           fail(err, EXIT_CODE_ENVIRONMENT, "%s: cannot write it: %s", complete, strerror(errno));
}

/* What is left of the shard. *elsewhere: another process completed it meanwhile. */
static bool go_on(hunt_shard *shard, const char *begun, const char *complete, bool *elsewhere,
                  error *err)
{
    hunt_state *hunt = &shard->hunt;
    uint64_t first, end;
    hunt_range(&hunt->settings, &first, &end);
    size_t most = hunt_restarts_at_once(hunt);
    double since = seconds_now(), saved = since, before = shard->seconds;
    progress_bar progress;
    bool fine = first < end || hunt_shard_write(shard, begun, err); /* more shards than restarts */
    progress_begin(&progress, (double)(end - first - hunt->done));
    while (fine && !*elsewhere && !hunt->cut && first + hunt->done < end) {
        char what[96];
        uint64_t left = end - first - hunt->done;
        size_t count = left < most ? left : most;
        hunt->failed = false;
        fine = hunt_restarts(hunt, first + hunt->done, count, err) && hunt_shard_note(shard, err);
        shard->seconds = before + seconds_now() - since;
        bool whole = !hunt->cut || !hunt->failed, last = first + hunt->done == end;
        if (fine && whole && (last || hunt->cut || seconds_now() - saved > seconds_between_saves)) {
            *elsewhere = access(complete, F_OK) == 0;
            fine = *elsewhere || hunt_shard_write(shard, begun, err);
            saved = seconds_now();
        }
        snprintf(what, sizeof what, "restart %llu, worst so far %.4g",
                 (unsigned long long)(first + hunt->done),
                 hunt->find_count ? hunt->finds[0].score : 0.0);
        progress_step(&progress, (double)count, what);
    }
    progress_end(&progress);
    return fine;
}

bool hunt_make_shard(hunt_shard *shard, const char *directory, char path[SHARD_PATH],
                     const output_file *printed, error *err)
{
    hunt_state *hunt = &shard->hunt;
    char begun[SHARD_PATH];
    bool taken = false, elsewhere = false;
    if (!shard_folder_fits(directory, err))
        return false;
    hunt_shard_path(&hunt->settings, directory, false, path);
    hunt_shard_path(&hunt->settings, directory, true, begun);
    introduce(shard);
    if (!make_directories(directory, err) || !check_folder(shard, directory, err) ||
        !take_up(shard, path, &taken, printed, err))
        return false;
    if (taken) {
        output_line(printed, "%s: complete already", path);
        return true;
    }
    unlink(path); /* cut off, or not there */
    hunt->whole_restarts = true;
    if (!take_up(shard, begun, &taken, printed, err) || !hunt_begin(hunt, err) ||
        !go_on(shard, begun, path, &elsewhere, err))
        return false;
    if (elsewhere) {
        unlink(begun);
        hunt->cut = hunt->interrupted = false;
        return take_up(shard, path, &taken, printed, err);
    }
    if (hunt->cut) {
        snprintf(path, SHARD_PATH, "%s", begun);
        return true;
    }
    return publish(begun, path, err);
}
