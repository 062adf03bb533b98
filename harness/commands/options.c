/* The list of subcommands, the parser of a subcommand's options into its struct, and the function that runs it. */
#include "commands/options.h"
#include "base/arena.h"
#include "base/text.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ---- the subcommands ---- */

#define COMMANDS(one)                                                                              \
    one(run) one(list) one(eval) one(fingerprint) one(choose) one(duet) one(compare) one(hunt)     \
        one(replay) one(report) one(export) one(history) one(import) one(doctor) one(help)

#define DECLARE(name) extern const cli_command command_##name;
COMMANDS(DECLARE)

#define ADDRESS(name) &command_##name,
const cli_command *const commands[] = {COMMANDS(ADDRESS)};
const size_t command_count = sizeof commands / sizeof *commands;

const cli_command *command_find(const char *name)
{
    const char *names[sizeof commands / sizeof *commands];
    for (size_t i = 0; i < command_count; i++) {
        names[i] = commands[i]->name;
        if (strcmp(name, names[i]) == 0)
            return commands[i];
    }
    char meant[MEANT_LENGTH];
    die(EXIT_CODE_USAGE, "no %s '%.60s'%s: see lnbench --help",
        name[0] == '-' ? "option" : "subcommand", name,
        did_you_mean(name, names, command_count, meant));
}

/* ---- the options of a subcommand ---- */

/* Every subcommand accepts the singular of these options too, such as --kernel for --kernels. */
static const char *const plurals[] = {"kernels", "shapes",  "conventions", "dtypes",
                                      "inputs",  "threads", "models"};

static bool is_named(const char *option, const char *name, size_t length)
{
    size_t own = strlen(option);
    return strncmp(option, name, length) == 0 &&
           (own == length || (own == length + 1 && word_is_in(option, WORDS(plurals))));
}

static const cli_option *find_option(const cli_command *command, const char *name, size_t length)
{
    const char *names[64];
    size_t count = 0;
    for (; count < command->option_count && count < 64; count++) {
        names[count] = command->options[count].name;
        if (is_named(names[count], name, length))
            return &command->options[count];
    }
    char given[64];
    snprintf(given, sizeof given, "%.*s", (int)length, name);
    const char *near = nearest_word(given, names, count);
    die(EXIT_CODE_USAGE, "%s has no option --%.60s%s%s%s: see lnbench %s --help", command->name,
        given, near ? " (did you mean --" : "", near ? near : "", near ? "?)" : "", command->name);
}

/* Checks the directory of the store, so that a mistyped name is reported before anything is measured. */
static void set_store(const char *value, const char **target)
{
    struct stat found;
    const char *slash = strrchr(value, '/');
    char directory[1024];
    snprintf(directory, sizeof directory, "%.*s", slash ? (int)(slash - value) : 1,
             slash ? value : ".");
    if (value[0] == '\0')
        die(EXIT_CODE_USAGE, "--db needs the name of a file");
    if (slash && slash > value && (stat(directory, &found) != 0 || !S_ISDIR(found.st_mode)) &&
        strcmp(value, DEFAULT_STORE) != 0)
        die(EXIT_CODE_ENVIRONMENT,
            "--db %.200s: there is no directory '%.200s' (mkdir -p makes it)", value, directory);
    *target = value;
}

/* Reads a value according to the option's kind, into the member of the command's options. */
static void set_option(const cli_option *option, const char *value, char *options)
{
    void *target = options + option->target;
    const char *name = option->name;
    double *real = target;
    char *end;
    switch (option->kind) {
    case OPTION_FLAG:
        *(bool *)target = true;
        break;
    case OPTION_TEXT:
        *(const char **)target = value;
        break;
    case OPTION_LIST:
        if (value[0] == '\0' || strstr(value, ",,") || value[0] == ',' ||
            value[strlen(value) - 1] == ',')
            die(EXIT_CODE_USAGE, "invalid --%s '%.200s': %s: write %s", name, value,
                value[0] ? "an empty part between commas" : "it is empty", option->argument);
        word_list_split(target, value);
        break;
    case OPTION_RAW:
        word_list_add(target, value);
        break;
    case OPTION_COUNT:
        errno = 0;
        *(uint64_t *)target = strtoull(value, &end, 10);
        if (errno || end == value || *end || value[0] == '-' || value[0] == '+')
            die(EXIT_CODE_USAGE, "invalid --%s '%.60s': choose a whole number", name, value);
        break;
    case OPTION_REAL:
    case OPTION_SECONDS:
        if (!number_parse(value, strlen(value), real) || !(*real >= 0) || *real > 1e300)
            die(EXIT_CODE_USAGE, "invalid --%s '%.60s': choose a number from 0", name, value);
        if (option->kind == OPTION_SECONDS && *real <= 0)
            die(EXIT_CODE_USAGE, "invalid --%s %g: choose more than 0 seconds", name, *real);
        break;
    case OPTION_STORE:
        set_store(value, target);
        break;
    case OPTION_FORMAT:
        output_choose(target, value);
        break;
    case OPTION_JSON:
        output_choose(target, NULL);
    }
}

