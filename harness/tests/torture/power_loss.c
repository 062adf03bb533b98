/* The power fails at every moment of each command of a list (disk.h says what is left then):
 *
 *     power_loss LIST LNBENCH [--most N] [--losses N] [--lie files|folders|databases]
 *                [--only COMMAND]
 *
 * in a directory that has what the commands need (torture_test.sh). --most N: N moments of each
 * command, evenly spread; --losses N: at each, besides the three losses that are not random, N that
 * are. --lie: these syncs count as not done, which must be found.
 *
 * Right is: databases pass SQLite's integrity check, `lnbench list runs` reads them, and they have
 * all that they had before the command; each other file is under its name as a whole, in a state
 * that it had, or absent. Once the command has written to standard output, databases have all that
 * it stored; after its last word, files have their last state.
 * Prints how many were tried; the exit status is 0 when every outcome was right. */
#include "disk.h"
#include "try.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SECONDS = 120, STATES = 1 << 16 };

typedef struct loss_options {
    size_t most, losses;
    disk_lie lie;
} loss_options;

static size_t points, states, wrong;

/* The command whose states are judged. */
static struct {
    const char *lnbench;
    const disk_record *disk;
    size_t point;
    char why[512];
} judged;

static bool fault(const char *name, const char *what)
{
    snprintf(judged.why, sizeof judged.why, "%.200s: %.200s", name, what);
    return false;
}

/* By lnbench itself, which may find that nothing was stored yet. */
static bool is_readable(const char *path, bool may_be_empty)
{
    char command[1024];
    snprintf(command, sizeof command, "'%s' list runs --db '%s' >after.out 2>&1", judged.lnbench,
             path);
    int status = system(command);
    file_content said = content_read("after.out");
    bool fine = WIFEXITED(status) && (WEXITSTATUS(status) == 0 ||
                                      (may_be_empty && strstr(said.bytes, ": empty: measure")));
    free(said.bytes);
    return fine;
}

static bool judge_database(const char *name)
{
    char path[600], last[600];
    struct stat about;
    bool reported = judged.point >= judged.disk->first_word;
    snprintf(path, sizeof path, "after/%s", name);
    snprintf(last, sizeof last, "last/%s", name);
    if (stat(path, &about) != 0)
        return (!reported && strcmp(name, "work.db") != 0) || fault(name, "is lost");
    if (!is_readable(path, !reported && strcmp(name, "new.db") == 0))
        return fault(name, "lnbench does not read it");
    const char *why = database_judge(path, 0);
    if (!why && strcmp(name, "work.db") == 0)
        why = database_lacks(path, "base.db");
    if (!why && reported)
        why = database_lacks(path, last);
    return !why || fault(name, why);
}

static bool is_left_over(const char *name)
{
    const char *part = strstr(name, ".part");
    return part || ends_in(name, "-wal") || ends_in(name, "-journal") || ends_in(name, "-shm");
}

static void judge_found(void *context, const char *name, bool folder)
{
    char path[600];
    (void)context;
    if (folder || judged.why[0] || is_left_over(name) || ends_in(name, ".db"))
        return;
    snprintf(path, sizeof path, "after/%s", name);
    file_content content = content_read(path);
    if (!disk_had_whole(judged.disk, name, &content))
        fault(name, "neither whole nor absent");
    free(content.bytes);
}

static void judge_kept(void *context, const char *name, bool folder)
{
    char path[600], last[600];
    (void)context;
    if (folder || judged.why[0] || is_left_over(name) || ends_in(name, ".db") ||
        strcmp(name, "stdout") == 0 || strcmp(name, "stderr") == 0)
        return;
    snprintf(path, sizeof path, "after/%s", name);
    snprintf(last, sizeof last, "last/%s", name);
    file_content content = content_read(path), wanted = content_read(last);
    if (!content_equal(&content, &wanted))
        fault(name, content.bytes ? "is not what was reported" : "was reported, and is lost");
    free(content.bytes);
    free(wanted.bytes);
}

