#include "worker/worker.h"
#include "base/allocate.h"
#include "base/hash.h"
#include "base/interrupt.h"
#include "base/paths.h"
#include "worker/process.h"
#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LOAD_DEADLINE = 20, NOBODY = -1, PLUGINS_MOST = 64 };

/* A process, and what it holds. */
typedef struct worker_seat {
    kernel_process process;
    uint64_t loaded;  /* bit i: plugin i */
    int64_t ran_last; /* a kernel by its number in the plugin, or NOBODY */
    bool ran_others;  /* of this process, not only the last one */
} worker_seat;

struct worker_process {
    kernel_runner runner; /* the first member */
    char program[PROTOCOL_PATH_LENGTH];
    char (*plugins)[PROTOCOL_PATH_LENGTH]; /* the library first */
    size_t plugin_count;
    size_t peer_count; /* these follow the library */
    bool builds;       /* side by side in one process, without the library */
    shared_arena arena;
    worker_seat *seats; /* of each plugin; one more for timing */
    worker_seat *asked; /* by the last order; NULL: none yet */
};

/* What a peer opens for itself lies beside it, and has a library's name. */
static bool is_plugin(const char *path)
{
    const char *slash = strrchr(path, '/');
    return strncmp(slash ? slash + 1 : path, "lib", 3) != 0;
}

static bool is_same_file(const char *a, const char *b)
{
    struct stat one, other;
    return stat(a, &one) == 0 && stat(b, &other) == 0 && one.st_dev == other.st_dev &&
           one.st_ino == other.st_ino;
}

/* ---- the peers: other libraries' kernels, plugins that are built where their library is found and loaded by
 * default, so that they stand in every table beside ours ---- */

/* Adds the paths of those that were built or installed with lnbench and are none of the plugins, in the order
 * of their names; none where LNBENCH_PEERS is 0. */
static bool peers_find(word_list *paths, const char *const *plugins, size_t count, error *err)
{
    char pattern[1024];
    glob_t found;
    const char *wanted = getenv("LNBENCH_PEERS");
    if ((wanted && strcmp(wanted, "0") == 0) || !path_of_peers(pattern, sizeof pattern - 5))
        return true;
    strcat(pattern, "/*.so");
    int status = glob(pattern, 0, NULL, &found);
    bool fine = status != GLOB_NOSPACE || fail_memory(err, "the list of peers");
    for (size_t i = 0; status == 0 && i < found.gl_pathc; i++) {
        bool named = false;
        for (size_t plugin = 0; plugin < count; plugin++)
            named |= is_same_file(plugins[plugin], found.gl_pathv[i]);
        if (!named && is_plugin(found.gl_pathv[i]))
            word_list_add(paths, found.gl_pathv[i]);
    }
    if (status == 0)
        globfree(&found);
    return fine;
}

/* ---- processes ---- */

static worker_seat *seat_of(worker_process *worker, const work_order *order)
{
    if (worker->builds)
        return worker->seats;
    switch (order->kind) {
    case ORDER_TIME_BEGIN:
    case ORDER_TIME_ENTRY:
    case ORDER_TIME_RUN:
    case ORDER_GO_ON:
        return &worker->seats[worker->plugin_count];
    default:
        return &worker->seats[order->plugin];
    }
}

static void vacate(worker_seat *seat)
{
    process_end(&seat->process);
    *seat = (worker_seat){.process.socket = -1, .ran_last = NOBODY};
}

/* The others do nothing meanwhile: neither take time nor reach the arena. */
static void turn_to(worker_process *worker, worker_seat *seat)
{
    if (worker->asked && worker->asked != seat)
        process_pause(&worker->asked->process);
    if (worker->asked != seat)
        process_resume(&seat->process);
    worker->asked = seat;
}

static bool start_process(worker_process *worker, worker_seat *seat, error *err)
{
    vacate(seat);
    turn_to(worker, seat);
    return process_start(&seat->process, worker->program, worker->arena.file, err);
}

static bool cannot_start(const error *err, worker_reply *reply)
{
    *reply = (worker_reply){.kind = REPLY_FAILED, .verdict = VERDICT_LOST, .value = REPLY_ENDS_RUN};
    snprintf(reply->text, sizeof reply->text, "%.*s", (int)sizeof reply->text - 1, err->message);
    return false;
}

