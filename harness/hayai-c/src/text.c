/* SPDX-License-Identifier: Apache-2.0 */
#include "formats.h"
#include <locale.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* Room for `count` more bytes and a terminator. */
static bool reserve(hayai_text *text, size_t count)
{
    if (text->failed || count >= SIZE_MAX / 2 - text->length) {
        text->failed = true;
        return false;
    }
    const size_t needed = text->length + count + 1;
    if (needed <= text->capacity)
        return true;
    size_t capacity = text->capacity ? text->capacity : 256;
    while (capacity < needed)
        capacity *= 2;
    char *data = realloc(text->data, capacity);
    if (!data) {
        text->failed = true;
        return false;
    }
    text->data = data;
    text->capacity = capacity;
    return true;
}

void hayai_text_add_bytes(hayai_text *text, const char *bytes, size_t count)
{
    if (!reserve(text, count))
        return;
    memcpy(text->data + text->length, bytes, count);
    text->length += count;
    text->data[text->length] = '\0';
}

void hayai_text_add(hayai_text *text, const char *string)
{
    hayai_text_add_bytes(text, string, strlen(string));
}

locale_t hayai_numbers_begin(void)
{
    return uselocale(newlocale(LC_ALL_MASK, "C", (locale_t)0));
}

void hayai_numbers_end(locale_t before)
{
    locale_t plain = uselocale(before);
    freelocale(plain);
}

double hayai_number_read(const char *text, char **end)
{
    const locale_t before = hayai_numbers_begin();
    const double value = strtod(text, end);
    hayai_numbers_end(before);
    return value;
}

int hayai_number_print(char *to, size_t size, const char *format, va_list arguments)
{
    const locale_t before = hayai_numbers_begin();
    const int length = vsnprintf(to, size, format, arguments);
    hayai_numbers_end(before);
    return length;
}

void hayai_text_format(hayai_text *text, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const int length = hayai_number_print(NULL, 0, format, arguments);
    va_end(arguments);
    if (length < 0 || !reserve(text, (size_t)length)) {
        text->failed = true;
        return;
    }
    va_start(arguments, format);
    hayai_number_print(text->data + text->length, (size_t)length + 1, format, arguments);
    va_end(arguments);
    text->length += (size_t)length;
}

void hayai_text_clear(hayai_text *text)
{
    text->length = 0;
    if (text->data)
        text->data[0] = '\0';
}

void hayai_text_release(hayai_text *text)
{
    free(text->data);
    *text = (hayai_text){0};
}

void hayai_text_number(hayai_text *text, double value, const char *otherwise)
{
    if (!isfinite(value)) {
        hayai_text_add(text, otherwise);
        return;
    }
    char digits[64];
    const locale_t before = hayai_numbers_begin();
    for (int precision = 15; precision <= 17; precision++) {
        snprintf(digits, sizeof digits, "%.*g", precision, value);
        if (strtod(digits, NULL) == value)
            break;
    }
    hayai_numbers_end(before);
    hayai_text_add(text, digits);
}

void hayai_text_any_number(hayai_text *text, double value)
{
    hayai_text_number(text, value, isnan(value) ? "NaN" : value > 0 ? "Infinity" : "-Infinity");
}

/* The number of bytes that a sequence has, and its first byte's bits; 0: can't begin one. */
static int sequence_length(unsigned char first, uint32_t *bits)
{
    if (first < 0x80) {
        *bits = first;
        return 1;
    }
    const int length = first >= 0xf0 && first < 0xf5   ? 4
                       : first >= 0xe0 && first < 0xf0 ? 3
                       : first >= 0xc2 && first < 0xe0 ? 2
                                                       : 0;
    *bits = length == 4 ? first & 0x07u : length == 3 ? first & 0x0fu : first & 0x1fu;
    return length;
}

uint32_t hayai_text_code_point(const char **string)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    const unsigned char *bytes = (const unsigned char *)*string;
    if (!bytes[0])
        return 0;
    uint32_t code = 0;
    const int length = sequence_length(bytes[0], &code);
    for (int i = 1; i < length; i++) {
        if ((bytes[i] & 0xc0) != 0x80) {
            ++*string;
            return 0xfffd;
        }
        code = code << 6 | (bytes[i] & 0x3fu);
    }
    const bool surrogate = code >= 0xd800 && code < 0xe000;
    if (length == 0 || code < least[length] || surrogate || code > 0x10ffff) {
        ++*string;
        return 0xfffd;
    }
    *string += length;
    return code;
}

void hayai_text_add_code_point(hayai_text *text, uint32_t code)
{
    char bytes[4];
    if (code < 0x80) {
        bytes[0] = (char)code;
        hayai_text_add_bytes(text, bytes, 1);
        return;
    }
    const size_t length = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    static const unsigned first[] = {0, 0, 0xc0, 0xe0, 0xf0};
    for (size_t i = length - 1; i > 0; i--) {
        bytes[i] = (char)(0x80u | (code & 0x3fu));
        code >>= 6;
    }
    bytes[0] = (char)(first[length] | code);
    hayai_text_add_bytes(text, bytes, length);
}
