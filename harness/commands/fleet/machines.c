/* The machines of a store side by side, each by its latest whole run. A time is compared with times
 * of the same run alone. */
#include "commands/fleet/machines.h"
#include "commands/choose/choose.h"
#include "commands/report/verify.h"
#include "domain/reproducible.h"
#include "store/store.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What one machine's choice may cost on another before it is told. */
static const double allowed = 1.1;

static bool is_survey(const stored_run *run)
{
    return run->state == RUN_COMPLETE &&
           (strcmp(run->plan, "quick") == 0 || strcmp(run->plan, "default") == 0 ||
            strcmp(run->plan, "full") == 0);
}

static bool load_machine(result_store *store, int64_t run, fleet_machine *machine, error *err)
{
    *machine = (fleet_machine){0};
    if (!view_load(store, run, &machine->view, err))
        return false;
    answer_make(&machine->view, &machine->answer);
    return true;
}

/* The latest run of each machine into runs[]. */
static bool find_runs(result_store *store, const stored_run *all, size_t count, int64_t *runs,
                      size_t *found, error *err)
{
    machine_facts known[MOST_MACHINES];
    bool fine = true;
    *found = 0;
    for (size_t i = count; fine && i-- > 0 && *found < MOST_MACHINES;) {
        machine_facts facts;
        bool seen = false;
        if (!is_survey(&all[i]))
            continue;
        fine = store_machine(store, all[i].id, &facts, err);
        for (size_t k = 0; fine && k < *found; k++)
            seen |= machine_difference(&known[k], &facts) == NULL;
        if (fine && !seen) {
            known[*found] = facts;
            runs[(*found)++] = all[i].id;
        } else if (fine) {
            machine_free(&facts);
        }
    }
    for (size_t k = 0; k < *found; k++)
        machine_free(&known[k]);
    return fine;
}

bool fleet_machines_read(const char *database, fleet_list *fleet, error *err)
{
    stored_run *all = NULL;
    int64_t runs[MOST_MACHINES];
    size_t count, found = 0;
    *fleet = (fleet_list){0};
    if (!store_open(database, STORE_READ, &fleet->store, err))
        return false;
    bool fine = store_runs(fleet->store, &all, &count, err);
    fine = fine && find_runs(fleet->store, all, count, runs, &found, err);
    for (size_t i = found; fine && i-- > 0;) {
        fine = load_machine(fleet->store, runs[i], &fleet->machines[fleet->count], err);
        fleet->count += fine;
    }
    free(all);
    return fine &&
           (fleet->count >= 2 ||
            fail(err, EXIT_CODE_NOT_COMPARABLE,
                 "%.200s: whole runs of %zu machine%s are there; side by side it takes two: "
                 "lnbench import the others' exports",
                 database, fleet->count, fleet->count == 1 ? "" : "s"));
}

void fleet_machines_free(fleet_list *fleet)
{
    for (size_t i = 0; i < fleet->count; i++) {
        answer_free(&fleet->machines[i].answer);
        view_free(&fleet->machines[i].view);
    }
    store_close(fleet->store);
    *fleet = (fleet_list){0};
}

const char *fleet_machine_name(const fleet_machine *machine, char name[FLEET_NAME])
{
    static const char *const facts[] = {"isa_disabled", "worker"}, *const words[] = {"without",
                                                                                     "by"};
    int length = snprintf(name, FLEET_NAME, "%.80s",
                          machine_fact_value(&machine->view.machine, "cpu_model"));
    for (size_t i = 0; i < 2; i++) {
        const char *value = machine_fact_value(&machine->view.machine, facts[i]);
        if (strcmp(value, "unknown") != 0)
            length +=
                snprintf(name + length, FLEET_NAME - (size_t)length, " %s %.30s", words[i], value);
    }
    return name;
}

/* ---- who wins ---- */

