/* lnbench fingerprint: which function made this output? */
#include "base/allocate.h"
#include "base/text.h"
#include "commands/options.h"
#include "show/run_view.h"
#include "commands/tensors.h"
#include "domain/convention.h"
#include <math.h>
#include <string.h>

typedef struct fingerprint_options {
    const char *paths[ROLES_MOST]; /* by role */
    const char *probe, *dtype;
    uint64_t digits, x_digits;
    bool all;
    output_file printed;
} fingerprint_options;

enum { SHOWN = 12 };
#define NOT_GIVEN UINT64_MAX

/* ---- what is printed ---- */

static relation *candidates_relation(const fingerprint_found *found, size_t most)
{
    static const relation_column columns[] = {
        COLUMN("function", "function"), FOR_PROGRAMS("convention"), COLUMN("eps from", "eps_low"),
        COLUMN("to", "eps_high"),       COLUMN("or", "also"),
    };
    relation *rows = relation_create(COLUMNS(columns));
    for (size_t i = 0; i < found->count && i < most; i++) {
        const fingerprint_candidate *one = &found->candidates[i];
        char label[CONVENTION_MAX_LENGTH];
        bool has_eps = one->kind == KIND_NORMALISED;
        relation_row(rows, as_text(one->words),
                     as_text(has_eps ? convention_label(&one->convention, label) : NULL),
                     as_figure(has_eps ? one->eps_low : NAN),
                     as_figure(has_eps && isfinite(one->eps_high) ? one->eps_high : NAN),
                     as_text(*one->also ? one->also : NULL));
    }
    return rows;
}

static json_t *probe_json(const fingerprint_found *found, size_t hidden)
{
    if (found->probe == 0)
        return json_null();
    json_t *row = json_array();
    for (size_t i = 0; i < hidden; i++)
        json_array_append_new(row,
                              json_real((double)fingerprint_probe_value(found->probe, hidden, i)));
    return row;
}

static json_t *found_json(const fingerprint_found *found, size_t hidden)
{
    return json_pack("{s:s, s:s, s:o, s:I, s:I, s:I, s:o, s:I, s:I}", "schema",
                     "lnbench-fingerprint-2", "answer", fingerprint_answer_name(found->answer),
                     "candidates", relation_json(candidates_relation(found, SIZE_MAX)), "tried",
                     (json_int_t)found->tried, "rows", (json_int_t)found->rows, "rows_told",
                     (json_int_t)found->told, "row", probe_json(found, hidden), "pairs",
                     (json_int_t)found->pairs, "pairs_left", (json_int_t)found->pairs_left);
}

static void print_none(const fingerprint_input *input, const fingerprint_found *found,
                       const output_file *out)
{
    int digits =
        input->digits == FINGERPRINT_EXACT ? fingerprint_printed_digits(input) : FINGERPRINT_EXACT;
    output_line(out, "none: no candidate (eps up to 1/64) explains y%s",
                input->gamma || input->beta ? ""
                                            : "; if the black box has gamma or beta, give them");
    if (found->last_row == 0)
        output_line(out, "Row 0 alone rules out all over the last axis");
    else
        output_line(out, "Over the last axis it takes rows 0 to %zu to rule out all",
                    found->last_row);
    if (digits != FINGERPRINT_EXACT)
        output_line(out, "y looks rounded to %d decimals: ask with --digits %d", digits, digits);
}

static void print_answer(const fingerprint_input *input, const fingerprint_found *found,
                         const output_file *out)
{
    const size_t hidden = input->shape[input->dimensions - 1];
    char said[2 * FINGERPRINT_WORDS], form[96];
    snprintf(form, sizeof form, "in %s", dtype_name(input->y_type));
    if (input->digits != FINGERPRINT_EXACT)
        snprintf(form, sizeof form, "printed to %d decimals; x %s", input->digits,
                 input->x_digits == FINGERPRINT_EXACT ? "taken as exact (--x-digits D if it is not)"
                                                      : "too");
    output_line(out, "%zu row%s of %zu; y %s; %zu candidates", found->rows,
                found->rows == 1 ? "" : "s", hidden, form, found->tried);
    if (found->told < found->rows && found->answer != ANSWER_NONE)
        output_line(out,
                    "%zu of the rows tell nothing: sums may be off by more than they hold, or x is "
                    "not finite there",
                    found->rows - found->told);
    if (found->answer == ANSWER_NONE)
        print_none(input, found, out);
    else if (found->answer == ANSWER_NAMED)
        output_line(out, "%s", fingerprint_say(found, said, sizeof said));
    else
        output_line(out, "open: %zu candidate%s y%s", found->count,
                    found->count == 1 ? " explains" : "s explain",
                    found->count == 1 ? ", with any eps of a range" : "");
    if (found->probe != 0)
        output_text(out,
                    "One more row would %s: +-%.9g in turn%s\n"
                    "--probe FILE.npy writes it: append it to x, run your box, ask again\n",
                    found->pairs_left == 0 ? "decide if eps is a usual one" : "leave fewer",
                    (double)found->probe, hidden % 2 ? ", 0 at the end" : "");
}

static void print_text(const fingerprint_input *input, const fingerprint_found *found, bool all,
                       const output_file *out)
{
    const bool fenced = out->format == OUTPUT_MARKDOWN;
    const size_t most = all || output_is_data(out) ? SIZE_MAX : SHOWN;
    output_file plain = *out;
    plain.format = fenced ? OUTPUT_TEXT : out->format;
    output_text(&plain, fenced ? "```\n" : "");
    print_answer(input, found, &plain);
    output_text(&plain, fenced ? "```\n\n" : "\n");
    if (found->count > 0)
        relation_print(candidates_relation(found, most), out);
    if (found->count > most)
        output_line(out, "... %zu more: --all", found->count - most);
}

