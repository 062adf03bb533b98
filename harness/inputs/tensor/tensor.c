/* One tensor of a file: which form it has, its type, and its elements, row behind row. */
#include "inputs/tensor/internal.h"
#include "inputs/typed.h"
#include "inputs/tensor/tensor.h"
#include "metrics/storage.h"
#include "inputs/inputs.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* The first element that is no number of the type, which all others are stored in; none: the count. */
static size_t store_all(const tensor_array *array, ln_type type, void *to)
{
    double room;
    for (size_t i = 0; i < array->elements; i++) {
        double value = storage_load(array->dtype, array->data, i);
        void *place = to ? to : &room;
        storage_store(type, place, to ? i : 0, value);
        if (!isnan(value) && storage_load(type, place, to ? i : 0) != value)
            return i;
    }
    return array->elements;
}

bool tensor_converts(const tensor_array *array, ln_type type)
{
    return array->dtype == type || store_all(array, type, NULL) == array->elements;
}

bool tensor_convert(tensor_array *array, ln_type type, const char *whose, const char *path,
                    const char *option, error *err)
{
    static const char *const descr[] = {
        [LN_F32] = "f4", [LN_F64] = "f8", [LN_BF16] = "bf16", [LN_F16] = "f2"};
    if (array->dtype == type)
        return true;
    void *to = malloc(array->elements * dtype_size(type) + 1);
    if (!to)
        return fail_memory(err, path);
    size_t i = store_all(array, type, to);
    if (i < array->elements) {
        free(to);
        return fail(err, EXIT_CODE_USAGE,
                    "%s (--%s): element %zu, %.17g, is no %s, %s: save it as %s and so choose the "
                    "rounding",
                    path, option, i, storage_load(array->dtype, array->data, i), dtype_name(type),
                    whose, descr[type]);
    }
    free(array->data);
    array->data = to;
    array->dtype = type;
    return true;
}

bool tensor_is_finite(const tensor_array *array, const char *path, const char *option, error *err)
{
    for (size_t i = 0; i < array->elements; i++)
        if (!isfinite(storage_load(array->dtype, array->data, i)))
            return fail(err, EXIT_CODE_USAGE,
                        "%s (--%s): element %zu is %g: expected finite numbers", path, option, i,
                        storage_load(array->dtype, array->data, i));
    return true;
}

/* Rounds to the type; what is finite must stay so. */
static bool take_row(const tensor_array *array, const char *path, size_t row, size_t hidden,
                     ln_type type, void *x, error *err)
{
    for (size_t i = 0; i < hidden; i++) {
        size_t at = row * hidden + i;
        double value = storage_load(array->dtype, array->data, at);
        storage_store(type, x, i, value);
        if (isfinite(value) && !isfinite(storage_load(type, x, i)))
            return fail(err, EXIT_CODE_USAGE,
                        "%s: element %zu is %g: beyond %s, whose largest number is %s", path, at,
                        value, dtype_name(type), type == LN_F16 ? "65504" : "3.4e38");
    }
    return true;
}

bool input_rows_of_file(const char *path, ln_type type, size_t first, size_t count, size_t hidden,
                        void *x, error *err)
{
    const tensor_request request = {.path = path, .u2_is_bf16 = type == LN_BF16};
    tensor_array array;
    if (!tensor_read(&request, &array, err))
        return false;
    size_t row_bytes = hidden * dtype_size(type);
    bool fine = tensor_has_rows(&array, path, err);
    if (fine && array.hidden != hidden)
        fine = fail(err, EXIT_CODE_USAGE, "%s: last axis is %zu long: expected hidden %zu", path,
                    array.hidden, hidden);
    size_t rows = fine ? array.elements / hidden : 1;
    for (size_t i = 0; fine && i < count; i++) {
        size_t row = (first + i) % rows;
        char *to = (char *)x + i * row_bytes;
        if (array.dtype == type) /* bit for bit */
            memcpy(to, (const char *)array.data + row * row_bytes, row_bytes);
        else
            fine = take_row(&array, path, row, hidden, type, to, err);
    }
    tensor_free(&array);
    return fine;
}

bool input_file_shape(const char *path, size_t *rows, size_t *hidden, error *err)
{
    /* Of u2 the shape is known, whatever it holds. */
    const tensor_request request = {.path = path, .u2_is_bf16 = true};
    tensor_array array;
    bool fine = tensor_read(&request, &array, err) && tensor_has_rows(&array, path, err);
    if (fine) {
        *hidden = array.hidden;
        *rows = array.elements / array.hidden;
    }
    tensor_free(&array);
    return fine;
}

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "elements are read as they lie");

enum { ALIGNMENT = 64, CHUNK = 1 << 15 };

