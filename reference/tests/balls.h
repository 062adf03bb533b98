/* The third voice of the audit: ball arithmetic by Arb (Johansson, "Arb: efficient arbitrary-
 * precision midpoint-radius interval arithmetic", 2017).
 *
 * It shares neither the reference's error analysis nor the audit's integers: Arb keeps a bound with
 * each number by itself, and the formulas are the textbook's, the variance in two passes. Where a
 * result is a tie or an exact zero, no precision tells: it then says so, and the audit alone
 * counts.
 */
#ifndef BALLS_H
#define BALLS_H

#include "audit.h"

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

#endif
