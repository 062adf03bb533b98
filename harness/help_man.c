/* man pages, in the language of man(7). */
#include "help_formats.h"
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

static void man_begin(const char *name, const char *summary, FILE *file)
{
    fputs(".\\\" Made from lnbench's own option tables: lnbench help --format man\n.TH ", file);
    man_upper(name, file);
    fputs(" 1 \"2026-11-21\" \"lnbench " LNBENCH_VERSION_STRING "\" \"lnbench\"\n.SH NAME\n", file);
    man_text(name, file);
    fputs(" \\- ", file);
    /* The name line is a phrase: no full stop, one line. */
    size_t length = strlen(summary);
    for (size_t i = 0; i < length; i++)
        if (summary[i] == '\n')
            fputc(' ', file);
        else if (i + 1 < length || summary[i] != '.')
            man_text((char[]){summary[i], '\0'}, file);
    fputs("\n.SH SYNOPSIS\n", file);
}

/* "Exit code: 0 fine; 5 ..." is a section of its own. */
static const char *exit_part(const char *details)
{
    const char *at = details ? strstr(details, "Exit code:") : NULL;
    return at && (at == details || at[-1] == '\n') ? at : NULL;
}

static void man_details(const subcommand *subcommand, FILE *file)
{
    const char *details = subcommand->details, *codes = exit_part(details);
    fputs(".SH DESCRIPTION\n", file);
    man_text(subcommand->summary, file);
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

void help_man(const subcommand *subcommand, FILE *file)
{
    char name[64];
    const char *codes = exit_part(subcommand->details);
    snprintf(name, sizeof name, "lnbench-%s", subcommand->name);
    man_begin(name, subcommand->summary, file);
    fprintf(file, ".B lnbench %s\n", subcommand->name);
    man_text(subcommand->usage, file);
    fputc('\n', file);
    man_details(subcommand, file);
    fputs(".SH OPTIONS\n", file);
    for (size_t i = 0; i < subcommand->option_count; i++) {
        const option *option = &subcommand->options[i];
        man_option(option->name, option->argument, option->help, file);
    }
    man_option("help", NULL, "show the options and end", file);
    fputs(".SH EXIT STATUS\n", file);
    if (codes) {
        codes += strlen("Exit code:");
        man_text(codes + strspn(codes, " "), file);
        fputc('\n', file);
    } else {
        fputs("0 fine; 2 usage; 7 files or environment; 130 interrupted.\n", file);
    }
    fputs(".SH SEE ALSO\n.BR lnbench (1)\n", file);
}

void help_man_main(const help_entry *entries, size_t count, FILE *file)
{
    man_begin("lnbench", "how fast each LayerNorm kernel is and how wrong, from the same run",
              file);
    fputs(".B lnbench\n.I SUBCOMMAND\n[OPTION...]\n.SH DESCRIPTION\n"
          "Measures the speed and the error of LayerNorm kernels, against a certified reference.\n"
          ".SH SUBCOMMANDS\n",
          file);
    for (size_t i = 0; i < count; i++) {
        fprintf(file, ".TP\n.BR lnbench\\-%s (1)\n", entries[i].name);
        man_text(entries[i].summary, file);
        fputc('\n', file);
    }
    fputs(".SH EXIT STATUS\n0 fine, 1 regression, 2 usage, 3 inconclusive, 4 not comparable,\n"
          "5 accuracy violation or a budget that nothing meets, 6 a kernel failed,\n"
          "7 environment or I/O, 130 interrupted.\n"
          "Where several hold, the first of 2, 7, 6, 4, 5, 1, 3.\n"
          ".SH ENVIRONMENT\n.TP\n.B NO_COLOR\nset to anything: no colour on terminals either\n"
          ".TP\n.B COLUMNS\nthe width that tables fit on a terminal\n",
          file);
}
