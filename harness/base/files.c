#include "base/files.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool failed_write(const char *path, error *err)
{
    return fail(err, EXIT_CODE_ENVIRONMENT, "%s: cannot write it: %s", path, strerror(errno));
}

static bool write_all(FILE *file, const char *path, const text_buffer *content, error *err)
{
    bool fine =
        fwrite(content->bytes, 1, content->length, file) == content->length && fflush(file) == 0;
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
    FILE *file = fopen(temporary.bytes, "wb");
    bool fine = file ? write_all(file, path, content, err) : failed_write(path, err);
    if (fine && rename(temporary.bytes, path) != 0)
        fine = failed_write(path, err);
    if (!fine && file)
        remove(temporary.bytes);
    text_free(&temporary);
    return fine;
}
