/* Computes known functions with textbook kernels of the library and checks the answers of fingerprint_make() for their
 * outputs.
 *
 *     which_generator [CASES [SEED]]
 *
 * It prints how many were named, left open or named wrongly, for each kind of function. The exit status is 1 if an
 * answer was wrong (another name, no name, or a list without the true one), or if fewer than 97 % of decidable cases
 * were named. A case is decidable if it has more than one row, and if every other divisor, place and size of eps
 * differs from the true one on some row by more than twice the error of the sums (for 16-bit types also that of each
 * step). */
#include "base/hash.h"
#include "certify/rms_row.h"
#include "domain/operation.h"
#include "judge/judging.h"
#include "judge/fingerprint/fingerprint.h"
#include "exact/scale.h"
#include <math.h>
#include <rmsnorm.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ELEMENTS = 1 << 15, KERNELS = 512 };

typedef enum draw_kind {
    DRAW_PLAIN,
    DRAW_LEFT_OUT, /* gamma or beta is given but not used */
    DRAW_AXIS0,
    DRAW_WHOLE,
    DRAW_GROUPS,
    DRAW_RESIDUAL,
    DRAW_ROUNDED, /* y is rounded to 16 bits */
    DRAW_X_ROUNDED,
    DRAW_STEPS, /* each step is rounded to 16 bits */
    DRAW_RMSNORM,
    DRAW_COPY,
    DRAW_SOFTMAX,
    DRAWS,
    SHORT_ROWS = DRAWS, /* cases of any kind with several rows in 16 bits */
    TALLIES
} draw_kind;

static const char *const draw_names[TALLIES] = {"plain",
                                                "gamma or beta left out",
                                                "over axis 0",
                                                "whole tensor",
                                                "groups",
                                                "with a residual",
                                                "y rounded to 16 bits",
                                                "x rounded",
                                                "each step rounded",
                                                "RMSNorm",
                                                "x as it is",
                                                "softmax",
                                                "of them 16 bits, several rows"};

typedef struct drawn {
    draw_kind kind;
    const ln_kernel *kernel;
    ln_convention convention, given; /* that of the kernel; that with all given parameters */
    size_t rows, hidden, length;     /* length: the number of elements normalised together */
    ln_type type, out;
    double kappa;
    char words[FINGERPRINT_WORDS];
} drawn;

typedef struct tally {
    size_t cases, named, open, wrong, decided, decided_named;
} tally;

static double x[ELEMENTS], y[ELEMENTS], residual[ELEMENTS], gamma_[ELEMENTS], beta[ELEMENTS];
static double in[ELEMENTS], out[ELEMENTS];
static double typed[6][ELEMENTS];
static uint64_t stream;
static const ln_kernel *layernorms[KERNELS];
static size_t layernorm_count;

static double uniform(void)
{
    return (double)(splitmix64(&stream) >> 11) * 0x1p-53;
}

static size_t below(size_t count)
{
    return (size_t)(uniform() * (double)count);
}

/* ---- computing the outputs ---- */

static void find_kernels(void)
{
    static const char *const families[] = {
        "naive",     "two_pass",  "welford",    "shifted_two_mean",
        "corrected", "pairwise_", "compensated"};
    const ln_plugin_table *plugin = ln_plugin();
    for (size_t i = 0; i < plugin->count && layernorm_count < KERNELS; i++)
        for (size_t t = 0; t < sizeof families / sizeof *families; t++)
            if (strncmp(plugin->kernels[i].name, families[t], strlen(families[t])) == 0)
                layernorms[layernorm_count++] = &plugin->kernels[i];
}

static const void *stored(int slot, ln_type type, const double *values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        storage_store(type, typed[slot], i, values[i]);
    return typed[slot];
}

