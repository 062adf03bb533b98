/* Runs one kernel in one placement, watched from all sides, and hands its outputs back. */
#include "domain/poison.h"
#include "worker/child/checked_call.h"
#include "worker/child/internal.h"
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

enum {
    POISON = 0xff,
    GAP_PATTERN = 0x5a,
    INPUTS = 4,
};

/* The buffers of one run. */
typedef struct judge_bench {
    guarded x, residual, gamma, beta, y, sum, mean, rstd;
    char *kept[INPUTS]; /* the first four as they were; NULL: not in use, or written to */
    ln_problem problem; /* as the kernel sees it */
    ln_tensors tensors;
    size_t element, statistic; /* bytes */
    const split_kernel *split; /* a call over several threads; NULL: one */
    bool upper_halves;         /* of vector registers hold something after a call */
} judge_bench;

static void bench_destroy(judge_bench *bench)
{
    guarded *all[] = {&bench->x, &bench->residual, &bench->gamma, &bench->beta,
                      &bench->y, &bench->sum,      &bench->mean,  &bench->rstd};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        guard_destroy(all[i]);
    for (size_t i = 0; i < INPUTS; i++)
        free(bench->kept[i]);
}

static const guarded *input_of(const judge_bench *bench, size_t input)
{
    const guarded *const inputs[INPUTS] = {&bench->x, &bench->residual, &bench->gamma,
                                           &bench->beta};
    return inputs[input];
}

/* A kernel may make its inputs writable, and no fault tells when it writes to them. */
static bool keep_inputs(judge_bench *bench)
{
    for (size_t i = 0; i < INPUTS; i++) {
        const guarded *input = input_of(bench, i);
        if (!input->map || !input->read_only)
            continue;
        if (!bench->kept[i] && !(bench->kept[i] = malloc(input->size)))
            return false;
        memcpy(bench->kept[i], input->data, input->size);
    }
    return true;
}

/* Answers, where one was written to, or can be. */
static bool inputs_are_kept(const judge_bench *bench)
{
    static const char *const writable[INPUTS] = {"made x writable", "made residual writable",
                                                 "made gamma writable", "made beta writable"};
    for (size_t i = 0; i < INPUTS; i++) {
        const guarded *input = input_of(bench, i);
        if (!bench->kept[i])
            continue;
        if (memcmp(bench->kept[i], input->data, input->size) != 0) {
            worker_send_failed(VERDICT_INPUT_MODIFIED, 0, "wrote to %s", input->name);
            return false;
        }
        if (!guard_is_protected(input) && !plugin_blame("run()", writable[i])) {
            worker_send_blame();
            return false;
        }
    }
    return true;
}

/* Bytes from the first element of the first row to the last of the last. */
static size_t span(size_t rows, size_t hidden, size_t stride, size_t element)
{
    return rows ? ((rows - 1) * stride + hidden) * element : 0;
}

static bool make(guarded *buffer, const char *name, size_t size, size_t element,
                 const work_order *order, bool written)
{
    if (order->placement == PLACEMENT_DRAWN)
        return guard_create(buffer, name, size, GUARD_TIMED, order_offset(order, name, element));
    guard_place place = order->placement == PLACEMENT_BEFORE  ? GUARD_BEFORE
                        : order->placement == PLACEMENT_TIMED ? GUARD_TIMED
                        : order->placement == PLACEMENT_TURN  ? GUARD_TIMED
                                                              : GUARD_BEHIND;
    return guard_create(buffer, name, size, place,
                        written ? GUARD_TIMED_WRITE_OFFSET + order->y_offset
                                : GUARD_TIMED_READ_OFFSET + order->x_offset);
}

/* Gamma or beta, filled and read-only. */
static bool make_parameter(guarded *buffer, const char *name, off_t at, const work_order *order)
{
    if (at < 0)
        return true;
    size_t count = ln_parameter_elements(order->problem.convention.affine, order->problem.hidden);
    size_t size = count * dtype_size(order->problem.param);
    return make(buffer, name, size, dtype_size(order->problem.param), order, false) &&
           arena_read(WORKER_ARENA_FD, at, buffer->data, size) && guard_protect(buffer);
}

/* Strided rows, by hidden: a few elements apart, whole vectors long, or more than twice as long. What
 * lies between is NaN in x and the residual, so that reading it shows, and watched in y and the
 * sum, so that writing it shows. */
static void set_strides(ln_problem *problem, bool in_place)
{
    size_t hidden = problem->hidden, whole = (hidden / 16 + 1) * 16;
    const size_t strides[3][4] = {{hidden + 3, hidden + 5, hidden + 7, hidden + 11},
                                  {whole, whole + 16, whole + 32, whole + 48},
                                  {2 * hidden, hidden + 1, 2 * hidden + 1, hidden + 2}};
    const size_t *chosen = strides[hidden % 3];
    problem->x_stride = chosen[0];
    problem->residual_stride = chosen[1];
    problem->y_stride = in_place ? chosen[0] : chosen[2];
    problem->sum_stride = in_place ? chosen[1] : chosen[3];
}

