/* Finds common mistakes that explain a wrong row of a kernel with a known convention. Each mistake is a formula for the
 * row in x, gamma and beta. One row seldom identifies it: a slightly wrong root is also the result of another eps, but
 * only at one variance. So each wrong row gives the set of mistakes whose result it is to within rounding (fit), and
 * those of them that differ clearly from the correct row (far). The covering run names the mistake that explains all
 * wrong problems (conformance/covering_run.c). */
#include "base/arena.h"
#include "base/text.h"
#include "exact/scale.h"
#include "judge/fingerprint/fingerprint.h"
#include "judge/judging.h"

/* A formula: gamma ((x - centre) / root + quotient) + beta, with another use of gamma and beta. */
typedef struct mistake {
    double centre, root, quotient;
    affine_use use;
    bool scales; /* it only changes the root, so that all of xhat has the same factor */
} mistake;

/* The state of the search for the mistakes of a row. */
typedef struct explaining {
    const explained_row *wrong;
    bool layernorm;
    double mean, var; /* of x, biased */
    double centre;    /* subtracted from x: the mean, or 0 for RMSNorm */
    double square;    /* the mean of (x - centre)^2 */
    double quotient;  /* eps, if it is on the quotient */
    double own;       /* the error of y in row ULP */
    double n;
    mistake_set found;
} explaining;

/* The parts of the formulas. CENTRE_OTHER and ROOT_OTHER are those of the other operation. */
typedef enum centre_kind { CENTRE_OWN, CENTRE_OTHER, CENTRE_NONE, CENTRES } centre_kind;
typedef enum root_kind {
    ROOT_EXACT,
    ROOT_DIVISOR, /* with N - 1 instead of N, or N instead of N - 1 */
    ROOT_OF_SUM,  /* of the sum of squares, not divided by N */
    ROOT_OTHER,
    ROOT_OWN,
    ROOT_SQUARED,
    ROOT_INVERSE,
    ROOT_NONE,
    ROOTS
} root_kind;

/* The mistakes that are one formula each, and their descriptions for LayerNorm and RMSNorm. Those of the mistakes with
 * a name depend on the convention (words_of()). */
enum { NEEDS_VECTORS = 4, MISTAKE_USE_OFFSET = 3, MISTAKE_DIVISOR = 9 };
static const struct {
    unsigned needs; /* gamma, beta, parameters that are vectors */
    centre_kind centre;
    root_kind root;
    affine_use use;
    bool scales;
    const char *layernorm, *rmsnorm;
} formulas[] = {
    {NEEDS_GAMMA | NEEDS_BETA, CENTRE_OWN, ROOT_EXACT, USE_NONE, false, "leaves out gamma and beta",
     ""},
    {NEEDS_BETA, CENTRE_OWN, ROOT_EXACT, USE_GAMMA, false, "does not add beta: y - exact is -beta",
     ""},
    {NEEDS_GAMMA, CENTRE_OWN, ROOT_EXACT, USE_BETA, false, "does not multiply by gamma",
     "does not multiply by the weight"},
    {NEEDS_GAMMA, CENTRE_OWN, ROOT_EXACT, USE_OFFSET, false, "multiplies by 1 + gamma",
     "multiplies by 1 + weight"},
    {NEEDS_GAMMA | NEEDS_BETA, CENTRE_OWN, ROOT_EXACT, USE_BETA_FIRST, false,
     "adds beta before it multiplies by gamma: y - exact is beta (gamma - 1)", ""},
    {NEEDS_GAMMA | NEEDS_BETA, CENTRE_OWN, ROOT_EXACT, USE_SWAPPED, false,
     "takes gamma for beta and beta for gamma", ""},
    {NEEDS_BETA, CENTRE_OWN, ROOT_EXACT, USE_MINUS_BETA, false,
     "subtracts beta: y - exact is -2 beta", ""},
    {NEEDS_GAMMA | NEEDS_VECTORS, CENTRE_OWN, ROOT_EXACT, USE_FIRST_GAMMA, false,
     "takes the first gamma for all columns", "takes the first weight for all columns"},
    {NEEDS_BETA | NEEDS_VECTORS, CENTRE_OWN, ROOT_EXACT, USE_FIRST_BETA, false,
     "takes the first beta for all columns", ""},
    {0, CENTRE_OWN, ROOT_DIVISOR, USE_ALL, false,
     "divides the variance by N - 1 (ddof=1), where the convention has N",
     "divides the sum of squares by N - 1, where the convention has N"},
    {0, CENTRE_OWN, ROOT_OF_SUM, USE_ALL, true, "does not divide the sum of squares by N",
     "does not divide the sum of squares by N"},
    {0, CENTRE_OTHER, ROOT_OTHER, USE_ALL, false,
     "divides by the root mean square and subtracts no mean (RMSNorm)",
     "subtracts the mean (LayerNorm)"},
    {0, CENTRE_OTHER, ROOT_OWN, USE_ALL, false, "subtracts no mean from x",
     "subtracts the mean from x"},
    {0, CENTRE_OWN, ROOT_OTHER, USE_ALL, true,
     "divides by the root of the mean square, not of the variance",
     "divides by the root of the variance, not of the mean square"},
    {0, CENTRE_OWN, ROOT_SQUARED, USE_ALL, true, "divides by the variance, without its root",
     "divides by the mean square, without its root"},
    {0, CENTRE_OWN, ROOT_INVERSE, USE_ALL, true, "multiplies by the standard deviation",
     "multiplies by the standard deviation"},
    {0, CENTRE_OWN, ROOT_NONE, USE_ALL, true, "does not divide by the standard deviation",
     "does not divide by the root"},
    {0, CENTRE_NONE, ROOT_NONE, USE_NONE, false, "returns x as it is", "returns x as it is"},
};
enum { FORMULAS = sizeof formulas / sizeof *formulas };

