#include "trace.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

size_t trace_read(pid_t process, unsigned long from, void *to, size_t size)
{
    struct iovec here = {to, size}, there = {(void *)from, size};
    ssize_t got = process_vm_readv(process, &here, 1, &there, 1, 0);
    return got < 0 ? 0 : (size_t)got;
}

void trace_path(pid_t process, int file, char *path, size_t size)
{
    char name[64];
    snprintf(name, sizeof name, "/proc/%d/fd/%d", (int)process, file);
    ssize_t got = readlink(name, path, size - 1);
    path[got < 0 ? 0 : got] = '\0';
}

#ifdef __x86_64__
#include <sys/user.h>

enum { TASKS = 64 };

typedef struct traced_task {
    pid_t id;
    bool inside;  /* between the two stops of a call */
    bool counted; /* is the program, and past the mark */
    int error;    /* what the call is to return */
    traced_call call;
} traced_task;

typedef struct call_tracer {
    const trace_watch *watch;
    traced_task tasks[TASKS];
    pid_t first;
    bool over; /* nobody wants to see a further call */
} call_tracer;

static volatile sig_atomic_t expired;

static void on_alarm(int number)
{
    (void)number;
    expired = 1;
}

static traced_task *find(call_tracer *tracer, pid_t id)
{
    for (int i = 0; i < TASKS; i++)
        if (tracer->tasks[i].id == id)
            return &tracer->tasks[i];
    for (int i = 0; i < TASKS; i++)
        if (!tracer->tasks[i].id) {
            tracer->tasks[i] = (struct traced_task){.id = id};
            return &tracer->tasks[i];
        }
    return NULL;
}

static bool is_program(const call_tracer *tracer, pid_t id)
{
    char path[64], name[32] = "";
    snprintf(path, sizeof path, "/proc/%d/comm", (int)id);
    FILE *file = fopen(path, "r");
    if (!file)
        return false;
    bool got = fgets(name, sizeof name, file) != NULL;
    fclose(file);
    name[strcspn(name, "\n")] = '\0';
    return got && strcmp(name, tracer->watch->program) == 0;
}

static void on_enter(call_tracer *tracer, traced_task *task)
{
    struct user_regs_struct registers;
    if (ptrace(PTRACE_GETREGS, task->id, NULL, &registers) != 0)
        return;
    task->error = 0;
    task->call = (traced_call){
        task->id,
        task->counted,
        (long)registers.orig_rax,
        {registers.rdi, registers.rsi, registers.rdx, registers.r10, registers.r8, registers.r9},
        0,
    };
    if (task->call.number == SYS_close && (int)registers.rdi == -77)
        task->counted = is_program(tracer, task->id);
    call_fault fault = {0};
    if (tracer->watch->enter)
        tracer->watch->enter(tracer->watch->context, &task->call, &fault);
    if (fault.error) {
        task->error = fault.error;
        registers.orig_rax = (unsigned long)-1; /* no call at all */
    }
    if (fault.length)
        registers.rdx = fault.length;
    tracer->over |= fault.last;
    if (fault.error || fault.length)
        ptrace(PTRACE_SETREGS, task->id, NULL, &registers);
}

static void on_leave(call_tracer *tracer, traced_task *task)
{
    struct user_regs_struct registers;
    if ((!task->error && !tracer->watch->leave) ||
        ptrace(PTRACE_GETREGS, task->id, NULL, &registers) != 0)
        return;
    if (task->error) {
        registers.rax = (unsigned long)-(long)task->error;
        ptrace(PTRACE_SETREGS, task->id, NULL, &registers);
    }
    task->call.result = (long)registers.rax;
    if (tracer->watch->leave)
        tracer->watch->leave(tracer->watch->context, &task->call);
}

