/* A unit test of a LayerNorm in C: exits with 0 where it is right. */
#include <lnjudge.h>
#include <math.h>
#include <stdio.h>

static int toy(void *user, const ln_problem *problem, const ln_tensors *tensors)
{
    const float *x = tensors->x, *gamma = tensors->gamma, *beta = tensors->beta;
    float *y = tensors->y, hidden = (float)problem->hidden;
    (void)user;
    for (size_t row = 0; row < problem->rows;
         row++, x += problem->x_stride, y += problem->y_stride) {
        float sum = 0, squares = 0;
        for (size_t i = 0; i < problem->hidden; i++)
            sum += x[i];
        for (size_t i = 0; i < problem->hidden; i++)
            squares += (x[i] - sum / hidden) * (x[i] - sum / hidden);
        float mean = sum / hidden, rstd = 1 / sqrtf(squares / hidden + 1e-5F);
        for (size_t i = 0; i < problem->hidden; i++)
            y[i] = (x[i] - mean) * rstd * gamma[i] + beta[i];
    }
    return 0;
}

int main(void)
{
    lnjudge_question question = {.struct_size = sizeof question,
                                 .kernel = toy,
                                 .traits = LNJUDGE_NO_RESIDUAL | LNJUDGE_NOT_IN_PLACE};
    lnjudge_report report;
    lnjudge_error error;
    lnjudge_convention("torch", &question.convention, NULL);
    if (lnjudge_kernel_judge(&question, &report, &error) != LNJUDGE_OK)
        return fprintf(stderr, "%s\n", error.message), 2;
    printf("%s: %s\n", report.passed ? "right" : "wrong", report.cases[report.worst].detail);
    int code = !report.passed;
    lnjudge_report_free(&report);
    return code;
}
