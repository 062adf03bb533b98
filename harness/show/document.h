/* A document as blocks, which become HTML or Markdown.
 *
 *     document page = {0};
 *     document_section(&page, "speed", "Speed");
 *     document_add(&page, BLOCK_PARAGRAPH, TONE_NONE, "Take `%s`: **%.0f GB/s**.", name, gbps);
 *     document_table(&page, rows);                  // a relation, which the page takes over
 *     document_free(&page);
 *
 * Texts are UTF-8 with `code`, **strong** and [link](target); a backslash takes the next character
 * as it is. Each %s is taken for a text that is not ours, and cleaned (base/text.h, FORM_PAGE);
 * "%-s" is for one that has such marks of ours. Tables, titles and commands have none.
 */
#ifndef LNBENCH_DOCUMENT_H
#define LNBENCH_DOCUMENT_H

#include "base/relation.h"
#include "show/charts/chart.h"

typedef enum block_kind {
    BLOCK_SECTION, /* a heading that the contents list, and what follows it */
    BLOCK_PARAGRAPH,
    BLOCK_ITEM, /* of a list */
    BLOCK_TABLE,
    BLOCK_FIGURE,
    BLOCK_CODE,
    BLOCK_FOLD, /* what follows is folded up under a line, until BLOCK_FOLD_END */
    BLOCK_FOLD_END,
} block_kind;

typedef struct document_block {
    block_kind kind;
    text_tone tone;
    char *text;     /* heading, paragraph, item, line of a fold; code: as it came */
    const char *id; /* of a section; static */
    const report_chart *chart;
    relation *rows; /* of a table: columns with a priority are left out on narrow screens */
} document_block;

typedef struct document {
    char title[200], subtitle[400];
    const char *generator;  /* what drew it */
    const text_buffer *run; /* page_run_add(); NULL: not within it */
    document_block *blocks;
    size_t count;
} document;

/* Adds a block of text. */
void document_add(document *page, block_kind kind, text_tone tone, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
void document_section(document *page, const char *id, const char *heading);
void document_code(document *page, const char *foreign);
void document_figure(document *page, const report_chart *chart);
void document_fold_end(document *page);
void document_table(document *page, relation *rows); /* takes them over */
void document_free(document *page);

/* The HTML of the page within the frame of plots/page.html; charts are read from the directory. */
void document_html(const document *page, const char *plots_directory, const char *directory,
                   text_buffer *out);
/* The same as Markdown, with the charts as PNG beside it. */
void document_markdown(const document *page, text_buffer *out);

#endif
