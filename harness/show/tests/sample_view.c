#include "sample_view.h"
#include "store/internal.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const machine_fact facts[] = {
    {"cpu_model", "SYNTHETIC DATA, NOT A MACHINE"},
    {"git_commit", "0123456789abcdef"},
    {"git_dirty", "no"},
};

sample_view *sample_create(void)
{
    sample_view *made = calloc(1, sizeof *made);
    if (!made)
        return NULL;
    run_view *view = &made->put;
    view->run = (stored_run){.seed = 42, .state = RUN_COMPLETE};
    snprintf(view->run.started, sizeof view->run.started, "2024-06-11T12:00:00Z");
    snprintf(view->run.plan, sizeof view->run.plan, "quick");
    snprintf(view->run.command_line, sizeof view->run.command_line, "lnbench run --plan quick");
    memcpy(made->facts, facts, sizeof facts);
    view->machine = (machine_facts){.facts = made->facts,
                                    .count = sizeof facts / sizeof *facts,
                                    .l1d_bytes = 32768,
                                    .l2_bytes = 1048576,
                                    .l3_bytes = 33554432};
    view->cases.cases = made->cases;
    view->kernels = json_array();
    return made;
}

void sample_free(sample_view *sample)
{
    json_decref(sample->put.kernels);
    if (sample->view.store)
        view_free(&sample->view);
    free(sample);
}

static stored_case *add_time(sample_view *sample, stored_case *stored, double gbps)
{
    timed_repetition *repetitions = sample->repetitions[stored - sample->cases];
    double time = 8.0 * (double)(stored->key.rows * stored->key.hidden) / gbps;
    for (unsigned i = 0; i < SAMPLE_PROCESSES * SAMPLE_ROUNDS; i++) {
        unsigned process = i / SAMPLE_ROUNDS, round = i % SAMPLE_ROUNDS;
        double own = time * (1 + 0.02 * ((double)round - 1));
        repetitions[i] = (timed_repetition){process, round, 0, 100, own, own, NAN, NAN};
    }
    stored->repetitions = repetitions;
    stored->repetition_count = SAMPLE_PROCESSES * SAMPLE_ROUNDS;
    return stored;
}

static stored_case *add_case(sample_view *sample, const case_key *key)
{
    stored_case *stored = &sample->cases[sample->put.cases.count++];
    *stored = (stored_case){.key = *key, .bound_row_ulp = NAN};
    return stored;
}

/* Beside each timed case. */
static void add_roofs(sample_view *sample)
{
    size_t count = sample->put.cases.count;
    for (size_t i = 0; i < count; i++) {
        case_key key = sample->cases[i].key;
        snprintf(key.kernel, sizeof key.kernel, "copy");
        if (sample->cases[i].repetition_count > 0 &&
            stored_cases_find(&sample->put.cases, &key) == sample->put.cases.count)
            add_time(sample, add_case(sample, &key), 100 * (double)dtype_size(key.dtype) / 4);
    }
}

static void put_case(result_store *store, int64_t run, const stored_case *stored)
{
    requested_case asked = {.key = stored->key, .parts = stored->judged ? REQUESTED_JUDGEMENT : 0};
    asked.parts |= stored->repetition_count > 0 ? REQUESTED_TIMING : 0;
    if (stored->judged)
        store_put_judged(store, run, stored);
    for (size_t i = 0; i < stored->repetition_count; i++)
        store_put_repetition(store, run, &stored->key, &stored->repetitions[i]);
    if (!is_roof(stored->key.kernel))
        store_put_requested(store, run, &asked);
}

/* It began when the sample says so. */
static void put_time(result_store *store, int64_t run, const stored_run *as)
{
    char sql[256];
    sqlite3_snprintf(sizeof sql, sql, "UPDATE runs SET started = %Q, state = %Q WHERE id = %lld",
                     as->started, run_state_names[as->state], (long long)run);
    store_script(store, sql);
}

static void put_run(result_store *store, const sample_view *sample)
{
    const run_view *put = &sample->put;
    const run_info info = {.command_line = put->run.command_line,
                           .plan = put->run.plan,
                           .plan_hash = put->run.plan_hash,
                           .seed = put->run.seed,
                           .machine = &put->machine};
    size_t index;
    json_t *kernel;
    int64_t run = store_begin_run(store, &info);
    json_array_foreach(put->kernels, index, kernel)
    {
        char *dumped = json_dumps(kernel, JSON_COMPACT);
        const char *name = json_string_value(json_object_get(kernel, "name"));
        store_put_kernel(store, run, name, dumped);
        free(dumped);
    }
    for (size_t i = 0; i < put->cases.count; i++)
        put_case(store, run, &put->cases.cases[i]);
    for (size_t i = 0; i < sample->row_count; i++) {
        const stored_row *row = &sample->rows[i];
        store_put_row(store, run, &put->cases.cases[row->case_index].key, row);
    }
    put_time(store, run, &put->run);
    store_sum_up(store, run, NO_PROCESS);
}

void sample_store_again(sample_view *sample)
{
    store_together(sample->view.store);
    put_run(sample->view.store, sample);
    store_together_end(sample->view.store);
}

void sample_store(sample_view *sample)
{
    if (sample->view.store)
        view_free(&sample->view);
    add_roofs(sample);
    sample->view.store = store_open_memory();
    sample_store_again(sample);
    sample->view = view_load(sample->view.store, 1);
    sample->view.owns_store = true;
}