/* The bits of a set: the formulas, then eps by place and by size, then mistakes that are no formula,
 * and (x - mean) / (std + eps) by the size of eps. */
enum { EPS_PLACES = FORMULAS, EPS_SIZES = EPS_PLACES + 4, NO_RESIDUAL = 30, STD_EPS_SIZES = 40 };

/* A row is far from correct if its error is this many times the limit (far_off: if only the root is wrong). */
static const double far_off = 64, off = 8;
static const double by_rounding =
    2; /* the row ULP that rounding 16 bits in another place may cost */

/* Adds the mistake to the set if each element of y is its result to within the limit, in ULP of the larger of the
 * scales of both rows. */
static void try_mistake(explaining *tries, const double *x, const mistake *made, int bit)
{
    const explained_row *wrong = tries->wrong;
    const metrics_row *row = wrong->row;
    const affine_use use = made->use;
    const bool casts = !tries->layernorm && row->convention->cast && ln_has_gamma(row->affine) &&
                       use != USE_BETA && use != USE_NONE;
    bool any_number = false;
    double most = 0;
    for (size_t i = 0; i < row->hidden; i++)
        most = fmax(most, fabs(x[i] - made->centre));
    most = most / made->root + fabs(made->quotient);
    for (size_t i = 0; i < row->hidden; i++) {
        double gamma = gamma_at(row, use == USE_FIRST_GAMMA ? 0 : i);
        const double beta = beta_at(row, use == USE_FIRST_BETA ? 0 : i);
        if (use == USE_SWAPPED) /* the stored value, without the 1 of 1 + gamma */
            gamma = load(row->param, row->gamma, row->affine == LN_AFFINE_SCALAR ? 0 : i);
        affine_pair with = affine_used(use, gamma, beta);
        if (use == USE_OFFSET && row->affine == LN_AFFINE_GAMMA1)
            with = (affine_pair){gamma - 1, beta};
        double xhat = (x[i] - made->centre) / made->root + made->quotient;
        xhat = casts ? stored_in(row->storage, xhat) : xhat;
        const double value = with.gamma * xhat + with.beta;
        const double given = load(row->storage, wrong->y, i);
        const double rounded = stored_in(row->storage, value);
        const double scale = fabs(with.gamma) * most + fabs(with.beta);
        const bool number = isfinite(given) && isfinite(rounded);
        any_number = any_number || number;
        if (number ? !(given == rounded ||
                       fabs(given - value) <=
                           wrong->limit *
                               ulp_in(format_of(row->storage), fmax(scale, element_scale(row, i))))
                   : !same_class(given, rounded))
            return;
    }
    const double far = !any_number ? INFINITY : made->scales ? far_off : off;
    tries->found.fit |= (uint64_t)1 << bit;
    tries->found.far |= (uint64_t)(tries->own > far * wrong->limit) << bit;
}

/* ---- the mistakes ---- */

static double mean_of(const double *x, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += x[i];
    return sum / (double)count;
}

static double square_about(const double *x, size_t count, double mean)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += (x[i] - mean) * (x[i] - mean);
    return sum / (double)count;
}

/* Returns the root, with eps, under a convention for the given mean of squares. */
static double root_under(const explaining *tries, const ln_convention *with, double square)
{
    if (!tries->layernorm)
        return rmsnorm_rounded_root(with, tries->wrong->row->storage, square);
    double divided = square * tries->n / (tries->n - with->ddof);
    return with->eps_place == LN_EPS_VAR
               ? sqrt(divided + with->eps)
               : sqrt(divided) + (with->eps_place == LN_EPS_STD ? with->eps : 0);
}

