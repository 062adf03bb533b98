/* The candidates, the loop over them, the answer, and one more row (the probe) that would distinguish the remaining
 * candidates.
 *
 * A probe row alternates between s and -s. Its biased variance is exactly s^2 (s^2 (N - 1) / N in odd rows, which end
 * with 0), so a power of two s near an eps or near its root shows the place and the size of eps. */
#include "judge/fingerprint/fingerprint.h"
#include "base/arena.h"
#include "base/die.h"
#include "base/text.h"
#include "certify/rms_row.h"
#include "domain/operation.h"
#include "exact/scale.h"
#include "judge/judging.h"
#include <stdio.h>

/* An interval, for example of the numbers that round to an element of y, or of the possible eps. */
typedef struct range {
    double low, high;
} range;

static const range everything = {-INFINITY, INFINITY}, nothing = {1, -1};

/* REDUCTIONS_MOST exceeds the number of divisors of two axes. RANK_ALONE is for x without the residual. */
enum {
    REDUCTIONS_MOST = 2048,
    SPLIT_AXES = FINGERPRINT_AXES + 1,
    AFFINES_MOST = USES_TRIED * FINGERPRINT_AXES, /* along the last axes, or one of the others */
    CASTS = 3,
    FAMILIES_MOST = AFFINES_MOST * CASTS,
    RANK_ALONE = 10,
    PLACES = 3, /* LN_EPS_VAR, _STD, _QUOTIENT, less 1 */
};

/* The groups of elements that are normalised together. Group g has the elements outer[g] + inner[i]. */
typedef struct reduction {
    size_t *outer, *inner, groups, length;
    const char *words; /* "" for the last axis */
    int rank;
    bool last, single; /* over only the last axis; over only one axis */
} reduction;

/* The kinds of values that are normalised: x, or values computed from it. */
typedef enum source_kind {
    SOURCE_PLAIN,   /* x, or its sum with the residual, in x's type */
    SOURCE_AS_F32,  /* x rounded to a shorter type, as under autocast */
    SOURCE_AS_BF16, /* likewise */
    SOURCE_AS_F16,
    SOURCE_UNROUNDED, /* the sum, not rounded to x's 16-bit type */
    SOURCE_SQUARES,   /* the rounded sum, divided by the root of the unrounded one */
    SOURCE_ALONE,     /* x without the residual */
    SOURCES,
} source_kind;

typedef struct source {
    double *values;        /* the values that are normalised */
    const double *squares; /* the values of which the root is taken; NULL: `values` */
    ln_rms_sum sum;        /* the rounding of x + residual */
    bool shortened;        /* rounded to a shorter type first */
    const char *words;
    int rank;
} source;

/* A use of gamma and beta: parameter e / stride % extent belongs to element e. */
typedef struct affine {
    affine_use use;
    double *gamma, *beta; /* the factors of xhat, and the summands */
    size_t stride, extent;
    int axis;     /* the axis of the parameters, from the front; -1: the last ones */
    bool trivial; /* all factors are 1 and all summands are 0 */
} affine;

/* Candidates that differ only in divisor (or rounding of the root) and eps. */
typedef struct family {
    ln_operation kind;
    const affine *with;
    bool casts; /* xhat is rounded to `cast` */
    ln_type cast;
    ln_type root; /* RMSNorm: the type to which the root is rounded in eps[1] */
    /* The possible eps for the divisors N, N - 1 (RMSNorm: root exact, rounded) and each place; empty: excluded. */
    range eps[2][PLACES];
    bool whole;             /* KIND_CENTRED or KIND_COPIED, without any division, is not excluded */
    bool alive;             /* some candidate is not excluded */
    ln_type out;            /* the type of y */
    double bits, most_bits; /* of 16-bit rows: check_step() */
} family;

/* The state of the search: all parts that may be combined, and the y that they must explain. */
typedef struct search {
    const fingerprint_input *input;
    fingerprint_found *found;
    arena memory; /* of the lists that follow */
    size_t elements;
    reduction reductions[REDUCTIONS_MOST];
    source sources[SOURCES];
    affine affines[AFFINES_MOST];
    size_t reduction_count, source_count, affine_count;
    ln_type out, sums; /* the types that y was really rounded to, and of sums */
    bool coarse;       /* each step may be rounded to the 16-bit type `step` */
    ln_type step;
    range *y; /* the numbers that may have been rounded to each element, or printed as it */
    ln_reference *reference;
    double *typed, *rounded, *values, *z; /* one row each */
    family families[2][FAMILIES_MOST];
    size_t counts[2];
    size_t usable[2]; /* usable rows of the last axis, by operation */
    double once;      /* bits of evidence against rounding each step: check_step() */
} search;

/* ---- the axes that are normalised over ---- */

typedef struct axes {
    size_t count, extent[SPLIT_AXES], stride[SPLIT_AXES];
    bool over[SPLIT_AXES];
} axes;

/* Returns the offset of every position in the axes that are (over), or are not, normalised over. */
static size_t *offsets_of(arena *memory, const axes *all, bool over, size_t *count)
{
    *count = 1;
    for (size_t a = 0; a < all->count; a++)
        *count *= all->over[a] == over ? all->extent[a] : 1;
    size_t *made = arena_new(memory, size_t, *count);
    for (size_t i = 0; i < *count; i++) {
        size_t left = i;
        for (size_t a = all->count; a > 0; a--) {
            if (all->over[a - 1] != over)
                continue;
            made[i] += left % all->extent[a - 1] * all->stride[a - 1];
            left /= all->extent[a - 1];
        }
    }
    return made;
}

/* Adds a reduction, unless an earlier one has the same groups. */
static void add_reduction(search *own, const axes *all, int rank, const char *words)
{
    reduction one = {.rank = rank, .words = words, .last = own->reduction_count == 0};
    size_t axes_over = 0;
    if (own->reduction_count == REDUCTIONS_MOST)
        return;
    one.inner = offsets_of(&own->memory, all, true, &one.length);
    one.outer = offsets_of(&own->memory, all, false, &one.groups);
    for (size_t a = 0; a < all->count; a++)
        axes_over += all->over[a] && all->extent[a] > 1;
    one.single = axes_over == 1;
    bool known = one.length < 2 && !one.last;
    for (size_t i = 0; !known && i < own->reduction_count; i++) {
        const reduction *other = &own->reductions[i];
        known = one.length == other->length && one.groups == other->groups &&
                memcmp(one.inner, other->inner, one.length * sizeof *one.inner) == 0 &&
                memcmp(one.outer, other->outer, one.groups * sizeof *one.outer) == 0;
    }
    if (!known)
        own->reductions[own->reduction_count++] = one;
}

/* Adds group norms: the channels of axis c in every possible number of groups, each of which is normalised together
 * with the other axes from `first` on. */
static void add_groups(search *own, const axes *whole, size_t c, size_t first)
{
    const size_t channels = whole->extent[c], last = whole->count;
    for (size_t groups = 2; groups < channels; groups++) {
        if (channels % groups)
            continue;
        axes all = *whole;
        all.count++;
        all.extent[c] = groups;
        all.extent[last] = channels / groups;
        all.stride[last] = all.stride[c];
        all.stride[c] *= channels / groups;
        for (size_t a = first; a <= last; a++)
            all.over[a] = a != c;
        add_reduction(own, &all, 6,
                      arena_format(&own->memory,
                                   "GroupNorm of %zu groups of the %zu channels of axis %zu%s",
                                   groups, channels, c, first < c ? ", channels last" : ""));
    }
}

/* Adds every run of neighbouring axes, then all axes but such a run, short runs first and the last axes before others;
 * then groups of channels. The first reduction is over the last axis. */
