/* Runs one kernel in one layout, beside the other calls that it asks for, and hands its outputs back. */
#include "base/random.h"
#include "worker/child/bench.h"
#include "worker/child/meet.h"
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    STOPS_OF_TWO = 6,
    STOPS_OF_MORE = 3
}; /* at each of which the first thread waits in a call */

enum { OTHER_GAP = 3 };

/* The calls of an order: the judged one, in as many benches as threads make it at once, and another
 * problem's. */
typedef struct judged_calls {
    const ln_plugin_table *plugin;
    const ln_kernel *kernel;
    work_order order, other_order;
    call_bench benches[AT_ONCE_MOST], other;
    unsigned at_once, made; /* benches */
    call_failure failure;
} judged_calls;

static bool take_failure(judged_calls *of, const call_bench *bench)
{
    of->failure = bench->failure;
    return false;
}

/* ---- one thread ---- */

static bool run_call(judged_calls *of, call_bench *bench, size_t first, bool altered)
{
    return (bench_fill(bench, first, altered) && bench_run(bench)) || take_failure(of, bench);
}

static bool run_again(judged_calls *of, call_bench *bench, const char *where)
{
    if (!run_call(of, bench, 0, false))
        return false;
    return bench_is_same(bench) || fail_call(&of->failure, VERDICT_NONDETERMINISTIC,
                                             "two calls on the same rows differ%s", where);
}

/* All rows, a call some of them, in the same buffers; and the first call `again` times more. */
static bool run_parts(judged_calls *of, call_bench *bench, unsigned again, const char *where)
{
    const size_t rows = of->order.problem.rows, part = bench->problem.rows;
    for (size_t row = 0; row < rows; row += part) {
        size_t first = row + part > rows ? rows - part : row;
        if (!run_call(of, bench, first, false))
            return false;
        bench_hand_back(bench, first);
        if (row == 0 && !bench_keep(bench))
            return take_failure(of, bench);
    }
    for (unsigned call = 0; call < again; call++)
        if (!run_again(of, bench, where))
            return false;
    return true;
}

/* The other problem is called before, between, and no more. */
static bool run_beside(judged_calls *of, call_bench *bench)
{
    bool later = of->order.layout.calls == CALLS_PREPARED;
    const char *where =
        later ? " while another problem is prepared" : " where another problem is called between";
    if (!of->other.kernel)
        return run_parts(of, bench, 1, "");
    return (!later || bench_prepare(&of->other) || take_failure(of, &of->other)) &&
           (later || run_call(of, &of->other, 0, false)) && run_parts(of, bench, 0, "") &&
           run_call(of, &of->other, 0, false) && run_again(of, bench, where) &&
           (bench_release(&of->other) || take_failure(of, &of->other)) &&
           run_again(of, bench, " after another prepared state was released");
}

/* No rows: nothing is written, whatever is asked for. */
static bool run_no_rows(judged_calls *of, const call_bench *bench)
{
    ln_problem none = bench->problem;
    void *state = &none;
    none.rows = 0;
    worker_fault_where(" in a call of no rows");
    bool taken = !bench->split && !kernel_refuses(bench->kernel, &none) &&
                 (!bench->kernel->prepare || bench->kernel->prepare(&none, &state) == 0);
    if (taken)
        bench->kernel->run(state, &bench->tensors);
    if (taken && bench->kernel->release)
        bench->kernel->release(state);
    worker_fault_where("");
    return bench_is_same(bench) ||
           fail_call(&of->failure, VERDICT_NONDETERMINISTIC, "a call with 0 rows writes");
}

static bool run_alone(judged_calls *of, call_bench *bench)
{
    switch (of->order.layout.calls) {
    case CALLS_REPEATED:
        return run_call(of, bench, 0, true) && run_parts(of, bench, 1, "") &&
               run_no_rows(of, bench);
    case CALLS_IN_TURN:
    case CALLS_PREPARED:
        return run_beside(of, bench);
    case CALLS_HALVES: /* twice, since what alternates must not fall in step with ours */
        return run_parts(of, bench, 2, "");
    default:
        return run_parts(of, bench, of->order.again, "");
    }
}

/* ---- several at once ---- */

static bool call_at_once(void *context)
{
    call_bench *bench = context;
    if (bench_is_in_place(bench) && !bench_fill(bench, 0, false))
        return false;
    bench_call(bench);
    return bench_is_same(bench);
}

