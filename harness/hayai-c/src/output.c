/* SPDX-License-Identifier: Apache-2.0 */
#include "formats.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static hayai_status io_error(const char *path, const char *what)
{
    return hayai_fail_format(HAYAI_ERROR_IO, "%s: %s: %s", path ? path : "standard output", what,
                             strerror(errno));
}

static hayai_status no_memory(void)
{
    return hayai_fail_format(HAYAI_ERROR_MEMORY, "out of memory (report)");
}

static double now(void)
{
    struct timespec time;
    if (clock_gettime(CLOCK_MONOTONIC, &time) != 0)
        return 0;
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

/* A file that is not there yet, or that is a plain one, can be replaced. */
static bool replaceable(const char *path)
{
    struct stat status;
    return stat(path, &status) != 0 ? errno == ENOENT : S_ISREG(status.st_mode);
}

/* The name itself, or where it leads if it is a link (which is to stay one). Allocated. */
static char *resolved(const char *path)
{
    char *target = realpath(path, NULL);
    return target ? target : strdup(path);
}

static hayai_status prepare_document(hayai_output *output)
{
    static const char suffix[] = ".part";
    const size_t length = strlen(output->path);
    output->part = malloc(length + sizeof suffix);
    if (!output->part)
        return no_memory();
    memcpy(output->part, output->path, length);
    memcpy(output->part + length, suffix, sizeof suffix);
    FILE *probe = fopen(output->part, "wb");
    if (!probe)
        return io_error(output->part, "can't be created");
    fclose(probe);
    remove(output->part);
    return HAYAI_OK;
}

hayai_status hayai_output_open(hayai_output *output, hayai_output_kind kind, const char *path)
{
    *output = (hayai_output){.kind = kind};
    if (!path) {
        output->file = stdout;
        return HAYAI_OK;
    }
    output->path = resolved(path);
    if (!output->path)
        return no_memory();
    if (kind == HAYAI_DOCUMENT && replaceable(output->path))
        return prepare_document(output);
    output->file = fopen(output->path, "wb");
    return output->file ? HAYAI_OK : io_error(output->path, "can't be opened");
}

static bool write_text(FILE *file, const hayai_text *text)
{
    return text->length == 0 || fwrite(text->data, 1, text->length, file) == text->length;
}

static bool write_document(FILE *file, const hayai_output *output)
{
    return write_text(file, &output->head) && write_text(file, &output->body) &&
           write_text(file, &output->tail) && fflush(file) == 0;
}

static hayai_status replace(hayai_output *output)
{
    FILE *file = fopen(output->part, "wb");
    if (!file)
        return io_error(output->part, "can't be created");
    const bool written = write_document(file, output);
    const int cause = errno;
    if (fclose(file) != 0 || !written) {
        errno = written ? errno : cause;
        const hayai_status status = io_error(output->part, "can't be written");
        remove(output->part);
        return status;
    }
    if (rename(output->part, output->path) != 0)
        return io_error(output->path, "can't be replaced");
    return HAYAI_OK;
}

static hayai_status commit_document(hayai_output *output, bool last)
{
    if (!output->part) {
        if (last && !write_document(output->file, output))
            return io_error(output->path, "can't be written");
        return HAYAI_OK;
    }
    const double begin = now();
    if (!last && begin < output->next)
        return HAYAI_OK;
    const hayai_status status = replace(output);
    const double end = now();
    output->next = end + 20 * (end - begin);
    return status;
}

static hayai_status commit_stream(hayai_output *output)
{
    if (!write_text(output->file, &output->body) || fflush(output->file) != 0)
        return io_error(output->path, "can't be written");
    hayai_text_clear(&output->body);
    return HAYAI_OK;
}

hayai_status hayai_output_commit(hayai_output *output, bool last)
{
    if (output->head.failed || output->body.failed || output->tail.failed)
        return no_memory();
    return output->kind == HAYAI_STREAM ? commit_stream(output) : commit_document(output, last);
}

void hayai_output_close(hayai_output *output)
{
    if (output->file && output->file != stdout)
        fclose(output->file);
    free(output->path);
    free(output->part);
    hayai_text_release(&output->head);
    hayai_text_release(&output->body);
    hayai_text_release(&output->tail);
    *output = (hayai_output){0};
}