static void add_reductions(search *own)
{
    arena *memory = &own->memory;
    axes all = {.count = own->input->dimensions};
    const size_t count = all.count, end = count - 1;
    for (size_t a = count, stride = 1; a-- > 0; stride *= all.extent[a]) {
        all.extent[a] = own->input->shape[a];
        all.stride[a] = stride;
    }
    const axes whole = all;
    for (int inside = 1; inside >= 0; inside--)
        for (size_t width = 1; width < count + (size_t)inside; width++)
            for (size_t first = count - width + 1; first-- > 0;) {
                const size_t last = first + width - 1;
                const char *run = width == 1 ? arena_format(memory, "%zu", first)
                                             : arena_format(memory, "%zu to %zu", first, last);
                for (size_t a = 0; a < count; a++)
                    all.over[a] = (a >= first && a <= last) == inside;
                if (!inside)
                    add_reduction(own, &all, 5,
                                  arena_format(memory, "%sover all axes but %s",
                                               width == 1 ? "batch norm: " : "", run));
                else if (width == 1)
                    add_reduction(own, &all, last == end ? 0 : 4,
                                  last == end ? "" : arena_format(memory, "over axis %s", run));
                else if (last == end)
                    add_reduction(own, &all, 3,
                                  first == 0
                                      ? "one norm of the whole tensor"
                                      : arena_format(memory, "over the last %zu axes", width));
                else
                    add_reduction(own, &all, 5, arena_format(memory, "over axes %s", run));
            }
    add_groups(own, &whole, end, end);
    if (count < 3)
        return;
    add_groups(own, &whole, 1, 1);
    add_groups(own, &whole, end, 1);
}

/* ---- the values that are normalised ---- */

static bool same_values(const double *a, const double *b, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!(a[i] == b[i] || (isnan(a[i]) && isnan(b[i]))))
            return false;
    return true;
}

/* Adds all possible sources; if two have the same values, only the first. */
static void add_sources(search *own)
{
    static const struct {
        const char *words;
        int rank;
        ln_type type; /* x is rounded to it */
        ln_rms_sum sum;
    } kinds[SOURCES] = {[SOURCE_PLAIN] = {.words = ""},
                        [SOURCE_AS_F32] = {"x rounded to f32 first", 20, LN_F32, 0},
                        [SOURCE_AS_BF16] = {"x rounded to bf16 first", 20, LN_BF16, 0},
                        [SOURCE_AS_F16] = {"x rounded to f16 first", 20, LN_F16, 0},
                        [SOURCE_UNROUNDED] = {"", 1, 0, LN_RMS_SUM_UNROUNDED},
                        [SOURCE_SQUARES] = {"", 2, 0, LN_RMS_SUM_SQUARES},
                        [SOURCE_ALONE] = {.words = "without the residual", .rank = RANK_ALONE}};
    const fingerprint_input *input = own->input;
    const double *x = input->x, *residual = input->residual;
    for (int kind = 0; kind < SOURCES; kind++) {
        const bool shortens = kind >= SOURCE_AS_F32 && kind <= SOURCE_AS_F16;
        if (shortens ? residual || input->x_digits != FINGERPRINT_EXACT ||
                           dtype_size(kinds[kind].type) >= dtype_size(input->x_type)
                     : (kind != SOURCE_PLAIN && !residual) ||
                           (kind == SOURCE_UNROUNDED && dtype_size(input->x_type) != 2) ||
                           (kind == SOURCE_SQUARES && own->source_count < 2))
            continue;
        source *one = &own->sources[own->source_count];
        *one = (source){.values = arena_new(&own->memory, double, own->elements),
                        .squares = kind == SOURCE_SQUARES ? own->sources[1].values : NULL,
                        .sum = kinds[kind].sum,
                        .shortened = shortens,
                        .words = kinds[kind].words,
                        .rank = kinds[kind].rank};
        for (size_t i = 0; i < own->elements; i++)
            one->values[i] = shortens                            ? stored_in(kinds[kind].type, x[i])
                             : !residual || kind == SOURCE_ALONE ? x[i]
                             : kind == SOURCE_UNROUNDED
                                 ? (double)(float)(x[i] + residual[i])
                                 : stored_in(input->x_type, x[i] + residual[i]);
        bool known = false;
        for (size_t i = 0; i < own->source_count && kind != SOURCE_SQUARES; i++)
            known = known || same_values(one->values, own->sources[i].values, own->elements);
        own->source_count += !known;
    }
}

/* ---- gamma and beta ---- */

affine_pair affine_used(affine_use use, double gamma, double beta)
{
    switch (use) {
#define PAIR_OF(use, needs, factor, summand, words)                                                \
    case use:                                                                                      \
        return (affine_pair){factor, summand};
        AFFINE_USES(PAIR_OF)
    default:
        return (affine_pair){gamma, beta};
    }
}

/* Adds a use of gamma and beta, unless an earlier one has the same factors at the same positions, or is as trivial. */
static void add_affine(search *own, affine_use use, size_t stride, int axis)
{
    const fingerprint_input *input = own->input;
    const size_t extent = input->parameters ? input->parameters : 1;
    affine *one = &own->affines[own->affine_count];
    *one = (affine){use,
                    arena_new(&own->memory, double, extent),
                    arena_new(&own->memory, double, extent),
                    stride,
                    extent,
                    axis,
                    true};
    for (size_t i = 0; i < extent; i++) {
        affine_pair made =
            affine_used(use, input->gamma ? input->gamma[i] : 1, input->beta ? input->beta[i] : 0);
        one->gamma[i] =
            use == USE_OFFSET_ROUNDED ? stored_in(input->param, made.gamma) : made.gamma;
        one->beta[i] = made.beta;
        one->trivial = one->trivial && one->gamma[i] == 1 && one->beta[i] == 0;
    }
    for (size_t i = 0; i < own->affine_count; i++) {
        const affine *other = &own->affines[i];
        if (extent == other->extent && (stride == other->stride || one->trivial) &&
            same_values(one->gamma, other->gamma, extent) &&
            same_values(one->beta, other->beta, extent) && (use != USE_OFFSET_ROUNDED || i > 0))
            return;
    }
    own->affine_count++;
}

/* Returns whether an axis has as many elements as there are parameters; -1: whether the last axes together have. */
static bool lie_along(const fingerprint_input *input, int axis)
{
    size_t tail = 1, before = input->dimensions;
    if (axis >= 0)
        return input->parameters > 1 && input->shape[axis] == input->parameters;
    while (before > 0 && tail < input->parameters)
        tail *= input->shape[--before];
    return input->parameters <= 1 || tail == input->parameters;
}

/* Adds all uses of gamma and beta: along the last axes, then along each axis. */
static void add_affines(search *own)
{
#define NEEDS_OF(use, needs, factor, summand, words) [use] = needs,
    static const unsigned needs[USES] = {AFFINE_USES(NEEDS_OF)};
    const fingerprint_input *input = own->input;
    const unsigned there = (input->gamma ? NEEDS_GAMMA : 0u) | (input->beta ? NEEDS_BETA : 0u);
    for (int axis = -1; axis + 1 < (int)input->dimensions; axis++) {
        size_t stride = 1;
        for (size_t a = (size_t)axis + 1; axis >= 0 && a < input->dimensions; a++)
            stride *= input->shape[a];
        for (int use = 0; use < USES_TRIED; use++)
            if (use == USE_NONE ? axis < 0
                                : lie_along(input, axis) && there && (needs[use] & ~there) == 0 &&
                                      /* in f32 and f64 the row's limits include this rounding */
                                      (use != USE_OFFSET_ROUNDED || dtype_size(input->param) == 2))
                add_affine(own, (affine_use)use, stride, axis);
    }
}

/* ---- a row ---- */

/* The exact answer of a row, from one pass of the certified reference, from which the result of each candidate follows;
 * and the possible errors of its sums: the judge's limits of mean and rstd (judge.h) for the row without eps. */
