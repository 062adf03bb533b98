/* lnbench-worker: loads kernels and runs them, one message at a time. lnbench starts it; users never do.
 *
 * 1. It starts with a socket, the memory that it shares with lnbench, and signal handlers, which report
 *    SIGSEGV and the like as the verdict of the kernel that runs.
 * 2. LOAD opens a plugin, checks its table, and describes its kernels. If the plugin's constructor changed
 *    floating-point control, the answer says so, and its kernels are called in that state.
 * 3. The other messages name a kernel: SUPPORTS, JUDGE (judged_call.c), GROW and CALL_LARGE
 *    (stress.c), BOUND, and those of timing (time.c). The answer is DONE or FAILED, with a verdict.
 * 4. After a failure lnbench ends the process; the next case has a new one. */
#include "domain/operation.h"
#include "domain/kernel.h"
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

/* ---- answers ---- */

worker_reply answer;
arena message_memory;
volatile unsigned running_entry;
const char *volatile running_where = "";

static shared_arena shared = {.file = WORKER_ARENA_FD, .most = SIZE_MAX};
static worker_plugin plugins[PLUGINS_MOST];
const ln_plugin_table *own_library;

char *worker_memory(off_t at)
{
    return shared.memory + at;
}

void worker_send(worker_reply *reply)
{
    ssize_t sent;
    do
        sent = send(WORKER_SOCKET_FD, reply, sizeof *reply, MSG_NOSIGNAL);
    while (sent < 0 && errno == EINTR);
    if (sent != sizeof *reply)
        _exit(1);
}

void worker_end_with_answer(void)
{
    worker_send(&answer);
    _exit(1);
}

bool message_fails(verdict_kind verdict, const char *format, ...)
{
    if (answer.kind == REPLY_FAILED)
        return false;
    answer = (worker_reply){.kind = REPLY_FAILED, .verdict = verdict, .count = running_entry};
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(answer.text, sizeof answer.text, format, arguments);
    va_end(arguments);
    return false;
}

/* A kernel that ran before may have used up the memory: the parent sends the message again to a new process. */
void worker_out_of_memory(size_t bytes)
{
    (void)bytes;
    answer = (worker_reply){.kind = REPLY_FAILED,
                            .verdict = VERDICT_MISSING,
                            .value = REPLY_NO_MEMORY,
                            .text = "out of memory in the worker"};
    worker_end_with_answer();
}

/* ---- faults of kernels as verdicts ---- */

/* Few functions may be called in a handler; snprintf() of numbers and short strings neither allocates nor locks. */
static void on_fault(int number, siginfo_t *info, void *context)
{
    (void)context;
    char *text = answer.text;
    answer =
        (worker_reply){.kind = REPLY_FAILED, .verdict = VERDICT_CRASHED, .count = running_entry};
    snprintf(text, sizeof answer.text, "SIG%s", sigabbrev_np(number));
    if (number == SIGSEGV || number == SIGBUS)
        guard_find(info->si_addr, text, sizeof answer.text, &answer.verdict);
    const size_t length = strlen(text);
    snprintf(text + length, sizeof answer.text - length, "%s", running_where);
    worker_end_with_answer();
}

/* ---- calls into plugins ---- */

void plugin_enter(thread_state *before)
{
    guard_poison_waiting();
    floating_point_read(before);
}

bool plugin_leave(const thread_state *before, const char *callback)
{
    thread_state found;
    const char *changed = floating_point_compare(before, &found);
    return !changed || message_fails(VERDICT_STATE_CHANGED, "%s %s", callback, changed);
}

bool plugin_set_threads(const ln_plugin_table *plugin, unsigned threads)
{
    thread_state before;
    plugin_enter(&before);
    bool fine = plugin->set_threads(threads) == 0;
    return plugin_leave(&before, "set_threads()") && fine;
}

const worker_plugin *plugin_of(const worker_message *message)
{
    return &plugins[message->plugin];
}

