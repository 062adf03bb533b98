#include "worker/worker.h"
#include "base/arena.h"
#include "base/program.h"
#include "base/hash.h"
#include "base/clock.h"
#include "base/text.h"
#include "domain/machine.h"
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <math.h>
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

enum { LOAD_DEADLINE = 20, START_DEADLINE = 20, END_DEADLINE = 2, FIRST_FREE_FD = 10, NONE = -1 };

/* A worker process, or none: there is a slot for each plugin and one for timing. Each wait for the process ends at a
 * deadline, or at the next Ctrl-C. */
typedef struct worker_slot {
    pid_t process;
    int socket;          /* -1: there is no process */
    int errors;          /* a memory file, its standard error while it loads a plugin; 0: none */
    worker_message last; /* the last message, except MESSAGE_GO_ON */
    long oom_kills;      /* of the control group at the start of the process (domain/machine.h) */
    uint64_t loaded;     /* bit i: plugin i */
    int64_t ran_last;    /* the index of the kernel that ran last, or NONE */
    bool ran_others;     /* other kernels than the last one ran in this process */
} worker_slot;

struct worker_process {
    kernel_runner runner; /* the first member */
    char program[PROTOCOL_PATH_LENGTH];
    char plugins[PLUGINS_MOST + 1][PROTOCOL_PATH_LENGTH]; /* the library first */
    size_t plugin_count;
    size_t peer_count; /* the peers follow the library */
    bool builds;       /* the plugins are builds, in one process without the library */
    shared_arena arena;
    worker_slot slots[PLUGINS_MOST + 1]; /* one for each plugin, and then one for timing */
    worker_slot *current;                /* the slot that got the last message; NULL: none */
};

/* ---- a process ---- */

static void end_process(worker_slot *slot)
{
    if (slot->errors > 0)
        close(slot->errors);
    if (slot->socket >= 0) {
        close(slot->socket);
        child_kill(slot->process);
    }
    *slot = (worker_slot){.socket = -1, .ran_last = NONE};
}

static bool end_with(worker_slot *slot, verdict_kind verdict, const char *text, worker_reply *reply)
{
    end_process(slot);
    *reply = (worker_reply){.kind = REPLY_FAILED, .verdict = verdict, .count = reply->count};
    snprintf(reply->text, sizeof reply->text, "%s", text);
    return false;
}

typedef struct new_worker {
    const char *program; /* its path */
    int socket, arena, errors;
} new_worker;

/* Runs in the child. Only the socket, the arena, the standard streams and the file of errors stay open. */
static void become_worker(void *context)
{
    const new_worker *made = context;
    int kept_socket = fcntl(made->socket, F_DUPFD, FIRST_FREE_FD);
    int kept_arena = fcntl(made->arena, F_DUPFD, FIRST_FREE_FD);
    int kept_errors = made->errors > 0 ? fcntl(made->errors, F_DUPFD, FIRST_FREE_FD) : 0;
    int null = open("/dev/null", O_RDWR);
    if (kept_socket < 0 || kept_arena < 0 || null < 0 || dup2(null, 0) < 0 || dup2(null, 1) < 0 ||
        (made->errors != 0 && dup2(null, 2) < 0) || dup2(kept_socket, WORKER_SOCKET_FD) < 0 ||
        dup2(kept_arena, WORKER_ARENA_FD) < 0 ||
        (kept_errors > 0 && dup2(kept_errors, WORKER_ERRORS_FD) < 0))
        _exit(126);
    close_range(kept_errors > 0 ? WORKER_ERRORS_FD + 1 : WORKER_ERRORS_FD, ~0u, 0);
    execl(made->program, made->program, (char *)NULL);
    _exit(127);
}

/* Returns true if the system killed the process because memory ran out, which is no kernel's fault and ends the run. */
static bool ended_for_memory(const worker_slot *slot, int status, worker_reply *reply)
{
    const ln_problem *problem = &slot->last.problem;
    char where[64] = "", limit[64] = "";
    if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGKILL || slot->oom_kills < 0 ||
        control_group_oom_kills("") <= slot->oom_kills)
        return false;
    double bytes = control_group_memory("");
    if (problem->rows > 0)
        snprintf(where, sizeof where, " at %zux%zu", problem->rows, problem->hidden);
    if (bytes > 0)
        snprintf(limit, sizeof limit, ", whose control group may use %.0f MiB", bytes / 0x1p20);
    reply->verdict = VERDICT_MISSING;
    reply->value = REPLY_ENDS_RUN;
    snprintf(
        reply->text, sizeof reply->text,
        "out of memory%s: the system ended the worker%s: choose fewer rows, or raise the limit",
        where, limit);
    return true;
}