static bool find_dtype(const tensor_request *request, const char *descr, ln_type *dtype, error *err)
{
    static const struct {
        const char *numpy, *safetensors;
        ln_type dtype;
    } known[] = {{"f4", "F32", LN_F32},
                 {"f8", "F64", LN_F64},
                 {"f2", "F16", LN_F16},
                 {"V2", "BF16", LN_BF16}};
    bool has_order = descr[0] && strchr("<>|", descr[0]);
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(descr, known[i].safetensors) == 0 ||
            (has_order && strcmp(descr + 1, known[i].numpy) == 0)) {
            *dtype = known[i].dtype;
            return true;
        }
    if (strcmp(descr, "U16") != 0 && (!has_order || strcmp(descr + 1, "u2") != 0))
        return fail(err, EXIT_CODE_USAGE,
                    "%s: dtype '%s': expected f4, f8, f2 or bf16 (V2 or BF16; or its bits in u2)",
                    request->path, descr);
    *dtype = LN_BF16;
    return request->u2_is_bf16 ||
           fail(err, EXIT_CODE_USAGE,
                "%s: dtype '%s' does not say what it holds: expected --dtypes "
                "bf16 for the bits of bf16",
                request->path, descr);
}

bool count_elements(const char *path, size_t dimensions, const size_t *shape, size_t element_size,
                    size_t *elements, error *err)
{
    size_t product = 1, most = (SIZE_MAX / 2 - ALIGNMENT) / element_size;
    *elements = 0;
    for (size_t i = 0; i < dimensions; i++)
        if (shape[i] == 0)
            return true;
    for (size_t i = 0; i < dimensions; i++) {
        if (shape[i] > most / product)
            return fail(err, EXIT_CODE_USAGE,
                        "%s: shape has more elements than this machine can address", path);
        product *= shape[i];
    }
    *elements = product;
    return true;
}

/* Where elements go that come in the file's order: the axes from the fastest one on, and how far apart
 * two neighbours along each lie in memory. */
typedef struct element_path {
    size_t count, place;
    size_t size[TENSOR_MAX_DIMENSIONS], step[TENSOR_MAX_DIMENSIONS], at[TENSOR_MAX_DIMENSIONS];
} element_path;

/* Whether the order of the file is that of the memory. */
static bool path_of(const tensor_array *array, bool is_fortran, element_path *path)
{
    size_t steps[TENSOR_MAX_DIMENSIONS], step = 1, expected = 1;
    bool straight = true;
    *path = (element_path){.count = array->dimensions};
    for (size_t i = array->dimensions; i-- > 0;) {
        steps[array->order[i]] = step;
        step *= array->shape[array->order[i]];
    }
    for (size_t i = 0; i < path->count; i++) {
        size_t axis = is_fortran ? i : path->count - 1 - i;
        path->size[i] = array->shape[axis];
        path->step[i] = steps[axis];
        straight = straight && (path->size[i] == 1 || path->step[i] == expected);
        expected *= path->size[i];
    }
    return straight;
}

static size_t path_next(element_path *path)
{
    size_t place = path->place;
    for (size_t i = 0; i < path->count; i++) {
        path->place += path->step[i];
        if (++path->at[i] < path->size[i])
            break;
        path->place -= path->step[i] * path->size[i];
        path->at[i] = 0;
    }
    return place;
}

static void swap_bytes(unsigned char *bytes, size_t size, size_t count)
{
    for (size_t i = 0; i < count; i++, bytes += size)
        for (size_t j = 0; j < size / 2; j++) {
            unsigned char byte = bytes[j];
            bytes[j] = bytes[size - 1 - j];
            bytes[size - 1 - j] = byte;
        }
}

static bool take_scattered(byte_source *source, const tensor_array *array, element_path *path,
                           error *err)
{
    unsigned char chunk[CHUNK];
    size_t size = dtype_size(array->dtype);
    for (size_t left = array->elements; left > 0;) {
        size_t count = left < CHUNK / size ? left : CHUNK / size;
        if (!bytes_take(source, chunk, count * size, "elements", err))
            return false;
        for (size_t i = 0; i < count; i++)
            memcpy((char *)array->data + path_next(path) * size, chunk + i * size, size);
        left -= count;
    }
    return true;
}

/* That the file has as many bytes as the shape says is known before memory is asked for: a damaged
 * shape may ask for any amount. */
