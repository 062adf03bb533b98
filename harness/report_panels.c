/* Charts with a panel for each kind of statistics: the names of its kernels above it, with their
 * marks, and grey lines for what theory says. Where there are many kernels a method is drawn by one
 * ISA, and a name leaves out the ISA that all of them have. */
#include "report_parts.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    NAME_SHOWN = 44,
    NAME_LINE = 14,
    LEGEND_SAMPLE = 26,
    TITLE_LINE = 20,
    HEAD = 98,
    LEGEND_PITCH = 15, /* of legend.gp */
    PANEL_GAP = 20,
    NAME_GAP = 10, /* between the names of panels side by side */
    CHART_WIDTH = 1000
};

/* Peers by library, a kernel that does not say what it does by its name. */
static const char *panel_title(const report_kernel *kernel)
{
    const char *peer = palette_peer(kernel->name);
    return peer ? peer : kernel->statistics[0] ? kernel->statistics : kernel->name;
}

static size_t panel_names(const panels *panels, size_t kernels, size_t panel)
{
    size_t names = 0;
    for (size_t i = 0; i < kernels; i++)
        names += panels->of[i] == panel + 1;
    return names;
}

/* Panels with many names first, so that those of a row need about the same room. */
static void sort_panels(const report_data *data, panels *panels)
{
    for (size_t last = panels->count; last > 1; last--)
        for (size_t i = 0; i + 1 < last; i++) {
            if (panel_names(panels, data->kernel_count, i) >=
                panel_names(panels, data->kernel_count, i + 1))
                continue;
            const char *title = panels->titles[i];
            panels->titles[i] = panels->titles[i + 1];
            panels->titles[i + 1] = title;
            for (size_t k = 0; k < data->kernel_count; k++)
                if (panels->of[k] == i + 1 || panels->of[k] == i + 2)
                    panels->of[k] = 2 * i + 3 - panels->of[k];
        }
}

bool panels_gather(const report_data *data, panel_fill *fill, void *context, panels *panels)
{
    text nowhere = {0};
    *panels = (struct panels){0};
    panels->titles = calloc(data->kernel_count + 1, sizeof *panels->titles);
    panels->of = calloc(data->kernel_count + 1, sizeof *panels->of);
    if (!panels->titles || !panels->of)
        return false;
    for (size_t i = 0; i < data->kernel_count; i++) {
        const char *title = panel_title(&data->kernels[i]);
        size_t at = 0;
        if (!data->kernels[i].stands || !fill(context, 0, i, &nowhere))
            continue;
        while (at < panels->count && strcmp(panels->titles[at], title) != 0)
            at++;
        panels->titles[at] = title;
        panels->count += at == panels->count;
        panels->of[i] = at + 1;
    }
    text_free(&nowhere);
    sort_panels(data, panels);
    text_add(&panels->points, "panel\tseries\tkernel\tinput\tx\tvalue\tbound\twrong\ttip\n");
    text_add(&panels->lines, "panel\tkind\tline\tx\ty\n");
    for (size_t i = 0; i < data->kernel_count; i++)
        if (panels->of[i])
            fill(context, panels->of[i] - 1, i, &panels->points);
    return true;
}

void panels_free(panels *panels)
{
    free(panels->titles);
    free(panels->of);
    text_free(&panels->points);
    text_free(&panels->lines);
    text_free(&panels->xticks);
    text_free(&panels->settings);
}

void panel_point(const report_data *data, size_t panel, size_t kernel,
                 const panel_point_facts *point, text *out)
{
    tsv_number(out, (double)panel + 1);
    tsv_number(out, (double)kernel + 1);
    tsv_text(out, data->kernels[kernel].name);
    tsv_text(out, point->input);
    tsv_number(out, point->x);
    tsv_number(out, point->value);
    tsv_number(out, point->bound);
    tsv_number(out, point->wrong);
    tsv_text(out, point->tip);
    tsv_end(out);
}

void panel_line_point(panels *panels, size_t panel, int kind, size_t line, double x, double y)
{
    panels->line_count = line + 1 > panels->line_count ? line + 1 : panels->line_count;
    tsv_number(&panels->lines, (double)panel + 1);
    tsv_number(&panels->lines, kind);
    tsv_number(&panels->lines, (double)line + 1);
    tsv_number(&panels->lines, x);
    tsv_number(&panels->lines, y);
    tsv_end(&panels->lines);
}

/* The ISA that all kernels of the chart have, or NULL. */
static const char *common_isa(const report_data *data, const panels *panels)
{
    const char *isa = NULL;
    for (size_t i = 0; i < data->kernel_count; i++) {
        if (!panels->of[i] || palette_peer(data->kernels[i].name))
            continue;
        if (isa && strcmp(isa, data->kernels[i].isa) != 0)
            return NULL;
        isa = data->kernels[i].isa;
    }
    return isa && isa[0] ? isa : NULL;
}

