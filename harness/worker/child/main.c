/* lnbench-worker: loads kernels and runs them, one order at a time. Started by lnbench, never by hand.
 *
 * 1. It starts with a socket, the memory that it shares with lnbench, and handlers of faults, which report
 *    SIGSEGV and the like as the verdict of the kernel that runs.
 * 2. LOAD opens a plugin, checks its table, and tells its kernels. Floating-point control that its
 *    constructor changed is named; its kernels are called in that state.
 * 3. Each order names a kernel: SUPPORTS, JUDGE (judged_call.c), CALL (repeated_calls.c), CALL_LARGE
 *    (large.c), BOUND, and those of timing (time.c). Its answer is DONE or FAILED, with a verdict.
 * 4. After a failure lnbench ends the process; the next case has a new one. */
#include "base/seconds.h"
#include "domain/convention.h"
#include "domain/kernel_name.h"
#include "domain/operation.h"
#include "worker/child/internal.h"
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

/* ---- faults of kernels as verdicts ---- */

/* Sends the last reply, in a signal handler too; the process ends. */
_Noreturn static void worker_send_last(worker_reply *reply);

/* The report is made ready before a fault, since a handler may call little. */
static worker_reply report;
static volatile unsigned running_entry;
/* A kernel that overflows its stack must still be reported. */
static char handler_stack[64 * 1024];

static const char *volatile running_where = "";

void worker_fault_where(const char *where)
{
    running_where = where;
}

void worker_fault_entry(unsigned entry)
{
    running_entry = entry;
}

static void append(char *text, const char *more)
{
    size_t length = strlen(text);
    size_t room = REPLY_TEXT_LENGTH - 1 - length;
    size_t add = strlen(more) < room ? strlen(more) : room;
    memcpy(text + length, more, add);
    text[length + add] = '\0';
}

static void append_count(char *text, long value)
{
    char digits[24];
    size_t at = sizeof digits;
    digits[--at] = '\0';
    do
        digits[--at] = (char)('0' + value % 10);
    while ((value /= 10) > 0);
    append(text, digits + at);
}

static void describe_memory_fault(const void *address)
{
    guard_fault fault = guard_find(address);
    if (!fault.buffer)
        return;
    report.text[0] = '\0';
    if (fault.write_to_input) {
        report.verdict = VERDICT_INPUT_MODIFIED;
        append(report.text, "wrote to ");
        append(report.text, fault.buffer->name);
        return;
    }
    report.verdict = VERDICT_OVERRUN;
    long away = fault.bytes_before > 0 ? fault.bytes_before : fault.bytes_behind;
    append(report.text, "reads or writes ");
    if (away == 0)
        append(report.text, "right");
    else
        append_count(report.text, away);
    append(report.text, fault.bytes_before > 0 ? " bytes before "
                        : away > 0             ? " bytes behind the end of "
                                               : " behind the end of ");
    append(report.text, fault.buffer->name);
}

static void on_fault(int number, siginfo_t *info, void *context)
{
    (void)context;
    report.kind = REPLY_FAILED;
    report.verdict = VERDICT_CRASHED;
    report.count = running_entry;
    report.text[0] = '\0';
    append(report.text, number == SIGSEGV  ? "SIGSEGV"
                        : number == SIGBUS ? "SIGBUS"
                        : number == SIGILL ? "SIGILL"
                        : number == SIGFPE ? "SIGFPE"
                                           : "SIGABRT");
    if (number == SIGSEGV || number == SIGBUS)
        describe_memory_fault(info->si_addr);
    append(report.text, running_where);
    worker_send_last(&report);
}

static const int watched[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT};
enum { WATCHED = sizeof watched / sizeof *watched };