const ln_kernel *kernel_of(const worker_message *message)
{
    const ln_plugin_table *plugin = plugin_of(message)->table;
    const ln_kernel *kernel =
        plugin && message->kernel < plugin->count ? &plugin->kernels[message->kernel] : NULL;
    if (kernel && strcmp(kernel->name, message->text) == 0)
        return kernel;
    /* The file was rebuilt after its kernels were listed. */
    message_fails(VERDICT_MISSING, "no such kernel");
    return NULL;
}

const char *kernel_refuses(const ln_kernel *kernel, const ln_problem *problem)
{
    thread_state before;
    floating_point_read(&before); /* unlike plugin_enter(), this leaves the waiting buffers alone */
    const char *reason = kernel->supports ? kernel->supports(problem) : NULL;
    plugin_leave(&before, "supports()");
    if (reason)
        return *reason ? reason : "no reason given";
    bool same = kernel->storage == problem->storage && kernel->param == problem->param;
    return same ? NULL : "other element types";
}

/* ---- loading ---- */

static bool name_is_fine(const char *name)
{
    size_t length = name ? strnlen(name, NAME_MAX_LENGTH) : 0;
    return length > 0 && length < NAME_MAX_LENGTH &&
           strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_.-") == length;
}

/* Returns the reason why the plugin cannot be used, or NULL. Messages show none of its strings, which may be unsafe. */
static const char *plugin_fault(const ln_plugin_table *plugin)
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
        return "its name does not match [a-z0-9_.-]{1,63}";
    if (strcmp(plugin->name, "builtin") == 0)
        return "its name is 'builtin', which is reserved for lnbench's kernels";
    if (plugin->count == 0 || !plugin->kernels)
        return "it has no kernels";
    for (size_t i = 0; i < plugin->count; i++) {
        const ln_kernel *kernel = &plugin->kernels[i];
        if ((unsigned)kernel->operation >= operation_count)
            return "a kernel's operation is no value of ln_operation";
        if (!name_is_fine(kernel->name) || is_copy(kernel->name))
            return "a kernel's name does not match [a-z0-9_.-]{1,63}, or is copy or copy_...";
        if (!kernel_isa_is_known(kernel->isa ? kernel->isa : ""))
            return "a kernel's isa is unknown: layernorm_plugin.h lists the known ones";
        if ((unsigned)kernel->storage > LN_F16 || (unsigned)kernel->param > LN_F16 ||
            (unsigned)kernel->accumulator > LN_F16)
            return "a kernel's type is no value of ln_type";
        if (!kernel->run || !kernel->prepare != !kernel->release)
            return "a kernel lacks run, or has only one of prepare and release";
    }
    return NULL;
}

/* Returns true if `library` itself contains that function, and not a library that it links to. */
static bool has_code(void *library, void *address)
{
    struct link_map *map, *found = NULL;
    Dl_info info;
    return dlinfo(library, RTLD_DI_LINKMAP, &map) == 0 &&
           dladdr1(address, &info, (void **)&found, RTLD_DL_LINKMAP) != 0 && found == map;
}

static void copy_word(char *to, size_t size, const char *from)
{
    snprintf(to, size, "%s", name_is_fine(from) ? from : "");
}

/* Returns NULL if the kernel supports a preset at a common size, or else its reason for refusing the first of them. */
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

/* Describes the kernels at the start of shared memory. supports() is called only if the message wants it, since a crash
 * in it ends the process. */
static void describe_kernels(const ln_plugin_table *plugin, bool asks_support)
{
    const size_t bytes = plugin->count * sizeof(kernel_description);
    if (!shared_arena_reach(&shared, bytes))
        worker_out_of_memory(bytes);
    kernel_description *described = memset(worker_memory(0), 0, bytes);
    for (size_t i = 0; i < plugin->count; i++) {
        const ln_kernel *kernel = &plugin->kernels[i];
        kernel_facts *facts = &described[i].facts;
        const char *reason = asks_support ? refuses_all(kernel, kernel->operation) : NULL;
        snprintf(described[i].unsupported, REPLY_TEXT_LENGTH, "%s", reason ? reason : "");
        facts->operation = kernel->operation;
        copy_word(facts->name, sizeof facts->name, kernel->name);
        copy_word(facts->role, sizeof facts->role, kernel->role);
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
    }
}

