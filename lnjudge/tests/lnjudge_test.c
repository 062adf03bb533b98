/* Tests liblnjudge as its users call it: arguments, answers, planted faults and threads. */
#include "../../kernels/tests/test_list.h"
#include "../../harness/hayai-c/tests/comma_locale.h"
#include <lnjudge.h>

#include <math.h>
#include <pthread.h>
#include <stdbool.h>
#include <sys/mman.h>

/* ---- a kernel with planted faults ---- */

typedef enum toy_fault {
    FAULT_NONE,
    FAULT_DIVISOR, /* N - 1 */
    FAULT_STRIDE,  /* treats rows as dense */
    FAULT_INPUT,   /* writes to x */
    FAULT_BEHIND,  /* writes one element after the end of y */
    FAULT_GAP,     /* writes between the rows */
    FAULT_BATCH,   /* skips the last of 7 rows */
    FAULT_SELDOM,  /* is wrong in one call of 500 */
    FAULT_FAILS,   /* returns 7 */
    FAULT_LANE,    /* every 16th element has an error of 8 ULP */
    FAULT_SLIGHT,  /* all elements have a relative error of 2^-20 */
    FAULT_UNSUPPORTED,
} toy_fault;

typedef struct toy {
    toy_fault fault;
    unsigned calls;
} toy;

static void write_row(const toy *kernel, const float *x, const ln_problem *problem,
                      const ln_tensors *tensors, float *y)
{
    double mean = 0, squares = 0, hidden = (double)problem->hidden;
    const float *gamma = tensors->gamma, *beta = tensors->beta;
    for (size_t i = 0; i < problem->hidden; i++)
        mean += (double)x[i] / hidden;
    for (size_t i = 0; i < problem->hidden; i++)
        squares += ((double)x[i] - mean) * ((double)x[i] - mean);
    double divisor = kernel->fault == FAULT_DIVISOR ? hidden - 1 : hidden;
    double rstd = 1 / sqrt(squares / divisor + 1e-5);
    if (kernel->fault == FAULT_SELDOM && kernel->calls % 500 == 0)
        rstd *= 1.25;
    for (size_t i = 0; i < problem->hidden; i++) {
        double value = ((double)x[i] - mean) * rstd * (double)gamma[i] + (double)beta[i];
        if (kernel->fault == FAULT_LANE && i % 16 == 15)
            value += 0x1p-20;
        if (kernel->fault == FAULT_SLIGHT)
            value *= 1 + 0x1p-20;
        y[i] = (float)value;
    }
}

static int run(void *user, const ln_problem *problem, const ln_tensors *tensors)
{
    toy *kernel = user;
    toy_fault fault = kernel->fault;
    float *x = (float *)tensors->x, *y = tensors->y;
    size_t rows = problem->rows - (fault == FAULT_BATCH && problem->rows == 7);
    size_t x_stride = fault == FAULT_STRIDE ? problem->hidden : problem->x_stride;
    if (fault == FAULT_FAILS)
        return 7;
    if (fault == FAULT_UNSUPPORTED)
        return LN_ERROR_UNSUPPORTED;
    kernel->calls++;
    for (size_t row = 0; row < rows; row++)
        write_row(kernel, x + row * x_stride, problem, tensors, y + row * problem->y_stride);
    if (fault == FAULT_INPUT)
        x[0] += 1;
    if (fault == FAULT_BEHIND)
        y[(problem->rows - 1) * problem->y_stride + problem->hidden] = 1;
    if (fault == FAULT_GAP && problem->y_stride > problem->hidden && rows > 1)
        y[problem->hidden] = 1;
    return 0;
}

static lnjudge_question question_of(toy *kernel)
{
    static const size_t hidden[] = {96, 80};
    lnjudge_question made = {.struct_size = sizeof made,
                             .kernel = run,
                             .user = kernel,
                             .hidden = hidden,
                             .hidden_count = 1,
                             .traits =
                                 LNJUDGE_NO_RESIDUAL | LNJUDGE_NOT_IN_PLACE | LNJUDGE_THESE_SIZES};
    assert_int_equal(lnjudge_convention("torch", &made.convention, NULL), LNJUDGE_OK);
    return made;
}

