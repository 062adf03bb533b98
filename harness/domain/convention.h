/* Conventions as text: presets and lists such as "ddof=1,eps=1e-6@std,affine=vector", by the fields and
 * presets of their operation (operation.h). */
#ifndef LNBENCH_CONVENTION_H
#define LNBENCH_CONVENTION_H

#include "domain/operation.h"

const convention_preset *convention_presets(ln_operation kind, size_t *count);

/* Reads a preset's name or a list. Keys left out of a list are at their first level: ddof=0, eps=0,
 * affine=none. A list of another operation than the first begins with "operation=NAME". Errors (usage) name
 * the part that is wrong, what was expected and the nearest preset. */
bool convention_parse(const char *given, ln_convention *convention, error *err);
/* The same for what a user asked for: where it is wrong the program ends (2). */
ln_convention convention_named(const char *given);
/* The same for rows of this type: eps of torch-rms is that of the type, as PyTorch has it for eps=None. What is
 * stored is read without a type: it says its eps. */
ln_convention convention_for(const char *given, ln_type storage);

/* The canonical list: "ddof=0,eps=1e-05@var,affine=vector" with the shortest decimals, or
 * "operation=rmsnorm,eps=1e-05@square,weight=w" without keys at their first level; parse reads it back. */
const char *convention_format(const ln_convention *convention, char buffer[CONVENTION_MAX_LENGTH]);

/* The preset's name where one is equal, else the canonical list: what is stored and printed. */
const char *convention_label(const ln_convention *convention, char buffer[CONVENTION_MAX_LENGTH]);

#endif
