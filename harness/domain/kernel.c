#include "domain/kernel.h"
#include "base/text.h"
#include "domain/case.h"
#include "domain/convention.h"
#include "kernel_table.h"
#include <fnmatch.h>
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
        return fail(err, EXIT_CODE_USAGE,
                    "no kernel matches '%.100s': see lnbench list kernels --operation all", word);
    return fail(err, EXIT_CODE_USAGE,
                "no kernel matches '%.100s' (did you mean '%.100s%s'?): see lnbench list kernels "
                "--operation all",
                word, nearest, begins ? "*" : "");
}

enum { LISTED_MOST = 8 };

static bool fail_ambiguous(const kernel_list *kernels, const char *word, size_t count, error *err)
{
    char names[LISTED_MOST * NAME_MAX_LENGTH] = "";
    size_t length = 0, listed = 0;
    bool begins = false;
    for (size_t i = 0; i < kernels->count; i++)
        begins |= strncmp(kernels->kernels[i].facts.name, word, strlen(word)) == 0;
    for (size_t i = 0; i < kernels->count && listed < LISTED_MOST; i++)
        if (has_label(&kernels->kernels[i], word))
            length += (size_t)snprintf(names + length, sizeof names - length, "%s%s",
                                       listed++ ? ", " : "", kernels->kernels[i].facts.name);
    return fail(err, EXIT_CODE_USAGE,
                "'%.100s' is the label of %zu kernels, %s%s: write one of their names%s%.100s%s "
                "(lnbench list kernels)",
                word, count, names, count > listed ? ", ..." : "", begins ? ", or '" : "",
                begins ? word : "", begins ? "*'" : "");
}

/* What a word means among kernels: the one of that name, kernels of that label, or a pattern's. */
typedef struct word_meaning {
    const kernel_entry *one; /* of the name, or the last of the label */
    size_t labels,
        others; /* kernels that have it for a label; of that name, or fitting the pattern */
} word_meaning;

static word_meaning meaning_of(const kernel_list *kernels, const char *word)
{
    word_meaning meaning = {0};
    for (size_t i = 0; i < kernels->count; i++) {
        const kernel_entry *kernel = &kernels->kernels[i];
        if (strcmp(kernel->facts.name, word) == 0)
            return (word_meaning){.one = kernel, .others = 1};
        if (has_label(kernel, word)) {
            meaning.one = kernel;
            meaning.labels++;
        } else if (kernel_is_meant(kernel, word)) {
            meaning.others++;
        }
    }
    return meaning;
}

static bool is_ambiguous(const word_meaning *meaning)
{
    return meaning->others == 0 && meaning->labels > 1;
}

const kernel_entry *kernel_find(const kernel_list *kernels, const char *word, error *err)
{
    word_meaning meaning = meaning_of(kernels, word);
    if (meaning.labels > 1)
        fail_ambiguous(kernels, word, meaning.labels, err);
    else if (!meaning.one)
        fail_unknown(kernels, word, err);
    return meaning.labels > 1 ? NULL : meaning.one;
}

void kernel_words_check(const kernel_list *kernels, const word_list *words)
{
    error why;
    for (size_t i = 0; i < words->count; i++) {
        word_meaning meaning = meaning_of(kernels, words->words[i]);
        if (meaning.labels + meaning.others > 0 && !is_ambiguous(&meaning))
            continue;
        if (is_ambiguous(&meaning))
            fail_ambiguous(kernels, words->words[i], meaning.labels, &why);
        else
            fail_unknown(kernels, words->words[i], &why);
        die(why.code, "%s", why.message);
    }
}

void kernel_words_named(const kernel_list *kernels, const word_list *words, word_list *names)
{
    error why;
    for (size_t i = 0; i < words->count; i++) {
        word_meaning meaning = meaning_of(kernels, words->words[i]);
        if (is_ambiguous(&meaning)) {
            fail_ambiguous(kernels, words->words[i], meaning.labels, &why);
            die(why.code, "%s", why.message);
        }
        bool label = meaning.others == 0 && meaning.labels == 1;
        word_list_add(names, label ? meaning.one->facts.name : words->words[i]);
    }
}

const char *kernel_words_convention(const kernel_list *kernels, const word_list *words,
                                    const char *given)
{
    const kernel_facts *last = NULL;
    unsigned kinds = 0;
    for (size_t i = 0; i < kernels->count * words->count; i++)
        if (kernel_is_meant(&kernels->kernels[i / words->count], words->words[i % words->count])) {
            last = &kernels->kernels[i / words->count].facts;
            kinds |= OPERATION_BIT(last->operation);
        }
    if (!given)
        return operations[kinds ? __builtin_ctz(kinds) : 0]->presets[0].name;
    const ln_operation kind = convention_named(given).operation;
    if (kinds && !(kinds & OPERATION_BIT(kind)))
        die(EXIT_CODE_USAGE,
            "--conventions %.96s is of %s: %s computes %s (lnbench list conventions --operation "
            "%s)",
            given, operation_name(kind), last->name, operation_name(last->operation),
            operation_name(last->operation));
    return given;
}

void kernel_list_free(kernel_list *kernels)
{
    free(kernels->kernels);
    *kernels = (kernel_list){0};
}

static bool is_word(const char *at, size_t length, const char *word)
{
    return word[0] && strlen(word) == length && memcmp(at, word, length) == 0;
}

void kernel_label(const char *name, const char *type, const char *isa, char *label, size_t size)
{
    size_t length = 0;
    label[0] = '\0';
    while (*name && length + 1 < size) {
        size_t part = 1 + strcspn(name + 1, "_");
        const char *word = name + (name[0] == '_');
        size_t own = part - (size_t)(word - name);
        if (length == 0 || (!is_word(word, own, type) && !is_word(word, own, isa)))
            length += (size_t)snprintf(label + length, size - length, "%.*s", (int)part, name);
        name += part;
    }
}

#define ISA_NAME(name, ...) #name,
static const char *const isas[] = {"", LN_ISA_TABLE(ISA_NAME)};

bool kernel_isa_is_known(const char *isa)
{
    bool known = strcmp(isa, "any") == 0;
    for (size_t i = 0; i < sizeof isas / sizeof *isas; i++)
        known |= strcmp(isa, isas[i]) == 0;
    return known;
}

bool kernel_label_fits(const char *label, const char *name)
{
    static const ln_type types[] = {LN_F32, LN_F64, LN_BF16, LN_F16};
    char own[NAME_MAX_LENGTH];
    for (size_t isa = 0; isa < sizeof isas / sizeof *isas; isa++)
        for (size_t type = 0; type < sizeof types / sizeof *types; type++) {
            kernel_label(name, dtype_name(types[type]), isas[isa], own, sizeof own);
            if (strcmp(own, label) == 0)
                return true;
        }
    return false;
}

bool kernel_name_matches(const char *glob, const char *name)
{
    return fnmatch(glob, name, 0) == 0 || kernel_label_fits(glob, name);
}
