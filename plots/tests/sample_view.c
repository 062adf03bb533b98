#include "sample_view.h"
#include "reproducible.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const machine_fact facts[] = {
    {"cpu_model", "SYNTHETIC DATA, NOT A MACHINE"},
    {"git_commit", "0123456789abcdef"},
    {"git_dirty", "no"},
};

sample *sample_create(void)
{
    sample *made = calloc(1, sizeof *made);
    if (!made)
        return NULL;
    view *view = &made->view;
    view->run = (stored_run){.id = 7, .seed = 42, .state = RUN_COMPLETE};
    snprintf(view->run.started, sizeof view->run.started, "2024-06-11T12:00:00Z");
    snprintf(view->run.plan, sizeof view->run.plan, "quick");
    snprintf(view->run.command_line, sizeof view->run.command_line, "lnbench run --plan quick");
    memcpy(made->facts, facts, sizeof facts);
    view->machine = (machine){.facts = made->facts,
                              .count = sizeof facts / sizeof *facts,
                              .l1d_bytes = 32768,
                              .l2_bytes = 1048576,
                              .l3_bytes = 33554432};
    view->cases.cases = made->cases;
    view->rows.rows = made->rows;
    view->views = made->views;
    view->kernels = json_array();
    return made;
}

void sample_free(sample *sample)
{
    json_decref(sample->view.kernels);
    free(sample);
}

void sample_kernel(sample *sample, const char *name, const char *statistics, const char *isa)
{
    /* One kind was measured, the others only promise. */
    json_t *class = strcmp(statistics, "two_pass") == 0 ? json_string("row") : json_null();
    json_array_append_new(sample->view.kernels,
                          json_pack("{s:s, s:s, s:s, s:o, s:s}", "name", name, "statistics",
                                    statistics, "isa", isa, "reproducibility", class,
                                    "declared_reproducibility", "isa"));
}

static stored_case *add_case(sample *sample, const char *kernel, const char *input, size_t rows,
                             size_t hidden)
{
    size_t index = sample->view.cases.count++;
    stored_case *stored = &sample->cases[index];
    sample->views[index] = (view_case){
        .stored = stored,
        .speed = {NAN, NAN, NAN, NAN, NAN, NAN, NAN, 0, 0},
        .reproducibility = reproducible_stored(sample->view.kernels, kernel),
        .regime = "L2",
    };
    *stored =
        (stored_case){.key = {.rows = rows, .hidden = hidden, .threads = 1}, .bound_row_ulp = NAN};
    snprintf(stored->key.kernel, sizeof stored->key.kernel, "%s", kernel);
    snprintf(stored->key.convention, sizeof stored->key.convention, "torch");
    snprintf(stored->key.input, sizeof stored->key.input, "%s", input);
    return stored;
}

stored_case *sample_speed(sample *sample, const char *kernel, size_t rows, size_t hidden,
                          double gbps)
{
    stored_case *stored = add_case(sample, kernel, "normal", rows, hidden);
    double time = 8.0 * (double)(rows * hidden) / gbps;
    sample->views[sample->view.cases.count - 1].speed =
        (speed){time, time * 0.98, time * 1.02, gbps, gbps / 100, gbps / 102, gbps / 98, 9, 3};
    stored->judged = !is_roof(kernel);
    stored->verdict.kind = VERDICT_OK;
    stored->metrics.row_ulp_max = 1;
    return stored;
}

stored_case *sample_judged(sample *sample, const char *kernel, const char *input, double row_ulp,
                           verdict_kind kind)
{
    stored_case *stored = add_case(sample, kernel, input, 9, 768);
    stored->judged = true;
    stored->verdict.kind = kind;
    stored->metrics.row_ulp_max = row_ulp;
    stored->metrics.mismatches = kind == VERDICT_WRONG_CLASS;
    return stored;
}

void sample_row(sample *sample, double kappa, double row_ulp, double bound)
{
    sample->rows[sample->view.rows.count++] =
        (stored_row){.case_index = sample->view.cases.count - 1,
                     .kappa = kappa,
                     .row_ulp = row_ulp,
                     .norm_max = row_ulp * 1e-7,
                     .bound_row_ulp = bound,
                     .mean_error = 1e-8,
                     .rstd_error = row_ulp * -1e-8};
}
