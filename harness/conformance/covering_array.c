#include "conformance/covering_array.h"
#include "base/allocate.h"
#include "base/random.h"

enum { CANDIDATES = 6, OPEN = 1, GIVEN_UP = 2 };

#define EACH_THREE(made, a, b, c)                                                                  \
    for (size_t c = (made)->first_last; c < (made)->factors; c++)                                  \
        for (size_t b = 1; b < c; b++)                                                             \
            for (size_t a = 0; a < b; a++)

/* Tuples have three factors a < b < c; the third of pairs has a single level and is behind all others. */
typedef struct generator {
    const covering_question *asked;
    size_t factors, levels[COVERING_FACTORS + 1], first_last; /* the least c */
    size_t begin[COVERING_FACTORS + 1][COVERING_FACTORS + 1][COVERING_FACTORS + 1];
    unsigned char *open; /* a tuple each: OPEN until it is covered */
    size_t room, left, given_up;
    uint64_t random;
} generator;

/* One entry while it is made: its factors in the order in which they were set. */
typedef struct candidate {
    int8_t levels[COVERING_FACTORS + 1];
    size_t set[COVERING_FACTORS + 1], count, gain;
} candidate;

static size_t below(generator *made, size_t limit)
{
    return (size_t)((splitmix64(&made->random) >> 32) * limit >> 32);
}

static unsigned char *tuple_at(const generator *made, const int8_t *levels, size_t a, size_t b,
                               size_t c)
{
    size_t low = a < b ? a : b, high = a < b ? b : a;
    a = c < low ? c : low;
    b = c < low ? low : c < high ? c : high;
    c = c < high ? high : c;
    size_t within = ((size_t)levels[a] * made->levels[b] + (size_t)levels[b]) * made->levels[c];
    return made->open + made->begin[a][b][c] + within + (size_t)levels[c];
}

/* How far the factor's levels lie apart among tuples of it and two others. */
static size_t stride_of(const generator *made, size_t factor, size_t a, size_t b)
{
    return (factor < a ? made->levels[a] : 1) * (factor < b ? made->levels[b] : 1);
}

/* Tuples that setting the factor to each of its levels would cover. Of pairs the third factor was set first. */
static void gains_of(const generator *made, candidate *of, size_t factor,
                     size_t gains[COVERING_LEVELS])
{
    memset(gains, 0, made->levels[factor] * sizeof *gains);
    of->levels[factor] = 0;
    for (size_t i = 1; i < of->count; i++)
        for (size_t j = 0; j < (made->asked->strength == 2 ? 1 : i); j++) {
            const unsigned char *first = tuple_at(made, of->levels, of->set[i], of->set[j], factor);
            size_t stride = stride_of(made, factor, of->set[i], of->set[j]);
            for (size_t level = 0; level < made->levels[factor]; level++)
                gains[level] += first[level * stride] == OPEN;
        }
}

static void set_level(candidate *of, size_t factor, size_t level)
{
    of->levels[factor] = (int8_t)level;
    of->set[of->count++] = factor;
}

/* Of the levels that can stand with the others one that covers most; false: there is none. */
static bool choose_level(generator *made, candidate *of, size_t factor)
{
    size_t best = 0, ties = 0, chosen = 0, gains[COVERING_LEVELS];
    gains_of(made, of, factor, gains);
    for (size_t level = 0; level < made->levels[factor]; level++) {
        of->levels[factor] = (int8_t)level;
        if (!made->asked->allows(made->asked->context, of->levels))
            continue;
        if (ties == 0 || gains[level] > best) {
            best = gains[level];
            ties = 0;
        }
        if (gains[level] == best && below(made, ++ties) == 0)
            chosen = level;
    }
    set_level(of, factor, chosen);
    of->gain += best;
    return ties > 0;
}

/* How many tuples three factors have; of a number among them the levels. */
static size_t tuples_of(const generator *made, size_t a, size_t b, size_t c)
{
    return made->levels[a] * made->levels[b] * made->levels[c];
}