/* The first answer to an order to load; those that describe kernels follow if they are wanted. */
static bool ask_to_load(worker_process *worker, worker_seat *seat, unsigned plugin, bool describe,
                        worker_reply *reply)
{
    work_order order = worker_order(ORDER_LOAD, NULL);
    snprintf(order.text, sizeof order.text, "%s", worker->plugins[plugin]);
    order.plugin = plugin;
    order.count = describe;
    order.own_file = worker->builds;
    order.trusted = plugin == 0 && !worker->builds;
    if (!process_send(&seat->process, &order, 1, reply) ||
        !process_next(&seat->process, LOAD_DEADLINE, reply))
        return false;
    seat->loaded |= UINT64_C(1) << plugin;
    return true;
}

static bool load_again(worker_process *worker, worker_seat *seat, unsigned plugin,
                       worker_reply *reply)
{
    if (seat->loaded >> plugin & 1)
        return true;
    if (ask_to_load(worker, seat, plugin, false, reply))
        return true;
    char text[REPLY_TEXT_LENGTH];
    snprintf(text, sizeof text, "at load: %.200s", reply->text);
    memcpy(reply->text, text, sizeof text);
    reply->count = plugin;
    return false;
}

bool worker_renew(worker_process *worker, const kernel_entry *const *kernels, size_t count,
                  worker_reply *reply)
{
    error err = {0};
    worker_seat *seat = &worker->seats[worker->builds ? 0 : worker->plugin_count];
    if (!start_process(worker, seat, &err))
        return cannot_start(&err, reply);
    for (unsigned plugin = 0; plugin < worker->plugin_count; plugin++) {
        bool wanted = !kernels;
        for (size_t i = 0; i < count; i++)
            wanted |= kernels[i]->plugin == plugin;
        if (wanted && !load_again(worker, seat, plugin, reply))
            return false;
    }
    return true;
}

/* The seat's process, with the order's plugin. */
static bool prepare_seat(worker_process *worker, worker_seat *seat, const work_order *order,
                         worker_reply *reply)
{
    error err = {0};
    bool of_kernel = order->text[0] && !is_roof(order->text) && order->kind != ORDER_LOAD;
    if (seat->process.socket < 0 && !start_process(worker, seat, &err))
        return cannot_start(&err, reply);
    turn_to(worker, seat);
    if (worker->builds) {
        for (unsigned plugin = 0; plugin < worker->plugin_count; plugin++)
            if (!load_again(worker, seat, plugin, reply))
                return false;
        return true;
    }
    return !of_kernel || load_again(worker, seat, order->plugin, reply);
}

static bool runs_kernel(const work_order *order)
{
    return order->kind >= ORDER_JUDGE && order->kind <= ORDER_BOUND;
}

static bool send_to(worker_process *worker, worker_seat *seat, const work_order *order,
                    size_t count, worker_reply *reply)
{
    work_order sent[BATCH_MOST];
    memcpy(sent, order, count * sizeof *sent);
    for (size_t i = 0; i < count; i++)
        sent[i].arena_bytes = worker->arena.mapped;
    *reply = (worker_reply){0};
    if (!prepare_seat(worker, seat, order, reply))
        return false;
    if (!process_send(&seat->process, sent, count, reply)) {
        vacate(seat);
        return false;
    }
    if (runs_kernel(order)) {
        seat->ran_others |= seat->ran_last != NOBODY && seat->ran_last != (int64_t)order->kernel;
        seat->ran_last = order->kernel;
    }
    return true;
}

bool worker_send_order(worker_process *worker, const work_order *order, worker_reply *reply)
{
    return send_to(worker, seat_of(worker, order), order, 1, reply);
}

static bool next_of(worker_seat *seat, double deadline_seconds, worker_reply *reply)
{
    if (process_next(&seat->process, deadline_seconds, reply))
        return true;
    if (seat->process.socket < 0)
        vacate(seat);
    return false;
}

bool worker_next(worker_process *worker, double deadline_seconds, worker_reply *reply)
{
    return next_of(worker->asked, deadline_seconds, reply);
}

bool worker_disbelieve(worker_process *worker, worker_reply *reply)
{
    process_disbelieve(&worker->asked->process, reply);
    vacate(worker->asked);
    return false;
}

/* A crash, or want of descriptors, where another kernel of the plugin ran before may be that one's doing: this one is asked
 * again in a process where nobody ran. */
