/* Runs a stored worst case or failure again, or an adversarial row of a file, and compares bit for bit.
 *
 *     replay_result result;
 *     if (!replay_find(judge, kernel, &find, &result, &err)) ...
 *     if (result.reproduces) ...
 */
#ifndef LNBENCH_REPLAY_H
#define LNBENCH_REPLAY_H

#include "conformance/checks.h"
#include "conformance/conformance.h"
#include "store/store.h"
#include "inputs/worst.h"

typedef struct replay_side {
    case_verdict verdict;
    double row_ulp;         /* NaN: nothing came out */
    size_t row, column;     /* the worst element */
    double computed, exact; /* of it */
    uint64_t hash;          /* of all that came out, or of the row's y; see whole */
} replay_side;

typedef struct replay_result {
    replay_side then, now;
    ln_metrics metrics; /* of now, all of them */
    bool whole; /* the case was made anew from its seed, all rows; else the stored rows alone ran */
    bool alone; /* a row without the others of its case: the verdict may have been theirs */
    bool hashed; /* a hash was stored, so that bits can be compared */
    bool same_bits, same_error, same_verdict;
    bool reproduces; /* all three, as far as they were stored */
    char note[160];  /* why not whole, or "" */
} replay_result;

/* Rows and answers of the case before, for the next one on the same: of one judge and one run.
 * Begins as {0}; free it with replay_kept_free(). */
enum { REPLAY_ARRAYS = 4 };
typedef struct replay_kept {
    judge_block block;
    case_key of;                          /* the block is of; its input "": there is none */
    ln_convention convention;             /* that all is kept for */
    combination_set *sets[REPLAY_ARRAYS]; /* NULL: not made yet */
    arena memory;                         /* of these */
    size_t array;                         /* the one that the case before was of */
    size_t asked_of;                      /* and that `asked` is of */
    conformance_task task;
    conformance_blocks asked; /* of the task; none: there is none */
} replay_kept;
void replay_kept_free(replay_kept *kept);

/* A case of a run with this seed. stored may be NULL: no row was kept. The judge must have been
 * made with the run's seed. least: of combinations that are wrong the verdict says what it takes.
 * kept: NULL: nothing is. */
bool replay_case(row_judge *judge, const kernel_entry *kernel, const stored_case *judged,
                 const stored_worst *stored, bool least, replay_kept *kept, replay_result *result,
                 error *err);
bool replay_find(row_judge *judge, const kernel_entry *kernel, const worst_row *find,
                 replay_result *result, error *err);

#endif
