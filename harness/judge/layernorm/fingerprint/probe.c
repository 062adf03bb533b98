/* The rows that would tell the candidates of the first group apart.
 *
 * Rows of +-s in turn have the biased variance s^2 exactly (odd rows, with a 0 at their end,
 * s^2 (N - 1) / N), so a power of two s near an eps, or near its root, is where the places and
 * sizes of eps show. The search takes the scale that tells most pairs apart, then the one that
 * tells most of the rest, and so on. */
#include "judge/layernorm/fingerprint/internal.h"
#include <math.h>
#include <stdlib.h>

enum { FIRST_SCALE = -48, LAST_SCALE = 24, SCALES = LAST_SCALE - FIRST_SCALE + 1 };
enum { MOST_MEMBERS = 64, MOST_COLUMNS = 64 };

/* A pair counts as told apart where it lies this many times what the data resolves. */
static const double clear_margin = 8;

typedef struct probe_pair {
    size_t a, b;
    bool done;
} probe_pair;

float fingerprint_probe_value(const fingerprint_probe *probe, size_t hidden, size_t i)
{
    if (i + 1 == hidden && hidden % 2 == 1)
        return 0;
    return i % 2 == 0 ? probe->scale : -probe->scale;
}

bool fingerprint_fits(const fingerprint *found)
{
    const fingerprint_candidate *best = &found->candidates[0];
    return best->mismatches == 0 &&
           (found->printed ? best->possible : best->row_ulp_max <= found->rounding_reach);
}

/* The probe row as the exact arithmetic sees it: z of an even row is +-1. */
static exact_view view_of(double scale, size_t hidden, double *z)
{
    double share = hidden % 2 == 1 ? (double)(hidden - 1) / (double)hidden : 1;
    double peak = 1 / sqrt(share);
    for (size_t i = 0; i < hidden; i++)
        z[i] = i % 2 == 0 ? peak : -peak;
    if (hidden % 2 == 1)
        z[hidden - 1] = 0;
    return (exact_view){z, scale * scale * share, -peak, peak, 0};
}

typedef struct probe_search {
    const fingerprint_rows *rows;
    fingerprint *found;
    probe_pair *pairs;
    size_t count;
    double *z;
} probe_search;

static double margin(const probe_search *search, const exact_view *row, const probe_pair *pair)
{
    const fingerprint_candidate *all = search->found->candidates;
    size_t step = (1 + (search->rows->input->hidden - 1) / MOST_COLUMNS) | 1; /* both signs */
    return fingerprint_apart(search->rows, row, search->found->resolution, &all[pair->a].convention,
                             &all[pair->b].convention, step, INFINITY);
}

/* How many pairs that are not done a row of this scale tells apart, and by how much at least. */
static fingerprint_probe try_scale(const probe_search *search, double scale)
{
    fingerprint_probe probe = {(float)scale, 0, INFINITY};
    exact_view row = view_of(scale, search->rows->input->hidden, search->z);
    for (size_t i = 0; i < search->count; i++) {
        if (search->pairs[i].done)
            continue;
        double apart = margin(search, &row, &search->pairs[i]);
        if (apart >= clear_margin) {
            probe.pairs++;
            probe.least_margin = fmin(probe.least_margin, apart);
        }
    }
    return probe;
}

static void mark_done(probe_search *search, const fingerprint_probe *probe)
{
    exact_view row = view_of((double)probe->scale, search->rows->input->hidden, search->z);
    for (size_t i = 0; i < search->count; i++)
        if (!search->pairs[i].done)
            search->pairs[i].done = margin(search, &row, &search->pairs[i]) >= clear_margin;
}

static void choose_probes(probe_search *search)
{
    fingerprint *found = search->found;
    found->pairs_left = search->count;
    while (found->probe_count < FINGERPRINT_PROBES && found->pairs_left > 0) {
        fingerprint_probe best = {0};
        for (int i = 0; i < SCALES; i++) {
            fingerprint_probe probe = try_scale(search, ldexp(1, FIRST_SCALE + i));
            if (probe.pairs > best.pairs ||
                (probe.pairs == best.pairs && probe.least_margin > best.least_margin))
                best = probe;
        }
        if (best.pairs == 0)
            return;
        mark_done(search, &best);
        found->probes[found->probe_count++] = best;
        found->pairs_left -= best.pairs;
    }
}

bool fingerprint_find_probes(const fingerprint_rows *rows, fingerprint *found, error *err)
{
    size_t members = found->first_group < MOST_MEMBERS ? found->first_group : MOST_MEMBERS;
    size_t hidden = rows->input->hidden;
    if (members < 2 || hidden < 2)
        return true;
    found->pairs = members * (members - 1) / 2;
    probe_search search = {.rows = rows, .found = found};
    search.pairs = calloc(found->pairs, sizeof *search.pairs);
    search.z = malloc(hidden * sizeof *search.z);
    bool fine = search.pairs && search.z;
    if (fine) {
        for (size_t a = 0; a < members; a++)
            for (size_t b = a + 1; b < members; b++)
                search.pairs[search.count++] = (probe_pair){a, b, false};
        choose_probes(&search);
    }
    free(search.pairs);
    free(search.z);
    return fine || fail_memory(err, "the search of a probe row");
}
