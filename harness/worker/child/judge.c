/* Runs one kernel in one placement, watched from all sides, and hands its outputs back. */
#include "worker/child/checked_call.h"
#include "worker/child/internal.h"
#include "worker/child/scratch.h"
#include "worker/child/tensors.h"
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The buffers of one run, by role. */
typedef struct judge_bench {
    guarded buffers[ROLES_MOST];
    role_extent extents[ROLES_MOST];
    char *kept[ROLES_MOST]; /* inputs as they were; NULL: not in use, or written to */
    const operation *what;
    ln_problem problem; /* as the kernel sees it */
    ln_tensors tensors;
    const split_kernel *split; /* a call over several threads; NULL: one */
    bool upper_halves;         /* of vector registers hold something after a call */
} judge_bench;

static void bench_destroy(judge_bench *bench)
{
    for (size_t i = 0; i < ROLES_MOST; i++)
        scratch_give(bench->kept[i], bench->buffers[i].size);
    buffers_destroy(bench->buffers);
}

/* What is judged element by element; not in use in place. */
static const guarded *result_of(const judge_bench *bench)
{
    return &bench->buffers[bench->what->result];
}

/* A kernel may make its inputs writable, and no fault tells when it writes to them. */
static bool keep_inputs(judge_bench *bench)
{
    for (size_t i = 0; i < bench->what->count; i++) {
        const guarded *input = &bench->buffers[i];
        if (!input->map || !input->read_only)
            continue;
        if (!bench->kept[i] && !(bench->kept[i] = scratch_take(input->size)))
            return false;
        memcpy(bench->kept[i], input->data, input->size);
    }
    return true;
}

/* Answers, where one was written to, or can be. */
static bool inputs_are_kept(const judge_bench *bench)
{
    for (size_t i = 0; i < bench->what->count; i++) {
        const guarded *input = &bench->buffers[i];
        char writable[NAME_MAX_LENGTH];
        if (!bench->kept[i])
            continue;
        if (memcmp(bench->kept[i], input->data, input->size) != 0) {
            worker_send_failed(VERDICT_INPUT_MODIFIED, 0, "wrote to %s", input->name);
            return false;
        }
        snprintf(writable, sizeof writable, "made %s writable", input->name);
        if (!guard_is_protected(input) && !plugin_blame("run()", writable)) {
            worker_send_blame();
            return false;
        }
    }
    return true;
}

static bool make_tensor(judge_bench *bench, size_t i, const work_order *order)
{
    const tensor_role *role = role_of(order, i);
    guarded *buffer = &bench->buffers[i];
    size_t size = extent_bytes(&bench->extents[i]);
    if (order->placement == PLACEMENT_DRAWN)
        return guard_create(buffer, role->name, size, GUARD_TIMED,
                            order_offset(order, role->name, bench->extents[i].element));
    guard_place place = order->placement == PLACEMENT_BEFORE  ? GUARD_BEFORE
                        : order->placement == PLACEMENT_TIMED ? GUARD_TIMED
                        : order->placement == PLACEMENT_TURN  ? GUARD_TIMED
                                                              : GUARD_BEHIND;
    return guard_create(buffer, role->name, size, place,
                        role->output ? GUARD_TIMED_WRITE_OFFSET + order->y_offset
                                     : GUARD_TIMED_READ_OFFSET + order->x_offset);
}

/* The role in whose buffer a tensor of the order lies: its own, or that of an input that it takes the
 * place of. */
static size_t buffer_of(const work_order *order, size_t role)
{
    size_t taken = role_in_place(operations[order->operation], role);
    if (order->placement == PLACEMENT_IN_PLACE)
        return taken;
    return role == ROLE_SUM && (order_outputs(order) & OUTPUT_SUM_OVER_X) ? ROLE_X : role;
}

/* Strided rows, by hidden: a few elements apart, whole vectors long, or more than twice as long. What
 * lies between is NaN in inputs, so that reading it shows, and watched in outputs, so that writing it
 * shows. */
