/* The runner of judge/runner.h for a kernel that is a function of this process: the referee asks it
 * as it asks lnbench's worker, and the answers are made here.
 *
 * Each tensor lies between two borders of a known pattern, strided rows have such gaps, and inputs
 * are compared with what they were. What writes further away, or never returns, is not caught: that
 * takes another process. */
#include "internal.h"
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    BORDER = 256,
    PATTERN = 0x5a,
    ALIGNMENT = 64,
};

struct in_process {
    kernel_runner runner; /* the first member */
    const lnjudge_question *question;
    size_t bytes; /* of the runner's memory */
    int file;     /* which is no kernel's to close */
    dev_t device; /* of the file */
    ino_t number;
    bool stopped;
};

static bool open_file(in_process *worker)
{
    struct stat about;
    worker->file = memfd_create("lnjudge", MFD_CLOEXEC);
    if (worker->file < 0 || fstat(worker->file, &about) != 0)
        return false;
    worker->device = about.st_dev;
    worker->number = about.st_ino;
    return true;
}

static bool has_file(const in_process *worker)
{
    struct stat about;
    return fstat(worker->file, &about) == 0 && about.st_dev == worker->device &&
           about.st_ino == worker->number;
}

void in_process_stop(in_process *worker)
{
    if (!worker)
        return;
    if (has_file(worker))
        close(worker->file);
    free(worker->runner.memory);
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
    role_extent extent;
} tensor;

typedef struct bench {
    tensor tensors[ROLES_MOST]; /* by role */
    const operation *what;
    ln_problem problem;
    ln_tensors given; /* to the kernel */
} bench;

