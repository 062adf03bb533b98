#include "worker/process.h"
#include "base/children.h"
#include "base/interrupt.h"
#include "base/seconds.h"
#include "base/text.h"
#include "base/number.h"
#include "machine/control_group.h"
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    START_DEADLINE = 20,
    SEND_DEADLINE = 5,
    END_DEADLINE = 2,
    FIRST_FREE_FD = 10,
    AT_ONCE = 100000 /* microseconds: most answers come within them */
};

typedef struct new_worker {
    const char *program; /* its path */
    int socket, arena, words;
    bool loud;
} new_worker;

/* In the child: only the socket, the arena and standard error stay open. */
static void become_worker(void *context)
{
    const new_worker *made = context;
    int kept_socket = fcntl(made->socket, F_DUPFD, FIRST_FREE_FD);
    int kept_arena = fcntl(made->arena, F_DUPFD, FIRST_FREE_FD);
    int kept_words = fcntl(made->words, F_DUPFD, FIRST_FREE_FD);
    int null = open("/dev/null", O_RDWR);
    if (kept_socket < 0 || kept_arena < 0 || null < 0 || dup2(null, 0) < 0 || dup2(null, 1) < 0 ||
        (!made->loud && dup2(null, 2) < 0) || dup2(kept_socket, WORKER_SOCKET_FD) < 0 ||
        dup2(kept_arena, WORKER_ARENA_FD) < 0)
        _exit(126);
    if (kept_words >= 0)
        dup2(kept_words, WORKER_WORDS_FD);
    close_range(kept_words >= 0 ? WORKER_WORDS_FD + 1 : WORKER_WORDS_FD, ~0u, 0);
    execl(made->program, made->program, (char *)NULL);
    _exit(127);
}

static bool spawn(kernel_process *process, const char *program, int arena, error *err)
{
    int pair[2];
    *process = (kernel_process){.socket = -1};
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0)
        return fail(err, EXIT_CODE_ENVIRONMENT, "socketpair for the worker: %s", strerror(errno));
    setsockopt(pair[0], SOL_SOCKET, SO_RCVTIMEO, &(struct timeval){.tv_usec = AT_ONCE},
               sizeof(struct timeval));
    bool loud = getenv("LNBENCH_WORKER_STDERR") != NULL;
    int words = loud ? -1 : memfd_create("lnbench-words", MFD_CLOEXEC);
    new_worker made = {program, pair[1], arena, words, loud};
    pid_t child = child_execute(become_worker, &made);
    int why = errno;
    close(pair[1]);
    if (child < 0) {
        close(pair[0]);
        close(words);
        return fail(err, EXIT_CODE_ENVIRONMENT, "fork for the worker: %s", strerror(why));
    }
    *process = (kernel_process){.process = child,
                                .socket = pair[0],
                                .words = words,
                                .oom_kills = control_group_oom_kills()};
    return true;
}

bool process_start(kernel_process *process, const char *program, int arena, error *err)
{
    work_order greet = {.magic = PROTOCOL_MAGIC, .kind = ORDER_GREET};
    worker_reply reply;
    if (!spawn(process, program, arena, err))
        return false;
    if (process_send(process, &greet, 1, &reply) && process_next(process, START_DEADLINE, &reply))
        return true;
    process_end(process);
    if (interrupted())
        return fail(err, EXIT_CODE_INTERRUPTED, "interrupted");
    return fail(err, EXIT_CODE_ENVIRONMENT, "the worker %.300s cannot be started: %.200s", program,
                reply.text);
}

void process_end(kernel_process *process)
{
    if (process->words > 0)
        close(process->words);
    process->words = 0;
    if (process->socket < 0)
        return;
    close(process->socket);
    process->socket = -1;
    child_kill(process->process);
}

/* By the system, since memory ran out: nobody's fault, and it ends the run. */
static bool ended_for_memory(const kernel_process *process, int status, worker_reply *reply)
{
    const ln_problem *problem = &process->problem;
    bool killed = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
    char limit[64] = "", needed[96] = "";
    if (!killed || process->oom_kills < 0 || control_group_oom_kills() <= process->oom_kills)
        return false;
    double bytes = control_group_memory();
    if (bytes > 0)
        snprintf(limit, sizeof limit, ", whose control group may use %.0f MiB", bytes / 0x1p20);
    if (problem->rows > 0)
        snprintf(needed, sizeof needed, "; x and y of %zux%zu need %.3g MiB", problem->rows,
                 problem->hidden,
                 call_bytes(operations[process->operation], problem->rows, problem->hidden,
                            problem->storage) /
                     0x1p20);
    reply->verdict = VERDICT_LOST;
    reply->value = REPLY_ENDS_RUN;
    snprintf(
        reply->text, sizeof reply->text,
        "out of memory: the system ended the worker%s%s: choose fewer rows, or raise the limit",
        limit, needed);
    return true;
}

