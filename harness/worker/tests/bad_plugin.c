/* Plugins that can't be loaded, one way each, chosen by BAD_PLUGIN at compile time. */
#include "layernorm_plugin.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void run(const void *state, const ln_tensors *tensors)
{
    (void)state;
    (void)tensors;
}

#if BAD_PLUGIN == 12 || BAD_PLUGIN == 13 /* built against an older header */
#if BAD_PLUGIN == 12
#define OLDER ln_plugin_v1
#else
#define OLDER ln_plugin_v2
#endif
LN_API const void *OLDER(void);
const void *OLDER(void)
{
    (void)run;
    return NULL;
}
#elif BAD_PLUGIN == 1 /* no symbol */
LN_API int something_else(void);
LN_API int something_else(void)
{
    (void)run;
    return 0;
}
#else

#if BAD_PLUGIN == 2 /* another ABI */
#define ABI 99u
#else
#define ABI LN_PLUGIN_ABI
#endif
#if BAD_PLUGIN == 3 /* a name that would be markup, or worse, where it is shown */
#define NAME "<script>alert(1)</script>"
#elif BAD_PLUGIN == 8
#define NAME "two\nlines"
#elif BAD_PLUGIN == 10 /* ten thousand characters */
static char long_name[10001];
#define NAME long_name
#elif BAD_PLUGIN == 4 /* the name of one of ours */
#define NAME "two_pass_f32_scalar"
#else
#define NAME "fine"
#endif

#if BAD_PLUGIN == 14 /* a member more or less under the same number */
#define TABLE_SIZE (sizeof(ln_plugin_table) + sizeof(void *))
#else
#define TABLE_SIZE sizeof(ln_plugin_table)
#endif
#if BAD_PLUGIN == 15
#define KERNEL_SIZE (sizeof(ln_kernel) - sizeof(void *))
#else
#define KERNEL_SIZE sizeof(ln_kernel)
#endif
#if BAD_PLUGIN == 16
#define ISA_WORD "sse9"
#else
#define ISA_WORD "scalar"
#endif
#if BAD_PLUGIN == 17
#define OPERATION ((ln_operation)7)
#else
#define OPERATION LN_OPERATION_LAYERNORM
#endif

static const ln_kernel kernels[] = {
    {.operation = OPERATION, .name = NAME, .isa = ISA_WORD, .run = run}};
#if BAD_PLUGIN == 11
#define PLUGIN_NAME "<img src=x onerror=alert(1)>"
#else
#define PLUGIN_NAME "bad"
#endif
static const ln_plugin_table plugin = {.abi_version = ABI,
                                       .struct_size = TABLE_SIZE,
                                       .kernel_size = KERNEL_SIZE,
                                       .name = PLUGIN_NAME,
                                       .count = 1,
                                       .kernels = kernels};

LN_API const ln_plugin_table *ln_plugin(void)
{
#if BAD_PLUGIN == 10
    memset(long_name, 'a', sizeof long_name - 1);
#elif BAD_PLUGIN == 5  /* crashes at load */
    abort();
#elif BAD_PLUGIN == 18 /* ends at load, and says why */
    fputs("first line\nno licence found\n", stderr);
    exit(3);
#endif
    return &plugin;
}
#endif
