/* What of a stored run its page shows: the answer, and what plots/shown.sql makes of the store.
 *
 *     report_data data;
 *     report_data_read(&data);                   // when the script has run
 *         table_text(&data.shape, 0, "words");   // "85 rows × 768"
 *     report_data_free(&data);
 */
#ifndef LNBENCH_REPORT_DATA_H
#define LNBENCH_REPORT_DATA_H

#include "show/answer.h"
#include "base/text.h"
#include "store/store.h"

typedef struct report_kernel {
    const char *name, *reproducibility; /* as a view_case has it */
    const kernel_standing *standing;    /* over all conventions, as in the answer */
    error_class class;                  /* of SCOPE_ANY */
    const view_case *at;                /* at the report's shape; NULL: not timed there */
} report_kernel;

/* The kind of a look that is another library. */
enum { LOOK_PEER = 8 };

typedef struct report_data {
    const run_view *view;
    run_answer answer; /* what the terminal shows */
    ln_type type;      /* what was timed most, or judged most */
    /* The tables of the script of these names; shape: no rows where nothing was timed. */
    stored_table about, shape, looks, best, shown, inputs_judged;
    report_kernel *kernels; /* every kernel of the type but the roofs */
    size_t kernel_count;
    input_error *input_errors; /* under the convention that errors are shown of */
    size_t input_error_count;
} report_data;

/* With the answer in it already. */
void report_data_read(report_data *data);
void report_data_free(report_data *data);

/* A kernel by its name; NULL: not among them. */
const report_kernel *report_kernel_named(const report_data *data, const char *name);

/* "AMD EPYC, 2 cores, in a virtual machine" */
void report_machine_words(const run_view *view, text_buffer *out);
/* "AMD EPYC | commit 1234567 | 2026-01-01T00:00:00Z | run 3, seed 1" */
void report_footer(const run_view *view, text_buffer *out);

#endif
