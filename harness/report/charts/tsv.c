/* The tables that gnuplot reads. */
#include "base/clean.h"
#include "base/files.h"
#include "report/charts/chart.h"
#include <math.h>

void tsv_add_number(text_buffer *out, double value)
{
    if (!isfinite(value))
        text_add(out, "NaN");
    else if (value == rint(value) && fabs(value) < 1e15)
        text_format(out, "%.0f", value); /* 40, not 4e+01 */
    else
        text_number(out, value);
}

void tsv_add_text(text_buffer *out, const char *text)
{
    clean_add(out, FORM_GNUPLOT, text);
}

bool report_path(char path[512], const char *directory, const char *name, const char *suffix,
                 error *err)
{
    int length = snprintf(path, 512, "%s/%s%s", directory, name, suffix);
    if (length < 0 || length >= 512)
        return fail(err, EXIT_CODE_ENVIRONMENT,
                    "%.200s...: the path of a report must be shorter than 500 bytes", directory);
    return true;
}

bool tsv_save(text_buffer *out, const char *directory, const char *stem, const char *suffix,
              error *err)
{
    char path[512], name[64];
    snprintf(name, sizeof name, "data/%s", stem);
    bool fine = report_path(path, directory, name, suffix, err) && write_whole_file(path, out, err);
    text_free(out);
    return fine;
}
