/* What a wrong kernel does, found by doing the same: a table of mistakes that people make, each a way to
 * compute the row from x, gamma and beta. The one whose result is y, to within what rounding may take,
 * explains it; where two do, none does. It is sure where y is far from right: an rstd that is somewhat
 * off is as with another eps at one variance, and at no other. */
#include "exact/scale.h"
#include "base/number.h"
#include "judge/layernorm/layernorm.h"
#include "judge/pattern.h"
#include <stdlib.h>

typedef enum affine_mistake {
    AFFINE_OWN,
    AFFINE_BETA_FIRST,
    AFFINE_SWAPPED,
    AFFINE_NO_GAMMA,
    AFFINE_NO_BETA,
    AFFINE_MINUS_BETA,
    AFFINE_OTHER_GAMMA, /* 1 + gamma for gamma, or gamma for 1 + gamma */
    AFFINE_FIRST_GAMMA, /* gamma[0] everywhere */
    AFFINE_FIRST_BETA,
    AFFINE_NONE, /* neither gamma nor beta */
    AFFINE_MISTAKES
} affine_mistake;

/* gamma ((x - mean) rstd + quotient) + beta, but for the affine part. */
typedef struct mistake {
    double mean, rstd, quotient;
    affine_mistake affine;
    bool scales; /* another rstd, of any size, is all there is to it */
} mistake;

/* Mistakes are tried one after the other; what explains the row is kept. */
typedef struct explaining {
    const explained_row *asked;
    double own;   /* how far y is off */
    size_t found; /* mistakes that give y */
    bool far;     /* y is far enough from right for the mistake that is tried... */
    bool sure;    /* ...for the first that gives y */
    char *why;
} explaining;

/* The least error / limit of y; the former where another rstd is all there is. */
static const double far_off = 64, off = 8;

/* ---- how far y lies from a mistake ---- */

static double parameter(const metrics_row *row, const void *values, size_t i)
{
    return load(row->param, values, row->convention->affine == LN_AFFINE_SCALAR ? 0 : i);
}

typedef struct affine_pair {
    double gamma, beta;
} affine_pair;

static affine_pair affine_of(const metrics_row *row, affine_mistake which, size_t i)
{
    ln_affine affine = row->convention->affine;
    affine_pair own = {gamma_at(row, i), beta_at(row, i)};
    switch (which) {
    case AFFINE_SWAPPED:
        return (affine_pair){own.beta, parameter(row, row->gamma, i)};
    case AFFINE_BETA_FIRST:
        return (affine_pair){own.gamma, own.beta * own.gamma};
    case AFFINE_NO_GAMMA:
        return (affine_pair){1, own.beta};
    case AFFINE_NONE:
        return (affine_pair){1, 0};
    case AFFINE_NO_BETA:
        return (affine_pair){own.gamma, 0};
    case AFFINE_MINUS_BETA:
        return (affine_pair){own.gamma, -own.beta};
    case AFFINE_OTHER_GAMMA:
        return (affine_pair){own.gamma + (affine == LN_AFFINE_GAMMA1 ? -1 : 1), own.beta};
    case AFFINE_FIRST_GAMMA:
        return (affine_pair){gamma_at(row, 0), own.beta};
    case AFFINE_FIRST_BETA:
        return (affine_pair){own.gamma, beta_at(row, 0)};
    default:
        return own;
    }
}

/* Whether the convention has the parameters that the mistake is made with. */
static bool has_affine(const metrics_row *row, affine_mistake which)
{
    ln_affine affine = row->convention->affine;
    bool gamma = ln_has_gamma(affine), beta = ln_has_beta(affine), long_row = row->hidden > 1;
    switch (which) {
    case AFFINE_OWN:
        return true;
    case AFFINE_BETA_FIRST:
    case AFFINE_SWAPPED:
    case AFFINE_NONE:
        return gamma && beta;
    case AFFINE_NO_GAMMA:
    case AFFINE_OTHER_GAMMA:
        return gamma;
    case AFFINE_FIRST_GAMMA:
        return gamma && affine != LN_AFFINE_SCALAR && long_row;
    case AFFINE_FIRST_BETA:
        return beta && affine != LN_AFFINE_SCALAR && long_row;
    default:
        return beta;
    }
}

