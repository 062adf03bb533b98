#include "worker/child/checked_call.h"
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

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

const char *checked_call(void (*run)(const void *, const ln_tensors *), const void *state,
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

const char *checked_call(void (*run)(const void *, const ln_tensors *), const void *state,
                         const ln_tensors *tensors, bool *upper_halves)
{
    run(state, tensors);
    *upper_halves = false;
    return NULL;
}

#endif
