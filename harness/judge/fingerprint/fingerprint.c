/* The loop over all candidates, the answer, and the one more row that would tell those that are left apart.
 *
 * Rows of +-s in turn have the biased variance s^2 exactly (odd rows, with a 0 at their end, s^2 (N - 1) /
 * N), so a power of two s near an eps, or near its root, is where places and sizes of eps show. */
#include "judge/fingerprint/internal.h"
#include "base/text.h"
#include "certify/rms_row.h"
#include "domain/convention.h"
#include "judge/rmsnorm/rmsnorm.h"
#include <stdio.h>

/* ---- a row ---- */

/* A row's exact answer, from one pass of the certified reference, from which every candidate's follows; and
 * what sums may be off: the judge's limits of mean and rstd (row_limits.h), of the row without eps. */

typedef struct exact_row {
    bool tells;                 /* false: sums may be off by everything, or the row is not finite */
    bool undefined;             /* 0 / 0, and every way to compute it says so */
    bool has_nan, has_infinity; /* among what is normalised */
    bool constant;              /* all elements became one by rounding */
    size_t length;
    double *z; /* (x - mean) / std with the divisor N and no eps; of RMSNorm x / root; x where it is
                    * not finite */
    double most;   /* the largest |z| */
    double square; /* the variance, or the mean square */
    double lost;   /* what sums may be off it */
    double shift;  /* what each z may be off alike: the mean, and roundings of x and mean */
    double unit;   /* of roundings behind the sums... */
    double tiny;   /* ...and what they lose of numbers below the normal ones */
} exact_row;

typedef struct row_maker {
    const fingerprint_input *input;
    ln_type sums;
    bool coarse;  /* each step may be rounded to a 16-bit type... */
    ln_type step; /* ...this one */
    ln_reference *reference;
    textbook book;
    double *typed, *rounded, *values, *z; /* a row each */
} row_maker;

/* The row as doubles and in the type that holds it; false: an element is not finite. */
static bool load_row(row_maker *maker, const reduction *over, const source *from, size_t group,
                     ln_type *type, exact_row *row)
{
    *type = LN_F32;
    for (size_t i = 0; i < over->length; i++) {
        double value = from->values[over->outer[group] + over->inner[i]];
        maker->values[i] = value;
        row->has_nan = row->has_nan || isnan(value);
        row->has_infinity = row->has_infinity || isinf(value);
        if ((double)(float)value != value)
            *type = LN_F64;
    }
    for (size_t i = 0; i < over->length; i++)
        storage_store(*type, maker->typed, i, maker->values[i]);
    return !row->has_nan && !row->has_infinity;
}

/* Half a unit of the last digit and what reading it back rounds; with a residual the same again. */
static double printed_radius(const fingerprint_input *input, double largest)
{
    if (input->x_digits == FINGERPRINT_EXACT)
        return 0;
    return 0.5 * pow(10, -input->x_digits) * (input->residual ? 2 : 1) + 4 * largest * 0x1p-24;
}

/* x known to +-h: a deviation x_i - mean moves by 2 h (N - 1) / N at most, the root of the mean square of
 * centred numbers by h, and so does that of numbers that are not centred. */
static void widen_by_digits(double h, double n, bool centred, exact_row *row)
{
    double std = sqrt(row->square);
    row->shift += (centred ? 2 * h * (n - 1) / n : h) / std;
    row->lost += 2 * std * h + h * h;
}

/* What a rounding to f16 may be off a number below its normal ones. */
#define F16_LOST 0x1p-25

/* A mean that is off by d adds d^2 to the variance; below the normal numbers every deviation is off by what
 * they lose, and so is the mean. A square beyond f16 is infinite: the row tells nothing. */
static void round_steps(ln_type step, double mean, double reach, exact_row *row)
{
    double std = sqrt(row->square), off = 2 * unit_roundoff(step) * mean;
    row->lost += off * off;
    row->tells = step != LN_F16 || reach * reach < 0x1p15;
    if (step != LN_F16)
        return;
    row->shift += 2 * F16_LOST / std;
    row->lost += 4 * std * F16_LOST + 4 * F16_LOST * F16_LOST;
}

/* The root is that of other values: their mean square, in double. */
static void take_squares(const reduction *over, const source *from, size_t group, exact_row *row)
{
    double sum = 0;
    for (size_t i = 0; i < over->length; i++) {
        double value = from->squares[over->outer[group] + over->inner[i]];
        sum += value * value;
    }
    double ratio = sum / (double)over->length / row->square;
    row->lost *= ratio;
    for (size_t i = 0; i < over->length; i++)
        row->z[i] /= sqrt(ratio);
    row->square *= ratio;
    row->most /= sqrt(ratio);
}

