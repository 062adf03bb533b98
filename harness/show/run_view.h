/* Views of one stored run. The report and the tables read only these. */
#ifndef LNBENCH_RUN_VIEW_H
#define LNBENCH_RUN_VIEW_H

#include "base/relation.h"
#include "domain/coverage.h"
#include "store/speed.h"
#include "store/store.h"
#include "store/standing.h"

typedef struct run_view {
    stored_run run;
    machine_facts machine;
    stored_cases cases;      /* that were timed: store_timed_cases() */
    json_t *kernels;         /* array of descriptors */
    standing_list standings; /* of its kernels, operation by operation */
    result_store *store;     /* that it was read from */
    bool owns_store;         /* it is closed with the view; else it has to outlive it */
    unsigned others;         /* of a part, bits of the run's other operations */
} run_view;

/* The array of a run's kernel descriptors. */
json_t *store_descriptors(result_store *store, int64_t run);
/* kernel_words_named() among a run's kernels: free the names with word_list_free(). */
void store_kernel_words(result_store *store, int64_t run, const word_list *words, word_list *names);
/* Goes through the parts of a view: each has the kernels of one operation, and all timed cases. Whoever ranks kernels
 * ranks a part's. A part borrows all it has from the whole; a run without kernels is one part. False: there are no more.
 *
 *     for (run_view part = {0}; view_next_part(&view, &part);)
 *         answer_make(&part, &answer);
 */
bool view_next_part(const run_view *whole, run_view *part);
run_view view_load(result_store *store, int64_t run);
void view_free(run_view *view);
/* "requested 40, judged 37, missing 3: ...", and whether the run came to its end: one line without its end;
 * "" where there is nothing to say, of a complete run that tells no more. */
void view_add_coverage(const run_view *view, text_buffer *out);
/* What a part computes; of the whole, what its first part does. */
ln_operation view_operation(const run_view *part);
/* Whether the run lost cases, or did not come to its end. */
bool view_is_partial(const run_view *view);
/* error_in_words() of a sum. */
const char *view_error_words(const run_view *view, const error_sum *sum, ln_type type,
                             char words[ERROR_WORDS]);
/* In words; in JSON "verdict" (null: not judged), "reason" and "detail" (EACH_MEMBER). */
relation_value as_verdict(const case_verdict *verdict);
json_t *verdict_json(const case_verdict *verdict); /* the same members */
/* A word of domain/kernel.h. */
relation_value as_class(const char *word);
json_t *json_facts(const machine_facts *machine); /* an object of strings */

/* A case as published JSON (results/README.md); what is undefined is null. label, class: of its kernel, the class as
 * domain/kernel.h has it; NULL: not known. regime: "L1", "L2", "L3", "DRAM" on the machine of the run. */
json_t *case_json(const stored_case *stored, const char *label, const char *class,
                  const char *regime);
json_t *view_run_json(const run_view *view); /* an array of all cases that have a result */

/* Loads run `wanted` of a database; 0: the latest that `lnbench run` made, since what `choose` measured for itself is
 * no survey; where there is no such run, the latest of all. Where there is no such database or run the program ends (7)
 * with what would make one. */
run_view load_stored_run(const char *database, uint64_t wanted);

#endif
