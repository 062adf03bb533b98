#include "worker/arena.h"
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

/* A memory file takes memory where it is written alone. */
bool shared_arena_open(shared_arena *made, error *err)
{
    struct rlimit most;
    *made = (shared_arena){.file = memfd_create("lnbench-arena", MFD_CLOEXEC | MFD_ALLOW_SEALING),
                           .most = (size_t)1 << 44};
    if (getrlimit(RLIMIT_FSIZE, &most) == 0 && most.rlim_cur < made->most)
        made->most = most.rlim_cur;
    return (made->file >= 0 && ftruncate(made->file, (off_t)made->most) == 0 &&
            fcntl(made->file, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0) ||
           fail(err, EXIT_CODE_ENVIRONMENT, "memory file of the worker: %s", strerror(errno));
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
