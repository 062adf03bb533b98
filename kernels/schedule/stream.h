/* What stores around the caches need: whole lines of y, at aligned addresses. */
#ifndef LN_SCHEDULE_STREAM_H
#define LN_SCHEDULE_STREAM_H

#include "moments.h"

enum { LINE_BYTES = 64, LINE = LINE_BYTES / (int)sizeof(storage) };

/* How many columns from i on lie before the next line of y begins. */
LN_INLINE size_t columns_to_line(const row *view, size_t i)
{
    return (size_t)(-(uintptr_t)(view->y + i) % LINE_BYTES) / sizeof(storage);
}

#endif
