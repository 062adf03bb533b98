/* How a hunt changes rows. Small steps in bits (an ulp, a flipped bit) find the last rounding;
 * steps on the whole row (shift, scale) find the kappa and the binade where it hurts. */
#include "base/random.h"
#include "referee/hunt/hunt.h"
#include "metrics/storage.h"
#include <math.h>
#include <string.h>

uint32_t hunt_draw(hunt_random *random)
{
    /* Apart from the streams of the input families, which have the seed itself as their key. */
    static const uint64_t apart = UINT64_C(0x68756e7468756e74);
    if (random->left == 0) {
        philox4x32(random->seed ^ apart, random->counter++, random->restart, random->words);
        random->left = 4;
    }
    return random->words[--random->left];
}

static size_t draw_column(hunt_random *random, size_t hidden)
{
    return hunt_draw(random) % hidden;
}

/* A row under change. */
typedef struct changing {
    ln_type type;
    size_t hidden;
    void *x;
} changing;

static double at(const changing *row, size_t i)
{
    return storage_load(row->type, row->x, i);
}

static void copy(const changing *row, size_t to, size_t from)
{
    size_t size = dtype_size(row->type);
    memmove((char *)row->x + to * size, (char *)row->x + from * size, size);
}

/* Rounded; what would not be finite is left. */
static void put(const changing *row, size_t i, double value)
{
    double rounded;
    storage_store(row->type, &rounded, 0, value);
    if (isfinite(storage_load(row->type, &rounded, 0)))
        storage_store(row->type, row->x, i, value);
}

/* By a change of its bits: flipped is the number of the bit to flip, or beyond them. */
static void change_bits(const changing *row, size_t i, unsigned flipped, int steps)
{
    size_t size = dtype_size(row->type);
    void *element = (char *)row->x + i * size;
    uint64_t bits = 0, changed;
    memcpy(&bits, element, size);
    changed = (flipped < 64 ? bits ^ UINT64_C(1) << flipped : bits) + (uint64_t)(int64_t)steps;
    memcpy(element, &changed, size);
    if (!isfinite(at(row, i)))
        memcpy(element, &bits, size);
}

static double power_of_half(unsigned exponent)
{
    return 1.0 / (double)(UINT64_C(1) << exponent);
}

/* p of the type: parts of an element below 2^-p are none. */
static unsigned precision_of(ln_type type)
{
    return type == LN_F32 ? 24 : type == LN_F64 ? 53 : type == LN_BF16 ? 8 : 11;
}

/* One element. */
static void move_element(hunt_random *random, const changing *row)
{
    enum { NO_BIT = 64 };
    size_t i = draw_column(random, row->hidden), j = draw_column(random, row->hidden);
    uint32_t drawn = hunt_draw(random);
    double sign = drawn & 0x100 ? 1 : -1;
    switch (drawn % 8) {
    case 0:
        change_bits(row, i, (drawn >> 16) % (8 * (unsigned)dtype_size(row->type)), 0);
        break;
    case 1:
    case 2:
        change_bits(row, i, NO_BIT, (int)((drawn >> 16) % 9) - 4);
        break;
    case 3:
        copy(row, i, j);
        break;
    case 4: {
        double kept = at(row, i);
        copy(row, i, j);
        put(row, j, kept);
        break;
    }
    case 5:
        put(row, i, -at(row, i));
        break;
    case 6:
        put(row, i, at(row, i) * (drawn & 0x100 ? 2 : 0.5));
        break;
    default:
        put(row, i,
            at(row, j) * (1 + sign * power_of_half((drawn >> 16) % precision_of(row->type))));
    }
}

/* The whole row, or a stretch of it. */
static void move_row(hunt_random *random, const changing *row)
{
    size_t hidden = row->hidden;
    size_t first = draw_column(random, hidden), second = draw_column(random, hidden);
    uint32_t drawn = hunt_draw(random);
    double sign = drawn & 0x100 ? 1 : -1;
    double part = power_of_half((drawn >> 16) % precision_of(row->type));
    size_t length = 1 + second % 16;
    switch (drawn % 4) {
    case 0: { /* shift by a part of some element */
        double shift = sign * part * at(row, first);
        for (size_t i = 0; i < hidden; i++)
            put(row, i, at(row, i) + shift);
        break;
    }
    case 1: /* scale: by 2 or a half, or by a little */
        for (size_t i = 0; i < hidden; i++)
            put(row, i, at(row, i) * (part == 1 ? (sign > 0 ? 2 : 0.5) : 1 + sign * part));
        break;
    case 2: /* a stretch becomes like its first */
        for (size_t i = first; i < hidden && i < first + length; i++)
            copy(row, i, first);
        break;
    default: /* a stretch moves away */
        for (size_t i = first; i < hidden && i < first + length; i++)
            put(row, i, at(row, i) + sign * part * at(row, second));
    }
}

void hunt_mutate(hunt_random *random, ln_type type, void *x, size_t hidden)
{
    const changing row = {type, hidden, x};
    uint32_t drawn = hunt_draw(random);
    unsigned moves = 1U << drawn % 4;
    for (unsigned i = 0; i < moves; i++) {
        if ((drawn >> (8 + i)) % 4 == 0)
            move_row(random, &row);
        else
            move_element(random, &row);
    }
}
