#include "base/interrupt.h"
#include "base/files.h"
#include <signal.h>
#include <stdatomic.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static atomic_int seen, count; /* threads that judge ask, too */
static struct timespec first;

/* What was stored is kept: SQLite's last transaction is whole, or never was. */
static void end_now(int number)
{
    (void)number;
    tidy_up();
    _exit(130);
}

/* A second one ends the process at once: a user who does not want to wait. What comes together with
 * the first is the same wish (timeout(1) sends its signal to the process and to its group). */
static void on_interrupt(int number)
{
    struct timespec now;
    (void)number;
    clock_gettime(CLOCK_MONOTONIC, &now);
    double seconds =
        (double)(now.tv_sec - first.tv_sec) + 1e-9 * (double)(now.tv_nsec - first.tv_nsec);
    if (count && seconds > 0.25)
        end_now(number);
    if (!count) {
        first = now;
        setitimer(ITIMER_REAL, &(struct itimerval){.it_value = {1, 700000}}, NULL);
    }
    seen = 1;
    count = 1;
}

void interrupt_watch(void)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        struct sigaction before;
        /* nohup ignores SIGHUP, and a shell without job control SIGINT of what it starts with &. */
        if (sigaction(numbers[i], NULL, &before) == 0 && before.sa_handler == SIG_IGN)
            continue;
        /* Without SA_RESTART, so that a wait for a worker ends. */
        struct sigaction action = {.sa_handler = on_interrupt};
        sigaction(numbers[i], &action, NULL);
    }
    struct sigaction last = {.sa_handler = end_now};
    sigaction(SIGALRM, &last, NULL);
}

bool interrupted(void)
{
    return seen != 0;
}

void interrupt_forgive(void)
{
    seen = 0;
}
