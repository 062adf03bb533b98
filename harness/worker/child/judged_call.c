/* A judged call: what happens to a kernel that is asked for one output.
 *
 * 1. Buffers for every tensor that the order has are laid out as it says (buffers.c), prepare() is called,
 *    inputs are filled and become read-only, outputs are filled with NaN.
 * 2. The stack is spoiled, the registers that a function must keep get known values, and run() is called.
 * 3. The floating-point state, those registers, the memory about each tensor and the gaps between rows are
 *    compared with what they were. The first thing that is wrong is the verdict.
 * 4. Calls that the order wants besides are made: again, in halves, after other contents, of no rows, in turn
 *    with another problem, on several threads at once (meet.c), over several threads (threads.c). Their bits
 *    must be those of the first call.
 * 5. The rows go back to the parent, who alone knows what is right. */
#include "base/random.h"
#include "domain/poison.h"
#include "worker/child/buffers.h"
#include "worker/child/internal.h"
#include "worker/child/meet.h"
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <fenv.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

/* ---- floating-point state ---- */

static unsigned floating_point_control(void)
{
#if defined(__x86_64__)
    return _mm_getcsr() & ~0x3fu;
#elif defined(__aarch64__)
    unsigned long control;
    __asm__ volatile("mrs %0, fpcr" : "=r"(control));
    return (unsigned)control;
#else
    return (unsigned)fegetround();
#endif
}

#if defined(__x86_64__)
#define CONTROL "MXCSR"
enum { FLUSH = 0x8040, ROUNDING = 0x6000, X87_EMPTY = 0xffff };

/* Control word, and a bit pair a register: 3 where it is empty. */
static void read_x87(thread_state *state)
{
    unsigned environment[7] = {0};
    __asm__ volatile("fnstenv %0\n\tfldenv %0" : "+m"(environment));
    state->x87 = environment[0] & 0xffff;
    state->x87_empty = (environment[2] & 0xffff) == X87_EMPTY;
}
#else
#if defined(__aarch64__)
#define CONTROL "FPCR"
enum { FLUSH = 1 << 24 | 1 << 19, ROUNDING = 3 << 22 };
#else
#define CONTROL "floating-point control"
enum { FLUSH = 0, ROUNDING = -1 };
#endif

static void read_x87(thread_state *state)
{
    state->x87 = 0;
    state->x87_empty = true;
}
#endif

void floating_point_set(const thread_state *before)
{
#if defined(__x86_64__)
    unsigned short word = (unsigned short)before->x87;
    _mm_setcsr(before->floating_point);
    __asm__ volatile("fninit\n\tfldcw %0" : : "m"(word));
#elif defined(__aarch64__)
    unsigned long control = before->floating_point;
    __asm__ volatile("msr fpcr, %0" : : "r"(control));
#else
    fesetround((int)before->floating_point);
#endif
}

void floating_point_read(thread_state *state)
{
    *state = (thread_state){.floating_point = floating_point_control()};
    read_x87(state);
}

/* Of the control registers; NULL: nothing. */
static const char *control_change(const thread_state *before, const thread_state *after)
{
    unsigned changed = before->floating_point ^ after->floating_point;
    return changed & FLUSH             ? "changed " CONTROL ": flush to zero"
           : changed & ROUNDING        ? "changed " CONTROL ": rounding"
           : changed                   ? "changed " CONTROL ": exceptions"
           : after->x87 != before->x87 ? "changed the x87 control word"
                                       : NULL;
}

const char *floating_point_compare(const thread_state *before)
{
    thread_state after;
    floating_point_read(&after);
    const char *changed = control_change(before, &after);
    if (!changed && after.x87_empty != before->x87_empty)
        changed = "left the x87 registers in use (emms is missing)";
    if (changed)
        floating_point_set(before);
    return changed;
}

const char *floating_point_take(const thread_state *before, thread_state *loaded)
{
    floating_point_read(loaded);
    const char *changed = control_change(before, loaded);
    if (changed)
        floating_point_set(before);
    return changed;
}

