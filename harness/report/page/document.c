/* Building a document, block by block. */
#include "report/page/document.h"
#include <stdlib.h>
#include <string.h>

/* A block more; where memory runs out, one that nobody renders. */
static document_block *add_block(document *page, block_kind kind, document_tone tone)
{
    static document_block lost;
    if (page->count == page->capacity) {
        size_t capacity = page->capacity ? 2 * page->capacity : 64;
        document_block *blocks = realloc(page->blocks, capacity * sizeof *blocks);
        page->failed = page->failed || !blocks;
        if (!blocks)
            return lost = (document_block){0}, &lost;
        page->blocks = blocks;
        page->capacity = capacity;
    }
    page->blocks[page->count] = (document_block){.kind = kind, .tone = tone};
    return &page->blocks[page->count++];
}

static char *formatted(document *page, const char *format, va_list arguments)
{
    text_buffer text = {0};
    text_add(&text, "");
    text_format_list(&text, format, arguments);
    page->failed = page->failed || text.failed || !text.bytes;
    return text.bytes;
}

static char *copied(document *page, const char *string)
{
    char *copy = strdup(string);
    page->failed = page->failed || !copy;
    return copy;
}

void document_section(document *page, const char *id, const char *heading)
{
    document_block *block = add_block(page, BLOCK_SECTION, TONE_NONE);
    block->id = id;
    block->text = copied(page, heading);
}

void document_heading(document *page, const char *heading)
{
    add_block(page, BLOCK_HEADING, TONE_NONE)->text = copied(page, heading);
}

void document_paragraph(document *page, document_tone tone, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    add_block(page, BLOCK_PARAGRAPH, tone)->text = formatted(page, format, arguments);
    va_end(arguments);
}

void document_item(document *page, document_tone tone, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    add_block(page, BLOCK_ITEM, tone)->text = formatted(page, format, arguments);
    va_end(arguments);
}

void document_fold(document *page, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    add_block(page, BLOCK_FOLD, TONE_NONE)->text = formatted(page, format, arguments);
    va_end(arguments);
}

void document_fold_end(document *page)
{
    add_block(page, BLOCK_FOLD_END, TONE_NONE);
}

void document_code(document *page, const char *foreign)
{
    char plain[PLAIN_LENGTH];
    add_block(page, BLOCK_CODE, TONE_NONE)->text = copied(page, document_plain(foreign, plain));
}

void document_figure(document *page, const report_chart *chart)
{
    add_block(page, BLOCK_FIGURE, TONE_NONE)->chart = chart;
}

void document_table(document *page, const document_column *columns, size_t count)
{
    document_block *block = add_block(page, BLOCK_TABLE, TONE_NONE);
    block->columns = columns;
    block->column_count = count;
}

void document_cell(document *page, document_tone tone, double value, const char *format, ...)
{
    document_block *block = page->count ? &page->blocks[page->count - 1] : NULL;
    if (!block || block->kind != BLOCK_TABLE)
        return;
    if (block->cell_count == block->cell_capacity) {
        size_t capacity = block->cell_capacity ? 2 * block->cell_capacity : 64;
        document_cell_text *cells = realloc(block->cells, capacity * sizeof *cells);
        page->failed = page->failed || !cells;
        if (!cells)
            return;
        block->cells = cells;
        block->cell_capacity = capacity;
    }
    va_list arguments;
    va_start(arguments, format);
    block->cells[block->cell_count++] =
        (document_cell_text){formatted(page, format, arguments), value, tone};
    va_end(arguments);
}

const char *document_plain(const char *foreign, char plain[PLAIN_LENGTH])
{
    size_t length = 0;
    for (; *foreign && length + 3 < PLAIN_LENGTH; foreign++) {
        bool printable = *foreign >= 0x20 && *foreign < 0x7f;
        if (printable && strchr("\\`*[]", *foreign))
            plain[length++] = '\\';
        plain[length++] = printable ? *foreign : '?';
    }
    plain[length] = '\0';
    return plain;
}

void document_free(document *page)
{
    for (size_t i = 0; i < page->count; i++) {
        for (size_t cell = 0; cell < page->blocks[i].cell_count; cell++)
            free(page->blocks[i].cells[cell].text);
        free(page->blocks[i].cells);
        free(page->blocks[i].text);
    }
    free(page->blocks);
    *page = (document){0};
}
