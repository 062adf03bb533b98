#include "report_parts.h"
#include "views_tsv.h"
#include <math.h>
#include <string.h>

/* Quotes, backslashes and backquotes mean something to gnuplot's reader, bytes beyond ASCII may be
 * no UTF-8 at all, and an empty cell would be taken for a missing value. */
void tsv_text(text *out, const char *cell)
{
    if (out->length && out->bytes[out->length - 1] != '\n')
        text_add(out, "\t");
    if (!cell[0])
        text_add(out, "-");
    for (; *cell; cell++) {
        unsigned char byte = (unsigned char)*cell;
        bool plain = byte >= 0x20 && byte < 0x7f && !strchr("\"'\\`", byte);
        text_add_bytes(out, plain ? cell : "?", 1);
    }
}

void tsv_number(text *out, double value)
{
    if (!isfinite(value)) {
        tsv_text(out, "NaN");
        return;
    }
    if (out->length && out->bytes[out->length - 1] != '\n')
        text_add(out, "\t");
    if (value == rint(value) && fabs(value) < 1e15)
        text_format(out, "%.0f", value); /* 40, not 4e+01 */
    else
        text_number(out, value);
}

void tsv_end(text *out)
{
    text_add(out, "\n");
}

void tsv_setting(text *out, const char *key, double value)
{
    tsv_text(out, key);
    tsv_number(out, value);
    tsv_text(out, "-");
    tsv_end(out);
}

void tsv_setting_words(text *out, const char *key, const char *words)
{
    tsv_text(out, key);
    text_format(out, "\t0\t%s\n", words);
}

void tsv_setting_text(text *out, const char *key, const char *value)
{
    tsv_text(out, key);
    tsv_number(out, 0);
    tsv_text(out, value);
    tsv_end(out);
}

void tsv_common(text *out, const report_data *data, const char *title, const char *subtitle,
                double width, double height)
{
    text footer = {0};
    report_footer(data->view, &footer);
    text_add(out, "key\tnumber\ttext\n");
    tsv_setting(out, "width", width);
    tsv_setting(out, "height", height);
    tsv_setting_text(out, "title", title);
    tsv_setting_text(out, "subtitle", subtitle);
    tsv_setting_text(out, "footer", footer.bytes ? footer.bytes : "");
    out->failed = out->failed || footer.failed;
    text_free(&footer);
}

void tsv_frame(text *out, const char *prefix, const chart_frame *frame)
{
    const struct {
        const char *name;
        double value;
    } fields[] = {
        {"left", frame->left},     {"right", frame->right}, {"top", frame->top},
        {"bottom", frame->bottom}, {"xmin", frame->x_min},  {"xmax", frame->x_max},
        {"ymin", frame->y_min},    {"ymax", frame->y_max},
    };
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        char key[48];
        snprintf(key, sizeof key, "%s%s", prefix, fields[i].name);
        tsv_setting(out, key, fields[i].value);
    }
}

void tsv_footer_here(text *out, const char *before)
{
    machine machine = {0};
    struct error ignored = {0};
    char footer[400];
    bool known = machine_read(&machine, &ignored);
    snprintf(footer, sizeof footer, "%.120s%.200s | commit %.12s", before,
             known ? machine_fact_value(&machine, "cpu_model") : "unknown",
             known ? machine_fact_value(&machine, "git_commit") : "unknown");
    machine_free(&machine);
    tsv_setting_text(out, "footer", footer);
}

void tsv_log_ticks(text *out, const char *axis, double low, double high)
{
    double ticks[64];
    size_t count = layout_log_ticks(low, high, ticks, 64);
    for (size_t i = 0; i < count; i++) {
        tsv_text(out, axis);
        tsv_number(out, ticks[i]);
        tsv_end(out);
    }
}

bool report_path(char path[512], const char *directory, const char *name, const char *suffix,
                 error *error)
{
    int length = snprintf(path, 512, "%s/%s%s", directory, name, suffix);
    if (length < 0 || length >= 512)
        return fail(error, EXIT_CODE_ENVIRONMENT,
                    "%.200s...: the path of a report must be shorter than 500 bytes", directory);
    return true;
}

bool tsv_save(text *out, const char *directory, const char *stem, const char *suffix, error *error)
{
    char path[512], name[64];
    snprintf(name, sizeof name, "data/%s", stem);
    bool fine =
        report_path(path, directory, name, suffix, error) && write_whole_file(path, out, error);
    text_free(out);
    return fine;
}
