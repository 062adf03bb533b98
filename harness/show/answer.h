/* The answer of a run: a table with one row for each kernel and one column for each timed shape, the kernels that the
 * answer names, and its sentences. Terminal, page and README take their figures from here.
 *
 *     run_answer answer;
 *     answer_make(&view, &answer);
 *     if (answer.recommended) puts(answer.recommended->kernel);
 *     answer_free(&answer);
 */
#ifndef LNBENCH_ANSWER_H
#define LNBENCH_ANSWER_H

#include "base/text.h"
#include "show/run_view.h"

enum {
    ANSWER_COLUMNS = 32,
    ANSWER_ROWS = 12,
    UNTOLD_MOST = 3
}; /* rows of the short table, but for plugins' */

typedef struct answer_row {
    const char *kernel;
    const char *label;        /* short: without the answer's type and ISA */
    const char *version;      /* of a peer: "oneDNN 2.6.3"; "" */
    const char *reproducible; /* as domain/kernel.h has it */
    const kernel_standing *standing;
    const ranked_kernel *ranked;              /* at the key column */
    const error_sum *all;                     /* of these: its errors on every judged row */
    bool shown;                               /* in the short table */
    const stored_case *cells[ANSWER_COLUMNS]; /* NULL: not timed */
    const stored_case *at_key;                /* at the key column */
    double relative; /* its time / the fastest's at the key column, paired; NaN: not timed */
    bool tied;       /* the interval of that ratio holds 1 */
    double speedup;  /* the fastest peer's time / its own there, paired; NaN */
} answer_row;

typedef struct answer_column {
    case_key key; /* of its group; kernel: the fastest roof */
    const char *regime;
    speed_figures copy; /* the roof's */
} answer_column;

typedef struct run_answer {
    const run_view *view;
    ln_type dtype;
    const char *isa; /* of the fastest: left out of the labels */
    answer_column columns[ANSWER_COLUMNS];
    size_t column_count, key; /* key: the column that ranks */
    answer_row *rows;         /* fastest first; where nothing was timed, most accurate first */
    size_t count;
    size_t cases; /* judged of most kernels */
    const char *plan;
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

/* Writes the labels that the answers print into the descriptors of the run. */
void answer_label(const run_view *view);
/* Of a part (view_next_part()). */
void answer_make(const run_view *view, run_answer *answer);
void answer_free(run_answer *answer);

/* The answer in at most five sentences, each ended by a newline: what to call and how fast it is, how accurate, what is
 * faster and what that costs, which kernels fail on which rows, and what all this rests on. */
void answer_sentences(const run_answer *answer, text_buffer *out);

/* "L2 768", and what else tells the columns apart. */
const char *answer_column_name(const run_answer *answer, size_t column, char buffer[64]);
/* "2.1": a ratio of speeds for people. */
const char *answer_times(double ratio, char buffer[16]);
/* Half the interval of a share of the roof, over the share. */
double answer_spread(const speed_figures *speed);

/* From which relative uncertainty on a speed is called noisy. */
#define SPEED_NOISY 0.05

/* "recommended", "fastest", "library", "textbook", "peer", "plugin": why it stands in the short table. */
const char *answer_role_word(const run_answer *answer, const answer_row *row);

#endif
