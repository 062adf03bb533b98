#include "base/words.h"
#include "base/allocate.h"
#include <stdint.h>
#include <string.h>

static void add_part(word_list *list, const char *word, size_t length)
{
    list->words = allocate_room(list->words, list->count, sizeof *list->words);
    char *copy = allocate_zeroed(length + 1, 1);
    list->words[list->count++] = memcpy(copy, word, length);
}

void word_list_add(word_list *list, const char *word)
{
    add_part(list, word, strlen(word));
}

bool word_list_split(word_list *list, const char *text, error *err)
{
    for (const char *part = text;; part++) {
        size_t length = strcspn(part, ",");
        if (length == 0)
            return fail(err, EXIT_CODE_USAGE, "'%.200s': an empty part between commas", text);
        add_part(list, part, length);
        part += length;
        if (*part == '\0')
            return true;
    }
}

void word_list_free(word_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        free((char *)list->words[i]);
    free(list->words);
    *list = (word_list){0};
}

/* SIZE_MAX for what is larger still: too large in any case. */
static bool parse_size(const char *text, size_t length, size_t *size)
{
    if (length == 0 || strspn(text, "0123456789") < length)
        return false;
    *size = 0;
    for (size_t i = 0; i < length; i++)
        if (__builtin_mul_overflow(*size, (size_t)10, size) ||
            __builtin_add_overflow(*size, (size_t)(text[i] - '0'), size)) {
            *size = SIZE_MAX;
            return true;
        }
    return true;
}

bool shape_parse(const char *text, size_t *rows, size_t *hidden, error *err)
{
    const char *times = strchr(text, 'x');
    size_t elements;
    if (!times || !parse_size(text, (size_t)(times - text), rows) ||
        !parse_size(times + 1, strlen(times + 1), hidden))
        return fail(err, EXIT_CODE_USAGE, "shape '%.60s': ROWSxHIDDEN was expected, as in 512x768",
                    text);
    if (*rows == 0 || *hidden == 0)
        return fail(err, EXIT_CODE_USAGE, "shape '%.60s': rows and hidden must be at least 1",
                    text);
    if (__builtin_mul_overflow(*rows, *hidden, &elements) || elements > (SIZE_MAX >> 24))
        return fail(err, EXIT_CODE_USAGE, "shape '%.60s': rows times hidden is too large", text);
    return true;
}
