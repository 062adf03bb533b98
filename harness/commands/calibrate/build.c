/* Builds of equal code that lie elsewhere: a copy of the file, and its objects in other orders. */
#include "stats/bootstrap.h"
#include "base/allocate.h"
#include "commands/calibrate/calibrate.h"
#include "base/files.h"
#include "base/paths.h"
#include "base/program.h"
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A link takes a second. */
static const double most_seconds = 120;

static bool add_path(build_set *builds, const char *path, error *err)
{
    builds->paths = allocate_room(builds->paths, builds->count, sizeof *builds->paths);
    char *own = builds->paths[builds->count];
    char *whole = realpath(path, NULL); /* the loader looks for bare names elsewhere */
    bool fine =
        whole != NULL || fail(err, EXIT_CODE_ENVIRONMENT, "%.400s: %s", path, strerror(errno));
    if (fine && snprintf(own, sizeof *builds->paths, "%s", whole) >= (int)sizeof *builds->paths)
        fine = fail(err, EXIT_CODE_ENVIRONMENT, "%.60s...: the path is too long", path);
    free(whole);
    builds->count += fine;
    return fine;
}

static bool copy_bytes(FILE *from, FILE *to)
{
    char buffer[1 << 16];
    size_t got;
    while ((got = fread(buffer, 1, sizeof buffer, from)) > 0)
        if (fwrite(buffer, 1, got, to) != got)
            return false;
    return !ferror(from) && fflush(to) == 0;
}

/* A file of its own: the loader opens one file once, whatever it is called. */
static bool copy_file(const char *path, const char *copy, error *err)
{
    FILE *from = fopen(path, "rb"), *to = from ? fopen(copy, "wb") : NULL;
    bool fine = to && copy_bytes(from, to);
    if (!fine)
        fail(err, EXIT_CODE_ENVIRONMENT, "cannot copy %.400s to %.400s: %s", path, copy,
             strerror(errno));
    if (to && fclose(to) != 0 && fine)
        fine = fail(err, EXIT_CODE_ENVIRONMENT, "%s: %s", copy, strerror(errno));
    if (from)
        fclose(from);
    return fine;
}

/* nftw has no argument of the caller's. */
static word_list *found_objects;

static int note_object(const char *path, const struct stat *status, int kind, struct FTW *at)
{
    (void)status;
    (void)at;
    size_t length = strlen(path);
    if (kind == FTW_F && length > 2 && strcmp(path + length - 2, ".o") == 0)
        word_list_add(found_objects, path);
    return 0;
}