static void set_strides(const work_order *order, ln_problem *problem)
{
    size_t hidden = problem->hidden, whole = (hidden / 16 + 1) * 16, next = 0;
    const size_t strides[3][4] = {{hidden + 3, hidden + 5, hidden + 7, hidden + 11},
                                  {whole, whole + 16, whole + 32, whole + 48},
                                  {2 * hidden, hidden + 1, 2 * hidden + 1, hidden + 2}};
    for (size_t i = 0; i < role_count(order); i++) {
        const tensor_role *role = role_of(order, i);
        size_t taken = role_in_place(operations[order->operation], i);
        bool in_place = order->placement == PLACEMENT_IN_PLACE && taken != i;
        if (role->shape == SHAPE_TABLE)
            *role_stride(role, problem) = in_place ? *role_stride(role_of(order, taken), problem)
                                                   : strides[hidden % 3][next++ % 4];
    }
}

/* All buffers for `rows` rows, with the parameters in them. */
static bool bench_create(judge_bench *bench, const ln_kernel *kernel, const work_order *order,
                         size_t rows)
{
    ln_problem *problem = &bench->problem;
    size_t hidden = order->problem.hidden;
    bool fine = true, in_place = order->placement == PLACEMENT_IN_PLACE;
    *problem = order->problem;
    problem->rows = rows;
    problem_set_strides(problem, hidden);
    if (order->placement == PLACEMENT_BEFORE || (in_place && hidden % 2 == 1)) {
        set_strides(order, problem);
        if (kernel_refuses(kernel, problem)) /* no strided rows: take dense ones */
            problem_set_strides(problem, hidden);
    }
    for (size_t i = 0; fine && i < role_count(order); i++) {
        const tensor_role *role = role_of(order, i);
        guarded *buffer = &bench->buffers[i];
        bench->extents[i] = role_extent_of(role, problem, kernel->accumulator);
        if (order->at.tensors[i] < 0)
            continue;
        if (buffer_of(order, i) == i)
            fine = make_tensor(bench, i, order);
        if (fine && role_is_parameter(role) && !role->output)
            fine = arena_read(WORKER_ARENA_FD, order->at.tensors[i], buffer->data, buffer->size) &&
                   guard_protect(buffer);
        role_set(i, &bench->tensors, bench->buffers[buffer_of(order, i)].data);
    }
    return fine;
}

/* Whether an output lies in the buffer of this input. */
static bool is_written(const judge_bench *bench, const work_order *order, size_t input)
{
    bool written = !result_of(bench)->map;
    for (size_t i = 0; i < bench->what->count; i++)
        written |= i != input && order->at.tensors[i] >= 0 && buffer_of(order, i) == input;
    return written;
}

/* Inputs in place, outputs poisoned, inputs read-only. */
static bool bench_fill(judge_bench *bench, const work_order *order, size_t first)
{
    bool fine = true;
    for (size_t i = 0; fine && i < bench->what->count; i++) {
        const tensor_role *role = role_of(order, i);
        const role_extent *extent = &bench->extents[i];
        guarded *buffer = &bench->buffers[i];
        if (!buffer->map)
            continue;
        if (role->output)
            poison_output(role, extent, buffer->data);
        else if (!role_is_parameter(role))
            fine = guard_release(buffer) &&
                   arena_read_rows(WORKER_ARENA_FD,
                                   order->at.tensors[i] + (off_t)(first * extent->row_bytes),
                                   buffer->data, extent) &&
                   (is_written(bench, order, i) || guard_protect(buffer));
    }
    return fine && keep_inputs(bench);
}

