/* The page: index.html, one file with everything in it. */
#include "report_parts.h"
#include "report_style.h"
#include "views_tsv.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

void html_escape(text *out, const char *string)
{
    for (; *string; string++) {
        unsigned char byte = (unsigned char)*string;
        switch (byte) {
        case '&':
            text_add(out, "&amp;");
            break;
        case '<':
            text_add(out, "&lt;");
            break;
        case '>':
            text_add(out, "&gt;");
            break;
        case '"':
            text_add(out, "&quot;");
            break;
        case '\'':
            text_add(out, "&#39;");
            break;
        default:
            /* What is no printable ASCII may be no UTF-8 either. */
            text_add_bytes(out, byte >= 0x20 && byte < 0x7f ? string : "?", 1);
        }
    }
}

void html_short(text *out, double value)
{
    char buffer[16];
    html_escape(out, number_short(value, buffer));
}

const char *html_verdict_class(const verdict *verdict)
{
    if (report_is_failure(verdict))
        return "fault";
    if (verdict->declared)
        return "declared";
    return verdict->kind == VERDICT_OK || verdict->kind == VERDICT_OK_NO_BOUND ? "ok" : "left-out";
}

bool report_read_file(const char *path, char **contents, error *error)
{
    FILE *file = fopen(path, "rb");
    long size = -1;
    *contents = NULL;
    if (file && fseek(file, 0, SEEK_END) == 0)
        size = ftell(file);
    bool fine = size >= 0 && fseek(file, 0, SEEK_SET) == 0;
    if (fine)
        *contents = calloc((size_t)size + 1, 1);
    fine = fine && *contents && fread(*contents, 1, (size_t)size, file) == (size_t)size;
    if (file)
        fclose(file);
    if (!fine) {
        free(*contents);
        *contents = NULL;
        return fail(error, EXIT_CODE_ENVIRONMENT, "%s: cannot be read back for the page", path);
    }
    return true;
}

/* Identifiers must be unique in the page: those of a drawing get its stem in front. gnuplot writes
 * them as id='x', id="x" and href='#x'; no text of a drawing has quotes in it (tsv_text). */
static void add_svg(text *out, const char *svg, const char *stem)
{
    static const char *const marks[] = {"id='", "id=\"", "href='#", "url(#"};
    const char *at = strstr(svg, "<svg");
    while (at && *at) {
        size_t mark = 0;
        while (mark < 4 && strncmp(at, marks[mark], strlen(marks[mark])) != 0)
            mark++;
        if (mark < 4) {
            text_format(out, "%s%s-", marks[mark], stem);
            at += strlen(marks[mark]);
        } else {
            text_add_bytes(out, at++, 1);
        }
    }
}

static const char *chart_help(const char *stem)
{
    if (strncmp(stem, "throughput_", 11) == 0 && strcmp(stem, "throughput_size") != 0)
        return "Higher is faster. The thick lines are the roofs: what merely copying the same "
               "bytes costs, measured in the same minutes.";
    if (strcmp(stem, "roof_share") == 0)
        return "1 means as fast as a copy. Two kernels whose intervals overlap cannot be told "
               "apart by this run.";
    if (strcmp(stem, "error_kappa") == 0)
        return "Lower is more accurate. kappa is large where the mean of a row is large against "
               "its spread. Open marks are what the kernel's authors proved, full marks what was "
               "measured; where a kernel makes no claim there is no open mark. Errors of zero "
               "stand on the lower edge.";
    if (strcmp(stem, "variance_kappa") == 0)
        return "Lower is more accurate; 1 means that no digit of the variance is right. The grey "
               "lines are how far rounding may carry each way of summing, to first order, at the "
               "number of additions that a term really goes through in that kernel.";
    if (strcmp(stem, "throughput_size") == 0)
        return "Higher is faster. To the right there is more data: dotted lines stand where x and "
               "y together no longer fit in a cache of this machine.";
    if (strcmp(stem, "threads") == 0)
        return "On the left, what more threads bring; on the right, the same against a copy by as "
               "many threads: a line that stays level there gains all that the memory gives.";
    if (strcmp(stem, "hot_cold") == 0)
        return "To the right is faster. Full marks: the data was used a moment ago, as in a model "
               "where the layer before has just written it; open marks: it comes from memory.";
    if (strcmp(stem, "ulp_histogram") == 0)
        return "Further to the left is more accurate; a long tail to the right is a few elements "
               "that are far off. Without cancellation nothing lies beyond a few ulp but elements "
               "near zero.";
    if (strcmp(stem, "winner_map") == 0)
        return "One cell a hidden size and regime. The letter is the kernel that was fastest "
               "there; "
               "those behind = cannot be told apart from it by this run.";
    if (strcmp(stem, "error_hidden") == 0)
        return "Lower is more accurate. Full marks are the worst that was found, open marks what "
               "is "
               "proved of these rows. A worst case grows with N, roundings that know nothing of "
               "each "
               "other with its root.";
    if (strcmp(stem, "rounded") == 0)
        return "100 % would be the best that the type can hold. Full marks: normal input; open "
               "marks: rows whose mean is far from zero.";
    return "To the right is faster, down is more accurate. Nothing measured lies beyond the "
           "dashed line: the kernels on it are the ones to choose from.";
}