typedef struct exact_row {
    const range *y; /* of the whole tensor: y[outer + inner[i]] belongs to element i */
    const size_t *inner;
    size_t outer, length;
    bool usable;                /* all elements are finite, and its sums have correct digits */
    bool undefined;             /* 0 / 0, and every algorithm computes NaN */
    bool has_nan, has_infinity; /* among the normalised values */
    bool constant;              /* rounding made all elements equal */
    /* (x - mean) / std with the divisor N and no eps; RMSNorm: x / root; x itself in a row that is not finite. */
    double *z;
    double square; /* the variance, or the mean square */
    double lost;   /* the largest error of `square` */
    double shift;  /* the largest error of z from the mean and from roundings of x and mean */
    double unit;   /* the unit roundoff after the sums... */
    double tiny;   /* ...and the largest error of subnormal results there */
} exact_row;

/* The largest error of rounding a subnormal number to f16. */
#define F16_LOST 0x1p-25

/* Increases the errors of a row in which each step is rounded, x was printed, or the root is that of other values. */
static void increase_errors(const search *own, bool centred, double h, const source *from,
                            const ln_row_facts *facts, exact_row *row)
{
    const double n = (double)row->length, reach = centred ? facts->max_dev : facts->max_abs;
    const double std = sqrt(row->square);
    /* An error d of the mean adds d^2 to the variance. Underflow in f16 adds F16_LOST to the mean and each deviation. A
     * square that overflows in f16 is infinite: the row is not usable. */
    if (own->coarse) {
        double off = 2 * unit_roundoff(own->step) * (centred ? fabs(facts->mean) : 0);
        row->lost += off * off;
        row->usable = own->step != LN_F16 || reach * reach < 0x1p15;
    }
    if (own->coarse && own->step == LN_F16) {
        row->shift += 2 * F16_LOST / std;
        row->lost += 4 * std * F16_LOST + 4 * F16_LOST * F16_LOST;
    }
    /* x is known to +-h: this changes a deviation x_i - mean by at most 2 h (N - 1) / N, and the root of the mean
     * square, of centred or other numbers, by at most h. */
    if (h > 0) {
        row->shift += (centred ? 2 * h * (n - 1) / n : h) / std;
        row->lost += 2 * std * h + h * h;
    }
    if (!from->squares)
        return;
    double sum = 0;
    for (size_t i = 0; i < row->length; i++) {
        double value = from->squares[row->outer + row->inner[i]];
        sum += value * value;
    }
    const double ratio = sum / n / row->square;
    row->lost *= ratio;
    row->square *= ratio;
    for (size_t i = 0; i < row->length; i++)
        row->z[i] /= sqrt(ratio);
}

static void make_row(search *own, ln_operation kind, const reduction *over, const source *from,
                     size_t group, exact_row *row)
{
    const ln_convention plain = {.operation = kind};
    const fingerprint_input *input = own->input;
    const bool centred = kind == LN_OPERATION_LAYERNORM;
    ln_reference_result result = {.rounded = own->rounded, .exact = own->z};
    const ln_row_facts *facts = &result.facts;
    row_limits limits;
    ln_type type = LN_F32; /* holds all elements exactly */
    *row = (exact_row){.y = own->y,
                       .inner = over->inner,
                       .outer = over->outer[group],
                       .length = over->length,
                       .z = own->z};
    for (size_t i = 0; i < row->length; i++) {
        double value = own->values[i] = from->values[row->outer + row->inner[i]];
        row->has_nan = row->has_nan || isnan(value);
        row->has_infinity = row->has_infinity || isinf(value);
        if ((double)(float)value != value)
            type = LN_F64;
    }
    if (row->has_nan || row->has_infinity) {
        memcpy(row->z, own->values, row->length * sizeof *row->z);
        return;
    }
    for (size_t i = 0; i < row->length; i++)
        storage_store(type, own->typed, i, own->values[i]);
    if (!(centred ? ln_reference_row(own->reference, &plain, type, type, row->length, own->typed,
                                     NULL, NULL, NULL, &result)
                  : ln_rms_reference_row(own->reference, &plain, type, type, row->length,
                                         own->typed, NULL, NULL, &result)))
        memory_is_out(row->length);
    const metrics_row judged = {type, type,    row->length,    &plain, NULL,
                                NULL, &result, LN_AFFINE_NONE, false};
    const ln_type storage = type == LN_F64 && own->sums == LN_F32 ? LN_F32 : type;
    const order_question question = {
        .storage = storage, .accumulator = own->sums, .hidden = row->length, .convention = &plain};
    limits_of_row(&question, &judged, own->values, &limits);
    const row_limits poorest = limits_poorest(own->sums, &judged, own->values, &limits);
    const double mean_off = centred ? poorest.statistics[ROLE_MEAN] : 0;
    const double rho =
        poorest.statistics[ROLE_RSTD] + (own->coarse ? 4 * unit_roundoff(own->step) : 0);
    /* The error of a printed x: half a unit of the last digit, twice with a residual, and the rounding of reading. */
    const double h = input->x_digits == FINGERPRINT_EXACT
                         ? 0
                         : 0.5 * pow(10, -input->x_digits) * (input->residual ? 2 : 1) +
                               4 * facts->max_abs * 0x1p-24;
    row->undefined = limits.textbook.undefined && h == 0;
    row->square = facts->var;
    row->constant = facts->var == 0 && from->shortened;
    row->tiny = own->sums == LN_F64 ? 0x1p-1020 : 0x1p-124; /* four flushed numbers */
    row->unit = unit_roundoff(own->coarse ? own->step : own->sums);
    if (own->coarse && own->step == LN_F16) {
        row->tiny = 5 * F16_LOST;
        row->lost =
            row->undefined ? 0x1p-15 : row->tiny; /* a smaller eps has an infinite inverse */
    }
    /* With rho >= 1/2 the root has no certain digit. */
    row->usable = facts->var > 0 && rho < 0.5 && isfinite(mean_off);
    if (!row->usable)
        return;
    const double mean = centred ? fabs(facts->mean) : 0;
    const double reach = centred ? facts->max_dev : facts->max_abs;
    row->lost += facts->var * (1 / ((1 - rho) * (1 - rho)) - 1);
    row->shift = (mean_off + 6 * row->unit * (mean + reach + mean_off)) / sqrt(facts->var);
    increase_errors(own, centred, h, from, facts, row);
}

/* ---- comparison of a row with the candidates ---- */

/* The interval of eps that follows from a row.
 *
 * Let z_i = (x_i - mean) / std be the row without eps and with the divisor N (RMSNorm: x_i / root),
 * and V = std^2. Every candidate computes
 *
 *     xhat_i = z_i s + t,    y_i = gamma_i xhat_i + beta_i,    s = std / divisor,
 *
 * with one s for the row and |t| <= shift s: `shift` covers the error of the mean (judge/layernorm.c) and six
 * roundings of numbers of at most |mean| + max |x - mean| before the factor. The number that was rounded to y_i
 * lies within half a unit of y_i in its type (or its digits), and differs from gamma_i xhat_i + beta_i by five
 * roundings (u each) of numbers of at most |y_i| + 2 |beta_i|. If xhat is rounded, the interval of xhat is
 * extended to all numbers that round into it. So each element gives L_i <= xhat_i <= U_i, and with z_i +- shift
 * an interval of s; the row's interval is their intersection.
 *
 * The computed variance V' is within `lost` of V, and the divisor within 12 u of
 *     sqrt(V' N / (N - ddof) + eps)       eps in the variance
 *     sqrt(V' N / (N - ddof)) + eps       eps on the std.
 * Solved for eps, the ends of s and of V' give an interval of eps, and the intervals of all rows are intersected. With
 * eps on the quotient s is that without eps, and t = eps is bounded by L_i and U_i. The function that computed y has
 * its eps in all of these intervals; a candidate is excluded if they have no common point. */

/* No usual eps is as large. With a larger one, functions that are no norms would be explained as norms of small
 * numbers, and a single beta as an eps on the quotient. */
#define EPS_MOST 0x1p-6

static void narrow(range *one, double low, double high)
{
    one->low = fmax(one->low, low);
    one->high = fmin(one->high, high);
}

static bool is_empty(const range *one)
{
    return !(one->low <= one->high);
}

