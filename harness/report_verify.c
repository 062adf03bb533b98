#include "report_verify.h"
#include "hash.h"
#include "interrupt.h"
#include "metric_fields.h"
#include "stored_run.h"
#include "text.h"
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

typedef struct figure {
    const view_case *stored;
    bool speed; /* else its error */
} figure;

typedef struct verifying {
    const view *view;
    char directory[256], database[300];
} verifying;

/* ---- the sample ---- */

static bool is_figure(const view_case *view, bool speed)
{
    const stored_case *stored = view->stored;
    if (is_roof(stored->key.kernel))
        return false;
    /* What was timed was judged on all its rows, which only timing it again would do. */
    return speed ? isfinite(view->speed.gbps)
                 : stored->judged && stored->metrics.elements > 0 && stored->repetition_count == 0;
}

/* Draws without replacement, by a hash of the run and the draw's number: the same sample each time.
 * Returns how many there are. */
static size_t draw(const view *view, bool speed, size_t wanted, figure *figures)
{
    size_t *indices = calloc(view->cases.count + 1, sizeof *indices), count = 0, drawn = 0;
    for (size_t i = 0; indices && i < view->cases.count; i++)
        if (is_figure(&view->views[i], speed))
            indices[count++] = i;
    for (; indices && drawn < wanted && count > 0; drawn++) {
        uint64_t hash = hash_bytes(HASH_START, &view->run.id, sizeof view->run.id);
        hash = hash_bytes(hash, &drawn, sizeof drawn);
        size_t at = (size_t)(hash % count);
        figures[drawn] = (figure){&view->views[indices[at]], speed};
        indices[at] = indices[--count];
    }
    free(indices);
    return drawn;
}

/* ---- measuring again ---- */

static bool is_plan(const char *plan)
{
    return strcmp(plan, "quick") == 0 || strcmp(plan, "default") == 0 || strcmp(plan, "full") == 0;
}

static int spawn_run(const verifying *verifying, const figure *figure, pid_t *child)
{
    const stored_run *run = &verifying->view->run;
    const case_key *key = &figure->stored->stored->key;
    char shape[64], seed[32], threads[16];
    snprintf(shape, sizeof shape, "%zux%zu", key->rows, key->hidden);
    snprintf(seed, sizeof seed, "%llu", (unsigned long long)run->seed);
    snprintf(threads, sizeof threads, "%u", key->threads);
    const char *arguments[] = {"lnbench",
                               "run",
                               "--plan",
                               is_plan(run->plan) ? run->plan : "quick",
                               "--only",
                               figure->speed ? "speed" : "accuracy",
                               "--kernels",
                               key->kernel,
                               "--conventions",
                               key->convention,
                               "--dtypes",
                               dtype_name(key->dtype),
                               "--shapes",
                               shape,
                               "--seed",
                               seed,
                               "--db",
                               verifying->database,
                               "--no-charts",
                               figure->speed ? "--cache" : "--inputs",
                               figure->speed ? cache_name(key->cache) : key->input,
                               "--threads",
                               threads,
                               NULL};
    posix_spawn_file_actions_t actions;
    int problem = posix_spawn_file_actions_init(&actions);
    if (problem)
        return problem;
    bool fine =
        posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0) == 0 &&
        posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0) == 0;
    problem =
        fine ? posix_spawn(child, "/proc/self/exe", &actions, NULL, (char **)arguments, environ)
             : ENOMEM;
    posix_spawn_file_actions_destroy(&actions);
    return problem;
}

/* Where the case stands among those measured again; count where it does not. */
static size_t find_case(const view *view, const case_key *key)
{
    size_t i = 0;
    for (; i < view->cases.count; i++) {
        const case_key *other = &view->cases.cases[i].key;
        if (strcmp(other->kernel, key->kernel) == 0 &&
            strcmp(other->convention, key->convention) == 0 &&
            strcmp(other->input, key->input) == 0 && other->rows == key->rows &&
            other->hidden == key->hidden && other->dtype == key->dtype &&
            other->cache == key->cache && other->threads == key->threads)
            break;
    }
    return i;
}

/* Runs the figure's command into the database, which must not be there, and loads what it left.
 * False without an error: it left nothing. */
static bool measure_again(const verifying *verifying, const figure *figure, view *again,
                          error *error)
{
    pid_t child;
    int status;
    struct error none = {0};
    int problem = spawn_run(verifying, figure, &child);
    if (problem)
        return fail(error, EXIT_CODE_ENVIRONMENT, "lnbench run: cannot be started: %s",
                    strerror(problem));
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR)
            return fail(error, EXIT_CODE_ENVIRONMENT, "lnbench run: %s", strerror(errno));
    if (interrupted())
        return fail(error, EXIT_CODE_INTERRUPTED, "interrupted");
    return load_stored_run(verifying->database, 0, again, &none);
}

static void remove_database(const verifying *verifying)
{
    static const char *const suffixes[] = {"", "-wal", "-shm", "-journal"};
    char path[320];
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
        snprintf(path, sizeof path, "%s%s", verifying->database, suffixes[i]);
        unlink(path);
    }
}

/* ---- comparing ---- */

static bool same_bits(double a, double b)
{
    return memcmp(&a, &b, sizeof a) == 0 || (isnan(a) && isnan(b));
}

