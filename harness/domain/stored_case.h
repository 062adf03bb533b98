/* Cases with what became of them, as the store gives them back: in the order in which they were first
 * stored, and found by their keys. */
#ifndef LNBENCH_STORED_CASE_H
#define LNBENCH_STORED_CASE_H

#include "base/hash.h"
#include "domain/case.h"

typedef struct stored_case {
    int64_t id; /* in the database, over all runs: `lnbench replay --case` */
    case_key key;
    bool judged;
    case_verdict verdict;
    ln_metrics metrics;   /* NaN where not judged */
    double bound_row_ulp; /* the largest proven bound over the rows judged; infinite: no claim; NaN:
                             no bound */
    bool hashed;
    uint64_t output_hash;          /* of every bit that came out; meaningful where hashed */
    timed_repetition *repetitions; /* owned by the list */
    size_t repetition_count;
    speed_figures speed; /* what they come to, as far as processes have ended */
} stored_case;

typedef struct stored_cases {
    stored_case *cases; /* in the order in which they were first stored */
    size_t count;
    hash_index index; /* of the first index.count of them */
} stored_cases;

/* Where a case stands; count: nowhere. Those behind the index are looked at one by one. */
size_t stored_cases_find(const stored_cases *cases, const case_key *key);
/* Brings the index up to all cases there are. */
void stored_cases_index(stored_cases *cases);
void stored_cases_free(stored_cases *cases);

#endif
