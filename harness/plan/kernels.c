/* Which kernels a plan has, and of which types. */
#include "plan/plan.h"
#include "base/allocate.h"
#include "base/text.h"
#include "domain/invariance.h"
#include "domain/convention.h"
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool add_threads(const char *given, unsigned numbers[], size_t *count, error *err)
{
    bool number = given[0] && given[0] != '0' && strspn(given, "0123456789") == strlen(given);
    unsigned long threads = number ? strtoul(given, NULL, 10) : 0;
    cpu_set_t set;
    int cpus = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
    if (!number)
        return fail(err, EXIT_CODE_USAGE, "--threads %.60s: a whole number from 1 was expected",
                    given);
    if (threads > (unsigned long)cpus)
        return fail(err, EXIT_CODE_ENVIRONMENT,
                    "--threads %.60s: this process may run on %d CPU%s: threads that share one "
                    "measure nothing",
                    given, cpus, cpus == 1 ? "" : "s");
    for (size_t i = 0; i < *count; i++)
        if (numbers[i] == threads)
            return true;
    if (*count == PLAN_THREAD_NUMBERS)
        return fail(err, EXIT_CODE_USAGE, "--threads: %d numbers are the most",
                    PLAN_THREAD_NUMBERS);
    numbers[(*count)++] = (unsigned)threads;
    return true;
}

bool plan_threads(const word_list *given, unsigned numbers[], size_t *count, error *err)
{
    *count = 0;
    for (size_t i = 0; i < given->count; i++)
        if (!add_threads(given->words[i], numbers, count, err))
            return false;
    return given->count > 0 || add_threads("1", numbers, count, err);
}

static void add_convention(word_list *conventions, const char *whose, const char *text)
{
    char list[512];
    bool bare = strchr(text, '=') && strncmp(text, "operation=", 10) != 0;
    bool named = whose && strcmp(whose, "all") != 0;
    snprintf(list, sizeof list, "operation=%.40s,%.440s", named ? whose : "", text);
    word_list_add(conventions, bare && named ? list : text);
}

bool split_conventions(const word_list *given, const char *whose, word_list *conventions,
                       error *err)
{
    for (size_t i = 0; i < given->count; i++) {
        word_list parts = {0};
        text_buffer current = {0};
        bool fine = word_list_split(&parts, given->words[i], err);
        for (size_t part = 0; fine && part < parts.count; part++) {
            const char *word = parts.words[part];
            size_t key = strcspn(word, "=");
            bool joins = word[key] == '=' && current.length > 0 && strchr(current.bytes, '=') &&
                         strncmp(current.bytes, word, key + 1) != 0;
            if (current.length > 0 && !joins) {
                add_convention(conventions, whose, current.bytes);
                text_free(&current);
            }
            text_add(&current, joins ? "," : "");
            text_add(&current, word);
        }
        if (current.length > 0)
            add_convention(conventions, whose, current.bytes);
        text_free(&current);
        word_list_free(&parts);
        if (!fine)
            return false;
    }
    return true;
}

bool plan_conventions(const plan_request *request, case_plan *plan, ln_convention **named,
                      size_t *count, error *err)
{
    word_list words = {0};
    unsigned kinds = 0;
    bool fine = operations_parse(request->operation, &plan->operations, err) &&
                split_conventions(&request->conventions, request->operation, &words, err);
    *named = allocate_zeroed(words.count + 1, sizeof **named);
    *count = words.count;
    for (size_t i = 0; fine && i < words.count; i++) {
        fine = convention_parse(words.words[i], &(*named)[i], err);
        ln_operation kind = (*named)[i].operation;
        kinds |= OPERATION_BIT(kind);
        if (fine && request->operation && !(plan->operations & OPERATION_BIT(kind)))
            fine =
                fail(err, EXIT_CODE_USAGE,
                     "--conventions %s is of %s: with --operation %s choose its own (lnbench list "
                     "conventions --operation %s), or say --operation all",
                     words.words[i], operation_name(kind), request->operation, request->operation);
    }
    if (!request->operation && kinds)
        plan->operations = kinds;
    word_list_free(&words);
    return fine;
}

