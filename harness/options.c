#include "options.h"
#include "number.h"
#include "text.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

bool word_list_add(word_list *list, const char *word, error *error)
{
    char *copy = strdup(word);
    const char **words = realloc(list->words, (list->count + 1) * sizeof *words);
    if (words)
        list->words = words;
    if (!words || !copy) {
        free(copy);
        return fail_memory(error, "a list of words");
    }
    words[list->count++] = copy;
    return true;
}

bool word_list_split(word_list *list, const char *text, error *error)
{
    for (const char *part = text;; part++) {
        size_t length = strcspn(part, ",");
        char *word = strndup(part, length);
        if (!word)
            return fail_memory(error, "a list of words");
        bool fine = length > 0 ? word_list_add(list, word, error)
                               : fail(error, EXIT_CODE_USAGE,
                                      "'%.200s': an empty part between commas", text);
        free(word);
        if (!fine)
            return false;
        part += length;
        if (*part == '\0')
            return true;
    }
}

void word_list_free(word_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        free((char *)list->words[i]);
    free(list->words);
    *list = (word_list){0};
}

static const option *find_option(const subcommand *subcommand, const char *name, size_t length)
{
    for (size_t i = 0; i < subcommand->option_count; i++) {
        const option *option = &subcommand->options[i];
        if (strlen(option->name) == length && strncmp(option->name, name, length) == 0)
            return option;
    }
    return NULL;
}

static bool unknown_option(const subcommand *subcommand, const char *given, error *error)
{
    const char *names[64];
    size_t count = 0;
    for (; count < subcommand->option_count && count < 64; count++)
        names[count] = subcommand->options[count].name;
    char name[64];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(given, "="), given);
    const char *nearest = nearest_word(name, names, count);
    return fail(error, EXIT_CODE_USAGE, "%s has no option --%.60s%s%s%s: see lnbench %s --help",
                subcommand->name, name, nearest ? " (did you mean --" : "", nearest ? nearest : "",
                nearest ? "?)" : "", subcommand->name);
}

static bool set_count(const option *option, const char *value, error *error)
{
    char *end;
    errno = 0;
    unsigned long long count = strtoull(value, &end, 10);
    if (errno || end == value || *end || value[0] == '-' || value[0] == '+')
        return fail(error, EXIT_CODE_USAGE, "--%s %.60s: a whole number was expected", option->name,
                    value);
    *(uint64_t *)option->target = count;
    return true;
}

static bool set_real(const option *option, const char *value, error *error)
{
    double real;
    if (!number_parse(value, strlen(value), &real) || !(real >= 0) || real > 1e300)
        return fail(error, EXIT_CODE_USAGE, "--%s %.60s: a number from 0 was expected",
                    option->name, value);
    *(double *)option->target = real;
    return true;
}

static bool set_list(const option *option, const char *value, error *error)
{
    if (value[0] == '\0' || strstr(value, ",,") || value[0] == ',' ||
        value[strlen(value) - 1] == ',')
        return fail(error, EXIT_CODE_USAGE, "--%s '%.200s': %s; %s was expected", option->name,
                    value, value[0] ? "an empty part between commas" : "nothing there",
                    option->argument);
    return word_list_split(option->target, value, error);
}

static bool set_option(const option *option, const char *value, error *error)
{
    switch (option->kind) {
    case OPTION_FLAG:
        *(bool *)option->target = true;
        return true;
    case OPTION_TEXT:
        *(const char **)option->target = value;
        return true;
    case OPTION_LIST:
        return set_list(option, value, error);
    case OPTION_RAW:
        return word_list_add(option->target, value, error);
    case OPTION_COUNT:
        return set_count(option, value, error);
    case OPTION_REAL:
        return set_real(option, value, error);
    }
    return false;
}

