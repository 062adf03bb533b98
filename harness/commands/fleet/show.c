/* The machines of a store, as they are printed. */
#include "commands/fleet/fleet.h"
#include "commands/fleet/machines.h"
#include <math.h>
#include <string.h>

static char letter(size_t machine)
{
    return (char)('A' + machine);
}

static text_table *machines_table(const fleet_list *fleet)
{
    static const char *const headings[] = {
        "machine", "CPU", "vendor/family/model", "compiler", "commit", "date", "run"};
    text_table *table = table_create(headings, sizeof headings / sizeof *headings);
    for (size_t i = 0; i < fleet->count; i++) {
        const fleet_machine *machine = &fleet->machines[i];
        const machine_facts *facts = &machine->view.machine;
        char name[FLEET_NAME];
        table_format(table, "%c", letter(i));
        table_cell(table, fleet_machine_name(machine, name));
        table_format(table, "%s/%s/%s", machine_fact_value(facts, "cpu_vendor"),
                     machine_fact_value(facts, "cpu_family"),
                     machine_fact_value(facts, "cpu_model_number"));
        table_cell(table, machine_fact_value(facts, "compiler"));
        table_format(table, "%.12s", machine_fact_value(facts, "git_commit"));
        table_format(table, "%.10s", machine->view.run.started);
        table_format(table, "%lld", (long long)machine->view.run.id);
    }
    return table;
}

static void shape_cell(text_table *table, const case_key *key)
{
    table_format(table, "%zux%zu %s, %s, %s, %u thread%s", key->rows, key->hidden,
                 dtype_name(key->dtype), key->convention, cache_name(key->cache), key->threads,
                 key->threads == 1 ? "" : "s");
}

/* A line a shape and class that some machine timed. */
static text_table *winners_table(const fleet_list *fleet)
{
    char words[MOST_MACHINES][16];
    const char *headings[MOST_MACHINES + 2] = {"shape", "errors"};
    for (size_t i = 0; i < fleet->count; i++) {
        snprintf(words[i], sizeof words[i], "fastest on %c", letter(i));
        headings[i + 2] = words[i];
    }
    text_table *table = table_create(headings, fleet->count + 2);
    for (size_t m = 0; m < fleet->count; m++)
        for (size_t c = 0; c < fleet->machines[m].answer.column_count; c++) {
            const case_key *key = &fleet->machines[m].answer.columns[c].key;
            bool told = false;
            for (size_t before = 0; before < m; before++)
                told |= fleet_column(&fleet->machines[before], key) <
                        fleet->machines[before].answer.column_count;
            for (int accurate = 0; !told && accurate <= 1; accurate++) {
                shape_cell(table, key);
                table_cell(table, accurate ? "at most 2 row ULP" : "never wrong");
                for (size_t i = 0; i < fleet->count; i++) {
                    const fleet_machine *machine = &fleet->machines[i];
                    const view_case *winner =
                        fleet_winner(machine, fleet_column(machine, key), accurate);
                    table_cell(table, winner ? winner->stored->key.kernel : "-");
                }
            }
        }
    return table;
}

/* Where a choice does not travel. */
static void add_costs(const fleet_list *fleet, text_table *table, size_t *told)
{
    for (size_t a = 0; a < fleet->count; a++)
        for (size_t b = 0; b < fleet->count; b++)
            for (size_t c = 0; a != b && c < 2 * fleet->machines[a].answer.column_count; c++) {
                const fleet_machine *from = &fleet->machines[a];
                fleet_choice choice;
                fleet_cost(from, &fleet->machines[b], c / 2, c % 2, &choice);
                if (!choice.absent && !choice.costs)
                    continue;
                ++*told;
                shape_cell(table, &from->answer.columns[c / 2].key);
                table_cells(table, c % 2 ? "at most 2 row ULP" : "never wrong", choice.chosen);
                table_format(table, "%c", letter(a));
                table_format(table, "%c", letter(b));
                if (choice.absent)
                    table_cell(table, "cannot run");
                else
                    table_format(table, "%.2f [%.2f, %.2f]", choice.pair.ratio, choice.pair.lo,
                                 choice.pair.hi);
                table_cell(table, choice.best);
            }
}

static text_table *costs_table(void)
{
    static const char *const headings[] = {"shape", "errors",           "the choice of", "machine",
                                           "on",    "times the best's", "the best there"};
    return table_create(headings, sizeof headings / sizeof *headings);
}

