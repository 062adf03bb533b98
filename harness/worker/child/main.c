/* lnbench-worker: loads kernels and runs them, one order at a time. Started by lnbench, never by
 * hand. */
#include "worker/child/internal.h"
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

void worker_send(worker_reply *reply)
{
    reply->magic = PROTOCOL_MAGIC;
    ssize_t sent;
    do
        sent = send(WORKER_SOCKET_FD, reply, sizeof *reply, MSG_NOSIGNAL);
    while (sent < 0 && errno == EINTR);
    if (sent != (ssize_t)sizeof *reply)
        _exit(1);
}

void worker_send_done(const char *text, int64_t value)
{
    worker_reply done = {.kind = REPLY_DONE, .value = value};
    snprintf(done.text, sizeof done.text, "%s", text);
    worker_send(&done);
}

void worker_send_failed(verdict_kind verdict, unsigned entry, const char *format, ...)
{
    worker_reply failed = {.kind = REPLY_FAILED, .verdict = verdict, .count = entry};
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(failed.text, sizeof failed.text, format, arguments);
    va_end(arguments);
    worker_send(&failed);
}

const ln_kernel *worker_kernel(const worker_plugins *plugins, const work_order *order)
{
    if (order->plugin >= plugins->count || order->kernel >= plugins->plugins[order->plugin]->count)
        return NULL;
    const ln_kernel *kernel = &plugins->plugins[order->plugin]->kernels[order->kernel];
    /* The file may have been built anew since the parent listed it. */
    return strcmp(kernel->name, order->text) == 0 ? kernel : NULL;
}

static bool name_is_fine(const char *name)
{
    size_t length = name ? strnlen(name, NAME_MAX_LENGTH) : 0;
    return length > 0 && length < NAME_MAX_LENGTH &&
           strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_.-") == length;
}

/* A reason why the plugin can't be taken, or NULL. Strings that come from it are shown only once
 * they are known to be plain names. */
static const char *plugin_fault(const ln_plugin *plugin)
{
    if (!plugin)
        return LN_PLUGIN_SYMBOL "() returned NULL";
    if (plugin->abi_version != LN_PLUGIN_ABI)
        return "it has another ABI version; this lnbench speaks version 1 (layernorm_plugin.h)";
    if (plugin->struct_size < LN_PLUGIN_SIZE_V1)
        return "its ln_plugin has another size: compile it against this layernorm_plugin.h";
    if (!name_is_fine(plugin->name))
        return "its name is not of [a-z0-9_.-]{1,63}";
    if (plugin->count == 0 || !plugin->kernels)
        return "it has no kernels";
    for (size_t i = 0; i < plugin->count; i++) {
        const ln_kernel *kernel = &plugin->kernels[i];
        if (kernel->struct_size != sizeof *kernel)
            return "an ln_kernel has another size: compile it against this layernorm_plugin.h";
        if (!name_is_fine(kernel->name) || is_roof(kernel->name))
            return "a kernel's name is not of [a-z0-9_.-]{1,63}, or begins with roof_";
        if ((unsigned)kernel->storage > LN_F16 || (unsigned)kernel->param > LN_F16 ||
            (unsigned)kernel->accumulator > LN_F16)
            return "a kernel's type is none of ln_type";
        if (!kernel->run || !kernel->prepare != !kernel->release)
            return "a kernel lacks run, or has only one of prepare and release";
    }
    return NULL;
}

static void copy_word(char *to, size_t size, const char *from)
{
    snprintf(to, size, "%s", name_is_fine(from) ? from : "");
}

/* NULL: the plugin tells none. */
static const char *role_of(const ln_plugin *plugin, unsigned index)
{
    if (!LN_PLUGIN_HAS(plugin, facts) || !plugin->facts ||
        plugin->facts_size < offsetof(ln_kernel_facts, family))
        return NULL;
    const ln_kernel_facts *facts =
        (const void *)((const char *)plugin->facts + index * plugin->facts_size);
    return facts->role;
}

static void send_kernel(const ln_plugin *plugin, unsigned index)
{
    const ln_kernel *kernel = &plugin->kernels[index];
    worker_reply described = {.kind = REPLY_KERNEL, .count = index};
    if (LN_PLUGIN_HAS(plugin, version) && plugin->version)
        snprintf(described.text, sizeof described.text, "%.63s", plugin->version);
    kernel_facts *facts = &described.kernel;
    copy_word(facts->name, sizeof facts->name, kernel->name);
    copy_word(facts->role, sizeof facts->role, role_of(plugin, index));
    copy_word(facts->statistics, sizeof facts->statistics, kernel->statistics);
    copy_word(facts->apply, sizeof facts->apply, kernel->apply);
    copy_word(facts->schedule, sizeof facts->schedule, kernel->schedule);
    copy_word(facts->isa, sizeof facts->isa, kernel->isa);
    facts->storage = kernel->storage;
    facts->param = kernel->param;
    facts->accumulator = kernel->accumulator;
    facts->unroll = kernel->unroll;
    facts->traits = kernel->traits;
    facts->has_bound = kernel->bound != NULL;
    worker_send(&described);
}

/* What a library does to the process as it is loaded (-ffast-math links code that flushes
 * subnormals to zero from then on) must not reach the kernels of others. */
