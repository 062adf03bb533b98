/* SPDX-License-Identifier: Apache-2.0 */
#include "error.hpp"
#include "formats.h"
#include <cstdarg>
#include <cstdio>

namespace
{
/* Fixed size: reporting that memory ran out must not need memory. */
thread_local char last_message[1024];
} // namespace

void hayai::clear_message()
{
    last_message[0] = '\0';
}

hayai_status hayai::fail(hayai_status status, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    hayai_number_print(last_message, sizeof last_message, format, arguments);
    va_end(arguments);
    return status;
}

extern "C" hayai_status hayai_fail(hayai_status status, const char *message)
{
    return hayai::fail(status, "%s", message ? message : "");
}

extern "C" hayai_status hayai_fail_format(hayai_status status, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    hayai_number_print(last_message, sizeof last_message, format, arguments);
    va_end(arguments);
    return status;
}

extern "C" const char *hayai_last_message(void)
{
    return last_message;
}

extern "C" const char *hayai_status_string(hayai_status status)
{
    switch (status) {
    case HAYAI_OK:
        return "ok";
    case HAYAI_ERROR_ARGUMENT:
        return "invalid argument";
    case HAYAI_ERROR_MEMORY:
        return "out of memory";
    case HAYAI_ERROR_FAILED:
        return "failed";
    case HAYAI_STOPPED:
        return "stopped";
    case HAYAI_ERROR_STATE:
        return "not possible now";
    case HAYAI_ERROR_LIMIT:
        return "limit exceeded";
    case HAYAI_ERROR_IO:
        return "input or output failed";
    case HAYAI_ERROR_UNSUPPORTED:
        return "not supported by this version";
    case HAYAI_ERROR_NO_MATCH:
        return "no match";
    }
    return "unknown status";
}