static void row_make(row_maker *maker, ln_operation kind, const reduction *over, const source *from,
                     size_t group, exact_row *row)
{
    const ln_convention plain = {.operation = kind};
    const operation_judging *judging = judgings[kind];
    ln_reference_result result = {.rounded = maker->rounded, .exact = maker->z};
    row_limits limits;
    ln_type type;
    double n = (double)over->length;
    bool centred = kind == LN_OPERATION_LAYERNORM;
    *row = (exact_row){.length = over->length, .z = maker->z};
    if (!load_row(maker, over, from, group, &type, row)) {
        memcpy(row->z, maker->values, over->length * sizeof *row->z);
        return;
    }
    if (!(centred ? ln_reference_row(maker->reference, &plain, type, type, over->length,
                                     maker->typed, NULL, NULL, NULL, &result)
                  : ln_rms_reference_row(maker->reference, &plain, type, type, over->length,
                                         maker->typed, NULL, NULL, &result)))
        memory_is_out(over->length);
    const ln_row_facts *facts = &result.facts;
    metrics_row judged = {type, type,    over->length,   &plain, NULL,
                          NULL, &result, LN_AFFINE_NONE, false};
    const order_question asked = {.storage =
                                      type == LN_F64 && maker->sums == LN_F32 ? LN_F32 : type,
                                  .accumulator = maker->sums,
                                  .hidden = over->length,
                                  .convention = &plain};
    limits_of_row(judging, &maker->book, &asked, &judged, maker->values, &limits);
    const row_limits poorest =
        limits_poorest(judging, &maker->book, maker->sums, &judged, maker->values, &limits);
    double h = printed_radius(maker->input, facts->max_abs);
    double mean_off = centred ? poorest.statistics[ROLE_MEAN] : 0;
    double rho = poorest.statistics[ROLE_RSTD], unit = unit_roundoff(maker->sums);
    row->undefined = limits.textbook.undefined && h == 0;
    row->square = facts->var;
    row->constant = facts->var == 0 && from->shortened;
    row->tiny = maker->sums == LN_F64 ? 0x1p-1020 : 0x1p-124; /* what may be flushed, four times */
    if (maker->coarse) {
        unit = unit_roundoff(maker->step);
        rho += 4 * unit;
    }
    row->unit = unit;
    if (maker->coarse && maker->step == LN_F16) {
        row->tiny = 5 * F16_LOST;
        row->lost = row->undefined ? 0x1p-15 : row->tiny; /* the inverse of less is infinite */
    }
    /* Beyond 1/2 hardly a digit of the root is known. */
    if (!(facts->var > 0) || !(rho < 0.5) || !isfinite(mean_off))
        return;
    row->tells = true;
    double std = sqrt(facts->var), mean = centred ? fabs(facts->mean) : 0;
    double reach = centred ? facts->max_dev : facts->max_abs;
    row->most = result.max_xhat;
    row->lost += facts->var * (1 / ((1 - rho) * (1 - rho)) - 1);
    row->shift = (mean_off + 6 * unit * (mean + reach + mean_off)) / std;
    if (maker->coarse)
        round_steps(maker->step, mean, reach, row);
    if (h > 0)
        widen_by_digits(h, n, centred, row);
    if (from->squares)
        take_squares(over, from, group, row);
}

/* ---- a row against the candidates ---- */

/* What a row says of its factor, and so of eps.
 *
 * Let z_i = (x_i - mean) / std be the row without eps and with the divisor N (of RMSNorm x_i / root), V =
 * std^2. Whatever is computed is
 *
 *     xhat_i = z_i s + t,    y_i = gamma_i xhat_i + beta_i,    s = std / (what is divided by),
 *
 * with one s a row and |t| <= shift s: the mean that was found is off by no more (judge/layernorm/layernorm.c), and six
 * roundings of numbers of at most |mean| + max |x - mean| stand before the factor. What was rounded to y_i
 * lies between the middles to its neighbours in its type (or its digits); five roundings (u each) of
 * numbers of at most |y_i| + 2 |beta_i| lie between that and gamma_i xhat_i + beta_i;
 * where xhat is rounded, an element tells which numbers of the type it may be, and so what was rounded to
 * them. So each element gives L_i <= xhat_i <= U_i, and with z_i +- shift an interval of s: the row's is
 * their intersection.
 *
 * The variance that was found, V' N / (N - ddof), lies within `lost` of V, and what is divided by within
 * 12 u of
 *     sqrt(V' N / (N - ddof) + eps)       eps in the variance
 *     sqrt(V' N / (N - ddof)) + eps       on the std.
 * Solved for eps, the ends of s and of V' give an interval of eps, which every row narrows. With eps on the
 * quotient s is as without, and eps is t: what is left of L_i and U_i. What computed y lies in all of
 * these intervals; a candidate is excluded where one is empty. */

/* What was rounded into a number, or printed as it. */
typedef struct range {
    double low, high;
} range;

enum { PLACES = 3 }; /* LN_EPS_VAR, _STD, _QUOTIENT, less 1 */

/* Nobody's eps is as large. With a larger one a norm of small numbers would be what no norm is, and with a
 * single beta one on the quotient what beta is. */
#define EPS_MOST 0x1p-6

/* Candidates that differ in divisor (or rounding of the root) and eps alone. */
typedef struct family {
    ln_operation kind;
    const affine *with;
    bool casts; /* xhat is rounded... */
    ln_type cast;
    bool rounds_root; /* RMSNorm: eps[1] is of a root rounded to this type */
    ln_type root;
    /* By divisor N, N - 1 (RMSNorm: root exact, rounded) and place of eps; empty: dead. */
    range eps[2][PLACES];
    bool whole; /* not divided at all: KIND_CENTRED, KIND_COPIED */
    bool alive;
    ln_type out;            /* the type of y */
    double bits, most_bits; /* of 16 bits: hold_step() */
} family;

static const range everything = {-INFINITY, INFINITY};

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

/* The least number of a type that is not below `value`. */
static double number_from(ln_type type, double value)
{
    type_format format = format_of(type);
    double rounded = stored_in(type, value);
    if (!(rounded < value) || isinf(rounded))
        return rounded;
    double size = fabs(rounded);
    return rounded + ulp_in(format, rounded < 0 ? nextafter(size, 0) : size);
}

/* What may have been rounded to some number of the type within `one`. */
static range before_rounding(ln_type type, range one)
{
    double low = number_from(type, one.low), high = -number_from(type, -one.high);
    if (!(low <= high))
        return (range){1, -1};
    return (range){rounded_from(type, low).low, rounded_from(type, high).high};
}