static range rounded_from(ln_type type, double value)
{
    type_format format = format_of(type);
    if (isnan(value))
        return (range){NAN, NAN};
    double size = fabs(value), out = ulp_in(format, size) / 2;
    if (isinf(size)) {
        double end = ldexp(largest_power(type), 1);
        range all = {type == LN_F64 ? DBL_MAX : end * (1 - ldexp(1, -format.precision - 1)), size};
        return value > 0 ? all : (range){-all.high, -all.low};
    }
    double in = value == 0 ? out : ulp_in(format, nextafter(size, 0)) / 2;
    return value < 0 ? (range){value - out, value + in} : (range){value - in, value + out};
}

/* Returns the smallest number of a type that is at least `value`. */
static double number_from(ln_type type, double value)
{
    type_format format = format_of(type);
    double rounded = stored_in(type, value);
    if (!(rounded < value) || isinf(rounded))
        return rounded;
    double size = fabs(rounded);
    return rounded + ulp_in(format, rounded < 0 ? nextafter(size, 0) : size);
}

/* Returns the interval of the numbers that are rounded to a number of the type within `one`. */
static range before_rounding(ln_type type, range one)
{
    double low = number_from(type, one.low), high = -number_from(type, -one.high);
    if (!(low <= high))
        return nothing;
    return (range){rounded_from(type, low).low, rounded_from(type, high).high};
}

/* Adds the evidence of a row, in bits, against statistics that are rounded to 16 bits: they would have errors of about
 * a unit roundoff, but the row's factor is right to within `width`, and neither the divisor nor its inverse nor its
 * square can be a number of the type. (add_family() does not count the row with the most bits, since eps may be fitted
 * to it.) */
static void check_step(family *one, const exact_row *row, range s, double slack)
{
    double std = sqrt(row->square), width = row->lost / row->square + 2 * slack;
    const range root = {std / s.high, std / s.low};
    const range all[] = {
        root, {1 / root.high, 1 / root.low}, {root.low * root.low, root.high * root.high}};
    for (size_t i = 0; i < 3; i++)
        if (!(number_from(one->out, all[i].low) > all[i].high))
            return;
    double bits = log2(unit_roundoff(one->out) / (log(s.high / s.low) + width));
    if (!(bits > 0))
        return;
    one->bits += bits;
    one->most_bits = fmax(one->most_bits, bits);
}

static void narrow_eps(family *one, const exact_row *row, range s, double slack)
{
    double n = (double)row->length, std = sqrt(row->square);
    double most = row->square + row->lost, least = fmax(row->square - row->lost, 0);
    range divided = {s.high > 0 ? std / s.high * (1 - slack) : INFINITY,
                     s.low > 0 ? std / s.low * (1 + slack) : INFINITY};
    one->whole = one->whole && divided.low <= 1 && divided.high >= 1;
    for (size_t d = 0; d < 2; d++) {
        double bessel = one->kind == LN_OPERATION_LAYERNORM && d == 1 ? n / (n - 1) : 1;
        range root = divided;
        if (one->kind != LN_OPERATION_LAYERNORM && d == 1)
            root = before_rounding(one->root, root);
        if (is_empty(&root))
            one->eps[d][LN_EPS_VAR - 1] = one->eps[d][LN_EPS_STD - 1] = nothing;
        narrow(&one->eps[d][LN_EPS_VAR - 1], root.low * root.low - most * bessel,
               root.high * root.high - least * bessel);
        narrow(&one->eps[d][LN_EPS_STD - 1], root.low - sqrt(most * bessel),
               root.high - sqrt(least * bessel));
    }
}

/* Checks a row with a NaN or an infinity. With a NaN all results are NaN. With an infinity LayerNorm gives no finite
 * number, and RMSNorm gives xhat = 0 for the finite elements. A copied x keeps its values, except for rounding. */
static void check_not_finite(family *one, const exact_row *row)
{
    const affine *with = one->with;
    bool rms = one->kind == LN_OPERATION_RMSNORM, fits = true;
    one->whole = one->whole && rms;
    for (size_t i = 0; i < row->length; i++) {
        const size_t at = row->outer + row->inner[i], p = at / with->stride % with->extent;
        const range *own = &row->y[at];
        double beta = with->beta[p], copy = with->gamma[p] * row->z[i] + beta;
        double off = 0x1p-4 * (fabs(copy) + 2 * fabs(beta));
        bool number = !isnan(own->low) && !isinf(own->low) && !isinf(own->high);
        fits = fits && (!number || (rms && !row->has_nan && own->low <= beta && own->high >= beta));
        one->whole = one->whole &&
                     (number ? copy + off >= own->low && copy - off <= own->high : !isfinite(copy));
    }
    one->alive = one->alive && (fits || one->whole);
    for (size_t i = 0; !fits && i < 2 * PLACES; i++)
        one->eps[i / PLACES][i % PLACES] = nothing;
}

/* Checks a row of 0 / 0: y is NaN if there is no eps under the root or rounding loses it, and else a number. */
static void check_undefined(family *one, const exact_row *row)
{
    size_t nans = 0;
    for (size_t i = 0; i < row->length; i++)
        nans += isnan(row->y[row->outer + row->inner[i]].low) != 0;
    const bool number = nans == 0;
    if (!number && nans < row->length)
        return;
    for (size_t d = 0; d < 2; d++) {
        if (number)
            one->eps[d][LN_EPS_QUOTIENT - 1] = nothing;
        for (int place = LN_EPS_VAR; place <= LN_EPS_STD; place++)
            narrow(&one->eps[d][place - 1], number ? DBL_MIN : 0, number ? INFINITY : row->lost);
    }
    one->whole = one->whole && number;
}

/* Checks a row that rounding made constant: xhat must be the same number in all elements. */
static void check_constant(family *one, const exact_row *row)
{
    const affine *with = one->with;
    range all = everything;
    for (size_t i = 0; i < row->length; i++) {
        const size_t at = row->outer + row->inner[i], p = at / with->stride % with->extent;
        double a = (row->y[at].low - with->beta[p]) / with->gamma[p];
        double b = (row->y[at].high - with->beta[p]) / with->gamma[p], off = 0x1p-20 * fabs(a);
        if (isfinite(a) && isfinite(b))
            narrow(&all, fmin(a, b) - off, fmax(a, b) + off);
    }
    one->alive = one->alive && !is_empty(&all);
}

/* Computes the interval of xhat at element i; *alive: some xhat explains y_i. Returns false if there is no interval. */
static bool xhat_range(const family *one, const exact_row *row, size_t i, range *own, bool *alive)
{
    const affine *with = one->with;
    const size_t at = row->outer + row->inner[i], p = at / with->stride % with->extent;
    const double gamma = with->gamma[p], beta = with->beta[p];
    *own = row->y[at];
    const double size = fmax(fabs(own->low), fabs(own->high));
    const double off =
        5 * row->unit * (2 * fabs(beta) + (isinf(size) ? 0 : size)) + row->tiny * (1 + fabs(gamma));
    if (!isfinite(gamma) || !isfinite(beta))
        return false;
    own->low -= off + beta;
    own->high += off - beta;
    if (gamma == 0) {
        *alive = own->low <= 0 && own->high >= 0;
        return false;
    }
    *own = gamma > 0 ? (range){own->low / gamma, own->high / gamma}
                     : (range){own->high / gamma, own->low / gamma};
    if (one->casts)
        *own = before_rounding(one->cast, *own);
    *alive = !is_empty(own); /* NaN too */
    return true;
}

