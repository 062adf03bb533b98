/* A run in a file: a database, with or without xz compression, or within a report's page.
 *
 *     text_buffer bytes = {0};
 *     run_file_make("results/lnbench.db", 3, PACK_SMALL, &bytes);   // run.db.xz
 *
 *     run_file file = run_file_open("run.db.xz");
 *     result_store *store = store_open(file.database, STORE_READ);
 *     run_file_close(&file);
 *
 * The last line of such a database is a hash of all bytes before it. SQLite reads only the number of pages in its
 * header, and a program that writes to the file cuts the line off. `PRAGMA application_id` is STORE_EXPORTED_ID as long
 * as the line is there.
 */
#ifndef LNBENCH_RUN_FILE_H
#define LNBENCH_RUN_FILE_H

#include "base/die.h"
#include "base/text.h"
#include <stdint.h>

/* PACK_FAST takes a tenth of the time of PACK_SMALL; its files are 28 % larger. */
enum { PACK_NOT = 0, PACK_FAST = 1, PACK_SMALL = 6 };

/* Makes the file of a run of the store `database`, compressed with a preset of xz or not at all. */
void run_file_make(const char *database, int64_t run, unsigned preset, text_buffer *bytes);

typedef struct run_file {
    char database[1100]; /* the file itself, or a temporary unpacked copy */
    const char *folder;  /* of the copy; NULL: there is no copy */
} run_file;

/* Opens and checks the file; its runs can then be copied. Ends the program (7) if it cannot be read, is no database of
 * runs, was changed after it was exported, is damaged, or unpacks to more than RUN_FILE_MOST_BYTES. */
#define RUN_FILE_MOST_BYTES ((size_t)256 << 20)
run_file run_file_open(const char *path);
/* Deletes the temporary copy now instead of at the end of the program. */
void run_file_close(run_file *file);

/* The run within a report's page, from which a reader can compute the errors again.
 *
 *     page_run_add(&page, &packed);         // in the body: <script type="application/x-xz" id="run">...
 *     hash_line_add(&page);                 // at the end
 */

/* packed: the output of run_file_make(). */
void page_run_add(text_buffer *page, const text_buffer *packed);
/* Adds a last line with a hash of all bytes so far, by which run_file_open() sees that the file was changed. */
void hash_line_add(text_buffer *bytes);

bool page_run_is_page(const char *bytes, size_t size);
/* Removes the run and the last line from a page in place, and returns the new size. */
size_t page_run_cut(char *bytes, size_t size);

#endif