static void family_begin(family *one)
{
    size_t roots = one->kind == LN_OPERATION_LAYERNORM || one->rounds_root ? 2 : 1;
    size_t places = one->kind == LN_OPERATION_LAYERNORM ? PLACES : 2;
    one->alive = true;
    for (size_t d = 0; d < 2; d++)
        for (size_t p = 0; p < PLACES; p++)
            one->eps[d][p] = d < roots && p < places ? (range){0, EPS_MOST} : (range){1, -1};
}

/* How unlikely the factor of a row is where statistics were rounded to 16 bits, in bits: they would leave it
 * anywhere within a unit roundoff or more, and it lies within `width`, where neither its divisor nor the
 * inverse or the square of that is a number of the type. Of all rows but one, whose factor gives the eps. */
static void hold_step(family *one, const exact_row *row, range s, double slack)
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

/* s of a row without eps, and with what may come of it. */
static range factor_without_eps(const exact_row *row, double bessel, double slack)
{
    double least = (row->square - row->lost) * bessel, most = (row->square + row->lost) * bessel;
    return (range){sqrt(row->square / most) * (1 - slack),
                   least > 0 ? sqrt(row->square / least) * (1 + slack) : INFINITY};
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
            one->eps[d][LN_EPS_VAR - 1] = one->eps[d][LN_EPS_STD - 1] = (range){1, -1};
        narrow(&one->eps[d][LN_EPS_VAR - 1], root.low * root.low - most * bessel,
               root.high * root.high - least * bessel);
        narrow(&one->eps[d][LN_EPS_STD - 1], root.low - sqrt(most * bessel),
               root.high - sqrt(least * bessel));
    }
}

/* A row of 0 / 0: NaN without an eps under the root, or with one that rounding loses; a number with one. */
static void hold_undefined(family *one, bool number, double lost)
{
    for (size_t d = 0; d < 2; d++) {
        if (number)
            one->eps[d][LN_EPS_QUOTIENT - 1] = (range){1, -1};
        for (int place = LN_EPS_VAR; place <= LN_EPS_STD; place++)
            narrow(&one->eps[d][place - 1], number ? DBL_MIN : 0, number ? INFINITY : lost);
    }
    one->whole = one->whole && number;
}

/* Beside a NaN all of a group is NaN. Beside an infinity nothing that its mean is taken from is a number; what
 * is divided by its root mean square is 0. x as it is stays so, however it was rounded. */
static void hold_not_finite(family *one, const exact_row *row, const size_t *inner, size_t outer,
                            const range *y)
{
    const affine *with = one->with;
    bool rms = one->kind == LN_OPERATION_RMSNORM, fits = true;
    one->whole = one->whole && rms;
    for (size_t i = 0; i < row->length; i++) {
        const range *own = &y[outer + inner[i]];
        size_t p = (outer + inner[i]) / with->stride % with->extent;
        double beta = with->beta[p], copy = with->gamma[p] * row->z[i] + beta;
        double off = 0x1p-4 * (fabs(copy) + 2 * fabs(beta));
        bool number = !isnan(own->low) && !isinf(own->low) && !isinf(own->high);
        fits = fits && (!number || (rms && !row->has_nan && own->low <= beta && own->high >= beta));
        one->whole = one->whole &&
                     (number ? copy + off >= own->low && copy - off <= own->high : !isfinite(copy));
    }
    one->alive = one->alive && (fits || one->whole);
    for (size_t i = 0; !fits && i < 2 * PLACES; i++)
        one->eps[i / PLACES][i % PLACES] = (range){1, -1};
}

/* Whether xhat may be the same number at all places. */
static bool is_one_number(const family *one, const exact_row *row, const size_t *inner,
                          size_t outer, const range *y)
{
    const affine *with = one->with;
    range all = everything;
    for (size_t i = 0; i < row->length; i++) {
        size_t at = outer + inner[i], p = at / with->stride % with->extent;
        double a = (y[at].low - with->beta[p]) / with->gamma[p];
        double b = (y[at].high - with->beta[p]) / with->gamma[p], off = 0x1p-20 * fabs(a);
        if (isfinite(a) && isfinite(b))
            narrow(&all, fmin(a, b) - off, fmax(a, b) + off);
    }
    return !is_empty(&all);
}

