#include "base/files.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool failed_write(const char *path, error *err)
{
    return fail(err, EXIT_CODE_ENVIRONMENT, "%s: cannot write it: %s", path, strerror(errno));
}

bool file_sync(FILE *file)
{
    /* EINVAL, EROFS: a pipe or a device, which has no disk behind it. */
    return fflush(file) == 0 && (fsync(fileno(file)) == 0 || errno == EINVAL || errno == EROFS);
}

/* Nobody else's file, nor what a link of that name points to. */
static FILE *create_new(const char *path)
{
    unlink(path);
    int descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    FILE *file = descriptor < 0 ? NULL : fdopen(descriptor, "wb");
    if (descriptor >= 0 && !file)
        close(descriptor);
    return file;
}

static bool write_all(FILE *file, const char *path, const text_buffer *content, error *err)
{
    bool fine =
        fwrite(content->bytes, 1, content->length, file) == content->length && file_sync(file);
    if (!fine)
        failed_write(path, err);
    if (fclose(file) != 0 && fine)
        fine = failed_write(path, err);
    return fine;
}

bool write_whole_file(const char *path, const text_buffer *content, error *err)
{
    text_buffer temporary = {0};
    struct stat status;
    /* A pipe or a device such as /dev/null is written to, never replaced by a file. */
    if (!content->failed && stat(path, &status) == 0 && !S_ISREG(status.st_mode)) {
        FILE *place = fopen(path, "wb");
        return place ? write_all(place, path, content, err) : failed_write(path, err);
    }
    text_format(&temporary, "%s.%ld.part", path, (long)getpid());
    if (content->failed || temporary.failed) {
        text_free(&temporary);
        return fail_memory(err, path);
    }
    FILE *file = create_new(temporary.bytes);
    bool fine = file ? write_all(file, path, content, err) : failed_write(path, err);
    if (fine && rename(temporary.bytes, path) != 0)
        fine = failed_write(path, err);
    if (!fine)
        unlink(temporary.bytes);
    text_free(&temporary);
    return fine;
}
