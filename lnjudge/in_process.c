/* The runner of judge/runner.h for a kernel that is a function of this process: the referee asks it
 * as it asks lnbench's worker, and the answers are made here.
 *
 * Each tensor lies between two borders of a known pattern, strided rows have such gaps, and inputs
 * are compared with what they were. What writes further away, or never returns, is not caught: that
 * takes another process. */
#include "internal.h"
#include "domain/poison.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    BORDER = 256,
    PATTERN = 0x5a,
    POISON = 0xff,
    ALIGNMENT = 64,
    GAP_X = 3,
    GAP_RESIDUAL = 5,
    GAP_Y = 7,
    GAP_SUM = 11,
};

struct in_process {
    kernel_runner runner; /* the first member */
    const lnjudge_question *question;
    dev_t device; /* of the arena, whose descriptor a kernel may close and use for another file */
    ino_t number;
    bool stopped;
};

static bool open_arena(in_process *worker)
{
    struct stat about;
    worker->runner.arena = memfd_create("lnjudge", MFD_CLOEXEC);
    if (worker->runner.arena < 0 || fstat(worker->runner.arena, &about) != 0)
        return false;
    worker->device = about.st_dev;
    worker->number = about.st_ino;
    return true;
}

static bool has_arena(const in_process *worker)
{
    struct stat about;
    return fstat(worker->runner.arena, &about) == 0 && about.st_dev == worker->device &&
           about.st_ino == worker->number;
}

void in_process_stop(in_process *worker)
{
    if (worker && has_arena(worker))
        close(worker->runner.arena);
    free(worker);
}

bool in_process_stopped(const in_process *worker)
{
    return worker->stopped;
}

/* ---- one tensor ---- */

typedef struct tensor {
    const char *name;
    char *room;   /* NULL: not in use */
    char *data;   /* in it, BORDER bytes and more from either end */
    char *before; /* an input as it was; NULL: an output */
    size_t bytes, room_bytes;
    size_t rows, row_bytes, stride_bytes;
} tensor;

typedef struct bench {
    tensor x, residual, gamma, beta, y, sum, mean, rstd;
    ln_problem problem;
    ln_tensors tensors;
    size_t statistic; /* bytes of a mean */
} bench;

enum { BENCH_TENSORS = 8 };

static void all_of(bench *made, tensor *all[BENCH_TENSORS])
{
    tensor *each[] = {&made->x, &made->residual, &made->gamma, &made->beta,
                      &made->y, &made->sum,      &made->mean,  &made->rstd};
    memcpy(all, each, sizeof each);
}

/* `shift`: bytes beyond a multiple of ALIGNMENT at which the data begin. */
static bool tensor_make(tensor *made, const char *name, size_t rows, size_t row_bytes,
                        size_t stride_bytes, size_t shift, bool input)
{
    *made = (tensor){.name = name,
                     .rows = rows,
                     .row_bytes = row_bytes,
                     .stride_bytes = stride_bytes,
                     .bytes = rows ? (rows - 1) * stride_bytes + row_bytes : 0};
    made->room_bytes = (made->bytes + 2 * BORDER + 2 * ALIGNMENT) / ALIGNMENT * ALIGNMENT;
    made->room = aligned_alloc(ALIGNMENT, made->room_bytes);
    made->before = input ? malloc(made->bytes + 1) : NULL;
    if (!made->room || (input && !made->before))
        return false;
    memset(made->room, PATTERN, made->room_bytes);
    made->data = made->room + BORDER + shift;
    return true;
}

static void tensor_free(tensor *made)
{
    free(made->room);
    free(made->before);
}

/* Dense rows of the arena; the gaps become NaN. */
static bool tensor_read(tensor *made, int arena, off_t at)
{
    bool fine = true;
    memset(made->data, POISON, made->bytes);
    for (size_t row = 0; fine && row < made->rows; row++)
        fine = arena_read(arena, at + (off_t)(row * made->row_bytes),
                          made->data + row * made->stride_bytes, made->row_bytes);
    memcpy(made->before, made->data, made->bytes);
    return fine;
}