static void check_row(family *one, const exact_row *row, double sums)
{
    range s = {0, INFINITY}, t[2] = {everything, everything}, plain[2];
    const double n = (double)row->length, slack = 12 * sums;
    if (row->has_nan || row->has_infinity)
        check_not_finite(one, row);
    if (row->undefined)
        check_undefined(one, row);
    if (row->constant)
        check_constant(one, row);
    if (!row->usable)
        return;
    for (int d = 0; d < 2; d++) { /* s without eps, with its error */
        const double bessel = d ? n / (n - 1) : 1, least = (row->square - row->lost) * bessel;
        const double most = (row->square + row->lost) * bessel;
        plain[d] = (range){sqrt(row->square / most) * (1 - slack),
                           least > 0 ? sqrt(row->square / least) * (1 + slack) : INFINITY};
    }
    for (size_t i = 0; i < row->length && one->alive; i++) {
        range own;
        if (!xhat_range(one, row, i, &own, &one->alive))
            continue;
        const double z = row->z[i], up = z + row->shift, down = z - row->shift;
        /* s up >= own.low, s down <= own.high */
        if (up > 0)
            s.low = fmax(s.low, own.low / up);
        else if (up < 0)
            s.high = fmin(s.high, own.low / up);
        else
            one->alive = one->alive && own.low <= 0;
        if (down > 0)
            s.high = fmin(s.high, own.high / down);
        else if (down < 0)
            s.low = fmax(s.low, own.high / down);
        else
            one->alive = one->alive && own.high >= 0;
        for (size_t d = 0; d < 2 && one->kind == LN_OPERATION_LAYERNORM; d++) {
            const double shift = row->shift * plain[d].high;
            const double low = z * plain[d].low, high = z * plain[d].high;
            narrow(&t[d], own.low - fmax(low, high) - shift, own.high - fmin(low, high) + shift);
        }
    }
    if (is_empty(&s))
        one->whole = false;
    for (int d = 0; d < 2; d++) {
        narrow(&one->eps[d][LN_EPS_QUOTIENT - 1], t[d].low, t[d].high);
        if (is_empty(&s))
            one->eps[d][LN_EPS_VAR - 1] = one->eps[d][LN_EPS_STD - 1] = nothing;
    }
    if (!is_empty(&s)) {
        narrow_eps(one, row, s, slack);
        if (dtype_size(one->out) == 2 && s.low > 0)
            check_step(one, row, s, slack);
    }
    bool any = one->whole;
    for (size_t i = 0; i < 2 * PLACES; i++)
        any = any || !is_empty(&one->eps[i / PLACES][i % PLACES]);
    one->alive = one->alive && any;
}

/* ---- eps ---- */

/* The most usual sizes come first. */
static const double usual_sizes[] = {1e-5, 1e-6, 1e-12, 1e-3,  1e-8, 0x1p-23, 1e-7,
                                     1e-4, 1e-9, 1e-10, 1e-11, 1e-2, 1e-15};
enum { usual_count = sizeof usual_sizes / sizeof *usual_sizes };

/* Returns a usual eps within [low, high], or else the decimal with the fewest digits there, nearest to the middle. */
static double usual_eps(double low, double high)
{
    for (size_t i = 0; i < usual_count; i++)
        if (usual_sizes[i] >= low && usual_sizes[i] <= high)
            return usual_sizes[i];
    if (isinf(high))
        return low > 0 ? low : usual_sizes[0];
    low = low > 0 ? low : high / 10;
    const double middle = sqrt(low * high);
    for (int digits = 1; digits < 17; digits++) {
        double unit = pow(10, floor(log10(high)) - (digits - 1));
        double first = ceil(low / unit), last = floor(high / unit);
        if (!(first <= last) || last < 1)
            continue;
        double multiple = fmin(last, fmax(first, nearbyint(middle / unit)));
        char written[48];
        snprintf(written, sizeof written, "%.0fe%d", multiple, (int)lrint(log10(unit)));
        double best = number_read(written, NULL);
        if (best > 0)
            return best;
    }
    return middle;
}

/* Sets the eps to that of a preset of the same convention, if one is in the interval; of several, to the most usual. */
static bool take_preset(fingerprint_candidate *one)
{
    size_t count, best = SIZE_MAX;
    const convention_preset *presets = convention_presets(one->convention.operation, &count);
    for (size_t i = 0; i < count; i++) {
        ln_convention same = one->convention;
        size_t place = 0;
        same.eps = presets[i].convention.eps;
        while (place < usual_count && usual_sizes[place] != same.eps)
            place++;
        if (same.eps >= one->eps_low && same.eps <= one->eps_high && place < best &&
            convention_equal(&same, &presets[i].convention)) {
            one->convention = same;
            best = place;
        }
    }
    return best < SIZE_MAX;
}

/* ---- candidates that explain y ---- */

/* A y of so many elements shows where values were rounded, since another place changes a quarter of them. */
enum { SURE = 64 };

/* Returns whether two candidates differ only in the places of rounding. */
static bool is_same_function(const fingerprint_candidate *a, const fingerprint_candidate *b)
{
    return a->kind == b->kind && a->family == b->family &&
           a->convention.eps_place == b->convention.eps_place;
}

/* Adds a candidate. A function that rounds each step explains every y of the same function rounded once, and more sizes
 * of eps: these are added to the interval of the candidate that rounds once, if there is one. */
static void add_candidate(const search *own, const fingerprint_candidate *one)
{
    fingerprint_found *found = own->found;
    bool known = false;
    for (size_t i = 0; own->coarse && i < found->count; i++) {
        fingerprint_candidate *other = &found->candidates[i];
        if (!is_same_function(one, other))
            continue;
        other->eps_low = fmin(other->eps_low, one->eps_low);
        other->eps_high = fmax(other->eps_high, one->eps_high);
        known =
            known || own->elements >= SURE ||
            (other->source == one->source && one->convention.operation == LN_OPERATION_LAYERNORM);
    }
    if (known)
        return;
    found->candidates = allocate_room(found->candidates, found->count, sizeof *found->candidates);
    found->candidates[found->count++] = *one;
}

static void add_words(fingerprint_candidate *one, const char *words)
{
    size_t length = strlen(one->words);
    if (*words)
        snprintf(one->words + length, sizeof one->words - length, "%s%s", length ? "; " : "",
                 words);
}

static ln_affine form_of(const fingerprint_input *input, const affine *with)
{
    bool scalar = input->parameters == 1 && input->shape[input->dimensions - 1] != 1;
    return with->use == USE_NONE                                        ? LN_AFFINE_NONE
           : scalar                                                     ? LN_AFFINE_SCALAR
           : with->use == USE_OFFSET || with->use == USE_OFFSET_ROUNDED ? LN_AFFINE_GAMMA1
           : with->use == USE_GAMMA || !input->beta                     ? LN_AFFINE_GAMMA
                                                                        : LN_AFFINE_VECTOR;
}

/* Describes a use of gamma and beta that is no part of a convention; "": it is part of one. */
static const char *affine_words(search *own, affine_use use, bool is_scalar, bool rms)
{
#define WORDS_OF(use, needs, factor, summand, words) [use] = words,
    static const char *const all[USES] = {AFFINE_USES(WORDS_OF)};
    const bool gamma = own->input->gamma, beta = own->input->beta;
    if (use == USE_NONE || use == USE_TWICE)
        return gamma || beta
                   ? arena_format(&own->memory, "%s%s%s %s", gamma ? "gamma" : "",
                                  gamma && beta ? " and " : "", beta ? "beta" : "", all[use])
                   : "";
    if ((use == USE_GAMMA && rms) || (use == USE_OFFSET && !is_scalar))
        return "";
    return (use == USE_ALL || use == USE_OFFSET_ROUNDED) && rms && beta ? "beta added" : all[use];
}

/* Adds a candidate with its words, its rank (one->rank so far counts least), and its family: a number made of the type
 * of y, the reduction, the use of gamma and beta, the operation and the divisor, but not of the places of rounding. */
