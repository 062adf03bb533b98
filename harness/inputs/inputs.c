/* Input families, and inputs by name: families, files, adversarial rows, several in turn; in every type.
 *
 * Families are computed in f32, only from integers and the double operations + - * / and sqrt, whose rounding IEEE 754
 * defines, so that every compiler and machine gives the same bits. Rows of the other types are made from those of f32,
 * so that a family has the same properties in all of them:
 *
 * f64: elements keep their f32 value, with 29 further bits below it, which are a hash of the element (so that equal
 * elements stay equal, and opposite ones opposite). Short numbers, such as small integers and quarters of them, do not
 * change. Rows whose squares leave the range of f32 are scaled so that their squares leave the range of f64.
 *
 * bf16, f16: elements are rounded to nearest, ties to even. A row that is beyond the type's range is scaled by a power
 * of two first: to just below the type's largest number, or to its subnormals if it is below all normal numbers.
 *
 * Offset rows are made in each type on their own, since the largest kappa depends on the precision. A NaN keeps its
 * sign, and as much of its payload as fits. */
#include "inputs/inputs.h"
#include "base/arena.h"
#include "base/hash.h"
#include "base/text.h"
#include "domain/operation.h"
#include "exact/scale.h"
#include "inputs/worst.h"
#include <ctype.h>
#include <stdio.h>

static const char offset_prefix[] = "offset:";

enum {
    MORE_BITS = 29,  /* the bits that f64's fraction has more than f32's */
    SHORT_BITS = 4,  /* a float whose last bits are so many zeros is a short number */
    F64_UP = 895,    /* the power of two that scales 2^128 to 2^1023 */
    F64_DOWN = -896, /* the power of two that scales 2^-126 to 2^-1022 */
};

/* ---- names of inputs ---- */

size_t input_archive_length(const char *path)
{
    static const char *const endings[] = {".npz", ".safetensors"};
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        const char *found = path;
        while ((found = strstr(found, endings[i]))) {
            found += strlen(endings[i]);
            if (*found == ':' || *found == '\0')
                return (size_t)(found - path);
        }
    }
    return 0;
}

bool input_is_file(const char *input)
{
    size_t length = strlen(input);
    return (length >= 4 && strcmp(input + length - 4, ".npy") == 0) ||
           input_archive_length(input) > 0;
}

/* Returns the text after the next '+' that is not part of a number; NULL: there is none. */
static const char *next_part(const char *input)
{
    const char *plus = input_is_file(input) || input_is_worst(input) ? NULL : strchr(input, '+');
    while (plus && !islower((unsigned char)plus[1]))
        plus = strchr(plus + 1, '+');
    return plus ? plus + 1 : NULL;
}

/* Returns the number of families that come in turn. */
static size_t count_parts(const char *input)
{
    size_t count = 1;
    while ((input = next_part(input)))
        count++;
    return count;
}

/* Finds the family of row `row`. */
static void part_of_row(const char *input, size_t row, char part[INPUT_MAX_LENGTH])
{
    for (size_t left = row % count_parts(input); left > 0; left--)
        input = next_part(input);
    const char *next = next_part(input);
    snprintf(part, INPUT_MAX_LENGTH, "%.*s", next ? (int)(next - input - 1) : INPUT_MAX_LENGTH - 1,
             input);
}

static const input_family *family_named(const char *name)
{
    size_t count;
    const input_family *families = input_families(&count);
    for (size_t i = 0; i < count; i++)
        if (strcmp(name, families[i].name) == 0)
            return &families[i];
    return NULL;
}

static _Noreturn void die_unknown(const char *input)
{
    size_t count;
    const input_family *families = input_families(&count);
    const char *names[64];
    char meant[MEANT_LENGTH];
    for (size_t i = 0; i < count; i++)
        names[i] = families[i].name;
    die(EXIT_CODE_USAGE,
        "unknown input '%.64s'%s: expected a family (see 'lnbench list inputs'), "
        "offset:KAPPA, worst, worst:PATH or a file: FILE.npy, FILE.npz:NAME, "
        "FILE.safetensors:NAME",
        input, did_you_mean(input, names, count, meant));
}

/* Returns true if offset_row() makes the rows: "offset", "kappa" (*kappa is 0), and "offset:KAPPA". */
static bool is_offset(const char *input, double *kappa)
{
    const size_t prefix = strlen(offset_prefix);
    *kappa = 0;
    if (strcmp(input, "offset") == 0 || strcmp(input, "kappa") == 0)
        return true;
    if (strncmp(input, offset_prefix, prefix) != 0)
        return false;
    if (!number_parse(input + prefix, strlen(input + prefix), kappa) || *kappa < 1 || *kappa > 1e8)
        die(EXIT_CODE_USAGE,
            "input '%.64s': kappa must be a number from 1 to 1e8, such as offset:1e4", input);
    return true;
}

void input_check_type(const char *input, ln_type type)
{
    if (strlen(input) >= INPUT_MAX_LENGTH)
        die(EXIT_CODE_USAGE, "input '%.64s...': longer than %d characters: give a shorter path",
            input, INPUT_MAX_LENGTH - 1);
    for (size_t i = 0; i < count_parts(input); i++) {
        char part[INPUT_MAX_LENGTH];
        double kappa;
        part_of_row(input, i, part);
        if (input_is_file(part) || input_is_worst(part) || family_named(part))
            continue;
        if (!is_offset(part, &kappa))
            die_unknown(part);
        if (kappa > offset_kappa_most(type))
            die(EXIT_CODE_USAGE,
                "input '%.64s': %s can have kappa from 1 to %g: choose less, or another type", part,
                dtype_name(type), offset_kappa_most(type));
    }
}

void input_check(const char *input)
{
    input_check_type(input, LN_F32); /* f32 can have every kappa up to 1e8 */
}

bool case_is_edge_case(const case_key *key)
{
    const input_family *family = family_named(key->input);
    ln_convention convention;
    return (family && family->edge_case) ||
           (convention_parse(key->convention, &convention, NULL) &&
            (convention.eps_place == LN_EPS_NONE || convention.eps_place == LN_EPS_QUOTIENT));
}

/* ---- random numbers by row and column ---- */

_Static_assert(FLT_EVAL_METHOD == 0, "double arithmetic must not be carried out in a wider type");

/* One row of a stream: 2^50 columns of 32 random bits. Four columns come from one Philox call, so reading from left to
 * right is cheapest. */
typedef struct random_row {
    uint64_t seed, row;
    input_stream stream;
    uint64_t block; /* the block of four columns to which `words` belong */
    uint32_t words[4];
} random_row;

static random_row random_row_begin(uint64_t seed, input_stream stream, uint64_t row)
{
    return (random_row){.seed = seed, .row = row, .stream = stream, .block = UINT64_MAX};
}

static uint32_t random_bits(random_row *random, size_t column)
{
    uint64_t block = (uint64_t)column / 4;
    if (block != random->block) {
        philox4x32(random->seed, block | (uint64_t)random->stream << 48, random->row,
                   random->words);
        random->block = block;
    }
    return random->words[column % 4];
}

