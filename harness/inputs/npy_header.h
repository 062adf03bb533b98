/* The header of an .npy file: a Python dictionary of three keys. Inside of npy*.c only. */
#ifndef LNBENCH_NPY_HEADER_H
#define LNBENCH_NPY_HEADER_H

#include "inputs/npy.h"

typedef struct npy_header {
    char descr[24];
    bool fortran_order;
    size_t dimensions;
    size_t shape[NPY_MAX_DIMENSIONS];
} npy_header;

/* Reads the dictionary in text[0..length). Errors name the file and the field. */
bool npy_header_parse(const char *path, const char *text, size_t length, npy_header *header,
                      error *err);

#endif
