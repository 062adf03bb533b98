/* The parts of the reader. */
#ifndef LNBENCH_TENSOR_INTERNAL_H
#define LNBENCH_TENSOR_INTERNAL_H

#include "inputs/tensor/tensor.h"
#include <stdint.h>
#include <stdio.h>
#include <zlib.h>

/* The bytes of one tensor, in order, and none beyond: all of a file, a part of it, or what a part of it
 * unpacks to. */
typedef struct byte_source {
    FILE *file;
    const char *path;      /* as the user wrote it, with the tensor's name */
    uint64_t stored, left; /* bytes still in the file, and still to come out */
    bool is_member;        /* of an archive that says what its checksum is */
    bool is_deflated;
    uLong checksum, expected_checksum;
    unsigned char *piece; /* of the file, where it is unpacked */
    z_stream unpacker;
} byte_source;

/* Takes `count` bytes; it is an error if there are fewer (`field`: what is being read). */
bool bytes_take(byte_source *source, void *to, size_t count, const char *field, error *err);
/* Of a member: the checksum, and that its packed bytes end where its bytes do. */
bool bytes_end(byte_source *source, error *err);
/* Begins to unpack. */
bool bytes_unpack(byte_source *source, error *err);
void bytes_free(byte_source *source);
/* Leaves the file at this place. */
bool bytes_seek(byte_source *source, uint64_t place, error *err);

uint64_t little_endian(const unsigned char *bytes, size_t count);

/* What a header says of the elements behind it. */
typedef struct tensor_form {
    char descr[24]; /* "<f4"; "BF16" */
    bool is_fortran;
    size_t dimensions;
    size_t shape[TENSOR_MAX_DIMENSIONS];
} tensor_form;

/* Magic, version and header; the elements come next. */
bool npy_read_form(byte_source *source, tensor_form *form, error *err);

/* Leaves the source at the first byte of the archive's NAME.npy. name NULL: of its only one. */
bool npz_open(byte_source *source, const char *name, error *err);
/* Leaves the source at the first element of the tensor. name NULL: of its only one. */
bool safetensors_open(byte_source *source, const char *name, tensor_form *form, error *err);

/* As tensor_read(), of a file that is open, by its name in the request. */
bool tensor_read_open(FILE *file, const tensor_request *request, tensor_array *array, error *err);

/* Puts the axes of a row last. */
bool tensor_order(tensor_array *array, const tensor_axes *axes, const char *path, error *err);

/* The names that a file has, for an error: "x, y, gamma". */
typedef struct name_list {
    char text[200];
    size_t count;
} name_list;
void name_list_add(name_list *list, const char *name, size_t length);
/* A wrong name, or none where there are several. */
bool fail_name(const char *path, const char *name, const name_list *names, error *err);

/* The product of the shape, where its bytes can be counted. A zero anywhere makes it zero. */
bool count_elements(const char *path, size_t dimensions, const size_t *shape, size_t element_size,
                    size_t *elements, error *err);

#endif