/* All benches at once. Each was filled and called. */
static bool meet(judged_calls *of)
{
    uint64_t drawn = of->order.seed;
    const meeting_plan plan = {.free_calls = 1,
                               .stops = of->at_once == 2 ? STOPS_OF_TWO : STOPS_OF_MORE,
                               .part = (double)(splitmix64(&drawn) >> 11) * 0x1p-53};
    void *parties[AT_ONCE_MOST];
    for (unsigned i = 0; i < of->at_once; i++)
        parties[i] = &of->benches[i];
    bool refused, fine = worker_meet(call_at_once, parties, of->at_once, &plan, &refused);
    for (unsigned i = 0; i < of->at_once; i++)
        if (of->benches[i].failure.kind != VERDICT_PENDING || !bench_is_clean(&of->benches[i]))
            return take_failure(of, &of->benches[i]);
    if (!fine)
        return fail_call(&of->failure, VERDICT_NONDETERMINISTIC, "other bits on %u threads at once",
                         of->at_once);
    return !refused || fail_call(&of->failure, VERDICT_LOST,
                                 "the system refuses sockets, threads or timers, so that no calls "
                                 "can be made at once");
}

static bool run_at_once(judged_calls *of)
{
    for (unsigned i = 1; i < of->at_once; i++) {
        call_bench *bench = &of->benches[i];
        if (!run_call(of, bench, 0, false))
            return false;
        if (!bench_keep(bench))
            return take_failure(of, bench);
    }
    return meet(of);
}

/* ---- over several threads ---- */

/* One call over several threads, each with what was prepared for its rows. */
static bool run_split(judged_calls *of, unsigned threads)
{
    split_kernel split;
    call_bench *bench = &of->benches[0];
    worker_threads_judge(threads);
    const char *refusal = split_prepare(&split, of->plugin, of->kernel, &bench->problem);
    split.watched = true;
    bench->split = &split;
    bool fine = refusal ? refuse_call(&of->failure, refusal) : run_alone(of, bench);
    bench->split = NULL;
    split_release(&split);
    worker_threads_judge(1);
    if (split.own_threads)
        plugin_set_threads(of->plugin, 1);
    return fine;
}

/* ---- the order ---- */

/* Of the same tensors: of rows about half as long, or of another convention, which is one that is taken
 * for this one or has another eps, now and then with other strides. False: the kernel takes none. */
static bool find_other(const ln_kernel *kernel, const work_order *order, work_order *other)
{
    ln_convention neighbours[NEIGHBOURS_MOST + 1];
    ln_problem *problem = &other->problem;
    size_t count = operations[order->operation]->neighbours(&order->problem.convention, neighbours);
    *other = *order;
    other->layout.calls = CALLS_ONCE;
    for (size_t i = 0; order->layout.calls == CALLS_PREPARED && i < ROLES_MOST; i++)
        other->layout.tensors[i].gap += order->seed >> 32 & 1 ? OTHER_GAP : 0;
    neighbours[count] = order->problem.convention;
    neighbours[count++].eps *= 3;
    for (size_t i = 0; order->layout.calls == CALLS_PREPARED && i < count; i++) {
        problem->convention = neighbours[(order->seed % count + i) % count];
        if (!kernel_refuses(kernel, problem))
            return true;
    }
    problem->convention = order->problem.convention;
    problem->hidden = problem->hidden / 2 | 1;
    problem_set_strides(problem, problem->hidden);
    return !kernel_refuses(kernel, problem);
}

static bool make_benches(judged_calls *of, size_t rows, bool prepares)
{
    const call_order calls = of->order.layout.calls;
    bool fine = true, other = calls == CALLS_IN_TURN || calls == CALLS_PREPARED;
    while (fine && of->made < of->at_once) {
        call_bench *bench = &of->benches[of->made++];
        fine = bench_create(bench, of->kernel, &of->order, rows) || take_failure(of, bench);
    }
    if (fine && other && find_other(of->kernel, &of->order, &of->other_order))
        fine =
            (bench_create(&of->other, of->kernel, &of->other_order, of->other_order.problem.rows) &&
             (calls == CALLS_PREPARED || bench_prepare(&of->other))) ||
            take_failure(of, &of->other);
    for (unsigned i = 0; fine && prepares && i < of->at_once; i++)
        fine = bench_prepare(&of->benches[i]) || take_failure(of, &of->benches[i]);
    return fine;
}

