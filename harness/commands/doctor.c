/* lnbench doctor: what makes timings here untrustworthy, and how to mend it. And the store. */
#include "cli/options.h"
#include "machine/machine.h"
#include "base/output.h"
#include "answer/run_view.h"
#include "store/store.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static double megabytes(int64_t bytes)
{
    return (double)bytes / 1e6;
}

static bool read_range(const char *words, int64_t *first, int64_t *last, error *err)
{
    char *end;
    *first = *last = strtoll(words, &end, 10);
    if (end != words && strncmp(end, "..", 2) == 0 && end[2])
        *last = strtoll(end + 2, &end, 10);
    return (end != words && !*end && *first > 0 && *last >= *first) ||
           fail(err, EXIT_CODE_USAGE, "--remove %.60s: a run or a range was expected, 3 or 1..50",
                words);
}

/* Without a terminal there is nobody to ask. */
static bool is_wanted(const char *database, int64_t first, int64_t last, error *err)
{
    char answer[16] = "";
    if (!isatty(STDIN_FILENO))
        return fail(err, EXIT_CODE_USAGE, "--remove asks on a terminal: add --yes");
    output_note("remove runs %lld to %lld of %s? [y/N]", (long long)first, (long long)last,
                database);
    bool wanted = fgets(answer, sizeof answer, stdin) && (answer[0] == 'y' || answer[0] == 'Y');
    if (!wanted)
        output_note("nothing was removed");
    return wanted;
}

static bool remove_runs(const char *database, const char *words, bool yes, const output_file *out,
                        error *err)
{
    int64_t first, last, removed;
    result_store *store;
    if (!read_range(words, &first, &last, err) || (!yes && !is_wanted(database, first, last, err)))
        return err->code == EXIT_CODE_FINE;
    if (!store_open(database, STORE_WRITE, &store, err))
        return false;
    bool fine = store_check_sound(store, err) &&
                store_remove_runs(store, first, last, &removed, err) &&
                (removed > 0 || fail(err, EXIT_CODE_ENVIRONMENT,
                                     "%s: no run %lld to %lld: lnbench list runs shows those there "
                                     "are",
                                     database, (long long)first, (long long)last));
    store_close(store);
    if (fine && out->format == OUTPUT_TEXT)
        output_line(out, "removed %lld runs", (long long)removed);
    return fine;
}

static bool print_sizes(const output_file *out, const char *database, const run_size *sizes,
                        size_t count, error *err)
{
    static const relation_column columns[] = {
        COLUMN("run", "run"), {"MB", .format = "%.1f"}, FOR_PROGRAMS("bytes")};
    struct stat about = {0};
    stat(database, &about);
    relation *rows = relation_create(COLUMNS(columns));
    for (size_t i = 0; i < count; i++)
        relation_row(rows, as_count((unsigned long long)sizes[i].run),
                     as_figure(megabytes(sizes[i].bytes)),
                     as_count((unsigned long long)sizes[i].bytes));
    if (out->format == OUTPUT_TEXT)
        output_line(out, "%s: sound, %.1f MB, %zu run%s", database, megabytes(about.st_size), count,
                    count == 1 ? "" : "s");
    return relation_print_in(rows,
                             json_pack("{s:s, s:o, s:I}", "schema", "lnbench-store-1", "store",
                                       json_text(database), "bytes", (json_int_t)about.st_size),
                             "runs", out, err);
}

/* remove: "3" or "1..50", NULL: none; yes: without asking. Errors: damage, no such run (7), bad words,
 * or nobody to ask (2). */
static bool doctor_store(const char *database, const char *remove, bool yes, const output_file *out,
                         error *err)
{
    result_store *store;
    run_size *sizes = NULL;
    size_t count;
    if ((remove && !remove_runs(database, remove, yes, out, err)) ||
        !store_open(database, STORE_READ, &store, err))
        return false;
    bool fine = store_check_sound(store, err) && store_run_sizes(store, &sizes, &count, err);
    store_close(store);
    fine = fine && print_sizes(out, database, sizes, count, err);
    free(sizes);
    return fine;
}

enum { MOST_FINDINGS = 64 };

static const char *grade_name(finding_grade grade)
{
    return grade == FINDING_WARNING ? "warning" : grade == FINDING_NOTE ? "note" : "fine";
}

static relation *facts_relation(const machine_facts *machine)
{
    static const relation_column columns[] = {FOR_PEOPLE("machine"), FOR_PEOPLE("")};
    relation *rows = relation_create(COLUMNS(columns));
    for (size_t i = 0; i < machine->count; i++) {
        char shown[256];
        relation_row(rows, as_text(machine->facts[i].name),
                     as_text(machine_shown_value(&machine->facts[i], shown)));
    }
    return rows;
}

/* For programs, and for Markdown, which has the facts in the same table. */
static relation *findings_relation(const machine_facts *machine, const finding *findings,
                                   size_t count, output_format format)
{
    static const relation_column columns[] = {COLUMN("grade", "grade"), COLUMN("what", "what"),
                                              COLUMN("remedy or value", "remedy")};
    relation *rows = relation_create(COLUMNS(columns));
    for (size_t i = 0; i < count; i++)
        relation_row(rows, as_text(grade_name(findings[i].grade)), as_text(findings[i].what),
                     as_text(findings[i].remedy));
    for (size_t i = 0; format != OUTPUT_JSON && i < machine->count; i++)
        relation_row(rows, as_text("fact"), as_text(machine->facts[i].name),
                     as_text(machine->facts[i].value));
    return rows;
}

