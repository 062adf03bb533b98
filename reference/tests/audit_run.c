/* Draws rows, asks the reference about them, and has the audit check every answer. */
#include "audit.h"
#include "certify/certify.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

struct audit_run {
    audit_state *audit;
    ball_set *balls; /* NULL if this was built without Arb */
    ln_reference *reference;
    row_certifier certifier; /* for the quick path's enclosures */
    audit_row row;
    audit_values x; /* the normalised values: row.x, or the sum with the residual */
    audit_values rounded;
    double exact[AUDIT_MAX_HIDDEN], rest[AUDIT_MAX_HIDDEN];
    ln_reference_result result;
    const char *const *names;
    unsigned kinds, kind;
    uint64_t elements, rows, wrong, enclosed, special, of_long_rows;
    uint64_t balls_right, balls_undecided;
    uint64_t by_type[AUDIT_TYPES];
    naive_errors (*naive)[AUDIT_TYPES]; /* of each kind */
};

audit_row *audit_run_row(audit_run *run)
{
    return &run->row;
}

audit_totals audit_run_totals(const audit_run *run)
{
    return (audit_totals){run->elements, run->rows, run->wrong};
}

void audit_run_destroy(audit_run *run)
{
    if (run == NULL) {
        return;
    }
    certifier_clear(&run->certifier);
    ln_reference_destroy(run->reference);
    balls_destroy(run->balls);
    audit_destroy(run->audit);
    free(run->naive);
    free(run);
}

audit_run *audit_run_create(const char *const *names, unsigned kinds)
{
    audit_run *run = calloc(1, sizeof *run);
    if (run == NULL) {
        return NULL;
    }
    certifier_init(&run->certifier);
    run->audit = audit_create();
    run->balls = balls_create();
    run->reference = ln_reference_create();
    run->naive = calloc(kinds, sizeof *run->naive);
    run->names = names;
    run->kinds = kinds;
    run->result =
        (ln_reference_result){.rounded = &run->rounded, .exact = run->exact, .rest = run->rest};
    bool has_balls = run->balls != NULL || balls_version() == NULL;
    if (run->audit == NULL || run->reference == NULL || run->naive == NULL || !has_balls) {
        audit_run_destroy(run);
        return NULL;
    }
    return run;
}

static double parameter(const audit_run *run, const audit_values *values, size_t i)
{
    bool scalar = run->row.convention.affine == LN_AFFINE_SCALAR;
    return audit_load(run->row.param, values, scalar ? 0 : i);
}

static bool has_gamma(const audit_run *run)
{
    return run->row.convention.affine != LN_AFFINE_NONE;
}

static bool has_beta(const audit_run *run)
{
    return has_gamma(run) && run->row.convention.affine != LN_AFFINE_GAMMA;
}

static void report_wrong(audit_run *run, size_t i, const char *what)
{
    const ln_convention *c = &run->row.convention;
    run->wrong++;
    fprintf(stderr,
            "wrong %s: %s row of %s (parameters %s), hidden %zu, ddof %d, eps %a at place %d, "
            "affine %d, element %zu: x %a gamma %a beta %a gave %a (%a)\n",
            what, run->names[run->kind], audit_type_names[run->row.storage],
            audit_type_names[run->row.param], run->row.hidden, c->ddof, c->eps, (int)c->eps_place,
            (int)c->affine, i, audit_load(run->row.storage, &run->x, i),
            parameter(run, &run->row.gamma, i), parameter(run, &run->row.beta, i),
            audit_load(run->row.storage, &run->rounded, i), run->exact[i]);
}

/* x + residual in run->x, itself a claim: the sum in double (in f64 and f32 rounded once, in the
 * others twice) rounded to nearest, ties to even. */
static void add_residual(audit_run *run)
{
    ln_type type = run->row.storage;
    for (size_t i = 0; i < run->row.hidden; i++) {
        double x = audit_load(type, &run->row.x, i);
        double residual = audit_load(type, &run->row.residual, i);
        audit_store_nearest(type, &run->x, i, x + residual);
        if (!audit_accepts_sum(run->audit, type, x, residual, audit_load(type, &run->x, i))) {
            report_wrong(run, i, "sum with the residual");
        }
    }
}

