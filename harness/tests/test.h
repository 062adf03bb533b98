/* cmocka for the harness, with which it shares a name: cmocka's fail() is a macro, the harness's fail()
 * is a function. */
#ifndef LNBENCH_TEST_H
#define LNBENCH_TEST_H

#include "../../kernels/tests/test_list.h"

#undef fail
#undef fail_msg
#define fail_msg(...)                                                                              \
    do {                                                                                           \
        print_error("ERROR: ");                                                                    \
        print_error(__VA_ARGS__);                                                                  \
        print_error("\n");                                                                         \
        _fail(__FILE__, __LINE__);                                                                 \
    } while (0)

#endif
