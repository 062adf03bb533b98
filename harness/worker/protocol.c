#include "worker/protocol.h"
#include "base/interrupt.h"
#include "domain/poison.h"
#include "worker/child/guard.h"
#include <stdio.h>
#include <string.h>

enum { GAP_PATTERN = 0x5a };

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
           memchr(reply->text, '\0', sizeof reply->text) &&
           memchr(reply->set_at_load, '\0', sizeof reply->set_at_load) &&
           (unsigned)kernel->operation < operation_count &&
           is_plain(kernel->name, sizeof kernel->name) &&
           is_plain(kernel->role, sizeof kernel->role) &&
           is_plain(kernel->statistics, sizeof kernel->statistics) &&
           is_plain(kernel->apply, sizeof kernel->apply) &&
           is_plain(kernel->schedule, sizeof kernel->schedule) &&
           is_plain(kernel->isa, sizeof kernel->isa) && is_type(kernel->storage) &&
           is_type(kernel->param) && is_type(kernel->accumulator);
}

work_order worker_order(order_kind kind, const kernel_entry *kernel)
{
    work_order made = {.magic = PROTOCOL_MAGIC,
                       .kind = kind,
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

bool reply_ends_run(const worker_reply *reply, error *err)
{
    if (interrupted())
        fail(err, EXIT_CODE_INTERRUPTED, "interrupted");
    else if (reply->verdict == VERDICT_LOST && reply->value == REPLY_ENDS_RUN)
        fail(err, EXIT_CODE_ENVIRONMENT, "%s", reply->text);
    else
        return false;
    return true;
}

void rows_lay_out(void *data, const role_extent *extent, const char *dense)
{
    if (extent->stride_bytes == extent->row_bytes) {
        memcpy(data, dense, extent_bytes(extent));
        return;
    }
    for (size_t row = 0; row < extent->rows; row++) {
        char *begin = (char *)data + row * extent->stride_bytes;
        memcpy(begin, dense + row * extent->row_bytes, extent->row_bytes);
        if (row + 1 < extent->rows)
            poison_gap(begin + extent->row_bytes, extent->stride_bytes - extent->row_bytes,
                       extent->element);
    }
}

void rows_gather(char *dense, const void *data, const role_extent *extent)
{
    for (size_t row = 0; row < extent->rows; row++)
        memcpy(dense + row * extent->row_bytes, (const char *)data + row * extent->stride_bytes,
               extent->row_bytes);
}

void poison_output(const tensor_role *role, const role_extent *extent, void *data)
{
    if (role->type == TYPE_ACCUMULATOR) {
        poison_statistics(data, extent_bytes(extent), extent->element);
        return;
    }
    memset(data, GAP_PATTERN, extent_bytes(extent));
    for (size_t row = 0; row < extent->rows; row++)
        memset((char *)data + row * extent->stride_bytes, POISON, extent->row_bytes);
}

bool gaps_are_whole(const role_extent *extent, const void *data)
{
    const unsigned char *byte = data;
    for (size_t row = 0; row + 1 < extent->rows; row++)
        for (size_t i = row * extent->stride_bytes + extent->row_bytes;
             i < (row + 1) * extent->stride_bytes; i++)
            if (byte[i] != GAP_PATTERN)
                return false;
    return true;
}