/* Checks that every element is within the quick path's bound. */
static void audit_enclosures(audit_run *run)
{
    row_certifier *certifier = &run->certifier;
    const audit_row *row = &run->row;
    float x[AUDIT_MAX_HIDDEN];
    for (size_t i = 0; i < row->hidden; i++) {
        x[i] = (float)audit_load(row->storage, &run->x, i);
    }
    if (!exact_row_take(&certifier->row, &row->convention, row->hidden, x) ||
        !certifier->row.defined) {
        return;
    }
    certifier_take(certifier, CERTIFIER_PRECISION, row->convention.affine);
    for (size_t i = 0; certifier->fast.usable && i < row->hidden; i++) {
        double gamma = has_gamma(run) ? parameter(run, &row->gamma, i) : 1.0;
        double beta = has_beta(run) ? parameter(run, &row->beta, i) : 0.0;
        if (!(fabs(gamma) <= 0x1p300 && fabs(beta) <= 0x1p300)) {
            continue;
        }
        fast_interval interval = fast_row_enclose(&certifier->fast, (double)x[i], gamma, beta);
        run->enclosed++;
        if (!audit_encloses(run->audit, (double)x[i], gamma, beta, interval)) {
            report_wrong(run, i, "enclosure of the quick path");
        }
    }
}

/* Checks a row that has xhat by ball arithmetic. */
static void hear_balls(audit_run *run, size_t i, audit_claim claim)
{
    const audit_row *row = &run->row;
    switch (balls_judge(run->balls, audit_load(row->storage, &run->x, i),
                        parameter(run, &row->gamma, i), parameter(run, &row->beta, i), claim)) {
    case BALLS_RIGHT:
        run->balls_right++;
        break;
    case BALLS_UNDECIDED:
        run->balls_undecided++;
        break;
    case BALLS_WRONG:
        report_wrong(run, i, "element, by ball arithmetic");
        break;
    }
}

/* Checks the result for an infinite gamma or beta (docs/accuracy.md), which integers cannot represent. Returns false if
 * both are finite, or the row has no xhat. */
static bool audit_parameters(audit_run *run, size_t i, audit_claim claim)
{
    double gamma = has_gamma(run) ? parameter(run, &run->row.gamma, i) : 1;
    double beta = has_beta(run) ? parameter(run, &run->row.beta, i) : 0;
    if ((isfinite(gamma) && isfinite(beta)) || !audit_is_defined(run->audit)) {
        return false;
    }
    bool is_beta = claim.rounded == beta && claim.exact == beta;
    bool right = isnan(gamma) || isnan(beta) ? isnan(claim.rounded)
                 : isfinite(gamma)           ? is_beta
                                             : !isfinite(claim.rounded);
    if (!right) {
        report_wrong(run, i, "element of an infinite gamma or beta");
    }
    run->special++;
    return true;
}

static void audit_elements(audit_run *run)
{
    const audit_row *row = &run->row;
    bool has_balls = run->balls != NULL && audit_is_defined(run->audit);
    if (has_balls) {
        balls_take(run->balls, &row->convention, row->hidden, row->storage, &run->x);
    }
    for (size_t i = 0; i < row->hidden; i++) {
        audit_claim claim = {audit_load(row->storage, &run->rounded, i), run->exact[i],
                             run->rest[i]};
        if (audit_parameters(run, i, claim)) {
            continue;
        }
        if (!audit_accepts(run->audit, audit_load(row->storage, &run->x, i),
                           parameter(run, &row->gamma, i), parameter(run, &row->beta, i), claim)) {
            report_wrong(run, i, "element");
        }
        if (has_balls) {
            hear_balls(run, i, claim);
        }
    }
}

static bool is_finite_row(const audit_run *run)
{
    bool finite = true;
    for (size_t i = 0; i < run->row.hidden; i++) {
        finite = finite && isfinite(audit_load(run->row.storage, &run->x, i));
    }
    return finite;
}

/* Checks a row with an element that is not finite: all results must be NaN. */
static void audit_special(audit_run *run)
{
    for (size_t i = 0; i < run->row.hidden; i++) {
        if (!isnan(audit_load(run->row.storage, &run->rounded, i)) || !isnan(run->exact[i])) {
            report_wrong(run, i, "element of a row that is not finite");
        }
    }
    run->special += run->row.hidden;
}

