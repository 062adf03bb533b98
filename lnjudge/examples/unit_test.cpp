// A unit test of a LayerNorm in C++: exits with 0 where it is right.
#include "toy.h"
#include <iostream>
#include <lnjudge.h>

int main()
{
    lnjudge_question question = {};
    question.struct_size = sizeof question;
    question.kernel = toy;
    lnjudge_convention("torch", &question.convention, nullptr);
    lnjudge_report report = {};
    if (lnjudge_kernel_judge(&question, &report, nullptr) != LNJUDGE_OK)
        return 2;
    bool right = report.passed;
    std::cout << (right ? "pass: " : "fail: ") << report.cases[report.worst].detail << '\n';
    lnjudge_report_free(&report);
    return right ? 0 : 1;
}
