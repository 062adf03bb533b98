/* What a wrong kernel does, found by doing the same (as layernorm/explain.c): the one mistake whose result is
 * y, to within what rounding may take, explains it; where two do, none does. It is sure where y is far from
 * right. */
#include "judge/rmsnorm/rmsnorm.h"
#include "base/number.h"
#include "judge/pattern.h"
#include <stdlib.h>

/* (x - mean) / root, times a weight. */
typedef struct mistake {
    double mean, root;
    enum { WEIGHT_OWN, WEIGHT_NONE, WEIGHT_OTHER, WEIGHT_FIRST } weight;
} mistake;

typedef struct explaining {
    const explained_row *asked;
    ln_rms_convention own;
    double square; /* sum(x^2) / N */
    size_t found;  /* mistakes that give y */
    char *why;
} explaining;

/* The least error / limit of y for a mistake to be sure. */
static const double far_off = 64;

static double value_of(const explaining *tries, const mistake *made, double x, size_t i)
{
    const metrics_row *row = tries->asked->row;
    ln_rms_convention with = tries->own;
    if (made->weight == WEIGHT_NONE)
        with.weight = LN_RMS_WEIGHT_NONE;
    if (made->weight == WEIGHT_OTHER)
        with.weight = with.weight == LN_RMS_WEIGHT ? LN_RMS_WEIGHT_OFFSET : LN_RMS_WEIGHT;
    return rmsnorm_value(&with, row, (x - made->mean) / made->root,
                         made->weight == WEIGHT_FIRST ? 0 : i);
}

/* To within `limit` ULP of the larger of the two scales. */
static bool explains(const explaining *tries, const double *x, const mistake *made)
{
    const explained_row *asked = tries->asked;
    const metrics_row *row = asked->row;
    bool told = false;
    if (made->weight != WEIGHT_OWN && tries->own.weight == LN_RMS_WEIGHT_NONE)
        return false;
    for (size_t i = 0; i < row->hidden; i++) {
        double value = value_of(tries, made, x[i], i), given = load(row->storage, asked->y, i);
        double rounded = stored_in(row->storage, value);
        if (!isfinite(given) || !isfinite(rounded)) {
            if (!same_class(given, rounded))
                return false;
            continue;
        }
        double scale = fmax(fabs(value), element_scale(row, i));
        if (!(fabs(given - value) <= asked->limit * ulp_in(format_of(row->storage), scale)))
            return false;
        told = true;
    }
    return told;
}

static void take(explaining *tries, const double *x, const mistake *made, const char *words)
{
    if (explains(tries, x, made) && tries->found++ == 0)
        number_print(tries->why, ROW_FAULT_LENGTH, "%s", words);
}

static double root_with(const explaining *tries, double square)
{
    return rmsnorm_rounded_root(&tries->own, tries->asked->row->storage, square);
}

