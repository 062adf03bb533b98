/* Faults of kernels as verdicts, and the state that they must leave alone. */
#include "worker/child/internal.h"
#include <fenv.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

/* The report is made ready before a fault, since a handler may call little. */
static worker_reply report;
static volatile unsigned running_entry;
/* A kernel that overflows its stack must still be reported. */
static char handler_stack[64 * 1024];

void worker_fault_entry(unsigned entry)
{
    running_entry = entry;
}

static void append(char *text, const char *more)
{
    size_t length = strlen(text);
    size_t room = REPLY_TEXT_LENGTH - 1 - length;
    size_t add = strlen(more) < room ? strlen(more) : room;
    memcpy(text + length, more, add);
    text[length + add] = '\0';
}

static void append_count(char *text, long value)
{
    char digits[24];
    size_t at = sizeof digits;
    digits[--at] = '\0';
    do
        digits[--at] = (char)('0' + value % 10);
    while ((value /= 10) > 0);
    append(text, digits + at);
}

static void describe_memory_fault(const void *address)
{
    guard_fault fault = guard_find(address);
    if (!fault.buffer)
        return;
    report.text[0] = '\0';
    if (fault.write_to_input) {
        report.verdict = VERDICT_INPUT_MODIFIED;
        append(report.text, "wrote to ");
        append(report.text, fault.buffer->name);
        return;
    }
    report.verdict = VERDICT_OVERRUN;
    append_count(report.text, fault.bytes_before > 0 ? fault.bytes_before : fault.bytes_behind);
    append(report.text, fault.bytes_before > 0 ? " bytes before " : " bytes behind the end of ");
    append(report.text, fault.buffer->name);
}

static void on_fault(int number, siginfo_t *info, void *context)
{
    (void)context;
    report.magic = PROTOCOL_MAGIC;
    report.kind = REPLY_FAILED;
    report.verdict = VERDICT_CRASHED;
    report.count = running_entry;
    report.text[0] = '\0';
    append(report.text, number == SIGSEGV  ? "SIGSEGV"
                        : number == SIGBUS ? "SIGBUS"
                        : number == SIGILL ? "SIGILL"
                        : number == SIGFPE ? "SIGFPE"
                                           : "SIGABRT");
    if (number == SIGSEGV || number == SIGBUS)
        describe_memory_fault(info->si_addr);
    send(WORKER_SOCKET_FD, &report, sizeof report, MSG_NOSIGNAL);
    _exit(1);
}

static const int watched[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT};
enum { WATCHED = sizeof watched / sizeof *watched };

void worker_watch_faults(void)
{
    stack_t stack = {.ss_sp = handler_stack, .ss_size = sizeof handler_stack};
    sigaltstack(&stack, NULL);
    struct sigaction action = {.sa_sigaction = on_fault,
                               .sa_flags = (int)(SA_SIGINFO | SA_ONSTACK | SA_RESETHAND)};
    for (size_t i = 0; i < WATCHED; i++)
        sigaction(watched[i], &action, NULL);
}

static bool handlers_are_ours(void)
{
    for (size_t i = 0; i < WATCHED; i++) {
        struct sigaction action;
        if (sigaction(watched[i], NULL, &action) != 0 || action.sa_sigaction != on_fault)
            return false;
    }
    return true;
}

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

static unsigned x87_control(void)
{
#if defined(__x86_64__)
    unsigned short word;
    __asm__ volatile("fnstcw %0" : "=m"(word));
    return word;
#else
    return 0;
#endif
}

static void restore_floating_point(const process_state *before)
{
#if defined(__x86_64__)
    _mm_setcsr(before->floating_point);
    unsigned short word = (unsigned short)before->x87;
    __asm__ volatile("fldcw %0" : : "m"(word));
#elif defined(__aarch64__)
    unsigned long control = before->floating_point;
    __asm__ volatile("msr fpcr, %0" : : "r"(control));
#else
    fesetround((int)before->floating_point);
#endif
}

static uint64_t blocked_signals(void)
{
    sigset_t blocked;
    uint64_t bits = 0;
    sigprocmask(SIG_SETMASK, NULL, &blocked);
    for (int number = 1; number <= 64; number++)
        if (sigismember(&blocked, number) == 1)
            bits |= UINT64_C(1) << (number - 1);
    return bits;
}

static void restore_blocked_signals(uint64_t bits)
{
    sigset_t blocked;
    sigemptyset(&blocked);
    for (int number = 1; number <= 64; number++)
        if (bits >> (number - 1) & 1)
            sigaddset(&blocked, number);
    sigprocmask(SIG_SETMASK, &blocked, NULL);
}

/* Zombies count too. */
static bool has_children(void)
{
    siginfo_t info;
    return waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0;
}

static ino_t file_number(int fd)
{
    struct stat status;
    return fstat(fd, &status) == 0 ? status.st_ino : 0;
}

void process_state_take(process_state *state)
{
    *state = (process_state){0};
    state->floating_point = floating_point_control();
    state->x87 = x87_control();
    state->signals = blocked_signals();
    state->handlers = handlers_are_ours();
    const char *locale = setlocale(LC_ALL, NULL);
    snprintf(state->locale, sizeof state->locale, "%s", locale ? locale : "");
    state->thread_locale = uselocale((locale_t)0);
    state->process = getpid();
    state->children = has_children();
    state->files[0] = file_number(WORKER_SOCKET_FD);
    state->files[1] = file_number(WORKER_ARENA_FD);
}

static void put_back(const process_state *before)
{
    restore_floating_point(before);
    restore_blocked_signals(before->signals);
    worker_watch_faults();
    setlocale(LC_ALL, before->locale);
    uselocale(before->thread_locale);
}

const char *process_state_compare(const process_state *before)
{
    process_state after;
    const char *changed = NULL;
    process_state_take(&after);
    if (after.process != before->process)
        _exit(0); /* two workers at one socket would answer every order twice */
    if (after.floating_point != before->floating_point || after.x87 != before->x87)
        changed = "floating-point control (MXCSR, FPCR or the x87 control word)";
    else if (after.signals != before->signals)
        changed = "the signal mask";
    else if (after.handlers != before->handlers)
        changed = "the handlers of SIGSEGV, SIGBUS, SIGILL, SIGFPE or SIGABRT";
    else if (strcmp(after.locale, before->locale) != 0 ||
             after.thread_locale != before->thread_locale)
        changed = "the locale";
    else if (after.children && !before->children)
        changed = "a child process was left behind";
    else if (after.files[0] != before->files[0] || after.files[1] != before->files[1])
        changed = "files that are not the kernel's were closed";
    if (changed)
        put_back(before);
    return changed;
}
