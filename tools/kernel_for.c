/* The kernel for a kind of CPU, as /proc/cpuinfo names it; NULL: no such kind was measured, so that
 * ln_layernorm() is to choose. Another model of a family takes the family's first table. */
const char *layernorm_kernel_on(const char *vendor, unsigned family, unsigned model, size_t rows,
                                size_t hidden);
/* The same for the CPU that runs this. */
const char *layernorm_kernel_for(size_t rows, size_t hidden);

const char *layernorm_kernel_on(const char *vendor, unsigned family, unsigned model, size_t rows,
                                size_t hidden)
{
    size_t count = sizeof layernorm_machines / sizeof *layernorm_machines, chosen = count;
    for (size_t i = 0; i < count; i++)
        if (strcmp(layernorm_machines[i].vendor, vendor) == 0 &&
            layernorm_machines[i].family == family &&
            (chosen == count || (layernorm_machines[i].model == model &&
                                 layernorm_machines[chosen].model != model)))
            chosen = i;
    for (size_t i = 0; chosen < count && i < layernorm_machines[chosen].count; i++) {
        const layernorm_row *row = &layernorm_machines[chosen].table[i];
        if (hidden >= row->hidden_from && hidden <= row->hidden_to && rows >= row->rows_from &&
            rows <= row->rows_to)
            return row->kernel;
    }
    return NULL;
}

const char *layernorm_kernel_for(size_t rows, size_t hidden)
{
    char vendor[13] = "unknown";
    unsigned family = 0, model = 0;
#if defined __x86_64__ || defined __i386__
    unsigned most, a, b, c, d;
    if (__get_cpuid(0, &most, &b, &c, &d)) {
        memcpy(vendor, &b, 4);
        memcpy(vendor + 4, &d, 4);
        memcpy(vendor + 8, &c, 4);
        vendor[12] = '\0';
    }
    if (__get_cpuid(1, &a, &b, &c, &d)) { /* Intel's and AMD's manuals, CPUID leaf 1 */
        family = (a >> 8 & 15) + ((a >> 8 & 15) == 15 ? a >> 20 & 255 : 0);
        model = (a >> 4 & 15) + (family == 6 || family >= 15 ? (a >> 16 & 15) << 4 : 0);
    }
#endif
    return layernorm_kernel_on(vendor, family, model, rows, hidden);
}