/* The drawing itself, or on paper its PNG, which lies beside the directory that the page is in. */
static bool add_drawing(const chart *chart, const char *directory, bool on_paper, text *out,
                        error *error)
{
    char path[512], *svg;
    if (on_paper) {
        text_format(out, "<div><img src=\"../%s.png\" alt=\"\"></div>\n", chart->stem);
        return true;
    }
    if (!report_path(path, directory, chart->stem, ".svg", error) ||
        !report_read_file(path, &svg, error))
        return false;
    text_format(out, "<div class=\"scroll\" id=\"%s\" role=\"img\" aria-label=\"", chart->stem);
    html_escape(out, chart->title);
    text_add(out, "\">\n");
    add_svg(out, svg, chart->stem);
    text_add(out, "</div>\n");
    free(svg);
    return true;
}

static bool add_chart(const report_data *data, const chart *chart, const char *directory,
                      bool on_paper, text *out, error *error)
{
    text_add(out, "<figure>\n");
    if (chart->reason[0]) {
        text_add(out, "<p class=\"missing\">");
        html_escape(out, chart->title);
        text_add(out, ": not drawn, since ");
        html_escape(out, chart->reason);
        text_add(out, ".</p></figure>\n");
        return true;
    }
    if (!add_drawing(chart, directory, on_paper, out, error))
        return false;
    const char *kind = chart->kind[0] ? chart->kind : chart->stem;
    text_format(out, "<figcaption>%s <span class=\"again\">Made again by <code>", chart_help(kind));
    text again = {0};
    report_data typed;
    bool other = chart->is_other_type && report_data_of_type(data, chart->type, &typed);
    report_again(other ? &typed : data, kind, &again);
    html_escape(out, again.bytes ? again.bytes : "");
    out->failed = out->failed || again.failed;
    text_free(&again);
    text_add(out, "</code></span></figcaption></figure>\n");
    return true;
}

static void add_head(const report_data *data, text *out)
{
    text_add(out, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                  "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                  "<meta name=\"generator\" content=\"lnbench\">\n");
    text_format(out, "<title>lnbench: LayerNorm kernels, run %lld</title>\n<style>\n",
                (long long)data->view->run.id);
    text_add(out, report_style);
    text_add(out, "</style>\n</head>\n<body>\n<main>\n<header>\n<h1>LayerNorm kernels: which is "
                  "fast, which is wrong, and by how much</h1>\n<p class=\"run\">");
    text footer = {0};
    report_footer(data->view, &footer);
    html_escape(out, footer.bytes ? footer.bytes : "");
    out->failed = out->failed || footer.failed;
    text_free(&footer);
    text_add(out, "</p>\n</header>\n");
}

static void add_how_to_read(text *out)
{
    text_add(
        out,
        "<section id=\"how\">\n<h2>How to read this</h2>\n<dl>\n"
        "<dt>GB/s</dt><dd>bytes of x read and of y written, divided by the median time of a "
        "call.</dd>\n"
        "<dt>share of the roof</dt><dd>time of a plain copy of the same bytes (the faster of "
        "an ordinary and a non-temporal one, measured in the same run) divided by the time of "
        "the kernel, with its 95 % interval.</dd>\n"
        "<dt>ULP</dt><dd>|computed &minus; exact| in units in the last place of the exact "
        "value; the exact value comes from a certified reference.</dd>\n"
        "<dt>row ULP</dt><dd>the same error in units of the size of what was added up in the "
        "row, |gamma| max|x&#770;| + |beta|: an element near zero does not blow it up, a large "
        "beta does not hide it.</dd>\n"
        "<dt>kappa</dt><dd>the condition number of a row, sqrt(mean of x&sup2; / variance): 1 "
        "for a centred row, 10 000 for a mean ten thousand times the spread.</dd>\n"
        "<dt>u, N</dt><dd>2<sup>&minus;24</sup>, the rounding unit of f32, and the hidden size. "
        "An error of u&kappa; of the row's scale is at most &kappa; row ULP.</dd>\n"
        "<dt>verdicts</dt><dd><em>ok</em>: within the kernel's own proven bound; <em>ok (no "
        "bound)</em>: the kernel claims none; <em>inaccurate</em>: beyond its bound or the "
        "limit asked for; <em>wrong-class</em>: NaN or infinite where a number belongs, or the "
        "other way round; <em>(declared)</em>: such an error on a row for which the kernel "
        "makes no claim; <em>overrun</em>, <em>input-modified</em>, <em>state-changed</em>, "
        "<em>nondeterministic</em>, <em>crashed</em>, <em>timeout</em>: the kernel is at "
        "fault; <em>unsupported</em>, <em>skipped</em>: not measured, and why.</dd>\n"
        "</dl>\n</section>\n");
}

