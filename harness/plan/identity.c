/* What makes two plans the same. */
#include "base/hash.h"
#include "plan/plan.h"
#include <stdio.h>
#include <string.h>

/* Everything that decides what is measured: an unfinished run may go on only under the same hash.
 */
void plan_identify(case_plan *plan, const plan_request *request)
{
    uint64_t hash = hash_bytes(HASH_START, plan->name, strlen(plan->name));
    hash = hash_bytes(hash, &plan->seed, sizeof plan->seed);
    hash = hash_bytes(hash, &request->settings, sizeof request->settings);
    for (size_t i = 0; i < request->inputs.count; i++) {
        /* A user's file may change between two runs; a family hashes to 0. */
        uint64_t contents;
        hash_file(request->inputs.words[i], &contents);
        hash = hash_bytes(hash, &contents, sizeof contents);
    }
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
}
