/* Choices for people (text, Markdown) and for programs (TSV, JSON). */
#ifndef LNBENCH_CHOOSE_SHOW_H
#define LNBENCH_CHOOSE_SHOW_H

#include "commands/choose/choose.h"
#include "base/relation.h"
#include "base/text.h"
#include "domain/coverage.h"

/* One shape's question, what is known, and the answer. */
typedef struct chosen {
    choose_wanted wanted;
    kernel_evidence evidence;
    kernel_choice choice;
    bool measured; /* just now */
} chosen;

typedef struct choose_look {
    bool explain; /* the whole table, and why each loser lost */
} choose_look;

/* False when memory runs out or the file has an error. */
bool chosen_print(const chosen *all, size_t count, const choose_look *look, const output_file *out,
                  error *err);

/* One shape: {"schema", ..., "best", "runners_up", "pareto"}; several: {"schema", "choices":
 * [those]}. NULL when memory runs out. */
json_t *chosen_json(const chosen *all, size_t count);

/* A row for each candidate that is shown, in units that programs like. */
relation *chosen_candidates(const chosen *all, size_t count, bool explain);
/* Whether the table has this candidate. */
bool chosen_shows(const chosen *one, size_t index, bool explain);

/* "1024 x 1600", of which the times are estimates; "" where they are measured. */
const char *estimate_words(const chosen *one, char buffer[192]);

/* What became of the kernels that were asked for, added to what is covered already. Of those that the
 * run's beginning did not write down (evidence.run.counts) nothing is known. */
void chosen_cover(const chosen *one, coverage *covered);

/* Whether some kernel has no time: none has, or the run that has them lost it. */
bool chosen_lacks_times(const chosen *one);

/* "the best there is, NAME, has row ULP 2.66"; for the error where nothing meets the budget. */
void chosen_best_there_is(const chosen *one, char *buffer, size_t size);

/* "too noisy to say which is fastest of a, b and c" */
void chosen_add_untold(const chosen *one, text_buffer *out);

/* "class fast, row ULP at most 4, rows of kappa to 1e4"; "no error budget" */
void budget_words(const choose_wanted *wanted, text_buffer *out);

#endif
