/* A judged call: how the worker runs a kernel whose output is judged.
 *
 * 1. Buffers for every tensor of the message get the layout that it names (buffers.c), prepare() is called,
 *    inputs, which the kernel cannot write to, are filled, and outputs are filled with NaN.
 * 2. The stack is filled with NaN, the registers that a function must keep get known values, and run() is called.
 * 3. The floating-point state, those registers, the memory around each tensor and the gaps between rows are
 *    checked. The first one that changed gives the verdict.
 * 4. The message's other calls are made: again, in halves, after other contents, over another output, of no rows,
 *    in turn with another problem, on several threads at once (overlap.c), one call on several threads (threads.c).
 *    Their bits must be those of the first call.
 * 5. The rows go back to the parent, which has the reference. */
#include "base/hash.h"
#include "domain/operation.h"
#include "worker/child/internal.h"
#include <dlfcn.h>
#include <stdio.h>
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

/* ---- floating-point state ---- */

#if defined(__x86_64__)
#define CONTROL "MXCSR"
enum { FLUSH = 0x8040, ROUNDING = 0x6000, X87_EMPTY = 0xffff };

void floating_point_read(thread_state *state)
{
    unsigned environment[7] = {0}; /* word 2: two bits for each register, 3 if it is empty */
    __asm__ volatile("fnstenv %0\n\tfldenv %0" : "+m"(environment));
    *state = (thread_state){.floating_point = _mm_getcsr() & ~0x3fu,
                            .x87 = environment[0] & 0xffff,
                            .x87_empty = (environment[2] & 0xffff) == X87_EMPTY};
}

void floating_point_set(const thread_state *before)
{
    unsigned short word = (unsigned short)before->x87;
    _mm_setcsr(before->floating_point);
    __asm__ volatile("fninit\n\tfldcw %0" : : "m"(word));
}
#elif defined(__aarch64__)
#define CONTROL "FPCR"
enum { FLUSH = 1 << 24 | 1 << 19, ROUNDING = 3 << 22 };

void floating_point_read(thread_state *state)
{
    unsigned long control;
    __asm__ volatile("mrs %0, fpcr" : "=r"(control));
    *state = (thread_state){.floating_point = (unsigned)control};
}

void floating_point_set(const thread_state *before)
{
    unsigned long control = before->floating_point;
    __asm__ volatile("msr fpcr, %0" : : "r"(control));
}
#else
#define CONTROL "floating-point control"
enum { FLUSH = 0, ROUNDING = 0 };

void floating_point_read(thread_state *state)
{
    *state = (thread_state){0};
}

void floating_point_set(const thread_state *before)
{
    (void)before;
}
#endif

const char *floating_point_compare(const thread_state *before, thread_state *found)
{
    floating_point_read(found);
    unsigned changed = before->floating_point ^ found->floating_point;
    const char *what = changed & FLUSH             ? "changed " CONTROL ": flush to zero"
                       : changed & ROUNDING        ? "changed " CONTROL ": rounding"
                       : changed                   ? "changed " CONTROL ": exceptions"
                       : found->x87 != before->x87 ? "changed the x87 control word"
                       : found->x87_empty != before->x87_empty
                           ? "left the x87 registers in use (emms is missing)"
                           : NULL;
    if (what)
        floating_point_set(before);
    return what;
}

/* ---- registers ---- */

/* Register i holds MARK + i before the call. The assembly below uses the offsets of this struct. */
#define MARK 0x5eed0000

typedef struct call_findings {
    uint64_t upper[2];      /* in: not 0 if the CPU has AVX; out: the OR of all upper halves */
    uint64_t registers[18]; /* x86-64 uses 6 of them */
} call_findings;

__attribute__((visibility("hidden"))) void
checked_call_run(void (*run)(const void *, const ln_tensors *), const void *state,
                 const ln_tensors *tensors, call_findings *found);

#if defined(__x86_64__)
static const char *const names[] = {"rbx", "rbp", "r12", "r13", "r14", "r15"};

#define ADD_UPPER(n) "vextractf128 $1, %ymm" #n ", %xmm" #n "\nvorps %xmm" #n ", %xmm0, %xmm0\n"

