#include "domain/kernel_name.h"
#include "alias.h"
#include <stdio.h>

const char *kernel_name_now(const char *name)
{
    return ln_kernel_alias(name);
}

bool kernel_name_matches(const char *glob, const char *name)
{
    return ln_kernel_matches(glob, name) != 0;
}

void kernel_name_update(char *name, size_t size)
{
    const char *now = ln_kernel_alias(name);
    if (now != name)
        snprintf(name, size, "%s", now);
}

void kernels_json_update(json_t *kernels)
{
    size_t index;
    json_t *kernel;
    json_array_foreach(kernels, index, kernel)
    {
        const char *name = json_string_value(json_object_get(kernel, "name"));
        const char *now = name ? ln_kernel_alias(name) : NULL;
        if (now != name)
            json_object_set_new(kernel, "name", json_string(now));
    }
}
