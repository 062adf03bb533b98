/* What a run comes to: one row a kernel, one column a timed shape, and the few kernels and figures
 * that the answer is made of. Terminal, page and README take their figures from here.
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
    const char *reproducible; /* as domain/reproducible.h has it */
    const kernel_standing *standing;
    const ranked_kernel *ranked;            /* at the key column */
    const error_sum *all;                   /* of these: its errors on every judged row */
    bool shown;                             /* in the short table */
    const view_case *cells[ANSWER_COLUMNS]; /* NULL: not timed */
    const view_case *at_key;                /* at the key column */
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

/* Why no kernel of the run is recommended: half of the evidence is missing. NULL: it is all there. */
const char *answer_half(const run_answer *answer);
/* Why a kernel that is accurate enough is not recommended: that, or what speaks against it alone: its bits differ
 * from call to call, cases are missing. NULL: it can be recommended. */
const char *answer_doubt(const run_answer *answer, const answer_row *row);
/* The first row that can be called and is accurate enough, whatever doubt there is; NULL: none. */
const answer_row *answer_accurate(const run_answer *answer);

/* " (provisional: the quick plan judges few cases; the default plan decides)", for plans that do; else
 * "". */
const char *answer_provisional(const char *plan);

/* Whether speeds are too noisy to say which kernel is fastest. */
bool answer_is_noisy(const run_answer *answer);

/* Writes the labels that the answers print into the descriptors of the run. */
void answer_label(const run_view *view);
/* Of a part (view_part()). */
void answer_make(const run_view *view, run_answer *answer);
void answer_free(run_answer *answer);

/* "L2 768", and what else tells the columns apart. The key column in full: "85x768 (L2)". */
const char *answer_column_name(const run_answer *answer, size_t column, char buffer[64]);
const char *answer_shape(const run_answer *answer, char buffer[64]);
/* "2.1": a ratio of speeds for people. */
const char *answer_times(double ratio, char buffer[16]);
/* Half the interval of a share of the roof, over the share. */
double answer_spread(const speed_figures *speed);

/* How far speeds that are shown can be trusted. */
typedef struct speed_noise {
    size_t speeds, wide; /* wide: uncertain by more than SPEED_NOISY */
    double widest;       /* half an interval, as a share */
} speed_noise;
#define SPEED_NOISY 0.05
void noise_count(speed_noise *noise, double spread);
/* "! Noisy: ..." and what else helps, where some are wide; each form ends in a newline. */
void noise_add_line(text_buffer *out, const speed_noise *noise, const char *remedy);

/* "recommended", "fastest", "library", "textbook", "peer", "plugin": why it stands in the short table. */
const char *answer_role_word(const run_answer *answer, const answer_row *row);

#endif