/* Returns a uniform multiple of 2^-32 in [0, 1). */
static double random_uniform(random_row *random, size_t column)
{
    return (double)random_bits(random, column) * 0x1p-32;
}

/* Returns a standard normal number, see normal_from_bits(). */
static double random_normal(random_row *random, size_t column)
{
    return normal_from_bits(random_bits(random, column));
}

/* Returns ln(odd / 2^33) for 0 < odd < 2^33, without libm: odd = m 2^e with m in [2^-1/2, 2^1/2), and ln m = 2
 * artanh(s) for s = (m - 1) / (m + 1), |s| < 0.1716, by its series. The error of eight terms is 2 s^17 / 17 < 2e-14. */
static double log_of_fraction(uint64_t odd)
{
    static const double terms[] = {1.0 / 15, 1.0 / 13, 1.0 / 11, 1.0 / 9,
                                   1.0 / 7,  1.0 / 5,  1.0 / 3,  1.0};
    int e = 31 - __builtin_clzll(odd);
    double m = (double)(odd << -e) * 0x1p-33;
    if (m < 0.70710678118654752) {
        m *= 2;
        e--;
    }
    double s = (m - 1) / (m + 1), square = s * s, sum = 0;
    for (size_t k = 0; k < sizeof terms / sizeof *terms; k++)
        sum = sum * square + terms[k];
    return 2 * s * sum + e * 0.69314718055994531;
}

/* Inverts the normal distribution by rational functions: M. Wichura, "Algorithm AS 241: The percentage points of the
 * normal distribution", Applied Statistics 37 (1988), routine PPND7 (relative error about 1e-7). The outermost value,
 * +-6.34, has the probability 2^-33. */
double normal_from_bits(uint32_t bits)
{
    double q = ((double)bits + 0.5) * 0x1p-32 - 0.5;
    if (q >= -0.425 && q <= 0.425) {
        double r = 0.180625 - q * q;
        double above = ((59.109374720 * r + 159.29113202) * r + 50.434271938) * r + 3.3871327179;
        double below = ((67.187563600 * r + 78.757757664) * r + 17.895169469) * r + 1.0;
        return q * above / below;
    }
    uint64_t near_end = q < 0 ? bits : UINT32_MAX - bits;
    double r = sqrt(-log_of_fraction(2 * near_end + 1)), z;
    if (r <= 5) {
        r -= 1.6;
        double above = ((0.17023821103 * r + 1.3067284816) * r + 2.7568153900) * r + 1.4234372777;
        double below = (0.12021132975 * r + 0.73700164250) * r + 1.0;
        z = above / below;
    } else {
        r -= 5;
        double above = ((0.017337203997 * r + 0.42868294337) * r + 3.0812263860) * r + 6.6579051150;
        double below = (0.012258202635 * r + 0.24197894225) * r + 1.0;
        z = above / below;
    }
    return q < 0 ? -z : z;
}

/* ---- rows of a given condition number ----
 *
 * Rows of a given condition number kappa = sqrt(sum x^2 / (N var)) = sqrt(1 + mean^2 / var).
 *
 * A normal row, centred and scaled to standard deviation s, is shifted by M = sqrt(kappa^2 - 1). With s = 1 the row has
 * this kappa, until the rounding of M + s z to the type matters: at kappa 1e8 neighbouring floats differ by 8, and the
 * variance is that of a few elements that round to another float. There a search finds the s with which the rounded row
 * is nearest to the wanted kappa: in f32 within 1 % from hidden 64 on, up to kappa 1e7 (a row of two elements that
 * differ by one float has at most kappa 2^24 to 2^25).
 *
 * A row of N numbers of p bits, one of which differs from the others by an ulp, has at most kappa 2^p N / sqrt(N - 1).
 * So the sweep ends at another kappa in each type: nine kappas in equal ratios from 1 to 1e3 (bf16), 1e4 (f16), 1e8
 * (f32) and 1e16 (f64). The family kappa goes up to that bound. */

/* The number of rows after which the sweep repeats. */
enum { OFFSET_SWEEP_ROWS = 9 };

/* The description of one offset row. */
typedef struct offset_place {
    ln_type type;
    uint64_t seed;
    size_t row, hidden;
    double kappa;    /* 0: the sweep */
    bool to_the_end; /* the sweep of the family kappa, up to the largest of type and hidden */
} offset_place;

enum { SEARCH_STEPS = 28 };

/* Returns base^exponent, computed by multiplications, which give the same bits everywhere. */
static double power_of(double base, size_t exponent)
{
    double power = 1;
    for (; exponent > 0; exponent--)
        power *= base;
    return power;
}

double offset_kappa_most(ln_type type)
{
    return type == LN_BF16 ? 1e3 : type == LN_F16 ? 1e4 : type == LN_F64 ? 1e16 : 1e8;
}

/* Returns a row's kappa in the type's sweep of nine rows: in f32 1, 10, ... 1e8 in turn. */
static double offset_sweep_kappa(ln_type type, size_t row)
{
    return power_of(sqrt(sqrt(sqrt(offset_kappa_most(type)))), row % OFFSET_SWEEP_ROWS);
}

/* Returns the kappa of a row of the family kappa, from 1 in equal ratios to the largest that type and hidden can have.
 * In f16, rows with a deviation of 1 reach the end of the range before that, so only the last row has the largest. */
static double kappa_to_the_end(const offset_place *place)
{
    const double n = (double)place->hidden, spread = n > 1 ? n / sqrt(n - 1) : 1;
    const double most = ldexp(spread, format_of(place->type).precision);
    const double product = place->type == LN_F16 && most > 0x1p15 ? 0x1p15 : most;
    double low = 1, high = product; /* bounds of the ratio, whose 17th power is the product */
    for (int step = 0; step < 100; step++) {
        const double middle = low + (high - low) / 2;
        double power = 1;
        for (int i = 0; i < KAPPA_ROWS - 1 && power <= product; i++)
            power *= middle;
        if (power <= product)
            low = middle;
        else
            high = middle;
    }
    return power_of(low, place->row % KAPPA_ROWS);
}

/* Returns the scale between low and high with which the row is nearest to kappa, by bisection, since kappa falls as the
 * scale rises. Differences from the shift are exact. kappa is infinite if all elements are equal. */
static double search_scale(const offset_place *place, const double *z, double shift, double low,
                           double high, double kappa)
{
    double best = high, best_ratio = INFINITY, n = (double)place->hidden;
    for (int step = 0; step < SEARCH_STEPS; step++) {
        double middle = sqrt(low * high), sum = 0, squares = 0;
        for (size_t i = 0; i < place->hidden; i++) {
            double difference = stored_in(place->type, shift + middle * z[i]) - shift;
            sum += difference;
            squares += difference * difference;
        }
        double mean = shift + sum / n, var = (squares - sum * (sum / n)) / n;
        double found = var > 0 ? sqrt(mean * mean / var + 1) : INFINITY;
        double ratio = found > kappa ? found / kappa : kappa / found;
        if (ratio < best_ratio) {
            best_ratio = ratio;
            best = middle;
        }
        if (found > kappa)
            low = middle;
        else
            high = middle;
    }
    return best;
}