/* clang-format off */
__asm__(
    ".text\n"
    ".globl checked_call_run\n"
    ".hidden checked_call_run\n"
    ".type checked_call_run, @function\n"
    "checked_call_run:\n"
    "endbr64\n"
    "push %rbx\npush %rbp\npush %r12\npush %r13\npush %r14\npush %r15\npush %rcx\n"
    "cmpq $0, (%rcx)\n"
    "je 1f\n"
    "vzeroupper\n"
    "1: mov %rdi, %rax\n"
    "mov %rsi, %rdi\n"
    "mov %rdx, %rsi\n"
    "mov $0x5eed0000, %ebx\nmov $0x5eed0001, %ebp\nmov $0x5eed0002, %r12d\n"
    "mov $0x5eed0003, %r13d\nmov $0x5eed0004, %r14d\nmov $0x5eed0005, %r15d\n"
    "call *%rax\n"
    "mov (%rsp), %rcx\n"
    "mov %rbx, 16(%rcx)\nmov %rbp, 24(%rcx)\nmov %r12, 32(%rcx)\n"
    "mov %r13, 40(%rcx)\nmov %r14, 48(%rcx)\nmov %r15, 56(%rcx)\n"
    "cmpq $0, (%rcx)\n"
    "je 2f\n"
    ADD_UPPER(0) ADD_UPPER(1) ADD_UPPER(2) ADD_UPPER(3) ADD_UPPER(4) ADD_UPPER(5) ADD_UPPER(6)
    ADD_UPPER(7) ADD_UPPER(8) ADD_UPPER(9) ADD_UPPER(10) ADD_UPPER(11) ADD_UPPER(12) ADD_UPPER(13)
    ADD_UPPER(14) ADD_UPPER(15)
    "vmovups %xmm0, (%rcx)\n"
    "vzeroupper\n"
    "2: pop %rcx\npop %r15\npop %r14\npop %r13\npop %r12\npop %rbp\npop %rbx\n"
    "ret\n"
    ".size checked_call_run, . - checked_call_run\n");
/* clang-format on */
#elif defined(__aarch64__)
static const char *const names[] = {"x19", "x20", "x21", "x22", "x23", "x24", "x25", "x26", "x27",
                                    "x28", "d8",  "d9",  "d10", "d11", "d12", "d13", "d14", "d15"};

#define MARK_REGISTER(n, value) "mov x" #n ", #0x5eed0000\nadd x" #n ", x" #n ", #" #value "\n"
#define MARK_VECTOR(n, value) "mov x9, #0x5eed0000\nadd x9, x9, #" #value "\nfmov d" #n ", x9\n"

/* clang-format off */
__asm__(
    ".text\n"
    ".globl checked_call_run\n"
    ".hidden checked_call_run\n"
    ".type checked_call_run, %function\n"
    "checked_call_run:\n"
    "stp x29, x30, [sp, #-176]!\n"
    "mov x29, sp\n"
    "stp x19, x20, [sp, #16]\nstp x21, x22, [sp, #32]\nstp x23, x24, [sp, #48]\n"
    "stp x25, x26, [sp, #64]\nstp x27, x28, [sp, #80]\nstp d8, d9, [sp, #96]\n"
    "stp d10, d11, [sp, #112]\nstp d12, d13, [sp, #128]\nstp d14, d15, [sp, #144]\n"
    "str x3, [sp, #160]\n"
    "mov x11, x0\nmov x0, x1\nmov x1, x2\n"
    MARK_REGISTER(19, 0) MARK_REGISTER(20, 1) MARK_REGISTER(21, 2) MARK_REGISTER(22, 3)
    MARK_REGISTER(23, 4) MARK_REGISTER(24, 5) MARK_REGISTER(25, 6) MARK_REGISTER(26, 7)
    MARK_REGISTER(27, 8) MARK_REGISTER(28, 9) MARK_VECTOR(8, 10) MARK_VECTOR(9, 11)
    MARK_VECTOR(10, 12) MARK_VECTOR(11, 13) MARK_VECTOR(12, 14) MARK_VECTOR(13, 15)
    MARK_VECTOR(14, 16) MARK_VECTOR(15, 17)
    "blr x11\n"
    "ldr x3, [sp, #160]\n"
    "stp x19, x20, [x3, #16]\nstp x21, x22, [x3, #32]\nstp x23, x24, [x3, #48]\n"
    "stp x25, x26, [x3, #64]\nstp x27, x28, [x3, #80]\nstp d8, d9, [x3, #96]\n"
    "stp d10, d11, [x3, #112]\nstp d12, d13, [x3, #128]\nstp d14, d15, [x3, #144]\n"
    "ldp x19, x20, [sp, #16]\nldp x21, x22, [sp, #32]\nldp x23, x24, [sp, #48]\n"
    "ldp x25, x26, [sp, #64]\nldp x27, x28, [sp, #80]\nldp d8, d9, [sp, #96]\n"
    "ldp d10, d11, [sp, #112]\nldp d12, d13, [sp, #128]\nldp d14, d15, [sp, #144]\n"
    "ldp x29, x30, [sp], #176\n"
    "ret\n"
    ".size checked_call_run, . - checked_call_run\n");
