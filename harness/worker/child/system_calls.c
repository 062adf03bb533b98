#include "worker/child/system_calls.h"
#include <elf.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <ucontext.h>

enum { ALLOW, BLOCK }; /* SYSCALL_DISPATCH_FILTER_* */

static volatile unsigned char selector = ALLOW; /* read by the system at each call */
static volatile bool made = true;               /* in the watch that goes on, or the last one */
static volatile uint64_t count; /* watches in which some were made, or may have been */
static volatile bool stopped;   /* one was, so that the watch is to be turned on anew */
static unsigned depth;          /* of watches */
static bool supported, others, trusted;

#if defined(__x86_64__) && defined(PR_SET_SYSCALL_USER_DISPATCH)

/* The clocks that the system's own code in each process (the vDSO) cannot tell are read by a call
 * from there, and change nothing. */
static unsigned long vdso_size(const char *vdso)
{
    Elf64_Ehdr header;
    Elf64_Phdr part;
    unsigned long size = 0;
    if (!vdso)
        return 0;
    memcpy(&header, vdso, sizeof header);
    for (size_t i = 0; i < header.e_phnum; i++) {
        memcpy(&part, vdso + header.e_phoff + i * sizeof part, sizeof part);
        if (part.p_type == PT_LOAD && part.p_vaddr + part.p_memsz > size)
            size = part.p_vaddr + part.p_memsz;
    }
    return size;
}

/* The call that was stopped is made after all: its registers are as they were, and its instruction is
 * two bytes long. */
static void on_call(int number, siginfo_t *info, void *context)
{
    enum { USER_DISPATCH = 2, INSTRUCTION = 2 };
    ucontext_t *caller = context;
    if (info->si_code != USER_DISPATCH) {
        signal(number, SIG_DFL);
        raise(number);
        return;
    }
    selector = ALLOW;
    made = stopped = true;
    count++;
    caller->uc_mcontext.gregs[REG_RIP] -= INSTRUCTION;
}

/* Anew after each call, which may have undone it. */
static bool turn_on(void)
{
    struct sigaction action = {.sa_sigaction = on_call, .sa_flags = (int)(SA_SIGINFO | SA_ONSTACK)};
    const char *vdso = (const char *)getauxval(AT_SYSINFO_EHDR); /* NULL: there is none */
    return sigaction(SIGSYS, &action, NULL) == 0 &&
           prctl(PR_SET_SYSCALL_USER_DISPATCH, PR_SYS_DISPATCH_ON, vdso, vdso_size(vdso),
                 &selector) == 0;
}
#else
static bool turn_on(void)
{
    return false;
}
#endif

void system_calls_begin(void)
{
    sigset_t of_call;
    sigemptyset(&of_call);
    sigaddset(&of_call, SIGSYS);
    sigprocmask(SIG_UNBLOCK, &of_call, NULL);
    supported = turn_on();
}

void system_calls_watch(void)
{
    if (depth++ > 0)
        return;
    made = !trusted && (!supported || others);
    if (stopped && !made) {
        supported = turn_on();
        stopped = false;
        made = !supported;
    }
    count += made;
    selector = made || trusted ? ALLOW : BLOCK;
}

bool system_calls_made(void)
{
    if (depth > 0 && --depth == 0)
        selector = ALLOW;
    return made;
}

void system_calls_forget(void)
{
    depth = 0;
    selector = ALLOW;
}

void system_calls_of_others(bool some)
{
    others = some;
}

void system_calls_trust(bool trust)
{
    trusted = trust;
}

uint64_t system_calls_mark(void)
{
    return count;
}

bool system_calls_since(uint64_t mark)
{
    return count != mark || (depth > 0 && made);
}
