/* Views and exports of a stored run have the published keys, are strict JSON, and lose nothing. */
#include "show/answer.h"
#include "base/program.h"
#include "store/export.h"
#include "judged.h"
#include "store/run_file.h"
#include "domain/case.h"
#include "scratch.h"
#include "store/internal.h"
#include <math.h>

#define COMPARE_PY "/usr/share/benchmark/compare.py"

static case_key key_of(const char *kernel)
{
    case_key key = {.convention = "torch",
                    .input = "normal",
                    .rows = 100,
                    .hidden = 250,
                    .cache = CACHE_COLD,
                    .threads = 2};
    snprintf(key.kernel, sizeof key.kernel, "%s", kernel);
    return key;
}

static ln_metrics some_metrics(void)
{
    ln_metrics metrics = numbered_metrics(0.1, 0);
    metrics.ulp_histogram[0] = 1;
    metrics.ulp_histogram[7] = 3;
    return metrics;
}

/* Stores case 0: judged and timed; 1: its copy; 2: failed, with undefined figures; 3: crashed; 4: text with special
 * characters. */
static void fill(result_store *store, int64_t run)
{
    case_key fine = key_of("fine"), copied = key_of("copy"), wrong = key_of("wrong"),
             crashed = key_of("crashed"), odd = key_of("tab\there\\\"quote\nline\xff\xc0\xafü");
    ln_metrics metrics = some_metrics();
    case_verdict ok = {VERDICT_PASS, ""}, bad = {VERDICT_TYPE_LIMITED_CLASS, "3 elements"},
                 dead = {VERDICT_CRASHED, "SIGSEGV"};
    store_put_judged(store, run,
                     &(stored_case){.key = fine,
                                    .judged = true,
                                    .verdict = ok,
                                    .metrics = metrics,
                                    .bound_row_ulp = 12.5,
                                    .hashed = true,
                                    .output_hash = 0xfedcba9876543210});
    for (unsigned i = 0; i < 6; i++) {
        timed_repetition kernel = {i / 3, i % 3, i, 100, 1000 + i, 990, NAN, NAN}, copy = kernel;
        copy.real_ns = 500;
        store_put_repetition(store, run, &fine, &kernel);
        store_put_repetition(store, run, &copied, &copy);
    }
    metrics.ulp_max = INFINITY;
    metrics.ulp_bias = -INFINITY;
    metrics.bits = NAN;
    metrics.worst_computed = NAN;
    put_accuracy(store, run, &wrong, &bad, &metrics, INFINITY);
    put_accuracy(store, run, &crashed, &dead, NULL, NAN);
    put_accuracy(store, run, &odd, &ok, &metrics, NAN);
    stored_row row = {7, 1e8, 0.5, 0.25, INFINITY, -0.125, NAN};
    store_put_row(store, run, &odd, &row);
    store_put_kernel(
        store, run,
        json_pack("{s:s, s:i, s:s}", "name", "fine", "unroll", 4, "reproducibility", "row"));
}

/* The view of the current test. */
static run_view view;

static int load_view(void **state)
{
    machine_fact facts[] = {{"l1d_bytes", "32768"},   {"l2_bytes", "1048576"},
                            {"l3_bytes", "33554432"}, {"mhz", "2600.5"},
                            {"load_1m", "0.25"},      {"note", "tab\there"}};
    machine_facts machine = {.facts = facts, .count = 6};
    run_info info = {"lnbench run \xfe", "quick", "abc", UINT64_MAX, &machine, "run", "", 0, 0};
    result_store *store;
    int64_t run;
    if (scratch_create(state) != 0)
        return -1;
    store = store_open(scratch_path(state, "a.db"), STORE_WRITE);
    run = store_begin_run(store, &info);
    fill(store, run);
    store_end_process(store, run, 0);
    store_end_process(store, run, 1);
    view = view_load(store, run);
    view.owns_store = true;
    return 0;
}

static int free_view(void **state)
{
    view_free(&view);
    return scratch_remove(state);
}

#define VIEW_TEST(name) TEST_WITH(name, load_view, free_view)

static const char *word(json_t *object, const char *key)
{
    return json_string_value(json_object_get(object, key));
}

