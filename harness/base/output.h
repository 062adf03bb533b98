/* --format text|markdown|tsv|csv|json, the same for every command that prints a table.
 *
 *     output_file out = output_standard();           // the option parser does
 *     output_choose(&out, "tsv");
 *     output_line(&out, "%zu x %zu of %s", rows, hidden, input);
 *
 * This and base/die.h are the only doors to standard output and standard error (layering_test checks that). Every %s is taken
 * for a text that is not ours and cleaned for the form (base/text.h).
 */
#ifndef LNBENCH_OUTPUT_H
#define LNBENCH_OUTPUT_H

#include "base/clock.h"
#include "base/die.h"
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <time.h>

/* Their names are in output.c, their printers in relation.c. The first are those of every command, the next those
 * that compare and duet have as well. */
#define OUTPUT_FORMATS "text|markdown|tsv|csv|json"
#define OUTPUT_FORMATS_CI OUTPUT_FORMATS "|junit|github|smaller"
typedef enum output_format {
    OUTPUT_TEXT,
    OUTPUT_MARKDOWN,
    OUTPUT_TSV,
    OUTPUT_CSV,
    OUTPUT_JSON,
    OUTPUT_FORMATS_OF_ALL,
    OUTPUT_JUNIT = OUTPUT_FORMATS_OF_ALL,
    OUTPUT_GITHUB,
    OUTPUT_SMALLER, /* customSmallerIsBetter */
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

/* What --format says; NULL: what --json says. Ends the program (2): a format that is none of the five,
 * --json together with another one. */
void output_choose(output_file *output, const char *given);
/* TSV or CSV: a table for programs, and nothing besides. */
bool output_is_data(const output_file *output);

/* A line of prose, and text that goes on in the line: nothing in TSV, which is a table and
 * no more. */
void output_line(const output_file *output, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void output_text(const output_file *output, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Lines of prose, each ended by a newline, that go on in the next line where the terminal ends, or
 * after 100 columns; a line that is a command ("  lnbench ...") stays whole, to be copied. */
void output_wrapped(const output_file *output, const char *lines);
/* What is written from here on is bold and of this colour (ANSI, "33"; "": none of its own), or plain
 * again (NULL), where the terminal shows that. */
void output_colour(const output_file *output, const char *colour);
/* A line beside the table: in text under it, in other forms on standard error. */
void output_aside(const output_file *output, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* "lnbench: ..." on standard error. */
void output_note(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Takes the JSON over. */
void output_json(const output_file *output, json_t *json);

/* Progress on standard error: on a terminal a bar with what runs and the time left, redrawn at most
 * ten times a second; elsewhere a line every ten seconds. The time left is by how fast it went so
 * far, and never rises: where the rest turns out slower than it was taken for, it stands still. */

typedef struct progress_bar {
    bool shown, terminal;
    double total, done;        /* estimated seconds of work */
    double begun, drawn, left; /* seconds; left: as it was shown last */
} progress_bar;

void progress_begin(progress_bar *progress, double total_seconds);
void progress_step(progress_bar *progress, double seconds, const char *what);
/* The time left at a moment of seconds_now(); remembers it. */
double progress_left(progress_bar *progress, double now);
void progress_end(progress_bar *progress); /* clears the line */

#endif
