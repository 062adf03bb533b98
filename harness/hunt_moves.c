/* How a hunt changes rows. Small steps in bits (an ulp, a flipped bit) find the last rounding;
 * steps on the whole row (shift, scale) find the kappa and the binade where it hurts. */
#include "hunt.h"
#include "inputs.h"
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

static void put(float *at, double value)
{
    float rounded = (float)value;
    if (isfinite(rounded))
        *at = rounded;
}

/* By a change of its bits. */
static void change_bits(float *at, uint32_t flipped, int32_t steps)
{
    uint32_t bits;
    float value;
    memcpy(&bits, at, sizeof bits);
    bits = (bits ^ flipped) + (uint32_t)steps;
    memcpy(&value, &bits, sizeof value);
    if (isfinite(value))
        *at = value;
}

static double power_of_half(unsigned exponent)
{
    return 1.0 / (double)(UINT64_C(1) << exponent);
}

/* One element. */
static void move_element(hunt_random *random, float *x, size_t hidden)
{
    size_t i = draw_column(random, hidden), j = draw_column(random, hidden);
    uint32_t drawn = hunt_draw(random);
    double sign = drawn & 0x100 ? 1 : -1;
    switch (drawn % 8) {
    case 0:
        change_bits(&x[i], UINT32_C(1) << (drawn >> 16) % 32, 0);
        break;
    case 1:
    case 2:
        change_bits(&x[i], 0, (int32_t)((drawn >> 16) % 9) - 4);
        break;
    case 3:
        x[i] = x[j];
        break;
    case 4: {
        float kept = x[i];
        x[i] = x[j];
        x[j] = kept;
        break;
    }
    case 5:
        x[i] = -x[i];
        break;
    case 6:
        put(&x[i], (double)x[i] * (drawn & 0x100 ? 2 : 0.5));
        break;
    default:
        put(&x[i], (double)x[j] * (1 + sign * power_of_half((drawn >> 16) % 24)));
    }
}

/* The whole row, or a stretch of it. */
static void move_row(hunt_random *random, float *x, size_t hidden)
{
    size_t first = draw_column(random, hidden), second = draw_column(random, hidden);
    uint32_t drawn = hunt_draw(random);
    double sign = drawn & 0x100 ? 1 : -1, part = power_of_half((drawn >> 16) % 24);
    size_t length = 1 + second % 16;
    switch (drawn % 4) {
    case 0: { /* shift by a part of some element */
        double shift = sign * part * (double)x[first];
        for (size_t i = 0; i < hidden; i++)
            put(&x[i], (double)x[i] + shift);
        break;
    }
    case 1: /* scale: by 2 or a half, or by a little */
        for (size_t i = 0; i < hidden; i++)
            put(&x[i], (double)x[i] * (part == 1 ? (sign > 0 ? 2 : 0.5) : 1 + sign * part));
        break;
    case 2: /* a stretch becomes like its first */
        for (size_t i = first; i < hidden && i < first + length; i++)
            x[i] = x[first];
        break;
    default: /* a stretch moves away */
        for (size_t i = first; i < hidden && i < first + length; i++)
            put(&x[i], (double)x[i] + sign * part * (double)x[second]);
    }
}

void hunt_mutate(hunt_random *random, float *x, size_t hidden)
{
    uint32_t drawn = hunt_draw(random);
    unsigned moves = 1U << drawn % 4;
    for (unsigned i = 0; i < moves; i++) {
        if ((drawn >> (8 + i)) % 4 == 0)
            move_row(random, x, hidden);
        else
            move_element(random, x, hidden);
    }
}