/* Runs the kernel on rows of the drawn length. Returns false if it does not support them. */
static bool run_kernel(const drawn *one, size_t rows, bool with_residual)
{
    ln_problem problem =
        problem_dense(&one->convention, one->type, one->kernel ? one->kernel->param : one->type,
                      rows, one->length);
    ln_type param = problem.param;
    size_t count = rows * one->length;
    ln_tensors tensors = {.x = stored(0, one->type, in, count),
                          .gamma = stored(1, param, gamma_, one->length),
                          .beta = stored(2, param, beta, one->length),
                          .residual = with_residual ? stored(3, one->type, residual, count) : NULL,
                          .y = typed[4]};
    if (one->kind == DRAW_RMSNORM)
        tensors.residual = NULL;
    ln_status status = one->kind == DRAW_RMSNORM
                           ? ln_rmsnorm(&problem, &tensors)
                           : ln_layernorm_with(one->kernel, &problem, &tensors);
    for (size_t i = 0; status == LN_OK && i < count; i++)
        out[i] = storage_load(one->type, typed[4], i);
    return status == LN_OK;
}

/* Returns the index, in the rows that are run, of element e of the tensor. */
static size_t place_of(const drawn *one, size_t e)
{
    return one->kind == DRAW_AXIS0 ? e % one->hidden * one->rows + e / one->hidden : e;
}

static void softmax(const drawn *one)
{
    for (size_t r = 0; r < one->rows; r++) {
        float most = -INFINITY, sum = 0, *row = (float *)typed[4];
        for (size_t i = 0; i < one->hidden; i++)
            most = fmaxf(most, (float)x[r * one->hidden + i]);
        for (size_t i = 0; i < one->hidden; i++)
            sum += row[i] = expf((float)x[r * one->hidden + i] - most);
        for (size_t i = 0; i < one->hidden; i++)
            y[r * one->hidden + i] = (double)(row[i] / sum);
    }
}

/* Computes the norm with each step except the sums rounded to the type. Returns false if a result is not finite. */
static bool run_steps(const drawn *one)
{
    const ln_convention *own = &one->convention;
    ln_type type = one->type;
    double n = (double)one->hidden;
    bool finite = true;
    for (size_t r = 0; r < one->rows; r++) {
        const double *row = in + r * one->hidden;
        double sum = 0, squares = 0;
        for (size_t i = 0; i < one->hidden; i++)
            sum += row[i];
        double mean = stored_in(type, sum / n);
        for (size_t i = 0; i < one->hidden; i++) {
            double d = stored_in(type, row[i] - mean);
            squares += stored_in(type, d * d);
        }
        double var = stored_in(type, squares / (n - own->ddof));
        var = own->eps_place == LN_EPS_VAR ? stored_in(type, var + own->eps) : var;
        double root = stored_in(type, sqrt(var));
        root = own->eps_place == LN_EPS_STD ? stored_in(type, root + own->eps) : root;
        for (size_t i = 0; i < one->hidden; i++) {
            size_t p = own->affine == LN_AFFINE_SCALAR ? 0 : i;
            double made = stored_in(type, stored_in(type, row[i] - mean) / root);
            if (own->eps_place == LN_EPS_QUOTIENT)
                made = stored_in(type, made + own->eps);
            if (own->affine == LN_AFFINE_GAMMA1)
                made = stored_in(type, made * stored_in(type, 1 + gamma_[p]));
            else if (ln_has_gamma(own->affine))
                made = stored_in(type, made * gamma_[p]);
            if (ln_has_beta(own->affine))
                made = stored_in(type, made + beta[p]);
            out[r * one->hidden + i] = made;
            finite = finite && isfinite(made);
        }
    }
    return finite;
}

static bool run_case(const drawn *one)
{
    size_t count = one->rows * one->hidden;
    for (size_t i = 0; i < count; i++)
        in[place_of(one, i)] = one->kind == DRAW_X_ROUNDED ? stored_in(LN_BF16, x[i]) : x[i];
    if (one->kind == DRAW_SOFTMAX) {
        softmax(one);
        return true;
    }
    if (one->kind == DRAW_COPY) {
        memcpy(y, x, sizeof y);
        return true;
    }
    if (!(one->kind == DRAW_STEPS
              ? run_steps(one)
              : run_kernel(one, count / one->length, one->kind == DRAW_RESIDUAL)))
        return false;
    for (size_t i = 0; i < count; i++)
        y[i] = stored_in(one->out, out[place_of(one, i)]);
    return true;
}

/* ---- drawing cases ---- */