static void try_row(explaining *tries)
{
    const double *x = tries->asked->x;
    size_t hidden = tries->asked->row->hidden;
    double n = (double)hidden, sum = 0, var = 0, square = tries->square, root;
    for (size_t i = 0; i < hidden; i++)
        sum += x[i];
    for (size_t i = 0; i < hidden; i++)
        var += (x[i] - sum / n) * (x[i] - sum / n) / n;
    root = root_with(tries, square);
    const struct {
        mistake made;
        const char *words;
    } all[] = {
        {{sum / n, root_with(tries, var), WEIGHT_OWN}, "subtracts the mean (LayerNorm)"},
        {{sum / n, root, WEIGHT_OWN}, "subtracts the mean from x"},
        {{0, root_with(tries, var), WEIGHT_OWN},
         "divides by the root of the variance, not of the mean square"},
        {{0, root_with(tries, square * n / (n - 1)), WEIGHT_OWN},
         "divides the sum of squares by N - 1, where N is asked for"},
        {{0, root_with(tries, square * n), WEIGHT_OWN}, "does not divide the sum of squares by N"},
        {{0, root * root, WEIGHT_OWN}, "divides by the mean square, without its root"},
        {{0, 1, WEIGHT_OWN}, "does not divide by the root"},
        {{0, root, WEIGHT_NONE}, "does not multiply by the weight"},
        {{0, root, WEIGHT_OTHER},
         tries->own.weight == LN_RMS_WEIGHT
             ? "multiplies by 1 + weight"
             : "multiplies by the stored weight, where 1 more is asked for"},
        {{0, root, WEIGHT_FIRST}, "takes the first weight for all columns"},
        {{0, 1, WEIGHT_NONE}, "returns x as it is"},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        take(tries, x, &all[i].made, all[i].words);
}

static void try_eps(explaining *tries)
{
    static const double usual[] = {1e-12, 1e-8, 1e-6, 0x1p-23, 1e-5, 1e-3};
    static const char *const places[] = {"leaves eps out", "adds eps to the mean square",
                                         "adds eps to the root"};
    const ln_rms_convention own = tries->own;
    char words[ROW_FAULT_LENGTH];
    if (own.eps_place == LN_EPS_NONE)
        return;
    for (ln_eps_place place = LN_EPS_NONE; place <= LN_EPS_STD; place++) {
        tries->own.eps_place = place;
        if (place != own.eps_place)
            take(tries, tries->asked->x, &(mistake){0, root_with(tries, tries->square), WEIGHT_OWN},
                 places[place]);
    }
    tries->own = own;
    for (size_t i = 0; !tries->found && i < sizeof usual / sizeof *usual; i++) {
        tries->own.eps = usual[i];
        number_print(words, sizeof words, "has an eps of %g, where %g is asked for", usual[i],
                     own.eps);
        if (usual[i] != own.eps)
            take(tries, tries->asked->x, &(mistake){0, root_with(tries, tries->square), WEIGHT_OWN},
                 words);
    }
    tries->own = own;
}

/* Loops in steps of 2, 4, ... 128 that leave the last columns out of the sum. */
static void try_tails(explaining *tries)
{
    size_t hidden = tries->asked->row->hidden, before = 0;
    for (size_t step = 2; step <= 128 && !tries->found; step *= 2) {
        size_t tail = hidden % step;
        double sum = 0;
        char where[PATTERN_LENGTH], words[ROW_FAULT_LENGTH];
        if (tail == before)
            continue;
        before = tail;
        for (size_t i = 0; i < hidden - tail; i++)
            sum += tries->asked->x[i] * tries->asked->x[i];
        pattern_tail(tail, hidden, "column", where);
        number_print(words, sizeof words, "leaves %s out of the mean square", where);
        take(tries, tries->asked->x,
             &(mistake){0, root_with(tries, sum / (double)hidden), WEIGHT_OWN}, words);
    }
}

static void try_no_residual(explaining *tries)
{
    const explained_row *asked = tries->asked;
    const judge_block *block = asked->block;
    double *x, square = 0, n = (double)asked->row->hidden;
    if (!block || !block->inputs[ROLE_RESIDUAL] || !(x = malloc(block->hidden * sizeof *x)))
        return;
    for (size_t i = 0; i < block->hidden; i++) {
        x[i] = load(block->storage, block->inputs[ROLE_X], asked->number * block->hidden + i);
        square += x[i] * x[i] / n;
    }
    take(tries, x, &(mistake){0, root_with(tries, square), WEIGHT_OWN},
         "does not add the residual to x");
    free(x);
}

bool rmsnorm_explain(const explained_row *asked, char why[ROW_FAULT_LENGTH], bool *sure)
{
    const ln_row_facts *facts = &asked->row->answer->facts;
    explaining tries = {.asked = asked,
                        .own = rmsnorm_convention(asked->row->convention),
                        .square = facts->var,
                        .why = why};
    if (!isfinite(asked->limit) || !isfinite(facts->max_abs))
        return false;
    try_row(&tries);
    try_eps(&tries);
    if (!tries.found)
        try_tails(&tries);
    try_no_residual(&tries);
    *sure = limits_error(asked->row, asked->y) > far_off * asked->limit;
    return tries.found == 1;
}
