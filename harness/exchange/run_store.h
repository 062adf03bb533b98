/* Runs that were read from a file, into a store: one of a file, or one in memory, from where they are
 * read as any stored run is.
 *
 *     run_view read, view;
 *     if (run_read("nightly.jsonl", &read, &err)) {
 *         if (run_in_memory("nightly.jsonl", &read, &view, &err)) ...      // with speeds and standings
 *         view_free(&read);
 *     }
 */
#ifndef LNBENCH_RUN_STORE_H
#define LNBENCH_RUN_STORE_H

#include "answer/run_view.h"

/* file: its name, for errors: one whose counts disagree with its cases is refused. origin: a hash of
 * what it came from (store_import_run()). */
bool run_store(result_store *store, const run_view *read, const char *file, const char *origin,
               int64_t *run, error *err);
/* Takes the list of what is lost out of what was read, with its reasons. */
bool run_in_memory(const char *file, run_view *read, run_view *view, error *err);

#endif
