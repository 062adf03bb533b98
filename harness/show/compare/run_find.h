/* The run that a word on the command line means. */
#ifndef LNBENCH_RUN_FIND_H
#define LNBENCH_RUN_FIND_H

#include "show/run_view.h"

/* A run's number, "latest" (the newest run of `lnbench run`), "previous" (the newest before it on
 * the same machine that was asked for the same, whatever library it ran), the first 4 to 40 digits
 * of a commit (its latest run), or an exported file. Where there is none the program ends and says what was
 * looked for and where: 4 where there is no latest or previous, else 7. */
run_view run_find(const char *word, const char *database);

/* "run 3, commit 1234567, 2026-01-01T00:00:00Z" */
void run_describe(const run_view *view, char *words, size_t size);

#endif
