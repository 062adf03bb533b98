#include "certify/memory.h"
#include <gmp.h>

void ln_reference_take_memory(void *(*get)(size_t size),
                              void *(*resize)(void *old, size_t old_size, size_t size),
                              void (*release)(void *old, size_t size))
{
    mp_set_memory_functions(get, resize, release);
}
