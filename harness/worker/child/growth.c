/* What may grow from call to call: descriptors, threads, mappings; and threads that do not rest. */
#include "base/seconds.h"
#include "worker/child/internal.h"
#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static size_t threads_count(void)
{
    struct stat status;
    return stat("/proc/self/task", &status) == 0 ? (size_t)status.st_nlink - 2 : 0;
}

bool threads_are_others(void)
{
    return threads_count() > 1;
}

enum { LOOKS = 20 }; /* at threads that come to their end */

static void pause_shortly(void)
{
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

/* One that was joined may be counted for a moment yet. */
bool threads_stay(void)
{
    for (int i = 0; i < LOOKS && threads_are_others(); i++)
        pause_shortly();
    return threads_are_others();
}

/* Of the process; the one that reads them is counted each time. */
static size_t count_files(void)
{
    size_t count = 0;
    DIR *files = opendir("/proc/self/fd");
    while (files && readdir(files))
        count++;
    if (files)
        closedir(files);
    return count;
}

/* What a plugin may add to the process once, beside process_state, as it was after loading. */
static struct {
    size_t open_code, timers;
    uintptr_t stack; /* its end */
} left;

/* A mapping of a file, the stack or a tensor that is both writable and executable. Just-in-time
 * compilers use anonymous memory or a file without a name, which do not count. */
static bool is_open_code(const char *line)
{
    enum { STACK = 8 << 20 };
    char access[8] = "", name[16] = "";
    uintptr_t begin = 0, end = 0;
    sscanf(line, "%" SCNxPTR "-%" SCNxPTR " %7s %*s %*s %*s %15s", &begin, &end, access, name);
    if (strcmp(name, "[stack]") == 0)
        left.stack = end;
    return access[1] == 'w' && access[2] == 'x' &&
           ((name[0] == '/' && strncmp(name, "/memfd:", 7) != 0 && !strstr(line, "(deleted)")) ||
            (begin < left.stack && left.stack - begin < STACK) || guard_holds((const void *)begin));
}

/* Lines of a file, or those of a kind. */
static size_t count_lines(const char *path, bool (*of_kind)(const char *line))
{
    char line[512];
    bool begins = true;
    size_t count = 0;
    FILE *file = fopen(path, "re");
    while (file && fgets(line, sizeof line, file)) {
        count += begins && (!of_kind || of_kind(line));
        begins = strchr(line, '\n') != NULL;
    }
    if (file)
        fclose(file);
    return count;
}

static size_t count_open_code(void)
{
    count_lines("/proc/self/maps", is_open_code); /* where the stack is */
    return count_lines("/proc/self/maps", is_open_code);
}

void process_left_record(void)
{
    left.open_code = count_open_code();
    left.timers = count_lines("/proc/self/timers", NULL);
}

const char *process_left_compare(void)
{
    return count_open_code() > left.open_code
               ? "made code writable, or the stack or a tensor executable"
           : count_lines("/proc/self/timers", NULL) > left.timers ? "left a timer (timer_create())"
                                                                  : NULL;
}

static void take_growth(process_growth *growth)
{
    *growth = (process_growth){.files = count_files(),
                               .threads = threads_count(),
                               .mappings = count_lines("/proc/self/maps", NULL)};
#ifndef __SANITIZE_ADDRESS__ /* which keeps what is freed */
    size_t pages = 0, resident = 0, page = (size_t)sysconf(_SC_PAGESIZE);
    FILE *file = fopen("/proc/self/statm", "re");
    if (file && fscanf(file, "%zu %zu", &pages, &resident) == 2) {
        growth->bytes = pages * page;
        growth->resident = resident * page;
    }
    if (file)
        fclose(file);
#endif
}

bool growth_is_seen(growth_watch *watch)
{
    /* Once in a while something may be opened late, and a pool may get its threads one by one, each
     * with a stack and memory of its own. */
    enum { FEW = 8, FEW_MAPPINGS = 64, FEW_BYTES = 16 << 20 };
    const process_growth *begun = &watch->begun;
    process_growth now;
    take_growth(&now);
    if (begun->threads == 0) {
        watch->begun = now;
        return false;
    }
    size_t few = FEW + (size_t)sysconf(_SC_NPROCESSORS_CONF);
    for (int look = 0; look < LOOKS && now.threads > begun->threads + few; look++) {
        pause_shortly(); /* threads may end by themselves */
        take_growth(&now);
    }
    size_t more = now.threads > begun->threads ? now.threads - begun->threads : 0;
    const struct {
        const char *what;
        size_t before, now, few;
    } counts[] = {
        {"threads", begun->threads, now.threads, few},
        {"file descriptors", begun->files, now.files, FEW},
        {"mappings", begun->mappings, now.mappings, FEW_MAPPINGS + 8 * more},
        {"bytes of mappings", begun->bytes, more ? 0 : now.bytes, FEW_BYTES},
    };
    for (size_t i = 0; i < sizeof counts / sizeof *counts && !watch->grown[0]; i++)
        if (counts[i].now > counts[i].before + counts[i].few)
            snprintf(watch->grown, sizeof watch->grown,
                     "%s grow from call to call: %zu after the tenth, %zu later", counts[i].what,
                     counts[i].before, counts[i].now);
    return watch->grown[0] != '\0';
}

void growth_settle(growth_watch *watch)
{
    watch->calls = 0;
    take_growth(&watch->settled);
}

double growth_kept(const growth_watch *watch)
{
    enum { LEAST = 1 << 20, LEAST_A_CALL = 8 };
    process_growth now;
    take_growth(&now);
    if (watch->settled.resident == 0 || now.resident <= watch->settled.resident + LEAST)
        return 0;
    size_t kept = now.resident - watch->settled.resident;
    return kept > LEAST_A_CALL * watch->calls ? (double)kept / (double)watch->calls : 0;
}

/* Whether other threads still take processor time after a second; a pool's may wait for work for some
 * milliseconds before they sleep (LLVM's OpenMP: 200). Several windows in a row must be idle: on a
 * busy machine a thread that works may have to wait for a processor for longer than one. */
const char *threads_spin(void)
{
    enum { WINDOWS = 25, IDLE = 5 };
    static const struct timespec window = {.tv_nsec = 40000000};
    static const double idle = 2e-3; /* seconds of a window */
    int resting = 0;
    for (int i = 0; i < WINDOWS; i++) {
        double begun = seconds_of(CLOCK_PROCESS_CPUTIME_ID);
        nanosleep(&window, NULL);
        bool rested = seconds_of(CLOCK_PROCESS_CPUTIME_ID) - begun < idle;
        resting = rested ? resting + 1 : 0;
        if (resting == IDLE)
            return NULL;
        if (!rested)
            worker_send_alive();
    }
    return "left threads that go on working after it returned";
}

const char *threads_compare(void)
{
    enum { MOST_LOOKS = 8 }; /* of a kernel whose threads come and go */
    static size_t resting = 1, looks;
    size_t all = threads_count(), pooled = worker_threads_pooled();
    size_t threads = all > pooled ? all - pooled : all; /* a forked process has no pool */
    if (threads <= resting || looks == MOST_LOOKS)
        return NULL;
    looks++;
    resting = threads;
    return threads_spin();
}
