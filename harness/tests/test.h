/* What every test includes before cmocka, which asks for these headers and clashes with one name of
 * ours: cmocka's fail() is a macro, the harness's fail() is a function. */
#ifndef LNBENCH_TEST_H
#define LNBENCH_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

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
