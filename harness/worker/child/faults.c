/* Faults of kernels as verdicts. */
#include "worker/child/internal.h"
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* The report is made ready before a fault, since a handler may call little. */
static worker_reply report;
static volatile unsigned running_entry;
/* A kernel that overflows its stack must still be reported. */
static char handler_stack[64 * 1024];

static const char *volatile running_where = "";

void worker_fault_where(const char *where)
{
    running_where = where;
}

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
    long away = fault.bytes_before > 0 ? fault.bytes_before : fault.bytes_behind;
    append(report.text, "reads or writes ");
    if (away == 0)
        append(report.text, "right");
    else
        append_count(report.text, away);
    append(report.text, fault.bytes_before > 0 ? " bytes before "
                        : away > 0             ? " bytes behind the end of "
                                               : " behind the end of ");
    append(report.text, fault.buffer->name);
}

static void on_fault(int number, siginfo_t *info, void *context)
{
    (void)context;
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
    append(report.text, running_where);
    worker_send_last(&report);
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
