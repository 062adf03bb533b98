/* Audits the certified reference on random elements, or times it.
 *
 *     reference_audit [--elements N] [--seed S]     exit 0: every element and row is right
 *     reference_audit --speed                       certified elements per second, hidden 768
 */
#include "audit.h"
#include "audit_rows.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { EXIT_WRONG = 5, EXIT_USAGE = 2, EXIT_MEMORY = 7 };

typedef struct totals {
    uint64_t elements, rows, by_kind[AUDIT_KINDS], wrong;
} totals;

static double seconds_now(void)
{
    struct timespec now;
    timespec_get(&now, TIME_UTC);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void report_wrong(const audit_row *row, size_t i, const float *x,
                         const ln_reference_result *result, const char *what, unsigned kind)
{
    const ln_convention *c = &row->convention;
    fprintf(stderr,
            "wrong %s: %s row, hidden %zu, ddof %d, eps %a at place %d, affine %d, element %zu: "
            "x %a gamma %a beta %a gave %a (%a)\n",
            what, audit_kind_names[kind], row->hidden, c->ddof, c->eps, (int)c->eps_place,
            (int)c->affine, i, (double)x[i], (double)row->gamma[i], (double)row->beta[i],
            (double)result->rounded[i], result->exact[i]);
}

/* Audits one row; false when memory runs out. */
static bool audit_one(audit *audit, ln_reference *reference, const audit_row *row, unsigned kind,
                      totals *totals)
{
    float rounded[AUDIT_MAX_HIDDEN], sum[AUDIT_MAX_HIDDEN];
    double exact[AUDIT_MAX_HIDDEN];
    ln_reference_result result = {.rounded = rounded, .exact = exact};
    if (!ln_reference_row(reference, &row->convention, row->hidden, row->x,
                          row->has_residual ? row->residual : NULL, row->gamma, row->beta,
                          &result)) {
        return false;
    }
    const float *x = row->x;
    for (size_t i = 0; row->has_residual && i < row->hidden; i++) {
        sum[i] = row->x[i] + row->residual[i];
        if (!audit_accepts_sum(audit, row->x[i], row->residual[i], sum[i])) {
            report_wrong(row, i, row->x, &result, "sum with the residual", kind);
            totals->wrong++;
        }
        x = sum;
    }
    audit_take(audit, &row->convention, row->hidden, x);
    if (!audit_accepts_row(audit, &result)) {
        report_wrong(row, 0, x, &result, "fact of the row", kind);
        totals->wrong++;
    }
    bool scalar = row->convention.affine == LN_AFFINE_SCALAR;
    for (size_t i = 0; i < row->hidden; i++) {
        size_t p = scalar ? 0 : i;
        if (!audit_accepts(audit, x[i], row->gamma[p], row->beta[p], rounded[i], exact[i])) {
            report_wrong(row, i, x, &result, "element", kind);
            totals->wrong++;
        }
    }
    totals->rows++;
    totals->elements += row->hidden;
    totals->by_kind[kind] += row->hidden;
    return true;
}

static void print_totals(const totals *totals, const ln_reference *reference, double seconds)
{
    ln_reference_counts counts = ln_reference_count(reference);
    printf("%" PRIu64 " elements in %" PRIu64 " rows checked in %.1f s: %" PRIu64 " wrong\n",
           totals->elements, totals->rows, seconds, totals->wrong);
    printf("decided in double-double %" PRIu64 ", at the first precision %" PRIu64
           ", at a raised one %" PRIu64 ", by exact comparison %" PRIu64
           ", NaN by definition %" PRIu64 "\n",
           counts.fast, counts.first_try, counts.raised, counts.exact, counts.special);
    for (unsigned kind = 0; kind < AUDIT_KINDS; kind++) {
        printf("  %-14s %" PRIu64 "\n", audit_kind_names[kind], totals->by_kind[kind]);
    }
    printf("%s\n", ln_reference_versions());
}

static int run_audit(uint64_t elements, uint64_t seed)
{
    static audit_row row;
    totals totals = {0};
    unsigned long long state = seed;
    audit *audit = audit_create();
    ln_reference *reference = ln_reference_create();
    bool done = audit != NULL && reference != NULL;
    double start = seconds_now();
    for (unsigned kind = 0; done && totals.elements < elements; kind = (kind + 1) % AUDIT_KINDS) {
        audit_row_draw(&row, kind, &state);
        done = audit_one(audit, reference, &row, kind, &totals);
    }
    if (done) {
        printf("seed %" PRIu64 "\n", seed);
        print_totals(&totals, reference, seconds_now() - start);
    } else {
        fprintf(stderr, "reference_audit: out of memory\n");
    }
    ln_reference_destroy(reference);
    audit_destroy(audit);
    return !done ? EXIT_MEMORY : totals.wrong > 0 ? EXIT_WRONG : 0;
}

static int run_speed(void)
{
    enum { HIDDEN = 768, ROWS = 1000 };
    static float x[HIDDEN], gamma[HIDDEN], beta[HIDDEN], rounded[HIDDEN];
    static double exact[HIDDEN];
    unsigned long long state = 1;
    ln_reference_result result = {.rounded = rounded, .exact = exact};
    ln_reference *reference = ln_reference_create();
    if (reference == NULL) {
        return EXIT_MEMORY;
    }
    double best = 1e300;
    for (int repetition = 0; repetition < 5; repetition++) {
        double spent = 0;
        for (int r = 0; r < ROWS; r++) {
            for (int i = 0; i < HIDDEN; i++) {
                x[i] = (float)(audit_random(&state) >> 40) * 0x1p-22f - 2.0f;
                gamma[i] = (float)(audit_random(&state) >> 40) * 0x1p-24f + 0.5f;
                beta[i] = (float)(audit_random(&state) >> 40) * 0x1p-24f - 0.5f;
            }
            double start = seconds_now();
            ln_reference_row(reference, &audit_presets[0], HIDDEN, x, NULL, gamma, beta, &result);
            spent += seconds_now() - start;
        }
        best = spent < best ? spent : best;
    }
    printf("%.2f million certified elements/s at hidden 768 (best of 5 times %d rows)\n",
           1e-6 * HIDDEN * ROWS / best, (int)ROWS);
    ln_reference_destroy(reference);
    return 0;
}

static bool read_count(const char *text, uint64_t *value)
{
    char *end;
    errno = 0;
    unsigned long long read = strtoull(text, &end, 10);
    *value = read;
    return text[0] >= '0' && text[0] <= '9' && *end == '\0' && errno == 0;
}

int main(int argc, char **argv)
{
    uint64_t elements = 100000, seed = 1;
    for (int i = 1; i < argc; i++) {
        bool has_value = i + 1 < argc;
        if (strcmp(argv[i], "--speed") == 0) {
            return run_speed();
        }
        if (has_value && strcmp(argv[i], "--elements") == 0 && read_count(argv[i + 1], &elements)) {
            i++;
        } else if (has_value && strcmp(argv[i], "--seed") == 0 && read_count(argv[i + 1], &seed)) {
            i++;
        } else {
            fprintf(stderr, "usage: reference_audit [--elements N] [--seed S] | --speed\n");
            return EXIT_USAGE;
        }
    }
    return run_audit(elements, seed);
}