/* Of ours by name, and right on all that was judged. */
static bool may_win(const answer_row *row, bool accurate)
{
    kernel_role role = row->standing->role;
    return (role == ROLE_OURS || role == ROLE_TEXTBOOK) && row->all->judged > 0 &&
           row->all->wrong == 0 && (!accurate || row->standing->accurate);
}

size_t fleet_column(const fleet_machine *machine, const case_key *key)
{
    size_t i = 0;
    while (i < machine->answer.column_count && !is_of_group(&machine->answer.columns[i].key, key) &&
           !(machine->answer.columns[i].key.rows == key->rows &&
             machine->answer.columns[i].key.hidden == key->hidden &&
             machine->answer.columns[i].key.dtype == key->dtype &&
             machine->answer.columns[i].key.cache == key->cache &&
             machine->answer.columns[i].key.threads == key->threads &&
             strcmp(machine->answer.columns[i].key.convention, key->convention) == 0))
        i++;
    return i;
}

const view_case *fleet_winner(const fleet_machine *machine, size_t column, bool accurate)
{
    const view_case *best = NULL;
    for (size_t i = 0; column < machine->answer.column_count && i < machine->answer.count; i++) {
        const answer_row *row = &machine->answer.rows[i];
        const view_case *here = row->cells[column];
        if (here && may_win(row, accurate) && isfinite(here->speed.time_ns) &&
            (!best || view_by_speed(here, best) < 0))
            best = here;
    }
    return best;
}

/* ---- what a choice costs elsewhere ---- */

static const view_case *timed_there(const fleet_machine *machine, size_t column, const char *kernel)
{
    for (size_t i = 0; i < machine->answer.count; i++)
        if (strcmp(machine->answer.rows[i].kernel, kernel) == 0)
            return machine->answer.rows[i].cells[column];
    return NULL;
}

void fleet_cost(const fleet_machine *from, const fleet_machine *on, size_t column, bool accurate,
                fleet_choice *choice)
{
    const case_key *key = &from->answer.columns[column].key;
    size_t there = fleet_column(on, key);
    const view_case *chosen = fleet_winner(from, column, accurate);
    const view_case *best = fleet_winner(on, there, accurate);
    *choice = (fleet_choice){.pair = {NAN, NAN, NAN}};
    if (!chosen || !best)
        return;
    choice->chosen = chosen->stored->key.kernel;
    choice->best = best->stored->key.kernel;
    const view_case *moved = timed_there(on, there, choice->chosen);
    if (!moved || !isfinite(moved->speed.time_ns)) {
        choice->absent = true;
        return;
    }
    const stored_case *cases = on->view.cases.cases;
    if (moved != best)
        choice->pair = speed_of_pair(&on->view.cases, (size_t)(moved->stored - cases),
                                     (size_t)(best->stored - cases));
    choice->costs = choice->pair.lo > allowed;
}

/* ---- errors ---- */

static const view_case *find(const run_view *view, const case_key *key)
{
    size_t at = stored_cases_find(&view->cases, key);
    return at < view->cases.count ? &view->views[at] : NULL;
}

void fleet_errors(const fleet_machine *a, const fleet_machine *b, fleet_equal *equal)
{
    *equal = (fleet_equal){.seeds_differ = a->view.run.seed != b->view.run.seed};
    for (size_t i = 0; !equal->seeds_differ && i < a->view.cases.count; i++) {
        const view_case *here = &a->view.views[i];
        if (!here->stored->judged || here->stored->metrics.elements == 0 ||
            here->stored->repetition_count > 0)
            continue;
        const view_case *there = find(&b->view, &here->stored->key);
        if (!there || !there->stored->judged || there->stored->metrics.elements == 0)
            continue;
        bool same = verify_same_error(here->stored, there->stored);
        bool must = reproducible_everywhere(a->view.kernels, here->stored->key.kernel);
        equal->compared++;
        equal->same += same;
        equal->must += must;
        if (must && !same && equal->wrong++ == 0)
            equal->first = here->stored;
    }
}
