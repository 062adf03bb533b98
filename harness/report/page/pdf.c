/* The page as PDF, by WeasyPrint, which lays HTML out for paper. */
#include "base/children.h"
#include "base/files.h"
#include "report/page/document.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A page takes some seconds. */
static const double most_seconds = 300;

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
    problem = fine ? child_spawn("weasyprint", arguments, &actions, child) : ENOMEM;
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
    whole_file file;
    other_file_begin(&file, part);
    int problem = spawn_weasyprint(directory, &child);
    if (problem == ENOENT)
        snprintf(note, 256, "no report.pdf: weasyprint was not found (Debian: weasyprint)");
    else if (problem)
        snprintf(note, 256, "no report.pdf: weasyprint: %s", strerror(problem));
    bool ended = !problem && child_wait(child, most_seconds, &status) == CHILD_ENDED;
    unlink(source);
    bool made = ended && status == 0 && publish_file(part, path);
    if (!made)
        unlink(part);
    other_file_end(&file);
    if (made)
        return true;
    if (!note[0])
        snprintf(note, 256, "no report.pdf: weasyprint failed on %.160s/index.html", directory);
    return false;
}
