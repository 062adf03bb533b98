/* SPDX-License-Identifier: Apache-2.0 */
/* The same loops, once in C over hayai (loops_c.c), once in C++ over benchmark::State itself
 * (loops_cpp.cpp). */
#ifndef HAYAI_OVERHEAD_LOOPS_H
#define HAYAI_OVERHEAD_LOOPS_H

#include "hayai.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { LOOP_VALUES = 64 };

typedef struct loop_data {
    float values[LOOP_VALUES];
    double factor, addend;
} loop_data;

hayai_function c_empty, c_chain, c_sum, c_keep_running;
hayai_function cpp_empty, cpp_chain, cpp_sum, cpp_keep_running;

#ifdef __cplusplus
}
#endif

#endif
