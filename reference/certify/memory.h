/* Whose memory the certified arithmetic takes. */
#ifndef LN_REFERENCE_MEMORY_H
#define LN_REFERENCE_MEMORY_H

#include <stddef.h>

/* For GMP and MPFR, which abort where memory runs out: functions that never return NULL. To be
 * called before anything is computed. */
void ln_reference_take_memory(void *(*get)(size_t size),
                              void *(*resize)(void *old, size_t old_size, size_t size),
                              void (*release)(void *old, size_t size));

#endif
