/* Exported runs, read back: JSON Lines, plain or packed by xz.
 *
 *     run_view view;
 *     if (!run_read("nightly.jsonl", &view, &err)) ...     // run.id is 0
 *     ...                                                  // its medians: run_in_memory()
 *     view_free(&view);
 *
 * Nothing in a file is believed: types, ranges, lengths, names, duplicate keys, cases and
 * repetitions are checked, and the number of records where the file tells it. Depth is limited by
 * the parser (2048), size, unpacked, to RUN_READ_MOST_BYTES. Errors (7) are one line with the file and the
 * place in it.
 */
#ifndef LNBENCH_RUN_READ_H
#define LNBENCH_RUN_READ_H

#include "answer/run_view.h"

#define RUN_READ_MOST_BYTES ((size_t)256 << 20)

bool run_read(const char *path, run_view *view, error *err);
/* The same, from bytes that `path` only names. */
bool run_read_bytes(const char *path, const char *bytes, size_t size, run_view *view, error *err);

#endif
