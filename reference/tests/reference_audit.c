/* Audits the certified reference on random elements, or times it.
 *
 *     reference_audit [--elements N] [--seed S]     exit 0: every element and row is right
 *     reference_audit --gradients [--elements N]    the same of dx, dgamma and dbeta
 *     reference_audit --rms [--elements N]          the same of RMSNorm
 *     reference_audit --speed                       certified elements per second, hidden 768
 *     reference_audit --speed --threads 2           what two threads do beside one
 *
 * On the same rows it shows how wrong a double-precision sum(x^2) / n - mean^2 oracle is.
 */
#include "audit_gradients.h"
#include "audit_rms.h"
#include "audit_rows.h"
#include "audit_run.h"
#include "audit_types.h"
#include "certify/reference.h"
#include "speed.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { EXIT_WRONG = 5, EXIT_USAGE = 2, EXIT_MEMORY = 7 };

static double seconds_now(void)
{
    struct timespec now;
    timespec_get(&now, TIME_UTC);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

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
    printf("dx %" PRIu64 ", dgamma %" PRIu64 ", dbeta %" PRIu64
           "; of these NaN by definition %" PRIu64
           "\nsigns of a sum of several roots not told within 2^-4096 (zeros, ties): %" PRIu64 "\n",
           counts.dx, counts.dgamma, counts.dbeta, counts.undefined, counts.untold);
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