/* A stop of one task; returns the signal to go on with. -1: it is let go, another program. */
static int on_stop(call_tracer *tracer, traced_task *task, int status)
{
    int signal = WSTOPSIG(status), event = status >> 16;
    if (signal == (SIGTRAP | 0x80)) {
        task->inside = !task->inside;
        (task->inside ? on_enter : on_leave)(tracer, task);
        return 0;
    }
    if (event == PTRACE_EVENT_EXEC) {
        if (task->id != tracer->first && !tracer->watch->everything &&
            !is_program(tracer, task->id))
            return -1;
        task->counted = tracer->watch->from_start && is_program(tracer, task->id);
        return 0;
    }
    if (event == PTRACE_EVENT_CLONE || event == PTRACE_EVENT_FORK || event == PTRACE_EVENT_VFORK) {
        unsigned long id;
        ptrace(PTRACE_GETEVENTMSG, task->id, NULL, &id);
        traced_task *made = find(tracer, (pid_t)id);
        if (made)
            made->counted = task->counted;
        return 0;
    }
    return event || signal == SIGSTOP || signal == SIGTRAP ? 0 : signal;
}

static void redirect(const char *path, int to, int flags)
{
    int file = path ? open(path, flags, 0600) : -1;
    if (file >= 0) {
        dup2(file, to);
        close(file);
    }
}

static void start(char *const *arguments, const trace_watch *watch)
{
    redirect(watch->input, STDIN_FILENO, O_RDONLY);
    redirect(watch->output, STDOUT_FILENO, O_WRONLY | O_CREAT | O_TRUNC);
    redirect(watch->errors, STDERR_FILENO, O_WRONLY | O_CREAT | O_TRUNC);
    if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0)
        _exit(126);
    raise(SIGSTOP);
    execv(arguments[0], arguments);
    _exit(127);
}

static void kill_all(const call_tracer *tracer)
{
    for (int i = 0; i < TASKS; i++)
        if (tracer->tasks[i].id)
            kill(tracer->tasks[i].id, SIGKILL);
}

bool trace_run(char *const *arguments, const trace_watch *watch, unsigned seconds,
               trace_outcome *outcome)
{
    call_tracer *traced = calloc(1, sizeof *traced);
    struct sigaction action = {.sa_handler = on_alarm};
    *outcome = (trace_outcome){0};
    if (!traced)
        return false;
    traced->watch = watch;
    traced->first = fork();
    if (traced->first == 0)
        start(arguments, watch);
    int status;
    if (traced->first < 0 || waitpid(traced->first, &status, 0) < 0 || !WIFSTOPPED(status) ||
        ptrace(PTRACE_SETOPTIONS, traced->first, NULL,
               PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK |
                   PTRACE_O_TRACEVFORK | PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL) != 0) {
        if (traced->first > 0)
            kill(traced->first, SIGKILL);
        free(traced);
        return false;
    }
    find(traced, traced->first);
    expired = 0;
    sigaction(SIGALRM, &action, NULL);
    alarm(seconds);
    ptrace(PTRACE_SYSCALL, traced->first, NULL, NULL);
    bool ended = false;
    for (;;) {
        pid_t id = waitpid(-1, &status, __WALL);
        if (id < 0 && errno == EINTR && expired) {
            outcome->late = outcome->late || !ended;
            for (int i = 0; ended && i < TASKS; i++)
                outcome->orphans += traced->tasks[i].id != 0;
            kill_all(traced);
            expired = 0;
            alarm(1);
            continue;
        }
        if (id < 0 && errno == EINTR)
            continue;
        if (id < 0)
            break;
        traced_task *task = find(traced, id);
        if (WIFSTOPPED(status) && task) {
            int signal = on_stop(traced, task, status);
            if (signal < 0) {
                ptrace(PTRACE_DETACH, id, NULL, NULL);
                task->id = 0;
            } else {
                ptrace(traced->over && !task->inside ? PTRACE_CONT : PTRACE_SYSCALL, id, NULL,
                       (void *)(long)signal);
            }
            continue;
        }
        if (task)
            task->id = 0;
        if (id == traced->first) {
            outcome->status = status;
            ended = true;
            alarm(5);
        }
    }
    alarm(0);
    free(traced);
    return true;
}

#else

bool trace_run(char *const *arguments, const trace_watch *watch, unsigned seconds,
               trace_outcome *outcome)
{
    (void)arguments, (void)watch, (void)seconds, (void)outcome;
    errno = ENOSYS;
    return false;
}

#endif