/* clang-format on */
#endif

static bool upper_halves; /* a call of the message left upper halves of vector registers in use */

static bool checked_call(void (*run)(const void *, const ln_tensors *), const void *state,
                         const ln_tensors *tensors)
{
#if defined(__x86_64__) || defined(__aarch64__)
    call_findings found = {{0}, {0}};
#if defined(__x86_64__)
    found.upper[0] = __builtin_cpu_supports("avx") != 0;
#endif
    bool looks = found.upper[0];
    checked_call_run(run, state, tensors, &found);
    upper_halves |= looks && (found.upper[0] | found.upper[1]) != 0;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (found.registers[i] != MARK + i)
            return message_fails(VERDICT_STATE_CHANGED,
                                 "run() changed %s, which a function must keep", names[i]);
#else
    run(state, tensors);
#endif
    return true;
}

/* ---- one call, and the checks after it ---- */

typedef struct judged_call {
    call_tensors tensors;
    prepared_kernel kernel;
    char *first[ROLES_MOST]; /* the output buffers' contents after the first call; NULL: none */
} judged_call;

/* The judged call, one for each thread that calls at the same time, and a call of another problem. */
static struct {
    const ln_plugin_table *plugin;
    const ln_kernel *kernel;
    worker_message message, other_message;
    judged_call calls[AT_ONCE_MOST], other;
    unsigned at_once;
    bool has_other;
} judged; /* static, since it is larger than the part of the stack that is filled with NaN */

/* Makes the buffers for `rows` rows, and prepares the kernel. */
static bool begin_call(judged_call *call, const worker_message *message, size_t rows,
                       unsigned threads)
{
    const ln_kernel *kernel = judged.kernel;
    ln_problem problem = message->problem;
    problem.rows = rows;
    layout_strides(&message->layout, operations[message->operation], &problem);
    if (kernel_refuses(kernel, &problem)) /* it supports no strided rows, so they become dense */
        problem_set_strides(&problem, problem.hidden);
    if (!tensors_create(&call->tensors, message, worker_memory(0), &problem, kernel->accumulator,
                        true))
        worker_out_of_memory(0);
    const char *written = guard_written_waiting();
    if (written)
        return message_fails(VERDICT_OVERRUN, "wrote to %s of an earlier call", written);
    return kernel_prepare(&call->kernel, &message_memory, judged.plugin, kernel, &problem, threads);
}

static bool is_clean(const judged_call *call)
{
    char text[REPLY_TEXT_LENGTH];
    return tensors_are_clean(&call->tensors, text, sizeof text) ||
           message_fails(VERDICT_OVERRUN, "%s", text);
}

/* Fills the unused stack below with NaN, so that a kernel that uses an uninitialised variable gives NaN. */
static __attribute__((noinline)) void poison_stack(void)
{
    volatile unsigned char filled[8192];
    memset((void *)(uintptr_t)filled, POISON, sizeof filled);
    __asm__ volatile("" ::"r"(filled) : "memory");
}

