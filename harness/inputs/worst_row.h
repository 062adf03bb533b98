/* A row on which a kernel did badly, whole: what it was, what came out, what was right. In files it
 * is text, numbers as hex floats, so that it can be run again bit for bit; docs/accuracy.md
 * describes the format.
 *
 *     worst_list list = {0};
 *     if (!worst_list_read("reference/worst/two_pass.txt", &list, &err)) ...
 *     for (size_t i = 0; i < list.count; i++) ... list.rows[i].x ...
 *     worst_list_free(&list);
 */
#ifndef LNBENCH_WORST_ROW_H
#define LNBENCH_WORST_ROW_H

#include "domain/operation.h"
#include "base/text.h"

enum { ORIGIN_MAX_LENGTH = 128, WORST_MAX_ELEMENTS = 1 << 28 };

typedef struct worst_row {
    ln_operation operation;
    char kernel[NAME_MAX_LENGTH];
    char convention[CONVENTION_MAX_LENGTH];
    char origin[ORIGIN_MAX_LENGTH]; /* where it came from, in words */
    size_t rows, hidden;            /* rows: 1, but where only several together do it */
    size_t parameters;              /* elements of each: hidden, 1, or 0 without them */
    ln_type storage, param;         /* of rows; of parameters */
    void *inputs[ROLES_MOST];       /* owned, by role; NULL: not there, or not kept */
    case_verdict verdict;
    double row_ulp, bound_row_ulp; /* NaN: nothing came out; no bound */
    size_t row, column;            /* the worst element */
    double computed, exact;
    uint64_t y_hash; /* FNV-1a of y's bits as timed; 0 where nothing came out */
    bool hunted;     /* by the hunt: then score and restart are there */
    double score;
    uint64_t restart;
} worst_row;

/* Finds of one file, with what stands before them. */
typedef struct worst_list {
    worst_row *rows;
    size_t count;
    text_buffer header; /* the lines before the first find that are no comments, each ended */
} worst_list;

/* Bytes of an input by its role; 0: it is an output, or not there. */
size_t worst_row_bytes(const worst_row *row, size_t role);
/* Copies of all inputs. */
bool worst_row_copy(const worst_row *from, worst_row *to, error *err);
void worst_row_free(worst_row *row);

/* Appends it as text, from "find" to "end". */
void worst_row_format(const worst_row *row, text_buffer *out);

/* Reads a file; on failure the list is empty. Errors (usage, with file and line): a line that is no
 * field, a number that is no hex float, a find without its end. */
bool worst_list_read(const char *path, worst_list *list, error *err);
/* The same of an open file, which stays open; path for its errors. */
bool worst_list_read_stream(FILE *file, const char *path, worst_list *list, error *err);
bool worst_list_add(worst_list *list, worst_row *row, error *err); /* takes what row owns */
void worst_list_free(worst_list *list);

/* Element i of values as text that reads back to the bit: "-0x1.8p-3", "inf", and a NaN with its
 * bits, "nan:7fc00000" in f32 and "nan:7fc0" in bf16; and back, false where the text is no number
 * of the type. */
enum { HEX_FLOAT_LENGTH = 40 };
void hex_float_format(ln_type type, const void *values, size_t i, char buffer[HEX_FLOAT_LENGTH]);
bool hex_float_parse(const char *text, ln_type type, void *values, size_t i);

#endif
