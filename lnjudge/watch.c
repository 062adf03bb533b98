/* Pages that somebody's code may read: what it writes to is noted, and the write is let through.
 *
 * They are made read-only, a first write to them raises SIGSEGV, and the handler makes them writable. */
#include "internal.h"
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>

static struct watch {
    atomic_flag taken;
    char *first, *last;
    _Atomic(char *) written;
    struct sigaction before;
} watch = {.taken = ATOMIC_FLAG_INIT};

static void on_fault(int number, siginfo_t *about, void *context)
{
    char *at = about->si_addr;
    (void)context;
    if (at < watch.first || at >= watch.last ||
        mprotect(watch.first, (size_t)(watch.last - watch.first), PROT_READ | PROT_WRITE) != 0)
        sigaction(number, &watch.before, NULL); /* the access comes again, and is its affair */
    else if (!atomic_load(&watch.written))
        atomic_store(&watch.written, at);
}

int lnjudge_watch(void *pages, size_t bytes)
{
    struct sigaction handler = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    if (!pages || atomic_flag_test_and_set(&watch.taken))
        return 0;
    watch.first = pages;
    watch.last = watch.first + bytes;
    atomic_store(&watch.written, NULL);
    if (sigaction(SIGSEGV, &handler, &watch.before) == 0) {
        if (mprotect(pages, bytes, PROT_READ) == 0)
            return 1;
        sigaction(SIGSEGV, &watch.before, NULL);
    }
    atomic_flag_clear(&watch.taken);
    return 0;
}

void *lnjudge_watched(void)
{
    struct sigaction now;
    mprotect(watch.first, (size_t)(watch.last - watch.first), PROT_READ | PROT_WRITE);
    if (sigaction(SIGSEGV, NULL, &now) == 0 && now.sa_sigaction == on_fault)
        sigaction(SIGSEGV, &watch.before, NULL);
    void *written = atomic_load(&watch.written);
    atomic_flag_clear(&watch.taken);
    return written;
}
