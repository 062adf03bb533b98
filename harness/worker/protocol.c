#include "worker/protocol.h"
#include "base/program.h"
#include <unistd.h>
#include <sys/resource.h>
#include <sys/mman.h>
#include <fcntl.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

work_order worker_order(order_kind kind, const kernel_entry *kernel)
{
    work_order made = {.kind = kind,
                       .cpu = -1,
                       .threads = 1,
                       .x_offset = GUARD_TIMED_READ_OFFSET,
                       .y_offset = GUARD_TIMED_WRITE_OFFSET};
    memset(&made.at, 0xff, sizeof made.at); /* -1 each */
    if (kernel) {
        made.plugin = kernel->plugin;
        made.kernel = kernel->kernel;
        made.operation = kernel->facts.operation;
        snprintf(made.text, sizeof made.text, "%s", kernel->facts.name);
    }
    return made;
}

bool reply_was_interrupted(const worker_reply *reply)
{
    if (!interrupted() && reply->verdict == VERDICT_LOST && reply->value != 0)
        die(EXIT_CODE_ENVIRONMENT, "%s", reply->text);
    return interrupted();
}

/* A memory file takes memory where it is written alone. */
void shared_arena_open(shared_arena *made)
{
    struct rlimit most;
    *made = (shared_arena){.file = memfd_create("lnbench-arena", MFD_CLOEXEC | MFD_ALLOW_SEALING),
                           .most = (size_t)1 << 44};
    if (getrlimit(RLIMIT_FSIZE, &most) == 0 && most.rlim_cur < made->most)
        made->most = most.rlim_cur;
    if (made->file < 0 || ftruncate(made->file, (off_t)made->most) != 0 ||
        fcntl(made->file, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0)
        die(EXIT_CODE_ENVIRONMENT, "memory file of the worker: %s", strerror(errno));
}

bool shared_arena_reach(shared_arena *of, size_t bytes)
{
    size_t wanted = of->mapped ? of->mapped : (size_t)16 << 20;
    if (bytes <= of->mapped)
        return true;
    if (bytes > of->most) {
        errno = EFBIG;
        return false;
    }
    while (wanted < bytes)
        wanted *= 2;
    wanted = wanted > of->most ? of->most : wanted;
    void *memory = of->mapped ? mremap(of->memory, of->mapped, wanted, MREMAP_MAYMOVE)
                              : mmap(NULL, wanted, PROT_READ | PROT_WRITE, MAP_SHARED, of->file, 0);
    if (memory == MAP_FAILED)
        return false;
    of->memory = memory;
    of->mapped = wanted;
    return true;
}

void shared_arena_close(shared_arena *of)
{
    if (of->mapped)
        munmap(of->memory, of->mapped);
    if (of->file >= 0)
        close(of->file);
    *of = (shared_arena){.file = -1};
}