static void describe_candidate(search *own, const family *with, const reduction *over,
                               const source *from, fingerprint_candidate *one)
{
    const fingerprint_input *input = own->input;
    const affine *used = with->with;
    const bool rms = with->kind == LN_OPERATION_RMSNORM;
    char label[CONVENTION_MAX_LENGTH];
    add_words(one, one->kind == KIND_NORMALISED ? convention_label(&one->convention, label)
                   : one->kind == KIND_COPIED   ? "x as it is, not normalised"
                   : one->kind == KIND_CENTRED  ? "x - mean, not divided"
                                                : "softmax");
    if (one->kind != KIND_COPIED)
        add_words(one, over->words);
    add_words(one, from->words);
    if (from->sum == LN_RMS_SUM_UNROUNDED && !rms)
        add_words(one, "x + residual not rounded before it is normalised");
    add_words(one, affine_words(own, used->use, form_of(input, used) == LN_AFFINE_SCALAR, rms));
    if (used->axis >= 0 && used->use != USE_NONE)
        add_words(one, arena_format(&own->memory, "gamma and beta along axis %d", used->axis));
    if (with->casts && !(rms && with->cast == input->x_type))
        add_words(one, arena_format(&own->memory, "xhat rounded to %s", dtype_name(with->cast)));
    if (own->out != input->y_type && input->digits == FINGERPRINT_EXACT)
        add_words(one, arena_format(&own->memory, "output rounded to %s", dtype_name(own->out)));
    if (own->coarse)
        add_words(one,
                  arena_format(&own->memory, "each step rounded to %s", dtype_name(own->step)));
    one->rank += 3 * (over->rank + from->rank + (with->casts && !rms ? 4 : 0) +
                      (used->use == USE_ALL    ? 0
                       : used->use <= USE_BETA ? 1
                                               : 3) +
                      (used->axis >= 0 ? 2 : 0));
    const affine_use use = used->use == USE_OFFSET_ROUNDED ? USE_OFFSET : used->use;
    one->source = (size_t)(from - own->sources);
    one->family = (size_t)own->out;
    one->family = one->family * REDUCTIONS_MOST + (size_t)(over - own->reductions);
    one->family = one->family * USES + (size_t)use;
    one->family = one->family * (FINGERPRINT_AXES + 1) + (size_t)(used->axis + 1);
    one->family = one->family * 4 + (size_t)with->kind * 2 + (from->rank == RANK_ALONE);
    one->family = one->family * 2 + (!rms && one->convention.ddof == 1);
    add_candidate(own, one);
}

/* Returns a convention with defaults for the choices that make no difference to rows of these types. */
static ln_convention as_computed(const fingerprint_input *input, ln_convention convention)
{
    if (convention.operation != LN_OPERATION_RMSNORM)
        return convention;
    if (dtype_size(input->x_type) != 2) {
        convention.root = convention.cast = 0;
        if (convention.weight == LN_RMS_WEIGHT_OFFSET_ROUNDED)
            convention.weight = LN_RMS_WEIGHT_OFFSET;
    }
    if (!input->residual)
        convention.sum = LN_RMS_SUM_ROUNDED;
    return convention;
}

/* Lists all other presets that fit a candidate: equal ones, those that are equal for these types, and those with
 * another eps in the interval. */
static void add_also(const fingerprint_input *input, fingerprint_candidate *one)
{
    enum { SAME, AS_COMPUTED, OTHER_EPS, WAYS };
    char label[CONVENTION_MAX_LENGTH], leads[WAYS][48];
    size_t count, length = 0;
    const convention_preset *presets = convention_presets(one->convention.operation, &count);
    const ln_convention own = as_computed(input, one->convention);
    convention_label(&one->convention, label);
    snprintf(leads[SAME], sizeof *leads, "= ");
    snprintf(leads[AS_COMPUTED], sizeof *leads, "in %s also ", dtype_name(input->x_type));
    snprintf(leads[OTHER_EPS], sizeof *leads, "with its own eps ");
    for (int way = SAME; way < WAYS; way++)
        for (size_t i = 0, said = 0; i < count && length < sizeof one->also; i++) {
            const ln_convention *theirs = &presets[i].convention;
            ln_convention same = as_computed(input, *theirs);
            bool inside = same.eps >= one->eps_low && same.eps <= one->eps_high;
            int found = convention_equal(theirs, &one->convention) ? SAME
                        : same.eps == own.eps                      ? AS_COMPUTED
                                                                   : OTHER_EPS;
            same.eps = own.eps;
            if (found != way || !inside || !convention_equal(&same, &own) ||
                strcmp(presets[i].name, label) == 0)
                continue;
            length += (size_t)snprintf(one->also + length, sizeof one->also - length, "%s%s%s",
                                       said     ? ", "
                                       : length ? "; "
                                                : "",
                                       said ? "" : leads[way], presets[i].name);
            said++;
        }
}

bool fingerprint_is_among(const fingerprint_input *input, const fingerprint_found *found,
                          const ln_convention *convention)
{
    ln_convention computed = as_computed(input, *convention);
    for (size_t i = 0; i < found->count; i++) {
        const fingerprint_candidate *one = &found->candidates[i];
        char label[CONVENTION_MAX_LENGTH];
        ln_convention own = as_computed(input, one->convention);
        convention_label(&one->convention, label);
        own.eps = computed.eps;
        if (computed.eps >= one->eps_low && computed.eps <= one->eps_high &&
            convention_equal(&computed, &own) && strcmp(one->words, label) == 0)
            return true;
    }
    return false;
}

/* Adds the candidates of a family that no row excluded: one for each divisor and place of eps; and x, centred or
 * copied, if y fits without a division. */
static void add_family(search *own, const family *with, const reduction *over, const source *from)
{
    const fingerprint_input *input = own->input;
    const affine_use use = with->with->use;
    const bool layernorm = with->kind == LN_OPERATION_LAYERNORM;
    const ln_rms_weight weight = use == USE_NONE || !input->gamma || use == USE_BETA
                                     ? LN_RMS_WEIGHT_NONE
                                 : use == USE_OFFSET         ? LN_RMS_WEIGHT_OFFSET
                                 : use == USE_OFFSET_ROUNDED ? LN_RMS_WEIGHT_OFFSET_ROUNDED
                                                             : LN_RMS_WEIGHT;
    own->once = fmax(own->once, with->bits - with->most_bits);
    for (int d = 0; d < 2; d++)
        for (int place = LN_EPS_NONE; place <= LN_EPS_QUOTIENT; place++) {
            const range eps = with->eps[d][place == LN_EPS_NONE ? 0 : place - 1];
            fingerprint_candidate one = {
                .convention = layernorm
                                  ? (ln_convention){.ddof = d, .affine = form_of(input, with->with)}
                                  : (ln_convention){.operation = LN_OPERATION_RMSNORM,
                                                    .weight = weight,
                                                    .cast = with->casts &&
                                                            with->cast == input->x_type && weight,
                                                    .root = d,
                                                    .sum = from->sum},
                .eps_low = place == LN_EPS_NONE ? 0 : fmax(eps.low, 0),
                .eps_high = place == LN_EPS_NONE ? 0 : eps.high,
                .plain = over->last && from == own->sources};
            one.convention.eps_place = (ln_eps_place)place;
            if (place == LN_EPS_NONE ? !(eps.low <= 0 && eps.high >= 0)
                                     : !(one.eps_low <= eps.high && eps.high > 0))
                continue;
            one.rank = !take_preset(&one);
            if (one.rank > 0 && place != LN_EPS_NONE)
                one.convention.eps = usual_eps(one.eps_low, one.eps_high);
            describe_candidate(own, with, over, from, &one);
        }
    fingerprint_candidate whole = {.kind = layernorm ? KIND_CENTRED : KIND_COPIED};
    if (with->whole)
        describe_candidate(own, with, over, from, &whole);
}

/* Adds softmax if it explains y. Its error is (N + 8) u for exp and a sum of N numbers, and |x - max| u for exp's
 * argument. With a NaN all results are NaN. */
