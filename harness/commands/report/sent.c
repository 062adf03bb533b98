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
static void check_page(const verify_request *request, const run_view *view, sent_state *sent)
{
    const output_file *out = request->printed;
    text_buffer page = {0};
    page_match match = {.compared = true, .same = true};
    read_whole_file(request->file, &page);
    if (page_run_is_page(page.bytes, page.length))
        match = report_again(view, page.bytes, page.length);
    text_free(&page);
    if (!match.compared)
        sent->page = "; page: another lnbench or gnuplot drew it";
    if (match.compared && !match.same) {
        sent->page = "; page: not what its run draws";
        sent->fails = true;
        output_aside(out, "the page says  %s", match.theirs);
        output_aside(out, "its run says   %s", match.ours);
    }
}

sent_state report_sent(const verify_request *request, const run_view *view)
{
    sent_state sent = {.page = "", .has_speeds = has_repetitions(view)};
    check_page(request, view, &sent);
    return sent;
}
