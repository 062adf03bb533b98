/* The conformance tests of kernels without a proven bound. Each test ("check" in the code) is one case of a run, over
 * many blocks of rows: the judge's runner runs the kernel, and the judge judges its output.
 *
 *     conformance_blocks blocks;
 *     conformance_prepare(judge, &task, &blocks);                // once for all kernels of the types
 *     conformance_examine(judge, &blocks, kernel, &judgement);
 *     conformance_release(&blocks);
 *
 * Start reading at checks.c; problems.h has the problems, call.c calls a kernel and judges its output. If
 * no worker can be started, the program ends. After an interruption (interrupted(), base/program.h) the results
 * are invalid. */
#ifndef LNBENCH_CONFORMANCE_H
#define LNBENCH_CONFORMANCE_H

#include "base/hash.h"
#include "base/output.h"
#include "conformance/problems.h"
#include "domain/kernel.h"
#include "worker/protocol.h"

/* The tests in the order of a run. In a case's key their names (check_names, domain/case.h) replace the input. */
typedef enum conformance_check {
    CHECK_ROWS,         /* not a conformance test: the rows of one input */
    CHECK_COMBINATIONS, /* the covering array (problems.h) */
    CHECK_LARGE,        /* rows beyond 2^23, elements beyond 2^32 (worker/protocol.h) */
    CHECK_GROWTH,       /* memory and files that 75,000 calls keep (worker/child/stress.c) */
    CHECK_COUNT = CHECK_NAMES,
} conformance_check;

typedef struct conformance_task {
    conformance_check check;
    ln_convention convention;
    ln_type storage, param;
    size_t first, last; /* combinations: problems first to last - 1; large: first is the pack */
    const combination_set *set; /* borrowed; for combinations only */
} conformance_task;

/* The rows of a problem, or the judged rows of a large tensor. */
typedef struct conformance_block {
    judge_block block;
    combination of;   /* CHECK_COMBINATIONS only */
    ln_problem large; /* CHECK_LARGE only: the whole tensor */
    void *period;     /* the LARGE_PERIOD rows that x repeats; NULL: not a large tensor */
} conformance_block;

typedef struct conformance_blocks {
    conformance_task task;
    conformance_block *blocks;
    size_t count;
    arena memory; /* the memory of everything except the blocks' rows */
} conformance_blocks;

/* A check is divided into packs, for progress and memory: combinations into packs of 100 problems; CHECK_LARGE into the
 * shapes of the quick plan, a tensor of 2^32 elements (full plan), and larger shapes with default settings. */
enum { COMBINATIONS_A_TASK = 100 };
enum { LARGE_QUICK, LARGE_WHOLE, LARGE_PLAIN, LARGE_PACKS };
/* Changes the task to that of one pack, and sets the rows and hidden size of its largest block, or for combinations the
 * numbers (from 1) of its first and last problem. False: there is no such pack. */
bool conformance_pack(conformance_task *task, size_t pack, size_t *rows, size_t *hidden);

/* Returns the number of elements of all blocks, to estimate the time left. */
size_t conformance_elements(const conformance_task *task);

void conformance_prepare(row_judge *judge, const conformance_task *task,
                         conformance_blocks *blocks);
/* Runs and judges a kernel like judge_kernel(), but the judgement has no rows. Stops at the first failure, or for
 * combinations at the third, and keeps the most informative one. */
void conformance_examine(row_judge *judge, const conformance_blocks *blocks,
                         const kernel_entry *kernel, case_judgement *judgement);
/* Finds the smallest problem that shows a failure of combinations, and describes it in the verdict. */
void conformance_minimize(row_judge *judge, const conformance_blocks *blocks,
                          const kernel_entry *kernel, case_judgement *judgement);
void conformance_release(conformance_blocks *blocks);

/* ---- one block (call.c) ---- */

/* Runs the kernel as it is timed, and once more with all statistics, and judges the outputs and failures. */
void judge_kernel(row_judge *judge, const judge_block *block, const kernel_entry *kernel,
                  case_judgement *judgement);

/* Makes the judgement of a call of the library inaccurate if its error is above the promise of layernorm.h. */
void judge_promise(const judge_block *block, const kernel_entry *call, const char *input,
                   case_judgement *judgement);

/* The score of one row in a search. */
typedef struct row_score {
    double row_ulp;              /* infinite: a class is wrong */
    double bound_row_ulp, kappa; /* bound_row_ulp: NaN for a kernel without a bound */
} row_score;

/* Makes one call as in timing, and scores each row. The verdict is pass, or says why there is no output. */
void judge_score(row_judge *judge, const judge_block *block, const kernel_entry *kernel,
                 row_score *scores, case_verdict *verdict);

