#include "store/page_run.h"
#include "base/hash.h"
#include <inttypes.h>
#include <string.h>

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

bool page_run_take(const char *path, char *bytes, size_t size, size_t *packed, error *err)
{
    size_t begin, end;
    if (!find_run(bytes, size, &begin, &end))
        return fail(err, EXIT_CODE_ENVIRONMENT,
                    "%s: a page that does not hold its run: draw it again with 'lnbench report'",
                    path);
    return (is_whole(bytes, size) && decode(bytes, begin, end, packed)) ||
           fail(err, EXIT_CODE_ENVIRONMENT,
                "%s: was changed after it was made, its hash tells: ask for it again", path);
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
