#include "base/number.h"
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static size_t count_digits(const char *text)
{
    return strspn(text, "0123456789");
}

/* [sign] digits [. digits] [e [sign] digits], with a digit before the exponent. */
static bool is_decimal(const char *text)
{
    text += *text == '+' || *text == '-';
    size_t digits = count_digits(text);
    text += digits;
    if (*text == '.') {
        size_t fraction = count_digits(++text);
        text += fraction;
        digits += fraction;
    }
    if (digits == 0)
        return false;
    if (*text == 'e' || *text == 'E') {
        text++;
        text += *text == '+' || *text == '-';
        size_t exponent = count_digits(text);
        if (exponent == 0)
            return false;
        text += exponent;
    }
    return *text == '\0';
}

/* The C library's conversions are correctly rounded but take the point from the locale, so they are
 * given the locale's point in place of ours (which is a string: it may be longer than one byte). */
static const char *locale_point(void)
{
    const char *point = localeconv()->decimal_point;
    return point && point[0] ? point : ".";
}

bool number_parse(const char *text, size_t length, double *value)
{
    char copy[64], local[96];
    if (length == 0 || length >= sizeof copy)
        return false;
    memcpy(copy, text, length);
    copy[length] = '\0';
    if (strlen(copy) != length || !is_decimal(copy))
        return false;
    size_t whole = strcspn(copy, ".");
    bool has_point = copy[whole] == '.';
    const char *rest = copy + whole + (has_point ? 1 : 0);
    int written = snprintf(local, sizeof local, "%.*s%s%s", (int)whole, copy,
                           has_point ? locale_point() : "", rest);
    if (written < 0 || (size_t)written >= sizeof local)
        return false;
    char *end;
    double read = strtod(local, &end);
    if (*end != '\0' || isinf(read))
        return false;
    *value = read;
    return true;
}

const char *number_format(double value, char buffer[32])
{
    char local[32]; /* sign, 17 digits, point, exponent: at most 24 bytes */
    for (int precision = 1; precision <= 17; precision++) {
        snprintf(local, sizeof local, "%.*g", precision, value);
        if (strtod(local, NULL) == value)
            break;
    }
    const char *point = locale_point();
    size_t whole = strcspn(local, point);
    const char *rest = local + whole;
    bool has_point = *rest != '\0';
    if (has_point)
        rest += strlen(point);
    memcpy(buffer, local, whole);
    memcpy(buffer + whole, ".", has_point ? 1 : 0);
    strcpy(buffer + whole + (has_point ? 1 : 0), rest);
    return buffer;
}