/* Whether the kernel wrote only where it may; sends the verdict where it did not. */
static bool bench_is_clean(const judge_bench *bench)
{
    for (size_t i = 0; i < bench->what->count; i++) {
        const guarded *buffer = &bench->buffers[i];
        long distance;
        if (guard_slack_changed(buffer, &distance)) {
            worker_send_failed(VERDICT_OVERRUN, 0, "wrote %ld bytes %s %s", labs(distance),
                               distance < 0 ? "before" : "behind the end of", buffer->name);
            return false;
        }
    }
    for (size_t i = 0; i < bench->what->count; i++) {
        if (!bench->buffers[i].map || !bench->what->roles[i].output ||
            gaps_are_whole(&bench->extents[i], bench->buffers[i].data))
            continue;
        worker_send_failed(
            VERDICT_OVERRUN, 0,
            "wrote between the rows of y or sum: it must heed y_stride and sum_stride, or "
            "decline them in supports()");
        return false;
    }
    return true;
}

/* One call with the state watched. */
static bool run_watched(const ln_kernel *kernel, const void *state, judge_bench *bench)
{
    thread_state before;
    const char *registers = NULL;
    bool upper_halves = false;
    plugin_enter(&before);
    if (bench->split)
        split_run(bench->split, &bench->tensors);
    else
        registers = checked_call(kernel->run, state, &bench->tensors, &upper_halves);
    bool fine = plugin_leave(&before, "run()");
    fine = plugin_blame("run()", registers) && fine;
    bench->upper_halves |= upper_halves;
    if (bench->split)
        fine &= plugin_blame("run()", split_changed(bench->split));
    if (!fine)
        worker_send_blame();
    return fine && inputs_are_kept(bench) && bench_is_clean(bench);
}

static bool no_memory(void)
{
    worker_send_no_memory();
    return false;
}

/* Dense rows of all outputs into the arena, as rows first.. */
static bool hand_back(const judge_bench *bench, const work_order *order, size_t first)
{
    bool fine = true;
    for (size_t i = 0; fine && i < bench->what->count; i++)
        if (role_of(order, i)->output && order->at.tensors[i] >= 0)
            fine = arena_write_rows(WORKER_ARENA_FD,
                                    order->at.tensors[i] +
                                        (off_t)(first * bench->extents[i].row_bytes),
                                    role_get(i, &bench->tensors), &bench->extents[i]);
    return fine || no_memory();
}

static bool run_part(const ln_kernel *kernel, const void *state, judge_bench *bench,
                     const work_order *order, size_t first)
{
    if (!bench_fill(bench, order, first))
        return no_memory();
    return run_watched(kernel, state, bench);
}

/* The first rows so many times more, with the bits that they came out with once. */
static bool run_again(const ln_kernel *kernel, const void *state, judge_bench *bench,
                      const work_order *order, const char *once, unsigned times)
{
    for (unsigned again = 0; again < times; again++) {
        if (!run_part(kernel, state, bench, order, 0))
            return false;
        if (memcmp(once, result_of(bench)->data, result_of(bench)->size) != 0) {
            worker_send_failed(VERDICT_NONDETERMINISTIC, 0, "two calls on the same rows differ");
            return false;
        }
    }
    return true;
}

/* All rows at once, or the first and then the second half of them in the same buffers; and `again`
 * times more those first ones, whose bits must be the same: neither an answer kept from an earlier call
 * nor a random one passes. In place there is nothing to compare with. */
static bool run_and_again(const ln_kernel *kernel, const void *state, judge_bench *bench,
                          const work_order *order, unsigned again)
{
    size_t second = order->problem.rows - bench->problem.rows;
    const guarded *result = result_of(bench);
    bool fine = run_part(kernel, state, bench, order, 0) && hand_back(bench, order, 0);
    if (!fine || again == 0 || !result->map)
        return fine;
    char *once = scratch_take(result->size);
    if (!once)
        return no_memory();
    memcpy(once, result->data, result->size);
    if (second > 0)
        fine = run_part(kernel, state, bench, order, second) && hand_back(bench, order, second);
    fine = fine && run_again(kernel, state, bench, order, once, again);
    scratch_give(once, result->size);
    return fine;
}

