/* Kernels by the words that a user types, their labels, their reproducibility, and their promised errors. */
#include "domain/kernel.h"
#include "base/relation.h"
#include "base/text.h"
#include "domain/case.h"
#include "domain/operation.h"
#include "kernel_table.h"
#include <fnmatch.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The kernels that a word means: the one of that name, those of that label, or those that fit a pattern. */
typedef struct word_meaning {
    const kernel_entry *one; /* the kernel of that name, or the last one of that label */
    size_t labels;           /* the number of kernels of that label */
    size_t others;           /* 1 for a name, or the number of kernels that fit the pattern */
} word_meaning;

static bool has_label(const kernel_entry *kernel, const char *word)
{
    return kernel_label_fits(word, kernel->facts.name) ||
           (word[0] && strcmp(word, kernel->version) == 0);
}

bool kernel_is_meant(const kernel_entry *kernel, const char *word)
{
    return kernel_name_matches(word, kernel->facts.name) || has_label(kernel, word);
}

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

/* Ends the program because the word means no kernel, or is the label of several. If names begin with the word, the
 * message proposes the pattern: 'naive' is no kernel, but 'naive*' matches several. */
static _Noreturn void die_of_word(const kernel_list *kernels, const char *word, size_t labels)
{
    const char *names[1024] = {NULL}, *methods[1024] = {NULL}, *nearest;
    text_buffer listed = {0};
    size_t count = 0, shown = 0;
    bool begins = false;
    for (; count < kernels->count && count < sizeof names / sizeof *names; count++) {
        names[count] = kernels->kernels[count].facts.name;
        methods[count] = kernels->kernels[count].facts.statistics;
        begins |= strncmp(names[count], word, strlen(word)) == 0;
        const bool is_own = strcmp(kernels->kernels[count].source, "builtin") != 0;
        if (shown < 8 && (labels > 0 ? has_label(&kernels->kernels[count], word) : is_own))
            text_format(&listed, "%s%s", shown++ ? ", " : "", names[count]);
    }
    if (labels > 0)
        die(EXIT_CODE_USAGE,
            "'%.100s' is the label of %zu kernels, %s%s: write one of their names%s%.100s%s "
            "(lnbench list kernels)",
            word, labels, listed.bytes, labels > shown ? ", ..." : "", begins ? ", or '" : "",
            begins ? word : "", begins ? "*'" : "");
    nearest = begins ? word : nearest_word(word, names, count);
    if (!nearest) {
        nearest = nearest_word(word, methods, count);
        begins = nearest != NULL;
    }
    const char *end = !nearest ? "" : begins ? "*'?)" : "'?)";
    die(EXIT_CODE_USAGE,
        "no kernel matches '%.100s'%s%.100s%s: see lnbench list kernels --operation all%s%s", word,
        nearest ? " (did you mean '" : "", nearest ? nearest : "", end,
        shown ? "; plugins and peers have " : "", shown ? listed.bytes : "");
}

const kernel_entry *kernel_find(const kernel_list *kernels, const char *word)
{
    const word_meaning meaning = meaning_of(kernels, word);
    return meaning.labels > 1 ? NULL : meaning.one;
}

const kernel_entry *kernel_meant(const kernel_list *kernels, const char *word)
{
    const kernel_entry *found = kernel_find(kernels, word);
    if (!found)
        die_of_word(kernels, word, meaning_of(kernels, word).labels);
    return found;
}

