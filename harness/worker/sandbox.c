#include "worker/sandbox.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_VISIBLE = 70 };

bool sandbox_is_wanted(void)
{
    const char *wanted = getenv("LNBENCH_SANDBOX");
    return wanted && strcmp(wanted, "0") != 0;
}

static void add_directory(word_list *visible, const char *file)
{
    char *path = realpath(file, NULL), *slash = path ? strrchr(path, '/') : NULL;
    if (slash && slash != path) {
        *slash = '\0';
        word_list_add(visible, path);
    }
    free(path);
}

void sandbox_find_visible(const char *program, char (*plugins)[PROTOCOL_PATH_LENGTH], size_t count,
                          word_list *visible)
{
    add_directory(visible, program);
    for (size_t i = 0; i < count; i++)
        add_directory(visible, plugins[i]);
}

void sandbox_exec(const char *program, const char *const *visible, size_t count)
{
    static const char *const fixed[] = {"bwrap",
                                        "--unshare-all",
                                        "--die-with-parent",
                                        "--cap-drop",
                                        "ALL",
                                        "--ro-bind",
                                        "/",
                                        "/",
                                        "--dev",
                                        "/dev",
                                        "--remount-ro",
                                        "/dev",
                                        "--proc",
                                        "/proc",
                                        "--tmpfs",
                                        "/run",
                                        "--tmpfs",
                                        "/tmp",
                                        "--tmpfs",
                                        "/var/tmp"};
    static const char *const closed[] = {"--remount-ro", "/run",     "--remount-ro", "/tmp",
                                         "--remount-ro", "/var/tmp", "--chdir",      "/"};
    enum { FIXED = sizeof fixed / sizeof *fixed, CLOSED = sizeof closed / sizeof *closed };
    const char *arguments[FIXED + 3 * MOST_VISIBLE + CLOSED + 3];
    size_t used = FIXED;
    memcpy(arguments, fixed, sizeof fixed);
    for (size_t i = 0; i < count && i < MOST_VISIBLE; i++) {
        arguments[used++] = "--ro-bind";
        arguments[used++] = visible[i];
        arguments[used++] = visible[i];
    }
    memcpy(&arguments[used], closed, sizeof closed);
    used += CLOSED;
    arguments[used++] = program;
    arguments[used++] = WORKER_LIMITED;
    arguments[used] = NULL;
    execvp("bwrap", (char **)(uintptr_t)arguments);
}
