/* The very first calls of a process come from two threads: one is stopped in the midst of its first
 * call, and there it stays until the other has made its own. What is made ready once, such as a table,
 * must be so for both. Each try is a process of its own, forked before any call; what comes out must
 * be what later calls give. */
#include "worker/child/internal.h"
#include "worker/child/tensors.h"
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { TRIES = 48, HIDDEN = 2049, LATE_MILLISECONDS = 500, FORK_SECONDS = 5, BOTH = 2 };

typedef struct first_call {
    const ln_kernel *kernel;
    ln_problem problem;
    ln_tensors tensors[BOTH];
    void *states[BOTH];
    size_t bytes; /* of y */
    int ends[2];  /* a byte asks the other thread for its call, a byte says it was made */
} first_call;

static first_call *stopped_call; /* of the signal handler */

static void call_of(const first_call *first, size_t which)
{
    first->kernel->run(first->states[which], &first->tensors[which]);
}

/* SIGALRM: until the other thread has called. */
static void stop(int number)
{
    int kept = errno, end = stopped_call->ends[0];
    struct pollfd answer = {.fd = end, .events = POLLIN};
    char byte = 0;
    (void)number;
    if (write(end, &byte, 1) == 1 && poll(&answer, 1, LATE_MILLISECONDS) == 1)
        (void)!read(end, &byte, 1);
    errno = kept;
}

static void *call_when_asked(void *context)
{
    first_call *first = context;
    char byte;
    while (read(first->ends[1], &byte, 1) < 0 && errno == EINTR)
        ;
    call_of(first, 1);
    (void)!write(first->ends[1], &byte, 1);
    return NULL;
}

/* Every element from the block that lies in the arena, over and over. */
static bool fill(ln_tensors *tensors, const work_order *order, size_t i, const ln_problem *problem)
{
    const tensor_role *role = role_of(order, i);
    const ln_problem *from = &order->problem;
    role_extent have = role_extent_of(role, from, from->storage);
    role_extent want = role_extent_of(role, problem, problem->storage);
    size_t held = extent_bytes(&have), wanted = extent_bytes(&want), size = want.element;
    char *made = malloc(wanted);
    if (!made ||
        !arena_read(WORKER_ARENA_FD, order->at.tensors[i], made, held < wanted ? held : wanted))
        return false;
    for (size_t byte = held; byte < wanted; byte += size)
        memcpy(made + byte, made + byte % held, size);
    role_set(i, tensors, made);
    return true;
}

static bool make_call(first_call *first, const work_order *order)
{
    ln_problem *problem = &first->problem;
    ln_tensors inputs = {0};
    first->bytes = problem->hidden * dtype_size(problem->storage);
    for (size_t i = 0; i < role_count(order); i++)
        if (!role_of(order, i)->output && i != ROLE_RESIDUAL && order->at.tensors[i] >= 0 &&
            !fill(&inputs, order, i, problem))
            return false;
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, first->ends) != 0)
        return false;
    for (size_t i = 0; i < BOTH; i++) {
        first->tensors[i] = inputs;
        first->tensors[i].y = malloc(first->bytes);
        first->states[i] = problem;
        if (!first->tensors[i].y ||
            (first->kernel->prepare && first->kernel->prepare(problem, &first->states[i]) != 0))
            return false;
    }
    return true;
}

static bool same(const first_call *first, size_t which, const void *wanted)
{
    return memcmp(first->tensors[which].y, wanted, first->bytes) == 0;
}

/* In the child: exit status 0, or 1: other bits. `after`: nanoseconds until the stop. */
static int try_once(first_call *first, const work_order *order, long after)
{
    struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGALRM};
    struct sigaction handler = {.sa_handler = stop, .sa_flags = SA_RESTART};
    struct itimerspec alarm = {.it_value.tv_nsec = after};
    pthread_t other;
    timer_t timer;
    event._sigev_un._tid = (pid_t)syscall(SYS_gettid);
    stopped_call = first;
    if (!make_call(first, order) || sigaction(SIGALRM, &handler, NULL) != 0 ||
        timer_create(CLOCK_MONOTONIC, &event, &timer) != 0 ||
        pthread_create(&other, NULL, call_when_asked, first) != 0)
        return 0;
    timer_settime(timer, 0, &alarm, NULL);
    call_of(first, 0);
    pthread_join(other, NULL); /* who may be asked only now */
    void *once = first->tensors[0].y, *wanted = malloc(first->bytes);
    if (!wanted)
        return 0;
    first->tensors[0].y = wanted;
    call_of(first, 0);
    return !(memcmp(once, wanted, first->bytes) == 0 && same(first, 1, wanted));
}

child_end worker_wait_for(pid_t child)
{
    const struct timespec pause = {.tv_nsec = 100000};
    int status = 0;
    pid_t ended = 0;
    for (unsigned waited = 0; ended == 0 && waited < FORK_SECONDS * 10000; waited++) {
        ended = waitpid(child, &status, WNOHANG);
        if (ended == 0)
            nanosleep(&pause, NULL);
    }
    if (ended == 0) {
        kill(child, SIGKILL);
        waitpid(child, &status, 0);
        return CHILD_HANGS;
    }
    return ended != child || !WIFEXITED(status) ? CHILD_CRASHED
           : WEXITSTATUS(status) == 0           ? CHILD_FINE
                                                : CHILD_FAILED;
}

void worker_call_first(const worker_plugins *plugins, const work_order *order)
{
    static const int faults[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT};
    const long first_nanoseconds = 2000, step = 700; /* of a first call of 2049 elements */
    const ln_kernel *kernel = worker_kernel(plugins, order);
    first_call first = {.kernel = kernel, .problem = order->problem};
    const char *wrong = NULL;
    first.problem.rows = 1;
    first.problem.hidden = first.problem.x_stride = first.problem.y_stride = HIDDEN;
    if (kernel && kernel_refuses(kernel, &first.problem))
        first.problem.hidden = first.problem.x_stride = first.problem.y_stride =
            order->problem.hidden;
    if (!kernel || kernel_refuses(kernel, &first.problem) ||
        kernel_has_threads(plugins->plugins[order->plugin], kernel)) {
        worker_send_done("", 0);
        return;
    }
    for (long i = 0; !wrong && i < TRIES; i++) {
        pid_t child = fork();
        if (child < 0)
            break;
        if (child == 0) {
            for (size_t k = 0; k < sizeof faults / sizeof *faults; k++)
                signal(faults[k], SIG_DFL);
            _exit(try_once(&first, order, first_nanoseconds + step * i));
        }
        child_end end = worker_wait_for(child);
        process_state_record_children();
        worker_send_alive();
        if (end == CHILD_HANGS && threads_stay()) { /* of a pool that loading it began */
            worker_send_done(HANGS_IN_FORK, 0);
            return;
        }
        wrong = end == CHILD_HANGS     ? "they do not return"
                : end == CHILD_CRASHED ? "a crash"
                : end == CHILD_FAILED  ? "other bits"
                                       : NULL;
    }
    if (wrong)
        worker_send_failed(VERDICT_NONDETERMINISTIC, 0,
                           "the first calls of a process, from two threads at once: %s", wrong);
    else
        worker_send_done("", 0);
}
