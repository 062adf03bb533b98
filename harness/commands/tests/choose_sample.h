/* Synthetic stores for the tests of choose: times that are exact multiples of one another in every
 * round, so that every answer is known beforehand. */
#ifndef LNBENCH_CHOOSE_SAMPLE_H
#define LNBENCH_CHOOSE_SAMPLE_H

#include "commands/choose/show.h"
#include "judged.h"
#include "domain/convention.h"
#include "scratch.h"
#include <math.h>

enum { SAMPLE_PROCESSES = 3, SAMPLE_ROUNDS = 4 };

/* One kernel of a synthetic run. */
typedef struct sample_kernel {
    const char *name;
    double time;   /* of a call, in units of the round's noise */
    double wobble; /* share by which the time is higher in even rounds and lower in odd ones */
    double row_ulp, bound;
    double power; /* of kappa, by which row_ulp and bound grow */
} sample_kernel;

/* One run of a synthetic store while it is filled. */
typedef struct sample_run {
    result_store *store;
    int64_t id;
    const char *cpu, *hash, *convention, *param; /* param: NULL is f32 */
    size_t rows, hidden;
    ln_type dtype;     /* f32 where nothing is said */
    cache_state cache; /* in which it is timed */
} sample_run;

static inline machine_facts sample_machine(const char *cpu)
{
    static machine_fact facts[6];
    const machine_fact these[] = {{"cpu_model", ""},       {"l1d_bytes", "32768"},
                                  {"l2_bytes", "1048576"}, {"l3_bytes", "33554432"},
                                  {"compiler", "cc 1"},    {"git_commit", "abcdef0123456789"}};
    memcpy(facts, these, sizeof these);
    snprintf(facts[0].value, sizeof facts[0].value, "%s", cpu);
    return (machine_facts){facts, 6, 32768, 1048576, 33554432, 2};
}

static inline void sample_begin(sample_run *run)
{
    machine_facts machine = sample_machine(run->cpu);
    run_info info = {.command_line = "synthetic",
                     .plan = "default",
                     .plan_hash = "0",
                     .seed = 1,
                     .machine = &machine};
    CHECK(store_begin_run(run->store, &info, &run->id, &problem));
}

static inline case_key sample_key(const sample_run *run, const char *kernel, const char *input)
{
    case_key key = {.rows = run->rows, .hidden = run->hidden, .dtype = run->dtype, .threads = 1};
    snprintf(key.kernel, sizeof key.kernel, "%s", kernel);
    snprintf(key.convention, sizeof key.convention, "%s", run->convention);
    snprintf(key.input, sizeof key.input, "%s", input);
    return key;
}

static inline ln_metrics sample_metrics(double row_ulp)
{
    return (ln_metrics){.ulp_max = 10 * row_ulp,
                        .row_ulp_max = row_ulp,
                        .correctly_rounded = 1 / (1 + row_ulp),
                        .norm_max = row_ulp * 0x1p-24,
                        .bits = 24 - log2(row_ulp),
                        .elements = 1000};
}

/* In processes that are numbered from `first` on: only kernels of the same processes are paired. */
static inline void sample_time_in(const sample_run *run, const char *kernel, double time,
                                  double wobble, unsigned first)
{
    case_key key = sample_key(run, kernel, "normal");
    key.cache = run->cache;
    for (unsigned i = 0; i < SAMPLE_PROCESSES * SAMPLE_ROUNDS; i++) {
        /* The same for all kernels of a round, and far larger than what tells them apart. */
        double noise = 1 + 0.4 * (double)((i * 7) % 5);
        double own = time * noise * (1 + (i % 2 ? -wobble : wobble));
        timed_repetition repetition = {
            first + i / SAMPLE_ROUNDS, i % SAMPLE_ROUNDS, 0, 100, own, own, NAN, NAN};
        CHECK(store_put_repetition(run->store, run->id, &key, &repetition, &problem));
    }
}

static inline void sample_time(const sample_run *run, const char *kernel, double time,
                               double wobble)
{
    sample_time_in(run, kernel, time, wobble, 0);
}

static inline void sample_verdict(const sample_run *run, const char *kernel, const char *input,
                                  case_verdict verdict, double row_ulp, double bound)
{
    case_key key = sample_key(run, kernel, input);
    ln_metrics metrics = sample_metrics(row_ulp);
    CHECK(put_accuracy(run->store, run->id, &key, &verdict, isnan(row_ulp) ? NULL : &metrics, bound,
                       &problem));
}

static inline void sample_describe(const sample_run *run, const char *kernel)
{
    /* One was measured, the others only promise. */
    json_t *class = strcmp(kernel, "exact") == 0 ? json_string("row") : json_null();
    json_t *json = json_pack("{s:s, s:s, s:s, s:o, s:s}", "name", kernel, "object_hash", run->hash,
                             "param", run->param ? run->param : "f32", "reproducibility", class,
                             "declared_reproducibility", "isa");
    char *text = json ? json_dumps(json, 0) : NULL;
    if (text) /* JSON can't tell of names that are no UTF-8 */
        CHECK(store_put_kernel(run->store, run->id, kernel, text, &problem));
    free(text);
    json_decref(json);
}

