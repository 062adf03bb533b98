/* The referee: what is asked of every kernel that comes without a proof. Each check is one case of
 * a run, over many blocks of rows.
 *
 *     referee_blocks blocks;
 *     referee_prepare(judge, &task, &blocks, &err);          // once for all kernels of the types
 *     referee_examine(judge, &task, &blocks, kernel, &judgement, &err);
 *     referee_release(&blocks);
 */
#ifndef LNBENCH_CHECKS_H
#define LNBENCH_CHECKS_H

#include "referee/referee.h"

typedef enum referee_check {
    CHECK_ROWS,    /* no check of the referee: the rows of one input */
    CHECK_SIZES,   /* every hidden size from `first` to `last`, or a sample of long ones */
    CHECK_BATCHES, /* 1 to 68 rows, and up to 2048 */
    CHECK_FORMS, /* residual, tiny and special rows, tails, hidden 1 and 2 under this convention */
    CHECK_CONVENTIONS, /* every level of the convention's fields, with an eps from the seed */
    CHECK_CALLS,       /* 75,000 calls, other threads, another process */
    CHECK_CELLS, /* of calls of the library: every input family at one hidden size, wherever the rows
                    lie and however few they are, since each time it may take another kernel */
    CHECK_LARGE, /* rows beyond 2^23, elements beyond 2^32 (worker/large_rows.h) */
    CHECK_COUNT,
} referee_check;

typedef struct referee_task {
    referee_check check;
    ln_convention convention;
    ln_type storage, param;
    size_t first, last; /* sizes; first 0: the sample. Large: 0: 2^23 short rows, and long strides;
                           1: 2^32 elements. Cells: the hidden size, and a call_place; 0: all */
} referee_task;

/* A tensor of which a block has some rows. */
typedef struct large_tensors {
    ln_problem problem;
    void *period; /* the LARGE_PERIOD rows that x is made of */
    uint64_t seed;
} large_tensors;

typedef struct referee_blocks {
    judge_block *blocks;
    size_t count;
    bool shared;          /* answers and parameters are those of two blocks more */
    large_tensors *large; /* of CHECK_LARGE: one for each block */
} referee_blocks;

/* In the place of an input's name (domain/case.h). */
const char *referee_check_name(referee_check check);

/* The tasks of the sizes, in packs that keep a run's progress and memory in bounds. */
enum { REFEREE_PACKS = 6 };
/* Which of the tasks of its check it is: a pack of sizes, one size of the cells (the first three are those
 * of the quick plan), or of large tensors 0 or 1. */
void referee_task_pack(referee_task *task, size_t pack);

/* The elements of all blocks, for the time left; rows and hidden of the largest block. */
size_t referee_elements(const referee_task *task);
void referee_shape(const referee_task *task, size_t *rows, size_t *hidden);

bool referee_prepare(row_judge *judge, const referee_task *task, referee_blocks *blocks,
                     error *err);
/* As judge_kernel(); no rows stay in the judgement. Ends with the first violation. */
bool referee_examine(row_judge *judge, const referee_task *task, const referee_blocks *blocks,
                     const kernel_entry *kernel, case_judgement *judgement, error *err);
void referee_release(referee_blocks *blocks);

#endif
