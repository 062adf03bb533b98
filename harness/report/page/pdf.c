/* The page as PDF, by WeasyPrint, which lays HTML out for paper. */
#include "base/program.h"
#include "report/page/document.h"
#include <stdio.h>
#include <unistd.h>

/* A page takes some seconds. */
static const double most_seconds = 300;

program_result document_pdf(const char *folder, char note[256])
{
    static const char *const arguments[] = {"weasyprint", "-q", "data/print.html", "report.pdf",
                                            NULL};
    char source[1200], made[1200];
    program run = {.arguments = arguments,
                   .folder = folder,
                   .temporary = folder, /* where what it leaves, when it is killed, goes */
                   .seconds = most_seconds};
    snprintf(source, sizeof source, "%s/data/print.html", folder);
    snprintf(made, sizeof made, "%s/report.pdf", folder);
    program_start(&run);
    program_result result = program_end(&run);
    unlink(source);
    if (result == PROGRAM_DONE && access(made, F_OK) != 0) {
        result = PROGRAM_FAILED;
        snprintf(run.words, sizeof run.words, "it made none");
    }
    if (result != PROGRAM_DONE)
        unlink(made);
    if (result == PROGRAM_ABSENT)
        snprintf(note, 256, "no report.pdf: weasyprint was not found (Debian: weasyprint)");
    else if (result != PROGRAM_DONE)
        snprintf(note, 256, "no report.pdf: weasyprint failed: %.200s", run.words);
    return result;
}
