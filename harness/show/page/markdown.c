/* A document as Markdown, with the charts as PNG beside it. */
#include "base/clean.h"
#include "show/page/document.h"
#include <string.h>

static void add_text(text_buffer *out, const char *text)
{
    bool in_code = false;
    for (; *text; text++) {
        if (strncmp(text, "](", 2) == 0 && strchr(text, ')')) {
            size_t length = strcspn(text, ")");
            text_add_bytes(out, text, length);
            text += length;
        }
        bool literal = *text == '\\' && text[1];
        text += literal;
        if (*text == '`' && !literal)
            in_code = !in_code;
        else if (!in_code && (literal || strchr("_#|&@$~", *text) || strncmp(text, "://", 3) == 0))
            text_add(out, "\\");
        if (*text == '<' && !in_code)
            text_add(out, "&lt;");
        else
            text_add_bytes(out,
                           !in_code                  ? text
                           : *text == '|'            ? "/"
                           : *text == '`' && literal ? "'"
                                                     : text,
                           1);
    }
}

static void add_figure(const report_chart *chart, text_buffer *out)
{
    text_buffer command = {0};
    clean_format(&command, FORM_PAGE, "`%s`", chart->again);
    clean_format(out, FORM_MARKDOWN, "![%s](%-s.png)\n\n", chart->title, chart->stem);
    add_text(out, chart->kind->help);
    text_add(out, " Made again by ");
    add_text(out, command.bytes);
    text_add(out, ".\n\n");
    text_free(&command);
}

static void add_block(const document_block *block, text_buffer *out)
{
    static const char *const before[] = {[BLOCK_SECTION] = "## ",
                                         [BLOCK_PARAGRAPH] = "",
                                         [BLOCK_ITEM] = "- ",
                                         [BLOCK_FOLD] = "### "};
    switch (block->kind) {
    case BLOCK_TABLE:
        relation_add_form(block->rows, OUTPUT_MARKDOWN, 0, out);
        text_add(out, "\n");
        break;
    case BLOCK_FIGURE:
        add_figure(block->chart, out);
        break;
    case BLOCK_CODE:
        clean_format(out, FORM_LINE, "    %s\n\n", block->text);
        break;
    case BLOCK_FOLD_END:
        break;
    default:
        text_add(out, before[block->kind]);
        add_text(out, block->text ? block->text : "");
        text_add(out, block->kind == BLOCK_ITEM ? "\n" : "\n\n");
    }
}

void document_markdown(const document *page, text_buffer *out)
{
    clean_format(out, FORM_MARKDOWN, "# %s\n\n%s\n\n", page->title, page->subtitle);
    for (size_t i = 0; i < page->count; i++) {
        if (i > 0 && page->blocks[i - 1].kind == BLOCK_ITEM && page->blocks[i].kind != BLOCK_ITEM)
            text_add(out, "\n");
        add_block(&page->blocks[i], out);
    }
}
