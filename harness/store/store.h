/* The result store: one SQLite file. The only place with SQL. Every call below that writes has
 * committed when it returns, so that an interruption at any moment loses nothing that was measured.
 *
 *     result_store *store;
 *     if (!store_open("results/lnbench.db", STORE_WRITE, &store, &err)) ...
 *     store_begin_run(store, &run, &run_id, &err);
 *     store_put_accuracy(store, run_id, &key, &verdict, &metrics, bound, &err);
 *     store_put_repetition(store, run_id, &key, &repetition, &err);
 *     store_end_run(store, run_id, RUN_COMPLETE, &err);
 */
#ifndef LNBENCH_STORE_H
#define LNBENCH_STORE_H

#include "domain/operation.h"
#include "domain/stored_case.h"
#include "domain/machine.h"

typedef struct result_store result_store;

typedef enum store_mode { STORE_READ, STORE_WRITE } store_mode;

typedef enum run_state { RUN_OPEN, RUN_COMPLETE, RUN_INTERRUPTED } run_state;
extern const char
    *const run_state_names[RUN_INTERRUPTED + 1]; /* "open", "complete", "interrupted" */

/* What a run is, at its beginning. Strings are copied in. */
typedef struct run_info {
    const char *command_line;
    const char *plan;      /* "quick", "default", "full" */
    const char *plan_hash; /* hex; equal hashes may be resumed */
    uint64_t seed;
    const machine_facts *machine;    /* every fact is stored */
    const char *command;             /* "run", "choose"; NULL: not known */
    const char *request_hash;        /* plan.h: of what was asked for; NULL: not known */
    size_t triples, triples_covered; /* of levels that the problems hold; 0: not asked */
} run_info;

/* Cases of a run: asked for, and of these unsupported (the kernel does not take the problem, or this
 * CPU cannot run it) and lost (no result). The others are done. */
typedef struct run_counts {
    bool known; /* imported runs may not say */
    size_t asked, declined, lost;
} run_counts;

/* A case that a run was asked for; reason: why it has no result, of a lost one alone. */
enum { ASKED_TO_JUDGE = 1, ASKED_TO_TIME = 2 };
typedef struct asked_case {
    case_key key;
    unsigned parts;
    char reason[DETAIL_MAX_LENGTH];
} asked_case;

/* What is stored about a kernel that took part. JSON text of its descriptor, as `list kernels
 * --json` shows it. */
typedef struct stored_run {
    int64_t id;
    char started[32]; /* ISO 8601, UTC */
    char plan[16];
    char plan_hash[65];
    char command_line[512];
    uint64_t seed;
    run_state state;
    size_t cases, repetitions; /* cases with a result */
    char command[16];          /* the subcommand; "": not known */
    char request_hash[17];     /* "": not known */
    char origin[17];           /* a hash that no other run has */
    bool imported;
    size_t triples, triples_covered;
    run_counts counts;
} stored_run;

/* What is said of stores and exports of earlier formats. */
#define MADE_BY_OLDER "made by an older lnbench; results/README.md lists the commits that read it"

/* PRAGMA application_id: "lnbh", and "lnru" of an exported run, behind whose pages its hash stands
 * (store/run_file.h). */
enum { STORE_APPLICATION_ID = 0x6c6e6268, STORE_EXPORTED_ID = 0x6c6e7275 };

/* Opens or (STORE_WRITE) creates. Errors (7): not a database, damaged (as far as
 * opening reads it, and all of it where a crash left something to be rolled back), made by
 * another version, not writable. */
bool store_open(const char *path, store_mode mode, result_store **store, error *err);
/* One that is gone when it is closed. */
bool store_open_memory(result_store **store, error *err);
/* Reads the whole file; an error (7) says what is damaged. */
bool store_check_sound(result_store *store, error *err);
/* Bytes of the file that a run takes, about: pages of several runs are shared out by their rows. In
 * the order of the runs; free(*sizes). */
typedef struct run_size {
    int64_t run, bytes;
} run_size;
bool store_run_sizes(result_store *store, run_size **sizes, size_t *count, error *err);
/* Takes out these runs with all that belongs to them alone, and gives their space back. */
bool store_remove_runs(result_store *store, int64_t first, int64_t last, int64_t *removed,
                       error *err);
/* As it was opened. */
const char *store_path(const result_store *store);
void store_close(result_store *store);

/* The smallest change of time that is seen on a machine, as a share (0.01 is 1 %), of each regime;
 * NaN: not measured. `lnbench doctor --noise` stores it. */
typedef struct machine_noise {
    char made[32]; /* ISO 8601, UTC; "": not measured */
    double smallest[REGIMES];
} machine_noise;
/* Replaces what was stored of this machine. */
bool store_put_noise(result_store *store, const machine_facts *machine,
                     const double smallest[REGIMES], error *err);
/* A file that does not exist holds none. */
bool store_load_noise(const char *database, const machine_facts *machine, machine_noise *noise,
                      error *err);

bool store_begin_run(result_store *store, const run_info *info, int64_t *run, error *err);
/* What the run is to do, before it does any of it: each case (twice the same is once, with the parts
 * of both), then their count. The run is open from then on. */
bool store_put_asked(result_store *store, int64_t run, const asked_case *asked, error *err);
bool store_count_asked(result_store *store, int64_t run, error *err);
/* Counts what became of the cases, too. */
bool store_end_run(result_store *store, int64_t run, run_state state, error *err);
/* What was asked for and has no result, in the order of asking; free(*lost). */
bool store_lost(result_store *store, int64_t run, asked_case **lost, size_t *count, error *err);
/* Latest run that is not complete or lost cases, and has this plan hash; *run is 0 where there is
 * none. */
