/* The conformance tests: what every kernel that comes without a proof is asked. Each check is one case of
 * a run, over many blocks of rows.
 *
 *     conformance_blocks blocks;
 *     conformance_prepare(judge, &task, &blocks);                // once for all kernels of the types
 *     conformance_examine(judge, &task, &blocks, kernel, &judgement);
 *     conformance_release(&blocks);
 */
#ifndef LNBENCH_CONFORMANCE_CHECKS_H
#define LNBENCH_CONFORMANCE_CHECKS_H

#include "conformance/conformance.h"
#include "conformance/problems.h"

/* In the order in which a run makes them. */
typedef enum conformance_check {
    CHECK_ROWS,         /* no conformance test: the rows of one input */
    CHECK_COMBINATIONS, /* the covering array (problems.h) */
    CHECK_LARGE,        /* rows beyond 2^23, elements beyond 2^32 (worker/layout.h) */
    CHECK_GROWTH,       /* what 75,000 calls keep (worker/child/growth.c) */
    CHECK_EXACT, /* of kernels that claim to round correctly: the bits of 100,000 elements (exact.c) */
    CHECK_COUNT,
} conformance_check;

typedef struct conformance_task {
    conformance_check check;
    ln_convention convention;
    ln_type storage, param;
    size_t first,
        last; /* combinations: from first to before last. Large: the pack, LARGE_QUICK, ... */
    const combination_set *set; /* borrowed; of combinations alone */
} conformance_task;

/* A tensor of which a block has some rows. */
typedef struct large_tensors {
    ln_problem problem;
    void *period; /* the LARGE_PERIOD rows that x is made of */
    uint64_t seed;
} large_tensors;

typedef struct conformance_blocks {
    judge_block *blocks;
    size_t count;
    combination *of;      /* of CHECK_COMBINATIONS: one for each block */
    large_tensors *large; /* of CHECK_LARGE: one for each block */
    arena memory;         /* of all but the blocks' own */
} conformance_blocks;

/* In the place of an input's name (domain/case.h). */
const char *conformance_check_name(conformance_check check);

/* A check comes in packs that keep a run's progress and memory in bounds: the task becomes that of one of
 * them, with the rows and hidden size of the largest block, or of combinations the numbers of the first and
 * of the last problem. False: there are not as many. */
enum { COMBINATIONS_A_TASK = 100 };
/* The packs of CHECK_LARGE: what the quick plan has; 2^32 elements, of the full plan; larger plain shapes. */
enum { LARGE_QUICK, LARGE_WHOLE, LARGE_PLAIN, LARGE_PACKS };
bool conformance_pack(conformance_task *task, size_t pack, size_t *rows, size_t *hidden);

/* The elements of all blocks, for the time left. */
size_t conformance_elements(const conformance_task *task);

void conformance_prepare(row_judge *judge, const conformance_task *task,
                         conformance_blocks *blocks);
/* As judge_kernel(); no rows stay in the judgement. Ends with the first violation, of combinations with the
 * third, of which the most telling stays. */
void conformance_examine(row_judge *judge, const conformance_task *task,
                         const conformance_blocks *blocks, const kernel_entry *kernel,
                         case_judgement *judgement);
/* Of combinations that are wrong: asks for the least that shows it, which the verdict then says. */
void conformance_minimize(row_judge *judge, const conformance_task *task,
                          const conformance_blocks *blocks, const kernel_entry *kernel,
                          case_judgement *judgement);
void conformance_release(conformance_blocks *blocks);

#endif
