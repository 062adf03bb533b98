/* A stored run, and its answer: a table with one row for each kernel and one column for each timed shape, the kernels that the
 * answer names, and its sentences. Terminal, page and README take their figures from here.
 *
 *     run_view view = load_stored_run("results/lnbench.db", 0);
 *     run_answer answer;
 *     answer_make(&view, &answer);
 *     if (answer.recommended) puts(answer.recommended->kernel);
 *     answer_free(&answer);
 *     view_free(&view);
 */
#ifndef LNBENCH_ANSWER_H
#define LNBENCH_ANSWER_H

#include "base/relation.h"
#include "domain/coverage.h"
#include "store/speed.h"
#include "store/standing.h"
#include "store/store.h"

/* ---- the stored run ---- */

typedef struct run_view {
    stored_run run;
    machine_facts machine;
    json_t *kernels;         /* array of descriptors */
    standing_list standings; /* of its kernels, operation by operation */
    result_store *store;     /* that it was read from */
    bool owns_store;         /* it is closed with the view; else it has to outlive it */
    unsigned others;         /* of a part, bits of the run's other operations */
} run_view;

/* kernel_words_named() among a run's kernels: free the names with word_list_free(). */
void store_kernel_words(result_store *store, int64_t run, const word_list *words, word_list *names);
/* Goes through the parts of a view: each has the kernels of one operation, which are ranked
 * among themselves. A part borrows all it has from the whole; a run without kernels is one part. False: there are no more.
 *
 *     for (run_view part = {0}; view_next_part(&view, &part);)
 *         answer_make(&part, &answer);
 */
bool view_next_part(const run_view *whole, run_view *part);
run_view view_load(result_store *store, int64_t run);
void view_free(run_view *view);
/* "requested 40, judged 37, missing 3: ...", and whether the run came to its end: one line without its end;
 * "" where there is nothing to say, of a complete run that tells no more. */
void view_add_coverage(const run_view *view, text_buffer *out);
/* What a part computes; of the whole, what its first part does. */
ln_operation view_operation(const run_view *part);
/* Whether the run lost cases, or did not come to its end. */
bool view_is_partial(const run_view *view);
/* In words; in JSON "verdict" (null: not judged), "reason" and "detail" (EACH_MEMBER). */
relation_value as_verdict(const case_verdict *verdict);
json_t *verdict_json(const case_verdict *verdict); /* the same members */
/* A word of domain/kernel.h. */
relation_value as_class(const char *word);
json_t *json_facts(const machine_facts *machine); /* an object of strings */

/* A case as published JSON (results/README.md); what is undefined is null. label, class: of its kernel, the class as
 * domain/kernel.h has it; NULL: not known. regime: "L1", "L2", "L3", "DRAM" on the machine of the run. */
json_t *case_json(const stored_case *stored, const char *label, const char *class,
                  const char *regime);
json_t *view_run_json(const run_view *view); /* an array of all cases that have a result */

/* Loads run `wanted` of a database; 0: the latest that `lnbench run` made, since what `choose` measured for itself is
 * no survey; where there is no such run, the latest of all. Where there is no such database or run the program ends (7)
 * with what would make one. */
run_view load_stored_run(const char *database, uint64_t wanted);

/* ---- its answer ---- */

enum {
    ANSWER_COLUMNS = 32,
    ANSWER_ROWS = 12,
    UNTOLD_MOST = 3
}; /* rows of the short table, but for plugins' */

typedef struct answer_row {
    const char *kernel;
    const char *label;        /* short: without the answer's type and ISA */
    const char *reproducible; /* as domain/kernel.h has it */
    const kernel_standing *standing;
    const ranked_kernel *ranked;         /* at the key column */
    const error_sum *all;                /* of these: its errors on every judged row */
    bool shown;                          /* in the short table */
    speed_figures cells[ANSWER_COLUMNS]; /* without cycles; no repetitions: not timed */
    const speed_figures *at_key;         /* at the key column; NULL: not timed */
    double relative; /* its time / the fastest's at the key column, paired; NaN: not timed */
    bool tied;       /* the interval of that ratio holds 1 */
    double speedup;  /* the fastest peer's time / its own there, paired; NaN */
} answer_row;

typedef struct answer_column {
    case_key key; /* of its group; kernel: the fastest copy */
    const char *regime;
    double copy_gbps;
} answer_column;

typedef struct run_answer {
    const run_view *view;
    ln_type dtype;
    const char *isa; /* of the fastest: left out of the labels */
    answer_column columns[ANSWER_COLUMNS];
    size_t column_count, key; /* key: the column that ranks */
    answer_row *rows;         /* fastest first; where nothing was timed, most accurate first */
    size_t count;
    size_t cases;           /* judged of most kernels */
    kernel_ranking ranking; /* the answer of recommended.sql, which the rest follows from */
    const answer_row *fastest, *recommended, *peer; /* NULL: there is none, or nobody can say */
    /* Where the recommended kernel has no proof of its accuracy: the fastest that has one; and a tuned kernel that
     * is over 10 % faster than the recommended call; NULL: there is none. */
    const answer_row *proven, *tuned;
    /* Where speeds are too noisy to say who is fastest, of all and of those that can be recommended: who is
     * not told apart (ranked_kernel.sooner_than_...). */
    const answer_row *untold[2][UNTOLD_MOST];
    size_t untold_count[2];
} run_answer;
enum { OF_ALL, OF_CALLABLE }; /* of untold */

/* Whether speeds are too noisy to say which kernel is fastest. */
static inline bool answer_is_noisy(const run_answer *answer)
{
    return answer->untold_count[OF_ALL] > 1 || answer->untold_count[OF_CALLABLE] > 1;
}

/* Of a part (view_next_part()). */
void answer_make(const run_view *view, run_answer *answer);
void answer_free(run_answer *answer);

/* The answer in at most five sentences, each ended by a newline: what to call and how fast it is, how accurate, what is
 * faster and what that costs, which kernels fail on which rows, and what all this rests on. */
void answer_sentences(const run_answer *answer, text_buffer *out);

/* "L2 768", and what else tells the columns apart. */
const char *answer_column_name(const run_answer *answer, size_t column, char buffer[64]);
/* error_in_words() of a sum. */
const char *answer_error_words(const run_answer *answer, const error_sum *sum,
                               char words[ERROR_WORDS]);
/* "2.1": a ratio of speeds for people. */
const char *answer_times(double ratio, char buffer[16]);
/* Half the interval of a share of the roof, over the share. */
double answer_spread(const speed_figures *speed);

/* From which relative uncertainty on a speed is called noisy. */
#define SPEED_NOISY 0.05

/* "recommended", "fastest", "library", "textbook", "peer", "plugin": why it stands in the short table. */
const char *answer_role_word(const run_answer *answer, const answer_row *row);

#endif
