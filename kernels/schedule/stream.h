/* Stores of y around the caches, for a y that will not fit in them: a line that is stored whole is
 * not read first, and pushes nothing out. Those need aligned addresses, so what lies before y's
 * first line and behind its last is stored as usual.
 *
 * Reads have to go on while lines are written: where a row is read and then written, memory does
 * one or the other, and each waits for the last of the former (at hidden 4096 that costs a quarter;
 * at 1024, 40 %). So for each line of y that is stored, one line of x is fetched that will be
 * wanted FETCH_AHEAD elements later, counted as if rows lay one behind the other. Statistics then
 * find their row in L2. */
#ifndef LN_SCHEDULE_STREAM_H
#define LN_SCHEDULE_STREAM_H

enum { LINE_BYTES = 64, LINE = LINE_BYTES / (int)sizeof(storage) };
enum { FETCH_AHEAD = 8192 / (int)sizeof(storage) };

/* How many columns from i on lie before the next line of y begins. */
LN_INLINE size_t columns_to_line(const row *row, size_t i)
{
    return (size_t)(-(uintptr_t)(row->y + i) % LINE_BYTES) / sizeof(storage);
}

/* Whether every row of y begins with a line of its own. */
LN_INLINE int rows_begin_lines(const ln_problem *problem, const ln_tensors *tensors)
{
    size_t stride = problem->y_stride ? problem->y_stride : problem->hidden;
    return ((uintptr_t)tensors->y | stride * sizeof(storage)) % LINE_BYTES == 0;
}

/* Fetches the lines of the block at column i of x (and residual); i may lie far behind the row: an
 * address that is fetched need not exist. */
LN_INLINE void fetch_block(const row *row, size_t i)
{
    LN_UNROLLED
    for (size_t u = 0; u < BLOCK; u += LINE) {
        size_t at = (i + u) * sizeof(storage);
        __builtin_prefetch((const void *)((uintptr_t)row->x + at), 0, 3);
        if (row->form != RESIDUAL_NONE)
            __builtin_prefetch((const void *)((uintptr_t)row->residual + at), 0, 3);
    }
}

/* Asks memory for what will be wanted FETCH_AHEAD elements behind this row. */
LN_INLINE void row_fetch(const row *row)
{
    for (size_t i = 0; i < row->hidden; i += BLOCK)
        fetch_block(row, i + FETCH_AHEAD);
}

/* As apply_block(); y + i begins a vector's line. */
LN_INLINE void stream_block(const row *row, const convention *convention, centre centre, size_t i,
                            size_t left)
{
    LN_UNROLLED
    for (size_t u = 0; u < UNROLL; u++) {
        if (left <= u * LANES)
            continue;
        size_t at = i + u * LANES, n = left - u * LANES;
        vec y = apply_vector(row, convention, centre, at, n);
        if (n >= LANES)
            LN_PASTE(lane_stream_, LN_STORAGE)(row->y + at, y);
        else
            row_store(row->y + at, y, n);
    }
}

/* y of the columns from begin to the next line, or to end: returns where that is. */
LN_INLINE size_t apply_to_line(const row *row, const convention *convention, centre centre,
                               size_t begin, size_t end)
{
    size_t to_line = columns_to_line(row, begin);
    if (to_line < end - begin)
        end = begin + to_line;
    for (size_t i = begin; i < end; i += LANES)
        row_store(row->y + i, apply_vector(row, convention, centre, i, end - i), end - i);
    return end;
}

LN_INLINE void apply_row(const row *row, const convention *convention, centre centre)
{
    size_t hidden = row->hidden, i = apply_to_line(row, convention, centre, 0, hidden);
    for (; hidden - i >= BLOCK; i += BLOCK) {
        fetch_block(row, i + hidden + FETCH_AHEAD);
        stream_block(row, convention, centre, i, BLOCK);
    }
    if (i < hidden) {
        fetch_block(row, i + hidden + FETCH_AHEAD);
        stream_block(row, convention, centre, i, hidden - i);
    }
}

#endif