/* Every figure of the error, and the output itself where both runs kept its hash. */
static bool same_error(const stored_case *a, const stored_case *b)
{
    size_t count;
    const metric_field *fields = metric_fields(&count);
    for (size_t i = 0; i < count; i++)
        if (fields[i].kind == METRIC_REAL
                ? !same_bits(metric_value(&a->metrics, &fields[i]),
                             metric_value(&b->metrics, &fields[i]))
                : metric_count(&a->metrics, &fields[i]) != metric_count(&b->metrics, &fields[i]))
            return false;
    return a->verdict.kind == b->verdict.kind &&
           (!a->hashed || !b->hashed || a->output_hash == b->output_hash);
}

/* The intervals of the share of the roof meet; where there was no roof, those of the time. */
static bool same_speed(const speed *a, const speed *b)
{
    if (isfinite(a->roof_lo) && isfinite(b->roof_lo))
        return a->roof_lo <= b->roof_hi && b->roof_lo <= a->roof_hi;
    return a->time_lo_ns <= b->time_hi_ns && b->time_lo_ns <= a->time_hi_ns;
}

static void show_value(const view_case *view, bool speed, text *out)
{
    char number[16];
    if (speed && isfinite(view->speed.roof_ratio))
        text_format(out, "%.3f [%.3f, %.3f]", view->speed.roof_ratio, view->speed.roof_lo,
                    view->speed.roof_hi);
    else if (speed)
        text_format(out, "%s ns", number_short(view->speed.time_ns, number));
    else
        text_format(out, "%.9g", view->stored->metrics.row_ulp_max);
}

static exit_code compare(const figure *figure, const view *again, table *table)
{
    const case_key *key = &figure->stored->stored->key;
    size_t at = find_case(again, key);
    const view_case *now = at < again->cases.count ? &again->views[at] : NULL;
    text words[2] = {{0}, {0}};
    if (now && !is_figure(now, figure->speed))
        now = NULL;
    bool holds = now && (figure->speed ? same_speed(&figure->stored->speed, &now->speed)
                                       : same_error(figure->stored->stored, now->stored));
    show_value(figure->stored, figure->speed, &words[0]);
    if (now)
        show_value(now, figure->speed, &words[1]);
    else
        text_add(&words[1], "not measured");
    table_cell(table, figure->speed ? "share of roof" : "row ULP");
    table_cell(table, key->kernel);
    table_format(table, "%zux%zu %s, %s, %s", key->rows, key->hidden, dtype_name(key->dtype),
                 key->convention, figure->speed ? cache_name(key->cache) : key->input);
    table_cell(table, words[0].bytes ? words[0].bytes : "");
    table_cell(table, words[1].bytes ? words[1].bytes : "");
    table_cell(table, holds ? "holds" : now ? "does not hold" : "gone");
    text_free(&words[0]);
    text_free(&words[1]);
    return holds           ? EXIT_CODE_FINE
           : !now          ? EXIT_CODE_NOT_COMPARABLE
           : figure->speed ? EXIT_CODE_REGRESSION
                           : EXIT_CODE_ACCURACY;
}

static bool verify_one(const verifying *verifying, const figure *figure, table *table,
                       exit_code *code, error *error)
{
    view again = {0};
    bool measured = measure_again(verifying, figure, &again, error);
    bool fine = measured || error->code == EXIT_CODE_FINE;
    if (fine)
        *code = worse_exit_code(*code, compare(figure, &again, table));
    if (measured)
        view_free(&again);
    remove_database(verifying);
    return fine;
}

static bool make_directory(verifying *verifying, error *error)
{
    const char *base = getenv("TMPDIR");
    snprintf(verifying->directory, sizeof verifying->directory, "%.200s/lnbench-verify-XXXXXX",
             base && *base ? base : "/tmp");
    if (!mkdtemp(verifying->directory))
        return fail(error, EXIT_CODE_ENVIRONMENT, "%s: cannot be made: %s", verifying->directory,
                    strerror(errno));
    snprintf(verifying->database, sizeof verifying->database, "%s/again.db", verifying->directory);
    return true;
}

bool report_verify(const view *view, size_t sample, const output *out, exit_code *code,
                   error *error)
{
    static const char *const headings[] = {"figure", "kernel", "case", "stored", "now", "verdict"};
    verifying verifying = {.view = view};
    if (sample == 0 || sample > 10000)
        return fail(error, EXIT_CODE_USAGE, "--sample %zu: 1 to 10000 was expected", sample);
    figure *figures = calloc(sample + 1, sizeof *figures);
    table *table = table_create(headings, sizeof headings / sizeof *headings);
    bool fine = (figures && table) || fail_memory(error, "what to verify");
    size_t count = fine ? draw(view, false, (sample + 1) / 2, figures) : 0;
    count += fine ? draw(view, true, sample - count, figures + count) : 0;
    *code = EXIT_CODE_FINE;
    if (fine && count == 0)
        fine = fail(error, EXIT_CODE_NOT_COMPARABLE, "run %lld: has no figure to verify",
                    (long long)view->run.id);
    fine = fine && make_directory(&verifying, error);
    interrupt_watch();
    for (size_t i = 0; fine && i < count; i++)
        fine = verify_one(&verifying, &figures[i], table, code, error);
    if (verifying.database[0])
        rmdir(verifying.directory);
    free(figures);
    if (fine && out->format == OUTPUT_JSON) {
        table_destroy(table);
        return output_json(out,
                           json_pack("{s:s, s:I, s:i, s:I}", "schema", "lnbench-verify-1", "run",
                                     (json_int_t)view->run.id, "exit_code", (int)*code, "figures",
                                     (json_int_t)count),
                           error);
    }
    if (!fine) {
        table_destroy(table);
        return false;
    }
    return output_table(out, table, error);
}