/* A few rows a call, in the same buffers. */
static bool run_by_parts(const ln_kernel *kernel, const void *state, judge_bench *bench,
                         const work_order *order)
{
    bool fine = true;
    for (size_t row = 0; fine && row < order->problem.rows; row += bench->problem.rows)
        fine = run_part(kernel, state, bench, order, row) && hand_back(bench, order, row);
    return fine;
}

/* The same over several threads, each with what was prepared for its rows. */
static bool run_split(const ln_plugin *plugin, const ln_kernel *kernel, judge_bench *bench,
                      const work_order *order, unsigned threads)
{
    split_kernel split;
    worker_threads_judge(threads);
    const char *refusal = split_prepare(&split, plugin, kernel, &bench->problem);
    if (refusal)
        worker_send_refusal(0, refusal);
    split.watched = true;
    bench->split = &split;
    bool fine = !refusal && run_and_again(kernel, NULL, bench, order, order->again);
    bench->split = NULL;
    split_release(&split);
    worker_threads_judge(1);
    if (split.own_threads)
        plugin_set_threads(plugin, 1);
    return fine;
}

static bool run_placement(const ln_kernel *kernel, judge_bench *bench, const work_order *order)
{
    thread_state before;
    void *state = &bench->problem;
    plugin_enter(&before);
    if (kernel->prepare && kernel->prepare(&bench->problem, &state) != 0) {
        plugin_leave(&before, "prepare()");
        worker_send_refusal(0, worker_unprepared());
        return false;
    }
    process_state_record_children(); /* it may run a compiler */
    bool fine = plugin_leave(&before, "prepare()");
    if (!fine)
        worker_send_blame();
    else if (order->rows_at_once && order->placement != PLACEMENT_TURN)
        fine = run_by_parts(kernel, state, bench, order);
    else /* in turn: twice, since what alternates from call to call must not fall in step with ours */
        fine = run_and_again(kernel, state, bench, order,
                             order->placement == PLACEMENT_TURN ? 2 : order->again);
    plugin_enter(&before);
    if (kernel->release)
        kernel->release(state);
    if (fine)
        plugin_leave(&before, "release()");
    return fine;
}

/* The library whose caches are set; to find them anew takes a dozen files. */
static void *placed;

typedef ln_status set_cache_bytes(size_t l1d, size_t l2, size_t l3);

/* Has the library take the call for one whose rows lie in the order's place. Returns the kernel that it
 * takes; NULL where it has no such functions. */
static const char *enter_place(void *library, const work_order *order, size_t rows)
{
    static const struct {
        size_t l1, l2,
            l3; /* what the caches hold, in calls; 0: nothing. L3 is left in part free. */
    } rooms[CALL_PLACES] = {[PLACE_FEW] = {1, 1, 1},
                            [PLACE_L1] = {1, 1, 1},
                            [PLACE_L2] = {0, 1, 1},
                            [PLACE_L3] = {0, 0, 2}};
    set_cache_bytes *set;
    const char *(*name_of)(const ln_problem *);
    *(void **)&set = dlsym(library, "ln_set_cache_bytes");
    *(void **)&name_of = dlsym(library, "ln_layernorm_kernel");
    ln_problem problem = order->problem;
    problem.rows = rows;
    problem.accuracy = order->accuracy;
    size_t bytes =
        (size_t)call_bytes(operations[order->operation], rows, problem.hidden, problem.storage);
    size_t l1 = rooms[order->place].l1 * bytes, l2 = rooms[order->place].l2 * bytes;
    size_t l3 = rooms[order->place].l3 * bytes;
    placed = library;
    bool fine = set && name_of && set(l1 ? l1 : 1, l2 ? l2 : 1, l3 ? l3 : 1) == LN_OK;
    return fine ? name_of(&problem) : NULL;
}

