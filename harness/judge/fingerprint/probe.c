/* The sizes of eps that people use, and the one more row that would tell candidates apart.
 *
 * Rows of +-s in turn have the biased variance s^2 exactly (odd rows, with a 0 at their end, s^2 (N - 1) /
 * N), so a power of two s near an eps, or near its root, is where places and sizes of eps show. */
#include "judge/fingerprint/internal.h"
#include "base/number.h"
#include <stdio.h>

/* The more usual, the earlier. */
const double usual_sizes[] = {1e-5, 1e-6, 1e-12, 1e-3,  1e-8, 0x1p-23, 1e-7,
                              1e-4, 1e-9, 1e-10, 1e-11, 1e-2, 1e-15};
const size_t usual_count = sizeof usual_sizes / sizeof *usual_sizes;

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

double usual_eps(double low, double high)
{
    for (size_t i = 0; i < usual_count; i++)
        if (usual_sizes[i] >= low && usual_sizes[i] <= high)
            return usual_sizes[i];
    if (isinf(high))
        return low > 0 ? low : usual_sizes[0];
    return shortest_decimal(low > 0 ? low : high / 10, high);
}

float which_probe_value(float scale, size_t hidden, size_t i)
{
    if (i + 1 == hidden && hidden % 2 == 1)
        return 0;
    return i % 2 == 0 ? scale : -scale;
}

enum { FIRST_SCALE = -48, LAST_SCALE = 24, MEMBERS_MOST = 96 };

/* A candidate with one size of eps. */
typedef struct member {
    const which_candidate *own;
    double eps;
} member;

/* What a +-scale row comes to: its largest element, less any quotient's eps, and that eps. */
static range answer_of(const member *one, size_t hidden, double scale)
{
    const ln_convention *convention = &one->own->convention;
    double n = (double)hidden, share = hidden % 2 == 1 ? (n - 1) / n : 1;
    bool layernorm = convention->operation == LN_OPERATION_LAYERNORM;
    double var = scale * scale * share * (layernorm && convention->ddof == 1 ? n / (n - 1) : 1);
    double root = convention->eps_place == LN_EPS_VAR   ? sqrt(var + one->eps)
                  : convention->eps_place == LN_EPS_STD ? sqrt(var) + one->eps
                                                        : sqrt(var);
    return (range){scale / root, convention->eps_place == LN_EPS_QUOTIENT ? one->eps : 0};
}

static size_t pairs_told(const member *all, size_t count, size_t hidden, double scale, double off)
{
    size_t told = 0;
    for (size_t a = 0; a < count; a++)
        for (size_t b = 0; b < a; b++) {
            range one = answer_of(&all[a], hidden, scale),
                  other = answer_of(&all[b], hidden, scale);
            told += all[a].own->plain && all[b].own->plain &&
                    (fabs(one.low - other.low) > off * fmax(one.low, other.low) ||
                     fabs(one.high - other.high) > off);
        }
    return told;
}

/* How many there are; those beyond MEMBERS_MOST are not kept, and no pair of theirs is told apart. */
static size_t members_of(const which_found *found, member *all)
{
    size_t count = 0;
    for (size_t i = 0; i < found->count; i++) {
        const which_candidate *one = &found->candidates[i];
        if (count < MEMBERS_MOST)
            all[count] = (member){one, one->convention.eps};
        count++;
        for (size_t u = 0; u < usual_count; u++)
            if (usual_sizes[u] >= one->eps_low && usual_sizes[u] <= one->eps_high &&
                usual_sizes[u] != one->convention.eps) {
                if (count < MEMBERS_MOST)
                    all[count] = (member){one, usual_sizes[u]};
                count++;
            }
    }
    return count;
}

/* A pair counts as told apart from eight times what rounding may do: the last one, and that of rstd as all
 * textbook ways have it (judge/layernorm/textbook.c). */
void find_probe(size_t hidden, ln_type sums, ln_type out, which_found *found)
{
    member all[MEMBERS_MOST];
    size_t count = members_of(found, all), best = 0;
    size_t kept = count < MEMBERS_MOST ? count : MEMBERS_MOST;
    double off =
        8 * (fmax(4, 2 + sqrt((double)hidden) / 2) * unit_roundoff(sums) + 2 * unit_roundoff(out));
    found->pairs = found->pairs_left = count * (count - 1) / 2;
    for (int i = FIRST_SCALE; hidden > 1 && found->answer == WHICH_OPEN && i <= LAST_SCALE; i++) {
        size_t told = pairs_told(all, kept, hidden, ldexp(1, i), off);
        if (told > 0 && told >= best) {
            best = told;
            found->probe = (float)ldexp(1, i);
        }
    }
    found->pairs_left -= best;
}