static bool run_calls(judged_calls *of, size_t rows, unsigned threads)
{
    if (!make_benches(of, rows, threads <= 1))
        return false;
    if (threads > 1)
        return run_split(of, threads);
    return run_alone(of, &of->benches[0]) && (of->at_once == 1 || run_at_once(of));
}

static void free_calls(judged_calls *of)
{
    for (unsigned i = 0; i < of->made; i++) {
        call_bench *bench = &of->benches[i];
        if (!bench_release(bench) && of->failure.kind == VERDICT_PENDING)
            take_failure(of, bench);
        bench_destroy(bench);
    }
    bench_destroy(&of->other);
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
    char symbol[40];
    snprintf(symbol, sizeof symbol, "ln_%s_kernel_name", operation_name(order->operation));
    *(void **)&set = dlsym(library, "ln_set_cache_bytes");
    *(void **)&name_of = dlsym(library, symbol);
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

/* Half of the rows where they come in halves, but for a kernel that takes only all of them. */
static size_t rows_of_call(const ln_kernel *kernel, const work_order *order)
{
    if (order->rows_at_once)
        return order->rows_at_once;
    ln_problem half = order->problem;
    half.rows = (half.rows + 1) / 2;
    bool halves = order->layout.calls == CALLS_HALVES && !kernel_refuses(kernel, &half);
    return halves ? half.rows : order->problem.rows;
}

/* A library with threads of its own has several of them where several calls at once are asked for, and
 * is called by one. Returns how many threads one call has. */
static unsigned share_threads(judged_calls *of)
{
    unsigned threads = of->order.threads;
    of->at_once = of->order.layout.at_once > 1 ? of->order.layout.at_once : 1;
    if (!kernel_has_threads(of->plugin, of->kernel))
        return threads;
    threads = of->at_once > 1 ? of->at_once / 2 * 2 : threads;
    of->at_once = 1;
    return threads;
}

static void send_failure(const call_failure *failure)
{
    if (failure->kind == VERDICT_STATE_CHANGED)
        worker_send_blame();
    else if (failure->refusal)
        worker_send_refusal(0, failure->refusal);
    else
        worker_send_failed(failure->kind, 0, "%s", failure->text);
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
    static judged_calls of; /* larger than a stack that is to be spoiled */
    of = (judged_calls){
        .plugin = plugins->plugins[order->plugin], .kernel = kernel, .order = *order};
    unsigned threads = share_threads(&of);
    size_t rows = rows_of_call(kernel, order);
    void *library = plugins->libraries[order->plugin];
    const char *taken = order->place ? enter_place(library, order, rows) : "";
    bool fine = taken ? run_calls(&of, rows, threads)
                      : fail_call(&of.failure, VERDICT_DECLINED, "its caches cannot be set");
    bool upper_halves = of.benches[0].upper_halves;
    free_calls(&of);
    if (fine && of.failure.kind == VERDICT_PENDING)
        worker_send_done(taken, threads > 1 ? threads : upper_halves);
    else
        send_failure(&of.failure);
}

void worker_bound(const worker_plugins *plugins, const work_order *order)
{
    const ln_kernel *kernel = worker_kernel(plugins, order);
    bool is_probable = order->chance > 0;
    if (!kernel || !(is_probable ? kernel->facts.probable_bound != NULL : kernel->bound != NULL) ||
        kernel_refuses(kernel, &order->problem)) {
        worker_send_done("", 0);
        return;
    }
    ln_row_facts *facts = calloc(order->count + 1, sizeof *facts);
    ln_bound *bounds = calloc(order->count + 1, sizeof *bounds);
    thread_state before;
    bool fine = facts && bounds;
    if (fine)
        memcpy(facts, worker_memory(order->at.facts), order->count * sizeof *facts);
    bool clean = true;
    for (size_t i = 0; fine && clean && i < order->count; i++) {
        if (i < 2) /* what it leaves each time adds up: the first one is looked at alone */
            plugin_enter(&before);
        bounds[i] = is_probable
                        ? kernel->facts.probable_bound(&order->problem, &facts[i], order->chance)
                        : kernel->bound(&order->problem, &facts[i]);
        if (i == 0 || i + 1 == order->count)
            clean = plugin_leave(&before, "bound()");
    }
    if (fine)
        memcpy(worker_memory(order->at.bounds), bounds, order->count * sizeof *bounds);
    free(facts);
    free(bounds);
    if (fine)
        worker_send_done("", 1);
    else
        worker_send_no_memory();
}