void worker_leave_place(void)
{
    set_cache_bytes *set = NULL;
    if (placed)
        *(void **)&set = dlsym(placed, "ln_set_cache_bytes");
    if (set)
        set(0, 0, 0);
    placed = NULL;
}

/* Half of the rows where they are run in turn, but for a kernel that takes only all of them. */
static size_t rows_at_once(const ln_kernel *kernel, const work_order *order)
{
    if (order->rows_at_once)
        return order->rows_at_once;
    ln_problem half = order->problem;
    half.rows = (half.rows + 1) / 2;
    bool halves = order->placement == PLACEMENT_TURN && !kernel_refuses(kernel, &half);
    return halves ? half.rows : order->problem.rows;
}

/* A library with threads of its own has 2 to 4 of them where that is drawn. */
static unsigned threads_of(const ln_plugin *plugin, const ln_kernel *kernel,
                           const work_order *order)
{
    bool drawn = order->placement == PLACEMENT_DRAWN && kernel_has_threads(plugin, kernel);
    return drawn ? 2 + (unsigned)(order->seed % 3) : order->threads;
}

void worker_judge(const worker_plugins *plugins, const work_order *order)
{
    const ln_kernel *kernel = worker_kernel(plugins, order);
    if (!kernel) {
        worker_send_failed(VERDICT_LOST, 0, "no such kernel");
        return;
    }
    const char *refusal = kernel_refuses(kernel, &order->problem);
    if (!refusal)
        refusal = refuses_residual(kernel, order);
    if (refusal) {
        worker_send_failed(VERDICT_DECLINED, 0, "%s", refusal);
        return;
    }
    const ln_plugin *plugin = plugins->plugins[order->plugin];
    unsigned threads = threads_of(plugin, kernel, order);
    judge_bench bench = {.what = operations[order->operation]};
    size_t rows = rows_at_once(kernel, order);
    void *library = plugins->libraries[order->plugin];
    const char *taken = order->place ? enter_place(library, order, rows) : "";
    if (!taken)
        worker_send_failed(VERDICT_DECLINED, 0, "its caches cannot be set");
    else if (!bench_create(&bench, kernel, order, rows))
        no_memory();
    else if (threads > 1 ? run_split(plugin, kernel, &bench, order, threads)
                         : run_placement(kernel, &bench, order))
        worker_send_done(taken, threads > 1 ? threads : bench.upper_halves);
    bench_destroy(&bench);
}

void worker_bound(const worker_plugins *plugins, const work_order *order)
{
    const ln_kernel *kernel = worker_kernel(plugins, order);
    probable_bound *probable = NULL;
    if (kernel && order->chance > 0)
        probable = worker_probable_bound(plugins->plugins[order->plugin], order->kernel);
    bool has = order->chance > 0 ? probable != NULL : kernel && kernel->bound;
    if (!has || kernel_refuses(kernel, &order->problem)) {
        worker_send_done("", 0);
        return;
    }
    ln_row_facts *facts = calloc(order->count + 1, sizeof *facts);
    ln_bound *bounds = calloc(order->count + 1, sizeof *bounds);
    thread_state before;
    bool fine = facts && bounds &&
                arena_read(WORKER_ARENA_FD, order->at.facts, facts, order->count * sizeof *facts);
    bool clean = true;
    for (size_t i = 0; fine && clean && i < order->count; i++) {
        if (i < 2) /* what it leaves each time adds up: the first one is looked at alone */
            plugin_enter(&before);
        bounds[i] = probable ? probable(&order->problem, &facts[i], order->chance)
                             : kernel->bound(&order->problem, &facts[i]);
        if (i == 0 || i + 1 == order->count)
            clean = plugin_leave(&before, "bound()");
    }
    fine = fine &&
           arena_write(WORKER_ARENA_FD, order->at.bounds, bounds, order->count * sizeof *bounds);
    free(facts);
    free(bounds);
    if (fine)
        worker_send_done("", 1);
    else
        no_memory();
}
