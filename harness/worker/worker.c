#include "worker/worker.h"
#include "base/seconds.h"
#include "base/text.h"
#include "domain/convention.h"
#include "worker/child/guard.h"
#include "base/hash.h"
#include "base/interrupt.h"
#include "base/paths.h"
#include "worker/peers.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LOAD_DEADLINE = 20, END_DEADLINE = 2, FIRST_FREE_FD = 10 };

struct worker_process {
    char program[PROTOCOL_PATH_LENGTH];
    char (*plugins)[PROTOCOL_PATH_LENGTH]; /* the library first */
    size_t plugin_count;
    size_t peer_count; /* these follow the library */
    bool builds;       /* side by side, without the library */
    int arena;
    size_t arena_bytes;
    int socket; /* -1: no process */
    pid_t process;
};

work_order worker_order(order_kind kind, const kernel_entry *kernel)
{
    work_order made = {.magic = PROTOCOL_MAGIC,
                       .kind = kind,
                       .cpu = -1,
                       .threads = 1,
                       .x_offset = GUARD_TIMED_READ_OFFSET,
                       .y_offset = GUARD_TIMED_WRITE_OFFSET};
    made.at = (arena_map){-1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1};
    if (kernel) {
        made.plugin = kernel->plugin;
        made.kernel = kernel->kernel;
        snprintf(made.text, sizeof made.text, "%s", kernel->facts.name);
    }
    return made;
}

/* In the child: only the socket, the arena and standard error stay open. */
static void become_worker(const worker_process *worker, int socket)
{
    int kept_socket = fcntl(socket, F_DUPFD, FIRST_FREE_FD);
    int kept_arena = fcntl(worker->arena, F_DUPFD, FIRST_FREE_FD);
    int null = open("/dev/null", O_RDWR);
    bool loud = getenv("LNBENCH_WORKER_STDERR") != NULL;
    if (kept_socket < 0 || kept_arena < 0 || null < 0 || dup2(null, 0) < 0 || dup2(null, 1) < 0 ||
        (!loud && dup2(null, 2) < 0) || dup2(kept_socket, WORKER_SOCKET_FD) < 0 ||
        dup2(kept_arena, WORKER_ARENA_FD) < 0)
        _exit(126);
    setpgid(0, 0); /* so that what a kernel forks ends with it */
    close_range(WORKER_ARENA_FD + 1, ~0u, 0);
    execl(worker->program, worker->program, (char *)NULL);
    _exit(127);
}

static bool spawn(worker_process *worker, error *err)
{
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0)
        return fail(err, EXIT_CODE_ENVIRONMENT, "socketpair for the worker: %s", strerror(errno));
    pid_t process = fork();
    if (process == 0)
        become_worker(worker, pair[1]);
    int why = errno;
    close(pair[1]);
    if (process < 0) {
        close(pair[0]);
        return fail(err, EXIT_CODE_ENVIRONMENT, "fork for the worker: %s", strerror(why));
    }
    worker->socket = pair[0];
    worker->process = process;
    return true;
}

static bool has_ended(pid_t process)
{
    siginfo_t info = {0};
    return waitid(P_PID, (id_t)process, &info, WEXITED | WNOHANG | WNOWAIT) != 0 ||
           info.si_pid == process;
}

/* A process whose socket is closed has ended, or is about to; but a kernel that closed the socket
 * may run on for ever. */
static void wait_for_end(pid_t process)
{
    double deadline = seconds_now() + END_DEADLINE;
    while (!has_ended(process) && seconds_now() < deadline)
        nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
}

/* Ends the process, if there is one, with all that it forked, and tells how it ended. */
static void bury(worker_process *worker, bool kill_it, worker_reply *reply)
{
    int status = 0;
    if (worker->socket < 0)
        return;
    close(worker->socket);
    worker->socket = -1;
    if (!kill_it)
        wait_for_end(worker->process);
    kill(worker->process, SIGKILL);
    kill(-worker->process, SIGKILL);
    while (waitpid(worker->process, &status, 0) < 0 && errno == EINTR)
        ;
    if (!reply || kill_it)
        return;
    reply->kind = REPLY_FAILED;
    reply->verdict = VERDICT_CRASHED;
    if (WIFSIGNALED(status))
        snprintf(reply->text, sizeof reply->text, "SIG%s", sigabbrev_np(WTERMSIG(status)));
    else
        snprintf(reply->text, sizeof reply->text, "exited with status %d", WEXITSTATUS(status));
}

