/* A run as a file of its own: a database, packed by xz or not, or within a report's page.
 *
 *     text_buffer bytes = {0};
 *     run_file_make("results/lnbench.db", 3, PACK_SMALL, &bytes);   // run.db.xz
 *
 *     run_file file = run_file_open("run.db.xz");
 *     result_store *store = store_open(file.database, STORE_READ);
 *     run_file_close(&file);
 *
 * The last 32 bytes of such a database are the SHA-256 of all before them. SQLite reads no further than the number of
 * pages in its header, and a program that writes to the file cuts them off. `PRAGMA application_id` is
 * STORE_EXPORTED_ID while they are there.
 */
#ifndef LNBENCH_RUN_FILE_H
#define LNBENCH_RUN_FILE_H

#include "base/die.h"
#include "base/text.h"
#include <stdint.h>

/* The fast one takes a tenth of the time, for 28 % more. */
enum { PACK_NOT = 0, PACK_FAST = 1, PACK_SMALL = 6 };

/* A run of the store `database`, packed by this preset of xz or not at all. */
void run_file_make(const char *database, int64_t run, unsigned preset, text_buffer *bytes);

typedef struct run_file {
    char database[1100]; /* the file itself, or a temporary copy of what it holds */
    const char *folder;  /* of the copy; NULL: there is none */
} run_file;

/* Ends the program (7) where the file cannot be read, is no database of runs, was changed after it was exported, is
 * damaged, or unpacks to more than RUN_FILE_MOST_BYTES: the runs of what is returned can be copied. */
#define RUN_FILE_MOST_BYTES ((size_t)256 << 20)
run_file run_file_open(const char *path);
/* Removes the temporary copy, which goes at the end of the program otherwise. */
void run_file_close(run_file *file);

/* The run within a report's page, so that whoever has the page can derive its errors anew, and the page's
 * last line, a hash of all before it.
 *
 *     page_run_add(&page, &packed);         // in the body: <script type="application/x-xz" id="run">...
 *     page_run_end(&page);                  // behind it all
 */

/* packed: of run_file_make(). */
void page_run_add(text_buffer *page, const text_buffer *packed);
void page_run_end(text_buffer *page);

bool page_run_is_page(const char *bytes, size_t size);
/* In place: leaves what a reader sees, without the run and the last line. Returns the new size. */
size_t page_run_cut(char *bytes, size_t size);

#endif
