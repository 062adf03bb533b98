/* Random rows, parameters and conventions for the audit: what is hard, drawn from a seed. */
#ifndef AUDIT_ROWS_H
#define AUDIT_ROWS_H

#include "layernorm.h"
#include <stdbool.h>

enum { AUDIT_MAX_HIDDEN = 300, AUDIT_KINDS = 13, AUDIT_PRESETS = 11 };

typedef struct audit_row {
    size_t hidden;
    ln_convention convention;
    float x[AUDIT_MAX_HIDDEN];
    float residual[AUDIT_MAX_HIDDEN];
    bool has_residual;
    float gamma[AUDIT_MAX_HIDDEN];
    float beta[AUDIT_MAX_HIDDEN];
} audit_row;

/* A name for each kind of row. */
extern const char *const audit_kind_names[AUDIT_KINDS];

/* The conventions of the design's presets, in its order. */
extern const ln_convention audit_presets[AUDIT_PRESETS];

/* SplitMix64 (Steele, Lea, Flood 2014). */
unsigned long long audit_random(unsigned long long *state);

/* Draws a row of this kind. Two rows of three take a preset, the others a random convention; ties
 * and zeros mostly take one that makes them possible. */
void audit_row_draw(audit_row *row, unsigned kind, unsigned long long *state);

#endif