const char *process_exhausted(void)
{
    struct rlimit space;
    int file = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (file < 0 && (errno == EMFILE || errno == ENFILE))
        return "left so many files open that the process can open no more";
    if (file >= 0)
        close(file);
    if (getrlimit(RLIMIT_AS, &space) != 0 || space.rlim_cur != RLIM_INFINITY)
        return NULL;
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    void *map = mmap(NULL, page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (map == MAP_FAILED)
        return "left so many mappings that the process can make no more";
    munmap(map, page);
    return NULL;
}

/* ---- registers ---- */

#if defined(__x86_64__) || defined(__aarch64__)

enum { UPPER_BYTES = 16 * 16 };

/* What the call left. The assembly below has the offsets. */
typedef struct call_findings {
    uint64_t registers[18]; /* x86-64 has 6 of them */
    uint64_t stack;         /* how far its pointer was moved */
    uint64_t flags;
    uint64_t wants_upper; /* in: whether there are upper halves */
    uint64_t unused;
    unsigned char upper[UPPER_BYTES];
} call_findings;

_Static_assert(offsetof(call_findings, stack) == 144 && offsetof(call_findings, flags) == 152 &&
                   offsetof(call_findings, wants_upper) == 160 &&
                   offsetof(call_findings, upper) == 176,
               "the assembly has these offsets");

/* Register i holds MARK + i before the call. */
#define MARK 0x5eed0000

__attribute__((visibility("hidden"))) void
checked_call_run(void (*run)(const void *, const ln_tensors *), const void *state,
                 const ln_tensors *tensors, call_findings *found);

#if defined(__x86_64__)
static const char *const names[] = {"rbx", "rbp", "r12", "r13", "r14", "r15"};

#define STORE_UPPER(n, at) "vextractf128 $1, %ymm" #n ", " #at "(%rcx)\n"

/* clang-format off */
__asm__(
    ".text\n"
    ".globl checked_call_run\n"
    ".hidden checked_call_run\n"
    ".type checked_call_run, @function\n"
    "checked_call_run:\n"
    "endbr64\n"
    "push %rbx\npush %rbp\npush %r12\npush %r13\npush %r14\npush %r15\n"
    "sub $24, %rsp\n"
    "mov %rcx, (%rsp)\n"
    "mov %rsp, checked_call_stack(%rip)\n"
    "cmpq $0, 160(%rcx)\n"
    "je 1f\n"
    "vzeroupper\n"
    "1: mov %rdi, %rax\n"
    "mov %rsi, %rdi\n"
    "mov %rdx, %rsi\n"
    "mov $0x5eed0000, %ebx\nmov $0x5eed0001, %ebp\nmov $0x5eed0002, %r12d\n"
    "mov $0x5eed0003, %r13d\nmov $0x5eed0004, %r14d\nmov $0x5eed0005, %r15d\n"
    "call *%rax\n"
    "mov checked_call_stack(%rip), %rax\n"
    "mov %rsp, %rdx\n"
    "mov %rax, %rsp\n"
    "sub %rax, %rdx\n"
    "mov (%rsp), %rcx\n"
    "mov %rbx, (%rcx)\nmov %rbp, 8(%rcx)\nmov %r12, 16(%rcx)\n"
    "mov %r13, 24(%rcx)\nmov %r14, 32(%rcx)\nmov %r15, 40(%rcx)\n"
    "mov %rdx, 144(%rcx)\n"
    "pushf\n"
    "pop %rax\n"
    "mov %rax, 152(%rcx)\n"
    "cld\n"
    "cmpq $0, 160(%rcx)\n"
    "je 2f\n"
    STORE_UPPER(0, 176) STORE_UPPER(1, 192) STORE_UPPER(2, 208) STORE_UPPER(3, 224)
    STORE_UPPER(4, 240) STORE_UPPER(5, 256) STORE_UPPER(6, 272) STORE_UPPER(7, 288)
    STORE_UPPER(8, 304) STORE_UPPER(9, 320) STORE_UPPER(10, 336) STORE_UPPER(11, 352)
    STORE_UPPER(12, 368) STORE_UPPER(13, 384) STORE_UPPER(14, 400) STORE_UPPER(15, 416)
    "vzeroupper\n"
    "2: add $24, %rsp\n"
    "pop %r15\npop %r14\npop %r13\npop %r12\npop %rbp\npop %rbx\n"
    "ret\n"
    ".size checked_call_run, . - checked_call_run\n"
    ".local checked_call_stack\n"
    ".comm checked_call_stack, 8, 8\n");
/* clang-format on */

static bool has_upper_halves(void)
{
    return __builtin_cpu_supports("avx");
}

static const char *flags_fault(uint64_t flags)
{
    return flags & 1u << 10 ? "left the direction flag set" : NULL;
}
#else
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
    "adrp x9, checked_call_stack\n"
    "add x9, x9, :lo12:checked_call_stack\n"
    "mov x10, sp\n"
    "str x10, [x9]\n"
    "mov x11, x0\nmov x0, x1\nmov x1, x2\n"
    MARK_REGISTER(19, 0) MARK_REGISTER(20, 1) MARK_REGISTER(21, 2) MARK_REGISTER(22, 3)
    MARK_REGISTER(23, 4) MARK_REGISTER(24, 5) MARK_REGISTER(25, 6) MARK_REGISTER(26, 7)
    MARK_REGISTER(27, 8) MARK_REGISTER(28, 9) MARK_VECTOR(8, 10) MARK_VECTOR(9, 11)
    MARK_VECTOR(10, 12) MARK_VECTOR(11, 13) MARK_VECTOR(12, 14) MARK_VECTOR(13, 15)
    MARK_VECTOR(14, 16) MARK_VECTOR(15, 17)
    "blr x11\n"
    "adrp x9, checked_call_stack\n"
    "add x9, x9, :lo12:checked_call_stack\n"
    "ldr x10, [x9]\n"
    "mov x11, sp\n"
    "sub x11, x11, x10\n"
    "mov sp, x10\n"
    "ldr x3, [sp, #160]\n"
    "stp x19, x20, [x3]\nstp x21, x22, [x3, #16]\nstp x23, x24, [x3, #32]\n"
    "stp x25, x26, [x3, #48]\nstp x27, x28, [x3, #64]\nstp d8, d9, [x3, #80]\n"
    "stp d10, d11, [x3, #96]\nstp d12, d13, [x3, #112]\nstp d14, d15, [x3, #128]\n"
    "stp x11, xzr, [x3, #144]\n"
    "ldp x19, x20, [sp, #16]\nldp x21, x22, [sp, #32]\nldp x23, x24, [sp, #48]\n"
    "ldp x25, x26, [sp, #64]\nldp x27, x28, [sp, #80]\nldp d8, d9, [sp, #96]\n"
    "ldp d10, d11, [sp, #112]\nldp d12, d13, [sp, #128]\nldp d14, d15, [sp, #144]\n"
    "ldp x29, x30, [sp], #176\n"
    "ret\n"
    ".size checked_call_run, . - checked_call_run\n"
    ".local checked_call_stack\n"
    ".comm checked_call_stack, 8, 8\n");
