#include "base/error.h"
#include "base/number.h"
#include "base/text.h"
#include <stdarg.h>

bool(fail)(error *err, exit_code code, const char *format, ...)
{
    if (!err)
        return false;
    va_list arguments;
    va_start(arguments, format);
    err->code = code;
    number_print_list(err->message, sizeof err->message, format, arguments);
    va_end(arguments);
    text_make_printable(err->message, ""); /* names and values come from files and plugins */
    return false;
}

bool(fail_memory)(error *err, const char *what)
{
    return fail(err, EXIT_CODE_ENVIRONMENT, "out of memory (%s)", what);
}
