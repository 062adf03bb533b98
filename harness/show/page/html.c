/* A document as one HTML file, in the frame of plots/page.html. */
#include "show/page/document.h"
#include "base/clean.h"
#include "base/files.h"
#include <string.h>

static void add_text(text_buffer *out, const char *text)
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

static void add_figure(const report_chart *chart, const char *directory, text_buffer *out)
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
    add_text(out, chart->kind->help);
    text_add(out, " <details><summary>The command that measures it again</summary><code>");
    clean_add(out, FORM_MARKUP, chart->again);
    text_add(out, "</code></details></figcaption>\n</figure>\n");
}

typedef struct html_state {
    text_buffer *out;
    const char *directory;
    bool in_section, in_list;
} html_state;

static void close_list(html_state *html)
{
    text_add(html->out, html->in_list ? "</ul>\n" : "");
    html->in_list = false;
}

static void open_section(html_state *html, const document_block *block)
{
    text_add(html->out, html->in_section ? "</section>\n" : "");
    text_format(html->out, "<section id=\"%s\">\n<h2>", block->id);
    add_text(html->out, block->text);
    text_add(html->out, "</h2>\n");
    html->in_section = true;
}

static void add_element(html_state *html, const char *name, const document_block *block)
{
    text_format(html->out, "<%s class=\"%s\">", name, text_tone_names[block->tone]);
    add_text(html->out, block->text ? block->text : "");
    text_format(html->out, "</%s>\n", name);
}

static void add_block(html_state *html, const document_block *block)
{
    if (block->kind != BLOCK_ITEM)
        close_list(html);
    switch (block->kind) {
    case BLOCK_SECTION:
        open_section(html, block);
        break;
    case BLOCK_PARAGRAPH:
        add_element(html, "p", block);
        break;
    case BLOCK_ITEM:
        text_add(html->out, html->in_list ? "" : "<ul>\n");
        html->in_list = true;
        add_element(html, "li", block);
        break;
    case BLOCK_TABLE:
        relation_add_form(block->rows, OUTPUT_HTML, 0, html->out);
        break;
    case BLOCK_FIGURE:
        add_figure(block->chart, html->directory, html->out);
        break;
    case BLOCK_CODE:
        clean_format(html->out, FORM_MARKUP, "<pre>%s</pre>\n", block->text);
        break;
    case BLOCK_FOLD:
        text_add(html->out, "<details class=\"fold\">");
        add_element(html, "summary", block);
        break;
    case BLOCK_FOLD_END:
        text_add(html->out, "</details>\n");
        break;
    }
}

static void add_body(const document *page, html_state *html)
{
    for (size_t i = 0; i < page->count; i++)
        add_block(html, &page->blocks[i]);
    close_list(html);
    text_add(html->out, html->in_section ? "</section>\n" : "");
}

static void add_contents(const document *page, text_buffer *out)
{
    for (size_t i = 0; i < page->count; i++)
        if (page->blocks[i].kind == BLOCK_SECTION) {
            text_format(out, "<a href=\"#%s\">", page->blocks[i].id);
            add_text(out, page->blocks[i].text ? page->blocks[i].text : "");
            text_add(out, "</a>\n");
        }
}

/* Puts one of the parts that the frame names with {{part}}. */
static void add_part(const document *page, const char *part, html_state *html)
{
    if (strncmp(part, "{{title}}", 9) == 0)
        clean_add(html->out, FORM_MARKUP, page->title);
    else if (strncmp(part, "{{subtitle}}", 12) == 0)
        clean_add(html->out, FORM_MARKUP, page->subtitle);
    else if (strncmp(part, "{{contents}}", 12) == 0)
        add_contents(page, html->out);
    else if (strncmp(part, "{{body}}", 8) == 0)
        add_body(page, html);
    else if (strncmp(part, "{{generator}}", 13) == 0)
        clean_add(html->out, FORM_MARKUP, page->generator);
    else if (strncmp(part, "{{run}}", 7) == 0)
        text_add(html->out, page->run ? page->run->bytes : "");
    else
        die(EXIT_CODE_ENVIRONMENT, "page.html: %.20s: no such part", part);
}

void document_html(const document *page, const char *plots_directory, const char *directory,
                   text_buffer *out)
{
    char path[512];
    text_buffer frame = {0};
    html_state html = {.out = out, .directory = directory};
    report_path(path, plots_directory, "page", ".html");
    read_whole_file(path, &frame);
    for (const char *at = frame.bytes; *at;) {
        const char *part = strstr(at, "{{");
        size_t plain = part ? (size_t)(part - at) : strlen(at);
        text_add_bytes(out, at, plain);
        at += plain;
        if (part && strstr(part, "}}")) {
            add_part(page, part, &html);
            at = strstr(part, "}}") + 2;
        } else if (part) {
            die(EXIT_CODE_ENVIRONMENT, "%s: {{ without }}", path);
        }
    }
    text_free(&frame);
}
