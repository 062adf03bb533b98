/* A kernel's descriptor as the design's JSON. */
#ifndef LNBENCH_KERNEL_JSON_H
#define LNBENCH_KERNEL_JSON_H

#include "invariance.h"
#include <jansson.h>

/* {"name","statistics","apply","schedule","io","param","acc","isa","unroll","supported","traits","source",
 * and "unsupported_because", "object_hash", "bound", "reproducibility", "declared_reproducibility",
 * "varies_with"}; found NULL: its invariance was not measured. NULL when memory runs out. */
json_t *kernel_json(const kernel_entry *kernel, const invariance *found);

/* "fma, nontemporal": the traits, or "-". */
const char *kernel_traits(const kernel_entry *kernel, char buffer[128]);

#endif
