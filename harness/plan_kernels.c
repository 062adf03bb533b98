/* Which kernels a plan has, and of which types. */
#include "plan.h"
#include "text.h"
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

bool plan_takes(const kernel_entry *kernel, ln_type dtype, ln_type param)
{
    return kernel->facts.storage == dtype && kernel->facts.param == param;
}

size_t plan_kernels_of(const plan *plan, ln_type dtype, ln_type param)
{
    size_t count = 0;
    for (size_t i = 0; i < plan->kernel_count; i++)
        count += plan_takes(plan->kernels[i], dtype, param);
    return count;
}

static bool unknown_kernel(const char *glob, const kernel_list *kernels, error *error)
{
    const char *names[1024];
    size_t count = 0;
    for (; count < kernels->count && count < 1024; count++)
        names[count] = kernels->kernels[count].facts.name;
    const char *nearest = nearest_word(glob, names, count);
    return fail(error, EXIT_CODE_USAGE,
                "no kernel matches '%.100s'%s%s%s: see lnbench list kernels", glob,
                nearest ? " (did you mean '" : "", nearest ? nearest : "", nearest ? "'?)" : "");
}

/* Whether an earlier line of the table stands for this one in the smaller plans: of lines that
 * differ in unroll alone, the first is the best. */
static bool has_better_line(const kernel_list *kernels, size_t index)
{
    const kernel_facts *own = &kernels->kernels[index].facts;
    for (size_t i = 0; i < index; i++) {
        const kernel_facts *other = &kernels->kernels[i].facts;
        if (kernels->kernels[i].plugin == 0 && kernels->kernels[index].plugin == 0 &&
            other->storage == own->storage && other->param == own->param &&
            other->accumulator == own->accumulator &&
            strcmp(other->statistics, own->statistics) == 0 &&
            strcmp(other->apply, own->apply) == 0 && strcmp(other->schedule, own->schedule) == 0 &&
            strcmp(other->isa, own->isa) == 0)
            return true;
    }
    return false;
}

/* Whether the request has this type: those it names; else all in the full plan, and f32 in the
 * smaller ones, where a kernel that is named in full is asked for all the same. */
static bool is_type_wanted(const plan_request *request, const kernel_facts *facts)
{
    for (size_t i = 0; i < request->dtypes.count; i++)
        if (strcmp(request->dtypes.words[i], dtype_name(facts->storage)) == 0)
            return true;
    if (request->dtypes.count > 0)
        return false;
    for (size_t i = 0; i < request->kernels.count; i++)
        if (strcmp(request->kernels.words[i], facts->name) == 0)
            return true;
    return facts->storage == LN_F32 || strcmp(request->name, "full") == 0;
}

static bool is_kernel_wanted(const plan_request *request, const kernel_list *kernels, size_t index)
{
    const kernel_facts *facts = &kernels->kernels[index].facts;
    bool named = false;
    for (size_t glob = 0; glob < request->kernels.count; glob++)
        named |= fnmatch(request->kernels.words[glob], facts->name, 0) == 0;
    if (request->kernels.count == 0)
        named = strcmp(request->name, "full") == 0 || !has_better_line(kernels, index);
    return named && is_type_wanted(request, facts);
}

/* A type that is asked for must be there, at least among what the globs match. */
static bool check_types(const plan_request *request, const plan *plan, error *error)
{
    for (size_t i = 0; i < request->dtypes.count; i++) {
        bool any = false;
        for (size_t kernel = 0; kernel < plan->kernel_count; kernel++)
            any |= strcmp(request->dtypes.words[i],
                          dtype_name(plan->kernels[kernel]->facts.storage)) == 0;
        if (!any)
            return fail(error, EXIT_CODE_USAGE, "--dtypes %s: no kernel of %s has it",
                        request->dtypes.words[i],
                        request->kernels.count ? "--kernels" : "this build and its plugins");
    }
    return plan->kernel_count > 0 ||
           fail(error, EXIT_CODE_USAGE,
                "no kernel is left: the ones chosen are not f32; name their type with --dtypes");
}

bool plan_choose_kernels(const plan_request *request, const kernel_list *kernels, plan *plan,
                         error *error)
{
    plan->kernels = calloc(kernels->count, sizeof *plan->kernels);
    if (!plan->kernels)
        return fail_memory(error, "the plan");
    for (size_t glob = 0; glob < request->kernels.count; glob++) {
        bool any = false;
        for (size_t i = 0; i < kernels->count; i++)
            any |= fnmatch(request->kernels.words[glob], kernels->kernels[i].facts.name, 0) == 0;
        if (!any)
            return unknown_kernel(request->kernels.words[glob], kernels, error);
    }
    for (size_t i = 0; i < kernels->count; i++)
        if (is_kernel_wanted(request, kernels, i))
            plan->kernels[plan->kernel_count++] = &kernels->kernels[i];
    return check_types(request, plan, error);
}
