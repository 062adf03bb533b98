/* What a wrong kernel of a known convention may do: mistakes that people make, each a way to compute the row
 * from x, gamma and beta. One row says little: a root that is somewhat off is as with another eps at one
 * variance, and at no other. So each wrong row gives the set of the mistakes whose result it is, to within
 * what rounding may take, and of these the ones from which the right row is far; who judges many problems
 * names the one that is left (conformance/covering_run.c). */
#include "base/allocate.h"
#include "base/text.h"
#include "exact/scale.h"
#include "judge/fingerprint/fingerprint.h"
#include "judge/rmsnorm/rmsnorm.h"

/* gamma (xhat + quotient) + beta with xhat = (x - centre) / root, but for how gamma and beta are used. */
typedef struct mistake {
    double centre, root, quotient;
    affine_use use;
    bool scales; /* another root, of any size, is all there is to it */
} mistake;

/* Mistakes are tried one after the other. */
typedef struct explaining {
    const explained_row *asked;
    bool layernorm;
    double mean, var; /* of x, biased */
    double quotient;
    double own; /* how far y is off */
    double n;
    mistake_set found;
} explaining;

/* The bits of a set: formulas in the order of all_formulas(), then eps. */
enum {
    EPS_PLACES = 18, /* by place */
    EPS_SIZES = 22,
    NO_RESIDUAL = 30,
};

/* The least error / limit of a row that tells; the former where another root is all there is. */
static const double far_off = 64, off = 8;
static const double by_rounding = 2; /* row ULP of 16-bit results that are rounded elsewhere */

/* ---- how far y lies from a mistake ---- */

static affine_pair used_so(const metrics_row *row, affine_use use, size_t i)
{
    double gamma = gamma_at(row, use == USE_FIRST_GAMMA ? 0 : i);
    double beta = beta_at(row, use == USE_FIRST_BETA ? 0 : i);
    if (row->affine == LN_AFFINE_GAMMA1 && use == USE_OFFSET)
        return (affine_pair){gamma - 1, beta};
    if (use == USE_SWAPPED)
        gamma = load(row->param, row->gamma, row->affine == LN_AFFINE_SCALAR ? 0 : i);
    return affine_used(use, gamma, beta);
}

/* Whether y has this element, to within `limit` ULP of the larger of the two scales. *told: it is a
 * number. */
static bool is_near(const explained_row *asked, size_t i, double value, double scale, bool *told)
{
    const metrics_row *row = asked->row;
    double given = load(row->storage, asked->y, i), rounded = stored_in(row->storage, value);
    if (!isfinite(given) || !isfinite(rounded))
        return same_class(given, rounded);
    *told = true;
    double ulp = ulp_in(format_of(row->storage), fmax(scale, element_scale(row, i)));
    return fabs(given - value) <= asked->limit * ulp;
}

static bool is_result_of(const explaining *tries, const double *x, const mistake *made, bool *told)
{
    const metrics_row *row = tries->asked->row;
    bool casts = !tries->layernorm && row->convention->cast;
    double most = 0;
    for (size_t i = 0; i < row->hidden; i++)
        most = fmax(most, fabs(x[i] - made->centre));
    most = most / made->root + fabs(made->quotient);
    for (size_t i = 0; i < row->hidden; i++) {
        affine_pair with = used_so(row, made->use, i);
        double xhat = (x[i] - made->centre) / made->root + made->quotient;
        if (casts && made->use != USE_BETA && ln_has_gamma(row->affine))
            xhat = stored_in(row->storage, xhat);
        double scale = fabs(with.gamma) * most + fabs(with.beta);
        if (!is_near(tries->asked, i, with.gamma * xhat + with.beta, scale, told))
            return false;
    }
    return true;
}

static void note(explaining *tries, int bit, double far)
{
    tries->found.fit |= (uint64_t)1 << bit;
    tries->found.far |= (uint64_t)(tries->own > far * tries->asked->limit) << bit;
}

static void try_mistake(explaining *tries, const double *x, const mistake *made, int bit)
{
    bool told = false;
    if (is_result_of(tries, x, made, &told))
        note(tries, bit, !told ? INFINITY : made->scales ? far_off : off);
}

