/* Fills a database with SYNTHETIC data through the store's API, for tests of views, exports and
 * charts. Nothing in it was measured: times and errors come from formulas and a generator with a
 * fixed seed.
 *
 *     make_sample_store sample.db
 */
#include "answer/run_view.h"
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PROCESSES = 3, REPETITIONS = 5, SIZES = 7, ROWS_JUDGED = 9 };

static const size_t hidden_sizes[SIZES] = {64, 256, 768, 1024, 4096, 8192, 12288};

/* An algorithm, its share of the roof by hidden in the vector lanes, and how its error grows. */
typedef struct sample_algorithm {
    const char *name;
    double share[SIZES];
    double unit; /* row_ulp at kappa 1 */
    int power;   /* of kappa */
} sample_algorithm;

static const sample_algorithm algorithms[] = {
    {"naive", {.36, .51, .53, .54, .52, .50, .47}, 1.1, 2},
    {"two_pass", {.32, .50, .52, .54, .39, .36, .35}, 0.9, 1},
    {"welford", {.11, .14, .15, .15, .15, .14, .14}, 2.2, 1},
    {"fused", {.65, .72, .80, .75, .62, .63, .53}, 0.9, 1},
};

typedef struct sample_lane {
    const char *name;
    double factor; /* of the share of the roof */
    const char *unsupported;
} sample_lane;

static const sample_lane lanes[] = {{"scalar", 0.09, ""}, {"avx2", 0.78, ""}, {"avx512", 1.0, ""}};

static const struct {
    const char *name;
    double gbps; /* of the copy roof */
    size_t bytes;
} regimes[] = {{"L2", 112, 512 << 10}, {"DRAM", 26, 128 << 20}};

static const double nt_gbps[] = {113, 43};
static const char *const families[] = {"normal",      "uniform",  "offset",           "ramp",
                                       "constant",    "spike",    "outlier-channels", "huge",
                                       "alternating", "subnormal"};

static uint64_t generator = 20240611;

/* xorshift64*, uniform in [-1, 1). */
static double noise(void)
{
    generator ^= generator >> 12;
    generator ^= generator << 25;
    generator ^= generator >> 27;
    return (double)(generator * 2685821657736338717u >> 11) * 0x1p-52 - 1;
}

static const machine_fact synthetic_facts[] = {
    {"time", "2024-06-11T12:00:00Z"},
    {"git_commit", "0000000000000000000000000000000000000000"},
    {"git_dirty", "no"},
    {"compiler", "SYNTHETIC 1.0"},
    {"compiler_flags", "-O3 -ffp-contract=off"},
    {"build_type", "Release"},
    {"cpu_model", "SYNTHETIC DATA, NOT A MACHINE"},
    {"microcode", "unknown"},
    {"l1d_bytes", "32768"},
    {"l2_bytes", "1048576"},
    {"l3_bytes", "33554432"},
    {"cores", "2"},
    {"smt", "off"},
    {"governor", "performance"},
    {"boost", "off"},
    {"kernel_release", "6.1.0"},
    {"hypervisor", "none"},
    {"aslr", "2"},
    {"thp", "madvise"},
    {"load_1m", "0.02"},
};

static case_key key_of(const char *kernel, const char *input, size_t rows, size_t hidden)
{
    case_key key = {.rows = rows, .hidden = hidden, .dtype = LN_F32, .threads = 1};
    snprintf(key.kernel, sizeof key.kernel, "%s", kernel);
    snprintf(key.convention, sizeof key.convention, "torch");
    snprintf(key.input, sizeof key.input, "%s", input);
    return key;
}