/* Makes one call on the message's rows from `first` on, with some other elements if `altered`, and checks it. */
static bool make_call(judged_call *call, size_t first, bool altered)
{
    prepared_kernel *kernel = &call->kernel;
    thread_state before;
    bool kept = true;
    tensors_fill(&call->tensors, first, altered);
    plugin_enter(&before);
    poison_stack();
    kernel->watched = true;
    if (call->tensors.message->threads > 1)
        kernel_run(kernel, &call->tensors.given);
    else
        kept = checked_call(kernel->kernel->run, kernel->states[0], &call->tensors.given);
    const char *changed = kernel_changed(kernel);
    if (changed)
        kept = message_fails(VERDICT_STATE_CHANGED, "run() %s", changed);
    return plugin_leave(&before, "run()") && kept && is_clean(call);
}

static void keep_outputs(judged_call *call)
{
    for (size_t i = 0; i < call->tensors.what->count; i++) {
        const guarded *buffer = &call->tensors.buffers[i];
        bool output = call->tensors.what->roles[i].output;
        if (!buffer->map || !(output || tensors_input_is_written(&call->tensors, i)))
            continue;
        call->first[i] = arena_new(&message_memory, char, buffer->size);
        memcpy(call->first[i], buffer->data, buffer->size);
    }
}

/* Returns true if the outputs are bit for bit the kept ones, if any were kept. */
static bool is_same(const judged_call *call)
{
    bool same = true;
    for (size_t i = 0; same && i < call->tensors.what->count; i++)
        same = !call->first[i] || memcmp(call->first[i], call->tensors.buffers[i].data,
                                         call->tensors.buffers[i].size) == 0;
    return same;
}

/* Returns true if an output uses the memory of an input. */
static bool is_in_place(const judged_call *call)
{
    bool written = false;
    for (size_t i = 0; i < call->tensors.what->count; i++)
        written |= call->tensors.buffers[i].map && !call->tensors.what->roles[i].output &&
                   tensors_input_is_written(&call->tensors, i);
    return written;
}

static bool call_again(judged_call *call, const char *where)
{
    return make_call(call, 0, false) &&
           (is_same(call) ||
            message_fails(VERDICT_NONDETERMINISTIC, "two calls on the same rows differ%s", where));
}

/* Calls again while the result's first element holds 0 and not NaN, to find a kernel that reads its output. */
static bool call_over_number(judged_call *call)
{
    const guarded *result = &call->tensors.buffers[call->tensors.what->result];
    if (!result->map || is_in_place(call))
        return true;
    tensors_fill(&call->tensors, 0, false);
    memset(result->data, 0, dtype_size(call->tensors.problem.storage));
    kernel_run(&call->kernel, &call->tensors.given);
    return is_same(call) ||
           message_fails(VERDICT_NONDETERMINISTIC,
                         "two calls on the same rows differ where y holds a number before");
}

/* Calls the kernel on all rows, some rows a call in the same buffers, and repeats the first call `again` times. */
static bool call_parts(judged_call *call, unsigned again)
{
    const size_t rows = call->tensors.message->problem.rows, part = call->tensors.problem.rows;
    for (size_t row = 0; row < rows; row += part) {
        size_t first = row + part > rows ? rows - part : row;
        if (!make_call(call, first, false))
            return false;
        tensors_hand_back(&call->tensors, first);
        if (row == 0)
            keep_outputs(call);
    }
    for (; again > 0; again--)
        if (!call_again(call, ""))
            return false;
    return true;
}

/* ---- the calls of a message ---- */

/* The interruptions of the first thread for two threads, and for more; and elements between rows. */
enum { STOPS_OF_TWO = 6, STOPS_OF_MORE = 3, OTHER_GAP = 3 };

/* Makes another problem with the same tensors: with rows about half as long, or with a convention that is easily
 * mistaken for this one or has another eps, sometimes with other strides. False: the kernel supports none. */
