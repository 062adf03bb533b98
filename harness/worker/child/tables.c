/* A plugin's table as version 1 has it, whichever versions it has: kernels of version 2 come behind those of
 * version 1, made into the same structs. Their functions differ in the types of pointers alone (void for the
 * operation's problem and tensors), which are one in calls on all systems that load plugins. */
#include "worker/child/internal.h"
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

typedef const ln_plugin *entry_v1(void);
typedef const ln_plugin_v2_table *entry_v2(void);
typedef void any_function(void);

_Static_assert((int)LN_OPERATION_RMSNORM == (int)OPERATION_RMSNORM, "operations in one order");

static const ln_kernel_v2 *kernel_v2(const ln_plugin_v2_table *table, size_t i)
{
    return (const void *)((const char *)table->kernels + i * table->kernel_size);
}

static const char *fault_v2(const ln_plugin_v2_table *table)
{
    if (!table)
        return LN_PLUGIN_SYMBOL_V2 "() returned NULL";
    if (table->abi_version != LN_PLUGIN_ABI_V2)
        return "its " LN_PLUGIN_SYMBOL_V2 " has another ABI version than 2 (layernorm_plugin_v2.h)";
    if (table->struct_size < sizeof *table || table->kernel_size < sizeof(ln_kernel_v2) ||
        table->kernel_size % _Alignof(ln_kernel_v2) != 0)
        return "its ln_plugin_v2_table or ln_kernel_v2 has another size: compile it against this "
               "layernorm_plugin_v2.h";
    if (table->count == 0 || !table->kernels)
        return "its " LN_PLUGIN_SYMBOL_V2 " has no kernels";
    if (table->count > PLUGIN_MOST_KERNELS)
        return "it has more than 65536 kernels";
    for (size_t i = 0; i < table->count; i++)
        if ((unsigned)kernel_v2(table, i)->operation >= operation_count)
            return "a kernel's operation is none of ln_operation (layernorm_plugin_v2.h)";
    return NULL;
}

static ln_kernel as_v1(const ln_kernel_v2 *kernel)
{
    return (ln_kernel){
        .struct_size = sizeof(ln_kernel),
        .name = kernel->name,
        .statistics = kernel->statistics,
        .apply = kernel->apply,
        .schedule = kernel->schedule,
        .isa = kernel->isa,
        .storage = kernel->storage,
        .param = kernel->param,
        .accumulator = kernel->accumulator,
        .unroll = kernel->unroll,
        .traits = kernel->traits,
        .supports = (const char *(*)(const ln_problem *))(any_function *)kernel->supports,
        .prepare = (int (*)(const ln_problem *, void **))(any_function *)kernel->prepare,
        .release = kernel->release,
        .run = (void (*)(const void *, const ln_tensors *))(any_function *)kernel->run,
        .bound =
            (ln_bound(*)(const ln_problem *, const ln_row_facts *))(any_function *)kernel->bound};
}

/* Lives as long as the process. NULL: memory. */
static const ln_plugin *join_tables(const ln_plugin *first, const ln_plugin_v2_table *table,
                                    operation_kind **kinds)
{
    size_t before = first ? first->count : 0, count = before + table->count;
    ln_plugin *joined = calloc(1, sizeof *joined);
    ln_kernel *kernels = calloc(count, sizeof *kernels);
    ln_kernel_facts *facts = calloc(count, sizeof *facts);
    *kinds = calloc(count, sizeof **kinds);
    if (!joined || !kernels || !facts || !*kinds)
        return NULL;
    *joined = (ln_plugin){.abi_version = LN_PLUGIN_ABI,
                          .struct_size = sizeof *joined,
                          .name = table->name,
                          .set_threads = table->set_threads,
                          .version = table->version};
    if (first) {
        size_t size = first->struct_size < sizeof *joined ? first->struct_size : sizeof *joined;
        memcpy(joined, first, size);
        memcpy(kernels, first->kernels, before * sizeof *kernels);
        joined->struct_size = sizeof *joined;
        joined->set_threads = joined->set_threads ? joined->set_threads : table->set_threads;
    }
    size_t known = joined->facts_size < sizeof *facts ? joined->facts_size : sizeof *facts;
    for (size_t i = 0; joined->facts && i < before; i++)
        memcpy(&facts[i], (const char *)joined->facts + i * joined->facts_size, known);
    for (size_t i = before; i < count; i++) {
        const ln_kernel_v2 *kernel = kernel_v2(table, i - before);
        kernels[i] = as_v1(kernel);
        facts[i] = kernel->facts;
        (*kinds)[i] = (operation_kind)kernel->operation;
    }
    joined->count = count;
    joined->kernels = kernels;
    joined->facts = facts;
    joined->facts_size = sizeof *facts;
    return joined;
}

const ln_plugin *worker_table(void *library, operation_kind **kinds, const char **fault)
{
    thread_state before;
    entry_v1 *one;
    entry_v2 *two;
    void *first_symbol = dlsym(library, LN_PLUGIN_SYMBOL);
    void *second_symbol = dlsym(library, LN_PLUGIN_SYMBOL_V2);
    /* A file that links to the library, say, finds the library's symbol where it has none itself. */
    bool has_second = worker_has_code(library, second_symbol);
    if (has_second && !worker_has_code(library, first_symbol))
        first_symbol = NULL;
    *(void **)&one = first_symbol;
    *(void **)&two = has_second ? second_symbol : NULL;
    *kinds = NULL;
    if (!one && !two)
        *fault = "it has no symbol " LN_PLUGIN_SYMBOL " or " LN_PLUGIN_SYMBOL_V2
                 " (see layernorm_plugin.h)";
    if (!one && !two)
        return NULL;
    plugin_enter(&before);
    const ln_plugin *first = one ? one() : NULL;
    plugin_leave(&before, LN_PLUGIN_SYMBOL "()");
    *fault = one ? plugin_fault(first) : NULL;
    if (*fault || !two)
        return first;
    plugin_enter(&before);
    const ln_plugin_v2_table *table = two();
    plugin_leave(&before, LN_PLUGIN_SYMBOL_V2 "()");
    if ((*fault = fault_v2(table)))
        return NULL;
    const ln_plugin *joined = join_tables(first, table, kinds);
    *fault = joined ? plugin_fault(joined) : worker_no_memory;
    return joined;
}
