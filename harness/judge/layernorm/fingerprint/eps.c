/* An eps of no common size, fitted to the data.
 *
 * Every element's exact answer is a monotone function of eps, so its distance from y is
 * quasi-convex, and so is the largest distance over all elements: it falls, and then it rises. Its
 * least value is looked for on a grid of eighths of a decade and then by golden section, the range
 * of eps that does as well by bisection. */
#include "judge/layernorm/fingerprint/internal.h"
#include "base/number.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { GRID_A_DECADE = 8, FIRST_DECADE = -18, LAST_DECADE = 6, SAMPLE = 8192 };

typedef struct eps_fit {
    const fingerprint_rows *rows;
    ln_convention convention;
    size_t row_step, column_step;
} eps_fit;

/* At 10^decades. Elements of the wrong class outweigh everything. */
static double objective(eps_fit *fit, double decades)
{
    fit->convention.eps = pow(10, decades);
    fingerprint_distance found =
        fingerprint_measure(fit->rows, &fit->convention, fit->row_step, fit->column_step);
    double distance = fingerprint_printed(fit->rows->input) ? found.excess : found.row_ulp_max;
    return distance + 1e30 * (double)found.mismatches;
}

static double golden_section(eps_fit *fit, double low, double high)
{
    const double ratio = 0.5 * (sqrt(5) - 1);
    double a = high - ratio * (high - low), b = low + ratio * (high - low);
    double at_a = objective(fit, a), at_b = objective(fit, b);
    for (int step = 0; step < 60; step++) {
        if (at_a < at_b) {
            high = b;
            b = a;
            at_b = at_a;
            a = high - ratio * (high - low);
            at_a = objective(fit, a);
        } else {
            low = a;
            a = b;
            at_a = at_b;
            b = low + ratio * (high - low);
            at_b = objective(fit, b);
        }
    }
    return at_a < at_b ? a : b;
}

/* The end of the stretch with objective <= limit, between one that is within and one beyond. */
static double end_of(eps_fit *fit, double within, double beyond, double limit)
{
    for (int step = 0; step < 60; step++) {
        double middle = 0.5 * (within + beyond);
        if (objective(fit, middle) <= limit)
            within = middle;
        else
            beyond = middle;
    }
    return within;
}

/* The decimal with the fewest digits within [low, high], of these the nearest to the middle. */
static double shortest_decimal(double low, double high)
{
    double middle = sqrt(low * high);
    for (int digits = 1; digits < 17; digits++) {
        double unit = pow(10, floor(log10(high)) - (digits - 1));
        double first = ceil(low / unit), last = floor(high / unit);
        if (!(first <= last) || last < 1)
            continue;
        double multiple = fmin(last, fmax(first, nearbyint(middle / unit)));
        char written[48];
        snprintf(written, sizeof written, "%.0fe%d", multiple, (int)lrint(log10(unit)));
        double best = number_read(written, NULL);
        if (best > 0)
            return best;
    }
    return middle;
}

/* Not more than SAMPLE elements (or one row's and one column's worth) take part in the search. */
static void sample(eps_fit *fit)
{
    const fingerprint_input *input = fit->rows->input;
    fit->column_step = 1 + (input->hidden - 1) / SAMPLE;
    size_t columns = 1 + (input->hidden - 1) / fit->column_step;
    fit->row_step = 1 + input->rows * columns / SAMPLE;
}

void fingerprint_eps_range(const fingerprint_rows *rows, const ln_convention *convention,
                           double limit, double *low, double *high)
{
    eps_fit fit = {.rows = rows, .convention = *convention};
    double own = log10(convention->eps);
    sample(&fit);
    *low = pow(10, end_of(&fit, own, FIRST_DECADE, limit));
    *high = pow(10, end_of(&fit, own, LAST_DECADE, limit));
}

bool fingerprint_fit_eps(const fingerprint_rows *rows, fingerprint_candidate *candidate)
{
    eps_fit fit = {.rows = rows, .convention = candidate->convention};
    enum { GRID = GRID_A_DECADE * (LAST_DECADE - FIRST_DECADE) };
    double least = INFINITY, at[GRID + 1];
    int where = 0;
    sample(&fit);
    for (int i = 0; i <= GRID; i++) {
        at[i] = objective(&fit, FIRST_DECADE + (double)i / GRID_A_DECADE);
        if (at[i] < least) {
            least = at[i];
            where = i;
        }
    }
    /* Best at an end: no eps, or one beyond all sense. */
    if (where == 0 || where == GRID || !(least < at[0]) || !(least < at[GRID]))
        return false;
    const double step = 1.0 / GRID_A_DECADE, grid = FIRST_DECADE + where * step;
    double best = golden_section(&fit, grid - step, grid + step);
    least = objective(&fit, best);
    double limit = fingerprint_printed(rows->input) ? fmax(1, least) : 1.1 * least + 0x1p-25;
    double low = end_of(&fit, best, FIRST_DECADE, limit);
    double high = end_of(&fit, best, LAST_DECADE, limit);
    candidate->eps_low = pow(10, low);
    candidate->eps_high = pow(10, high);
    candidate->convention.eps = shortest_decimal(candidate->eps_low, candidate->eps_high);
    candidate->estimated = true;
    return true;
}
