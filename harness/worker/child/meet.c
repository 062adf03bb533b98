/* Calls at the same time, by design and not by luck: on one processor or under load two threads may
 * each run thousands of calls and never be inside one together. So a timer stops the first thread at
 * some instant of a call, and there it stays until the second has made a whole call; in the midst of
 * which that one is stopped for the third, and so on to the last. */
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
    MOST_LATE = 3,          /* stops in which the next thread made no call */
    MOST_CALLS = 10000,     /* without a stop: the kernel keeps the signal away */
    LATE_MILLISECONDS = 10, /* and so many of the calls before */
    LATE_CALLS = 20,
};

static const double most_seconds = 1; /* of a thread's own time */
static const double set_off = 20e-6;

struct meeting;

typedef struct party {
    struct meeting *of;
    void *what;
    struct party *next; /* NULL: the last one, which is not stopped */
    int ends[2]; /* sockets to the next one: a byte asks for a call, a byte says it was made */
    int asked;   /* the other end of the one before; -1: the first */
    timer_t timer;
    double one, part, step; /* seconds of a call; where in it the next stop comes */
    bool fine;
    /* The signal handler's, which runs in the party's own thread. */
    volatile sig_atomic_t inside, stopped, met, late;
} party;

typedef struct meeting {
    meeting_call call;
    const meeting_plan *plan;
    sem_t start;
    volatile bool refused; /* the system refuses a socket, a thread or a timer */
    party parties[MEETING_MOST];
} meeting;

static _Thread_local party *self; /* a handler has no other argument */

static double seconds_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static bool receive_turn(int end)
{
    char byte;
    ssize_t got;
    do
        got = read(end, &byte, 1);
    while (got < 0 && errno == EINTR);
    return got == 1;
}

/* SIGALRM: stays here, in the midst of a call, until the next thread has made one. */
static void stop_thread(int number)
{
    int kept = errno;
    party *own = self;
    (void)number;
    if (own) {
        struct pollfd reply = {.fd = own->ends[0], .events = POLLIN};
        int late = LATE_MILLISECONDS + (int)(LATE_CALLS * 1e3 * own->one);
        own->stopped = 1;
        if (own->inside && send(own->ends[0], "", 1, MSG_NOSIGNAL) == 1) {
            if (poll(&reply, 1, late) == 1 && receive_turn(own->ends[0]))
                own->met++;
            else
                own->late++;
        }
    }
    errno = kept;
}

static bool set_timer(const party *own, double seconds)
{
    struct itimerspec timer = {.it_value.tv_sec = (time_t)seconds,
                               .it_value.tv_nsec = (long)(1e9 * fmod(seconds, 1))};
    return timer_settime(own->timer, 0, &timer, NULL) == 0;
}

static void call_freely(party *own)
{
    double begun = seconds_now(), taken = 0;
    unsigned calls = 0;
    for (; own->fine && calls < own->of->plan->free_calls && taken < most_seconds; calls++) {
        own->fine = own->of->call(own->what);
        taken = seconds_now() - begun;
    }
    own->one = calls ? fmin(taken / calls, 1) : 0;
}

/* Calls until the timer stops one of them at the next instant, or a little later: it is not to go
 * off before the first call. The instants go on by an irrational part of a call, which leaves no
 * gap. */
static void call_until_stopped(party *own)
{
    sig_atomic_t late = own->late;
    own->stopped = 0;
    own->part = fmod(own->part + own->step, 1);
    set_timer(own, set_off + own->part * own->one);
    for (unsigned call = 0; own->fine && (call == 0 || !own->stopped) && call < MOST_CALLS;
         call++) {
        own->inside = 1;
        own->fine = own->of->call(own->what);
        own->inside = 0;
    }
    set_timer(own, 0);
    if (own->late != late) /* its call is over by now */
        receive_turn(own->ends[0]);
}

static bool make_timer(party *own)
{
    struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGALRM};
    event._sigev_un._tid = (pid_t)syscall(SYS_gettid);
    self = own;
    bool fine = timer_create(CLOCK_MONOTONIC, &event, &own->timer) == 0 && set_timer(own, 0);
    own->of->refused |= !fine;
    return fine;
}

static void *be_met(void *context)
{
    party *own = context;
    while (sem_wait(&own->of->start) != 0) /* a signal */
        ;
    bool stops = own->next && make_timer(own);
    call_freely(own);
    while (receive_turn(own->asked)) {
        if (stops)
            call_until_stopped(own);
        else
            own->fine = own->fine && own->of->call(own->what);
        send(own->asked, "", 1, MSG_NOSIGNAL);
    }
    if (stops)
        timer_delete(own->timer);
    self = NULL;
    return NULL;
}

static void meet(party *first)
{
    bool stops = first->next && make_timer(first);
    double begun = seconds_now();
    call_freely(first);
    while (stops && first->fine && first->met < (sig_atomic_t)first->of->plan->stops &&
           first->late < MOST_LATE && seconds_now() - begun < most_seconds)
        call_until_stopped(first);
    if (stops)
        timer_delete(first->timer);
    self = NULL;
}

bool worker_meet(meeting_call call, void *const *parties, size_t count, const meeting_plan *plan,
                 bool *refused)
{
    static const double steps[MEETING_MOST] = {0.6180339887498949, 0.41421356237309515,
                                               0.7320508075688772, 0.23606797749978969,
                                               0.6457513110645906};
    static meeting of;
    struct sigaction handler = {.sa_handler = stop_thread, .sa_flags = SA_RESTART}, before;
    pthread_t threads[MEETING_MOST];
    bool fine = true;
    size_t started = 0;
    of = (meeting){.call = call, .plan = plan};
    sem_init(&of.start, 0, 0);
    sigaction(SIGALRM, &handler, &before);
    for (; started < count; started++) { /* as far as there are sockets and threads */
        party *own = &of.parties[started], *last = own - 1;
        *own = (party){.of = &of,
                       .what = parties[started],
                       .ends = {-1, -1},
                       .asked = -1,
                       .part = plan->part,
                       .step = steps[started],
                       .fine = true};
        if (started == 0)
            continue;
        if (socketpair(AF_UNIX, SOCK_STREAM, 0, last->ends) != 0)
            break;
        own->asked = last->ends[1];
        if (pthread_create(&threads[started], NULL, be_met, own) != 0)
            break;
        last->next = own;
    }
    of.refused = started < count;
    for (size_t i = 1; i < started; i++)
        sem_post(&of.start);
    meet(&of.parties[0]);
    for (size_t i = 1; i < started; i++) {
        shutdown(of.parties[i - 1].ends[0], SHUT_RDWR);
        pthread_join(threads[i], NULL);
    }
    sigaction(SIGALRM, &before, NULL);
    sem_destroy(&of.start);
    for (size_t i = 0; i < started; i++) {
        fine = fine && of.parties[i].fine;
        if (of.parties[i].ends[0] >= 0) {
            close(of.parties[i].ends[0]);
            close(of.parties[i].ends[1]);
        }
    }
    *refused = of.refused;
    return fine;
}
