/* SPDX-License-Identifier: Apache-2.0 */
/* Failures: a status and a message for the calling thread; and the border that no exception
 * crosses. */
#ifndef HAYAI_ERROR_HPP
#define HAYAI_ERROR_HPP

#include "hayai.h"
#include <new>
#include <exception>
#include <stdexcept>

namespace hayai
{

/* What the last call of this thread left is no longer the message: at the entry of every public
 * function that can fail, and before a callback whose message is asked for. */
void clear_message();

/* Leaves the message for hayai_last_message() and returns the status. */
hayai_status fail(hayai_status status, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* For what is too many inside code that returns no status. */
struct limit_exceeded : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/* Runs the body of a public function; what it throws becomes a status. */
template <class Body> hayai_status guard(Body body) noexcept
{
    clear_message();
    try {
        return body();
    } catch (const std::bad_alloc &) {
        return fail(HAYAI_ERROR_MEMORY, "out of memory");
    } catch (const limit_exceeded &exception) {
        return fail(HAYAI_ERROR_LIMIT, "%s", exception.what());
    } catch (const std::exception &exception) {
        return fail(HAYAI_ERROR_FAILED, "%s", exception.what());
    } catch (...) {
        return fail(HAYAI_ERROR_FAILED, "an exception that is no std::exception");
    }
}

} // namespace hayai

#endif