/* Reports SIGSEGV, SIGBUS, SIGILL, SIGFPE and SIGABRT as the verdict of the running case, then exits. */
static void worker_watch_faults(void)
{
    stack_t stack = {.ss_sp = handler_stack, .ss_size = sizeof handler_stack};
    sigaltstack(&stack, NULL);
    struct sigaction action = {.sa_sigaction = on_fault,
                               .sa_flags = (int)(SA_SIGINFO | SA_ONSTACK | SA_RESETHAND)};
    for (size_t i = 0; i < WATCHED; i++)
        sigaction(watched[i], &action, NULL);
}

/* ---- messages ---- */

static shared_arena shared = {.file = WORKER_ARENA_FD, .most = SIZE_MAX};

char *worker_memory(off_t at)
{
    return shared.memory + at;
}

/* The message that is being obeyed. */
static struct {
    size_t left; /* orders behind the one that is obeyed */
    worker_reply waiting[BATCH_MOST];
    size_t count; /* of those */
    bool over;    /* the parent ends the process */
} message;

static bool send_replies(const worker_reply *replies, size_t count)
{
    const size_t bytes = count * sizeof *replies;
    ssize_t sent;
    do
        sent = send(WORKER_SOCKET_FD, replies, bytes, MSG_NOSIGNAL);
    while (sent < 0 && errno == EINTR);
    return sent == (ssize_t)bytes;
}

/* What a plugin changed since the last answer; "": nothing. */
static char blame[REPLY_TEXT_LENGTH];

void plugin_enter(thread_state *before)
{
    guard_poison_waiting();
    floating_point_read(before);
}

bool plugin_blame(const char *callback, const char *changed)
{
    if (changed && !blame[0])
        snprintf(blame, sizeof blame, "%s %s", callback, changed);
    return !changed;
}

bool plugin_leave(const thread_state *before, const char *callback)
{
    return plugin_blame(callback, floating_point_compare(before));
}

/* What a plugin changed outweighs that all went well, or that it refused. */
static void add_blame(worker_reply *reply)
{
    bool well = reply->kind == REPLY_DONE ||
                (reply->kind == REPLY_FAILED && reply->verdict == VERDICT_DECLINED);
    if (blame[0] && well) {
        reply->kind = REPLY_FAILED;
        reply->verdict = VERDICT_STATE_CHANGED;
        memcpy(reply->text, blame, sizeof reply->text);
    }
    if (reply->kind == REPLY_DONE || reply->kind == REPLY_FAILED)
        blame[0] = '\0';
}

void worker_send_alive(void)
{
    static const double pause = 0.2;
    static double last;
    worker_reply alive = {.kind = REPLY_ALIVE};
    double now = seconds_now();
    if (now - last < pause)
        return;
    last = now;
    worker_send(&alive);
}

void worker_send_blame(void)
{
    worker_send_done("", 0);
}

void worker_send(worker_reply *reply)
{
    add_blame(reply);
    reply->magic = PROTOCOL_MAGIC;
    if (reply->kind == REPLY_ALIVE) {
        if (!send_replies(reply, 1))
            _exit(1);
        return;
    }
    message.waiting[message.count++] = *reply;
    message.over = reply_ends_process(reply);
    if (message.left > 0 && !message.over)
        return;
    if (!send_replies(message.waiting, message.count))
        _exit(1);
    message.count = 0;
}

static void worker_send_last(worker_reply *reply)
{
    reply->magic = PROTOCOL_MAGIC;
    message.waiting[message.count] = *reply;
    send_replies(message.waiting, message.count + 1);
    _exit(1);
}

void worker_send_done(const char *text, int64_t value)
{
    worker_reply done = {.kind = REPLY_DONE, .value = value};
    snprintf(done.text, sizeof done.text, "%s", text);
    worker_send(&done);
}

static bool of_library; /* the order is about a kernel of the library that lnbench came with */
static bool is_loading;
const char worker_no_memory[] = "out of memory in the worker";