static bool is_asked_again(const worker_seat *seat, const work_order *order,
                           const worker_reply *reply)
{
    return runs_kernel(order) && seat->ran_others &&
           (reply->verdict == VERDICT_CRASHED || reply->value == REPLY_OF_PROCESS);
}

bool worker_ask(worker_process *worker, const work_order *order, double deadline_seconds,
                worker_reply *reply)
{
    worker_seat *seat = seat_of(worker, order);
    for (bool again = true; again;) {
        if (!send_to(worker, seat, order, 1, reply))
            return false;
        if (process_next(&seat->process, deadline_seconds, reply))
            return reply->kind == REPLY_DONE || worker_disbelieve(worker, reply);
        if (seat->process.socket >= 0)
            return false;
        again = is_asked_again(seat, order, reply);
        vacate(seat);
    }
    return false;
}

static bool runner_reserve(kernel_runner *runner, size_t bytes, error *err)
{
    worker_process *worker = (worker_process *)runner;
    if (!shared_arena_reach(&worker->arena, bytes))
        return fail(err, EXIT_CODE_ENVIRONMENT, "memory file of %zu bytes: %s", bytes,
                    strerror(errno));
    runner->memory = worker->arena.memory;
    return true;
}

/* Why a plugin can't be used, as an error. */
static bool load_failed(const char *path, const worker_reply *reply, error *err)
{
    if (interrupted())
        return fail(err, EXIT_CODE_INTERRUPTED, "interrupted");
    if (reply->verdict == VERDICT_LOST && reply->value == LOAD_OLDER_ABI)
        return fail(err, EXIT_CODE_ENVIRONMENT,
                    "%s was built for an older plugin ABI: compile it again against "
                    "layernorm_plugin.h",
                    path);
    if (reply->verdict == VERDICT_LOST)
        return fail(err,
                    reply->value == LOAD_FOREIGN_CODE ? EXIT_CODE_NOT_COMPARABLE
                                                      : EXIT_CODE_ENVIRONMENT,
                    "plugin %s: %s", path, reply->text);
    case_verdict verdict = {.kind = reply->verdict};
    char description[256];
    verdict_say(&verdict, "%s", reply->text);
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
    kernel_entry *kernels = reallocate(list->kernels, (list->count + 1) * sizeof *kernels);
    list->kernels = kernels;
    kernels[list->count++] = *entry;
    return true;
}

