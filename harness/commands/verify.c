#include "commands/verify.h"
#include "base/allocate.h"
#include "base/files.h"
#include "base/program.h"
#include "base/progress.h"
#include "base/random.h"
#include "commands/replay.h"
#include "domain/kernel_json.h"
#include "domain/reproducible.h"
#include "show/report.h"
#include "store/run_file.h"
#include "worker/worker.h"
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <sys/random.h>

typedef struct stored_error {
    const stored_case *stored;
    replay_result *differs; /* NULL: it holds, or was not derived */
    char *reason;           /* why it was not derived; NULL: it was */
} stored_error;

typedef struct verify_state {
    const verify_request *request;
    const run_view *view;
    bool elsewhere; /* the run is another machine's */
    kernel_list kernels;
    stored_cases cases; /* of the run */
    stored_error *errors;
    size_t count;
    /* What the lanes share. */
    pthread_mutex_t lock;
    size_t next;
    progress_bar progress;
} verify_state;

typedef struct verify_lane {
    verify_state *verifying;
    worker_process *worker;
    replayer own;
    pthread_t thread;
} verify_lane;

/* ---- the page ---- */

/* What a reader sees, without the numbers that a store gives to the run and its cases. */
static void add_bare(text_buffer *out, const char *page, size_t size)
{
    static const char *const numbered[] = {"run ", "case ", "Case "};
    for (size_t i = 0; i < size;) {
        bool is_number = false;
        for (size_t j = 0; j < sizeof numbered / sizeof *numbered; j++) {
            size_t length = strlen(numbered[j]);
            is_number = is_number || (i >= length && isdigit((unsigned char)page[i]) &&
                                      memcmp(page + i - length, numbered[j], length) == 0);
        }
        if (is_number)
            text_add(out, "N");
        else
            text_add_bytes(out, page + i++, 1);
        while (is_number && i < size && isdigit((unsigned char)page[i]))
            i++;
    }
}

/* Whether the lines from the mark on are the same. */
static bool same_line(const char *a, const char *b, const char *mark)
{
    const char *one = strstr(a, mark), *other = strstr(b, mark);
    size_t length = one ? strcspn(one, "\n") : 0;
    return one && other ? length == strcspn(other, "\n") && memcmp(one, other, length) == 0
                        : one == other;
}

static void say_line_around(const output_file *out, const char *who, const char *text, size_t at)
{
    size_t from = at;
    while (from > 0 && at - from < 24 && text[from - 1] != '\n')
        from--;
    size_t length = strcspn(text + from, "\n");
    output_aside(out, "%s  %.*s", who, (int)(length < 60 ? length : 60), text + from);
}

/* Draws the page of each operation of the run again, in a folder that is removed. False: the page is none of
 * them, though this lnbench and gnuplot drew it. */
static bool check_page(const verify_request *request, const run_view *view, text_buffer *page)
{
    char plots[1024], path[1100];
    const unsigned kinds = view_operations(view);
    const output_file *out = request->printed;
    text_buffer theirs = {0}, ours = {0};
    bool compared = false, same = false;
    size_t at = 0;
    add_bare(&theirs, page->bytes, page_run_cut(page->bytes, page->length));
    const char *folder = temporary_folder_make("verify");
    path_of_plots(plots, sizeof plots);
    for (int kind = 0; !same && kind < OPERATIONS; kind++) {
        if (!(kinds & OPERATION_BIT(kind)))
            continue;
        text_buffer drawn = {0};
        run_view part = view_part(view, (ln_operation)kind);
        snprintf(path, sizeof path, "%.1060s/index.html", folder);
        report_write(&part, plots, folder, NULL);
        read_whole_file(path, &drawn);
        text_free(&ours);
        add_bare(&ours, drawn.bytes, drawn.length);
        compared = same_line(theirs.bytes, ours.bytes, "<meta name=\"generator\"") &&
                   same_line(theirs.bytes, ours.bytes, "Produced by GNUPLOT");
        for (at = 0; theirs.bytes[at] && theirs.bytes[at] == ours.bytes[at];)
            at++;
        same = theirs.bytes[at] == ours.bytes[at];
        text_free(&drawn);
        view_part_free(&part);
    }
    temporary_folder_remove(folder);
    if (!compared)
        output_aside(out, "The page is not compared: another lnbench or gnuplot drew it.");
    if (compared && !same) {
        output_aside(out, "%s was changed: its run draws another page.", request->file);
        say_line_around(out, "the page says", theirs.bytes, at);
        say_line_around(out, "its run says ", ours.bytes, at);
    }
    text_free(&theirs);
    text_free(&ours);
    return same || !compared;
}

/* ---- the errors ---- */