/* Fills x with the row of largest kappa: all elements are the largest number of a binade, in which numbers differ by u,
 * and one is u less. Its deviation is u sqrt(N - 1) / N, so kappa is nearly 2^p N / sqrt(N - 1). u is the power of two
 * for which the deviation is nearest to 1. */
static void top_row(const offset_place *place, void *x)
{
    double n = (double)place->hidden, u = 1, deviation = n > 1 ? sqrt(n - 1) / n : 1;
    double most = place->type == LN_F16 ? 32 : INFINITY; /* 65504, f16's largest, is 2047 * 32 */
    while (u * deviation < 0.5 && u < most)
        u *= 2;
    double top = ldexp(1, format_of(place->type).precision) - 1;
    random_row random = random_row_begin(place->seed, STREAM_CHOICE, place->row);
    for (size_t i = 0; i < place->hidden; i++)
        storage_store(place->type, x, i, top * u);
    storage_store(place->type, x, random_bits(&random, 0) % place->hidden, (top - 1) * u);
}

/* Fills z with a centred normal row, and returns the factor that gives it a deviation of 1. In f32 it is rounded before
 * it is centred, so that rows of earlier versions of lnbench keep their bits. */
static double normal_row(const offset_place *place, double *z)
{
    double n = (double)place->hidden, sum = 0, squares = 0;
    random_row random = random_row_begin(place->seed, STREAM_OFFSET, place->row);
    for (size_t i = 0; i < place->hidden; i++) {
        double drawn = random_normal(&random, i);
        z[i] = place->type == LN_F32 ? (double)(float)drawn : drawn;
        sum += z[i];
    }
    for (size_t i = 0; i < place->hidden; i++) {
        z[i] -= sum / n;
        squares += z[i] * z[i];
    }
    return squares > 0 ? 1 / sqrt(squares / n) : 1;
}

/* Fills x with an offset row; z has room for hidden doubles. */
static void offset_row(const offset_place *place, double *z, void *x)
{
    if (place->to_the_end && place->row % KAPPA_ROWS == KAPPA_ROWS - 1) {
        top_row(place, x);
        return;
    }
    double kappa = place->kappa > 0    ? place->kappa
                   : place->to_the_end ? kappa_to_the_end(place)
                                       : offset_sweep_kappa(place->type, place->row);
    double scale = normal_row(place, z);
    double shift = stored_in(place->type, sqrt((kappa - 1) * (kappa + 1)));
    double ulp = ldexp(shift, 1 - format_of(place->type).precision); /* an upper bound of the ulp */
    /* A change of half an ulp moves an element to the next number; f32's offset rows do not need that much. */
    double reach = place->type != LN_F32 ? ulp : place->to_the_end ? 2 * ulp : 0;
    if (ulp > 0x1p-10) /* else the row has the wanted kappa to 0.1 % */
        scale = search_scale(place, z, shift, scale / 4, scale * 32 + reach, kappa);
    for (size_t i = 0; i < place->hidden; i++) {
        double made = stored_in(place->type, shift + scale * z[i]);
        storage_store(place->type, x, i, place->row % 2 == 0 ? made : -made);
    }
}

/* ---- the elements of each family ---- */

/* The element that is computed: column i of a row of a family, with the family's two streams of random numbers. */
typedef struct made_element {
    uint64_t seed;
    size_t row, hidden, i;
    random_row random, other;
} made_element;

static double with_sign_of(uint32_t bits, double size)
{
    return bits & 1 ? size : -size;
}

static double normal_element(made_element *at)
{
    return random_normal(&at->random, at->i);
}

/* Returns a multiple of 2^-23 in [-1, 1), which is exact in f32. */
static double uniform_element(made_element *at)
{
    return (double)(random_bits(&at->random, at->i) >> 8) * 0x1p-23 - 1;
}

/* Returns the column, counted from the row's end in odd rows. */
static size_t turned(const made_element *at)
{
    return at->row % 2 == 0 ? at->i : at->hidden - 1 - at->i;
}

/* Returns quarters of integers, ascending in even rows and descending in odd ones; exact up to hidden 2^24. */
static double ramp_element(made_element *at)
{
    return (double)(at->row % 8 + turned(at)) * 0.25;
}

/* Returns the constant of the row: 0, numbers whose N-fold sum is exact, and numbers whose sum is rounded, so that the
 * average is another number. */
static double constant_element(made_element *at)
{
    static const float constants[8] = {1.0F,    0.1F,     -3.3333333F, 0.0F,
                                       123.45F, 1e4F / 3, -7.7e6F,     1e-6F};
    return (double)constants[at->row % 8];
}

/* Returns the special column: the first, the last, or a random one, so that x[0] as a pivot and a dropped remainder are
 * tested early. */
static size_t special_column(made_element *at)
{
    const size_t turn = at->row % 3;
    return turn == 0 ? 0 : turn == 1 ? at->hidden - 1 : random_bits(&at->other, 0) % at->hidden;
}

static double spike_element(made_element *at)
{
    static const float grounds[4] = {0.0F, 1.0F, 1e4F, -0.1F};
    static const float heights[5] = {1.0F, 1000.0F, -1e6F, 1e-3F, 30.0F};
    const double ground = (double)grounds[at->row % 4];
    return at->i == special_column(at) ? ground + (double)heights[at->row % 5] : ground;
}

/* Returns elements of normal rows in which one channel in 128 (at least one) has a fixed sign and is 16 to 128 times as
 * large in every row, as in the hidden states of large transformers. */
static double outlier_channels_element(made_element *at)
{
    const double z = random_normal(&at->random, at->i);
    const uint32_t channel = random_bits(&at->other, at->i);
    if (at->i != at->seed % at->hidden && channel % 128 != 0)
        return z;
    const double scale = (double)(16U << (channel >> 8) % 4);
    return (channel >> 16 & 1 ? scale : -scale) * (1 + z / 8);
}

static double alternating_element(made_element *at)
{
    const double size = 100 * (1 + random_uniform(&at->random, at->i) / 8);
    return (at->i + at->row) % 2 == 0 ? size : -size;
}

/* Returns numbers from 1e30 to 2e30 of either sign: in f32 their squares overflow, but the normalised row does not. */
static double huge_element(made_element *at)
{
    const uint32_t bits = random_bits(&at->random, at->i);
    return with_sign_of(bits, 1e30 * (1 + (double)(bits >> 1) * 0x1p-31));
}

/* Returns multiples of 2^-149 below 2^-126, whose squares are 0 in f32. */
static double subnormal_element(made_element *at)
{
    const uint32_t bits = random_bits(&at->random, at->i);
    return with_sign_of(bits, (double)(bits >> 9) * 0x1p-149);
}

