/* Which kernel to take: the fastest, and the fastest accurate one, at every size of every regime. */
#include "report/charts/chart.h"
#include <string.h>

enum { COLUMNS_MOST = 10, LINE_LENGTH = 14, LINES = 4 };

/* A label in the lines of a cell, cut where they are too long. */
static void break_label(const report_kernel *kernel, char lines[LINES][32])
{
    size_t line = 0;
    memset(lines, 0, LINES * sizeof *lines);
    for (const char *at = kernel->label; *at;) {
        size_t word = strcspn(at, "_") + 1, length = strlen(lines[line]);
        word -= !at[word - 1];
        if (length && length + word > LINE_LENGTH + (at[word - 1] == '_') && line + 1 < LINES)
            length = strlen(lines[++line]);
        snprintf(lines[line] + length, 32 - length, "%.*s", (int)word, at);
        at += word;
    }
    for (line = 0; line < LINES; line++)
        if (strlen(lines[line]) > LINE_LENGTH + 1)
            memcpy(lines[line] + LINE_LENGTH - 2, "...", 4);
}

/* At most so many sizes of a regime: the middle ones are left out evenly. */
static size_t thin_out(size_t *sizes, size_t count)
{
    if (count <= COLUMNS_MOST)
        return count;
    for (size_t i = 0; i < COLUMNS_MOST; i++)
        sizes[i] = sizes[i * (count - 1) / (COLUMNS_MOST - 1)];
    return COLUMNS_MOST;
}

static bool add_row(const report_data *data, const char *regime, int kind, size_t row,
                    chart_output *out)
{
    enum { SIZES_MOST = 64 };
    const report_look *look = report_look_of(data, kind);
    size_t sizes[SIZES_MOST], count = report_hidden_sizes(data, regime, sizes, SIZES_MOST);
    bool any = false;
    count = thin_out(sizes, count);
    for (size_t i = 0; look && i < count; i++) {
        const view_case *at = report_best_in(data, look, regime, sizes[i]);
        char lines[LINES][32];
        if (!at)
            continue;
        break_label(report_kernel_at(data, at), lines);
        tsv_row(&out->table, "zszzssssnn", row, regime, i + 1, sizes[i], lines[0], lines[1],
                lines[2], lines[3], at->speed.gbps, kind == LOOK_FASTEST ? 1.0 : 2.0);
        any = true;
    }
    return any;
}

static void draw_winner_map(const report_data *data, chart_output *out)
{
    size_t row = 0;
    text_buffer words = {0};
    tsv_row(&out->table, "wwwwwwwwww", "row", "regime", "column", "hidden", "line1", "line2",
            "line3", "line4", "gbps", "kind");
    for (size_t i = 0; i < REGIMES; i++) {
        row += add_row(data, regime_names[i], LOOK_FASTEST, row + 1, out);
        row += add_row(data, regime_names[i], LOOK_ACCURATE, row + 1, out);
    }
    if (row == 0)
        chart_because(out, "no kernel was timed");
    report_heading_words(data, &words);
    text_add(&words, "; in each cell the kernel and its GB/s");
    chart_subtitle(out, &words);
    chart_setting(out, "rows", (double)row);
}

const chart_kind winner_map_chart = {
    "winner_map",
    "Which kernel to take at which hidden size?",
    "Dark cells name the fastest kernel, however wrong, light cells the fastest that is never more "
    "than 2 row ULP off. Only regimes that were measured have rows.",
    "winner_map.gp",
    draw_winner_map,
    chart_speed_again,
};
