/* The check of the library's calls in every cell of its dispatch table. Inside of harness/conformance/. */
#ifndef LNBENCH_CELLS_H
#define LNBENCH_CELLS_H

#include "conformance/checks.h"

enum {
    CELLS_ROWS = 18, /* as the families are judged; 1, 2 and 3 divide it */
    CELLS_NAME_LENGTH = 64
};

/* A block for each family, then one with a residual for some. */
size_t cells_blocks(void);
bool cells_make(row_judge *judge, const conformance_task *task, size_t index, judge_block *block,
                error *err);
/* Whether a call is judged on a block. */
bool cells_has(const kernel_entry *call, size_t index);
/* Asks for a block in places, whose answers cells_judge() takes. False: memory ran out. */
bool cells_ask(row_judge *judge, const judge_block *block, const kernel_entry *call, size_t index,
               call_place first, call_place last, error *err);
/* One block in one place, as judge_kernel(); judge->taken is then the kernel that the call took. What is
 * worse than layernorm.h promises is inaccurate. */
bool cells_judge(row_judge *judge, const judge_block *block, const kernel_entry *call, size_t index,
                 call_place place, case_judgement *judgement, error *err);
/* "few rows: blocks", "DRAM: normal with a residual". */
const char *cells_name(size_t index, call_place place, char name[CELLS_NAME_LENGTH]);

#endif
