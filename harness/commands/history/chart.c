/* The chart of a history: one of each machine, since their figures have nothing in common. */
#include "commands/history/history.h"
#include "report/charts/chart.h"

static bool put_points(result_store *store, const history_series *series, size_t place, error *err)
{
    const case_key *key = &series->key;
    char name[NAME_MAX_LENGTH + 96];
    bool fine = true;
    snprintf(name, sizeof name, "%s %zux%zu", key->kernel, key->rows, key->hidden);
    for (size_t p = 0; fine && p < series->count; p++) {
        const history_point *point = &series->points[p];
        fine = store_put_line(store, "past", err, "isissdddid", (int64_t)place, name, point->run,
                              point->commit, point->started, point->value, point->lo, point->hi,
                              (int64_t)point->segment, series->medians[point->segment]);
    }
    return fine;
}

/* What plots/history.sql reads. */
static bool put_history(result_store *store, const void *what, size_t machine, const char *made_on,
                        error *err)
{
    const measure_history *history = what;
    (void)made_on;
    bool fine =
        store_put_table(store, "asked", "measure, machine", err) &&
        store_put_line(store, "asked", err, "ss", history->measure, history->machines[machine]) &&
        store_put_table(store, "past",
                        "series, name, run, \"commit\", started, value, lo, hi, segment, "
                        "median",
                        err);
    for (size_t i = 0; fine && i < history->count; i++)
        fine =
            history->series[i].machine != machine || put_points(store, &history->series[i], i, err);
    return fine;
}

bool history_draw(const measure_history *history, const char *directory, const output_file *out,
                  error *err)
{
    return charts_draw_alone("history", history->machine_count, put_history, history, directory,
                             out, err);
}
