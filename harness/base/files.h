/* Files that appear under their name when they are whole and on the disk: written through a
 * temporary one beside it. A crash or a power loss leaves them whole, or as they were before.
 *
 *     whole_file file;
 *     if (!whole_file_begin(&file, path, err)) return false;
 *     bool fine = print(file.stream);
 *     return whole_file_end(&file, fine, err) && fine;
 */
#ifndef LNBENCH_FILES_H
#define LNBENCH_FILES_H

#include "base/text.h"
#include "base/error.h"
#include <stdio.h>

typedef struct whole_file {
    const char *path; /* the caller's */
    FILE *stream;
    char *part; /* NULL: a pipe or a device such as /dev/null, which is written to as it is */
    struct whole_file *next; /* that is open; it stays where it is until its end */
} whole_file;

bool whole_file_begin(whole_file *file, const char *path, error *err);
/* Not fine: the temporary file is removed, and nothing else happens. */
bool whole_file_end(whole_file *file, bool fine, error *err);

/* Removes the temporary ones of all that are open, before _exit(); a signal's handler may call it. */
void whole_files_abandon(void);

/* Adds all that it has, and a 0 behind that, which is not counted. */
bool read_whole_file(const char *path, text_buffer *content, error *err);
bool write_whole_file(const char *path, const text_buffer *content, error *err);
/* Brings a new name to the disk: the folder in which it lies. false: errno says why. */
bool sync_folder_of(const char *path);

#endif