static bool gone(worker_process *worker, verdict_kind verdict, const char *text,
                 worker_reply *reply)
{
    bury(worker, true, NULL);
    *reply = (struct worker_reply){.kind = REPLY_FAILED, .verdict = verdict, .count = reply->count};
    snprintf(reply->text, sizeof reply->text, "%s", text);
    return false;
}

bool worker_send_order(worker_process *worker, const work_order *order, worker_reply *reply)
{
    memset(reply, 0, sizeof *reply);
    if (worker->socket < 0) {
        error err;
        if (!worker_renew(worker, &err))
            return gone(worker, VERDICT_SKIPPED, "a worker could not be started", reply);
    }
    ssize_t sent;
    do
        sent = send(worker->socket, order, sizeof *order, MSG_NOSIGNAL);
    while (sent < 0 && errno == EINTR);
    if (sent == (ssize_t)sizeof *order)
        return true;
    bury(worker, false, reply);
    return false;
}

/* How long a process, its first thread, has waited for a processor so far; 0: not known. */
static double seconds_queued(pid_t process)
{
    char path[64];
    unsigned long long ran, queued;
    snprintf(path, sizeof path, "/proc/%d/schedstat", (int)process);
    FILE *file = fopen(path, "re");
    bool known = file && fscanf(file, "%llu %llu", &ran, &queued) == 2;
    if (file)
        fclose(file);
    return known ? 1e-9 * (double)queued : 0;
}

/* 1: something to read; 0: it took so many seconds; -1: interrupted. What the worker waits for a
 * processor does not count: on a busy machine no kernel is hung for that. */
static int wait_readable(const worker_process *worker, double seconds)
{
    enum { AT_ONCE = 100 }; /* milliseconds: most answers come by then */
    struct pollfd soon = {.fd = worker->socket, .events = POLLIN};
    if (seconds * 1000 > AT_ONCE && poll(&soon, 1, AT_ONCE) > 0)
        return 1;
    double deadline = seconds_now() + seconds, before = seconds_queued(worker->process);
    for (;;) {
        double left = deadline - seconds_now();
        if (interrupted())
            return -1;
        if (left <= 0)
            left += seconds_queued(worker->process) - before;
        if (left <= 0)
            return 0;
        struct pollfd poll_this = {.fd = worker->socket, .events = POLLIN};
        int ready = poll(&poll_this, 1, left > 1 ? 1000 : (int)(left * 1000) + 1);
        if (ready > 0)
            return 1;
        if (ready < 0 && errno != EINTR)
            return 0;
    }
}

static bool makes_no_sense(worker_process *worker, worker_reply *reply)
{
    reply->count = 0;
    return gone(worker, VERDICT_CRASHED, "the worker's answers make no sense", reply);
}

bool worker_next(worker_process *worker, double deadline_seconds, worker_reply *reply)
{
    char text[64];
    int ready = wait_readable(worker, deadline_seconds);
    if (ready < 0)
        return gone(worker, VERDICT_SKIPPED, "interrupted", reply);
    if (ready == 0) {
        snprintf(text, sizeof text, "no answer within %g s", deadline_seconds);
        return gone(worker, VERDICT_TIMEOUT, text, reply);
    }
    ssize_t got;
    do
        got = recv(worker->socket, reply, sizeof *reply, 0);
    while (got < 0 && errno == EINTR);
    if (got <= 0) {
        memset(reply, 0, sizeof *reply);
        bury(worker, false, reply);
        return false;
    }
    if (got != (ssize_t)sizeof *reply || !reply_is_sane(reply))
        return makes_no_sense(worker, reply);
    /* A plugin's own words, shown on terminals, in tables and pages: one printable line. */
    text_make_printable(reply->text, "");
    if (reply->kind != REPLY_FAILED)
        return true;
    /* These end the process, or leave it in a state that nothing should be measured in. */
    if (reply->verdict != VERDICT_UNSUPPORTED && reply->verdict != VERDICT_NONDETERMINISTIC)
        bury(worker, true, NULL);
    return false;
}

