/* Random rows, parameters and conventions for the audit: what is hard, drawn from a seed. */
#ifndef AUDIT_ROWS_H
#define AUDIT_ROWS_H

#include "layernorm.h"
#include <stdbool.h>
#include <stdint.h>

enum { AUDIT_MAX_HIDDEN = 300, AUDIT_KINDS = 13, AUDIT_PRESETS = 11 };

/* Room for a row of any type. */
typedef union audit_values {
    float f32[AUDIT_MAX_HIDDEN];
    double f64[AUDIT_MAX_HIDDEN];
    uint16_t bits[AUDIT_MAX_HIDDEN];
} audit_values;

typedef struct audit_row {
    size_t hidden;
    ln_convention convention;
    ln_type storage, param;
    audit_values x, residual; /* of the storage type */
    bool has_residual;
    audit_values gamma, beta; /* of the parameter type */
} audit_row;

/* A name for each kind of row. */
extern const char *const audit_kind_names[AUDIT_KINDS];

/* The conventions of the presets, in their order. */
extern const ln_convention audit_presets[AUDIT_PRESETS];

/* SplitMix64 (Steele, Lea, Flood 2014). */
unsigned long long audit_random(unsigned long long *state);

/* Two of three are presets, the others any. */
ln_convention audit_convention_draw(unsigned long long *state);

/* Draws a row of this kind, its types set by the caller. Two rows of three take a preset, the
 * others a random convention; ties and zeros mostly take one that makes them possible. */
void audit_row_draw(audit_row *row, unsigned kind, unsigned long long *state);

#endif