static void *open_plugin(const char *path)
{
    process_state before;
    process_state_take(&before);
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    process_state_compare(&before);
    return library;
}

void worker_load(worker_plugins *plugins, const work_order *order)
{
    if (plugins->count == WORKER_MAX_PLUGINS) {
        worker_send_failed(VERDICT_SKIPPED, 0, "more than %d plugins", WORKER_MAX_PLUGINS);
        return;
    }
    void *library = open_plugin(order->text);
    if (!library) {
        worker_send_failed(VERDICT_SKIPPED, 0, "%.200s", dlerror());
        return;
    }
    const ln_plugin *(*entry)(void);
    *(void **)&entry = dlsym(library, LN_PLUGIN_SYMBOL);
    if (!entry) {
        worker_send_failed(VERDICT_SKIPPED, 0,
                           "it has no symbol " LN_PLUGIN_SYMBOL " (see layernorm_plugin.h)");
        return;
    }
    const ln_plugin *plugin = entry();
    const char *fault = plugin_fault(plugin);
    if (fault) {
        worker_send_failed(VERDICT_SKIPPED, 0, "%s", fault);
        return;
    }
    if (order->own_file && (fault = worker_foreign_code(library, order->text, plugin))) {
        worker_reply foreign = {.kind = REPLY_FAILED, .verdict = VERDICT_SKIPPED, .value = 1};
        snprintf(foreign.text, sizeof foreign.text, "%s", fault);
        worker_send(&foreign);
        return;
    }
    /* Judged, and timed where nothing else is asked for, on one thread. */
    if (plugin_has_threads(plugin) && plugin->set_threads(1) != 0) {
        worker_send_failed(VERDICT_SKIPPED, 0, "its set_threads(1) failed");
        return;
    }
    plugins->plugins[plugins->count++] = plugin;
    worker_reply loaded = {.kind = REPLY_LOADED, .count = (uint32_t)plugin->count};
    snprintf(loaded.text, sizeof loaded.text, "%s", plugin->name);
    worker_send(&loaded);
    for (unsigned i = 0; i < plugin->count; i++)
        send_kernel(plugin, i);
}

const char *kernel_refuses(const ln_kernel *kernel, const ln_problem *problem)
{
    const char *reason = kernel->supports ? kernel->supports(problem) : NULL;
    if (reason)
        return *reason ? reason : "no reason given";
    bool same = kernel->storage == problem->storage && kernel->param == problem->param;
    return same ? NULL : "other element types";
}

static void answer_supports(const worker_plugins *plugins, const work_order *order)
{
    const ln_kernel *kernel = worker_kernel(plugins, order);
    const char *reason = kernel ? kernel_refuses(kernel, &order->problem) : "no such kernel";
    worker_send_done(reason ? reason : "", reason != NULL);
}

/* Each kernel has buffers that no other kernel had. */
static void begin_kernel(const work_order *order)
{
    static unsigned plugin, kernel;
    if (order->plugin != plugin || order->kernel != kernel)
        guard_drop_waiting();
    plugin = order->plugin;
    kernel = order->kernel;
}

static void obey(worker_plugins *plugins, const work_order *order)
{
    begin_kernel(order);
    switch (order->kind) {
    case ORDER_LOAD:
        worker_load(plugins, order);
        break;
    case ORDER_OBJECTS:
        worker_list_objects();
        break;
    case ORDER_SUPPORTS:
        answer_supports(plugins, order);
        break;
    case ORDER_JUDGE:
        worker_judge(plugins, order);
        break;
    case ORDER_CALL:
        worker_call(plugins, order);
        break;
    case ORDER_CALL_LARGE:
        worker_call_large(plugins, order);
        break;
    case ORDER_BOUND:
        worker_bound(plugins, order);
        break;
    case ORDER_TIME_BEGIN:
        worker_time_begin(order);
        break;
    case ORDER_TIME_ENTRY:
        worker_time_entry(plugins, order);
        break;
    case ORDER_TIME_RUN:
        worker_time_run(order);
        break;
    case ORDER_GO_ON: /* nobody waits for it here */
    case ORDER_QUIT:
        _exit(0);
    }
}

int main(void)
{
    /* Dies with its parent, leaves no core files, and Ctrl-C is the parent's business. */
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    signal(SIGINT, SIG_IGN);
    int type;
    socklen_t length = sizeof type;
    if (getsockopt(WORKER_SOCKET_FD, SOL_SOCKET, SO_TYPE, &type, &length) != 0) {
        fputs("lnbench-worker is started by lnbench, not by hand\n", stderr);
        return EXIT_CODE_USAGE;
    }
    worker_watch_faults();
    /* Threads of GNU's OpenMP that wait for work spin for milliseconds, into what is timed next; so
     * they spin as long as the pool's threads do (pool.c). Read when the library is loaded. */
    setenv("GOMP_SPINCOUNT", "1000", 0);
    static worker_plugins plugins;
    static work_order order;
    for (;;) {
        ssize_t got = recv(WORKER_SOCKET_FD, &order, sizeof order, 0);
        if (got < 0 && errno == EINTR)
            continue;
        if (got != (ssize_t)sizeof order || order.magic != PROTOCOL_MAGIC)
            return 0;
        obey(&plugins, &order);
    }
}
