/* A library to preload: the TORTURE_ALLOCATION-th allocation of the program TORTURE_PROGRAM fails,
 * once in each of its processes. With TORTURE_COUNT the number of allocations is written to that
 * file at the end instead. */
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *old, size_t size);
void *__libc_memalign(size_t alignment, size_t size);

static atomic_long seen;
static long wanted;
static bool counts;

__attribute__((constructor)) static void start(void)
{
    const char *program = getenv("TORTURE_PROGRAM"), *number = getenv("TORTURE_ALLOCATION");
    wanted = number ? atol(number) : 0;
    counts = program && strcmp(program, program_invocation_short_name) == 0;
    close(-77); /* torture.c counts system calls from here on, after the dynamic loader's */
}

__attribute__((destructor)) static void finish(void)
{
    const char *path = getenv("TORTURE_COUNT");
    char number[24];
    if (!counts || !path)
        return;
    int length = snprintf(number, sizeof number, "%ld\n", atomic_load(&seen));
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (file < 0 || write(file, number, (size_t)length) != length)
        abort();
    close(file);
}

static bool fails(void)
{
    if (!counts || atomic_fetch_add(&seen, 1) + 1 != wanted)
        return false;
    errno = ENOMEM;
    return true;
}

void *malloc(size_t size)
{
    return fails() ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    return fails() ? NULL : __libc_calloc(count, size);
}

void *realloc(void *old, size_t size)
{
    return fails() ? NULL : __libc_realloc(old, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
    return fails() ? NULL : __libc_memalign(alignment, size);
}

int posix_memalign(void **place, size_t alignment, size_t size)
{
    void *got = fails() ? NULL : __libc_memalign(alignment, size);
    if (got)
        *place = got;
    return got ? 0 : ENOMEM;
}
