/* The page as PDF, by WeasyPrint, which lays HTML out for paper. */
#include "report/page/document.h"
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static int spawn_weasyprint(const char *directory, pid_t *child)
{
    char *arguments[] = {(char *)"weasyprint", (char *)"-q", (char *)"data/print.html",
                         (char *)"report.pdf.part", NULL};
    posix_spawn_file_actions_t actions;
    int problem = posix_spawn_file_actions_init(&actions);
    if (problem)
        return problem;
    bool fine =
        posix_spawn_file_actions_addchdir_np(&actions, directory) == 0 &&
        posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0) == 0 &&
        posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0) == 0 &&
        posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0) == 0;
    problem = fine ? posix_spawnp(child, "weasyprint", &actions, NULL, arguments, environ) : ENOMEM;
    posix_spawn_file_actions_destroy(&actions);
    return problem;
}

bool document_pdf(const char *directory, char path[512], char note[256])
{
    pid_t child;
    int status = -1;
    char part[600], source[600];
    note[0] = '\0';
    snprintf(path, 512, "%.480s/report.pdf", directory);
    snprintf(part, sizeof part, "%s.part", path);
    snprintf(source, sizeof source, "%.480s/data/print.html", directory);
    unlink(path);
    int problem = spawn_weasyprint(directory, &child);
    if (problem == ENOENT)
        snprintf(note, 256, "no report.pdf: weasyprint was not found (Debian: weasyprint)");
    else if (problem)
        snprintf(note, 256, "no report.pdf: weasyprint: %s", strerror(problem));
    while (!problem && waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    unlink(source);
    if (!problem && status == 0 && rename(part, path) == 0)
        return true;
    unlink(part);
    if (!note[0])
        snprintf(note, 256, "no report.pdf: weasyprint failed on %.160s/index.html", directory);
    return false;
}