/* Whether y has this element, to within `limit` ULP of the larger of the two scales. *told: it is a
 * number. */
static bool is_near(const explained_row *asked, size_t i, double value, double scale, bool *told)
{
    const metrics_row *row = asked->row;
    double given = load(row->storage, asked->y, i), rounded, room;
    storage_store(row->storage, &room, 0, value);
    rounded = storage_load(row->storage, &room, 0);
    if (!isfinite(given) || !isfinite(rounded))
        return same_class(given, rounded);
    *told = true;
    double ulp = ulp_in(format_of(row->storage), fmax(scale, element_scale(row, i)));
    return fabs(given - value) <= asked->limit * ulp;
}

static bool is_result_of(const explained_row *asked, const double *x, const mistake *made)
{
    const metrics_row *row = asked->row;
    double most = 0;
    bool told = false;
    if (!has_affine(row, made->affine))
        return false;
    for (size_t i = 0; i < row->hidden; i++)
        most = fmax(most, fabs(x[i] - made->mean));
    most = most * made->rstd + fabs(made->quotient);
    for (size_t i = 0; i < row->hidden; i++) {
        affine_pair with = affine_of(row, made->affine, i);
        double xhat = (x[i] - made->mean) * made->rstd + made->quotient;
        double scale = fabs(with.gamma) * most + fabs(with.beta);
        if (!is_near(asked, i, with.gamma * xhat + with.beta, scale, &told))
            return false;
    }
    return told;
}

