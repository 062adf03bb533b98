/* A LayerNorm to test: a simple implementation of torch's convention in f32. */
#include <layernorm.h>
#include <math.h>

static int toy(void *user, const ln_problem *problem, const ln_tensors *tensors)
{
    const float *x = (const float *)tensors->x;
    const float *gamma = (const float *)tensors->gamma, *beta = (const float *)tensors->beta;
    float *y = (float *)tensors->y, hidden = (float)problem->hidden;
    (void)user;
    if (tensors->residual)
        return LN_ERROR_UNSUPPORTED;
    for (size_t row = 0; row < problem->rows; row++) {
        float sum = 0, squares = 0;
        for (size_t i = 0; i < problem->hidden; i++)
            sum += x[i];
        for (size_t i = 0; i < problem->hidden; i++)
            squares += (x[i] - sum / hidden) * (x[i] - sum / hidden);
        float mean = sum / hidden, rstd = 1 / sqrtf(squares / hidden + 1e-5F);
        for (size_t i = 0; i < problem->hidden; i++)
            y[i] = (x[i] - mean) * rstd * gamma[i] + beta[i];
        x += problem->x_stride;
        y += problem->y_stride;
    }
    return 0;
}
