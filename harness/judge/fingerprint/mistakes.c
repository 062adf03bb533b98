/* What a wrong kernel of a known convention does, found by doing the same: mistakes that people make, each a
 * way to compute the row from x, gamma and beta. The one whose result is y, to within what rounding may
 * take, explains it; where two do, none does. It is sure where y is far from right: a root that is somewhat
 * off is as with another eps at one variance, and at no other. */
#include "base/number.h"
#include "judge/position.h"
#include "judge/rmsnorm/rmsnorm.h"
#include "judge/fingerprint/internal.h"

/* The words of an operation. */
typedef struct norm_words {
    const char *other_operation, *other_centre, *other_square, *no_root, *undivided;
    const char *square;       /* what the root is of */
    const char *gamma, *plus; /* as an object; behind "1 +" */
    const char *places[4];    /* of eps */
} norm_words;

static const norm_words words_of[] = {
    [LN_OPERATION_LAYERNORM] = {"divides by the root mean square and subtracts no mean (RMSNorm)",
                                "subtracts no mean from x",
                                "divides by the root of the mean square, not of the variance",
                                "divides by the variance, without its root",
                                "does not divide by the standard deviation",
                                "the variance",
                                "gamma",
                                "gamma",
                                {"", "the variance", "the standard deviation", "the quotient"}},
    [LN_OPERATION_RMSNORM] = {"subtracts the mean (LayerNorm)",
                              "subtracts the mean from x",
                              "divides by the root of the variance, not of the mean square",
                              "divides by the mean square, without its root",
                              "does not divide by the root",
                              "the mean square",
                              "the weight",
                              "weight",
                              {"", "the mean square", "the root", ""}}};

/* gamma (xhat + quotient) + beta with xhat = (x - centre) / root, but for how gamma and beta are used. */
typedef struct mistake {
    double centre, root, quotient;
    affine_use use;
    bool scales; /* another root, of any size, is all there is to it */
} mistake;

/* Mistakes are tried one after the other; what explains the row is kept. */
typedef struct explaining {
    const explained_row *asked;
    const norm_words *words;
    bool layernorm;
    double mean, var; /* of x, biased */
    double n, quotient;
    double own;   /* how far y is off */
    size_t found; /* mistakes that give y */
    bool far;     /* y is far enough from right for the mistake that is tried... */
    bool sure;    /* ...for the first that gives y */
    char *why;
} explaining;

/* The least error / limit of y; the former where another root is all there is. */
static const double far_off = 64, off = 8;

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

static bool is_result_of(const explaining *tries, const double *x, const mistake *made)
{
    const metrics_row *row = tries->asked->row;
    bool casts = !tries->layernorm && row->convention->cast, told = false;
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
        if (!is_near(tries->asked, i, with.gamma * xhat + with.beta, scale, &told))
            return false;
    }
    return told;
}

