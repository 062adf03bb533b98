/* A subcommand's options read into its struct, and the one way in which a subcommand runs. */
#include "commands/options.h"
#include "base/allocate.h"
#include "base/number.h"
#include "base/text.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* --kernel, say, stands for --kernels, in every subcommand. */
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
    for (size_t i = 0; i < command->option_count; i++)
        if (is_named(command->options[i].name, name, length))
            return &command->options[i];
    return NULL;
}

static bool unknown_option(const cli_command *command, const char *given, error *err)
{
    const char *names[64];
    size_t count = 0;
    for (; count < command->option_count && count < 64; count++)
        names[count] = command->options[count].name;
    char name[64];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(given, "="), given);
    for (const former_option *was = command->former; was && was->name; was++)
        if (is_named(was->name, name, strlen(name)))
            return fail(err, EXIT_CODE_USAGE, "--%s of %s was removed: %s", name, command->name,
                        was->instead);
    const char *nearest = nearest_word(name, names, count);
    return fail(err, EXIT_CODE_USAGE, "%s has no option --%.60s%s%s%s: see lnbench %s --help",
                command->name, name, nearest ? " (did you mean --" : "", nearest ? nearest : "",
                nearest ? "?)" : "", command->name);
}

static bool set_count(const cli_option *option, const char *value, uint64_t *target, error *err)
{
    char *end;
    errno = 0;
    unsigned long long count = strtoull(value, &end, 10);
    if (errno || end == value || *end || value[0] == '-' || value[0] == '+')
        return fail(err, EXIT_CODE_USAGE, "--%s %.60s: a whole number was expected", option->name,
                    value);
    *target = count;
    return true;
}

static bool set_real(const cli_option *option, const char *value, double *target, error *err)
{
    double real;
    if (!number_parse(value, strlen(value), &real) || !(real >= 0) || real > 1e300)
        return fail(err, EXIT_CODE_USAGE, "--%s %.60s: a number from 0 was expected", option->name,
                    value);
    if (option->kind == OPTION_SECONDS && real <= 0)
        return fail(err, EXIT_CODE_USAGE, "--%s %g: more than 0 seconds were expected",
                    option->name, real);
    *target = real;
    return true;
}

static bool set_list(const cli_option *option, const char *value, word_list *target, error *err)
{
    if (value[0] == '\0' || strstr(value, ",,") || value[0] == ',' ||
        value[strlen(value) - 1] == ',')
        return fail(err, EXIT_CODE_USAGE, "--%s '%.200s': %s; %s was expected", option->name, value,
                    value[0] ? "an empty part between commas" : "nothing there", option->argument);
    return word_list_split(target, value, err);
}

/* A store's name that was mistyped is found here, before anything is measured. */
static bool set_store(const char *value, const char **target, error *err)
{
    struct stat found;
    const char *slash = strrchr(value, '/');
    char directory[1024];
    snprintf(directory, sizeof directory, "%.*s", slash ? (int)(slash - value) : 1,
             slash ? value : ".");
    if (value[0] == '\0')
        return fail(err, EXIT_CODE_USAGE, "--db: a file name was expected");
    if (slash && slash > value && (stat(directory, &found) != 0 || !S_ISDIR(found.st_mode)) &&
        strcmp(value, DEFAULT_STORE) != 0)
        return fail(err, EXIT_CODE_ENVIRONMENT,
                    "--db %.200s: there is no directory '%.200s' (mkdir -p makes it)", value,
                    directory);
    *target = value;
    return true;
}

static bool set_option(const cli_option *option, const char *value, char *options, error *err)
{
    void *target = options + option->target;
    switch (option->kind) {
    case OPTION_FLAG:
        *(bool *)target = true;
        return true;
    case OPTION_TEXT:
        *(const char **)target = value;
        return true;
    case OPTION_LIST:
        return set_list(option, value, target, err);
    case OPTION_RAW:
        word_list_add(target, value);
        return true;
    case OPTION_COUNT:
        return set_count(option, value, target, err);
    case OPTION_REAL:
    case OPTION_SECONDS:
        return set_real(option, value, target, err);
    case OPTION_STORE:
        return set_store(value, target, err);
    case OPTION_FORMAT:
        return output_choose(target, value, err);
    case OPTION_JSON:
        return output_choose(target, NULL, err);
    }
    return false;
}