static void load_plugin(const worker_message *message)
{
    worker_plugin *loaded = &plugins[message->plugin];
    typedef const ln_plugin_table *entry(void);
    thread_state before;
    entry *ask;
    /* A program that loads the plugin calls its kernels in the floating-point state that loading it sets, so lnbench
     * does the same; other plugins' kernels are not called in it. */
    plugin_enter(&before);
    void *library = dlopen(message->text, RTLD_NOW | RTLD_LOCAL);
    const char *set = floating_point_compare(&before, &loaded->floating_point);
    if (!library) {
        message_fails(VERDICT_MISSING, "%.200s", dlerror());
        return;
    }
    void *symbol = dlsym(library, LN_PLUGIN_SYMBOL);
    if (!symbol) {
        message_fails(VERDICT_MISSING, "it has no symbol " LN_PLUGIN_SYMBOL
                                       ": compile it against layernorm_plugin.h");
        return;
    }
    *(void **)&ask = symbol;
    plugin_enter(&before);
    const ln_plugin_table *table = ask();
    const char *fault = plugin_fault(table);
    if (!plugin_leave(&before, LN_PLUGIN_SYMBOL "()"))
        return;
    if (fault) {
        message_fails(VERDICT_MISSING, "%s", fault);
        return;
    }
    for (size_t i = 0; message->own_file && i < table->count; i++)
        /* Code in a library that both builds load would be the same for both of them. */
        if (!has_code(library, *(void *const *)&table->kernels[i].run)) {
            message_fails(VERDICT_MISSING, "a kernel's run is in another library, which it loads");
            answer.value = EXIT_CODE_NOT_COMPARABLE;
            return;
        }
    /* Kernels are judged and timed on one thread, unless a message has more. */
    if (table->set_threads && !plugin_set_threads(table, 1)) {
        message_fails(VERDICT_MISSING, "its set_threads(1) failed");
        return;
    }
    loaded->table = table;
    loaded->library = library;
    if (message->plugin == 0 && !message->own_file)
        own_library = table;
    answer.kind = REPLY_LOADED;
    answer.count = (uint32_t)table->count;
    snprintf(answer.text, sizeof answer.text, "%s", table->name);
    snprintf(answer.version, sizeof answer.version, "%.63s", table->version ? table->version : "");
    if (set)
        snprintf(answer.set_at_load, sizeof answer.set_at_load, "its constructor %s", set);
    if (message->describes)
        describe_kernels(table, message->describes == DESCRIBES_SUPPORT);
}

/* ---- messages ---- */

static void answer_bound(const worker_message *message, const ln_kernel *kernel)
{
    const bool is_probable = message->chance > 0;
    const ln_row_facts *facts = (void *)worker_memory(message->at.facts);
    ln_bound *bounds = (void *)worker_memory(message->at.bounds);
    thread_state before;
    if (!(is_probable ? kernel->probable_bound != NULL : kernel->bound != NULL) ||
        kernel_refuses(kernel, &message->problem))
        return;
    plugin_enter(&before);
    for (size_t i = 0; i < message->count; i++)
        bounds[i] = is_probable
                        ? kernel->probable_bound(&message->problem, &facts[i], message->chance)
                        : kernel->bound(&message->problem, &facts[i]);
    plugin_leave(&before, "bound()");
    answer.value = 1;
}

