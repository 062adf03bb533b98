/* The forms of a relation. */
#include "base/table.h"

const table_form table_forms[OUTPUT_FORMAT_COUNT] = {
    [OUTPUT_TEXT] = {"text", table_add_text},
    [OUTPUT_MARKDOWN] = {"markdown", table_add_markdown},
    [OUTPUT_TSV] = {"tsv", table_add_tsv},
    [OUTPUT_CSV] = {"csv", table_add_csv},
    [OUTPUT_JSON] = {"json", NULL},
    [OUTPUT_JUNIT] = {"junit", table_add_junit},
    [OUTPUT_GITHUB] = {"github", table_add_github},
    [OUTPUT_SMALLER] = {"smaller", NULL},
    [OUTPUT_HTML] = {"html", table_add_html},
};
