/* The list of charts in plots/charts.def, with their queries. */
#include "charts_sql.h" /* the scripts of plots/, as bytes */
#include "show/charts/chart.h"

#define CHART(name, ...) {#name, name##_sql, __VA_ARGS__},
const chart_kind chart_list[] = {
#include "charts.def"
};
const size_t chart_count = sizeof chart_list / sizeof *chart_list;
const char *const charts_shown_sql = shown_sql;