/* Judges the kernel and returns whether it passes. *found: the worst case. */
static bool passes(toy_fault fault, double max_row_ulp, lnjudge_case *found)
{
    toy kernel = {fault, 0};
    lnjudge_question question = question_of(&kernel);
    lnjudge_report report;
    question.max_row_ulp = max_row_ulp;
    question.hidden_count = fault == FAULT_DIVISOR ? 2 : 1; /* one size does not show the mistake */
    assert_int_equal(lnjudge_kernel_judge(&question, &report, NULL), LNJUDGE_OK);
    assert_true(report.count > 20);
    *found = report.cases[report.worst];
    bool passed = report.passed;
    lnjudge_report_free(&report);
    return passed;
}

TEST(finds_planted_faults)
{
    static const struct {
        toy_fault fault;
        const char *check, *reason, *detail;
        double max_row_ulp;
    } planted[] = {
        {FAULT_DIVISOR, "rows", "inaccurate", "ddof=1", 0},
        {FAULT_STRIDE, "combinations", "wrong-class", "between the rows of x", 0},
        {FAULT_INPUT, "rows", "input-modified", "wrote to its input x", 0},
        {FAULT_BEHIND, "rows", "overrun", "behind the end of y", 0},
        {FAULT_GAP, "combinations", "overrun", "wrote between the rows of y", 0},
        {FAULT_BATCH, "combinations", "wrong-class", "nothing was written", 0},
        {FAULT_FAILS, "rows", "crashed", "returned 7", 0},
        {FAULT_SLIGHT, "rows", "inaccurate", "exceeds max_row_ulp 4.5", 4.5},
    };
    lnjudge_case found;
    assert_true(passes(FAULT_NONE, 4, &found));
    for (size_t i = 0; i < sizeof planted / sizeof *planted; i++) {
        assert_false(passes(planted[i].fault, planted[i].max_row_ulp, &found));
        assert_string_equal(found.check, planted[i].check);
        assert_string_equal(found.verdict, "fail");
        assert_string_equal(found.reason, planted[i].reason);
        assert_non_null(strstr(found.detail, planted[i].detail));
    }
    assert_false(passes(FAULT_SELDOM, 0, &found));
    assert_false(passes(FAULT_LANE, 0, &found));
}

/* The limit does not apply to this problem of the covering array, since its rows are longer. */
TEST(asks_one_step)
{
    toy kernel = {FAULT_SLIGHT, 0};
    lnjudge_question question = question_of(&kernel);
    lnjudge_report report;
    lnjudge_error error;
    question.traits &= ~(unsigned)LNJUDGE_THESE_SIZES;
    question.max_row_ulp = 4.5;
    for (question.step = 60; question.step <= 61; question.step++) {
        assert_int_equal(lnjudge_kernel_judge(&question, &report, &error), LNJUDGE_OK);
        assert_int_equal(report.count, 1);
        assert_string_equal(report.cases->check, "combinations");
        assert_int_equal(report.cases->step, question.step);
        lnjudge_report_free(&report);
    }
    question.step = 1 << 20;
    assert_int_equal(lnjudge_kernel_judge(&question, &report, &error), LNJUDGE_ERROR_ARGUMENT);
    assert_non_null(strstr(error.message, "step is 1048576, but there are "));
}

TEST(watches_pages)
{
    char *pages = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_int_equal(lnjudge_watch(pages, 8192), 1);
    assert_int_equal(lnjudge_watch(pages, 8192) + pages[17], 0);
    assert_null(lnjudge_watched());
    assert_int_equal(lnjudge_watch(pages, 8192), 1);
    ((volatile char *)pages)[5] = 1;
    ((volatile char *)pages)[4097] = 1;
    assert_ptr_equal(lnjudge_watched(), pages + 5);
    munmap(pages, 8192);
}

