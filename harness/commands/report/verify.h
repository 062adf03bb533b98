/* report --verify: figures of a run once more: errors as `replay` does it, speeds by the commands that
 * they name. */
#ifndef LNBENCH_REPORT_VERIFY_H
#define LNBENCH_REPORT_VERIFY_H

#include "show/run_view.h"
#include "base/output.h"
#include "base/text.h"

typedef struct verify_request {
    const char *file; /* that was sent: a page or an exported run; NULL: the run is of the store */
    bool all;         /* every error and no speed */
    uint64_t sample, seed; /* 0: everything of another machine, else 8; one that was never drawn */
    const word_list *plugins;
    const output_file *printed;
} verify_request;

/* Errors are derived again, and must agree in every bit of every figure and of the output's hash, where the
 * processor has what it takes; on the run's own machine speeds are measured again, in a database of their
 * own that is removed, and the intervals of their shares of the roof must meet. A page must be what its run
 * draws. The last line says whether it holds. Returns the code, or a worse one: 1 a speed does not hold, 4 a figure could
 * not be made again, 5 an error or the page does not hold. */
exit_code report_verify(const verify_request *request, const run_view *view, exit_code code);

/* What a file that was sent tells of itself. */
typedef struct sent_state {
    bool fails;       /* a page that its run does not draw: a line says so */
    bool has_speeds;  /* with raw timings */
    const char *page; /* what the last line says of it, or "" */
} sent_state;
sent_state report_sent(const verify_request *request, const run_view *view);

#endif