/* Ends a slot whose socket was closed, and writes into *reply how the process ended; for an end during a load with the
 * last line of its standard error. A kernel that closed the socket itself may run forever, so the wait has a deadline.
 * Returns false. */
static bool has_ended(worker_slot *slot, worker_reply *reply)
{
    int status;
    char line[256] = "", how[64];
    close(slot->socket);
    slot->socket = -1;
    child_wait(slot->process, END_DEADLINE, &status);
    *reply =
        (worker_reply){.kind = REPLY_FAILED, .verdict = VERDICT_CRASHED, .count = reply->count};
    if (WIFSIGNALED(status))
        snprintf(how, sizeof how, "SIG%s", sigabbrev_np(WTERMSIG(status)));
    else
        snprintf(how, sizeof how, "exited with status %d", WEXITSTATUS(status));
    if (slot->last.kind == MESSAGE_LOAD && slot->errors > 0)
        last_line_read(slot->errors, line, sizeof line);
    if (!ended_for_memory(slot, status, reply))
        snprintf(reply->text, sizeof reply->text, *line ? "%.40s: %.200s" : "%.40s", how, line);
    end_process(slot);
    return false;
}

/* Sends a message; the socket has room, since the process waits for one. False: it has ended, and *reply says how. */
static bool send_message(worker_slot *slot, const worker_message *message, worker_reply *reply)
{
    ssize_t put;
    *reply = (worker_reply){0};
    if (message->kind != MESSAGE_GO_ON)
        slot->last = *message;
    do
        put = send(slot->socket, message, sizeof *message, MSG_NOSIGNAL);
    while (put < 0 && errno == EINTR);
    if (put < 0 && errno != EPIPE && errno != ECONNRESET) /* an error that no kernel can cause */
        die(EXIT_CODE_ENVIRONMENT, "the worker's socket: %s", strerror(errno));
    return put == (ssize_t)sizeof *message || has_ended(slot, reply);
}

/* Returns the seconds that the first thread of a process has waited for a processor. */
static double seconds_queued(pid_t process)
{
    char path[64];
    unsigned long long queued = 0;
    snprintf(path, sizeof path, "/proc/%d/schedstat", (int)process);
    FILE *file = fopen(path, "re");
    if (file && fscanf(file, "%*u %llu", &queued) != 1)
        queued = 0;
    if (file)
        fclose(file);
    return 1e-9 * (double)queued;
}

/* Receives the next answer. False: *reply is FAILED, and the process has ended. Time in which the worker waits for a
 * processor extends the deadline, at most tenfold. It is read only after 0.1 s, since most answers come earlier. */
static bool receive_reply(worker_slot *slot, double seconds, worker_reply *reply)
{
    enum { LONGEST = 500, AT_ONCE = 100 }; /* milliseconds */
    char text[64];
    const double deadline = seconds_now() + seconds;
    double queued = 1000 * seconds > AT_ONCE ? -1 : seconds_queued(slot->process), left = seconds;
    ssize_t got;
    int ready = 0;
    while (ready == 0) {
        const double longest = queued < 0 ? AT_ONCE : LONGEST;
        struct pollfd poll_this = {.fd = slot->socket, .events = POLLIN};
        if (interrupted())
            return end_with(slot, VERDICT_MISSING, "interrupted", reply);
        if (left <= 0) {
            number_print(text, sizeof text, "no answer within %g s", seconds);
            return end_with(slot, VERDICT_TIMEOUT, text, reply);
        }
        ready = poll(&poll_this, 1, (int)fmin(left * 1000 + 1, longest));
        ready = ready < 0 && errno == EINTR ? 0 : ready;
        queued = queued < 0 && ready == 0 ? seconds_queued(slot->process) : queued;
        left = deadline - seconds_now();
        if (left <= 0 && ready == 0)
            left += fmin(seconds_queued(slot->process) - queued, 9 * seconds);
    }
    while ((got = recv(slot->socket, reply, sizeof *reply, MSG_DONTWAIT)) < 0 && errno == EINTR)
        ;
    return got == (ssize_t)sizeof *reply || has_ended(slot, reply);
}

