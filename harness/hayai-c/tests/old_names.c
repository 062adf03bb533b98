/* SPDX-License-Identifier: Apache-2.0
 * Everything that 0.1 called otherwise. It must compile, and each name must warn
 * (run_old_names.sh). */
#include "hayai.h"

hayai_interleave old_interleave(void *user);

static const int old_names[] = {
    HAYAI_1000,
    HAYAI_1024,
    HAYAI_NANOSECOND,
    HAYAI_MICROSECOND,
    HAYAI_MILLISECOND,
    HAYAI_SECOND,
    HAYAI_O_NONE,
    HAYAI_O_1,
    HAYAI_O_N,
    HAYAI_O_N_SQUARED,
    HAYAI_O_N_CUBED,
    HAYAI_O_LOG_N,
    HAYAI_O_N_LOG_N,
    HAYAI_O_AUTO,
    HAYAI_O_FUNCTION,
    HAYAI_TIME,
    HAYAI_PERCENTAGE,
    HAYAI_RUN_ITERATION,
    HAYAI_RUN_AGGREGATE,
    HAYAI_NOT_SKIPPED,
    HAYAI_SKIPPED_WITH_MESSAGE,
    HAYAI_SKIPPED_WITH_ERROR,
};

hayai_interleave old_interleave(void *user)
{
    hayai_interleave interleave = {0};
    for (size_t i = 0; i < sizeof old_names / sizeof old_names[0]; i++)
        interleave.repetitions += (unsigned)old_names[i];
    interleave.context = user;
    return interleave;
}
