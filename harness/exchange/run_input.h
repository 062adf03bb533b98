/* The bytes of an exported run, plain or packed by xz, a line at a time or all of them.
 *
 *     run_input input;
 *     bool fine = run_input_open(&input, path, fopen(path, "rb"), &err);
 *     while (fine && (fine = run_input_line(&input, &line, &length, &err)) && line) ...
 *     run_input_close(&input);
 *
 * What a file unpacks to is limited (RUN_READ_MOST_BYTES), and so is the memory that unpacking takes.
 * Errors (7) are one line. */
#ifndef LNBENCH_RUN_INPUT_H
#define LNBENCH_RUN_INPUT_H

#include "base/error.h"
#include <lzma.h>
#include <stdio.h>

typedef struct run_input {
    const char *path;
    FILE *file;
    bool packed, ended;
    lzma_stream unpacker;
    unsigned char *piece; /* of a packed file, as it was read */
    char *bytes;          /* unpacked; the last line begins at `line`, the next at `next` */
    size_t line, next, size, room, total;
} run_input;

/* The file is closed with it; NULL: it could not be opened. */
bool run_input_open(run_input *input, const char *path, FILE *file, error *err);
/* Without its end; it stands until the next call. *line NULL: there is none any more. */
bool run_input_line(run_input *input, const char **line, size_t *length, error *err);
/* All bytes from the last line on, that line included. */
bool run_input_rest(run_input *input, const char **bytes, size_t *size, error *err);
void run_input_close(run_input *input);

#endif
