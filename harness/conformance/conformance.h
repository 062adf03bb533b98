/* The conformance tests: what kernels without a proven bound are tested on. Each test ("check" in the code) is one
 * case of a run, over many blocks of rows: the judge's runner runs the kernel, and the judge judges its output.
 *
 *     conformance_blocks blocks;
 *     conformance_prepare(judge, &task, &blocks);                // once for all kernels of the types
 *     conformance_examine(judge, &blocks, kernel, &judgement);
 *     conformance_release(&blocks);
 *
 * Start reading at checks.c; problems.h has what is asked, call.c how a kernel is called and judged. If
 * no worker can be started, the program ends. After an interruption (interrupted(), base/program.h) the results
 * mean nothing. */
#ifndef LNBENCH_CONFORMANCE_H
#define LNBENCH_CONFORMANCE_H

#include "base/hash.h"
#include "base/output.h"
#include "conformance/problems.h"
#include "domain/kernel.h"
#include "worker/protocol.h"

/* In the order in which a run makes them. Their names, which stand in the place of an input's, are check_names
 * (domain/case.h). */
typedef enum conformance_check {
    CHECK_ROWS,         /* no conformance test: the rows of one input */
    CHECK_COMBINATIONS, /* the covering array (problems.h) */
    CHECK_LARGE,        /* rows beyond 2^23, elements beyond 2^32 (worker/protocol.h) */
    CHECK_GROWTH,       /* what 75,000 calls keep (worker/child/stress.c) */
    CHECK_EXACT,        /* of kernels that claim to round correctly: the bits of 100,000 elements */
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

/* The rows of a problem, or of a large tensor those that are looked at. */
typedef struct conformance_block {
    judge_block block;
    combination of;   /* of CHECK_COMBINATIONS */
    ln_problem large; /* of CHECK_LARGE: the tensor that has the rows */
    void *period;     /* the LARGE_PERIOD rows that its x is made of; NULL: it is no such tensor */
} conformance_block;

typedef struct conformance_blocks {
    conformance_task task;
    conformance_block *blocks;
    size_t count;
    arena memory; /* of all but the blocks' own rows */
} conformance_blocks;

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
void conformance_examine(row_judge *judge, const conformance_blocks *blocks,
                         const kernel_entry *kernel, case_judgement *judgement);
/* Of combinations that are wrong: asks for the least that shows it, which the verdict then says. */
void conformance_minimize(row_judge *judge, const conformance_blocks *blocks,
                          const kernel_entry *kernel, case_judgement *judgement);
void conformance_release(conformance_blocks *blocks);

/* ---- one block (call.c) ---- */

/* Runs the kernel as it is timed, and once more with all numbers a row, and judges what came back. What the
 * kernel did wrong is in the judgement. */
void judge_kernel(row_judge *judge, const judge_block *block, const kernel_entry *kernel,
                  case_judgement *judgement);

/* Makes that of a call of the library inaccurate where it is worse than layernorm.h promises of the input. */
void judge_promise(const judge_block *block, const kernel_entry *call, const char *input,
                   case_judgement *judgement);

/* What a search asks of one row. */
typedef struct row_score {
    double row_ulp;              /* infinite: a class is wrong */
    double bound_row_ulp, kappa; /* bound_row_ulp: NaN of a kernel without a bound */
} row_score;

/* One call as timed, and each row's score. The verdict is ok, or why the kernel gave nothing. */
void judge_score(row_judge *judge, const judge_block *block, const kernel_entry *kernel,
                 row_score *scores, case_verdict *verdict);

/* ---- on what a row's bits depend (invariance.c) ----
 *
 * A kernel runs the same 257 rows in several settings (the same call again, other batches, numbers of threads
 * and alignments of the buffers), and the outputs are compared, also with those of the same kernel on other
 * ISAs.
 *
 *     invariance_result *found = calloc(count, sizeof *found);
 *     invariance_measure(judge, &convention, NULL, &all_kernels, kernels, found, count);
 *     reproducibility class = reproducibility_of(&found[i]);
 */

/* Roughly what one kernel takes. */
static const double invariance_seconds = 0.08;

/* Measures own[0..count-1] on normal rows, and beside them the kernels of `all` that are the same but
 * for the ISA. found[] has one for each of its own; that of a kernel that failed is empty. progress: or
 * NULL. False: what is no kernel's fault. */
bool invariance_measure(row_judge *judge, const ln_convention *convention, progress_bar *progress,
                        const kernel_list *all, const kernel_entry *const *own,
                        invariance_result *found, size_t count);

/* Rows that came out of the timed buffers with other bits than the judged ones, since a row's bits
 * may depend on its place: they are judged too, so that the worst error is over all that was timed.
 *
 *     timed_rows rows;
 *     timed_rows_begin(&rows, judge, blocks, kernel, judged, &verdict);
 *     ... on REPLY_ROWS: timed_rows_take(&rows, judge, begin, &reply), then ORDER_GO_ON
 *     if (timed_rows_judge(&rows, judge, &judgement)) ...
 *     timed_rows_free(&rows);
 */
enum { TIMED_BLOCKS = 2 };

typedef struct timed_rows {
    const judge_block *blocks; /* the two that are timed */
    const kernel_entry *kernel;
    void *const *judged; /* what came out of each block when it was judged */
    bool has_bound;
    ln_bound *bounds[TIMED_BLOCKS]; /* a row each, where the kernel has a bound */
    hash_set seen;                  /* over all processes */
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

/* ---- the search for the rows on which a kernel is worst (hunt.c) ----
 *
 * Hill climbing over the bits of a row, with restarts.
 *
 *     hunt_state hunt = {.settings = settings, .judge = judge, .kernel = kernel};
 *     hunt_begin(&hunt);
 *     for (uint64_t k = 0; k < HUNT_RESTARTS; k++)
 *         hunt_climb(&hunt, k);
 *     hunt_save(&hunt, "complete", path);
 *     hunt_free(&hunt);
 *
 * A restart depends on the settings and its number alone.
 */
enum { HUNT_RESTARTS = 54, HUNT_FINDS = 8 };

typedef struct hunt_settings {
    char kernel[NAME_MAX_LENGTH];
    char convention[CONVENTION_MAX_LENGTH]; /* its label */
    ln_type storage, param;                 /* the kernel's */
    size_t hidden;
    uint64_t seed;
    double seconds; /* 0: HUNT_RESTARTS climbs; else as many as the seconds allow */
} hunt_settings;

typedef struct hunt_state {
    hunt_settings settings;
    ln_convention convention;
    row_judge *judge;
    const kernel_entry *kernel;
    arena memory;
    operation_call call;         /* its parameters */
    worst_row finds[HUNT_FINDS]; /* gravest first */
    size_t find_count;
    uint64_t done;            /* climbs */
    uint64_t rows;            /* tried */
    double until;             /* when to stop, on the monotonic clock; 0: never */
    bool cut;                 /* the last restarts were stopped before their end */
    bool interrupted;         /* by the user */
    const char *reproducible; /* the kernel's class (domain/kernel.h); NULL: not known */
} hunt_state;

/* Parameters from the seed. */
void hunt_begin(hunt_state *hunt);
/* The best row of a climb goes into the finds. Stops early where time is up or the user interrupts (then `cut`
 * is set). A kernel that fails is a find; one that does not take the problem at all ends the program (7). */
void hunt_climb(hunt_state *hunt, uint64_t number);
void hunt_free(hunt_state *hunt);

/* The file: the command as a comment, then the finds: failures first, then wrong classes, then by score,
 * then by restart. Two hunts with the same settings make the same bytes. `state`: "complete", "running"
 * or "interrupted". */
void hunt_save(const hunt_state *hunt, const char *state, const char *path);

/* Changes a row of finite numbers of a type in a few small ways, drawn from a counter; it stays
 * finite. */
typedef struct hunt_random {
    uint64_t seed, restart, counter;
    uint32_t words[4];
    unsigned left;
} hunt_random;
uint32_t hunt_draw(hunt_random *random);
void hunt_mutate(hunt_random *random, ln_type type, void *x, size_t hidden);

#endif
