#include "base/number.h"
#include <float.h>
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

/* A host may have called setlocale(). glibc has this locale ready: making it never fails. */
static locale_t plain_locale(void)
{
    return newlocale(LC_ALL_MASK, "C", (locale_t)0);
}

double number_read(const char *text, char **end)
{
    return strtod_l(text, end, plain_locale());
}

long double number_read_long(const char *text, char **end)
{
    return strtold_l(text, end, plain_locale());
}

int number_print_list(char *to, size_t size, const char *format, va_list arguments)
{
    locale_t before = uselocale(plain_locale());
    int length = vsnprintf(to, size, format, arguments);
    uselocale(before);
    return length;
}

int number_print(char *to, size_t size, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int length = number_print_list(to, size, format, arguments);
    va_end(arguments);
    return length;
}

bool number_parse(const char *text, size_t length, double *value)
{
    char copy[64];
    if (length == 0 || length >= sizeof copy)
        return false;
    memcpy(copy, text, length);
    copy[length] = '\0';
    if (strlen(copy) != length || !is_decimal(copy))
        return false;
    double read = number_read(copy, NULL);
    if (isinf(read))
        return false;
    *value = read;
    return true;
}

/* Where to begin to look for the fewest digits that read back as the value. A number of at most 15
 * digits is what "%.14e" prints of the double nearest to it, but for zeros at the end; subnormals
 * have less to tell. */
static int least_precision(double value)
{
    char digits[32];
    if (fabs(value) < DBL_MIN)
        return 1;
    number_print(digits, sizeof digits, "%.14e", fabs(value));
    if (number_read(digits, NULL) != fabs(value))
        return 16;
    int last = 15; /* of "d.dddddddddddddd", the place of the last digit that is no zero */
    while (last > 1 && digits[last] == '0')
        last--;
    return last > 1 ? last : 1;
}

const char *number_format(double value, char buffer[32])
{
    if (!isfinite(value))
        return strcpy(buffer, isnan(value) ? "nan" : value > 0 ? "inf" : "-inf");
    for (int precision = least_precision(value); precision <= 17; precision++) {
        number_print(buffer, 32, "%.*g", precision, value);
        if (number_read(buffer, NULL) == value)
            break;
    }
    return buffer;
}
