/* Audits the certified reference on random elements, or times it.
 *
 *     reference_audit [--elements N] [--seed S]     exit 0: every element and row is right
 *     reference_audit --gradients [--elements N]    the same of dx, dgamma and dbeta
 *     reference_audit --speed                       certified elements per second, hidden 768
 *     reference_audit --speed --threads 2           what two threads do beside one
 *
 * On the same rows it shows how wrong a double-precision sum(x^2) / n - mean^2 oracle is.
 */
#include "audit.h"
#include "audit_gradients.h"
#include "audit_rows.h"
#include "audit_types.h"
#include "balls.h"
#include "certify.h"
#include "naive_oracle.h"
#include "speed.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { EXIT_WRONG = 5, EXIT_USAGE = 2, EXIT_MEMORY = 7 };

typedef struct run {
    audit *audit;
    balls *balls; /* NULL where this was built without Arb */
    ln_reference *reference;
    certifier certifier; /* for the quick path's enclosures */
    audit_row row;
    audit_values x; /* what was normalised: row.x, or with the residual */
    audit_values rounded;
    double exact[AUDIT_MAX_HIDDEN], rest[AUDIT_MAX_HIDDEN];
    ln_reference_typed result;
    unsigned kind;
    uint64_t elements, rows, wrong, enclosed;
    uint64_t balls_right, balls_undecided;
    uint64_t by_type[AUDIT_TYPES];
    naive_errors naive[AUDIT_KINDS][AUDIT_TYPES];
} run;

