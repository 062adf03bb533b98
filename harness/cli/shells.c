/* Completions for bash, zsh and fish. Each shell asks lnbench itself for what only it knows
 * (kernels, models, runs): lnbench list WHAT --format tsv, of which it takes plain words alone,
 * since shells read more than words into $ and backquotes. */
#include "cli/formats.h"
#include <string.h>

enum { WORDS_SIZE = 256 };

/* "kernels|conventions|... [OPTION...]": the words that an operand may be; "" where it has none. */
static void operand_words(const cli_command *command, char *words, size_t size)
{
    char first[WORDS_SIZE];
    snprintf(first, sizeof first, "%.*s", (int)strcspn(command->usage, " "), command->usage);
    words[0] = '\0';
    if (command->most_operands > 0 && strchr(first, '|'))
        option_value_words(first, ' ', words, size);
}

/* What lnbench lists of the operands: runs of BASE NEW; NULL: nothing. */
static const char *operand_listed(const cli_command *command)
{
    return strncmp(command->usage, "BASE ", 5) == 0 ? "runs" : NULL;
}

static bool takes_list(const cli_option *option)
{
    return option->kind == OPTION_LIST || option->kind == OPTION_RAW;
}

/* The options of a subcommand, and behind them the flags of its questions and what those take besides.
 * A shell proposes them all. Returns how many there are. */
enum { MOST_OPTIONS = 96 };
static size_t all_options(const cli_command *command, cli_option all[MOST_OPTIONS])
{
    size_t count = 0;
    for (size_t i = 0; i < command->option_count; i++)
        all[count++] = command->options[i];
    for (const cli_command *const *other = command->questions; other && *other; other++) {
        all[count++] =
            (cli_option){question_flag(*other) + 2, NULL, (*other)->brief, OPTION_FLAG, 0};
        for (size_t i = 0; i < (*other)->option_count && count < MOST_OPTIONS - 1; i++) {
            bool there = false;
            for (size_t k = 0; k < count; k++)
                there |= strcmp(all[k].name, (*other)->options[i].name) == 0;
            if (!there)
                all[count++] = (*other)->options[i];
        }
    }
    return count;
}

/* ---- bash ---- */

static void names(command_table commands, size_t count, const char *separator, FILE *file)
{
    for (size_t i = 0; i < count; i++)
        fprintf(file, "%s%s", i ? separator : "", commands[i]->name);
}

static void bash_begin(command_table commands, size_t count, FILE *file)
{
    fputs(
        "# Completion of lnbench for bash, made from its own option tables:\n"
        "# lnbench help --format bash\n\n"
        "# The words of $1, where the last part of a list a,b,c is meant with $2.\n"
        "_lnbench_words() {\n"
        "    local before=\n"
        "    [[ $2 && $cur == *,* ]] && before=${cur%,*},\n"
        "    mapfile -t COMPREPLY < <(compgen -P \"$before\" -W \"$1\" -- \"${cur#\"$before\"}\")\n"
        "}\n\n"
        "_lnbench_listed() {\n"
        "    lnbench list \"$1\" --format tsv 2>/dev/null | tail -n +2 | cut -f 1\n"
        "}\n\n"
        "_lnbench_files() {\n"
        "    compopt -o filenames 2>/dev/null\n"
        "    mapfile -t COMPREPLY < <(compgen \"-$1\" -- \"$cur\")\n"
        "}\n\n"
        "_lnbench() {\n"
        "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]}\n"
        "    # bash takes --option=value for three words.\n"
        "    if [[ $cur == = ]]; then\n"
        "        cur=\n"
        "    elif [[ $prev == = ]]; then\n"
        "        prev=${COMP_WORDS[COMP_CWORD - 2]}\n"
        "    fi\n"
        "    if ((COMP_CWORD == 1)); then\n"
        "        _lnbench_words \"",
        file);
    names(commands, count, " ", file);
    fputs(" --help --version\"\n        return\n    fi\n    case ${COMP_WORDS[1]} in\n", file);
}

static void bash_value(const cli_option *option, FILE *file)
{
    char words[WORDS_SIZE];
    const char *list = takes_list(option) ? " list" : "";
    fprintf(file, "        --%s", option->name);
    if (option_has_singular(option))
        fprintf(file, " | --%.*s", (int)strlen(option->name) - 1, option->name);
    fputs(")\n            ", file);
    switch (option_value_kind(option)) {
    case VALUE_NONE:
    case VALUE_ANY:
        fputs(":", file);
        break;
    case VALUE_WORDS:
        option_value_words(option->argument, ' ', words, sizeof words);
        fprintf(file, "_lnbench_words \"%s\"%s", words, list);
        break;
    case VALUE_LISTED:
        fprintf(file, "_lnbench_words \"$(_lnbench_listed %s)\"%s", option_value_listed(option),
                list);
        break;
    case VALUE_FILE:
        fputs("_lnbench_files f", file);
        break;
    case VALUE_DIRECTORY:
        fputs("_lnbench_files d", file);
        break;
    }
    fputs("\n            return\n            ;;\n", file);
}