static void try_softmax(search *own, const reduction *over, const source *from)
{
    static const affine none = {.use = USE_ALL, .axis = -1};
    const family with = {.kind = LN_OPERATION_LAYERNORM, .with = &none};
    const double unit = unit_roundoff(own->sums);
    fingerprint_candidate one = {.kind = KIND_SOFTMAX};
    own->found->tried++;
    for (size_t g = 0; g < over->groups; g++) {
        const double *values = from->values + over->outer[g];
        double most = -INFINITY, sum = 0;
        for (size_t i = 0; i < over->length; i++)
            most = fmax(most, values[over->inner[i]]);
        for (size_t i = 0; i < over->length; i++)
            sum += exp(values[over->inner[i]] - most);
        for (size_t i = 0; i < over->length; i++) {
            const range *y = &own->y[over->outer[g] + over->inner[i]];
            double down = values[over->inner[i]] - most, exact = exp(down) / sum;
            double off = exact * 2 * unit * ((double)over->length + 8 + fabs(down));
            if (isnan(exact) ? !isnan(y->low) : !(exact + off >= y->low && exact - off <= y->high))
                return;
        }
    }
    describe_candidate(own, &with, over, from, &one);
}

/* ---- the loop ---- */

/* Makes all families of a source over these axes, with every eps. */
static void begin_families(search *own, const reduction *over, const source *from)
{
    static const ln_type casts[CASTS] = {LN_F32, LN_BF16, LN_F16};
    const fingerprint_input *input = own->input;
    const bool is_short = dtype_size(input->x_type) == 2;
    own->counts[0] = own->counts[1] = 0;
    for (size_t i = 0; i < 2 * own->affine_count * CASTS; i++) {
        const size_t kind = i / CASTS / own->affine_count, c = i % CASTS;
        const affine *with = &own->affines[i / CASTS % own->affine_count];
        const bool layernorm = kind == LN_OPERATION_LAYERNORM;
        const size_t roots = layernorm || (is_short && !own->coarse) ? 2 : 1;
        if ((own->coarse && (c > 0 || with->use == USE_OFFSET_ROUNDED)) ||
            (c > 0 &&
             (with->trivial || with->use == USE_NONE || (is_short && casts[c] != input->x_type))) ||
            (layernorm && (from->sum == LN_RMS_SUM_SQUARES || with->use == USE_OFFSET_ROUNDED)))
            continue;
        family *one = &own->families[kind][own->counts[kind]++];
        /* A copy of x does not depend on the axes. */
        *one = (family){.kind = (ln_operation)kind,
                        .with = with,
                        .casts = c > 0,
                        .cast = casts[c],
                        .root = input->x_type,
                        .out = own->out,
                        .alive = true,
                        .whole = c == 0 && (layernorm || over->last)};
        for (size_t d = 0; d < 2; d++)
            for (size_t p = 0; p < PLACES; p++)
                one->eps[d][p] =
                    d < roots && (layernorm || p + 1 < PLACES) ? (range){0, EPS_MOST} : nothing;
        own->found->tried += layernorm || is_short ? 7 : 4;
    }
}

/* Compares every group with all families that are not yet excluded. */
static void try_reduction(search *own, const reduction *over, const source *from)
{
    const bool plain = over->last && from == own->sources;
    bool left = true;
    exact_row row;
    begin_families(own, over, from);
    if (over->length < 2)
        return;
    for (size_t g = 0; (left || plain) && g < over->groups; g++) {
        if (left && over->last && g > own->found->last_row)
            own->found->last_row = g;
        left = false;
        for (int kind = 0; kind < 2; kind++) {
            bool any = plain;
            for (size_t i = 0; i < own->counts[kind]; i++)
                any = any || own->families[kind][i].alive;
            if (!any)
                continue;
            make_row(own, (ln_operation)kind, over, from, g, &row);
            own->usable[kind] += plain && row.usable;
            for (size_t i = 0; i < own->counts[kind]; i++) {
                family *one = &own->families[kind][i];
                if (one->alive)
                    check_row(one, &row, unit_roundoff(own->sums));
                left = left || one->alive;
            }
        }
    }
    for (int kind = 0; kind < 2; kind++)
        for (size_t i = 0; i < own->counts[kind]; i++)
            if (own->families[kind][i].alive)
                add_family(own, &own->families[kind][i], over, from);
    if (over->single && from == own->sources && !own->coarse)
        try_softmax(own, over, from);
}

/* Tries all combinations. Steps are rounded to the source's type, and to another one only if nothing else fits. */
static void try_all(search *own)
{
    const bool any = own->found->count == 0;
    const size_t before[2] = {own->usable[0], own->usable[1]};
    own->usable[0] = own->usable[1] = 0;
    for (size_t s = 0; s < own->source_count; s++) {
        const source *from = &own->sources[s];
        bool may = !own->coarse || any || from->sum == 0;
        for (size_t i = 0; own->coarse && !any && may && i < own->elements; i++)
            may =
                isnan(from->values[i]) || stored_in(own->step, from->values[i]) == from->values[i];
        for (size_t r = 0; may && r < own->reduction_count; r++)
            try_reduction(own, &own->reductions[r], from);
    }
    for (int kind = 0; kind < 2; kind++)
        own->usable[kind] = before[kind] > own->usable[kind] ? before[kind] : own->usable[kind];
}

/* Finds the candidates for a y of type `out`: first those that round only the output, then those that round each step
 * to 16 bits. The latter are tried if y has that type and its rows do not exclude it, or if nothing else explains y. */
static void find_all(search *own, ln_type out)
{
    enum { SURE_BITS = 24 };
    static const ln_type steps[] = {LN_BF16, LN_F16};
    const fingerprint_input *input = own->input;
    const double half = 0.5 * pow(10, -input->digits);
    own->out = out;
    own->coarse = false;
    own->sums = out == LN_F64 ? LN_F64 : LN_F32;
    own->once = 0;
    for (size_t i = 0; i < own->elements; i++) {
        double y = input->y[i], read = fabs(y) * (input->y_type == LN_F64 ? 0x1p-52 : 0x1p-23);
        own->y[i] = input->digits == FINGERPRINT_EXACT || !isfinite(y)
                        ? rounded_from(out, y)
                        : (range){y - half - read, y + half + read};
    }
    try_all(own);
    for (size_t i = 0; i < 2; i++) {
        if (out != steps[i] && (input->x_type != steps[i] || own->found->count > 0))
            continue;
        if (own->once >= SURE_BITS && own->elements >= SURE)
            break;
        own->coarse = true;
        own->step = steps[i];
        try_all(own);
    }
}

/* ---- the answer ---- */

/* Returns whether every y is a number of the type. *telling: how many are no powers of two, which all types hold. */
static bool holds_all(const double *y, size_t count, ln_type type, size_t *telling)
{
    int exponent;
    *telling = 0;
    for (size_t i = 0; i < count; i++) {
        if (isnan(y[i]))
            continue;
        if (stored_in(type, y[i]) != y[i])
            return false;
        *telling += isfinite(y[i]) && fabs(frexp(y[i], &exponent)) != 0.5 && y[i] != 0 &&
                    (i == 0 || fabs(y[i]) != fabs(y[i - 1]));
    }
    return true;
}

/* Finds the types to which y may have been rounded, which may be shorter than the type in which it is stored. A longer
 * type is excluded if so many elements fit the shorter one by chance with a probability below 2^-48. A printed y is of
 * type f32, or of f64 if an element is no printed f32. */
static size_t rounded_types(const fingerprint_input *input, size_t count, ln_type made[4])
{
    static const ln_type types[] = {LN_BF16, LN_F16, LN_F32, LN_F64};
    enum { TOLD_BITS = 48 };
    const double half = 0.5 * pow(10, -input->digits) * (1 + 1e-6);
    size_t telling, kept = 0, bits[4];
    if (input->digits != FINGERPRINT_EXACT) {
        made[0] = LN_F32;
        for (size_t i = 0; i < count; i++)
            if (fabs(input->y[i] - (double)(float)input->y[i]) > half)
                made[0] = LN_F64;
        return 1;
    }
    for (size_t t = 0; t < 4; t++) {
        bool own = types[t] == input->y_type, known = true;
        if ((!own && dtype_size(types[t]) >= dtype_size(input->y_type)) ||
            (!holds_all(input->y, count, types[t], &telling) && !own))
            continue;
        for (size_t k = 0; k < kept; k++)
            known = known && bits[k] * (size_t)(format_of(types[t]).precision -
                                                format_of(made[k]).precision) <
                                 TOLD_BITS;
        if (!known)
            continue;
        bits[kept] = telling;
        made[kept++] = types[t];
    }
    return kept;
}

