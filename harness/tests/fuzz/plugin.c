/* The worker's side: a plugin's descriptor, whose strings and numbers are the input's. What the
 * worker takes, it tells its parent, who must find that sane. */
#define main worker_main
#define send fuzz_send
#include "worker/child/main.c"
#undef main
#undef send

#include "fuzz.h"

ssize_t fuzz_send(int socket, const void *bytes, size_t size, int flags)
{
    (void)socket, (void)flags;
    const worker_reply *replies = bytes;
    FUZZ_CHECK(size % sizeof *replies == 0);
    for (size_t i = 0; i < size / sizeof *replies; i++)
        FUZZ_CHECK(reply_is_sane(&replies[i]));
    return (ssize_t)size;
}

typedef struct source {
    const uint8_t *bytes;
    size_t size;
} source;

static unsigned below(source *from, unsigned limit)
{
    if (from->size == 0)
        return 0;
    from->size--;
    return *from->bytes++ % limit;
}

/* A string of up to 127 bytes, or NULL. */
static const char *take_string(source *from, char buffer[128])
{
    unsigned length = below(from, 129);
    if (length == 128)
        return NULL;
    length = length < from->size ? length : (unsigned)from->size;
    memcpy(buffer, from->bytes, length);
    buffer[length] = '\0';
    from->bytes += length;
    from->size -= length;
    return buffer;
}

static void run(const void *state, const ln_tensors *tensors)
{
    (void)state, (void)tensors;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    source from = {bytes, size};
    char text[10][128];
    ln_kernel kernels[2];
    memset(kernels, 0, sizeof kernels);
    ln_plugin_table plugin = {.abi_version = below(&from, 8) ? LN_PLUGIN_ABI : below(&from, 256),
                              .struct_size = below(&from, 8) ? sizeof plugin : below(&from, 256),
                              .count = below(&from, 3),
                              .kernels = kernels};
    plugin.name = take_string(&from, text[0]);
    plugin.version = take_string(&from, text[1]);
    for (int i = 0; i < 2; i++) {
        kernels[i].operation = (ln_operation)below(&from, 4);
        kernels[i].name = take_string(&from, text[2 + 4 * i]);
        kernels[i].statistics = take_string(&from, text[3 + 4 * i]);
        kernels[i].isa = take_string(&from, text[4 + 4 * i]);
        kernels[i].facts.role = take_string(&from, text[5 + 4 * i]);
        kernels[i].apply = kernels[i].schedule = kernels[i].isa;
        kernels[i].storage = (ln_type)below(&from, 6);
        kernels[i].param = (ln_type)below(&from, 6);
        kernels[i].accumulator = (ln_type)below(&from, 6);
        kernels[i].unroll = below(&from, 256);
        kernels[i].run = below(&from, 8) ? run : NULL;
    }
    if (!plugin_fault(&plugin))
        for (unsigned i = 0; i < plugin.count; i++)
            send_kernel(&plugin, i);
    return 0;
}
