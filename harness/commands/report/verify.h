/* report --verify: figures of a run once more: errors as `replay` does it, speeds by the commands that
 * they name. */
#ifndef LNBENCH_REPORT_VERIFY_H
#define LNBENCH_REPORT_VERIFY_H

#include "cli/options.h"
#include "base/output.h"
#include "answer/run_view.h"

/* Runs `sample` figures of the view again, with these plugins, in a database of their own that is
 * removed, and prints a table of which still hold: an error when every figure of it and the hash of
 * the output are the same bits, a speed when the intervals of its share of the roof meet. *code
 * gets worse: 1 a speed does not hold, 4 a case could not be measured again, 5 an error does not. */
bool report_verify(const run_view *view, size_t sample, const word_list *plugins,
                   const output_file *out, exit_code *code, error *err);

/* Every error of the view again, and which differ; a kernel that cannot run here differs in nothing,
 * and on another machine (`elsewhere`) a call of the library that takes another kernel there.
 * *code gets worse: 5 where one differs, 4 where none could be derived. */
bool report_verify_errors(const run_view *view, bool elsewhere, const word_list *plugins,
                          const output_file *out, exit_code *code, error *err);

#endif
