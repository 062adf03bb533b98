/* report --verify: every error of a run is derived again, and the page around it is drawn again. */
#ifndef LNBENCH_COMMANDS_REPLAY_H
#define LNBENCH_COMMANDS_REPLAY_H

#include "show/run_view.h"

typedef struct verify_request {
    const char *file; /* that was sent: a page or an exported run; NULL: the run is of the store */
    uint64_t sample;  /* how many errors, drawn at random; UINT64_MAX: all */
    const word_list *plugins;
    const output_file *printed;
} verify_request;

/* An error holds where every figure, the verdict and the hash of the output are the same. Shows a page that
 * its run does not draw, the errors that do not hold, and why others could not be derived here. Returns the
 * code, or a worse one: 4 no error could be derived, 5 an error or the page does not hold. */
exit_code report_verify(const verify_request *request, const run_view *view, exit_code code);

#endif
