/* Files that appear in a folder all together: they are written to a hidden folder in it, the draft,
 * and moved when all are whole. If several commands write into one folder, all files are those of the
 * last one to finish. A command that is killed leaves no file.
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
/* Writes the draft's files, and those of data/, to the disk and moves them into the target. A file of
 * the target is removed if `older` (it may be NULL) names it and the draft does not have it. */
bool draft_publish(file_draft *begun, const word_list *older, error *err);
void draft_end(file_draft *begun);

#endif
