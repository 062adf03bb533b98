/* The result store: one SQLite file. Every function that writes has committed when it returns (except between
 * store_together() and its end), so that an interruption loses no measurement.
 *
 *     result_store *store = store_open("results/lnbench.db", STORE_WRITE);
 *     int64_t run = store_begin_run(store, &info);
 *     store_put_judged(store, run, &judged);
 *     store_put_repetition(store, run, &key, &repetition);
 *     store_end_run(store, run, RUN_COMPLETE);
 *
 * Failures to read or write end the program (7): die(). */
#ifndef LNBENCH_STORE_H
#define LNBENCH_STORE_H

#include "base/arena.h"
#include "base/relation.h"
#include "domain/operation.h"
#include "domain/case.h"
#include "domain/machine.h"

typedef struct result_store result_store;

typedef enum store_mode { STORE_READ, STORE_WRITE } store_mode;

typedef enum run_state { RUN_OPEN, RUN_COMPLETE, RUN_INTERRUPTED } run_state;
/* "open", "complete", "interrupted" */
extern const char *const run_state_names[RUN_INTERRUPTED + 1];

/* The facts that are known when a run begins. Strings are copied. */
typedef struct run_info {
    const char *command_line;
    const char *plan;      /* "quick", "default", "full" */
    const char *plan_hash; /* hex; a run of the same hash can be resumed */
    uint64_t seed;
    const machine_facts *machine;    /* every fact is stored */
    const char *command;             /* "run", "choose"; NULL: not known */
    const char *request_hash;        /* of the request (plan.h); NULL: not known */
    size_t triples, triples_covered; /* triples of levels in the problems; 0: not requested */
} run_info;

/* The cases of a run: requested, and of these unsupported (the kernel does not support the problem, or this CPU cannot
 * run it) and missing (no result). The others are done. */
typedef struct run_counts {
    size_t requested, unsupported, missing;
} run_counts;

/* A case that a run requests. */
enum { REQUESTED_JUDGEMENT = 1, REQUESTED_TIMING = 2 };
typedef struct requested_case {
    case_key key;
    unsigned parts;
} requested_case;

/* A stored run. */
typedef struct stored_run {
    int64_t id;
    char started[32]; /* ISO 8601, UTC */
    char plan[16];
    char plan_hash[65];
    char command_line[512];
    uint64_t seed, imported; /* imported: 1 if another store measured it */
    run_state state;
    size_t cases, repetitions; /* cases with a result */
    run_counts counts;
} stored_run;

/* The error message for stores and exports of earlier formats. */
#define MADE_BY_OLDER "made by an older lnbench; results/README.md lists the commits that read it"

/* PRAGMA application_id: "lnbh" for a store; "lnex" for an exported run, which ends with its hash (store/run_file.h). */
enum { STORE_APPLICATION_ID = 0x6c6e6268, STORE_EXPORTED_ID = 0x6c6e6578 };

/* Opens a store, or (STORE_WRITE) creates it. Ends the program (7) if the file is no database, is damaged (opening
 * reads part of it, or all of it after a crash that left something to roll back), was made by another
 * version, or is not writable. */
result_store *store_open(const char *path, store_mode mode);
/* Makes a store in memory. */
result_store *store_open_memory(void);
/* Reads the whole file; damage ends the program (7). */
void store_check_sound(const result_store *store);
/* Deletes these runs with all that belongs only to them, and shrinks the file. Returns the number of deleted runs. */
int64_t store_remove_runs(result_store *store, int64_t first, int64_t last);
/* Returns the path that the store was opened with. */
const char *store_path(const result_store *store);
void store_close(result_store *store);

/* The smallest detectable change of time on a machine as a fraction (0.01 is 1 %), for each cache level; NaN: not
 * measured. `lnbench doctor --noise` stores it. */
typedef struct machine_noise {
    char made[32]; /* ISO 8601, UTC; "": not measured */
    double smallest[REGIMES];
} machine_noise;
/* Replaces the noise that was stored for this machine. */
void store_put_noise(result_store *store, const machine_facts *machine,
                     const double smallest[REGIMES]);
/* Returns the noise of this machine; a file that does not exist has none. */
machine_noise store_load_noise(const char *database, const machine_facts *machine);

