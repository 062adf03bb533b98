/* What may stand for an option's argument: from its placeholder ("quick|default|full", "FILE.npy")
 * and, where lnbench itself can list what there is, from its name. */
#include "cli/formats.h"
#include <ctype.h>
#include <string.h>

const char *option_value_listed(const cli_option *option)
{
    static const struct {
        const char *option, *listed;
    } known[] = {
        {"kernels", "kernels"}, {"conventions", "conventions"},
        {"inputs", "inputs"},   {"model", "models"},
        {"run", "runs"},        {"baseline", "runs"},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(option->name, known[i].option) == 0)
            return known[i].listed;
    return NULL;
}

value_kind option_value_kind(const cli_option *option)
{
    if (!option->argument)
        return VALUE_NONE;
    if (option_value_listed(option))
        return VALUE_LISTED;
    if (strncmp(option->argument, "DIR", 3) == 0)
        return VALUE_DIRECTORY;
    /* FILE, FILE.npy, OLD.so; but not FORMAT=FILE */
    if (!strchr(option->argument, '=') &&
        (strstr(option->argument, "FILE") || strstr(option->argument, ".so")))
        return VALUE_FILE;
    return islower((unsigned char)option->argument[0]) ? VALUE_WORDS : VALUE_ANY;
}

void option_value_words(const char *argument, char separator, char *words, size_t size)
{
    size_t length = 0;
    words[0] = '\0';
    while (*argument) {
        size_t word = strcspn(argument, "|,");
        bool shown = strncmp(argument, "...", 3) != 0 && length + word + 2 < size;
        if (shown && length > 0)
            words[length++] = separator;
        for (size_t i = 0; shown && i < word; i++)
            words[length++] = argument[i];
        words[length] = '\0';
        argument += word + (argument[word] != '\0');
    }
}
