/* choose --check-dispatch: does ln_layernorm() take the fastest kernel of its class? */
#ifndef LNBENCH_CHOOSE_CHECK_H
#define LNBENCH_CHOOSE_CHECK_H

#include "base/output.h"
#include "store/store.h"

/* Of the latest run that timed the library's calls: each call against the fastest kernel known to
 * be of its class in the same rounds. Prints the calls that are slower by more than 1.1 at the
 * interval's lower end; `all`: every call. Errors: one is slower (1), nothing to compare (3), no
 * such run, or it lost calls and that is not allowed (7). */
bool dispatch_check(const char *database, bool all, bool allow_lost, const output_file *out,
                    error *err);

#endif
