/* The run within a report's page, so that whoever has the page can derive its errors anew, and the page's
 * last line, a hash of all before it.
 *
 *     page_run_add(&page, &packed);         // in the body: <script type="application/x-xz" id="run">...
 *     page_run_end(&page);                 // behind it all
 *     ...
 *     size_t packed;
 *     if (page_run_take("index.html", bytes, size, &packed, &err)) ...   // bytes[0..packed): xz
 */
#ifndef LNBENCH_PAGE_RUN_H
#define LNBENCH_PAGE_RUN_H

#include "base/error.h"
#include "base/text.h"

/* packed: of run_file_make(). */
void page_run_add(text_buffer *page, const text_buffer *packed);
void page_run_end(text_buffer *page);

bool page_run_is_page(const char *bytes, size_t size);
/* In place. Errors (7): a page that was changed after it was made, or that has no run. */
bool page_run_take(const char *path, char *bytes, size_t size, size_t *packed, error *err);
/* In place: leaves what a reader sees, without the run and the last line. Returns the new size. */
size_t page_run_cut(char *bytes, size_t size);

#endif