/* Loads plugin i into its process and fills the list. */
static bool load_plugin(worker_process *worker, unsigned i, kernel_list *list, error *err)
{
    worker_seat *seat = &worker->seats[worker->builds ? 0 : i];
    worker_reply reply = {0};
    if (seat->process.socket < 0 && !start_process(worker, seat, err))
        return false;
    turn_to(worker, seat);
    if (!ask_to_load(worker, seat, i, true, &reply))
        return load_failed(worker->plugins[i], &reply, err);
    char source[NAME_MAX_LENGTH], set_at_load[CHANGE_LENGTH];
    memcpy(set_at_load, reply.set_at_load, sizeof set_at_load);
    snprintf(source, sizeof source, "%.63s", i == 0 && !worker->builds ? "builtin" : reply.text);
    unsigned count = reply.count;
    uint64_t object_hash = 0;
    if (!hash_file(worker->plugins[i], &object_hash))
        return fail(err, EXIT_CODE_ENVIRONMENT, "%s: cannot read it: %s", worker->plugins[i],
                    strerror(errno));
    worker_reply described[BATCH_MOST];
    for (unsigned kernel = 0; kernel < count; kernel++) {
        const unsigned at = kernel % BATCH_MOST, left = count - kernel;
        if (at == 0 && process_answers(&seat->process, LOAD_DEADLINE, described,
                                       left < BATCH_MOST ? left : BATCH_MOST) == 0)
            return load_failed(worker->plugins[i], described, err);
        if (described[at].kind == REPLY_FAILED ||
            (described[at].kind != REPLY_KERNEL && !worker_disbelieve(worker, &described[at])))
            return load_failed(worker->plugins[i], &described[at], err);
        kernel_entry entry = {.facts = described[at].kernel,
                              .plugin = i,
                              .kernel = kernel,
                              .object_hash = object_hash};
        snprintf(entry.source, sizeof entry.source, "%s", source);
        snprintf(entry.version, sizeof entry.version, "%.63s", described[at].text);
        memcpy(entry.set_at_load, set_at_load, sizeof entry.set_at_load);
        if (!add_kernel(list, &entry, err))
            return false;
    }
    return true;
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

/* The peers, then the plugins. */
static bool add_paths(worker_process *worker, const word_list *peers, const char *const *plugins,
                      size_t count, error *err)
{
    for (size_t peer = 0; peer < peers->count; peer++)
        if (!add_path(worker, peers->words[peer], err))
            return false;
    worker->peer_count = worker->plugin_count - (worker->builds ? 0 : 1);
    for (size_t i = 0; i < count; i++)
        if (!add_path(worker, plugins[i], err))
            return false;
    return true;
}

static void make_seats(worker_process *worker)
{
    worker->seats = allocate_zeroed(worker->plugin_count + 1, sizeof *worker->seats);
    for (size_t i = 0; i <= worker->plugin_count; i++)
        worker->seats[i] = (worker_seat){.process.socket = -1, .ran_last = NOBODY};
}

void worker_forget(worker_process *worker)
{
    for (size_t i = 0; worker->seats && i <= worker->plugin_count; i++)
        vacate(&worker->seats[i]);
    worker->asked = NULL;
}

static bool prepare_worker(worker_process *worker, const char *const *plugins, size_t count,
                           error *err)
{
    word_list peers = {0};
    bool fine = worker->builds || peers_find(&peers, plugins, count, err);
    worker->plugins = allocate_zeroed(count + peers.count + 1, sizeof *worker->plugins);
    fine = fine && path_of_worker(worker->program, sizeof worker->program, err);
    if (fine && !worker->builds) {
        fine = path_of_library(worker->plugins[0], sizeof worker->plugins[0], err);
        worker->plugin_count = 1;
    }
    fine = fine && add_paths(worker, &peers, plugins, count, err);
    word_list_free(&peers);
    if (fine && worker->plugin_count > PLUGINS_MOST)
        fine = fail(err, EXIT_CODE_USAGE, "more than %d plugins", PLUGINS_MOST);
    make_seats(worker);
    return fine && shared_arena_open(&worker->arena, err);
}

/* A peer that can't be loaded, since its library is gone, say, is no reason to do nothing. */
static bool leave_out(worker_process *worker, size_t i, kernel_list *list, error *err)
{
    if (i == 0 || i > worker->peer_count || err->code == EXIT_CODE_INTERRUPTED)
        return false;
    snprintf(list->left_out, sizeof list->left_out, "%.500s", err->message);
    worker_forget(worker);
    memmove(worker->plugins[i], worker->plugins[i + 1],
            (worker->plugin_count - i - 1) * sizeof *worker->plugins);
    worker->plugin_count--;
    worker->peer_count--;
    list->count = 0;
    *err = (struct error){0};
    return true;
}

static bool runner_ask(kernel_runner *runner, const work_order *order, double deadline_seconds,
                       worker_reply *reply)
{
    return worker_ask((worker_process *)runner, order, deadline_seconds, reply);
}

/* Orders of one kernel in one message; those that got no answer in it are asked one by one, in another
 * process. What kept the message from being answered stays the last one's where each alone is. */
static size_t runner_ask_all(kernel_runner *runner, const work_order *orders, size_t count,
                             double deadline_seconds, worker_reply *replies)
{
    worker_process *worker = (worker_process *)runner;
    worker_seat *seat = seat_of(worker, orders);
    worker_reply lost = {0};
    size_t answered = 0;
    bool fine = true;
    if (send_to(worker, seat, orders, count, replies)) {
        answered = process_answers(&seat->process, deadline_seconds, replies, count);
        if (seat->process.socket >= 0)
            return answered;
        const worker_reply *end = &replies[answered ? answered - 1 : 0];
        bool again = is_asked_again(seat, orders, end);
        vacate(seat);
        if (answered > 0 && !again)
            return answered;
        answered -= answered > 0;
        if (!again)
            lost = *end;
    }
    while (fine && answered < count) {
        worker_ask(worker, &orders[answered], deadline_seconds, &replies[answered]);
        fine = !reply_ends_process(&replies[answered++]);
    }
    if (fine && lost.kind == REPLY_FAILED)
        replies[answered - 1] = lost;
    return answered;
}

/* Why kernels can't be run here, many in one message. A kernel that refuses one problem may take another:
 * what refuses every preset at common sizes can't be run, for the first reason it gave. */
static bool ask_support(worker_process *worker, kernel_list *list, error *err)
{
    work_order orders[BATCH_MOST];
    worker_reply replies[BATCH_MOST];
    for (size_t first = 0, answered; first < list->count; first += answered) {
        kernel_entry *entries = &list->kernels[first];
        size_t count = 0;
        for (; first + count < list->count && entries[count].plugin == entries->plugin &&
               count < BATCH_MOST;
             count++)
            orders[count] = worker_order(ORDER_SUPPORTS, &entries[count]);
        answered = runner_ask_all(&worker->runner, orders, count, LOAD_DEADLINE, replies);
        worker_reply *last = &replies[answered - 1];
        if (last->kind == REPLY_FAILED &&
            last->verdict == VERDICT_CRASHED) /* by something else: the next answers */
            worker_ask(worker, &orders[answered - 1], LOAD_DEADLINE, last);
        if (last->kind == REPLY_FAILED && reply_ends_run(last, err))
            return false;
        for (size_t i = 0; i < answered;
             i++) /* else a verdict for each case, where supports() itself fails */
            snprintf(entries[i].unsupported, sizeof entries[i].unsupported, "%s",
                     replies[i].kind == REPLY_DONE && replies[i].value != 0 ? replies[i].text : "");
    }
    return true;
}

/* Of builds, file i's kernels go to lists[i]; else all to lists[0]. */
static bool start_worker(worker_process *worker, const char *const *files, size_t count,
                         kernel_list *lists, error *err)
{
    bool fine = prepare_worker(worker, files, count, err);
    for (unsigned i = 0; fine && i < worker->plugin_count; i++) {
        kernel_list *list = &lists[worker->builds ? i : 0];
        if (load_plugin(worker, i, list, err))
            continue;
        fine = leave_out(worker, i, list, err);
        i = -1u; /* from the first one on */
    }
    for (size_t i = 0; fine && i < (worker->builds ? count : 1); i++)
        fine = ask_support(worker, &lists[i], err);
    return fine;
}

kernel_runner *worker_runner(worker_process *worker)
{
    return worker ? &worker->runner : NULL;
}

static bool start_either(bool builds, const char *const *files, size_t count,
                         worker_process **started, kernel_list *lists, error *err)
{
    size_t list_count = builds ? count : 1;
    worker_process *worker = allocate_zeroed(1, sizeof *worker);
    *started = NULL;
    for (size_t i = 0; i < list_count; i++)
        lists[i] = (kernel_list){0};
    worker->runner =
        (kernel_runner){.ask = runner_ask, .ask_all = runner_ask_all, .reserve = runner_reserve};
    worker->arena.file = -1;
    worker->builds = builds;
    if (start_worker(worker, files, count, lists, err)) {
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
    struct worker_process *made = allocate_zeroed(1, sizeof *made);
    *another = NULL;
    *made = *worker;
    made->asked = NULL;
    made->runner.memory = NULL;
    made->plugins = allocate_zeroed(worker->plugin_count + 1, sizeof *made->plugins);
    memcpy(made->plugins, worker->plugins, worker->plugin_count * sizeof *made->plugins);
    make_seats(made);
    if (!shared_arena_open(&made->arena, err)) {
        worker_stop(made);
        return false;
    }
    *another = made;
    return true;
}

bool worker_files(const worker_process *worker, word_list *files, error *err)
{
    char maps[64], line[PROTOCOL_PATH_LENGTH + 128];
    snprintf(maps, sizeof maps, "/proc/%d/maps", (int)worker->seats->process.process);
    FILE *file = fopen(maps, "re");
    if (!file)
        return fail(err, EXIT_CODE_ENVIRONMENT, "%s: %s", maps, strerror(errno));
    while (fgets(line, sizeof line, file)) {
        char *path = strchr(line, '/');
        line[strcspn(line, "\n")] = '\0';
        if (path)
            word_list_add(files, path);
    }
    fclose(file);
    return true;
}

void worker_stop(worker_process *worker)
{
    if (!worker)
        return;
    worker_forget(worker);
    shared_arena_close(&worker->arena);
    free(worker->seats);
    free(worker->plugins);
    free(worker);
}
