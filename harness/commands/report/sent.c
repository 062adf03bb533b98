/* What was sent: whether it has raw timings, and the page around the run. */
#include "base/files.h"
#include "commands/report/verify.h"
#include "store/run_file.h"
#include "show/report.h"

static bool has_repetitions(const run_view *view)
{
    for (size_t i = 0; i < view->cases.count; i++)
        if (view->cases.cases[i].repetition_count > 0)
            return true;
    return false;
}

/* Whether the page is drawn by its run; not where another program drew it. */
static bool check_page(const verify_request *request, const run_view *view, sent_state *sent,
                       error *err)
{
    const output_file *out = request->printed;
    text_buffer page = {0};
    page_match match = {.compared = true, .same = true};
    if (!read_whole_file(request->file, &page, err))
        return false;
    bool fine = !page_run_is_page(page.bytes, page.length) ||
                report_again(view, page.bytes, page.length, &match, err);
    text_free(&page);
    if (fine && !match.compared)
        sent->page = "; page: another lnbench or gnuplot drew it";
    if (fine && match.compared && !match.same) {
        sent->page = "; page: not what its run draws";
        sent->fails = true;
        output_aside(out, "the page says  %s", match.theirs);
        output_aside(out, "its run says   %s", match.ours);
    }
    return fine;
}

bool report_sent(const verify_request *request, const run_view *view, sent_state *sent, error *err)
{
    *sent = (sent_state){.page = ""};
    sent->has_speeds = has_repetitions(view);
    return check_page(request, view, sent, err);
}