TEST(tells_what_does_not_run)
{
    toy kernel = {FAULT_UNSUPPORTED, 0};
    lnjudge_question question = question_of(&kernel);
    lnjudge_report report;
    lnjudge_error error;
    assert_int_equal(lnjudge_kernel_judge(&question, &report, &error), LNJUDGE_OK);
    assert_false(report.passed || report.cases[report.worst].passed);
    assert_non_null(strstr(report.cases[report.worst].detail, "does not support hidden 96"));
    for (size_t i = 0; i < report.count; i++)
        assert_string_equal(report.cases[i].verdict, "unsupported");
    lnjudge_report_free(&report);
    /* *stop also ends the computation of answers, before any call of the kernel. */
    const int stop = 1;
    kernel = (toy){FAULT_NONE, 0};
    question.stop = &stop;
    assert_int_equal(lnjudge_kernel_judge(&question, &report, &error), LNJUDGE_STOPPED);
    assert_int_equal(kernel.calls, 0);
    assert_int_equal(report.count, 0);
}

/* ---- arguments ---- */

TEST(refuses_what_cannot_be_meant)
{
    const float x[4] = {1, 2, 3, 4}, gamma[4] = {1, 1, 1, 1};
    float y[4];
    ln_problem problem = {.rows = 1, .hidden = 4};
    ln_tensors tensors = {.x = x, .y = y};
    lnjudge_report report;
    lnjudge_error error;
    assert_int_equal(lnjudge_reference(&problem, &tensors, NULL, &error), LNJUDGE_OK);
    assert_string_equal(error.message, "");
    problem.hidden = 0;
    assert_int_equal(lnjudge_reference(&problem, &tensors, NULL, &error), LNJUDGE_ERROR_ARGUMENT);
    assert_string_equal(error.message, "rows is 1 and hidden is 0: both must be at least 1");
    problem.hidden = 4;
    problem.x_stride = 3;
    assert_int_equal(lnjudge_reference(&problem, &tensors, NULL, NULL), LNJUDGE_ERROR_ARGUMENT);
    problem.x_stride = 0;
    problem.rows = SIZE_MAX / 8;
    assert_int_equal(lnjudge_reference(&problem, &tensors, NULL, NULL), LNJUDGE_ERROR_ARGUMENT);
    problem.rows = 1;
    tensors.gamma = gamma;
    assert_int_equal(lnjudge_reference(&problem, &tensors, NULL, &error), LNJUDGE_ERROR_ARGUMENT);
    assert_non_null(strstr(error.message, "gamma"));
    tensors.gamma = NULL;
    problem.storage = (ln_type)9;
    assert_int_equal(lnjudge_reference(&problem, &tensors, NULL, NULL), LNJUDGE_ERROR_ARGUMENT);
    problem.storage = LN_F32;
    tensors.y = NULL;
    assert_int_equal(lnjudge_output_judge(&problem, &tensors, 0, &report, &error),
                     LNJUDGE_ERROR_ARGUMENT);
    assert_int_equal(lnjudge_convention("trch", &problem.convention, &error),
                     LNJUDGE_ERROR_ARGUMENT);
    assert_non_null(strstr(error.message, "torch"));
}

static lnjudge_status ask(int accumulator, double limit, unsigned traits, size_t count)
{
    toy kernel = {FAULT_NONE, 0};
    lnjudge_question question = question_of(&kernel);
    lnjudge_report report;
    question.accumulator = (ln_type)accumulator;
    question.max_row_ulp = limit;
    question.traits |= traits;
    question.hidden_count = count;
    return lnjudge_kernel_judge(&question, &report, NULL);
}

