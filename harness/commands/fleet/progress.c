/* How far a hunt is. Seconds are those that each process counted for itself: clocks of two machines
 * are never compared. */
#include "commands/fleet/fleet.h"
#include "base/allocate.h"
#include "base/text.h"
#include "answer/run_view.h"
#include <math.h>
#include <string.h>

static bool take_shard(hunt_shard *shard, void *context, error *err)
{
    fleet_progress *progress = context;
    (void)err;
    hunt_state *hunt = &shard->hunt;
    progress->shards = allocate_room(progress->shards, progress->count, sizeof *progress->shards);
    known_shard *known = &progress->shards[progress->count++];
    uint64_t first, end;
    hunt_range(&hunt->settings, &first, &end);
    *known = (known_shard){.restarts = end - first,
                           .done = hunt->done,
                           .rows = hunt->rows,
                           .seconds = shard->seconds,
                           .worst = hunt->find_count ? hunt->finds[0].score : -1,
                           .records = shard->records,
                           .record_count = shard->record_count};
    memcpy(known->host, shard->host, sizeof known->host);
    memcpy(known->cpu, shard->cpu, sizeof known->cpu);
    shard->records = NULL;
    if (hunt->find_count &&
        (!progress->best.kernel[0] || hunt->finds[0].score > progress->best.score)) {
        worst_row_free(&progress->best);
        progress->best = hunt->finds[0];
        hunt->finds[0] = (worst_row){0};
    }
    return true;
}

bool fleet_progress_read(const word_list *paths, fleet_progress *progress, error *err)
{
    *progress = (struct fleet_progress){0};
    return shard_folder_read(paths, true, &progress->folder, take_shard, progress, err);
}

void fleet_progress_free(fleet_progress *progress)
{
    for (size_t i = 0; i < progress->count; i++)
        free(progress->shards[i].records);
    free(progress->shards);
    worst_row_free(&progress->best);
    shard_folder_free(&progress->folder);
    *progress = (struct fleet_progress){0};
}

/* What was done on one machine, or on all. */
typedef struct fleet_sum {
    const char *host, *cpu;
    size_t complete, begun;
    uint64_t done, rows;
    double seconds;
} fleet_sum;

static void add(fleet_sum *sum, const known_shard *shard)
{
    bool complete = shard->done == shard->restarts;
    sum->complete += complete;
    sum->begun += !complete;
    sum->done += shard->done;
    sum->rows += shard->rows;
    sum->seconds += shard->seconds;
}

/* A sum a machine, and that of all. */
static fleet_sum *sum_up(const fleet_progress *progress, size_t *count, fleet_sum *all)
{
    fleet_sum *sums = allocate_zeroed(progress->count + 1, sizeof *sums);
    *count = 0;
    *all = (fleet_sum){0};
    for (size_t i = 0; i < progress->count; i++) {
        const known_shard *shard = &progress->shards[i];
        size_t at = 0;
        while (at < *count &&
               (strcmp(sums[at].host, shard->host) != 0 || strcmp(sums[at].cpu, shard->cpu) != 0))
            at++;
        if (at == *count)
            sums[(*count)++] = (fleet_sum){.host = shard->host, .cpu = shard->cpu};
        add(&sums[at], shard);
        add(all, shard);
    }
    return sums;
}

/* NaN before anything is known. */
static double rows_in_all(const fleet_progress *progress, const fleet_sum *all)
{
    double restarts = (double)progress->folder.first.hunt.settings.restarts;
    return all->done ? (double)all->rows * restarts / (double)all->done : NAN;
}

static double process_hours_left(const fleet_progress *progress, const fleet_sum *all)
{
    double left = rows_in_all(progress, all) - (double)all->rows;
    return left * all->seconds / (double)all->rows / 3600;
}

