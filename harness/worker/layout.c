#include "base/random.h"
#include "worker/layout.h"
#include <stdlib.h>

/* All outputs of a kind beside the result. */
static unsigned outputs_of(const operation *what, bool statistics, bool tables)
{
    unsigned all = 0;
    for (size_t i = 0; i < what->count; i++)
        if (what->roles[i].output && i != what->result)
            all |= (unsigned)(role_is_statistic(&what->roles[i]) ? statistics : tables) << i;
    return all;
}

/* Strided rows, by hidden: a few elements apart, whole vectors long, or more than twice as long. */
static size_t gap_of(size_t hidden, size_t table)
{
    size_t whole = 16 - hidden % 16;
    const size_t gaps[3][4] = {
        {3, 5, 7, 11}, {whole, whole + 16, whole + 32, whole + 48}, {hidden, 1, hidden + 1, 2}};
    return gaps[hidden % 3][table % 4];
}

call_layout layout_named(layout_name name, const operation *what, size_t hidden)
{
    static const guard_place places[LAYOUT_NAMES] = {GUARD_TIMED, GUARD_BEHIND, GUARD_BEFORE,
                                                     GUARD_BEHIND};
    bool in_place = name == LAYOUT_IN_PLACE;
    bool strided = name == LAYOUT_BEFORE || (in_place && hidden % 2 == 1);
    call_layout made = {.at_once = 1,
                        .outputs = outputs_of(what, name == LAYOUT_BEHIND || name == LAYOUT_BEFORE,
                                              name != LAYOUT_BEHIND)};
    size_t tables = 0;
    for (size_t i = 0; i < what->count; i++) {
        const tensor_role *role = &what->roles[i];
        size_t taken = in_place ? role_in_place(what, i) : i;
        made.tensors[i] = (tensor_layout){.lies_in = taken,
                                          .place = places[name],
                                          .offset = role->output ? GUARD_TIMED_WRITE_OFFSET
                                                                 : GUARD_TIMED_READ_OFFSET,
                                          .gap = !strided || role->shape != SHAPE_TABLE ? 0
                                                 : taken != i ? made.tensors[taken].gap
                                                              : gap_of(hidden, tables++)};
    }
    return made;
}

void layout_strides(const call_layout *layout, const operation *what, ln_problem *problem)
{
    for (size_t i = 0; i < what->count; i++)
        if (what->roles[i].shape == SHAPE_TABLE)
            *role_stride(&what->roles[i], problem) = problem->hidden + layout->tensors[i].gap;
}

static int compare_rows(const void *a, const void *b)
{
    const size_t *one = a, *other = b;
    return (*one > *other) - (*one < *other);
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
    size_t count = 0, different = 0;
    for (size_t i = 0; i < sizeof centres / sizeof *centres; i++)
        for (size_t row = centres[i] - ABOUT; row <= centres[i] + ABOUT; row++)
            if (row < problem->rows)
                rows[count++] = row;
    for (uint64_t i = 0; i < DRAWN; i++) {
        uint32_t words[4];
        philox4x32(seed, i, 0x6c61726765, words);
        rows[count++] = (words[0] | (uint64_t)words[1] << 32) % problem->rows;
    }
    qsort(rows, count, sizeof *rows, compare_rows);
    for (size_t i = 0; i < count; i++)
        if (different == 0 || rows[different - 1] != rows[i])
            rows[different++] = rows[i];
    return different;
}