static double draw_eps(void)
{
    static const double usual[] = {1e-3, 1e-5, 1e-6, 1e-8, 1e-12, 0x1p-23};
    return uniform() < 0.7 ? usual[below(6)]
                           : (1 + (double)below(90) / 10) * pow(10, -(double)(4 + below(6)));
}

static void draw_convention(drawn *one)
{
    static const ln_affine forms[] = {LN_AFFINE_NONE, LN_AFFINE_GAMMA, LN_AFFINE_VECTOR,
                                      LN_AFFINE_GAMMA1, LN_AFFINE_SCALAR};
    bool whole = one->kind == DRAW_WHOLE || one->kind == DRAW_GROUPS;
    ln_convention *own = &one->convention;
    if (one->kind == DRAW_RMSNORM) {
        int cast = dtype_size(one->type) == 2 && below(2);
        *own = (ln_convention){.operation = LN_OPERATION_RMSNORM,
                               .eps_place = (ln_eps_place)below(3),
                               .weight = (ln_rms_weight)(below(3) + (cast && !below(3))),
                               .cast = cast};
        if (cast && own->weight == LN_RMS_WEIGHT_NONE)
            own->weight = LN_RMS_WEIGHT;
    } else
        *own = (ln_convention){.ddof = (int)below(2),
                               .eps_place = (ln_eps_place)below(4),
                               .affine = whole ? LN_AFFINE_NONE : forms[below(5)]};
    own->eps = own->eps_place == LN_EPS_NONE ? 0 : draw_eps();
    one->given = *own;
    if (one->kind == DRAW_LEFT_OUT) {
        one->given.affine = LN_AFFINE_VECTOR;
        own->affine = below(2) ? LN_AFFINE_GAMMA : LN_AFFINE_NONE;
    }
}

/* Draws rows of about `kappa` whose standard deviations are near the size at which eps has an effect. */
static void draw_rows(const drawn *one)
{
    double eps = one->convention.eps;
    double centre =
        eps > 0 && below(4) ? one->convention.eps_place == LN_EPS_VAR ? sqrt(eps) : eps : 1;
    if (one->convention.eps_place == LN_EPS_QUOTIENT)
        centre = 1;
    centre = fmax(centre, one->type == LN_F16 ? 0x1p-6 : 0x1p-30);
    for (size_t r = 0; r < one->rows; r++) {
        double scale = centre * exp2(4 * uniform() - 1);
        for (size_t i = 0; i < one->hidden; i++) {
            double normal =
                sqrt(-2 * log(uniform() + 0x1p-54)) * cos(6.283185307179586 * uniform());
            double value = (normal + one->kappa - 1) * scale;
            size_t at = r * one->hidden + i;
            x[at] = stored_in(one->type, value);
            residual[at] = stored_in(one->type, (uniform() - 0.5) * scale);
        }
    }
    for (size_t i = 0; i < ELEMENTS; i++) {
        ln_type param = one->kernel ? one->kernel->param : one->type;
        gamma_[i] = stored_in(param, 0.5 + uniform());
        beta[i] = stored_in(param, uniform() - 0.5);
    }
}

