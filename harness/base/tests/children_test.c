/* No child process, nor any of its own children, outlives its deadline or an interruption. */
#include "base/program.h"
#include "base/output.h"
#include "scratch.h"
#include "test.h"
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void become_shell(void *script)
{
    execl("/bin/sh", "sh", "-c", (const char *)script, (char *)NULL);
}

static pid_t start_shell(char *script)
{
    pid_t child = child_execute(become_shell, script);
    assert_true(child >= 0);
    return child;
}

/* Waits for the file and reads the two process numbers from it. */
static void read_processes(const char *path, int *first, int *second)
{
    FILE *file;
    while (!(file = fopen(path, "r")))
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    assert_int_equal(fscanf(file, "%d %d", first, second), 2);
    fclose(file);
}

/* A program that never checks interrupted() ends too, and its children. This is the first test, since a second signal
 * ends a process at once. */
TEST(one_signal_is_enough)
{
    int ready[2], status;
    char byte;
    assert_int_equal(pipe(ready), 0);
    pid_t child = fork();
    assert_true(child >= 0); /* kill(-1) would end every process */
    if (child == 0) {
        start_shell("sleep 1000"); /* it keeps the pipe open */
        ssize_t put = write(ready[1], "", 1);
        while (put == 1)
            pause();
    }
    assert_int_equal(read(ready[0], &byte, 1), 1);
    close(ready[1]);
    kill(child, SIGTERM);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 130);
    assert_int_equal(read(ready[0], &byte, 1), 0); /* no process has it open */
    close(ready[0]);
}

TEST_IN_SCRATCH(the_late_end_with_all_that_they_started)
{
    char script[2048];
    const char *path = scratch_path(state, "processes");
    int member, orphan, status, kept_open[2];
    char byte;
    assert_int_equal(pipe(kept_open), 0);
    /* One has a living parent, the other is an orphan. */
    snprintf(script, sizeof script,
             "sleep 1000 & m=$!; sh -c 'sleep 1000 & echo $! >\"%s.orphan\"';"
             "echo $m $(cat '%s.orphan') >'%s.part'; mv '%s.part' '%s'; wait",
             path, path, path, path, path);
    pid_t child = start_shell(script);
    close(kept_open[1]);
    read_processes(path, &member, &orphan);
    assert_int_equal(kill(orphan, 0), 0);
    assert_int_equal(child_wait(child, 0.01, &status), CHILD_LATE);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    assert_int_equal(read(kept_open[0], &byte, 1), 0); /* no process has it open */
    close(kept_open[0]);
}

TEST(an_end_is_reported)
{
    int status;
    signal(SIGCHLD, SIG_IGN); /* the program that started lnbench may have left it so */
    assert_int_equal(child_wait(start_shell("exit 3"), 60, &status), CHILD_ENDED);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 3);
}

TEST(an_interruption_ends_the_wait)
{
    int status;
    pid_t child = start_shell("sleep 1000");
    raise(SIGTERM);
    setitimer(ITIMER_REAL, &(struct itimerval){0}, NULL); /* it would end this test */
    assert_int_equal(child_wait(child, 1000, &status), CHILD_INTERRUPTED);
    assert_true(WIFSIGNALED(status));
    interrupt_forgive();
}

/* As for nohup, and commands started with & by a shell. */
TEST(what_was_ignored_stays_so)
{
    int status;
    pid_t child = fork();
    assert_true(child >= 0); /* kill(-1) would end every process */
    if (child == 0) {
        signal(SIGHUP, SIG_IGN);
        interrupt_watch();
        raise(SIGHUP);
        _exit(interrupted());
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

TEST(a_temporary_folder_is_removed)
{
    char path[1024], inner[1100];
    const char *folder = temporary_folder_make("test"), *other = temporary_folder_make("other");
    for (int depth = 0; depth < 3; depth++) {
        snprintf(inner, sizeof inner, "%s%s", folder,
                 depth == 0   ? "/a"
                 : depth == 1 ? "/a/b"
                              : "/file");
        assert_int_equal(depth < 2 ? mkdir(inner, 0700) : mknod(inner, S_IFREG | 0600, 0), 0);
    }
    strcpy(path, folder);
    temporary_folder_remove(folder);
    assert_int_equal(access(path, F_OK), -1);
    assert_int_equal(access(other, F_OK), 0);
    strcpy(path, other);
    tidy_up();
    assert_int_equal(access(path, F_OK), -1);
    temporary_folder_remove(other);
}

TEST(a_temporary_folder_is_removed_by_a_signal)
{
    int ends[2], status;
    char path[1024] = "";
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    assert_true(child >= 0); /* kill(-1) would end every process */
    if (child == 0) {
        const char *folder = temporary_folder_make("test");
        ssize_t put = write(ends[1], folder, strlen(folder));
        while (put > 0)
            pause();
    }
    assert_true(read(ends[0], path, sizeof path - 1) > 0);
    /* Repeated, because a signal soon after that of an earlier test counts as the same. */
    do {
        kill(child, SIGTERM);
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    } while (waitpid(child, &status, WNOHANG) == 0);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 130);
    assert_int_equal(access(path, F_OK), -1);
}
