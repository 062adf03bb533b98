/* lnbench: measures the speed and accuracy of LayerNorm kernels and recommends one. main() prepares memory and signals,
 * and calls a subcommand (commands/options.h). */
#include "base/arena.h"
#include "base/die.h"
#include "base/program.h"
#include "commands/options.h"
#include "certify/memory.h"
#include <jansson.h>
#include <malloc.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

static void print_help(FILE *file)
{
    fputs("lnbench measures how fast and how accurate LayerNorm and RMSNorm kernels are.\n\n"
          "Usage: lnbench SUBCOMMAND [OPTION...]\n   or: lnbench SUBCOMMAND --help\n   or: lnbench "
          "--version\n\n",
          file);
    for (size_t i = 0; i < command_count; i++)
        fprintf(file, "  %-11s  %s\n", commands[i]->name, commands[i]->brief);
    fputs("\nExit code 0: fine; 1: regression; 2: usage; 3: inconclusive; 4: not comparable;\n"
          "5: inaccurate, or no kernel within the budget; 6: crash or broken contract;\n"
          "7: environment or I/O; 130: interrupted; 141: standard output was closed.\n"
          "Environment variables: docs/install.md.\n",
          file);
}

/* ---- memory ---- */

static void *gmp_resize(void *old, size_t old_size, size_t size)
{
    (void)old_size;
    return reallocate(old, size);
}

static void gmp_release(void *old, size_t size)
{
    (void)size;
    free(old);
}

/* Keeps freed blocks in one heap for all threads. Each case allocates and frees large blocks; if they went back to the
 * system, it would have to clear their pages again for every case. */
static void keep_freed(void)
{
#ifdef __GLIBC__
    enum {
        LARGE = 32 << 20,
        MUCH = 512 << 20,
        ROOM = 256 << 20,
        USUAL = 128 << 10,
        HUGE = 2 << 20
    };
    mallopt(M_ARENA_MAX, 1);
    mallopt(M_MMAP_THRESHOLD, LARGE);
    mallopt(M_TRIM_THRESHOLD, MUCH);
    /* Reserve room for these blocks in huge pages: the rows of one conformance test need 222 MB at a time. */
    mallopt(M_TOP_PAD, ROOM);
    static char *first; /* kept but never used, so that the memory after it begins at a huge page */
    first = malloc(HUGE);
    char *end = sbrk(0);
    mallopt(M_TOP_PAD, USUAL);
    uintptr_t begin = ((uintptr_t)first + HUGE - 1) / HUGE * HUGE;
    if (first && begin < (uintptr_t)end) {
        madvise((void *)begin, (uintptr_t)end - begin, MADV_HUGEPAGE);
        first = realloc(first, begin - (uintptr_t)first);
    }
#endif
}

int main(int argc, char **argv)
{
    enum { LEAST_KIB = 1024 };
    struct rlimit stack;
    /* Writing to a closed pipe (| head) is reported as an output error instead of killing the process silently. */
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN); /* the same for a file size limit (ulimit -f) */
    keep_freed();
    /* If memory runs out, lnbench ends with one line and exit code 7. By default jansson would drop what it could not
     * allocate, and GMP would abort. No measurement is lost: the store commits each one, and SQLite rolls back what was
     * not committed. */
    out_of_memory = die_of_memory;
    json_set_alloc_funcs(allocate, free);
    ln_reference_take_memory(allocate, gmp_resize, gmp_release);
    atexit(tidy_up);
    if (argc < 2) {
        print_help(stderr);
        return EXIT_CODE_USAGE;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 ||
        (strcmp(argv[1], "help") == 0 && argc == 2)) {
        print_help(stdout);
        return finish_output(EXIT_CODE_FINE);
    }
    if (strcmp(argv[1], "--version") == 0) {
        printf("lnbench %s\n", LNBENCH_VERSION_STRING);
        return finish_output(EXIT_CODE_FINE);
    }
    /* With a smaller stack, a signal would kill lnbench without a message; threads get this stack size too. */
    if (getrlimit(RLIMIT_STACK, &stack) == 0 && stack.rlim_cur < LEAST_KIB * 1024)
        die(EXIT_CODE_ENVIRONMENT,
            "the limit of the stack is %llu KiB, and %d are needed: raise it (ulimit -s 8192)",
            (unsigned long long)stack.rlim_cur / 1024, LEAST_KIB);
    return finish_output(command_run_with(command_find(argv[1]), argc - 1, argv + 1));
}
