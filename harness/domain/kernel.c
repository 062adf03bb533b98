#include "domain/kernel.h"
#include "base/text.h"
#include <stdlib.h>
#include <string.h>

const kernel_entry *kernel_find(const kernel_list *kernels, const char *name, error *err)
{
    const char *names[1024];
    size_t count = 0;
    for (size_t i = 0; i < kernels->count; i++) {
        if (strcmp(kernels->kernels[i].facts.name, name) == 0)
            return &kernels->kernels[i];
        if (count < 1024)
            names[count++] = kernels->kernels[i].facts.name;
    }
    const char *nearest = nearest_word(name, names, count);
    fail(err, EXIT_CODE_USAGE, "unknown kernel '%.100s'%s%s%s: see lnbench list kernels", name,
         nearest ? " (did you mean '" : "", nearest ? nearest : "", nearest ? "'?)" : "");
    return NULL;
}

void kernel_list_free(kernel_list *kernels)
{
    free(kernels->kernels);
    *kernels = (kernel_list){0};
}
