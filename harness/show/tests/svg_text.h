/* The texts of a drawing and the room that they take, read from its SVG. */
#ifndef LNBENCH_SVG_TEXT_H
#define LNBENCH_SVG_TEXT_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct svg_text {
    char words[128];
    double left, right, top, bottom;
} svg_text;

/* Advance widths of Helvetica (and so of Liberation Sans) for ASCII 32 to 126, in thousandths of the
 * font's size: Adobe's Core 14 AFM files. What is beyond ASCII counts as a digit. */
static inline double svg_text_width(const char *words, double size)
{
    static const short widths[] = {
        278,  278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333, 278, 278,
        556,  556, 556, 556, 556, 556, 556, 556, 556, 556, 278, 278, 584, 584, 584, 556,
        1015, 667, 667, 722, 722, 667, 611, 778, 722, 278, 500, 667, 556, 833, 722, 778,
        667,  778, 722, 667, 611, 722, 667, 944, 667, 667, 611, 278, 278, 278, 469, 556,
        333,  556, 556, 500, 556, 556, 278, 556, 556, 222, 222, 500, 222, 833, 556, 556,
        556,  556, 333, 500, 278, 556, 500, 722, 500, 500, 500, 334, 260, 334, 584};
    double width = 0;
    for (; *words; words++) {
        unsigned char byte = (unsigned char)*words;
        if (byte >= 32 && byte < 127)
            width += widths[byte - 32];
        else if (byte >= 0xc0) /* the first byte of a character */
            width += 556;
    }
    return width * size / 1000;
}

/* Reads at most `most` texts that stand level; returns how many there are. */
static inline size_t svg_texts(const char *svg, svg_text *texts, size_t most)
{
    size_t count = 0;
    for (const char *group = svg; (group = strstr(group, "<g transform=\"translate(")); group++) {
        double x, y;
        const char *end = strchr(group, '>'), *size = strstr(group, "font-size=\""),
                   *anchor = strstr(group, "text-anchor=\""), *begin = strstr(group, "<text>");
        const char *turned = strstr(group, "rotate(");
        if (!end || (turned && turned < end) || !size || size > end || !begin || begin > end + 8 ||
            sscanf(group, "<g transform=\"translate(%lf,%lf)\"", &x, &y) != 2)
            continue;
        svg_text *text = &texts[count];
        const char *from = begin + 6;
        size_t length = 0;
        for (; strncmp(from, "</text>", 7) != 0 && length + 1 < sizeof text->words; from++) {
            if (*from == '<') /* a tspan */
                from += strcspn(from, ">");
            else if (length || *from != ' ')
                text->words[length++] = *from;
        }
        text->words[length] = '\0';
        double height = strtod(size + 11, NULL), width = svg_text_width(text->words, height);
        bool is_end = anchor && anchor < end && strncmp(anchor + 13, "end", 3) == 0;
        bool is_middle = anchor && anchor < end && strncmp(anchor + 13, "middle", 6) == 0;
        text->left = is_end ? x - width : is_middle ? x - width / 2 : x;
        text->right = text->left + width;
        text->top = y - 0.7 * height;
        text->bottom = y + 0.2 * height;
        count += length > 0 && count + 1 < most;
    }
    return count;
}

/* How many pairs of texts overlap by more than a pixel; the first of them in `which`. */
static inline size_t svg_overlaps(const char *svg, char which[300])
{
    enum { MOST = 1024 };
    svg_text *texts = calloc(MOST, sizeof *texts);
    size_t count = texts ? svg_texts(svg, texts, MOST) : 0, pairs = 0;
    for (size_t i = 0; i < count; i++)
        for (size_t j = i + 1; j < count; j++) {
            const svg_text *a = &texts[i], *b = &texts[j];
            if (a->left + 1 >= b->right || b->left + 1 >= a->right || a->top + 1 >= b->bottom ||
                b->top + 1 >= a->bottom)
                continue;
            if (pairs++ == 0)
                snprintf(which, 300, "'%s' at %.0f,%.0f and '%s' at %.0f,%.0f", a->words, a->left,
                         a->top, b->words, b->left, b->top);
        }
    free(texts);
    return pairs;
}

#endif