/* Calls each function with an invalid value of each argument. */
TEST(survives_bad_arguments)
{
    float x[4] = {1, 2, 3, 4};
    double y[4];
    ln_problem p = {.rows = 1, .hidden = 4}, far = {.rows = 2, .hidden = 4, .y_stride = SIZE_MAX};
    ln_tensors t = {.x = x, .y = x};
    lnjudge_report r = {.count = 7};
    lnjudge_question q = {0};
    lnjudge_box box = {.dimensions = 2, .shape = {1, 4}, .x = y, .y = y}, many = box, odd_box = box;
    lnjudge_fingerprint f;
    ln_convention torch, odd[2];
    char label[LNJUDGE_LABEL];
    many.shape[0] = SIZE_MAX;
    odd_box.parameters = 3;
    assert_int_equal(lnjudge_convention("torch", &torch, NULL), LNJUDGE_OK);
    const lnjudge_status statuses[] = {lnjudge_convention(NULL, &torch, NULL),
                                       lnjudge_convention("torch", NULL, NULL),
                                       lnjudge_reference(NULL, &t, y, NULL),
                                       lnjudge_reference(&p, NULL, y, NULL),
                                       lnjudge_reference(&far, &t, y, NULL),
                                       lnjudge_output_judge(NULL, &t, 0, &r, NULL),
                                       lnjudge_output_judge(&p, NULL, 0, &r, NULL),
                                       lnjudge_output_judge(&p, &t, 0, NULL, NULL),
                                       lnjudge_output_judge(&p, &t, NAN, &r, NULL),
                                       lnjudge_kernel_judge(NULL, &r, NULL),
                                       lnjudge_kernel_judge(&q, &r, NULL),
                                       lnjudge_kernel_judge(&q, NULL, NULL),
                                       ask(-1, 0, 0, 1),
                                       ask(9, 0, 0, 1),
                                       ask(0, NAN, 0, 1),
                                       ask(0, -1, 0, 1),
                                       ask(0, 0, 1U << 31, 1),
                                       ask(0, 0, 0, 0),
                                       ask(0, 0, 0, SIZE_MAX),
                                       lnjudge_fingerprint_make(NULL, &f, NULL),
                                       lnjudge_fingerprint_make(&box, NULL, NULL),
                                       lnjudge_fingerprint_make(&many, &f, NULL),
                                       lnjudge_fingerprint_make(&odd_box, &f, NULL)};
    for (size_t i = 0; i < sizeof statuses / sizeof *statuses; i++)
        if (statuses[i] != LNJUDGE_ERROR_ARGUMENT)
            fail_msg("call %zu: status %d", i, (int)statuses[i]);
    lnjudge_report_free(NULL);
    lnjudge_fingerprint_free(NULL);
    assert_true(r.count == 0 && isnan(lnjudge_metric(NULL, "bits")));
    odd[0] = odd[1] = torch;
    odd[0].affine = (ln_affine)99;
    odd[1].eps_place = (ln_eps_place)-1;
    for (int i = 0; i < 4; i++)
        assert_string_equal(lnjudge_convention_label(i < 2    ? &odd[i]
                                                     : i == 2 ? NULL
                                                              : &torch,
                                                     i < 3 ? label : NULL),
                            "no convention");
}

/* ---- answers ---- */

