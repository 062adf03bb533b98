/* lnbench eval --tolerance: what rtol and atol tell a right implementation from a wrong one? */
#include "cli/command.h"
#include "answer/run_view.h"
#include "commands/eval/read.h"
#include "domain/convention.h"
#include "judge/tolerance.h"
#include <math.h>

typedef struct tolerance_options {
    eval_files files;
    const char *convention;
    uint64_t seed;
    output_file printed;
} tolerance_options;

/* Whether allclose() tells this one: as much atol as right ones may need, or as usual ones do. */
static relation_value as_told(const tolerance *found, const tolerance_mistake *mistake)
{
    return mistake->atol > found->likely ? as_text("yes")
           : mistake->atol > 2 * found->usual
               ? as_format("with an atol below %.2g alone", mistake->atol)
               : as_text("no: too near for these rows");
}

static bool print_tolerance(const tolerance *found, const output_file *out, error *err)
{
    static const relation_column columns[] = {
        COLUMN("implementation", "implementation"),
        FOR_PROGRAMS("rtol"),
        COLUMN("atol", "atol"),
        COLUMN("told by allclose", "told"),
    };
    const struct {
        const char *words;
        double atol;
    } right[] = {{"right, any order of sums", found->certain},
                 {"right, with probability 1 - 1e-9", found->likely},
                 {"right, as textbooks have it", found->usual}};
    relation *rows = relation_create(COLUMNS(columns));
    for (size_t i = 0; i < sizeof right / sizeof *right; i++)
        relation_row(rows, as_text(right[i].words), as_figure(found->rtol),
                     as_figure(right[i].atol), as_text(NULL));
    for (size_t i = 0; i < found->count; i++)
        relation_row(rows, as_text(found->mistakes[i].words), as_figure(found->rtol),
                     as_figure(found->mistakes[i].atol), as_told(found, &found->mistakes[i]));
    return relation_print(rows, out, err);
}

/* To two digits, and never below. */
static double rounded_up(double value)
{
    double unit = value > 0 ? pow(10, floor(log10(value)) - 1) : 1;
    return ceil(value / unit) * unit;
}

static exit_code find_and_print(void *context, const cli_call *call, error *err)
{
    const tolerance_options *options = context;
    const output_file *out = &options->printed;
    const judge_settings settings = {.seed = options->seed, .max_row_ulp = INFINITY};
    ln_convention convention;
    eval_tensors tensors = {0};
    eval_files files = options->files;
    judge_block block = {0};
    tolerance found;
    row_judge *judge = judge_create(NULL, &settings);
    char label[CONVENTION_MAX_LENGTH];
    (void)call;
    files.input = files.paths[ROLE_X] ? NULL : files.input;
    bool fine = eval_check_type(&files, err) && (judge || fail_memory(err, "the judge")) &&
                convention_parse(options->convention, &convention, err) &&
                eval_read(&files, &convention, NULL, &tensors, err) &&
                eval_block(&files, &convention, &tensors, judge, &block, err) &&
                tolerance_find(judge, &block, &found, err);
    if (fine && isfinite(found.likely))
        output_line(out,
                    "use atol=%.2g, rtol=%.2g (a false alarm in 1 of 1e9 such tests); usual "
                    "implementations differ by about %.2g",
                    rounded_up(found.likely), rounded_up(found.rtol), found.usual);
    else if (fine)
        output_line(out, "no atol is enough: sums may be off by anything in some row");
    if (fine)
        output_line(out,
                    "%s, %s, %zu x %zu; gamma1 is a gamma that is stored less 1. Two right ones "
                    "differ by at most atol + rtol |y|:\n",
                    convention_label(&convention, label), dtype_name(tensors.storage), tensors.rows,
                    tensors.hidden);
    fine = fine && print_tolerance(&found, out, err);
    judge_block_free(&block);
    judge_destroy(judge);
    eval_tensors_free(&tensors);
    return fine ? EXIT_CODE_FINE : err->code;
}

static const cli_option options[] = {
    {"x", "FILE", "your rows; without them those of a family", OPTION_TEXT,
     offsetof(tolerance_options, files.paths[ROLE_X])},
    {"gamma", "FILE", "as the convention's affine form says", OPTION_TEXT,
     offsetof(tolerance_options, files.paths[ROLE_GAMMA])},
    {"beta", "FILE", "likewise", OPTION_TEXT, offsetof(tolerance_options, files.paths[ROLE_BETA])},
    {"inputs", "FAMILY", "rows of a family, with its parameters (default: normal)", OPTION_TEXT,
     offsetof(tolerance_options, files.input)},
    {"shapes", "ROWSxHIDDEN", "of such rows (default: 18x768)", OPTION_TEXT,
     offsetof(tolerance_options, files.shape)},
    {"seed", "N", "of such rows (default: 1)", OPTION_COUNT, offsetof(tolerance_options, seed)},
    {"conventions", "C", "preset or list (default: torch)", OPTION_TEXT,
     offsetof(tolerance_options, convention)},
    {"dtypes", "TYPE", "of rows of a family, and what u2 files hold (default: f32)", OPTION_TEXT,
     offsetof(tolerance_options, files.dtype)},
    OUTPUT_OPTIONS(tolerance_options, printed),
};

const cli_command eval_tolerance = {
    .name = "eval --tolerance",
    .brief = "what rtol and atol tell right from wrong?",
    .usage = "[OPTION...]",
    .summary =
        "Gives the rtol and atol that two right implementations may need, and wrong ones come to.",
    .details = "Right: off by what any order of summation gives, always or as good as always. "
               "Wrong: each\n"
               "neighbouring convention, and sums in 16 bits. Where a wrong one needs no larger "
               "atol, allclose\n"
               "cannot tell it on these rows; a smaller one may, if both are usual ones.\n"
               "Exit code: 0; 2 usage; 7 files or environment.",
    OPTIONS(options),
    DEFAULTS(tolerance_options, .convention = "torch", .files.input = "normal",
             .files.shape = "18x768", .seed = 1),
    .body = find_and_print,
};
