#include "cpu.h"
#include <string.h>

/* Intel's and AMD's manuals, CPUID: leaf 0 has the vendor's name in ebx, edx, ecx, leaf 1 the family
 * in bits 8 to 11 of eax, to which, where it is 15, bits 20 to 27 are added. */
ln_cpu ln_cpu_make(const cache_sources *sources)
{
    unsigned name[4] = {0}, version[4] = {0};
    char vendor[12];
    sources->cpuid(0, 0, name);
    sources->cpuid(1, 0, version);
    memcpy(vendor, &name[1], 4);
    memcpy(vendor + 4, &name[3], 4);
    memcpy(vendor + 8, &name[2], 4);
    unsigned family = version[0] >> 8 & 15;
    if (family == 15)
        family += version[0] >> 20 & 255;
    if (memcmp(vendor, "GenuineIntel", sizeof vendor) == 0)
        return CPU_intel;
    if (memcmp(vendor, "AuthenticAMD", sizeof vendor) == 0 && family == 25)
        return CPU_amd25;
    return CPU_any;
}