static void bash_command(const cli_command *command, FILE *file)
{
    char words[WORDS_SIZE];
    cli_option all[MOST_OPTIONS];
    size_t count = all_options(command, all);
    fprintf(file, "    %s)\n        case $prev in\n", command->name);
    for (size_t i = 0; i < count; i++)
        if (all[i].argument)
            bash_value(&all[i], file);
    fputs("        esac\n        _lnbench_words \"", file);
    operand_words(command, words, sizeof words);
    fputs(words, file);
    if (operand_listed(command))
        fprintf(file, "$(_lnbench_listed %s) ", operand_listed(command));
    for (size_t i = 0; i < count; i++)
        fprintf(file, "%s--%s", i || words[0] ? " " : "", all[i].name);
    fputs(" --help\"\n        ;;\n", file);
}

void bash_completion(command_table commands, size_t count, FILE *file)
{
    bash_begin(commands, count, file);
    for (size_t i = 0; i < count; i++)
        bash_command(commands[i], file);
    fputs("    esac\n}\n\ncomplete -F _lnbench lnbench\n", file);
}

/* ---- zsh ---- */

/* Inside '...[...]': quotes, brackets and colons are syntax of zsh's _arguments. */
static void zsh_text(const char *string, FILE *file)
{
    for (; *string; string++) {
        if (*string == '\'')
            fputs("'\\''", file);
        else if (strchr("[]:\\", *string))
            fprintf(file, "\\%c", *string);
        else
            fputc(*string == '\n' ? ' ' : *string, file);
    }
}

static void zsh_begin(command_table commands, size_t count, FILE *file)
{
    fputs("#compdef lnbench\n# Completion of lnbench for zsh, made from its own option tables:\n"
          "# lnbench help --format zsh\n\n"
          "_lnbench_listed() {\n"
          "    local -a values\n"
          "    values=(${(f)\"$(lnbench list $1 --format tsv 2>/dev/null | tail -n +2 | cut -f "
          "1)\"})\n"
          "    (($#values)) && _values ${@[2,-1]} $1 $values\n"
          "}\n\n"
          "_lnbench() {\n"
          "    local context state state_descr line\n"
          "    typeset -A opt_args\n"
          "    local -a commands\n"
          "    commands=(\n",
          file);
    for (size_t i = 0; i < count; i++) {
        fprintf(file, "        '%s:", commands[i]->name);
        zsh_text(commands[i]->brief, file);
        fputs("'\n", file);
    }
    fputs("    )\n"
          "    _arguments -C '(- *)--help[help]' '(- *)--version[version]' '1: :->command' "
          "'*:: :->rest'\n"
          "    case $state in\n"
          "    command) _describe -t commands subcommand commands ;;\n"
          "    rest)\n"
          "        case $words[1] in\n",
          file);
}

/* An action that begins with a space is called as it stands, without options of _arguments. */
static void zsh_option(const cli_option *option, bool singular, FILE *file)
{
    char words[WORDS_SIZE];
    fprintf(file, " \\\n                '%s%s--%.*s%s[", singular ? "!" : "",
            takes_list(option) ? "*" : "", (int)strlen(option->name) - singular, option->name,
            option->argument ? "=" : "");
    zsh_text(option->help, file);
    fputc(']', file);
    if (option->argument) {
        fputc(':', file);
        zsh_text(option->argument, file);
        fputc(':', file);
    }
    switch (option_value_kind(option)) {
    case VALUE_NONE:
        break;
    case VALUE_ANY:
        fputc(' ', file);
        break;
    case VALUE_WORDS:
        option_value_words(option->argument, ' ', words, sizeof words);
        if (takes_list(option))
            fprintf(file, " _values -s , value %s", words);
        else
            fprintf(file, "(%s)", words);
        break;
    case VALUE_LISTED:
        fprintf(file, " _lnbench_listed %s%s", option_value_listed(option),
                takes_list(option) ? " -s ," : "");
        break;
    case VALUE_FILE:
        fputs("_files", file);
        break;
    case VALUE_DIRECTORY:
        fputs("_files -/", file);
        break;
    }
    fputc('\'', file);
}