static bool tensor_write(const tensor *made, int arena, off_t at)
{
    bool fine = true;
    for (size_t row = 0; fine && row < made->rows; row++)
        fine = arena_write(arena, at + (off_t)(row * made->row_bytes),
                           made->data + row * made->stride_bytes, made->row_bytes);
    return fine;
}

/* Of mean and rstd, whose numbers have this size; 0: of y and the sum. */
static void tensor_poison(tensor *made, size_t statistic)
{
    if (statistic > 0) {
        poison_statistics(made->data, made->bytes, statistic);
        return;
    }
    memset(made->data, PATTERN, made->bytes);
    for (size_t row = 0; row < made->rows; row++)
        memset(made->data + row * made->stride_bytes, POISON, made->row_bytes);
}

static bool is_pattern(const char *from, const char *to)
{
    while (from < to && *from == PATTERN)
        from++;
    return from == to;
}

static bool gaps_are_whole(const tensor *made)
{
    for (size_t row = 0; row + 1 < made->rows; row++)
        if (!is_pattern(made->data + row * made->stride_bytes + made->row_bytes,
                        made->data + (row + 1) * made->stride_bytes))
            return false;
    return true;
}

static bool blame(worker_reply *reply, verdict_kind verdict, const char *format, const char *name)
{
    reply->kind = REPLY_FAILED;
    reply->verdict = verdict;
    snprintf(reply->text, sizeof reply->text, format, name);
    return false;
}

static bool no_memory(worker_reply *reply)
{
    return blame(reply, VERDICT_SKIPPED, "%s", "out of memory");
}

/* Whether only what may be written was. */
static bool tensor_is_clean(const tensor *made, bool in_place, worker_reply *reply)
{
    if (!made->room)
        return true;
    if (!is_pattern(made->room, made->data) ||
        !is_pattern(made->data + made->bytes, made->room + made->room_bytes))
        return blame(reply, VERDICT_OVERRUN, "wrote before or behind %s", made->name);
    if (!made->before && !gaps_are_whole(made))
        return blame(reply, VERDICT_OVERRUN, "wrote between the rows of %s", made->name);
    if (made->before && !in_place && memcmp(made->before, made->data, made->bytes) != 0)
        return blame(reply, VERDICT_INPUT_MODIFIED, "wrote to its input %s", made->name);
    return true;
}

/* ---- one placement ---- */

static size_t shift_of(const work_order *order, const char *name, size_t size)
{
    return order->placement == PLACEMENT_DRAWN    ? order_offset(order, name, size)
           : order->placement == PLACEMENT_BEHIND ? size
                                                  : 0;
}

static bool bench_make(bench *made, const lnjudge_question *question, const work_order *order,
                       size_t rows)
{
    const arena_map *at = &order->at;
    ln_problem *problem = &made->problem;
    size_t hidden = order->problem.hidden, element = dtype_size(order->problem.storage);
    bool strided = order->placement == PLACEMENT_BEFORE && !(question->traits & LNJUDGE_DENSE);
    bool in_place = order->placement == PLACEMENT_IN_PLACE;
    size_t count = ln_parameter_elements(order->problem.convention.affine, hidden);
    size_t parameters = count * dtype_size(order->problem.param);
    size_t param = dtype_size(order->problem.param);
    size_t statistic = made->statistic = dtype_size(question->accumulator);
    size_t bytes = hidden * element;
    bool own_sum = at->sum >= 0 && !(order_outputs(order) & OUTPUT_SUM_OVER_X);
    *problem = order->problem;
    problem->rows = rows;
    problem->x_stride = hidden + (strided ? GAP_X : 0);
    problem->residual_stride = hidden + (strided ? GAP_RESIDUAL : 0);
    problem->y_stride = hidden + (strided ? GAP_Y : 0);
    problem->sum_stride = hidden + (strided ? GAP_SUM : 0);
    bool fine =
        tensor_make(&made->x, "x", rows, bytes, problem->x_stride * element,
                    shift_of(order, "x", element), true) &&
        (at->residual < 0 ||
         tensor_make(&made->residual, "residual", rows, bytes, problem->residual_stride * element,
                     shift_of(order, "residual", element), true)) &&
        (at->gamma < 0 || tensor_make(&made->gamma, "gamma", 1, parameters, parameters,
                                      shift_of(order, "gamma", param), true)) &&
        (at->beta < 0 || tensor_make(&made->beta, "beta", 1, parameters, parameters,
                                     shift_of(order, "beta", param), true)) &&
        (in_place || tensor_make(&made->y, "y", rows, bytes, problem->y_stride * element,
                                 shift_of(order, "y", element), false)) &&
        (!own_sum || tensor_make(&made->sum, "sum", rows, bytes, problem->sum_stride * element,
                                 shift_of(order, "sum", element), false)) &&
        (at->mean < 0 || tensor_make(&made->mean, "mean", 1, rows * statistic, 0, 0, false)) &&
        (at->rstd < 0 || tensor_make(&made->rstd, "rstd", 1, rows * statistic, 0, 0, false));
    made->tensors = (ln_tensors){
        made->x.data,
        made->residual.data,
        made->gamma.data,
        made->beta.data,
        in_place ? made->x.data : made->y.data,
        at->sum >= 0 && !own_sum ? made->x.data : made->sum.data,
        made->mean.data,
        made->rstd.data,
    };
    return fine;
}

