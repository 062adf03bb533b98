#include "base/files.h"
#include "base/allocate.h"
#include "base/die.h"
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

static _Noreturn void write_dies(const char *path)
{
    die(EXIT_CODE_ENVIRONMENT, "%s: cannot write it: %s", path, strerror(errno));
}

/* EINVAL, EROFS: a pipe, a device or a file system that has no disk behind it. */
static bool sync_open(int descriptor)
{
    return fsync(descriptor) == 0 || errno == EINVAL || errno == EROFS;
}

/* Brings a new name to the disk: the folder in which it lies. False: errno says why. */
static bool sync_folder_of(const char *path)
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

static void forget(const whole_file *file)
{
    whole_file **at = &open_files;
    while (*at && *at != file)
        at = &(*at)->next;
    if (*at)
        *at = file->next;
}

void whole_file_begin(whole_file *file, const char *path)
{
    struct stat status;
    *file = (whole_file){.path = path};
    if (stat(path, &status) == 0 && !S_ISREG(status.st_mode)) {
        file->stream = fopen(path, "wb");
    } else {
        text_buffer part = {0};
        text_format(&part, "%s.%ld.part", path, (long)getpid());
        file->stream = create_new(part.bytes);
        file->part = part.bytes;
        file->next = open_files;
        open_files = file;
    }
    if (!file->stream)
        write_dies(path);
}

static void close_file(const whole_file *file)
{
    if (file->part)
        unlink(file->part);
    forget(file);
    free(file->part);
}

void whole_file_drop(whole_file *file)
{
    fclose(file->stream);
    close_file(file);
}

void whole_file_end(whole_file *file)
{
    bool written =
        !ferror(file->stream) && fflush(file->stream) == 0 && sync_open(fileno(file->stream));
    int problem = errno;
    if (fclose(file->stream) != 0 && written) {
        problem = errno;
        written = false;
    }
    if (written &&
        (!file->part || (rename(file->part, file->path) == 0 && sync_folder_of(file->path)))) {
        forget(file);
        free(file->part);
        return;
    }
    errno = written ? errno : problem;
    problem = errno;
    close_file(file);
    errno = problem;
    write_dies(file->path);
}

void read_whole_file(const char *path, text_buffer *content)
{
    FILE *file = fopen(path, "rb");
    char piece[1 << 14];
    text_add(content, "");
    for (size_t got; file && (got = fread(piece, 1, sizeof piece, file)) > 0;)
        text_add_bytes(content, piece, got);
    if (!file || ferror(file))
        die(EXIT_CODE_ENVIRONMENT, "%s: cannot read it: %s", path, strerror(errno));
    fclose(file);
}

void write_whole_file(const char *path, const text_buffer *content)
{
    whole_file file;
    whole_file_begin(&file, path);
    if (content->length > 0)
        fwrite(content->bytes, 1, content->length, file.stream);
    whole_file_end(&file);
}

enum { PATH_LENGTH = 1024 };

/* Directory of the running executable, without a slash at the end. */
static void own_directory(char directory[PATH_LENGTH])
{
    ssize_t length = readlink("/proc/self/exe", directory, PATH_LENGTH - 1);
    if (length <= 0)
        die(EXIT_CODE_ENVIRONMENT, "/proc/self/exe: %s (is /proc mounted?)", strerror(errno));
    directory[length] = '\0';
    char *slash = strrchr(directory, '/');
    if (slash)
        *slash = '\0';
}

/* The first that exists: the variable's value, then each candidate, relative to the executable or
 * absolute. False: none does. */
static bool find_path(const char *variable, const char *const candidates[2], char *path,
                      size_t size)
{
    const char *given = getenv(variable);
    if (given && given[0]) {
        snprintf(path, size, "%s", given);
        if (access(path, R_OK) != 0)
            die(EXIT_CODE_ENVIRONMENT, "%s=%s: %s", variable, given, strerror(errno));
        return true;
    }
    char directory[PATH_LENGTH];
    own_directory(directory);
    for (size_t i = 0; i < 2; i++) {
        bool absolute = candidates[i][0] == '/';
        snprintf(path, size, "%s%s%s", absolute ? "" : directory, absolute ? "" : "/",
                 candidates[i]);
        if (access(path, R_OK) == 0)
            return true;
    }
    return false;
}

static void need_path(const char *variable, const char *const candidates[2], const char *what,
                      char *path, size_t size)
{
    char directory[PATH_LENGTH];
    if (find_path(variable, candidates, path, size))
        return;
    own_directory(directory);
    die(EXIT_CODE_ENVIRONMENT, "%s not found near %s: build or install lnbench whole, or set %s",
        what, directory, variable);
}

void path_of_worker(char *path, size_t size)
{
    static const char *const candidates[] = {"lnbench-worker", "../libexec/lnbench/lnbench-worker"};
    need_path("LNBENCH_WORKER", candidates, "lnbench-worker", path, size);
}

void path_of_library(char *path, size_t size)
{
    static const char *const candidates[] = {"../lib/liblayernorm.so", LNBENCH_INSTALLED_LIBRARY};
    need_path("LNBENCH_LIBRARY", candidates, "liblayernorm.so", path, size);
}

bool path_of_peers(char *path, size_t size)
{
    static const char *const candidates[] = {"../lib/peers", LNBENCH_INSTALLED_PEERS};
    return find_path("LNBENCH_PEERS_DIRECTORY", candidates, path, size);
}

void path_of_plots(char *path, size_t size)
{
    static const char *const candidates[] = {"../share/lnbench/plots", LNBENCH_SOURCE_PLOTS};
    need_path("LNBENCH_PLOTS", candidates, "the plots directory", path, size);
}

bool path_of_worst(char *path, size_t size)
{
    static const char *const candidates[] = {"../share/lnbench/worst", LNBENCH_SOURCE_WORST};
    return find_path("LNBENCH_WORST", candidates, path, size);
}

void make_directories(const char *path)
{
    char part[PATH_LENGTH];
    struct stat status;
    if (snprintf(part, sizeof part, "%s", path) >= (int)sizeof part)
        die(EXIT_CODE_USAGE, "%.60s...: path of more than %d characters", path, PATH_LENGTH - 1);
    for (char *at = part + 1;; at++) {
        if (*at != '/' && *at != '\0')
            continue;
        char kept = *at;
        *at = '\0';
        if (mkdir(part, 0777) == 0 ? !sync_folder_of(part) : errno != EEXIST)
            die(EXIT_CODE_ENVIRONMENT, "%s: cannot make the directory: %s", part, strerror(errno));
        *at = kept;
        if (kept == '\0')
            break;
    }
    if (stat(path, &status) != 0 || !S_ISDIR(status.st_mode))
        die(EXIT_CODE_ENVIRONMENT, "%s: is not a directory", path);
}

void make_parent_directory(const char *path)
{
    char directory[PATH_LENGTH];
    snprintf(directory, sizeof directory, "%s", path);
    char *slash = strrchr(directory, '/');
    if (slash && slash != directory) {
        *slash = '\0';
        make_directories(directory);
    }
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
            remove_folder(path);
            folders[at] = NULL;
            free((char *)path);
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