/* What seems to be want of memory, or a file's fault, may be the doing of a kernel that ran before. */
static bool blame_exhausted(unsigned entry)
{
    if (blame[0]) {
        worker_send_blame();
        return true;
    }
    const char *what = of_library ? NULL : process_exhausted();
    worker_reply failed = {.kind = REPLY_FAILED,
                           .verdict = VERDICT_STATE_CHANGED,
                           .count = entry,
                           .value = REPLY_OF_PROCESS};
    if (!what)
        return false;
    snprintf(failed.text, sizeof failed.text, "run() %s", what);
    worker_send(&failed);
    return true;
}

void worker_send_failed(verdict_kind verdict, unsigned entry, const char *format, ...)
{
    if (verdict == VERDICT_LOST && !is_loading && blame_exhausted(entry))
        return;
    worker_reply failed = {.kind = REPLY_FAILED, .verdict = verdict, .count = entry};
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(failed.text, sizeof failed.text, format, arguments);
    va_end(arguments);
    worker_send(&failed);
}

void worker_send_no_memory(void)
{
    if (blame_exhausted(0))
        return;
    worker_reply failed = {.kind = REPLY_FAILED, .verdict = VERDICT_LOST, .value = REPLY_ENDS_RUN};
    snprintf(failed.text, sizeof failed.text, "%s", worker_no_memory);
    worker_send(&failed);
}

const char *worker_unprepared(void)
{
    return of_library ? worker_no_memory : "its prepare() failed";
}

void worker_send_refusal(unsigned entry, const char *refusal)
{
    if (refusal == worker_no_memory)
        worker_send_no_memory();
    else
        worker_send_failed(refusal == worker_no_threads ? VERDICT_LOST : VERDICT_DECLINED, entry,
                           "%s", refusal);
}

