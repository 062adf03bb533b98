/* Tensors as people have them: one tensor of a file, whatever form the file has.
 *
 *     tensor_array x;
 *     tensor_request request = {.path = "layer.npz:x"};
 *     tensor_read(&memory, &request, &x);
 *     ... x.data has x.elements of x.dtype ...
 *
 * FILE.npy                   NumPy's, versions 1.0 to 3.0, C or Fortran order, either byte order
 * FILE.npz:NAME              an archive of those, plain or deflated (numpy.savez, savez_compressed)
 * FILE.safetensors:NAME      huggingface.co/docs/safetensors, "Format"
 *
 * Elements are f4, f8, f2 or bf16: BF16 of safetensors, the V2 that ml_dtypes writes, and u2 where the
 * caller says that these are its bits. :NAME may be left out where a file has one tensor. */
#ifndef LNBENCH_TENSOR_H
#define LNBENCH_TENSOR_H

#include "base/arena.h"
#include "domain/case.h"
#include <stdio.h>

enum { TENSOR_MAX_DIMENSIONS = 32 };

/* Which axes make a row, without any: the last. */
typedef struct tensor_axes {
    size_t count;
    long long values[TENSOR_MAX_DIMENSIONS];
} tensor_axes;

typedef struct tensor_array {
    ln_type dtype;
    size_t dimensions;
    size_t shape[TENSOR_MAX_DIMENSIONS]; /* as the file has it */
    size_t elements;                     /* product of the shape; 1 for a scalar */
    size_t order[TENSOR_MAX_DIMENSIONS]; /* the axes as the elements lie: those of a row are last */
    size_t row_axes;                     /* how many these are */
    size_t hidden;                       /* elements of a row */
    void *data;                          /* rows one behind the other, 64-byte aligned */
} tensor_array;

typedef struct tensor_request {
    const char *path;
    bool u2_is_bf16;         /* what u2 holds; else it is refused */
    const tensor_axes *axes; /* NULL: the last */
} tensor_request;

/* What is wrong with a file ends the program (base/die.h) with the file, the tensor or field, and what was
 * expected; a file that is missing or cannot be read has exit code 7, all else 2. Never more memory is taken than
 * the tensor needs and 64 KiB, and a header. */
void tensor_read(arena *memory, const tensor_request *request, tensor_array *array);
/* The same of a file that is open, by its name in the request. */
void tensor_read_open(arena *memory, FILE *file, const tensor_request *request,
                      tensor_array *array);

/* "1,2" or "-1"; NULL: the last axis. */
void tensor_axes_parse(const char *text, tensor_axes *axes);

/* That there are rows: one axis or more, and elements. */
void tensor_has_rows(const tensor_array *array, const char *path);

/* "(2, 3, 768)", as NumPy writes a shape. */
const char *tensor_shape_text(const tensor_array *array, char buffer[128]);

/* That `other`, read from `path` for --option, has the shape of x. */
void tensor_same_shape(const tensor_array *x, const tensor_array *other, const char *path,
                       const char *option);

/* Makes a parameter as long as a row of x: it may have the row's shape, be flat, or have sizes of 1 and
 * axes left out, as NumPy and ONNX broadcast (numpy.org/doc/stable/user/basics.broadcasting.html). */
void tensor_broadcast(arena *memory, const tensor_array *x, tensor_array *parameter,
                      const char *path, const char *option);

/* Makes the elements those of another type. Each must be a number of it: none is rounded without a word.
 * `whose`: "the kernel's type", for the error. */
void tensor_convert(arena *memory, tensor_array *array, ln_type type, const char *whose,
                    const char *path, const char *option);
/* Whether tensor_convert() would. */
bool tensor_converts(const tensor_array *array, ln_type type);
/* That no element of a parameter is NaN or infinite. */
void tensor_is_finite(const tensor_array *array, const char *path, const char *option);

/* Writes rows that belong to x (its shape, as its elements lie) as an .npy file of x's shape, version
 * 1.0: through a temporary file and a rename, so that a full disk leaves nothing half. A path that is
 * no regular file (/dev/null) is written to as it is. */
void tensor_write(const char *path, ln_type dtype, const tensor_array *x, const void *rows);
/* The same of elements in C order. */
void npy_write(const char *path, ln_type dtype, size_t dimensions, const size_t *shape,
               const void *data);

#endif