static void handle_message(const worker_message *message)
{
    switch (message->kind) {
    case MESSAGE_GREET:
        return;
    case MESSAGE_LOAD:
        if (ftruncate(WORKER_ERRORS_FD, 0) == 0 && lseek(WORKER_ERRORS_FD, 0, SEEK_SET) == 0)
            dup2(WORKER_ERRORS_FD, STDERR_FILENO);
        load_plugin(message);
        dup2(STDIN_FILENO, STDERR_FILENO); /* standard input is /dev/null */
        return;
    case MESSAGE_TIME_BEGIN:
        worker_time_begin(message);
        return;
    case MESSAGE_TIME_ENTRY:
        worker_time_entry(message);
        return;
    case MESSAGE_TIME_RUN:
        worker_time_run(message);
        return;
    default:
        break;
    }
    const ln_kernel *kernel = kernel_of(message);
    const ln_operation wanted = message->problem.convention.operation;
    if (kernel && message->kind == MESSAGE_BOUND)
        answer_bound(message, kernel);
    if (!kernel || message->kind == MESSAGE_BOUND)
        return;
    if (kernel->operation != wanted) {
        message_fails(VERDICT_UNSUPPORTED, "it computes %s, not %s",
                      operation_name(kernel->operation), operation_name(wanted));
        return;
    }
    const char *refusal = kernel_refuses(kernel, &message->problem);
    if (!refusal && message->at.tensors[ROLE_RESIDUAL] >= 0 &&
        (kernel->traits & LN_TRAIT_NO_RESIDUAL))
        refusal = "it takes no residual";
    if (refusal)
        message_fails(VERDICT_UNSUPPORTED, "%s", refusal);
    if (answer.kind == REPLY_FAILED)
        return;
    if (message->kind == MESSAGE_JUDGE)
        worker_judge(message, kernel);
    else if (message->kind == MESSAGE_GROW)
        worker_grow(message, kernel);
    else if (message->kind == MESSAGE_CALL_LARGE)
        worker_call_large(message, kernel);
}

/* Handles a message in the floating-point state that loading its plugin set; TIME_RUN sets each kernel's own state. */
static void answer_message(const worker_message *message)
{
    thread_state own;
    answer = (worker_reply){.kind = REPLY_DONE};
    running_entry = 0;
    arena_reset(&message_memory);
    if (!shared_arena_reach(&shared, message->arena_bytes))
        worker_out_of_memory(message->arena_bytes);
    floating_point_read(&own);
    if (message->kind != MESSAGE_JUDGE || !message->place)
        worker_leave_place();
    if (plugin_of(message)->table && message->kind != MESSAGE_LOAD &&
        message->kind != MESSAGE_TIME_RUN)
        floating_point_set(&plugin_of(message)->floating_point);
    handle_message(message);
    floating_point_set(&own);
    worker_send(&answer);
}

int main(void)
{
    /* The process dies with its parent, leaves no core files, and leaves Ctrl-C to the parent. */
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    signal(SIGINT, SIG_IGN);
    int type;
    socklen_t length = sizeof type;
    if (getsockopt(WORKER_SOCKET_FD, SOL_SOCKET, SO_TYPE, &type, &length) != 0) {
        fputs("lnbench-worker is started by lnbench, not by hand\n", stderr);
        return EXIT_CODE_USAGE;
    }
    /* If memory runs out, the system should end this process and not lnbench, which keeps the results. */
    int score = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
    if (score >= 0 && write(score, "1000", 4) != 4) { /* not allowed: the system chooses */
    }
    if (score >= 0)
        close(score);
    out_of_memory = worker_out_of_memory;
    /* The handlers have a stack of their own, so that a kernel that overflows the stack is reported too. */
    static char handler_stack[64 * 1024];
    static const int faults[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT};
    const stack_t stack = {.ss_sp = handler_stack, .ss_size = sizeof handler_stack};
    const struct sigaction action = {.sa_sigaction = on_fault,
                                     .sa_flags = (int)(SA_SIGINFO | SA_ONSTACK | SA_RESETHAND)};
    sigaltstack(&stack, NULL);
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
        sigaction(faults[i], &action, NULL);
    /* GNU OpenMP's threads spin for milliseconds while they wait for work, and would disturb the next timed kernel.
     * This makes them spin as long as the pool's threads do (pool.c). OpenMP reads it when it is loaded. */
    setenv("GOMP_SPINCOUNT", "1000", 0);
    static worker_message message;
    for (;;) {
        ssize_t got = recv(WORKER_SOCKET_FD, &message, sizeof message, 0);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return 0;
        answer_message(&message);
    }
}