/* A process whose socket is closed has ended, or is about to; but a kernel that closed the socket
 * may run on for ever. */
static bool has_ended(kernel_process *process, worker_reply *reply)
{
    int status;
    uint32_t count = reply->count;
    close(process->socket);
    process->socket = -1;
    child_wait(process->process, END_DEADLINE, &status);
    *reply = (worker_reply){.kind = REPLY_FAILED, .verdict = VERDICT_CRASHED, .count = count};
    if (ended_for_memory(process, status, reply))
        return false;
    if (WIFSIGNALED(status))
        snprintf(reply->text, sizeof reply->text, "SIG%s", sigabbrev_np(WTERMSIG(status)));
    else
        snprintf(reply->text, sizeof reply->text, "exited with status %d", WEXITSTATUS(status));
    return false;
}

static bool end_with(kernel_process *process, verdict_kind verdict, const char *text,
                     worker_reply *reply)
{
    process_end(process);
    *reply = (worker_reply){.kind = REPLY_FAILED, .verdict = verdict, .count = reply->count};
    snprintf(reply->text, sizeof reply->text, "%s", text);
    return false;
}

/* The system's fault and not a kernel's: it ends the run. */
static bool lose_touch(kernel_process *process, int problem, worker_reply *reply)
{
    char text[128];
    snprintf(text, sizeof text, "the worker's socket: %s", strerror(problem));
    end_with(process, VERDICT_LOST, text, reply);
    reply->value = REPLY_ENDS_RUN;
    return false;
}

static bool is_closed(int problem)
{
    return problem == EPIPE || problem == ECONNRESET;
}

bool process_disbelieve(kernel_process *process, worker_reply *reply)
{
    reply->count = 0;
    return end_with(process, VERDICT_CRASHED, "the worker's answers make no sense", reply);
}

