/* A kernel that tries what a sandbox forbids, and exits with the number of the first thing that it
 * could do. */
#include "layernorm_plugin.h"
#include <arpa/inet.h>
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static bool makes_file(const char *directory)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/lnbench-escaped-%d", directory, (int)getpid());
    int file = open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);
    if (file >= 0) {
        close(file);
        unlink(path);
    }
    return file >= 0;
}

/* Any interface but the loopback that every network namespace has would do; none has an address. */
static bool has_network(void)
{
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(9)};
    inet_pton(AF_INET, "192.0.2.1", &to.sin_addr);
    int end = socket(AF_INET, SOCK_DGRAM, 0);
    bool fine = end >= 0 && connect(end, (struct sockaddr *)&to, sizeof to) == 0;
    if (end >= 0)
        close(end);
    return fine;
}

/* The processes that it sees are its own: the sandbox's first one, and itself. */
static bool sees_others(void)
{
    size_t count = 0;
    DIR *processes = opendir("/proc");
    for (struct dirent *entry; processes && (entry = readdir(processes));)
        count += strtol(entry->d_name, NULL, 10) > 0;
    if (processes)
        closedir(processes);
    return count > 2;
}

static bool reads_parent(void)
{
    const char *parent = getenv("LNBENCH_ESCAPE_PARENT");
    long process = parent ? strtol(parent, NULL, 10) : 0;
    return process > 0 && kill((pid_t)process, 0) == 0;
}

static bool is_unlimited(void)
{
    struct rlimit memory, processes;
    getrlimit(RLIMIT_DATA, &memory);
    getrlimit(RLIMIT_NPROC, &processes);
    return memory.rlim_max == RLIM_INFINITY || processes.rlim_max == RLIM_INFINITY;
}

/* Most of the machine's memory, none of it touched. */
static bool has_memory(void)
{
    size_t bytes = (size_t)sysconf(_SC_PHYS_PAGES) / 10 * 6 * (size_t)sysconf(_SC_PAGESIZE);
    void *got = malloc(bytes);
    free(got);
    return got != NULL;
}

/* More processes than the largest pool has threads. The system limits no processes of root's. */
static bool has_processes(void)
{
    enum { STORM = 2100 };
    static pid_t children[STORM];
    int count = 0;
    while (count < STORM && (children[count] = fork()) >= 0) {
        if (children[count] == 0)
            for (;;)
                pause();
        count++;
    }
    for (int i = 0; i < count; i++)
        kill(children[i], SIGKILL);
    for (int i = 0; i < count; i++)
        waitpid(children[i], NULL, 0);
    return count == STORM && geteuid() != 0;
}

static int first_escape(void)
{
    const char *home = getenv("LNBENCH_ESCAPE_DIRECTORY");
    const char *only = getenv("LNBENCH_ESCAPE");
    const bool escapes[] = {
        makes_file("/tmp"),       makes_file("/dev/shm"), makes_file("/run"),
        home && makes_file(home), has_network(),          sees_others(),
        reads_parent(),           is_unlimited(),         has_memory(),
        !only && has_processes(),
    };
    int first = 0;
    for (int i = (int)(sizeof escapes / sizeof *escapes); i-- > 0;)
        if (escapes[i] && (!only || atoi(only) == i + 1))
            first = i + 1;
    return first;
}

static void run(const void *state, const ln_tensors *tensors)
{
    static int escape = -1;
    if (escape < 0)
        escape = first_escape();
    if (escape > 0)
        _exit(100 + escape);
    ln_layernorm_with("two_pass_f32_scalar", state, tensors);
}

static const ln_kernel kernels[] = {
    {.struct_size = sizeof(ln_kernel), .name = "escape", .isa = "scalar", .run = run}};

static const ln_plugin plugin = {.abi_version = LN_PLUGIN_ABI,
                                 .struct_size = sizeof(ln_plugin),
                                 .name = "escape",
                                 .count = 1,
                                 .kernels = kernels};

LN_API const ln_plugin *ln_plugin_v1(void)
{
    return &plugin;
}