static json_t *progress_json(const fleet_progress *progress, const fleet_sum *sums, size_t count,
                             const fleet_sum *all)
{
    const hunt_settings *settings = &progress->folder.first.hunt.settings;
    json_t *machines = json_array();
    for (size_t i = 0; i < count; i++)
        json_array_append_new(machines,
                              json_pack("{s:o, s:o, s:I, s:I, s:I, s:o}", "host",
                                        json_text(sums[i].host), "cpu", json_text(sums[i].cpu),
                                        "complete", (json_int_t)sums[i].complete, "begun",
                                        (json_int_t)sums[i].begun, "rows", (json_int_t)sums[i].rows,
                                        "seconds", json_figure(sums[i].seconds)));
    const worst_row *best = &progress->best;
    return json_pack(
        "{s:s, s:s, s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:o, s:o, s:o, s:o, s:o, s:o}",
        "schema", "lnbench-fleet-1", "kernel", settings->kernel, "convention", settings->convention,
        "hidden", (json_int_t)settings->hidden, "shards", (json_int_t)settings->shards, "complete",
        (json_int_t)progress->folder.complete, "begun", (json_int_t)progress->folder.begun,
        "broken", (json_int_t)progress->folder.broken.count, "restarts",
        (json_int_t)settings->restarts, "restarts_done", (json_int_t)all->done, "rows",
        (json_int_t)all->rows, "rows_expected", json_figure(rows_in_all(progress, all)),
        "rows_a_second", json_figure((double)all->rows / all->seconds), "process_hours_left",
        json_figure(process_hours_left(progress, all)), "worst_row_ulp",
        json_figure(best->kernel[0] ? best->row_ulp : NAN), "worst_origin",
        best->kernel[0] ? json_text(best->origin) : json_null(), "machines", machines);
}

static void print_lines(const fleet_progress *progress, const fleet_sum *all,
                        const output_file *printed)
{
    const shard_folder *folder = &progress->folder;
    const hunt_settings *settings = &folder->first.hunt.settings;
    size_t shards = (size_t)settings->shards;
    char rows[16], expected[16], rate[16], hours[16], worst[16], bound[16];
    output_line(printed, "%s", "");
    output_line(printed, "%s, hidden %zu, %s: %zu of %zu shards complete, %zu begun, %zu to begin",
                settings->kernel, settings->hidden, settings->convention, folder->complete, shards,
                folder->begun, shards - folder->complete - folder->begun);
    for (size_t i = 0; i < folder->broken.count; i++)
        output_line(printed, "%s: cut off or changed; it does not count", folder->broken.words[i]);
    if (all->rows == 0)
        return;
    output_line(
        printed, "%s of about %s rows; %s rows a second and process; left: %s process-hours",
        number_short((double)all->rows, rows), number_short(rows_in_all(progress, all), expected),
        number_short((double)all->rows / all->seconds, rate),
        number_short(process_hours_left(progress, all), hours));
    if (progress->best.kernel[0])
        output_line(printed, "worst: row ULP %s (proven %s), %s",
                    number_short(progress->best.row_ulp, worst),
                    isfinite(progress->best.bound_row_ulp)
                        ? number_short(progress->best.bound_row_ulp, bound)
                        : "none",
                    progress->best.origin);
}

bool fleet_progress_print(const fleet_progress *progress, const output_file *printed, error *err)
{
    static const char *const headings[] = {"machine", "CPU",  "complete",
                                           "begun",   "rows", "rows/s a process"};
    size_t count;
    fleet_sum all, *sums = sum_up(progress, &count, &all);
    bool fine;
    if (printed->format == OUTPUT_JSON) {
        fine = output_json(printed, progress_json(progress, sums, count, &all), err);
    } else {
        text_table *table = table_create(headings, sizeof headings / sizeof *headings);
        for (size_t i = 0; i < count; i++) {
            char number[16];
            table_cells(table, sums[i].host, sums[i].cpu);
            table_format(table, "%zu", sums[i].complete);
            table_format(table, "%zu", sums[i].begun);
            table_format(table, "%llu", (unsigned long long)sums[i].rows);
            table_cell(table, number_short((double)sums[i].rows / sums[i].seconds, number));
        }
        fine = output_table(printed, table, err);
        if (fine)
            print_lines(progress, &all, printed);
    }
    free(sums);
    return fine;
}
