#include "commands/doctor_store.h"
#include "store/store.h"
#include "answer/run_view.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static double megabytes(int64_t bytes)
{
    return (double)bytes / 1e6;
}

static bool read_range(const char *words, int64_t *first, int64_t *last, error *err)
{
    char *end;
    *first = *last = strtoll(words, &end, 10);
    if (end != words && strncmp(end, "..", 2) == 0 && end[2])
        *last = strtoll(end + 2, &end, 10);
    return (end != words && !*end && *first > 0 && *last >= *first) ||
           fail(err, EXIT_CODE_USAGE, "--remove %.60s: a run or a range was expected, 3 or 1..50",
                words);
}

/* Without a terminal there is nobody to ask. */
static bool is_wanted(const char *database, int64_t first, int64_t last, error *err)
{
    char answer[16] = "";
    if (!isatty(STDIN_FILENO))
        return fail(err, EXIT_CODE_USAGE, "--remove asks on a terminal: add --yes");
    output_note("remove runs %lld to %lld of %s? [y/N]", (long long)first, (long long)last,
                database);
    bool wanted = fgets(answer, sizeof answer, stdin) && (answer[0] == 'y' || answer[0] == 'Y');
    if (!wanted)
        output_note("nothing was removed");
    return wanted;
}

static bool remove_runs(const char *database, const char *words, bool yes, const output_file *out,
                        error *err)
{
    int64_t first, last, removed;
    result_store *store;
    if (!read_range(words, &first, &last, err) || (!yes && !is_wanted(database, first, last, err)))
        return err->code == EXIT_CODE_FINE;
    if (!store_open(database, STORE_WRITE, &store, err))
        return false;
    bool fine = store_check_sound(store, err) &&
                store_remove_runs(store, first, last, &removed, err) &&
                (removed > 0 || fail(err, EXIT_CODE_ENVIRONMENT,
                                     "%s: no run %lld to %lld: lnbench list runs shows those there "
                                     "are",
                                     database, (long long)first, (long long)last));
    store_close(store);
    if (fine && out->format == OUTPUT_TEXT)
        output_line(out, "removed %lld runs", (long long)removed);
    return fine;
}

static bool print_sizes(const output_file *out, const char *database, const run_size *sizes,
                        size_t count, error *err)
{
    static const relation_column columns[] = {
        COLUMN("run", "run"), {"MB", .format = "%.1f"}, FOR_PROGRAMS("bytes")};
    struct stat about = {0};
    stat(database, &about);
    relation *rows = relation_create(COLUMNS(columns));
    for (size_t i = 0; i < count; i++)
        relation_row(rows, as_count((unsigned long long)sizes[i].run),
                     as_figure(megabytes(sizes[i].bytes)),
                     as_count((unsigned long long)sizes[i].bytes));
    if (out->format == OUTPUT_TEXT)
        output_line(out, "%s: sound, %.1f MB, %zu run%s", database, megabytes(about.st_size), count,
                    count == 1 ? "" : "s");
    return relation_print_in(rows,
                             json_pack("{s:s, s:o, s:I}", "schema", "lnbench-store-1", "store",
                                       json_text(database), "bytes", (json_int_t)about.st_size),
                             "runs", out, err);
}

bool doctor_store(const char *database, const char *remove, bool yes, const output_file *out,
                  error *err)
{
    result_store *store;
    run_size *sizes = NULL;
    size_t count;
    if ((remove && !remove_runs(database, remove, yes, out, err)) ||
        !store_open(database, STORE_READ, &store, err))
        return false;
    bool fine = store_check_sound(store, err) && store_run_sizes(store, &sizes, &count, err);
    store_close(store);
    fine = fine && print_sizes(out, database, sizes, count, err);
    free(sizes);
    return fine;
}