static bool put_speed(result_store *store, int64_t run, const case_key *key, double gbps,
                      error *err)
{
    double call = 8 * (double)key->rows * (double)key->hidden / gbps;
    for (unsigned process = 0; process < PROCESSES; process++) {
        double of_process = 1 + 0.02 * noise();
        for (unsigned i = 0; i < REPETITIONS; i++) {
            double time = call * of_process * (1 + 0.01 * noise());
            timed_repetition measured = {.process = process,
                                         .repetition = i,
                                         .order = i * 14 + (unsigned)((noise() + 1) * 7),
                                         .iterations = (uint64_t)(1 + 2e7 / call),
                                         .real_ns = time,
                                         .cpu_ns = time * 0.999};
            if (!store_put_repetition(store, run, key, &measured, err))
                return false;
        }
    }
    return true;
}

/* Error of a row of this kappa, and what a proven bound of the usual shape would allow. */
static double row_error(const sample_algorithm *algorithm, double kappa)
{
    double deviation = algorithm->unit * (1 + 0.01 * pow(kappa, algorithm->power));
    return fmin(deviation * (1 + 0.3 * noise()), 1.6e7);
}

static double row_bound(const sample_algorithm *algorithm, size_t hidden, double kappa)
{
    double bound = 12 + (double)hidden / 16 * 0.1 * pow(kappa, algorithm->power);
    return kappa > 3000 && algorithm->power == 2 ? INFINITY : bound;
}

/* Errors of mean and rstd as sums of this kind have them. */
static stored_row sample_row(const sample_algorithm *algorithm, size_t row, double kappa,
                             double row_ulp, double bound)
{
    double unit = FLT_EPSILON / 2, grown = pow(kappa, algorithm->power - 1);
    return (stored_row){.row = row,
                        .kappa = kappa,
                        .row_ulp = row_ulp,
                        .norm_max = row_ulp * unit,
                        .bound_row_ulp = bound,
                        .mean_error = 3 * unit * noise(),
                        .rstd_error = 4 * unit * noise() * grown * grown};
}

/* Half of what is left in each bin above that of the typical error. */
static void spread(ln_metrics *metrics)
{
    uint64_t left = metrics->elements;
    for (size_t bin = ulp_bin(metrics->ulp_p50); bin < ULP_BINS && left > 0; bin++) {
        metrics->ulp_histogram[bin] = bin + 1 < ULP_BINS ? (left + 1) / 2 : left;
        left -= metrics->ulp_histogram[bin];
    }
}

static ln_metrics metrics_for(double row_ulp, size_t elements)
{
    double norm = row_ulp * FLT_EPSILON / 2;
    ln_metrics metrics = {
        .ulp_max = row_ulp * 40,
        .ulp_mean = row_ulp * 0.6,
        .ulp_rms = row_ulp * 0.9,
        .ulp_p50 = row_ulp * 0.4,
        .ulp_p90 = row_ulp * 1.2,
        .ulp_p99 = row_ulp * 4,
        .ulp_bias = row_ulp * 0.01,
        .row_ulp_max = row_ulp,
        .row_ulp_mean = row_ulp * 0.3,
        .norm_max = norm,
        .rel_l2 = norm * 0.3,
        .correctly_rounded = 0.6 / (1 + row_ulp),
        .bits = -log2(norm),
        .mean_ulp_max = NAN,
        .rstd_ulp_max = NAN,
        .elements = elements,
        .worst_row = 3,
        .worst_column = 17,
        .worst_computed = 0x1.8p0,
        .worst_exact = 0x1.800002p0,
        .kappa_max = 1,
    };
    if (isfinite(row_ulp))
        spread(&metrics);
    return metrics;
}

static bool put_offset(result_store *store, int64_t run, const case_key *key,
                       const sample_algorithm *algorithm, error *err)
{
    double worst = 0, bound = 0;
    for (size_t row = 0; row < ROWS_JUDGED; row++) {
        double kappa = pow(10, (double)row) * (1 + 0.1 * noise());
        double row_ulp = row_error(algorithm, kappa);
        double allowed = row_bound(algorithm, key->hidden, kappa);
        worst = fmax(worst, row_ulp);
        bound = fmax(bound, allowed);
        stored_row put = sample_row(algorithm, row, kappa, row_ulp, allowed);
        if (!store_put_row(store, run, key, &put, err))
            return false;
    }
    case_verdict verdict = {.kind = VERDICT_OK};
    ln_metrics metrics = metrics_for(worst, ROWS_JUDGED * key->hidden);
    metrics.kappa_max = 1e8;
    return store_put_accuracy(store, run, key, &verdict, &metrics, bound, err);
}

