/* Shapes of well-known models' LayerNorm or RMSNorm, as their convention says, so that nobody has to look them up.
 *
 *     const model_shape *model = model_find("gpt2-xl", &err);   // hidden 1600, 1024 tokens, torch
 */
#ifndef LNBENCH_MODELS_H
#define LNBENCH_MODELS_H

#include "base/die.h"
#include <stddef.h>

enum { MODEL_PROMPT = 512 }; /* tokens of a prompt */

typedef struct model_shape {
    const char *name;       /* "gpt2-xl" */
    const char *title;      /* "GPT-2 1.5B (XL)" */
    size_t hidden;          /* elements of one normalised row */
    size_t tokens;          /* rows of one full sequence (context, frames or patches) */
    const char *convention; /* a preset's name, or a list */
    const char *source;     /* where hidden, tokens and eps are printed */
} model_shape;

const model_shape *models(size_t *count);

/* A name of the table; an id of Hugging Face whose model is in it ("openai-community/gpt2"); or a config.json
 * of Hugging Face, the file or its folder, whose shape stays until the next call. Small and capital letters
 * are the same. What is none of them ends the program (2) with the nearest name, or what the file lacks. */
const model_shape *model_find(const char *name);
/* The type of what was found last, as its config.json has it; NULL: not known. */
const char *model_dtype(void);

#endif