/* Those to be derived, in the stored order, in which cases of the same rows stand together. What was timed
 * was judged on all its rows, which only timing it again would do. */
static void draw_errors(verify_state *verifying)
{
    const run_view *view = verifying->view;
    uint64_t wanted = verifying->request->sample, state = 0;
    size_t count = 0, kept = 0;
    verifying->cases = store_cases(view->store, view->run.id);
    verifying->errors = allocate_zeroed(verifying->cases.count + 1, sizeof *verifying->errors);
    for (size_t i = 0; i < verifying->cases.count; i++) {
        const stored_case *stored = &verifying->cases.cases[i];
        if (!is_roof(stored->key.kernel) && stored->judged && stored->metrics.elements > 0 &&
            stored->repetition_count == 0)
            verifying->errors[count++].stored = stored;
    }
    /* Each is drawn with the share that is still wanted of those that are left. */
    while (getrandom(&state, sizeof state, 0) < 0 && errno == EINTR)
        continue;
    for (size_t i = 0; i < count; i++)
        if (splitmix64(&state) % (count - i) < wanted) {
            verifying->errors[kept++] = verifying->errors[i];
            wanted--;
        }
    verifying->count = kept;
}

/* A kernel, input or check that is not here is a reason. What the library's call takes depends on the CPU, but
 * where its class says otherwise. */
static void derive(verify_lane *lane, stored_error *own)
{
    const verify_state *verifying = lane->verifying;
    const json_t *kernels = verifying->view->kernels;
    const stored_case *stored = own->stored;
    const char *name = stored->key.kernel;
    char reason[VERDICT_MAX_LENGTH] = "";
    error ignored;
    replay_result result = {0};
    const kernel_entry *kernel = kernel_find(&verifying->kernels, name, &ignored);
    if (!kernel)
        snprintf(reason, sizeof reason, KERNEL_IS_MISSING, name);
    else if (!replay_case(&lane->own, kernel, stored, NULL, false, &result))
        snprintf(reason, sizeof reason, "%s", result.note);
    else if (result.now.verdict.kind == VERDICT_DECLINED)
        verdict_describe(&result.now.verdict, reason, sizeof reason);
    else if (verifying->elsewhere && !result.reproduces && kernel_is_call(kernels, name) &&
             !reproducible_everywhere(kernels, name))
        snprintf(reason, sizeof reason, "on this CPU %s takes another kernel", name);
    if (reason[0])
        own->reason = allocate_copy(reason, strlen(reason) + 1);
    else if (!result.reproduces)
        own->differs = allocate_copy(&result, sizeof result);
}

/* Takes all errors of one block, then those of the next, so that each block is made once. */
static void *run_lane(void *context)
{
    verify_lane *lane = context;
    verify_state *all = lane->verifying;
    pthread_mutex_lock(&all->lock);
    while (all->next < all->count && !interrupted()) {
        const size_t first = all->next;
        const case_key *key = &all->errors[first].stored->key;
        char what[160];
        while (all->next < all->count && case_key_beside(key, &all->errors[all->next].stored->key))
            all->next++;
        const size_t end = all->next;
        for (size_t i = first; i < end && !interrupted(); i++) {
            key = &all->errors[i].stored->key;
            snprintf(what, sizeof what, "%.40s  %.30s  %.50s  %zu", key->kernel, key->convention,
                     key->input, key->hidden);
            progress_step(&all->progress, 1, what);
            pthread_mutex_unlock(&all->lock);
            derive(lane, &all->errors[i]);
            pthread_mutex_lock(&all->lock);
        }
    }
    pthread_mutex_unlock(&all->lock);
    replayer_forget(&lane->own);
    judge_destroy(lane->own.judge);
    worker_stop(lane->worker);
    return NULL;
}