static void begin_entry(const generator *made, size_t a, size_t b, size_t c, size_t number,
                        candidate *begun)
{
    const size_t *levels = made->levels;
    *begun = (candidate){0};
    memset(begun->levels, LEVEL_OPEN, sizeof begun->levels);
    set_level(begun, c, number % levels[c]);
    set_level(begun, b, number / levels[c] % levels[b]);
    set_level(begun, a, number / levels[c] / levels[b]);
    begun->gain = 1;
}

/* Numbers the tuples, and opens those whose levels can stand together. */
static void open_tuples(generator *made)
{
    candidate begun;
    EACH_THREE(made, a, b, c)
    {
        made->begin[a][b][c] = made->room;
        made->room += tuples_of(made, a, b, c);
    }
    made->open = allocate(made->room + 1);
    EACH_THREE(made, a, b, c)
    for (size_t i = 0; i < tuples_of(made, a, b, c); i++) {
        begin_entry(made, a, b, c, i, &begun);
        made->left += made->open[made->begin[a][b][c] + i] =
            made->asked->allows(made->asked->context, begun.levels);
    }
}

/* An entry with nothing in it but an open tuple, a drawn one. */
static unsigned char *begin_with_open(generator *made, candidate *begun)
{
    size_t from = below(made, made->room);
    unsigned char *found = memchr(made->open + from, 1, made->room - from);
    found = found ? found : memchr(made->open, 1, made->room);
    EACH_THREE(made, a, b, c)
    {
        size_t within = (size_t)(found - made->open) - made->begin[a][b][c];
        if (within < tuples_of(made, a, b, c)) /* what is less than 0 is large */
            begin_entry(made, a, b, c, within, begun);
    }
    return found;
}

static bool complete_entry(generator *made, candidate *of)
{
    size_t order[COVERING_FACTORS + 1];
    for (size_t i = 0; i < made->factors; i++) {
        size_t other = below(made, i + 1);
        order[i] = order[other];
        order[other] = i;
    }
    for (size_t i = 0; i < made->factors; i++)
        if (of->levels[order[i]] == LEVEL_OPEN && !choose_level(made, of, order[i]))
            return false;
    return true;
}

static void cover(generator *made, const int8_t *levels)
{
    EACH_THREE(made, a, b, c)
    {
        unsigned char *at = tuple_at(made, levels, a, b, c);
        made->left -= *at == OPEN;
        made->given_up -= *at == GIVEN_UP;
        *at = 0;
    }
}

/* The entry that covers most of a few. False: none could be completed from the last tuple tried. */
static bool best_entry(generator *made, candidate *best)
{
    unsigned char *begun = NULL;
    best->gain = 0;
    for (size_t i = 0; i < CANDIDATES; i++) {
        candidate tried;
        begun = begin_with_open(made, &tried);
        if (complete_entry(made, &tried) && tried.gain > best->gain)
            *best = tried;
    }
    if (best->gain > 0)
        return true;
    *begun = GIVEN_UP; /* no entry could be made of it, unless it comes with others */
    made->left--;
    made->given_up++;
    return false;
}

covering_array covering_make(arena *memory, const covering_question *asked)
{
    const bool pairs = asked->strength == 2;
    covering_array array = {.factors = asked->factors,
                            .entries = arena_new(memory, int8_t, asked->most * asked->factors)};
    generator *made = allocate(sizeof *made);
    *made = (generator){.asked = asked,
                        .random = asked->seed,
                        .factors = asked->factors + pairs,
                        .first_last = pairs ? asked->factors : 2};
    memcpy(made->levels, asked->levels, asked->factors * sizeof *made->levels);
    made->levels[asked->factors] = 1;
    open_tuples(made);
    array.tuples = made->left;
    while (made->left > 0 && array.count < asked->most) {
        candidate best;
        if (!best_entry(made, &best))
            continue;
        memcpy(array.entries + array.count++ * asked->factors, best.levels, asked->factors);
        cover(made, best.levels);
    }
    array.covered = (array.tuples -= made->given_up) - made->left;
    free(made->open);
    free(made);
    return array;
}
