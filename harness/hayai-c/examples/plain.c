/* SPDX-License-Identifier: Apache-2.0 */
/* A minimal program: a benchmark, the loop, main. Try --help, and
 *
 *     plain --benchmark_repetitions=5 -o console -o json:plain.json -o junit:plain.xml
 */
#include <hayai.h>
#include <string.h>

HAYAI_BENCHMARK(text, length)
{
    const char *text = "the quick brown fox jumps over the lazy dog";
    for (int64_t n; (n = hayai_state_batch(state)) > 0;)
        for (int64_t i = 0; i < n; i++) {
            hayai_do_not_optimize_in_out(text); /* else the compiler knows the length */
            const size_t length = strlen(text);
            hayai_do_not_optimize(length);
        }
}

HAYAI_BENCHMARK(text, compare)
{
    const char *a = "the quick brown fox", *b = "the quick brown cat";
    while (hayai_state_keep_running(state)) {
        hayai_do_not_optimize_in_out(a);
        const int order = strcmp(a, b);
        hayai_do_not_optimize(order);
    }
}

HAYAI_MAIN()
