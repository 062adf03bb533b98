/* Gamma, beta and the probe rows. */
#include "inputs/families.h"
#include "inputs/draws.h"

/* The scalars are fixed: gamma in the middle of a binade, so that it does not hide a difference of
 * conventions in the rounding (see input_probe_rows), and neither is a power of two. */
static const float scalar_gamma = 1.4375F + 0x1p-20F, scalar_beta = -0.15F;

static void fill_gamma(ln_affine affine, uint64_t seed, size_t hidden, float *gamma)
{
    random_row random = random_row_begin(seed, STREAM_GAMMA, 0);
    for (size_t i = 0; i < hidden; i++) {
        double g = random_normal(&random, i) * 0.25;
        gamma[i] = (float)(affine == LN_AFFINE_GAMMA1 ? g : 1 + g);
    }
    if (hidden > 1 && gamma[0] == gamma[1])
        gamma[1] += 0.125F;
}

static void fill_beta(uint64_t seed, size_t hidden, float *beta)
{
    random_row random = random_row_begin(seed, STREAM_BETA, 0);
    for (size_t i = 0; i < hidden; i++)
        beta[i] = (float)(random_normal(&random, i) * 0.25);
    if (hidden > 1 && beta[0] == beta[1])
        beta[1] += 0.125F;
}

void input_affine(const ln_convention *convention, uint64_t seed, size_t hidden,
                  float *const made[ROLES_MOST])
{
    float *gamma = made[ROLE_GAMMA], *beta = made[ROLE_BETA];
    if (convention->affine == LN_AFFINE_SCALAR) {
        *gamma = scalar_gamma;
        *beta = scalar_beta;
        return;
    }
    if (ln_has_gamma(convention->affine))
        fill_gamma(convention->affine, seed, hidden, gamma);
    if (ln_has_beta(convention->affine))
        fill_beta(seed, hidden, beta);
}

/* +1 or -1 as i has an even or odd number of one bits (Thue and Morse): each pair (2j, 2j+1)
 * balances, and no short period or stride stands out. */
static int balanced_sign(size_t i)
{
    int sign = 1;
    for (; i > 0; i &= i - 1)
        sign = -sign;
    return sign;
}

/* The deviations of a probe row from its mean: small integers whose sum is 0. Short rows have
 * sizes 1, 2, 3 by pairs; long ones +-1, so that the sums stay exact in f32 at any hidden below
 * 2^24. An odd element left over stands at the mean. */
static int probe_deviation(size_t hidden, size_t i)
{
    if (i == hidden - 1 && hidden % 2 == 1)
        return 0;
    return balanced_sign(i) * (hidden > 16 ? 1 : (int)(1 + i / 2 % 3));
}

/* The power of two for which the deviations' variance comes nearest (in ratio) to the given one; 0
 * where squares and sums would leave the range of f32. */
static double probe_scale(size_t hidden, double variance)
{
    double squares = 0, scale = 1;
    for (size_t i = 0; i < hidden; i++)
        squares += probe_deviation(hidden, i) * probe_deviation(hidden, i);
    double now = squares > 0 ? squares / (double)hidden : 1;
    while (now > 2 * variance && scale >= 0x1p-50) {
        scale *= 0.5;
        now *= 0.25;
    }
    while (now * 2 < variance && scale <= 0x1p+50) {
        scale *= 2;
        now *= 4;
    }
    return scale < 0x1p-50 || scale > 0x1p+50 ? 0 : scale;
}

size_t input_probe_rows_f32(const ln_convention *convention, size_t hidden, size_t most, float *x)
{
    bool has_eps = convention->eps_place != LN_EPS_NONE && convention->eps > 0;
    double eps = has_eps ? convention->eps : 1;
    bool in_var = convention->eps_place == LN_EPS_VAR;
    /* var near eps tells where eps is added, std near eps that it is added to the std or not, var
     * near 1 the divisor; the mean is 0 or, in short rows, 5 units. */
    const struct {
        double variance;
        int mean;
        bool wanted;
    } probes[] = {
        {1, 0, true},
        {eps, 0, has_eps},
        {eps * eps, 0, has_eps && !in_var},
        {eps, 5, has_eps && hidden <= 16},
        {1, 5, hidden <= 16},
    };
    size_t made = 0;
    for (size_t p = 0; p < sizeof probes / sizeof *probes && made < most && hidden > 0; p++) {
        double scale = probes[p].wanted ? probe_scale(hidden, probes[p].variance) : 0;
        if (scale == 0)
            continue;
        for (size_t i = 0; i < hidden; i++)
            x[made * hidden + i] = (float)((probes[p].mean + probe_deviation(hidden, i)) * scale);
        made++;
    }
    return made;
}