static bool find_other(const ln_kernel *kernel, const worker_message *message,
                       worker_message *other)
{
    ln_convention neighbours[NEIGHBOURS_MOST + 1];
    ln_problem *problem = &other->problem;
    size_t count = convention_neighbours(&message->problem.convention, neighbours);
    *other = *message;
    other->layout.calls = CALLS_ONCE;
    for (size_t i = 0; message->layout.calls == CALLS_PREPARED && i < ROLES_MOST; i++)
        other->layout.tensors[i].gap += message->seed >> 32 & 1 ? OTHER_GAP : 0;
    neighbours[count] = message->problem.convention;
    neighbours[count++].eps *= 3;
    for (size_t i = 0; message->layout.calls == CALLS_PREPARED && i < count; i++) {
        problem->convention = neighbours[(message->seed % count + i) % count];
        if (!kernel_refuses(kernel, problem))
            return true;
    }
    problem->convention = message->problem.convention;
    problem->hidden = problem->hidden / 2 | 1;
    problem_set_strides(problem, problem->hidden);
    return !kernel_refuses(kernel, problem);
}

/* Makes the calls in turn with calls of the other problem, and once more after its release. */
static bool call_in_turn(judged_call *call)
{
    bool later = judged.message.layout.calls == CALLS_PREPARED;
    const char *where =
        later ? " while another problem is prepared" : " where another problem is called between";
    if (!judged.has_other)
        return call_parts(call, 1);
    return (later ? begin_call(&judged.other, &judged.other_message,
                               judged.other_message.problem.rows, 1)
                  : make_call(&judged.other, 0, false)) &&
           call_parts(call, 0) && make_call(&judged.other, 0, false) && call_again(call, where) &&
           kernel_release(&judged.other.kernel) &&
           call_again(call, " after another prepared state was released");
}

/* Checks that a call of no rows writes nothing. */
static bool call_no_rows(const judged_call *call)
{
    const ln_kernel *kernel = judged.kernel;
    ln_problem none = call->tensors.problem;
    void *state = &none;
    none.rows = 0;
    running_where = " in a call of no rows";
    bool taken = judged.message.threads <= 1 && !kernel_refuses(kernel, &none) &&
                 (!kernel->prepare || kernel->prepare(&none, &state) == 0);
    if (taken)
        kernel->run(state, &call->tensors.given);
    if (taken && kernel->release)
        kernel->release(state);
    running_where = "";
    return is_same(call) || message_fails(VERDICT_NONDETERMINISTIC, "a call with 0 rows writes");
}

/* Makes a call while other threads call too. Inputs that the last call overwrote are filled again first. */
static bool call_at_once(void *context)
{
    judged_call *call = context;
    if (is_in_place(call))
        tensors_fill(&call->tensors, 0, false);
    kernel_run(&call->kernel, &call->tensors.given);
    return is_same(call);
}

static bool call_all_at_once(void)
{
    uint64_t drawn = judged.message.seed;
    const overlap_plan plan = {.free_calls = 1,
                               .stops = judged.at_once == 2 ? STOPS_OF_TWO : STOPS_OF_MORE,
                               .part = (double)(splitmix64(&drawn) >> 11) * 0x1p-53};
    void *contexts[AT_ONCE_MOST] = {&judged.calls[0]};
    for (unsigned i = 1; i < judged.at_once; i++) {
        contexts[i] = &judged.calls[i];
        if (!make_call(contexts[i], 0, false))
            return false;
        keep_outputs(contexts[i]);
    }
    const overlap_result found = worker_overlap(call_at_once, contexts, judged.at_once, &plan);
    for (unsigned i = 0; i < judged.at_once; i++)
        if (!is_clean(&judged.calls[i]))
            return false;
    if (found == OVERLAP_DIFFERS)
        return message_fails(VERDICT_NONDETERMINISTIC, "other bits on %u threads at once",
                             judged.at_once);
    return found == OVERLAP_SAME ||
           message_fails(VERDICT_MISSING,
                         "the system refuses sockets, threads or timers, so that no "
                         "calls can be made at once");
}