static void name_words(const report_kernel *kernel, const char *isa, char name[NAME_MAX_LENGTH])
{
    if (isa && strcmp(kernel->isa, isa) == 0)
        report_method(kernel, name);
    else
        snprintf(name, NAME_MAX_LENGTH, "%s", kernel->name);
    if (strlen(name) > NAME_SHOWN)
        snprintf(name + NAME_SHOWN - 3, 4, "...");
}

typedef struct grid {
    size_t columns, lines;
    double pitch, tall; /* of a column; of a panel */
} grid;

/* The widest of the names: none may run into the next panel's. */
static double widest_name(const report_data *data, const panels *panels)
{
    const char *isa = common_isa(data, panels);
    double widest = 0;
    for (size_t i = 0; i < data->kernel_count; i++) {
        char name[NAME_MAX_LENGTH];
        if (!panels->of[i])
            continue;
        name_words(&data->kernels[i], isa, name);
        widest = fmax(widest, LEGEND_SAMPLE + 6 + layout_text_width(name));
    }
    return widest;
}

static grid grid_of(const report_data *data, const panels *panels)
{
    static const double heights[] = {0, 450, 300, 230, 190};
    const size_t count = panels->count;
    double room = CHART_WIDTH - 72, widest = widest_name(data, panels);
    grid grid = {.columns = count <= 1 ? 1 : count <= 4 ? 2 : count <= 9 ? 3 : 4};
    while (grid.columns > 1 && widest > room / (double)grid.columns - NAME_GAP)
        grid.columns--;
    grid.lines = (count + grid.columns - 1) / grid.columns;
    grid.pitch = room / (double)grid.columns;
    grid.tall = heights[grid.columns];
    return grid;
}

/* The names of a panel, in lines from `top` on; returns how many lines. out NULL: only counted. */
static size_t place_names(const report_data *data, const panels *panels, size_t panel, double left,
                          double top, double room, text *out)
{
    const char *isa = common_isa(data, panels);
    double x = 0;
    size_t line = 0;
    for (size_t i = 0; i < data->kernel_count; i++) {
        char name[NAME_MAX_LENGTH];
        if (panels->of[i] != panel + 1)
            continue;
        name_words(&data->kernels[i], isa, name);
        double width = LEGEND_SAMPLE + 6 + layout_text_width(name);
        if (x > 0 && x + width > room) {
            line++;
            x = 0;
        }
        if (out) {
            tsv_number(out, (double)i + 1);
            tsv_text(out, name);
            tsv_number(out, left + x);
            tsv_number(out, top + NAME_LINE * (double)line);
            tsv_end(out);
        }
        x += width + 14;
    }
    return line + 1;
}

void panels_axis(const report_data *data, const panels *panels, chart_frame *frame)
{
    frame->left = 0;
    frame->right = grid_of(data, panels).pitch - PANEL_GAP;
}

/* A setting that was written: its number, and how many letters its text has; 0 for none. */
static size_t setting_letters(const text *settings, const char *key, double *number)
{
    size_t length = strlen(key), letters = 0;
    const char *line = settings->bytes;
    while (line && (strncmp(line, key, length) != 0 || line[length] != '\t')) {
        line = strchr(line, '\n');
        line = line ? line + 1 : NULL;
    }
    const char *cell = line ? strchr(line + length + 1, '\t') : NULL;
    *number = line ? strtod(line + length, NULL) : 0;
    for (const char *at = cell ? cell + 1 : "\n"; *at && *at != '\n'; at++)
        letters += (*at & 0xc0) != 0x80; /* not the rest of a UTF-8 letter */
    return cell && strncmp(cell, "\t-\n", 3) == 0 ? 0 : letters;
}

/* The lines of the legend, by the same widths as in plots/legend.gp. */
static size_t legend_lines(const text *settings)
{
    static const char *const entries[] = {"found", "proved", "line1", "line2",  "line3",
                                          "wrong", "scalar", "avx2",  "avx512", "neon"};
    enum { WORDS = 6, EDGE = 24, LETTER = 58, GAP = 14 };
    double x = EDGE;
    size_t lines = 1;
    for (size_t i = 0; i < sizeof entries / sizeof *entries; i++) {
        double number, sample = strcmp(entries[i], "wrong") == 0 ? 12 : 28;
        size_t letters = setting_letters(settings, entries[i], &number);
        if (i >= WORDS)
            letters = number > 0 ? strlen(entries[i]) : 0;
        if (letters == 0)
            continue;
        double width = sample + 6 + LETTER / 10.0 * (double)letters + GAP;
        if (x > EDGE && x + width - 12 > CHART_WIDTH - EDGE) {
            x = EDGE;
            lines++;
        }
        x += width;
    }
    return lines;
}

