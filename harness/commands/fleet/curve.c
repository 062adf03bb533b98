/* The worst score as a function of the rows that were tried.
 *
 * Up to one shard's rows: the running worst of each shard, median and 95 % range over the shards.
 * Up to all rows: the worst of m of the n shards, drawn without replacement. Its distribution is
 * known from the order statistics alone: the worst of m is at most the k-th least with probability
 * C(k, m) / C(n, m).
 * Beyond: maxima of many like parts tend to a generalised extreme-value distribution (Coles, "An
 * Introduction to Statistical Modeling of Extreme Values", 2001, ch. 3). It is fitted to the shards'
 * maxima by probability-weighted moments (Hosking, Wallis, Wood, Technometrics 27, 1985, eq. 14 and
 * 15). The range is of predictions: for each of 2000 resamples of the shards the distribution is
 * fitted again and a maximum drawn from it. It holds if rows to come are like those that were tried. */
#include "commands/fleet/fleet.h"
#include "base/allocate.h"
#include "stats/bootstrap.h"
#include "answer/run_view.h"
#include <math.h>
#include <stdlib.h>

enum { LEAST_SHARDS = 20, RESAMPLES = 2000 };

typedef struct curve_point {
    double rows;
    interval_estimate worst;
    const char *source;
} curve_point;

typedef struct fleet_curve {
    curve_point points[64];
    size_t count;
    double *maxima; /* sorted, of complete shards */
    size_t shards;
    double rows; /* of a shard, on average */
} fleet_curve;

/* x = location + scale / shape * (1 - (-log p)^shape) */
typedef struct extreme_values {
    double location, scale, shape;
} extreme_values;