bool process_send(kernel_process *process, const work_order *orders, size_t count,
                  worker_reply *reply)
{
    const ssize_t size = (ssize_t)(count * sizeof *orders);
    double deadline = seconds_now() + SEND_DEADLINE;
    *reply = (worker_reply){0};
    if (orders->kind != ORDER_GO_ON) {
        process->loads = orders->kind == ORDER_LOAD;
        process->operation = orders->operation;
        process->problem = orders->problem;
    }
    for (;;) {
        ssize_t put = send(process->socket, orders, (size_t)size, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (put == size)
            return true;
        if (put >= 0 || is_closed(errno))
            return has_ended(process, reply);
        if (errno != EAGAIN && errno != EINTR)
            return lose_touch(process, errno, reply);
        if (interrupted())
            return end_with(process, VERDICT_LOST, "interrupted", reply);
        if (seconds_now() > deadline)
            return end_with(process, VERDICT_TIMEOUT, "it takes no orders any more", reply);
        poll(&(struct pollfd){.fd = process->socket, .events = POLLOUT}, 1, 100);
    }
}

/* What keeps a process from computing, so far. */
typedef struct process_waits {
    double queued;         /* seconds in which its first thread waited for a processor */
    double system, faults; /* seconds of the system's work for it; pages that it was given */
} process_waits;

static process_waits read_waits(pid_t process)
{
    process_waits waits = {0};
    char path[64], line[1024];
    unsigned long long ran, queued, faults, system;
    snprintf(path, sizeof path, "/proc/%d/schedstat", (int)process);
    FILE *file = fopen(path, "re");
    if (file && fscanf(file, "%llu %llu", &ran, &queued) == 2)
        waits.queued = 1e-9 * (double)queued;
    if (file)
        fclose(file);
    snprintf(path, sizeof path, "/proc/%d/stat", (int)process);
    file = fopen(path, "re");
    const char *after_name = file && fgets(line, sizeof line, file) ? strrchr(line, ')') : NULL;
    if (after_name && sscanf(after_name, ") %*c %*d %*d %*d %*d %*d %*u %llu %*u %*u %*u %*u %llu",
                             &faults, &system) == 2) {
        waits.faults = (double)faults;
        waits.system = (double)system / (double)sysconf(_SC_CLK_TCK);
    }
    if (file)
        fclose(file);
    return waits;
}

/* Since then. A kernel that maps its scratch in each call is slow, and not hung: the system gives it
 * pages all the time, each in at most half a millisecond. */
static double seconds_waited(pid_t process, const process_waits *since)
{
    process_waits now = read_waits(process);
    return now.queued - since->queued +
           fmin(now.system - since->system, 5e-4 * (now.faults - since->faults));
}

/* 1: something to read; 0: it took so many seconds; -1: interrupted. What the worker waits for a
 * processor or for pages does not count, up to nine times as long. */
static int wait_readable(const kernel_process *process, double seconds)
{
    enum { LONGEST = 500 }; /* milliseconds */
    double deadline = seconds_now() + seconds;
    process_waits before = read_waits(process->process);
    for (;;) {
        double left = deadline - seconds_now();
        if (interrupted())
            return -1;
        if (left <= 0)
            left += fmin(seconds_waited(process->process, &before), 9 * seconds);
        if (left <= 0)
            return 0;
        struct pollfd poll_this = {.fd = process->socket, .events = POLLIN};
        int ready = poll(&poll_this, 1, left * 1000 > LONGEST ? LONGEST : (int)(left * 1000) + 1);
        if (ready > 0)
            return 1;
        if (ready < 0 && errno != EINTR)
            return 0;
    }
}

/* The next message, of at most `most` replies; how many. 0: *reply is a FAILED one, and the process is
 * gone. */
static size_t receive_replies(kernel_process *process, double deadline_seconds, worker_reply *reply,
                              size_t most)
{
    char text[64];
    ssize_t got = -1;
    bool soon = deadline_seconds * 1e6 > AT_ONCE;
    if (soon)
        got = recv(process->socket, reply, most * sizeof *reply, 0);
    if (interrupted())
        return end_with(process, VERDICT_LOST, "interrupted", reply);
    bool waits = !soon || (got < 0 && (errno == EAGAIN || errno == EINTR));
    int ready = waits ? wait_readable(process, deadline_seconds) : 1;
    if (ready < 0)
        return end_with(process, VERDICT_LOST, "interrupted", reply);
    if (ready == 0) {
        number_print(text, sizeof text, "no answer within %g s", deadline_seconds);
        return end_with(process, VERDICT_TIMEOUT, text, reply);
    }
    while (waits && (got = recv(process->socket, reply, most * sizeof *reply, MSG_DONTWAIT)) < 0 &&
           errno == EINTR)
        ;
    if (got == 0 || (got < 0 && is_closed(errno)))
        return has_ended(process, reply);
    if (got < 0)
        return lose_touch(process, errno, reply);
    size_t count = (size_t)got / sizeof *reply;
    bool sane = count > 0 && (size_t)got == count * sizeof *reply;
    for (size_t i = 0; sane && i < count; i++)
        sane = reply_is_sane(&reply[i]);
    return sane ? count : process_disbelieve(process, reply);
}

/* Behind why the process ended while it loaded a plugin: the last line of standard error, such as a
 * sanitizer's or the plugin's own. */
static void add_last_words(const kernel_process *process, worker_reply *reply)
{
    struct stat about;
    char words[1024] = "", text[REPLY_TEXT_LENGTH];
    const off_t most = sizeof words - 1;
    if (!process->loads || reply->verdict != VERDICT_CRASHED || process->words <= 0 ||
        fstat(process->words, &about) != 0)
        return;
    ssize_t got = pread(process->words, words, sizeof words - 1,
                        about.st_size > most ? about.st_size - most : 0);
    while (got > 0 && isspace((unsigned char)words[got - 1]))
        words[--got] = '\0';
    const char *line = strrchr(words, '\n');
    line = line ? line + 1 : words;
    if (!*line)
        return;
    snprintf(text, sizeof text, "%.40s: %.200s", reply->text, line);
    memcpy(reply->text, text, sizeof text);
}

size_t process_answers(kernel_process *process, double deadline_seconds, worker_reply *replies,
                       size_t count)
{
    enum { MOST_DEADLINES = 100 }; /* of an order that goes on */
    double end = seconds_now() + MOST_DEADLINES * deadline_seconds * (double)count;
    size_t got;
    do
        got = receive_replies(process, seconds_now() < end ? deadline_seconds : 0, replies, count);
    while (got > 0 && replies->kind == REPLY_ALIVE);
    if (replies[got ? got - 1 : 0].kind == REPLY_FAILED)
        add_last_words(process, &replies[got ? got - 1 : 0]);
    /* A plugin's own words, shown on terminals, in tables and pages: one printable line. */
    for (size_t i = 0; i < (got ? got : 1); i++) {
        text_make_printable(replies[i].text, "");
        text_make_printable(replies[i].set_at_load, "");
    }
    if (got > 0 && got < count && !reply_ends_process(&replies[got - 1])) {
        process_disbelieve(process, replies);
        return 0;
    }
    /* These end the process, or leave it in a state that nothing should be measured in. */
    if (got > 0 && reply_ends_process(&replies[got - 1]))
        process_end(process);
    return got;
}

bool process_next(kernel_process *process, double deadline_seconds, worker_reply *reply)
{
    return process_answers(process, deadline_seconds, reply, 1) == 1 && reply->kind != REPLY_FAILED;
}

void process_pause(const kernel_process *process)
{
    if (process->socket >= 0)
        kill(-process->process, SIGSTOP);
}

void process_resume(const kernel_process *process)
{
    if (process->socket >= 0)
        kill(-process->process, SIGCONT);
}
