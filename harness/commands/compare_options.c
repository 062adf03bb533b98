#include "commands/compare_options.h"
#include "base/files.h"
#include "base/text.h"
#include "base/output.h"
#include <string.h>

/* "2%" or "0.02". */
static double parse_threshold(const char *given)
{
    char *end;
    double value = number_read(given, &end);
    if (end != given && *end == '%') {
        value /= 100;
        end++;
    }
    if (end == given || *end || !(value > 0) || !(value < 1))
        die(EXIT_CODE_USAGE,
            "--threshold %.60s: a share above 0 and below 1 was expected, such as 2%%", given);
    return value;
}

static accuracy_gate parse_gate(const char *given)
{
    const size_t found = word_find(given, WORDS(accuracy_gate_names));
    if (found <= GATE_BOUND)
        return (accuracy_gate)found;
    die(EXIT_CODE_USAGE, "--accuracy %.60s: exact, no-worse or bound was expected", given);
}

static output_format parse_format(const char *option, const char *given, size_t length)
{
    for (size_t i = 0; i < OUTPUT_FORMATS_OF_CI; i++)
        if (strlen(output_format_names[i]) == length &&
            memcmp(given, output_format_names[i], length) == 0)
            return (output_format)i;
    die(EXIT_CODE_USAGE, "%s %.60s: choose " OUTPUT_FORMATS_CI, option, given);
}

/* The format of one --also; *path: where it goes. */
static output_format read_also(const char *also, const char **path)
{
    const char *equals = strchr(also, '=');
    if (!equals || !equals[1])
        die(EXIT_CODE_USAGE, "--also %.60s: FORMAT=FILE was expected", also);
    *path = equals + 1;
    return parse_format("--also", also, (size_t)(equals - also));
}

static void write_also(const run_comparison *comparison, const word_list *also)
{
    for (size_t i = 0; i < also->count; i++) {
        const char *path;
        output_format format = read_also(also->words[i], &path);
        whole_file file;
        whole_file_begin(&file, path);
        comparison_print(comparison, format, file.stream);
        whole_file_end(&file);
    }
}

output_format comparison_read_options(const comparison_options *options,
                                      comparison_settings *settings)
{
    const char *named = options->json ? "json" : options->format, *path;
    settings->confidence = options->confidence;
    settings->all = options->all;
    settings->allow_missing = options->allow_missing;
    settings->speed = settings->accuracy = true;
    if (!(options->confidence >= 0.5 && options->confidence <= 0.9999))
        die(EXIT_CODE_USAGE, "--confidence %g: 0.5 to 0.9999 was expected, such as 0.99",
            options->confidence);
    if (options->only) {
        settings->speed = strcmp(options->only, "speed") == 0;
        settings->accuracy = strcmp(options->only, "accuracy") == 0;
        if (!settings->speed && !settings->accuracy)
            die(EXIT_CODE_USAGE, "--only %.60s: speed or accuracy was expected", options->only);
    }
    settings->threshold = parse_threshold(options->threshold);
    settings->gate = parse_gate(options->gate);
    const output_format format = parse_format("--format", named, strlen(named));
    settings->every_pair = format >= OUTPUT_JSON;
    for (size_t i = 0; i < options->also.count; i++) /* before anything is measured */
        settings->every_pair |= read_also(options->also.words[i], &path) >= OUTPUT_JSON;
    return format;
}

void comparison_show(const run_comparison *comparison, output_format format, const word_list *also)
{
    output_file out = output_standard();
    run_comparison shown = *comparison;
    shown.settings.width = out.width;
    comparison_print(&shown, format, out.file);
    write_also(comparison, also);
}
