/* Exported runs, read back: our JSON Lines and JSON, and Google Benchmark's own JSON; plain, or packed
 * by xz.
 *
 *     run_view view;
 *     if (!run_read("nightly.jsonl", &view, &err)) ...     // run.id is 0
 *     ...                                                  // its medians: run_in_memory()
 *     view_free(&view);
 *
 * Google Benchmark's own may hold what JSON does not know (NaN). A benchmark of it that was skipped,
 * failed or has no time is in view.lost. Nothing in a file is believed: types, ranges, lengths, names, duplicate keys, cases and
 * repetitions are checked, and the number of records where the file tells it. Depth is limited by
 * the parser (2048), size, unpacked, to RUN_READ_MOST_BYTES. Errors (7) are one line with the file and the
 * place in it.
 */
#ifndef LNBENCH_RUN_READ_H
#define LNBENCH_RUN_READ_H

#include "answer/run_view.h"

#define RUN_READ_MOST_BYTES ((size_t)256 << 20)

/* One run. Only JSON Lines have everything: JSON lacks further metrics, judged and worst rows,
 * Google Benchmark's own has times alone, of one process. */
bool run_read(const char *path, run_view *view, error *err);
/* The same, from bytes that `path` only names. */
bool run_read_bytes(const char *path, const char *bytes, size_t size, run_view *view, error *err);
/* A further file of Google Benchmark's own as one more process of the run. */
bool run_read_process(const char *path, run_view *view, error *err);
/* After the last of them: what some of the files lack was lost there. */
void run_end_processes(run_view *view, size_t files);

/* Whether a run is Google Benchmark's own: it has neither kernels nor conventions. */
bool run_is_foreign(const run_view *view);

#endif