static text_table *errors_table(const fleet_list *fleet, exit_code *code)
{
    static const char *const headings[] = {"machines",         "cases judged on both", "same bits",
                                           "must be the same", "of them not",          "the first"};
    text_table *table = table_create(headings, sizeof headings / sizeof *headings);
    for (size_t a = 0; a < fleet->count; a++)
        for (size_t b = a + 1; b < fleet->count; b++) {
            fleet_equal equal;
            fleet_errors(&fleet->machines[a], &fleet->machines[b], &equal);
            table_format(table, "%c, %c", letter(a), letter(b));
            table_format(table, "%zu", equal.compared);
            table_format(table, "%zu", equal.same);
            table_format(table, "%zu", equal.must);
            table_format(table, "%zu", equal.wrong);
            if (equal.seeds_differ)
                table_cell(table, "other seeds: not comparable");
            else if (equal.first)
                table_format(table, "%s, %zux%zu, %s, %s", equal.first->key.kernel,
                             equal.first->key.rows, equal.first->key.hidden,
                             equal.first->key.convention, equal.first->key.input);
            else
                table_cell(table, "-");
            if (equal.wrong > 0)
                *code = EXIT_CODE_ACCURACY;
        }
    return table;
}

static json_t *equal_json(const fleet_list *fleet, exit_code *code)
{
    json_t *pairs = json_array();
    for (size_t a = 0; a < fleet->count; a++)
        for (size_t b = a + 1; b < fleet->count; b++) {
            fleet_equal equal;
            fleet_errors(&fleet->machines[a], &fleet->machines[b], &equal);
            if (equal.wrong > 0)
                *code = EXIT_CODE_ACCURACY;
            json_array_append_new(
                pairs,
                json_pack("{s:I, s:I, s:I, s:I, s:I, s:I}", "a", (json_int_t)a, "b", (json_int_t)b,
                          "compared", (json_int_t)equal.compared, "same", (json_int_t)equal.same,
                          "must", (json_int_t)equal.must, "wrong", (json_int_t)equal.wrong));
        }
    return pairs;
}

static json_t *machine_json(const fleet_machine *machine)
{
    char name[FLEET_NAME];
    json_t *winners = json_array();
    for (size_t c = 0; c < machine->answer.column_count; c++)
        for (int accurate = 0; accurate <= 1; accurate++) {
            const case_key *key = &machine->answer.columns[c].key;
            const view_case *winner = fleet_winner(machine, c, accurate);
            json_array_append_new(
                winners,
                json_pack("{s:I, s:I, s:s, s:s, s:s, s:i, s:b, s:o}", "rows", (json_int_t)key->rows,
                          "hidden", (json_int_t)key->hidden, "dtype", dtype_name(key->dtype),
                          "convention", key->convention, "cache", cache_name(key->cache), "threads",
                          (int)key->threads, "accurate", accurate, "kernel",
                          winner ? json_text(winner->stored->key.kernel) : json_null()));
        }
    return json_pack("{s:o, s:I, s:o}", "name", json_text(fleet_machine_name(machine, name)), "run",
                     (json_int_t)machine->view.run.id, "winners", winners);
}

static bool print_json(const fleet_list *fleet, const output_file *printed, exit_code *code,
                       error *err)
{
    json_t *machines = json_array();
    for (size_t i = 0; i < fleet->count; i++)
        json_array_append_new(machines, machine_json(&fleet->machines[i]));
    return output_json(printed,
                       json_pack("{s:s, s:o, s:o}", "schema", "lnbench-machines-1", "machines",
                                 machines, "errors", equal_json(fleet, code)),
                       err);
}

static bool print_tables(const fleet_list *fleet, const output_file *printed, exit_code *code,
                         error *err)
{
    size_t told = 0;
    if (output_is_data(printed)) /* one table and no more */
        return errors_table(fleet, code) && output_table(printed, winners_table(fleet), err);
    text_table *costs = costs_table();
    bool fine = output_table(printed, machines_table(fleet), err);
    if (fine)
        output_heading(printed, "Who wins where");
    fine = fine && output_table(printed, winners_table(fleet), err);
    if (fine)
        output_heading(printed, "Choices that cost more than 10 %% on another machine");
    add_costs(fleet, costs, &told);
    if (fine && told == 0) {
        output_line(printed, "none");
        table_destroy(costs);
    } else {
        fine = fine && output_table(printed, costs, err);
    }
    if (fine)
        output_heading(printed, "Errors");
    return fine && output_table(printed, errors_table(fleet, code), err);
}

bool fleet_machines(const char *database, const char *chart, const output_file *printed,
                    exit_code *code, error *err)
{
    fleet_list fleet;
    bool fine = fleet_machines_read(database, &fleet, err);
    if (fine)
        fine = printed->format == OUTPUT_JSON ? print_json(&fleet, printed, code, err)
                                              : print_tables(&fleet, printed, code, err);
    fine = fine && (!chart || fleet_chart(&fleet, chart, printed, err));
    fleet_machines_free(&fleet);
    return fine;
}
