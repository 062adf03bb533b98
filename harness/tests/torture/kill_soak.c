/* SIGKILL at random moments of each command of a list:
 *
 *     kill_soak LIST LNBENCH [--most N] [--seed S] [--only COMMAND]      // N of each command: 1
 *
 * of lnbench, or of a process that it started (its worker, gnuplot), in a directory that has what the
 * commands need (prepare.sh). Then no process and no temporary file is left; databases are whole and
 * have what they had; exports are whole or absent; lnbench reads the database; `run --resume` goes on.
 * Where lnbench lived on, its exit code, output and files are right, too (try.h). Prints how many
 * moments it tried, and how many processes were killed. */
#include "content.h"
#include "try.h"
#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { ARE_LEFT = 64, PATIENCE = 10, LONGEST = 120 }; /* seconds */

static long moments, killed, wrong;
static const tried_command *command;
static double moment;

static void tell(const char *what, const char *more)
{
    wrong++;
    printf("WRONG moment %ld, '%s' after %.1f ms: %s %s\n", moments, command->name, 1000 * moment,
           what, more ? more : "");
    try_show();
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static double draw_share(void)
{
    return (double)random() / 0x1p31;
}

/* Children of a process, and theirs. */
static size_t descendants(pid_t of, pid_t *list, size_t count, size_t most)
{
    char path[64];
    long child;
    snprintf(path, sizeof path, "/proc/%d/task/%d/children", (int)of, (int)of);
    FILE *file = fopen(path, "r");
    while (file && count < most && fscanf(file, "%ld", &child) == 1) {
        list[count++] = (pid_t)child;
        count = descendants((pid_t)child, list, count, most);
    }
    if (file)
        fclose(file);
    return count;
}

/* lnbench, or one of its processes. */
static bool kill_one(pid_t first)
{
    pid_t list[ARE_LEFT];
    size_t count = draw_share() < .5 ? descendants(first, list, 0, ARE_LEFT) : 0;
    pid_t victim = count ? list[(size_t)(draw_share() * (double)count)] : first;
    siginfo_t end = {0}; /* an ended process can be killed until somebody has waited for it */
    waitid(P_PID, (id_t)first, &end, WEXITED | WNOHANG | WNOWAIT);
    return end.si_pid == 0 && kill(victim, SIGKILL) == 0;
}

/* All processes that are left have ended, or are killed at last. */
static bool all_end(void)
{
    double deadline = now() + PATIENCE;
    bool late = false;
    for (;;) {
        pid_t list[ARE_LEFT], ended = waitpid(-1, NULL, WNOHANG);
        if (ended < 0)
            return !late;
        if (ended == 0)
            nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
        if (ended == 0 && now() > deadline) {
            late = true;
            for (size_t i = descendants(getpid(), list, 0, ARE_LEFT); i-- > 0;)
                kill(list[i], SIGKILL);
        }
    }
}

/* After the end of lnbench itself. What it had not finished has another name (".part"). */
static void check_file(void *context, const char *name, bool folder)
{
    char path[512];
    const char *why = NULL;
    (void)context;
    snprintf(path, sizeof path, "try/%s", name);
    if (ends_in(name, ".db"))
        why = database_judge(path, strcmp(name, "work.db") == 0);
    else if (!folder && strcmp(name, "stdout") != 0 && strcmp(name, "stderr") != 0 &&
             !ends_in(name, ".part") && !strstr(name, ".db") && !try_is_whole(name))
        why = "neither whole nor absent:";
    if (why)
        tell(why, path);
}

static bool is_empty(const char *path)
{
    DIR *folder = opendir(path);
    int names = 0;
    while (folder && readdir(folder))
        names++;
    if (folder)
        closedir(folder);
    return names <= 2; /* . and .. */
}

/* By lnbench itself: of a killed command, --resume does what was left. */
static void check_goes_on(void)
{
    char *words[ARGUMENTS + 1], *export[] = {command->arguments[0],
                                             "export",
                                             "--db",
                                             "work.db",
                                             "--run",
                                             "1",
                                             "--format",
                                             "jsonl",
                                             NULL};
    int count = 0;
    int status;
    try_wait(try_start(export, "export"), LONGEST, &status);
    file_content made = content_read("try/export"), before = content_read("run.jsonl");
    if (status != 0 || !content_equal(&made, &before))
        tell("run 1 is not what it was", NULL);
    free(made.bytes);
    free(before.bytes);
    if (strcmp(command->arguments[1], "run") != 0)
        return;
    for (; command->arguments[count]; count++)
        words[count] = command->arguments[count];
    words[count++] = "--resume";
    words[count] = NULL;
    try_wait(try_start(words, "stdout"), LONGEST, &status);
    if (!WIFEXITED(status) || (WEXITSTATUS(status) != 0 && WEXITSTATUS(status) != 5))
        tell("--resume failed", NULL);
}

/* Whether a process was killed. */
static bool try_moment(double longest, int reference)
{
    const double seconds = longest * draw_share();
    moments++;
    moment = seconds;
    try_prepare();
    pid_t first = try_start(command->arguments, "stdout");
    const time_t whole = (time_t)seconds;
    nanosleep(&(struct timespec){whole, (long)((seconds - (double)whole) * 1e9)}, NULL);
    bool hit = kill_one(first);
    killed += hit;
    int status;
    const char *why = try_wait(first, LONGEST, &status) ? NULL : "did not end";
    if (!all_end())
        why = "a process is left";
    if (!why && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) {
        files_below("try", check_file, NULL);
    } else if (!why) {
        why = try_judge(command, status, reference);
        if (why && strstr(why, "other output"))
            why = try_judge_again(command, status);
        if (why && strstr(why, "success") && try_says_what_lacks())
            why = NULL;
    }
    if (why)
        tell(why, NULL);
    if (!is_empty("tmp")) {
        tell("left over in TMPDIR", NULL);
        remove_tree("tmp");
        mkdir("tmp", 0700);
    }
    check_goes_on();
    return hit;
}

int main(int argc, char **argv)
{
    const char *only = NULL;
    long most = 1;
    unsigned seed = 1;
    size_t count;
    if (argc < 3)
        return 2;
    for (int i = 3; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--most") == 0)
            most = atol(argv[i + 1]);
        else if (strcmp(argv[i], "--seed") == 0)
            seed = (unsigned)atol(argv[i + 1]);
        else
            only = argv[i + 1];
    }
    tried_command *list = commands_read(argv[1], argv[2], &count);
    srandom(seed);
    prctl(PR_SET_CHILD_SUBREAPER, 1); /* so that what is left behind comes to us */
    for (size_t i = 0; i < count; i++) {
        if (only && strcmp(only, list[i].name) != 0)
            continue;
        command = &list[i];
        double begun = now();
        int reference = try_undisturbed(&list[i]);
        double longest = (now() - begun - UNDISTURBED_GAP) / 2;
        for (long n = 0; n < most; n++)
            longest *= try_moment(longest, reference) ? 1.005 : .95; /* one in ten comes too late */
        printf("%s: %.0f ms; so far %ld moments, %ld processes killed, %ld wrong outcomes\n",
               command->name, 1000 * longest, moments, killed, wrong);
        fflush(stdout);
    }
    return wrong != 0 || killed == 0;
}
