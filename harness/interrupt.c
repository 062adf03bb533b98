#include "interrupt.h"
#include <signal.h>
#include <unistd.h>

static volatile sig_atomic_t seen, count;

static void on_interrupt(int number)
{
    (void)number;
    if (count)
        _exit(130);
    seen = count = 1;
}

void interrupt_watch(void)
{
    /* Without SA_RESTART, so that a wait for a worker ends. */
    struct sigaction action = {.sa_handler = on_interrupt};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGHUP, &action, NULL);
}

bool interrupted(void)
{
    return seen != 0;
}

void interrupt_forgive(void)
{
    seen = 0;
}
