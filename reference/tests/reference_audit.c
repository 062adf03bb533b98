/* Audits the certified reference on random elements, or times it.
 *
 *     reference_audit [--elements N] [--seed S]     exit 0: every element and row is right
 *     reference_audit --gradients [--elements N]    the same of dx, dgamma and dbeta
 *     reference_audit --rms [--elements N]          the same of RMSNorm
 *     reference_audit --speed                       certified elements per second, hidden 768
 *     reference_audit --speed --threads 2           compares two threads with one
 *
 * On the same rows it measures the errors of a double-precision oracle with sum(x^2) / n - mean^2. */
#include "audit.h"
#include "certify/reference.h"
#include "certify/rms_row.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- How fast the certified reference is ----------------------------------------------------- */

enum { SPEED_MOST_THREADS = 64 };

static double seconds_now(void)
{
    struct timespec now;
    timespec_get(&now, TIME_UTC);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

enum { HIDDEN = 768, VARIETY = 16, ROWS = 2000, REPETITIONS = 5, PAIRS = 15 };

/* The data of one thread: rows of one type, and parameters, uniform in [-2, 2), [1/2, 3/2),
 * [-1/2, 1/2). The arrays of doubles have room for any type. */
typedef struct workplace {
    ln_reference *reference;
    ln_type type;
    bool rms;  /* RMSNorm, as PyTorch has it */
    bool done; /* its last work */
    double x[VARIETY][HIDDEN], gamma[HIDDEN], beta[HIDDEN];
    double rounded[HIDDEN], exact[HIDDEN], rest[HIDDEN];
} workplace;

static workplace *workplace_create(void)
{
    workplace *place = calloc(1, sizeof *place);
    if (place != NULL && (place->reference = ln_reference_create()) == NULL) {
        free(place);
        return NULL;
    }
    return place;
}

static void workplace_destroy(workplace *place)
{
    if (place != NULL) {
        ln_reference_destroy(place->reference);
        free(place);
    }
}

static void draw_rows(workplace *place, ln_type type)
{
    unsigned long long state = 1;
    place->type = type;
    for (size_t i = 0; i < HIDDEN; i++) {
        for (size_t r = 0; r < VARIETY; r++) {
            audit_store(type, place->x[r], i, (double)(audit_random(&state) >> 11) * 0x1p-51 - 2);
        }
        audit_store(type, place->gamma, i, (double)(audit_random(&state) >> 11) * 0x1p-53 + 0.5);
        audit_store(type, place->beta, i, (double)(audit_random(&state) >> 11) * 0x1p-53 - 0.5);
    }
}

/* Computes ROWS rows of the current type. */
static bool work(workplace *place)
{
    static const ln_convention torch_rms = {.operation = LN_OPERATION_RMSNORM,
                                            .eps_place = LN_EPS_VAR,
                                            .eps = 0x1p-23,
                                            .weight = LN_RMS_WEIGHT};
    ln_reference_result result = {
        .rounded = place->rounded, .exact = place->exact, .rest = place->rest};
    for (size_t r = 0; r < ROWS; r++) {
        const void *x = place->x[r % VARIETY];
        bool done =
            place->rms
                ? ln_rms_reference_row(place->reference, &torch_rms, place->type, place->type,
                                       HIDDEN, x, NULL, place->gamma, &result)
                : ln_reference_row(place->reference, &audit_presets[0], place->type, place->type,
                                   HIDDEN, x, NULL, place->gamma, place->beta, &result);
        if (!done) {
            return false;
        }
    }
    return true;
}

/* Returns the processor seconds for ROWS rows of this type, the best of REPETITIONS; infinite if memory runs out. */
static double time_type(workplace *place, ln_type type)
{
    double best = (double)INFINITY;
    draw_rows(place, type);
    for (int repetition = 0; repetition < REPETITIONS; repetition++) {
        clock_t start = clock();
        if (!work(place)) {
            return (double)INFINITY;
        }
        double spent = (double)(clock() - start) / CLOCKS_PER_SEC;
        best = spent < best ? spent : best;
    }
    return best;
}

static bool speed_print(void)
{
    workplace *place = workplace_create();
    bool done = place != NULL;
    for (unsigned i = 0; done && i < 2 * AUDIT_TYPES; i++) {
        unsigned type = i % AUDIT_TYPES;
        place->rms = i >= AUDIT_TYPES;
        double seconds = time_type(place, (ln_type)type);
        done = isfinite(seconds);
        if (done) {
            printf("%-9s %-4s %6.2f million certified elements a processor second at hidden 768 "
                   "(best of %d times %d rows)\n",
                   place->rms ? "rmsnorm" : "layernorm", audit_type_names[type],
                   1e-6 * HIDDEN * ROWS / seconds, (int)REPETITIONS, (int)ROWS);
        }
    }
    workplace_destroy(place);
    return done;
}

static void *run_worker(void *argument)
{
    workplace *place = argument;
    place->done = work(place);
    return NULL;
}

/* Returns the elapsed seconds until each of the first `count` workers, one of which is this thread, has computed its
 * ROWS rows; NaN if one could not. Creating a thread takes about 0.1 ms, the rows at least 20 ms. */
static double time_workers(workplace **places, unsigned count)
{
    pthread_t threads[SPEED_MOST_THREADS];
    unsigned made = 1;
    double start = seconds_now();
    while (made < count && pthread_create(&threads[made], NULL, run_worker, places[made]) == 0) {
        made++;
    }
    bool done = made == count;
    run_worker(places[0]);
    done = done && places[0]->done;
    for (unsigned i = 1; i < made; i++) {
        done = pthread_join(threads[i], NULL) == 0 && done && places[i]->done;
    }
    return done ? seconds_now() - start : (double)NAN;
}

static int compare_doubles(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

/* Alternates between both, so that other work of the machine affects both. */
static bool print_scaling(workplace **places, unsigned threads, ln_type type)
{
    double scaling[PAIRS], best = (double)INFINITY;
    for (unsigned i = 0; i < threads; i++) {
        draw_rows(places[i], type);
    }
    for (int pair = 0; pair < PAIRS; pair++) {
        double one = time_workers(places, 1), all = time_workers(places, threads);
        if (isnan(one) || isnan(all)) {
            return false;
        }
        scaling[pair] = threads * one / all;
        best = fmin(best, all);
    }
    qsort(scaling, PAIRS, sizeof scaling[0], compare_doubles);
    printf("%-4s %u threads do %.2f times the work of one (median of %d pairs, %.2f to %.2f), at "
           "best %.2f million elements a second\n",
           audit_type_names[type], threads, scaling[PAIRS / 2], (int)PAIRS, scaling[0],
           scaling[PAIRS - 1], 1e-6 * HIDDEN * ROWS * threads / best);
    return true;
}

static bool speed_print_threads(unsigned threads)
{
    workplace *places[SPEED_MOST_THREADS];
    bool done = true;
    for (unsigned i = 0; i < threads; i++) {
        places[i] = workplace_create();
        done = done && places[i] != NULL;
    }
    for (unsigned type = 0; done && type < AUDIT_TYPES; type++) {
        done = print_scaling(places, threads, (ln_type)type);
    }
    for (unsigned i = 0; i < threads; i++) {
        workplace_destroy(places[i]);
    }
    return done;
}

/* ---- The audit ------------------------------------------------------------------------------- */

enum { EXIT_WRONG = 5, EXIT_USAGE = 2, EXIT_MEMORY = 7 };

static void draw_row(audit_row *row, uint64_t number, unsigned long long *state)
{
    unsigned draw = (unsigned)(audit_random(state) % (3 * AUDIT_TYPES));
    row->storage = (ln_type)((number / AUDIT_KINDS) % AUDIT_TYPES);
    row->param = draw < AUDIT_TYPES ? (ln_type)draw : row->storage;
    audit_row_draw(row, (unsigned)(number % AUDIT_KINDS), state);
}

static int run_audit(uint64_t elements, uint64_t seed)
{
    audit_run *run = audit_run_create(audit_kind_names, AUDIT_KINDS);
    unsigned long long state = seed;
    double start = seconds_now();
    bool done = run != NULL;
    for (uint64_t i = 0; done && audit_run_totals(run).elements < elements; i++) {
        draw_row(audit_run_row(run), i, &state);
        done = audit_run_take(run, (unsigned)(i % AUDIT_KINDS));
    }
    int code = !done ? EXIT_MEMORY : audit_run_totals(run).wrong > 0 ? EXIT_WRONG : 0;
    if (done) {
        printf("seed %" PRIu64 "\n", seed);
        audit_run_print(run, seconds_now() - start);
    } else {
        fprintf(stderr, "reference_audit: out of memory\n");
    }
    audit_run_destroy(run);
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

typedef struct audit_options {
    uint64_t elements, seed, threads;
    bool speed, gradients, rms;
} audit_options;

static bool read_options(int argc, char **argv, audit_options *options)
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
        if (strcmp(argv[i], "--rms") == 0) {
            options->rms = true;
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
           (options->speed || !has_threads) &&
           options->speed + options->gradients + options->rms <= 1;
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
    printf(
        "dx %" PRIu64 ", dgamma %" PRIu64 ", dbeta %" PRIu64 "; of these NaN by definition %" PRIu64
        "\nsigns of a sum of several roots undecided within 2^-4096 (zeros, ties): %" PRIu64 "\n",
        counts.dx, counts.dgamma, counts.dbeta, counts.undefined, counts.undecided);
    printf("\n%s\n", ln_reference_versions());
    return counts.wrong > 0 ? EXIT_WRONG : 0;
}

static int run_rms(uint64_t elements, uint64_t seed)
{
    rms_counts counts;
    double start = seconds_now();
    if (!audit_rms(elements, seed, &counts)) {
        fprintf(stderr, "reference_audit: out of memory\n");
        return EXIT_MEMORY;
    }
    printf("seed %" PRIu64 "\n%" PRIu64 " elements checked in %.1f s: %" PRIu64 " wrong\n", seed,
           counts.elements, seconds_now() - start, counts.wrong);
    printf("NaN %" PRIu64 "; with 1 + w rounded %" PRIu64 ", the root %" PRIu64 ", xhat %" PRIu64
           "\n\n%s\n",
           counts.undefined, counts.rounded[0], counts.rounded[1], counts.rounded[2],
           ln_reference_versions());
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
    audit_options options = {.elements = 100000, .seed = 1, .threads = 1};
    if (!read_options(argc, argv, &options)) {
        fprintf(stderr,
                "usage: reference_audit [--gradients | --rms] [--elements N] [--seed S] | --speed "
                "[--threads 1..%d]\n",
                (int)SPEED_MOST_THREADS);
        return EXIT_USAGE;
    }
    if (options.rms) {
        return run_rms(options.elements, options.seed);
    }
    if (options.gradients) {
        return run_gradients(options.elements, options.seed);
    }
    return options.speed ? run_speed((unsigned)options.threads)
                         : run_audit(options.elements, options.seed);
}
