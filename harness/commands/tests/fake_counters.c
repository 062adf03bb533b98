/* A preloaded library that simulates perf_event_open(2): the CPU counts 3000 cycles and 5000 instructions between two
 * readings, half of the time. With FAKE_COUNTERS=refuse, counting is not allowed. With FAKE_THREADS, the system has no
 * more threads. */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { READINGS = 100000, ARGUMENTS = 6 };

static long open_fake(void)
{
    if (strcmp(getenv("FAKE_COUNTERS"), "refuse") == 0) {
        errno = EACCES;
        return -1;
    }
    static uint64_t readings[READINGS][5];
    int fd = memfd_create("counters", MFD_CLOEXEC);
    for (uint64_t i = 0; i < READINGS; i++) {
        const uint64_t reading[] = {2, 2 * (i + 1), i + 1, 1500 * i, 2500 * i};
        memcpy(readings[i], reading, sizeof reading);
    }
    if (fd < 0 || write(fd, readings, sizeof readings) != (ssize_t)sizeof readings)
        return -1;
    return lseek(fd, 0, SEEK_SET) == 0 ? fd : -1;
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*body)(void *),
                   void *context)
{
    int (*real)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *) = NULL;
    *(void **)&real = dlsym(RTLD_NEXT, "pthread_create");
    return getenv("FAKE_THREADS") ? EAGAIN : real(thread, attributes, body, context);
}

/* Only the system knows the number of arguments, so all are passed on. */
__attribute__((no_sanitize("address"))) long syscall(long number, ...)
{
    long a[ARGUMENTS];
    va_list rest;
    va_start(rest, number);
    for (int i = 0; i < ARGUMENTS; i++)
        a[i] = va_arg(rest, long);
    va_end(rest);
    if (number == SYS_perf_event_open && getenv("FAKE_COUNTERS"))
        return open_fake();
    long (*real)(long, ...) = NULL;
    *(void **)&real = dlsym(RTLD_NEXT, "syscall");
    return real(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}