static uint32_t bits_of_float(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static float float_from_bits(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* Puts a quiet NaN of either sign and of two payloads into three of four rows. The fourth has none, so that a NaN that
 * leaks into the next row is found. */
static void put_nan(made_element *at, float *x)
{
    static const uint32_t nans[3] = {0x7fc00000, 0xffc00000, 0x7fc12345};
    if (at->row % 4 < 3)
        x[special_column(at)] = float_from_bits(nans[at->row % 4]);
}

/* Puts +Inf, -Inf, or both (if hidden > 1) into three of four rows. */
static void put_infinities(made_element *at, float *x)
{
    const size_t turn = at->row % 4, column = special_column(at);
    if (turn < 3)
        x[column] = turn == 1 ? -INFINITY : INFINITY;
    if (turn == 2 && at->hidden > 1)
        x[(column + 1) % at->hidden] = -INFINITY;
}

/* ---- families with a special order of elements, or special differences ---- */

/* Returns elements of constant rows in which at least one element, and about one in `of`, is one to four floats larger:
 * the variance is about the square of an ulp, too small for a rounded mean. */
static double near_constant_element(made_element *at)
{
    static const float constants[6] = {1.0F, 256.0F, -0.1F, 1e4F, 3.3333333F, -1449.5F};
    static const uint32_t of[3] = {2, 16, 1U << 20};
    const uint32_t constant = bits_of_float(constants[at->row % 6]);
    const uint32_t drawn = random_bits(&at->random, at->i);
    const uint32_t above = at->i == at->seed % at->hidden ? 1
                           : drawn % of[at->row % 3] == 0 ? 1 + (drawn >> 30)
                                                          : 0;
    return (double)float_from_bits(constant + above);
}

/* Returns one of two values; the second has a probability of 1/2, 1/8 or 1/64. */
static double two_valued_element(made_element *at)
{
    static const float pairs[6][2] = {{0.0F, 1.0F},   {1.0F, 1.0000001F}, {-1e4F, 1e4F},
                                      {0.1F, 100.1F}, {-1.0F, 1.0F},      {255.0F, 256.0F}};
    static const int shift[3] = {31, 29, 26};
    return (
        double)pairs[at->row % 6][random_bits(&at->random, at->i) >> shift[at->row / 6 % 3] == 0];
}

static int compare_floats(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

/* Sorts even rows in ascending order, odd ones in descending order. */
static void sort_row(made_element *at, float *x)
{
    const size_t hidden = at->hidden;
    qsort(x, hidden, sizeof *x, compare_floats);
    for (size_t i = 0; at->row % 2 == 1 && i < hidden / 2; i++) {
        float kept = x[i];
        x[i] = x[hidden - 1 - i];
        x[hidden - 1 - i] = kept;
    }
}

/* Returns numbers in [1, 2): partial sums only grow, and errors do not cancel. */
static double positive_element(made_element *at)
{
    return 1 + (double)(random_bits(&at->random, at->i) >> 9) * 0x1p-23;
}

/* Returns elements each half as large as the one before, over 40 binades and then from the start; descending in even
 * rows, ascending in odd ones; with random signs in every other pair of rows. */
static double geometric_element(made_element *at)
{
    const uint32_t bits = random_bits(&at->random, at->i);
    const double size = (1 + (double)(bits >> 1) * 0x1p-31) * (double)(UINT64_C(1) << 40) /
                        (double)(UINT64_C(1) << turned(at) % 40);
    return at->row / 2 % 2 == 1 && (bits & 1) ? -size : size;
}

/* Returns elements of blocks of 64 (or 16, or 256), each of which is normal with a mean of its own. */
static double blocks_element(made_element *at)
{
    static const size_t sizes[3] = {64, 16, 256};
    const double mean = 1000 * random_normal(&at->other, at->i / sizes[at->row % 3]);
    return mean + random_normal(&at->random, at->i);
}

/* Returns an integer from -128 to 127, in odd rows from 0 to 255, times the scale of the row. */
static double quantised_element(made_element *at)
{
    static const double scales[4] = {1.0 / 127, 0.05, 0.0078125, 1.5};
    const double z = random_normal(&at->random, at->i) * 32;
    const int level = (int)(z < -128 ? -128 : z > 127 ? 127 : z);
    return (level + (at->row % 2 == 1 ? 128 : 0)) * scales[at->row % 4];
}

/* Returns zeros, except for one element in 2, 8 or 32, which is the absolute value of a normal number. */
static double sparse_element(made_element *at)
{
    static const uint32_t of[3] = {2, 8, 32};
    const double z = random_normal(&at->random, at->i);
    const bool kept = random_bits(&at->other, at->i) % of[at->row % 3] == 0;
    return kept ? (z < 0 ? -z : z) : 0;
}

/* Returns +0, -0, or both in turn; or zeros and one element that is the smallest subnormal, the smallest normal number,
 * or 1. */
static double signed_zeros_element(made_element *at)
{
    static const double lonely[6] = {0, 0, 0, 0x1p-149, 0x1p-126, 1};
    const size_t kind = at->row % 6;
    if (kind >= 3 && at->i == at->row / 6 % at->hidden)
        return lonely[kind];
    return kind == 0 || (kind != 1 && at->i % 2 == 0) ? 0.0 : -0.0;
}

/* Returns elements of normal rows whose first one is 1 to 1e8 times as large, and so a bad pivot for the others. */
static double bad_pivot_element(made_element *at)
{
    const double scale = 1.5 * offset_sweep_kappa(LN_F32, at->row);
    return at->i > 0 ? random_normal(&at->random, at->i) : at->row % 2 == 0 ? scale : -scale;
}

/* ---- families with elements of very different sizes, or near the ends of f32's range ---- */

/* Returns up to an eighth more than 1e-6 and 1e6 in turn; in odd rows the first half is small, the second large. */
static double alternating_scales_element(made_element *at)
{
    const bool large = at->row % 2 == 0 ? at->i % 2 == 1 : at->i >= at->hidden / 2;
    return (large ? 1e6 : 1e-6) * (1 + random_uniform(&at->random, at->i) / 8);
}

/* Returns Student's t with two degrees of freedom in even rows, by its quantile (2u - 1) / sqrt(2u(1 - u)); in odd ones
 * with one (Cauchy), as the ratio of two normal numbers. */
static double heavy_tails_element(made_element *at)
{
    const double u = ((double)random_bits(&at->random, at->i) + 0.5) * 0x1p-32;
    return at->row % 2 == 0 ? (2 * u - 1) / sqrt(2 * u * (1 - u))
                            : random_normal(&at->random, at->i) / random_normal(&at->other, at->i);
}

/* Returns elements of normal rows in which the same two channels have a fixed sign and are 1e3 to 1e5 times as large:
 * far fewer and far larger than outlier channels. */
static double massive_activations_element(made_element *at)
{
    static const double sizes[3] = {1e3, 1e4, 1e5};
    const double z = random_normal(&at->random, at->i), size = sizes[at->row % 3];
    return at->i == at->seed % at->hidden       ? size * (1 + z / 64)
           : at->i == at->seed / 7 % at->hidden ? -size * (0.5 + z / 64)
                                                : z;
}

/* Returns numbers of either sign from 2^62, whose squares nearly reach the end of f32's range, up to 2^127, whose
 * differences overflow. Squares overflow above 2^63.9. */
static double overflow_element(made_element *at)
{
    enum { LEAST = 62, STEP = 4, ROWS = 17 };
    const int exponent = LEAST + STEP * (int)(at->row % ROWS);
    const uint32_t bits = random_bits(&at->random, at->i);
    return with_sign_of(bits, ldexp(1, exponent < 127 ? exponent : 127) *
                                  (1 + (double)(bits >> 9) * 0x1p-23));
}

/* Returns normal numbers times 2^-58 to 2^-130: squares become subnormal, then 0, then the elements subnormal. */
static double underflow_element(made_element *at)
{
    enum { MOST = -58, STEP = 4, ROWS = 19 };
    return random_normal(&at->random, at->i) * ldexp(1, MOST - STEP * (int)(at->row % ROWS));
}

/* Returns normal numbers, which the tiny gamma of this family makes subnormal; in odd rows times 2^-142, so that with
 * an eps the output is tiny for every gamma. */
static double subnormal_out_element(made_element *at)
{
    return random_normal(&at->random, at->i) * (at->row % 2 == 0 ? 1 : 0x1p-142);
}

/* Returns elements of normal rows whose variance is an eighth, 1 or 8 times one of the usual eps. */
static double var_near_eps_element(made_element *at)
{
    static const double eps[6] = {1e-5, 1e-3, 1e-6, 1e-8, 1e-12, 1e-10};
    static const double times[3] = {1, 0.125, 8};
    return random_normal(&at->random, at->i) * sqrt(eps[at->row % 6] * times[at->row / 6 % 3]);
}

/* ---- the tensors that five documents print, with the printed digits (docs/lab/conventions.md) ---- */

/* "From scratch" chapter: two words of five numbers. */
static double document_000_element(made_element *at)
{
    static const float printed[2][5] = {
        {10.0F, 20.0F, 30.0F, 40.0F, 50.0F},
        {1.0F, 1.1F, 1.2F, 1.3F, 1.4F},
    };
    return (double)printed[at->row % 2][at->i % 5];
}

/* tinyllm: the output of its LayerNorm, because its input is not printed. */
static double document_001_element(made_element *at)
{
    static const float printed[6][4] = {
        {0.2828F, 1.4225F, -1.3231F, -0.3822F},  {-0.5129F, -1.2819F, 0.4060F, 1.3888F},
        {-0.1348F, -0.1960F, 1.5598F, -1.2290F}, {1.6377F, -0.3495F, -1.0720F, -0.2162F},
        {1.1558F, -1.1942F, -0.7673F, 0.8058F},  {-1.5553F, 0.3317F, 0.0108F, 1.2128F},
    };
    return (double)printed[at->row % 6][at->i % 4];
}

/* The notebook with z-scores: its `outputs`. */
static double document_002_element(made_element *at)
{
    static const float printed[3][6] = {
        {1.5778F, 1.6956F, -1.9398F, -0.6370F, 0.3499F, 0.9727F},
        {-0.9691F, -1.4902F, 0.8478F, -1.4404F, 0.0469F, -0.9731F},
        {1.0857F, 0.8106F, -0.1296F, 0.9529F, -0.5721F, -1.0813F},
    };
    return (double)printed[at->row % 3][at->i % 6];
}

/* Step by step: 1 to 24, six rows of four. */
static double document_003_element(made_element *at)
{
    return (double)(at->row % 6 * 4 + at->i % 4 + 1);
}

/* ---- gamma and beta: ordinary ones, and families whose gamma and beta are difficult, with their rows ---- */

/* The scalars are fixed. gamma is in the middle of a binade, so that its rounding does not hide a difference of
 * conventions; neither is a power of two. */
static const float scalar_gamma = 1.4375F + 0x1p-20F, scalar_beta = -0.15F;

/* Fills a parameter with normal numbers around `centre`, the first two of which differ. */
static void fill_parameter(random_row random, double centre, size_t hidden, float *to)
{
    for (size_t i = 0; i < hidden; i++)
        to[i] = (float)(centre + random_normal(&random, i) * 0.25);
    if (hidden > 1 && to[0] == to[1])
        to[1] += 0.125F;
}

/* Fills the ordinary parameters, which are never all equal; one element each under LN_AFFINE_SCALAR. Parameters that
 * the form does not have are not written. */
static void input_affine(const ln_convention *convention, uint64_t seed, size_t hidden,
                         float *const made[ROLES_MOST])
{
    float *gamma = made[ROLE_GAMMA], *beta = made[ROLE_BETA];
    if (convention->affine == LN_AFFINE_SCALAR) {
        *gamma = scalar_gamma;
        *beta = scalar_beta;
        return;
    }
    if (ln_has_gamma(convention->affine))
        fill_parameter(random_row_begin(seed, STREAM_GAMMA, 0),
                       convention->affine == LN_AFFINE_GAMMA1 ? 0 : 1, hidden, gamma);
    if (ln_has_beta(convention->affine))
        fill_parameter(random_row_begin(seed, STREAM_BETA, 0), 0, hidden, beta);
}

/* Returns the element of the gamma tensor for a factor: LN_AFFINE_GAMMA1 stores one less. */
static float stored(const ln_convention *convention, double gamma)
{
    return (float)(convention->affine == LN_AFFINE_GAMMA1 ? gamma - 1 : gamma);
}

/* Returns a normal number truncated to a multiple of 2^-12: integers up to 2^11 can be added to it exactly in f32. */
static double coarse_normal(random_row *random, size_t column)
{
    double z = random_normal(random, column) * 0x1p12;
    return (double)(long)z * 0x1p-12;
}

/* Returns one row at offsets 0, 1, 2, 4, ... 1024. The additions are exact, so all these rows have the same xhat. */
static double affine_cancellation_element(made_element *at)
{
    enum { OFFSETS = 12 };
    const size_t turn = at->row % OFFSETS;
    return coarse_normal(&at->random, at->i) + (turn == 0 ? 0 : (double)(1U << (turn - 1)));
}

/* Makes beta the rounded -gamma * xhat, with xhat of those rows in double, where sums of multiples of 2^-24 are exact:
 * y is then only the rounding error of beta and the kernel's errors. */
static void parameters_cancelling(const ln_convention *convention, uint64_t seed, size_t hidden,
                                  float *const made[ROLES_MOST])
{
    float *gamma = made[ROLE_GAMMA], *beta = made[ROLE_BETA];
    double n = (double)hidden, sum = 0, squares = 0;
    const double added = convention->eps_place == LN_EPS_QUOTIENT ? convention->eps : 0;
    random_row random = random_row_begin(seed, STREAM_CANCEL, 0);
    input_affine(convention, seed, hidden, made);
    if (!ln_has_beta(convention->affine))
        return;
    for (size_t i = 0; i < hidden; i++) {
        double z = coarse_normal(&random, i);
        sum += z;
        squares += z * z;
    }
    const double mean = sum / n;
    double var = (squares - sum * mean) / (n - (convention->ddof && hidden > 1 ? 1 : 0));
    double std = convention->eps_place == LN_EPS_VAR ? sqrt(var + convention->eps) : sqrt(var);
    if (convention->eps_place == LN_EPS_STD)
        std += convention->eps;
    const double rstd = std > 0 ? 1 / std : 0;
    random = random_row_begin(seed, STREAM_CANCEL, 0);
    for (size_t i = 0; i < ln_parameter_elements(convention->affine, hidden); i++) {
        double factor = convention->affine == LN_AFFINE_GAMMA1 ? 1 + (double)gamma[i] : gamma[i];
        beta[i] = (float)-(factor * ((coarse_normal(&random, i) - mean) * rstd + added));
    }
}

/* Returns a random number from 2^-40 to 2^40 of either sign for each channel. */
static double wide(random_row *random, size_t column)
{
    uint32_t bits = random_bits(random, column);
    double size = (1 + (double)(bits >> 9) * 0x1p-23) * (double)(UINT64_C(1) << bits % 81 / 2) *
                  (double)(UINT64_C(1) << (bits % 81 + 1) / 2) * 0x1p-40;
    return bits >> 8 & 1 ? size : -size;
}

static void parameters_wide(const ln_convention *convention, uint64_t seed, size_t hidden,
                            float *const made[ROLES_MOST])
{
    float *gamma = made[ROLE_GAMMA], *beta = made[ROLE_BETA];
    random_row gammas = random_row_begin(seed, STREAM_WIDE, 0);
    random_row betas = random_row_begin(seed, STREAM_WIDE, 1);
    for (size_t i = 0; i < ln_parameter_elements(convention->affine, hidden); i++) {
        gamma[i] = stored(convention, wide(&gammas, i));
        beta[i] = (float)wide(&betas, i);
    }
}

/* Makes gamma 2^-131 to 2^-130, and beta still smaller. gamma1 cannot hold such factors, so there they are 2^-24. */
static void parameters_subnormal(const ln_convention *convention, uint64_t seed, size_t hidden,
                                 float *const made[ROLES_MOST])
{
    float *gamma = made[ROLE_GAMMA], *beta = made[ROLE_BETA];
    random_row random = random_row_begin(seed, STREAM_SCALE, 0);
    for (size_t i = 0; i < ln_parameter_elements(convention->affine, hidden); i++) {
        double u = random_uniform(&random, i);
        bool one = convention->affine == LN_AFFINE_GAMMA1;
        gamma[i] = one ? -1 + 0x1p-24F : (float)((1 + u) * 0x1p-131);
        beta[i] = (float)((u - 0.5) * 0x1p-133);
    }
}

/* Returns m + s and m - s in turn, with s from 1 to 2^17 and m a small multiple of it. If hidden is even, mean and
 * deviation are exact; xhat is +-1 without eps, and for a large s so near to it that 53 bits do not show the
 * difference. */
static double ties_element(made_element *at)
{
    const double s = (double)(1U << at->row % 18), m = (double)(at->row % 4) * 3 * s;
    return at->i % 2 == 0 ? m + s : m - s;
}

/* Makes the first two elements differ if rounding made them equal. */
static void parameters_tell_apart(ln_type type, size_t count, void *to)
{
    if (count > 1 && storage_load(type, to, 0) == storage_load(type, to, 1))
        storage_store(type, to, 1, storage_load(type, to, 1) + 0.125);
}

/* Fills the parameters of the family ties, in the type's own precision p: gamma is 1 + j 2^(1 - p) with j > 0, and beta
 * half a unit in its last place. Their sum and their difference are midway between two numbers. */
static void parameters_of_ties(const operation_call *call, uint64_t seed)
{
    const ln_convention *convention = &call->problem.convention;
    ln_type type = call->problem.param;
    void *gamma = call->inputs[ROLE_GAMMA], *beta = call->inputs[ROLE_BETA];
    size_t count = ln_parameter_elements(convention->affine, call->problem.hidden);
    const int precision = format_of(type).precision;
    double ulp = ldexp(1, 1 - precision), one = convention->affine == LN_AFFINE_GAMMA1 ? 0 : 1;
    random_row random = random_row_begin(seed, STREAM_WIDE, 0);
    for (size_t i = 0; i < count; i++) {
        uint32_t bits = random_bits(&random, i);
        const uint64_t mixed = mix_bits(bits) >> (66 - precision); /* below a quarter of 2^p */
        const uint64_t j = 1 + (type == LN_F32 ? bits >> 10 : mixed);
        if (gamma)
            storage_store(type, gamma, i, one + (double)j * ulp);
        if (beta)
            storage_store(type, beta, i, bits & 1 ? 0.5 * ulp : -0.5 * ulp);
    }
    if (gamma && type != LN_F32)
        parameters_tell_apart(type, count, gamma);
}

/* ---- the table ---- */

static const input_family families[] = {
    {"normal", "N(0,1): the everyday case", "what a layer gets at initialisation",
     .everywhere = true, .element = normal_element, .stream = STREAM_NORMAL},
    {"uniform", "multiples of 2^-23 in [-1,1)", "the input of most published tests",
     .everywhere = true, .element = uniform_element, .stream = STREAM_UNIFORM},
    {"offset", "normal rows far from zero, kappa 1 to 1e8 in turn (or offset:KAPPA): cancellation",
     "pytorch#51102, pytorch#40302, mlx#2238, burn#5607", .everywhere = true},
    {"ramp", "multiples of 1/4, rising or falling: sums grow steadily",
     "positions, time stamps, printed examples", .everywhere = true, .element = ramp_element},
    {"constant", "all elements equal: a rounded mean makes the variance nonzero",
     "padding; pytorch#5410, pytorch#108072, onnxruntime#21935", .everywhere = true,
     .element = constant_element},
    {"spike", "constant except one element, first, last or between: breaks pivots and tails",
     "one-hot features; 255 among 256s (trt-samples-for-hackathon-cn#88)", .everywhere = true,
     .element = spike_element, .other = STREAM_SPIKE},
    {"outlier-channels", "normal, a few channels 16 to 128 times as large, as in transformers",
     "Kovaleva et al. 2021 (BERT Busters), Dettmers et al. 2022 (LLM.int8)", .everywhere = true,
     .element = outlier_channels_element, .stream = STREAM_OUTLIER,
     .other = STREAM_OUTLIER_CHANNEL},
    {"alternating", "signs alternate: whether partial sums cancel depends on the lane",
     "complex and interleaved features", .everywhere = true, .element = alternating_element,
     .stream = STREAM_ALTERNATING},
    {"huge", "+-1e30 to 2e30: squares overflow f32", "pytorch#162489", .everywhere = true,
     .edge_case = true, .element = huge_element, .stream = STREAM_HUGE},
    {"subnormal", "below 2^-126: squares underflow f32, and FTZ or DAZ makes zeros",
     "vanishing activations; libraries built with -ffast-math set FTZ", .everywhere = true,
     .edge_case = true, .element = subnormal_element, .stream = STREAM_SUBNORMAL},
    {"nan", "normal rows, three of four with a NaN: these must become NaN, others must not",
     "diverging training", .everywhere = true, .edge_case = true, .element = normal_element,
     .stream = STREAM_NORMAL, .other = STREAM_SPECIAL, .finish = put_nan},
    {"inf", "normal rows, three of four with +Inf, -Inf or both: as for nan",
     "f16 overflow upstream; masks of -Inf", .everywhere = true, .edge_case = true,
     .element = normal_element, .stream = STREAM_NORMAL, .other = STREAM_SPECIAL,
     .finish = put_infinities},
    {"seed-000", "two rows that a tutorial prints: 10..50 and 1.0..1.4", "docs/lab/conventions.md",
     .everywhere = true, .element = document_000_element},
    {"seed-001", "what a tutorial prints: six normalised rows of four", "docs/lab/conventions.md",
     .everywhere = true, .element = document_001_element},
    {"seed-002", "what a tutorial prints: three rows of six, N(0,1)", "docs/lab/conventions.md",
     .everywhere = true, .element = document_002_element},
    {"seed-003", "what a tutorial prints: 1 to 24, six rows of four", "docs/lab/conventions.md",
     .everywhere = true, .element = document_003_element},
    {"kappa", "std 1; kappa grows from 1 to the largest that type and hidden size allow",
     "Chan, Golub, LeVeque 1983; onnxruntime#28463, onnxruntime#31973", .without_eps = true},
    {"near-constant", "a constant, a few elements 1 to 4 ulps above: naive variance is negative",
     "CNTK#3816, equinox#314, onnxruntime#21935", .without_eps = true,
     .element = near_constant_element, .stream = STREAM_SHAPE},
    {"two-valued", "one value or another: exact answers are known, many |xhat| are equal",
     "binary and one-hot features, masks", .element = two_valued_element, .stream = STREAM_SHAPE},
    {"sorted", "a normal row rising or falling: running means drift, lanes differ",
     "Higham 1993 (order of summation); sorted embeddings, spectra", .element = normal_element,
     .stream = STREAM_NORMAL, .finish = sort_row},
    {"alternating-scales", "1e-6 and 1e6 in turn: the small ones vanish in every sum",
     "features without common units", .element = alternating_scales_element,
     .stream = STREAM_SCALE},
    {"positive", "[1,2): partial sums only grow, errors do not cancel",
     "softplus, exp and probabilities", .element = positive_element, .stream = STREAM_SHAPE},
    {"geometric", "each element half or twice the one before: order decides what a sum keeps",
     "Higham 1993", .element = geometric_element, .stream = STREAM_SHAPE},
    {"blocks", "blocks of 16, 64 or 256, each with its own mean: parts must be combined well",
     "concatenated heads and embeddings; Chan, Golub, LeVeque 1983", .element = blocks_element,
     .stream = STREAM_SHAPE, .other = STREAM_CHOICE},
    {"quantised", "integers times one scale, with and without a zero point: few distinct values",
     "int8 activations, dequantised", .element = quantised_element, .stream = STREAM_SHAPE},
    {"sparse", "zeros except one in 2, 8 or 32: most outputs show the error of the mean",
     "ReLU; Li et al. 2023 (The Lazy Neuron Phenomenon)", .element = sparse_element,
     .stream = STREAM_SHAPE, .other = STREAM_CHOICE},
    {"signed-zeros", "+0, -0 or both; zeros except one (1, 2^-126 or subnormal): 0/0, signs",
     "padding; pytorch#41527, DeepSpeed#581, burn#1992", .without_eps = true, .edge_case = true,
     .element = signed_zeros_element},
    {"bad-pivot", "normal, but the first element 1 to 1e8 times as large: a pivot that misleads",
     "class and first tokens; shifted sums take x[0]", .element = bad_pivot_element,
     .stream = STREAM_NORMAL},
    {"heavy-tails",
     "Student t with 2 and 1 degrees of freedom: one element may be all the variance",
     "Simsekli et al. 2019 (tail index of gradient noise)", .element = heavy_tails_element,
     .stream = STREAM_SCALE, .other = STREAM_CHOICE},
    {"massive-activations", "normal, two channels 1e3 to 1e5 times as large",
     "Sun et al. 2024 (Massive Activations in LLMs)", .element = massive_activations_element,
     .stream = STREAM_SCALE},
    {"overflow", "sizes 2^62 to 2^127: squares, then sums, then differences overflow",
     "pytorch#162489; in f16 onnxruntime#17692, ConvNeXt#80", .edge_case = true,
     .element = overflow_element, .stream = STREAM_SCALE},
    {"underflow", "normal times 2^-58 to 2^-130: squares, then elements underflow",
     "vanishing activations; nntrainer#3785", .without_eps = true, .edge_case = true,
     .element = underflow_element, .stream = STREAM_SCALE},
    {"subnormal-out", "gamma near 2^-130: results are subnormal, rounded at 2^-149",
     "pruned channels; FTZ makes them 0", .element = subnormal_out_element, .stream = STREAM_SCALE,
     .parameters = parameters_subnormal, .needs = ROLE_GAMMA},
    {"var-near-eps",
     "variance an eighth, 1, 8 times each eps in use: place and rounding of eps show",
     "tensorflow#24979 (1e-12 in f16), small initialisations", .element = var_near_eps_element,
     .stream = STREAM_SCALE},
    {"affine-cancellation", "beta is -gamma xhat: what is left of y is rounding alone",
     "biases that learn to switch a channel off", .element = affine_cancellation_element,
     .stream = STREAM_CANCEL, .parameters = parameters_cancelling, .needs = ROLE_BETA},
    {"wide-gamma", "gamma and beta 2^-40 to 2^40: small outputs must be right, too",
     "pytorch#98075 (gamma 1e10); pruned and dominant channels", .element = normal_element,
     .stream = STREAM_NORMAL, .parameters = parameters_wide, .needs = ROLE_GAMMA},
    {"ties",
     "xhat +-1 and beta half an ulp: exact answers midway between two floats, or next to it",
     "double rounding; references in double decide half of them wrongly", .without_eps = true,
     .element = ties_element, .needs = ROLE_BETA},
};

const input_family *input_families(size_t *count)
{
    *count = sizeof families / sizeof *families;
    return families;
}

bool input_suits(const input_family *family, ln_operation kind)
{
    const operation *what = operations[kind];
    return family->needs < what->count && what->roles[family->needs].shape != SHAPE_NONE;
}

/* ---- rows of a type ---- */

/* Returns a double whose sign, exponent and first 23 bits are the float's (rounded to f32 it is that float again), with
 * further bits that are a hash of the float. */
static double with_more_bits(float value)
{
    uint32_t size = bits_of_float(value) & 0x7fffffffu;
    double wide = (double)value;
    uint64_t bits;
    if (size == 0 || size >= 0x7f800000u || (size & ((1u << SHORT_BITS) - 1)) == 0)
        return wide;
    memcpy(&bits, &wide, sizeof bits);
    bits += mix_bits(size) >> (64 - MORE_BITS); /* 0 to almost one f32 ulp away from zero ... */
    bits -= UINT64_C(1) << (MORE_BITS - 1);     /* ... less half of it */
    memcpy(&wide, &bits, sizeof wide);
    return wide;
}

static double largest_of(const float *x, size_t count)
{
    double largest = 0;
    for (size_t i = 0; i < count; i++)
        if (isfinite(x[i]) && fabs((double)x[i]) > largest)
            largest = fabs((double)x[i]);
    return largest;
}

/* Returns the power of two that scales a row with this largest element into the type's range. */
static double scale_for(ln_type type, double largest)
{
    double scale = 1;
    if (type == LN_F64)
        return largest >= 0x1p63 ? ldexp(1, F64_UP) : largest <= 0x1p-63 ? ldexp(1, F64_DOWN) : 1;
    if (type == LN_BF16)
        return largest >= 0x1.ffp127 ? 0.5 : 1;
    while (largest * scale >= 0x1p15)
        scale *= 0.5;
    while (largest > 0 && largest * scale < 0x1p-15)
        scale *= 2;
    return scale;
}

/* Stores a row in a type. A NaN becomes a quiet NaN of the same sign, with the first bits of its payload. */
static void store_row(ln_type type, const float *from, size_t count, double scale, bool more_bits,
                      void *to)
{
    for (size_t i = 0; i < count; i++) {
        const uint32_t bits = bits_of_float(from[i]), sign = bits >> 31;
        uint16_t *const shorts = to;
        double *const doubles = to;
        if (isnan(from[i]) && type == LN_F64) {
            const uint64_t wide = (uint64_t)sign << 63 | UINT64_C(0x7ff8) << 48 |
                                  (uint64_t)(bits & 0x3fffffu) << MORE_BITS;
            memcpy(&doubles[i], &wide, sizeof wide);
        } else if (isnan(from[i])) {
            const uint32_t payload =
                type == LN_BF16 ? 0x7fc0u | (bits >> 16 & 0x3fu) : 0x7e00u | (bits >> 13 & 0x1ffu);
            shorts[i] = (uint16_t)(sign << 15 | payload);
        } else if (type == LN_F64) {
            doubles[i] = (more_bits ? with_more_bits(from[i]) : (double)from[i]) * scale;
        } else {
            shorts[i] = storage_round(type, (double)from[i] * scale, 0);
        }
    }
}

/* Fills rows of an input that is a single family, a file or adversarial rows. */
static void rows_of_part(const char *input, ln_type type, uint64_t seed, size_t first, size_t count,
                         size_t hidden, void *x)
{
    const size_t bytes = hidden * dtype_size(type);
    const bool printed = strncmp(input, "seed-", 5) == 0; /* these keep the printed values */
    const input_family *family = family_named(input);
    double kappa;
    if (input_is_file(input)) {
        input_rows_of_file(input, type, first, count, hidden, x);
        return;
    }
    if (hidden == 0)
        die(EXIT_CODE_USAGE, "input '%.64s': hidden is 0: expected 1 or more", input);
    if (input_is_worst(input)) {
        worst_input_rows(input, type, first, count, hidden, x);
        return;
    }
    const bool offset = is_offset(input, &kappa);
    double *scratch = allocate(hidden * sizeof *scratch);
    for (size_t row = first; row < first + count; row++) {
        void *to = (char *)x + (row - first) * bytes;
        float *singles = type == LN_F32 ? to : (void *)scratch;
        if (offset) {
            offset_row(&(offset_place){type, seed, row, hidden, kappa, strcmp(input, "kappa") == 0},
                       scratch, to);
            continue;
        }
        /* Two streams have the same numbers in all rows. */
        const size_t random_of = family->stream == STREAM_CANCEL ? 0 : row;
        const size_t other_of = family->other == STREAM_OUTLIER_CHANNEL ? 0 : row;
        made_element at = {.seed = seed,
                           .row = row,
                           .hidden = hidden,
                           .random = random_row_begin(seed, family->stream, random_of),
                           .other = random_row_begin(seed, family->other, other_of)};
        for (; at.i < hidden; at.i++)
            singles[at.i] = (float)family->element(&at);
        if (family->finish)
            family->finish(&at, singles);
        if (type != LN_F32)
            store_row(type, singles, hidden, scale_for(type, largest_of(singles, hidden)), !printed,
                      to);
    }
    free(scratch);
}

void input_rows(const char *input, ln_type type, uint64_t seed, size_t first, size_t count,
                size_t hidden, void *x)
{
    const size_t bytes = hidden * dtype_size(type);
    char part[INPUT_MAX_LENGTH];
    input_check_type(input, type);
    if (count_parts(input) == 1) {
        rows_of_part(input, type, seed, first, count, hidden, x);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        part_of_row(input, first + i, part);
        rows_of_part(part, type, seed, first + i, 1, hidden, (char *)x + i * bytes);
    }
}

/* ---- parameters, and all inputs of a call ---- */

void input_parameters(const char *input, const operation_call *call, uint64_t seed)
{
    const operation *what = operations[call->operation];
    const input_family *family = family_named(input);
    operation_call whole = *call; /* with a form that fills every parameter of the operation */
    ln_problem *problem = &whole.problem;
    ln_affine *form = &problem->convention.affine;
    *form = convention_form(&call->problem.convention);
    for (size_t i = 0; i < what->count; i++)
        if (what->roles[i].shape == SHAPE_HIDDEN &&
            (*form == LN_AFFINE_NONE || *form == LN_AFFINE_SCALAR))
            *form = LN_AFFINE_VECTOR;
    size_t hidden = problem->hidden;
    size_t count = ln_parameter_elements(problem->convention.affine, hidden);
    double largest = 0;
    if (strcmp(input, "ties") == 0) {
        parameters_of_ties(&whole, seed);
        return;
    }
    float *made[ROLES_MOST], *room = allocate_zeroed(ROLES_MOST * hidden, sizeof *room);
    for (size_t i = 0; i < ROLES_MOST; i++)
        made[i] = room + i * hidden;
    (family && family->parameters ? family->parameters : input_affine)(&problem->convention, seed,
                                                                       hidden, made);
    for (size_t i = 0; i < what->count; i++)
        if (role_is_parameter(&what->roles[i]))
            largest = fmax(largest, largest_of(made[i], hidden));
    double scale = scale_for(problem->param, largest);
    for (size_t i = 0; i < what->count; i++)
        if (!role_is_parameter(&what->roles[i]) || !call->inputs[i])
            continue;
        else if (problem->param == LN_F32)
            memcpy(call->inputs[i], made[i], count * sizeof *room);
        else {
            store_row(problem->param, made[i], count, scale, true, call->inputs[i]);
            if (count > 1 && made[i][0] != made[i][1])
                parameters_tell_apart(problem->param, count, call->inputs[i]);
        }
    free(room);
}

void input_call(const char *input, const char *residual, const operation_call *call, uint64_t seed,
                size_t first)
{
    const operation *what = operations[call->operation];
    const ln_problem *made = &call->problem;
    for (size_t i = 0; i < what->count; i++) {
        const tensor_role *role = &what->roles[i];
        const char *from = role->optional ? residual : input;
        if (role->output || role->shape != SHAPE_TABLE || !from)
            continue;
        input_rows(from, made->storage, seed, first, made->rows, made->hidden, call->inputs[i]);
        first += made->rows;
    }
    input_parameters(input, call, seed);
}
