#ifndef LNBENCH_FILES_H
#define LNBENCH_FILES_H

#include "base/text.h"
#include "base/error.h"
#include <stdio.h>

/* Writes a file through a temporary one beside it, synced, and a rename: whole, or as it was before,
 * after a power loss too. */
bool write_whole_file(const char *path, const text_buffer *content, error *err);
/* Flushes the stream, and the file to the disk; false: errno says why. */
bool file_sync(FILE *file);

#endif