TEST(answers_are_exact)
{
    /* var 1.25 without eps: (i - 2.5) / sqrt(1.25), of strided rows. */
    const float x[2 * 5] = {1, 2, 3, 4, NAN, 2, 4, 6, 8, NAN};
    float y[2 * 4];
    double mean[2], rstd[2], exact[2 * 4];
    ln_problem problem = {.rows = 2, .hidden = 4, .x_stride = 5};
    ln_tensors tensors = {.x = x, .y = y, .mean = mean, .rstd = rstd};
    assert_int_equal(lnjudge_reference(&problem, &tensors, exact, NULL), LNJUDGE_OK);
    for (size_t i = 0; i < 8; i++) {
        assert_true(fabs(exact[i] - ((double)(i % 4) - 1.5) / sqrt(1.25)) < 1e-15);
        assert_true(y[i] == (float)exact[i]);
    }
    assert_true(mean[0] == 2.5 && mean[1] == 5 && fabs(rstd[0] * sqrt(1.25) - 1) < 1e-15);
    lnjudge_report report;
    assert_int_equal(lnjudge_output_judge(&problem, &tensors, 0, &report, NULL), LNJUDGE_OK);
    assert_true(report.passed && lnjudge_metric(report.cases, "correctly_rounded") == 1);
    assert_true(isnan(lnjudge_metric(report.cases, "no such")));
    lnjudge_report_free(&report);
    y[5] = 0;
    assert_int_equal(lnjudge_output_judge(&problem, &tensors, 0, &report, NULL), LNJUDGE_OK);
    assert_false(report.passed);
    assert_int_equal(report.cases->worst.number, 1);
    assert_true(((float *)report.cases->worst.x)[1] == 4);
    lnjudge_report_free(&report);
    assert_non_null(lnjudge_metric_name(LNJUDGE_METRICS - 1));
    assert_null(lnjudge_metric_name(LNJUDGE_METRICS));
}

TEST(names_a_function)
{
    const float x[3 * 4] = {1, 2, 3, 5, 1e-6F, 2e-6F, 0, 4e-6F, 1e-7F, -2e-6F, 0, 8e-6F};
    float rounded[12];
    double given[12], y[12];
    ln_problem problem = {.rows = 3, .hidden = 4};
    ln_tensors tensors = {.x = x, .y = rounded};
    lnjudge_box box = {
        .dimensions = 2, .shape = {3, 4}, .x = given, .y = y, .digits = -1, .x_digits = -1};
    lnjudge_fingerprint found;
    assert_int_equal(lnjudge_convention("ddof=1,eps=1e-6@std", &problem.convention, NULL), 0);
    assert_int_equal(lnjudge_reference(&problem, &tensors, NULL, NULL), LNJUDGE_OK);
    for (size_t i = 0; i < 12; i++) {
        given[i] = (double)x[i];
        y[i] = (double)rounded[i];
    }
    assert_int_equal(lnjudge_fingerprint_make(&box, &found, NULL), LNJUDGE_OK);
    assert_true(found.answer == LNJUDGE_NAMED && found.count == 1);
    assert_string_equal(found.candidates->words, "ddof=1,eps=1e-06@std,affine=none");
    assert_true(found.candidates->eps_low <= 1e-6 && found.candidates->eps_high >= 1e-6);
    lnjudge_fingerprint_free(&found);
    box.shape[1] = 0;
    assert_int_equal(lnjudge_fingerprint_make(&box, &found, NULL), LNJUDGE_ERROR_ARGUMENT);
}

/* ---- threads ---- */

enum { THREADS = 4 };

static void *judge_in_thread(void *context)
{
    double *row_ulp = context;
    toy kernel = {FAULT_NONE, 0};
    lnjudge_question question = question_of(&kernel);
    lnjudge_report report;
    if (lnjudge_kernel_judge(&question, &report, NULL) == LNJUDGE_OK) {
        for (size_t i = 0; i < report.count; i++) {
            double here = lnjudge_metric(&report.cases[i], "ulp_mean");
            *row_ulp += isfinite(here) ? here : 0;
        }
        *row_ulp = report.passed ? *row_ulp : NAN;
    }
    lnjudge_report_free(&report);
    return NULL;
}

TEST(threads_find_the_same)
{
    pthread_t threads[THREADS];
    double row_ulp[THREADS] = {0};
    for (size_t i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, judge_in_thread, &row_ulp[i]), 0);
    for (size_t i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (size_t i = 0; i < THREADS; i++)
        assert_true(row_ulp[i] > 0 && row_ulp[i] == row_ulp[0]);
}

int main(void)
{
    comma_locale_set();
    return test_run(NULL, NULL);
}