static bool takes(const kernel_entry *kernel, ln_operation what, ln_type dtype, ln_type param)
{
    const kernel_facts *facts = &kernel->facts;
    return facts->operation == what && facts->storage == dtype && facts->param == param;
}

bool plan_has(const case_plan *plan, const plan_adding *types)
{
    bool any = false;
    for (size_t i = 0; i < plan->kernel_count; i++)
        any |= takes(plan->kernels[i], types->operation, types->dtype, types->param);
    return any;
}

bool speed_takes(const speed_group *group, const kernel_entry *kernel)
{
    return takes(kernel, group->convention.operation, group->dtype, group->param);
}

size_t speed_kernels(const case_plan *plan, const speed_group *group)
{
    size_t count = 0;
    for (size_t i = 0; i < plan->kernel_count; i++)
        count += speed_takes(group, plan->kernels[i]);
    return count;
}

bool group_takes(const accuracy_group *group, const kernel_entry *kernel)
{
    bool is_call = strcmp(kernel->facts.role, KERNEL_ROLE_CALL) == 0;
    bool asked = group->task.check == CHECK_ROWS || is_call || group->for_ours ||
                 strcmp(kernel->source, "builtin") != 0;
    if (group->task.check == CHECK_EXACT && !(kernel->facts.traits & LN_TRAIT_CORRECTLY_ROUNDED))
        asked = false;
    return asked && takes(kernel, group->convention.operation, group->dtype, group->param);
}

size_t group_kernels(const case_plan *plan, const accuracy_group *group)
{
    size_t count = 0;
    for (size_t i = 0; i < plan->kernel_count; i++)
        count += group_takes(group, plan->kernels[i]);
    return count;
}

size_t group_elements(const accuracy_group *group)
{
    return group->task.check == CHECK_ROWS ? group->rows * group->hidden
                                           : conformance_elements(&group->task);
}

/* Whether an earlier line of our table stands for this one in the smaller plans: of lines that
 * differ in unroll alone, the first is the best. A file under test has no such lines, whatever its
 * descriptors say. */
static bool has_better_line(const kernel_list *kernels, size_t index)
{
    const kernel_facts *own = &kernels->kernels[index].facts;
    bool ours = strcmp(kernels->kernels[index].source, "builtin") == 0;
    bool is_call = strcmp(own->role, KERNEL_ROLE_CALL) == 0; /* whose parts are not told */
    for (size_t i = 0; ours && !is_call && i < index; i++) {
        const kernel_facts *other = &kernels->kernels[i].facts;
        if (strcmp(kernels->kernels[i].source, "builtin") == 0 &&
            other->operation == own->operation && other->storage == own->storage &&
            other->param == own->param && other->accumulator == own->accumulator &&
            strcmp(other->statistics, own->statistics) == 0 &&
            strcmp(other->apply, own->apply) == 0 && strcmp(other->schedule, own->schedule) == 0 &&
            strcmp(other->isa, own->isa) == 0)
            return true;
    }
    return false;
}

/* Whether the request has this type: those it names; else all in the full plan, and f32 in the
 * smaller ones, where a kernel that is named in full, or brought in a plugin, is asked for all the
 * same. */
static bool is_type_wanted(const plan_request *request, const kernel_entry *kernel)
{
    const kernel_facts *facts = &kernel->facts;
    if (request->dtypes.count > 0)
        return word_is_in(dtype_name(facts->storage), request->dtypes.words, request->dtypes.count);
    if (word_is_in(facts->name, request->kernels.words, request->kernels.count))
        return true;
    bool brought = strcmp(kernel->source, "builtin") != 0 && kernel->version[0] == '\0';
    return facts->storage == LN_F32 || brought || strcmp(request->name, "full") == 0;
}

