#include "domain/regime.h"

const char *const regime_names[REGIMES] = {"L1", "L2", "L3", "DRAM"};

cache_regime regime_of(double bytes, size_t l1d, size_t l2, size_t l3)
{
    if (!l1d && !l2 && !l3) {
        l1d = 32u << 10;
        l2 = 1u << 20;
        l3 = 32u << 20;
    }
    return bytes <= (double)l1d  ? REGIME_L1
           : bytes <= (double)l2 ? REGIME_L2
           : bytes <= (double)l3 ? REGIME_L3
                                 : REGIME_DRAM;
}