int64_t store_begin_run(result_store *store, const run_info *info);
/* Stores the cases of the run before it measures any of them (a case given twice has the parts of both), then their
 * number. After that the run is open. */
void store_put_requested(result_store *store, int64_t run, const requested_case *requested);
void store_count_requested(result_store *store, int64_t run);
/* Ends a run, and counts its cases. */
void store_end_run(result_store *store, int64_t run, run_state state);
/* Returns the latest run with this plan hash that is not complete or has missing cases; 0: there is none. */
int64_t store_find_unfinished(result_store *store, const char *plan_hash);
/* Returns the latest run, in any state, with at least one case, perhaps only requested. Runs of `lnbench run` come
 * before runs of `lnbench choose`, and runs measured into this store before imported ones. Ends the program (7) if
 * there is none. */
int64_t store_latest_run(result_store *store);

/* Stores a kernel's descriptor, in the form of `list kernels --json`, and frees it. */
void store_put_kernel(result_store *store, int64_t run, json_t *descriptor);
/* Stores the kernel that a call of the library (key->kernel) dispatches to at a shape. */
void store_put_dispatched(result_store *store, int64_t run, const case_key *key, const char *name);
/* Stores the judgement of a case, and replaces an earlier one: its verdict, errors, bound and hash. */
void store_put_judged(result_store *store, int64_t run, const stored_case *stored);
void store_put_repetition(result_store *store, int64_t run, const case_key *key,
                          const timed_repetition *repetition);
/* If a case could not be timed, its verdict is stored by store_put_judged() with the same key. */

/* One judged row, for curves such as error over kappa. */
typedef struct stored_row {
    size_t row;
    double kappa, row_ulp, norm_max, bound_row_ulp;
    double mean_error, rstd_error; /* as in judged_row */
} stored_row;
void store_put_row(result_store *store, int64_t run, const case_key *key, const stored_row *row);

/* Whether a case passes with a correct digit in every row (an output of a kernel without a bound may pass without one).
 * Unknown: it was not judged. Stored when the case is judged, as is whether it is an edge case. */
typedef enum digits_state { DIGITS_UNKNOWN, DIGITS_NO, DIGITS_YES } digits_state;
digits_state stored_digits(const stored_case *stored);
/* Returns whether a case is an edge case: case_is_edge_case(), or its largest error is that of a subnormal result,
 * since conformance tests mix rows. */
bool stored_is_edge_case(const stored_case *stored);

size_t store_runs(result_store *store, stored_run **runs); /* the caller frees *runs */
stored_run store_run(result_store *store, int64_t run);
int64_t store_run_of_case(result_store *store, int64_t id);
/* Returns all cases that have a result. */
stored_cases store_cases(result_store *store, int64_t run);
/* Reads one case without its repetitions. Returns false if it has no result. */
bool store_case(result_store *store, int64_t id, stored_case *found);
/* Returns the cases that a process timed (-1: any) with their repetitions; ended: only those of finished processes. */
stored_cases store_timed_cases(result_store *store, int64_t run, int64_t process, bool ended);

/* A case in two runs. base, new: its id in the store; 0: the run did not request it. missing: the part of it that is
 * missing (REQUESTED_JUDGEMENT, REQUESTED_TIMING), and why. class: the kernel's (domain/kernel.h). */
typedef struct stored_pair {
    case_key key;
    uint64_t base, new;
    unsigned base_missing, new_missing;
    char base_reason[DETAIL_MAX_LENGTH], new_reason[DETAIL_MAX_LENGTH];
    char base_class[16], new_class[16];
    char label[NAME_MAX_LENGTH]; /* of the kernel, in the new run */
} stored_pair;
/* Step through the pairs in the order of the new run (pairs.sql), without copies; false: there are no more. */
void store_pairs_begin(result_store *store, int64_t base, int64_t new);
bool store_next_pair(result_store *store, stored_pair *pair);
/* Returns the machine facts of a run; the caller calls machine_free(). */
machine_facts store_machine(result_store *store, int64_t run);
/* Returns the kernels of a run as an array of their descriptors. */
json_t *store_kernels(result_store *store, int64_t run);

/* Results that are stored between these two calls are stored all or not at all. */
void store_together(result_store *store);
void store_together_end(result_store *store);
/* Ends it without waiting for the disk: the results survive a crash of the process, but perhaps no power failure. */
void store_together_leave(result_store *store);