static bool draw(drawn *one)
{
    static const double chances[DRAWS] = {.28, .08, .06, .04, .06, .08,
                                          .06, .04, .08, .18, .02, .02};
    double chance = uniform();
    int kind = 0;
    while (kind + 1 < DRAWS && (chance -= chances[kind]) > 0)
        kind++;
    *one = (drawn){.kind = (draw_kind)kind, .rows = (size_t)exp2(uniform() * 6.04)};
    one->hidden = 4 + (size_t)exp2(uniform() * 8.3);
    one->kappa = below(2) ? 1 : exp2(uniform() * 20);
    one->type = LN_F32;
    if (kind == DRAW_RMSNORM)
        one->type = (ln_type)below(4);
    else if (kind < DRAW_COPY) {
        bool plain = kind != DRAW_ROUNDED && kind != DRAW_X_ROUNDED;
        do
            one->kernel = layernorms[below(layernorm_count)];
        while ((!plain && one->kernel->storage != LN_F32) ||
               (kind == DRAW_STEPS && dtype_size(one->kernel->storage) != 2));
        one->type = one->kernel->storage;
    }
    one->out = kind == DRAW_ROUNDED ? below(2) ? LN_BF16 : LN_F16 : one->type;
    one->length = kind == DRAW_AXIS0   ? one->rows
                  : kind == DRAW_WHOLE ? one->rows * one->hidden
                                       : one->hidden;
    if (kind == DRAW_GROUPS) {
        one->length = 3 + below(6);
        one->hidden = one->length * (2 + below(30));
        snprintf(one->words, sizeof one->words, "GroupNorm of %zu groups",
                 one->hidden / one->length);
    }
    if ((kind == DRAW_AXIS0 || kind == DRAW_WHOLE) && one->rows < 3)
        return false;
    const char *words = kind == DRAW_LEFT_OUT    ? "left out"
                        : kind == DRAW_AXIS0     ? "over axis 0"
                        : kind == DRAW_WHOLE     ? "one norm of the whole tensor"
                        : kind == DRAW_ROUNDED   ? "output rounded to "
                        : kind == DRAW_X_ROUNDED ? "x rounded to bf16 first"
                                                 : one->words;
    if (words != one->words)
        strcpy(one->words, words);
    draw_convention(one);
    draw_rows(one);
    return run_case(one);
}

/* ---- checking the answers ---- */

static bool is_true(const drawn *one, const fingerprint_candidate *candidate)
{
    if (one->kind == DRAW_COPY || one->kind == DRAW_SOFTMAX)
        return candidate->kind == (one->kind == DRAW_COPY ? KIND_COPIED : KIND_SOFTMAX);
    ln_convention same = candidate->convention;
    double eps = one->convention.eps;
    if (candidate->kind != KIND_NORMALISED || !(eps >= candidate->eps_low * (1 - 1e-12)) ||
        !(eps <= candidate->eps_high * (1 + 1e-12)))
        return false;
    same.eps = eps;
    const char *more = strchr(candidate->words, ';');
    if (one->kind == DRAW_STEPS && more &&
        (!strncmp(more, "; each step", 11) || !strncmp(more, "; xhat rounded", 14)))
        return convention_equal(&same, &one->convention);
    return convention_equal(&same, &one->convention) &&
           (one->words[0] ? strstr(candidate->words, one->words) != NULL : more == NULL);
}

/* Returns 1 / divisor; ddof is 0 for RMSNorm. */
static double rstd_of(double var, double n, int place, double eps, int ddof)
{
    double s = var * n / (n - ddof);
    return 1 / (place == LN_EPS_VAR ? sqrt(s + eps) : sqrt(s) + (place == LN_EPS_STD ? eps : 0));
}

/* Returns the eps that gives the same rstd at this variance with another place and divisor; NaN: there is none. */
static double matching_eps(double rstd, double var, double n, int place, int ddof)
{
    double s = var * n / (n - ddof);
    double eps = place == LN_EPS_VAR ? 1 / (rstd * rstd) - s : 1 / rstd - sqrt(s);
    return eps >= 0 ? eps : NAN;
}

/* A row's variance (mean square), twice the error of its rstd, and its rstd. */
typedef struct decisive_row {
    double var, off, rstd;
} decisive_row;