/* In place the sum takes the residual's place too. */
static bool has_own_sum(const work_order *order)
{
    return order->at.sum >= 0 && order->placement != PLACEMENT_IN_PLACE &&
           !(order_outputs(order) & OUTPUT_SUM_OVER_X);
}

/* All buffers for `rows` rows. */
static bool bench_create(judge_bench *bench, const ln_kernel *kernel, const work_order *order,
                         size_t rows)
{
    const arena_map *at = &order->at;
    ln_problem *problem = &bench->problem;
    size_t hidden = order->problem.hidden;
    *problem = order->problem;
    problem->rows = rows;
    problem->x_stride = problem->residual_stride = hidden;
    problem->y_stride = problem->sum_stride = hidden;
    bool in_place = order->placement == PLACEMENT_IN_PLACE;
    if (order->placement == PLACEMENT_BEFORE || (in_place && hidden % 2 == 1)) {
        set_strides(problem, in_place);
        if (kernel_refuses(kernel, problem)) /* no strided rows: take dense ones */
            problem->x_stride = problem->residual_stride = problem->y_stride = problem->sum_stride =
                hidden;
    }
    size_t element = bench->element = dtype_size(problem->storage);
    size_t statistic = bench->statistic = dtype_size(kernel->accumulator);
    size_t read = span(rows, hidden, problem->x_stride, bench->element);
    size_t added = span(rows, hidden, problem->residual_stride, bench->element);
    size_t written = span(rows, hidden, problem->y_stride, bench->element);
    size_t summed = span(rows, hidden, problem->sum_stride, bench->element);
    bool fine =
        make(&bench->x, "x", read, element, order, false) &&
        (at->residual < 0 || make(&bench->residual, "residual", added, element, order, false)) &&
        make_parameter(&bench->gamma, "gamma", at->gamma, order) &&
        make_parameter(&bench->beta, "beta", at->beta, order) &&
        (in_place || make(&bench->y, "y", written, element, order, true)) &&
        (!has_own_sum(order) || make(&bench->sum, "sum", summed, element, order, true));
    fine = fine &&
           (at->mean < 0 || make(&bench->mean, "mean", rows * statistic, statistic, order, true)) &&
           (at->rstd < 0 || make(&bench->rstd, "rstd", rows * statistic, statistic, order, true));
    bench->tensors = (ln_tensors){
        .x = bench->x.data,
        .residual = bench->residual.data,
        .gamma = bench->gamma.data,
        .beta = bench->beta.data,
        .y = in_place ? bench->x.data : bench->y.data,
        .sum = at->sum < 0          ? NULL
               : in_place           ? bench->residual.data
               : has_own_sum(order) ? bench->sum.data
                                    : bench->x.data,
        .mean = bench->mean.data,
        .rstd = bench->rstd.data,
    };
    return fine;
}

/* Copies rows first.. of a dense arena tensor into a strided buffer, whose gaps become NaN. */
static bool fill_rows(guarded *buffer, off_t at, size_t first, size_t rows, size_t row_bytes,
                      size_t stride_bytes)
{
    if (!buffer->map)
        return true;
    if (!guard_release(buffer))
        return false;
    if (stride_bytes == row_bytes)
        return arena_read(WORKER_ARENA_FD, at + (off_t)(first * row_bytes), buffer->data,
                          rows * row_bytes);
    memset(buffer->data, POISON, buffer->size);
    for (size_t row = 0; row < rows; row++)
        if (!arena_read(WORKER_ARENA_FD, at + (off_t)((first + row) * row_bytes),
                        (char *)buffer->data + row * stride_bytes, row_bytes))
            return false;
    return true;
}

static void poison_rows(guarded *buffer, size_t rows, size_t row_bytes, size_t stride_bytes)
{
    if (!buffer->map)
        return;
    memset(buffer->data, GAP_PATTERN, buffer->size);
    for (size_t row = 0; row < rows; row++)
        memset((char *)buffer->data + row * stride_bytes, POISON, row_bytes);
}