static bool take_elements(byte_source *source, const tensor_form *form, tensor_array *array,
                          error *err)
{
    size_t size = dtype_size(array->dtype), bytes = array->elements * size;
    element_path path;
    array->data = aligned_alloc(ALIGNMENT, (bytes + ALIGNMENT) / ALIGNMENT * ALIGNMENT);
    if (!array->data)
        return fail_memory(err, source->path);
    if (!(path_of(array, form->is_fortran, &path)
              ? bytes_take(source, array->data, bytes, "elements", err)
              : take_scattered(source, array, &path, err)))
        return false;
    if (form->descr[0] == '>')
        swap_bytes(array->data, size, array->elements);
    return bytes_end(source, err);
}

static bool take_form(byte_source *source, const tensor_request *request, const tensor_form *form,
                      tensor_array *array, error *err)
{
    size_t size;
    if (!find_dtype(request, form->descr, &array->dtype, err))
        return false;
    size = dtype_size(array->dtype);
    if (!count_elements(source->path, form->dimensions, form->shape, size, &array->elements, err))
        return false;
    array->dimensions = form->dimensions;
    memcpy(array->shape, form->shape, sizeof array->shape);
    if (source->left != array->elements * size)
        return fail(err, EXIT_CODE_USAGE,
                    "%s: holds %llu bytes of elements: dtype and shape ask for %zu, it is %s",
                    source->path, (unsigned long long)source->left, array->elements * size,
                    source->left < array->elements * size ? "truncated" : "too long");
    return tensor_order(array, request->axes, request->path, err) &&
           take_elements(source, form, array, err);
}

/* The form of the file, by its first bytes or by its ending; the source is left at the elements. */
static bool find_form(byte_source *source, tensor_form *form, error *err)
{
    unsigned char begin[6];
    size_t archive = input_archive_length(source->path);
    bool has_name = archive > 0 && source->path[archive] == ':';
    const char *name = has_name ? source->path + archive + 1 : NULL;
    size_t got = fread(begin, 1, sizeof begin, source->file);
    if (!bytes_seek(source, 0, err))
        return false;
    if (got >= 4 && (memcmp(begin, "PK\3\4", 4) == 0 || memcmp(begin, "PK\5\6", 4) == 0))
        return npz_open(source, name, err) && npy_read_form(source, form, err);
    if (archive > 0 && source->path[archive - 1] == 's')
        return safetensors_open(source, name, form, err);
    if (got == 0 || memcmp(begin, "\x93NUMPY", got) != 0)
        return ferror(source->file)
                   ? fail(err, EXIT_CODE_ENVIRONMENT, "%s: %s", source->path, strerror(errno))
                   : fail(err, EXIT_CODE_USAGE,
                          "%s: not an npy, npz or safetensors file: expected it to begin with "
                          "\\x93NUMPY or PK, or to be called FILE.safetensors",
                          source->path);
    return (!has_name || fail(err, EXIT_CODE_USAGE,
                              "%s: is one npy array: expected no name behind it", source->path)) &&
           npy_read_form(source, form, err);
}

bool tensor_read_open(FILE *file, const tensor_request *request, tensor_array *array, error *err)
{
    byte_source source = {.file = file, .path = request->path};
    tensor_form form = {0};
    *array = (tensor_array){0};
    off_t size = fseeko(file, 0, SEEK_END) == 0 ? ftello(file) : -1;
    if (size < 0)
        return fail(err, EXIT_CODE_ENVIRONMENT, "%s: %s", request->path, strerror(errno));
    source.stored = source.left = (uint64_t)size;
    bool fine = bytes_seek(&source, 0, err) && find_form(&source, &form, err) &&
                take_form(&source, request, &form, array, err);
    bytes_free(&source);
    if (!fine)
        tensor_free(array);
    return fine;
}

bool tensor_read(const tensor_request *request, tensor_array *array, error *err)
{
    struct stat status;
    size_t archive = input_archive_length(request->path);
    *array = (tensor_array){0};
    char *path = strndup(request->path, archive > 0 ? archive : strlen(request->path));
    bool fine = path != NULL || fail_memory(err, "a path");
    if (fine && stat(path, &status) != 0)
        fine = fail(err, EXIT_CODE_ENVIRONMENT, "%s: %s", request->path, strerror(errno));
    else if (fine && !S_ISREG(status.st_mode)) /* also keeps open() from waiting at a pipe */
        fine = fail(err, EXIT_CODE_USAGE,
                    "%s: not a regular file: expected an npy, npz or "
                    "safetensors file",
                    request->path);
    FILE *file = fine ? fopen(path, "rb") : NULL;
    if (fine && !file)
        fine = fail(err, EXIT_CODE_ENVIRONMENT, "%s: %s", request->path, strerror(errno));
    fine = fine && tensor_read_open(file, request, array, err);
    if (file)
        fclose(file);
    free(path);
    return fine;
}

void tensor_free(tensor_array *array)
{
    free(array->data);
    *array = (tensor_array){0};
}
