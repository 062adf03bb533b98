#include "machine/control_group.h"
#include "machine/internal.h"
#include "base/number.h"
#include <stdio.h>
#include <string.h>

enum { GROUP_LENGTH = 512, PATH_LENGTH = 1280 };

/* Where the files of one controller lie: at mount, for the root, and below it, for our group. */
typedef struct group_place {
    bool v2;
    char mount[GROUP_LENGTH], group[GROUP_LENGTH]; /* "" or "/a/b" */
} group_place;

static bool has_word(const char *list, const char *word)
{
    size_t length = strlen(word);
    while (*list) {
        size_t here = strcspn(list, ",\n");
        if (here == length && strncmp(list, word, length) == 0)
            return true;
        list += here + (list[here] != '\0');
    }
    return false;
}

/* From lines "4:cpu,cpuacct:/a/b" (v1) and "0::/a/b" (v2): a controller is in one hierarchy. */
static bool find_group(const fact_gather *gather, const char *controller, group_place *place)
{
    FILE *file = open_under(gather, "/proc/self/cgroup");
    char line[GROUP_LENGTH + 128];
    bool found = false;
    place->v2 = true;
    while (file && place->v2 && fgets(line, sizeof line, file)) {
        char *list = strchr(line, ':'), *path = list ? strchr(list + 1, ':') : NULL;
        if (!path)
            continue;
        *path++ = '\0';
        path[strcspn(path, "\n")] = '\0';
        bool v1 = has_word(list + 1, controller);
        if (!v1 && list[1] != '\0')
            continue;
        place->v2 = !v1;
        found = true;
        snprintf(place->group, sizeof place->group, "%s", strcmp(path, "/") == 0 ? "" : path);
    }
    if (file)
        fclose(file);
    return found;
}

/* The mount's place and which group it shows as its root: /proc/self/mountinfo has
 * "35 31 0:32 ROOT POINT rw - cgroup cgroup rw,memory". */
static void find_mount(const fact_gather *gather, const char *controller, group_place *place,
                       char *root)
{
    FILE *file = open_under(gather, "/proc/self/mountinfo");
    char line[2048], type[32], options[512], of[GROUP_LENGTH], point[GROUP_LENGTH];
    snprintf(place->mount, sizeof place->mount, "/sys/fs/cgroup%s%s", place->v2 ? "" : "/",
             place->v2 ? "" : controller);
    root[0] = '\0';
    while (file && fgets(line, sizeof line, file)) {
        const char *rest = strstr(line, " - ");
        if (!rest || sscanf(line, "%*d %*d %*s %511s %511s", of, point) != 2 ||
            sscanf(rest, " - %31s %*s %511s", type, options) != 2 ||
            strcmp(type, place->v2 ? "cgroup2" : "cgroup") != 0 ||
            (!place->v2 && !has_word(options, controller)))
            continue;
        snprintf(place->mount, sizeof place->mount, "%s", point);
        snprintf(root, GROUP_LENGTH, "%s", strcmp(of, "/") == 0 ? "" : of);
        break;
    }
    if (file)
        fclose(file);
}

/* In a container the mount may show the container's group as its root. */
static bool find_place(const fact_gather *gather, const char *controller, group_place *place)
{
    char root[GROUP_LENGTH];
    if (!find_group(gather, controller, place) || strstr(place->group, "/.."))
        return false; /* beyond what can be seen */
    find_mount(gather, controller, place, root);
    size_t length = strlen(root);
    bool below = strncmp(place->group, root, length) == 0 && strchr("/", place->group[length]);
    memmove(place->group, place->group + (below ? length : strlen(place->group)),
            below ? strlen(place->group) - length + 1 : 1);
    return true;
}

static bool read_of(const fact_gather *gather, const char *directory, const char *file, char *line,
                    size_t size)
{
    char path[PATH_LENGTH];
    snprintf(path, sizeof path, "%s/%s", directory, file);
    return read_line(gather, path, line, size);
}

/* A limit of one group: 0: none; -1: it says nothing. */
typedef double limit_reader(const fact_gather *gather, const char *directory, bool v2);

/* "max 100000" or "150000 100000" microseconds; in v1 two files, and -1 for no quota. */
static double read_cpus(const fact_gather *gather, const char *directory, bool v2)
{
    char quota[64], period[64];
    if (!read_of(gather, directory, v2 ? "cpu.max" : "cpu.cfs_quota_us", quota, sizeof quota))
        return -1;
    if (strncmp(quota, "max", 3) == 0 || quota[0] == '-')
        return 0;
    const char *space = strchr(quota, ' ');
    if (v2)
        snprintf(period, sizeof period, "%s", space ? space : "");
    else if (!read_of(gather, directory, "cpu.cfs_period_us", period, sizeof period))
        return -1;
    double of = number_read(period, NULL);
    return of > 0 ? number_read(quota, NULL) / of : -1;
}

/* v1 writes the largest number of bytes where there is no limit. */
static double read_memory(const fact_gather *gather, const char *directory, bool v2)
{
    char bytes[64];
    if (!read_of(gather, directory, v2 ? "memory.max" : "memory.limit_in_bytes", bytes,
                 sizeof bytes))
        return -1;
    double limit = strncmp(bytes, "max", 3) == 0 ? 0 : number_read(bytes, NULL);
    return limit < 0x1p60 ? limit : 0;
}

/* From our own group up to the root: the narrowest limit counts. */
static double least_limit(const fact_gather *gather, const char *controller, limit_reader *reader)
{
    group_place place;
    char directory[PATH_LENGTH - 64];
    double least = -1;
    if (!find_place(gather, controller, &place))
        return -1;
    for (;;) {
        snprintf(directory, sizeof directory, "%s%s", place.mount, place.group);
        double limit = reader(gather, directory, place.v2);
        if (limit > 0 && (least <= 0 || limit < least))
            least = limit;
        else if (limit == 0 && least < 0)
            least = 0;
        if (!place.group[0])
            return least;
        char *slash = strrchr(place.group, '/');
        *(slash ? slash : place.group) = '\0';
    }
}

double control_group_cpus_under(const fact_gather *gather)
{
    return least_limit(gather, "cpu", read_cpus);
}

double control_group_memory_under(const fact_gather *gather)
{
    return least_limit(gather, "memory", read_memory);
}

/* Counted where the process was, whichever group's limit it was. */
long control_group_oom_kills_under(const fact_gather *gather)
{
    group_place place;
    char path[PATH_LENGTH], line[64];
    long kills = -1;
    if (!find_place(gather, "memory", &place))
        return -1;
    snprintf(path, sizeof path, "%s%s/%s", place.mount, place.group,
             place.v2 ? "memory.events" : "memory.oom_control");
    FILE *file = open_under(gather, path);
    while (file && fgets(line, sizeof line, file) && sscanf(line, "oom_kill %ld", &kills) != 1)
        ;
    if (file)
        fclose(file);
    return kills;
}

double control_group_memory(void)
{
    return control_group_memory_under(&(fact_gather){.root = ""});
}

long control_group_oom_kills(void)
{
    return control_group_oom_kills_under(&(fact_gather){.root = ""});
}
