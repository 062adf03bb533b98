#include "output.h"
#include "terminal.h"
#include "text.h"
#include <string.h>

bool output_choose(const output_request *request, output *output, error *error)
{
    static const char *const names[] = {"text", "markdown", "tsv", "json"};
    const char *given = request->format ? request->format : request->json ? "json" : "text";
    *output = (struct output){.format = OUTPUT_TEXT, .file = stdout};
    while (output->format <= OUTPUT_JSON && strcmp(given, names[output->format]) != 0)
        output->format++;
    if (output->format > OUTPUT_JSON) {
        const char *nearest = nearest_word(given, names, 4);
        return fail(error, EXIT_CODE_USAGE,
                    "--format %.60s%s%s%s: text, markdown, tsv or json was expected", given,
                    nearest ? " (did you mean " : "", nearest ? nearest : "", nearest ? "?)" : "");
    }
    if (request->json && output->format != OUTPUT_JSON)
        return fail(error, EXIT_CODE_USAGE,
                    "--json and --format %s exclude each other: --json is --format json", given);
    output->colour = output->format == OUTPUT_TEXT && terminal_has_colour(stdout);
    return true;
}

static void print_words(const output *output, const char *before, const char *after,
                        const char *format, va_list arguments)
{
    fputs(before, output->file);
    vfprintf(output->file, format, arguments);
    fputs(after, output->file);
}

void output_heading(const output *output, const char *format, ...)
{
    va_list arguments;
    if (output->format != OUTPUT_TEXT && output->format != OUTPUT_MARKDOWN)
        return;
    bool markdown = output->format == OUTPUT_MARKDOWN;
    va_start(arguments, format);
    print_words(output, markdown ? "\n### " : "\n", markdown ? "\n\n" : "\n", format, arguments);
    va_end(arguments);
}

void output_line(const output *output, const char *format, ...)
{
    va_list arguments;
    if (output->format != OUTPUT_TEXT && output->format != OUTPUT_MARKDOWN)
        return;
    va_start(arguments, format);
    print_words(output, "", output->format == OUTPUT_MARKDOWN ? "  \n" : "\n", format, arguments);
    va_end(arguments);
}

bool output_table(const output *output, table *table, error *error)
{
    bool fine = table != NULL;
    if (fine && output->format == OUTPUT_MARKDOWN)
        fine = table_print_markdown(table, output->file);
    else if (fine && output->format == OUTPUT_TSV)
        fine = table_print_tsv(table, output->file);
    else if (fine)
        fine = table_print(table, output->file);
    table_destroy(table);
    return fine || fail(error, EXIT_CODE_ENVIRONMENT,
                        "standard output: cannot write the table, or memory ran out");
}

bool output_json(const output *output, json_t *json, error *error)
{
    bool fine = json && json_dumpf(json, output->file, JSON_INDENT(1)) == 0 &&
                fputc('\n', output->file) != EOF;
    json_decref(json);
    return fine || fail(error, EXIT_CODE_ENVIRONMENT, "standard output: cannot write JSON");
}
