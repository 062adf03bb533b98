/* Arrays of any element type for the kernels' tests. Numbers are doubles, which hold every element
 * of every type; buffers hold them as the kernels see them. */
#ifndef ELEMENTS_H
#define ELEMENTS_H

#include "layernorm_plugin.h"

size_t element_size(ln_type type);
const char *element_name(ln_type type);

/* Significant bits, least and largest exponent of normal numbers, the smallest number. */
typedef struct format {
    int bits, least, most;
    double smallest;
} format;
format element_format(ln_type type);

/* value rounded to nearest even, by what the types' definition says: no tricks with bits. */
double element_rounded(ln_type type, double value);

double element_get(ln_type type, const void *elements, size_t i);
void element_put(ln_type type, void *elements, size_t i, double value);

/* Rounds count values to the type, in place, and stores them. */
void elements_store(ln_type type, void *elements, double *values, size_t count);

#endif
