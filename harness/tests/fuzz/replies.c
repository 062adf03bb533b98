/* The parent's side of the worker's protocol: a worker that answers what it likes. Each packet is a
 * sane reply, with the input's bytes over it from an offset on. */
#define child_kill fuzz_child_kill
#define child_wait fuzz_child_wait
#include "worker/process.c"

#include "fuzz.h"

/* There is no process. */
int fuzz_child_kill(pid_t process)
{
    (void)process;
    return 0;
}

child_end fuzz_child_wait(pid_t process, double seconds, int *status)
{
    (void)process, (void)seconds;
    *status = 0;
    return CHILD_ENDED;
}

static void send_all(int socket, const uint8_t *bytes, size_t size)
{
    for (int packet = 0; size > 4 && packet < 16; packet++) {
        worker_reply reply = {.magic = PROTOCOL_MAGIC,
                              .kind = packet == 0 ? REPLY_LOADED : REPLY_KERNEL,
                              .count = packet == 0 ? 3 : (uint32_t)packet - 1};
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
    worker_reply reply = {0};
    int pair[2];
    FUZZ_CHECK(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair) == 0);
    kernel_process process = {.process = 1, .socket = pair[0]};
    send_all(pair[1], bytes, size);
    for (size_t i = 0; i < 16 && process.socket >= 0; i++) {
        bool loaded = process_next(&process, 1, &reply);
        FUZZ_CHECK(memchr(reply.text, '\0', sizeof reply.text));
        for (const char *at = reply.text; *at; at += text_letter_at(at).length)
            FUZZ_CHECK(text_letter_at(at).kind == LETTER_PLAIN);
        for (const char *at = reply.kernel.name; loaded && *at; at++)
            FUZZ_CHECK(*at > ' ' && *at <= '~');
    }
    process_end(&process);
    return 0;
}
