#include "base/files.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
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
