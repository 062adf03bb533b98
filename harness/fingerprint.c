/* lnbench fingerprint: which convention made this output? */
#include "command.h"
#include "fingerprint_command.h"

typedef struct fingerprint_options {
    fingerprint_files files;
    const char *probe;
    uint64_t digits, x_digits;
    double noise;
    bool all;
    output_request request;
} fingerprint_options;

static const uint64_t not_given = UINT64_MAX;

static bool take_digits(uint64_t given, const char *option, int otherwise, int *digits,
                        error *error)
{
    *digits = given == not_given ? otherwise : (int)(given & 0xff);
    return given == not_given || given <= FINGERPRINT_MOST_DIGITS ||
           fail(error, EXIT_CODE_USAGE, "--%s %llu: 0 to %d decimals were expected", option,
                (unsigned long long)given, FINGERPRINT_MOST_DIGITS);
}

static exit_code find_and_print(void *context, const word_list *operands, error *error)
{
    const fingerprint_options *options = context;
    fingerprint_tensors tensors = {0};
    fingerprint found = {0};
    output out;
    int digits, x_digits;
    (void)operands;
    if (!output_choose(&options->request, &out, error))
        return error->code;
    if (!options->files.x || !options->files.y)
        fail(error, EXIT_CODE_USAGE, "--%s FILE.npy is missing", options->files.x ? "y" : "x");
    if (error->code != EXIT_CODE_FINE ||
        !take_digits(options->digits, "digits", FINGERPRINT_EXACT, &digits, error) ||
        !take_digits(options->x_digits, "x-digits", FINGERPRINT_GUESS, &x_digits, error))
        return error->code;
    bool fine =
        fingerprint_read(&options->files, digits, x_digits, options->noise, &tensors, error) &&
        fingerprint_make(&tensors.input, &found, error) &&
        (out.format == OUTPUT_JSON
             ? fingerprint_print_json(&found, &out, error)
             : fingerprint_print_text(&tensors.input, &found, options->all, &out, error)) &&
        (!options->probe || fingerprint_write_probes(&found, options->probe, error));
    fingerprint_free(&found);
    fingerprint_tensors_free(&tensors);
    return fine ? EXIT_CODE_FINE : error->code;
}

exit_code command_fingerprint(int argc, char **argv, error *error)
{
    fingerprint_options given = {.digits = not_given, .x_digits = not_given, .noise = 2};
    const option options[] = {
        {"x", "FILE.npy", "what went in: f4 or f8, any shape, the last axis is hidden", OPTION_TEXT,
         &given.files.x},
        {"y", "FILE.npy", "what came out, in the shape of x", OPTION_TEXT, &given.files.y},
        {"gamma", "FILE.npy", "hidden elements or one, where there were such", OPTION_TEXT,
         &given.files.gamma},
        {"beta", "FILE.npy", "likewise", OPTION_TEXT, &given.files.beta},
        {"residual", "FILE.npy", "is added to x first, rounded to f32", OPTION_TEXT,
         &given.files.residual},
        {"digits", "D", "y was printed to D decimals", OPTION_COUNT, &given.digits},
        {"x-digits", "D", "so was x (default: as y where it looks so)", OPTION_COUNT,
         &given.x_digits},
        {"noise", "ULP", "with digits: the box's own rounding (default: 2 row ULP)", OPTION_REAL,
         &given.noise},
        {"probe", "FILE.npy", "write the rows that would tell the rest apart", OPTION_TEXT,
         &given.probe},
        {"all", NULL, "the whole ranking", OPTION_FLAG, &given.all},
        OUTPUT_OPTIONS(given.request),
    };
    const subcommand subcommand = {
        "fingerprint",
        "--x FILE.npy --y FILE.npy [OPTION...]",
        "Which convention made this output? Ranks divisors, places and sizes of eps and affine "
        "forms.",
        "Also says what this data cannot tell apart, and proposes rows that can.",
        options,
        sizeof options / sizeof *options,
        0};
    return options_run(&subcommand, argc, argv, find_and_print, &given, error);
}