/* Timed and judged on normal rows. */
static inline void sample_put(const sample_run *run, const sample_kernel *kernel)
{
    case_verdict fine = {.kind = VERDICT_RIGHT};
    sample_describe(run, kernel->name);
    sample_verdict(run, kernel->name, "normal", fine, kernel->row_ulp, kernel->bound);
    sample_time(run, kernel->name, kernel->time, kernel->wobble);
}

/* The sweep: kappa 1 to 1e8. */
static inline void sample_sweep(const sample_run *run, const sample_kernel *kernel)
{
    case_verdict fine = {.kind = VERDICT_RIGHT};
    case_key key = sample_key(run, kernel->name, "offset");
    sample_verdict(run, kernel->name, "offset", fine, kernel->row_ulp * pow(1e8, kernel->power),
                   kernel->bound);
    for (size_t row = 0; row < 9; row++) {
        double grown = pow(pow(10, (double)row), kernel->power);
        stored_row put = {.row = row,
                          .kappa = pow(10, (double)row) * 0.99,
                          .row_ulp = kernel->row_ulp * grown,
                          .norm_max = 1e-7 * grown,
                          .bound_row_ulp = kernel->bound * grown,
                          .mean_error = NAN,
                          .rstd_error = NAN};
        CHECK(store_put_row(run->store, run->id, &key, &put, &problem));
    }
}

static inline choose_wanted sample_wanted(size_t rows, size_t hidden)
{
    choose_wanted wanted = {.time_on = "normal",
                            .rows = rows,
                            .hidden = hidden,
                            .threads = 1,
                            .convention_label = "torch",
                            .budget = {NAN, NAN, NAN, NAN, NAN, false}};
    CHECK(convention_parse("torch", &wanted.convention, &problem));
    return wanted;
}

/* Gathers and chooses on the machine called "this". */
static inline chosen sample_choose(result_store *store, choose_wanted wanted)
{
    chosen one = {.wanted = wanted};
    machine_facts machine = sample_machine("this");
    stored_run *runs;
    size_t count;
    CHECK(store_runs(store, &runs, &count, &problem));
    for (size_t i = 0; i < count; i++)
        CHECK(store_sum_up(store, runs[i].id, NO_PROCESS, &problem));
    free(runs);
    CHECK(evidence_gather(store, &wanted, &machine, &one.evidence, &problem));
    choice_make(&wanted, &one.evidence, &one.choice);
    return one;
}

static inline char *printed(void **state, const chosen *all, size_t count, output_file out,
                            bool explain)
{
    const char *path = scratch_path(state, "printed");
    const choose_look look = {.explain = explain};
    out.file = fopen(path, "w");
    assert_non_null(out.file);
    error err = {0};
    assert_true(chosen_print(all, count, &look, &out, &err));
    assert_int_equal(fclose(out.file), 0);
    return slurp(path);
}

static inline void chosen_free(chosen *one)
{
    evidence_free(&one->evidence);
    choice_free(&one->choice);
}

static inline const char *kernel_of(const scored_kernel *candidate)
{
    return candidate ? candidate->view.stored->key.kernel : "(none)";
}

static inline const scored_kernel *find(const chosen *one, const char *kernel)
{
    for (size_t i = 0; i < one->choice.count; i++)
        if (strcmp(kernel_of(&one->choice.candidates[i]), kernel) == 0)
            return &one->choice.candidates[i];
    return NULL;
}

/* Five kernels of known order: sloppy 100, mid 150, twin 151 give or take, exact 300 and slow 400,
 * which is no better than mid. */
static const sample_kernel sample_kernels[] = {
    {"sloppy", 100, 0, 64, 128, 2},   {"mid", 150, 0, 4, 8, 1},
    {"twin", 151, 0.02, 2, NAN, 0},   {"exact", 300, 0, 0.5, 1, 0},
    {"slow", 400, 0, 4, INFINITY, 1},
};
enum { SAMPLE_KERNELS = sizeof sample_kernels / sizeof *sample_kernels };

static inline result_store *sample_store(void **state, sample_run *run)
{
    CHECK(store_open(scratch_path(state, "sample.db"), STORE_WRITE, &run->store, &problem));
    sample_begin(run);
    for (size_t i = 0; i < SAMPLE_KERNELS; i++)
        sample_put(run, &sample_kernels[i]);
    return run->store;
}

#define SAMPLE_RUN                                                                                 \
    {                                                                                              \
        .cpu = "this", .hash = "aaaa", .convention = "torch", .rows = 85, .hidden = 768            \
    }

#endif
