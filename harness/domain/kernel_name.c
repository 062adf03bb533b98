#include "domain/kernel_name.h"
#include "domain/case.h"
#include "kernel_table.h"
#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

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