static void explained(explaining *tries, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void explained(explaining *tries, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    if (tries->found++ == 0) {
        tries->sure = tries->far;
        number_print_list(tries->why, ROW_FAULT_LENGTH, format, arguments);
    }
    va_end(arguments);
}

static bool explains(explaining *tries, const double *x, const mistake *made)
{
    tries->far = tries->own > (made->scales ? far_off : off) * tries->asked->limit;
    return is_result_of(tries->asked, x, made);
}

/* ---- the mistakes ---- */

static double rstd_with(double var, ln_eps_place place, double eps)
{
    return place == LN_EPS_VAR ? 1 / sqrt(var + eps)
                               : 1 / (sqrt(var) + (place == LN_EPS_STD ? eps : 0));
}

static double own_rstd(const metrics_row *row, double var)
{
    return rstd_with(var, row->convention->eps_place, row->convention->eps);
}

static double own_quotient(const metrics_row *row)
{
    return row->convention->eps_place == LN_EPS_QUOTIENT ? row->convention->eps : 0;
}

/* The variance that the convention asks for, from a mean of squared deviations. */
static double divided(const metrics_row *row, double biased)
{
    double n = (double)row->hidden;
    return biased * n / (n - row->convention->ddof);
}

static void try_moments(explaining *tries)
{
    const metrics_row *row = tries->asked->row;
    const ln_row_facts *facts = &row->answer->facts;
    double n = (double)row->hidden, mean = facts->mean, q = own_quotient(row);
    bool has_affine = row->convention->affine != LN_AFFINE_NONE;
    double var = divided(row, facts->var), square = divided(row, facts->var + mean * mean);
    int ddof = row->convention->ddof;
    const struct {
        const char *words;
        mistake made;
    } all[] = {
        {ddof ? "divides the variance by N (ddof=0), where N - 1 is asked for"
              : "divides the variance by N - 1 (ddof=1), where N is asked for",
         {mean, own_rstd(row, facts->var * n / (n - (1 - ddof))), q, AFFINE_OWN, false}},
        {"divides by the root mean square and subtracts no mean (RMSNorm)",
         {0, own_rstd(row, square), q, AFFINE_OWN, false}},
        {"subtracts no mean from x", {0, facts->rstd, q, AFFINE_OWN, false}},
        {"divides by the root of the mean square, not of the variance",
         {mean, own_rstd(row, square), q, AFFINE_OWN, true}},
        {"divides by the variance, without its root",
         {mean, facts->rstd * facts->rstd, q, AFFINE_OWN, true}},
        {"multiplies by the standard deviation", {mean, sqrt(var), q, AFFINE_OWN, true}},
        {"does not divide by the standard deviation", {mean, 1, q, AFFINE_OWN, true}},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (explains(tries, tries->asked->x, &all[i].made))
            explained(tries, "%s", all[i].words);
    const mistake untouched = {0, 1, 0, has_affine ? AFFINE_NONE : AFFINE_OWN, false};
    if (explains(tries, tries->asked->x, &untouched))
        explained(tries, "returns x as it is");
}

static void try_eps(explaining *tries)
{
    static const char *const places[] = {"leaves eps out", "adds eps to the variance",
                                         "adds eps to the standard deviation",
                                         "adds eps to the quotient"};
    static const char *const asked[] = {"no eps is asked for", "the variance is asked for",
                                        "the standard deviation is asked for",
                                        "the quotient is asked for"};
    static const double usual[] = {1e-12, 1e-8, 1e-6, 1e-5, 1e-3};
    const metrics_row *row = tries->asked->row;
    const ln_convention *own = row->convention;
    const ln_row_facts *facts = &row->answer->facts;
    double var = divided(row, facts->var);
    if (own->eps_place == LN_EPS_NONE)
        return;
    for (ln_eps_place place = LN_EPS_NONE; place <= LN_EPS_QUOTIENT; place++) {
        mistake made = {facts->mean, rstd_with(var, place, own->eps),
                        place == LN_EPS_QUOTIENT ? own->eps : 0, AFFINE_OWN, true};
        if (place != own->eps_place && explains(tries, tries->asked->x, &made))
            explained(tries, "%s, where %s", places[place],
                      place == LN_EPS_NONE ? "one is asked for" : asked[own->eps_place]);
    }
    for (size_t i = 0; !tries->found && i < sizeof usual / sizeof *usual; i++) {
        mistake made = {facts->mean, rstd_with(var, own->eps_place, usual[i]),
                        own->eps_place == LN_EPS_QUOTIENT ? usual[i] : 0, AFFINE_OWN, true};
        if (usual[i] != own->eps && explains(tries, tries->asked->x, &made))
            explained(tries, "has an eps of %g, where %g is asked for", usual[i], own->eps);
    }
}

static void try_affine(explaining *tries)
{
    static const char *const words[AFFINE_MISTAKES] = {
        [AFFINE_BETA_FIRST] =
            "adds beta before it multiplies by gamma: y - exact is beta (gamma - 1)",
        [AFFINE_SWAPPED] = "takes gamma for beta and beta for gamma",
        [AFFINE_NO_GAMMA] = "does not multiply by gamma",
        [AFFINE_NO_BETA] = "does not add beta: y - exact is -beta",
        [AFFINE_MINUS_BETA] = "subtracts beta: y - exact is -2 beta",
        [AFFINE_FIRST_GAMMA] = "takes the first gamma for all columns",
        [AFFINE_FIRST_BETA] = "takes the first beta for all columns",
        [AFFINE_NONE] = "leaves out gamma and beta"};
    const metrics_row *row = tries->asked->row;
    const ln_row_facts *facts = &row->answer->facts;
    for (affine_mistake which = AFFINE_OWN + 1; which < AFFINE_MISTAKES; which++) {
        mistake made = {facts->mean, facts->rstd, own_quotient(row), which, false};
        if (explains(tries, tries->asked->x, &made))
            explained(tries, "%s",
                      which != AFFINE_OTHER_GAMMA ? words[which]
                      : row->convention->affine == LN_AFFINE_GAMMA1
                          ? "multiplies by the stored vector, where 1 more is asked for"
                          : "multiplies by 1 + gamma");
    }
}

/* Sums of the columns from `first` to before `end`. */
static double sum_of(const double *x, size_t first, size_t end)
{
    double sum = 0;
    for (size_t i = first; i < end; i++)
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

/* Loops in steps of 2, 4, ... 128 that leave the last columns out of a sum. */
static void try_tails(explaining *tries)
{
    const metrics_row *row = tries->asked->row;
    const double *x = tries->asked->x;
    size_t hidden = row->hidden, before = 0;
    double n = (double)hidden, mean = row->answer->facts.mean, q = own_quotient(row);
    for (size_t step = 2; step <= 128; step *= 2) {
        size_t tail = hidden % step, end = hidden - tail;
        char words[PATTERN_LENGTH];
        if (tail == before)
            continue;
        before = tail;
        double part = sum_of(x, 0, end), short_mean = part / n, alone = part / (double)end;
        const struct {
            const char *words;
            mistake made;
        } all[] = {
            {"the variance",
             {mean, own_rstd(row, divided(row, squares_about(x, end, mean) / n)), q, 0, false}},
            {"the mean",
             {short_mean, own_rstd(row, divided(row, squares_about(x, hidden, short_mean) / n)), q,
              0, false}},
            {"mean and variance",
             {short_mean, own_rstd(row, divided(row, squares_about(x, end, short_mean) / n)), q, 0,
              false}},
            {"mean and variance (as sums of x and x^2)",
             {short_mean,
              own_rstd(row, divided(row, squares_about(x, end, 0) / n - short_mean * short_mean)),
              q, 0, false}},
            {"mean, variance and N",
             {alone, own_rstd(row, divided(row, squares_about(x, end, alone) / (double)end)), q, 0,
              false}},
        };
        pattern_tail(tail, hidden, "column", words);
        for (size_t i = 0; i < sizeof all / sizeof *all; i++)
            if (explains(tries, x, &all[i].made)) {
                explained(tries, "leaves %s out of %s", words, all[i].words);
                return;
            }
    }
}

/* ---- the rows beside it ---- */

static bool is_row(const explained_row *asked, const judge_block *block, size_t other)
{
    metrics_row row = judge_metrics_row(block, other);
    bool told = false;
    for (size_t i = 0; i < block->hidden; i++)
        if (!is_near(asked, i, block->results[other].exact[i], element_scale(&row, i), &told))
            return false;
    return told;
}

static void try_no_residual(explaining *tries, const judge_block *block)
{
    const metrics_row *row = tries->asked->row;
    size_t hidden = block->hidden;
    double *x = malloc(hidden * sizeof *x), n = (double)hidden;
    for (size_t i = 0; x && i < hidden; i++)
        x[i] = load(block->storage, block->inputs[ROLE_X], tries->asked->number * hidden + i);
    if (x) {
        double mean = sum_of(x, 0, hidden) / n;
        mistake made = {mean, own_rstd(row, divided(row, squares_about(x, hidden, mean) / n)),
                        own_quotient(row), AFFINE_OWN, false};
        if (explains(tries, x, &made))
            explained(tries, "does not add the residual to x");
    }
    free(x);
}

/* What needs the block: the residual, and other rows. */
static void try_block(explaining *tries)
{
    const explained_row *asked = tries->asked;
    const judge_block *block = asked->block;
    if (!block || !(tries->own > off * asked->limit))
        return;
    if (block->inputs[ROLE_RESIDUAL])
        try_no_residual(tries, block);
    for (size_t i = 0; i < block->rows && !tries->found; i++)
        if (i != asked->number && is_row(asked, block, i))
            explained(tries, "puts row %zu here", i);
}

bool layernorm_explain(const explained_row *asked, char why[ROW_FAULT_LENGTH], bool *sure)
{
    const ln_row_facts *facts = &asked->row->answer->facts;
    explaining tries = {.asked = asked, .own = limits_error(asked->row, asked->y), .why = why};
    for (size_t i = 0; i < asked->row->hidden; i++)
        if (!same_class(load(asked->row->storage, asked->y, i),
                        load(asked->row->storage, asked->row->answer->rounded, i)))
            tries.own = INFINITY;
    if (!isfinite(asked->limit) || !isfinite(facts->max_abs))
        return false;
    try_affine(&tries);
    try_moments(&tries);
    try_eps(&tries);
    /* On some rows a lost tail looks like another divisor, which is the likelier mistake. */
    if (!tries.found)
        try_tails(&tries);
    try_block(&tries);
    *sure = tries.sure;
    return tries.found == 1;
}