/* One cell of a data: URL (RFC 3986): what is not plain is written in hex. */
static void add_encoded(text *out, const text *from)
{
    for (size_t i = 0; i < from->length; i++) {
        unsigned char byte = (unsigned char)from->bytes[i];
        bool plain = (byte >= '0' && byte <= '9') || (byte >= 'a' && byte <= 'z') ||
                     (byte >= 'A' && byte <= 'Z') || strchr("-._~@,=:+", byte);
        if (plain && byte)
            text_add_bytes(out, from->bytes + i, 1);
        else
            text_format(out, "%%%02X", byte);
    }
}

/* Cases that are not too many travel in the page itself; the rest lies beside it. */
static void add_raw_data(const report_data *data, bool on_paper, text *out)
{
    enum { MOST_EMBEDDED = 1 << 20 };
    text cases = {0};
    text_add(out, "<p>Raw data: ");
    if (!on_paper)
        tsv_cases(data->view, &cases);
    out->failed = out->failed || cases.failed;
    if (cases.length > 0 && cases.length <= MOST_EMBEDDED) {
        text_add(out, "<a class=\"embedded\" download=\"cases.tsv\" "
                      "href=\"data:text/tab-separated-values,");
        add_encoded(out, &cases);
        text_add(out, "\">cases.tsv</a> (in this page: every case with all its figures); ");
    }
    text_free(&cases);
    text_add(out, "beside it <code>cases.tsv</code>, <code>rows.tsv</code>, "
                  "<code>machine.tsv</code>, and below <code>data/</code> the figures of every "
                  "chart; each chart also as PNG and PDF.</p>\n");
}

static void add_repeat(const report_data *data, bool on_paper, text *out)
{
    const stored_run *run = &data->view->run;
    text_add(out, "<section id=\"repeat\">\n<h2>How to repeat it</h2>\n<pre>");
    html_escape(out, run->command_line);
    text_add(out, "</pre>\n<p>");
    text_format(out, "Seed %llu, plan ", (unsigned long long)run->seed);
    html_escape(out, run->plan);
    text_add(out, ", commit ");
    html_escape(out, report_commit(data->view));
    text_add(out,
             ". With <code>--seed</code> as above the inputs and the order of the measurements "
             "are the same; errors then agree to the bit, times as far as the machine does. "
             "Every chart names its own command; <code>lnbench report --verify --run ");
    text_format(out, "%lld</code> runs a sample of the figures again and says which hold.</p>\n",
                (long long)run->id);
    add_raw_data(data, on_paper, out);
    text_add(out, "</section>\n");
}

static bool add_charts(const report_data *data, const chart *charts, size_t count,
                       const char *directory, const report_result *result, bool on_paper, text *out,
                       error *error)
{
    text_add(out, "<section id=\"charts\">\n<h2>Charts</h2>\n");
    if (result->note[0]) {
        text_add(out, "<p class=\"missing\">Charts are missing: ");
        html_escape(out, result->note);
        text_add(out, ".</p>\n");
    }
    for (size_t i = 0; i < count; i++)
        if (!add_chart(data, &charts[i], directory, on_paper, out, error))
            return false;
    text_add(out, "</section>\n");
    return true;
}

bool html_page(const report_data *data, const chart *charts, size_t chart_count,
               const char *directory, const report_result *result, bool on_paper, text *out,
               error *error)
{
    add_head(data, out);
    html_leaders(data, out);
    html_summary(data, on_paper, out);
    if (!add_charts(data, charts, chart_count, directory, result, on_paper, out, error))
        return false;
    html_results(data, on_paper, out);
    html_accuracy(data, on_paper, out);
    add_how_to_read(out);
    html_worst(data, on_paper, out);
    add_repeat(data, on_paper, out);
    html_machine(data, out);
    text_add(out, "</main>\n<script>\n");
    text_add(out, report_script);
    text_add(out, "</script>\n</body>\n</html>\n");
    return !out->failed || fail_memory(error, "index.html");
}
