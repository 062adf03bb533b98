/* Adversarial rows: rows on which a kernel did badly, whole: what they were, what came out, what was
 * right. In files they are text, numbers as hex floats, so that they can be run again bit for bit;
 * docs/accuracy.md describes the format.
 *
 *     worst_list list = {0};
 *     worst_list_read("reference/worst/two_pass.txt", &list);
 *     for (size_t i = 0; i < list.count; i++) ... list.rows[i].inputs[ROLE_X] ...
 *     worst_list_free(&list);
 *
 * They are inputs, too: "worst", from the files (*.txt) that are installed with lnbench (the source's
 * reference/worst) or of $LNBENCH_WORST; and "worst:PATH", from such a file or a folder of them, such
 * as results/hunts. Errors name file and line.
 */
#ifndef LNBENCH_INPUTS_WORST_H
#define LNBENCH_INPUTS_WORST_H

#include "domain/operation.h"
#include "base/arena.h"
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
    double score;    /* of the climb that found it */
    uint64_t restart;
} worst_row;

typedef struct worst_list {
    worst_row *rows;
    size_t count;
    arena memory; /* their inputs */
} worst_list;

/* Bytes of an input by its role; 0: it is an output, or not there. */
size_t worst_row_bytes(const worst_row *row, size_t role);
/* Copies of all inputs. */
void worst_row_copy(const worst_row *from, worst_row *to);
void worst_row_free(worst_row *row);

/* Appends it as text, from "find" to "end". */
void worst_row_format(const worst_row *row, text_buffer *out);

/* Adds the rows of a file, or of several that were joined. Ends the program (with file and line) at a line that is
 * no field, a number that is no hex float, a find without its end. */
void worst_list_read(const char *path, worst_list *list);
void worst_list_free(worst_list *list);

/* Element i of values as text that reads back to the bit: "-0x1.8p-3", "inf", and a NaN with its
 * bits, "nan:7fc00000" in f32 and "nan:7fc0" in bf16; and back, false where the text is no number
 * of the type. */
enum { HEX_FLOAT_LENGTH = 40 };
void hex_float_format(ln_type type, const void *values, size_t i, char buffer[HEX_FLOAT_LENGTH]);
bool hex_float_parse(const char *text, ln_type type, void *values, size_t i);

/* ---- as inputs ---- */

#define WORST_INPUT "worst"

bool input_is_worst(const char *input);

/* As input_rows(): the rows of this type and hidden in the order of files and finds, over
 * again when they run out. Where there is none, the program ends. */
void worst_input_rows(const char *input, ln_type type, size_t first, size_t count, size_t hidden,
                      void *x);

/* Where they are looked for. */
const char *worst_place(const char *input);

typedef struct worst_shape {
    ln_type type;
    size_t hidden, rows;
} worst_shape;

typedef struct worst_shapes {
    worst_shape *shapes; /* each type and hidden once; to be freed */
    size_t count, rows;
    uint64_t hash; /* of all rows */
} worst_shapes;

/* What there is; nothing where the directory of "worst" is missing. */
void worst_input_shapes(const char *input, worst_shapes *shapes);

#endif
