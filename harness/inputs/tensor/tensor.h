/* Tensors as people have them: one tensor of a file, whatever form the file has.
 *
 *     tensor_array x;
 *     tensor_request request = {.path = "layer.npz:x"};
 *     if (!tensor_read(&request, &x, err)) return false;
 *     ... x.data has x.elements of x.dtype ...
 *     tensor_free(&x);
 *
 * FILE.npy                   NumPy's, versions 1.0 to 3.0, C or Fortran order, either byte order
 * FILE.npz:NAME              an archive of those, plain or deflated (numpy.savez, savez_compressed)
 * FILE.safetensors:NAME      huggingface.co/docs/safetensors, "Format"
 *
 * Elements are f4, f8, f2 or bf16: BF16 of safetensors, the V2 that ml_dtypes writes, and u2 where the
 * caller says that these are its bits. :NAME may be left out where a file has one tensor. */
#ifndef LNBENCH_TENSOR_H
#define LNBENCH_TENSOR_H

#include "domain/case.h"

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

/* Errors name the file, the tensor or field, and what was expected; a file that is missing or cannot
 * be read is an environment error, all else is usage. Never more memory is taken than the tensor needs
 * and 64 KiB, and a header. */
bool tensor_read(const tensor_request *request, tensor_array *array, error *err);
void tensor_free(tensor_array *array);

/* "1,2" or "-1"; NULL: the last axis. */
bool tensor_axes_parse(const char *text, tensor_axes *axes, error *err);

/* Whether there are rows: one axis or more, and elements. */
bool tensor_has_rows(const tensor_array *array, const char *path, error *err);

/* "(2, 3, 768)", as NumPy writes a shape. */
const char *tensor_shape_text(const tensor_array *array, char buffer[128]);

/* Whether `other`, read from `path` for --option, has the shape of x. An error (usage) names both
 * shapes. */
bool tensor_same_shape(const tensor_array *x, const tensor_array *other, const char *path,
                       const char *option, error *err);

/* Makes a parameter as long as a row of x: it may have the row's shape, be flat, or have sizes of 1 and
 * axes left out, as NumPy and ONNX broadcast (numpy.org/doc/stable/user/basics.broadcasting.html). */
bool tensor_broadcast(const tensor_array *x, tensor_array *parameter, const char *path,
                      const char *option, error *err);

/* Makes the elements those of another type. Each must be a number of it: none is rounded without a word.
 * `whose`: "the kernel's type", for the error. */
bool tensor_convert(tensor_array *array, ln_type type, const char *whose, const char *path,
                    const char *option, error *err);
/* Whether tensor_convert() would. */
bool tensor_converts(const tensor_array *array, ln_type type);
/* That no element of a parameter is NaN or infinite. */
bool tensor_is_finite(const tensor_array *array, const char *path, const char *option, error *err);

/* Writes rows that belong to x (its shape, as its elements lie) as an .npy file of x's shape, version
 * 1.0: through a temporary file and a rename, so that a full disk leaves nothing half. A path that is
 * no regular file (/dev/null) is written to as it is. */
bool tensor_write(const char *path, ln_type dtype, const tensor_array *x, const void *rows,
                  error *err);
/* The same of elements in C order. */
bool npy_write(const char *path, ln_type dtype, size_t dimensions, const size_t *shape,
               const void *data, error *err);

#endif
