/* Drawings as they go into a page: gnuplot's tooltips are event handlers for a script that it would
 * fetch; here they become <title> elements, which browsers show by themselves. */
#include "report_parts.h"
#include "views_tsv.h"
#include <stdlib.h>
#include <string.h>

static const char handler[] = "<g onmousemove=\"gnuplot_svg.showHypertext(evt,'";
static const char handler_end[] =
    "')\" onmouseout=\"gnuplot_svg.hideHypertext()\"><title> </title>";

/* Whether `at`, just behind the handler's beginning, is a tip's text and then the rest of what
 * gnuplot writes; *length is that of the text. */
static bool is_tip(const char *at, size_t *length)
{
    const char *end = strstr(at, handler_end);
    *length = end ? (size_t)(end - at) : 0;
    return end && !memchr(at, '\n', *length);
}

static void add_tip(text *out, const char *tip, size_t length)
{
    text_add(out, "<g><title>");
    for (size_t i = 0; i < length; i++) {
        if (tip[i] == '<')
            text_add(out, "&lt;");
        else if (tip[i] == '>')
            text_add(out, "&gt;");
        else if (tip[i] == '&' && strncmp(tip + i, "&lt;", 4) != 0 &&
                 strncmp(tip + i, "&gt;", 4) != 0 && strncmp(tip + i, "&amp;", 5) != 0)
            text_add(out, "&amp;");
        else
            text_add_bytes(out, tip + i, 1);
    }
    text_add(out, "</title>");
}

bool svg_with_titles(const char *path, error *error)
{
    char *svg;
    text out = {0};
    if (!report_read_file(path, &svg, error))
        return false;
    for (const char *at = svg; *at;) {
        size_t length;
        if (strncmp(at, handler, sizeof handler - 1) == 0 &&
            is_tip(at + sizeof handler - 1, &length)) {
            add_tip(&out, at + sizeof handler - 1, length);
            at += sizeof handler - 1 + length + sizeof handler_end - 1;
        } else {
            const char *next = strstr(at + 1, handler);
            size_t plain = next ? (size_t)(next - at) : strlen(at);
            text_add_bytes(&out, at, plain);
            at += plain;
        }
    }
    free(svg);
    bool fine = write_whole_file(path, &out, error);
    text_free(&out);
    return fine;
}
