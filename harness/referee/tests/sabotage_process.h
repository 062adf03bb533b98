/* What kernels of sabotage_plugin.c do to the worker's process and to its tensors. */
#ifndef LNBENCH_SABOTAGE_PROCESS_H
#define LNBENCH_SABOTAGE_PROCESS_H

#include "layernorm_plugin.h"
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

SPECIAL_AFTER(closes_arena)
{
    close(4);
}

/* The parent sees the end of the worker, which goes on. */
static void hangs_up(const void *state, const ln_tensors *tensors)
{
    (void)state;
    (void)tensors;
    close(3);
    for (volatile unsigned turns = 0;; turns++)
        ;
}

SPECIAL_AFTER(talks_nonsense)
{
    ssize_t written = write(3, "hello", 5);
    (void)written;
}

/* The page that holds the first element of y, and what else lies there. */
static void unmaps_output(const void *state, const ln_tensors *tensors)
{
    uintptr_t page = (uintptr_t)tensors->y & ~(uintptr_t)(sysconf(_SC_PAGESIZE) - 1);
    mprotect((void *)page, 1, PROT_NONE);
    ln_layernorm_with(BASE, state, tensors);
}

SPECIAL_AFTER(forks)
{
    fork();
}

/* With a write that no fault tells of; or without one, and as open as it is made. */
static void open_input(const ln_tensors *tensors, bool writes)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    void *begin = (void *)((uintptr_t)tensors->x & ~(page - 1));
    mprotect(begin, page, PROT_READ | PROT_WRITE);
    if (!writes)
        return;
    ((float *)(uintptr_t)tensors->x)[0] += 1;
    mprotect(begin, page, PROT_READ);
}

SPECIAL_AFTER(opens_input)
{
    if (tensors->x != tensors->y)
        open_input(tensors, false);
}

SPECIAL_AFTER(writes_opened_input)
{
    if (tensors->x != tensors->y)
        open_input(tensors, true);
}

static void *spin(void *nothing)
{
    for (volatile unsigned turns = 0;; turns++)
        ;
    return nothing;
}

SPECIAL_AFTER(spins_on)
{
    static pthread_t thread;
    if (!thread)
        pthread_create(&thread, NULL, spin, NULL);
}

SPECIAL_AFTER(catches_faults)
{
    signal(SIGSEGV, SIG_IGN);
}

#endif
