#include "domain/coverage.h"

void coverage_missing(coverage *covered, const char *what, const char *why)
{
    text_buffer name = {0};
    text_add(&name, what);
    if (why)
        text_format(&name, " (%s)", why);
    covered->missing++;
    word_list_add(&covered->named, name.bytes);
    text_free(&name);
}

void coverage_add_line(text_buffer *out, const coverage *covered, const char *verb)
{
    size_t shown = covered->named.count < COVERAGE_NAMED ? covered->named.count : COVERAGE_NAMED;
    text_format(out, "requested %zu, %s %zu", covered->requested, verb, covered->done);
    if (covered->unsupported > 0)
        text_format(out, ", unsupported %zu", covered->unsupported);
    text_format(out, ", missing %zu", covered->missing);
    for (size_t i = 0; i < shown; i++)
        text_format(out, "%s%s", i == 0 ? ": " : "; ", covered->named.words[i]);
    if (shown > 0 && covered->missing > shown)
        text_format(out, "; and %zu more", covered->missing - shown);
}

json_t *list_words(const word_list *words)
{
    json_t *array = json_array();
    for (size_t i = 0; i < words->count; i++)
        json_array_append_new(array, json_text(words->words[i]));
    return array;
}

json_t *coverage_json(const coverage *covered, const char *verb)
{
    return json_pack("{s:I, s:I, s:I, s:I, s:o}", "requested", (json_int_t)covered->requested, verb,
                     (json_int_t)covered->done, "unsupported", (json_int_t)covered->unsupported,
                     "missing", (json_int_t)covered->missing, "missing_names",
                     list_words(&covered->named));
}

void coverage_free(coverage *covered)
{
    word_list_free(&covered->named);
    *covered = (coverage){0};
}
