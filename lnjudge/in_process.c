/* The runner of judge/runner.h for a kernel that is a function of this process: the conformance tests ask it
 * as it asks lnbench's worker, and the answers are made here.
 *
 * Each tensor lies amid a page of a known pattern on either side (worker/child/buffers.h), strided rows have such
 * gaps, and inputs are compared with what they were. What writes further away, or never returns, is not caught:
 * that takes another process. */
#include "internal.h"
#include "base/allocate.h"
#include "worker/child/buffers.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ALIGNMENT = 64 };

struct in_process {
    kernel_runner runner; /* the first member */
    const lnjudge_question *question;
    size_t bytes; /* of the runner's memory */
    bool stopped;
};

void in_process_stop(in_process *worker)
{
    if (!worker)
        return;
    guard_forget_waiting();
    free(worker->runner.memory);
    free(worker);
}

bool in_process_stopped(const in_process *worker)
{
    return worker->stopped;
}

static bool blame(worker_reply *reply, verdict_kind verdict, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static bool blame(worker_reply *reply, verdict_kind verdict, const char *format, ...)
{
    va_list arguments;
    reply->kind = REPLY_FAILED;
    reply->verdict = verdict;
    va_start(arguments, format);
    vsnprintf(reply->text, sizeof reply->text, format, arguments);
    va_end(arguments);
    return false;
}

/* Tensors begin as many bytes beyond a multiple of ALIGNMENT as the order says; in place the sum has a place
 * of its own. */
static work_order placed_order(const work_order *order)
{
    const operation *what = operations[order->operation];
    work_order placed = *order;
    for (size_t i = 0; i < what->count; i++) {
        const tensor_role *role = &what->roles[i];
        tensor_layout *layout = &placed.layout.tensors[i];
        layout->offset = role->type == TYPE_ACCUMULATOR  ? 0
                         : layout->place == GUARD_BEHIND ? dtype_size(order->problem.storage)
                                                         : layout->offset % ALIGNMENT;
        layout->place = GUARD_AMID;
        if (role_is_sum(what, i) && layout->lies_in != ROLE_X)
            layout->lies_in = i;
    }
    return placed;
}

/* Whether an input holds what the order's rows from `first` on are. */
static bool input_is_whole(const call_tensors *of, size_t i, size_t first, worker_reply *reply)
{
    const guarded *buffer = &of->buffers[i];
    const tensor_role *role = &of->what->roles[i];
    size_t from = role_is_parameter(role) ? 0 : first * of->extents[i].row_bytes;
    if (!buffer->map || role->output || tensors_input_is_written(of, i))
        return true;
    char *right = allocate(buffer->size + 1);
    rows_lay_out(right, &of->extents[i], of->memory + of->order->at.tensors[i] + from);
    bool same = memcmp(right, buffer->data, buffer->size) == 0;
    free(right);
    return same || blame(reply, VERDICT_INPUT_MODIFIED, "wrote to its input %s", role->name);
}

/* One call on the order's rows from `first` on, which go back to where they came from. */
static bool run_rows(in_process *worker, call_tensors *of, size_t first, worker_reply *reply)
{
    const lnjudge_question *question = worker->question;
    char text[REPLY_TEXT_LENGTH];
    tensors_fill(of, first, false);
    die_catcher *kept = die_caught_by; /* the kernel may call this library */
    int status = question->kernel(question->user, &of->problem, &of->given);
    die_caught_by = kept;
    worker->stopped |= status == LNJUDGE_STOP;
    if (status == LNJUDGE_STOP)
        return blame(reply, VERDICT_LOST, "stopped");
    if (status == LN_ERROR_UNSUPPORTED)
        return blame(reply, VERDICT_DECLINED, "it says so");
    if (status != 0)
        return blame(reply, VERDICT_CRASHED, "returned %d", status);
    for (size_t i = 0; i < of->what->count; i++)
        if (!input_is_whole(of, i, first, reply))
            return false;
    return tensors_are_clean(of, text, sizeof text) || blame(reply, VERDICT_OVERRUN, "%s", text);
}

/* Rows in two halves, one behind the other, and the first half `again` times more; or all at once. */
static bool run_calls(in_process *worker, call_tensors *of, size_t again, worker_reply *reply)
{
    const size_t second = of->order->problem.rows - of->problem.rows;
    const guarded *result = &of->buffers[of->order->layout.tensors[of->what->result].lies_in];
    if (!run_rows(worker, of, 0, reply))
        return false;
    tensors_hand_back(of, 0);
    char *once = allocate(result->size + 1);
    memcpy(once, result->data, result->size);
    bool fine = second == 0 || run_rows(worker, of, second, reply);
    if (fine && second > 0)
        tensors_hand_back(of, second);
    for (; fine && again > 0; again--)
        fine = run_rows(worker, of, 0, reply) &&
               (memcmp(once, result->data, result->size) == 0 ||
                blame(reply, VERDICT_NONDETERMINISTIC, "two calls on the same rows differ"));
    free(once);
    return fine;
}

static bool ask_in_process(kernel_runner *runner, const work_order *order, double deadline_seconds,
                           worker_reply *reply)
{
    in_process *worker = (in_process *)runner;
    const lnjudge_question *question = worker->question;
    bool halves = order->layout.calls == CALLS_HALVES && order->problem.rows > 1;
    size_t again = order->again ? order->again : 2 * (order->layout.calls != CALLS_ONCE);
    (void)deadline_seconds;
    *reply = (worker_reply){.kind = REPLY_DONE};
    if (worker->stopped)
        return blame(reply, VERDICT_LOST, "stopped");
    if (order->kind ==
        ORDER_SUPPORTS) { /* a function says so in a call, and takes one convention */
        reply->value = 1;
        return true;
    }
    bool takes = !(question->traits & LNJUDGE_THESE_SIZES);
    for (size_t i = 0; i < question->hidden_count; i++)
        takes |= question->hidden[i] == order->problem.hidden;
    if (!takes)
        return blame(reply, VERDICT_DECLINED, "it takes no such size");
    if (order->at.tensors[ROLE_RESIDUAL] >= 0 && (question->traits & LNJUDGE_NO_RESIDUAL))
        return blame(reply, VERDICT_DECLINED, "it takes no residual");
    const work_order placed = placed_order(order);
    ln_problem problem = order->problem;
    call_tensors tensors;
    problem.rows = halves ? (problem.rows + 1) / 2 : problem.rows;
    if (!(question->traits & LNJUDGE_DENSE))
        layout_strides(&order->layout, operations[order->operation], &problem);
    if (!tensors_create(&tensors, &placed, runner->memory, &problem, question->accumulator, false))
        memory_is_out(0);
    bool fine = run_calls(worker, &tensors, again, reply);
    tensors_destroy(&tensors);
    return fine;
}

static void reserve(kernel_runner *runner, size_t bytes)
{
    in_process *worker = (in_process *)runner;
    if (bytes > worker->bytes) {
        runner->memory = reallocate(runner->memory, bytes);
        worker->bytes = bytes;
    }
}

in_process *in_process_start(const lnjudge_question *question)
{
    in_process *made = allocate(sizeof *made);
    *made =
        (in_process){.runner = {.ask = ask_in_process, .reserve = reserve}, .question = question};
    return made;
}

kernel_runner *in_process_runner(in_process *worker)
{
    return worker ? &worker->runner : NULL;
}