/* Receives the answer. False: *reply is FAILED; the process has ended, but for UNSUPPORTED and NONDETERMINISTIC. */
static bool receive_answer(worker_slot *slot, double deadline_seconds, worker_reply *reply)
{
    enum { MOST_DEADLINES = 100 }; /* for a message whose handling is reported as REPLY_ALIVE */
    double end = seconds_now() + MOST_DEADLINES * deadline_seconds;
    bool got;
    do
        got = receive_reply(slot, seconds_now() < end ? deadline_seconds : 0, reply);
    while (got && reply->kind == REPLY_ALIVE);
    /* A plugin's own words are shown on terminals, in tables and pages, so they become one printable line. */
    text_make_printable(reply->text, "");
    text_make_printable(reply->version, "");
    text_make_printable(reply->set_at_load, "");
    /* After such a failure the process is in a state in which nothing should be measured. */
    if (got && reply_ends_process(reply))
        end_process(slot);
    return got && reply->kind != REPLY_FAILED;
}

/* Stops the process of the last message and continues this one: only one at a time runs and writes to the arena. */
static void switch_to(worker_process *worker, worker_slot *slot)
{
    worker_slot *before = worker->current;
    if (before && before != slot && before->socket >= 0)
        kill(-before->process, SIGSTOP);
    if (before != slot && slot->socket >= 0)
        kill(-slot->process, SIGCONT);
    worker->current = slot;
}

/* Starts a new process of the worker's program and waits until it answers. If it cannot be started, lnbench ends (7).
 * False: interrupted, and *reply says so. */
static bool start_process(worker_process *worker, worker_slot *slot, worker_reply *reply)
{
    int pair[2];
    worker_message greet = message_for(MESSAGE_GREET, NULL);
    end_process(slot);
    switch_to(worker, slot);
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0)
        die(EXIT_CODE_ENVIRONMENT, "socketpair for the worker: %s", strerror(errno));
    int errors = memfd_create("lnbench-errors", MFD_CLOEXEC);
    new_worker made = {worker->program, pair[1], worker->arena.file, errors};
    pid_t child = child_execute(become_worker, &made);
    if (child < 0)
        die(EXIT_CODE_ENVIRONMENT, "fork for the worker: %s", strerror(errno));
    close(pair[1]);
    *slot = (worker_slot){.process = child,
                          .socket = pair[0],
                          .errors = errors,
                          .ran_last = NONE,
                          .oom_kills = control_group_oom_kills("")};
    if (send_message(slot, &greet, reply) && receive_answer(slot, START_DEADLINE, reply))
        return true;
    if (!interrupted())
        die(EXIT_CODE_ENVIRONMENT, "the worker %.300s cannot be started: %.200s", worker->program,
            reply->text);
    end_with(slot, VERDICT_MISSING, "interrupted", reply);
    reply->value = REPLY_ENDS_RUN;
    return false;
}

/* ---- messages ---- */

static worker_slot *slot_of(worker_process *worker, const worker_message *message)
{
    const bool times = message->kind >= MESSAGE_TIME_BEGIN; /* the last kinds are for timing */
    return &worker->slots[worker->builds ? 0 : times ? worker->plugin_count : message->plugin];
}

/* Loads a plugin into a process. False: *reply says why, and reply->count is the plugin. */
static bool ask_to_load(worker_process *worker, worker_slot *slot, unsigned plugin,
                        description_kind describes, worker_reply *reply)
{
    worker_message message = message_for(MESSAGE_LOAD, NULL);
    snprintf(message.text, sizeof message.text, "%s", worker->plugins[plugin]);
    message.plugin = plugin;
    message.describes = describes;
    message.own_file = worker->builds;
    const bool fine =
        send_message(slot, &message, reply) && receive_answer(slot, LOAD_DEADLINE, reply);
    if (fine)
        slot->loaded |= UINT64_C(1) << plugin;
    else
        reply->count = plugin;
    return fine;
}

