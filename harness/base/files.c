#include "base/files.h"
#include "base/allocate.h"
#include "base/die.h"
#include "base/interrupt.h"
#include "base/program.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static bool failed_write(const char *path, error *err)
{
    return fail(err, EXIT_CODE_ENVIRONMENT, "%s: cannot write it: %s", path, strerror(errno));
}

/* EINVAL, EROFS: a pipe, a device or a file system that has no disk behind it. */
static bool sync_open(int descriptor)
{
    return fsync(descriptor) == 0 || errno == EINVAL || errno == EROFS;
}

bool sync_folder_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    char *folder = slash ? strndup(path, slash == path ? 1 : (size_t)(slash - path)) : strdup(".");
    int descriptor = folder ? open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    /* A folder that may be written to, but not read, cannot be opened. */
    bool fine = descriptor < 0 ? folder && errno == EACCES : sync_open(descriptor);
    int problem = errno;
    if (descriptor >= 0)
        close(descriptor);
    free(folder);
    errno = problem;
    return fine;
}

static bool move_to(const char *part, const char *path)
{
    return rename(part, path) == 0 && sync_folder_of(path);
}

/* Nobody else's file, nor what a link of that name points to. */
static FILE *create_new(const char *path)
{
    unlink(path);
    int descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    FILE *file = descriptor < 0 ? NULL : fdopen(descriptor, "wb");
    if (descriptor >= 0 && !file) {
        int problem = errno;
        close(descriptor);
        unlink(path);
        errno = problem;
    }
    return file;
}

static whole_file *open_files;

void whole_files_abandon(void)
{
    for (const whole_file *file = open_files; file; file = file->next)
        unlink(file->part);
}

static void remember(whole_file *file, char *part)
{
    file->part = part;
    file->next = open_files;
    open_files = file;
}

static void forget(const whole_file *file)
{
    whole_file **at = &open_files;
    while (*at && *at != file)
        at = &(*at)->next;
    if (*at)
        *at = file->next;
}

bool whole_file_begin(whole_file *file, const char *path, error *err)
{
    struct stat status;
    text_buffer part = {0};
    *file = (whole_file){.path = path};
    if (stat(path, &status) == 0 && !S_ISREG(status.st_mode)) {
        file->stream = fopen(path, "wb");
        return file->stream || failed_write(path, err);
    }
    text_format(&part, "%s.%ld.part", path, (long)getpid());
    if (part.failed) {
        text_free(&part);
        return fail_memory(err, path);
    }
    remember(file, part.bytes);
    file->stream = create_new(file->part);
    if (file->stream)
        return true;
    forget(file);
    failed_write(path, err);
    free(file->part);
    return false;
}

bool whole_file_end(whole_file *file, bool fine, error *err)
{
    bool written = fine && !ferror(file->stream) && fflush(file->stream) == 0 &&
                   sync_open(fileno(file->stream));
    int problem = errno;
    if (fclose(file->stream) != 0 && written) {
        problem = errno;
        written = false;
    }
    if (written && file->part && !move_to(file->part, file->path)) {
        problem = errno;
        written = false;
    }
    if (!written && file->part)
        unlink(file->part);
    forget(file);
    free(file->part);
    errno = problem;
    return written || !fine || failed_write(file->path, err);
}

bool read_whole_file(const char *path, text_buffer *content, error *err)
{
    FILE *file = fopen(path, "rb");
    char piece[1 << 14];
    text_add(content, "");
    for (size_t got; file && (got = fread(piece, 1, sizeof piece, file)) > 0;)
        text_add_bytes(content, piece, got);
    bool fine = file && !ferror(file) && !content->failed;
    if (!fine)
        fail(err, EXIT_CODE_ENVIRONMENT, "%s: cannot read it: %s", path, strerror(errno));
    if (file)
        fclose(file);
    return fine;
}

bool write_whole_file(const char *path, const text_buffer *content, error *err)
{
    whole_file file;
    if (content->failed)
        return fail_memory(err, path);
    if (!whole_file_begin(&file, path, err))
        return false;
    if (content->length > 0)
        fwrite(content->bytes, 1, content->length, file.stream);
    return whole_file_end(&file, true, err);
}

enum { PATH_LENGTH = 1024 };

/* Directory of the running executable, without a slash at the end. */
static bool own_directory(char directory[PATH_LENGTH], error *err)
{
    ssize_t length = readlink("/proc/self/exe", directory, PATH_LENGTH - 1);
    if (length <= 0)
        return fail(err, EXIT_CODE_ENVIRONMENT, "/proc/self/exe: %s (is /proc mounted?)",
                    strerror(errno));
    directory[length] = '\0';
    char *slash = strrchr(directory, '/');
    if (slash)
        *slash = '\0';
    return true;
}

/* The first that exists: the variable's value, then each candidate, relative to the executable or
 * absolute. */
static bool find_path(const char *variable, const char *const *candidates, size_t count,
                      const char *what, char *path, size_t size, error *err)
{
    const char *given = getenv(variable);
    if (given && given[0]) {
        snprintf(path, size, "%s", given);
        if (access(path, R_OK) == 0)
            return true;
        return fail(err, EXIT_CODE_ENVIRONMENT, "%s=%s: %s", variable, given, strerror(errno));
    }
    char directory[PATH_LENGTH];
    if (!own_directory(directory, err))
        return false;
    for (size_t i = 0; i < count; i++) {
        bool absolute = candidates[i][0] == '/';
        snprintf(path, size, "%s%s%s", absolute ? "" : directory, absolute ? "" : "/",
                 candidates[i]);
        if (access(path, R_OK) == 0)
            return true;
    }
    return fail(err, EXIT_CODE_ENVIRONMENT,
                "%s not found near %s: build or install lnbench whole, or set %s", what, directory,
                variable);
}