static void audit_finite(audit_run *run)
{
    const audit_row *row = &run->row;
    audit_take(run->audit, &row->convention, row->hidden, row->storage, &run->x);
    if (!audit_accepts_row(run->audit, &run->result)) {
        report_wrong(run, 0, "fact of the row");
    }
    audit_elements(run);
    if (row->storage != LN_F64) {
        audit_enclosures(run);
    }
    naive_errors_add(&run->naive[run->kind][row->storage], row, &run->x, &run->result);
}

bool audit_run_take(audit_run *run, unsigned kind)
{
    const audit_row *row = &run->row;
    run->kind = kind;
    if (!ln_reference_row(run->reference, &row->convention, row->storage, row->param, row->hidden,
                          &row->x, row->has_residual ? &row->residual : NULL, &row->gamma,
                          &row->beta, &run->result)) {
        return false;
    }
    run->x = row->x;
    if (row->has_residual) {
        add_residual(run);
    }
    if (is_finite_row(run)) {
        audit_finite(run);
    } else {
        audit_special(run);
    }
    run->rows++;
    run->elements += row->hidden;
    run->by_type[row->storage] += row->hidden;
    return true;
}

/* Room for the answers of a long row. */
static bool make_room(const audit_long_row *row, ln_reference_result *answers)
{
    size_t bytes = row->hidden * (row->storage == LN_F64 ? 8 : row->storage == LN_F32 ? 4 : 2);
    *answers = (ln_reference_result){.rounded = malloc(bytes),
                                     .exact = malloc(row->hidden * sizeof(double)),
                                     .rest = malloc(row->hidden * sizeof(double))};
    return answers->rounded != NULL && answers->exact != NULL && answers->rest != NULL;
}

static void audit_long(audit_run *run, const audit_long_row *row, size_t samples,
                       const ln_reference_result *answers)
{
    bool scalar = row->convention.affine == LN_AFFINE_SCALAR;
    size_t step = row->hidden > samples ? row->hidden / samples : 1;
    audit_take(run->audit, &row->convention, row->hidden, row->storage, row->x);
    bool right = audit_accepts_row(run->audit, answers);
    for (size_t i = 0; i < row->hidden; i += step) {
        audit_claim claim = {audit_load(row->storage, answers->rounded, i), answers->exact[i],
                             answers->rest[i]};
        double gamma = row->gamma ? audit_load(row->param, row->gamma, scalar ? 0 : i) : 1;
        double beta = row->beta ? audit_load(row->param, row->beta, scalar ? 0 : i) : 0;
        right =
            audit_accepts(run->audit, audit_load(row->storage, row->x, i), gamma, beta, claim) &&
            right;
        run->elements++;
        run->by_type[row->storage]++;
        run->of_long_rows++;
    }
    run->rows++;
    if (!right) {
        run->wrong++;
        fprintf(stderr, "wrong: %s row of %s, hidden %zu\n", row->name,
                audit_type_names[row->storage], row->hidden);
    }
}

bool audit_run_take_long(audit_run *run, const audit_long_row *row, size_t samples)
{
    ln_reference_result answers;
    bool done = make_room(row, &answers) &&
                ln_reference_row(run->reference, &row->convention, row->storage, row->param,
                                 row->hidden, row->x, NULL, row->gamma, row->beta, &answers);
    if (done) {
        audit_long(run, row, samples, &answers);
    }
    free(answers.rounded);
    free(answers.exact);
    free(answers.rest);
    return done;
}

static void print_balls(const audit_run *run)
{
    if (run->balls == NULL) {
        printf("third voice, ball arithmetic: skipped, built without Arb (libflint-arb-dev)\n");
        return;
    }
    printf("third voice, ball arithmetic (%s): right %" PRIu64 ", undecided (ties, zeros) %" PRIu64
           "\n",
           balls_version(), run->balls_right, run->balls_undecided);
}

static void print_totals(const audit_run *run, double seconds)
{
    ln_reference_counts counts = ln_reference_count(run->reference);
    printf("%" PRIu64 " elements in %" PRIu64 " rows checked in %.1f s: %" PRIu64 " wrong\n",
           run->elements, run->rows, seconds, run->wrong);
    for (unsigned type = 0; type < AUDIT_TYPES; type++) {
        printf("%s%s %" PRIu64, type == 0 ? "" : ", ", audit_type_names[type], run->by_type[type]);
    }
    printf("; not finite %" PRIu64 "; enclosures of the quick path checked: %" PRIu64 "\n",
           run->special, run->enclosed);
    if (run->of_long_rows > 0) {
        printf("of them in long rows %" PRIu64 "\n", run->of_long_rows);
    }
    printf("decided in double-double %" PRIu64 ", at the first precision %" PRIu64
           ", at a raised one %" PRIu64 ", by exact comparison %" PRIu64
           ", NaN by definition %" PRIu64 "\n",
           counts.fast, counts.first_try, counts.raised, counts.exact, counts.special);
    print_balls(run);
}

