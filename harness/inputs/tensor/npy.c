/* The format: numpy/lib/format.py, "Format Version 1.0" to "3.0". Ten or twelve bytes of magic,
 * version and header length, the header, then the elements. */
#include "inputs/tensor/internal.h"
#include "base/files.h"
#include <stdlib.h>
#include <string.h>

enum { MAGIC_LENGTH = 8, HEADER_MOST = 1 << 20 };
static const char magic[] = "\x93NUMPY";

/* Magic, version and header length. */
static bool read_prefix(byte_source *source, size_t *header_length, error *err)
{
    unsigned char prefix[MAGIC_LENGTH], size[4] = {0};
    if (!bytes_take(source, prefix, sizeof prefix, "magic and version", err))
        return false;
    if (memcmp(prefix, magic, 6) != 0)
        return fail(err, EXIT_CODE_USAGE,
                    "%s: not an npy file: expected it to begin with \\x93NUMPY", source->path);
    if (prefix[6] < 1 || prefix[6] > 3 || prefix[7] != 0)
        return fail(err, EXIT_CODE_USAGE, "%s: npy version %d.%d: expected 1.0, 2.0 or 3.0",
                    source->path, prefix[6], prefix[7]);
    if (!bytes_take(source, size, prefix[6] == 1 ? 2 : 4, "header length", err))
        return false;
    *header_length = (size_t)little_endian(size, sizeof size);
    return *header_length <= HEADER_MOST ||
           fail(err, EXIT_CODE_USAGE, "%s: npy header is %zu bytes long: expected 1 MiB at most",
                source->path, *header_length);
}

bool npy_read_form(byte_source *source, tensor_form *form, error *err)
{
    size_t length = 0;
    if (!read_prefix(source, &length, err))
        return false;
    char *text = malloc(length + 1);
    if (!text)
        return fail_memory(err, "npy header");
    bool fine = bytes_take(source, text, length, "header", err) &&
                npy_header_parse(source->path, text, length, form, err);
    free(text);
    return fine;
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
    if (dimensions > TENSOR_MAX_DIMENSIONS)
        return fail(err, EXIT_CODE_USAGE, "%s: %zu dimensions: expected %d at most", path,
                    dimensions, TENSOR_MAX_DIMENSIONS);
    if (!count_elements(path, dimensions, shape, dtype_size(dtype), &elements, err))
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
