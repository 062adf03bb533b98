/* The files that a command draws into a folder of the user's: made in a hidden folder there, and
 * given their names when all are whole. Of several commands at once the last one's are there; of one
 * that is killed nothing is.
 *
 *     file_draft draft;
 *     if (!draft_begin(&draft, "results/charts", err)) return false;
 *     bool fine = draw(draft.folder.path) && draft_publish(&draft, NULL, err);
 *     draft_end(&draft);
 */
#ifndef LNBENCH_DRAFT_H
#define LNBENCH_DRAFT_H

#include "base/temporary.h"
#include "base/words.h"

typedef struct file_draft {
    temporary_folder folder;
    const char *target; /* the caller's */
} file_draft;

/* Makes the target and, below it, the draft, with a folder `data`. */
bool draft_begin(file_draft *begun, const char *target, error *err);
/* Brings the draft's files, and those of data/, to the disk and into the target. Those of these names
 * (it may be NULL) that the draft does not have are an older one's, and go. */
bool draft_publish(file_draft *begun, const word_list *older, error *err);
void draft_end(file_draft *begun);

#endif
