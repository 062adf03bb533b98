/* A small check of markup, for SVG and HTML alike. */
#ifndef LNBENCH_MARKUP_H
#define LNBENCH_MARKUP_H

#include <stdbool.h>
#include <string.h>

/* Every tag closed by its own, every attribute quoted, no stray '<': what a browser or an XML
 * reader must be able to rely on. HTML's empty elements are known. */
static inline bool is_balanced(const char *markup)
{
    static const char *const empty[] = {"meta", "br", "!DOCTYPE", "?xml"};
    const char *open[256];
    size_t lengths[256], depth = 0;
    for (const char *at = strchr(markup, '<'); at; at = strchr(at, '<')) {
        bool closing = at[1] == '/';
        const char *name = at + 1 + closing;
        size_t length = strcspn(name, " \t\n>/");
        const char *end = name + length;
        for (char quote = '\0'; *end && (quote || *end != '>'); end++)
            quote = quote ? (*end == quote ? '\0' : quote)
                          : (*end == '"' || *end == '\'' ? *end : '\0');
        if (!*end || length == 0)
            return false;
        bool single = end[-1] == '/';
        for (size_t i = 0; i < 4; i++)
            single = single || (length == strlen(empty[i]) && !strncmp(name, empty[i], length));
        at = end;
        if (closing &&
            (depth == 0 || lengths[--depth] != length || strncmp(open[depth], name, length) != 0))
            return false;
        if (closing || single)
            continue;
        if (depth == 256)
            return false;
        /* The page's own script and style are no markup. */
        bool raw = (length == 6 && !strncmp(name, "script", 6)) ||
                   (length == 5 && !strncmp(name, "style", 5));
        if (raw && !(at = strstr(end, "</")))
            return false;
        open[depth] = name;
        lengths[depth++] = length;
    }
    return depth == 0;
}

#endif