static void derive_errors(verify_state *verifying)
{
    enum { LANES_MOST = 4, ERRORS_A_LANE = 64 };
    const judge_settings settings = {.seed = verifying->view->run.seed,
                                     .max_row_ulp = INFINITY,
                                     .deadline_seconds = 60}; /* as in lnbench replay */
    const word_list *plugins = verifying->request->plugins;
    verify_lane lanes[LANES_MOST] = {{.verifying = verifying}};
    size_t opened = 1;
    cpu_set_t set;
    const size_t cpus =
        sched_getaffinity(0, sizeof set, &set) == 0 ? (size_t)CPU_COUNT(&set) : LANES_MOST;
    lanes[0].worker = worker_start(plugins->words, plugins->count, &verifying->kernels);
    lanes[0].own.judge = judge_create(worker_runner(lanes[0].worker), &settings);
    progress_begin(&verifying->progress, (double)verifying->count);
    for (; opened < LANES_MOST && opened < cpus && opened < verifying->count / ERRORS_A_LANE;
         opened++) {
        verify_lane *lane = &lanes[opened];
        *lane =
            (verify_lane){.verifying = verifying, .worker = worker_start_another(lanes[0].worker)};
        lane->own.judge = judge_create_another(lanes[0].own.judge, worker_runner(lane->worker));
        if (pthread_create(&lane->thread, NULL, run_lane, lane) != 0)
            die(EXIT_CODE_ENVIRONMENT, "cannot start a thread");
    }
    run_lane(&lanes[0]);
    for (size_t i = 1; i < opened; i++)
        pthread_join(lanes[i].thread, NULL);
    progress_end(&verifying->progress);
    if (interrupted())
        die(EXIT_CODE_INTERRUPTED, "interrupted");
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

/* How many errors were not derived for each reason. */
static size_t say_reasons(const verify_state *verifying, json_t *reasons)
{
    size_t total = 0;
    const stored_error *errors = verifying->errors;
    for (size_t i = 0; i < verifying->count; i++) {
        size_t first = 0, same = 0;
        if (!errors[i].reason)
            continue;
        total++;
        while (!errors[first].reason || strcmp(errors[first].reason, errors[i].reason) != 0)
            first++;
        if (first < i)
            continue;
        for (size_t j = i; j < verifying->count; j++)
            same += errors[j].reason && strcmp(errors[j].reason, errors[i].reason) == 0;
        output_aside(verifying->request->printed, "not derived: %zu error%s: %s", same,
                     same == 1 ? "" : "s", errors[i].reason);
        json_array_append_new(reasons,
                              json_pack("{s:o, s:I}", "reason", json_text(errors[i].reason),
                                        "errors", (json_int_t)same));
    }
    return total;
}

exit_code report_verify(const verify_request *request, const run_view *view, exit_code code)
{
    const output_file *out = request->printed;
    verify_state verifying = {.request = request, .view = view, .lock = PTHREAD_MUTEX_INITIALIZER};
    machine_facts here;
    text_buffer page = {0};
    char held[32], of[32];
    size_t differ = 0;
    interrupt_watch();
    machine_read(&here);
    verifying.elsewhere = machine_difference(&view->machine, &here) != NULL;
    machine_free(&here);
    if (request->file)
        read_whole_file(request->file, &page);
    if (request->file && page_run_is_page(page.bytes, page.length) &&
        !check_page(request, view, &page))
        code = EXIT_CODE_ACCURACY;
    draw_errors(&verifying);
    if (verifying.count == 0 && code != EXIT_CODE_ACCURACY)
        die(EXIT_CODE_NOT_COMPARABLE, "run %lld: has no error to verify", (long long)view->run.id);
    derive_errors(&verifying);
    relation *rows = replayed_relation();
    for (size_t i = 0; i < verifying.count; i++) {
        const stored_error *own = &verifying.errors[i];
        const stored_case *stored = own->stored;
        char what[96];
        if (!own->differs)
            continue;
        snprintf(what, sizeof what, "case %lld: %.60s", (long long)stored->id, stored->key.input);
        replayed_row(rows, what, stored->key.kernel, stored->key.convention, stored->key.hidden,
                     reproducible_stored(verifying.view->kernels, stored->key.kernel),
                     own->differs);
        code = EXIT_CODE_ACCURACY;
        differ++;
    }
    json_t *reasons = json_array();
    const size_t missing = say_reasons(&verifying, reasons);
    if (missing == verifying.count && code != EXIT_CODE_ACCURACY)
        code = EXIT_CODE_NOT_COMPARABLE;
    const size_t hold = verifying.count - missing - differ;
    if (differ > 0 || output_is_data(out) || out->format == OUTPUT_JSON) {
        relation_print_in(rows,
                          json_pack("{s:s, s:I, s:i, s:I, s:I, s:o}", "schema", "lnbench-verify-4",
                                    "run", (json_int_t)view->run.id, "exit_code", (int)code,
                                    "errors", (json_int_t)verifying.count, "hold", (json_int_t)hold,
                                    "not_derived", reasons),
                          "failures", out);
    } else {
        relation_destroy(rows);
        json_decref(reasons);
    }
    output_aside(out, "%s of %s errors hold", in_thousands(hold, held),
                 in_thousands(verifying.count, of));
    for (size_t i = 0; i < verifying.count; i++) {
        free(verifying.errors[i].differs);
        free(verifying.errors[i].reason);
    }
    free(verifying.errors);
    text_free(&page);
    stored_cases_free(&verifying.cases);
    kernel_list_free(&verifying.kernels);
    return code;
}
