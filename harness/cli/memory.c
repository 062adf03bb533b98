/* Memory that runs out in lnbench, the program: one line and exit code 7, at once. The linker sends
 * every allocation of the harness and the reference here (harness/CMakeLists.txt); jansson and GMP,
 * which would leave out what they could not make, or abort, are given the same functions. SQLite
 * and the C library report their own failures.
 *
 * Nothing is lost: the store commits each measurement, SQLite takes back what was not committed,
 * and a worker ends with its parent. liblnjudge, a library, has its own ways, and returns errors. */
#include "cli/memory.h"
#include "base/children.h"
#include "base/error.h"
#include "base/files.h"
#include "base/temporary.h"
#include "certify/memory.h"
#include <dirent.h>
#include <errno.h>
#include <jansson.h>
#include <malloc.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
char *__real_strdup(const char *string);
char *__real_strndup(const char *string, size_t size);
FILE *__real_fopen(const char *path, const char *mode);
DIR *__real_opendir(const char *path);
ssize_t __real___getdelim(char **line, size_t *size, int end_byte, FILE *file);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);
char *__wrap_strdup(const char *string);
char *__wrap_strndup(const char *string, size_t size);
FILE *__wrap_fopen(const char *path, const char *mode);
DIR *__wrap_opendir(const char *path);
ssize_t __wrap___getdelim(char **line, size_t *size, int end_byte, FILE *file);
ssize_t __wrap_getline(char **line, size_t *size, FILE *file);

/* Not through stdio, which allocates. */
static _Noreturn void end_without_memory(size_t bytes)
{
    char line[96] = "lnbench: out of memory\n";
    if (bytes > 0)
        snprintf(line, sizeof line, "lnbench: out of memory (%zu bytes more)\n", bytes);
    tidy_up(); /* or gnuplot would still write */
    ssize_t written = write(STDERR_FILENO, line, strlen(line));
    (void)written;
    _exit(EXIT_CODE_ENVIRONMENT);
}

static void *given(void *place, size_t bytes)
{
    if (!place && bytes > 0)
        end_without_memory(bytes);
    return place;
}

void *__wrap_malloc(size_t size)
{
    return given(__real_malloc(size), size);
}

void *__wrap_calloc(size_t count, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes))
        bytes = (size_t)-1;
    return given(__real_calloc(count, size), bytes);
}

void *__wrap_realloc(void *old, size_t size)
{
    return given(__real_realloc(old, size), size);
}

char *__wrap_strdup(const char *string)
{
    return given(__real_strdup(string), strlen(string) + 1);
}

char *__wrap_strndup(const char *string, size_t size)
{
    return given(__real_strndup(string, size), size + 1);
}

/* The C library's own: what could not be opened for want of memory is not taken for absent. */
static void check_opened(bool had)
{
    if (!had && errno == ENOMEM)
        end_without_memory(0);
}

FILE *__wrap_fopen(const char *path, const char *mode)
{
    FILE *file = __real_fopen(path, mode);
    check_opened(file != NULL);
    return file;
}

DIR *__wrap_opendir(const char *path)
{
    DIR *directory = __real_opendir(path);
    check_opened(directory != NULL);
    return directory;
}

/* What getline() is where the headers make it an inline function. */
ssize_t __wrap___getdelim(char **line, size_t *size, int end_byte, FILE *file)
{
    errno = 0;
    ssize_t length = __real___getdelim(line, size, end_byte, file);
    check_opened(length >= 0);
    return length;
}

ssize_t __wrap_getline(char **line, size_t *size, FILE *file)
{
    return __wrap___getdelim(line, size, '\n', file);
}

static void *gmp_resize(void *old, size_t old_size, size_t size)
{
    (void)old_size;
    return __wrap_realloc(old, size);
}

static void gmp_release(void *old, size_t size)
{
    (void)size;
    free(old);
}

/* Blocks come and go with each case: what is freed stays for the next one, in one place for all
 * threads, instead of going back to the system, which would have to clear its pages anew. */
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
    /* Room for these blocks, in huge pages: the referee's rows are 222 MB at once. */
    mallopt(M_TOP_PAD, ROOM);
    char *first = __real_malloc(HUGE), *end = sbrk(0);
    mallopt(M_TOP_PAD, USUAL);
    uintptr_t begin = ((uintptr_t)first + HUGE - 1) / HUGE * HUGE;
    if (first && begin < (uintptr_t)end)
        madvise((void *)begin, (uintptr_t)end - begin, MADV_HUGEPAGE);
    free(first);
#endif
}

void memory_watch(void)
{
    keep_freed();
    json_set_alloc_funcs(__wrap_malloc, free);
    ln_reference_take_memory(__wrap_malloc, gmp_resize, gmp_release);
}