VIEW_TEST(test_undefined_is_null)
{
    json_t *all = view_run_json(&view), *copied = json_array_get(all, 1);
    json_t *wrong = json_array_get(all, 2), *crashed = json_array_get(all, 3);
    json_t *metrics = json_object_get(wrong, "metrics");
    assert_true(json_is_null(json_object_get(metrics, "ulp_max")));
    assert_true(json_is_null(json_object_get(metrics, "bits")));
    assert_true(json_is_null(json_object_get(wrong, "bound_row_ulp")));
    assert_true(json_is_null(json_object_get(wrong, "speed")));
    assert_string_equal(word(wrong, "verdict"), "type-limited");
    assert_string_equal(word(wrong, "reason"), "wrong-class");
    assert_string_equal(word(crashed, "verdict"), "fail");
    assert_string_equal(word(crashed, "reason"), "crashed");
    assert_string_equal(word(crashed, "detail"), "SIGSEGV");
    assert_true(json_is_null(json_object_get(crashed, "metrics")));
    assert_true(json_is_null(json_object_get(copied, "verdict")));
    assert_true(json_is_null(json_object_get(copied, "metrics")));
    assert_true(json_is_null(json_object_get(copied, "reproducibility")));
    json_decref(all);
}

TEST(test_extreme)
{
    stored_case stored = {.key = {.dtype = LN_F32, .convention = "torch", .input = "normal"}};
    static const struct {
        double worst;
        ln_type dtype;
        bool edge_case;
    } cases[] = {{1, LN_F32, false},        {0, LN_F32, false},        {-0x1p-126, LN_F32, false},
                 {-0x1p-127, LN_F32, true}, {0x1p-127, LN_F64, false}, {0x1p-15, LN_F16, true}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        stored.metrics.worst_exact = cases[i].worst;
        stored.key.dtype = cases[i].dtype;
        assert_int_equal(stored_is_edge_case(&stored), cases[i].edge_case);
    }
    snprintf(stored.key.input, sizeof stored.key.input, "overflow");
    assert_true(stored_is_edge_case(&stored));
}

TEST(test_json_text)
{
    static const char *const given[][2] = {
        {"plain ü €", "plain ü €"},
        {"\xff", "?"},
        {"a\xc3", "a"},          /* cut off */
        {"\xed\xa0\x80", "???"}, /* a surrogate */
        {"\xc0\xaf", "??"},      /* overlong */
        {"\xf0\x9f\x98\x80\xf5", "\xf0\x9f\x98\x80?"},
        {"", ""},
    };
    for (size_t i = 0; i < sizeof given / sizeof *given; i++) {
        json_t *json = json_text(given[i][0]);
        assert_string_equal(json_string_value(json), given[i][1]);
        json_decref(json);
    }
    json_t *null = json_figure(NAN);
    assert_true(json_is_null(null));
}

/* Checks for what a strict reader refuses: NaN and infinities as bare words. (jansson refuses them too; this looks at
 * every place where a value may begin.) */
static void assert_strict(const char *bytes)
{
    static const char *const words[] = {"nan", "inf", "NaN", "Infinity", "-nan", "-inf"};
    for (const char *at = bytes; *at; at++) {
        if (*at != ':' && *at != ',' && *at != '[')
            continue;
        const char *value = at + 1 + strspn(at + 1, " \n");
        for (size_t i = 0; i < sizeof words / sizeof *words; i++)
            if (strncmp(value, words[i], strlen(words[i])) == 0)
                fail_msg("a bare %s in the JSON", words[i]);
    }
}

static void save(const char *format, const char *path)
{
    text_buffer bytes = {0};
    export_format_named(format)->add(view.store, view.run.id, &bytes);
    write_whole_file(path, &bytes);
    text_free(&bytes);
}

/* Cases that no golden output has: figures that are not finite, and text that would break a line. */
VIEW_TEST(test_tsv)
{
    const char *path = scratch_path(state, "cases.tsv");
    save("tsv", path);
    char *bytes = slurp(path), *wrong = strstr(bytes, "\twrong\t");
    assert_non_null(strstr(bytes, "\ttab\\there\\\\\"quote\\nline???ü\t"));
    assert_non_null(wrong);
    *strchr(wrong, '\n') = '\0';
    assert_non_null(strstr(wrong, "\ttype-limited\twrong-class\t"));
    assert_non_null(strstr(wrong, "\tinf\t"));
    assert_non_null(strstr(wrong, "\tnan\t"));
    free(bytes);
}

static json_t *saved_json(void **state, const char *format)
{
    const char *path = scratch_path(state, "out");
    save(format, path);
    char *bytes = slurp(path);
    assert_strict(bytes);
    json_error_t where;
    json_t *json = json_loads(bytes, JSON_REJECT_DUPLICATES, &where);
    if (!json)
        fail_msg("line %d: %s", where.line, where.text);
    free(bytes);
    return json;
}