static void zsh_command(const cli_command *command, FILE *file)
{
    char words[WORDS_SIZE];
    cli_option all[MOST_OPTIONS];
    size_t count = all_options(command, all);
    operand_words(command, words, sizeof words);
    fprintf(file, "        %s)\n            _arguments", command->name);
    if (words[0])
        fprintf(file, " \\\n                '1:what:(%s)'", words);
    if (operand_listed(command))
        fprintf(file, " \\\n                '*:run: _lnbench_listed %s'", operand_listed(command));
    for (size_t i = 0; i < count; i++) {
        zsh_option(&all[i], false, file);
        if (option_has_singular(&all[i]))
            zsh_option(&all[i], true, file);
    }
    fputs(" \\\n                '--help[show the options and end]'\n            ;;\n", file);
}

void zsh_completion(command_table commands, size_t count, FILE *file)
{
    zsh_begin(commands, count, file);
    for (size_t i = 0; i < count; i++)
        zsh_command(commands[i], file);
    fputs("        esac\n        ;;\n    esac\n}\n\n"
          "if [[ $zsh_eval_context[-1] == loadautofunc ]]; then\n    _lnbench \"$@\"\n"
          "else\n    compdef _lnbench lnbench\nfi\n",
          file);
}

/* ---- fish ---- */

static void fish_text(const char *string, FILE *file)
{
    for (; *string; string++) {
        if (*string == '\'' || *string == '\\')
            fputc('\\', file);
        fputc(*string == '\n' ? ' ' : *string, file);
    }
}

static void fish_begin(command_table commands, size_t count, FILE *file)
{
    fputs("# Completion of lnbench for fish, made from its own option tables:\n"
          "# lnbench help --format fish\n\n"
          "function __lnbench_listed\n"
          "    lnbench list $argv[1] --format tsv 2>/dev/null | tail -n +2 | cut -f 1 |\n"
          "        string match -r '^[A-Za-z0-9_.-]+$'\n"
          "end\n\n"
          "complete -c lnbench -f\n"
          "complete -c lnbench -n __fish_use_subcommand -l version -d 'show the version'\n"
          "complete -c lnbench -l help -d 'show the options and end'\n",
          file);
    for (size_t i = 0; i < count; i++) {
        fprintf(file, "complete -c lnbench -n __fish_use_subcommand -a %s -d '", commands[i]->name);
        fish_text(commands[i]->brief, file);
        fputs("'\n", file);
    }
}

static void fish_value(const cli_option *option, FILE *file)
{
    char words[WORDS_SIZE];
    switch (option_value_kind(option)) {
    case VALUE_NONE:
        break;
    case VALUE_ANY:
        fputs(" -x", file);
        break;
    case VALUE_WORDS:
        option_value_words(option->argument, ' ', words, sizeof words);
        fprintf(file, takes_list(option) ? " -x -a '(__fish_append , %s)'" : " -x -a '%s'", words);
        break;
    case VALUE_LISTED:
        fprintf(file,
                takes_list(option) ? " -x -a '(__fish_append , (__lnbench_listed %s))'"
                                   : " -x -a '(__lnbench_listed %s)'",
                option_value_listed(option));
        break;
    case VALUE_FILE:
        fputs(" -r -F", file);
        break;
    case VALUE_DIRECTORY:
        fputs(" -x -a '(__fish_complete_directories)'", file);
        break;
    }
}

static void fish_command(const cli_command *command, FILE *file)
{
    char words[WORDS_SIZE];
    cli_option all[MOST_OPTIONS];
    size_t count = all_options(command, all);
    fputc('\n', file);
    operand_words(command, words, sizeof words);
    if (operand_listed(command))
        fprintf(file,
                "complete -c lnbench -n '__fish_seen_subcommand_from %s' -a '(__lnbench_listed "
                "%s)'\n",
                command->name, operand_listed(command));
    if (words[0])
        fprintf(file, "complete -c lnbench -n '__fish_seen_subcommand_from %s' -a '%s'\n",
                command->name, words);
    for (size_t i = 0; i < count; i++) {
        const cli_option *option = &all[i];
        fprintf(file, "complete -c lnbench -n '__fish_seen_subcommand_from %s' -l %s",
                command->name, option->name);
        fish_value(option, file);
        fputs(" -d '", file);
        fish_text(option->help, file);
        fputs("'\n", file);
    }
}

void fish_completion(command_table commands, size_t count, FILE *file)
{
    fish_begin(commands, count, file);
    for (size_t i = 0; i < count; i++)
        fish_command(commands[i], file);
}
