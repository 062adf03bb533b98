/* Rows that came out of the timed buffers with other bits than the judged ones, since a row's bits
 * may depend on its place: they are judged too, so that the worst error is over all that was timed.
 *
 *     timed_rows rows;
 *     timed_rows_begin(&rows, judge, blocks, kernel, judged, &verdict);
 *     ... on REPLY_ROWS: timed_rows_take(&rows, judge, begin, &reply), then ORDER_GO_ON
 *     if (timed_rows_judge(&rows, judge, &judgement)) ...
 *     timed_rows_free(&rows);
 */
#ifndef LNBENCH_TIMED_ROWS_H
#define LNBENCH_TIMED_ROWS_H

#include "base/hash.h"
#include "conformance/conformance.h"

enum { TIMED_BLOCKS = 2 };

typedef struct timed_rows {
    const judge_block *blocks; /* the two that are timed */
    const kernel_entry *kernel;
    void *const *judged; /* what came out of each block when it was judged */
    bool has_bound;
    ln_bound *bounds[TIMED_BLOCKS]; /* a row each, where the kernel has a bound */
    hash_index seen;                /* over all processes */
    metrics_gather *metrics;        /* of the judged rows and the others; NULL: there are none */
    case_verdict verdict;           /* of the others */
} timed_rows;

/* Bytes of the arena that the worker needs to hand rows of such a block over. */
size_t timed_rows_room(const judge_block *block);

/* Before the timing: asks the kernel for its bounds. False: that failed, see verdict. */
bool timed_rows_begin(timed_rows *rows, row_judge *judge, const judge_block blocks[TIMED_BLOCKS],
                      const kernel_entry *kernel, void *const judged[TIMED_BLOCKS],
                      case_verdict *verdict);
/* Takes what a REPLY_ROWS announced, and judges it; the worker waits for GO_ON. */
void timed_rows_take(timed_rows *rows, row_judge *judge, const work_order *begin,
                     const worker_reply *announced);
/* Whether there were any; the judgement of the first block is then one of all rows. */
bool timed_rows_judge(const timed_rows *rows, const row_judge *judge, case_judgement *judgement);
void timed_rows_free(timed_rows *rows);

#endif