/* Of a kernel whose statistics are another library's; NULL: ours. */
static const char *peer_version(const char *statistics)
{
    static const char *const versions[][2] = {{"onednn", "oneDNN 2.6"},
                                              {"pytorch", "PyTorch 1.13.0 (2022)"},
                                              {"libxsmm", "libxsmm 2.0.0 (2026)"},
                                              {"zendnn", "ZenDNN 6.0.1 (2026)"}};
    for (size_t i = 0; i < sizeof versions / sizeof *versions; i++)
        if (strcmp(statistics, versions[i][0]) == 0)
            return versions[i][1];
    return NULL;
}

/* "fused" is shifted statistics under the fused schedule, as in the table. */
void sample_kernel(sample_view *sample, const char *name, const char *statistics, const char *isa)
{
    /* One kind was measured, the others only promise. */
    bool measured = strcmp(statistics, "two_pass") == 0, fused = strcmp(statistics, "fused") == 0;
    bool textbook = fused || measured || strcmp(statistics, "naive") == 0 ||
                    strcmp(statistics, "welford") == 0 || strcmp(statistics, "toy") == 0;
    const char *version = peer_version(statistics);
    json_array_append_new(
        sample->put.kernels,
        json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:s?, s:s?, s:s}", "name", name,
                  "role", textbook ? "textbook" : "tuned", "statistics",
                  fused ? "shifted" : statistics, "apply", fused ? "split" : "direct", "schedule",
                  fused ? "fused" : "plain", "io", "f32", "acc", "f32", "isa", isa, "source",
                  version ? statistics : "builtin", "version", version, "reproducibility",
                  measured ? "row" : NULL, "declared_reproducibility", "isa"));
}

static stored_case *add_judged(sample_view *sample, const char *kernel, const char *input,
                               size_t rows, size_t hidden, double row_ulp)
{
    case_key key = {.rows = rows, .hidden = hidden, .threads = 1};
    snprintf(key.kernel, sizeof key.kernel, "%s", kernel);
    snprintf(key.convention, sizeof key.convention, "torch");
    snprintf(key.input, sizeof key.input, "%s", input);
    stored_case *stored = add_case(sample, &key);
    stored->judged = true;
    stored->verdict.kind = VERDICT_PASS;
    stored->metrics.row_ulp_max = row_ulp;
    stored->metrics.elements = rows * hidden;
    return stored;
}

stored_case *sample_speed(sample_view *sample, const char *kernel, size_t rows, size_t hidden,
                          double gbps)
{
    return add_time(sample, add_judged(sample, kernel, "normal", rows, hidden, 1), gbps);
}

stored_case *sample_judged(sample_view *sample, const char *kernel, const char *input,
                           double row_ulp, verdict_kind kind)
{
    stored_case *stored = add_judged(sample, kernel, input, 9, 768, row_ulp);
    stored->verdict.kind = kind;
    stored->metrics.mismatches = kind == VERDICT_WRONG_CLASS;
    return stored;
}

void sample_row(sample_view *sample, double kappa, double row_ulp, double bound)
{
    sample->rows[sample->row_count++] = (stored_row){.case_index = sample->put.cases.count - 1,
                                                     .row = sample->row_count,
                                                     .kappa = kappa,
                                                     .row_ulp = row_ulp,
                                                     .norm_max = row_ulp * 1e-7,
                                                     .bound_row_ulp = bound,
                                                     .mean_error = 1e-8,
                                                     .rstd_error = row_ulp * -1e-8};
}

sample_view *sample_plain(void)
{
    static const struct {
        const char *name, *statistics, *isa;
        double gbps, worst;
        bool nan;
    } kernels[] = {
        {"naive_f32_avx2", "naive", "avx2", 60, 1e6, true},
        {"naive_f32_scalar", "naive", "scalar", 12, 1e6, true},
        {"two_pass_f32_avx2", "two_pass", "avx2", 45, 3e5, false},
        {"two_pass_f32_scalar", "two_pass", "scalar", 9, 3e5, false},
        {"welford_f32_scalar", "welford", "scalar", 5, 2e7, false},
        {"one_sweep_f32_avx512", "fused", "avx512", 80, 6.5, false},
        {"lanewise_guarded_f32_acc_f64_avx512", "lanewise", "avx512", 70, 1.5, false},
        {"onednn_f32", "onednn", "any", 35, 4e5, false},
    };
    static const size_t hidden[] = {64, 256, 768, 4096};
    sample_view *sample = sample_create();
    if (!sample)
        return NULL;
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
        sample_kernel(sample, kernels[i].name, kernels[i].statistics, kernels[i].isa);
        for (size_t j = 0; j < 4; j++)
            sample_speed(sample, kernels[i].name, 65536 / hidden[j], hidden[j],
                         kernels[i].gbps * (1 + 0.05 * (double)j))
                ->metrics.ulp_histogram[6 + i % 3] = 100;
        stored_case *judged = sample_judged(
            sample, kernels[i].name, "offset", kernels[i].nan ? NAN : kernels[i].worst,
            kernels[i].nan ? VERDICT_TYPE_LIMITED_CLASS : VERDICT_PASS);
        judged->metrics.kappa_max = 1e6;
        for (double kappa = 2; kappa < 1e7; kappa *= 10)
            sample_row(sample, kappa, fmin(1 + kappa * (double)i, kernels[i].worst), NAN);
    }
    return sample;
}
