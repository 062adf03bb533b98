/* --threads: numbers of threads that this process has CPUs for. */
#include "plan/plan.h"
#include <sched.h>
#include <stdlib.h>
#include <string.h>

static bool add_threads(const char *given, unsigned numbers[], size_t *count, error *err)
{
    bool number = given[0] && given[0] != '0' && strspn(given, "0123456789") == strlen(given);
    unsigned long threads = number ? strtoul(given, NULL, 10) : 0;
    cpu_set_t set;
    int cpus = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
    if (!number)
        return fail(err, EXIT_CODE_USAGE, "--threads %.60s: a whole number from 1 was expected",
                    given);
    if (threads > (unsigned long)cpus)
        return fail(err, EXIT_CODE_ENVIRONMENT,
                    "--threads %.60s: this process may run on %d CPU%s: threads that share one "
                    "measure nothing",
                    given, cpus, cpus == 1 ? "" : "s");
    for (size_t i = 0; i < *count; i++)
        if (numbers[i] == threads)
            return true;
    if (*count == PLAN_THREAD_NUMBERS)
        return fail(err, EXIT_CODE_USAGE, "--threads: %d numbers are the most",
                    PLAN_THREAD_NUMBERS);
    numbers[(*count)++] = (unsigned)threads;
    return true;
}

bool plan_threads(const word_list *given, unsigned numbers[], size_t *count, error *err)
{
    *count = 0;
    for (size_t i = 0; i < given->count; i++)
        if (!add_threads(given->words[i], numbers, count, err))
            return false;
    return given->count > 0 || add_threads("1", numbers, count, err);
}
