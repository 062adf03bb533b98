#include "draw.h"
#include "paths.h"
#include "report.h"

bool draw_report(const view *view, const char *directory, bool with_pdf, FILE *file, error *error)
{
    char plots[1024];
    report_result result;
    if (!path_of_plots(plots, sizeof plots, error) || !make_directories(directory, error) ||
        !report_write(view, plots, directory, with_pdf, &result, error))
        return false;
    fprintf(file, "\n");
    for (size_t i = 0; i < result.chart_count; i++)
        fprintf(file, "chart   %s\n", result.charts[i]);
    if (result.note[0])
        fprintf(stderr, "lnbench: %s\n", result.note);
    if (result.pdf_note[0])
        fprintf(stderr, "lnbench: %s\n", result.pdf_note);
    fprintf(file, "report  %s\n        %s\n", result.index_html, result.markdown);
    if (result.pdf[0])
        fprintf(file, "        %s\n", result.pdf);
    return true;
}
