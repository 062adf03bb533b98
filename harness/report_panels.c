/* Panels of error charts: a statistic each, their kernels' names above them. */
#include "report_parts.h"
#include <math.h>
#include <string.h>

enum { PANEL_HEIGHT = 300, NAME_SHOWN = 44 };

const char *panel_title(const report_kernel *kernel)
{
    return kernel->statistics[0] ? kernel->statistics : kernel->name;
}

/* How many lines the names of a panel's kernels take: legend.gp reckons in the same way. */
static size_t legend_lines(const report_data *data, const char *title, double room)
{
    size_t lines = 1;
    double x = 0;
    for (size_t i = 0; i < data->kernel_count; i++) {
        const report_kernel *kernel = &data->kernels[i];
        if (strcmp(panel_title(kernel), title) != 0)
            continue;
        size_t length = strlen(kernel->name);
        double width = 28 + 6 + 5.8 * (double)(length > NAME_SHOWN ? NAME_SHOWN : length) + 14;
        if (x > 0 && x + width - 12 > room) {
            lines++;
            x = 0;
        }
        x += width;
    }
    return lines;
}

void panel_frames(const report_data *data, const char **titles, size_t panels, double width,
                  chart_frame *frame, double *height, text *settings, text *out)
{
    size_t columns = panels <= 1 ? 1 : panels <= 4 ? 2 : 3;
    size_t lines = (panels + columns - 1) / columns;
    double pitch = (width - 72) / (double)columns;
    double tall = columns == 1 ? 1.5 * PANEL_HEIGHT : PANEL_HEIGHT;
    size_t names = 1;
    for (size_t i = 0; i < panels; i++) {
        size_t needed = legend_lines(data, titles[i], pitch - 4);
        names = needed > names ? needed : names;
    }
    double head = 47 + 15 * (double)names; /* title and names above a panel */
    tsv_setting(settings, "legend_lines", (double)names);
    text_add(out, "panel\ttitle\tleft\tright\ttop\tbottom\n");
    for (size_t i = 0; i < panels; i++) {
        frame->left = 72 + pitch * (double)(i % columns);
        frame->right = frame->left + pitch - 40;
        frame->top = 98 + head + (tall + 50 + head) * (double)(i / columns);
        frame->bottom = frame->top + tall;
        tsv_number(out, (double)i + 1);
        tsv_text(out, titles[i]);
        tsv_number(out, frame->left);
        tsv_number(out, frame->right);
        tsv_number(out, frame->top);
        tsv_number(out, frame->bottom);
        tsv_end(out);
    }
    *height = 98 + (tall + 50 + head) * (double)lines + 40;
}
