#include "draw.h"
#include "paths.h"
#include "report.h"

bool draw_report(const view *view, const char *directory, FILE *file, error *error)
{
    char plots[1024];
    report_result result;
    if (!path_of_plots(plots, sizeof plots, error) || !make_directories(directory, error) ||
        !report_write(view, plots, directory, &result, error))
        return false;
    fprintf(file, "\n");
    for (size_t i = 0; i < result.chart_count; i++)
        fprintf(file, "chart   %s\n", result.charts[i]);
    if (result.note[0])
        fprintf(stderr, "lnbench: %s\n", result.note);
    fprintf(file, "report  %s\n", result.index_html);
    return true;
}