/* Loads a plugin without descriptions, unless the process has loaded it. */
static bool load_again(worker_process *worker, worker_slot *slot, unsigned plugin,
                       worker_reply *reply)
{
    case_verdict said;
    if (slot->loaded >> plugin & 1 || ask_to_load(worker, slot, plugin, DESCRIBES_NOTHING, reply))
        return true;
    verdict_say(&said, "at load: %s", reply->text);
    snprintf(reply->text, sizeof reply->text, "%.200s", said.detail);
    return false;
}

bool worker_renew(worker_process *worker, const kernel_entry *const *kernels, size_t count,
                  worker_reply *reply)
{
    worker_slot *slot = &worker->slots[worker->builds ? 0 : worker->plugin_count];
    bool fine = start_process(worker, slot, reply);
    for (unsigned plugin = 0; fine && plugin < worker->plugin_count; plugin++) {
        bool wanted = !kernels;
        for (size_t i = 0; i < count; i++)
            wanted |= kernels[i]->plugin == plugin;
        fine = !wanted || load_again(worker, slot, plugin, reply);
    }
    return fine;
}

static bool runs_kernel(const worker_message *message)
{
    return message->kind >= MESSAGE_JUDGE && message->kind <= MESSAGE_BOUND;
}

/* Sends a message to a process that has loaded the plugin of its kernel. */
static bool send_to(worker_process *worker, worker_slot *slot, const worker_message *message,
                    worker_reply *reply)
{
    worker_message sent = *message;
    *reply = (worker_reply){0};
    sent.arena_bytes = worker->arena.mapped;
    if (slot->socket < 0 && !start_process(worker, slot, reply))
        return false;
    switch_to(worker, slot);
    bool of_kernel = message->text[0] && !is_copy(message->text);
    for (unsigned plugin = 0; plugin < worker->plugin_count; plugin++)
        if ((worker->builds || (of_kernel && plugin == message->plugin)) &&
            !load_again(worker, slot, plugin, reply))
            return false;
    if (!send_message(slot, &sent, reply))
        return false;
    if (runs_kernel(message)) {
        slot->ran_others |= slot->ran_last != NONE && slot->ran_last != (int64_t)message->kernel;
        slot->ran_last = message->kernel;
    }
    return true;
}

bool worker_send_message(worker_process *worker, const worker_message *message, worker_reply *reply)
{
    return send_to(worker, slot_of(worker, message), message, reply);
}

bool worker_next(worker_process *worker, double deadline_seconds, worker_reply *reply)
{
    return receive_answer(worker->current, deadline_seconds, reply);
}

/* If another kernel of the plugin ran in the process before, a crash may be its fault; and if any kernel ran before,
 * it may have used up memory. The message is then sent again to a new process. */
bool worker_ask(worker_process *worker, const worker_message *message, double deadline_seconds,
                worker_reply *reply)
{
    worker_slot *slot = slot_of(worker, message);
    bool others, any;
    do {
        any = slot->ran_last != NONE;
        others = any && (slot->ran_others || slot->ran_last != (int64_t)message->kernel);
        if (!send_to(worker, slot, message, reply))
            return false;
        if (receive_answer(slot, deadline_seconds, reply))
            return true;
    } while (slot->socket < 0 && runs_kernel(message) &&
             (reply->verdict == VERDICT_MISSING ? any && reply->value == REPLY_NO_MEMORY
                                                : others && reply->verdict == VERDICT_CRASHED));
    return false;
}

static bool runner_ask(kernel_runner *runner, const worker_message *message,
                       double deadline_seconds, worker_reply *reply)
{
    return worker_ask((worker_process *)runner, message, deadline_seconds, reply);
}

static void runner_reserve(kernel_runner *runner, size_t bytes)
{
    worker_process *worker = (worker_process *)runner;
    if (!shared_arena_reach(&worker->arena, bytes))
        die(EXIT_CODE_ENVIRONMENT, "memory file of %zu bytes: %s", bytes, strerror(errno));
    runner->memory = worker->arena.memory;
}

void worker_forget(worker_process *worker)
{
    for (size_t i = 0; i <= worker->plugin_count; i++)
        end_process(&worker->slots[i]);
    worker->current = NULL;
}

/* ---- peers: plugins with the kernels of other libraries. They are built if the library is found, and loaded by
 * default, so that every table compares them with ours ---- */

