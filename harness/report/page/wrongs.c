/* What went wrong, grouped: kernels that did the same wrong are named together. */
#include "base/clean.h"
#include "report/page/page.h"
#include "base/allocate.h"
#include <math.h>
#include <string.h>

static bool is_wrong(const stored_case *stored, bool limits)
{
    return stored->judged &&
           (limits ? verdict_is_limit(stored->verdict.kind) : report_is_failure(&stored->verdict));
}

static bool is_of(const report_data *data, size_t kernel, const stored_case *stored)
{
    return stored->key.dtype == data->type &&
           strcmp(stored->key.kernel, data->kernels[kernel].name) == 0;
}

/* "crashed (SIGSEGV)", "wrong-class", "inaccurate": what inputs are gathered under. */
static const char *wrong_words(const stored_case *stored, char *buffer, size_t size)
{
    const case_verdict *verdict = &stored->verdict;
    const char *reason = verdict_reason(verdict->kind);
    if (verdict_is_limit(verdict->kind) || verdict->kind == VERDICT_WRONG_CLASS ||
        verdict->kind == VERDICT_INACCURATE)
        return reason;
    return verdict_why(verdict, buffer, size);
}

enum { WORDS_LENGTH = DETAIL_MAX_LENGTH + 64, INPUTS_SHOWN = 8 };

/* A wrong of one kernel: an input is named once, whatever convention or shape. */
typedef struct wrong_list {
    const char *inputs[INPUTS_SHOWN];
    size_t count, cases, left_out;
    double most;
} wrong_list;

static void add_input(wrong_list *list, const stored_case *stored)
{
    size_t place = 0;
    list->cases++;
    if (!(list->most >= stored->metrics.row_ulp_max))
        list->most = stored->metrics.row_ulp_max;
    while (place < list->count && strcmp(list->inputs[place], stored->key.input) != 0)
        place++;
    if (place < list->count)
        return;
    if (list->count < INPUTS_SHOWN)
        list->inputs[list->count++] = stored->key.input;
    else
        list->left_out++;
}

static void add_words(const wrong_list *list, const char *what, text_buffer *out)
{
    char number[16];
    clean_format(out, FORM_PAGE, "%s%s on ", out->length ? "; " : "", what);
    for (size_t i = 0; i < list->count; i++)
        clean_format(out, FORM_PAGE, "%s%s", i ? ", " : "", list->inputs[i]);
    text_format(out, "%s (%zu case%s", list->left_out ? ", ..." : "", list->cases,
                list->cases == 1 ? "" : "s");
    if (strcmp(what, verdict_reason(VERDICT_INACCURATE)) == 0 && isfinite(list->most))
        text_format(out, ", up to %s row ULP", number_short(list->most, number));
    text_add(out, ")");
}

/* Every wrong of a kernel in words; nothing where it did none. */
static void describe(const report_data *data, size_t kernel, bool limits, text_buffer *out)
{
    const stored_cases *cases = &data->view->cases;
    char words[WORDS_LENGTH], others[WORDS_LENGTH];
    const char *done[VERDICT_COUNT];
    size_t done_count = 0;
    for (size_t i = 0; i < cases->count; i++) {
        if (!is_wrong(&cases->cases[i], limits) || !is_of(data, kernel, &cases->cases[i]))
            continue;
        const char *what = wrong_words(&cases->cases[i], words, sizeof words);
        bool said = false;
        for (size_t j = 0; j < done_count; j++)
            said = said || strcmp(done[j], what) == 0;
        if (said || done_count == VERDICT_COUNT)
            continue;
        wrong_list list = {.most = NAN};
        for (size_t j = i; j < cases->count; j++)
            if (is_wrong(&cases->cases[j], limits) && is_of(data, kernel, &cases->cases[j]) &&
                strcmp(wrong_words(&cases->cases[j], others, sizeof others), what) == 0)
                add_input(&list, &cases->cases[j]);
        add_words(&list, what, out);
        done[done_count++] = allocate_copy(what, strlen(what) + 1);
    }
    for (size_t i = 0; i < done_count; i++)
        free((char *)done[i]);
}

size_t page_wrongs(const report_data *data, bool limits, document *page)
{
    text_buffer *wrongs = allocate_zeroed(data->kernel_count + 1, sizeof *wrongs);
    size_t kernels = 0;
    for (size_t i = 0; i < data->kernel_count; i++)
        describe(data, i, limits, &wrongs[i]);
    for (size_t i = 0; i < data->kernel_count; i++) {
        text_buffer names = {0};
        for (size_t j = i; j < data->kernel_count && wrongs[i].length; j++)
            if (j == i || (wrongs[j].length && strcmp(wrongs[i].bytes, wrongs[j].bytes) == 0)) {
                clean_format(&names, FORM_PAGE, "%s`%s`", names.length ? ", " : "",
                             data->kernels[j].name);
                kernels++;
                if (j > i)
                    text_free(&wrongs[j]);
            }
        const kernel_standing *standing = data->kernels[i].standing;
        const stored_case *fault = standing->role == ROLE_PLUGIN && !limits && wrongs[i].length
                                       ? view_find(data->view, standing->fault)
                                       : NULL;
        if (fault)
            clean_format(&wrongs[i], FORM_PAGE, ". Case %lld (%s, %zux%zu, %s): %s",
                         (long long)fault->id, fault->key.input, fault->key.rows, fault->key.hidden,
                         fault->key.convention, fault->verdict.detail);
        if (names.length)
            document_item(page, limits ? TONE_LIMIT : TONE_FAULT, "%-s: %-s.", names.bytes,
                          wrongs[i].bytes);
        text_free(&names);
        text_free(&wrongs[i]);
    }
    free(wrongs);
    return kernels;
}
