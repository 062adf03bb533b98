/* The public headers, first and alone, as C17; built as C++17 too (header_test.cpp). */
#include <layernorm.h>
#include <layernorm_plugin.h>
#include <layernorm_plugin_v2.h>

#include "abi_1/layout.h"

int main(void)
{
    const float x[4] = {1, 2, 3, 4};
    float y[4];
    ln_problem problem = {0};
    problem.rows = 1;
    problem.hidden = 4;
    problem.convention.eps_place = LN_EPS_VAR;
    problem.convention.eps = 1e-5;
    ln_tensors tensors = {0};
    tensors.x = x;
    tensors.y = y;
    if (ln_layernorm(&problem, &tensors) != LN_OK || !ln_layernorm_kernel(&problem))
        return 1;
    /* mean 2.5, var 1.25: -1.5 / sqrt(1.25001) = -1.341635... */
    if (!(y[0] > -1.34165f && y[0] < -1.34162f) || y[0] != -y[3])
        return 2;
    float again[4];
    tensors.y = again;
    if (ln_set_threads(2) != LN_OK || ln_threads() != 2)
        return 4;
    if (ln_layernorm_parallel(&problem, &tensors) != LN_OK || again[0] != y[0] || again[3] != y[3])
        return 5;
    return ln_plugin_v1()->count > 0 && ln_version()[0] ? 0 : 3;
}
