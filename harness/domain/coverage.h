/* Counts the cases that a command requested, completed and misses; the exit codes of all commands follow from this.
 *
 *     coverage covered = {.requested = 3, .done = 2};
 *     coverage_missing(&covered, "bravo torch 4x64", "only in base");
 *     coverage_add_line(&out, &covered, "compared");
 *     // requested 3, compared 2, missing 1: bravo torch 4x64 (only in base)
 *     coverage_free(&covered);
 *
 * Every requested case is done (it has a result, good or bad), unsupported (its kernel does not support
 * the problem, or this CPU cannot run it), or missing (it could run here and has no result). A missing
 * case is never called fine.
 */
#ifndef LNBENCH_COVERAGE_H
#define LNBENCH_COVERAGE_H

#include "base/relation.h"
#include "base/text.h"

enum { COVERAGE_NAMED = 3 }; /* missing cases that a line names */

typedef struct coverage {
    size_t requested, done, unsupported, missing;
    word_list named; /* the first missing cases: "bravo torch 4x64 (only in base)" */
} coverage;

/* Counts one more case as missing and names it. `why` may be NULL. */
void coverage_missing(coverage *covered, const char *what, const char *why);
/* Adds one line without a newline. `verb` says what was done: "judged", "compared". The number of unsupported
 * cases is left out if it is 0. The first few missing cases are named, the rest are counted. */
void coverage_add_line(text_buffer *out, const coverage *covered, const char *verb);
/* {"requested", VERB, "unsupported", "missing", "missing_names"} */
json_t *coverage_json(const coverage *covered, const char *verb);
/* An array of strings. */
json_t *list_words(const word_list *words);
void coverage_free(coverage *covered);

#endif