static bool put_accuracy(result_store *store, int64_t run, const char *kernel,
                         const sample_algorithm *algorithm, const char *input, error *err)
{
    case_key key = key_of(kernel, input, ROWS_JUDGED, 768);
    if (strcmp(input, "offset") == 0)
        return put_offset(store, run, &key, algorithm, err);
    double row_ulp = row_error(algorithm, 1);
    case_verdict verdict = {.kind = VERDICT_OK};
    if (strcmp(algorithm->name, "naive") == 0 && strcmp(input, "huge") == 0) {
        verdict =
            (struct case_verdict){VERDICT_WRONG_CLASS, true, "768 elements NaN, finite expected"};
        row_ulp = NAN;
    }
    ln_metrics metrics = metrics_for(row_ulp, ROWS_JUDGED * 768);
    metrics.mismatches = isnan(row_ulp) ? 768 : 0;
    for (size_t row = 0; row < ROWS_JUDGED && !isnan(row_ulp); row++) {
        double of_row = row + 1 == ROWS_JUDGED ? row_ulp : row_ulp * (1 + noise()) / 2;
        stored_row put = sample_row(algorithm, row, 1 + 0.01 * (double)row, of_row,
                                    row_bound(algorithm, 768, 1));
        if (!store_put_row(store, run, &key, &put, err))
            return false;
    }
    return store_put_accuracy(store, run, &key, &verdict, &metrics,
                              row_bound(algorithm, 768, isnan(row_ulp) ? 1e9 : 1), err);
}

static bool put_kernel(result_store *store, int64_t run, const char *kernel,
                       const sample_algorithm *algorithm, const sample_lane *lane, error *err)
{
    char json[512];
    snprintf(json, sizeof json,
             "{\"name\": \"%s\", \"role\": \"textbook\", \"statistics\": \"%s\", \"apply\": "
             "\"direct\", \"schedule\": "
             "\"plain\", \"io\": \"f32\", \"param\": \"f32\", \"acc\": \"f32\", \"isa\": \"%s\", "
             "\"unroll\": 4, \"supported\": true, \"traits\": [], \"source\": \"synthetic\"}",
             kernel, algorithm->name, lane->name);
    return store_put_kernel(store, run, kernel, json, err);
}

/* At hidden 768 on two threads too, and from cold caches. */
static bool put_states(result_store *store, int64_t run, const case_key *key, double gbps,
                       error *err)
{
    case_key threads = *key, cold = *key;
    threads.threads = 2;
    cold.cache = CACHE_COLD;
    return key->hidden != 768 || (put_speed(store, run, &threads, gbps * 1.7, err) &&
                                  put_speed(store, run, &cold, fmin(gbps, 20), err));
}

static bool put_speeds(result_store *store, int64_t run, const char *kernel,
                       const sample_algorithm *algorithm, const sample_lane *lane, error *err)
{
    for (size_t regime = 0; regime < 2; regime++) {
        for (size_t i = 0; i < SIZES; i++) {
            size_t rows = regimes[regime].bytes / (8 * hidden_sizes[i]);
            case_key key = key_of(kernel, "normal", rows, hidden_sizes[i]);
            double factor = regime ? fmin(1.0, lane->factor * 1.6) : lane->factor;
            double gbps = regimes[regime].gbps * algorithm->share[i] * factor;
            ln_metrics metrics = metrics_for(row_error(algorithm, 1), rows * hidden_sizes[i]);
            case_verdict verdict = {.kind = VERDICT_OK};
            if (!put_speed(store, run, &key, gbps, err) ||
                !put_states(store, run, &key, gbps, err) ||
                !store_put_accuracy(store, run, &key, &verdict, &metrics,
                                    row_bound(algorithm, hidden_sizes[i], 1), err))
                return false;
        }
    }
    return true;
}