/* Measures a row. Returns false if its sums have no correct digits. */
static bool measure_row(const drawn *one, const double *values, ln_reference *reference,
                        decisive_row *made)
{
    static double exact[ELEMENTS], rounded[ELEMENTS];
    bool layernorm = one->kind != DRAW_RMSNORM;
    const ln_convention plain = {.operation =
                                     layernorm ? LN_OPERATION_LAYERNORM : LN_OPERATION_RMSNORM};
    ln_type type = one->type == LN_F64 ? LN_F64 : LN_F32;
    ln_reference_result result = {.rounded = rounded, .exact = exact};
    const ln_row_facts *facts = &result.facts;
    metrics_row row = {type, type, one->length, &plain, NULL, NULL, &result, LN_AFFINE_NONE, false};
    order_question question = {type, type, one->length, &plain, false, 0};
    row_limits limits;
    const void *given = stored(0, type, values, one->length);
    bool fine = layernorm ? ln_reference_row(reference, &plain, type, type, one->length, given,
                                             NULL, NULL, NULL, &result)
                          : ln_rms_reference_row(reference, &plain, type, type, one->length, given,
                                                 NULL, NULL, &result);
    if (!fine || !(facts->var > 0))
        return false;
    limits_of_row(&question, &row, values, &limits);
    const row_limits poorest = limits_poorest(type, &row, values, &limits);
    double std = sqrt(facts->var), unit = unit_roundoff(type), mean = layernorm ? facts->mean : 0;
    double mean_off = layernorm ? poorest.statistics[ROLE_MEAN] / std : 0;
    double reach = fabs(mean) / std + (layernorm ? 4 : 0);
    double shift = mean_off + 6 * unit * reach;
    if (dtype_size(one->out) == 2) /* each step may have been rounded */
        shift += unit_roundoff(one->out) * (4 + 6 * reach);
    made->var = facts->var;
    made->off = 4 * (poorest.statistics[ROLE_RSTD] + shift + 2 * unit_roundoff(one->out));
    made->rstd = rstd_of(facts->var, (double)one->length, (int)one->convention.eps_place,
                         one->convention.eps, layernorm ? one->convention.ddof : 0);
    return made->off < (dtype_size(one->out) == 2 ? 0.1 : 1e-3);
}

/* Returns whether this divisor, place and eps give a clearly different result on some row. */
static bool is_apart(const drawn *one, const decisive_row *rows, size_t count, int place,
                     double eps, int ddof)
{
    bool quotient = place == LN_EPS_QUOTIENT, mine = one->convention.eps_place == LN_EPS_QUOTIENT;
    double q = (quotient ? eps : 0) - (mine ? one->convention.eps : 0);
    for (size_t r = 0; r < count; r++) {
        double theirs = rstd_of(rows[r].var, (double)one->length, place, eps, ddof);
        if (fabs(theirs / rows[r].rstd - 1) > rows[r].off || fabs(q) > 2 * rows[r].off)
            return true;
    }
    return false;
}

/* Returns whether every other divisor, place and size of eps gives a clearly different result on some row. The eps
 * tried are those that give the true rstd on one of the rows, and 0.8 and 1.2 times the true eps at the true place. */
static bool is_decided(const drawn *one)
{
    enum { ROWS = 64 };
    const ln_convention *own = &one->convention;
    bool layernorm = one->kind != DRAW_RMSNORM, decided = true;
    size_t rows = one->rows * one->hidden / one->length, count = 0;
    decisive_row made[ROWS];
    if (one->kind >= DRAW_COPY)
        return one->rows > 1 && one->kappa == 1;
    ln_reference *reference = ln_reference_create();
    for (size_t r = 0; r < rows && count < ROWS; r++)
        count += measure_row(one, in + r * one->length, reference, &made[count]);
    ln_reference_destroy(reference);
    for (int ddof = 0; ddof < (layernorm ? 2 : 1); ddof++)
        for (int place = 0; place <= (layernorm ? LN_EPS_QUOTIENT : LN_EPS_STD); place++) {
            bool same = place == (int)own->eps_place && (!layernorm || ddof == own->ddof);
            if (same && place != LN_EPS_NONE)
                decided = decided && is_apart(one, made, count, place, 1.2 * own->eps, ddof) &&
                          is_apart(one, made, count, place, 0.8 * own->eps, ddof);
            for (size_t r = 0; !same && r < count; r++) {
                double eps =
                    place == LN_EPS_NONE ? 0
                    : place == LN_EPS_QUOTIENT
                        ? own->eps
                        : matching_eps(made[r].rstd, made[r].var, (double)one->length, place, ddof);
                decided = decided && (isnan(eps) || is_apart(one, made, count, place, eps, ddof));
            }
        }
    return decided && count > 1;
}

static void print_tally(const char *name, const tally *one)
{
    printf("| %s | %zu | %zu | %zu | %zu | %zu of %zu (%.1f %%) |\n", name, one->cases, one->named,
           one->open, one->wrong, one->decided_named, one->decided,
           one->decided ? 100 * (double)one->decided_named / (double)one->decided : 100);
}