/* y: what may have been rounded to each element. */
static void family_hold(family *one, const exact_row *row, const size_t *inner, size_t outer,
                        const range *y, double sums)
{
    range s = {0, INFINITY}, t[2] = {everything, everything}, plain[2];
    const affine *with = one->with;
    double n = (double)row->length, slack = 12 * sums;
    size_t nans = 0;
    if (row->has_nan || row->has_infinity)
        hold_not_finite(one, row, inner, outer, y);
    if (row->undefined) {
        for (size_t i = 0; i < row->length; i++)
            nans += isnan(y[outer + inner[i]].low) != 0;
        if (nans == 0 || nans == row->length)
            hold_undefined(one, nans == 0, row->lost);
    }
    if (row->constant)
        one->alive = one->alive && is_one_number(one, row, inner, outer, y);
    if (!row->tells)
        return;
    for (int d = 0; d < 2; d++)
        plain[d] = factor_without_eps(row, d ? n / (n - 1) : 1, slack);
    for (size_t i = 0; i < row->length && one->alive; i++) {
        size_t at = outer + inner[i], p = at / with->stride % with->extent;
        double gamma = with->gamma[p], beta = with->beta[p], z = row->z[i];
        range own = y[at];
        double size = fmax(fabs(own.low), fabs(own.high));
        double off = 5 * row->unit * (2 * fabs(beta) + (isinf(size) ? 0 : size)) +
                     row->tiny * (1 + fabs(gamma));
        if (!isfinite(gamma) || !isfinite(beta))
            continue;
        own.low -= off + beta;
        own.high += off - beta;
        if (gamma == 0) {
            one->alive = own.low <= 0 && own.high >= 0;
            continue;
        }
        own = gamma > 0 ? (range){own.low / gamma, own.high / gamma}
                        : (range){own.high / gamma, own.low / gamma};
        if (one->casts)
            own = before_rounding(one->cast, own);
        one->alive = !is_empty(&own); /* NaN too */
        double up = z + row->shift, down = z - row->shift;
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
            double shift = row->shift * plain[d].high;
            double low = z * (z < 0 ? plain[d].low : plain[d].high);
            double high = z * (z < 0 ? plain[d].high : plain[d].low);
            narrow(&t[d], own.low - fmax(low, high) - shift, own.high - fmin(low, high) + shift);
        }
    }
    if (is_empty(&s))
        s = (range){1, -1};
    for (int d = 0; d < 2; d++)
        narrow(&one->eps[d][LN_EPS_QUOTIENT - 1], t[d].low, t[d].high);
    if (is_empty(&s)) {
        one->whole = false;
        for (int d = 0; d < 2; d++)
            one->eps[d][LN_EPS_VAR - 1] = one->eps[d][LN_EPS_STD - 1] = (range){1, -1};
    } else {
        narrow_eps(one, row, s, slack);
        if (dtype_size(one->out) == 2 && s.low > 0)
            hold_step(one, row, s, slack);
    }
    bool any = one->whole;
    for (int d = 0; d < 2; d++)
        for (size_t p = 0; p < PLACES; p++)
            any = any || !is_empty(&one->eps[d][p]);
    one->alive = one->alive && any;
}

/* ---- the engine ---- */

enum { CASTS = 3, FAMILIES_MOST = AFFINES_MOST * CASTS };

typedef struct engine {
    const fingerprint_input *input;
    fingerprint_input typed; /* with the type that y was really rounded to */
    layout all;
    row_maker maker;
    range *y; /* what may have been rounded to each element, or printed as it */
    family families[2][FAMILIES_MOST];
    size_t counts[2];
    size_t told[2]; /* rows of the last axis, by operation */
    double once;    /* bits that tell against rounding each step: hold_step() */
    fingerprint_found *found;
} engine;

/* ---- eps ---- */

/* The more usual, the earlier. */
static const double usual_sizes[] = {1e-5, 1e-6, 1e-12, 1e-3,  1e-8, 0x1p-23, 1e-7,
                                     1e-4, 1e-9, 1e-10, 1e-11, 1e-2, 1e-15};
enum { usual_count = sizeof usual_sizes / sizeof *usual_sizes };