static bool put_roofs(result_store *store, int64_t run, error *err)
{
    for (size_t regime = 0; regime < 2; regime++) {
        for (size_t i = 0; i < SIZES; i++) {
            size_t rows = regimes[regime].bytes / (8 * hidden_sizes[i]);
            case_key copy = key_of("roof_copy", "normal", rows, hidden_sizes[i]);
            case_key stream = key_of("roof_copy_nt", "normal", rows, hidden_sizes[i]);
            if (!put_speed(store, run, &copy, regimes[regime].gbps, err) ||
                !put_speed(store, run, &stream, nt_gbps[regime], err) ||
                !put_states(store, run, &copy, regimes[regime].gbps, err) ||
                !put_states(store, run, &stream, nt_gbps[regime], err))
                return false;
        }
    }
    return true;
}

static bool put_all(result_store *store, int64_t run, error *err)
{
    for (size_t a = 0; a < sizeof algorithms / sizeof *algorithms; a++) {
        for (size_t l = 0; l < sizeof lanes / sizeof *lanes; l++) {
            char kernel[NAME_MAX_LENGTH];
            snprintf(kernel, sizeof kernel, "%s_f32_%s", algorithms[a].name, lanes[l].name);
            if (!put_kernel(store, run, kernel, &algorithms[a], &lanes[l], err) ||
                !put_speeds(store, run, kernel, &algorithms[a], &lanes[l], err))
                return false;
            for (size_t i = 0; i < sizeof families / sizeof *families; i++)
                if (!put_accuracy(store, run, kernel, &algorithms[a], families[i], err))
                    return false;
        }
    }
    return put_roofs(store, run, err);
}

/* Verdicts without figures, as charts and tables must take them too. */
static bool put_failures(result_store *store, int64_t run, error *err)
{
    static const case_verdict verdicts[] = {
        {VERDICT_CRASHED, false, "SIGSEGV"},
        {VERDICT_TIMEOUT, false, ""},
        {VERDICT_UNSUPPORTED, false, "no AVX-512 on this CPU"},
        {VERDICT_OVERRUN, false, "1 element behind y"},
    };
    for (size_t i = 0; i < sizeof verdicts / sizeof *verdicts; i++) {
        char kernel[NAME_MAX_LENGTH];
        snprintf(kernel, sizeof kernel, "broken_%zu_f32_scalar", i);
        case_key key = key_of(kernel, "normal", 9, 768);
        if (!store_put_accuracy(store, run, &key, &verdicts[i], NULL, NAN, err))
            return false;
    }
    return true;
}

static bool make_sample(const char *path, error *err)
{
    result_store *store;
    int64_t run;
    machine_fact facts[sizeof synthetic_facts / sizeof *synthetic_facts];
    memcpy(facts, synthetic_facts, sizeof facts);
    machine_facts machine = {.facts = facts, .count = sizeof facts / sizeof *facts};
    run_info info = {.command_line = "make_sample_store (synthetic data)",
                     .plan = "default",
                     .plan_hash = "5a3717e5",
                     .seed = 1,
                     .machine = &machine};
    if (!store_open(path, STORE_WRITE, &store, err))
        return false;
    bool fine = store_begin_run(store, &info, &run, err) && put_all(store, run, err) &&
                put_failures(store, run, err) && store_import_end(store, run, err) &&
                store_end_run(store, run, RUN_COMPLETE, err);
    store_close(store);
    return fine;
}

int main(int count, char **arguments)
{
    error err;
    if (count != 2) {
        fprintf(stderr, "usage: %s DATABASE (synthetic data)\n", arguments[0]);
        return EXIT_CODE_USAGE;
    }
    if (!make_sample(arguments[1], &err)) {
        fprintf(stderr, "%s\n", err.message);
        return (int)err.code;
    }
    return EXIT_CODE_FINE;
}
