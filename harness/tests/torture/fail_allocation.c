/* A library to preload: the TORTURE_ALLOCATION-th allocation of the program TORTURE_PROGRAM fails,
 * once in each of its processes. With TORTURE_COUNT the number of allocations, of the process that makes
 * most, is kept in that file (a long) instead. */
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *old, size_t size);
void *__libc_memalign(size_t alignment, size_t size);

static atomic_long seen;
static _Atomic long *most; /* over all processes; NULL: nobody wants to know */
static long wanted;
static bool counts;

/* Kept beyond a process that is killed. */
static void map_count(const char *path)
{
    int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    void *mapped = MAP_FAILED;
    if (file >= 0 && ftruncate(file, sizeof *most) == 0)
        mapped = mmap(NULL, sizeof *most, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (mapped == MAP_FAILED)
        abort();
    most = mapped;
    close(file);
}

__attribute__((constructor)) static void start(void)
{
    const char *program = getenv("TORTURE_PROGRAM"), *number = getenv("TORTURE_ALLOCATION");
    wanted = number ? atol(number) : 0;
    counts = program && strcmp(program, program_invocation_short_name) == 0;
    if (counts && getenv("TORTURE_COUNT"))
        map_count(getenv("TORTURE_COUNT"));
    close(-77); /* torture.c counts system calls from here on, after the dynamic loader's */
}

static bool fails(void)
{
    if (!counts)
        return false;
    long number = atomic_fetch_add(&seen, 1) + 1;
    for (long had = most ? *most : number; had < number;)
        if (atomic_compare_exchange_weak(most, &had, number))
            break;
    if (number != wanted)
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