bool worker_ask(worker_process *worker, const work_order *order, double deadline_seconds,
                worker_reply *reply)
{
    if (!worker_send_order(worker, order, reply) || !worker_next(worker, deadline_seconds, reply))
        return false;
    return reply->kind == REPLY_DONE || makes_no_sense(worker, reply);
}

int worker_arena(const worker_process *worker)
{
    return worker->arena;
}

bool worker_arena_reserve(worker_process *worker, size_t bytes, error *err)
{
    if (bytes <= worker->arena_bytes)
        return true;
    if (ftruncate(worker->arena, (off_t)bytes) != 0)
        return fail(err, EXIT_CODE_ENVIRONMENT, "memory file of %zu bytes: %s", bytes,
                    strerror(errno));
    worker->arena_bytes = bytes;
    return true;
}

/* Why a plugin can't be used, as an error. */
static bool load_failed(const char *path, const worker_reply *reply, error *err)
{
    if (interrupted())
        return fail(err, EXIT_CODE_INTERRUPTED, "interrupted");
    if (reply->verdict == VERDICT_SKIPPED)
        return fail(err, reply->value ? EXIT_CODE_NOT_COMPARABLE : EXIT_CODE_ENVIRONMENT,
                    "plugin %s: %s", path, reply->text);
    case_verdict verdict = {.kind = reply->verdict};
    char description[256];
    snprintf(verdict.detail, sizeof verdict.detail, "%.190s", reply->text);
    return fail(err, EXIT_CODE_KERNEL_FAILED, "plugin %s: %s at load", path,
                verdict_describe(&verdict, description, sizeof description));
}

static bool add_kernel(kernel_list *list, const kernel_entry *entry, error *err)
{
    for (size_t i = 0; i < list->count; i++)
        if (strcmp(list->kernels[i].facts.name, entry->facts.name) == 0)
            return fail(err, EXIT_CODE_USAGE,
                        "kernel %s stands in both %s and %s: names must differ", entry->facts.name,
                        list->kernels[i].source, entry->source);
    kernel_entry *kernels = realloc(list->kernels, (list->count + 1) * sizeof *kernels);
    if (!kernels)
        return fail_memory(err, "the list of kernels");
    list->kernels = kernels;
    kernels[list->count++] = *entry;
    return true;
}

/* Loads plugin i into the process; fills the list where one is given. */
static bool load(worker_process *worker, size_t i, kernel_list *list, error *err)
{
    work_order order = worker_order(ORDER_LOAD, NULL);
    snprintf(order.text, sizeof order.text, "%s", worker->plugins[i]);
    order.own_file = worker->builds;
    worker_reply reply = {0};
    if (!worker_send_order(worker, &order, &reply) || !worker_next(worker, LOAD_DEADLINE, &reply))
        return load_failed(worker->plugins[i], &reply, err);
    char source[NAME_MAX_LENGTH];
    snprintf(source, sizeof source, "%.63s", i == 0 && !worker->builds ? "builtin" : reply.text);
    unsigned count = reply.kind == REPLY_LOADED ? reply.count : 0;
    uint64_t object_hash = 0;
    if (list && !hash_file(worker->plugins[i], &object_hash))
        return fail(err, EXIT_CODE_ENVIRONMENT, "%s: cannot read it: %s", worker->plugins[i],
                    strerror(errno));
    for (unsigned kernel = 0; kernel < count; kernel++) {
        if (!worker_next(worker, LOAD_DEADLINE, &reply) || reply.kind != REPLY_KERNEL)
            return load_failed(worker->plugins[i], &reply, err);
        kernel_entry entry = {.facts = reply.kernel,
                              .plugin = (unsigned)i,
                              .kernel = kernel,
                              .object_hash = object_hash};
        snprintf(entry.source, sizeof entry.source, "%s", source);
        snprintf(entry.version, sizeof entry.version, "%.63s", reply.text);
        if (list && !add_kernel(list, &entry, err))
            return false;
    }
    return true;
}

bool worker_renew(worker_process *worker, error *err)
{
    bury(worker, true, NULL);
    if (!spawn(worker, err))
        return false;
    for (size_t i = 0; i < worker->plugin_count; i++)
        if (!load(worker, i, NULL, err))
            return false;
    return true;
}

/* A kernel that refuses one problem may take another: what refuses every preset at common sizes
 * can't be run here, for the first reason it gave. */
