/* Building a document, block by block. */
#include "show/page/document.h"
#include "base/allocate.h"
#include "base/clean.h"
#include <string.h>

static document_block *add_block(document *page, block_kind kind, text_tone tone)
{
    page->blocks = allocate_room(page->blocks, page->count, sizeof *page->blocks);
    page->blocks[page->count] = (document_block){.kind = kind, .tone = tone};
    return &page->blocks[page->count++];
}

static char *formatted(const char *format, va_list arguments)
{
    text_buffer text = {0};
    clean_format_list(&text, FORM_PAGE, format, arguments);
    return text.bytes;
}

static char *copied(const char *string)
{
    return allocate_copy(string, strlen(string) + 1);
}

void document_section(document *page, const char *id, const char *heading)
{
    document_block *block = add_block(page, BLOCK_SECTION, TONE_NONE);
    block->id = id;
    block->text = copied(heading);
}

void document_paragraph(document *page, text_tone tone, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    add_block(page, BLOCK_PARAGRAPH, tone)->text = formatted(format, arguments);
    va_end(arguments);
}

void document_item(document *page, text_tone tone, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    add_block(page, BLOCK_ITEM, tone)->text = formatted(format, arguments);
    va_end(arguments);
}

void document_fold(document *page, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    add_block(page, BLOCK_FOLD, TONE_NONE)->text = formatted(format, arguments);
    va_end(arguments);
}

void document_fold_end(document *page)
{
    add_block(page, BLOCK_FOLD_END, TONE_NONE);
}

void document_code(document *page, const char *foreign)
{
    add_block(page, BLOCK_CODE, TONE_NONE)->text = copied(foreign);
}

void document_figure(document *page, const report_chart *chart)
{
    add_block(page, BLOCK_FIGURE, TONE_NONE)->chart = chart;
}

void document_table(document *page, relation *rows)
{
    add_block(page, BLOCK_TABLE, TONE_NONE)->rows = rows;
}

void document_free(document *page)
{
    for (size_t i = 0; i < page->count; i++) {
        relation_destroy(page->blocks[i].rows);
        free(page->blocks[i].text);
    }
    free(page->blocks);
    *page = (document){0};
}
