/* Prints everything of a command except its table: lines, notes, JSON, colours, and the progress bar. */
#include "base/output.h"
#include "base/text.h"
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

const char *const output_format_names[OUTPUT_FORMAT_COUNT] = {
    [OUTPUT_TEXT] = "text",     [OUTPUT_MARKDOWN] = "markdown", [OUTPUT_TSV] = "tsv",
    [OUTPUT_CSV] = "csv",       [OUTPUT_JSON] = "json",         [OUTPUT_JUNIT] = "junit",
    [OUTPUT_GITHUB] = "github", [OUTPUT_HTML] = "html",
};

void output_choose(output_file *output, const char *given)
{
    const char *const *names = output_format_names;
    size_t format = word_chosen("format", given ? given : "json", names, OUTPUT_FORMATS_OF_ALL);
    /* --json together with another --format, in any order */
    if (output->chosen && (output_format)format != output->format &&
        (!given || output->format == OUTPUT_JSON))
        die(EXIT_CODE_USAGE, "--json and --format %s exclude each other: --json is --format json",
            given ? given : names[output->format]);
    output->format = (output_format)format;
    output->chosen = true;
    output->colour &= output->format == OUTPUT_TEXT;
}

bool output_is_data(const output_file *output)
{
    return output->format == OUTPUT_TSV || output->format == OUTPUT_CSV;
}

static bool is_prose(const output_file *output)
{
    return output->format == OUTPUT_TEXT || output->format == OUTPUT_MARKDOWN;
}

static void print_words(const output_file *output, const char *after, const char *format,
                        va_list arguments)
{
    text_buffer words = {0};
    clean_format_list(&words, output->format == OUTPUT_MARKDOWN ? FORM_MARKDOWN : FORM_LINE, format,
                      arguments);
    text_add(&words, after);
    fputs(words.bytes, output->file);
    text_free(&words);
}

void output_line(const output_file *output, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    if (is_prose(output))
        print_words(output, output->format == OUTPUT_MARKDOWN ? "  \n" : "\n", format, arguments);
    va_end(arguments);
}

void output_text(const output_file *output, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    if (is_prose(output))
        print_words(output, "", format, arguments);
    va_end(arguments);
}

/* Prints one line, wrapped; `room` must be at least 3, so that text fits after the indent. */
static void print_wrapped(const output_file *output, const char *line, size_t length, size_t room)
{
    for (size_t indent = 0; length > 0; indent = 2) {
        size_t part = length, blanks;
        if (length + indent > room) {
            for (part = room - indent; part > 0 && line[part] != ' '; part--)
                ;
            part = part ? part : strcspn(line, " \n"); /* a path is not broken */
        }
        output_line(output, "%*s%.*s", (int)indent, "", (int)part, line);
        blanks = strspn(line + part, " ");
        line += part + blanks;
        length -= part + blanks;
    }
}

void output_wrapped(const output_file *output, const char *lines)
{
    size_t room = output->format == OUTPUT_TEXT ? output->width : SIZE_MAX;
    for (size_t length; *lines; lines += length + (lines[length] == '\n')) {
        static const char command[] = "  lnbench ";
        bool whole = strncmp(lines, command, sizeof command - 1) == 0;
        length = strcspn(lines, "\n");
        print_wrapped(output, lines, length,
                      whole       ? SIZE_MAX
                      : room == 0 ? 100
                      : room < 3  ? 3
                                  : room);
    }
}

void output_colour(const output_file *output, const char *colour)
{
    if (!output->colour)
        return;
    fprintf(output->file, colour ? "\033[1%s%sm" : "\033[0m", colour && *colour ? ";" : "",
            colour ? colour : "");
}

static void print_error(const char *before, const char *format, va_list arguments)
{
    text_buffer note = {0};
    clean_format_list(&note, FORM_LINE, format, arguments);
    fprintf(stderr, "%s%s\n", before, note.bytes ? note.bytes : "out of memory");
    text_free(&note);
}