/* The decimal with the fewest digits within [low, high], of these the nearest to the middle. */
static double shortest_decimal(double low, double high)
{
    double middle = sqrt(low * high);
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

static double usual_eps(double low, double high)
{
    for (size_t i = 0; i < usual_count; i++)
        if (usual_sizes[i] >= low && usual_sizes[i] <= high)
            return usual_sizes[i];
    if (isinf(high))
        return low > 0 ? low : usual_sizes[0];
    return shortest_decimal(low > 0 ? low : high / 10, high);
}

/* ---- y ---- */

static void make_ranges(engine *own)
{
    const fingerprint_input *input = &own->typed;
    double half = 0.5 * pow(10, -input->digits);
    for (size_t i = 0; i < own->all.elements; i++) {
        double y = input->y[i], read = fabs(y) * (own->input->y_type == LN_F64 ? 0x1p-52 : 0x1p-23);
        own->y[i] = input->digits == FINGERPRINT_EXACT || !isfinite(y)
                        ? rounded_from(input->y_type, y)
                        : (range){y - half - read, y + half + read};
    }
}

/* ---- what explains y ---- */

enum { SURE = 64 };

/* Of one function, rounded at other places. */
static bool is_same_function(const fingerprint_candidate *a, const fingerprint_candidate *b)
{
    return a->kind == b->kind && a->family == b->family &&
           a->convention.eps_place == b->convention.eps_place;
}

/* Rounding each step explains what rounding once does, and more sizes of eps: the same function then has all
 * of them. Where it was rounded is sure from so many elements on: any other place moves a quarter of them. */
static bool widen_known(const engine *own, const fingerprint_candidate *one)
{
    bool known = false;
    for (size_t i = 0; own->maker.coarse && i < own->found->count; i++) {
        fingerprint_candidate *other = &own->found->candidates[i];
        if (!is_same_function(one, other))
            continue;
        other->eps_low = fmin(other->eps_low, one->eps_low);
        other->eps_high = fmax(other->eps_high, one->eps_high);
        known =
            known || own->all.elements >= SURE ||
            (other->source == one->source && one->convention.operation == LN_OPERATION_LAYERNORM);
    }
    return known;
}

static void add_candidate(const engine *own, const fingerprint_candidate *one)
{
    fingerprint_found *found = own->found;
    if (widen_known(own, one))
        return;
    found->candidates = allocate_room(found->candidates, found->count, sizeof *found->candidates);
    found->candidates[found->count++] = *one;
}

/* Of 0 / 0 rows that only some candidates have, no more is said than their class. */
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

static ln_convention rmsnorm_of(const fingerprint_input *input, const family *one, size_t root,
                                ln_rms_sum sum)
{
    affine_use use = one->with->use;
    ln_rms_weight weight = use == USE_NONE || !input->gamma || use == USE_BETA ? LN_RMS_WEIGHT_NONE
                           : use == USE_OFFSET         ? LN_RMS_WEIGHT_OFFSET
                           : use == USE_OFFSET_ROUNDED ? LN_RMS_WEIGHT_OFFSET_ROUNDED
                                                       : LN_RMS_WEIGHT;
    return (ln_convention){.operation = LN_OPERATION_RMSNORM,
                           .weight = weight,
                           .cast = one->casts && one->cast == input->x_type && weight,
                           .root = (int)root,
                           .sum = sum};
}

/* What no convention says of gamma and beta. */
static const char *affine_words(const fingerprint_input *input, const affine *with, bool rms)
{
    bool gamma = input->gamma, beta = input->beta;
    switch (with->use) {
    case USE_NONE:
        return gamma && beta ? "gamma and beta left out"
               : gamma       ? "gamma left out"
               : beta        ? "beta left out"
                             : "";
    case USE_GAMMA:
        return rms ? "" : "beta left out";
    case USE_BETA:
        return "gamma left out";
    case USE_TWICE:
        return beta ? "gamma and beta applied twice" : "gamma applied twice";
    case USE_BETA_FIRST:
        return "beta added before gamma multiplies";
    case USE_SWAPPED:
        return "gamma and beta swapped";
    case USE_MINUS_BETA:
        return "beta subtracted";
    case USE_OFFSET:
        return form_of(input, with) == LN_AFFINE_SCALAR ? "1 + gamma" : "";
    default:
        return rms && beta ? "beta added" : "";
    }
}

/* The number of its function, wherever it was rounded: of the type of y, what is normalised, and how gamma
 * and beta are used. The divisor's is added in add_normalised(). */
static void mark_family(const engine *own, const family *with, const reduction *over,
                        const source *from, fingerprint_candidate *one)
{
    size_t number = (size_t)own->typed.y_type;
    affine_use use = with->with->use == USE_OFFSET_ROUNDED ? USE_OFFSET : with->with->use;
    number = number * REDUCTIONS_MOST + (size_t)(over - own->all.reductions);
    number = number * USES + (size_t)use;
    number = number * (FINGERPRINT_AXES + 1) + (size_t)(with->with->axis + 1);
    number = number * 4 + (size_t)with->kind * 2 + (from->rank == RANK_ALONE);
    one->family += number * 2;
    one->source = (size_t)(from - own->all.sources);
}

static void describe_candidate(const engine *own, const family *with, const reduction *over,
                               const source *from, fingerprint_candidate *one)
{
    const fingerprint_input *input = &own->typed;
    bool rms = with->kind == LN_OPERATION_RMSNORM;
    char label[CONVENTION_MAX_LENGTH], words[64];
    if (one->kind == KIND_NORMALISED)
        add_words(one, convention_label(&one->convention, label));
    else
        add_words(one, one->kind == KIND_COPIED    ? "x as it is, not normalised"
                       : one->kind == KIND_CENTRED ? "x - mean, not divided"
                                                   : "softmax");
    if (one->kind != KIND_COPIED)
        add_words(one, over->words);
    add_words(one, from->words);
    if (from->sum == LN_RMS_SUM_UNROUNDED && !rms)
        add_words(one, "x + residual not rounded before it is normalised");
    add_words(one, affine_words(input, with->with, rms));
    if (with->with->axis >= 0 && with->with->use != USE_NONE) {
        snprintf(words, sizeof words, "gamma and beta along axis %d", with->with->axis);
        add_words(one, words);
    }
    if (with->casts && !(rms && with->cast == input->x_type)) {
        snprintf(words, sizeof words, "xhat rounded to %s", dtype_name(with->cast));
        add_words(one, words);
    }
    if (input->y_type != own->input->y_type && input->digits == FINGERPRINT_EXACT) {
        snprintf(words, sizeof words, "output rounded to %s", dtype_name(input->y_type));
        add_words(one, words);
    }
    if (own->maker.coarse) {
        snprintf(words, sizeof words, "each step rounded to %s", dtype_name(own->maker.step));
        add_words(one, words);
    }
    mark_family(own, with, over, from, one);
    one->rank += over->rank + from->rank + (with->casts && !rms ? 4 : 0) +
                 (with->with->use == USE_ALL    ? 0
                  : with->with->use <= USE_BETA ? 1
                                                : 3) +
                 (with->with->axis >= 0 ? 2 : 0);
}

static size_t usualness(double eps)
{
    size_t place = 0;
    while (place < usual_count && usual_sizes[place] != eps)
        place++;
    return place;
}

/* The eps that somebody has, if one is in the interval: of presets that of the most usual size. */
static bool take_preset(fingerprint_candidate *one)
{
    size_t count;
    const convention_preset *presets = convention_presets(one->convention.operation, &count);
    bool found = false;
    for (size_t i = 0; i < count; i++) {
        ln_convention same = one->convention;
        same.eps = presets[i].convention.eps;
        if (same.eps >= one->eps_low && same.eps <= one->eps_high &&
            convention_equal(&same, &presets[i].convention) &&
            (!found || usualness(same.eps) < usualness(one->convention.eps))) {
            one->convention = same;
            found = true;
        }
    }
    return found;
}

/* Without what makes no difference to rows of these types. */
static ln_convention as_computed(const fingerprint_input *input, ln_convention convention)
{
    if (convention.operation != LN_OPERATION_RMSNORM)
        return convention;
    bool is_short = dtype_size(input->x_type) == 2;
    if (!is_short) {
        convention.root = convention.cast = 0;
        if (convention.weight == LN_RMS_WEIGHT_OFFSET_ROUNDED)
            convention.weight = LN_RMS_WEIGHT_OFFSET;
    }
    if (!input->residual)
        convention.sum = LN_RMS_SUM_ROUNDED;
    return convention;
}

/* All other presets that the candidate may be: the same, the same to these types, and those of another eps
 * in the interval. */
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
    snprintf(leads[OTHER_EPS], sizeof *leads, "with their eps ");
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
    ln_convention asked = as_computed(input, *convention);
    for (size_t i = 0; i < found->count; i++) {
        const fingerprint_candidate *one = &found->candidates[i];
        char label[CONVENTION_MAX_LENGTH];
        ln_convention own = as_computed(input, one->convention);
        convention_label(&one->convention, label);
        own.eps = asked.eps;
        if (asked.eps >= one->eps_low && asked.eps <= one->eps_high &&
            convention_equal(&asked, &own) && strcmp(one->words, label) == 0)
            return true;
    }
    return false;
}