const ln_kernel *worker_kernel(const worker_plugins *plugins, const work_order *order)
{
    const ln_plugin_table *plugin =
        order->plugin < WORKER_MAX_PLUGINS ? plugins->plugins[order->plugin] : NULL;
    if (!plugin || order->kernel >= plugin->count)
        return NULL;
    const ln_kernel *kernel = &plugin->kernels[order->kernel];
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
const char *plugin_fault(const ln_plugin_table *plugin)
{
    if (!plugin)
        return LN_PLUGIN_SYMBOL "() returned NULL";
    if (plugin->abi_version != LN_PLUGIN_ABI)
        return "it has another ABI version than 3: compile it against this lnbench's "
               "layernorm_plugin.h";
    if (plugin->struct_size != sizeof *plugin || plugin->kernel_size != sizeof(ln_kernel))
        return "its ln_plugin_table or ln_kernel has another size: compile it again against "
               "layernorm_plugin.h";
    if (!name_is_fine(plugin->name))
        return "its name is not of [a-z0-9_.-]{1,63}";
    if (strcmp(plugin->name, "builtin") == 0)
        return "its name is 'builtin', which is the library's own here";
    if (plugin->count == 0 || !plugin->kernels)
        return "it has no kernels";
    if (plugin->count > PLUGIN_MOST_KERNELS)
        return "it has more than 65536 kernels";
    for (size_t i = 0; i < plugin->count; i++) {
        const ln_kernel *kernel = &plugin->kernels[i];
        if ((unsigned)kernel->operation >= operation_count)
            return "a kernel's operation is none of ln_operation";
        if (!name_is_fine(kernel->name) || is_roof(kernel->name))
            return "a kernel's name is not of [a-z0-9_.-]{1,63}, or begins with roof_";
        if (!kernel_isa_is_known(kernel->isa ? kernel->isa : ""))
            return "a kernel's isa is unknown: layernorm_plugin.h lists those that there are";
        if ((unsigned)kernel->storage > LN_F16 || (unsigned)kernel->param > LN_F16 ||
            (unsigned)kernel->accumulator > LN_F16)
            return "a kernel's type is none of ln_type";
        if (!kernel->run || !kernel->prepare != !kernel->release)
            return "a kernel lacks run, or has only one of prepare and release";
    }
    return NULL;
}

/* Whether `library` itself has that symbol, rather than one that it links to. */
static bool has_code(void *library, void *address)
{
    struct link_map *map, *found = NULL;
    Dl_info info;
    return address && dlinfo(library, RTLD_DI_LINKMAP, &map) == 0 &&
           dladdr1(address, &info, (void **)&found, RTLD_DL_LINKMAP) != 0 && found == map;
}

static const char older_abi[] =
    "it was built for an older plugin ABI: compile it again against layernorm_plugin.h";
static const char foreign_code[] =
    "its " LN_PLUGIN_SYMBOL " comes from a library that it loads, not from itself";

/* The plugin's table; or why it can't be taken. A file that links to the library finds the library's symbol
 * where it has none itself: own_file refuses that. */
static const ln_plugin_table *table_of(void *library, bool own_file, const char **fault)
{
    typedef const ln_plugin_table *entry(void);
    thread_state before;
    entry *ask;
    void *symbol = dlsym(library, LN_PLUGIN_SYMBOL);
    bool is_own = has_code(library, symbol);
    bool is_older = !is_own && (has_code(library, dlsym(library, "ln_plugin_v1")) ||
                                has_code(library, dlsym(library, "ln_plugin_v2")));
    *fault = is_older  ? older_abi
             : !symbol ? "it has no symbol " LN_PLUGIN_SYMBOL " (see layernorm_plugin.h)"
             : own_file && !is_own ? foreign_code
                                   : NULL;
    if (*fault)
        return NULL;
    *(void **)&ask = symbol;
    plugin_enter(&before);
    const ln_plugin_table *table = ask();
    plugin_leave(&before, LN_PLUGIN_SYMBOL "()");
    *fault = plugin_fault(table);
    return table;
}

static void copy_word(char *to, size_t size, const char *from)
{
    snprintf(to, size, "%s", name_is_fine(from) ? from : "");
}

static void send_kernel(const ln_plugin_table *plugin, unsigned index)
{
    const ln_kernel *kernel = &plugin->kernels[index];
    worker_reply described = {.kind = REPLY_KERNEL, .count = index};
    if (plugin->version)
        snprintf(described.text, sizeof described.text, "%.63s", plugin->version);
    kernel_facts *facts = &described.kernel;
    facts->operation = kernel->operation;
    copy_word(facts->name, sizeof facts->name, kernel->name);
    copy_word(facts->role, sizeof facts->role, kernel->facts.role);
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
    message.left = index + 1 < plugin->count ? BATCH_MOST - 1 - index % BATCH_MOST : 0;
    worker_send(&described);
}

/* Kernels are called in the floating-point state that loading their library set, as whoever loads it
 * calls them. It does not reach the kernels of others. */
static void *open_plugin(const char *path, plugin_load *load)
{
    thread_state before;
    plugin_enter(&before);
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    const char *set = floating_point_take(&before, &load->floating_point);
    snprintf(load->set, sizeof load->set, "%s%s", set ? "its constructor " : "", set ? set : "");
    plugin_leave(&before, "its constructor");
    return library;
}

bool plugin_set_threads(const ln_plugin_table *plugin, unsigned threads)
{
    thread_state before;
    plugin_enter(&before);
    bool fine = plugin->set_threads(threads) == 0;
    plugin_leave(&before, "set_threads()");
    return fine;
}

static void load_plugin(worker_plugins *plugins, const work_order *order)
{
    if (order->plugin >= WORKER_MAX_PLUGINS) {
        worker_send_failed(VERDICT_LOST, 0, "more than %d plugins", WORKER_MAX_PLUGINS);
        return;
    }
    plugin_load *load = &plugins->loads[order->plugin];
    void *library = open_plugin(order->text, load);
    if (!library) {
        worker_send_failed(VERDICT_LOST, 0, "%.200s", dlerror());
        return;
    }
    const char *fault;
    const ln_plugin_table *plugin = table_of(library, order->own_file, &fault);
    if (fault) {
        worker_reply refused = {.kind = REPLY_FAILED, .verdict = VERDICT_LOST};
        refused.value = fault == older_abi      ? LOAD_OLDER_ABI
                        : fault == foreign_code ? LOAD_FOREIGN_CODE
                                                : 0;
        snprintf(refused.text, sizeof refused.text, "%s", fault);
        worker_send(&refused);
        return;
    }
    /* Judged, and timed where nothing else is asked for, on one thread. */
    if (plugin_has_threads(plugin) && !plugin_set_threads(plugin, 1)) {
        worker_send_failed(VERDICT_LOST, 0, "its set_threads(1) failed");
        return;
    }
    plugins->plugins[order->plugin] = plugin;
    plugins->libraries[order->plugin] = library;
    plugins->trusted |= order->trusted;
    memcpy(load->changed, blame, sizeof blame);
    blame[0] = '\0';
    worker_reply loaded = {.kind = REPLY_LOADED, .count = (uint32_t)plugin->count};
    snprintf(loaded.text, sizeof loaded.text, "%s", plugin->name);
    snprintf(loaded.set_at_load, sizeof loaded.set_at_load, "%s", load->set);
    worker_send(&loaded);
    for (unsigned i = 0; order->count > 0 && i < plugin->count; i++)
        send_kernel(plugin, i);
}

/* What the plugin says on standard error meanwhile is kept: where the process ends, the parent shows it. */
static void worker_load(worker_plugins *plugins, const work_order *order)
{
    bool listens = fcntl(WORKER_WORDS_FD, F_GETFD) >= 0;
    int before = listens ? fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, WORKER_WORDS_FD + 1) : -1;
    if (listens)
        dup2(WORKER_WORDS_FD, STDERR_FILENO);
    load_plugin(plugins, order);
    if (before >= 0) {
        dup2(before, STDERR_FILENO);
        close(before);
    }
}