/* Prints one line for each kind of row: for each type, the share of elements that the naive oracle
 * rounds wrongly, and its largest error relative to the row's largest result. */
static void print_naive(const audit_run *run)
{
    printf("\na double-precision oracle with var = sum(x^2) / n - mean^2, on the same rows:\n"
           "share of the elements it rounds wrongly, and its worst max|error| / max|y| of a row\n");
    printf("%-21s", "");
    for (unsigned type = 0; type < AUDIT_TYPES; type++) {
        printf(" %17s", audit_type_names[type]);
    }
    printf("\n");
    for (unsigned kind = 0; kind < run->kinds; kind++) {
        printf("%-21s", run->names[kind]);
        for (unsigned type = 0; type < AUDIT_TYPES; type++) {
            const naive_errors *e = &run->naive[kind][type];
            double share = e->elements > 0 ? (double)e->misrounded / (double)e->elements : 0;
            printf("  %6.2f %% %7.1e", 100 * share, e->norm_max);
        }
        printf("\n");
    }
}

void audit_run_print(const audit_run *run, double seconds)
{
    print_totals(run, seconds);
    print_naive(run);
    printf("\n%s\n", ln_reference_versions());
}

/* ---- The usual oracle ------------------------------------------------------------------------ */

typedef struct statistics {
    double mean, factor, addend; /* y = gamma ((x - mean) factor + addend) + beta */
} statistics;

static statistics take_statistics(const audit_row *row, const audit_values *x)
{
    const ln_convention *c = &row->convention;
    double n = (double)row->hidden, sum = 0, squares = 0;
    for (size_t i = 0; i < row->hidden; i++) {
        double value = audit_load(row->storage, x, i);
        sum += value;
        squares += value * value;
    }
    double mean = sum / n;
    double var = (squares / n - mean * mean) * (n / (n - c->ddof));
    double deviation = sqrt(c->eps_place == LN_EPS_VAR ? var + c->eps : var);
    deviation += c->eps_place == LN_EPS_STD ? c->eps : 0.0;
    return (statistics){mean, 1 / deviation, c->eps_place == LN_EPS_QUOTIENT ? c->eps : 0.0};
}

static double element(const audit_row *row, const statistics *s, const audit_values *x, size_t i)
{
    ln_affine affine = row->convention.affine;
    size_t p = affine == LN_AFFINE_SCALAR ? 0 : i;
    double y = (audit_load(row->storage, x, i) - s->mean) * s->factor + s->addend;
    if (affine != LN_AFFINE_NONE) {
        y *= audit_load(row->param, &row->gamma, p) + (affine == LN_AFFINE_GAMMA1 ? 1.0 : 0.0);
    }
    if (affine != LN_AFFINE_NONE && affine != LN_AFFINE_GAMMA) {
        y += audit_load(row->param, &row->beta, p);
    }
    return y;
}

/* Returns whether value rounds to the right answer in the type, apart from ties. */
static bool rounds_to(ln_type type, double value, double right)
{
    audit_neighbours n = audit_neighbours_of(type, right);
    double low = 0.5 * n.below + 0.5 * n.value, high = 0.5 * n.value + 0.5 * n.above;
    return type == LN_F64 ? value == right : low <= value && value <= high;
}

void naive_errors_add(naive_errors *errors, const audit_row *row, const audit_values *x,
                      const ln_reference_result *result)
{
    statistics s = take_statistics(row, x);
    double largest = 0, size = 0;
    for (size_t i = 0; i < row->hidden; i++) {
        double right = audit_load(row->storage, result->rounded, i), exact = result->exact[i];
        if (!isfinite(right)) {
            continue;
        }
        double y = element(row, &s, x, i);
        errors->elements++;
        errors->misrounded += rounds_to(row->storage, y, right) ? 0 : 1;
        largest = isfinite(y) ? fmax(largest, fabs(y - exact)) : (double)INFINITY;
        size = fmax(size, fabs(exact));
    }
    if (size > 0) {
        errors->norm_max = fmax(errors->norm_max, largest / size);
    }
}
