/* --format text|markdown|tsv|csv|json, the same for every command that prints a table.
 *
 *     output_file out = output_standard();           // called by the option parser
 *     output_choose(&out, "tsv");
 *     output_line(&out, "%zu x %zu of %s", rows, hidden, input);
 *
 * Only this file and base/die.h write to standard output and standard error (layering_test checks that). Every %s is
 * treated as text from outside and escaped for the form (base/text.h).
 */
#ifndef LNBENCH_OUTPUT_H
#define LNBENCH_OUTPUT_H

#include "base/clock.h"
#include "base/die.h"
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <time.h>

/* The names of the formats are in output.c, their printers in relation.c. Every command has the first ones; compare
 * and duet also have the next ones. */
#define OUTPUT_FORMATS "text|markdown|tsv|csv|json"
#define OUTPUT_FORMATS_CI OUTPUT_FORMATS "|junit|github"
typedef enum output_format {
    OUTPUT_TEXT,
    OUTPUT_MARKDOWN,
    OUTPUT_TSV,
    OUTPUT_CSV,
    OUTPUT_JSON,
    OUTPUT_FORMATS_OF_ALL,
    OUTPUT_JUNIT = OUTPUT_FORMATS_OF_ALL,
    OUTPUT_GITHUB,
    OUTPUT_FORMATS_OF_CI,
    OUTPUT_HTML = OUTPUT_FORMATS_OF_CI,
    OUTPUT_FORMAT_COUNT
} output_format;

extern const char *const output_format_names[OUTPUT_FORMAT_COUNT];

typedef struct output_file {
    output_format format;
    FILE *file;   /* standard output */
    size_t width; /* columns of the terminal; 0: none */
    bool colour;  /* text on a terminal that shows it */
    bool chosen;  /* by an option */
} output_file;

output_file output_standard(void);

/* Sets the format that --format names, or JSON for --json (NULL). Ends the program (2) for an unknown format, and for
 * --json together with another format. */
void output_choose(output_file *output, const char *given);
/* Returns whether the format is TSV or CSV, which have only a table for programs. */
bool output_is_data(const output_file *output);

/* Print a line of prose, or text without a newline; print nothing in TSV and CSV. */
void output_line(const output_file *output, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void output_text(const output_file *output, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Prints lines of prose, wrapped at the terminal's width or at 100 columns. A line with a command ("  lnbench ...")
 * is not wrapped, so that it can be copied. */
void output_wrapped(const output_file *output, const char *lines);
/* Makes the following output bold and of this colour (ANSI, "33"; "": only bold), or plain again (NULL), if the
 * terminal shows colours. */
void output_colour(const output_file *output, const char *colour);
/* Prints a remark: in text under the table, in other formats on standard error. */
void output_aside(const output_file *output, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Prints "lnbench: ..." on standard error. */
void output_note(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Prints the JSON and frees it. */
void output_json(const output_file *output, json_t *json);

/* Progress on standard error: on a terminal a bar with the current step and the time left, redrawn at most
 * ten times a second; elsewhere a line every ten seconds. The time left follows from the speed so far, and never
 * rises: while the estimate is over 1.02 times the last one shown, or below a second, no time is shown. */

typedef struct progress_bar {
    bool shown, terminal;
    double total, done;        /* estimated seconds of work */
    double begun, drawn, left; /* seconds; left: as last shown */
} progress_bar;

void progress_begin(progress_bar *progress, double total_seconds);
void progress_step(progress_bar *progress, double seconds, const char *what);
/* Returns the seconds left at the time `now` of seconds_now(); 0: none should be shown. */
double progress_left(progress_bar *progress, double now);
void progress_end(progress_bar *progress); /* clears the line */

#endif
