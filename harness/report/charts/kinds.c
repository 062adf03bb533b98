/* Which charts there are, in the order of the page. */
#include "report/charts/chart.h"

extern const chart_kind field_chart, throughput_chart, speed_error_chart, error_kappa_chart,
    error_spread_chart, winner_map_chart, conventions_chart, states_chart, timings_chart;

const chart_kind *const chart_kinds[] = {
    &field_chart,        &throughput_chart,
    &speed_error_chart,  &error_kappa_chart,
    &conventions_chart,  &winner_map_chart,
    &error_spread_chart, &states_chart,
    &timings_chart,      NULL,
};