void output_aside(const output_file *output, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    if (output->format == OUTPUT_TEXT)
        print_words(output, "\n", format, arguments);
    else
        print_error("", format, arguments);
    va_end(arguments);
}

void output_note(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    print_error("lnbench: ", format, arguments);
    va_end(arguments);
}

void output_json(const output_file *output, json_t *json)
{
    /* ASCII, so that no character can be a control sequence of a terminal. */
    char *text = json_dumps(json, JSON_INDENT(1) | JSON_ENSURE_ASCII);
    if (fprintf(output->file, "%s\n", text) < 0)
        die(EXIT_CODE_ENVIRONMENT, "standard output: cannot write JSON");
    free(text);
    json_decref(json);
}

/* Returns the columns of the terminal: COLUMNS if it is set to a number from 1 on, else the terminal's size; at least
 * 20, in which any table can be read. 0: the file is no terminal, or its size is not known. */
static size_t terminal_width(FILE *file)
{
    enum { LEAST = 20 };
    const char *columns = getenv("COLUMNS");
    struct winsize size = {0};
    if (!isatty(fileno(file)))
        return 0;
    size_t width = columns ? strtoul(columns, NULL, 10) : 0;
    if (width == 0 && ioctl(fileno(file), TIOCGWINSZ, &size) == 0)
        width = size.ws_col;
    return width > 0 && width < LEAST ? LEAST : width;
}

output_file output_standard(void)
{
    /* No colour if NO_COLOR is set to any text (no-color.org), or if TERM is "dumb". */
    const char *refused = getenv("NO_COLOR"), *terminal = getenv("TERM");
    bool colour = isatty(STDOUT_FILENO) && !(refused && *refused) &&
                  !(terminal && strcmp(terminal, "dumb") == 0);
    return (output_file){.file = stdout, .width = terminal_width(stdout), .colour = colour};
}

enum { BAR_WIDTH = 24 };
static const double line_seconds = 10; /* between two lines without a terminal */

void progress_begin(progress_bar *progress, double total_seconds)
{
    double now = seconds_now();
    *progress = (struct progress_bar){
        .shown = true,
        .terminal = isatty(STDERR_FILENO) == 1,
        .total = total_seconds,
        .begun = now,
        .drawn = now,
        .left = total_seconds,
    };
}

static double share_done(const progress_bar *progress)
{
    return progress->done < progress->total ? progress->done / progress->total : 1;
}

double progress_left(progress_bar *progress, double now)
{
    double share = share_done(progress), elapsed = now - progress->begun;
    double left = share > 0.01 ? elapsed / share - elapsed : progress->total - elapsed;
    if (left > 1.02 * progress->left)
        return 0;
    progress->left = fmax(fmin(left, progress->left), 0);
    return progress->left;
}

void progress_step(progress_bar *progress, double seconds, const char *what)
{
    progress->done += seconds;
    double time = seconds_now();
    if (!progress->shown || time - progress->drawn < (progress->terminal ? 0.1 : line_seconds))
        return;
    progress->drawn = time;
    double share = share_done(progress), seconds_left = progress_left(progress, time);
    char left[32] = ""; /* if the work takes longer than estimated, the time left is not known */
    if (seconds_left >= 1)
        snprintf(left, sizeof left, ", %.0f s left", seconds_left);
    if (!progress->terminal) {
        output_note("%.0f %%%s: %.70s", 100 * share, left, what);
        return;
    }
    char bar[BAR_WIDTH + 1];
    for (int i = 0; i < BAR_WIDTH; i++)
        bar[i] = i < (int)(share * BAR_WIDTH) ? '#' : '.';
    bar[BAR_WIDTH] = '\0';
    char shown[71];
    snprintf(shown, sizeof shown, "%s", what);
    text_make_printable(shown, "");
    fprintf(stderr, "\r\033[K[%s] %3.0f %%%s  %s", bar, 100 * share, left, shown);
    fflush(stderr);
}

void progress_end(progress_bar *progress)
{
    if (progress->shown && progress->terminal)
        fputs("\r\033[K", stderr);
    progress->shown = false;
}
