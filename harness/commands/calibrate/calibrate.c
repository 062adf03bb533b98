/* lnbench doctor --calibrate: this machine's noise, and so the smallest change that can be seen here. */
#include "commands/calibrate/calibrate.h"
#include "cli/options.h"
#include "answer/run_view.h"
#include "base/interrupt.h"
#include "base/output.h"
#include "base/paths.h"
#include "store/calibration.h"
#include "stats/bootstrap.h"
#include "base/allocate.h"
#include "base/files.h"
#include "base/program.h"
#include "base/text.h"
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <math.h>
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
        snprintf(response, sizeof response, "%s/objects", builds->folder);
        snprintf(path, sizeof path, "%s/rebuild-%llu.so", builds->folder,
                 (unsigned long long)i + 1);
        shuffle(&objects, seed + i);
        fine = write_response(response, &objects, err);
        if (fine && !link_objects(response, path, builds->folder)) {
            snprintf(builds->why, sizeof builds->why, "%.120s cannot link the objects: no rebuilds",
                     LNBENCH_C_COMPILER);
            break;
        }
        fine = fine && add_path(builds, path, err);
    }
    word_list_free(&objects);
    return fine;
}

static bool build_set_make(const calibrate_settings *settings, build_set *builds, error *err)
{
    char library[1024], copy[1040];
    *builds = (build_set){0};
    if (settings->library)
        snprintf(library, sizeof library, "%s", settings->library);
    else if (!path_of_library(library, sizeof library, err))
        return false;
    if (!add_path(builds, library, err))
        return false;
    builds->folder = temporary_folder_make("calibrate");
    snprintf(copy, sizeof copy, "%s/copy.so", builds->folder);
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

static void build_set_free(build_set *builds)
{
    temporary_folder_remove(builds->folder);
    free(builds->paths);
    *builds = (build_set){0};
}

static bool print_calibration(const noise_calibration *calibration, const output_file *output,
                              error *err)
{
    static const relation_column columns[] = {
        COLUMN("regime", "regime"),
        FOR_PEOPLE("shape"),
        COLUMN("method", "method"),
        FOR_PROGRAMS("rows"),
        FOR_PROGRAMS("hidden"),
        {"noise", "floor", .format = "%.2g", .unit = "%"},
        {"smallest change", "smallest", .format = "%.2g", .unit = "%"},
        {"in", .format = "%.1f", .unit = "s"},
        FOR_PROGRAMS("seconds"),
        COLUMN("processes", "processes"),
        COLUMN("comparisons", "trials"),
    };
    relation *rows = relation_create(COLUMNS(columns));
    for (int regime = 0; regime < REGIMES; regime++)
        for (int method = 0; method < METHODS; method++) {
            const noise_figure *noise = &calibration->noise[method][regime];
            if (noise->trials > 0)
                relation_row(
                    rows, as_text(regime_names[regime]),
                    as_format("%zux%zu", noise->rows, noise->hidden),
                    as_text(method_name((enum noise_method)method)), as_count(noise->rows),
                    as_count(noise->hidden), as_figure(noise->floor), as_figure(noise->smallest),
                    as_figure(noise->seconds * (method == METHOD_COMPARE ? 2 : 1)),
                    as_figure(noise->seconds), as_count(noise->processes), as_count(noise->trials));
        }
    json_t *whole = json_pack(
        "{s:s, s:o, s:o, s:I, s:o}", "schema", "lnbench-calibrate-1", "made",
        json_text(calibration->made), "kernel", json_text(calibration->kernel), "rebuilds",
        (json_int_t)calibration->rebuilds, "confidence", json_figure(calibration->confidence));
    if (!relation_print_in(rows, whole, "noise", output, err))
        return false;
    output_line(output, "\n%s, equal code: a copy and %u rebuild%s; confidence %g %%",
                calibration->kernel, calibration->rebuilds, calibration->rebuilds == 1 ? "" : "s",
                calibration->confidence * 100);
    return true;
}

static bool check_settings(const calibrate_settings *settings, error *err)
{
    if (!(settings->confidence >= 0.5 && settings->confidence <= 0.9999))
        return fail(err, EXIT_CODE_USAGE,
                    "--confidence %g: 0.5 to 0.9999 was expected, such as 0.99",
                    settings->confidence);
    if (settings->rebuilds > 64)
        return fail(err, EXIT_CODE_USAGE, "--rebuilds %llu: at most 64",
                    (unsigned long long)settings->rebuilds);
    for (size_t i = 0; i < settings->regimes.count; i++)
        if (!word_is_in(settings->regimes.words[i], regime_names, REGIMES))
            return fail(err, EXIT_CODE_USAGE, "--regimes %.60s: L1, L2, L3 or DRAM was expected",
                        settings->regimes.words[i]);
    return true;
}

/* A database that cannot be written is found before anything is measured. */
static bool run_calibration(const calibrate_settings *settings, const output_file *output,
                            error *err)
{
    build_set builds = {0};
    machine_facts machine;
    noise_calibration calibration = {0};
    result_store *store = NULL;
    machine_read(&machine);
    bool fine = check_settings(settings, err) && make_parent_directory(settings->database, err) &&
                store_open(settings->database, STORE_WRITE, &store, err) &&
                build_set_make(settings, &builds, err);
    if (fine && builds.why[0])
        output_note("%s; code placement is not in the noise", builds.why);
    fine = fine && calibrate_measure(settings, &builds, &machine, &calibration, err) &&
           store_put_calibration(store, &machine, &calibration, err) &&
           print_calibration(&calibration, output, err);
    build_set_free(&builds);
    machine_free(&machine);
    store_close(store);
    return fine;
}

typedef struct calibrate_options {
    calibrate_settings settings;
    output_file printed;
} calibrate_options;

static exit_code calibrate(void *context, const cli_call *call, error *err)
{
    const calibrate_options *options = context;
    (void)call;
    interrupt_watch();
    run_calibration(&options->settings, &options->printed, err);
    return err->code;
}

static const cli_option options[] = {
    {"time", "S", "about how long it may take (default: 180)", OPTION_SECONDS,
     offsetof(calibrate_options, settings.seconds)},
    {"rebuilds", "N", "link the library N times in other orders (default: 3)", OPTION_COUNT,
     offsetof(calibrate_options, settings.rebuilds)},
    {"library", "FILE.so", "another library or plugin than liblayernorm", OPTION_TEXT,
     offsetof(calibrate_options, settings.library)},
    {"rebuilt", "FILE.so,...", "builds of the same code as --library", OPTION_LIST,
     offsetof(calibrate_options, settings.given)},
    {"kernels", "NAME", "time this one, by name or label (default: the fastest)", OPTION_TEXT,
     offsetof(calibrate_options, settings.kernel)},
    {"regimes", "L1,L2,L3,DRAM", "only these (default: all)", OPTION_LIST,
     offsetof(calibrate_options, settings.regimes)},
    {"confidence", "P", "of the intervals (default: 0.99)", OPTION_REAL,
     offsetof(calibrate_options, settings.confidence)},
    STORE_OPTION(calibrate_options, settings.database),
    {"seed", "N", "of link orders, placements and inputs (default: 1)", OPTION_COUNT,
     offsetof(calibrate_options, settings.seed)},
    DEADLINE_OPTION(calibrate_options, settings.deadline, 10),
    OUTPUT_OPTIONS(calibrate_options, printed),
};

const cli_command doctor_calibrate = {
    .name = "doctor --calibrate",
    .brief = "this machine's noise: the smallest change it can show",
    .usage = "[OPTION...]",
    .summary =
        "Measures equal code as duet and compare do, and so this machine's noise: the smallest\n"
        "change that can be seen here. Stored, and shown beside every verdict.",
    .details =
        "Exit code: 0 fine; 2 usage; 7 files or environment; 130 interrupted (nothing is stored).",
    OPTIONS(options),
    DEFAULTS(
        calibrate_options,
        .settings = {.rebuilds = 3, .seconds = 180, .confidence = 0.99, .seed = 1, .deadline = 10}),
    .body = calibrate,
};
