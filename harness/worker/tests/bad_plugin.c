/* Plugins that can't be loaded, one way each, chosen by BAD_PLUGIN at compile time. */
#include "layernorm_plugin.h"
#include <stdlib.h>
#include <string.h>

static void run(const void *state, const ln_tensors *tensors)
{
    (void)state;
    (void)tensors;
}

#if BAD_PLUGIN == 1 /* no symbol */
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
#elif BAD_PLUGIN == 7
#define NAME "quote\"d'`touch run`$(touch run)"
#elif BAD_PLUGIN == 8
#define NAME "two\nlines"
#elif BAD_PLUGIN == 9 /* a spreadsheet would run it */
#define NAME "=cmd"
#elif BAD_PLUGIN == 10 /* ten thousand characters */
static char long_name[10001];
#define NAME long_name
#elif BAD_PLUGIN == 4 /* the name of one of ours */
#define NAME "two_pass_f32_scalar"
#else
#define NAME "fine"
#endif

static const ln_kernel kernels[] = {
    {.struct_size = sizeof(ln_kernel), .name = NAME, .isa = "scalar", .run = run}};
#if BAD_PLUGIN == 11
#define PLUGIN_NAME "<img src=x onerror=alert(1)>"
#else
#define PLUGIN_NAME "bad"
#endif
static const ln_plugin plugin = {.abi_version = ABI,
                                 .struct_size = sizeof(ln_plugin),
                                 .name = PLUGIN_NAME,
                                 .count = 1,
                                 .kernels = kernels};

LN_API const ln_plugin *ln_plugin_v1(void)
{
#if BAD_PLUGIN == 10
    memset(long_name, 'a', sizeof long_name - 1);
#elif BAD_PLUGIN == 5 /* crashes at load */
    abort();
#elif BAD_PLUGIN == 6 /* hangs at load */
    for (volatile int turns = 0;; turns++)
        ;
#endif
    return &plugin;
}
#endif
