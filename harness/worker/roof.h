/* The roofs: what moving the bytes alone costs. A copy loop in the widest vectors of this CPU (not
 * memcpy, which drops to half at some offsets in L2), with plain stores and with non-temporal ones,
 * and `rep movsb`. Their names are in domain/case.h. */
#ifndef LNBENCH_ROOF_H
#define LNBENCH_ROOF_H

#include "domain/case.h"

/* Copies bytes from x to y, which are the same place or do not overlap. Both are at least 64-byte
 * aligned. */
typedef void roof_function(const void *x, void *y, size_t bytes);

/* name: one of roof_names. */
roof_function *roof_find(const char *name);

#endif
