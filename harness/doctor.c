/* lnbench doctor: what makes timings here untrustworthy, and how to mend it. */
#include "command.h"
#include "machine.h"
#include "text.h"
#include "views.h"
#include <jansson.h>

enum { MOST_FINDINGS = 64 };

static const char *grade_name(finding_grade grade)
{
    return grade == FINDING_WARNING ? "warning" : grade == FINDING_NOTE ? "note" : "fine";
}

static bool print_json(const machine *machine, const finding *findings, size_t count)
{
    json_t *facts = json_object(), *list = json_array();
    for (size_t i = 0; i < machine->count; i++)
        json_object_set_new(facts, machine->facts[i].name, json_text(machine->facts[i].value));
    for (size_t i = 0; i < count; i++)
        json_array_append_new(
            list, json_pack("{s:s, s:o, s:o}", "grade", grade_name(findings[i].grade), "what",
                            json_text(findings[i].what), "remedy", json_text(findings[i].remedy)));
    json_t *all = json_pack("{s:s, s:o, s:o}", "schema", "lnbench-doctor-1", "findings", list,
                            "machine", facts);
    bool fine = all && json_dumpf(all, stdout, JSON_INDENT(1)) == 0;
    printf("\n");
    json_decref(all);
    return fine;
}

static bool print_text(const machine *machine, const finding *findings, size_t count)
{
    static const char *const headings[] = {"machine", ""};
    table *table = table_create(headings, 2);
    for (size_t i = 0; table && i < machine->count; i++) {
        table_cell(table, machine->facts[i].name);
        table_cell(table, machine->facts[i].value);
    }
    bool fine = table && table_print(table, stdout);
    table_destroy(table);
    printf("\n");
    size_t warnings = 0;
    for (size_t i = 0; i < count; i++) {
        warnings += findings[i].grade == FINDING_WARNING;
        printf("%-8s %s\n", grade_name(findings[i].grade), findings[i].what);
        if (findings[i].grade != FINDING_FINE && findings[i].remedy[0])
            printf("         mend: %s\n", findings[i].remedy);
    }
    printf("\n%zu checked, %zu warning%s\n", count, warnings, warnings == 1 ? "" : "s");
    return fine;
}

exit_code command_doctor(int argc, char **argv, error *error)
{
    bool json = false;
    const option options[] = {
        {"json", NULL, "JSON instead of text", OPTION_FLAG, &json},
    };
    const subcommand subcommand = {
        "doctor",
        "[OPTION...]",
        "Says what on this machine makes timings untrustworthy, and how to mend it.",
        "A warning is advice: the exit code is 0 all the same.",
        options,
        1,
        0};
    word_list operands = {0};
    machine machine = {0};
    finding findings[MOST_FINDINGS];
    bool help;
    bool fine = options_parse(&subcommand, argc, argv, &operands, &help, error);
    if (fine && help)
        options_help(&subcommand, stdout);
    else if (fine && (fine = machine_read(&machine, error))) {
        size_t count = machine_findings(&machine, findings, MOST_FINDINGS);
        fine = json ? print_json(&machine, findings, count) : print_text(&machine, findings, count);
        fine = fine || fail(error, EXIT_CODE_ENVIRONMENT, "standard output: cannot write");
    }
    machine_free(&machine);
    word_list_free(&operands);
    return fine ? EXIT_CODE_FINE : error->code;
}
