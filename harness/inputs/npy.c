/* The format: numpy/lib/format.py, "Format Version 1.0" to "3.0". Ten or twelve bytes of magic,
 * version and header length, the header, then the elements to the end of the file. */
#include "inputs/npy.h"
#include "base/files.h"
#include "inputs/npy_header.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "elements are read as they lie");

enum { MAGIC_LENGTH = 8, HEADER_MOST = 1 << 20, ALIGNMENT = 64 };
static const char magic[] = "\x93NUMPY";

static bool fail_truncated(const char *path, const char *field, error *err)
{
    return fail(err, EXIT_CODE_USAGE, "%s: npy file ends in its %s: it is truncated", path, field);
}

static bool fail_read(FILE *file, const char *path, const char *field, error *err)
{
    if (ferror(file))
        return fail(err, EXIT_CODE_ENVIRONMENT, "%s: %s", path, strerror(errno));
    return fail_truncated(path, field, err);
}

/* Magic, version and header length. */
static bool read_prefix(FILE *file, const char *path, size_t *header_length, error *err)
{
    unsigned char prefix[MAGIC_LENGTH], size[4] = {0};
    size_t got = fread(prefix, 1, sizeof prefix, file);
    if (got == 0 || memcmp(prefix, magic, got < 6 ? got : 6) != 0)
        return ferror(file)
                   ? fail_read(file, path, "magic", err)
                   : fail(err, EXIT_CODE_USAGE,
                          "%s: not an npy file: expected it to begin with \\x93NUMPY", path);
    if (got < sizeof prefix)
        return fail_read(file, path, "magic and version", err);
    if (prefix[6] < 1 || prefix[6] > 3 || prefix[7] != 0)
        return fail(err, EXIT_CODE_USAGE, "%s: npy version %d.%d: expected 1.0, 2.0 or 3.0", path,
                    prefix[6], prefix[7]);
    size_t width = prefix[6] == 1 ? 2 : 4;
    if (fread(size, 1, width, file) != width)
        return fail_read(file, path, "header length", err);
    *header_length =
        (size_t)size[0] | (size_t)size[1] << 8 | (size_t)size[2] << 16 | (size_t)size[3] << 24;
    if (*header_length > HEADER_MOST)
        return fail(err, EXIT_CODE_USAGE,
                    "%s: npy header is %zu bytes long: expected 1 MiB at most", path,
                    *header_length);
    return true;
}

static bool read_header(FILE *file, const char *path, npy_header *header, error *err)
{
    size_t length = 0;
    if (!read_prefix(file, path, &length, err))
        return false;
    char *text = malloc(length + 1);
    if (!text)
        return fail_memory(err, "npy header");
    bool fine = fread(text, 1, length, file) == length || fail_read(file, path, "header", err);
    fine = fine && npy_header_parse(path, text, length, header, err);
    free(text);
    return fine;
}

static bool find_dtype(const char *path, const char *descr, bool as_bf16, ln_type *dtype,
                       error *err)
{
    static const struct {
        const char *descr;
        ln_type dtype;
    } known[] = {{"<f4", LN_F32}, {"<f8", LN_F64}, {"<f2", LN_F16}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (strcmp(descr, known[i].descr) == 0) {
            *dtype = known[i].dtype;
            return true;
        }
    }
    if (strcmp(descr, "<u2") == 0) {
        *dtype = LN_BF16;
        return as_bf16 ||
               fail(err, EXIT_CODE_USAGE,
                    "%s: dtype '<u2': expected '<f4', '<f8' or '<f2' (bfloat16 stored in <u2 needs "
                    "--dtype bf16)",
                    path);
    }
    if (descr[0] == '>')
        return fail(err, EXIT_CODE_USAGE,
                    "%s: dtype '%s' is big endian: expected little endian ('<f4'): save it with "
                    "x.astype('<f4')",
                    path, descr);
    return fail(err, EXIT_CODE_USAGE,
                "%s: dtype '%s': expected '<f4', '<f8' or '<f2' (or '<u2' with --dtype bf16)", path,
                descr);
}

/* The product of the shape, and that its bytes can be counted. A zero anywhere makes it zero
 * whatever the others are. */
static bool count_elements(const char *path, const npy_header *header, size_t element_size,
                           size_t *elements, error *err)
{
    size_t product = 1, most = (SIZE_MAX / 2 - ALIGNMENT) / element_size;
    for (size_t i = 0; i < header->dimensions; i++)
        if (header->shape[i] == 0) {
            *elements = 0;
            return true;
        }
    for (size_t i = 0; i < header->dimensions; i++) {
        if (header->shape[i] > most / product)
            return fail(err, EXIT_CODE_USAGE,
                        "%s: shape has more elements than this machine can address", path);
        product *= header->shape[i];
    }
    *elements = product;
    return true;
}

/* That the rest of the file is as long as the shape says: before memory is asked for, since a
 * damaged shape may ask for any amount. */
static bool check_length(FILE *file, const char *path, size_t expected, error *err)
{
    struct stat status;
    off_t at = ftello(file);
    if (at < 0 || fstat(fileno(file), &status) != 0)
        return fail(err, EXIT_CODE_ENVIRONMENT, "%s: %s", path, strerror(errno));
    size_t left = status.st_size > at ? (size_t)(status.st_size - at) : 0;
    if (left == expected)
        return true;
    return fail(err, EXIT_CODE_USAGE,
                "%s: holds %zu bytes of elements: dtype and shape ask for %zu, it is %s", path,
                left, expected, left < expected ? "truncated" : "too long");
}