bool store_find_unfinished(result_store *store, const char *plan_hash, int64_t *run, error *err);
/* Latest run, of any state, with at least one case, if only asked for; 0 where there is none. */
bool store_latest_run(result_store *store, int64_t *run, error *err);

/* The latest that `lnbench choose` did not make; 0: none. */
bool store_latest_survey(result_store *store, int64_t *run, error *err);

bool store_put_kernel(result_store *store, int64_t run, const char *name, const char *json,
                      error *err);
/* The kernel behind a call of the library (key->kernel) at a shape. */
bool store_put_dispatched(result_store *store, int64_t run, const case_key *key, const char *name,
                          error *err);
/* The judgement of a case, in place of an earlier one: its verdict, errors, bound and hash. */
bool store_put_judged(result_store *store, int64_t run, const stored_case *stored, error *err);
bool store_put_repetition(result_store *store, int64_t run, const case_key *key,
                          const timed_repetition *repetition, error *err);
/* A speed case that could not be timed gets its verdict by store_put_judged on the same key. */

/* The bits of a tensor; NULL and 0: not there. */
typedef struct stored_tensor {
    void *bits;
    size_t bytes;
    int64_t id; /* in the database, whatever number of cases has it; 0: not read from one */
} stored_tensor;

/* A worst row and what went with it: those inputs that role_is_kept(), by role. */
typedef struct stored_worst {
    uint64_t y_hash; /* FNV-1a of the row's y as timed */
    stored_tensor inputs[ROLES_MOST];
} stored_worst;

/* Keeps the worst row of a judged case: after store_put_judged. Bits that some case has already
 * are not stored twice. */
bool store_put_worst(result_store *store, int64_t run, const case_key *key,
                     const stored_worst *worst, error *err);
/* That of a case that was read; *has tells whether there is one. stored_worst_free() it. */
bool store_worst(result_store *store, const stored_case *judged, stored_worst *worst, bool *has,
                 error *err);
void stored_worst_free(stored_worst *worst);

/* The curve of error over kappa and the like: one point a row judged. */
typedef struct stored_row {
    size_t case_index; /* into the cases of the same run, as store_cases gives them */
    size_t row;
    double kappa, row_ulp, norm_max, bound_row_ulp;
    double mean_error, rstd_error; /* as a judged_row's */
} stored_row;
bool store_put_row(result_store *store, int64_t run, const case_key *key, const stored_row *row,
                   error *err); /* case_index is not looked at */

bool store_runs(result_store *store, stored_run **runs, size_t *count,
                error *err); /* free(*runs) */
bool store_run(result_store *store, int64_t run, stored_run *info, error *err);
/* A hash of the cases that a run was asked for, or has, in any order and without its roofs. */
bool store_case_set(result_store *store, int64_t run, uint64_t *hash, error *err);
bool store_run_of_case(result_store *store, int64_t id, int64_t *run, error *err);
bool store_cases(result_store *store, int64_t run, stored_cases *cases, error *err);
/* The machine facts of a run; machine_free() them. */
bool store_machine(result_store *store, int64_t run, machine_facts *machine, error *err);
/* The kernels of a run: a JSON array as text, free() it. */
bool store_kernels_json(result_store *store, int64_t run, char **json, error *err);

/* Everything put between the two is kept whole or not at all. */
bool store_together(result_store *store, error *err);
bool store_together_end(result_store *store, bool fine, error *err);
/* The same without waiting for the disk: what is stored outlives the process, as each result alone does, and
 * may be lost where the power is. */
bool store_together_leave(result_store *store, bool fine, error *err);
/* Of results that were put without ending the processes that made them, as tests do: what the repetitions come to, but
 * for the unfinished process (store_unfinished()), and the run's counts. */
bool store_sum_up(result_store *store, int64_t run, int64_t unfinished, error *err);

/* The runs of another database, or one of them (0: all), into the store, in one transaction; those that it has by
 * their origin are left out. *count of them came, numbered from *first on; 0: the store has them all, the first of them as
 * *first. */
bool store_copy_runs(result_store *store, const char *path, int64_t only, int64_t *first,
                     int64_t *count, error *err);
/* A run of the database `path` into a file of its own, without the hash behind its pages. */
bool store_export_run(const char *path, int64_t run, const char *to, error *err);

/* For --resume: a worker process that left every repetition it was to make is ended, and the speeds of
 * what it timed are stored; the others'
 * repetitions are dropped, since they are made again; how many ended ones timed this case; and the
 * first number that no process of the run has. */
bool store_end_process(result_store *store, int64_t run, unsigned process, error *err);
bool store_drop_unfinished(result_store *store, int64_t run, error *err);
bool store_process_count(result_store *store, int64_t run, const case_key *key, unsigned *processes,
                         error *err);
bool store_next_process(result_store *store, int64_t run, unsigned *process, error *err);
/* The process that a run was killed in: its repetitions are no part of a speed. NO_PROCESS: none. */
enum { NO_PROCESS = -1 };
bool store_unfinished(result_store *store, int64_t run, int64_t *process, error *err);
bool store_has_accuracy(result_store *store, int64_t run, const case_key *key, bool *has,
                        error *err);

#endif
