#include "commands/report/verify.h"
#include "base/allocate.h"
#include "base/hash.h"
#include "base/interrupt.h"
#include "base/program.h"
#include "base/temporary.h"
#include "domain/kernel_json.h"
#include "domain/metric_fields.h"
#include "domain/reproducible.h"
#include "answer/stored_run.h"
#include "base/text.h"
#include <math.h>
#include <string.h>
#include <unistd.h>

/* A figure takes minutes where its plan has many processes. */
static const double most_seconds = 3600;

typedef struct stored_figure {
    const view_case *stored;
    bool speed; /* else its error */
    exit_code code;
    const char *verdict; /* "holds", "does not hold", "gone" */
    char was[96], now[96];
    char reason[256]; /* why it is gone, in the words of lnbench run; "" */
} stored_figure;

typedef struct verify_state {
    const run_view *view;
    const word_list *plugins;
    bool elsewhere; /* the run is another machine's */
    temporary_folder folder;
    char database[1100];
} verify_state;

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
static size_t draw_figures(const run_view *view, bool speed, size_t wanted, stored_figure *figures)
{
    size_t *indices = allocate_zeroed(view->cases.count + 1, sizeof *indices), count = 0, drawn = 0;
    for (size_t i = 0; i < view->cases.count; i++)
        if (is_figure(&view->views[i], speed))
            indices[count++] = i;
    for (; drawn < wanted && count > 0; drawn++) {
        uint64_t hash = hash_bytes(HASH_START, &view->run.id, sizeof view->run.id);
        hash = hash_bytes(hash, &drawn, sizeof drawn);
        size_t at = (size_t)(hash % count);
        figures[drawn] = (stored_figure){.stored = &view->views[indices[at]], .speed = speed};
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

/* Runs the command of a figure; of an error with these kernels and inputs, joined by commas. Inputs
 * NULL: all inputs and shapes of the plan. words: the last that it said. */
static void run_command(const verify_state *verifying, const stored_figure *figure,
                        const char *kernels, const char *inputs, char words[256])
{
    static const char name[] = "lnbench: ";
    const stored_run *run = &verifying->view->run;
    const word_list *plugins = verifying->plugins;
    const case_key *key = &figure->stored->stored->key;
    char shape[64], seed[32], threads[16];
    /* What the referee asks no input names; any will do beside it. */
    bool check = inputs && !figure->speed && is_check(inputs);
    snprintf(shape, sizeof shape, "%zux%zu", check ? 1 : key->rows, check ? 1 : key->hidden);
    snprintf(seed, sizeof seed, "%llu", (unsigned long long)run->seed);
    snprintf(threads, sizeof threads, "%u", key->threads);
    const char *const fixed[] = {"/proc/self/exe",
                                 "run",
                                 "--plan",
                                 is_plan(run->plan) ? run->plan : "quick",
                                 "--only",
                                 figure->speed ? "speed" : "accuracy",
                                 "--kernels",
                                 kernels,
                                 "--conventions",
                                 key->convention,
                                 "--dtypes",
                                 dtype_name(key->dtype),
                                 "--seed",
                                 seed,
                                 "--db",
                                 verifying->database,
                                 "--no-charts",
                                 "--threads",
                                 threads,
                                 "--referee",
                                 check || !inputs ? "yes" : "no",
                                 figure->speed ? "--cache" : "--inputs",
                                 figure->speed ? cache_name(key->cache)
                                 : check       ? "normal"
                                               : inputs,
                                 "--shapes",
                                 shape};
    enum { FIXED = sizeof fixed / sizeof *fixed };
    size_t count = inputs ? FIXED : FIXED - 4; /* all that the plan has, its checks too */
    const char **arguments = allocate_zeroed(FIXED + 2 * plugins->count + 1, sizeof *arguments);
    memcpy(arguments, fixed, count * sizeof *fixed);
    for (size_t i = 0; i < plugins->count; i++) {
        arguments[count + 2 * i] = "--plugin";
        arguments[count + 2 * i + 1] = plugins->words[i];
    }
    program again = {.arguments = arguments, .seconds = most_seconds, .is_own = true};
    program_start(&again);
    program_end(&again);
    bool named = strncmp(again.words, name, sizeof name - 1) == 0;
    snprintf(words, 256, "%s", again.words + (named ? sizeof name - 1 : 0));
    free(arguments);
}

/* Runs the figure's command into the database, which must not be there, and loads what it left.
 * False without an error: it left nothing. */
static bool measure_again(const verify_state *verifying, const stored_figure *figure,
                          const char *kernels, const char *inputs, run_view *again, char words[256],
                          error *err)
{
    struct error none = {0};
    run_command(verifying, figure, kernels, inputs, words);
    if (interrupted())
        return fail(err, EXIT_CODE_INTERRUPTED, "interrupted");
    return load_stored_run(verifying->database, 0, again, &none);
}

static void remove_files(const verify_state *verifying)
{
    static const char *const suffixes[] = {"", "-wal", "-shm", "-journal"};
    char path[1120];
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
static bool same_case_error(const stored_case *a, const stored_case *b)
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
static bool same_speed(const speed_figures *a, const speed_figures *b)
{
    if (isfinite(a->roof_lo) && isfinite(b->roof_lo))
        return a->roof_lo <= b->roof_hi && b->roof_lo <= a->roof_hi;
    return a->time_lo_ns <= b->time_hi_ns && b->time_lo_ns <= a->time_hi_ns;
}

static void show_value(const view_case *view, bool speed, char words[96])
{
    char number[16];
    if (speed && isfinite(view->speed.roof_ratio))
        snprintf(words, 96, "%.3f [%.3f, %.3f]", view->speed.roof_ratio, view->speed.roof_lo,
                 view->speed.roof_hi);
    else if (speed)
        snprintf(words, 96, "%s ns", number_short(view->speed.time_ns, number));
    else
        snprintf(words, 96, "%.9g", view->stored->metrics.row_ulp_max);
}

/* What the library's call takes depends on the CPU, but where its class says otherwise. */
static bool takes_another(const verify_state *verifying, const view_case *figure)
{
    return verifying->elsewhere &&
           kernel_is_call(verifying->view->kernels, figure->stored->key.kernel) &&
           !reproducible_everywhere(verifying->view->kernels, figure->stored->key.kernel);
}

static void compare(const verify_state *verifying, stored_figure *figure, const run_view *again)
{
    const stored_case *stored = figure->stored->stored;
    size_t at = stored_cases_find(&again->cases, &stored->key);
    const view_case *now = at < again->cases.count ? &again->views[at] : NULL;
    if (now && !is_figure(now, figure->speed))
        now = NULL;
    if (now && takes_another(verifying, figure->stored) && !same_case_error(stored, now->stored))
        now = NULL;
    bool holds = now && (figure->speed ? same_speed(&figure->stored->speed, &now->speed)
                                       : same_case_error(stored, now->stored));
    show_value(figure->stored, figure->speed, figure->was);
    if (now)
        show_value(now, figure->speed, figure->now);
    else
        snprintf(figure->now, sizeof figure->now, "not measured");
    figure->verdict = holds ? "holds" : now ? "does not hold" : "gone";
    figure->code = holds           ? EXIT_CODE_FINE
                   : !now          ? EXIT_CODE_NOT_COMPARABLE
                   : figure->speed ? EXIT_CODE_REGRESSION
                                   : EXIT_CODE_ACCURACY;
}

static bool verify_one(const verify_state *verifying, stored_figure *figure, error *err)
{
    run_view again = {0};
    char words[256];
    const case_key *key = &figure->stored->stored->key;
    bool measured = measure_again(verifying, figure, key->kernel, key->input, &again, words, err);
    bool fine = measured || err->code == EXIT_CODE_FINE;
    if (fine)
        compare(verifying, figure, &again);
    if (fine && figure->code == EXIT_CODE_NOT_COMPARABLE)
        memcpy(figure->reason, words, sizeof words);
    if (measured)
        view_free(&again);
    remove_files(verifying);
    return fine;
}

/* ---- showing ---- */

static const char *figure_word(const stored_figure *figure)
{
    return figure->speed ? "share of roof" : "row ULP";
}

static bool show_table(const stored_figure *figures, size_t count, const output_file *out,
                       error *err)
{
    static const char *const headings[] = {"figure", "kernel", "reproducible", "case",
                                           "stored", "now",    "verdict"};
    text_table *table = table_create(headings, sizeof headings / sizeof *headings);
    for (size_t i = 0; i < count; i++) {
        const stored_figure *figure = &figures[i];
        const case_key *key = &figure->stored->stored->key;
        table_cells(table, figure_word(figure), key->kernel, figure->stored->reproducibility);
        table_format(table, "%zux%zu %s, %s, %s", key->rows, key->hidden, dtype_name(key->dtype),
                     key->convention, figure->speed ? cache_name(key->cache) : key->input);
        table_cells(table, figure->was, figure->now, figure->verdict);
    }
    if (!output_table(out, table, err))
        return false;
    for (size_t i = 0; i < count && !output_is_data(out); i++)
        if (figures[i].reason[0])
            output_line(out, "gone: %s: %s", figures[i].stored->stored->key.kernel,
                        figures[i].reason);
    return true;
}

static json_t *figure_json(const stored_figure *figure)
{
    const case_key *key = &figure->stored->stored->key;
    return json_pack("{s:s, s:o, s:o, s:o, s:I, s:I, s:s, s:o, s:s, s:I, s:s, s:s, s:s, s:o}",
                     "figure", figure_word(figure), "kernel", json_text(key->kernel),
                     "reproducibility", reproducible_json(figure->stored->reproducibility),
                     "convention", json_text(key->convention), "rows", (json_int_t)key->rows,
                     "hidden", (json_int_t)key->hidden, "dtype", dtype_name(key->dtype), "input",
                     json_text(key->input), "cache", cache_name(key->cache), "threads",
                     (json_int_t)key->threads, "stored", figure->was, "now", figure->now, "verdict",
                     figure->verdict, "reason", json_text(figure->reason));
}

static bool show_json(const verify_state *verifying, const stored_figure *figures, size_t count,
                      exit_code code, const output_file *out, error *err)
{
    json_t *array = json_array();
    for (size_t i = 0; i < count; i++)
        json_array_append_new(array, figure_json(&figures[i]));
    return output_json(out,
                       json_pack("{s:s, s:I, s:i, s:o}", "schema", "lnbench-verify-2", "run",
                                 (json_int_t)verifying->view->run.id, "exit_code", (int)code,
                                 "figures", array),
                       err);
}

static bool make_folder(verify_state *verifying, error *err)
{
    if (!temporary_folder_make(&verifying->folder, NULL, "verify", err))
        return false;
    snprintf(verifying->database, sizeof verifying->database, "%s/again.db",
             verifying->folder.path);
    return true;
}

/* ---- every error ---- */

/* Whether one command can make both: all but kernel and input is the same, and the shape where it is
 * asked for. */
static bool same_command(const case_key *a, const case_key *b, bool by_shape)
{
    return (!by_shape || (a->rows == b->rows && a->hidden == b->hidden)) && a->dtype == b->dtype &&
           a->threads == b->threads && strcmp(a->convention, b->convention) == 0;
}

/* ",NAME" unless it is there. */
static void add_name(text_buffer *list, const char *name)
{
    size_t length = strlen(name);
    for (const char *at = list->bytes; at && *at; at += strcspn(at, ",")) {
        at += *at == ',';
        if (strncmp(at, name, length) == 0 && (at[length] == ',' || !at[length]))
            return;
    }
    text_format(list, "%s%s", list->length ? "," : "", name);
}

/* Not derived as yet; the second time: the plan's own checks, whose rows no option asks for. */
static bool is_open(const stored_figure *figure, const case_key *key, bool by_shape)
{
    bool open =
        by_shape ? !figure->verdict : figure->code == EXIT_CODE_NOT_COMPARABLE && figure->reason[0];
    return open && same_command(key, &figure->stored->stored->key, by_shape);
}

/* The errors figures[first] and all behind it that one command makes. */
static bool verify_group(const verify_state *verifying, stored_figure *figures, size_t first,
                         size_t count, bool by_shape, error *err)
{
    const case_key *key = &figures[first].stored->stored->key;
    text_buffer kernels = {0}, inputs = {0};
    run_view again = {0};
    char words[256];
    for (size_t i = first; i < count; i++)
        if (is_open(&figures[i], key, by_shape)) {
            add_name(&kernels, figures[i].stored->stored->key.kernel);
            add_name(&inputs, figures[i].stored->stored->key.input);
        }
    bool measured = measure_again(verifying, &figures[first], kernels.bytes,
                                  by_shape ? inputs.bytes : NULL, &again, words, err);
    bool fine = measured || err->code == EXIT_CODE_FINE;
    for (size_t i = first; fine && i < count; i++)
        if (is_open(&figures[i], key, by_shape)) {
            compare(verifying, &figures[i], &again);
            figures[i].reason[0] = '\0';
            if (!measured && by_shape)
                memcpy(figures[i].reason, words, sizeof words);
        }
    if (measured)
        view_free(&again);
    remove_files(verifying);
    text_free(&kernels);
    text_free(&inputs);
    return fine;
}

/* Those that do not hold, and how many there are of each kind. */
static bool show_all(const stored_figure *figures, size_t count, const output_file *out, error *err)
{
    stored_figure *bad = allocate_zeroed(count + 1, sizeof *bad);
    size_t differ = 0, gone = 0, holding = 0;
    for (size_t i = 0; i < count; i++) {
        holding += figures[i].code == EXIT_CODE_FINE;
        gone += figures[i].code == EXIT_CODE_NOT_COMPARABLE;
        if (figures[i].code != EXIT_CODE_FINE && figures[i].code != EXIT_CODE_NOT_COMPARABLE)
            bad[differ++] = figures[i];
    }
    bool fine = (differ == 0 && !output_is_data(out)) || show_table(bad, differ, out, err);
    if (fine)
        output_line(out,
                    "%zu errors: %zu hold bit for bit, %zu differ, %zu need another CPU, input or "
                    "plugin; speeds need the machine",
                    count, holding, differ, gone);
    free(bad);
    return fine;
}

bool report_verify_errors(const run_view *view, bool elsewhere, const word_list *plugins,
                          const output_file *out, exit_code *code, error *err)
{
    verify_state verifying = {.view = view, .plugins = plugins, .elsewhere = elsewhere};
    stored_figure *figures = allocate_zeroed(view->cases.count + 1, sizeof *figures);
    size_t count = 0, holding = 0;
    for (size_t i = 0; i < view->cases.count; i++)
        if (is_figure(&view->views[i], false))
            figures[count++] = (stored_figure){.stored = &view->views[i]};
    bool fine = count > 0 || fail(err, EXIT_CODE_NOT_COMPARABLE, "run %lld: has no error to verify",
                                  (long long)view->run.id);
    fine = fine && make_folder(&verifying, err);
    interrupt_watch();
    for (int by_shape = 1; by_shape >= 0; by_shape--)
        for (size_t i = 0; fine && i < count; i++)
            if (is_open(&figures[i], &figures[i].stored->stored->key, by_shape))
                fine = verify_group(&verifying, figures, i, count, by_shape, err);
    for (size_t i = 0; fine && i < count; i++) {
        holding += figures[i].code == EXIT_CODE_FINE;
        if (figures[i].code != EXIT_CODE_NOT_COMPARABLE)
            *code = worse_exit_code(*code, figures[i].code);
    }
    if (holding == 0 && (*code == EXIT_CODE_FINE || *code == EXIT_CODE_INCONCLUSIVE))
        *code = EXIT_CODE_NOT_COMPARABLE;
    temporary_folder_remove(&verifying.folder);
    if (fine)
        fine = out->format == OUTPUT_JSON ? show_json(&verifying, figures, count, *code, out, err)
                                          : show_all(figures, count, out, err);
    free(figures);
    return fine;
}

bool report_verify(const run_view *view, size_t sample, const word_list *plugins,
                   const output_file *out, exit_code *code, error *err)
{
    verify_state verifying = {.view = view, .plugins = plugins};
    if (sample == 0 || sample > 10000)
        return fail(err, EXIT_CODE_USAGE, "--sample %zu: 1 to 10000 was expected", sample);
    stored_figure *figures = allocate_zeroed(sample + 1, sizeof *figures);
    size_t count = draw_figures(view, false, (sample + 1) / 2, figures);
    count += draw_figures(view, true, sample - count, figures + count);
    bool fine = count > 0 || fail(err, EXIT_CODE_NOT_COMPARABLE,
                                  "run %lld: has no figure to verify", (long long)view->run.id);
    fine = fine && make_folder(&verifying, err);
    interrupt_watch();
    for (size_t i = 0; fine && i < count; i++) {
        fine = verify_one(&verifying, &figures[i], err);
        *code = worse_exit_code(*code, figures[i].code);
    }
    temporary_folder_remove(&verifying.folder);
    if (fine)
        fine = out->format == OUTPUT_JSON ? show_json(&verifying, figures, count, *code, out, err)
                                          : show_table(figures, count, out, err);
    free(figures);
    return fine;
}
