#include "judge/pattern.h"
#include "base/number.h"
#include <stdio.h>

/* "8, 16": the steps of 4 to 64 of a loop that leaves so many over; most loops have one of these. */
static void list_steps(size_t tail, size_t count, char steps[24])
{
    size_t length = 0;
    *steps = '\0';
    for (size_t step = 4; step <= 64; step *= 2)
        if (tail < step && count % step == tail)
            length +=
                (size_t)snprintf(steps + length, 24 - length, "%s%zu", length ? ", " : "", step);
}

const char *pattern_tail(size_t tail, size_t count, const char *noun, char words[PATTERN_LENGTH])
{
    char steps[24], over[48] = "";
    list_steps(tail, count, steps);
    if (*steps && count > 1)
        snprintf(over, sizeof over, " (%zu mod %s)", count, steps);
    if (count == 1)
        number_print(words, PATTERN_LENGTH, "the only %s", noun);
    else if (tail == count)
        number_print(words, PATTERN_LENGTH, "all %zu %ss", count, noun);
    else if (tail == 1)
        number_print(words, PATTERN_LENGTH, "the last of %zu %ss%s", count, noun, over);
    else
        number_print(words, PATTERN_LENGTH, "the last %zu of %zu %ss%s", tail, count, noun, over);
    return words;
}

/* Every how many-th from the first on; 0: they are not evenly apart. */
static size_t period_of(const bool *wrong, size_t count, size_t first, size_t number)
{
    size_t second = first + 1;
    while (second < count && !wrong[second])
        second++;
    size_t step = second - first;
    if (second == count || step < 2 || first >= step || number != (count - first + step - 1) / step)
        return 0;
    for (size_t i = first; i < count; i += step)
        if (!wrong[i])
            return 0;
    return step;
}

bool pattern_words(const bool *wrong, size_t count, const char *noun, char words[PATTERN_LENGTH])
{
    size_t first = count, last = 0, number = 0;
    for (size_t i = 0; i < count; i++)
        if (wrong[i]) {
            first = number++ ? first : i;
            last = i;
        }
    size_t period = period_of(wrong, count, first, number);
    bool run = last + 1 - first == number;
    if (!run && !period)
        number_print(words, PATTERN_LENGTH, "%zu of %zu %ss, from %s %zu on", number, count, noun,
                     noun, first);
    else if (!run)
        number_print(words, PATTERN_LENGTH, "every %zu%s of %zu %ss, from %s %zu on", period,
                     period == 2   ? "nd"
                     : period == 3 ? "rd"
                                   : "th",
                     count, noun, noun, first);
    else if (last + 1 == count)
        pattern_tail(number, count, noun, words);
    else if (number == 1)
        number_print(words, PATTERN_LENGTH, "%s %zu of %zu alone", noun, first, count);
    else if (first == 0)
        number_print(words, PATTERN_LENGTH, "the first %zu of %zu %ss", number, count, noun);
    else
        number_print(words, PATTERN_LENGTH, "%ss %zu to %zu of %zu", noun, first, last, count);
    return run || period;
}
