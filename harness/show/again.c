/* Whether a page is what its run draws. */
#include "base/files.h"
#include "store/run_file.h"
#include "show/report.h"
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* Without the numbers that a store gives to the run and its cases. */
static void add_bare(text_buffer *out, const char *page, size_t size)
{
    static const char *const numbered[] = {"run ", "case ", "Case "};
    for (size_t i = 0; i < size;) {
        bool is_one = false;
        for (size_t j = 0; j < sizeof numbered / sizeof *numbered; j++) {
            size_t length = strlen(numbered[j]);
            is_one = is_one || (i >= length && isdigit((unsigned char)page[i]) &&
                                memcmp(page + i - length, numbered[j], length) == 0);
        }
        if (!is_one) {
            text_add_bytes(out, page + i++, 1);
            continue;
        }
        while (i < size && isdigit((unsigned char)page[i]))
            i++;
        text_add(out, "N");
    }
}

/* From behind what begins with `mark` to the end of the line; "" where it is nowhere. */
static void line_of(const char *page, const char *mark, char words[80])
{
    const char *at = strstr(page, mark);
    size_t length = at ? strcspn(at, "\n") : 0;
    snprintf(words, 80, "%.*s", (int)length, at ? at : "");
}

static bool same_line(const char *a, const char *b, const char *mark)
{
    char one[80], other[80];
    line_of(a, mark, one);
    line_of(b, mark, other);
    return strcmp(one, other) == 0;
}

static void around(const char *text, size_t at, char words[80])
{
    size_t from = at;
    while (from > 0 && at - from < 24 && text[from - 1] != '\n')
        from--;
    size_t length = strcspn(text + from, "\n");
    text_copy(words, 80, "");
    snprintf(words, 80, "%.*s", (int)(length < 60 ? length : 60), text + from);
}

static void compare_pages(const char *theirs, const char *ours, page_match *match)
{
    size_t at = 0;
    if (!same_line(theirs, ours, "<meta name=\"generator\"") ||
        !same_line(theirs, ours, "Produced by GNUPLOT"))
        return;
    match->compared = true;
    while (theirs[at] && theirs[at] == ours[at])
        at++;
    match->same = theirs[at] == ours[at];
    around(theirs, at, match->theirs);
    around(ours, at, match->ours);
}

page_match report_again(const run_view *view, char *page, size_t size)
{
    char plots[1024], path[1100];
    text_buffer theirs = {0};
    const unsigned kinds = view_operations(view);
    page_match match = {0};
    add_bare(&theirs, page, page_run_cut(page, size));
    const char *folder = temporary_folder_make("again");
    path_of_plots(plots, sizeof plots);
    for (int kind = 0; !match.same && kind < OPERATIONS; kind++) {
        if (!(kinds & OPERATION_BIT(kind)))
            continue;
        text_buffer drawn = {0}, ours = {0};
        run_view part = view_part(view, (ln_operation)kind);
        snprintf(path, sizeof path, "%.1060s/index.html", folder);
        report_write(&part, plots, folder, NULL);
        read_whole_file(path, &drawn);
        add_bare(&ours, drawn.bytes, drawn.length);
        compare_pages(theirs.bytes, ours.bytes, &match);
        text_free(&drawn);
        text_free(&ours);
        view_part_free(&part);
    }
    temporary_folder_remove(folder);
    text_free(&theirs);
    return match;
}