static void ask_one(worker_process *worker, kernel_entry *entry)
{
    static const size_t sizes[] = {64, 768, 1024};
    size_t presets, count = sizeof sizes / sizeof *sizes;
    const convention_preset *preset = convention_presets(&presets);
    for (size_t i = 0; i < presets * count; i++) {
        work_order order = worker_order(ORDER_SUPPORTS, entry);
        size_t hidden = sizes[i % count];
        order.problem = (ln_problem){.rows = 64,
                                     .hidden = hidden,
                                     .x_stride = hidden,
                                     .y_stride = hidden,
                                     .residual_stride = hidden,
                                     .sum_stride = hidden,
                                     .storage = entry->facts.storage,
                                     .param = entry->facts.param,
                                     .convention = preset[i / count].convention};
        worker_reply reply;
        bool answered = worker_ask(worker, &order, LOAD_DEADLINE, &reply);
        if (answered && reply.value == 0) {
            entry->unsupported[0] = '\0';
            return;
        }
        if (i == 0)
            snprintf(entry->unsupported, sizeof entry->unsupported, "%s", reply.text);
        if (!answered)
            return;
    }
}

static void ask_support(worker_process *worker, kernel_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        ask_one(worker, &list->kernels[i]);
}

static bool is_same_file(const char *a, const char *b)
{
    struct stat one, other;
    return stat(a, &one) == 0 && stat(b, &other) == 0 && one.st_dev == other.st_dev &&
           one.st_ino == other.st_ino;
}

static bool add_path(worker_process *worker, const char *path, error *err)
{
    char *to = worker->plugins[worker->plugin_count];
    if (strlen(path) > PROTOCOL_PATH_LENGTH - 3)
        return fail(err, EXIT_CODE_USAGE, "plugin %.60s...: path of more than %d characters", path,
                    PROTOCOL_PATH_LENGTH - 3);
    if (access(path, R_OK) != 0)
        return fail(err, EXIT_CODE_ENVIRONMENT, "plugin %s: %s", path, strerror(errno));
    /* A name without a slash would be looked up among the system's libraries. */
    snprintf(to, PROTOCOL_PATH_LENGTH, "%s%s", strchr(path, '/') ? "" : "./", path);
    worker->plugin_count++;
    return true;
}

/* The peers that are not named as plugins too, then the plugins. */
static bool add_paths(worker_process *worker, const word_list *peers, const char *const *plugins,
                      size_t count, error *err)
{
    for (size_t peer = 0; peer < peers->count; peer++) {
        bool named = false;
        for (size_t i = 0; i < count; i++)
            named |= is_same_file(plugins[i], peers->words[peer]);
        if (!named && !add_path(worker, peers->words[peer], err))
            return false;
    }
    worker->peer_count = worker->plugin_count - (worker->builds ? 0 : 1);
    for (size_t i = 0; i < count; i++)
        if (!add_path(worker, plugins[i], err))
            return false;
    return true;
}

static bool prepare(worker_process *worker, const char *const *plugins, size_t count, error *err)
{
    word_list peers = {0};
    bool fine = worker->builds || peers_find(&peers, err);
    worker->plugins = calloc(count + peers.count + 1, sizeof *worker->plugins);
    if (fine && !worker->plugins)
        fine = fail_memory(err, "the list of plugins");
    fine = fine && path_of_worker(worker->program, sizeof worker->program, err);
    if (fine && !worker->builds) {
        fine = path_of_library(worker->plugins[0], sizeof worker->plugins[0], err);
        worker->plugin_count = 1;
    }
    fine = fine && add_paths(worker, &peers, plugins, count, err);
    word_list_free(&peers);
    if (!fine)
        return false;
    worker->arena = memfd_create("lnbench-arena", MFD_CLOEXEC);
    if (worker->arena < 0)
        return fail(err, EXIT_CODE_ENVIRONMENT, "memory file: %s", strerror(errno));
    return true;
}

/* A peer that can't be loaded, since its library is gone, say, is no reason to do nothing. */
static bool leave_out(worker_process *worker, size_t i, kernel_list *list, error *err)
{
    if (i == 0 || i > worker->peer_count || err->code == EXIT_CODE_INTERRUPTED)
        return false;
    snprintf(list->left_out, sizeof list->left_out, "%.500s", err->message);
    memmove(worker->plugins[i], worker->plugins[i + 1],
            (worker->plugin_count - i - 1) * sizeof *worker->plugins);
    worker->plugin_count--;
    worker->peer_count--;
    list->count = 0;
    *err = (struct error){0};
    bury(worker, true, NULL);
    return spawn(worker, err);
}

