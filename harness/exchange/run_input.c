#include "exchange/run_input.h"
#include "base/allocate.h"
#include "exchange/run_read.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
    PIECE = 1 << 16,
    UNPACKER_MEMORY_MOST = 128 << 20, /* xz -9 takes 65 MiB */
};

static bool unreadable(const run_input *input, error *err)
{
    return fail(err, EXIT_CODE_ENVIRONMENT, "%s: cannot read it: %s", input->path, strerror(errno));
}

static bool is_packed(FILE *file)
{
    static const char magic[6] = "\xfd"
                                 "7zXZ"; /* tukaani.org/xz/xz-file-format.txt, 2.1.1.1 */
    char begin[sizeof magic];
    bool packed = fread(begin, 1, sizeof begin, file) == sizeof begin &&
                  memcmp(begin, magic, sizeof begin) == 0;
    rewind(file);
    return packed;
}

static bool unpacking_fails(const run_input *input, lzma_ret status, error *err)
{
    if (status == LZMA_MEM_ERROR)
        return fail_memory(err, "unpacking a run");
    if (status == LZMA_MEMLIMIT_ERROR)
        return fail(err, EXIT_CODE_ENVIRONMENT, "%s: unpacking it takes more than %d MiB of memory",
                    input->path, UNPACKER_MEMORY_MOST >> 20);
    return fail(err, EXIT_CODE_ENVIRONMENT,
                "%s: its xz data is damaged or was cut short: copy the file again", input->path);
}

bool run_input_open(run_input *input, const char *path, FILE *file, error *err)
{
    *input = (run_input){.path = path, .file = file, .unpacker = LZMA_STREAM_INIT};
    if (!file)
        return unreadable(input, err);
    input->packed = is_packed(file);
    if (!input->packed)
        return true;
    input->piece = allocate(PIECE);
    lzma_ret status =
        lzma_stream_decoder(&input->unpacker, UNPACKER_MEMORY_MOST, LZMA_CONCATENATED);
    return status == LZMA_OK || unpacking_fails(input, status, err);
}

/* Up to `most` bytes behind those there are; fewer at the end of the file. */
static bool unpack(run_input *input, size_t most, error *err)
{
    lzma_stream *unpacker = &input->unpacker;
    lzma_ret status = LZMA_OK;
    unpacker->next_out = (unsigned char *)input->bytes + input->size;
    unpacker->avail_out = most;
    while (unpacker->avail_out > 0 && status == LZMA_OK) {
        if (unpacker->avail_in == 0 && !feof(input->file)) {
            unpacker->next_in = input->piece;
            unpacker->avail_in = fread(input->piece, 1, PIECE, input->file);
            if (ferror(input->file))
                return unreadable(input, err);
        }
        status = lzma_code(unpacker, feof(input->file) ? LZMA_FINISH : LZMA_RUN);
    }
    input->size += most - unpacker->avail_out;
    input->ended = status == LZMA_STREAM_END;
    return input->ended || status == LZMA_OK || unpacking_fails(input, status, err);
}

/* What stands before the last line is dropped. */
static bool read_piece(run_input *input, error *err)
{
    if (input->line > 0)
        memmove(input->bytes, input->bytes + input->line, input->size - input->line);
    input->size -= input->line;
    input->next -= input->line;
    input->line = 0;
    if (input->room - input->size < PIECE) {
        input->room = input->room ? 2 * input->room : 2 * (size_t)PIECE;
        input->bytes = reallocate(input->bytes, input->room);
    }
    size_t before = input->size;
    if (input->packed) {
        if (!unpack(input, PIECE, err))
            return false;
    } else {
        input->size += fread(input->bytes + input->size, 1, PIECE, input->file);
        input->ended = input->size < before + PIECE;
        if (ferror(input->file))
            return unreadable(input, err);
    }
    input->total += input->size - before;
    return input->total < RUN_READ_MOST_BYTES ||
           fail(err, EXIT_CODE_ENVIRONMENT, "%s: larger than %zu MiB%s", input->path,
                RUN_READ_MOST_BYTES >> 20, input->packed ? ", unpacked" : "");
}

bool run_input_line(run_input *input, const char **line, size_t *length, error *err)
{
    const char *end = NULL;
    size_t searched = 0;
    input->line = input->next;
    for (;;) {
        size_t left = input->size - input->line;
        if (left > searched)
            end = memchr(input->bytes + input->line + searched, '\n', left - searched);
        searched = left;
        if (end || input->ended)
            break;
        if (!read_piece(input, err))
            return false;
    }
    *line = searched > 0 ? input->bytes + input->line : NULL;
    *length = end ? (size_t)(end - *line) : searched;
    input->next = input->line + *length + (end != NULL);
    return true;
}

bool run_input_rest(run_input *input, const char **bytes, size_t *size, error *err)
{
    while (!input->ended)
        if (!read_piece(input, err))
            return false;
    *bytes = input->bytes + input->line;
    *size = input->size - input->line;
    return true;
}

void run_input_close(run_input *input)
{
    lzma_end(&input->unpacker);
    if (input->file)
        fclose(input->file);
    free(input->piece);
    free(input->bytes);
    *input = (run_input){0};
}