static void try_formulas(explaining *tries)
{
    const metrics_row *row = tries->wrong->row;
    const ln_convention *own = row->convention;
    const bool layernorm = tries->layernorm;
    const unsigned there =
        (ln_has_gamma(row->affine) ? NEEDS_GAMMA : 0u) |
        (ln_has_beta(row->affine) ? NEEDS_BETA : 0u) |
        (row->affine != LN_AFFINE_SCALAR && row->hidden > 1 ? NEEDS_VECTORS : 0u);
    const double square = tries->square, n = tries->n;
    /* The mean square of a row with an infinity is infinite, where its variance is NaN. */
    const double other = layernorm ? square_about(tries->wrong->x, row->hidden, 0) : tries->var;
    const double root = root_under(tries, own, square);
    ln_convention divisor = *own;
    divisor.ddof = layernorm ? 1 - own->ddof : own->ddof;
    const double centres[CENTRES] = {
        [CENTRE_OWN] = tries->centre, [CENTRE_OTHER] = layernorm ? 0 : tries->mean};
    const double roots[ROOTS] = {
        [ROOT_EXACT] = layernorm ? 1 / row->answer->facts.rstd : root,
        [ROOT_DIVISOR] = root_under(tries, &divisor, layernorm ? square : square * n / (n - 1)),
        [ROOT_OF_SUM] = root_under(tries, own, square * n),
        [ROOT_OTHER] = root_under(tries, own, other),
        [ROOT_OWN] = root,
        [ROOT_SQUARED] = root * root,
        [ROOT_INVERSE] = 1 / root,
        [ROOT_NONE] = 1};
    for (int i = 0; i < FORMULAS; i++) {
        const mistake made = {centres[formulas[i].centre], roots[formulas[i].root],
                              formulas[i].centre == CENTRE_NONE ? 0 : tries->quotient,
                              formulas[i].use, formulas[i].scales};
        if ((formulas[i].needs & ~there) == 0)
            try_mistake(tries, tries->wrong->x, &made, i);
    }
}

/* 0 (no eps), and the sizes of eps in presets. */
static const double sizes[] = {0, 1e-12, 1e-8, 0x1p-23, 1e-6, 1e-5, 1e-3};
enum { SIZES = sizeof sizes / sizeof *sizes };

/* Tries eps in another place or of another size, then (x - mean) / (std + eps) with N - 1, as many examples have it,
 * with each of these sizes of eps. */
static void try_eps(explaining *tries)
{
    const ln_convention *own = tries->wrong->row->convention;
    const int last = tries->layernorm ? LN_EPS_QUOTIENT : LN_EPS_STD;
    for (int i = LN_EPS_NONE + 1; own->eps_place != LN_EPS_NONE && i <= last + SIZES; i++) {
        ln_convention with = *own;
        with.eps_place = i <= last ? (ln_eps_place)i : own->eps_place;
        with.eps = i <= last ? own->eps : sizes[i - last - 1];
        mistake made = {tries->centre, root_under(tries, &with, tries->square),
                        with.eps_place == LN_EPS_QUOTIENT ? with.eps : 0, USE_ALL, true};
        if (!convention_equal(&with, own))
            try_mistake(tries, tries->wrong->x, &made,
                        i <= last ? EPS_PLACES + i : EPS_SIZES + i - last - 1);
    }
    const bool biased = tries->layernorm && own->ddof == 0 && own->eps_place == LN_EPS_VAR;
    for (int i = 0; biased && i < SIZES; i++) {
        ln_convention with = {.ddof = 1, .eps_place = LN_EPS_STD, .eps = sizes[i]};
        mistake made = {tries->centre, root_under(tries, &with, tries->square), 0, USE_ALL, true};
        try_mistake(tries, tries->wrong->x, &made, STD_EPS_SIZES + i);
    }
}

static void try_no_residual(explaining *tries, const judge_block *block)
{
    const size_t hidden = block->hidden;
    double *x = allocate(hidden * sizeof *x);
    for (size_t i = 0; i < hidden; i++)
        x[i] = load(block->storage, block->inputs[ROLE_X], tries->wrong->number * hidden + i);
    const double centre = tries->layernorm ? mean_of(x, hidden) : 0;
    const double square = square_about(x, hidden, centre);
    const mistake made = {centre, root_under(tries, tries->wrong->row->convention, square),
                          tries->quotient, USE_ALL, false};
    try_mistake(tries, x, &made, NO_RESIDUAL);
    free(x);
}

