/* What may grow from call to call: memory, descriptors, threads. */
#include "worker/child/internal.h"
#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static size_t threads_count(void)
{
    struct stat status;
    return stat("/proc/self/task", &status) == 0 ? (size_t)status.st_nlink - 2 : 0;
}

enum { LOOKS = 20 }; /* at threads that come to their end */

static void pause_shortly(void)
{
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
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

static void take_growth(process_growth *growth)
{
    *growth = (process_growth){.files = count_files(), .threads = threads_count()};
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
    enum { FEW = 8, FEW_BYTES = 16 << 20 };
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
