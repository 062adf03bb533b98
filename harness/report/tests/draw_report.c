/* Draws the report of the latest run of a database, for looking at by eye:
 *
 *     draw_report sample.db DIRECTORY
 */
#include "report/report.h"
#include <stdio.h>

int main(int count, char **arguments)
{
    error err = {0};
    result_store *store;
    run_view view;
    report_result result;
    int64_t run;
    if (count != 3) {
        fprintf(stderr, "usage: %s DATABASE DIRECTORY\n", arguments[0]);
        return EXIT_CODE_USAGE;
    }
    bool fine = store_open(arguments[1], STORE_READ, &store, &err);
    if (fine) {
        fine = store_latest_run(store, &run, &err) && view_load(store, run, &view, &err);
        if (fine) {
            fine = report_write(&view, PLOTS_DIRECTORY, arguments[2], false, &result, &err);
            view_free(&view);
        }
        store_close(store);
    }
    if (!fine) {
        fprintf(stderr, "%s\n", err.message);
        return (int)err.code;
    }
    printf("%s\n", result.index_html);
    for (size_t i = 0; i < result.chart_count; i++)
        printf("%s\n", result.charts[i]);
    if (result.note[0])
        printf("note: %s\n", result.note);
    return EXIT_CODE_FINE;
}
