#include "domain/kernel.h"
#include "base/text.h"
#include "domain/kernel_name.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool has_label(const kernel_entry *kernel, const char *word)
{
    return kernel_label_fits(word, kernel->facts.name) ||
           (word[0] && strcmp(word, kernel->version) == 0);
}

bool kernel_is_meant(const kernel_entry *kernel, const char *word)
{
    return kernel_name_matches(word, kernel->facts.name) || has_label(kernel, word);
}

/* 'naive' is no kernel: 'naive*' are several. */
static bool fail_unknown(const kernel_list *kernels, const char *word, error *err)
{
    const char *names[1024];
    size_t count = 0;
    bool begins = false;
    for (; count < kernels->count && count < 1024; count++) {
        names[count] = kernels->kernels[count].facts.name;
        begins = begins || strncmp(names[count], word, strlen(word)) == 0;
    }
    const char *nearest = begins ? word : nearest_word(word, names, count);
    if (!nearest)
        return fail(err, EXIT_CODE_USAGE, "no kernel matches '%.100s': see lnbench list kernels",
                    word);
    return fail(err, EXIT_CODE_USAGE,
                "no kernel matches '%.100s' (did you mean '%.100s%s'?): see lnbench list kernels",
                word, nearest, begins ? "*" : "");
}

static bool fail_ambiguous(const kernel_list *kernels, const char *word, size_t count, error *err)
{
    char names[3 * NAME_MAX_LENGTH] = "";
    size_t length = 0, listed = 0;
    bool begins = false;
    for (size_t i = 0; i < kernels->count; i++)
        begins |= strncmp(kernels->kernels[i].facts.name, word, strlen(word)) == 0;
    for (size_t i = 0; i < kernels->count && listed < 3; i++)
        if (has_label(&kernels->kernels[i], word))
            length += (size_t)snprintf(names + length, sizeof names - length, "%s%s",
                                       listed++ ? ", " : "", kernels->kernels[i].facts.name);
    return fail(err, EXIT_CODE_USAGE,
                "'%.100s' is the label of %zu kernels, %s%s: write one of their names%s%.100s%s "
                "(lnbench list kernels)",
                word, count, names, count > listed ? ", ..." : "", begins ? ", or '" : "",
                begins ? word : "", begins ? "*'" : "");
}

static bool has_labels(const kernel_list *kernels, const char *word)
{
    for (size_t i = 0; i < kernels->count; i++)
        if (has_label(&kernels->kernels[i], word))
            return true;
    return false;
}

const kernel_entry *kernel_find(const kernel_list *kernels, const char *word, error *err)
{
    const kernel_entry *found = NULL;
    size_t labels = 0;
    for (size_t i = 0; i < kernels->count; i++) {
        const kernel_entry *kernel = &kernels->kernels[i];
        if (strcmp(kernel->facts.name, word) == 0)
            return kernel;
        if (has_label(kernel, word)) {
            found = kernel;
            labels++;
        }
    }
    if (labels == 0)
        fail_unknown(kernels, word, err);
    else if (labels > 1)
        fail_ambiguous(kernels, word, labels, err);
    return labels == 1 ? found : NULL;
}

bool kernel_words_check(const kernel_list *kernels, const word_list *words, error *err)
{
    for (size_t w = 0; w < words->count; w++) {
        const char *word = words->words[w];
        size_t labels = 0, others = 0;
        for (size_t i = 0; i < kernels->count; i++) {
            const kernel_entry *kernel = &kernels->kernels[i];
            bool label = has_label(kernel, word) && strcmp(word, kernel->facts.name) != 0;
            labels += label;
            others += !label && kernel_is_meant(kernel, word);
        }
        if (labels + others == 0)
            return fail_unknown(kernels, word, err);
        if (others == 0 && labels > 1)
            return fail_ambiguous(kernels, word, labels, err);
    }
    return true;
}

bool kernel_words_named(const kernel_list *kernels, const word_list *words, word_list *names,
                        error *err)
{
    for (size_t w = 0; w < words->count; w++) {
        error unknown;
        const word_list word = {&words->words[w], 1};
        const kernel_entry *kernel = kernel_find(kernels, words->words[w], &unknown);
        bool known = kernel || kernel_words_check(kernels, &word, &unknown);
        if (!known && has_labels(kernels, words->words[w])) {
            *err = unknown;
            return false;
        }
        word_list_add(names, kernel ? kernel->facts.name : words->words[w]);
    }
    return true;
}

void kernel_list_free(kernel_list *kernels)
{
    free(kernels->kernels);
    *kernels = (kernel_list){0};
}