static void bench_free(bench *made)
{
    tensor *all[BENCH_TENSORS];
    all_of(made, all);
    for (size_t i = 0; i < BENCH_TENSORS; i++)
        tensor_free(all[i]);
}

/* Rows from `first` on into the inputs, and nothing in the outputs. */
static bool bench_fill(bench *made, int arena, const work_order *order, size_t first)
{
    off_t skipped = (off_t)(first * made->x.row_bytes);
    tensor *outputs[] = {&made->y, &made->sum, &made->mean, &made->rstd};
    for (size_t i = 0; i < sizeof outputs / sizeof *outputs; i++)
        if (outputs[i]->room)
            tensor_poison(outputs[i], i < 2 ? 0 : made->statistic);
    return tensor_read(&made->x, arena, order->at.x + skipped) &&
           (!made->residual.room ||
            tensor_read(&made->residual, arena, order->at.residual + skipped)) &&
           (!made->gamma.room || tensor_read(&made->gamma, arena, order->at.gamma)) &&
           (!made->beta.room || tensor_read(&made->beta, arena, order->at.beta));
}

static bool call(in_process *worker, bench *made, worker_reply *reply)
{
    const lnjudge_question *question = worker->question;
    int status = question->kernel(question->user, &made->problem, &made->tensors);
    char number[16];
    worker->stopped |= status == LNJUDGE_STOP;
    if (status == LNJUDGE_STOP)
        return blame(reply, VERDICT_SKIPPED, "%s", "stopped");
    if (status == LN_ERROR_UNSUPPORTED)
        return blame(reply, VERDICT_UNSUPPORTED, "%s", "it says so");
    if (!has_arena(worker))
        return open_arena(worker) ? blame(reply, VERDICT_STATE_CHANGED, "%s",
                                          "closed file descriptors that are not its own")
                                  : no_memory(reply);
    snprintf(number, sizeof number, "%d", status);
    if (status != 0)
        return blame(reply, VERDICT_CRASHED, "returned %s", number);
    tensor *all[BENCH_TENSORS];
    bool written = !made->y.room || made->tensors.sum == (void *)made->x.data;
    all_of(made, all);
    for (size_t i = 0; i < BENCH_TENSORS; i++)
        if (!tensor_is_clean(all[i], all[i] == &made->x && written, reply))
            return false;
    return true;
}

static bool run_rows(in_process *worker, bench *made, const work_order *order, size_t first,
                     worker_reply *reply)
{
    return (bench_fill(made, worker->runner.arena, order, first) || no_memory(reply)) &&
           call(worker, made, reply);
}