/* ---- the mistakes ---- */

/* Sums of the columns before `end`. */
static double sum_of(const double *x, size_t end)
{
    double sum = 0;
    for (size_t i = 0; i < end; i++)
        sum += x[i];
    return sum;
}

static double squares_about(const double *x, size_t end, double mean)
{
    double sum = 0;
    for (size_t i = 0; i < end; i++)
        sum += (x[i] - mean) * (x[i] - mean);
    return sum;
}

static explaining begin_explaining(const explained_row *asked)
{
    const metrics_row *row = asked->row;
    const ln_row_facts *facts = &row->answer->facts;
    ln_operation kind = row->convention->operation;
    explaining tries = {.asked = asked,
                        .layernorm = kind == LN_OPERATION_LAYERNORM,
                        .n = (double)row->hidden,
                        .mean = facts->mean,
                        .var = facts->var,
                        .own = limits_error(row, asked->y)};
    if (!tries.layernorm) {
        tries.mean = sum_of(asked->x, row->hidden) / tries.n;
        tries.var = squares_about(asked->x, row->hidden, tries.mean) / tries.n;
    }
    if (row->convention->eps_place == LN_EPS_QUOTIENT)
        tries.quotient = row->convention->eps;
    for (size_t i = 0; i < row->hidden; i++)
        if (!same_class(load(row->storage, asked->y, i),
                        load(row->storage, row->answer->rounded, i)))
            tries.own = INFINITY;
    return tries;
}

/* What a value is divided by under a convention, given the mean of squares that it is asked for. */
static double root_under(const explaining *tries, const ln_convention *with, double square)
{
    if (!tries->layernorm)
        return rmsnorm_rounded_root(with, tries->asked->row->storage, square);
    double divided = square * tries->n / (tries->n - with->ddof);
    return with->eps_place == LN_EPS_VAR
               ? sqrt(divided + with->eps)
               : sqrt(divided) + (with->eps_place == LN_EPS_STD ? with->eps : 0);
}

static double own_root(const explaining *tries, double square)
{
    return root_under(tries, tries->asked->row->convention, square);
}

/* What is subtracted from x, and what the root is of. */
static double centre_of(const explaining *tries)
{
    return tries->layernorm ? tries->mean : 0;
}

static double square_of(const explaining *tries)
{
    return tries->layernorm ? tries->var : tries->var + tries->mean * tries->mean;
}

enum { GAMMA = 1, BETA = 2, VECTOR = 4 };

