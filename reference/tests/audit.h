/* The audit of the certified reference by integers: its rows, its decisions, and whole runs. */
#ifndef AUDIT_H
#define AUDIT_H

#include "certify/fast_row.h"
#include "certify/reference.h"
#include <stdbool.h>
#include <stdint.h>

/* ---- Element types --------------------------------------------------------------------------- */

/* The element types of the audit, which reads their bits independently of the reference. */

enum { AUDIT_TYPES = 4 };

extern const char *const audit_type_names[AUDIT_TYPES];

/* Returns element i of an array of the type. */
double audit_load(ln_type type, const void *values, size_t i);

/* Return the same as bits, and a value from its bits. */
uint64_t audit_bits(ln_type type, const void *values, size_t i);
double audit_value(ln_type type, uint64_t bits);

/* Writes the number of the type that is nearest to value and not larger in size, as element i. */
void audit_store(ln_type type, void *values, size_t i, double value);

/* The same for the nearest number, ties to even; infinities do not change. */
void audit_store_nearest(ln_type type, void *values, size_t i, double value);

/* A number of the type and its two neighbours. An infinity is the power of two after the largest
 * number. Zeros of either sign are one number. */
typedef struct audit_neighbours {
    double below, value, above;
    bool even; /* the last bit of value is 0 */
} audit_neighbours;

audit_neighbours audit_neighbours_of(ln_type type, double value);

/* ---- Rows ------------------------------------------------------------------------------------ */

/* Random rows, parameters and conventions for the audit: difficult ones, drawn from a seed. */

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

/* Draws a convention: a preset in two of three cases, else any. */
ln_convention audit_convention_draw(unsigned long long *state);

/* Draws a row of this kind; the caller has set its types. Two rows of three have a preset, the
 * others a random convention; rows for ties and zeros mostly have one that makes these possible. */
void audit_row_draw(audit_row *row, unsigned kind, unsigned long long *state);

/* ---- The audit ------------------------------------------------------------------------------- */

/* The audit decides with integers whether a result is correctly rounded.
 *
 * It shares no method with the reference: no MPFR, no rational number, no root, no division, and the
 * variance comes from the squared deviations, not from sums of squares. A claimed result r is
 * accepted if the exact value is between the midpoints of r and its neighbours, which is
 * decided by comparing squares of integers; an exact midpoint belongs to the even neighbour. */

typedef struct audit_state audit_state;

audit_state *audit_create(void);
void audit_destroy(audit_state *audit);

/* Reads a row: finite values of this type, at least one. */
void audit_take(audit_state *audit, const ln_convention *convention, size_t hidden, ln_type type,
                const void *x);

/* Returns whether xhat is defined in the row. */
bool audit_is_defined(const audit_state *audit);

/* One element's claimed results: y in the row's type and as a double; rest only for f64. */
typedef struct audit_claim {
    double rounded, exact, rest;
} audit_claim;

/* Returns whether these are the right results for one element of the row, with gamma and beta as stored. In a row
 * that is not defined all must be NaN. */
bool audit_accepts(audit_state *audit, double x, double gamma, double beta, audit_claim claim);

/* Returns whether an element of a defined row is in the interval of the quick path. */
bool audit_encloses(audit_state *audit, double x, double gamma, double beta,
                    fast_interval interval);

/* Returns whether all results for the row as a whole are right. */
bool audit_accepts_row(audit_state *audit, const ln_reference_result *result);

/* Returns whether sum is x + residual rounded to the type. */
bool audit_accepts_sum(audit_state *audit, ln_type type, double x, double residual, double sum);

/* ---- Ball arithmetic ------------------------------------------------------------------------- */

/* A third, independent check: ball arithmetic by Arb (Johansson, "Arb: efficient arbitrary-
 * precision midpoint-radius interval arithmetic", 2017).
 *
 * It uses neither the reference's error analysis nor the audit's integers: Arb keeps an error bound with
 * each number, and the formulas are those of textbooks, with the variance in two passes. No precision decides a
 * tie or an exact zero: its answer is then BALLS_UNDECIDED, and only the audit by integers counts. */

typedef enum balls_verdict { BALLS_RIGHT, BALLS_WRONG, BALLS_UNDECIDED } balls_verdict;

typedef struct ball_set ball_set;

/* Returns "Arb 2.23.0", or NULL if this was built without it: then no other function here may be called. */
const char *balls_version(void);

ball_set *balls_create(void); /* NULL when memory runs out */
void balls_destroy(ball_set *balls);

/* Reads a row for which xhat is defined; keeps the pointer x. */
void balls_take(ball_set *balls, const ln_convention *convention, size_t hidden, ln_type type,
                const void *x);

/* Decides whether these are the right results for one element, with gamma and beta finite and as stored. */
balls_verdict balls_judge(ball_set *balls, double x, double gamma, double beta, audit_claim claim);