static void add_normalised(engine *own, const family *with, const reduction *over,
                           const source *from, ln_convention convention, const range *eps)
{
    fingerprint_candidate one = {.convention = convention,
                                 .eps_low = eps->low,
                                 .eps_high = eps->high,
                                 .plain = over->last && from == own->all.sources,
                                 .family =
                                     with->kind == LN_OPERATION_LAYERNORM && convention.ddof == 1};
    bool preset = take_preset(&one), usual = false;
    if (!preset && convention.eps_place != LN_EPS_NONE)
        one.convention.eps = usual_eps(eps->low, eps->high);
    for (size_t i = 0; i < usual_count; i++)
        usual = usual || one.convention.eps == usual_sizes[i];
    one.rank = -1;
    describe_candidate(own, with, over, from, &one);
    one.rank = 3 * (one.rank + 1) + (preset ? 0 : usual || convention.eps == 0 ? 1 : 2);
    add_candidate(own, &one);
}

static void add_family(engine *own, const family *with, const reduction *over, const source *from)
{
    const bool layernorm = with->kind == LN_OPERATION_LAYERNORM;
    own->once = fmax(own->once, with->bits - with->most_bits);
    for (size_t d = 0; d < 2; d++) {
        ln_convention convention =
            layernorm ? (ln_convention){.ddof = (int)d, .affine = form_of(&own->typed, with->with)}
                      : rmsnorm_of(&own->typed, with, d, from->sum);
        bool without = with->eps[d][0].low <= 0 && with->eps[d][0].high >= 0;
        if (without)
            add_normalised(own, with, over, from, convention, &(range){0, 0});
        for (int place = LN_EPS_VAR; place <= LN_EPS_QUOTIENT; place++) {
            range eps = with->eps[d][place - 1];
            convention.eps_place = (ln_eps_place)place;
            eps.low = fmax(eps.low, 0);
            if (eps.low <= eps.high && eps.high > 0)
                add_normalised(own, with, over, from, convention, &eps);
        }
    }
    if (with->whole) {
        fingerprint_candidate one = {.kind = layernorm ? KIND_CENTRED : KIND_COPIED};
        describe_candidate(own, with, over, from, &one);
        one.rank = 3 * one.rank;
        add_candidate(own, &one);
    }
}

/* ---- softmax ---- */

/* exp and a sum of N numbers: (N + 8) u, and |x - max| u of exp's argument. NaN makes all NaN. */
static bool is_softmax(const engine *own, const reduction *over, const source *from, size_t group)
{
    double most = -INFINITY, sum = 0, unit = unit_roundoff(own->maker.sums);
    for (size_t i = 0; i < over->length; i++)
        most = fmax(most, from->values[over->outer[group] + over->inner[i]]);
    for (size_t i = 0; i < over->length; i++)
        sum += exp(from->values[over->outer[group] + over->inner[i]] - most);
    for (size_t i = 0; i < over->length; i++) {
        size_t at = over->outer[group] + over->inner[i];
        double down = from->values[at] - most, exact = exp(down) / sum;
        double off = exact * 2 * unit * ((double)over->length + 8 + fabs(down));
        if (isnan(exact) ? !isnan(own->y[at].low)
                         : !(exact + off >= own->y[at].low && exact - off <= own->y[at].high))
            return false;
    }
    return true;
}

static void try_softmax(engine *own, const reduction *over, const source *from)
{
    static const affine none = {.use = USE_ALL, .axis = -1};
    const family with = {.kind = LN_OPERATION_LAYERNORM, .with = &none};
    fingerprint_candidate one = {.kind = KIND_SOFTMAX};
    own->found->tried++;
    for (size_t g = 0; g < over->groups; g++)
        if (!is_softmax(own, over, from, g))
            return;
    describe_candidate(own, &with, over, from, &one);
    one.rank *= 3;
    add_candidate(own, &one);
}

/* ---- the loop ---- */

