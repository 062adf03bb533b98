/* Numbers, read and written the same under every locale: a host of the library may have called
 * setlocale(). */
#ifndef LNBENCH_NUMBER_H
#define LNBENCH_NUMBER_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

/* Reads the whole of text[0..length): digits with an optional sign, point and exponent, such as
 * "1e-5", ".5" or "-3.25E+2". The nearest double is stored. False, with nothing stored, for
 * anything else: empty or longer than 63 bytes, hexadecimal, "nan", "inf", blanks, a comma for the
 * point, or a number beyond the range of double. (What is too small for a double becomes the
 * nearest one, zero at last.) */
bool number_parse(const char *text, size_t length, double *value);

/* The shortest decimal that number_parse reads back as the same double; "nan", "inf", "-inf" for what
 * is not finite. Returns buffer. */
const char *number_format(double value, char buffer[32]);

/* strtod(), strtold() and snprintf() in the "C" locale. */
double number_read(const char *text, char **end);
long double number_read_long(const char *text, char **end);
int number_print(char *to, size_t size, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
int number_print_list(char *to, size_t size, const char *format, va_list arguments);

#endif