/* Inputs in place, outputs poisoned, inputs read-only. */
static bool bench_fill(judge_bench *bench, const work_order *order, size_t first)
{
    const ln_problem *problem = &bench->problem;
    size_t row_bytes = problem->hidden * bench->element;
    size_t x_stride = problem->x_stride * bench->element;
    size_t y_stride = problem->y_stride * bench->element;
    if (!fill_rows(&bench->x, order->at.x, first, problem->rows, row_bytes, x_stride) ||
        !fill_rows(&bench->residual, order->at.residual, first, problem->rows, row_bytes,
                   problem->residual_stride * bench->element))
        return false;
    poison_rows(&bench->y, problem->rows, row_bytes, y_stride);
    poison_rows(&bench->sum, problem->rows, row_bytes, problem->sum_stride * bench->element);
    if (bench->mean.map)
        poison_statistics(bench->mean.data, bench->mean.size, bench->statistic);
    if (bench->rstd.map)
        poison_statistics(bench->rstd.data, bench->rstd.size, bench->statistic);
    bool in_place = !bench->y.map;
    return (in_place || ((bench->tensors.sum == bench->x.data || guard_protect(&bench->x)) &&
                         guard_protect(&bench->residual))) &&
           keep_inputs(bench);
}

static bool gaps_changed(const guarded *buffer, const judge_bench *bench, size_t elements)
{
    const ln_problem *problem = &bench->problem;
    const unsigned char *data = buffer->data;
    size_t row_bytes = problem->hidden * bench->element;
    size_t stride = elements * bench->element;
    if (!buffer->map)
        return false;
    for (size_t row = 0; row + 1 < problem->rows; row++)
        for (size_t i = row * stride + row_bytes; i < (row + 1) * stride; i++)
            if (data[i] != GAP_PATTERN)
                return true;
    return false;
}

/* Whether the kernel wrote only where it may; sends the verdict where it did not. */
static bool bench_is_clean(const judge_bench *bench)
{
    const guarded *all[] = {&bench->x, &bench->residual, &bench->gamma, &bench->beta,
                            &bench->y, &bench->sum,      &bench->mean,  &bench->rstd};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        long distance;
        if (guard_slack_changed(all[i], &distance)) {
            worker_send_failed(VERDICT_OVERRUN, 0, "wrote %ld bytes %s %s", labs(distance),
                               distance < 0 ? "before" : "behind the end of", all[i]->name);
            return false;
        }
    }
    if (gaps_changed(&bench->y, bench, bench->problem.y_stride) ||
        gaps_changed(&bench->sum, bench, bench->problem.sum_stride)) {
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

/* Strided rows as dense ones. */
static bool write_rows(const void *data, off_t at, size_t rows, size_t row_bytes,
                       size_t stride_bytes)
{
    bool fine = true;
    if (stride_bytes == row_bytes)
        return arena_write(WORKER_ARENA_FD, at, data, rows * row_bytes);
    for (size_t row = 0; fine && row < rows; row++)
        fine = arena_write(WORKER_ARENA_FD, at + (off_t)(row * row_bytes),
                           (const char *)data + row * stride_bytes, row_bytes);
    return fine;
}

/* Dense rows of y (and sum, mean, rstd) into the arena, as rows first.. */
static bool hand_back(const judge_bench *bench, const work_order *order, size_t first)
{
    const ln_problem *problem = &bench->problem;
    size_t row_bytes = problem->hidden * bench->element;
    off_t at = (off_t)(first * row_bytes);
    bool fine =
        write_rows(bench->tensors.y, order->at.y + at, problem->rows, row_bytes,
                   problem->y_stride * bench->element) &&
        (!bench->tensors.sum || write_rows(bench->tensors.sum, order->at.sum + at, problem->rows,
                                           row_bytes, problem->sum_stride * bench->element));
    off_t behind = (off_t)(first * bench->statistic);
    if (fine && bench->mean.map)
        fine = arena_write(WORKER_ARENA_FD, order->at.mean + behind, bench->mean.data,
                           bench->mean.size);
    if (fine && bench->rstd.map)
        fine = arena_write(WORKER_ARENA_FD, order->at.rstd + behind, bench->rstd.data,
                           bench->rstd.size);
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
        if (memcmp(once, bench->y.data, bench->y.size) != 0) {
            worker_send_failed(VERDICT_NONDETERMINISTIC, 0, "two calls on the same rows differ");
            return false;
        }
    }
    return true;
}

/* The first and the second half of the rows in turn in the same buffers, and the first again, whose
 * bits must be the same: neither an answer kept from an earlier call nor a random one passes. */
static bool run_in_turn(const ln_kernel *kernel, const void *state, judge_bench *bench,
                        const work_order *order)
{
    size_t second = order->problem.rows - bench->problem.rows;
    char *once = malloc(bench->y.size ? bench->y.size : 1);
    if (!once)
        return no_memory();
    bool fine = run_part(kernel, state, bench, order, 0) && hand_back(bench, order, 0);
    if (fine)
        memcpy(once, bench->y.data, bench->y.size);
    if (fine && second > 0)
        fine = run_part(kernel, state, bench, order, second) && hand_back(bench, order, second);
    /* Twice more: what alternates from call to call must not fall in step with ours. */
    fine = fine && run_again(kernel, state, bench, order, once, 2);
    free(once);
    return fine;
}