/* ---- The usual oracle ------------------------------------------------------------------------ */

/* The usual reference of tests: double precision with var = sum(x^2) / n - mean^2. Its errors are measured
 * against certified answers. */

typedef struct naive_errors {
    uint64_t elements;   /* the elements with a finite right answer */
    uint64_t misrounded; /* those that would round to another number of the type */
    double norm_max;     /* max |oracle - exact| / max |exact| of a row; infinite if the oracle is
                      * not finite but the right answer is */
} naive_errors;

/* Adds a row's errors. x: the normalised values; result: the right answers. */
void naive_errors_add(naive_errors *errors, const audit_row *row, const audit_values *x,
                      const ln_reference_result *result);

/* ---- Runs ------------------------------------------------------------------------------------ */

/* Audits certified rows, one after the other, and counts failures: by the integers of audit.h, by ball arithmetic if
 * there is Arb, and the quick path's enclosures. Also measures the errors of the usual oracle on the same rows.
 *
 *     audit_run *run = audit_run_create(names, kinds);
 *     audit_row *row = audit_run_row(run);
 *     ... fill *row ...
 *     if (!audit_run_take(run, kind)) ...           memory ran out
 *     audit_run_print(run, seconds);
 *     audit_run_destroy(run); */

typedef struct audit_run audit_run;

/* Makes a run for rows of so many kinds, each with a name (not copied). NULL: memory ran out. */
audit_run *audit_run_create(const char *const *names, unsigned kinds);
void audit_run_destroy(audit_run *run);

/* Returns the row to fill before each audit_run_take(). */
audit_row *audit_run_row(audit_run *run);

/* Audits the row. Failures are reported on standard error and counted. All results of a row with an element that is not
 * finite must be NaN. Returns false if memory runs out. */
bool audit_run_take(audit_run *run, unsigned kind);

/* A row of any length, of finite numbers, no residual; gamma and beta as its convention says. */
typedef struct audit_long_row {
    const char *name;
    ln_convention convention;
    ln_type storage, param;
    size_t hidden;
    const void *x, *gamma, *beta;
} audit_long_row;

/* Audits the results for the row as a whole, and for so many of its elements, spread over it, only by
 * integers. Such rows are not in the table of the usual oracle. Returns false if memory runs out. */
bool audit_run_take_long(audit_run *run, const audit_long_row *row, size_t samples);

typedef struct audit_totals {
    uint64_t elements, rows, wrong;
} audit_totals;

audit_totals audit_run_totals(const audit_run *run);

/* Prints the counts, and the table of the usual oracle with one line for each kind. */
void audit_run_print(const audit_run *run, double seconds);

/* ---- RMSNorm --------------------------------------------------------------------------------- */

/* The audit of RMSNorm: every element of certify/rms_row.h on random rows and conventions.
 *
 *     rms_counts counts;
 *     if (!audit_rms(100000, 1, &counts)) ...   // memory ran out
 *     // counts.wrong is 0
 *
 * It shares no method with rms_row.c: each rounding of rmsnorm.h is found by comparing squares of
 * integers with the midpoints of a type, one after the other. */

typedef struct rms_counts {
    uint64_t elements;   /* each rounded to its type and to double, for f64 with the rest */
    uint64_t undefined;  /* of these: NaN */
    uint64_t rounded[3]; /* of these: with 1 + w, the root, xhat rounded */
    uint64_t wrong;      /* each is reported on standard error */
} rms_counts;

/* Audits at least this many elements. Returns false if memory runs out. */
bool audit_rms(uint64_t elements, uint64_t seed, rms_counts *counts);

/* ---- Gradients ------------------------------------------------------------------------------- */

/* The audit of the gradients: every dx, dgamma and dbeta of reference/certify/backward.h on random rows.
 *
 *     gradient_counts counts;
 *     if (!audit_gradients(100000, 1, &counts)) ...   // memory ran out
 *     // counts.wrong is 0
 *
 * It shares only the formula of the derivative with backward.c. For a claimed result m it decides on which side of m,
 * or of the midpoints next to it, the exact value is: multiplied by the denominator, value - m is P + Q sqrt(v) with
 * rationals, whose sign follows from squares of integers. It computes no root and chooses no precision, except for
 * dgamma, which adds the roots of several rows: integer roots of increasing length enclose that sum. */

typedef struct gradient_counts {
    uint64_t dx, dgamma, dbeta; /* claims checked, each as rounded to its type and to double */
    uint64_t undefined;         /* of these: NaN */
    uint64_t undecided;         /* sums of several roots within 2^-4096 of a midpoint */
    uint64_t wrong;             /* each is reported on standard error */
} gradient_counts;

/* Audits at least this many claims. Returns false if memory runs out. */
bool audit_gradients(uint64_t claims, uint64_t seed, gradient_counts *counts);

#endif
