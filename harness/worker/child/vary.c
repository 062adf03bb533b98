/* Rows of timed outputs whose bits are not the judged ones, on their way to the parent: each once,
 * by the arena, as many at a time as it has room for. */
#include "base/hash.h"
#include "worker/child/internal.h"
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* To the parent; returns when it has taken them. Without it there is nobody to go on for. */
static void hand_over(varied_rows *rows)
{
    static work_order order;
    worker_reply reply = {
        .kind = REPLY_ROWS, .count = rows->entry, .value = (int64_t)rows->waiting};
    ssize_t got;
    if (rows->waiting == 0)
        return;
    worker_send(&reply);
    do
        got = recv(WORKER_SOCKET_FD, &order, sizeof order, 0);
    while (got < 0 && errno == EINTR);
    if (got != (ssize_t)sizeof order || order.magic != PROTOCOL_MAGIC || order.kind != ORDER_GO_ON)
        _exit(1);
    rows->waiting = 0;
}

/* number: as in arena_map. */
static bool add_varied(varied_rows *rows, uint64_t number, const void *row)
{
    uint64_t hash = hash_bytes(hash_bytes(HASH_START, &number, sizeof number), row, rows->bytes);
    char *at = worker_memory(rows->at) + rows->waiting * (sizeof number + rows->bytes);
    bool added;
    if (!hash_set_add(&rows->seen, hash, &added))
        return false;
    if (!added)
        return true;
    memcpy(at, &number, sizeof number);
    memcpy(at + sizeof number, row, rows->bytes);
    if (++rows->waiting == rows->most)
        hand_over(rows);
    return true;
}

bool varied_rows_take(varied_rows *rows, int input, const char *y, size_t count, const char *judged,
                      size_t judged_rows)
{
    for (size_t row = 0; row < count; row++) {
        const char *here = y + row * rows->bytes;
        size_t number = row % judged_rows;
        if (memcmp(here, judged + number * rows->bytes, rows->bytes) != 0 &&
            !add_varied(rows, (size_t)input * judged_rows + number, here))
            return false;
    }
    hand_over(rows);
    return true;
}
