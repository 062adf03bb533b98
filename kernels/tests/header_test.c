/* Includes the public headers first and alone, as C17 and, in another build, as C++17. */
#include <layernorm.h>
#include <layernorm_plugin.h>
#include <rmsnorm.h>

int main(void)
{
    static ln_problem problem;
    static ln_tensors tensors;
    static ln_problem rms;
    static ln_tensors given;
    const float x[4] = {1, 2, 3, 4};
    float y[4], again[4];
    problem.rows = 1;
    problem.hidden = 4;
    problem.convention.eps_place = LN_EPS_VAR;
    problem.convention.eps = 1e-5;
    tensors.x = x;
    tensors.y = y;
    if (ln_layernorm(&problem, &tensors) != LN_OK || !ln_layernorm_kernel_name(&problem))
        return 1;
    /* mean 2.5, var 1.25: -1.5 / sqrt(1.25001) = -1.341635... */
    if (!(y[0] > -1.34165f && y[0] < -1.34162f) || y[0] != -y[3])
        return 2;
    tensors.y = again;
    if (ln_set_threads(2) != LN_OK || ln_threads() != 2)
        return 4;
    if (ln_layernorm_parallel(&problem, &tensors) != LN_OK || again[0] != y[0] || again[3] != y[3])
        return 5;
    rms.rows = 1;
    rms.hidden = 4;
    rms.convention.operation = LN_OPERATION_RMSNORM;
    given.x = x;
    given.y = y;
    /* mean square 7.5: 4 / sqrt(7.5) = 1.460593... */
    if (ln_rmsnorm(&rms, &given) != LN_OK || !(y[3] > 1.46059f && y[3] < 1.4606f))
        return 6;
    return ln_plugin()->count > 0 && ln_version()[0] ? 0 : 3;
}