const char *kernel_refuses(const ln_kernel *kernel, const ln_problem *problem)
{
    thread_state before;
    floating_point_read(&before); /* buffers that wait need not be filled for this */
    const char *reason = kernel->supports ? kernel->supports(problem) : NULL;
    plugin_leave(&before, "supports()");
    if (reason)
        return *reason ? reason : "no reason given";
    bool same = kernel->storage == problem->storage && kernel->param == problem->param;
    return same ? NULL : "other element types";
}

/* NULL if it takes a preset at a common size, else why it refuses the first of them. */
static const char *refuses_all(const ln_kernel *kernel, ln_operation kind)
{
    static const size_t sizes[] = {64, 768, 1024};
    static char first[REPLY_TEXT_LENGTH];
    size_t presets, count = sizeof sizes / sizeof *sizes;
    const convention_preset *preset = convention_presets(kind, &presets);
    for (size_t i = 0; i < presets * count; i++) {
        ln_problem problem = problem_dense(&preset[i / count].convention, kernel->storage,
                                           kernel->param, 64, sizes[i % count]);
        const char *reason = kernel_refuses(kernel, &problem);
        if (!reason)
            return NULL;
        if (i == 0)
            snprintf(first, sizeof first, "%s", reason);
    }
    return first;
}

static void answer_supports(const worker_plugins *plugins, const work_order *order)
{
    const ln_kernel *kernel = worker_kernel(plugins, order);
    const char *reason = !kernel                    ? "no such kernel"
                         : order->problem.rows == 0 ? refuses_all(kernel, order->operation)
                                                    : kernel_refuses(kernel, &order->problem);
    worker_send_done(reason ? reason : "", reason != NULL);
}