static void begin_families(engine *own, const reduction *over, const source *from)
{
    static const ln_type casts[CASTS] = {LN_F32, LN_BF16, LN_F16};
    const fingerprint_input *input = &own->typed;
    bool is_short = dtype_size(input->x_type) == 2;
    for (int kind = 0; kind < 2; kind++) {
        own->counts[kind] = 0;
        for (size_t a = 0; a < own->all.affine_count; a++)
            for (size_t c = 0; c < CASTS; c++) {
                const affine *with = &own->all.affines[a];
                if ((own->maker.coarse && (c > 0 || with->use == USE_OFFSET_ROUNDED)) ||
                    (c > 0 && (with->trivial || with->use == USE_NONE ||
                               (is_short && casts[c] != input->x_type))) ||
                    (kind == LN_OPERATION_LAYERNORM &&
                     (from->sum == LN_RMS_SUM_SQUARES || with->use == USE_OFFSET_ROUNDED)))
                    continue;
                family *one = &own->families[kind][own->counts[kind]++];
                /* x itself is the same over any axes. */
                *one = (family){.kind = (ln_operation)kind,
                                .with = with,
                                .casts = c > 0,
                                .cast = casts[c],
                                .rounds_root = is_short && !own->maker.coarse,
                                .root = input->x_type,
                                .out = input->y_type,
                                .whole = c == 0 && (kind == LN_OPERATION_LAYERNORM || over->last)};
                family_begin(one);
                own->found->tried += kind == LN_OPERATION_LAYERNORM || is_short ? 7 : 4;
            }
    }
}

/* One group of places against all families of an operation that are left; *left: any is. */
static void hold_group(engine *own, int kind, const reduction *over, const source *from, size_t g,
                       bool *left)
{
    bool plain = over->last && from == own->all.sources, any = false;
    exact_row row;
    for (size_t i = 0; i < own->counts[kind]; i++)
        any = any || own->families[kind][i].alive;
    if (!any && !plain)
        return;
    row_make(&own->maker, (ln_operation)kind, over, from, g, &row);
    own->told[kind] += plain && row.tells;
    for (size_t i = 0; i < own->counts[kind]; i++) {
        family *one = &own->families[kind][i];
        if (one->alive)
            family_hold(one, &row, over->inner, over->outer[g], own->y,
                        unit_roundoff(own->maker.sums));
        *left = *left || one->alive;
    }
}

static void try_reduction(engine *own, const reduction *over, const source *from)
{
    const bool plain = over->last && from == own->all.sources;
    bool left = true;
    begin_families(own, over, from);
    if (over->length < 2)
        return;
    for (size_t g = 0; (left || plain) && g < over->groups; g++) {
        if (left && over->last)
            own->found->last_row = g > own->found->last_row ? g : own->found->last_row;
        left = false;
        for (int kind = 0; kind < 2; kind++)
            hold_group(own, kind, over, from, g, &left);
    }
    for (int kind = 0; kind < 2; kind++)
        for (size_t i = 0; i < own->counts[kind]; i++)
            if (own->families[kind][i].alive)
                add_family(own, &own->families[kind][i], over, from);
    if (over->single && from == own->all.sources && !own->maker.coarse)
        try_softmax(own, over, from);
}

static bool is_of_step(const engine *own, const source *from)
{
    for (size_t i = 0; i < own->all.elements; i++)
        if (!isnan(from->values[i]) &&
            stored_in(own->maker.step, from->values[i]) != from->values[i])
            return false;
    return from->sum == 0;
}

/* Steps are rounded to the type of what is normalised; to another one only where nothing else is left. */
static void try_all(engine *own)
{
    const bool any = own->found->count == 0;
    const size_t told[2] = {own->told[0], own->told[1]};
    own->told[0] = own->told[1] = 0;
    for (size_t s = 0; s < own->all.source_count; s++)
        for (size_t r = 0; r < own->all.reduction_count; r++)
            if (!own->maker.coarse || any || is_of_step(own, &own->all.sources[s]))
                try_reduction(own, &own->all.reductions[r], &own->all.sources[s]);
    for (int kind = 0; kind < 2; kind++)
        own->told[kind] = told[kind] > own->told[kind] ? told[kind] : own->told[kind];
}

/* ---- the answer ---- */

static int by_rank(const void *left, const void *right)
{
    const fingerprint_candidate *a = left, *b = right;
    return a->rank != b->rank ? a->rank - b->rank : strcmp(a->words, b->words);
}

/* The size of eps too, to a quarter. */
static bool is_named(const fingerprint_candidate *one)
{
    double eps = one->convention.eps;
    return one->kind != KIND_NORMALISED || one->convention.eps_place == LN_EPS_NONE ||
           (one->eps_low > 0.75 * eps && one->eps_high < 1.25 * eps);
}

/* Once as a row whose output alone is rounded, then as one that rounds each step: where y is of the 16-bit
 * type and its rows do not tell, or where nothing else explains it. */
static void find_all(engine *own)
{
    enum { SURE_BITS = 24 };
    static const ln_type steps[] = {LN_BF16, LN_F16};
    own->maker.coarse = false;
    own->maker.sums = own->typed.y_type == LN_F64 ? LN_F64 : LN_F32;
    own->once = 0;
    make_ranges(own);
    try_all(own);
    for (size_t i = 0; i < 2; i++) {
        if (own->typed.y_type != steps[i] &&
            (own->typed.x_type != steps[i] || own->found->count > 0))
            continue;
        if (own->once >= SURE_BITS && own->all.elements >= SURE)
            break;
        own->maker.coarse = true;
        own->maker.step = steps[i];
        try_all(own);
    }
}

static size_t told_of(const engine *own)
{
    const fingerprint_found *found = own->found;
    size_t most = 0;
    for (int kind = 0; kind < 2; kind++) {
        bool is_left = found->count == 0;
        for (size_t i = 0; i < found->count; i++)
            is_left = is_left || (int)found->candidates[i].convention.operation == kind;
        if (is_left && own->told[kind] > most)
            most = own->told[kind];
    }
    return most;
}

/* Whether every y is a number of the type; *telling: how many of them are no powers of two, which all types
 * have. */
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