static int ascending(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

/* Of sorted values. */
static double quantile(const double *values, size_t count, double p)
{
    double at = p * (double)(count - 1);
    size_t below = (size_t)at;
    double rest = at - (double)below;
    return below + 1 < count ? values[below] * (1 - rest) + values[below + 1] * rest
                             : values[count - 1];
}

static interval_estimate range_of(double *values, size_t count)
{
    qsort(values, count, sizeof *values, ascending);
    return (interval_estimate){quantile(values, count, 0.5), quantile(values, count, 0.025),
                               quantile(values, count, 0.975)};
}

static void add_point(fleet_curve *curve, double rows, interval_estimate worst, const char *source)
{
    if (curve->count < sizeof curve->points / sizeof *curve->points)
        curve->points[curve->count++] = (curve_point){rows, worst, source};
}

/* The least x with P(worst of m <= x) >= p. */
static double worst_of_m(const fleet_curve *curve, size_t m, double p)
{
    for (size_t k = m; k <= curve->shards; k++) {
        double chance = 1;
        for (size_t j = 0; j < m; j++)
            chance *= (double)(k - j) / (double)(curve->shards - j);
        if (chance >= p)
            return curve->maxima[k - 1];
    }
    return curve->maxima[curve->shards - 1];
}

/* Complete; one of more shards than restarts is empty. */
static bool counts(const known_shard *shard)
{
    return shard->done == shard->restarts && shard->restarts > 0;
}

/* After so many rows of a shard; -1: no climb had ended. */
static double worst_after(const known_shard *shard, double rows)
{
    double worst = -1;
    for (size_t i = 0; i < shard->record_count && (double)shard->records[i].rows <= rows; i++)
        worst = shard->records[i].score;
    return worst;
}

static void within_shards(fleet_curve *curve, const fleet_progress *progress)
{
    double *worst = allocate_zeroed(progress->count, sizeof *worst);
    for (double part = 1.0 / 16; part < 1; part *= 2) {
        size_t count = 0;
        for (size_t i = 0; i < progress->count; i++) {
            const known_shard *shard = &progress->shards[i];
            if (!counts(shard))
                continue;
            worst[count] = worst_after(shard, part * curve->rows);
            if (worst[count] < 0) /* not told for all: not told */
                break;
            count++;
        }
        if (count == curve->shards)
            add_point(curve, part * curve->rows, range_of(worst, count), "measured");
    }
    free(worst);
}

static extreme_values fit(const double *sorted, size_t count)
{
    double n = (double)count, b[3] = {0, 0, 0};
    for (size_t i = 0; i < count; i++) {
        double j = (double)i;
        b[0] += sorted[i] / n;
        b[1] += sorted[i] / n * j / (n - 1);
        b[2] += sorted[i] / n * j / (n - 1) * (j - 1) / (n - 2);
    }
    double c = (2 * b[1] - b[0]) / (3 * b[2] - b[0]) - log(2) / log(3);
    extreme_values found;
    found.shape = 7.8590 * c + 2.9554 * c * c;
    double gamma = tgamma(1 + found.shape);
    found.scale = (2 * b[1] - b[0]) * found.shape / (gamma * (1 - pow(2, -found.shape)));
    found.location = b[0] + found.scale * (gamma - 1) / found.shape;
    return found;
}

/* What the worst of m parts is below with probability p. */
static double worst_of_parts(extreme_values of, double m, double p)
{
    return of.location + of.scale / of.shape * (1 - pow(-log(p) / m, of.shape));
}

static void beyond_shards(fleet_curve *curve)
{
    size_t n = curve->shards;
    double *drawn = allocate_zeroed(n, sizeof *drawn),
           *worst = allocate_zeroed(RESAMPLES, sizeof *worst);
    extreme_values fitted = fit(curve->maxima, n);
    for (double times = 10; times <= 1000; times *= 10) {
        random_stream random = random_stream_seeded(1);
        double m = times * (double)n;
        for (size_t r = 0; r < RESAMPLES; r++) {
            for (size_t i = 0; i < n; i++)
                drawn[i] = curve->maxima[random_stream_below(&random, n)];
            qsort(drawn, n, sizeof *drawn, ascending);
            double p = ((double)random_stream_below(&random, 1 << 30) + 0.5) / (1 << 30);
            double predicted = worst_of_parts(fit(drawn, n), m, p);
            /* What was found is found. */
            worst[r] = predicted > curve->maxima[n - 1] ? predicted : curve->maxima[n - 1];
        }
        interval_estimate range = range_of(worst, RESAMPLES);
        range.middle = fmax(worst_of_parts(fitted, m, 0.5), curve->maxima[n - 1]);
        add_point(curve, m * curve->rows, range, "extrapolated");
    }
    free(drawn);
    free(worst);
}

static bool make_curve(const fleet_progress *progress, fleet_curve *curve, error *err)
{
    curve->maxima = allocate_zeroed(progress->count + 1, sizeof *curve->maxima);
    for (size_t i = 0; i < progress->count; i++) {
        const known_shard *shard = &progress->shards[i];
        if (!counts(shard))
            continue;
        if (shard->worst < 0)
            return fail(err, EXIT_CODE_USAGE, "--curve: a shard has no find: make shards larger");
        if (!isfinite(shard->worst))
            return fail(err, EXIT_CODE_USAGE,
                        "--curve: a find is a failure or a wrong class: there is no worse");
        curve->maxima[curve->shards++] = shard->worst;
        curve->rows += (double)shard->rows;
    }
    if (curve->shards < LEAST_SHARDS)
        return fail(err, EXIT_CODE_USAGE, "--curve: %zu shards are complete; it takes %d",
                    curve->shards, LEAST_SHARDS);
    curve->rows /= (double)curve->shards;
    qsort(curve->maxima, curve->shards, sizeof *curve->maxima, ascending);
    within_shards(curve, progress);
    for (size_t m = 1;; m = m * 2 < curve->shards ? m * 2 : curve->shards) {
        add_point(curve, (double)m * curve->rows,
                  (interval_estimate){worst_of_m(curve, m, 0.5), worst_of_m(curve, m, 0.025),
                                      worst_of_m(curve, m, 0.975)},
                  "measured");
        if (m == curve->shards)
            break;
    }
    if (curve->maxima[0] != curve->maxima[curve->shards - 1])
        beyond_shards(curve);
    return true;
}

bool fleet_curve_print(const fleet_progress *progress, const output_file *printed, error *err)
{
    static const char *const headings[] = {"rows", "worst", "from", "to", "source"};
    fleet_curve curve = {0};
    bool fine = make_curve(progress, &curve, err);
    text_table *table = fine ? table_create(headings, sizeof headings / sizeof *headings) : NULL;
    json_t *array = fine && printed->format == OUTPUT_JSON ? json_array() : NULL;
    for (size_t i = 0; i < curve.count; i++) {
        const curve_point *point = &curve.points[i];
        table_format(table, "%.3g", point->rows);
        table_format(table, "%.4g", point->worst.middle);
        table_format(table, "%.4g", point->worst.lo);
        table_format(table, "%.4g", point->worst.hi);
        table_cell(table, point->source);
        if (array)
            json_array_append_new(array,
                                  json_pack("{s:f, s:o, s:o, s:o, s:s}", "rows", point->rows,
                                            "worst", json_figure(point->worst.middle), "from",
                                            json_figure(point->worst.lo), "to",
                                            json_figure(point->worst.hi), "source", point->source));
    }
    if (array) {
        table_destroy(table);
        fine = output_json(printed, array, err);
    } else {
        fine = fine && output_table(printed, table, err);
    }
    free(curve.maxima);
    return fine;
}
