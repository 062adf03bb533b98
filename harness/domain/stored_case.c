#include "domain/stored_case.h"
#include <stdlib.h>

size_t stored_cases_find(const stored_cases *cases, const case_key *key)
{
    size_t i;
    hash_probe at = hash_index_probe(&cases->index, case_key_hash(key));
    while (hash_index_next(&cases->index, &at, &i))
        if (case_key_equal(&cases->cases[i].key, key))
            return i;
    for (i = cases->index.count; i < cases->count; i++)
        if (case_key_equal(&cases->cases[i].key, key))
            return i;
    return cases->count;
}

void stored_cases_index(stored_cases *cases)
{
    for (size_t i = cases->index.count; i < cases->count; i++)
        hash_index_add(&cases->index, case_key_hash(&cases->cases[i].key), i);
}

void stored_cases_free(stored_cases *cases)
{
    for (size_t i = 0; i < cases->count; i++)
        free(cases->cases[i].repetitions);
    free(cases->cases);
    hash_index_free(&cases->index);
    *cases = (stored_cases){0};
}
