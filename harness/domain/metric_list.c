/* The list of metrics that store, tables, exports, history and --verify walk. */
#include "domain/case.h"

#define REAL(field, published)                                                                     \
    {                                                                                              \
#field, METRIC_REAL, offsetof(ln_metrics, field), published                                \
    }
#define COUNT(field, published)                                                                    \
    {                                                                                              \
#field, METRIC_COUNT, offsetof(ln_metrics, field), published                               \
    }
#define PLACE(field)                                                                               \
    {                                                                                              \
#field, METRIC_PLACE, offsetof(ln_metrics, field), false                                   \
    }

const metric_field metric_list[] = {
    REAL(ulp_max, true),        REAL(ulp_mean, true),
    REAL(ulp_rms, true),        REAL(ulp_p50, true),
    REAL(ulp_p90, true),        REAL(ulp_p99, true),
    REAL(ulp_bias, true),       REAL(row_ulp_max, true),
    REAL(row_ulp_mean, true),   REAL(norm_max, true),
    REAL(rel_l2, true),         REAL(correctly_rounded, true),
    REAL(bits, true),           REAL(mean_ulp_max, false),
    REAL(rstd_ulp_max, false),  COUNT(mismatches, true),
    COUNT(elements, true),      COUNT(exact_zeros, false),
    COUNT(sign_of_zero, false), PLACE(worst_row),
    PLACE(worst_column),        REAL(worst_computed, false),
    REAL(worst_exact, false),   REAL(kappa_max, false),
};

const size_t metric_count_all = sizeof metric_list / sizeof *metric_list;