static bool is_flag(const cli_option *option)
{
    return option->kind == OPTION_FLAG || option->kind == OPTION_JSON;
}

/* One argument that begins with a dash, and the value behind it; *i goes over what was read. */
static bool read_option(const cli_command *command, char *options, int argc, char **argv, int *i,
                        error *err)
{
    const char *given = argv[*i];
    if (given[1] != '-')
        return fail(err, EXIT_CODE_USAGE,
                    "%s: '%.60s': options begin with two dashes: see lnbench %s --help",
                    command->name, given, command->name);
    size_t length = strcspn(given + 2, "=");
    const cli_option *option = find_option(command, given + 2, length);
    if (!option)
        return unknown_option(command, given + 2, err);
    const char *value = given[2 + length] == '=' ? given + 3 + length : NULL;
    if (is_flag(option) && value)
        return fail(err, EXIT_CODE_USAGE, "--%s takes no value", option->name);
    if (!is_flag(option) && !value) {
        if (*i + 1 == argc)
            return fail(err, EXIT_CODE_USAGE, "--%s needs a value: %s", option->name,
                        option->argument);
        value = argv[++*i];
    }
    return set_option(option, value, options, err);
}

/* *help is set where --help was asked for, and nothing more is read. */
static bool parse_arguments(const cli_command *command, char *options, int argc, char **argv,
                            word_list *operands, bool *help, error *err)
{
    bool only_operands = false;
    for (int i = 1; i < argc; i++) {
        const char *given = argv[i];
        if (strcmp(given, "--help") == 0 || strcmp(given, "-h") == 0)
            return *help = true;
        if (strcmp(given, "--") == 0 && !only_operands) {
            only_operands = true;
        } else if (!only_operands && given[0] == '-' && given[1] != '\0') {
            if (!read_option(command, options, argc, argv, &i, err))
                return false;
        } else if (operands->count == command->most_operands) {
            return fail(err, EXIT_CODE_USAGE, "%s: unexpected '%.200s': see lnbench %s --help",
                        command->name, given, command->name);
        } else {
            word_list_add(operands, given);
        }
    }
    return true;
}

void command_print_help(const cli_command *command, FILE *file)
{
    fprintf(file, "Usage: lnbench %s %s\n\n%s\n", command->name, command->usage, command->summary);
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
    fprintf(file, "  %-29s  %s\n", "--help", "this text");
}

/* What holds of every option of its kind, given or not. */
static bool preset(const cli_command *command, char *options, error *err)
{
    bool fine = true;
    if (command->defaults)
        memcpy(options, command->defaults, command->size);
    for (size_t i = 0; i < command->option_count; i++) {
        void *target = options + command->options[i].target;
        if (command->options[i].kind == OPTION_STORE)
            *(const char **)target = DEFAULT_STORE;
        else if (command->options[i].kind == OPTION_FORMAT)
            fine = fine && output_standard(target, err);
    }
    return fine;
}

static void free_lists(const cli_command *command, char *options)
{
    for (size_t i = 0; i < command->option_count; i++)
        if (command->options[i].kind == OPTION_LIST || command->options[i].kind == OPTION_RAW)
            word_list_free((word_list *)(void *)(options + command->options[i].target));
}

exit_code command_run_with(const cli_command *command, int argc, char **argv, error *err)
{
    word_list operands = {0};
    text_buffer line = {0};
    bool help = false;
    exit_code code = EXIT_CODE_FINE;
    char *options = allocate_zeroed(1, command->size + 1);
    text_add(&line, "lnbench");
    for (int i = 0; i < argc; i++)
        text_format(&line, " %s", argv[i]);
    cli_call call = {&operands, line.bytes};
    if (!preset(command, options, err) ||
        !parse_arguments(command, options, argc, argv, &operands, &help, err))
        code = err->code;
    else if (help)
        command_print_help(command, stdout);
    else
        code = command->body(options, &call, err);
    free_lists(command, options);
    free(options);
    text_free(&line);
    word_list_free(&operands);
    return code;
}