static int compare_words(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The library's objects, in an order that the file system has no part in. */
static bool list_objects(word_list *objects, error *err)
{
    found_objects = objects;
    static const char *const directories[] = {LNBENCH_KERNEL_OBJECTS, LNBENCH_POOL_OBJECTS};
    for (size_t i = 0; i < sizeof directories / sizeof *directories; i++)
        if (nftw(directories[i], note_object, 16, FTW_PHYS) != 0 && errno != ENOENT)
            return fail(err, EXIT_CODE_ENVIRONMENT, "%s: %s", directories[i], strerror(errno));
    if (objects->count > 0)
        qsort(objects->words, objects->count, sizeof *objects->words, compare_words);
    return true;
}

static void shuffle(word_list *objects, uint64_t seed)
{
    random_stream stream = random_stream_seeded(seed);
    for (size_t i = objects->count; i > 1; i--) {
        size_t j = random_stream_below(&stream, i);
        const char *kept = objects->words[i - 1];
        objects->words[i - 1] = objects->words[j];
        objects->words[j] = kept;
    }
}

/* One name a line, quoted as gcc and clang read response files. */
static bool write_response(const char *path, const word_list *objects, error *err)
{
    whole_file file;
    if (!whole_file_begin(&file, path, err))
        return false;
    for (size_t i = 0; i < objects->count; i++) {
        fputc('"', file.stream);
        for (const char *at = objects->words[i]; *at; at++) {
            if (*at == '"' || *at == '\\')
                fputc('\\', file.stream);
            fputc(*at, file.stream);
        }
        fputs("\"\n", file.stream);
    }
    return whole_file_end(&file, true, err);
}

/* Whether the compiler that built this made the file. The linker's temporary files are in `folder`,
 * from which they go with ours if it is killed. */
static bool link_objects(const char *response, const char *path, const char *folder)
{
    char at_response[1060];
    snprintf(at_response, sizeof at_response, "@%s", response);
    const char *const arguments[] = {LNBENCH_C_COMPILER, "-shared", "-Wl,--no-undefined",
                                     "-Wl,-Bsymbolic",   "-o",      path,
                                     at_response,        "-lm",     NULL};
    program linker = {.arguments = arguments, .temporary = folder, .seconds = most_seconds};
    program_start(&linker);
    return program_end(&linker) == PROGRAM_DONE;
}

/* Objects that were compiled after the library was linked are not what it has in it. */
static bool are_older(const word_list *objects, const char *library)
{
    struct stat whole, part;
    if (stat(library, &whole) != 0)
        return false;
    for (size_t i = 0; i < objects->count; i++)
        if (stat(objects->words[i], &part) != 0 || part.st_mtime > whole.st_mtime)
            return false;
    return true;
}

static bool relink(build_set *builds, uint64_t count, uint64_t seed, error *err)
{
    word_list objects = {0};
    char response[1040], path[1060];
    bool fine = list_objects(&objects, err);
    if (fine && objects.count == 0)
        snprintf(builds->why, sizeof builds->why,
                 "the library's objects are gone (%.120s): no rebuilds", LNBENCH_KERNEL_OBJECTS);
    else if (fine && !are_older(&objects, builds->paths[0]))
        snprintf(builds->why, sizeof builds->why,
                 "objects are newer than the library (build it again): no rebuilds");
    for (uint64_t i = 0; fine && !builds->why[0] && i < count; i++) {
        snprintf(response, sizeof response, "%s/objects", builds->folder.path);
        snprintf(path, sizeof path, "%s/rebuild-%llu.so", builds->folder.path,
                 (unsigned long long)i + 1);
        shuffle(&objects, seed + i);
        fine = write_response(response, &objects, err);
        if (fine && !link_objects(response, path, builds->folder.path)) {
            snprintf(builds->why, sizeof builds->why, "%.120s cannot link the objects: no rebuilds",
                     LNBENCH_C_COMPILER);
            break;
        }
        fine = fine && add_path(builds, path, err);
    }
    word_list_free(&objects);
    return fine;
}

bool build_set_make(const calibrate_settings *settings, build_set *builds, error *err)
{
    char library[1024], copy[1040];
    *builds = (build_set){0};
    if (settings->library)
        snprintf(library, sizeof library, "%s", settings->library);
    else if (!path_of_library(library, sizeof library, err))
        return false;
    if (!add_path(builds, library, err) ||
        !temporary_folder_make(&builds->folder, NULL, "calibrate", err))
        return false;
    snprintf(copy, sizeof copy, "%s/copy.so", builds->folder.path);
    if (!copy_file(library, copy, err) || !add_path(builds, copy, err))
        return false;
    for (size_t i = 0; i < settings->given.count; i++)
        if (!add_path(builds, settings->given.words[i], err))
            return false;
    if (settings->given.count > 0)
        return true;
    if (settings->library)
        snprintf(builds->why, sizeof builds->why,
                 "--rebuilt names no rebuilds of %.120s: its copy alone", settings->library);
    else if (settings->rebuilds > 0)
        return relink(builds, settings->rebuilds, settings->seed, err);
    else
        snprintf(builds->why, sizeof builds->why, "no rebuilds were asked for");
    return true;
}

void build_set_free(build_set *builds)
{
    temporary_folder_remove(&builds->folder);
    free(builds->paths);
    *builds = (build_set){0};
}