bool path_of_worker(char *path, size_t size, error *err)
{
    static const char *const candidates[] = {"lnbench-worker", "../libexec/lnbench/lnbench-worker"};
    return find_path("LNBENCH_WORKER", candidates, 2, "lnbench-worker", path, size, err);
}

bool path_of_library(char *path, size_t size, error *err)
{
    static const char *const candidates[] = {"../lib/liblayernorm.so", LNBENCH_INSTALLED_LIBRARY};
    return find_path("LNBENCH_LIBRARY", candidates, 2, "liblayernorm.so", path, size, err);
}

bool path_of_peers(char *path, size_t size)
{
    static const char *const candidates[] = {"../lib/peers", LNBENCH_INSTALLED_PEERS};
    error none = {0};
    return find_path("LNBENCH_PEERS_DIRECTORY", candidates, 2, "peers", path, size, &none);
}

bool path_of_plots(char *path, size_t size, error *err)
{
    static const char *const candidates[] = {"../share/lnbench/plots", LNBENCH_SOURCE_PLOTS};
    return find_path("LNBENCH_PLOTS", candidates, 2, "the plots directory", path, size, err);
}

bool path_of_worst(char *path, size_t size, error *err)
{
    static const char *const candidates[] = {"../share/lnbench/worst", LNBENCH_SOURCE_WORST};
    return find_path("LNBENCH_WORST", candidates, 2, "the worst rows", path, size, err);
}

bool make_directories(const char *path, error *err)
{
    char part[PATH_LENGTH];
    if (snprintf(part, sizeof part, "%s", path) >= (int)sizeof part)
        return fail(err, EXIT_CODE_USAGE, "%.60s...: path of more than %d characters", path,
                    PATH_LENGTH - 1);
    for (char *at = part + 1;; at++) {
        if (*at != '/' && *at != '\0')
            continue;
        char kept = *at;
        *at = '\0';
        if (mkdir(part, 0777) == 0 ? !sync_folder_of(part) : errno != EEXIST)
            return fail(err, EXIT_CODE_ENVIRONMENT, "%s: cannot make the directory: %s", part,
                        strerror(errno));
        *at = kept;
        if (kept == '\0')
            break;
    }
    struct stat status;
    if (stat(path, &status) != 0 || !S_ISDIR(status.st_mode))
        return fail(err, EXIT_CODE_ENVIRONMENT, "%s: is not a directory", path);
    return true;
}

bool make_parent_directory(const char *path, error *err)
{
    char directory[1024];
    snprintf(directory, sizeof directory, "%s", path);
    char *slash = strrchr(directory, '/');
    if (!slash || slash == directory)
        return true;
    *slash = '\0';
    return make_directories(directory, err);
}

enum { FOLDERS_MOST = 16 };

/* NULL: a free place. Read by a signal's handler. */
static char *volatile folders[FOLDERS_MOST];

/* By system calls alone, since a signal's handler comes here: opendir() would allocate. */
static void empty_folder(int folder)
{
    _Alignas(struct dirent64) char entries[4096];
    for (long size; (size = syscall(SYS_getdents64, folder, entries, sizeof entries)) > 0;)
        for (long at = 0; at < size;) {
            const struct dirent64 *entry = (const void *)(entries + at);
            const char *name = entry->d_name;
            at += entry->d_reclen;
            if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0 || unlinkat(folder, name, 0) == 0)
                continue;
            int inner = openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
            if (inner >= 0) {
                empty_folder(inner);
                close(inner);
            }
            unlinkat(folder, name, AT_REMOVEDIR);
        }
}

static void remove_folder(const char *path)
{
    int folder = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (folder >= 0) {
        empty_folder(folder);
        close(folder);
    }
    rmdir(path);
}

const char *temporary_folder_make(const char *name)
{
    const char *place = getenv("TMPDIR");
    char path[1024];
    size_t at = 0;
    snprintf(path, sizeof path, "%.900s/lnbench-%.20s-XXXXXX", place && *place ? place : "/tmp",
             name);
    while (at < FOLDERS_MOST - 1 && folders[at])
        at++;
    char *kept = allocate_copy(path, strlen(path) + 1);
    interrupt_watch(); /* a signal must not end the program without tidy_up() */
    if (!mkdtemp(kept))
        die(EXIT_CODE_ENVIRONMENT, "%.900s: cannot make it: %s (set TMPDIR)", path,
            strerror(errno));
    folders[at] = kept;
    return kept;
}

void temporary_folder_remove(const char *path)
{
    for (size_t at = 0; path && at < FOLDERS_MOST; at++)
        if (folders[at] == path) {
            char *kept = folders[at];
            remove_folder(kept);
            folders[at] = NULL;
            free(kept);
        }
}

void tidy_up(void)
{
    children_kill();
    whole_files_abandon();
    for (size_t at = 0; at < FOLDERS_MOST; at++)
        if (folders[at])
            remove_folder(folders[at]);
}