static void add_path(worker_process *worker, const char *path)
{
    if (worker->plugin_count == PLUGINS_MOST)
        die(EXIT_CODE_USAGE, "more than %d plugins", PLUGINS_MOST);
    if (strlen(path) > PROTOCOL_PATH_LENGTH - 3)
        die(EXIT_CODE_USAGE, "plugin %.60s...: path of more than %d characters", path,
            PROTOCOL_PATH_LENGTH - 3);
    if (access(path, R_OK) != 0)
        die(EXIT_CODE_ENVIRONMENT, "plugin %s: %s", path, strerror(errno));
    /* A name without a slash would be looked up among the system's libraries. */
    snprintf(worker->plugins[worker->plugin_count++], PROTOCOL_PATH_LENGTH, "%s%s",
             strchr(path, '/') ? "" : "./", path);
}

/* Adds the peers that were built or installed with lnbench, in the order of their names, without those that the user
 * gave as plugins. Adds none if LNBENCH_PEERS is 0. */
static void add_peers(worker_process *worker, const char *const *plugins, size_t count)
{
    char pattern[1024];
    glob_t found;
    const char *wanted = getenv("LNBENCH_PEERS");
    if ((wanted && strcmp(wanted, "0") == 0) || !own_path(OWN_PEERS, pattern, sizeof pattern - 5))
        return;
    strcat(pattern, "/*.so");
    if (glob(pattern, 0, NULL, &found) != 0)
        return;
    for (size_t i = 0; i < found.gl_pathc; i++) {
        const char *path = found.gl_pathv[i], *name = strrchr(path, '/');
        /* A peer opens a library "lib..." of its own itself. */
        bool left_out = strncmp(name ? name + 1 : path, "lib", 3) == 0;
        struct stat one, other;
        for (size_t plugin = 0; plugin < count && stat(path, &one) == 0; plugin++)
            left_out |= stat(plugins[plugin], &other) == 0 && one.st_dev == other.st_dev &&
                        one.st_ino == other.st_ino;
        if (!left_out)
            add_path(worker, path);
    }
    worker->peer_count = worker->plugin_count - 1;
    globfree(&found);
}

/* ---- loading ---- */

/* Loads plugin i into its process and adds its kernels to the list. If it cannot be used, returns the exit code and
 * writes the reason into list->left_out. */
static exit_code load_plugin(worker_process *worker, unsigned i, kernel_list *list)
{
    worker_slot *slot = &worker->slots[worker->builds ? 0 : i];
    worker_reply loaded = {0};
    uint64_t object_hash = 0;
    /* If a supports() crashes, the plugin is loaded again without calling supports(); the cases then show the fault. */
    bool fine = false, again = true;
    for (int describes = DESCRIBES_SUPPORT; again && describes >= DESCRIBES_FACTS; describes--) {
        bool runs = slot->socket >= 0 || start_process(worker, slot, &loaded);
        switch_to(worker, slot);
        fine = runs && ask_to_load(worker, slot, i, (description_kind)describes, &loaded);
        again =
            !fine && (loaded.verdict == VERDICT_CRASHED || loaded.verdict == VERDICT_STATE_CHANGED);
    }
    if (!fine) {
        case_verdict verdict = {.kind = loaded.verdict};
        char description[256];
        verdict_say(&verdict, "%s", loaded.text);
        verdict_describe(&verdict, description, sizeof description);
        const bool missing = loaded.verdict == VERDICT_MISSING;
        snprintf(list->left_out, sizeof list->left_out,
                 missing ? "plugin %s: %s" : "plugin %s: %s at load", worker->plugins[i],
                 missing ? loaded.text : description);
        return !missing           ? EXIT_CODE_KERNEL_FAILED
               : loaded.value > 0 ? (exit_code)loaded.value
                                  : EXIT_CODE_ENVIRONMENT;
    }
    if (!hash_file(worker->plugins[i], &object_hash)) {
        snprintf(list->left_out, sizeof list->left_out, "%s: cannot read it: %s",
                 worker->plugins[i], strerror(errno));
        return EXIT_CODE_ENVIRONMENT;
    }
    list->kernels = reallocate(list->kernels, (list->count + loaded.count) * sizeof *list->kernels);
    runner_reserve(&worker->runner, loaded.count * sizeof(kernel_description));
    const kernel_description *described = (const void *)worker->runner.memory;
    for (unsigned kernel = 0; kernel < loaded.count; kernel++) {
        kernel_entry *entry = &list->kernels[list->count];
        *entry = (kernel_entry){.facts = described[kernel].facts,
                                .plugin = i,
                                .kernel = kernel,
                                .object_hash = object_hash};
        memcpy(entry->unsupported, described[kernel].unsupported, sizeof entry->unsupported);
        text_make_printable(entry->unsupported, "");
        snprintf(entry->source, sizeof entry->source, "%.63s",
                 i == 0 && !worker->builds ? "builtin" : loaded.text);
        memcpy(entry->version, loaded.version, sizeof entry->version);
        memcpy(entry->set_at_load, loaded.set_at_load, sizeof entry->set_at_load);
        for (size_t other = 0; other < list->count; other++)
            if (strcmp(list->kernels[other].facts.name, entry->facts.name) == 0) {
                snprintf(list->left_out, sizeof list->left_out,
                         "kernel %s is in both %s and %s: rename one", entry->facts.name,
                         list->kernels[other].source, entry->source);
                return EXIT_CODE_USAGE;
            }
        list->count++;
    }
    return EXIT_CODE_FINE;
}