/* Cases that no golden output has: a clock rate, the largest seed, an infinite error. */
VIEW_TEST(test_benchmark)
{
    json_t *json = saved_json(state, "json"), *context = json_object_get(json, "context"), *entry;
    size_t i;
    assert_true(json_number_value(json_object_get(context, "mhz_per_cpu")) == 2600);
    assert_string_equal(word(context, "seed"), "18446744073709551615");
    json_array_foreach(json_object_get(json, "benchmarks"), i, entry)
    {
        bool wrong = strncmp(word(entry, "name"), "wrong/", 6) == 0;
        assert_true(!wrong || !json_object_get(entry, "ulp_max"));
    }
    json_decref(json);
}

/* Exports a run of a database into its own file and returns the path. */
static const char *exported(void **state, const char *database, int64_t run, unsigned preset)
{
    const char *path = scratch_path(state, "out.db");
    text_buffer bytes = {0};
    run_file_make(database, run, preset, &bytes);
    write_whole_file(path, &bytes);
    text_free(&bytes);
    return path;
}

/* A run is read back from a file to the bit, compressed or not. */
VIEW_TEST(test_database)
{
    for (unsigned preset = PACK_NOT; preset <= PACK_SMALL; preset += PACK_SMALL) {
        const char *path = exported(state, scratch_path(state, "a.db"), view.run.id, preset);
        run_file file;
        run_view read;
        file = run_file_open(path);
        assert_int_equal(file.folder == NULL, preset == PACK_NOT);
        read = load_stored_run(file.database, 0);
        stored_cases cases = store_cases(read.store, read.run.id);
        const ln_metrics *wrong = &cases.cases[2].metrics;
        assert_true(wrong->ulp_max == INFINITY && wrong->ulp_bias == -INFINITY &&
                    isnan(wrong->bits));
        assert_true(wrong->worst_exact == some_metrics().worst_exact &&
                    isnan(wrong->worst_computed));
        assert_int_equal(cases.cases[0].repetition_count, 6);
        stored_cases_free(&cases);
        view_free(&read);
        run_file_close(&file);
    }
}

/* No export of a run counts a process 1 that was killed. */
TEST_IN_SCRATCH(test_unfinished)
{
    run_info info = {"lnbench run", "quick", "abc", 1, NULL, "run", "", 0, 0};
    const char *path = scratch_path(state, "b.db");
    result_store *store;
    int64_t run;
    store = store_open(path, STORE_WRITE);
    run = store_begin_run(store, &info);
    fill(store, run);
    store_end_process(store, run, 0);
    run_view again = load_stored_run(exported(state, path, run, PACK_NOT), 0);
    stored_cases killed = store_timed_cases(store, run, -1, false);
    stored_cases timed = store_timed_cases(again.store, again.run.id, -1, false);
    const speed_figures *speed = &killed.cases[0].speed, *other = &timed.cases[0].speed;
    assert_true(speed->time_ns == 1001);
    assert_int_equal(timed.cases[0].repetition_count, 6);
    assert_true(other->time_ns == 1001);
    assert_true(other->copy_ratio == speed->copy_ratio);
    stored_cases_free(&killed);
    stored_cases_free(&timed);
    view_free(&again);
    store_close(store);
}

/* Google Benchmark's own tool reads our output, if Debian's libbenchmark-tools and python3-scipy are installed. */
static const char *python_with_scipy(void)
{
    static const char *const candidates[] = {"python3", "/usr/bin/python3"};
    if (access(COMPARE_PY, R_OK) != 0)
        return NULL;
    for (size_t i = 0; i < 2; i++) {
        char command[256];
        snprintf(command, sizeof command, "%s -c 'import scipy, numpy' 2>/dev/null", candidates[i]);
        if (system(command) == 0)
            return candidates[i];
    }
    return NULL;
}

VIEW_TEST(test_google_compare)
{
    const char *python = python_with_scipy();
    if (!python)
        skip();
    const char *old = scratch_path(state, "old.json"), *new = scratch_path(state, "new.json");
    save("json", old);
    assert_int_equal(
        sqlite3_exec(view.store->database,
                     "UPDATE repetitions SET real_ns = real_ns * 1.5 WHERE case_id = 1", NULL, NULL,
                     NULL),
        SQLITE_OK);
    save("json", new);
    char command[2048], said[8192];
    snprintf(command, sizeof command, "%s %s --no-color benchmarks %s %s 2>&1", python, COMPARE_PY,
             old, new);
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    said[fread(said, 1, sizeof said - 1, pipe)] = '\0';
    assert_int_equal(pclose(pipe), 0);
    const char *line = strstr(said, "fine/torch/normal/100x250/f32/cold/threads:2_median");
    if (!line || strncmp(line + strcspn(line, "+"), "+0.5000", 7) != 0 ||
        !strstr(said, "OVERALL_GEOMEAN"))
        fail_msg("compare.py said: %s", said);
}
