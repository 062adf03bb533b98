/* What was sent: its hash, its signature by minisign, which is another program, and the page around the run. */
#include "base/files.h"
#include "base/program.h"
#include "commands/report/verify.h"
#include "exchange/page_run.h"
#include "report/report.h"
#include <stdio.h>
#include <unistd.h>

static const double seconds = 60;
#define ABSENT "minisign was not found (Debian: apt-get install minisign)"

bool report_sign(const char *key, const char *directory, const output_file *out, error *err)
{
    char page[1024];
    snprintf(page, sizeof page, "%.1000s/index.html", directory);
    const char *const arguments[] = {"minisign", "-S", "-s", key, "-m", page, NULL};
    program sign = {.arguments = arguments, .seconds = seconds};
    program_start(&sign);
    switch (program_end(&sign)) {
    case PROGRAM_DONE:
        output_aside(out, "signed  %s.minisig", page);
        return true;
    case PROGRAM_ABSENT:
        return fail(err, EXIT_CODE_ENVIRONMENT, "%s is not signed: " ABSENT, page);
    default:
        return fail(err, EXIT_CODE_ENVIRONMENT,
                    "%s is not signed: minisign failed: %s (a key with a password: sign by hand, "
                    "minisign -S -s %s -m %s)",
                    page, sign.words, key, page);
    }
}

typedef enum signature_state { SIGNATURE_NONE, SIGNATURE_GOOD, SIGNATURE_BAD } signature_state;

/* Of FILE, in FILE.minisig; a line says which. key: a public key or its file; NULL: not given. */
static bool check_signature(const char *file, const char *key, const output_file *out,
                            signature_state *state, error *err)
{
    char path[1100];
    *state = SIGNATURE_NONE;
    snprintf(path, sizeof path, "%.1080s.minisig", file);
    if (access(path, R_OK) == 0 && !key)
        output_aside(out, "signature: not checked: --key says whose it is");
    if (!key)
        return true;
    const char *const arguments[] = {
        "minisign", "-V", access(key, R_OK) == 0 ? "-p" : "-P", key, "-m", file, NULL};
    program check = {.arguments = arguments, .seconds = seconds};
    program_start(&check);
    switch (program_end(&check)) {
    case PROGRAM_DONE:
        output_aside(out, "signature: good, of the key %s", key);
        *state = SIGNATURE_GOOD;
        return true;
    case PROGRAM_ABSENT:
        return fail(err, EXIT_CODE_ENVIRONMENT, "the signature cannot be checked: " ABSENT);
    default:
        output_aside(out, "signature: bad: %s", check.words);
        *state = SIGNATURE_BAD;
        return true;
    }
}

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
    if (view->seal == SEAL_BROKEN)
        return fail(err, EXIT_CODE_ENVIRONMENT,
                    "%s: was changed after it was made, its hash tells: ask for it again",
                    request->file);
    signature_state signature;
    if (!check_signature(request->file, request->key, request->printed, &signature, err))
        return false;
    sent->fails = signature == SIGNATURE_BAD;
    sent->has_speeds =
        signature == SIGNATURE_GOOD || (view->seal == SEAL_HOLDS && has_repetitions(view));
    return check_page(request, view, sent, err);
}