/* Copies the runs of another database, or one of them (0: all), in one transaction; runs that the store has (by their
 * origin) are left out. A file from outside must be opened by run_file_open(), which checks it. Returns how many were
 * copied, numbered from *first on; 0: the store has them all, and *first is the first of them. */
int64_t store_copy_runs(result_store *store, const char *path, int64_t only, int64_t *first);

/* Marks a worker process as finished, and stores the speeds that its cases have now. */
void store_end_process(result_store *store, int64_t run, unsigned process);
/* Deletes the repetitions of unfinished processes, which --resume repeats. */
void store_drop_unfinished(result_store *store, int64_t run);
/* Returns how many finished processes timed a case. */
unsigned store_process_count(result_store *store, int64_t run, const case_key *key);
/* Returns the first unused number of a process. */
unsigned store_next_process(result_store *store, int64_t run);
/* Returns whether a case was judged; a missing result does not count. */
bool store_has_accuracy(result_store *store, int64_t run, const case_key *key);

/* Return an object whose members are the fields; metrics_json() has the published metrics. */
json_t *case_key_json(const case_key *key);
json_t *speed_json(const speed_figures *speed);
json_t *metrics_json(const ln_metrics *metrics);

/* ---- scripts ----
 *
 * SQL that makes TEMP tables from the views, for charts and pages. Data that the store does not have is passed in TEMP
 * tables, too. All TEMP tables are deleted when the scratch ends. script.c has the functions that SQLite lacks.
 *
 *     store_scratch_begin(store);
 *     store_script(store, "CREATE TEMP TABLE drawn (run, types)");
 *     store_put_line(store, "drawn", "is", run, "f32");
 *     store_script(store, field_sql);                  // CREATE TEMP TABLE chart AS SELECT ...
 *     stored_table table = store_get_table(store, "chart");
 *         name = table_text(&table, 0, "name");
 *     stored_table_free(&table);
 *     store_scratch_end(store);
 */

/* These two calls may be nested. */
void store_scratch_begin(result_store *store);
void store_scratch_end(result_store *store);

/* Runs statements that return no rows. */
void store_script(const result_store *store, const char *sql);
/* Inserts a row into a TEMP table. A letter for each column: i an int64_t, s a string (NULL is ""), n a string
 * (NULL and "" are NULL), d a double (NaN is stored as NULL). */
void store_put_line(result_store *store, const char *name, const char *types, ...);

typedef struct stored_cell {
    enum { CELL_NONE, CELL_WHOLE, CELL_REAL, CELL_TEXT } kind;
    int64_t whole;
    double real; /* also for an integer; NaN: no number */
    char *text;  /* NULL: no text */
} stored_cell;

typedef struct stored_table {
    arena memory; /* of the names and texts */
    char **names;
    size_t columns, rows;
    stored_cell *cells; /* row by row */
} stored_table;

stored_table store_get_table(result_store *store, const char *name);
/* Returns all rows of a query; `types` and the arguments after it are its parameters, as in store_put_line(). */
stored_table store_ask(result_store *store, const char *sql, const char *types, ...);
/* Passes the rows of a query whose ?1 is a run to take(), in parts of `most` rows; the last part has fewer, or none. */
void store_query(result_store *store, const char *sql, int64_t run, size_t most,
                 void (*take)(void *context, const stored_table *part), void *context);
void stored_table_free(stored_table *table);
/* Return 0, NaN or "" if there is no such row or column, or no value in it. */
int64_t table_whole(const stored_table *table, size_t row, const char *column);
double table_real(const stored_table *table, size_t row, const char *column);
const char *table_text(const stored_table *table, size_t row, const char *column);
/* Return a cell as a value of a relation, with every digit. */
relation_value table_value(const stored_table *table, size_t row, const char *column);
relation_value cell_value(const stored_cell *cell);
/* Adds all cells, row by row: texts as they are, and figures in the formats of the relation's columns. */
void table_add_to(const stored_table *table, relation *rows);
/* Returns an object with the columns from `first` to `last` by their names, without undefined ones. */
json_t *table_object(const stored_table *table, size_t row, const char *first, const char *last);

#endif
