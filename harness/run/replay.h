/* Runs a stored case again, or an adversarial row of a file, and compares bit for bit.
 *
 *     replayer own = {.judge = judge};                       // made with the seed of the run
 *     replay_result result;
 *     if (!replay_case(&own, kernel, judged, NULL, false, &result))
 *         puts(result.note);                                 // it cannot be run here
 *     else if (result.reproduces) ...
 *     replayer_forget(&own);
 *
 * After an interruption (base/interrupt.h) what comes back means nothing. */
#ifndef LNBENCH_REPLAY_H
#define LNBENCH_REPLAY_H

#include "conformance/checks.h"
#include "store/store.h"

typedef struct replay_side {
    case_verdict verdict;
    ln_metrics
        metrics; /* undefined: nothing came out; of an adversarial row, its worst element's alone */
    uint64_t hash; /* of all that came out, or of the row's y; see whole */
} replay_side;

typedef struct replay_result {
    replay_side then, now;
    bool whole; /* the case was made anew from its seed, all rows; else the stored rows alone ran */
    bool alone; /* a row without the others of its case: the verdict may have been theirs */
    bool hashed; /* a hash was stored, so that bits can be compared */
    bool same_bits, same_error, same_verdict;
    bool reproduces; /* all three, as far as they were stored */
    char note[256];  /* why not whole, or why it cannot be run; or "" */
} replay_result;

/* A judge with the rows and answers of the case before, for the next case on the same rows. */
enum { REPLAY_ARRAYS = 4 };
typedef struct replayer {
    row_judge *judge;                     /* borrowed */
    ln_convention convention;             /* of the case before, and of the covering arrays */
    combination_set *sets[REPLAY_ARRAYS]; /* NULL: not made yet */
    arena memory;                         /* of these */
    size_t array;                         /* that the conformance test before was of */
    /* What the block, or the blocks of a conformance test, are of; its input "": there are none. */
    case_key of;
    ln_type of_param;
    size_t of_array;
    judge_block block;
    conformance_task task;
    conformance_blocks blocks;
} replayer;
/* Frees all but the judge. */
void replayer_forget(replayer *own);

/* stored may be NULL: no row was kept. least: of combinations that are wrong the verdict says what it
 * takes. False: it cannot be run here; the note says why. */
bool replay_case(replayer *own, const kernel_entry *kernel, const stored_case *judged,
                 const stored_worst *stored, bool least, replay_result *result);
bool replay_find(row_judge *judge, const kernel_entry *kernel, const worst_row *find,
                 replay_result *result);

#endif
