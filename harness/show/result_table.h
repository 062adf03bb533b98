/* What a run ends with: one table, the answer in three sentences, what went wrong. */
#ifndef LNBENCH_RESULT_TABLE_H
#define LNBENCH_RESULT_TABLE_H

#include "base/output.h"
#include "base/text.h"
#include "show/answer.h"

typedef enum result_order { ORDER_SPEED, ORDER_ERROR, ORDER_NAME } result_order;

/* How much of it, and in which order. All zero: the short table, fastest first. */
typedef struct result_look {
    bool all;   /* every kernel and, as far as they fit, every shape */
    size_t top; /* the first so many kernels; 0: the chosen ones */
    result_order order;
    result_store *baseline; /* the changes since its run are a column; NULL: none */
    int64_t baseline_run;
    const char *again; /* options with which a case can be replayed from any folder; NULL: none */
} result_look;

result_order result_order_from_name(const char *name);

/* As text at most 45 lines of at most 100 columns (a terminal's width), unless the look asks for
 * more. As TSV and CSV: a line a case, with all its figures; as JSON: an array of cases. */
void result_table_print(const run_view *view, const output_file *out, const result_look *look);

/* The line on how uncertain the speeds of the short table are, for pages too. */
void result_noise(const run_answer *answer, text_buffer *out);

/* 3 where speeds are too noisy to say who is fastest. */
exit_code result_exit_code(const run_view *view);
/* That, and what the stored verdicts ask for: a peer's faults are nobody's here. */
exit_code view_exit_code(const run_view *view);

#endif
