#ifndef LNBENCH_FILES_H
#define LNBENCH_FILES_H

#include "base/files.h"
#include "base/text.h"
#include "base/error.h"

/* Writes a file through a temporary one beside it and a rename: whole, or as it was before. */
bool write_whole_file(const char *path, const text_buffer *content, error *err);

#endif
