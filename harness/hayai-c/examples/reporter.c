/* SPDX-License-Identifier: Apache-2.0 */
/* A user-defined reporter, without macros and without a command line: prints the fastest repetition
 * of each benchmark, and how much slower the slowest was. */
#include <hayai.h>
#include <math.h>
#include <stdio.h>

static void square_root(hayai_state *state, void *user)
{
    double value = *(const double *)user;
    while (hayai_state_keep_running(state)) {
        hayai_do_not_optimize_in_out(value);
        const double root = sqrt(value);
        hayai_do_not_optimize(root);
    }
}

static void cube_root(hayai_state *state, void *user)
{
    double value = *(const double *)user;
    while (hayai_state_keep_running(state)) {
        hayai_do_not_optimize_in_out(value);
        const double root = cbrt(value);
        hayai_do_not_optimize(root);
    }
}

typedef struct table {
    unsigned lines;
} table;

static hayai_status begin(const hayai_context *machine, void *user)
{
    (void)user;
    return printf("%d x %.0f MHz\n", machine->processors, machine->cycles_per_second / 1e6) < 0
               ? HAYAI_ERROR_IO
               : HAYAI_OK;
}

/* All repetitions of one benchmark come in one call; its aggregates in a second one. */
static hayai_status report(const hayai_run *runs, size_t count, void *user)
{
    table *counted = user;
    if (runs[0].type == HAYAI_RUN_TYPE_AGGREGATE)
        return HAYAI_OK;
    double fastest = INFINITY, slowest = 0;
    for (size_t i = 0; i < count; i++) {
        fastest = fmin(fastest, runs[i].real_time);
        slowest = fmax(slowest, runs[i].real_time);
    }
    counted->lines++;
    return printf("%-20s %8.2f %s +%.0f %%\n", runs[0].run_name, fastest,
                  hayai_unit_string(runs[0].unit), 100 * (slowest / fastest - 1)) < 0
               ? HAYAI_ERROR_IO
               : HAYAI_OK;
}

static hayai_status end(void *user)
{
    const table *counted = user;
    return printf("%u benchmarks\n", counted->lines) < 0 ? HAYAI_ERROR_IO : HAYAI_OK;
}

int main(void)
{
    double value = 2;
    table counted = {0};
    const hayai_reporter reporter = {
        .context = begin, .report = report, .finalize = end, .user = &counted};
    const hayai_options options = {
        .repetitions = 5, .min_seconds = 0.01, .reporters = &reporter, .reporter_count = 1};
    hayai_suite *suite = hayai_suite_create();
    hayai_status status = suite ? HAYAI_OK : HAYAI_ERROR_MEMORY;
    if (status == HAYAI_OK)
        status = hayai_suite_add(suite, "square_root", square_root, &value, NULL);
    if (status == HAYAI_OK)
        status = hayai_suite_add(suite, "cube_root", cube_root, &value, NULL);
    if (status == HAYAI_OK)
        status = hayai_suite_run(suite, &options, NULL);
    if (status != HAYAI_OK)
        fprintf(stderr, "%s: %s\n", hayai_status_string(status), hayai_last_message());
    hayai_suite_destroy(suite);
    return status == HAYAI_OK ? 0 : 1;
}
