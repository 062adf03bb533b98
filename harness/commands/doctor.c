/* lnbench doctor: what makes timings here untrustworthy, and how to mend it. And the store. */
#include "cli/command.h"
#include "commands/doctor_store.h"
#include "machine/machine.h"
#include "base/output.h"
#include "answer/run_view.h"

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

static bool print_text(const output_file *out, const machine_facts *machine,
                       const finding *findings, size_t count, error *err)
{
    size_t warnings = 0;
    for (size_t i = 0; i < count; i++) {
        warnings += findings[i].grade == FINDING_WARNING;
        if (findings[i].grade == FINDING_WARNING)
            output_colour(out, "33");
        output_text(out, "%-8s", grade_name(findings[i].grade));
        output_colour(out, NULL);
        output_text(out, " %s\n", findings[i].what);
        if (findings[i].grade != FINDING_FINE && findings[i].remedy[0])
            output_line(out, "         mend: %s", findings[i].remedy);
    }
    output_line(out, "\n%zu checked, %zu warning%s\n", count, warnings, warnings == 1 ? "" : "s");
    return relation_print(facts_relation(machine), out, err);
}

static bool print(const output_file *out, const machine_facts *machine, const finding *findings,
                  size_t count, error *err)
{
    if (out->format == OUTPUT_TEXT)
        return print_text(out, machine, findings, count, err);
    return relation_print_in(
        findings_relation(machine, findings, count, out->format),
        json_pack("{s:s, s:o}", "schema", "lnbench-doctor-1", "machine", json_facts(machine)),
        "findings", out, err);
}

typedef struct doctor_options {
    output_file printed;
    const char *database, *remove;
    bool store, yes;
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
    machine_read(&machine);
    size_t count = machine_findings(&machine, findings, MOST_FINDINGS);
    print(&options->printed, &machine, findings, count, err);
    machine_free(&machine);
    return err->code;
}

static const cli_option options[] = {
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
    .brief = "what makes timings here untrustworthy; --store, --calibrate",
    .usage = "[OPTION...]",
    .summary = "Says what on this machine makes timings untrustworthy, and how to mend it: "
               "warnings first,\n"
               "the facts of the machine last.",
    .details = "A warning is advice: the exit code is 0 all the same. --store: 7 where the file is "
               "damaged.",
    OPTIONS(options),
    .size = sizeof(doctor_options),
    .body = doctor,
    QUESTIONS(&doctor_calibrate),
};
