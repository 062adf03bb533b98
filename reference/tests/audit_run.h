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
#ifndef AUDIT_RUN_H
#define AUDIT_RUN_H

#include "audit_rows.h"

typedef struct audit_run audit_run;

/* Rows are of so many kinds, each with a name (not copied). NULL: memory. */
audit_run *audit_run_create(const char *const *names, unsigned kinds);
void audit_run_destroy(audit_run *run);

/* The row to be filled before each audit_run_take(). */
audit_row *audit_run_row(audit_run *run);

/* Audits it; what is wrong is told on standard error and counted. A row with an element that is not
 * finite must be NaN all over. False: memory. */
bool audit_run_take(audit_run *run, unsigned kind);

typedef struct audit_totals {
    uint64_t elements, rows, wrong;
} audit_totals;

audit_totals audit_run_totals(const audit_run *run);

/* What was counted, and the table of the usual oracle, one line a kind. */
void audit_run_print(const audit_run *run, double seconds);

#endif
