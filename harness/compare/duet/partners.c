/* Which kernels of two builds are asked for, and which meet: by name, that of now where it is an old
 * one, so that a kernel that was renamed meets itself. */
#include "base/allocate.h"
#include "compare/duet/duet.h"
#include "domain/kernel_name.h"
#include <string.h>

static const kernel_entry *named(const kernel_list *list, const char *name)
{
    for (size_t i = 0; i < list->count; i++)
        if (strcmp(list->kernels[i].facts.name, name) == 0)
            return &list->kernels[i];
    return NULL;
}

/* The kernel of this very name; else the one that has the name of now, unless it stands beside it on
 * its own side, too. */
static const kernel_entry *partner_of(const kernel_list *own, const kernel_list *others,
                                      const char *name)
{
    const kernel_entry *found = named(others, name);
    for (size_t i = 0; !found && i < others->count; i++) {
        const char *other = others->kernels[i].facts.name;
        if (strcmp(kernel_name_now(other), kernel_name_now(name)) == 0 && !named(own, other))
            found = &others->kernels[i];
    }
    return found;
}

void duet_find_partners(const duet_run *duet, duet_partner *partners)
{
    const kernel_list *lists = duet->kernels;
    for (size_t i = 0; i < duet->plan.kernel_count; i++) {
        const kernel_entry *base = duet->plan.kernels[i];
        const kernel_entry *new = partner_of(&lists[BASE], &lists[NEW], base->facts.name);
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

bool duet_plan(duet_run *duet, const plan_request *request, error *err)
{
    kernel_list both = both_lists(duet);
    case_plan asked;
    bool fine = plan_make(request, &both, &duet->comparison.machine, &asked, err);
    for (size_t i = 0; fine && i < asked.kernel_count; i++) {
        const kernel_entry *kernel = asked.kernels[i];
        case_key key = {.threads = 1};
        snprintf(key.kernel, sizeof key.kernel, "%s", kernel->facts.name);
        if ((size_t)(kernel - both.kernels) < duet->kernels[BASE].count)
            word_list_add(&duet->asked, kernel->facts.name);
        else if (!partner_of(&duet->kernels[NEW], &duet->kernels[BASE], kernel->facts.name))
            comparison_add_new(&duet->comparison, &key, "only in new");
    }
    if (fine)
        plan_free(&asked);
    free(both.kernels);
    plan_request own = *request;
    own.kernels = duet->asked;
    own.dtypes = (word_list){0};
    return fine &&
           (duet->asked.count == 0 ||
            plan_make(&own, &duet->kernels[BASE], &duet->comparison.machine, &duet->plan, err));
}
