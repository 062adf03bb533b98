/* Proven bounds (layernorm_plugin.h) held against certified rows.
 *
 * A kernel must not be accused by our own rounding: `allowed` is computed in double with at most
 * eight roundings and from facts within one ulp, so it may come out low by less than 2^-48 of
 * itself, and the exact value is known to 2^-53 of itself. Both are given to the kernel.
 */
#include "metrics.h"

#include "scale.h"

#include <math.h>

static double allowed_error(const ln_bound *bound, double max_xhat, const ln_convention *convention,
                            const float *gamma, const float *beta, size_t i)
{
    double size = gamma_size(convention->affine, gamma, i);
    double scale = element_scale(convention->affine, gamma, beta, i, max_xhat);
    return size * bound->xhat_abs + bound->affine_rel * scale + 0x1p-148;
}

static bool makes_no_claim(const ln_bound *bound)
{
    return isinf(bound->xhat_abs) && bound->xhat_abs > 0;
}

double ln_bound_row_ulp(const ln_bound *bound, const ln_reference_result *reference, size_t hidden,
                        const ln_convention *convention, const float *gamma, const float *beta)
{
    if (makes_no_claim(bound)) {
        return INFINITY;
    }
    double largest = 0;
    for (size_t i = 0; i < hidden; i++) {
        if (!isfinite(reference->rounded[i])) {
            continue;
        }
        double scale = element_scale(convention->affine, gamma, beta, i, reference->max_xhat);
        double allowed = allowed_error(bound, reference->max_xhat, convention, gamma, beta, i);
        double row_ulp = allowed / ln_ulp_f32(scale);
        if (!(row_ulp <= largest)) { /* a NaN stays */
            largest = row_ulp;
        }
    }
    return largest;
}

bool ln_bound_holds(const ln_bound *bound, const ln_reference_result *reference, size_t hidden,
                    const ln_convention *convention, const float *gamma, const float *beta,
                    const float *computed, double *worst)
{
    *worst = 0;
    if (makes_no_claim(bound)) {
        return true;
    }
    bool holds = true;
    for (size_t i = 0; i < hidden; i++) {
        if (!same_class(computed[i], reference->rounded[i])) {
            holds = false;
            *worst = INFINITY;
        } else if (isfinite(computed[i])) {
            double err = fabs((double)computed[i] - reference->exact[i]);
            double slack = 0x1p-53 * fabs(reference->exact[i]);
            double allowed = allowed_error(bound, reference->max_xhat, convention, gamma, beta, i);
            /* written so that a NaN does not pass */
            if (!(err <= allowed * (1 + 0x1p-48) + slack)) {
                holds = false;
            }
            *worst = fmax(*worst, isnan(allowed) ? INFINITY : err / allowed);
        }
    }
    return holds;
}
