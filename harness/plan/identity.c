/* What makes two plans the same. */
#include "base/hash.h"
#include "domain/convention.h"
#include "plan/plan.h"
#include <stdio.h>
#include <string.h>

/* A user's file may change between two runs; a family hashes to 0. */
static uint64_t hash_contents(uint64_t hash, const word_list *inputs)
{
    for (size_t i = 0; i < inputs->count; i++) {
        uint64_t contents;
        hash_file(inputs->words[i], &contents);
        hash = hash_bytes(hash, &contents, sizeof contents);
    }
    return hash;
}

static uint64_t hash_word(uint64_t hash, const char *word)
{
    return hash_bytes(hash, word, strlen(word) + 1);
}

/* The same words in another order ask for the same. `fallback` is what no word at all means. */
static uint64_t hash_set(uint64_t hash, const word_list *words, const char *fallback)
{
    uint64_t sum = words->count == 0 ? hash_word(HASH_START, fallback) : 0;
    for (size_t i = 0; i < words->count; i++) {
        size_t before = 0;
        while (strcmp(words->words[before], words->words[i]) != 0)
            before++;
        sum += before == i ? hash_word(HASH_START, words->words[i]) : 0;
    }
    return hash_bytes(hash, &sum, sizeof sum);
}

/* The first convention is the one that is timed: their order counts. */
static uint64_t hash_conventions(uint64_t hash, const plan_request *request)
{
    word_list words = {0};
    error ignored = {0};
    split_conventions(&request->conventions, request->operation, &words, &ignored);
    for (size_t i = 0; i < words.count; i++) {
        ln_convention convention;
        char label[CONVENTION_MAX_LENGTH];
        if (convention_parse(words.words[i], &convention, &ignored)) {
            convention_label(&convention, label);
            hash = hash_word(hash, label);
        }
    }
    word_list_free(&words);
    return hash;
}

/* The options alone: neither the kernels that are there nor how often each is timed. */
static uint64_t hash_request(const case_plan *plan, const plan_request *request)
{
    uint64_t hash = hash_word(HASH_START, plan->name);
    hash = hash_bytes(hash, &plan->seed, sizeof plan->seed);
    hash = hash_bytes(hash, &request->settings, sizeof request->settings);
    hash = hash_bytes(hash, &request->conformance, sizeof request->conformance);
    unsigned others = plan->operations - 1; /* LayerNorm alone is 0 */
    hash = hash_bytes(hash, &others, others ? sizeof others : 0);
    hash = hash_word(hash, request->only ? request->only : "");
    hash = hash_word(hash, request->time_on ? request->time_on : "normal");
    hash = hash_set(hash, &request->kernels, "");
    hash = hash_set(hash, &request->dtypes, "");
    hash = hash_set(hash, &request->shapes, "");
    hash = hash_set(hash, &request->inputs, "");
    hash = hash_set(hash, &request->caches, cache_name(CACHE_HOT));
    hash = hash_set(hash, &request->threads, "1");
    return hash_conventions(hash_contents(hash, &request->inputs), request);
}

/* Everything that decides what is measured: an unfinished run may go on only under the same hash.
 */
void plan_identify(case_plan *plan, const plan_request *request)
{
    uint64_t hash = hash_bytes(HASH_START, plan->name, strlen(plan->name));
    hash = hash_bytes(hash, &plan->seed, sizeof plan->seed);
    hash = hash_bytes(hash, &request->settings, sizeof request->settings);
    hash = hash_contents(hash, &request->inputs);
    hash = hash_bytes(hash, &plan->worst_hash, sizeof plan->worst_hash);
    for (size_t i = 0; i < plan->kernel_count; i++) {
        const kernel_entry *kernel = plan->kernels[i];
        hash = hash_bytes(hash, kernel->facts.name, strlen(kernel->facts.name) + 1);
        hash = hash_bytes(hash, kernel->source, strlen(kernel->source) + 1);
        hash = hash_bytes(hash, &kernel->object_hash, sizeof kernel->object_hash);
    }
    for (size_t i = 0; i < plan->accuracy_count; i++) {
        const accuracy_group *group = &plan->accuracy[i];
        case_key key = accuracy_key(group, plan->kernels[0]);
        hash = hash_bytes(hash, &key, sizeof key);
        hash = hash_bytes(hash, &group->param, sizeof group->param);
    }
    for (size_t i = 0; i < plan->speed_count; i++) {
        case_key key = speed_key(&plan->speed[i], "");
        hash = hash_bytes(hash, &key, sizeof key);
        unsigned counts[] = {plan->speed[i].processes, plan->speed[i].repetitions,
                             (unsigned)plan->speed[i].param};
        hash = hash_bytes(hash, counts, sizeof counts);
    }
    snprintf(plan->hash, sizeof plan->hash, "%016llx", (unsigned long long)hash);
    snprintf(plan->request_hash, sizeof plan->request_hash, "%016llx",
             (unsigned long long)hash_request(plan, request));
}
