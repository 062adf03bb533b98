/* Functions that the fuzz targets share. Each target has one LLVMFuzzerTestOneInput(), and is built with libFuzzer if
 * LNBENCH_FUZZ is on, and always as a program that replays its corpus:
 *
 *     cmake -B build/fuzz -G Ninja -DCMAKE_C_COMPILER=clang -DLNBENCH_FUZZ=ON
 *     ninja -C build/fuzz fuzz_npy
 *     build/fuzz/bin/fuzz_npy -max_len=4096 -runs=10000000 WORK build/fuzz/harness/tests/fuzz/corpus/npy
 *
 * Add its finds to that folder, and make the archive again:
 *
 *     tar -C FOLDER --sort=name --mtime=@0 --owner=0 --group=0 -cJf harness/tests/fuzz/corpus/npy.tar.xz . */
#ifndef LNBENCH_FUZZ_H
#define LNBENCH_FUZZ_H

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

/* Returns the path of a file in memory with these bytes; it is always the same path. */
static inline const char *fuzz_file(const uint8_t *bytes, size_t size)
{
    static char path[32];
    static int file = -1;
    if (file < 0)
        file = memfd_create("fuzz", 0);
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    if (file < 0 || ftruncate(file, 0) != 0 || pwrite(file, bytes, size, 0) != (ssize_t)size)
        abort();
    return path;
}

/* Checks that an error, if there is one, is a complete line. */
#define FUZZ_CHECK(condition)                                                                      \
    do                                                                                             \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);                        \
            abort();                                                                               \
        }                                                                                          \
    while (0)

#endif
