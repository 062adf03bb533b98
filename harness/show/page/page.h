/* What the page of a report says: the answer first, then charts, tables and what is folded up. */
#ifndef LNBENCH_REPORT_PAGE_H
#define LNBENCH_REPORT_PAGE_H

#include "show/charts/data.h"
#include "show/page/document.h"

typedef struct page_contents {
    const report_data *data;
    const report_chart *charts;
    size_t chart_count;
    const char *note; /* why charts are missing, "" where they are not */
} page_contents;

void page_make(const page_contents *contents, document *page);
/* The answer, the field and the table of names: what README.md and the first screen show. */
void page_answer(const page_contents *contents, document *page);
/* The kernels that readers ask for by name, a row each. */
void page_names_table(const report_data *data, document *page);
/* Every kernel at the report's shape; errors by input; the worst rows; the machine. */
void page_kernels_table(const report_data *data, document *page);
void page_inputs_table(const report_data *data, document *page);
void page_worst_table(const report_data *data, document *page);
void page_machine_table(const report_data *data, document *page);
/* What kernels did wrong, grouped: what is wrong, or else what is a limit of the types. Returns
 * how many kernels that are. */
size_t page_wrongs(const report_data *data, bool limits, document *page);
void page_figure(const page_contents *contents, const char *stem, document *page);

#endif
