/* Lists of words, as options take them, and the shapes among them. */
#ifndef LNBENCH_WORDS_H
#define LNBENCH_WORDS_H

#include "base/error.h"
#include <stddef.h>

typedef struct word_list {
    const char **words; /* the strings belong to the list or to argv */
    size_t count;
} word_list;

void word_list_add(word_list *list, const char *word); /* copies */
bool word_list_split(word_list *list, const char *text,
                     error *err); /* at commas; empty parts are errors */
void word_list_free(word_list *list);

/* "512x768": rows and hidden, both at least 1, product within memory's reach. */
bool shape_parse(const char *text, size_t *rows, size_t *hidden, error *err);

#endif
