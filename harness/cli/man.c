/* man pages, in the language of man(7). */
#include "cli/formats.h"
#include <string.h>

/* A hyphen that is typed is a minus to troff; a dot or an apostrophe at the beginning of a line
 * would be a request. */
static void man_text(const char *string, FILE *file)
{
    bool line_begins = true;
    for (; *string; string++) {
        if (line_begins && (*string == '.' || *string == '\''))
            fputs("\\&", file);
        if (*string == '\\')
            fputs("\\e", file);
        else if (*string == '-')
            fputs("\\-", file);
        else
            fputc(*string, file);
        line_begins = *string == '\n';
    }
}

static void man_upper(const char *string, FILE *file)
{
    for (; *string; string++)
        fputc(*string >= 'a' && *string <= 'z' ? *string - 'a' + 'A' : *string, file);
}

static void man_begin(const char *name, const char *brief, FILE *file)
{
    fputs(".\\\" Made from lnbench's own option tables: lnbench help --format man\n.TH ", file);
    man_upper(name, file);
    fputs(" 1 \"2026-11-21\" \"lnbench " LNBENCH_VERSION_STRING "\" \"lnbench\"\n.SH NAME\n", file);
    man_text(name, file);
    fputs(" \\- ", file);
    man_text(brief, file);
    fputs("\n.SH SYNOPSIS\n", file);
}

/* "Exit code: 0 fine; 5 ..." is a section of its own. */
static const char *exit_part(const char *details)
{
    const char *at = details ? strstr(details, "Exit code:") : NULL;
    return at && (at == details || at[-1] == '\n') ? at : NULL;
}

static void man_details(const cli_command *command, const char *codes, FILE *file)
{
    const char *details = command->details;
    man_text(command->summary, file);
    fputc('\n', file);
    if (details && codes != details) {
        fputs(".PP\n", file);
        for (const char *at = details; *at && at != codes; at++)
            man_text((char[]){*at, '\0'}, file);
        if (!codes)
            fputc('\n', file);
    }
}

static void man_option(const char *name, const char *argument, const char *help, FILE *file)
{
    fputs(".TP\n\\fB\\-\\-", file);
    man_text(name, file);
    fputs("\\fR", file);
    if (argument) {
        fputs(" \\fI", file);
        man_text(argument, file);
        fputs("\\fR", file);
    }
    fputc('\n', file);
    man_text(help, file);
    fputc('\n', file);
}

static void man_synopsis(const cli_command *command, FILE *file)
{
    fputs(".B lnbench ", file);
    man_text(command->name, file);
    fputc('\n', file);
    man_text(command->usage, file);
    fputc('\n', file);
}

static void man_options(const cli_command *command, FILE *file)
{
    for (size_t i = 0; i < command->option_count; i++) {
        const cli_option *option = &command->options[i];
        man_option(option->name, option->argument, option->help, file);
    }
}

/* A section of its own, with its exit codes. */
static void man_question(const cli_command *command, FILE *file)
{
    fputs(".SH ", file);
    man_text(question_flag(command), file);
    fputc('\n', file);
    man_synopsis(command, file);
    fputs(".PP\n", file);
    man_details(command, NULL, file);
    man_options(command, file);
}

void man_page(const cli_command *command, FILE *file)
{
    char name[64];
    const char *codes = exit_part(command->details);
    snprintf(name, sizeof name, "lnbench-%s", command->name);
    man_begin(name, command->brief, file);
    man_synopsis(command, file);
    fputs(".SH DESCRIPTION\n", file);
    man_details(command, codes, file);
    fputs(".SH OPTIONS\n", file);
    man_options(command, file);
    for (const cli_command *const *other = command->questions; other && *other; other++)
        man_option(question_flag(*other) + 2, NULL, (*other)->brief, file);
    man_option("help", NULL, "show the options and end", file);
    for (const cli_command *const *other = command->questions; other && *other; other++)
        man_question(*other, file);
    fputs(".SH EXIT STATUS\n", file);
    if (codes) {
        codes += strlen("Exit code:");
        man_text(codes + strspn(codes, " "), file);
    } else {
        fputs("0 fine; 2 usage; 7 files or environment; 130 interrupted.", file);
    }
    fputs("\n141: the reader of standard output went away.\n.SH SEE ALSO\n.BR lnbench (1)\n", file);
}

void man_main_page(command_table commands, size_t count, FILE *file)
{
    man_begin("lnbench", "how fast each LayerNorm kernel is and how wrong, from the same run",
              file);
    fputs(".B lnbench\n.I SUBCOMMAND\n[OPTION...]\n.SH DESCRIPTION\n"
          "Measures the speed and the error of LayerNorm kernels, against a certified reference.\n"
          ".SH SUBCOMMANDS\n",
          file);
    for (size_t i = 0; i < count; i++) {
        fprintf(file, ".TP\n.BR lnbench\\-%s (1)\n", commands[i]->name);
        man_text(commands[i]->brief, file);
        fputc('\n', file);
    }
    fputs(".SH EXIT STATUS\n0 fine, 1 regression, 2 usage, 3 inconclusive, 4 not comparable,\n"
          "5 accuracy violation or a budget that nothing meets, 6 a kernel failed,\n"
          "7 environment or I/O, 130 interrupted, 141 the reader of standard output went away.\n"
          "Where several hold, the first of 2, 7, 6, 4, 5, 1, 3.\n"
          ".SH ENVIRONMENT\n.TP\n.B NO_COLOR\nset to anything: no colour on terminals either\n"
          ".TP\n.B COLUMNS\nthe width that tables fit on a terminal\n",
          file);
}
