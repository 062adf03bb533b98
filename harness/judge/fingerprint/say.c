/* What was found, in words. */
#include "judge/fingerprint/fingerprint.h"
#include <stdio.h>

const char *which_answer_name(which_answer answer)
{
    static const char *const names[] = {"none", "open", "named"};
    return names[answer];
}

exit_code which_exit_code(which_answer answer)
{
    static const exit_code codes[] = {EXIT_CODE_ACCURACY, EXIT_CODE_INCONCLUSIVE, EXIT_CODE_FINE};
    return codes[answer];
}

const char *which_say(const which_found *found, char *buffer, size_t size)
{
    bool named = found->answer == WHICH_NAMED;
    size_t said = named ? 1 : 4;
    size_t length = (size_t)snprintf(buffer, size, "%s: ", which_answer_name(found->answer));
    if (found->answer == WHICH_NONE)
        snprintf(buffer, size, "none of %zu candidates explains y", found->tried);
    for (size_t i = 0; i < found->count && i < said && length < size; i++)
        length += (size_t)snprintf(buffer + length, size - length, "%s%s", i ? "; or " : "",
                                   found->candidates[i].words);
    if (found->count > said && length < size && named)
        snprintf(buffer + length, size - length, " (where values were rounded is open)");
    else if (found->count > said && length < size)
        snprintf(buffer + length, size - length, "; or %zu more", found->count - said);
    return buffer;
}
