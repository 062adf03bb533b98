/* The names of a case's properties, its key, its metrics by name, and the search for cases by their keys. */
#include "domain/case.h"
#include "base/arena.h"
#include "base/hash.h"
#include "base/text.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const dtype_names[] = {"f32", "f64", "bf16", "f16"};

const char *dtype_name(ln_type type)
{
    return dtype_names[type];
}

bool dtype_from_name(const char *name, ln_type *type)
{
    size_t found = word_find(name, WORDS(dtype_names));
    if (found <= LN_F16)
        *type = (ln_type)found;
    return found <= LN_F16;
}

size_t dtype_size(ln_type type)
{
    return type == LN_F32 ? 4 : type == LN_F64 ? 8 : 2;
}

double dtype_no_digit(ln_type type)
{
    return type == LN_F32 ? 0x1p23 : type == LN_F64 ? 0x1p52 : type == LN_F16 ? 0x1p10 : 0x1p7;
}

double unit_roundoff(ln_type type)
{
    return 0.5 / dtype_no_digit(type);
}

double dtype_least_normal(ln_type type)
{
    return type == LN_F64 ? 0x1p-1022 : type == LN_F16 ? 0x1p-14 : 0x1p-126;
}

const char *const cache_names[CACHE_STATES] = {"hot", "cold", "in-place", "read"};

const char *cache_name(cache_state state)
{
    return cache_names[state];
}

const char *cache_phrase(cache_state state)
{
    static const char *const phrases[CACHE_STATES] = {"hot cache", "cold cache", "in place",
                                                      "y read after each call"};
    return phrases[state];
}

bool cache_from_name(const char *name, cache_state *state)
{
    size_t found = word_find(name, WORDS(cache_names));
    if (found < CACHE_STATES)
        *state = (cache_state)found;
    return found < CACHE_STATES;
}

const char *const copy_names[COPY_KINDS] = {"copy", "copy_nt", "copy_rep"};

const char *copy_mark(const char *copy)
{
    static const char *const marks[COPY_KINDS + 1] = {"", " nt", " rep", " rep"};
    return marks[word_find(copy, copy_names, COPY_KINDS)];
}

const char *copy_words(const char *copy)
{
    static const char *const words[COPY_KINDS + 1] = {
        "a plain loop", "a loop of non-temporal stores", "rep movsb", "rep movsb"};
    return words[word_find(copy, copy_names, COPY_KINDS)];
}

bool is_copy(const char *kernel)
{
    return strcmp(kernel, "copy") == 0 || strncmp(kernel, "copy_", 5) == 0;
}

bool case_key_same_but_kernel(const case_key *a, const case_key *b)
{
    return a->rows == b->rows && a->hidden == b->hidden && a->dtype == b->dtype &&
           a->cache == b->cache && a->threads == b->threads && a->operation == b->operation &&
           strcmp(a->convention, b->convention) == 0 && strcmp(a->input, b->input) == 0;
}

const char *const check_names[CHECK_NAMES] = {"", "combinations", "large", "growth"};

bool is_check(const char *input)
{
    return *input && word_is_in(input, WORDS(check_names));
}

bool case_key_equal(const case_key *a, const case_key *b)
{
    return case_key_same_but_kernel(a, b) && strcmp(a->kernel, b->kernel) == 0;
}

/* Adds the bytes of a number in a fixed order: the hash of a key also seeds the draws of a bootstrap interval. */
static uint64_t hash_number(uint64_t hash, uint64_t number)
{
    for (int i = 0; i < 64; i += 8) {
        unsigned char byte = (unsigned char)(number >> i);
        hash = hash_bytes(hash, &byte, 1);
    }
    return hash;
}

uint64_t case_key_hash(const case_key *key)
{
    uint64_t hash = HASH_START;
    hash = hash_bytes(hash, key->kernel, strlen(key->kernel) + 1);
    hash = hash_bytes(hash, key->convention, strlen(key->convention) + 1);
    hash = hash_bytes(hash, key->input, strlen(key->input) + 1);
    hash = hash_number(hash, key->rows);
    hash = hash_number(hash, key->hidden);
    hash = hash_number(hash, key->dtype);
    hash = hash_number(hash, key->cache);
    return hash_number(hash, key->threads);
}

const char *const regime_names[REGIMES] = {"L1", "L2", "L3", "DRAM"};

double metric_value(const ln_metrics *metrics, const metric_field *field)
{
    const char *at = (const char *)metrics + field->offset;
    return field->kind == METRIC_REAL ? *(const double *)(const void *)at
                                      : (double)*(const uint64_t *)(const void *)at;
}

void metrics_undefined(ln_metrics *metrics)
{
    const double undefined = NAN;
    *metrics = (ln_metrics){0};
    for (size_t i = 0; i < metric_count_all; i++)
        if (metric_list[i].kind == METRIC_REAL)
            memcpy((char *)metrics + metric_list[i].offset, &undefined, sizeof undefined);
}

/* The index of a case and the hash of its key. Entries are sorted by hash. */
struct case_place {
    uint64_t hash;
    size_t at;
};

static int compare_places(const void *a, const void *b)
{
    const struct case_place *left = a, *right = b;
    return left->hash != right->hash ? (left->hash > right->hash) - (left->hash < right->hash)
                                     : (left->at > right->at) - (left->at < right->at);
}

size_t stored_cases_find(const stored_cases *cases, const case_key *key)
{
    const uint64_t hash = case_key_hash(key);
    size_t low = 0, high = cases->indexed;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (cases->index[middle].hash < hash)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < cases->indexed && cases->index[low].hash == hash; low++)
        if (case_key_equal(&cases->cases[cases->index[low].at].key, key))
            return cases->index[low].at;
    for (low = cases->indexed; low < cases->count; low++)
        if (case_key_equal(&cases->cases[low].key, key))
            return low;
    return cases->count;
}

void stored_cases_index(stored_cases *cases)
{
    cases->index = reallocate(cases->index, (cases->count + 1) * sizeof *cases->index);
    for (size_t i = 0; i < cases->count; i++)
        cases->index[i] = (struct case_place){case_key_hash(&cases->cases[i].key), i};
    qsort(cases->index, cases->count, sizeof *cases->index, compare_places);
    cases->indexed = cases->count;
}

void stored_cases_free(stored_cases *cases)
{
    for (size_t i = 0; i < cases->count; i++)
        free(cases->cases[i].repetitions);
    free(cases->cases);
    free(cases->index);
    *cases = (stored_cases){0};
}