/* ---- a worker ---- */

kernel_runner *worker_runner(worker_process *worker)
{
    return worker ? &worker->runner : NULL;
}

static void open_worker(worker_process *worker)
{
    worker->runner = (kernel_runner){.ask = runner_ask, .reserve = runner_reserve};
    for (size_t i = 0; i <= PLUGINS_MOST; i++)
        worker->slots[i] = (worker_slot){.socket = -1, .ran_last = NONE};
    shared_arena_open(&worker->arena);
}

/* Starts a worker. The kernels of build i go to lists[i]; without builds, all kernels go to lists[0]. */
static worker_process *start_worker(bool builds, const char *const *files, size_t count,
                                    kernel_list *lists)
{
    const size_t list_count = builds ? count : 1;
    worker_process *worker = allocate_zeroed(1, sizeof *worker);
    worker->builds = builds;
    own_path(OWN_WORKER, worker->program, sizeof worker->program);
    if (!builds) {
        own_path(OWN_LIBRARY, worker->plugins[0], sizeof worker->plugins[0]);
        worker->plugin_count = 1;
        add_peers(worker, files, count);
    }
    for (size_t i = 0; i < count; i++)
        add_path(worker, files[i]);
    open_worker(worker);
    for (size_t i = 0; i < list_count; i++)
        lists[i] = (kernel_list){0};
    /* A plugin that cannot be loaded ends the program; a peer is left out. */
    for (unsigned i = 0; i < worker->plugin_count; i++) {
        kernel_list *list = &lists[builds ? i : 0];
        const size_t before = list->count;
        const exit_code code = load_plugin(worker, i, list);
        if (code == EXIT_CODE_FINE)
            continue;
        if (interrupted())
            die(EXIT_CODE_INTERRUPTED, "interrupted");
        if (i == 0 || i > worker->peer_count)
            die(code, "%s", list->left_out);
        list->count = before;
    }
    return worker;
}

worker_process *worker_start(const char *const *plugins, size_t plugin_count, kernel_list *kernels)
{
    return start_worker(false, plugins, plugin_count, kernels);
}

worker_process *worker_start_builds(const char *const *files, size_t count, kernel_list *lists)
{
    return start_worker(true, files, count, lists);
}

worker_process *worker_start_another(const worker_process *worker)
{
    worker_process *made = allocate_zeroed(1, sizeof *made);
    *made = *worker;
    made->current = NULL;
    made->runner.memory = NULL;
    open_worker(made);
    return made;
}

void worker_files(const worker_process *worker, word_list *files)
{
    char maps[64], line[PROTOCOL_PATH_LENGTH + 128];
    snprintf(maps, sizeof maps, "/proc/%d/maps", (int)worker->slots->process);
    FILE *file = fopen(maps, "re");
    if (!file)
        die(EXIT_CODE_ENVIRONMENT, "%s: %s", maps, strerror(errno));
    while (fgets(line, sizeof line, file)) {
        char *path = strchr(line, '/');
        line[strcspn(line, "\n")] = '\0';
        if (path)
            word_list_add(files, path);
    }
    fclose(file);
}

void worker_stop(worker_process *worker)
{
    if (!worker)
        return;
    worker_forget(worker);
    shared_arena_close(&worker->arena);
    free(worker);
}
