#include "domain/case.h"
#include "base/hash.h"
#include "base/text.h"
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

const char *const roof_names[ROOFS] = {"copy", "copy_nt", "copy_rep"};

static int roof_number(const char *roof)
{
    int i = 0;
    while (i < ROOFS - 1 && strcmp(roof, roof_names[i]) != 0)
        i++;
    return i;
}

const char *roof_mark(const char *roof)
{
    static const char *const marks[ROOFS] = {"", " nt", " rep"};
    return marks[roof_number(roof)];
}

const char *roof_words(const char *roof)
{
    static const char *const words[ROOFS] = {"a plain loop", "a loop of non-temporal stores",
                                             "rep movsb"};
    return words[roof_number(roof)];
}

bool is_roof(const char *kernel)
{
    return strcmp(kernel, "copy") == 0 || strncmp(kernel, "copy_", 5) == 0;
}

bool case_key_beside(const case_key *a, const case_key *b)
{
    return a->rows == b->rows && a->hidden == b->hidden && a->dtype == b->dtype &&
           a->cache == b->cache && a->threads == b->threads && a->operation == b->operation &&
           strcmp(a->convention, b->convention) == 0 && strcmp(a->input, b->input) == 0;
}

const char *const check_names[CHECK_NAMES] = {
    "",      "combinations", "large", "growth",  "exact", /* and of earlier runs: */
    "calls", "cells",        "sizes", "batches", "forms", "conventions"};

bool is_check(const char *input)
{
    bool found = false;
    for (size_t i = 1; i < CHECK_NAMES; i++)
        found |= strcmp(input, check_names[i]) == 0;
    return found;
}

bool case_key_equal(const case_key *a, const case_key *b)
{
    return case_key_beside(a, b) && strcmp(a->kernel, b->kernel) == 0;
}

/* The hash seeds the draws of a case's interval too: it is over the key's values alone. */
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

cache_regime regime_of(double bytes, size_t l1d, size_t l2, size_t l3)
{
    if (!l1d && !l2 && !l3) {
        l1d = 32u << 10;
        l2 = 1u << 20;
        l3 = 32u << 20;
    }
    return bytes <= (double)l1d  ? REGIME_L1
           : bytes <= (double)l2 ? REGIME_L2
           : bytes <= (double)l3 ? REGIME_L3
                                 : REGIME_DRAM;
}
