#include "worker/large_rows.h"
#include "base/random.h"

/* Keeps the rows in order, each once. */
static size_t insert_row(size_t *rows, size_t count, size_t row)
{
    size_t at = count;
    while (at > 0 && rows[at - 1] > row)
        at--;
    if (at > 0 && rows[at - 1] == row)
        return count;
    for (size_t i = count; i > at; i--)
        rows[i] = rows[i - 1];
    rows[at] = row;
    return count + 1;
}

size_t large_rows(const ln_problem *problem, uint64_t seed, size_t rows[LARGE_ROWS])
{
    enum { ABOUT = 2, DRAWN = 12 };
    const size_t centres[] = {ABOUT,
                              (size_t)1 << 16,
                              (size_t)1 << 23,
                              ((size_t)1 << 31) / problem->x_stride,
                              ((size_t)1 << 32) / problem->x_stride,
                              problem->rows - 1};
    size_t count = 0;
    for (size_t i = 0; i < sizeof centres / sizeof *centres; i++)
        for (size_t row = centres[i] - ABOUT; row <= centres[i] + ABOUT; row++)
            if (row < problem->rows)
                count = insert_row(rows, count, row);
    for (uint64_t i = 0; i < DRAWN; i++) {
        uint32_t words[4];
        philox4x32(seed, i, 0x6c61726765, words);
        count = insert_row(rows, count, (words[0] | (uint64_t)words[1] << 32) % problem->rows);
    }
    return count;
}