/* `shift`: bytes beyond a multiple of ALIGNMENT at which the data begin. */
static bool tensor_make(tensor *made, const tensor_role *role, const role_extent *extent,
                        size_t shift)
{
    *made = (tensor){.name = role->name, .extent = *extent, .bytes = extent_bytes(extent)};
    made->room_bytes = (made->bytes + 2 * BORDER + 2 * ALIGNMENT) / ALIGNMENT * ALIGNMENT;
    made->room = aligned_alloc(ALIGNMENT, made->room_bytes);
    made->before = role->output ? NULL : malloc(made->bytes + 1);
    if (!made->room || (!role->output && !made->before))
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

static void tensor_fill(tensor *made, const char *dense)
{
    rows_lay_out(made->data, &made->extent, dense);
    memcpy(made->before, made->data, made->bytes);
}

static bool is_pattern(const char *from, const char *to)
{
    while (from < to && *from == PATTERN)
        from++;
    return from == to;
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
    return blame(reply, VERDICT_LOST, "%s", "out of memory");
}

/* Whether only what may be written was. */
static bool tensor_is_clean(const tensor *made, bool in_place, worker_reply *reply)
{
    if (!made->room)
        return true;
    if (!is_pattern(made->room, made->data) ||
        !is_pattern(made->data + made->bytes, made->room + made->room_bytes))
        return blame(reply, VERDICT_OVERRUN, "wrote before or behind %s", made->name);
    if (!made->before && !gaps_are_whole(&made->extent, made->data))
        return blame(reply, VERDICT_OVERRUN, "wrote between the rows of %s", made->name);
    if (made->before && !in_place && memcmp(made->before, made->data, made->bytes) != 0)
        return blame(reply, VERDICT_INPUT_MODIFIED, "wrote to its input %s", made->name);
    return true;
}

/* ---- one layout ---- */

/* Bytes beyond a line. */
static size_t shift_of(const tensor_layout *layout, const tensor_role *role, size_t element)
{
    if (role->type == TYPE_ACCUMULATOR)
        return 0;
    return layout->place == GUARD_BEHIND ? element : layout->offset % ALIGNMENT;
}

/* The role in whose memory a tensor lies. In place the sum has a place of its own. */
static size_t memory_of(const work_order *order, size_t role)
{
    size_t taken = order->layout.tensors[role].lies_in;
    return role_is_sum(operations[order->operation], role) && taken != ROLE_X ? role : taken;
}

static bool bench_make(bench *made, const lnjudge_question *question, const work_order *order,
                       size_t rows)
{
    const operation *what = made->what = operations[order->operation];
    bool fine = true;
    made->problem = order->problem;
    made->problem.rows = rows;
    if (!(question->traits & LNJUDGE_DENSE))
        layout_strides(&order->layout, what, &made->problem);
    for (size_t i = 0; fine && i < what->count; i++) {
        const tensor_role *role = &what->roles[i];
        role_extent extent = role_extent_of(role, &made->problem, question->accumulator);
        if (order->at.tensors[i] < 0)
            continue;
        if (memory_of(order, i) == i)
            fine = tensor_make(&made->tensors[i], role, &extent,
                               shift_of(&order->layout.tensors[i], role, extent.element));
        role_set(i, &made->given, made->tensors[memory_of(order, i)].data);
    }
    return fine;
}

static void bench_free(bench *made)
{
    for (size_t i = 0; i < ROLES_MOST; i++)
        tensor_free(&made->tensors[i]);
}

/* Where the rows of a tensor from `first` on lie, dense. */
static char *rows_at(const in_process *worker, const work_order *order, size_t role,
                     const role_extent *extent, size_t first)
{
    bool whole = role_is_parameter(&operations[order->operation]->roles[role]);
    return worker->runner.memory + order->at.tensors[role] +
           (whole ? 0 : first * extent->row_bytes);
}

/* Rows from `first` on into the inputs, and nothing in the outputs. */
static void bench_fill(const in_process *worker, bench *made, const work_order *order, size_t first)
{
    for (size_t i = 0; i < made->what->count; i++) {
        tensor *here = &made->tensors[i];
        if (here->room && !here->before)
            poison_output(&made->what->roles[i], &here->extent, here->data);
        else if (here->room)
            tensor_fill(here, rows_at(worker, order, i, &here->extent, first));
    }
}

static bool is_written(const bench *made, size_t input)
{
    bool written = false;
    for (size_t i = 0; i < made->what->count; i++)
        written |=
            made->what->roles[i].output && role_get(i, &made->given) == made->tensors[input].data;
    return written;
}

static bool call_kernel(in_process *worker, bench *made, worker_reply *reply)
{
    const lnjudge_question *question = worker->question;
    int status = question->kernel(question->user, &made->problem, &made->given);
    char number[16];
    worker->stopped |= status == LNJUDGE_STOP;
    if (status == LNJUDGE_STOP)
        return blame(reply, VERDICT_LOST, "%s", "stopped");
    if (status == LN_ERROR_UNSUPPORTED)
        return blame(reply, VERDICT_DECLINED, "%s", "it says so");
    if (!has_file(worker))
        return open_file(worker) ? blame(reply, VERDICT_STATE_CHANGED, "%s",
                                         "closed file descriptors that are not its own")
                                 : no_memory(reply);
    snprintf(number, sizeof number, "%d", status);
    if (status != 0)
        return blame(reply, VERDICT_CRASHED, "returned %s", number);
    for (size_t i = 0; i < made->what->count; i++)
        if (!tensor_is_clean(&made->tensors[i], is_written(made, i), reply))
            return false;
    return true;
}

static bool run_rows(in_process *worker, bench *made, const work_order *order, size_t first,
                     worker_reply *reply)
{
    bench_fill(worker, made, order, first);
    return call_kernel(worker, made, reply);
}

static void hand_back(const in_process *worker, const bench *made, const work_order *order,
                      size_t first)
{
    for (size_t i = 0; i < made->what->count; i++) {
        const tensor *from = &made->tensors[memory_of(order, i)];
        if (made->what->roles[i].output && order->at.tensors[i] >= 0)
            rows_gather(rows_at(worker, order, i, &from->extent, first), from->data, &from->extent);
    }
}

/* So many calls more on the first rows must give the bits that lie in `once`. */
static bool run_again(in_process *worker, bench *made, const work_order *order, const char *once,
                      size_t times, worker_reply *reply)
{
    const tensor *result = &made->tensors[made->what->result];
    for (size_t again = 0; again < times; again++) {
        if (!run_rows(worker, made, order, 0, reply))
            return false;
        if (memcmp(once, result->data, result->bytes) != 0)
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
    const tensor *result = &made->tensors[made->what->result];
    char *once = again ? malloc(result->bytes + 1) : NULL;
    if (again && !once)
        return no_memory(reply);
    bool fine = run_rows(worker, made, order, 0, reply);
    if (fine)
        hand_back(worker, made, order, 0);
    if (fine && once)
        memcpy(once, result->data, result->bytes);
    if (fine && second > 0 && (fine = run_rows(worker, made, order, second, reply)))
        hand_back(worker, made, order, second);
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

static bool ask_in_process(kernel_runner *runner, const work_order *order, double deadline_seconds,
                           worker_reply *reply)
{
    in_process *worker = (in_process *)runner;
    bench made = {0};
    bool halves = order->layout.calls == CALLS_HALVES && order->problem.rows > 1;
    size_t again =
        order->kind == ORDER_CALL ? order->count : 2 * (order->layout.calls != CALLS_ONCE);
    size_t rows = halves ? (order->problem.rows + 1) / 2 : order->problem.rows;
    (void)deadline_seconds;
    *reply = (worker_reply){.kind = REPLY_DONE};
    if (worker->stopped)
        return blame(reply, VERDICT_LOST, "%s", "stopped");
    if (order->kind ==
        ORDER_SUPPORTS) { /* a function says so in a call, and takes one convention */
        reply->value = 1;
        return true;
    }
    if (!is_of_these_sizes(worker->question, order->problem.hidden))
        return blame(reply, VERDICT_DECLINED, "%s", "it takes no such size");
    if (order->at.tensors[ROLE_RESIDUAL] >= 0 && (worker->question->traits & LNJUDGE_NO_RESIDUAL))
        return blame(reply, VERDICT_DECLINED, "%s", "it takes no residual");
    bool fine = bench_make(&made, worker->question, order, rows) || no_memory(reply);
    fine = fine && run_bench(worker, &made, order, again, reply);
    bench_free(&made);
    return fine;
}

static bool reserve(kernel_runner *runner, size_t bytes, error *err)
{
    in_process *worker = (in_process *)runner;
    char *memory = bytes > worker->bytes ? realloc(runner->memory, bytes) : runner->memory;
    if (!memory)
        return fail_memory(err, "tensors");
    runner->memory = memory;
    worker->bytes = bytes > worker->bytes ? bytes : worker->bytes;
    return true;
}

in_process *in_process_start(const lnjudge_question *question)
{
    in_process *made = malloc(sizeof *made);
    if (!made)
        return NULL;
    *made =
        (in_process){.runner = {.ask = ask_in_process, .reserve = reserve}, .question = question};
    if (open_file(made))
        return made;
    free(made);
    return NULL;
}

kernel_runner *in_process_runner(in_process *worker)
{
    return worker ? &worker->runner : NULL;
}