static bool is_flag(const cli_option *option)
{
    return option->kind == OPTION_FLAG || option->kind == OPTION_JSON;
}

/* Reads one argument that begins with a dash, and its value; advances *i past what was read. */
static void read_option(const cli_command *command, char *options, int argc, char **argv, int *i)
{
    const char *given = argv[*i];
    if (given[1] != '-')
        die(EXIT_CODE_USAGE, "%s: '%.60s': options begin with two dashes: see lnbench %s --help",
            command->name, given, command->name);
    size_t length = strcspn(given + 2, "=");
    const cli_option *option = find_option(command, given + 2, length);
    const char *value = given[2 + length] == '=' ? given + 3 + length : NULL;
    if (is_flag(option) && value)
        die(EXIT_CODE_USAGE, "--%s takes no value", option->name);
    if (!is_flag(option) && !value) {
        if (*i + 1 == argc)
            die(EXIT_CODE_USAGE, "--%s needs a value: %s", option->name, option->argument);
        value = argv[++*i];
    }
    set_option(option, value, options);
}

/* Reads the arguments. Returns false if it finds --help; it then reads no further. */
static bool parse_arguments(const cli_command *command, char *options, int argc, char **argv,
                            word_list *operands)
{
    bool only_operands = false;
    for (int i = 1; i < argc; i++) {
        const char *given = argv[i];
        if (strcmp(given, "--help") == 0 || strcmp(given, "-h") == 0)
            return false;
        if (strcmp(given, "--") == 0 && !only_operands)
            only_operands = true;
        else if (!only_operands && given[0] == '-' && given[1] != '\0')
            read_option(command, options, argc, argv, &i);
        else if (operands->count == command->most_operands)
            die(EXIT_CODE_USAGE, "%s: unexpected '%.200s': usage: lnbench %s %s", command->name,
                given, command->name, command->usage);
        else
            word_list_add(operands, given);
    }
    return true;
}

void command_print_help(const cli_command *command, FILE *file)
{
    fprintf(file, "Usage: lnbench %s %s\nExample: lnbench %s\n\n%s\n", command->name,
            command->usage, command->example, command->summary);
    if (command->details)
        fprintf(file, "%s\n", command->details);
    fprintf(file, "\nOptions:\n");
    for (size_t i = 0; i < command->option_count; i++) {
        const cli_option *option = &command->options[i];
        char left[64];
        snprintf(left, sizeof left, "--%s%s%s", option->name, option->argument ? " " : "",
                 option->argument ? option->argument : "");
        fprintf(file, "  %-29s  %s\n", left, option->help);
    }
    fprintf(file, "  %-29s  %s\n", "--help", "show this help");
}

exit_code command_run_with(const cli_command *command, int argc, char **argv)
{
    word_list operands = {0};
    text_buffer line = {0};
    exit_code code = EXIT_CODE_FINE;
    char *options = allocate_zeroed(1, command->size + 1);
    text_add(&line, "lnbench");
    for (int i = 0; i < argc; i++) {
        text_add(&line, " ");
        text_add_shell(&line, argv[i]);
    }
    cli_call call = {&operands, line.bytes};
    if (command->defaults)
        memcpy(options, command->defaults, command->size);
    for (size_t i = 0; i < command->option_count; i++) {
        void *target = options + command->options[i].target;
        if (command->options[i].kind == OPTION_STORE)
            *(const char **)target = DEFAULT_STORE;
        else if (command->options[i].kind == OPTION_FORMAT)
            *(output_file *)target = output_standard();
    }
    if (parse_arguments(command, options, argc, argv, &operands))
        code = command->body(options, &call);
    else
        command_print_help(command, stdout);
    for (size_t i = 0; i < command->option_count; i++)
        if (command->options[i].kind == OPTION_LIST || command->options[i].kind == OPTION_RAW)
            word_list_free((word_list *)(void *)(options + command->options[i].target));
    free(options);
    text_free(&line);
    word_list_free(&operands);
    return code;
}

/* lnbench help SUBCOMMAND: the same as lnbench SUBCOMMAND --help. */
static exit_code help(void *context, const cli_call *call)
{
    (void)context;
    if (call->operands->count == 0)
        die(EXIT_CODE_USAGE, "help with what? lnbench help SUBCOMMAND");
    command_print_help(command_find(call->operands->words[0]), stdout);
    return EXIT_CODE_FINE;
}

const cli_command command_help = {
    .name = "help",
    .brief = "show the options of a subcommand",
    .usage = "[SUBCOMMAND]",
    .example = "help run",
    .summary = "Shows a subcommand's options, as lnbench SUBCOMMAND --help does.",
    .most_operands = 1,
    .body = help,
};
