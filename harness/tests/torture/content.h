/* Contents of files, and folders, for the tests of this folder: what fails here ends the test. */
#ifndef LNBENCH_CONTENT_H
#define LNBENCH_CONTENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct file_content {
    char *bytes; /* NULL: no such file */
    size_t size;
} file_content;

/* Prints what failed, and why by errno, and exits with code 99. */
_Noreturn void give_up(const char *what);

/* A regular file's. */
file_content content_read(const char *path);
/* false: the folder is not there. */
bool content_write(const char *path, const file_content *content);
file_content content_copy(const file_content *content);
/* What is new is zeros. */
void content_resize(file_content *content, size_t size);
void content_put(file_content *content, size_t offset, const char *bytes, size_t size);
bool content_equal(const file_content *one, const file_content *other);

bool ends_in(const char *path, const char *end);
void remove_tree(const char *path);
/* Calls `found` for each file and folder below, folders before what is in them, by its name below
 * `folder`. */
void files_below(const char *folder, void (*found)(void *context, const char *name, bool folder),
                 void *context);

#endif