/* Where the panels stand: a row's head has the room that its longest list of names needs. */
static double place_panels(const report_data *data, const panels *panels, double top,
                           chart_frame *frame, text *places, text *names)
{
    grid grid = grid_of(data, panels);
    text_add(places, "panel\ttitle\tleft\tright\ttop\tbottom\n");
    text_add(names, "series\tname\tleft\ttop\n");
    for (size_t line = 0; line < grid.lines; line++) {
        size_t first = line * grid.columns, head = 1;
        size_t end = first + grid.columns < panels->count ? first + grid.columns : panels->count;
        for (size_t i = first; i < end; i++) {
            size_t needed = place_names(data, panels, i, 0, 0, grid.pitch - NAME_GAP, NULL);
            head = needed > head ? needed : head;
        }
        frame->top = top + TITLE_LINE + NAME_LINE * (double)head + 4;
        frame->bottom = frame->top + grid.tall;
        for (size_t i = first; i < end; i++) {
            frame->left = 72 + grid.pitch * (double)(i - first);
            frame->right = frame->left + grid.pitch - PANEL_GAP;
            place_names(data, panels, i, frame->left, top + TITLE_LINE, grid.pitch - NAME_GAP,
                        names);
            tsv_number(places, (double)i + 1);
            tsv_text(places, panels->titles[i]);
            tsv_number(places, frame->left);
            tsv_number(places, frame->right);
            tsv_number(places, frame->top);
            tsv_number(places, frame->bottom);
            tsv_end(places);
        }
        top = frame->bottom + (line + 1 < grid.lines ? 62 : 56);
    }
    return top + 30;
}

/* Which dashes the legend must explain. */
static void isa_settings(const report_data *data, const panels *panels, text *settings)
{
    static const char *const isas[] = {"scalar", "avx2", "avx512", "neon"};
    for (size_t i = 0; i < 4; i++) {
        bool any = false;
        for (size_t k = 0; k < data->kernel_count; k++)
            any = any || (panels->of[k] && strcmp(data->kernels[k].isa, isas[i]) == 0);
        tsv_setting(settings, isas[i], any && !common_isa(data, panels));
    }
}

bool panels_save(const report_data *data, panels *panels, chart_frame *frame, const chart *chart,
                 const char *subtitle, const char *directory, error *error)
{
    text places = {0}, names = {0}, settings = {0}, ticks = {0};
    char words[400];
    const char *isa = common_isa(data, panels);
    isa_settings(data, panels, &panels->settings);
    double top = HEAD + LEGEND_PITCH * (double)(legend_lines(&panels->settings) - 1);
    double height = place_panels(data, panels, top, frame, &places, &names);
    snprintf(words, sizeof words, "%s%s%s%s", subtitle, isa ? "; " : "", isa ? isa : "",
             report_is_crowded(data) ? ": the widest ISA of each method" : "");
    tsv_common(&settings, data, chart->title, words, CHART_WIDTH, height);
    tsv_frame(&settings, "", frame);
    tsv_setting(&settings, "panels", (double)panels->count);
    tsv_setting(&settings, "solid", common_isa(data, panels) != NULL); /* dashes tell nothing */
    text_add(&settings, panels->settings.bytes ? panels->settings.bytes : "");
    settings.failed = settings.failed || panels->settings.failed;
    if (panels->line_count == 0) /* gnuplot wants a line to read */
        panel_line_point(panels, panels->count, 1, 0, 1, 1);
    tsv_setting(&settings, "lines", (double)panels->line_count);
    tsv_setting(&settings, "columns", (double)grid_of(data, panels).columns);
    text_add(&ticks, "axis\tvalue\n");
    tsv_log_ticks(&ticks, "y", frame->y_min, frame->y_max);
    bool fine = tsv_save(&panels->points, directory, chart->stem, ".tsv", error) &&
                tsv_save(&panels->lines, directory, chart->stem, "_lines.tsv", error) &&
                tsv_save(&ticks, directory, chart->stem, "_ticks.tsv", error) &&
                tsv_save(&panels->xticks, directory, chart->stem, "_xticks.tsv", error) &&
                tsv_save(&places, directory, chart->stem, "_panels.tsv", error) &&
                tsv_save(&names, directory, chart->stem, "_names.tsv", error) &&
                tsv_save(&settings, directory, chart->stem, "_settings.tsv", error);
    text_free(&places);
    text_free(&names);
    text_free(&settings);
    text_free(&ticks);
    return fine;
}
