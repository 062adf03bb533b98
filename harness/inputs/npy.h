/* NumPy .npy files, versions 1.0 to 3.0, little endian, C order. */
#ifndef LNBENCH_NPY_H
#define LNBENCH_NPY_H

#include "domain/case.h"

enum { NPY_MAX_DIMENSIONS = 32 };

typedef struct npy_array {
    ln_type dtype; /* <f4, <f8, <f2; <u2 where the caller said bf16 */
    size_t dimensions;
    size_t shape[NPY_MAX_DIMENSIONS];
    size_t elements; /* product of the shape; 1 for a scalar */
    void *data;      /* elements of dtype, 64-byte aligned */
} npy_array;

/* Reads a whole file. as_bf16: take <u2 for bf16. Errors name the file, the field and what was
 * expected: not npy, truncated, too long, other endianness, Fortran order, unsupported dtype, sizes
 * that overflow (all usage); a file that is missing or cannot be read is an environment error. */
bool npy_read(const char *path, bool as_bf16, npy_array *array, error *err);
/* Writes version 1.0 through a temporary file and a rename, so that a full disk leaves nothing
 * half. A path that is no regular file (/dev/null) is written to as it is. */
bool npy_write(const char *path, ln_type dtype, size_t dimensions, const size_t *shape,
               const void *data, error *err);
void npy_free(npy_array *array);

/* "(2, 3, 768)", as NumPy writes a shape. */
const char *npy_shape_text(const npy_array *array, char buffer[128]);

/* Whether `other`, read from `path` for --option, has the shape of x. An error (usage) names both
 * shapes. */
bool npy_same_shape(const npy_array *x, const npy_array *other, const char *path,
                    const char *option, error *err);

#endif