/* Whether the plugin had changed what it must not by the time its kernel is to run. */
static bool changed_at_load(const worker_plugins *plugins, const work_order *order)
{
    bool runs = order->kind == ORDER_JUDGE || order->kind == ORDER_CALL ||
                order->kind == ORDER_CALL_LARGE ||
                (order->kind == ORDER_TIME_ENTRY && !is_roof(order->text));
    const char *changed = plugins->loads[order->plugin % WORKER_MAX_PLUGINS].changed;
    if (runs && *changed)
        worker_send_failed(VERDICT_STATE_CHANGED, 0, "%s", changed);
    return runs && *changed;
}

/* The calls of an order are made in the state that loading the plugin set; TIME_RUN sees to that
 * itself. */
static void enter_state_of(const worker_plugins *plugins, const work_order *order)
{
    if (order->plugin < WORKER_MAX_PLUGINS && plugins->plugins[order->plugin] &&
        order->kind != ORDER_LOAD && order->kind != ORDER_TIME_RUN)
        floating_point_set(&plugins->loads[order->plugin].floating_point);
}

static void obey(worker_plugins *plugins, const work_order *order)
{
    switch (order->kind) {
    case ORDER_GREET:
        worker_send_done("", 0);
        break;
    case ORDER_LOAD:
        worker_load(plugins, order);
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

/* Whether the order asks a kernel for another operation than its own. */
static bool is_of_another(const worker_plugins *plugins, const work_order *order)
{
    const ln_kernel *kernel = worker_kernel(plugins, order);
    bool asks = order->kind == ORDER_SUPPORTS || order->kind == ORDER_JUDGE ||
                order->kind == ORDER_CALL || order->kind == ORDER_CALL_LARGE;
    ln_operation asked = order->problem.convention.operation;
    if (!asks || !kernel || (order->kind == ORDER_SUPPORTS && order->problem.rows == 0))
        return false;
    if (kernel->operation != asked)
        worker_send_failed(VERDICT_DECLINED, 0, "it computes %s, not %s",
                           operation_name(kernel->operation), operation_name(asked));
    return kernel->operation != asked;
}

static void receive_order(worker_plugins *plugins, work_order *order)
{
    thread_state own;
    of_library = plugins->trusted && order->plugin == 0;
    is_loading = order->kind == ORDER_LOAD;
    if (!shared_arena_reach(&shared, order->arena_bytes)) {
        worker_send_no_memory();
        return;
    }
    if (is_of_another(plugins, order) || changed_at_load(plugins, order))
        return;
    floating_point_read(&own);
    if (order->kind != ORDER_JUDGE || !order->place)
        worker_leave_place();
    enter_state_of(plugins, order);
    obey(plugins, order);
    floating_point_set(&own);
}

/* False: the message is none of ours. */
static bool obey_all(worker_plugins *plugins, work_order *orders, size_t bytes)
{
    size_t count = bytes / sizeof *orders;
    if (bytes != count * sizeof *orders)
        return false;
    message.over = false;
    for (size_t i = 0; i < count && !message.over; i++) {
        if (orders[i].magic != PROTOCOL_MAGIC)
            return false;
        message.left = count - 1 - i;
        receive_order(plugins, &orders[i]);
        if (message.left > 0)
            worker_send_alive();
    }
    return true;
}

/* Where memory runs out, before lnbench, which keeps the results. */
static void be_ended_first(void)
{
    int file = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
    if (file >= 0 && write(file, "1000", 4) != 4) { /* then whoever the system chooses */
    }
    if (file >= 0)
        close(file);
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
    be_ended_first();
    worker_watch_faults();
    /* Threads of GNU's OpenMP that wait for work spin for milliseconds, into what is timed next; so
     * they spin as long as the pool's threads do (pool.c). Read when the library is loaded. */
    setenv("GOMP_SPINCOUNT", "1000", 0);
    static worker_plugins plugins;
    static work_order orders[BATCH_MOST];
    for (;;) {
        ssize_t got = recv(WORKER_SOCKET_FD, orders, sizeof orders, 0);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0 || !obey_all(&plugins, orders, (size_t)got))
            return 0;
    }
}