/* Mistakes that are one formula each: what is subtracted and divided by, and how gamma and beta are used. */
static void try_formulas(explaining *tries)
{
    const metrics_row *row = tries->asked->row;
    const bool layernorm = tries->layernorm;
    const bool has_gamma = ln_has_gamma(row->affine), has_beta = ln_has_beta(row->affine);
    const unsigned there = (has_gamma ? GAMMA : 0u) | (has_beta ? BETA : 0u) |
                           (row->affine != LN_AFFINE_SCALAR && row->hidden > 1 ? VECTOR : 0u);
    const double q = tries->quotient, mean = tries->mean, c = centre_of(tries);
    const double square = square_of(tries), about_zero = tries->var + mean * mean;
    const double other_c = layernorm ? 0 : mean, other = layernorm ? about_zero : tries->var;
    const double root = own_root(tries, square), other_root = own_root(tries, other);
    const double exact = layernorm ? 1 / row->answer->facts.rstd : root;
    ln_convention divisor = *row->convention;
    divisor.ddof = layernorm ? 1 - divisor.ddof : divisor.ddof;
    const double counted = layernorm ? square : square * tries->n / (tries->n - 1);
    const affine_use none = row->affine == LN_AFFINE_NONE ? USE_ALL
                            : has_beta                    ? USE_NONE
                                                          : USE_BETA;
    const struct {
        unsigned needs;
        mistake made;
    } all[] = {
        {GAMMA | BETA, {c, exact, q, USE_NONE, false}},
        {BETA, {c, exact, q, USE_GAMMA, false}},
        {GAMMA, {c, exact, q, USE_BETA, false}},
        {GAMMA, {c, exact, q, USE_OFFSET, false}},
        {GAMMA | BETA, {c, exact, q, USE_BETA_FIRST, false}},
        {GAMMA | BETA, {c, exact, q, USE_SWAPPED, false}},
        {BETA, {c, exact, q, USE_MINUS_BETA, false}},
        {GAMMA | VECTOR, {c, exact, q, USE_FIRST_GAMMA, false}},
        {BETA | VECTOR, {c, exact, q, USE_FIRST_BETA, false}},
        {0, {c, root_under(tries, &divisor, counted), q, USE_ALL, false}},
        {0, {c, own_root(tries, square * tries->n), q, USE_ALL, true}},
        {0, {other_c, other_root, q, USE_ALL, false}},
        {0, {other_c, root, q, USE_ALL, false}},
        {0, {c, other_root, q, USE_ALL, true}},
        {0, {c, root * root, q, USE_ALL, true}},
        {0, {c, 1 / root, q, USE_ALL, true}},
        {0, {c, 1, q, USE_ALL, true}},
        {0, {0, 1, 0, none, false}},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if ((all[i].needs & ~there) == 0)
            try_mistake(tries, tries->asked->x, &all[i].made, (int)i);
}

/* None, and those of presets. */
static const double sizes[] = {0, 1e-12, 1e-8, 0x1p-23, 1e-6, 1e-5, 1e-3};
enum { SIZES = sizeof sizes / sizeof *sizes };

/* With eps in another place, or of another size. */
static void try_eps(explaining *tries)
{
    const ln_convention *own = tries->asked->row->convention;
    const int last = tries->layernorm ? LN_EPS_QUOTIENT : LN_EPS_STD;
    for (int i = LN_EPS_NONE + 1; own->eps_place != LN_EPS_NONE && i <= last + SIZES; i++) {
        ln_convention with = *own;
        with.eps_place = i <= last ? (ln_eps_place)i : own->eps_place;
        with.eps = i <= last ? own->eps : sizes[i - last - 1];
        mistake made = {centre_of(tries), root_under(tries, &with, square_of(tries)),
                        with.eps_place == LN_EPS_QUOTIENT ? with.eps : 0, USE_ALL, true};
        if (!convention_equal(&with, own))
            try_mistake(tries, tries->asked->x, &made,
                        i <= last ? EPS_PLACES + i : EPS_SIZES + i - last - 1);
    }
}

static void try_no_residual(explaining *tries, const judge_block *block)
{
    size_t hidden = block->hidden;
    double *x = allocate(hidden * sizeof *x);
    for (size_t i = 0; i < hidden; i++)
        x[i] = load(block->storage, block->inputs[ROLE_X], tries->asked->number * hidden + i);
    double centre = tries->layernorm ? sum_of(x, hidden) / tries->n : 0;
    double square = squares_about(x, hidden, centre) / tries->n;
    mistake made = {centre, own_root(tries, square), tries->quotient, USE_ALL, false};
    try_mistake(tries, x, &made, NO_RESIDUAL);
    free(x);
}

mistake_set norm_mistakes(const explained_row *asked)
{
    explaining tries = begin_explaining(asked);
    try_formulas(&tries);
    try_eps(&tries);
    if (asked->block && asked->block->inputs[ROLE_RESIDUAL])
        try_no_residual(&tries, asked->block);
    if (dtype_size(asked->row->storage) == 2 && tries.own <= by_rounding)
        tries.found.fit |= (uint64_t)0xf << MISTAKE_CAST;
    return tries.found;
}

/* ---- in words ---- */

static bool say_eps(const ln_convention *own, uint64_t bits, char why[ROW_FAULT_LENGTH])
{
    static const char *const places[OPERATIONS][4] = {
        {"", "the variance", "the standard deviation", "the quotient"},
        {"", "the mean square", "the root", ""}};
    const char *const *const at = places[own->operation];
    const uint64_t fit = bits >> EPS_SIZES;
    const int place = __builtin_ctzll(bits) - EPS_PLACES;
    const double least = sizes[fit ? __builtin_ctzll(fit) : 0];
    const double most = sizes[fit ? 63 - __builtin_clzll(fit) : 0];
    if (!fit)
        number_print(why, ROW_FAULT_LENGTH, "adds eps to %s, where %s is asked for", at[place],
                     at[own->eps_place]);
    else if (most == 0)
        number_print(why, ROW_FAULT_LENGTH, "leaves eps out, where one is asked for");
    else if (least == 0)
        number_print(why, ROW_FAULT_LENGTH,
                     "leaves eps out, or has one of at most %g, where %g is asked for", most,
                     own->eps);
    else if (least == most)
        number_print(why, ROW_FAULT_LENGTH, "has an eps of %g, where %g is asked for", least,
                     own->eps);
    return !fit || least == 0 || least == most;
}

bool norm_say_mistake(const ln_convention *own, uint64_t bits, char why[ROW_FAULT_LENGTH])
{
    const bool layernorm = own->operation == LN_OPERATION_LAYERNORM;
    const bool gamma1 = convention_form(own) == LN_AFFINE_GAMMA1;
    const bool rounds_sum = layernorm || own->sum != LN_RMS_SUM_UNROUNDED;
    const char *const all[] = {
        "leaves out gamma and beta",
        "does not add beta: y - exact is -beta",
        layernorm ? "does not multiply by gamma" : "does not multiply by the weight",
        gamma1 && layernorm ? "multiplies by the stored vector, where 1 more is asked for"
        : gamma1            ? "multiplies by the stored weight, where 1 more is asked for"
        : layernorm         ? "multiplies by 1 + gamma"
                            : "multiplies by 1 + weight",
        "adds beta before it multiplies by gamma: y - exact is beta (gamma - 1)",
        "takes gamma for beta and beta for gamma",
        "subtracts beta: y - exact is -2 beta",
        layernorm ? "takes the first gamma for all columns"
                  : "takes the first weight for all columns",
        "takes the first beta for all columns",
        !layernorm  ? "divides the sum of squares by N - 1, where N is asked for"
        : own->ddof ? "divides the variance by N (ddof=0), where N - 1 is asked for"
                    : "divides the variance by N - 1 (ddof=1), where N is asked for",
        "does not divide the sum of squares by N",
        layernorm ? "divides by the root mean square and subtracts no mean (RMSNorm)"
                  : "subtracts the mean (LayerNorm)",
        layernorm ? "subtracts no mean from x" : "subtracts the mean from x",
        layernorm ? "divides by the root of the mean square, not of the variance"
                  : "divides by the root of the variance, not of the mean square",
        layernorm ? "divides by the variance, without its root"
                  : "divides by the mean square, without its root",
        "multiplies by the standard deviation",
        layernorm ? "does not divide by the standard deviation" : "does not divide by the root",
        "returns x as it is",
        [NO_RESIDUAL] = "does not add the residual to x",
        [MISTAKE_CAST] = own->cast ? "does not round xhat to x's type before the weight"
                                   : "rounds xhat to x's type before the weight",
        [MISTAKE_ROOT] =
            own->root ? "does not round the root to x's type" : "rounds the root to x's type",
        [MISTAKE_SUM] = rounds_sum ? "normalises x + residual before it rounds the sum"
                                   : "rounds x + residual before it normalises the sum",
        [MISTAKE_OFFSET] = own->weight == LN_RMS_WEIGHT_OFFSET
                               ? "rounds 1 + weight to the weight's type"
                               : "does not round 1 + weight to the weight's type",
    };
    const bool one = bits && (bits & (bits - 1)) == 0;
    const uint64_t of_eps = bits & (((uint64_t)1 << NO_RESIDUAL) - ((uint64_t)1 << EPS_SIZES));
    const char *said = one ? all[__builtin_ctzll(bits)] : NULL;
    if (said)
        number_print(why, ROW_FAULT_LENGTH, "%s", said);
    else if (one || (bits && of_eps == bits))
        return say_eps(own, bits, why);
    return one;
}
