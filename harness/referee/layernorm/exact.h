/* Whether a kernel rounds correctly, as it may claim (LN_TRAIT_CORRECTLY_ROUNDED): its bits against
 * those of the certified reference, on a corpus that follows from a seed.
 *
 *     exact_findings found;
 *     exact_request request = {.seed = 1, .elements = 1000000};
 *     if (!exact_verify(judge, &request, kernel, &found, &err)) ...
 *
 * The corpus: every convention with several eps, every input family and rows aimed at midpoints, with
 * and without a residual, short rows and long ones; y in place and not.
 */
#ifndef LNBENCH_EXACT_H
#define LNBENCH_EXACT_H

#include "base/progress.h"
#include "domain/kernel.h"
#include "judge/judge.h"

typedef struct exact_request {
    uint64_t seed;
    uint64_t elements;      /* at least so many */
    progress_bar *progress; /* NULL: none is shown */
} exact_request;

typedef struct exact_findings {
    case_verdict verdict; /* ok, or what ended it before the corpus did */
    uint64_t elements;
    uint64_t aimed;              /* of those, on a midpoint of two numbers or next to one */
    uint64_t wrong;              /* elements whose bits are others */
    uint64_t facts, wrong_facts; /* mean and rstd of rows */
    uint64_t hash;               /* of all results' values: the same on every machine */
    char first[320];             /* the first that is wrong, in words; "" */
} exact_findings;

/* What the kernel did wrong is in *found; false is only for what is no fault of the kernel. */
bool exact_verify(row_judge *judge, const exact_request *request, const kernel_entry *kernel,
                  exact_findings *found, error *err);

#endif