static bool is_kernel_wanted(const plan_request *request, const kernel_list *kernels, size_t index)
{
    bool named = false;
    for (size_t glob = 0; glob < request->kernels.count; glob++)
        named |= kernel_is_meant(&kernels->kernels[index], request->kernels.words[glob]);
    if (request->kernels.count == 0)
        named = strcmp(request->name, "full") == 0 || !has_better_line(kernels, index);
    return named && is_type_wanted(request, &kernels->kernels[index]);
}

static bool is_of_plan(const case_plan *plan, const kernel_entry *kernel)
{
    return plan->operations & OPERATION_BIT(kernel->facts.operation);
}

/* A type that is asked for must be there, at least among what the globs match. */
static bool check_types(const plan_request *request, const kernel_list *kernels,
                        const case_plan *plan, error *err)
{
    for (size_t i = 0; i < request->dtypes.count; i++) {
        bool any = false;
        for (size_t kernel = 0; kernel < plan->kernel_count; kernel++)
            any |= strcmp(request->dtypes.words[i],
                          dtype_name(plan->kernels[kernel]->facts.storage)) == 0;
        if (!any)
            return fail(err, EXIT_CODE_USAGE, "--dtypes %s: no kernel of %s has it",
                        request->dtypes.words[i],
                        request->kernels.count ? "--kernels" : "this build and its plugins");
    }
    for (size_t i = 0; i < kernels->count && request->kernels.count > 0; i++) {
        const kernel_facts *other = &kernels->kernels[i].facts;
        const char *own = operation_name(other->operation);
        if (plan->kernel_count > 0 || is_of_plan(plan, &kernels->kernels[i]) ||
            !is_kernel_wanted(request, kernels, i))
            continue;
        return fail(err, EXIT_CODE_USAGE, "%s computes %s, not %s: say --operation %s%s",
                    other->name, own, operation_name((ln_operation)__builtin_ctz(plan->operations)),
                    own, request->conventions.count ? ", and --conventions of it" : "");
    }
    return plan->kernel_count > 0 ||
           fail(err, EXIT_CODE_USAGE,
                "no kernel is left: the ones chosen are not f32; name their type with --dtypes");
}

bool plan_choose_kernels(const plan_request *request, const kernel_list *kernels, case_plan *plan,
                         error *err)
{
    plan->kernels = allocate_zeroed(kernels->count, sizeof *plan->kernels);
    if (!kernel_words_check(kernels, &request->kernels, err))
        return false;
    for (int kind = 0; kind < OPERATIONS; kind++)
        for (size_t i = 0; i < kernels->count; i++)
            if ((int)kernels->kernels[i].facts.operation == kind &&
                is_of_plan(plan, &kernels->kernels[i]) && is_kernel_wanted(request, kernels, i))
                plan->kernels[plan->kernel_count++] = &kernels->kernels[i];
    const kernel_entry **related = allocate_zeroed(2 * kernels->count, sizeof *related);
    size_t count = with_families(kernels, plan->kernels, plan->kernel_count, related);
    for (size_t i = 0; i < count; i++)
        plan->related_count += !related[i]->unsupported[0];
    free(related);
    return check_types(request, kernels, plan, err);
}

size_t plan_judgements(const case_plan *plan)
{
    size_t count = 0;
    for (size_t i = 0; i < plan->accuracy_count; i++)
        count += group_kernels(plan, &plan->accuracy[i]);
    for (size_t i = 0; i < plan->speed_count; i++)
        count += speed_kernels(plan, &plan->speed[i]);
    return count;
}

size_t plan_repetitions(const case_plan *plan)
{
    size_t count = 0;
    for (size_t i = 0; i < plan->speed_count; i++) {
        const speed_group *group = &plan->speed[i];
        count += (speed_kernels(plan, group) + ROOFS) * group->processes * group->repetitions;
    }
    return count;
}

void plan_free(case_plan *plan)
{
    for (size_t i = 0; i < plan->combination_count; i++)
        combinations_free(plan->combinations[i]);
    free(plan->kernels);
    free(plan->accuracy);
    free(plan->speed);
    *plan = (struct case_plan){0};
}