/* Whether every y may be a printed f32: else the black box computed in f64. */
static bool may_be_f32(const fingerprint_input *input, size_t count)
{
    double half = 0.5 * pow(10, -input->digits) * (1 + 1e-6);
    for (size_t i = 0; i < count; i++)
        if (fabs(input->y[i] - (double)(float)input->y[i]) > half)
            return false;
    return true;
}

/* An output may have been rounded to a shorter type than it is kept in. Where too few elements tell which,
 * all types that hold them stay: a longer one goes where that chance is below 2^-48. */
static size_t rounded_types(const fingerprint_input *input, size_t count, ln_type made[4])
{
    static const ln_type types[] = {LN_BF16, LN_F16, LN_F32, LN_F64};
    enum { TOLD_BITS = 48 };
    size_t telling, kept = 0, bits[4];
    if (input->digits != FINGERPRINT_EXACT) {
        made[0] = may_be_f32(input, count) ? LN_F32 : LN_F64;
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

/* What a +-scale row comes to: its largest element, less any quotient's eps, and that eps. */
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

static size_t pairs_told(const member *all, size_t count, size_t hidden, double scale, double off)
{
    size_t told = 0;
    for (size_t a = 0; a < count; a++)
        for (size_t b = 0; b < a; b++) {
            range one = answer_of(&all[a], hidden, scale),
                  other = answer_of(&all[b], hidden, scale);
            told += all[a].own->plain && all[b].own->plain &&
                    (fabs(one.low - other.low) > off * fmax(one.low, other.low) ||
                     fabs(one.high - other.high) > off);
        }
    return told;
}

/* How many there are; those beyond MEMBERS_MOST are not kept, and no pair of theirs is told apart. */
static size_t members_of(const fingerprint_found *found, member *all)
{
    size_t count = 0;
    for (size_t i = 0; i < found->count; i++) {
        const fingerprint_candidate *one = &found->candidates[i];
        if (count < MEMBERS_MOST)
            all[count] = (member){one, one->convention.eps};
        count++;
        for (size_t u = 0; u < usual_count; u++)
            if (usual_sizes[u] >= one->eps_low && usual_sizes[u] <= one->eps_high &&
                usual_sizes[u] != one->convention.eps) {
                if (count < MEMBERS_MOST)
                    all[count] = (member){one, usual_sizes[u]};
                count++;
            }
    }
    return count;
}

/* A pair counts as told apart from eight times what rounding may do: the last one, and that of rstd as all
 * textbook ways have it (judge/layernorm/textbook.c). */
static void find_probe(size_t hidden, ln_type sums, ln_type out, fingerprint_found *found)
{
    member all[MEMBERS_MOST];
    size_t count = members_of(found, all), best = 0;
    size_t kept = count < MEMBERS_MOST ? count : MEMBERS_MOST;
    double off =
        8 * (fmax(4, 2 + sqrt((double)hidden) / 2) * unit_roundoff(sums) + 2 * unit_roundoff(out));
    found->pairs = found->pairs_left = count * (count - 1) / 2;
    for (int i = FIRST_SCALE; hidden > 1 && found->answer == ANSWER_OPEN && i <= LAST_SCALE; i++) {
        size_t told = pairs_told(all, kept, hidden, ldexp(1, i), off);
        if (told > 0 && told >= best) {
            best = told;
            found->probe = (float)ldexp(1, i);
        }
    }
    found->pairs_left -= best;
}

void fingerprint_make(const fingerprint_input *input, fingerprint_found *found)
{
    check_parameters(input);
    engine *own = allocate_zeroed(1, sizeof *own);
    *found = (fingerprint_found){0};
    own->input = input;
    own->typed = *input;
    own->found = found;
    layout_make(input, &own->all);
    layout *all = &own->all;
    ln_type types[4];
    size_t count = rounded_types(input, all->elements, types), most = 1;
    for (size_t r = 0; r < all->reduction_count; r++)
        most = all->reductions[r].length > most ? all->reductions[r].length : most;
    own->y = arena_new(&all->memory, range, all->elements);
    own->maker = (row_maker){.input = &own->typed,
                             .reference = ln_reference_create(),
                             .typed = arena_new(&all->memory, double, most),
                             .rounded = arena_new(&all->memory, double, most),
                             .values = arena_new(&all->memory, double, most),
                             .z = arena_new(&all->memory, double, most)};
    if (!own->maker.reference)
        memory_is_out(0);
    found->rows = all->reductions[0].groups;
    for (size_t t = 0; t < count; t++) {
        own->typed.y_type = types[t];
        find_all(own);
    }
    found->told = told_of(own);
    for (size_t i = 0; i < found->count; i++) /* now that its eps is known */
        if (found->candidates[i].kind == KIND_NORMALISED)
            add_also(input, &found->candidates[i]);
    if (found->count > 0) {
        qsort(found->candidates, found->count, sizeof *found->candidates, by_rank);
        found->answer = ANSWER_NAMED;
        for (size_t i = 0; i < found->count; i++)
            if (!is_named(&found->candidates[i]) ||
                !is_same_function(&found->candidates[0], &found->candidates[i]))
                found->answer = ANSWER_OPEN;
        find_probe(all->reductions[0].length, own->maker.sums, own->typed.y_type, found);
    }
    ln_reference_destroy(own->maker.reference);
    free(own->maker.book.terms);
    arena_free(&all->memory);
    free(own);
}

void fingerprint_free(fingerprint_found *found)
{
    free(found->candidates);
    *found = (fingerprint_found){0};
}

/* ---- in words ---- */

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
        snprintf(buffer + length, size - length, " (where values were rounded is open)");
    else if (found->count > said && length < size)
        snprintf(buffer + length, size - length, "; or %zu more", found->count - said);
    return buffer;
}