/* clang-format on */

static bool has_upper_halves(void)
{
    return false;
}

static const char *flags_fault(uint64_t flags)
{
    (void)flags;
    return NULL;
}
#endif

static const char *checked_call(void (*run)(const void *, const ln_tensors *), const void *state,
                                const ln_tensors *tensors, bool *upper_halves)
{
    static char text[64];
    call_findings found = {.wants_upper = has_upper_halves()};
    checked_call_run(run, state, tensors, &found);
    *upper_halves = false;
    for (size_t i = 0; i < sizeof found.upper; i++)
        *upper_halves |= found.upper[i] != 0;
    if (found.stack != 0)
        return "returned with another stack pointer";
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (found.registers[i] != MARK + i) {
            snprintf(text, sizeof text, "changed %s, which a function must keep", names[i]);
            return text;
        }
    return flags_fault(found.flags);
}

#else

static const char *checked_call(void (*run)(const void *, const ln_tensors *), const void *state,
                                const ln_tensors *tensors, bool *upper_halves)
{
    run(state, tensors);
    *upper_halves = false;
    return NULL;
}

#endif

/* ---- the buffers of a call, and the call ---- */

/* Why calls ended early. */
typedef struct call_failure {
    verdict_kind kind; /* VERDICT_PENDING: they did not; STATE_CHANGED: what plugin_blame() holds */
    const char *refusal; /* of DECLINED */
    char text[REPLY_TEXT_LENGTH];
} call_failure;

