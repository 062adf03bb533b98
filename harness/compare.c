/* lnbench compare: two runs, from the store or from exported files. */
#include "compare.h"
#include "command.h"
#include "run_find.h"
#include "run_read.h"
#include "store_calibration.h"
#include <math.h>
#include <string.h>
#include <unistd.h>

/* The noise is that of the machine that both ran on. Google Benchmark's own JSON names the host and
 * no processor: only on that host itself it is known which machine it was. */
static bool find_noise(comparison *comparison, const view *new, const char *database, error *error)
{
    char host[256] = "";
    machine here;
    if (!run_is_foreign(new))
        return load_calibration(database, &comparison->machine, &comparison->calibration, error);
    gethostname(host, sizeof host - 1);
    if (strcmp(host, machine_fact_value(&new->machine, "host_name")) != 0)
        return true;
    if (!machine_read(&here, error))
        return false;
    bool fine = load_calibration(database, &here, &comparison->calibration, error);
    machine_free(&here);
    return fine;
}

/* The views own what the comparison shows of them, but for the machine, which is handed over. */
static bool compare_views(comparison *comparison, view *base, view *new, const char *database,
                          error *error)
{
    run_describe(base, comparison->identity[BASE], sizeof comparison->identity[BASE]);
    run_describe(new, comparison->identity[NEW], sizeof comparison->identity[NEW]);
    bool fine = compare_contexts(comparison, base, new, error);
    comparison->machine = new->machine;
    if (fine && comparison->differences.count == 0)
        fine = find_noise(comparison, new, database, error) &&
               compare_cases(comparison, base, new, error);
    new->machine = (machine){0};
    return fine;
}

static bool compare_runs(comparison *comparison, const char *database, error *error)
{
    view base, new;
    const char *const *files = comparison->settings.files;
    if (!run_find(files[BASE], database, &base, error))
        return false;
    bool fine = run_find(files[NEW], database, &new, error);
    if (fine) {
        fine = compare_views(comparison, &base, &new, database, error);
        view_free(&new);
    }
    view_free(&base);
    return fine;
}

static bool run(comparison *comparison, const comparison_options *shown, const word_list *operands,
                const char *database, error *error)
{
    comparison_format format;
    if (operands->count != SIDES)
        return fail(error, EXIT_CODE_USAGE,
                    "two runs were expected, such as: lnbench compare previous latest");
    comparison->settings = (comparison_settings){
        .tool = "compare",
        .files = {operands->words[BASE], operands->words[NEW]},
        .seconds = NAN,
        .seed = 1,
    };
    return comparison_read_options(shown, &comparison->settings, &format, error) &&
           compare_runs(comparison, database, error) &&
           comparison_show(comparison, format, &shown->also, error);
}

exit_code command_compare(int argc, char **argv, error *error)
{
    comparison_options shown = {
        .threshold = "2%", .gate = "no-worse", .format = "text", .confidence = 0.99};
    const char *database = "results/lnbench.db";
    const option options[] = {
        {"threshold", "SHARE", "a change of time that matters (default: 2%)", OPTION_TEXT,
         &shown.threshold},
        {"confidence", "P", "of the intervals and the rank test (default: 0.99)", OPTION_REAL,
         &shown.confidence},
        {"accuracy", "exact|no-worse|bound",
         "what fails: a bit, a larger error (default), a broken bound", OPTION_TEXT, &shown.gate},
        {"only", "speed|accuracy", "leave out the other half", OPTION_TEXT, &shown.only},
        {"format", "text|markdown|tsv|json|junit|github|smaller", "of standard output", OPTION_TEXT,
         &shown.format},
        {"also", "FORMAT=FILE", "write this too; may be given again", OPTION_RAW, &shown.also},
        {"json", NULL, "the same as --format json", OPTION_FLAG, &shown.json},
        {"db", "FILE", "result store (default: results/lnbench.db)", OPTION_TEXT, &database},
    };
    const subcommand subcommand = {
        "compare",
        "BASE NEW [OPTION...]",
        "Two runs: what got slower or less accurate, and how sure that is.",
        "A run is its number, latest, previous, a commit's first digits, or an exported file "
        "(json,\n"
        "jsonl, Google Benchmark's own JSON: FILE,FILE,... are processes of one run). Needs runs "
        "of\n"
        "5 processes or more (run --processes 5) and the machine's noise (lnbench calibrate).\n"
        "Exit code: 0 fine; 1 a kernel is slower; 3 inconclusive; 4 not comparable (another CPU,\n"
        "compiler, flags or plan); 5 accuracy violation; 6 a kernel of NEW failed; 2 usage; 7 "
        "files.",
        options,
        sizeof options / sizeof *options,
        SIDES};
    word_list operands = {0};
    bool help;
    comparison comparison = {0};
    bool fine = options_parse(&subcommand, argc, argv, &operands, &help, error);
    if (fine && help)
        options_help(&subcommand, stdout);
    else if (fine)
        fine = run(&comparison, &shown, &operands, database, error);
    exit_code code =
        fine ? (help ? EXIT_CODE_FINE : comparison_exit_code(&comparison)) : error->code;
    comparison_free(&comparison);
    word_list_free(&shown.also);
    word_list_free(&operands);
    return code;
}
