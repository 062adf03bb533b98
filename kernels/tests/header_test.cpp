/* The public headers, first and alone, as C++17 (header_test.c: as C17). */
#include <layernorm.h>
#include <layernorm_plugin_v2.h>

#include "abi_1/layout.h"

int main(void)
{
    const float x[4] = {1, 2, 3, 4};
    float y[4];
    ln_problem problem = {};
    problem.rows = 1;
    problem.hidden = 4;
    problem.convention.eps_place = LN_EPS_VAR;
    problem.convention.eps = 1e-5;
    ln_tensors tensors = {};
    tensors.x = x;
    tensors.y = y;
    if (ln_layernorm(&problem, &tensors) != LN_OK || !ln_layernorm_kernel(&problem))
        return 1;
    /* mean 2.5, var 1.25: -1.5 / sqrt(1.25001) = -1.341635... */
    if (!(y[0] > -1.34165f && y[0] < -1.34162f) || y[0] != -y[3])
        return 2;
    ln_rms_problem rms = {};
    rms.rows = 1;
    rms.hidden = 4;
    ln_rms_tensors given = {};
    given.x = x;
    given.y = y;
    /* mean square 7.5: 4 / sqrt(7.5) = 1.460593... */
    if (ln_rmsnorm(&rms, &given) != LN_OK || !(y[3] > 1.46059f && y[3] < 1.4606f))
        return 4;
    return ln_plugin_v2()->count > 0 && ln_plugin_v1()->count > 0 && ln_version()[0] ? 0 : 3;
}
