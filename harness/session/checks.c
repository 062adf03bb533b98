#include "session/checks.h"
#include "base/allocate.h"

/* The groups that are made, and the sets of the operation that is added. */
typedef struct adding_checks {
    accuracy_group *groups;
    size_t count;
    size_t first_set, set_count;
} adding_checks;

/* A pack of a check; false: there are not as many. */
static bool add_pack(case_plan *plan, adding_checks *adding, conformance_check check, size_t pack)
{
    const bool of_array = check == CHECK_COMBINATIONS;
    const size_t turn = of_array ? pack % adding->set_count : 0;
    size_t rows, hidden;
    conformance_task task = {.check = check,
                             .convention = plan->conventions[plan->adding.operation].list[turn],
                             .storage = plan->adding.dtype,
                             .param = plan->adding.param,
                             .set = of_array ? plan->checks->sets[adding->first_set + turn] : NULL};
    if (!conformance_pack(&task, pack, &rows, &hidden))
        return false;
    accuracy_group made =
        accuracy_group_of(plan, &task.convention, check_names[check], rows, hidden);
    made.check = &task;
    made.elements = conformance_elements(&task);
    made.for_ours = plan->full || check == CHECK_EXACT;
    made.traits = check == CHECK_EXACT ? LN_TRAIT_CORRECTLY_ROUNDED : 0;
    if (group_kernels(plan, &made) == 0)
        return false;
    conformance_task *kept = arena_new(&plan->checks->memory, conformance_task, 1);
    *kept = task;
    made.check = kept;
    adding->groups = allocate_room(adding->groups, adding->count, sizeof *adding->groups);
    adding->groups[adding->count++] = made;
    return true;
}

/* Of one pair of types. The array is made where a kernel is asked for it. */
static void add_checks(case_plan *plan, void *context)
{
    const plan_conventions *conventions = &plan->conventions[plan->adding.operation];
    const size_t sets = conventions->named ? conventions->count : 1;
    adding_checks *adding = context;
    plan_checks *checks = plan->checks;
    if (!plan->quick)
        add_pack(plan, adding, CHECK_EXACT, 0);
    if (!add_pack(plan, adding, CHECK_GROWTH, 0))
        return;
    while (checks->count < CHECK_SETS && adding->set_count < sets)
        checks->sets[checks->count++] = combinations_make(
            &checks->memory, &(combinations_asked){.plain = conventions->list[adding->set_count++],
                                                   .alone = conventions->named,
                                                   .seed = plan->seed,
                                                   .quick = plan->quick});
    for (size_t pack = 0; add_pack(plan, adding, CHECK_COMBINATIONS, pack); pack++)
        ;
    add_pack(plan, adding, CHECK_LARGE, 0);
    if (plan->full)
        add_pack(plan, adding, CHECK_LARGE, 1);
}

void session_add_checks(case_plan *plan)
{
    adding_checks adding = {0};
    if (!plan->conformance)
        return;
    plan->checks = allocate_zeroed(1, sizeof *plan->checks);
    for (int kind = 0; kind < OPERATIONS; kind++) {
        if (!(plan->operations & OPERATION_BIT(kind)))
            continue;
        plan->adding.operation = (ln_operation)kind;
        adding.first_set = plan->checks->count;
        adding.set_count = 0;
        plan_each_types(plan, add_checks, &adding);
    }
    const size_t count = adding.count + plan->accuracy_count;
    adding.groups = reallocate(adding.groups, (count + 1) * sizeof *adding.groups);
    for (size_t i = 0; i < plan->accuracy_count; i++)
        adding.groups[adding.count + i] = plan->accuracy[i];
    free(plan->accuracy);
    plan->accuracy = adding.groups;
    plan->accuracy_count = count;
}

void session_free_checks(case_plan *plan)
{
    if (plan->checks)
        arena_free(&plan->checks->memory);
    free(plan->checks);
    plan->checks = NULL;
}
