#include "store/run_file.h"
#include "base/allocate.h"
#include "base/files.h"
#include "base/hash.h"
#include "store/store.h"
#include <errno.h>
#include <inttypes.h>
#include <lzma.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    SHA256_BYTES = 32,
    HEADER_BYTES = 100,               /* of a database: sqlite.org/fileformat2.html, 1.3 */
    APPLICATION_ID_AT = 68,           /* there, in big-endian order */
    UNPACKER_MEMORY_MOST = 128 << 20, /* xz -9 takes 65 MiB */
};

static void hash_sha256(const char *bytes, size_t size, unsigned char hash[SHA256_BYTES])
{
    /* liblzma computes the SHA-256 of a block that it stores without compression. */
    lzma_block block = {.version = 1, .check = LZMA_CHECK_SHA256};
    size_t room = lzma_block_buffer_bound(size), made = 0;
    unsigned char *out = allocate(room);
    if (lzma_block_uncomp_encode(&block, (const unsigned char *)bytes, size, out, &made, room) !=
        LZMA_OK)
        die_of_memory(room);
    free(out);
    memcpy(hash, block.raw_check, SHA256_BYTES);
}

static void pack_xz(const text_buffer *bytes, unsigned preset, text_buffer *packed)
{
    size_t room = lzma_stream_buffer_bound(bytes->length), size = 0;
    unsigned char *made = allocate(room);
    if (lzma_easy_buffer_encode(preset, LZMA_CHECK_SHA256, NULL,
                                (const unsigned char *)bytes->bytes, bytes->length, made, &size,
                                room) != LZMA_OK)
        die_of_memory(room);
    text_add_bytes(packed, (const char *)made, size);
    free(made);
}

void run_file_make(const char *database, int64_t run, unsigned preset, text_buffer *bytes)
{
    char path[1100];
    unsigned char hash[SHA256_BYTES];
    text_buffer plain = {0};
    const char *folder = temporary_folder_make("export");
    snprintf(path, sizeof path, "%s/run.db", folder);
    store_export_run(database, run, path);
    read_whole_file(path, &plain);
    temporary_folder_remove(folder);
    hash_sha256(plain.bytes, plain.length, hash);
    text_add_bytes(&plain, (const char *)hash, sizeof hash);
    if (preset != PACK_NOT)
        pack_xz(&plain, preset, bytes);
    else
        text_add_bytes(bytes, plain.bytes, plain.length);
    text_free(&plain);
}

static bool is_database(const char *bytes, size_t size)
{
    static const char magic[] = "SQLite format 3"; /* sqlite.org/fileformat2.html, 1.3.1 */
    return size >= HEADER_BYTES && memcmp(bytes, magic, sizeof magic) == 0;
}

static bool is_exported(const char *header)
{
    const unsigned char *id = (const unsigned char *)header + APPLICATION_ID_AT;
    return ((uint32_t)id[0] << 24 | (uint32_t)id[1] << 16 | (uint32_t)id[2] << 8 | id[3]) ==
           STORE_EXPORTED_ID;
}

static _Noreturn void was_changed(const char *path)
{
    die(EXIT_CODE_ENVIRONMENT,
        "%s: was changed after it was made, its hash tells: ask for it again", path);
}

static void check_hash(const char *path, const text_buffer *database)
{
    unsigned char hash[SHA256_BYTES];
    if (!is_exported(database->bytes))
        return;
    size_t before = database->length - SHA256_BYTES;
    hash_sha256(database->bytes, before, hash);
    if (memcmp(database->bytes + before, hash, sizeof hash) != 0)
        was_changed(path);
}

