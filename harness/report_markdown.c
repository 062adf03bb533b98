/* The page as Markdown: read back from the HTML that html_page wrote, so that both say the same.
 * It knows the elements that the page has, and no others. */
#include "report_parts.h"
#include <stdlib.h>
#include <string.h>

typedef struct markdown {
    text *out;
    const char *at;
    bool in_cell, in_code, heading_row;
    size_t columns;
    int lists; /* that are open */
} markdown;

/* The value of an attribute of the tag at `tag`, as it stands there; "" where there is none. */
static void attribute(const char *tag, const char *name, char *value, size_t size)
{
    char mark[32];
    const char *end = strchr(tag, '>');
    snprintf(mark, sizeof mark, " %s=\"", name);
    const char *found = strstr(tag, mark);
    value[0] = '\0';
    if (!found || !end || found > end)
        return;
    found += strlen(mark);
    snprintf(value, size, "%.*s", (int)strcspn(found, "\""), found);
}

static bool is_tag(const char *at, const char *name)
{
    size_t length = strlen(name);
    return at[0] == '<' && strncmp(at + 1, name, length) == 0 &&
           (at[1 + length] == '>' || at[1 + length] == ' ');
}

static void add_character(markdown *page, char byte)
{
    if (page->in_code) {
        text_add_bytes(page->out, &byte, 1);
        return;
    }
    if (strchr("\\`*_[]|#", byte))
        text_add(page->out, "\\");
    if (byte == '<')
        text_add(page->out, "&lt;");
    else
        text_add_bytes(page->out, byte == '\n' ? " " : &byte, 1);
}

/* &amp; and the like; what is not known stays as it is, since Markdown takes entities. */
static void add_entity(markdown *page)
{
    static const struct {
        const char *entity;
        char byte;
    } known[] = {{"&amp;", '&'}, {"&lt;", '<'}, {"&gt;", '>'}, {"&quot;", '"'}, {"&#39;", '\''}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        size_t length = strlen(known[i].entity);
        if (strncmp(page->at, known[i].entity, length) == 0) {
            add_character(page, known[i].byte);
            page->at += length;
            return;
        }
    }
    text_add(page->out, "&");
    page->at++;
}

static void skip_to(markdown *page, const char *mark)
{
    const char *found = strstr(page->at, mark);
    page->at = found ? found + strlen(mark) : page->at + strlen(page->at);
}

/* The drawing becomes the PNG beside the file. */
static void add_figure(markdown *page)
{
    char stem[64], title[256];
    attribute(page->at, "id", stem, sizeof stem);
    attribute(page->at, "aria-label", title, sizeof title);
    text_format(page->out, "\n![%s](%s.png)\n\n", title, stem);
    skip_to(page, "</svg>");
    skip_to(page, "</div>");
}

static void end_row(markdown *page)
{
    text_add(page->out, " |\n");
    for (size_t i = 0; page->heading_row && i < page->columns; i++)
        text_add(page->out, i + 1 == page->columns ? "| --- |\n" : "| --- ");
    page->heading_row = false;
}

typedef struct element {
    const char *name, *before; /* what stands for the tag */
} element;

static const element elements[] = {
    {"h1", "# "},      {"/h1", "\n\n"}, {"h2", "\n## "},      {"/h2", "\n\n"},
    {"h3", "\n### "},  {"/h3", "\n\n"}, {"p", "\n"},          {"/p", "\n"},
    {"/li", "\n"},     {"ul", "\n"},    {"/ul", "\n"},        {"strong", "**"},
    {"/strong", "**"}, {"em", "*"},     {"/em", "*"},         {"dt", "\n**"},
    {"/dt", "**: "},   {"/dd", "\n"},   {"figcaption", "\n"}, {"/figcaption", "\n"},
    {"br", " "},       {"table", "\n"}, {"/table", "\n"},
};

/* Lists within lists stand further in; what is folded up there begins its item, and elsewhere is a
 * heading. */
static void add_list_tag(markdown *page)
{
    if (is_tag(page->at, "ul"))
        page->lists++;
    else if (is_tag(page->at, "/ul"))
        page->lists -= page->lists > 0;
    else if (is_tag(page->at, "li"))
        text_format(page->out, "%*s- ", page->lists > 1 ? 2 * (page->lists - 1) : 0, "");
    else if (is_tag(page->at, "summary"))
        text_add(page->out, page->lists ? "" : "\n#### ");
    else if (is_tag(page->at, "/summary"))
        text_add(page->out, page->lists ? "" : "\n\n");
}

static void add_tag(markdown *page)
{
    add_list_tag(page);
    for (size_t i = 0; i < sizeof elements / sizeof *elements; i++)
        if (is_tag(page->at, elements[i].name))
            text_add(page->out, elements[i].before);
    if (is_tag(page->at, "code") || is_tag(page->at, "/code")) {
        page->in_code = page->at[1] != '/';
        text_add(page->out, "`");
    } else if (is_tag(page->at, "pre") || is_tag(page->at, "/pre")) {
        page->in_code = page->at[1] != '/';
        text_add(page->out, page->in_code ? "\n```\n" : "\n```\n");
    } else if (is_tag(page->at, "tr")) {
        page->columns = 0;
    } else if (is_tag(page->at, "th") || is_tag(page->at, "td")) {
        page->heading_row = page->at[2] == 'h' || page->heading_row;
        text_add(page->out, page->columns++ ? " | " : "| ");
    } else if (is_tag(page->at, "/tr")) {
        end_row(page);
    }
    skip_to(page, ">");
}

/* A table without a heading (the machine's facts) gets an empty one, which Markdown needs. */
static void add_empty_heading(markdown *page)
{
    const char *body = strstr(page->at, ">");
    if (body && strncmp(body + 1, "<tbody>", 7) == 0)
        text_add(page->out, "\n| | |\n| --- | --- |");
}

bool report_markdown(const char *html, text *out, error *error)
{
    markdown page = {.out = out, .at = strstr(html, "<main>")};
    while (page.at && *page.at && strncmp(page.at, "</main>", 7) != 0) {
        if (strncmp(page.at, "<div class=\"scroll\" id=", 23) == 0) {
            add_figure(&page);
        } else if (strncmp(page.at, "<a class=\"embedded\"", 19) == 0) {
            skip_to(&page, "</a>");
        } else if (*page.at == '<') {
            if (is_tag(page.at, "table"))
                add_empty_heading(&page);
            add_tag(&page);
        } else if (*page.at == '&') {
            add_entity(&page);
        } else if (*page.at == '\n' && !page.in_code) {
            page.at++; /* the page breaks its lines between elements */
            if (out->length && !strchr("\n ", out->bytes[out->length - 1]))
                text_add(out, page.columns && page.at[0] != '<' ? " " : "");
        } else {
            add_character(&page, *page.at++);
        }
    }
    return !out->failed || fail_memory(error, "report.md");
}
