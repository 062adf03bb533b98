/* SPDX-License-Identifier: Apache-2.0 */
#include <hayai.h>

HAYAI_BENCHMARK(sum, integers)
{
    int64_t sum = 0;
    for (int64_t n; (n = hayai_state_batch(state)) > 0;)
        for (int64_t i = 0; i < n; i++) {
            sum += i;
            hayai_do_not_optimize(sum);
        }
}

HAYAI_MAIN()