static bool read_elements(FILE *file, const char *path, npy_array *array, error *err)
{
    size_t bytes = array->elements * dtype_size(array->dtype);
    if (!check_length(file, path, bytes, err))
        return false;
    size_t rounded = (bytes + ALIGNMENT) / ALIGNMENT * ALIGNMENT; /* never nothing */
    array->data = aligned_alloc(ALIGNMENT, rounded);
    if (!array->data)
        return fail_memory(err, path);
    if (fread(array->data, 1, bytes, file) != bytes)
        return fail_read(file, path, "elements", err);
    return true;
}

static bool read_file(FILE *file, const char *path, bool as_bf16, npy_array *array, error *err)
{
    npy_header header = {0};
    if (!read_header(file, path, &header, err) ||
        !find_dtype(path, header.descr, as_bf16, &array->dtype, err))
        return false;
    if (header.fortran_order)
        return fail(err, EXIT_CODE_USAGE,
                    "%s: fortran_order is True: expected C order: save it with "
                    "numpy.ascontiguousarray(x)",
                    path);
    if (!count_elements(path, &header, dtype_size(array->dtype), &array->elements, err))
        return false;
    array->dimensions = header.dimensions;
    memcpy(array->shape, header.shape, sizeof array->shape);
    return read_elements(file, path, array, err);
}

bool npy_read(const char *path, bool as_bf16, npy_array *array, error *err)
{
    struct stat status;
    *array = (npy_array){0};
    if (stat(path, &status) != 0)
        return fail(err, EXIT_CODE_ENVIRONMENT, "%s: %s", path, strerror(errno));
    if (!S_ISREG(status.st_mode)) /* also keeps open() from waiting at a pipe */
        return fail(err, EXIT_CODE_USAGE, "%s: not a regular file: expected an .npy file", path);
    FILE *file = fopen(path, "rb");
    if (!file)
        return fail(err, EXIT_CODE_ENVIRONMENT, "%s: %s", path, strerror(errno));
    bool fine = read_file(file, path, as_bf16, array, err);
    fclose(file);
    if (!fine)
        npy_free(array);
    return fine;
}

void npy_free(npy_array *array)
{
    free(array->data);
    *array = (npy_array){0};
}

enum { WRITTEN_HEADER_MOST = 1024 }; /* 32 sizes of 20 digits and what stands around them */

/* Prefix and header of version 1.0, padded to a multiple of 64. Returns its length. */
static size_t format_header(ln_type dtype, size_t dimensions, const size_t *shape,
                            char header[WRITTEN_HEADER_MOST])
{
    static const char *const descr[] = {
        [LN_F32] = "<f4", [LN_F64] = "<f8", [LN_BF16] = "<u2", [LN_F16] = "<f2"};
    size_t length = 10;
    length += (size_t)sprintf(header + length, "{'descr': '%s', 'fortran_order': False, 'shape': (",
                              descr[dtype]);
    for (size_t i = 0; i < dimensions; i++)
        length += (size_t)sprintf(header + length, i == 0 ? "%zu," : " %zu,", shape[i]);
    if (dimensions > 1)
        length--; /* (3,) but (3, 4) */
    length += (size_t)sprintf(header + length, "), }");
    size_t padded = (length + 1 + 63) / 64 * 64;
    memset(header + length, ' ', padded - length);
    header[padded - 1] = '\n';
    memcpy(header, magic, 6);
    header[6] = 1;
    header[7] = 0;
    header[8] = (char)((padded - 10) & 0xff);
    header[9] = (char)((padded - 10) >> 8);
    return padded;
}

bool npy_write(const char *path, ln_type dtype, size_t dimensions, const size_t *shape,
               const void *data, error *err)
{
    char header[WRITTEN_HEADER_MOST];
    size_t elements = 1;
    npy_header wanted = {.dimensions = dimensions};
    if (dimensions > NPY_MAX_DIMENSIONS)
        return fail(err, EXIT_CODE_USAGE, "%s: %zu dimensions: expected %d at most", path,
                    dimensions, NPY_MAX_DIMENSIONS);
    if (dimensions > 0)
        memcpy(wanted.shape, shape, dimensions * sizeof *shape);
    if (!count_elements(path, &wanted, dtype_size(dtype), &elements, err))
        return false;
    size_t length = format_header(dtype, dimensions, shape, header);
    size_t bytes = elements * dtype_size(dtype);
    whole_file file;
    if (!whole_file_begin(&file, path, err))
        return false;
    fwrite(header, 1, length, file.stream);
    if (bytes > 0)
        fwrite(data, 1, bytes, file.stream);
    return whole_file_end(&file, true, err);
}

const char *npy_shape_text(const npy_array *array, char buffer[128])
{
    size_t at = (size_t)snprintf(buffer, 128, "(");
    for (size_t i = 0; i < array->dimensions && at < 110; i++)
        at += (size_t)snprintf(buffer + at, 128 - at, "%s%zu", i ? ", " : "", array->shape[i]);
    snprintf(buffer + at, 128 - at, "%s)", array->dimensions == 1 ? "," : "");
    return buffer;
}

bool npy_same_shape(const npy_array *x, const npy_array *other, const char *path,
                    const char *option, error *err)
{
    char wanted[128], given[128];
    bool same = x->dimensions == other->dimensions;
    for (size_t i = 0; same && i < x->dimensions; i++)
        same = x->shape[i] == other->shape[i];
    return same || fail(err, EXIT_CODE_USAGE, "%s (--%s): shape %s; %s was expected, as x has",
                        path, option, npy_shape_text(other, given), npy_shape_text(x, wanted));
}