static bool explains(explaining *tries, const double *x, const mistake *made)
{
    tries->far = tries->own > (made->scales ? far_off : off) * tries->asked->limit;
    return is_result_of(tries, x, made);
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

static explaining begin_explaining(const explained_row *asked, char *why)
{
    const metrics_row *row = asked->row;
    const ln_row_facts *facts = &row->answer->facts;
    ln_operation kind = row->convention->operation;
    explaining tries = {.asked = asked,
                        .words = &words_of[kind],
                        .layernorm = kind == LN_OPERATION_LAYERNORM,
                        .n = (double)row->hidden,
                        .mean = facts->mean,
                        .var = facts->var,
                        .own = limits_error(row, asked->y),
                        .why = why};
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

/* Mistakes that are one formula each: what is subtracted and divided by, and how gamma and beta are used. */
static void try_formulas(explaining *tries)
{
    enum { GAMMA = 1, BETA = 2, VECTOR = 4 };
    const metrics_row *row = tries->asked->row;
    const norm_words *words = tries->words;
    const bool layernorm = tries->layernorm, gamma1 = row->affine == LN_AFFINE_GAMMA1;
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
        const char *words, *name; /* name: of the "%s" in the words */
        unsigned needs;
        mistake made;
    } all[] = {
        {"leaves out gamma and beta", "", GAMMA | BETA, {c, exact, q, USE_NONE, false}},
        {"does not add beta: y - exact is -beta", "", BETA, {c, exact, q, USE_GAMMA, false}},
        {"does not multiply by %s", words->gamma, GAMMA, {c, exact, q, USE_BETA, false}},
        {gamma1 ? "multiplies by the stored %s, where 1 more is asked for" : "multiplies by 1 + %s",
         gamma1 && layernorm ? "vector" : words->plus,
         GAMMA,
         {c, exact, q, USE_OFFSET, false}},
        {"adds beta before it multiplies by gamma: y - exact is beta (gamma - 1)",
         "",
         GAMMA | BETA,
         {c, exact, q, USE_BETA_FIRST, false}},
        {"takes gamma for beta and beta for gamma",
         "",
         GAMMA | BETA,
         {c, exact, q, USE_SWAPPED, false}},
        {"subtracts beta: y - exact is -2 beta", "", BETA, {c, exact, q, USE_MINUS_BETA, false}},
        {"takes the first %s for all columns",
         words->plus,
         GAMMA | VECTOR,
         {c, exact, q, USE_FIRST_GAMMA, false}},
        {"takes the first beta for all columns",
         "",
         BETA | VECTOR,
         {c, exact, q, USE_FIRST_BETA, false}},
        {!layernorm     ? "divides the sum of squares by N - 1, where N is asked for"
         : divisor.ddof ? "divides the variance by N - 1 (ddof=1), where N is asked for"
                        : "divides the variance by N (ddof=0), where N - 1 is asked for",
         "",
         0,
         {c, root_under(tries, &divisor, counted), q, USE_ALL, false}},
        {"does not divide the sum of squares by N",
         "",
         0,
         {c, own_root(tries, square * tries->n), q, USE_ALL, true}},
        {"%s", words->other_operation, 0, {other_c, other_root, q, USE_ALL, false}},
        {"%s", words->other_centre, 0, {other_c, root, q, USE_ALL, false}},
        {"%s", words->other_square, 0, {c, other_root, q, USE_ALL, true}},
        {"%s", words->no_root, 0, {c, root * root, q, USE_ALL, true}},
        {"multiplies by the standard deviation", "", 0, {c, 1 / root, q, USE_ALL, true}},
        {"%s", words->undivided, 0, {c, 1, q, USE_ALL, true}},
        {"returns x as it is", "", 0, {0, 1, 0, none, false}},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if ((all[i].needs & ~there) == 0 && explains(tries, tries->asked->x, &all[i].made))
            explained(tries, all[i].words, all[i].name);
}

/* With eps in another place, or of another size. */
static bool explains_eps(explaining *tries, const ln_convention *with)
{
    mistake made = {centre_of(tries), root_under(tries, with, square_of(tries)),
                    with->eps_place == LN_EPS_QUOTIENT ? with->eps : 0, USE_ALL, true};
    return explains(tries, tries->asked->x, &made);
}

/* None, and those of presets. */
static const double sizes[] = {0, 1e-12, 1e-8, 0x1p-23, 1e-6, 1e-5, 1e-3};
enum { SIZES = sizeof sizes / sizeof *sizes };

/* A bit for each size that gives y. *factor: by how much the root is off then. */
static unsigned sizes_that_fit(explaining *tries, double *factor)
{
    ln_convention with = *tries->asked->row->convention;
    const double eps = with.eps;
    unsigned fit = 0;
    for (size_t i = 0; i < SIZES; i++) {
        with.eps = sizes[i];
        if (sizes[i] == eps || !explains_eps(tries, &with))
            continue;
        fit |= 1u << i;
        *factor = root_under(tries, &with, square_of(tries)) / own_root(tries, square_of(tries));
    }
    return fit;
}

/* Keeps the sizes that another row has too. False: it tells nothing, since it is not wrong, or is that of a
 * root that is off by the same factor. */
static bool other_row_fits(const explaining *tries, size_t number, double factor, unsigned *fit)
{
    const judge_block *block = tries->asked->block;
    const size_t hidden = block->hidden;
    metrics_row row = judge_metrics_row(block, number);
    double *x = allocate(hidden * sizeof *x), ignored;
    explained_row asked = {
        &row, x,   judge_row_of(block, tries->asked->rows, number), tries->asked->limit, NULL,
        0,    NULL};
    for (size_t i = 0; i < hidden; i++)
        x[i] = block->inputs[ROLE_RESIDUAL]
                   ? judgings[block->operation]->added(block, number * hidden + i)
                   : load(block->storage, block->inputs[ROLE_X], number * hidden + i);
    bool tells = isfinite(row.answer->facts.max_abs);
    if (tells) {
        explaining other = begin_explaining(&asked, NULL);
        const mistake scaled = {centre_of(&other), own_root(&other, square_of(&other)) * factor,
                                other.quotient, USE_ALL, true};
        tells = other.own > far_off * asked.limit && !is_result_of(&other, x, &scaled);
        *fit &= tells ? sizes_that_fit(&other, &ignored) : *fit;
    }
    free(x);
    return tells;
}

/* One row says what its root is; it takes two variances to say that this comes from eps. */
static void try_sizes(explaining *tries)
{
    enum { OTHERS = 8 };
    const explained_row *asked = tries->asked;
    const size_t rows = asked->rows ? asked->block->rows : 0, step = rows / OTHERS + 1;
    const double own = asked->row->convention->eps;
    double factor = 1;
    unsigned fit = sizes_that_fit(tries, &factor);
    bool agree = false;
    for (size_t i = 0; fit && i < rows; i += step)
        if (i != asked->number)
            agree |= other_row_fits(tries, i, factor, &fit);
    const bool none = fit & 1;
    if (!fit || (!none && (tries->found || !agree)))
        return;
    const double least = sizes[__builtin_ctz(fit)], most = sizes[31 - __builtin_clz(fit)];
    if (none && most == 0)
        explained(tries, "leaves eps out, where one is asked for");
    else if (none)
        explained(tries, "leaves eps out, or has one of at most %g, where %g is asked for", most,
                  own);
    else if (least == most)
        explained(tries, "has an eps of %g, where %g is asked for", least, own);
    else
        explained(tries, "has an eps of %g to %g, where %g is asked for", least, most, own);
}

static void try_eps(explaining *tries)
{
    const ln_convention *own = tries->asked->row->convention;
    const int last = tries->layernorm ? LN_EPS_QUOTIENT : LN_EPS_STD;
    if (own->eps_place == LN_EPS_NONE)
        return;
    for (int place = LN_EPS_NONE + 1; place <= last; place++) {
        ln_convention with = *own;
        with.eps_place = (ln_eps_place)place;
        if (place != (int)own->eps_place && explains_eps(tries, &with))
            explained(tries, "adds eps to %s, where %s is asked for", tries->words->places[place],
                      tries->words->places[own->eps_place]);
    }
    try_sizes(tries);
}

/* A loop that leaves the last columns out of a sum. */
static bool try_tail(explaining *tries, size_t end, const char *columns)
{
    const double *x = tries->asked->x;
    size_t hidden = tries->asked->row->hidden;
    double n = tries->n, mean = tries->mean, part = sum_of(x, end), alone = part / (double)end;
    double short_mean = part / n, short_square = squares_about(x, end, 0) / n;
    const struct {
        const char *words;
        double centre, square;
    } all[] = {
        {"the mean square", 0, short_square},
        {"the variance", mean, squares_about(x, end, mean) / n},
        {"the mean", short_mean, squares_about(x, hidden, short_mean) / n},
        {"mean and variance", short_mean, squares_about(x, end, short_mean) / n},
        {"mean and variance (as sums of x and x^2)", short_mean,
         short_square - short_mean * short_mean},
        {"mean, variance and N", alone, squares_about(x, end, alone) / (double)end},
    };
    size_t first = tries->layernorm ? 1 : 0, last = tries->layernorm ? sizeof all / sizeof *all : 1;
    for (size_t i = first; i < last; i++) {
        mistake made = {all[i].centre, own_root(tries, all[i].square), tries->quotient, USE_ALL,
                        false};
        if (explains(tries, x, &made)) {
            explained(tries, "leaves %s out of %s", columns, all[i].words);
            return true;
        }
    }
    return false;
}

/* Steps of 2, 4, ... 128. */
static void try_tails(explaining *tries)
{
    size_t hidden = tries->asked->row->hidden, before = 0;
    for (size_t step = 2; step <= 128; step *= 2) {
        size_t tail = hidden % step;
        char columns[PATTERN_LENGTH];
        if (tail == before)
            continue;
        before = tail;
        pattern_tail(tail, hidden, "column", columns);
        if (try_tail(tries, hidden - tail, columns))
            return;
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

/* Whether this row of x is a multiple of another one: their results then differ by eps alone, so that a
 * kernel with another eps gives the other row's result without mixing up rows. */
static bool is_multiple(const explained_row *asked, const judge_block *block, size_t other)
{
    double factor = 0;
    for (size_t i = 0; i < block->hidden; i++) {
        double x = asked->x[i];
        double from = load(block->storage, block->inputs[ROLE_X], other * block->hidden + i);
        factor = factor == 0 && from != 0 ? x / from : factor;
        if (x != factor * from)
            return false;
    }
    return true;
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
    if (explains(tries, x, &made))
        explained(tries, "does not add the residual to x");
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
        if (i != asked->number && is_row(asked, block, i) && !is_multiple(asked, block, i))
            explained(tries, "puts row %zu here", i);
}

bool norm_explain(const explained_row *asked, char why[ROW_FAULT_LENGTH], bool *sure)
{
    if (!isfinite(asked->limit) || !isfinite(asked->row->answer->facts.max_abs))
        return false;
    explaining tries = begin_explaining(asked, why);
    try_formulas(&tries);
    try_eps(&tries);
    /* On some rows a lost tail looks like another divisor, which is the likelier mistake. */
    if (!tries.found)
        try_tails(&tries);
    try_block(&tries);
    *sure = tries.sure;
    return tries.found == 1;
}