static bool hand_back(const in_process *worker, const bench *made, const work_order *order,
                      size_t first, worker_reply *reply)
{
    const tensor *y = made->y.room ? &made->y : &made->x;
    off_t skipped = (off_t)(first * y->row_bytes);
    return (tensor_write(y, worker->runner.arena, order->at.y + skipped) &&
            (!made->tensors.sum || tensor_write(made->sum.room ? &made->sum : &made->x,
                                                worker->runner.arena, order->at.sum + skipped)) &&
            (!made->mean.room || tensor_write(&made->mean, worker->runner.arena, order->at.mean)) &&
            (!made->rstd.room ||
             tensor_write(&made->rstd, worker->runner.arena, order->at.rstd))) ||
           no_memory(reply);
}

/* So many calls more on the first rows must give the bits that lie in `once`. */
static bool run_again(in_process *worker, bench *made, const work_order *order, const char *once,
                      size_t times, worker_reply *reply)
{
    for (size_t again = 0; again < times; again++) {
        if (!run_rows(worker, made, order, 0, reply))
            return false;
        if (memcmp(once, made->y.data, made->y.bytes) != 0)
            return blame(reply, VERDICT_NONDETERMINISTIC, "%s",
                         "two calls on the same rows differ");
    }
    return true;
}

/* Rows in two halves, one behind the other, and the first half `again` times more; or all at once. */
static bool run_bench(in_process *worker, bench *made, const work_order *order, size_t again,
                      worker_reply *reply)
{
    size_t second = order->problem.rows - made->problem.rows;
    char *once = again ? malloc(made->y.bytes + 1) : NULL;
    if (again && !once)
        return no_memory(reply);
    bool fine = run_rows(worker, made, order, 0, reply) && hand_back(worker, made, order, 0, reply);
    if (fine && once)
        memcpy(once, made->y.data, made->y.bytes);
    if (fine && second > 0)
        fine = run_rows(worker, made, order, second, reply) &&
               hand_back(worker, made, order, second, reply);
    fine = fine && run_again(worker, made, order, once, again, reply);
    free(once);
    return fine;
}

static bool is_of_these_sizes(const lnjudge_question *question, size_t hidden)
{
    bool found = !(question->traits & LNJUDGE_THESE_SIZES);
    for (size_t i = 0; i < question->hidden_count; i++)
        found |= question->hidden[i] == hidden;
    return found;
}

static bool ask(kernel_runner *runner, const work_order *order, double deadline_seconds,
                worker_reply *reply)
{
    in_process *worker = (in_process *)runner;
    bench made = {0};
    bool halves = order->placement == PLACEMENT_TURN;
    size_t again = order->kind == ORDER_CALL ? order->count : halves ? 2 : 0;
    size_t rows = halves ? (order->problem.rows + 1) / 2 : order->problem.rows;
    (void)deadline_seconds;
    *reply = (worker_reply){.kind = REPLY_DONE};
    if (worker->stopped)
        return blame(reply, VERDICT_SKIPPED, "%s", "stopped");
    if (!is_of_these_sizes(worker->question, order->problem.hidden))
        return blame(reply, VERDICT_UNSUPPORTED, "%s", "it takes no such size");
    if (order->at.residual >= 0 && (worker->question->traits & LNJUDGE_NO_RESIDUAL))
        return blame(reply, VERDICT_UNSUPPORTED, "%s", "it takes no residual");
    bool fine = bench_make(&made, worker->question, order, rows) || no_memory(reply);
    fine = fine && run_bench(worker, &made, order, again, reply);
    bench_free(&made);
    return fine;
}

/* A memory file grows as it is written. */
static bool reserve(kernel_runner *runner, size_t bytes, error *err)
{
    (void)runner;
    (void)bytes;
    (void)err;
    return true;
}

in_process *in_process_start(const lnjudge_question *question)
{
    in_process *made = malloc(sizeof *made);
    if (!made)
        return NULL;
    *made = (in_process){.runner = {.ask = ask, .reserve = reserve}, .question = question};
    if (open_arena(made))
        return made;
    free(made);
    return NULL;
}

kernel_runner *in_process_runner(in_process *worker)
{
    return worker ? &worker->runner : NULL;
}