float fingerprint_probe_value(float scale, size_t hidden, size_t i)
{
    if (i + 1 == hidden && hidden % 2 == 1)
        return 0;
    return i % 2 == 0 ? scale : -scale;
}

enum { FIRST_SCALE = -48, LAST_SCALE = 24, MEMBERS_MOST = 96 };

/* A candidate with one size of eps. */
typedef struct member {
    const fingerprint_candidate *own;
    double eps;
} member;

/* Returns the largest element of a probe row without any eps on the quotient (.low), and that eps (.high). */
static range answer_of(const member *one, size_t hidden, double scale)
{
    const ln_convention *convention = &one->own->convention;
    double n = (double)hidden, share = hidden % 2 == 1 ? (n - 1) / n : 1;
    bool layernorm = convention->operation == LN_OPERATION_LAYERNORM;
    double var = scale * scale * share * (layernorm && convention->ddof == 1 ? n / (n - 1) : 1);
    double root = convention->eps_place == LN_EPS_VAR   ? sqrt(var + one->eps)
                  : convention->eps_place == LN_EPS_STD ? sqrt(var) + one->eps
                                                        : sqrt(var);
    return (range){scale / root, convention->eps_place == LN_EPS_QUOTIENT ? one->eps : 0};
}

/* Lists the members and returns their number. Only MEMBERS_MOST are kept; the others count as pairs that the probe does
 * not separate. */
static size_t members_of(const fingerprint_found *found, member *all)
{
    size_t count = 0;
    for (size_t i = 0; i < found->count; i++) {
        const fingerprint_candidate *one = &found->candidates[i];
        for (size_t u = 0; u <= usual_count; u++) {
            const double eps = u == 0 ? one->convention.eps : usual_sizes[u - 1];
            if (u > 0 && (eps < one->eps_low || eps > one->eps_high || eps == one->convention.eps))
                continue;
            if (count < MEMBERS_MOST)
                all[count] = (member){one, eps};
            count++;
        }
    }
    return count;
}

/* Finds the probe that separates most pairs: their results must differ by eight times the error of the last rounding
 * and of rstd in the textbook algorithms (judge/layernorm.c). */
static void find_probe(const search *own, fingerprint_found *found)
{
    const size_t hidden = own->reductions[0].length;
    const double off = 8 * (fmax(4, 2 + sqrt((double)hidden) / 2) * unit_roundoff(own->sums) +
                            2 * unit_roundoff(own->out));
    member all[MEMBERS_MOST];
    size_t count = members_of(found, all), best = 0;
    const size_t kept = count < MEMBERS_MOST ? count : MEMBERS_MOST;
    found->pairs = count * (count - 1) / 2;
    for (int i = FIRST_SCALE; hidden > 1 && found->answer == ANSWER_OPEN && i <= LAST_SCALE; i++) {
        size_t separated = 0;
        for (size_t a = 0; a < kept; a++)
            for (size_t b = 0; b < a; b++) {
                range one = answer_of(&all[a], hidden, ldexp(1, i)),
                      other = answer_of(&all[b], hidden, ldexp(1, i));
                separated += all[a].own->plain && all[b].own->plain &&
                             (fabs(one.low - other.low) > off * fmax(one.low, other.low) ||
                              fabs(one.high - other.high) > off);
            }
        if (separated > 0 && separated >= best) {
            best = separated;
            found->probe = (float)ldexp(1, i);
        }
    }
    found->pairs_left = found->pairs - best;
}

static int by_rank(const void *left, const void *right)
{
    const fingerprint_candidate *a = left, *b = right;
    return a->rank != b->rank ? a->rank - b->rank : strcmp(a->words, b->words);
}

/* Sorts the candidates and sets the answer: named if all are one function whose eps is known to within a quarter. */
static void conclude(search *own)
{
    fingerprint_found *found = own->found;
    for (int kind = 0; kind < 2; kind++) {
        bool is_left = found->count == 0;
        for (size_t i = 0; i < found->count; i++)
            is_left = is_left || (int)found->candidates[i].convention.operation == kind;
        if (is_left && own->usable[kind] > found->used)
            found->used = own->usable[kind];
    }
    if (found->count == 0)
        return;
    qsort(found->candidates, found->count, sizeof *found->candidates, by_rank);
    found->answer = ANSWER_NAMED;
    for (size_t i = 0; i < found->count; i++) {
        fingerprint_candidate *one = &found->candidates[i];
        const double eps = one->convention.eps;
        if (one->kind == KIND_NORMALISED)
            add_also(own->input, one); /* now that its eps is known */
        if (!is_same_function(&found->candidates[0], one) ||
            (one->kind == KIND_NORMALISED && one->convention.eps_place != LN_EPS_NONE &&
             !(one->eps_low > 0.75 * eps && one->eps_high < 1.25 * eps)))
            found->answer = ANSWER_OPEN;
    }
    find_probe(own, found);
}

void fingerprint_make(const fingerprint_input *input, fingerprint_found *found)
{
    bool fit = false;
    for (int axis = -1; axis + 1 < (int)input->dimensions; axis++)
        fit |= lie_along(input, axis);
    if (!fit)
        die(EXIT_CODE_USAGE,
            "gamma and beta of %zu elements: expected 1, the size of an axis of x, or that of its "
            "last axes",
            input->parameters);
    search *own = allocate_zeroed(1, sizeof *own);
    *found = (fingerprint_found){0};
    own->input = input;
    own->found = found;
    own->elements = 1;
    for (size_t a = 0; a < input->dimensions; a++)
        own->elements *= input->shape[a];
    add_reductions(own);
    add_sources(own);
    add_affines(own);
    size_t most = 1;
    for (size_t r = 0; r < own->reduction_count; r++)
        most = own->reductions[r].length > most ? own->reductions[r].length : most;
    own->y = arena_new(&own->memory, range, own->elements);
    own->typed = arena_new(&own->memory, double, most);
    own->rounded = arena_new(&own->memory, double, most);
    own->values = arena_new(&own->memory, double, most);
    own->z = arena_new(&own->memory, double, most);
    own->reference = ln_reference_create();
    if (!own->reference)
        memory_is_out(0);
    found->rows = own->reductions[0].groups;
    ln_type types[4];
    const size_t count = rounded_types(input, own->elements, types);
    for (size_t t = 0; t < count; t++)
        find_all(own, types[t]);
    conclude(own);
    ln_reference_destroy(own->reference);
    arena_free(&own->memory);
    free(own);
}

void fingerprint_free(fingerprint_found *found)
{
    free(found->candidates);
    *found = (fingerprint_found){0};
}

/* ---- descriptions ---- */

const char *fingerprint_answer_name(fingerprint_answer answer)
{
    static const char *const names[] = {"none", "open", "named"};
    return names[answer];
}

exit_code fingerprint_exit_code(fingerprint_answer answer)
{
    static const exit_code codes[] = {EXIT_CODE_ACCURACY, EXIT_CODE_INCONCLUSIVE, EXIT_CODE_FINE};
    return codes[answer];
}

const char *fingerprint_say(const fingerprint_found *found, char *buffer, size_t size)
{
    bool named = found->answer == ANSWER_NAMED;
    size_t said = named ? 1 : 4;
    size_t length = (size_t)snprintf(buffer, size, "%s: ", fingerprint_answer_name(found->answer));
    if (found->answer == ANSWER_NONE)
        snprintf(buffer, size, "none of %zu candidates explains y", found->tried);
    for (size_t i = 0; i < found->count && i < said && length < size; i++)
        length += (size_t)snprintf(buffer + length, size - length, "%s%s", i ? "; or " : "",
                                   found->candidates[i].words);
    if (found->count > said && length < size && named)
        snprintf(buffer + length, size - length, " (it is unknown where values were rounded)");
    else if (found->count > said && length < size)
        snprintf(buffer + length, size - length, "; or %zu more", found->count - said);
    return buffer;
}
