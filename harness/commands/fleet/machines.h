/* The machines of a store, and what is compared between two of them. */
#ifndef LNBENCH_COMMANDS_FLEET_MACHINES_H
#define LNBENCH_COMMANDS_FLEET_MACHINES_H

#include "base/output.h"
#include "answer/answer.h"
#include <stdio.h>

enum { MOST_MACHINES = 26, FLEET_NAME = 160 };

typedef struct fleet_machine {
    run_view view; /* its latest whole run */
    run_answer answer;
} fleet_machine;

typedef struct fleet_list {
    result_store *store;
    fleet_machine machines[MOST_MACHINES];
    size_t count;
} fleet_list;

/* Errors: 4 where there are fewer than two; 7. */
bool fleet_machines_read(const char *database, fleet_list *fleet, error *err);
void fleet_machines_free(fleet_list *fleet);

/* "AMD EPYC", "AMD EPYC without avx512". */
const char *fleet_machine_name(const fleet_machine *machine, char name[FLEET_NAME]);

/* The column of a shape; column_count where it was not timed. */
size_t fleet_column(const fleet_machine *machine, const case_key *key);
/* The fastest of ours that is right on every row judged; accurate: and within STANDING_ROW_ULP. NULL:
 * there is none. */
const view_case *fleet_winner(const fleet_machine *machine, size_t column, bool accurate);

/* One machine's winner on another. */
typedef struct fleet_choice {
    const char *chosen, *best; /* NULL: nothing to compare */
    bool absent;               /* it was not timed there: the CPU cannot run it */
    speed_pair pair; /* its time / the best's, on the other machine; NaN: it is the best */
    bool costs;      /* more than a tenth, at the interval's lower end */
} fleet_choice;
void fleet_cost(const fleet_machine *from, const fleet_machine *on, size_t column, bool accurate,
                fleet_choice *choice);

/* Errors of cases that both judged. */
typedef struct fleet_equal {
    bool seeds_differ; /* then the rows differ, and nothing is compared */
    size_t compared, same;
    size_t must, wrong; /* of kernels that are reproducible on every ISA; differ all the same */
    const stored_case *first;
} fleet_equal;
void fleet_errors(const fleet_machine *a, const fleet_machine *b, fleet_equal *equal);

/* DIRECTORY/machines.svg and .png, and their tables in data/: the winners by shape and machine.
 * Prints their paths (charts_draw_alone). */
bool fleet_chart(const fleet_list *fleet, const char *directory, const output_file *out,
                 error *err);

#endif
