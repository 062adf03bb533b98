#include "base/output.h"
#include "base/terminal.h"
#include "base/text.h"
#include <string.h>

bool output_choose(output_file *output, const char *given, error *err)
{
    static const char *const names[] = {"text", "markdown", "tsv", "csv", "json"};
    enum { NAMES = sizeof names / sizeof *names };
    size_t format = 0;
    while (format < NAMES && strcmp(given ? given : "json", names[format]) != 0)
        format++;
    if (format == NAMES) {
        const char *nearest = nearest_word(given, names, NAMES);
        return fail(err, EXIT_CODE_USAGE,
                    "--format %.60s%s%s%s: text, markdown, tsv, csv or json was expected", given,
                    nearest ? " (did you mean " : "", nearest ? nearest : "", nearest ? "?)" : "");
    }
    /* --json beside another --format, in whichever order */
    if (output->chosen && (output_format)format != output->format &&
        (!given || output->format == OUTPUT_JSON))
        return fail(err, EXIT_CODE_USAGE,
                    "--json and --format %s exclude each other: --json is --format json",
                    given ? given : names[output->format]);
    output->format = (output_format)format;
    output->chosen = true;
    output->colour = output->format == OUTPUT_TEXT && terminal_has_colour(output->file);
    return true;
}

bool output_is_data(const output_file *output)
{
    return output->format == OUTPUT_TSV || output->format == OUTPUT_CSV;
}

static void print_words(const output_file *output, const char *before, const char *after,
                        const char *format, va_list arguments)
{
    fputs(before, output->file);
    vfprintf(output->file, format, arguments);
    fputs(after, output->file);
}

void output_heading(const output_file *output, const char *format, ...)
{
    va_list arguments;
    if (output->format != OUTPUT_TEXT && output->format != OUTPUT_MARKDOWN)
        return;
    bool markdown = output->format == OUTPUT_MARKDOWN;
    va_start(arguments, format);
    print_words(output, markdown ? "\n### " : "\n", markdown ? "\n\n" : "\n", format, arguments);
    va_end(arguments);
}

void output_line(const output_file *output, const char *format, ...)
{
    va_list arguments;
    if (output->format != OUTPUT_TEXT && output->format != OUTPUT_MARKDOWN)
        return;
    va_start(arguments, format);
    print_words(output, "", output->format == OUTPUT_MARKDOWN ? "  \n" : "\n", format, arguments);
    va_end(arguments);
}

bool output_table(const output_file *output, text_table *table, error *err)
{
    bool fine = output->format == OUTPUT_MARKDOWN ? table_print_markdown(table, output->file)
                : output_is_data(output)
                    ? table_print_data(table, output->format == OUTPUT_CSV, output->file)
                    : table_print(table, output->file);
    table_destroy(table);
    return fine || fail(err, EXIT_CODE_ENVIRONMENT, "standard output: cannot write the table");
}

bool output_json(const output_file *output, json_t *json, error *err)
{
    bool fine = json && json_dumpf(json, output->file, JSON_INDENT(1)) == 0 &&
                fputc('\n', output->file) != EOF;
    json_decref(json);
    return fine || fail(err, EXIT_CODE_ENVIRONMENT, "standard output: cannot write JSON");
}
