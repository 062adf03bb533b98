/* What a row says of its factor, and so of eps.
 *
 * Let z_i = (x_i - mean) / std be the row without eps and with the divisor N (of RMSNorm x_i / root), V =
 * std^2. Whatever is computed is
 *
 *     xhat_i = z_i s + t,    y_i = gamma_i xhat_i + beta_i,    s = std / (what is divided by),
 *
 * with one s a row and |t| <= shift s: the mean that was found is off by no more (any_order.c), and six
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
#include "judge/fingerprint/internal.h"

static range everything(void)
{
    return (range){-INFINITY, INFINITY};
}

static void narrow(range *one, double low, double high)
{
    one->low = fmax(one->low, low);
    one->high = fmin(one->high, high);
}

static bool is_empty(const range *one)
{
    return !(one->low <= one->high);
}

range rounded_from(ln_type type, double value)
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

static void exclude_norms(family *one)
{
    for (size_t d = 0; d < 2; d++)
        for (size_t p = 0; p < PLACES; p++)
            one->eps[d][p] = (range){1, -1};
}

void family_begin(family *one)
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
    if (!fits)
        exclude_norms(one);
}

/* Whether xhat may be the same number at all places. */
static bool is_one_number(const family *one, const exact_row *row, const size_t *inner,
                          size_t outer, const range *y)
{
    const affine *with = one->with;
    range all = everything();
    for (size_t i = 0; i < row->length; i++) {
        size_t at = outer + inner[i], p = at / with->stride % with->extent;
        double a = (y[at].low - with->beta[p]) / with->gamma[p];
        double b = (y[at].high - with->beta[p]) / with->gamma[p], off = 0x1p-20 * fabs(a);
        if (isfinite(a) && isfinite(b))
            narrow(&all, fmin(a, b) - off, fmax(a, b) + off);
    }
    return !is_empty(&all);
}

void family_hold(family *one, const exact_row *row, const size_t *inner, size_t outer,
                 const range *y, double sums)
{
    range s = {0, INFINITY}, t[2] = {everything(), everything()}, plain[2];
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