bool options_parse(const subcommand *subcommand, int argc, char **argv, word_list *operands,
                   bool *help, error *error)
{
    bool only_operands = false;
    *help = false;
    for (int i = 1; i < argc; i++) {
        const char *given = argv[i];
        if (strcmp(given, "--help") == 0 || strcmp(given, "-h") == 0) {
            *help = true;
            return true;
        }
        if (strcmp(given, "--") == 0 && !only_operands) {
            only_operands = true;
            continue;
        }
        if (only_operands || given[0] != '-' || given[1] == '\0') {
            if (operands->count == subcommand->most_operands)
                return fail(error, EXIT_CODE_USAGE,
                            "%s: unexpected '%.200s': see lnbench %s --help", subcommand->name,
                            given, subcommand->name);
            if (!word_list_add(operands, given, error))
                return false;
            continue;
        }
        if (given[1] != '-')
            return fail(error, EXIT_CODE_USAGE,
                        "%s: '%.60s': options begin with two dashes: see lnbench %s --help",
                        subcommand->name, given, subcommand->name);
        size_t length = strcspn(given + 2, "=");
        const option *option = find_option(subcommand, given + 2, length);
        if (!option)
            return unknown_option(subcommand, given + 2, error);
        const char *value = given[2 + length] == '=' ? given + 3 + length : NULL;
        if (option->kind == OPTION_FLAG && value)
            return fail(error, EXIT_CODE_USAGE, "--%s takes no value", option->name);
        if (option->kind != OPTION_FLAG && !value) {
            if (i + 1 == argc)
                return fail(error, EXIT_CODE_USAGE, "--%s needs a value: %s", option->name,
                            option->argument);
            value = argv[++i];
        }
        if (!set_option(option, value, error))
            return false;
    }
    return true;
}

static help_writer *writer_of_help;

void options_help_with(help_writer *writer)
{
    writer_of_help = writer;
}

void options_help(const subcommand *subcommand, FILE *file)
{
    if (writer_of_help) {
        writer_of_help(subcommand, file);
        return;
    }
    fprintf(file, "lnbench %s %s\n\n%s\n", subcommand->name, subcommand->usage,
            subcommand->summary);
    if (subcommand->details)
        fprintf(file, "%s\n", subcommand->details);
    fprintf(file, "\nOptions:\n");
    for (size_t i = 0; i < subcommand->option_count; i++) {
        const option *option = &subcommand->options[i];
        char left[64];
        snprintf(left, sizeof left, "--%s%s%s", option->name, option->argument ? " " : "",
                 option->argument ? option->argument : "");
        fprintf(file, "  %-30s %s\n", left, option->help);
    }
    fprintf(file, "  %-30s %s\n", "--help", "this text");
}

/* SIZE_MAX for what is larger still: too large in any case. */
static bool parse_size(const char *text, size_t length, size_t *size)
{
    if (length == 0 || strspn(text, "0123456789") < length)
        return false;
    *size = 0;
    for (size_t i = 0; i < length; i++)
        if (__builtin_mul_overflow(*size, (size_t)10, size) ||
            __builtin_add_overflow(*size, (size_t)(text[i] - '0'), size)) {
            *size = SIZE_MAX;
            return true;
        }
    return true;
}

bool shape_parse(const char *text, size_t *rows, size_t *hidden, error *error)
{
    const char *times = strchr(text, 'x');
    size_t elements;
    if (!times || !parse_size(text, (size_t)(times - text), rows) ||
        !parse_size(times + 1, strlen(times + 1), hidden))
        return fail(error, EXIT_CODE_USAGE,
                    "shape '%.60s': ROWSxHIDDEN was expected, as in 512x768", text);
    if (*rows == 0 || *hidden == 0)
        return fail(error, EXIT_CODE_USAGE, "shape '%.60s': rows and hidden must be at least 1",
                    text);
    if (__builtin_mul_overflow(*rows, *hidden, &elements) || elements > (SIZE_MAX >> 24))
        return fail(error, EXIT_CODE_USAGE, "shape '%.60s': rows times hidden is too large", text);
    return true;
}

bool seconds_check(const char *option, double seconds, error *error)
{
    return seconds > 0 || fail(error, EXIT_CODE_USAGE, "--%s %g: more than 0 seconds were expected",
                               option, seconds);
}

exit_code options_run(const subcommand *subcommand, int argc, char **argv, command_body *body,
                      void *context, error *error)
{
    word_list operands = {0};
    bool help;
    exit_code code = EXIT_CODE_FINE;
    if (!options_parse(subcommand, argc, argv, &operands, &help, error))
        code = error->code;
    else if (help)
        options_help(subcommand, stdout);
    else
        code = body(context, &operands, error);
    word_list_free(&operands);
    return code;
}
