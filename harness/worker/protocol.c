#include "worker/protocol.h"
#include <errno.h>
#include <string.h>
#include <unistd.h>

static bool is_terminated(const char *string, size_t size)
{
    return memchr(string, '\0', size) != NULL;
}

/* A name as kernels have them: it stands in tables, JSON and file names. */
static bool is_plain(const char *string, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        if (string[i] == '\0')
            return true;
        if (string[i] <= ' ' || string[i] > '~')
            return false;
    }
    return false;
}

static bool is_type(ln_type type)
{
    return (unsigned)type <= LN_F16;
}

bool reply_is_sane(const worker_reply *reply)
{
    const kernel_facts *kernel = &reply->kernel;
    return reply->magic == PROTOCOL_MAGIC && reply->kind >= REPLY_LOADED &&
           reply->kind < REPLY_KIND_END && (unsigned)reply->verdict < VERDICT_COUNT &&
           is_terminated(reply->text, sizeof reply->text) &&
           is_plain(kernel->name, sizeof kernel->name) &&
           is_plain(kernel->role, sizeof kernel->role) &&
           is_plain(kernel->statistics, sizeof kernel->statistics) &&
           is_plain(kernel->apply, sizeof kernel->apply) &&
           is_plain(kernel->schedule, sizeof kernel->schedule) &&
           is_plain(kernel->isa, sizeof kernel->isa) && is_type(kernel->storage) &&
           is_type(kernel->param) && is_type(kernel->accumulator);
}

bool arena_read(int fd, off_t at, void *data, size_t size)
{
    char *to = data;
    while (size > 0) {
        ssize_t got = pread(fd, to, size, at);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return false;
        to += got;
        at += got;
        size -= (size_t)got;
    }
    return true;
}

bool arena_write(int fd, off_t at, const void *data, size_t size)
{
    const char *from = data;
    while (size > 0) {
        ssize_t put = pwrite(fd, from, size, at);
        if (put < 0 && errno == EINTR)
            continue;
        if (put <= 0)
            return false;
        from += put;
        at += put;
        size -= (size_t)put;
    }
    return true;
}