/* Makes all calls of the message except those that overlap. */
static bool make_all_calls(size_t rows)
{
    judged_call *call = &judged.calls[0];
    const call_order calls = judged.message.layout.calls;
    judged.has_other = (calls == CALLS_IN_TURN || calls == CALLS_PREPARED) &&
                       find_other(judged.kernel, &judged.message, &judged.other_message);
    if (judged.has_other && calls == CALLS_IN_TURN &&
        !begin_call(&judged.other, &judged.other_message, judged.other_message.problem.rows, 1))
        return false;
    for (unsigned i = 0; i < judged.at_once; i++)
        if (!begin_call(&judged.calls[i], &judged.message, rows, judged.message.threads))
            return false;
    switch (calls) {
    case CALLS_REPEATED:
        return make_call(call, 0, true) && call_parts(call, 1) && call_over_number(call) &&
               call_no_rows(call);
    case CALLS_IN_TURN:
    case CALLS_PREPARED:
        return call_in_turn(call);
    case CALLS_HALVES: /* repeated twice, so that an error in every second call is found */
        return call_parts(call, 2);
    default:
        return call_parts(call, judged.message.again);
    }
}

/* ---- the library's calls as if the rows were in a cache or in memory ---- */

/* The library whose cache sizes are set, or NULL. Sizes are reset only then, since that reads a dozen files. */
static void *placed;

typedef ln_status set_cache_bytes(size_t l1d, size_t l2, size_t l3);

const char *worker_kernel_behind(void *library, const ln_problem *problem)
{
    const char *(*name_of)(const ln_problem *);
    char symbol[40];
    snprintf(symbol, sizeof symbol, "ln_%s_kernel_name",
             operation_name(problem->convention.operation));
    *(void **)&name_of = dlsym(library, symbol);
    return name_of ? name_of(problem) : NULL;
}

/* Sets the library's cache sizes so that it dispatches a call as if its rows were in the message's call_place. Returns
 * the kernel that it chooses; NULL: the library has no such functions. */
static const char *enter_place(void *library, const worker_message *message, size_t rows)
{
    set_cache_bytes *set;
    *(void **)&set = dlsym(library, "ln_set_cache_bytes");
    ln_problem problem = message->problem;
    problem.rows = rows;
    problem.accuracy = message->accuracy;
    const size_t bytes =
        (size_t)call_bytes(operations[message->operation], rows, problem.hidden, problem.storage);
    const size_t caches =
        message->place == PLACE_MEMORY ? 1 : 2 * bytes; /* part of L3 is left free */
    placed = library;
    bool fine = set && set(caches, caches, caches) == LN_OK;
    return fine ? worker_kernel_behind(library, &problem) : NULL;
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

/* ---- JUDGE ---- */

void worker_judge(const worker_message *message, const ln_kernel *kernel)
{
    const worker_plugin *plugin = plugin_of(message);
    ln_problem half = message->problem;
    half.rows = (half.rows + 1) / 2;
    /* The calls are on halves of the rows, unless the kernel does not support so few. */
    const bool halves = message->layout.calls == CALLS_HALVES && !message->rows_at_once &&
                        !kernel_refuses(kernel, &half);
    const size_t rows = message->rows_at_once ? message->rows_at_once
                        : halves              ? half.rows
                                              : message->problem.rows;
    const char *taken = message->place ? enter_place(plugin->library, message, rows) : "";
    if (!taken) {
        message_fails(VERDICT_UNSUPPORTED, "its caches cannot be set");
        return;
    }
    memset(&judged, 0, sizeof judged);
    judged.plugin = plugin->table;
    judged.kernel = kernel;
    judged.message = *message;
    judged.at_once = message->layout.at_once > 1 ? message->layout.at_once : 1;
    /* A library with threads of its own is called by one thread; if the message wants several calls at once, it is
     * given several threads instead. */
    if (kernel_has_threads(plugin->table, kernel)) {
        if (judged.at_once > 1)
            judged.message.threads = judged.at_once / 2 * 2;
        judged.at_once = 1;
    }
    if (judged.message.threads > 1)
        judged.at_once = 1;
    upper_halves = false;
    if (make_all_calls(rows) && judged.at_once > 1)
        call_all_at_once();
    for (unsigned i = 0; i <= judged.at_once; i++) {
        judged_call *call = i < judged.at_once ? &judged.calls[i] : &judged.other;
        kernel_release(&call->kernel);
        tensors_destroy(&call->tensors);
    }
    if (answer.kind == REPLY_FAILED)
        return;
    snprintf(answer.text, sizeof answer.text, "%s", taken);
    answer.value = judged.message.threads > 1 ? judged.message.threads : upper_halves;
}