mistake_set norm_mistakes(const explained_row *wrong)
{
    const metrics_row *row = wrong->row;
    const ln_convention *own = row->convention;
    const ln_row_facts *facts = &row->answer->facts;
    explaining tries = {.wrong = wrong,
                        .layernorm = own->operation == LN_OPERATION_LAYERNORM,
                        .n = (double)row->hidden,
                        .quotient = own->eps_place == LN_EPS_QUOTIENT ? own->eps : 0,
                        .own = limits_error(row, wrong->y)};
    tries.mean = tries.layernorm ? facts->mean : mean_of(wrong->x, row->hidden);
    tries.var = tries.layernorm ? facts->var : square_about(wrong->x, row->hidden, tries.mean);
    tries.centre = tries.layernorm ? tries.mean : 0;
    tries.square = tries.layernorm ? tries.var : tries.var + tries.mean * tries.mean;
    for (size_t i = 0; i < row->hidden; i++)
        if (!same_class(load(row->storage, wrong->y, i),
                        load(row->storage, row->answer->rounded, i)))
            tries.own = INFINITY;
    try_formulas(&tries);
    try_eps(&tries);
    if (wrong->block && wrong->block->inputs[ROLE_RESIDUAL])
        try_no_residual(&tries, wrong->block);
    if (dtype_size(row->storage) == 2 && tries.own <= by_rounding)
        tries.found.fit |= (uint64_t)0xf << MISTAKE_CAST;
    return tries.found;
}

/* ---- descriptions ---- */

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
        number_print(why, ROW_FAULT_LENGTH, "adds eps to %s instead of %s", at[place],
                     at[own->eps_place]);
    else if (most == 0)
        number_print(why, ROW_FAULT_LENGTH, "leaves eps out, where the convention has one");
    else if (least == 0)
        number_print(why, ROW_FAULT_LENGTH,
                     "leaves eps out, or has one of at most %g, where the convention has %g", most,
                     own->eps);
    else if (least == most)
        number_print(why, ROW_FAULT_LENGTH, "has an eps of %g, where the convention has %g", least,
                     own->eps);
    return !fit || least == 0 || least == most;
}

/* Describes one mistake; NULL: it is one of eps (say_eps()). */
static const char *words_of(const ln_convention *own, int bit)
{
    const bool layernorm = own->operation == LN_OPERATION_LAYERNORM;
    const bool gamma1 = convention_form(own) == LN_AFFINE_GAMMA1;
    if (bit == MISTAKE_USE_OFFSET && gamma1)
        return layernorm ? "multiplies by the stored vector, where the convention adds 1 to it"
                         : "multiplies by the stored weight, where the convention adds 1 to it";
    if (bit == MISTAKE_DIVISOR && layernorm && own->ddof)
        return "divides the variance by N (ddof=0), where the convention has N - 1";
    if (bit < FORMULAS)
        return layernorm ? formulas[bit].layernorm : formulas[bit].rmsnorm;
    switch (bit) {
    case NO_RESIDUAL:
        return "does not add the residual to x";
    case MISTAKE_CAST:
        return own->cast ? "does not round xhat to x's type before the weight"
                         : "rounds xhat to x's type before the weight";
    case MISTAKE_ROOT:
        return own->root ? "does not round the root to x's type" : "rounds the root to x's type";
    case MISTAKE_SUM:
        return layernorm || own->sum != LN_RMS_SUM_UNROUNDED
                   ? "normalises x + residual before it rounds the sum"
                   : "rounds x + residual before it normalises the sum";
    case MISTAKE_OFFSET:
        return own->weight == LN_RMS_WEIGHT_OFFSET
                   ? "rounds 1 + weight to the weight's type"
                   : "does not round 1 + weight to the weight's type";
    default:
        return NULL;
    }
}

bool norm_say_mistake(const ln_convention *own, uint64_t bits, char why[ROW_FAULT_LENGTH])
{
    const uint64_t others = bits & (((uint64_t)1 << STD_EPS_SIZES) - 1);
    const uint64_t of_eps = others & (((uint64_t)1 << NO_RESIDUAL) - ((uint64_t)1 << EPS_SIZES));
    const bool one = others && (others & (others - 1)) == 0;
    const char *said = one ? words_of(own, __builtin_ctzll(others))
                       : bits && !others
                           ? "divides by std or std + eps with the std of N - 1 (ddof=1,eps@std)"
                           : NULL;
    if (said)
        number_print(why, ROW_FAULT_LENGTH, "%s", said);
    else if (one || (others && of_eps == others))
        return say_eps(own, others, why);
    return said;
}
