/* cmocka for the harness. Both have a fail(): cmocka's is a macro, the harness's is a function. */
#ifndef LNBENCH_TEST_H
#define LNBENCH_TEST_H

#include "../../kernels/tests/test_list.h"
#include <stdio.h>
#include <string.h>

#undef fail
#undef fail_msg
#include "base/die.h"
#define fail_msg(...)                                                                              \
    do {                                                                                           \
        print_error("ERROR: ");                                                                    \
        print_error(__VA_ARGS__);                                                                  \
        print_error("\n");                                                                         \
        _fail(__FILE__, __LINE__);                                                                 \
    } while (0)

/* Asserts that a statement ends with die(), with this exit code and message. */
#define assert_dies(exit, words, statement)                                                        \
    do {                                                                                           \
        die_catcher caught = {0};                                                                  \
        die_caught_by = &caught;                                                                   \
        if (setjmp(caught.place) == 0)                                                             \
            statement;                                                                             \
        die_caught_by = NULL;                                                                      \
        if (caught.error.code != (exit) || !strstr(caught.error.message, words))                   \
            fail_msg("%s: %d, %s", #statement, caught.error.code, caught.error.message);           \
    } while (0)

/* Returns the content of a file with a terminating 0, or NULL if there is none. The caller frees it. */
static inline char *slurp(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (!file)
        return NULL;
    fseek(file, 0, SEEK_END);
    size_t size = (size_t)ftell(file);
    char *bytes = calloc(size + 1, 1);
    rewind(file);
    assert_true(bytes && fread(bytes, 1, size, file) == size);
    fclose(file);
    return bytes;
}

#endif