static double seconds_now(void)
{
    struct timespec now;
    timespec_get(&now, TIME_UTC);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static double parameter(const run *run, const audit_values *values, size_t i)
{
    bool scalar = run->row.convention.affine == LN_AFFINE_SCALAR;
    return audit_load(run->row.param, values, scalar ? 0 : i);
}

static void report_wrong(run *run, size_t i, const char *what)
{
    const ln_convention *c = &run->row.convention;
    run->wrong++;
    fprintf(stderr,
            "wrong %s: %s row of %s (parameters %s), hidden %zu, ddof %d, eps %a at place %d, "
            "affine %d, element %zu: x %a gamma %a beta %a gave %a (%a)\n",
            what, audit_kind_names[run->kind], audit_type_names[run->row.storage],
            audit_type_names[run->row.param], run->row.hidden, c->ddof, c->eps, (int)c->eps_place,
            (int)c->affine, i, audit_load(run->row.storage, &run->x, i),
            parameter(run, &run->row.gamma, i), parameter(run, &run->row.beta, i),
            audit_load(run->row.storage, &run->rounded, i), run->exact[i]);
}

/* x + residual in run->x, itself a claim: the sum in double (in f64 and f32 rounded once, in the
 * others twice) rounded to nearest, ties to even. */
static void add_residual(run *run)
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

/* Whether every element lies where the quick path's bound says. */
static void audit_enclosures(run *run)
{
    certifier *certifier = &run->certifier;
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
    bool has_gamma = row->convention.affine != LN_AFFINE_NONE;
    bool has_beta = has_gamma && row->convention.affine != LN_AFFINE_GAMMA;
    for (size_t i = 0; certifier->fast.usable && i < row->hidden; i++) {
        double gamma = has_gamma ? parameter(run, &row->gamma, i) : 1.0;
        double beta = has_beta ? parameter(run, &row->beta, i) : 0.0;
        if (fabs(gamma) > 0x1p300 || fabs(beta) > 0x1p300) {
            continue;
        }
        fast_interval interval = fast_row_enclose(&certifier->fast, (double)x[i], gamma, beta);
        run->enclosed++;
        if (!audit_encloses(run->audit, (double)x[i], gamma, beta, interval)) {
            report_wrong(run, i, "enclosure of the quick path");
        }
    }
}

/* The third voice, on a row that has xhat. */
static void hear_balls(run *run, size_t i, audit_claim claim)
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

static void audit_elements(run *run)
{
    const audit_row *row = &run->row;
    bool has_balls = run->balls != NULL && audit_is_defined(run->audit);
    if (has_balls) {
        balls_take(run->balls, &row->convention, row->hidden, row->storage, &run->x);
    }
    for (size_t i = 0; i < row->hidden; i++) {
        audit_claim claim = {audit_load(row->storage, &run->rounded, i), run->exact[i],
                             run->rest[i]};
        if (!audit_accepts(run->audit, audit_load(row->storage, &run->x, i),
                           parameter(run, &row->gamma, i), parameter(run, &row->beta, i), claim)) {
            report_wrong(run, i, "element");
        }
        if (has_balls) {
            hear_balls(run, i, claim);
        }
    }
}

/* Audits one row; false when memory runs out. */
static bool audit_one(run *run)
{
    const audit_row *row = &run->row;
    if (!ln_reference_row_typed(run->reference, &row->convention, row->storage, row->param,
                                row->hidden, &row->x, row->has_residual ? &row->residual : NULL,
                                &row->gamma, &row->beta, &run->result)) {
        return false;
    }
    run->x = row->x;
    if (row->has_residual) {
        add_residual(run);
    }
    audit_take(run->audit, &row->convention, row->hidden, row->storage, &run->x);
    if (!audit_accepts_row(run->audit, &run->result)) {
        report_wrong(run, 0, "fact of the row");
    }
    audit_elements(run);
    if (row->storage != LN_F64) {
        audit_enclosures(run);
    }
    naive_errors_add(&run->naive[run->kind][row->storage], row, &run->x, &run->result);
    run->rows++;
    run->elements += row->hidden;
    run->by_type[row->storage] += row->hidden;
    return true;
}

static void print_balls(const run *run)
{
    if (run->balls == NULL) {
        printf("third voice, ball arithmetic: skipped, built without Arb (libflint-arb-dev)\n");
        return;
    }
    printf("third voice, ball arithmetic (%s): right %" PRIu64 ", not told (ties, zeros) %" PRIu64
           "\n",
           balls_version(), run->balls_right, run->balls_undecided);
}

static void print_totals(const run *run, double seconds)
{
    ln_reference_counts counts = ln_reference_count(run->reference);
    printf("%" PRIu64 " elements in %" PRIu64 " rows checked in %.1f s: %" PRIu64 " wrong\n",
           run->elements, run->rows, seconds, run->wrong);
    for (unsigned type = 0; type < AUDIT_TYPES; type++) {
        printf("%s%s %" PRIu64, type == 0 ? "" : ", ", audit_type_names[type], run->by_type[type]);
    }
    printf("; enclosures of the quick path checked: %" PRIu64 "\n", run->enclosed);
    printf("decided in double-double %" PRIu64 ", at the first precision %" PRIu64
           ", at a raised one %" PRIu64 ", by exact comparison %" PRIu64
           ", NaN by definition %" PRIu64 "\n",
           counts.fast, counts.first_try, counts.raised, counts.exact, counts.special);
    print_balls(run);
}

/* One line a kind of row: of each type, what share of the elements the naive oracle would have
 * rounded wrongly, and its worst error relative to the row's largest result. */
static void print_naive(const run *run)
{
    printf("\na double-precision oracle with var = sum(x^2) / n - mean^2, on the same rows:\n"
           "share of the elements it rounds wrongly, and its worst max|error| / max|y| of a row\n");
    printf("%-14s", "");
    for (unsigned type = 0; type < AUDIT_TYPES; type++) {
        printf(" %17s", audit_type_names[type]);
    }
    printf("\n");
    for (unsigned kind = 0; kind < AUDIT_KINDS; kind++) {
        printf("%-14s", audit_kind_names[kind]);
        for (unsigned type = 0; type < AUDIT_TYPES; type++) {
            const naive_errors *e = &run->naive[kind][type];
            double share = e->elements > 0 ? (double)e->misrounded / (double)e->elements : 0;
            printf("  %6.2f %% %7.1e", 100 * share, e->norm_max);
        }
        printf("\n");
    }
}

static void draw_row(run *run, unsigned long long *state)
{
    unsigned draw = (unsigned)(audit_random(state) % (3 * AUDIT_TYPES));
    run->row.storage = (ln_type)((run->rows / AUDIT_KINDS) % AUDIT_TYPES);
    run->row.param = draw < AUDIT_TYPES ? (ln_type)draw : run->row.storage;
    run->kind = (unsigned)(run->rows % AUDIT_KINDS);
    audit_row_draw(&run->row, run->kind, state);
}

static int run_audit(uint64_t elements, uint64_t seed)
{
    run *run = calloc(1, sizeof *run);
    if (run == NULL) {
        return EXIT_MEMORY;
    }
    unsigned long long state = seed;
    run->audit = audit_create();
    run->balls = balls_create();
    run->reference = ln_reference_create();
    certifier_init(&run->certifier);
    run->result =
        (ln_reference_typed){.rounded = &run->rounded, .exact = run->exact, .rest = run->rest};
    bool has_balls = run->balls != NULL || balls_version() == NULL;
    bool done = run->audit != NULL && run->reference != NULL && has_balls;
    double start = seconds_now();
    while (done && run->elements < elements) {
        draw_row(run, &state);
        done = audit_one(run);
    }
    if (done) {
        printf("seed %" PRIu64 "\n", seed);
        print_totals(run, seconds_now() - start);
        print_naive(run);
        printf("\n%s\n", ln_reference_versions());
    } else {
        fprintf(stderr, "reference_audit: out of memory\n");
    }
    int code = !done ? EXIT_MEMORY : run->wrong > 0 ? EXIT_WRONG : 0;
    certifier_clear(&run->certifier);
    ln_reference_destroy(run->reference);
    balls_destroy(run->balls);
    audit_destroy(run->audit);
    free(run);
    return code;
}

static bool read_count(const char *text, uint64_t *value)
{
    char *end;
    errno = 0;
    unsigned long long read = strtoull(text, &end, 10);
    *value = read;
    return text[0] >= '0' && text[0] <= '9' && *end == '\0' && errno == 0;
}

typedef struct options {
    uint64_t elements, seed, threads;
    bool speed, gradients;
} options;

static bool read_options(int argc, char **argv, options *options)
{
    const struct {
        const char *name;
        uint64_t *value;
    } counts[] = {{"--elements", &options->elements},
                  {"--seed", &options->seed},
                  {"--threads", &options->threads}};
    enum { COUNTS = sizeof counts / sizeof counts[0] };
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--speed") == 0) {
            options->speed = true;
            continue;
        }
        if (strcmp(argv[i], "--gradients") == 0) {
            options->gradients = true;
            continue;
        }
        size_t which = 0;
        while (which < COUNTS && strcmp(argv[i], counts[which].name) != 0) {
            which++;
        }
        if (which == COUNTS || ++i == argc || !read_count(argv[i], counts[which].value)) {
            return false;
        }
    }
    bool has_threads = options->threads != 1;
    return options->threads >= 1 && options->threads <= SPEED_MOST_THREADS &&
           (options->speed || !has_threads) && !(options->speed && options->gradients);
}