static void describe_wrong(const drawn *one, const fingerprint_found *found, size_t number)
{
    char list[CONVENTION_MAX_LENGTH];
    fprintf(stderr, "case %zu: %s, %zu x %zu, %s, %s%s, kappa %.3g: %s, %zu candidates, first %s\n",
            number, convention_format(&one->convention, list), one->rows, one->hidden,
            draw_names[one->kind], one->kernel ? one->kernel->name : "", "", one->kappa,
            fingerprint_answer_name(found->answer), found->count,
            found->count ? found->candidates[0].words : "-");
    for (size_t i = 0; i < found->count && i < 5; i++)
        fprintf(stderr, "    %s: %.6g to %.6g\n", found->candidates[i].words,
                found->candidates[i].eps_low, found->candidates[i].eps_high);
}

static void judge_case(const drawn *one, size_t number, tally *all, tally *kinds)
{
    bool gamma = ln_has_gamma(one->given.affine), with_beta = ln_has_beta(one->given.affine);
    if (one->kind == DRAW_RMSNORM)
        gamma = one->given.weight != LN_RMS_WEIGHT_NONE, with_beta = false;
    if (one->kind >= DRAW_COPY)
        gamma = with_beta = false;
    bool scalar = one->kind != DRAW_RMSNORM && one->given.affine == LN_AFFINE_SCALAR;
    fingerprint_input input = {.dimensions = 2,
                               .shape = {one->rows, one->hidden},
                               .x = x,
                               .y = y,
                               .residual = one->kind == DRAW_RESIDUAL ? residual : NULL,
                               .gamma = gamma ? gamma_ : NULL,
                               .beta = with_beta ? beta : NULL,
                               .parameters = !gamma && !with_beta ? 0
                                             : scalar             ? 1
                                                                  : one->length,
                               .x_type = one->type,
                               .y_type = one->type,
                               .param = one->kernel ? one->kernel->param : one->type,
                               .digits = FINGERPRINT_EXACT,
                               .x_digits = FINGERPRINT_EXACT};
    fingerprint_found found;
    tally one_more = {.cases = 1};
    fingerprint_make(&input, &found);
    bool known = false;
    for (size_t i = 0; i < found.count; i++)
        known = known || is_true(one, &found.candidates[i]);
    one_more.wrong = !known;
    one_more.named = known && found.answer == ANSWER_NAMED;
    one_more.open = known && found.answer == ANSWER_OPEN;
    one_more.decided = is_decided(one);
    one_more.decided_named = one_more.decided && one_more.named;
    if (!known || (one_more.decided && !one_more.named))
        describe_wrong(one, &found, number);
    tally *into[] = {all, &kinds[one->kind], &kinds[SHORT_ROWS]};
    bool is_short = dtype_size(one->out) == 2 && one->rows * one->hidden > one->length;
    for (size_t i = 0; i < (is_short ? 3 : 2); i++) {
        into[i]->cases++;
        into[i]->named += one_more.named;
        into[i]->open += one_more.open;
        into[i]->wrong += one_more.wrong;
        into[i]->decided += one_more.decided;
        into[i]->decided_named += one_more.decided_named;
    }
    fingerprint_free(&found);
}

int main(int count, char **arguments)
{
    size_t cases = count > 1 ? strtoul(arguments[1], NULL, 10) : 5000;
    uint64_t seed = count > 2 ? strtoul(arguments[2], NULL, 10) : 1;
    tally all = {0}, kinds[TALLIES] = {0};
    static drawn one;
    find_kernels();
    for (size_t i = 0; i < cases; i++) {
        stream = seed * 1000003 + i;
        while (!draw(&one))
            continue;
        judge_case(&one, i, &all, kinds);
    }
    printf("| drawn | cases | named | open | wrong | named where decided "
           "|\n|---|---|---|---|---|---|\n");
    for (int kind = 0; kind < TALLIES; kind++)
        print_tally(draw_names[kind], &kinds[kind]);
    print_tally("all", &all);
    return all.wrong > 0 || (double)all.decided_named < 0.97 * (double)all.decided;
}
