#include "domain/kernel_name.h"
#include "alias.h"
#include <stdio.h>

const char *kernel_name_now(const char *name)
{
    return ln_kernel_alias(name);
}

bool kernel_name_matches(const char *glob, const char *name)
{
    return ln_kernel_matches(glob, name) || ln_kernel_matches(glob, ln_kernel_alias(name));
}

void kernel_name_update(char *name, size_t size)
{
    const char *now = ln_kernel_alias(name);
    if (now != name)
        snprintf(name, size, "%s", now);
}
