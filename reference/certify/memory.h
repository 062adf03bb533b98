/* Sets the allocator of the certified arithmetic. */
#ifndef LN_REFERENCE_MEMORY_H
#define LN_REFERENCE_MEMORY_H

#include <stddef.h>

/* Sets functions, which never return NULL, for GMP and MPFR, which otherwise abort if memory runs out. Must be
 * called before any computation. */
void ln_reference_take_memory(void *(*get)(size_t size),
                              void *(*resize)(void *old, size_t old_size, size_t size),
                              void (*release)(void *old, size_t size));

#endif
