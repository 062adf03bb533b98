/* Accuracy classes: what ln_layernorm() promises of the kernels it takes, held against everything
 * that was judged. */
#ifndef LNBENCH_CHOOSE_CLASS_H
#define LNBENCH_CHOOSE_CLASS_H

#include "commands/choose/choose.h"

/* "fast", "accurate", "reproducible". */
bool class_from_name(const char *name, accuracy_class *class, error *err);
const char *class_name(accuracy_class class);

/* Sets limit_of_fast of each of these facts, which is by what the others are for the same rows. */
void class_limits(accuracy_fact *facts, size_t count);

/* Whether a kernel (of the library with this object hash) is of a class for rows of this length, by
 * the facts: in every family of inputs, at every hidden size that was judged and is no more than
 * twice as large. If not, why. *unjudged: some family is lacking. What was judged without eps counts
 * too, for `accurate`. */
bool class_has(accuracy_class class, const kernel_evidence *evidence, const char *kernel,
               const char *object_hash, size_t hidden, bool *unjudged, char *reason, size_t size);

#endif
