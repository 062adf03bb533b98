/* lnbench fingerprint: which convention made this output? */
#include "cli/command.h"
#include "commands/fingerprint/command.h"

typedef struct fingerprint_options {
    fingerprint_files files;
    const char *probe;
    uint64_t digits, x_digits;
    double noise;
    bool all;
    output_file printed;
} fingerprint_options;

#define NOT_GIVEN UINT64_MAX

static bool take_digits(uint64_t given, const char *option, int otherwise, int *digits, error *err)
{
    *digits = given == NOT_GIVEN ? otherwise : (int)(given & 0xff);
    return given == NOT_GIVEN || given <= FINGERPRINT_MOST_DIGITS ||
           fail(err, EXIT_CODE_USAGE, "--%s %llu: 0 to %d decimals were expected", option,
                (unsigned long long)given, FINGERPRINT_MOST_DIGITS);
}

static exit_code find_and_print(void *context, const cli_call *call, error *err)
{
    const fingerprint_options *options = context;
    fingerprint_tensors tensors = {0};
    fingerprint found = {0};
    const output_file *out = &options->printed;
    int digits, x_digits;
    (void)call;
    if (!options->files.paths[ROLE_X] || !options->files.paths[ROLE_Y])
        fail(err, EXIT_CODE_USAGE, "--%s FILE.npy is missing",
             options->files.paths[ROLE_X] ? "y" : "x");
    if (err->code != EXIT_CODE_FINE ||
        !take_digits(options->digits, "digits", FINGERPRINT_EXACT, &digits, err) ||
        !take_digits(options->x_digits, "x-digits", FINGERPRINT_GUESS, &x_digits, err))
        return err->code;
    bool fine =
        fingerprint_read(&options->files, digits, x_digits, options->noise, &tensors, err) &&
        fingerprint_make(&tensors.input, &found, err) &&
        (out->format == OUTPUT_JSON
             ? fingerprint_print_json(&found, out, err)
             : fingerprint_print_text(&tensors.input, &found, options->all, out, err)) &&
        (!options->probe || fingerprint_write_probes(&found, options->probe, err));
    fingerprint_free(&found);
    fingerprint_tensors_free(&tensors);
    return fine ? EXIT_CODE_FINE : err->code;
}

static const cli_option options[] = {
    {"x", "FILE.npy", "what went in: f4 or f8, any shape, the last axis is hidden", OPTION_TEXT,
     offsetof(fingerprint_options, files.paths[ROLE_X])},
    {"y", "FILE.npy", "what came out, in the shape of x", OPTION_TEXT,
     offsetof(fingerprint_options, files.paths[ROLE_Y])},
    {"gamma", "FILE.npy", "hidden elements or one, where there were such", OPTION_TEXT,
     offsetof(fingerprint_options, files.paths[ROLE_GAMMA])},
    {"beta", "FILE.npy", "likewise", OPTION_TEXT,
     offsetof(fingerprint_options, files.paths[ROLE_BETA])},
    {"residual", "FILE.npy", "is added to x first, rounded to f32", OPTION_TEXT,
     offsetof(fingerprint_options, files.paths[ROLE_RESIDUAL])},
    {"digits", "D", "y was printed to D decimals", OPTION_COUNT,
     offsetof(fingerprint_options, digits)},
    {"x-digits", "D", "so was x (default: as y where it looks so)", OPTION_COUNT,
     offsetof(fingerprint_options, x_digits)},
    {"noise", "ULP", "with digits: the box's own rounding (default: 2 row ULP)", OPTION_REAL,
     offsetof(fingerprint_options, noise)},
    {"probe", "FILE.npy", "write the rows that would tell the rest apart", OPTION_TEXT,
     offsetof(fingerprint_options, probe)},
    {"all", NULL, "the whole ranking", OPTION_FLAG, offsetof(fingerprint_options, all)},
    OUTPUT_OPTIONS(fingerprint_options, printed),
};

extern const cli_command fingerprint_distance;

const cli_command command_fingerprint = {
    .name = "fingerprint",
    .brief = "which convention made this output?",
    .usage = "--x FILE.npy --y FILE.npy [OPTION...]",
    .summary =
        "Which convention made this output? Ranks divisors, places and sizes of eps and affine "
        "forms.",
    .details = "Also says what this data cannot tell apart, and proposes rows that can.",
    OPTIONS(options),
    DEFAULTS(fingerprint_options, .digits = NOT_GIVEN, .x_digits = NOT_GIVEN, .noise = 2),
    .body = find_and_print,
    QUESTIONS(&fingerprint_distance),
};
