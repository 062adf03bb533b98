/* The roofs: what moving the bytes alone costs. A copy loop in the widest vectors of this CPU (not
 * memcpy, which drops to half at some offsets in L2), with plain stores and with non-temporal ones.
 */
#ifndef LNBENCH_ROOF_H
#define LNBENCH_ROOF_H

#include <stddef.h>

#define ROOF_COPY "roof_copy"
#define ROOF_COPY_NT "roof_copy_nt"

/* Copies bytes from x to y, which are the same place or do not overlap. Both are at least 64-byte
 * aligned. */
typedef void roof_function(const void *x, void *y, size_t bytes);

roof_function *roof_copy(void);
roof_function *roof_copy_nt(void);

#endif
