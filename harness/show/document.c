/* Builds a document block by block, and writes it as one HTML file or as Markdown. */
#include "show/document.h"
#include "base/arena.h"
#include "base/text.h"
#include "base/program.h"

/* ---- building ---- */

static document_block *add_block(document *page, block_kind kind, text_tone tone)
{
    page->blocks = allocate_room(page->blocks, page->count, sizeof *page->blocks);
    page->blocks[page->count] = (document_block){.kind = kind, .tone = tone};
    return &page->blocks[page->count++];
}

void document_add(document *page, block_kind kind, text_tone tone, const char *format, ...)
{
    text_buffer text = {0};
    va_list arguments;
    va_start(arguments, format);
    clean_format_list(&text, FORM_PAGE, format, arguments);
    va_end(arguments);
    add_block(page, kind, tone)->text = text.bytes;
}

void document_section(document *page, const char *id, const char *heading)
{
    document_add(page, BLOCK_SECTION, TONE_NONE, "%-s", heading);
    page->blocks[page->count - 1].id = id;
}

void document_fold_end(document *page)
{
    add_block(page, BLOCK_FOLD_END, TONE_NONE);
}

void document_code(document *page, const char *foreign)
{
    add_block(page, BLOCK_CODE, TONE_NONE)->text = allocate_copy(foreign, strlen(foreign) + 1);
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

/* ---- HTML, in the frame of plots/page.html ---- */

/* A text with its marks (show/document.h) as elements of HTML; everything else is escaped. */
static void add_html_text(text_buffer *out, const char *text)
{
    bool in_code = false, in_strong = false;
    const char *target;
    for (; *text; text++) {
        if (*text == '\\' && text[1]) {
            clean_format(out, FORM_MARKUP, "%.1s", ++text);
        } else if (*text == '`') {
            text_add(out, in_code ? "</code>" : "<code>");
            in_code = !in_code;
        } else if (strncmp(text, "**", 2) == 0) {
            text_add(out, in_strong ? "</strong>" : "<strong>");
            in_strong = !in_strong;
            text++;
        } else if (*text == '[' && (target = strstr(text, "](")) && strchr(target, ')')) {
            text_format(out, "<a href=\"%.*s\">", (int)strcspn(target + 2, ")"), target + 2);
        } else if (strncmp(text, "](", 2) == 0) {
            text_add(out, "</a>");
            text += strcspn(text, ")");
        } else {
            int length = 1 + (int)strcspn(text + 1, "\\`*[]");
            clean_format(out, FORM_MARKUP, "%.*s", length, text);
            text += length - 1;
        }
    }
}

/* Identifiers must be unique in the page: those of a drawing get its stem in front. gnuplot writes
 * them as id='x', id="x" and href='#x'; no text of a drawing has quotes in it (FORM_GNUPLOT). */
static void add_svg(text_buffer *out, const char *svg, const char *stem)
{
    static const char *const marks[] = {"id='", "id=\"", "href='#", "url(#"};
    const char *at = strstr(svg, "<svg");
    while (at && *at) {
        size_t mark = 0;
        while (mark < 4 && strncmp(at, marks[mark], strlen(marks[mark])) != 0)
            mark++;
        if (mark < 4) {
            text_format(out, "%s%s-", marks[mark], stem);
            at += strlen(marks[mark]);
        } else {
            size_t length = 1 + strcspn(at + 1, "ihu"); /* what marks begin with */
            text_add_bytes(out, at, length);
            at += length;
        }
    }
}

/* A chart within the page, so that the page is one file; below it what it shows and the command that made it. */
static void add_html_figure(const report_chart *chart, const char *directory, text_buffer *out)
{
    char path[512];
    text_buffer svg = {0};
    text_format(out, "<figure id=\"%s\">\n", chart->stem);
    report_path(path, directory, chart->stem, ".svg");
    read_whole_file(path, &svg);
    text_add(out, "<div class=\"chart\" role=\"img\" tabindex=\"0\" aria-label=\"");
    clean_add(out, FORM_MARKUP, chart->title);
    text_add(out, "\">\n");
    add_svg(out, svg.bytes, chart->stem);
    text_add(out, "</div>\n");
    text_free(&svg);
    text_add(out, "<figcaption>");
    add_html_text(out, chart->kind->help);
    text_add(out, " <details><summary>The command that measures it again</summary><code>");
    clean_add(out, FORM_MARKUP, chart->again);
    text_add(out, "</code></details></figcaption>\n</figure>\n");
}

/* Items that follow each other are one list; a section ends where the next one begins. */
static void add_html_body(const document *page, const char *directory, text_buffer *out)
{
    static const char *const names[] = {
        [BLOCK_PARAGRAPH] = "p", [BLOCK_ITEM] = "li", [BLOCK_FOLD] = "summary"};
    bool in_section = false, in_list = false;
    for (size_t i = 0; i < page->count; i++) {
        const document_block *block = &page->blocks[i];
        const bool item = block->kind == BLOCK_ITEM;
        text_add(out, in_list && !item ? "</ul>\n" : item && !in_list ? "<ul>\n" : "");
        in_list = item;
        switch (block->kind) {
        case BLOCK_SECTION:
            text_format(out, "%s<section id=\"%s\">\n<h2>", in_section ? "</section>\n" : "",
                        block->id);
            add_html_text(out, block->text);
            text_add(out, "</h2>\n");
            in_section = true;
            break;
        case BLOCK_TABLE:
            relation_add_form(block->rows, OUTPUT_HTML, 0, out);
            break;
        case BLOCK_FIGURE:
            add_html_figure(block->chart, directory, out);
            break;
        case BLOCK_CODE:
            clean_format(out, FORM_MARKUP, "<pre>%s</pre>\n", block->text);
            break;
        case BLOCK_FOLD_END:
            text_add(out, "</details>\n");
            break;
        case BLOCK_PARAGRAPH:
        case BLOCK_ITEM:
        case BLOCK_FOLD:
            text_add(out, block->kind == BLOCK_FOLD ? "<details class=\"fold\">" : "");
            text_format(out, "<%s class=\"%s\">", names[block->kind], text_tone_names[block->tone]);
            add_html_text(out, block->text ? block->text : "");
            text_format(out, "</%s>\n", names[block->kind]);
        }
    }
    text_add(out, in_list ? "</ul>\n" : "");
    text_add(out, in_section ? "</section>\n" : "");
}

/* Puts one of the parts that the frame names with {{part}}. */
static void add_html_part(const document *page, const char *part, const char *directory,
                          text_buffer *out)
{
    if (strncmp(part, "{{title}}", 9) == 0)
        clean_add(out, FORM_MARKUP, page->title);
    else if (strncmp(part, "{{subtitle}}", 12) == 0)
        clean_add(out, FORM_MARKUP, page->subtitle);
    else if (strncmp(part, "{{body}}", 8) == 0)
        add_html_body(page, directory, out);
    else if (strncmp(part, "{{generator}}", 13) == 0)
        clean_add(out, FORM_MARKUP, page->generator);
    else if (strncmp(part, "{{run}}", 7) == 0)
        text_add(out, page->run ? page->run->bytes : "");
    else if (strncmp(part, "{{contents}}", 12) != 0)
        die(EXIT_CODE_ENVIRONMENT, "page.html: %.20s: no such part", part);
    else
        for (size_t i = 0; i < page->count; i++)
            if (page->blocks[i].kind == BLOCK_SECTION) {
                text_format(out, "<a href=\"#%s\">", page->blocks[i].id);
                add_html_text(out, page->blocks[i].text);
                text_add(out, "</a>\n");
            }
}

void document_html(const document *page, const char *plots_directory, const char *directory,
                   text_buffer *out)
{
    char path[512];
    text_buffer frame = {0};
    report_path(path, plots_directory, "page", ".html");
    read_whole_file(path, &frame);
    for (const char *at = frame.bytes; *at;) {
        const char *part = strstr(at, "{{");
        size_t plain = part ? (size_t)(part - at) : strlen(at);
        text_add_bytes(out, at, plain);
        at += plain;
        if (part && strstr(part, "}}")) {
            add_html_part(page, part, directory, out);
            at = strstr(part, "}}") + 2;
        } else if (part) {
            die(EXIT_CODE_ENVIRONMENT, "%s: {{ without }}", path);
        }
    }
    text_free(&frame);
}

/* ---- Markdown ---- */

/* The same marks are Markdown's own; what else Markdown would interpret is escaped. Within code, which has no escapes,
 * a bar would end a cell of a table. */
static void add_markdown_text(text_buffer *out, const char *text)
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

/* A chart as a link to its PNG beside the file. */
static void add_markdown_figure(const report_chart *chart, text_buffer *out)
{
    text_buffer command = {0};
    clean_format(&command, FORM_PAGE, "`%s`", chart->again);
    clean_format(out, FORM_MARKDOWN, "![%s](%-s.png)\n\n", chart->title, chart->stem);
    add_markdown_text(out, chart->kind->help);
    text_add(out, " Made again by ");
    add_markdown_text(out, command.bytes);
    text_add(out, ".\n\n");
    text_free(&command);
}

void document_markdown(const document *page, text_buffer *out)
{
    static const char *const before[] = {[BLOCK_SECTION] = "## ",
                                         [BLOCK_PARAGRAPH] = "",
                                         [BLOCK_ITEM] = "- ",
                                         [BLOCK_FOLD] = "### "};
    clean_format(out, FORM_MARKDOWN, "# %s\n\n%s\n\n", page->title, page->subtitle);
    for (size_t i = 0; i < page->count; i++) {
        const document_block *block = &page->blocks[i];
        if (i > 0 && block[-1].kind == BLOCK_ITEM && block->kind != BLOCK_ITEM)
            text_add(out, "\n");
        switch (block->kind) {
        case BLOCK_TABLE:
            relation_add_form(block->rows, OUTPUT_MARKDOWN, 0, out);
            text_add(out, "\n");
            break;
        case BLOCK_FIGURE:
            add_markdown_figure(block->chart, out);
            break;
        case BLOCK_CODE:
            clean_format(out, FORM_LINE, "    %s\n\n", block->text);
            break;
        case BLOCK_FOLD_END:
            break;
        default:
            text_add(out, before[block->kind]);
            add_markdown_text(out, block->text ? block->text : "");
            text_add(out, block->kind == BLOCK_ITEM ? "\n" : "\n\n");
        }
    }
}