/* Beyond either, a figure says more of the machine than of the kernel. */
static const double most_apart = .1, least_cpu_share = .9;

static bool is_trusted(const timing_scatter *scatter)
{
    return scatter->apart <= most_apart && scatter->cpu_share >= least_cpu_share;
}

static size_t to_mend(const finding *findings, size_t count)
{
    size_t warnings = 0;
    while (warnings < count && findings[warnings].grade == FINDING_WARNING)
        warnings++;
    return warnings;
}

/* "timings here are good to about 2 %: 2 things to mend" */
static void print_verdict(const output_file *out, const timing_scatter *scatter, size_t warnings)
{
    char things[48];
    snprintf(things, sizeof things, "%zu thing%s to mend", warnings, warnings == 1 ? "" : "s");
    output_colour(out, is_trusted(scatter) ? NULL : "31");
    if (is_trusted(scatter))
        output_text(out, "timings here are good to about %.2g %%: ", 100 * scatter->apart);
    else if (scatter->cpu_share < least_cpu_share)
        output_text(out, "timings here cannot be trusted, other work has %.0f %% of the CPU: ",
                    100 * (1 - scatter->cpu_share));
    else
        output_text(out, "timings here cannot be trusted, the same work took %.2f times as long: ",
                    1 + scatter->apart);
    output_colour(out, NULL);
    output_line(out, "%s", warnings ? things : "nothing to mend");
}

static void print_finding(const output_file *out, const finding *found)
{
    if (found->grade == FINDING_WARNING)
        output_colour(out, "33");
    output_text(out, "%-8s", grade_name(found->grade));
    output_colour(out, NULL);
    output_text(out, " %s\n", found->what);
    if (found->grade != FINDING_FINE && found->remedy[0])
        output_line(out, "         mend: %s", found->remedy);
}

static bool print_text(const output_file *out, const machine_facts *machine,
                       const timing_scatter *scatter, const finding *findings, size_t count,
                       bool facts, error *err)
{
    size_t warnings = to_mend(findings, count), shown = facts ? count : warnings;
    print_verdict(out, scatter, warnings);
    if (shown > 0)
        output_text(out, "\n");
    for (size_t i = 0; i < shown; i++)
        print_finding(out, &findings[i]);
    output_line(out, "\n%zu checked%s", count,
                facts ? "\n" : ": --facts shows what is fine, notes, and the facts of the machine");
    return !facts || relation_print(facts_relation(machine), out, err);
}

static bool print_findings(const output_file *out, const machine_facts *machine,
                           const timing_scatter *scatter, const finding *findings, size_t count,
                           bool facts, error *err)
{
    if (out->format == OUTPUT_TEXT)
        return print_text(out, machine, scatter, findings, count, facts, err);
    return relation_print_in(findings_relation(machine, findings, count, out->format),
                             json_pack("{s:s, s:b, s:f, s:f, s:o}", "schema", "lnbench-doctor-1",
                                       "trusted", is_trusted(scatter), "apart", scatter->apart,
                                       "cpu_share", scatter->cpu_share, "machine",
                                       json_facts(machine)),
                             "findings", out, err);
}

typedef struct doctor_options {
    output_file printed;
    const char *database, *remove;
    bool store, yes, facts;
} doctor_options;

static exit_code doctor(void *context, const cli_call *call, error *err)
{
    const doctor_options *options = context;
    machine_facts machine;
    finding findings[MOST_FINDINGS];
    (void)call;
    if (options->store || options->remove) {
        doctor_store(options->database, options->remove, options->yes, &options->printed, err);
        return err->code;
    }
    timing_scatter scatter = machine_scatter();
    machine_read(&machine);
    size_t count = machine_findings(&machine, findings, MOST_FINDINGS);
    bool printed =
        print_findings(&options->printed, &machine, &scatter, findings, count, options->facts, err);
    machine_free(&machine);
    return printed && !is_trusted(&scatter) ? EXIT_CODE_INCONCLUSIVE : err->code;
}

static const cli_option options[] = {
    {"facts", NULL, "also what is fine, notes, and the facts of the machine", OPTION_FLAG,
     offsetof(doctor_options, facts)},
    {"store", NULL, "check the whole result store, and say what each run takes", OPTION_FLAG,
     offsetof(doctor_options, store)},
    {"remove", "RUN|FIRST..LAST", "take these runs out of the store, and give their space back",
     OPTION_TEXT, offsetof(doctor_options, remove)},
    {"yes", NULL, "do not ask before", OPTION_FLAG, offsetof(doctor_options, yes)},
    STORE_OPTION(doctor_options, database),
    OUTPUT_OPTIONS(doctor_options, printed),
};

extern const cli_command doctor_calibrate;

const cli_command command_doctor = {
    .name = "doctor",
    .brief = "how far timings here can be trusted; --store, --calibrate",
    .usage = "[OPTION...]",
    .summary = "Says how far timings on this machine can be trusted, by timing the same work over\n"
               "and over for half a second, and how to mend what makes them worse.",
    .details = "Exit code: 0 fine; 3 timings here cannot be trusted (the same work more than 10 %\n"
               "apart, or other work on its CPU); 2 usage; 7 --store: the file is damaged.",
    OPTIONS(options),
    .size = sizeof(doctor_options),
    .body = doctor,
    QUESTIONS(&doctor_calibrate),
};
