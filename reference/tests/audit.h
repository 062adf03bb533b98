/* The audit of the certified reference by integers alone: what it is given, what it decides, and whole runs. */
#ifndef AUDIT_H
#define AUDIT_H

#include "certify/fast_row.h"
#include "certify/reference.h"
#include <stdbool.h>
#include <stdint.h>

/* ---- Element types --------------------------------------------------------------------------- */

/* The element types as the audit sees them: by their bits, apart from the reference's own reading.
 */

enum { AUDIT_TYPES = 4 };

extern const char *const audit_type_names[AUDIT_TYPES];

/* Element i of an array of the type. */
double audit_load(ln_type type, const void *values, size_t i);

/* The same as bits, and a value from its bits. */
uint64_t audit_bits(ln_type type, const void *values, size_t i);
double audit_value(ln_type type, uint64_t bits);

/* Writes the number of the type nearest to value that is not beyond it in size, as element i. */
void audit_store(ln_type type, void *values, size_t i, double value);

/* The same for the nearest number, a tie going to the even one; infinities stay. */
void audit_store_nearest(ln_type type, void *values, size_t i, double value);

/* A number of the type and the two beside it; an infinity, here and beside, stands for the power of
 * two that follows the largest number. Zeros of either sign are one number. */
typedef struct audit_neighbours {
    double below, value, above;
    bool even; /* the last bit of value is 0 */
} audit_neighbours;

audit_neighbours audit_neighbours_of(ln_type type, double value);

/* ---- Rows ------------------------------------------------------------------------------------ */

/* Random rows, parameters and conventions for the audit: what is hard, drawn from a seed. */

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

/* ---- The audit ------------------------------------------------------------------------------- */

/* The audit: is this the correctly rounded result? Decided by integers alone.
 *
 * It shares nothing with the reference: no MPFR, no rational, no root, no division, and the
 * variance comes from the squared deviations, not from sums of squares. A claimed result r is
 * accepted where the exact value lies between the midpoints of r and its neighbours, which is
 * decided by comparing squares of integers; an exact midpoint belongs to the even neighbour.
 */

typedef struct audit_state audit_state;

audit_state *audit_create(void);
void audit_destroy(audit_state *audit);

/* Takes a row in: finite values of this type, at least one. */
void audit_take(audit_state *audit, const ln_convention *convention, size_t hidden, ln_type type,
                const void *x);

/* Whether xhat is defined in the row taken. */
bool audit_is_defined(const audit_state *audit);

/* One element's claimed results: y in the row's type and as a double; rest only for f64. */
typedef struct audit_claim {
    double rounded, exact, rest;
} audit_claim;

/* Whether these are the right results for one element of the row, gamma and beta as stored. A row
 * that is not defined asks for NaN in all. */
bool audit_accepts(audit_state *audit, double x, double gamma, double beta, audit_claim claim);

/* Whether an element of a defined row lies where the quick path says. */
bool audit_encloses(audit_state *audit, double x, double gamma, double beta,
                    fast_interval interval);

/* Whether everything that is stated of the row as a whole is right. */
bool audit_accepts_row(audit_state *audit, const ln_reference_result *result);

/* Whether sum is x + residual rounded to the type. */
bool audit_accepts_sum(audit_state *audit, ln_type type, double x, double residual, double sum);

/* ---- Ball arithmetic ------------------------------------------------------------------------- */

/* The third voice of the audit: ball arithmetic by Arb (Johansson, "Arb: efficient arbitrary-
 * precision midpoint-radius interval arithmetic", 2017).
 *
 * It shares neither the reference's error analysis nor the audit's integers: Arb keeps a bound with
 * each number by itself, and the formulas are the textbook's, the variance in two passes. Where a
 * result is a tie or an exact zero, no precision tells: it then says so, and the audit alone
 * counts.
 */

typedef enum balls_verdict { BALLS_RIGHT, BALLS_WRONG, BALLS_UNDECIDED } balls_verdict;

typedef struct ball_set ball_set;

/* "Arb 2.23.0", or NULL where this was built without it: then nothing else here may be called. */
const char *balls_version(void);

ball_set *balls_create(void); /* NULL when memory runs out */
void balls_destroy(ball_set *balls);

/* Takes in a row for which xhat is defined; x is kept as a pointer. */
void balls_take(ball_set *balls, const ln_convention *convention, size_t hidden, ln_type type,
                const void *x);

/* Whether these are the right results for one element, gamma and beta finite and as stored. */
balls_verdict balls_judge(ball_set *balls, double x, double gamma, double beta, audit_claim claim);

/* ---- The usual oracle ------------------------------------------------------------------------ */

