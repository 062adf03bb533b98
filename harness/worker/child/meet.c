#include "worker/child/meet.h"
#include <errno.h>
#include <math.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

enum {
    FREE_CALLS = 300, /* of each thread */
    MEETINGS = 1000,
    MOST_LATE = 3,      /* stops in which the second thread made no call */
    MOST_CALLS = 10000, /* without a stop: the kernel keeps the signal away */
    SET_OFF = 20,       /* microseconds */
    LATE_MILLISECONDS = 500,
};

static const double most_seconds = 1; /* of the first thread's own time */

typedef struct meeting {
    meeting_call call;
    void *first, *second;
    pthread_barrier_t start;
    int ends[2]; /* sockets: a byte asks for a call, a byte says that it was made */
    bool second_fine;
    /* The signal handler's: it runs in the first thread. */
    volatile sig_atomic_t inside, stopped, late;
    volatile sig_atomic_t met;
} meeting;

static meeting *here; /* a handler has no other argument */

static double seconds_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static bool receive(int end)
{
    char byte;
    ssize_t got;
    do
        got = read(end, &byte, 1);
    while (got < 0 && errno == EINTR);
    return got == 1;
}

static bool pass(int end)
{
    return send(end, "", 1, MSG_NOSIGNAL) == 1;
}

/* SIGALRM: stays here, in the midst of a call, until the other thread has made one. */
static void stop(int number)
{
    int kept = errno;
    struct pollfd answer = {.fd = here->ends[0], .events = POLLIN};
    (void)number;
    here->stopped = 1;
    if (here->inside && pass(here->ends[0])) {
        if (poll(&answer, 1, LATE_MILLISECONDS) == 1 && receive(here->ends[0]))
            here->met++;
        else
            here->late++;
    }
    errno = kept;
}

static void *be_met(void *context)
{
    meeting *of = context;
    pthread_barrier_wait(&of->start);
    for (unsigned call = 0; of->second_fine && call < FREE_CALLS; call++)
        of->second_fine = of->call(of->second);
    while (receive(of->ends[1])) {
        of->second_fine = of->second_fine && of->call(of->second);
        pass(of->ends[1]);
    }
    return NULL;
}

/* Calls until the timer stops one of them, `after` seconds from now, or a little later: it is not to
 * go off before the first call. */
static bool call_until_stopped(meeting *of, double after)
{
    struct itimerval timer = {.it_value.tv_usec = SET_OFF + (suseconds_t)(1e6 * fmin(after, 0.9))};
    bool fine = true;
    sig_atomic_t late = of->late;
    of->stopped = 0;
    setitimer(ITIMER_REAL, &timer, NULL);
    for (unsigned call = 0; fine && !of->stopped && call < MOST_CALLS; call++) {
        of->inside = 1;
        fine = of->call(of->first);
        of->inside = 0;
    }
    timer.it_value.tv_usec = 0;
    setitimer(ITIMER_REAL, &timer, NULL);
    return fine && (of->late == late || receive(of->ends[0])); /* its call is over by now */
}

/* The instants of the stops go on by the golden section of a call, which leaves no gap. */
static bool meet(meeting *of)
{
    static const double golden = 0.6180339887498949;
    double begun = seconds_now(), one, part = 0;
    bool fine = true;
    pthread_barrier_wait(&of->start);
    for (unsigned call = 0; fine && call < FREE_CALLS; call++)
        fine = of->call(of->first);
    one = (seconds_now() - begun) / FREE_CALLS;
    while (fine && of->met < MEETINGS && of->late < MOST_LATE &&
           seconds_now() - begun < most_seconds) {
        part = fmod(part + golden, 1);
        fine = call_until_stopped(of, part * one);
    }
    return fine;
}

bool worker_meet(meeting_call call, void *first, void *second)
{
    meeting of = {.call = call, .first = first, .second = second, .second_fine = true};
    struct sigaction handler = {.sa_handler = stop, .sa_flags = SA_RESTART}, before;
    sigset_t alarms, unblocked;
    pthread_t thread;
    bool fine = true;
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, of.ends) != 0)
        return true;
    here = &of;
    pthread_barrier_init(&of.start, NULL, 2);
    sigaction(SIGALRM, &handler, &before);
    sigemptyset(&alarms);
    sigaddset(&alarms, SIGALRM);
    pthread_sigmask(SIG_BLOCK, &alarms, &unblocked); /* the thread inherits it */
    bool started = pthread_create(&thread, NULL, be_met, &of) == 0;
    pthread_sigmask(SIG_SETMASK, &unblocked, NULL);
    if (started) {
        fine = meet(&of);
        shutdown(of.ends[0], SHUT_RDWR);
        pthread_join(thread, NULL);
    }
    sigaction(SIGALRM, &before, NULL);
    pthread_barrier_destroy(&of.start);
    close(of.ends[0]);
    close(of.ends[1]);
    return fine && of.second_fine;
}