/* Writes nothing where no row tells: that is an answer too. */
static void write_probe(const fingerprint_found *found, size_t hidden, const char *path,
                        const output_file *out)
{
    const size_t shape[2] = {1, hidden};
    if (found->probe == 0) {
        output_line(out, "%s was not written: %s", path,
                    found->answer == ANSWER_OPEN ? "no row tells the rest apart"
                                                 : "nothing is left to tell apart");
        return;
    }
    float *row = allocate(hidden * sizeof *row);
    for (size_t i = 0; i < hidden; i++)
        row[i] = fingerprint_probe_value(found->probe, hidden, i);
    npy_write(path, LN_F32, 2, shape, row);
    free(row);
}

/* ---- the command ---- */

static int read_digits(uint64_t given, const char *option, int otherwise)
{
    if (given == NOT_GIVEN)
        return otherwise;
    if (given > FINGERPRINT_MOST_DIGITS)
        die(EXIT_CODE_USAGE, "--%s %llu: 0 to %d decimals were expected", option,
            (unsigned long long)given, FINGERPRINT_MOST_DIGITS);
    return (int)given;
}

static exit_code find_and_print(void *context, const cli_call *call)
{
    const fingerprint_options *options = context;
    const output_file *out = &options->printed;
    const tensor_request like = {.u2_is_bf16 = options->dtype != NULL};
    tensor_array arrays[ROLES_MOST] = {0};
    arena memory = {0};
    fingerprint_found found = {0};
    (void)call;
    if (!options->paths[ROLE_X] || !options->paths[ROLE_Y])
        die(EXIT_CODE_USAGE, "--%s FILE is missing", options->paths[ROLE_X] ? "y" : "x");
    if (options->dtype && strcmp(options->dtype, "bf16") != 0)
        die(EXIT_CODE_USAGE, "--dtypes %.60s: bf16 was expected", options->dtype);
    fingerprint_input input = {.digits = read_digits(options->digits, "digits", FINGERPRINT_EXACT),
                               .x_digits =
                                   read_digits(options->x_digits, "x-digits", FINGERPRINT_GUESS)};
    tensors_read(&memory, operations[LN_OPERATION_LAYERNORM], options->paths, &like, true, arrays);
    fingerprint_take(&memory, arrays, options->paths, &input);
    fingerprint_make(&input, &found);
    const size_t hidden = input.shape[input.dimensions - 1];
    if (out->format == OUTPUT_JSON)
        output_json(out, found_json(&found, hidden));
    else
        print_text(&input, &found, options->all, out);
    if (options->probe)
        write_probe(&found, hidden, options->probe, out);
    exit_code code = fingerprint_exit_code(found.answer);
    fingerprint_free(&found);
    arena_free(&memory);
    return code;
}

static const cli_option options[] = {
    {"x", "FILE", "what went in, of any shape; the last axis is hidden", OPTION_TEXT,
     offsetof(fingerprint_options, paths[ROLE_X])},
    {"y", "FILE", "what came out, in the shape of x", OPTION_TEXT,
     offsetof(fingerprint_options, paths[ROLE_Y])},
    {"gamma", "FILE", "gamma, if there was one: one element, or those of an axis", OPTION_TEXT,
     offsetof(fingerprint_options, paths[ROLE_GAMMA])},
    {"beta", "FILE", "beta, if there was one, as gamma", OPTION_TEXT,
     offsetof(fingerprint_options, paths[ROLE_BETA])},
    {"residual", "FILE", "is added to x first", OPTION_TEXT,
     offsetof(fingerprint_options, paths[ROLE_RESIDUAL])},
    {"dtypes", "bf16", "the type that u2 files hold (other files say it)", OPTION_TEXT,
     offsetof(fingerprint_options, dtype)},
    {"digits", "D", "y was printed to D decimals", OPTION_COUNT,
     offsetof(fingerprint_options, digits)},
    {"x-digits", "D", "x was printed to D decimals (default: found from x and y)", OPTION_COUNT,
     offsetof(fingerprint_options, x_digits)},
    {"probe", "FILE.npy", "write one more row that tells the candidates apart best", OPTION_TEXT,
     offsetof(fingerprint_options, probe)},
    {"all", NULL, "every candidate that explains y", OPTION_FLAG,
     offsetof(fingerprint_options, all)},
    OUTPUT_OPTIONS(fingerprint_options, printed),
};

const cli_command command_fingerprint = {
    .name = "fingerprint",
    .brief = "which function made this output?",
    .usage = "--x FILE --y FILE [OPTION...]",
    .example = "fingerprint --x x.npy --y y.npy",
    .summary =
        "Which function made this output? Tries LayerNorm and RMSNorm under every convention.",
    .details =
        "FILE is FILE.npy, FILE.npz:NAME or FILE.safetensors:NAME, of f4, f8, f2 or bf16\n"
        "(docs/inputs.md). Other axes, other uses of gamma and beta, and other places to\n"
        "round are tried too. The answer is one function, several that explain y (open), or\n"
        "none. The function that made y is never left out if it is among the candidates,\n"
        "whose eps is at most 1/64 (docs/conventions.md).\n"
        "Exit code: 0 named; 2 usage; 3 open; 5 none; 7 files or environment.",
    OPTIONS(options),
    DEFAULTS(fingerprint_options, .digits = NOT_GIVEN, .x_digits = NOT_GIVEN),
    .body = find_and_print,
};
