/* Makes calls overlap in time, so that data races are found on one processor too, and under any load.
 *
 * 1. Each caller has a thread of its own; the first one is this thread. All of them call freely for a while, to
 *    measure the time of a call.
 * 2. A timer then interrupts the first thread somewhere in a call. Its signal handler waits there until the next
 *    thread has made a whole call; that call is interrupted for the third thread, and so on to the last.
 * 3. Step 2 is repeated at other moments of the call. After each call its output is compared with the known one.
 */
#include "base/clock.h"
#include "worker/child/internal.h"
#include <errno.h>
#include <math.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
    MOST_LATE = 3,          /* stops in which the next thread did not finish its call */
    MOST_CALLS = 10000,     /* calls without a stop: the kernel blocks the signal */
    LATE_MILLISECONDS = 10, /* a stop waits at most so long, plus LATE_CALLS times a call */
    LATE_CALLS = 20,
};

static const double most_seconds = 1;     /* of a thread's processor time */
static const double timer_margin = 20e-6; /* seconds from setting the timer to the first call */

struct overlap;

typedef struct caller {
    struct overlap *of;
    void *what;
    struct caller *next; /* NULL: the last caller, which is not stopped */
    int ends[2];  /* the sockets to the next caller; a byte requests a call, a byte answers it */
    int requests; /* the socket on which this caller gets requests; -1: the first caller */
    timer_t timer;
    double one;        /* seconds of a call */
    double part, step; /* the last stop, as a part of a call, and its step from stop to stop */
    bool fine;
    /* Used by the signal handler, which runs in the caller's own thread. */
    volatile sig_atomic_t inside, stopped, overlapped, late;
} caller;

typedef struct overlap {
    overlap_call call;
    const overlap_plan *plan;
    sem_t start;
    volatile bool refused;
    caller callers[AT_ONCE_MOST];
} overlap;

static _Thread_local caller *self; /* a handler has no other argument */

static bool receive_turn(int end)
{
    char byte;
    ssize_t got;
    do
        got = read(end, &byte, 1);
    while (got < 0 && errno == EINTR);
    return got == 1;
}

/* Handles SIGALRM: waits here, in the middle of a call, until the next thread has made a call. */
static void stop_thread(int number)
{
    int kept = errno;
    caller *own = self;
    (void)number;
    if (own) {
        struct pollfd reply = {.fd = own->ends[0], .events = POLLIN};
        int late = LATE_MILLISECONDS + (int)(LATE_CALLS * 1e3 * own->one);
        own->stopped = 1;
        if (own->inside && send(own->ends[0], "", 1, MSG_NOSIGNAL) == 1) {
            if (poll(&reply, 1, late) == 1 && receive_turn(own->ends[0]))
                own->overlapped++;
            else
                own->late++;
        }
    }
    errno = kept;
}

static bool set_timer(const caller *own, double seconds)
{
    struct itimerspec timer = {.it_value.tv_sec = (time_t)seconds,
                               .it_value.tv_nsec = (long)(1e9 * fmod(seconds, 1))};
    return timer_settime(own->timer, 0, &timer, NULL) == 0;
}

static void call_freely(caller *own)
{
    double begun = seconds_of(CLOCK_THREAD_CPUTIME_ID), taken = 0;
    unsigned calls = 0;
    for (; own->fine && calls < own->of->plan->free_calls && taken < most_seconds; calls++) {
        own->fine = own->of->call(own->what);
        taken = seconds_of(CLOCK_THREAD_CPUTIME_ID) - begun;
    }
    own->one = calls ? fmin(taken / calls, 1) : 0;
}

/* Calls until the timer has stopped one of the calls. The timer has a small margin, so that it does not expire before
 * the first call. The moments of the stops differ by an irrational part of a call, so that they cover all of it. */
