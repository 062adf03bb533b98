#include "commands/compare_options.h"
#include "base/files.h"
#include "base/number.h"
#include "base/output.h"
#include "base/table.h"
#include <string.h>

/* "2%" or "0.02". */
static bool parse_threshold(const char *given, double *threshold, error *err)
{
    char *end;
    double value = number_read(given, &end);
    if (end != given && *end == '%') {
        value /= 100;
        end++;
    }
    if (end == given || *end || !(value > 0) || !(value < 1))
        return fail(err, EXIT_CODE_USAGE,
                    "--threshold %.60s: a share above 0 and below 1 was expected, such as 2%%",
                    given);
    *threshold = value;
    return true;
}

static bool parse_gate(const char *given, accuracy_gate *gate, error *err)
{
    for (int i = GATE_NO_WORSE; i <= GATE_BOUND; i++) {
        *gate = (accuracy_gate)i;
        if (strcmp(given, accuracy_gate_name(*gate)) == 0)
            return true;
    }
    return fail(err, EXIT_CODE_USAGE, "--accuracy %.60s: exact, no-worse or bound was expected",
                given);
}

static bool parse_format(const char *option, const char *given, size_t length,
                         output_format *format, error *err)
{
    for (size_t i = 0; i < OUTPUT_FORMATS_OF_CI; i++) {
        *format = (output_format)i;
        if (strlen(table_forms[i].name) == length &&
            memcmp(given, table_forms[i].name, length) == 0)
            return true;
    }
    return fail(err, EXIT_CODE_USAGE, "%s %.60s: choose " OUTPUT_FORMATS_CI, option, given);
}

/* Every --also FORMAT=FILE is looked at before anything is measured. */
static bool check_also(const word_list *also, error *err)
{
    output_format format;
    for (size_t i = 0; i < also->count; i++) {
        const char *equals = strchr(also->words[i], '=');
        if (!equals || !equals[1])
            return fail(err, EXIT_CODE_USAGE, "--also %.60s: FORMAT=FILE was expected",
                        also->words[i]);
        if (!parse_format("--also", also->words[i], (size_t)(equals - also->words[i]), &format,
                          err))
            return false;
    }
    return true;
}

static bool write_also(const run_comparison *comparison, const word_list *also, error *err)
{
    for (size_t i = 0; i < also->count; i++) {
        const char *equals = strchr(also->words[i], '=');
        output_format format;
        if (!parse_format("--also", also->words[i], (size_t)(equals - also->words[i]), &format,
                          err))
            return false;
        whole_file file;
        if (!whole_file_begin(&file, equals + 1, err))
            return false;
        bool fine = comparison_print(comparison, format, file.stream) || ferror(file.stream) ||
                    fail_memory(err, equals + 1);
        if (!whole_file_end(&file, fine, err) || !fine)
            return false;
    }
    return true;
}

bool comparison_read_options(const comparison_options *options, comparison_settings *settings,
                             output_format *format, error *err)
{
    const char *named = options->json ? "json" : options->format;
    settings->confidence = options->confidence;
    settings->all = options->all;
    settings->allow_missing = options->allow_missing;
    settings->speed = settings->accuracy = true;
    if (!(options->confidence >= 0.5 && options->confidence <= 0.9999))
        return fail(err, EXIT_CODE_USAGE,
                    "--confidence %g: 0.5 to 0.9999 was expected, such as 0.99",
                    options->confidence);
    if (options->only) {
        settings->speed = strcmp(options->only, "speed") == 0;
        settings->accuracy = strcmp(options->only, "accuracy") == 0;
        if (!settings->speed && !settings->accuracy)
            return fail(err, EXIT_CODE_USAGE, "--only %.60s: speed or accuracy was expected",
                        options->only);
    }
    return parse_threshold(options->threshold, &settings->threshold, err) &&
           parse_gate(options->gate, &settings->gate, err) &&
           parse_format("--format", named, strlen(named), format, err) &&
           check_also(&options->also, err);
}

bool comparison_show(const run_comparison *comparison, output_format format, const word_list *also,
                     error *err)
{
    output_file out;
    if (!output_standard(&out, err))
        return false;
    run_comparison shown = *comparison;
    shown.settings.width = out.width;
    if (!comparison_print(&shown, format, out.file))
        return fail(err, EXIT_CODE_ENVIRONMENT, "standard output: cannot write");
    return write_also(comparison, also, err);
}