static int run_gradients(uint64_t elements, uint64_t seed)
{
    gradient_counts counts;
    double start = seconds_now();
    if (!audit_gradients(elements, seed, &counts)) {
        fprintf(stderr, "reference_audit: out of memory\n");
        return EXIT_MEMORY;
    }
    uint64_t all = counts.dx + counts.dgamma + counts.dbeta;
    printf("seed %" PRIu64 "\n", seed);
    printf("%" PRIu64 " gradients checked in %.1f s: %" PRIu64 " wrong\n", all,
           seconds_now() - start, counts.wrong);
    printf("dx %" PRIu64 ", dgamma %" PRIu64 ", dbeta %" PRIu64
           "; of these NaN by definition %" PRIu64
           "\nsigns of a sum of several roots not told within 2^-4096 (zeros, ties): %" PRIu64 "\n",
           counts.dx, counts.dgamma, counts.dbeta, counts.undefined, counts.untold);
    printf("\n%s\n", ln_reference_versions());
    return counts.wrong > 0 ? EXIT_WRONG : 0;
}

static int run_speed(unsigned threads)
{
    if (threads == 1 ? speed_print() : speed_print_threads(threads)) {
        return 0;
    }
    fprintf(stderr, "reference_audit: out of memory or threads\n");
    return EXIT_MEMORY;
}

int main(int argc, char **argv)
{
    options options = {.elements = 100000, .seed = 1, .threads = 1};
    if (!read_options(argc, argv, &options)) {
        fprintf(stderr,
                "usage: reference_audit [--gradients] [--elements N] [--seed S] | --speed "
                "[--threads 1..%d]\n",
                (int)SPEED_MOST_THREADS);
        return EXIT_USAGE;
    }
    if (options.gradients) {
        return run_gradients(options.elements, options.seed);
    }
    return options.speed ? run_speed((unsigned)options.threads)
                         : run_audit(options.elements, options.seed);
}