static void judge_state(void)
{
    judged.why[0] = '\0';
    if (access("last/work.db", F_OK) == 0 && !judge_database("work.db"))
        return;
    if (access("last/new.db", F_OK) == 0 && !judge_database("new.db"))
        return;
    files_below("after", judge_found, NULL);
    if (judged.point >= judged.disk->last_word)
        files_below("last", judge_kept, NULL);
}

static bool is_known(uint64_t hash)
{
    static uint64_t known[STATES];
    uint64_t *place = &known[hash % STATES]; /* who is pushed out is judged again */
    bool was = *place == hash;
    *place = hash;
    return was;
}

/* Whether the n-th of `count` is among `most` that are evenly spread. */
static bool is_taken(size_t most, size_t n, size_t count)
{
    return count <= most || (n + 1) * most / count != n * most / count;
}

static void lose(const loss_options *options, const char *name)
{
    const disk_record *disk = judged.disk;
    for (size_t point = 0; point <= disk->event_count; point++) {
        if (!is_taken(options->most, point, disk->event_count + 1))
            continue;
        judged.point = point;
        points++;
        for (size_t i = 0; i < LOSE_SOME + options->losses; i++) {
            disk_loss loss = i < LOSE_SOME ? (disk_loss)i : LOSE_SOME;
            uint64_t hash = disk_lose(disk, point, loss, 1000 * point + i, "after");
            bool kept = point >= disk->first_word, last = point >= disk->last_word;
            if (is_known(hash + 2 * (uint64_t)kept + (uint64_t)last))
                continue;
            states++;
            judge_state();
            if (!judged.why[0])
                continue;
            wrong++;
            printf("WRONG %s: before %zu (%s), loss %zu: %s\n", name, point,
                   disk_event_text(disk, point), i, judged.why);
            fflush(stdout);
            if (getenv("POWER_LOSS_KEEP"))
                exit(1);
        }
    }
}

static void try_command(const loss_options *options, const tried_command *command)
{
    try_prepare();
    disk_record *disk = disk_open("try", options->lie);
    trace_watch watch = {.program = "lnbench",
                         .everything = true,
                         .input = "/dev/null",
                         .output = "stdout",
                         .errors = "stderr",
                         .leave = disk_note,
                         .context = disk};
    trace_outcome outcome;
    if (chdir("try") != 0 || !trace_run(command->arguments, &watch, SECONDS, &outcome)) {
        perror("ptrace");
        exit(errno == ENOSYS || errno == EPERM ? 77 : 99);
    }
    if (chdir("..") != 0 || outcome.late || !WIFEXITED(outcome.status)) {
        printf("%s did not end\n", command->name);
        exit(99);
    }
    try_keep_as("last");
    if (disk->last_word == SIZE_MAX) /* it says nothing: its end says it */
        disk->first_word = disk->last_word = disk->event_count;
    judged.disk = disk;
    lose(options, command->name);
    printf("%s: %zu events\n", command->name, disk->event_count);
    fflush(stdout);
    disk_close(disk);
}

static disk_lie lie_named(const char *name)
{
    static const char *const names[] = {"", "files", "folders", "databases"};
    disk_lie lie = LIE_DATABASES;
    while (lie > LIE_NONE && strcmp(names[lie], name) != 0)
        lie--;
    return lie;
}

int main(int argc, char **argv)
{
    loss_options options = {SIZE_MAX, 6, LIE_NONE};
    const char *only = NULL;
    size_t count;
    if (argc < 3)
        return 2;
    for (int i = 3; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--most") == 0)
            options.most = (size_t)atol(argv[i + 1]);
        else if (strcmp(argv[i], "--losses") == 0)
            options.losses = (size_t)atol(argv[i + 1]);
        else if (strcmp(argv[i], "--lie") == 0)
            options.lie = lie_named(argv[i + 1]);
        else
            only = argv[i + 1];
    }
    tried_command *list = commands_read(argv[1], argv[2], &count);
    judged.lnbench = argv[2];
    for (size_t i = 0; i < count; i++)
        if (!only || strcmp(only, list[i].name) == 0)
            try_command(&options, &list[i]);
    printf("%zu moments of power loss, %zu states of the disk, %zu wrong outcomes\n", points,
           states, wrong);
    return wrong != 0;
}