/* All rows at once, and again as often as the order says, with the same bits. In place there is
 * nothing to compare with. */
static bool run_at_once(const ln_kernel *kernel, const void *state, judge_bench *bench,
                        const work_order *order)
{
    bool fine = run_part(kernel, state, bench, order, 0) && hand_back(bench, order, 0);
    char *once = NULL;
    if (!fine || order->again == 0 || !bench->y.map)
        return fine;
    once = malloc(bench->y.size ? bench->y.size : 1);
    if (!once)
        return no_memory();
    memcpy(once, bench->y.data, bench->y.size);
    fine = run_again(kernel, state, bench, order, once, order->again);
    free(once);
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
    if (!worker_threads_begin(threads, -1)) {
        worker_send_failed(VERDICT_SKIPPED, 0, "the system has no more threads");
        return false;
    }
    const char *refusal = split_prepare(&split, plugin, kernel, &bench->problem);
    if (refusal)
        worker_send_refusal(0, refusal);
    split.watched = true;
    bench->split = &split;
    bool fine = !refusal && run_at_once(kernel, NULL, bench, order);
    bench->split = NULL;
    split_release(&split);
    worker_threads_begin(1, -1);
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
    else if (order->placement == PLACEMENT_TURN)
        fine = run_in_turn(kernel, state, bench, order);
    else if (order->rows_at_once)
        fine = run_by_parts(kernel, state, bench, order);
    else
        fine = run_at_once(kernel, state, bench, order);
    plugin_enter(&before);
    if (kernel->release)
        kernel->release(state);
    if (fine)
        plugin_leave(&before, "release()");
    return fine;
}

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
    size_t bytes = 2 * rows * problem.hidden * dtype_size(problem.storage);
    size_t l1 = rooms[order->place].l1 * bytes, l2 = rooms[order->place].l2 * bytes;
    size_t l3 = rooms[order->place].l3 * bytes;
    bool fine = set && name_of && set(l1 ? l1 : 1, l2 ? l2 : 1, l3 ? l3 : 1) == LN_OK;
    return fine ? name_of(&problem) : NULL;
}

static void leave_place(void *library)
{
    set_cache_bytes *set;
    *(void **)&set = dlsym(library, "ln_set_cache_bytes");
    if (set)
        set(0, 0, 0);
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
        worker_send_failed(VERDICT_SKIPPED, 0, "no such kernel");
        return;
    }
    const char *refusal = kernel_refuses(kernel, &order->problem);
    if (!refusal && order->at.residual >= 0 && (kernel->traits & LN_TRAIT_NO_RESIDUAL))
        refusal = "it takes no residual";
    if (refusal) {
        worker_send_failed(VERDICT_UNSUPPORTED, 0, "%s", refusal);
        return;
    }
    const ln_plugin *plugin = plugins->plugins[order->plugin];
    unsigned threads = threads_of(plugin, kernel, order);
    judge_bench bench = {0};
    size_t rows = rows_at_once(kernel, order);
    void *library = plugins->libraries[order->plugin];
    const char *taken = order->place ? enter_place(library, order, rows) : "";
    if (!taken)
        worker_send_failed(VERDICT_UNSUPPORTED, 0, "its caches cannot be set");
    else if (!bench_create(&bench, kernel, order, rows))
        no_memory();
    else if (threads > 1 ? run_split(plugin, kernel, &bench, order, threads)
                         : run_placement(kernel, &bench, order))
        worker_send_done(taken, threads > 1 ? threads : bench.upper_halves);
    bench_destroy(&bench);
    if (order->place)
        leave_place(library);
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
    bool fine = true;
    thread_state before;
    plugin_enter(&before);
    for (size_t i = 0; fine && i < order->count; i++) {
        ln_row_facts facts;
        fine = arena_read(WORKER_ARENA_FD, order->at.facts + (off_t)(i * sizeof facts), &facts,
                          sizeof facts);
        ln_bound bound = {0};
        if (fine)
            bound = probable ? probable(&order->problem, &facts, order->chance)
                             : kernel->bound(&order->problem, &facts);
        fine = fine && arena_write(WORKER_ARENA_FD, order->at.bounds + (off_t)(i * sizeof bound),
                                   &bound, sizeof bound);
        if (i == 0 && !plugin_leave(&before, "bound()")) /* what it leaves each time adds up */
            break;
    }
    plugin_leave(&before, "bound()");
    if (fine)
        worker_send_done("", 1);
    else
        no_memory();
}
