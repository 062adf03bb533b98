/* Input families. A row depends only on family, seed and its index, and has the same bits on every machine.
 *     input_rows("offset:1e4", LN_F32, seed, 0, 512, 768, x);   // 512 rows of 768 elements
 */
#ifndef LNBENCH_INPUTS_H
#define LNBENCH_INPUTS_H

#include "domain/operation.h"

/* Streams of random numbers. Families whose numbers must be independent use different streams. */
typedef enum input_stream {
    STREAM_NORMAL,
    STREAM_UNIFORM,
    STREAM_OFFSET,
    STREAM_SPIKE,
    STREAM_OUTLIER,
    STREAM_OUTLIER_CHANNEL,
    STREAM_ALTERNATING,
    STREAM_HUGE,
    STREAM_SUBNORMAL,
    STREAM_SPECIAL,
    STREAM_GAMMA,
    STREAM_BETA,
    STREAM_SHAPE,
    STREAM_CHOICE,
    STREAM_SCALE,
    STREAM_CANCEL,
    STREAM_WIDE
} input_stream;

/* The element that a family computes, with its streams (inputs.c). */
struct made_element;

/* Fills the parameters, by role; each has room for hidden elements. */
typedef void parameter_maker(const ln_convention *convention, uint64_t seed, size_t hidden,
                             float *const made[ROLES_MOST]);

typedef struct input_family {
    const char *name;     /* "normal", "offset", ... */
    const char *purpose;  /* why kernels fail on it, in one line */
    const char *evidence; /* a place where it occurs: an issue ("pytorch#51102"), a paper */
    bool everywhere;  /* the default plan judges it under every convention, not only the first */
    bool without_eps; /* and, at every size, under the first convention without its eps */
    bool edge_case;   /* squares overflow or underflow, or values are NaN or infinite */
    /* Returns one element; NULL: offset_row() makes the row. */
    double (*element)(struct made_element *at);
    void (*finish)(struct made_element *at, float *x); /* changes the whole row; NULL: does not */
    input_stream stream, other;                        /* the streams that the family uses */
    parameter_maker *parameters;                       /* NULL: input_affine() */
    size_t needs; /* the role that the operation must have for the family to make sense */
} input_family;

/* Returns all families, in the order of the plans; `lnbench list inputs` and docs/inputs.md describe them.
 * "offset" also takes a kappa, as in "offset:1e4"; without one, its rows have kappa 1, 10, ... 1e8
 * in turn. */
const input_family *input_families(size_t *count);

/* Returns true if the family makes sense for the operation. */
bool input_suits(const input_family *family, ln_operation kind);

/* Returns true for an edge case: its input family is one, or its convention adds no eps under or to the root, so
 * that a constant row is 0/0. */
bool case_is_edge_case(const case_key *key);

/* Checks that an input exists: a family, "offset:KAPPA", "worst" or "worst:PATH" (see worst.h), a
 * file of tensors (neither is opened here), or several families, "normal+offset:4+outlier-channels", whose rows
 * alternate. If not, the program ends (base/die.h) with the nearest name. */
void input_check(const char *input);
/* Does the same, and checks that the input exists in this type. */
void input_check_type(const char *input, ln_type type);

/* Fills count dense rows of hidden elements each, beginning with row `first`. Element (r, c) depends
 * only on input, type, seed, hidden, r and c. Every family fits the range and precision of the type, by
 * integer arithmetic and one rounding to nearest even (inputs.c; "offset" has kappa from 1 to 1e8 in
 * f32, 1e3 in bf16, 1e4 in f16, 1e16 in f64). A file gives its rows in turn and then again from the
 * first; it must have this hidden size, and is read at each call. Elements of the type are taken bit for
 * bit (u2 for bf16 and f16), others are rounded. The tensors of tutorials are repeated to fill hidden.
 * With several families, row r is row r of family r mod their number. */
void input_rows(const char *input, ln_type type, uint64_t seed, size_t first, size_t count,
                size_t hidden, void *x);

/* Returns true if an input is a file of tensors (inputs/tensor.h). */
bool input_is_file(const char *input);
/* Finds the number of rows and the hidden size of a file. Reads the whole file, so that a bad one is found. */
void input_file_shape(const char *path, size_t *rows, size_t *hidden);
/* Reads rows of a file, in a type. */
void input_rows_of_file(const char *path, ln_type type, size_t first, size_t count, size_t hidden,
                        void *x);
/* Returns the length of the path without :NAME if it names an archive of tensors; else 0. */
size_t input_archive_length(const char *path);

/* Fills the parameters of a call, if it has room for them: ordinary ones, or the special ones of families such as
 * affine-cancellation. Parameters beyond the type's range are scaled by a power of two; all are rounded to
 * nearest even. */
void input_parameters(const char *input, const operation_call *call, uint64_t seed);

/* Fills all inputs of a dense call: x with the rows of the input from `first` on, the residual from another input
 * (NULL: none), and the parameters. */
void input_call(const char *input, const char *residual, const operation_call *call, uint64_t seed,
                size_t first);

/* ---- for tests ---- */

/* Returns the standard normal quantile of (bits + 1/2) / 2^32, to about 7 digits. The complement of the bits gives the
 * negative value. |value| < 6.34. */
double normal_from_bits(uint32_t bits);

/* The number of rows of the family kappa, which go from 1 to the largest kappa of type and hidden in equal ratios. */
enum { KAPPA_ROWS = 18 };
/* Returns the largest kappa of `offset` in a type. */
double offset_kappa_most(ln_type type);

#endif
