/* What the files of inputs/ share. */
#ifndef LNBENCH_INPUTS_TYPED_H
#define LNBENCH_INPUTS_TYPED_H

#include "domain/operation.h"

/* Length of the path before :NAME, or of all of it, where it is that of an archive of tensors; else 0. */
size_t input_archive_length(const char *path);
/* The rows of a file in a type. */
void input_rows_of_file(const char *path, ln_type type, size_t first, size_t count, size_t hidden,
                        void *x);

static inline uint64_t mix(uint64_t z)
{
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* Makes the first two differ where rounding made them equal. */
void parameters_tell_apart(ln_type type, size_t count, void *to);
/* layernorm/parameters.c: as parameters_of_ties(), in the type's own precision. */
void parameters_of_typed_ties(const operation_call *call, uint64_t seed);

#endif