static void unpack(const char *path, const char *bytes, size_t size, text_buffer *database)
{
    unsigned char piece[1 << 16];
    lzma_stream unpacker = LZMA_STREAM_INIT;
    lzma_ret status = lzma_stream_decoder(&unpacker, UNPACKER_MEMORY_MOST, LZMA_CONCATENATED);
    unpacker.next_in = (const unsigned char *)bytes;
    unpacker.avail_in = size;
    while (status == LZMA_OK && database->length < RUN_FILE_MOST_BYTES) {
        unpacker.next_out = piece;
        unpacker.avail_out = sizeof piece;
        status = lzma_code(&unpacker, LZMA_FINISH);
        text_add_bytes(database, (const char *)piece, sizeof piece - unpacker.avail_out);
    }
    lzma_end(&unpacker);
    if (status == LZMA_OK)
        die(EXIT_CODE_ENVIRONMENT, "%s: larger than %zu MiB, unpacked", path,
            RUN_FILE_MOST_BYTES >> 20);
    if (status == LZMA_MEM_ERROR)
        die_of_memory(sizeof piece);
    if (status == LZMA_MEMLIMIT_ERROR)
        die(EXIT_CODE_ENVIRONMENT, "%s: unpacking it takes more than %d MiB of memory", path,
            UNPACKER_MEMORY_MOST >> 20);
    if (status != LZMA_STREAM_END)
        die(EXIT_CODE_ENVIRONMENT,
            "%s: its xz data is damaged or was cut short: copy the file again", path);
}

static bool is_packed(const char *bytes, size_t size)
{
    static const char magic[6] = "\xfd"
                                 "7zXZ"; /* tukaani.org/xz/xz-file-format.txt, 2.1.1.1 */
    return size >= sizeof magic && memcmp(bytes, magic, sizeof magic) == 0;
}

/* JSON lines, which export wrote until format 16. */
static bool is_lines(const char *bytes, size_t size)
{
    static const char sign[] = "lnbench-record-";
    return size > 0 && bytes[0] == '{' &&
           memmem(bytes, size < 4096 ? size : 4096, sign, sizeof sign - 1);
}

static _Noreturn void no_run(const char *path, const char *bytes, size_t size)
{
    if (is_lines(bytes, size))
        die(EXIT_CODE_ENVIRONMENT, "%s: " MADE_BY_OLDER, path);
    die(EXIT_CODE_ENVIRONMENT, "%s: not a run as 'lnbench export --format db' writes it", path);
}

/* What is packed is unpacked into a temporary file. */
static void open_packed(run_file *file, const char *path, const char *bytes, size_t size)
{
    text_buffer unpacked = {0};
    unpack(path, bytes, size, &unpacked);
    if (!is_database(unpacked.bytes, unpacked.length))
        no_run(path, unpacked.bytes, unpacked.length);
    check_hash(path, &unpacked);
    file->folder = temporary_folder_make("run");
    snprintf(file->database, sizeof file->database, "%s/run.db", file->folder);
    write_whole_file(file->database, &unpacked);
    text_free(&unpacked);
}

/* All of a file, but of a store, which may be large, the beginning alone. */
static void read_file(const char *path, text_buffer *bytes)
{
    FILE *file = fopen(path, "rb");
    char piece[1 << 16];
    bool is_store = false;
    text_add(bytes, "");
    for (size_t got; file && !is_store && bytes->length <= RUN_FILE_MOST_BYTES &&
                     (got = fread(piece, 1, sizeof piece, file)) > 0;) {
        text_add_bytes(bytes, piece, got);
        is_store = is_database(bytes->bytes, bytes->length) && !is_exported(bytes->bytes);
    }
    if (!file || ferror(file))
        die(EXIT_CODE_ENVIRONMENT, "%s: cannot read it: %s", path, strerror(errno));
    fclose(file);
    if (bytes->length > RUN_FILE_MOST_BYTES)
        die(EXIT_CODE_ENVIRONMENT, "%s: larger than %zu MiB", path, RUN_FILE_MOST_BYTES >> 20);
}

run_file run_file_open(const char *path)
{
    text_buffer bytes = {0};
    run_file file = {.folder = NULL};
    read_file(path, &bytes);
    size_t size = bytes.length;
    snprintf(file.database, sizeof file.database, "%s", path);
    if (is_database(bytes.bytes, size)) {
        check_hash(path, &bytes);
    } else if (page_run_is_page(bytes.bytes, size)) {
        size = page_run_take(path, bytes.bytes, size);
        open_packed(&file, path, bytes.bytes, size);
    } else if (is_packed(bytes.bytes, size)) {
        open_packed(&file, path, bytes.bytes, size);
    } else {
        no_run(path, bytes.bytes, size);
    }
    text_free(&bytes);
    return file;
}

void run_file_close(run_file *file)
{
    if (file->folder)
        temporary_folder_remove(file->folder);
    file->folder = NULL;
}

