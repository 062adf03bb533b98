/* A unit test of a LayerNorm in C. It exits with 0 if the LayerNorm passes. */
#include "toy.h"
#include <lnjudge.h>
#include <stdio.h>

int main(void)
{
    lnjudge_question question = {.struct_size = sizeof question, .kernel = toy};
    lnjudge_report report;
    lnjudge_error error;
    lnjudge_convention("torch", &question.convention, NULL);
    if (lnjudge_kernel_judge(&question, &report, &error) != LNJUDGE_OK)
        return fprintf(stderr, "%s\n", error.message), 2;
    int right = report.passed;
    printf("%s: %s\n", right ? "pass" : "fail", report.cases[report.worst].detail);
    lnjudge_report_free(&report);
    return right ? 0 : 1;
}
