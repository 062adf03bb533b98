/* The parent's side of the worker's protocol: a worker that answers what it likes. Each packet is a
 * sane reply, with the input's bytes over it from an offset on. */
#define kill fuzz_kill
#define waitpid fuzz_waitpid
#define waitid fuzz_waitid
#include "worker/worker.c"

#include "fuzz.h"

/* There is no process. */
int fuzz_kill(pid_t process, int number)
{
    (void)process, (void)number;
    return 0;
}

pid_t fuzz_waitpid(pid_t process, int *status, int flags)
{
    (void)flags;
    *status = 0;
    return process;
}

int fuzz_waitid(idtype_t kind, id_t process, siginfo_t *info, int flags)
{
    (void)kind, (void)flags;
    info->si_pid = (pid_t)process;
    return 0;
}

static void send_all(int socket, const uint8_t *bytes, size_t size)
{
    for (int packet = 0; size > 4 && packet < 16; packet++) {
        worker_reply reply = {.magic = PROTOCOL_MAGIC,
                              .kind = packet == 0 ? REPLY_LOADED : REPLY_KERNEL,
                              .count = packet == 0 ? 3 : (uint32_t)packet};
        size_t at = (bytes[0] | (size_t)bytes[1] << 8) % sizeof reply;
        size_t length = (bytes[2] | (size_t)bytes[3] << 8) % (sizeof reply - at + 1);
        bytes += 4;
        size -= 4;
        length = length < size ? length : size;
        memcpy((char *)&reply + at, bytes, length);
        bytes += length;
        size -= length;
        if (send(socket, &reply, sizeof reply - (at == 0 && length == 1), MSG_DONTWAIT) < 0)
            break;
    }
    close(socket);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static char paths[1][PROTOCOL_PATH_LENGTH] = {"/dev/null"};
    struct worker_process worker = {.plugins = paths, .plugin_count = 1, .arena = -1};
    kernel_list list = {0};
    worker_reply reply = {0};
    error err = {0};
    int pair[2];
    FUZZ_CHECK(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair) == 0);
    worker.socket = pair[0];
    worker.process = 1;
    send_all(pair[1], bytes, size);
    for (size_t i = 0; i < 16 && worker.socket >= 0; i++) {
        bool loaded = worker_next(&worker, 1, &reply);
        FUZZ_CHECK(memchr(reply.text, '\0', sizeof reply.text));
        for (const char *at = reply.text; *at; at += text_utf8_length(at))
            FUZZ_CHECK(text_utf8_length(at) > 0 && (unsigned char)*at >= ' ');
        for (const char *at = reply.kernel.name; loaded && *at; at++)
            FUZZ_CHECK(*at > ' ' && *at <= '~');
        kernel_entry entry = {.facts = reply.kernel};
        if (loaded && reply.kind == REPLY_KERNEL && !add_kernel(&list, &entry, &err))
            FUZZ_CHECK(err.message[0]);
    }
    bury(&worker, true, NULL);
    kernel_list_free(&list);
    return 0;
}
