/* The audit of RMSNorm: every element of certify/rms_row.h on random rows and conventions.
 *
 *     rms_counts counts;
 *     if (!audit_rms(100000, 1, &counts)) ...   // memory ran out
 *     // counts.wrong is 0
 *
 * It shares nothing with rms_row.c: each rounding of rmsnorm.h is found by comparing squares of
 * integers with the midpoints of a type, one after the other. */
#ifndef AUDIT_RMS_H
#define AUDIT_RMS_H

#include <stdbool.h>
#include <stdint.h>

typedef struct rms_counts {
    uint64_t elements; /* each as rounded to its type and to double, those of f64 with their rest */
    uint64_t undefined;  /* of these: NaN */
    uint64_t rounded[3]; /* of these: with 1 + w, the root, xhat rounded */
    uint64_t wrong;      /* each is told on standard error */
} rms_counts;

/* At least this many elements. False where memory runs out. */
bool audit_rms(uint64_t elements, uint64_t seed, rms_counts *counts);

#endif
