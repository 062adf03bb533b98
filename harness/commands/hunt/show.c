#include "commands/hunt/show.h"
#include "domain/reproducible.h"
#include "answer/run_view.h"
#include <math.h>

static relation *finds_relation(const hunt_state *hunt)
{
    static const relation_column columns[] = {
        FOR_PROGRAMS("restart"),
        FOR_PROGRAMS("score"),
        COLUMN("row ULP", "row_ulp_max"),
        COLUMN("proven", "bound_row_ulp"),
        FOR_PROGRAMS("column"),
        FOR_PROGRAMS("computed"),
        FOR_PROGRAMS("exact"),
        COLUMN("verdict", EACH_MEMBER),
        FOR_PEOPLE("worst element"),
        COLUMN("origin", "origin"),
    };
    relation *rows = relation_create(COLUMNS(columns));
    for (size_t i = 0; i < hunt->find_count; i++) {
        const worst_row *find = &hunt->finds[i];
        double bound = find->bound_row_ulp;
        relation_row(
            rows, as_count(find->restart), as_figure(find->score), as_figure(find->row_ulp),
            isinf(bound) ? as_json(json_null(), "none") : as_figure(bound), as_count(find->column),
            as_format("%a", find->computed), as_format("%a", find->exact),
            as_verdict(&find->verdict),
            as_format("column %zu: %a, exactly %a", find->column, find->computed, find->exact),
            as_text(find->origin));
    }
    return rows;
}

/* All that JSON has besides the finds. */
static json_t *hunt_json(const hunt_state *hunt, const char *path, double seconds)
{
    const hunt_settings *settings = &hunt->settings;
    bool timed = !isnan(seconds);
    return json_pack(
        "{s:s, s:o, s:s, s:s, s:I, s:I, s:s, s:I, s:o, s:o, s:b, s:o}", "kernel", settings->kernel,
        "reproducibility", reproducible_json(hunt->reproducible), "convention",
        settings->convention, "dtype", dtype_name(settings->storage), "hidden",
        (json_int_t)settings->hidden, "seed", (json_int_t)settings->seed, "goal",
        settings->goal == GOAL_BOUND ? "bound" : "row-ulp", "restarts", (json_int_t)hunt->done,
        "rows_tried", timed ? json_integer((json_int_t)hunt->rows) : json_null(), "seconds",
        json_figure(seconds), "interrupted", hunt->interrupted, "file", json_text(path));
}

bool hunt_print(const hunt_state *hunt, const char *path, double seconds, const output_file *output,
                error *err)
{
    if (!relation_print_in(finds_relation(hunt), hunt_json(hunt, path, seconds), "finds", output,
                           err))
        return false;
    output_line(output, "%s", "");
    if (isnan(seconds))
        output_line(output, "%llu restarts", (unsigned long long)hunt->done);
    else
        output_line(output, "%llu restarts, %llu rows tried in %.1f s (%.0f a second)%s",
                    (unsigned long long)hunt->done, (unsigned long long)hunt->rows, seconds,
                    (double)hunt->rows / seconds, hunt->interrupted ? ": interrupted" : "");
    if (hunt->reproducible)
        output_line(output, "%s is reproducible: %s", hunt->settings.kernel, hunt->reproducible);
    output_line(output, "finds   %s", path);
    return true;
}