/* What people judge LayerNorm by: double precision with var = sum(x^2) / n - mean^2. How wrong that
 * is, against certified answers. */

typedef struct naive_errors {
    uint64_t elements;   /* whose right answer is finite */
    uint64_t misrounded; /* would be another number of the type */
    double norm_max; /* max |oracle - exact| / max |exact| of a row; infinite where the oracle is
                      * not finite and the right answer is */
} naive_errors;

/* Adds a row's errors. x is what was normalised; result is right. */
void naive_errors_add(naive_errors *errors, const audit_row *row, const audit_values *x,
                      const ln_reference_result *result);

/* ---- Runs ------------------------------------------------------------------------------------ */

/* Audits certified rows, one after the other, and counts: against the integers of audit.h, against
 * ball arithmetic where there is Arb, and the quick path's enclosures; beside it, how wrong the
 * usual oracle is on the same rows.
 *
 *     audit_run *run = audit_run_create(names, kinds);
 *     audit_row *row = audit_run_row(run);
 *     ... fill *row ...
 *     if (!audit_run_take(run, kind)) ...           memory ran out
 *     audit_run_print(run, seconds);
 *     audit_run_destroy(run);
 */

typedef struct audit_run audit_run;

/* Rows are of so many kinds, each with a name (not copied). NULL: memory. */
audit_run *audit_run_create(const char *const *names, unsigned kinds);
void audit_run_destroy(audit_run *run);

/* The row to be filled before each audit_run_take(). */
audit_row *audit_run_row(audit_run *run);

/* Audits it; what is wrong is told on standard error and counted. A row with an element that is not
 * finite must be NaN all over. False: memory. */
bool audit_run_take(audit_run *run, unsigned kind);

/* A row of any length, of finite numbers, no residual; gamma and beta as its convention says. */
typedef struct audit_long_row {
    const char *name;
    ln_convention convention;
    ln_type storage, param;
    size_t hidden;
    const void *x, *gamma, *beta;
} audit_long_row;

/* Audits what is stated of the row as a whole, and so many of its elements, spread over it; by the
 * integers alone. Not in the table of the usual oracle. False: memory. */
bool audit_run_take_long(audit_run *run, const audit_long_row *row, size_t samples);

typedef struct audit_totals {
    uint64_t elements, rows, wrong;
} audit_totals;

audit_totals audit_run_totals(const audit_run *run);

/* What was counted, and the table of the usual oracle, one line a kind. */
void audit_run_print(const audit_run *run, double seconds);

/* ---- RMSNorm --------------------------------------------------------------------------------- */

/* The audit of RMSNorm: every element of certify/rms_row.h on random rows and conventions.
 *
 *     rms_counts counts;
 *     if (!audit_rms(100000, 1, &counts)) ...   // memory ran out
 *     // counts.wrong is 0
 *
 * It shares nothing with rms_row.c: each rounding of rmsnorm.h is found by comparing squares of
 * integers with the midpoints of a type, one after the other. */

typedef struct rms_counts {
    uint64_t elements; /* each as rounded to its type and to double, those of f64 with their rest */
    uint64_t undefined;  /* of these: NaN */
    uint64_t rounded[3]; /* of these: with 1 + w, the root, xhat rounded */
    uint64_t wrong;      /* each is told on standard error */
} rms_counts;

/* At least this many elements. False where memory runs out. */
bool audit_rms(uint64_t elements, uint64_t seed, rms_counts *counts);

/* ---- Gradients ------------------------------------------------------------------------------- */

/* The audit of the gradients: every dx, dgamma and dbeta of reference/certify/backward.h on random rows.
 *
 *     gradient_counts counts;
 *     if (!audit_gradients(100000, 1, &counts)) ...   // memory ran out
 *     // counts.wrong is 0
 *
 * It shares nothing with backward.c but the formula of the derivative. For a claimed result m it
 * decides on which side of m, or of the midpoints beside it, the exact value lies: multiplied by
 * the denominator, value - m is P + Q sqrt(v) with rationals, whose sign is that of integers'
 * squares. No root is taken, and no precision chosen, but where dgamma adds the roots of several
 * rows: there integer roots of rising length enclose the sum. */

typedef struct gradient_counts {
    uint64_t dx, dgamma, dbeta; /* claims checked, each as rounded to its type and to double */
    uint64_t undefined;         /* of these: NaN */
    uint64_t untold; /* sums of several roots that lie on a midpoint or nearer than 2^-4096 */
    uint64_t wrong;  /* each is told on standard error */
} gradient_counts;

/* At least this many claims. False where memory runs out. */
bool audit_gradients(uint64_t claims, uint64_t seed, gradient_counts *counts);

#endif
