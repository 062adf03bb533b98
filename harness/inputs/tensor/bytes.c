/* The bytes of one tensor: of a file, or unpacked from it (RFC 1951, by zlib). */
#include "inputs/tensor/internal.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
    PIECE = 1 << 15,
    DEFLATE_MOST = 1032, /* bytes that one packed byte can become: zlib.net/zlib_tech.html */
};

uint64_t little_endian(const unsigned char *bytes, size_t count)
{
    uint64_t value = 0;
    while (count > 0)
        value = value << 8 | bytes[--count];
    return value;
}

static bool fail_short(const byte_source *source, const char *field, error *err)
{
    if (ferror(source->file))
        return fail(err, EXIT_CODE_ENVIRONMENT, "%s: %s", source->path, strerror(errno));
    return fail(err, EXIT_CODE_USAGE, "%s: the file ends in its %s: it is truncated", source->path,
                field);
}

bool bytes_seek(byte_source *source, uint64_t place, error *err)
{
    return fseeko(source->file, (off_t)place, SEEK_SET) == 0 ||
           fail(err, EXIT_CODE_ENVIRONMENT, "%s: %s", source->path, strerror(errno));
}

bool bytes_unpack(byte_source *source, error *err)
{
    source->is_deflated = true;
    if (source->left / DEFLATE_MOST > source->stored)
        return fail(err, EXIT_CODE_USAGE,
                    "%s: claims to unpack %llu bytes to %llu: at most %d times as many were "
                    "expected",
                    source->path, (unsigned long long)source->stored,
                    (unsigned long long)source->left, DEFLATE_MOST);
    source->piece = malloc(PIECE);
    return (source->piece && inflateInit2(&source->unpacker, -MAX_WBITS) == Z_OK) ||
           fail_memory(err, source->path);
}

static bool refill(byte_source *source, const char *field, error *err)
{
    size_t count = source->stored < PIECE ? (size_t)source->stored : PIECE;
    if (fread(source->piece, 1, count, source->file) != count)
        return fail_short(source, field, err);
    source->stored -= count;
    source->unpacker.next_in = source->piece;
    source->unpacker.avail_in = (uInt)count;
    return true;
}

/* One step; `room` bytes may come out. *status: zlib's. */
static bool unpack(byte_source *source, unsigned char *to, uInt room, int *status,
                   const char *field, error *err)
{
    z_stream *unpacker = &source->unpacker;
    if (unpacker->avail_in == 0 && source->stored > 0 && !refill(source, field, err))
        return false;
    unpacker->next_out = to;
    unpacker->avail_out = room;
    *status = inflate(unpacker, Z_NO_FLUSH);
    if (*status == Z_MEM_ERROR)
        return fail_memory(err, source->path);
    return *status == Z_OK || *status == Z_STREAM_END || *status == Z_BUF_ERROR ||
           fail(err, EXIT_CODE_USAGE, "%s: its packed bytes are damaged: %s", source->path,
                unpacker->msg ? unpacker->msg : "no deflate data");
}

static bool take_unpacked(byte_source *source, unsigned char *to, size_t count, const char *field,
                          error *err)
{
    while (count > 0) {
        int status;
        uInt room = count < 1u << 30 ? (uInt)count : 1u << 30;
        if (!unpack(source, to, room, &status, field, err))
            return false;
        size_t got = room - source->unpacker.avail_out;
        if (got == 0 && (status != Z_OK || source->stored == 0))
            return fail(err, EXIT_CODE_USAGE,
                        "%s: its packed bytes end in its %s: %llu bytes more were expected",
                        source->path, field, (unsigned long long)count);
        to += got;
        count -= got;
    }
    return true;
}

bool bytes_take(byte_source *source, void *to, size_t count, const char *field, error *err)
{
    if (count > source->left)
        return fail_short(source, field, err);
    if (source->is_deflated
            ? !take_unpacked(source, to, count, field, err)
            : fread(to, 1, count, source->file) != count && !fail_short(source, field, err))
        return false;
    source->left -= count;
    for (size_t at = 0; source->is_member && at < count;) {
        uInt step = count - at < 1u << 30 ? (uInt)(count - at) : 1u << 30;
        source->checksum = crc32(source->checksum, (const Bytef *)to + at, step);
        at += step;
    }
    return true;
}

bool bytes_end(byte_source *source, error *err)
{
    unsigned char more;
    int status = Z_OK;
    while (source->is_deflated && status == Z_OK) {
        if (!unpack(source, &more, 1, &status, "end", err))
            return false;
        if (source->unpacker.avail_out == 0)
            return fail(err, EXIT_CODE_USAGE,
                        "%s: unpacks to more bytes than the archive's directory says",
                        source->path);
    }
    return !source->is_member ||
           (source->checksum == source->expected_checksum &&
            (!source->is_deflated || status == Z_STREAM_END)) ||
           fail(err, EXIT_CODE_USAGE, "%s: its checksum is not the archive's: it is damaged",
                source->path);
}

void bytes_free(byte_source *source)
{
    if (source->is_deflated)
        inflateEnd(&source->unpacker);
    free(source->piece);
    source->piece = NULL;
}

void name_list_add(name_list *list, const char *name, size_t length)
{
    size_t used = strlen(list->text), room = sizeof list->text - used;
    if (list->count++ == 0)
        snprintf(list->text, room, "%.*s", (int)(length < 100 ? length : 100), name);
    else if (length + 8 < room)
        snprintf(list->text + used, room, ", %.*s", (int)length, name);
    else if (room > 6 && strcmp(list->text + used - 3, "...") != 0)
        snprintf(list->text + used, room, ", ...");
}

bool fail_name(const char *path, const char *name, const name_list *names, error *err)
{
    if (names->count == 0)
        return fail(err, EXIT_CODE_USAGE,
                    "%s: holds no tensor: expected what numpy.savez or safetensors writes", path);
    if (name)
        return fail(err, EXIT_CODE_USAGE, "%s: holds no tensor '%.100s': it has %s", path, name,
                    names->text);
    return fail(err, EXIT_CODE_USAGE,
                "%s: holds %zu tensors: expected one of their names, %s:NAME "
                "(%s)",
                path, names->count, path, names->text);
}