static void call_until_stopped(caller *own)
{
    sig_atomic_t late = own->late;
    own->stopped = 0;
    own->part = fmod(own->part + own->step, 1);
    set_timer(own, timer_margin + own->part * own->one);
    for (unsigned call = 0; own->fine && (call == 0 || !own->stopped) && call < MOST_CALLS;
         call++) {
        own->inside = 1;
        own->fine = own->of->call(own->what);
        own->inside = 0;
    }
    set_timer(own, 0);
    if (own->late != late) /* the handler gave up: read the answer now */
        receive_turn(own->ends[0]);
}

static bool make_timer(caller *own)
{
    struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGALRM};
    event._sigev_un._tid = (pid_t)syscall(SYS_gettid);
    self = own;
    bool fine = timer_create(CLOCK_MONOTONIC, &event, &own->timer) == 0 && set_timer(own, 0);
    own->of->refused |= !fine;
    return fine;
}

static void *call_on_thread(void *context)
{
    caller *own = context;
    while (sem_wait(&own->of->start) != 0) /* interrupted by a signal */
        ;
    bool stops = own->next && make_timer(own);
    call_freely(own);
    while (receive_turn(own->requests)) {
        if (stops)
            call_until_stopped(own);
        else
            own->fine = own->fine && own->of->call(own->what);
        send(own->requests, "", 1, MSG_NOSIGNAL);
    }
    if (stops)
        timer_delete(own->timer);
    self = NULL;
    return NULL;
}

overlap_result worker_overlap(overlap_call call, void *const *contexts, size_t count,
                              const overlap_plan *plan)
{
    static const double steps[AT_ONCE_MOST] = {0.6180339887498949, 0.41421356237309515,
                                               0.7320508075688772, 0.23606797749978969,
                                               0.6457513110645906};
    static overlap of;
    struct sigaction handler = {.sa_handler = stop_thread, .sa_flags = SA_RESTART}, before;
    pthread_t threads[AT_ONCE_MOST];
    bool fine = true;
    size_t started = 0;
    of = (overlap){.call = call, .plan = plan};
    sem_init(&of.start, 0, 0);
    sigaction(SIGALRM, &handler, &before);
    for (; started < count; started++) { /* until there are no more sockets or threads */
        caller *own = &of.callers[started], *last = own - 1;
        *own = (caller){.of = &of,
                        .what = contexts[started],
                        .ends = {-1, -1},
                        .requests = -1,
                        .part = plan->part,
                        .step = steps[started],
                        .fine = true};
        if (started == 0)
            continue;
        if (socketpair(AF_UNIX, SOCK_STREAM, 0, last->ends) != 0)
            break;
        own->requests = last->ends[1];
        if (pthread_create(&threads[started], NULL, call_on_thread, own) != 0)
            break;
        last->next = own;
    }
    of.refused = started < count;
    for (size_t i = 1; i < started; i++)
        sem_post(&of.start);
    caller *first = &of.callers[0];
    const bool stops = first->next && make_timer(first);
    const double begun = seconds_of(CLOCK_THREAD_CPUTIME_ID);
    call_freely(first);
    while (stops && first->fine && first->overlapped < (sig_atomic_t)plan->stops &&
           first->late < MOST_LATE && seconds_of(CLOCK_THREAD_CPUTIME_ID) - begun < most_seconds)
        call_until_stopped(first);
    if (stops)
        timer_delete(first->timer);
    self = NULL;
    for (size_t i = 1; i < started; i++) {
        shutdown(of.callers[i - 1].ends[0], SHUT_RDWR);
        pthread_join(threads[i], NULL);
    }
    sigaction(SIGALRM, &before, NULL);
    sem_destroy(&of.start);
    for (size_t i = 0; i < started; i++) {
        fine = fine && of.callers[i].fine;
        if (of.callers[i].ends[0] >= 0) {
            close(of.callers[i].ends[0]);
            close(of.callers[i].ends[1]);
        }
    }
    return !fine ? OVERLAP_DIFFERS : of.refused ? OVERLAP_REFUSED : OVERLAP_SAME;
}
