/* A kernel's descriptor as published JSON (lnbench list kernels --json). */
#ifndef LNBENCH_KERNEL_JSON_H
#define LNBENCH_KERNEL_JSON_H

#include "domain/reproducible.h"
#include "domain/kernel.h"
#include "domain/operation.h"
#include <jansson.h>

/* {"name","label" (as tables have it under a heading of its type and ISA),"role","statistics","apply","schedule","io","param","acc","isa","unroll","supported","traits","source",
 * and "unsupported_because", "object_hash", "bound", "reproducibility", "declared_reproducibility",
 * "varies_with"}; found NULL: its invariance was not measured. NULL when memory runs out. */
json_t *kernel_json(const kernel_entry *kernel, const invariance_result *found);

/* A peer's version, a plugin's name, else the name without its type and ISA. */
void kernel_entry_label(const kernel_entry *kernel, char label[NAME_MAX_LENGTH]);

/* The descriptors of a run's kernels of one operation: their labels become those that its answer prints under its heading, without
 * each kernel's type and the answer's ISA, so that within a type they tell kernels apart. */
void kernel_labels_set(json_t *kernels, ln_operation what, const char *isa);

/* "fma, nontemporal": the traits, or "-". */
const char *kernel_traits(const kernel_entry *kernel, char buffer[128]);

/* A word that a run's descriptors tell of a kernel ("isa", "param", ...), "" where they don't. */
const char *descriptor_word(const json_t *kernels, const char *kernel, const char *key);
/* Whether it is another library's (worker/worker.c): its descriptor has that library's version. */
bool kernel_is_peer(const json_t *kernels, const char *kernel);
/* Whether it is a call of ln_layernorm(), of our library. */
bool kernel_is_call(const json_t *kernels, const char *kernel);
kernel_role kernel_role_of(const json_t *kernels, const char *kernel);

#endif