/* ---- reproducibility: the settings that change the bits of a row (invariance.c) ----
 *
 * A kernel runs the same 257 rows in several settings (the same call again, other batches, numbers of threads
 * and alignments of the buffers), and the outputs are compared, also with those of the same kernel on other
 * ISAs.
 *
 *     invariance_result *found = calloc(count, sizeof *found);
 *     invariance_measure(judge, &convention, NULL, &all_kernels, kernels, found, count);
 *     reproducibility class = reproducibility_of(&found[i]);
 */

static const double invariance_seconds = 0.08; /* the approximate time for one kernel */

/* Measures own[0..count-1], and the kernels of `all` that differ from them only in the ISA. found[i] is the result of
 * own[i]; it is empty if the kernel failed. progress may be NULL. False: it was interrupted. */
bool invariance_measure(row_judge *judge, const ln_convention *convention, progress_bar *progress,
                        const kernel_list *all, const kernel_entry *const *own,
                        invariance_result *found, size_t count);

/* Rows in the timed buffers whose bits differ from the judged ones, since the bits of a row may depend on its place.
 * They are judged too, so that the worst error covers all timed rows.
 *
 *     timed_rows rows;
 *     timed_rows_begin(&rows, judge, blocks, kernel, judged, &verdict);
 *     ... on REPLY_ROWS: timed_rows_take(&rows, judge, begin, &reply), then MESSAGE_GO_ON
 *     if (timed_rows_judge(&rows, judge, &judgement)) ...
 *     timed_rows_free(&rows);
 */
enum { TIMED_BLOCKS = 2 };

typedef struct timed_rows {
    const judge_block *blocks; /* the two timed blocks */
    const kernel_entry *kernel;
    void *const *judged; /* the output of each block when it was judged */
    bool has_bound;
    ln_bound *bounds[TIMED_BLOCKS]; /* one for each row, if the kernel has a bound */
    hash_set seen;                  /* hashes of the rows of all processes */
    metrics_gather *metrics;        /* over the judged rows and the others; NULL: no row differed */
    case_verdict verdict;           /* on the rows that differ */
} timed_rows;

/* Returns the bytes of shared memory that the worker needs to return rows of such a block. */
size_t timed_rows_room(const judge_block *block);

/* Gets the kernel's bounds before the timing. False: that failed; see verdict. */
bool timed_rows_begin(timed_rows *rows, row_judge *judge, const judge_block blocks[TIMED_BLOCKS],
                      const kernel_entry *kernel, void *const judged[TIMED_BLOCKS],
                      case_verdict *verdict);
/* Takes the rows that a REPLY_ROWS announced, and judges them; the worker waits for GO_ON. */
void timed_rows_take(timed_rows *rows, row_judge *judge, const worker_message *begin,
                     const worker_reply *announced);
/* Returns false if no row differed; else makes the judgement of the first block cover all rows. */
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
 * A restart depends only on the settings and its number.
 */
enum { HUNT_RESTARTS = 54, HUNT_FINDS = 8 };

typedef struct hunt_settings {
    char kernel[NAME_MAX_LENGTH];
    char convention[CONVENTION_MAX_LENGTH]; /* its label */
    ln_type storage, param;                 /* the kernel's */
    size_t hidden;
    uint64_t seed;
    double seconds; /* 0: HUNT_RESTARTS climbs; else as many as fit into the seconds */
} hunt_settings;

typedef struct hunt_state {
    hunt_settings settings;
    ln_convention convention;
    row_judge *judge;
    const kernel_entry *kernel;
    arena memory;
    operation_call call;         /* with the parameters of all rows */
    worst_row finds[HUNT_FINDS]; /* the worst first */
    size_t find_count;
    uint64_t done;            /* the number of climbs */
    uint64_t rows;            /* the number of tried rows */
    double until;             /* the time to stop, on the monotonic clock; 0: never */
    bool cut;                 /* the last climb was stopped early */
    bool interrupted;         /* by the user */
    const char *reproducible; /* the kernel's class (domain/kernel.h); NULL: not known */
} hunt_state;

/* Makes gamma and beta from the seed. */
void hunt_begin(hunt_state *hunt);
/* Makes one climb, and adds its worst row to the finds. Stops early (and sets `cut`) if time is up or the user
 * interrupts. A failure of the kernel is a find; a kernel that does not support the problem ends the program (7). */
void hunt_climb(hunt_state *hunt, uint64_t number);
void hunt_free(hunt_state *hunt);

/* Writes the file: the command as a comment, then the finds (failures, wrong classes, then by score and restart). Two
 * hunts with the same settings write the same bytes. `state`: "complete", "running"
 * or "interrupted". */
void hunt_save(const hunt_state *hunt, const char *state, const char *path);

/* Changes a row of finite numbers in a few small random ways, drawn from a counter; it stays finite. */
typedef struct hunt_random {
    uint64_t seed, restart, counter;
    uint32_t words[4];
    unsigned left;
} hunt_random;
uint32_t hunt_draw(hunt_random *random);
void hunt_mutate(hunt_random *random, ln_type type, void *x, size_t hidden);

#endif
