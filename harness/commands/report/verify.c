#include "commands/report/verify.h"
#include "base/allocate.h"
#include "base/interrupt.h"
#include "base/program.h"
#include "base/progress.h"
#include "base/random.h"
#include "base/files.h"
#include "domain/kernel_json.h"
#include "domain/metric_fields.h"
#include "domain/reproducible.h"
#include "show/run_view.h"
#include "run/replay.h"
#include "worker/worker.h"
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <unistd.h>

/* A figure takes minutes where its plan has many processes. */
static const double most_seconds = 3600;
/* Until a kernel counts as hung, as in lnbench replay. */
static const double replay_deadline = 60;

typedef struct stored_figure {
    const view_case *stored;
    bool speed; /* else its error */
    exit_code code;
    const char *verdict; /* "holds", "does not hold", "gone" */
    char was[96], now[96];
    char reason[256]; /* why it is gone; "" */
} stored_figure;

typedef struct verify_state {
    const verify_request *request;
    const run_view *view;
    bool elsewhere; /* the run is another machine's */
    stored_figure *figures;
    size_t count, errors; /* errors are the first of them, those of one block together */
    char database[1100];
    /* Of errors: what the lanes share. */
    worker_process *worker;
    kernel_list kernels;
    pthread_mutex_t lock;
    size_t next;
    progress_bar progress;
    bool interrupted;
} verify_state;

/* Takes all errors of one block, then those of the next. */
typedef struct verify_lane {
    verify_state *verifying;
    worker_process *worker;
    row_judge *judge;
    replay_kept kept;
    pthread_t thread;
} verify_lane;

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

/* Draws without replacement, `wanted` at most. */
static void draw_figures(verify_state *verifying, bool speed, size_t wanted)
{
    const run_view *view = verifying->view;
    size_t *indices = allocate_zeroed(view->cases.count + 1, sizeof *indices), count = 0;
    uint64_t state = verifying->request->seed + speed;
    for (size_t i = 0; i < view->cases.count; i++)
        if (is_figure(&view->views[i], speed))
            indices[count++] = i;
    for (; wanted > 0 && count > 0; wanted--) {
        size_t at = (size_t)(splitmix64(&state) % count);
        verifying->figures[verifying->count++] =
            (stored_figure){.stored = &view->views[indices[at]], .speed = speed};
        indices[at] = indices[--count];
    }
    free(indices);
}

/* Of one block of rows, or one task of the conformance tests. */
static int compare_blocks(const stored_figure *a, const stored_figure *b)
{
    const case_key *x = &a->stored->stored->key, *y = &b->stored->stored->key;
    int by_name = strcmp(x->convention, y->convention);
    if (by_name != 0 || x->operation != y->operation)
        return by_name ? by_name : (x->operation > y->operation) - (x->operation < y->operation);
    if (x->hidden != y->hidden)
        return x->hidden < y->hidden ? -1 : 1;
    if ((by_name = strcmp(x->input, y->input)) != 0 || x->rows != y->rows)
        return by_name ? by_name : x->rows < y->rows ? -1 : 1;
    return (x->dtype > y->dtype) - (x->dtype < y->dtype);
}

static int compare_figures(const void *a, const void *b)
{
    const stored_figure *x = a, *y = b;
    int by_block = compare_blocks(x, y);
    return by_block ? by_block
                    : strcmp(x->stored->stored->key.kernel, y->stored->stored->key.kernel);
}

/* ---- measuring again ---- */

static bool is_plan(const char *plan)
{
    return strcmp(plan, "quick") == 0 || strcmp(plan, "default") == 0 || strcmp(plan, "full") == 0;
}