/* Of builds, file i's kernels go to lists[i]; else all to lists[0]. */
static bool start(worker_process *worker, const char *const *files, size_t count,
                  kernel_list *lists, error *err)
{
    bool fine = prepare(worker, files, count, err) && spawn(worker, err);
    for (size_t i = 0; fine && i < worker->plugin_count; i++) {
        kernel_list *list = &lists[worker->builds ? i : 0];
        if (load(worker, i, list, err))
            continue;
        fine = leave_out(worker, i, list, err);
        i = (size_t)-1; /* from the first one on */
    }
    for (size_t i = 0; fine && i < (worker->builds ? count : 1); i++)
        ask_support(worker, &lists[i]);
    return fine;
}

static bool start_either(bool builds, const char *const *files, size_t count,
                         worker_process **started, kernel_list *lists, error *err)
{
    size_t list_count = builds ? count : 1;
    worker_process *worker = calloc(1, sizeof *worker);
    *started = NULL;
    for (size_t i = 0; i < list_count; i++)
        lists[i] = (kernel_list){0};
    if (!worker)
        return fail_memory(err, "the worker");
    worker->arena = worker->socket = -1;
    worker->builds = builds;
    if (start(worker, files, count, lists, err)) {
        *started = worker;
        return true;
    }
    for (size_t i = 0; i < list_count; i++)
        kernel_list_free(&lists[i]);
    worker_stop(worker);
    return false;
}

bool worker_start(const char *const *plugins, size_t plugin_count, worker_process **worker,
                  kernel_list *kernels, error *err)
{
    return start_either(false, plugins, plugin_count, worker, kernels, err);
}

bool worker_start_builds(const char *const *files, size_t count, worker_process **worker,
                         kernel_list *lists, error *err)
{
    return start_either(true, files, count, worker, lists, err);
}

bool worker_start_another(const worker_process *worker, struct worker_process **another, error *err)
{
    struct worker_process *made = calloc(1, sizeof *made);
    *another = NULL;
    if (!made)
        return fail_memory(err, "the worker");
    *made = *worker;
    made->socket = -1;
    made->process = 0;
    made->arena_bytes = 0;
    made->arena = memfd_create("lnbench-arena", MFD_CLOEXEC);
    made->plugins = calloc(worker->plugin_count + 1, sizeof *made->plugins);
    if (made->arena >= 0 && made->plugins) {
        memcpy(made->plugins, worker->plugins, worker->plugin_count * sizeof *made->plugins);
        *another = made;
        return true;
    }
    fail(err, EXIT_CODE_ENVIRONMENT, "another worker: %s", strerror(errno));
    worker_stop(made);
    return false;
}

bool worker_objects(worker_process *worker, worker_object **objects, size_t *count, error *err)
{
    enum { MOST_OBJECTS = 4096 };
    work_order order = worker_order(ORDER_OBJECTS, NULL);
    worker_reply reply;
    *objects = NULL;
    *count = 0;
    bool fine = worker_ask(worker, &order, LOAD_DEADLINE, &reply);
    size_t wanted =
        fine && reply.value > 0 && reply.value <= MOST_OBJECTS ? (size_t)reply.value : 0;
    if (wanted && !(*objects = calloc(wanted, sizeof **objects)))
        return fail_memory(err, "the worker's objects");
    while (fine && *count < wanted && (fine = worker_next(worker, LOAD_DEADLINE, &reply))) {
        worker_object *object = &(*objects)[(*count)++];
        object->identity = (uint64_t)reply.value;
        snprintf(object->path, sizeof object->path, "%s", reply.text);
    }
    if (fine && wanted)
        return true;
    free(*objects);
    *objects = NULL;
    return fail(err, EXIT_CODE_ENVIRONMENT, "the worker: cannot list what it loaded: %.150s",
                reply.text);
}

void worker_stop(worker_process *worker)
{
    if (!worker)
        return;
    bury(worker, true, NULL);
    if (worker->arena >= 0)
        close(worker->arena);
    free(worker->plugins);
    free(worker);
}
