/* Which kernels of two builds are asked for, and which meet: those of one name. */
#include "base/allocate.h"
#include "compare/duet/duet.h"
#include <string.h>

static const kernel_entry *named(const kernel_list *list, const char *name)
{
    for (size_t i = 0; i < list->count; i++)
        if (strcmp(list->kernels[i].facts.name, name) == 0)
            return &list->kernels[i];
    return NULL;
}

void duet_find_partners(const duet_run *duet, duet_partner *partners)
{
    const kernel_list *lists = duet->kernels;
    for (size_t i = 0; i < duet->plan.kernel_count; i++) {
        const kernel_entry *base = duet->plan.kernels[i];
        const kernel_entry *new = named(&lists[NEW], base->facts.name);
        duet_partner *partner = &partners[i];
        size_t room = sizeof partner->why;
        *partner = (duet_partner){.apart = APART_LOST};
        if (!new)
            snprintf(partner->why, room, "only in base");
        else if (base->facts.storage != new->facts.storage || base->facts.param != new->facts.param)
            snprintf(partner->why, room, "other element types in new");
        else if (base->unsupported[0] && !new->unsupported[0])
            partner->apart = APART_NEW;
        else if (base->unsupported[0])
            partner->apart = APART_DECLINED;
        else if (!new->unsupported[0])
            partner->kernel = new;
        if (!partner->kernel && !partner->why[0])
            snprintf(partner->why, room, "%s: %.170s",
                     partner->apart == APART_LOST       ? "new"
                     : partner->apart == APART_DECLINED ? "both"
                                                        : "base",
                     partner->apart == APART_LOST ? new->unsupported : base->unsupported);
    }
}

/* The kernels of both as those of one list, without a version, by which a plan knows a peer that
 * nobody named. */
static kernel_list both_lists(const duet_run *duet)
{
    const kernel_list *base = &duet->kernels[BASE], *new = &duet->kernels[NEW];
    kernel_list both = {.count = base->count + new->count};
    both.kernels = allocate((both.count + 1) * sizeof *both.kernels);
    memcpy(both.kernels, base->kernels, base->count * sizeof *both.kernels);
    memcpy(both.kernels + base->count, new->kernels, new->count * sizeof *both.kernels);
    for (size_t i = 0; i < both.count; i++)
        both.kernels[i].version[0] = '\0';
    return both;
}

void duet_plan(duet_run *duet, const plan_request *request)
{
    kernel_list both = both_lists(duet);
    case_plan asked;
    plan_make(request, &both, &duet->comparison.machine, &asked);
    for (size_t i = 0; i < asked.kernel_count; i++) {
        const kernel_entry *kernel = asked.kernels[i];
        case_key key = {.threads = 1};
        snprintf(key.kernel, sizeof key.kernel, "%s", kernel->facts.name);
        if ((size_t)(kernel - both.kernels) < duet->kernels[BASE].count)
            word_list_add(&duet->asked, kernel->facts.name);
        else if (!named(&duet->kernels[BASE], kernel->facts.name))
            comparison_add_new(&duet->comparison, &key, "only in new");
    }
    plan_free(&asked);
    free(both.kernels);
    plan_request own = *request;
    own.kernels = duet->asked;
    own.dtypes = (word_list){0};
    if (duet->asked.count > 0)
        plan_make(&own, &duet->kernels[BASE], &duet->comparison.machine, &duet->plan);
}
