/* The environment variables, which no call may change. */
#include "worker/child/internal.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern char **environ;

/* Copies, and where the originals were: comparing those is enough as a rule. */
static struct {
    char **copies, **entries, **place;
    size_t count;
} kept;

static size_t count_entries(void)
{
    size_t count = 0;
    while (environ && environ[count])
        count++;
    return count;
}

void environment_record(void)
{
    size_t count = count_entries();
    for (size_t i = 0; i < kept.count; i++)
        free(kept.copies[i]);
    free(kept.copies);
    free(kept.entries);
    kept.copies = calloc(count + 1, sizeof *kept.copies);
    kept.entries = calloc(count + 1, sizeof *kept.entries);
    kept.count = kept.copies && kept.entries ? count : 0;
    kept.place = kept.count == count ? environ : NULL;
    for (size_t i = 0; i < kept.count; i++) {
        kept.entries[i] = environ[i];
        kept.copies[i] = strdup(environ[i]);
    }
}

/* LLVM's and Intel's OpenMP note in the environment that they are there. */
static bool is_of_openmp(const char *entry)
{
    return strncmp(entry, "__KMP_", 6) == 0;
}

static bool holds(char *const *entries, size_t count, const char *wanted)
{
    for (size_t i = 0; i < count; i++)
        if (entries[i] && strcmp(entries[i], wanted) == 0)
            return true;
    return is_of_openmp(wanted);
}

/* An entry that is not in the other one; NULL: all are. */
static const char *first_missing(char *const *entries, size_t count, char *const *of,
                                 size_t of_count)
{
    for (size_t i = 0; i < count; i++)
        if (entries[i] && !holds(of, of_count, entries[i]))
            return entries[i];
    return NULL;
}

const char *environment_compare(void)
{
    static char text[96];
    size_t count = count_entries();
    if (!kept.place || (environ == kept.place && count == kept.count &&
                        memcmp(environ, kept.entries, count * sizeof *environ) == 0))
        return NULL;
    const char *other = first_missing(environ, count, kept.copies, kept.count);
    if (!other)
        other = first_missing(kept.copies, kept.count, environ, count);
    if (!other) {
        environment_record(); /* the same, at another place */
        return NULL;
    }
    snprintf(text, sizeof text, "changed the environment variable %.*s",
             (int)(strcspn(other, "=") < 40 ? strcspn(other, "=") : 40), other);
    return text;
}
