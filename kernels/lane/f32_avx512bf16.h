/* f32 on CPUs that have AVX512-BF16 as well: nothing that AVX-512 does not do. */
#include "lane/f32_avx512.h"