enum {
    LINE = 96,
};
static const char opening[] = "<script type=\"application/x-xz\" id=\"run\">\n",
                  closing[] = "</script>\n", doctype[] = "<!DOCTYPE html>",
                  letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/* Base64 (RFC 4648, section 4), in lines. */
static void add_base64(text_buffer *out, const unsigned char *bytes, size_t size)
{
    for (size_t i = 0; i < size; i += 3) {
        uint32_t three = (uint32_t)bytes[i] << 16;
        three |= i + 1 < size ? (uint32_t)bytes[i + 1] << 8 : 0;
        three |= i + 2 < size ? bytes[i + 2] : 0;
        const char four[] = {letters[three >> 18], letters[three >> 12 & 63],
                             i + 1 < size ? letters[three >> 6 & 63] : '=',
                             i + 2 < size ? letters[three & 63] : '='};
        text_add_bytes(out, four, sizeof four);
        if ((i / 3 + 1) % (LINE / 4) == 0 || i + 3 >= size)
            text_add(out, "\n");
    }
}

void page_run_add(text_buffer *page, const text_buffer *packed)
{
    text_add(page, opening);
    add_base64(page, (const unsigned char *)packed->bytes, packed->length);
    text_add(page, closing);
}

static void add_end(text_buffer *page, uint64_t hash)
{
    text_format(page, "<!-- all before this line: %016" PRIx64 " -->\n", hash);
}

void page_run_end(text_buffer *page)
{
    add_end(page, hash_bytes(HASH_START, page->bytes, page->length));
}

bool page_run_is_page(const char *bytes, size_t size)
{
    return size >= sizeof doctype && memcmp(bytes, doctype, sizeof doctype - 1) == 0;
}

/* From its first character to the one behind its last. */
static bool find_run(const char *bytes, size_t size, size_t *begin, size_t *end)
{
    const char *at = memmem(bytes, size, opening, sizeof opening - 1);
    if (!at)
        return false;
    *begin = (size_t)(at - bytes) + sizeof opening - 1;
    const char *close = memmem(bytes + *begin, size - *begin, closing, sizeof closing - 1);
    *end = close ? (size_t)(close - bytes) : size;
    return close != NULL;
}

/* Of the last line; every one has as many. */
static size_t end_length(void)
{
    text_buffer end = {0};
    add_end(&end, 0);
    size_t length = end.length;
    text_free(&end);
    return length;
}

static bool is_whole(const char *bytes, size_t size)
{
    text_buffer end = {0};
    size_t before = size - end_length();
    if (size < end_length())
        return false;
    add_end(&end, hash_bytes(HASH_START, bytes, before));
    bool whole = memcmp(bytes + before, end.bytes, end.length) == 0;
    text_free(&end);
    return whole;
}

/* False: something else stands there, which a browser may show. */
static bool decode(char *bytes, size_t begin, size_t end, size_t *size)
{
    size_t count = 0;
    uint32_t four = 0;
    *size = 0;
    for (size_t i = begin; i < end; i++) {
        const char *letter = bytes[i] ? strchr(letters, bytes[i]) : NULL;
        if (!letter && bytes[i] != '\n' && bytes[i] != '=')
            return false;
        if (!letter)
            continue;
        four = four << 6 | (uint32_t)(letter - letters);
        count++;
        if (count % 4 != 1)
            bytes[(*size)++] = (char)(four >> (6 - 2 * ((count + 3) % 4)));
    }
    return true;
}

size_t page_run_take(const char *path, char *bytes, size_t size)
{
    size_t begin, end, packed;
    if (!find_run(bytes, size, &begin, &end))
        die(EXIT_CODE_ENVIRONMENT,
            "%s: a page that does not hold its run: draw it again with 'lnbench report'", path);
    if (!is_whole(bytes, size) || !decode(bytes, begin, end, &packed))
        was_changed(path);
    return packed;
}

size_t page_run_cut(char *bytes, size_t size)
{
    size_t begin, end, outer = sizeof opening - 1, behind = sizeof closing - 1;
    if (!find_run(bytes, size, &begin, &end))
        return size;
    size_t left = size - end - behind;
    memmove(bytes + begin - outer, bytes + end + behind, left);
    size = begin - outer + left;
    return size >= end_length() ? size - end_length() : size;
}
