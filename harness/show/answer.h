/* A stored run and its answer: a table with a row for each kernel and a column for each timed shape, the kernels that
 * the answer names, and its sentences. Terminal, page and README take their figures from here.
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

/* The facts of a run and of its kernels. Code that shows cases reads them from the store. */
typedef struct run_view {
    stored_run run;
    machine_facts machine;
    json_t *kernels;         /* array of descriptors */
    standing_list standings; /* a summary of each kernel, grouped by operation */
    result_store *store;     /* the store that the view was read from */
    bool owns_store;         /* view_free() closes the store */
    unsigned others;         /* in a part: a bit for each other operation of the run */
} run_view;

/* Steps through the parts of a view: each has the kernels of one operation, which are ranked among themselves. A part
 * borrows its data from the whole. A run without kernels is one part. False: there are no more.
 *
 *     for (run_view part = {0}; view_next_part(&view, &part);)
 *         answer_make(&part, &answer);
 */
bool view_next_part(const run_view *whole, run_view *part);
run_view view_load(result_store *store, int64_t run);
void view_free(run_view *view);
/* Adds "requested 40, judged 37, missing 3: ...", and whether the run finished, without a newline. */
void view_add_coverage(const run_view *view, text_buffer *out);
/* Returns the operation of a part; for the whole view, that of its first part. */
ln_operation view_operation(const run_view *part);
/* Returns whether cases are missing or the run did not finish. */
bool view_is_partial(const run_view *view);
/* Returns a verdict as a cell: words in text; in JSON "verdict" (null: not judged), "reason", "detail". */
relation_value as_verdict(const case_verdict *verdict);
json_t *verdict_json(const case_verdict *verdict); /* the same members */
/* Returns a reproducibility class of domain/kernel.h as a cell. */
relation_value as_class(const char *word);
json_t *json_facts(const machine_facts *machine); /* an object of strings */

/* Returns a case as published JSON (results/README.md); undefined figures are null. label and class belong to its
 * kernel (NULL: not known). regime is "L1", "L2", "L3" or "DRAM" on the machine of the run. */
json_t *case_json(const stored_case *stored, const char *label, const char *class,
                  const char *regime);
json_t *view_run_json(const run_view *view); /* an array of all cases that have a result */

/* Loads run `wanted` of a database. 0: the latest of `lnbench run`, as runs of `choose` measure few cases; if there is
 * none, the latest of all. If the database or run does not exist, the program ends (7) and says how to make one. */
run_view load_stored_run(const char *database, uint64_t wanted);

/* ---- its answer ---- */

enum {
    ANSWER_COLUMNS = 32,
    ANSWER_ROWS = 12
};                            /* rows of the short table, not counting those of plugins */
enum { OF_ALL, OF_CALLABLE }; /* all kernels; those that can be recommended */

typedef struct answer_row {
    const char *kernel;
    const char *label;        /* its name without the answer's type and ISA */
    const char *reproducible; /* its class (domain/kernel.h) */
    const kernel_standing *standing;
    const ranked_kernel *ranked; /* its ranking at the key column */
    const error_sum *all;        /* standing's errors on all judged rows except adversarial ones */
    bool shown;                  /* in the short table */
    /* Whether it may be the fastest of all kernels, and of those that can be recommended. If speeds are not too noisy,
     * only one row of each kind is marked. */
    bool maybe_fastest[2];
    speed_figures cells[ANSWER_COLUMNS]; /* without cycles; no repetitions: not timed */
    const speed_figures *at_key;         /* at the key column; NULL: not timed */
    double speedup; /* times as fast as the fastest peer at the key column; NaN: not timed */
} answer_row;

typedef struct answer_column {
    case_key key;  /* of its group; kernel: the fastest copy */
    char name[64]; /* "L2 768", with more words where columns would have equal names */
    const char *regime;
    double copy_gbps;
    const char *copy_noisy; /* "!" if the time of the copy varies by over SPEED_NOISY, else "" */
} answer_column;

typedef struct run_answer {
    const run_view *view;
    ln_type dtype;
    const char *isa; /* of the fastest kernel; labels leave it out */
    answer_column columns[ANSWER_COLUMNS];
    size_t column_count, key; /* key: the column that ranks */
    answer_row *rows;         /* fastest first; if nothing was timed, most accurate first */
    size_t count;
    size_t cases;           /* the number of cases that most kernels were judged on */
    kernel_ranking ranking; /* the result of recommended.sql, from which the rest follows */
    const answer_row *fastest, *recommended,
        *peer; /* NULL: there is none; fastest: also if speeds are too noisy */
    /* proven: if the recommended kernel has no proven bound, the fastest kernel that has one. tuned: a tuned kernel
     * that is over 10 % faster than the recommended call. NULL: there is none. */
    const answer_row *proven, *tuned;
    /* The number of rows that may be the fastest. With more than one, speeds are too noisy to say which is
     * (ranked_kernel.sooner_than_...). */
    size_t maybe_fastest_count[2];
    bool noisy;  /* more than one may be the fastest, of all or of those that can be recommended */
    bool unsure; /* the interval of a kernel that is over 10 % slower includes the fastest one */
} run_answer;

/* Makes the answer of a part (view_next_part()). */
void answer_make(const run_view *view, run_answer *answer);
void answer_free(run_answer *answer);

/* Adds the answer, one sentence per line: the recommended kernel and its speed, its accuracy, what noise leaves open, a
 * faster kernel and its drawback, the kernels that fail and on which rows, and the number of cases behind the figures. */
void answer_sentences(const run_answer *answer, text_buffer *out);

/* Writes the largest error of a sum as error_in_words() does. */
const char *answer_error_words(const run_answer *answer, const error_sum *sum,
                               char words[ERROR_WORDS]);
/* Returns how many times as fast a kernel is as another at the shape of the ranking: the quotient of their copy ratios,
 * as tables show them, or of their times if no copy was timed; NaN: not timed. */
double answer_speedup(const ranked_kernel *own, const ranked_kernel *base);
/* Describes that: "about as fast", "2.1 times as fast", or "perhaps 2.1 times as fast" if the intervals say little. */
enum { SPEEDUP_WORDS = 40 };
const char *answer_speedup_words(const ranked_kernel *own, const ranked_kernel *base,
                                 char words[SPEEDUP_WORDS]);
/* Formats a ratio of speeds for people, such as "2.1". */
const char *answer_times(double ratio, char buffer[16]);
/* Returns half the interval of a time, divided by the time; NaN: not timed. */
double answer_spread(const ranked_kernel *own);

/* A speed or time with a larger spread is called noisy. */
#define SPEED_NOISY 0.05

/* Returns why a row is in the short table: "recommended", "fastest" ("≈ fastest" if unsure), "library", "textbook", ... */
const char *answer_role_word(const run_answer *answer, const answer_row *row);

#endif
