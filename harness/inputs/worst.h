/* Adversarial rows: complete rows on which a kernel had large errors, with its output and the exact answer. Files store
 * them as text with hex floats, so that they can be run again bit for bit; docs/accuracy.md describes the format.
 *
 *     worst_list list = {0};
 *     worst_list_read("reference/worst/two_pass.txt", &list);
 *     for (size_t i = 0; i < list.count; i++) ... list.rows[i].inputs[ROLE_X] ...
 *     worst_list_free(&list);
 *
 * They are inputs, too: "worst" has the rows of the files (*.txt) in reference/worst, which are installed with lnbench,
 * or in $LNBENCH_WORST; "worst:PATH" has the rows of such a file, or of a folder such as results/hunts. Errors name
 * file and line.
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
    char origin[ORIGIN_MAX_LENGTH]; /* describes the search that found it */
    size_t rows, hidden;            /* rows: 1, unless only several rows together show the error */
    size_t parameters;              /* elements of each parameter: hidden, 1, or 0 */
    ln_type storage, param;         /* the types of rows and of parameters */
    void *inputs[ROLES_MOST];       /* indexed by role; NULL: absent, or not kept */
    case_verdict verdict;
    double row_ulp, bound_row_ulp; /* NaN: no output; no bound */
    size_t row, column;            /* the position of the worst element */
    double computed, exact;
    uint64_t y_hash; /* FNV-1a of y's bits in the layout of timing; 0: no output */
    double score;    /* the score of the climb that found it */
    uint64_t restart;
} worst_row;

typedef struct worst_list {
    worst_row *rows;
    size_t count;
    arena memory; /* the memory of the rows' inputs */
} worst_list;

/* Returns the bytes of the input with a role; 0: it is an output, or absent. */
size_t worst_row_bytes(const worst_row *row, size_t role);
/* Replaces the row's inputs with copies. */
void worst_row_keep(arena *memory, worst_row *row);

/* Appends the row as text, from "find" to "end". */
void worst_row_format(const worst_row *row, text_buffer *out);

/* Adds the rows of a file, or of several concatenated ones. An unknown field, an invalid number or a row without its
 * end ends the program, and the error names file and line. */
void worst_list_read(const char *path, worst_list *list);
void worst_list_free(worst_list *list);

/* Writes element i of values as text that reads back bit for bit: "-0x1.8p-3", "inf", or a NaN with its
 * bits ("nan:7fc00000" in f32, "nan:7fc0" in bf16); and reads it. False: the text is no number of the type. */
enum { HEX_FLOAT_LENGTH = 40 };
void hex_float_format(ln_type type, const void *values, size_t i, char buffer[HEX_FLOAT_LENGTH]);
bool hex_float_parse(const char *text, ln_type type, void *values, size_t i);

/* ---- as inputs ---- */

#define WORST_INPUT "worst"

bool input_is_worst(const char *input);

/* Fills rows like input_rows(): those of this type and hidden size in the order of files and rows, and then again from
 * the first. If there is none, the program ends. */
void worst_input_rows(const char *input, ln_type type, size_t first, size_t count, size_t hidden,
                      void *x);

/* Returns the file or folder of such an input. */
const char *worst_place(const char *input);

typedef struct worst_shape {
    ln_type type;
    size_t hidden, rows;
} worst_shape;

typedef struct worst_shapes {
    worst_shape *shapes; /* each type and hidden size once; the caller frees it */
    size_t count, rows;
    uint64_t hash; /* of the contents of all rows */
} worst_shapes;

/* Lists the shapes of an input; none if the folder of "worst" is missing. */
void worst_input_shapes(const char *input, worst_shapes *shapes);

#endif
