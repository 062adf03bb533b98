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

static void closes_arena(const void *state, const ln_tensors *tensors)
{
    ln_layernorm_with(BASE, state, tensors);
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

static void talks_nonsense(const void *state, const ln_tensors *tensors)
{
    ln_layernorm_with(BASE, state, tensors);
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

static void forks(const void *state, const ln_tensors *tensors)
{
    ln_layernorm_with(BASE, state, tensors);
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

static void opens_input(const void *state, const ln_tensors *tensors)
{
    ln_layernorm_with(BASE, state, tensors);
    if (tensors->x != tensors->y)
        open_input(tensors, false);
}

static void writes_opened_input(const void *state, const ln_tensors *tensors)
{
    ln_layernorm_with(BASE, state, tensors);
    if (tensors->x != tensors->y)
        open_input(tensors, true);
}

static void *spin(void *nothing)
{
    for (volatile unsigned turns = 0;; turns++)
        ;
    return nothing;
}

static void spins_on(const void *state, const ln_tensors *tensors)
{
    static pthread_t thread;
    ln_layernorm_with(BASE, state, tensors);
    if (!thread)
        pthread_create(&thread, NULL, spin, NULL);
}

static void catches_faults(const void *state, const ln_tensors *tensors)
{
    ln_layernorm_with(BASE, state, tensors);
    signal(SIGSEGV, SIG_IGN);
}

#endif