/* Runs the command of a speed. words: the last that it said. */
static void run_command(const verify_state *verifying, const case_key *key, char words[256])
{
    static const char name[] = "lnbench: ";
    const stored_run *run = &verifying->view->run;
    const word_list *plugins = verifying->request->plugins;
    char shape[64], seed[32], threads[16];
    snprintf(shape, sizeof shape, "%zux%zu", key->rows, key->hidden);
    snprintf(seed, sizeof seed, "%llu", (unsigned long long)run->seed);
    snprintf(threads, sizeof threads, "%u", key->threads);
    const char *const fixed[] = {"/proc/self/exe",
                                 "run",
                                 "--plan",
                                 is_plan(run->plan) ? run->plan : "quick",
                                 "--only",
                                 "speed",
                                 "--kernels",
                                 key->kernel,
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
                                 "--conformance",
                                 "no",
                                 "--cache",
                                 cache_name(key->cache),
                                 "--shapes",
                                 shape};
    enum { FIXED = sizeof fixed / sizeof *fixed };
    const char **arguments = allocate_zeroed(FIXED + 2 * plugins->count + 1, sizeof *arguments);
    memcpy(arguments, fixed, sizeof fixed);
    for (size_t i = 0; i < plugins->count; i++) {
        arguments[FIXED + 2 * i] = "--plugin";
        arguments[FIXED + 2 * i + 1] = plugins->words[i];
    }
    program again = {.arguments = arguments, .seconds = most_seconds, .is_own = true};
    program_start(&again);
    program_end(&again);
    bool named = strncmp(again.words, name, sizeof name - 1) == 0;
    snprintf(words, 256, "%.255s", again.words + (named ? sizeof name - 1 : 0));
    free(arguments);
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

/* In bits, but for the sign of a zero, which no store keeps. */
static bool same_figure(double a, double b)
{
    return a == b || (isnan(a) && isnan(b));
}

/* Every figure of the error, and the output itself where both runs kept its hash. */
static bool same_case_error(const stored_case *a, const stored_case *b)
{
    for (size_t i = 0; i < metric_count_all; i++)
        if (metric_list[i].kind == METRIC_REAL
                ? !same_figure(metric_value(&a->metrics, &metric_list[i]),
                               metric_value(&b->metrics, &metric_list[i]))
                : metric_count(&a->metrics, &metric_list[i]) !=
                      metric_count(&b->metrics, &metric_list[i]))
            return false;
    return a->verdict.kind == b->verdict.kind &&
           (!a->hashed || !b->hashed || a->output_hash == b->output_hash);
}

/* The intervals of the share of the roof meet; where there was no roof, those of the time. */
static bool same_speed(const speed_figures *a, const speed_figures *b)
{
    if (isfinite(a->copy_ratio_lo) && isfinite(b->copy_ratio_lo))
        return a->copy_ratio_lo <= b->copy_ratio_hi && b->copy_ratio_lo <= a->copy_ratio_hi;
    return a->time_lo_ns <= b->time_hi_ns && b->time_lo_ns <= a->time_hi_ns;
}

static void show_value(const view_case *view, bool speed, char words[96])
{
    char number[16];
    if (speed && isfinite(view->speed.copy_ratio))
        snprintf(words, 96, "%.3f [%.3f, %.3f]", view->speed.copy_ratio, view->speed.copy_ratio_lo,
                 view->speed.copy_ratio_hi);
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

/* now: NULL where it could not be measured again. */
static void conclude(stored_figure *figure, const view_case *now)
{
    bool holds = now && (figure->speed ? same_speed(&figure->stored->speed, &now->speed)
                                       : same_case_error(figure->stored->stored, now->stored));
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

/* Runs the speed's command into a database of its own, which has no run where the command failed early. */
static void verify_speed(const verify_state *verifying, stored_figure *figure)
{
    const case_key *key = &figure->stored->stored->key;
    run_command(verifying, key, figure->reason);
    if (interrupted())
        die(EXIT_CODE_INTERRUPTED, "interrupted");
    result_store *store =
        access(verifying->database, F_OK) == 0 ? store_open(verifying->database, STORE_READ) : NULL;
    int64_t run = store ? store_latest_run(store) : 0;
    run_view again = run ? view_load(store, run) : (run_view){0};
    size_t at = run ? stored_cases_find(&again.cases, key) : 0;
    bool found = at < again.cases.count && is_figure(&again.views[at], true);
    conclude(figure, found ? &again.views[at] : NULL);
    if (figure->code != EXIT_CODE_NOT_COMPARABLE)
        figure->reason[0] = '\0';
    if (run)
        view_free(&again);
    store_close(store);
    remove_files(verifying);
}

/* Replays the case. A kernel, input or check that is not here is a reason, no error. */
static void verify_error(verify_lane *lane, stored_figure *figure)
{
    const verify_state *verifying = lane->verifying;
    const stored_case *stored = figure->stored->stored;
    struct error why = {0};
    replay_result result = {0};
    const kernel_entry *kernel = kernel_find(&verifying->kernels, stored->key.kernel, &why);
    bool replayed =
        kernel && replay_case(lane->judge, kernel, stored, NULL, false, &lane->kept, &result, &why);
    if (interrupted())
        return;
    stored_case again = {.verdict = result.now.verdict,
                         .metrics = result.metrics,
                         .hashed = result.hashed,
                         .output_hash = result.now.hash};
    view_case now = {.stored = &again};
    bool counts = replayed && again.metrics.elements > 0 &&
                  (!takes_another(verifying, figure->stored) || same_case_error(stored, &again));
    conclude(figure, counts ? &now : NULL);
    if (!counts && replayed)
        verdict_describe(&again.verdict, figure->reason, sizeof figure->reason);
    else if (!replayed)
        snprintf(figure->reason, sizeof figure->reason, "%.250s", why.message);
}

/* ---- the lanes ---- */

/* Under the lock: the figures from *first to before *last are the lane's. */
static bool deal(verify_state *verifying, size_t *first, size_t *last)
{
    *first = *last = verifying->next;
    if (verifying->interrupted || *first == verifying->errors)
        return false;
    while (*last < verifying->errors &&
           compare_blocks(&verifying->figures[*first], &verifying->figures[*last]) == 0)
        ++*last;
    verifying->next = *last;
    return true;
}

static void *run_lane(void *context)
{
    verify_lane *lane = context;
    verify_state *verifying = lane->verifying;
    size_t first, last;
    pthread_mutex_lock(&verifying->lock);
    while (deal(verifying, &first, &last)) {
        for (size_t i = first; i < last && !verifying->interrupted; i++) {
            const case_key *key = &verifying->figures[i].stored->stored->key;
            char what[160];
            snprintf(what, sizeof what, "%.40s  %.30s  %.50s  %zu", key->kernel, key->convention,
                     key->input, key->hidden);
            pthread_mutex_unlock(&verifying->lock);
            verify_error(lane, &verifying->figures[i]);
            pthread_mutex_lock(&verifying->lock);
            progress_step(&verifying->progress, 1, what);
            verifying->interrupted |= interrupted();
        }
    }
    pthread_mutex_unlock(&verifying->lock);
    replay_kept_free(&lane->kept);
    return NULL;
}

/* A worker and a judge more. False: it goes without them. */
static bool open_lane(verify_lane *lane, const verify_lane *first)
{
    lane->worker = worker_start_another(first->worker);
    lane->judge = judge_create_another(first->judge, worker_runner(lane->worker));
    if (pthread_create(&lane->thread, NULL, run_lane, lane) == 0)
        return true;
    judge_destroy(lane->judge);
    worker_stop(lane->worker);
    return false;
}

static void verify_errors(verify_state *verifying)
{
    enum { LANES_MOST = 4, FIGURES_A_LANE = 64 };
    const judge_settings settings = {.seed = verifying->view->run.seed,
                                     .max_row_ulp = INFINITY,
                                     .deadline_seconds = replay_deadline};
    verify_lane lanes[LANES_MOST] = {{.verifying = verifying, .worker = verifying->worker}};
    size_t wanted = verifying->errors / FIGURES_A_LANE, opened = 1;
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0 && wanted > (size_t)CPU_COUNT(&set))
        wanted = (size_t)CPU_COUNT(&set);
    lanes[0].judge = judge_create(worker_runner(verifying->worker), &settings);
    qsort(verifying->figures, verifying->errors, sizeof *verifying->figures, compare_figures);
    progress_begin(&verifying->progress, (double)verifying->errors);
    for (; opened < LANES_MOST && opened < wanted; opened++) {
        lanes[opened].verifying = verifying;
        if (!open_lane(&lanes[opened], &lanes[0]))
            break;
    }
    run_lane(&lanes[0]);
    for (size_t i = 1; i < opened; i++) {
        pthread_join(lanes[i].thread, NULL);
        judge_destroy(lanes[i].judge);
        worker_stop(lanes[i].worker);
    }
    judge_destroy(lanes[0].judge);
    progress_end(&verifying->progress);
    if (verifying->interrupted)
        die(EXIT_CODE_INTERRUPTED, "interrupted");
}

/* Errors by workers, speeds by commands. */
static void verify_figures(verify_state *verifying)
{
    const word_list *plugins = verifying->request->plugins;
    const char *folder = temporary_folder_make("verify"); /* of speeds */
    snprintf(verifying->database, sizeof verifying->database, "%s/again.db", folder);
    verifying->worker = worker_start(plugins->words, plugins->count, &verifying->kernels);
    verify_errors(verifying);
    for (size_t i = verifying->errors; i < verifying->count; i++)
        verify_speed(verifying, &verifying->figures[i]);
    temporary_folder_remove(folder);
    worker_stop(verifying->worker);
    kernel_list_free(&verifying->kernels);
}

/* ---- showing ---- */

/* In JSON with the run and the exit code. */
static void print_figures(const verify_state *verifying, const stored_figure *figures, size_t count,
                          exit_code code, const output_file *out)
{
    static const relation_column columns[] = {
        COLUMN("figure", "figure"),
        COLUMN("kernel", EACH_MEMBER),
        COLUMN("reproducible", "reproducibility"),
        FOR_PEOPLE("case"),
        COLUMN("stored", "stored"),
        COLUMN("now", "now"),
        COLUMN("verdict", "verdict"),
        FOR_PROGRAMS("reason"),
    };
    relation *rows = relation_create(COLUMNS(columns));
    for (size_t i = 0; i < count; i++) {
        const stored_figure *figure = &figures[i];
        const case_key *key = &figure->stored->stored->key;
        relation_row(
            rows, as_text(figure->speed ? "share of the copy" : "row ULP"),
            as_json(case_key_json(key), key->kernel), as_class(figure->stored->reproducibility),
            as_format("%zux%zu %s, %s, %s", key->rows, key->hidden, dtype_name(key->dtype),
                      key->convention, figure->speed ? cache_name(key->cache) : key->input),
            as_text(figure->was), as_text(figure->now), as_text(figure->verdict),
            as_text(figure->reason));
    }
    json_t *whole = json_pack("{s:s, s:I, s:o, s:i}", "schema", "lnbench-verify-3", "run",
                              (json_int_t)verifying->view->run.id, "seed",
                              json_sprintf("%llu", (unsigned long long)verifying->request->seed),
                              "exit_code", (int)code);
    relation_print_in(rows, whole, "figures", out);
    for (size_t i = 0; i < count; i++)
        if (figures[i].reason[0])
            output_aside(out, "gone: %s: %s", figures[i].stored->stored->key.kernel,
                         figures[i].reason);
}

/* ---- the whole ---- */

/* "2,446" */
static const char *in_thousands(size_t number, char words[32])
{
    if (number < 1000)
        snprintf(words, 32, "%zu", number);
    else
        snprintf(words, 32, "%zu,%03zu", number / 1000, number % 1000);
    return words;
}

typedef struct verify_sum {
    size_t errors, speeds, errors_held, speeds_held, gone;
    bool fails; /* an error, a speed or the page */
    sent_state sent;
    const char *no_speeds; /* why no speed was asked for */
} verify_sum;

static void add_up(const verify_state *verifying, bool all, verify_sum *sum, exit_code *code)
{
    for (size_t i = 0; i < verifying->count; i++) {
        const stored_figure *figure = &verifying->figures[i];
        bool held = figure->code == EXIT_CODE_FINE;
        *(figure->speed ? &sum->speeds : &sum->errors) += 1;
        *(figure->speed ? &sum->speeds_held : &sum->errors_held) += held;
        sum->gone += figure->code == EXIT_CODE_NOT_COMPARABLE;
        sum->fails |= !held && figure->code != EXIT_CODE_NOT_COMPARABLE;
        if (!all || figure->code != EXIT_CODE_NOT_COMPARABLE)
            *code = worse_exit_code(*code, figure->code);
    }
    if (sum->errors_held + sum->speeds_held == 0 &&
        (*code == EXIT_CODE_FINE || *code == EXIT_CODE_INCONCLUSIVE))
        *code = EXIT_CODE_NOT_COMPARABLE;
}

/* The last line. */
static void say_sum(const verify_state *verifying, const verify_sum *sum)
{
    char held[32], of[32], speeds[64];
    snprintf(speeds, sizeof speeds, "%zu of %zu%s", sum->speeds_held, sum->speeds,
             sum->speeds_held < sum->speeds ? " (a busy machine changes speeds)" : "");
    if (sum->gone)
        output_aside(verifying->request->printed,
                     "%zu figure%s for want of a CPU, input or plugin (--plugin FILE) not derived",
                     sum->gone, sum->gone == 1 ? "" : "s");
    output_aside(verifying->request->printed, "%s: %s of %s errors; speeds: %s%s",
                 sum->fails                                 ? "does not hold"
                 : sum->errors_held + sum->speeds_held == 0 ? "nothing could be derived here"
                                                            : "holds",
                 in_thousands(sum->errors_held, held), in_thousands(sum->errors, of),
                 sum->no_speeds ? sum->no_speeds : speeds, sum->sent.page);
}

/* Those that do not hold; of a sample all. */
static void show_figures(const verify_state *verifying, bool all, exit_code code)
{
    const output_file *out = verifying->request->printed;
    if (out->format == OUTPUT_JSON || !all) {
        print_figures(verifying, verifying->figures, verifying->count, code, out);
        return;
    }
    stored_figure *bad = allocate_zeroed(verifying->count + 1, sizeof *bad);
    size_t count = 0;
    for (size_t i = 0; i < verifying->count; i++)
        if (verifying->figures[i].code != EXIT_CODE_FINE &&
            verifying->figures[i].code != EXIT_CODE_NOT_COMPARABLE)
            bad[count++] = verifying->figures[i];
    if (count > 0 || output_is_data(out))
        print_figures(verifying, bad, count, code, out);
    free(bad);
}

exit_code report_verify(const verify_request *request, const run_view *view, exit_code code)
{
    verify_state verifying = {.request = request, .view = view, .lock = PTHREAD_MUTEX_INITIALIZER};
    verify_sum sum = {.sent.page = ""};
    machine_facts here;
    machine_read(&here);
    verifying.elsewhere = machine_difference(&view->machine, &here) != NULL;
    machine_free(&here);
    const bool all = request->all || (verifying.elsewhere && request->sample == 0);
    const size_t sample = request->sample ? request->sample : 8;
    if (all || verifying.elsewhere)
        sum.no_speeds = verifying.elsewhere ? "other CPU" : "not asked for";
    verifying.figures = allocate_zeroed(view->cases.count + sample + 1, sizeof *verifying.figures);
    draw_figures(&verifying, false,
                 all             ? view->cases.count
                 : sum.no_speeds ? sample
                                 : (sample + 1) / 2);
    verifying.errors = verifying.count;
    if (!sum.no_speeds) {
        draw_figures(&verifying, true, sample - verifying.count);
        sum.no_speeds = verifying.count > verifying.errors ? NULL : "none in this run";
    }
    if (verifying.count == 0)
        die(EXIT_CODE_NOT_COMPARABLE, "run %lld: has no figure to verify", (long long)view->run.id);
    if (request->file)
        sum.sent = report_sent(request, view);
    verify_figures(&verifying);
    sum.fails = sum.sent.fails;
    code = sum.fails ? EXIT_CODE_ACCURACY : code;
    if (verifying.elsewhere && request->file && !sum.sent.has_speeds)
        sum.no_speeds = "the sender's word";
    add_up(&verifying, all, &sum, &code);
    show_figures(&verifying, all, code);
    if (!all)
        output_aside(request->printed, "a sample: --seed %llu draws it again",
                     (unsigned long long)request->seed);
    say_sum(&verifying, &sum);
    free(verifying.figures);
    return code;
}
