// A unit test of a LayerNorm in C++: exits with 0 where it is right.
#include <cmath>
#include <cstdio>
#include <lnjudge.h>
#include <numeric>

static int toy(void *, const ln_problem *problem, const ln_tensors *tensors)
{
    auto x = static_cast<const double *>(tensors->x);
    auto y = static_cast<double *>(tensors->y);
    auto n = static_cast<double>(problem->hidden);
    for (size_t row = 0; row < problem->rows;
         row++, x += problem->x_stride, y += problem->y_stride) {
        double mean = std::accumulate(x, x + problem->hidden, 0.0) / n, squares = 0;
        for (size_t i = 0; i < problem->hidden; i++)
            squares += (x[i] - mean) * (x[i] - mean);
        for (size_t i = 0; i < problem->hidden; i++)
            y[i] = (x[i] - mean) / std::sqrt(squares / n + 1e-5);
    }
    return 0;
}

int main()
{
    lnjudge_question question = {};
    question.struct_size = sizeof question;
    question.kernel = toy;
    question.storage = question.param = question.accumulator = LN_F64;
    question.traits = LNJUDGE_NO_RESIDUAL | LNJUDGE_NOT_IN_PLACE;
    lnjudge_convention("eps=1e-5@var", &question.convention, nullptr);
    lnjudge_report report = {};
    if (lnjudge_kernel_judge(&question, &report, nullptr) != LNJUDGE_OK)
        return 2;
    std::printf("%s: %s\n", report.passed ? "right" : "wrong", report.cases[report.worst].detail);
    int code = report.passed ? 0 : 1;
    lnjudge_report_free(&report);
    return code;
}
