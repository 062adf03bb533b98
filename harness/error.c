#include "error.h"
#include <stdarg.h>
#include <stdio.h>

bool fail(error *error, exit_code code, const char *format, ...)
{
    if (!error)
        return false;
    va_list arguments;
    va_start(arguments, format);
    error->code = code;
    vsnprintf(error->message, sizeof error->message, format, arguments);
    va_end(arguments);
    return false;
}

bool fail_memory(error *error, const char *what)
{
    return fail(error, EXIT_CODE_ENVIRONMENT, "out of memory (%s)", what);
}