void kernel_words_check(const kernel_list *kernels, const word_list *words)
{
    for (size_t i = 0; i < words->count; i++) {
        const word_meaning meaning = meaning_of(kernels, words->words[i]);
        if (meaning.others == 0 && meaning.labels == 0)
            die_of_word(kernels, words->words[i], meaning.labels);
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
            "--conventions %.96s is for %s: %s computes %s (lnbench list conventions --operation "
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

void kernel_label(const char *name, const char *type, const char *isa, char *label, size_t size)
{
    size_t length = 0;
    label[0] = '\0';
    while (*name && length + 1 < size) {
        size_t part = 1 + strcspn(name + 1, "_");
        char word[NAME_MAX_LENGTH]; /* without the "_" before it */
        snprintf(word, sizeof word, "%.*s", (int)part - (name[0] == '_'), name + (name[0] == '_'));
        if (length == 0 || (strcmp(word, type) != 0 && strcmp(word, isa) != 0))
            length += (size_t)snprintf(label + length, size - length, "%.*s", (int)part, name);
        name += part;
    }
}

#define ISA_NAME(name, ...) #name,
static const char *const isas[] = {"", LN_ISA_TABLE(ISA_NAME)};

bool kernel_isa_is_known(const char *isa)
{
    return strcmp(isa, "any") == 0 || word_is_in(isa, WORDS(isas));
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

/* ---- reproducibility ---- */

static const char *const axis_names[AXIS_COUNT] = {
    [AXIS_CALL] = "call",           [AXIS_ROWS] = "rows",
    [AXIS_POSITION] = "position",   [AXIS_THREADS] = "threads",
    [AXIS_ALIGNMENT] = "alignment", [AXIS_STRIDE] = "stride",
    [AXIS_IN_PLACE] = "in-place",   [AXIS_ISA] = "isa"};

const char *axis_name(invariance_axis axis)
{
    return axis_names[axis];
}

/* The class as tables print it if it was measured, and if the kernel only declares it. */
static const char *const class_words[][2] = {[REPRODUCIBLE_UNKNOWN] = {"-", "-"},
                                             [REPRODUCIBLE_NONE] = {"none", "(none)"},
                                             [REPRODUCIBLE_RUN] = {"run", "(run)"},
                                             [REPRODUCIBLE_ROW] = {"row", "(row)"},
                                             [REPRODUCIBLE_ISA] = {"isa", "(isa)"}};

const char *reproducibility_name(reproducibility class)
{
    return class_words[class][0];
}

reproducibility reproducibility_named(const char *name)
{
    for (int known = REPRODUCIBLE_NONE; name && known <= REPRODUCIBLE_ISA; known++)
        if (strcmp(class_words[known][0], name) == 0)
            return (reproducibility)known;
    return REPRODUCIBLE_UNKNOWN;
}

const char *reproducibility_word(reproducibility measured, reproducibility declared)
{
    return measured == REPRODUCIBLE_UNKNOWN ? class_words[declared][1] : class_words[measured][0];
}

const char *reproducible_found(const kernel_facts *facts, const invariance_result *found)
{
    return reproducibility_word(found ? reproducibility_of(found) : REPRODUCIBLE_UNKNOWN,
                                reproducibility_declared(facts));
}

bool reproducible_is_less(const char *base, const char *new)
{
    reproducibility before = reproducibility_named(base), after = reproducibility_named(new);
    return after != REPRODUCIBLE_UNKNOWN && after < before;
}

const char *reproducible_both(const char *base, const char *new, char buffer[32])
{
    if (strcmp(base, new) == 0)
        return new;
    snprintf(buffer, 32, "%s was %s", new, base);
    return buffer;
}

reproducibility reproducibility_of(const invariance_result *found)
{
    if (found->varies & 1u << AXIS_CALL)
        return REPRODUCIBLE_NONE;
    if (found->varies & ~(1u << AXIS_CALL | 1u << AXIS_ISA))
        return REPRODUCIBLE_RUN;
    if (!(found->tested & 1u << AXIS_CALL))
        return REPRODUCIBLE_UNKNOWN;
    bool isa = (found->tested & ~found->varies) & 1u << AXIS_ISA;
    return isa ? REPRODUCIBLE_ISA : REPRODUCIBLE_ROW;
}

reproducibility reproducibility_declared(const kernel_facts *facts)
{
    return facts->traits & LN_TRAIT_ISA_REPRODUCIBLE   ? REPRODUCIBLE_ISA
           : facts->traits & LN_TRAIT_ROW_REPRODUCIBLE ? REPRODUCIBLE_ROW
                                                       : REPRODUCIBLE_UNKNOWN;
}

/* Leaves AXIS_ISA out: the class "row" already says that other ISAs may give other bits. */
const char *reproducibility_describe(const invariance_result *found, char *buffer, size_t size)
{
    reproducibility class = reproducibility_of(found);
    size_t length = (size_t)snprintf(buffer, size, "%s", reproducibility_name(class)), words = 0;
    for (int axis = AXIS_ROWS; class == REPRODUCIBLE_RUN && axis < AXIS_ISA; axis++)
        if (found->varies & 1u << axis && length < size)
            length += (size_t)snprintf(buffer + length, size - length, "%s%s",
                                       words++ ? ", " : " (", axis_names[axis]);
    if (words > 0 && length < size)
        snprintf(buffer + length, size - length, ")");
    return buffer;
}

/* Returns true if two kernels differ in the ISA only. */
static bool same_family(const kernel_entry *a, const kernel_entry *b)
{
    const kernel_facts *left = &a->facts, *right = &b->facts;
    return a->plugin == b->plugin && left->operation == right->operation && left->statistics[0] &&
           strcmp(left->statistics, right->statistics) == 0 &&
           strcmp(left->apply, right->apply) == 0 && strcmp(left->schedule, right->schedule) == 0 &&
           left->storage == right->storage && left->param == right->param &&
           left->accumulator == right->accumulator && left->unroll == right->unroll &&
           strcmp(left->isa, right->isa) != 0;
}

size_t with_families(const kernel_list *kernels, const kernel_entry *const *own, size_t own_count,
                     const kernel_entry **chosen)
{
    size_t count = own_count;
    for (size_t i = 0; i < own_count; i++)
        chosen[i] = own[i];
    for (size_t i = 0; i < kernels->count; i++) {
        const kernel_entry *other = &kernels->kernels[i];
        bool among = false, related = false;
        for (size_t j = 0; j < own_count; j++) {
            among = among || own[j] == other;
            related = related || same_family(own[j], other);
        }
        if (related && !among)
            chosen[count++] = other;
    }
    return count;
}

void invariance_compare_isas(const kernel_entry *const *kernels, invariance_result *found,
                             size_t count)
{
    const unsigned isa = 1u << AXIS_ISA, call = 1u << AXIS_CALL;
    for (size_t a = 0; a < count; a++)
        for (size_t b = 0; b < count; b++) {
            if (!(found[a].tested & found[b].tested & call) || !same_family(kernels[a], kernels[b]))
                continue;
            found[a].tested |= isa;
            if (memcmp(found[a].defaults, found[b].defaults, sizeof found[a].defaults) != 0)
                found[a].varies |= isa;
        }
}

/* ---- the errors that layernorm.h promises for calls ---- */

enum { CLASSES = LN_ACCURACY_EXACT + 1, TYPES = LN_F16 + 1 };

static const struct {
    const char *name; /* the names of such calls begin so; types follow */
    double row_ulp[TYPES];
} promises[CLASSES] = {
    [LN_ACCURACY_FAST] = {"library_fast_",
                          {[LN_F32] = 16, [LN_F64] = 32, [LN_F16] = 0.52, [LN_BF16] = 0.51}},
    [LN_ACCURACY_ACCURATE] = {"library_accurate_",
                              {[LN_F32] = 2, [LN_F64] = 2, [LN_F16] = 0.51, [LN_BF16] = 0.51}},
    [LN_ACCURACY_REPRODUCIBLE] = {"library_reproducible_", {0}},
    [LN_ACCURACY_EXACT] = {"library_exact_", {[LN_F32] = 0.5, [LN_F16] = 0.5, [LN_BF16] = 0.5}},
};

bool call_class(const kernel_facts *kernel, ln_accuracy *accuracy)
{
    for (int class = 0; class < CLASSES && strcmp(kernel->role, KERNEL_ROLE_CALL) == 0; class ++)
        if (strncmp(kernel->name, promises[class].name, strlen(promises[class].name)) == 0) {
            *accuracy = (ln_accuracy) class;
            return true;
        }
    return false;
}

bool promise_covers(ln_accuracy accuracy, const char *family)
{
    bool squares_fit = strcmp(family, "huge") != 0 && strcmp(family, "overflow") != 0;
    return squares_fit || accuracy == LN_ACCURACY_ACCURATE || accuracy == LN_ACCURACY_EXACT;
}

double promised_row_ulp(ln_accuracy accuracy, ln_type storage, const ln_convention *convention)
{
    double row_ulp = promises[accuracy].row_ulp[storage];
    bool of_pytorch =
        convention->ddof == 0 && convention->eps_place == LN_EPS_VAR && convention->eps == 1e-5;
    bool held = accuracy == LN_ACCURACY_FAST ? of_pytorch : !convention_rounds_between(convention);
    return held && row_ulp > 0 ? row_ulp : INFINITY;
}
