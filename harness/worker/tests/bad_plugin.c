/* Plugins that cannot be loaded. BAD_PLUGIN selects the error at compile time. */
#include "layernorm_plugin.h"
#include <stdio.h>
#include <stdlib.h>

#define SIXTEEN "aaaaaaaaaaaaaaaa"

#if BAD_PLUGIN == 1 /* no symbol */
#define SYMBOL something_else
#else
#define SYMBOL ln_plugin
#endif

enum {
    ABI = BAD_PLUGIN == 2 ? 99 : LN_PLUGIN_ABI,
    /* A member more or less under the same ABI version. */
    TABLE_SIZE = sizeof(ln_plugin_table) + (BAD_PLUGIN == 14 ? sizeof(void *) : 0),
    KERNEL_SIZE = sizeof(ln_kernel) - (BAD_PLUGIN == 15 ? sizeof(void *) : 0),
    OPERATION = BAD_PLUGIN == 17 ? 7 : LN_OPERATION_LAYERNORM,
};

static void run(const void *state, const ln_tensors *tensors)
{
    (void)state, (void)tensors;
    /* 19: prints, and crashes if standard error is not /dev/null, whose position is always 0 */
    if (BAD_PLUGIN == 19 && (fputs("words\n", stderr) < 0 || ftell(stderr) > 0))
        abort();
}

static ln_kernel kernel = {.operation = (ln_operation)OPERATION,
                           .name = "fine",
                           .isa = BAD_PLUGIN == 16 ? "sse9" : "scalar",
                           .run = run};
static ln_plugin_table plugin = {.abi_version = ABI,
                                 .struct_size = TABLE_SIZE,
                                 .kernel_size = KERNEL_SIZE,
                                 .name = "bad",
                                 .count = 1,
                                 .kernels = &kernel};

LN_API const ln_plugin_table *SYMBOL(void);
const ln_plugin_table *SYMBOL(void)
{
    switch (BAD_PLUGIN) {
    case 3: /* a name that would be markup on a page */
        kernel.name = "<script>alert(1)</script>";
        break;
    case 4: /* the name of one of ours */
        kernel.name = "two_pass_f32_scalar";
        break;
    case 5: /* crashes at load */
        abort();
    case 10:
        kernel.name = SIXTEEN SIXTEEN SIXTEEN SIXTEEN;
        break;
    case 11:
        plugin.name = "<img src=x onerror=alert(1)>";
        break;
    case 18: /* exits at load, with a reason on standard error */
        fputs("first line\nno licence found\n", stderr);
        exit(3);
    default:
        break;
    }
    return &plugin;
}