static bool fail_call(call_failure *failure, verdict_kind kind, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

typedef struct call_bench {
    const ln_kernel *kernel;
    const work_order *order;
    const operation *what;
    ln_problem problem; /* as the kernel sees it */
    ln_tensors tensors;
    void *state;
    bool prepared;
    guarded buffers[ROLES_MOST];
    role_extent extents[ROLES_MOST];
    char *once[ROLES_MOST];    /* what outputs lie in, as it came out first */
    const split_kernel *split; /* a call over several threads; NULL: one */
    bool upper_halves;         /* of vector registers hold something after a call */
    call_failure failure;
} call_bench;

static bool fail_call(call_failure *failure, verdict_kind kind, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    failure->kind = kind;
    vsnprintf(failure->text, sizeof failure->text, format, arguments);
    va_end(arguments);
    return false;
}

/* Because the kernel does not take it, or, where `refusal` is that string, because memory ran out. */
static bool refuse_call(call_failure *failure, const char *refusal)
{
    failure->refusal = refusal;
    return fail_call(failure, VERDICT_DECLINED, "%s", refusal);
}

static bool no_memory(call_bench *bench)
{
    return refuse_call(&bench->failure, worker_no_memory);
}

/* What plugin_blame() holds is the answer. */
static bool blamed(call_bench *bench)
{
    return fail_call(&bench->failure, VERDICT_STATE_CHANGED, "%s", "");
}

static const tensor_layout *layout_of(const call_bench *bench, size_t role)
{
    return &bench->order->layout.tensors[role];
}

/* Whether the call has the tensor. */
static bool has_tensor(const call_bench *bench, size_t role)
{
    return bench->order->at.tensors[role] >= 0;
}

/* Whether an output lies in the buffer of this input. */
static bool is_written(const call_bench *bench, size_t input)
{
    bool written = false;
    for (size_t i = 0; i < bench->what->count; i++)
        written |= i != input && has_tensor(bench, i) && layout_of(bench, i)->lies_in == input;
    return written;
}

/* Whether an output lies where an input does: each call takes a fill before it. */
static bool bench_is_in_place(const call_bench *bench)
{
    bool found = false;
    for (size_t i = 0; i < bench->what->count; i++)
        found |= bench->buffers[i].map && !bench->what->roles[i].output && is_written(bench, i);
    return found;
}

/* ---- buffers ---- */

/* A row of `bytes` with one element in the place of another, drawn ones, or in reverse. */
static void alter_row(char *row, size_t bytes, size_t size, uint64_t *drawn)
{
    size_t count = bytes / size;
    uint64_t word = splitmix64(drawn);
    char kept[sizeof(double)];
    if (word & 1) {
        memcpy(row + (word >> 33) % count * size, row + (word >> 1) % count * size, size);
        return;
    }
    for (size_t i = 0; i < count / 2; i++) {
        memcpy(kept, row + i * size, size);
        memcpy(row + i * size, row + (count - 1 - i) * size, size);
        memcpy(row + (count - 1 - i) * size, kept, size);
    }
}

static bool fill_input(call_bench *bench, size_t i, size_t first, bool altered)
{
    guarded *buffer = &bench->buffers[i];
    const role_extent *extent = &bench->extents[i];
    uint64_t drawn = bench->order->seed + i;
    size_t from = role_is_parameter(&bench->what->roles[i]) ? 0 : first * extent->row_bytes;
    if (!guard_release(buffer))
        return false;
    rows_lay_out(buffer->fill, extent, worker_memory(bench->order->at.tensors[i]) + from);
    for (size_t row = 0; altered && row < extent->rows; row++)
        alter_row((char *)buffer->fill + row * extent->stride_bytes, extent->row_bytes,
                  extent->element, &drawn);
    return is_written(bench, i) || guard_protect(buffer);
}

/* Buffers for `rows` rows, with the parameters in them. bench_destroy() it in either case. */
static bool bench_create(call_bench *bench, const ln_kernel *kernel, const work_order *order,
                         size_t rows)
{
    bool fine = true;
    *bench = (call_bench){.kernel = kernel,
                          .order = order,
                          .what = operations[order->operation],
                          .problem = order->problem};
    ln_problem *problem = &bench->problem;
    problem->rows = rows;
    layout_strides(&order->layout, bench->what, problem);
    if (kernel_refuses(kernel, problem)) /* no strided rows: dense ones */
        problem_set_strides(problem, problem->hidden);
    for (size_t i = 0; fine && i < bench->what->count; i++) {
        const tensor_role *role = &bench->what->roles[i];
        const tensor_layout *layout = layout_of(bench, i);
        bench->extents[i] = role_extent_of(role, problem, kernel->accumulator);
        if (!has_tensor(bench, i))
            continue;
        if (layout->lies_in == i)
            fine = (role->output || is_written(bench, i) ? guard_create : guard_create_input)(
                       &bench->buffers[i], role->name, extent_bytes(&bench->extents[i]),
                       layout->place, layout->offset) &&
                   (role->output || !role_is_parameter(role) || fill_input(bench, i, 0, false));
        role_set(i, &bench->tensors, bench->buffers[layout->lies_in].data);
    }
    const char *written = guard_written_waiting();
    if (fine && written)
        return fail_call(&bench->failure, VERDICT_OVERRUN, "wrote to %s of an earlier call",
                         written);
    return fine || no_memory(bench);
}

/* The order's rows from `first` on in the inputs, which become read-only, and poison in the outputs.
 * `altered`: some elements of rows and parameters are others. */
static bool bench_fill(call_bench *bench, size_t first, bool altered)
{
    bool fine = true, parameters = bench->order->layout.calls == CALLS_REPEATED;
    for (size_t i = 0; fine && i < bench->what->count; i++) {
        const tensor_role *role = &bench->what->roles[i];
        if (!bench->buffers[i].map)
            continue;
        if (role->output)
            poison_output(role, &bench->extents[i], bench->buffers[i].data);
        else if (parameters || !role_is_parameter(role))
            fine = fill_input(bench, i, first, altered);
    }
    return fine || no_memory(bench);
}

/* ---- calls ---- */

/* Its state; bench_destroy() releases it too. */
static bool bench_prepare(call_bench *bench)
{
    thread_state before;
    plugin_enter(&before);
    bench->state = &bench->problem;
    bench->prepared =
        !bench->kernel->prepare || bench->kernel->prepare(&bench->problem, &bench->state) == 0;
    bool left = plugin_leave(&before, "prepare()");
    if (!bench->prepared)
        refuse_call(&bench->failure, worker_unprepared());
    return (left || blamed(bench)) && bench->prepared;
}

static bool bench_release(call_bench *bench)
{
    thread_state before;
    bool prepared = bench->prepared;
    bench->prepared = false;
    if (!prepared || !bench->kernel->release)
        return true;
    plugin_enter(&before);
    bench->kernel->release(bench->state);
    return plugin_leave(&before, "release()") || blamed(bench);
}

static void bench_destroy(call_bench *bench)
{
    bench_release(bench);
    for (size_t i = 0; i < ROLES_MOST; i++)
        scratch_give(bench->once[i], bench->buffers[i].size);
    buffers_destroy(bench->buffers);
}

/* Whether it wrote only where it may. */
static bool bench_is_clean(call_bench *bench)
{
    for (size_t i = 0; i < bench->what->count; i++) {
        const guarded *buffer = &bench->buffers[i];
        long distance;
        bool changed = guard_slack_changed(buffer, &distance);
        if (changed && distance == 0)
            return fail_call(&bench->failure, VERDICT_OVERRUN,
                             "wrote right behind the end of %s, from its first byte on",
                             buffer->name);
        if (changed)
            return fail_call(&bench->failure, VERDICT_OVERRUN, "wrote %ld bytes %s %s",
                             labs(distance), distance < 0 ? "before" : "behind the end of",
                             buffer->name);
    }
    for (size_t i = 0; i < bench->what->count; i++)
        if (bench->buffers[i].map && bench->what->roles[i].output &&
            !gaps_are_whole(&bench->extents[i], bench->buffers[i].data))
            return fail_call(&bench->failure, VERDICT_OVERRUN,
                             "wrote between the rows of y or sum: it must heed y_stride and "
                             "sum_stride, or decline them in supports()");
    return true;
}

/* Fills the stack below with NaN: what a kernel takes from there uninitialised is to show. */
static __attribute__((noinline)) void spoil_stack(void)
{
    volatile unsigned char spoiled[8192];
    memset((void *)(uintptr_t)spoiled, POISON, sizeof spoiled);
    __asm__ volatile("" ::"r"(spoiled) : "memory");
}

/* One call alone. */
static void bench_call(call_bench *bench)
{
    bench->kernel->run(bench->state, &bench->tensors);
}

/* One call with the state of the process watched, and what it wrote looked at. */
static bool bench_run(call_bench *bench)
{
    thread_state before;
    const char *registers = NULL;
    bool upper_halves = false;
    plugin_enter(&before);
    spoil_stack();
    if (bench->split)
        split_run(bench->split, &bench->tensors);
    else
        registers = checked_call(bench->kernel->run, bench->state, &bench->tensors, &upper_halves);
    bool fine = plugin_leave(&before, "run()");
    fine = plugin_blame("run()", registers) && fine;
    bench->upper_halves |= upper_halves;
    if (bench->split)
        fine &= plugin_blame("run()", split_changed(bench->split));
    return (fine || blamed(bench)) && bench_is_clean(bench);
}

/* Keeps all outputs. */
static bool bench_keep(call_bench *bench)
{
    for (size_t i = 0; i < bench->what->count; i++) {
        const guarded *buffer = &bench->buffers[i];
        if (!buffer->map || !(bench->what->roles[i].output || is_written(bench, i)))
            continue;
        if (!bench->once[i] && !(bench->once[i] = scratch_take(buffer->size)))
            return no_memory(bench);
        memcpy(bench->once[i], buffer->data, buffer->size);
    }
    return true;
}

/* Whether they are the kept ones, where there are any, bit for bit. */
static bool bench_is_same(const call_bench *bench)
{
    bool same = true;
    for (size_t i = 0; same && i < bench->what->count; i++)
        same = !bench->once[i] ||
               memcmp(bench->once[i], bench->buffers[i].data, bench->buffers[i].size) == 0;
    return same;
}

/* Dense rows of all outputs into the shared memory, as rows first... */
static void bench_hand_back(const call_bench *bench, size_t first)
{
    for (size_t i = 0; i < bench->what->count; i++)
        if (bench->what->roles[i].output && has_tensor(bench, i))
            rows_gather(worker_memory(bench->order->at.tensors[i]) +
                            first * bench->extents[i].row_bytes,
                        role_get(i, &bench->tensors), &bench->extents[i]);
}

/* ---- the calls of an order ---- */

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
