#include "domain/calibration.h"
#include <math.h>
#include <string.h>

const char *method_name(noise_method method)
{
    return method == METHOD_DUET ? "duet" : "compare";
}

double calibration_floor(const noise_calibration *calibration, noise_method method,
                         const char *regime)
{
    for (int i = 0; i < REGIMES; i++)
        if (strcmp(regime, regime_names[i]) == 0 && calibration->noise[method][i].trials > 0)
            return calibration->noise[method][i].floor;
    return NAN;
}
