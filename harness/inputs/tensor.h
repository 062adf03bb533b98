/* Reads one tensor from a file in any of these formats.
 *
 *     tensor_array x;
 *     tensor_request request = {.path = "layer.npz:x"};
 *     tensor_read(&memory, &request, &x);
 *     ... x.data has x.elements of x.dtype ...
 *
 * FILE.npy                   NumPy, versions 1.0 to 3.0, C or Fortran order, either byte order
 * FILE.npz:NAME              an archive of these, stored or deflated (numpy.savez, savez_compressed)
 * FILE.safetensors:NAME      huggingface.co/docs/safetensors, "Format"
 *
 * Elements are f4, f8, f2 or bf16: BF16 in safetensors, V2 as ml_dtypes writes it, or u2 if the caller
 * says that it holds bf16. :NAME may be left out if a file has one tensor. */
#ifndef LNBENCH_TENSOR_H
#define LNBENCH_TENSOR_H

#include "base/arena.h"
#include "domain/case.h"

enum { TENSOR_MAX_DIMENSIONS = 32 };

/* The axes that form a row; if the count is 0, the last one. */
typedef struct tensor_axes {
    size_t count;
    long long values[TENSOR_MAX_DIMENSIONS];
} tensor_axes;

typedef struct tensor_array {
    ln_type dtype;
    size_t dimensions;
    size_t shape[TENSOR_MAX_DIMENSIONS]; /* the shape in the file */
    size_t elements;                     /* product of the shape; 1 for a scalar */
    size_t order[TENSOR_MAX_DIMENSIONS]; /* the axes in memory order; those of a row are last */
    size_t row_axes;                     /* the number of axes that form a row */
    size_t hidden;                       /* elements of a row */
    void *data;                          /* dense rows, 64-byte aligned */
} tensor_array;

typedef struct tensor_request {
    const char *path;
    bool u2_is_bf16;         /* u2 holds bf16; else u2 is refused */
    const tensor_axes *axes; /* NULL: the last */
} tensor_request;

/* Reads a tensor. An error ends the program (base/die.h) and names the file, the tensor or field, and what was
 * expected; with exit code 7 if the file is missing or cannot be read, else 2. Uses memory for the tensor and its
 * header, and twice that for a packed tensor. */
void tensor_read(arena *memory, const tensor_request *request, tensor_array *array);
/* Reads a tensor from the bytes of a file; the request has the file's name. */
void tensor_read_bytes(arena *memory, const void *bytes, size_t size, const tensor_request *request,
                       tensor_array *array);

/* Reads "1,2" or "-1"; NULL: the last axis. */
void tensor_axes_parse(const char *text, tensor_axes *axes);

/* Checks that the tensor has rows: at least one axis and one element. */
void tensor_has_rows(const tensor_array *array, const char *path);

/* Writes the shape as NumPy does, "(2, 3, 768)", and returns it. */
const char *tensor_shape_text(const tensor_array *array, char buffer[128]);

/* Checks that `other`, read from `path` for --option, has the shape of x. */
void tensor_same_shape(const tensor_array *x, const tensor_array *other, const char *path,
                       const char *option);

/* Expands a parameter to the length of a row of x. It may have the row's shape, be flat, have sizes of 1, or leave
 * axes out, as NumPy and ONNX broadcast (numpy.org/doc/stable/user/basics.broadcasting.html). */
void tensor_broadcast(arena *memory, const tensor_array *x, tensor_array *parameter,
                      const char *path, const char *option);

/* Converts the elements to another type, in which each must be exact; none is rounded silently. `whose`: a phrase
 * such as "the kernel's type" for the error. */
void tensor_convert(arena *memory, tensor_array *array, ln_type type, const char *whose,
                    const char *path, const char *option);
/* Returns true if tensor_convert() would succeed. */
bool tensor_converts(const tensor_array *array, ln_type type);
/* Checks that no element of a parameter is NaN or infinite. */
void tensor_is_finite(const tensor_array *array, const char *path, const char *option);

/* Writes rows in the memory order of x as an .npy file (version 1.0) of x's shape, through a temporary
 * file and a rename, so that a full disk leaves no incomplete file. A path that is no regular file
 * (/dev/null) is written directly. */
void tensor_write(const char *path, ln_type dtype, const tensor_array *x, const void *rows);
/* Does the same for elements in C order. */
void npy_write(const char *path, ln_type dtype, size_t dimensions, const size_t *shape,
               const void *data);

#endif
