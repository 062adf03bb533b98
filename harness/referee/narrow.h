/* The least that shows a fault. The plain problem of the same hidden size is asked first; then that with what
 * all wrong problems share; and levels become plain by halves and then one by one, as long as it comes out
 * wrong (Zeller and Hildebrandt, IEEE TSE 28, 2002): first with the reason that is told, then in any way. Of
 * many rows the fewest are found by halving.
 *
 *     narrow_fault(&hearing, &asked, &seen, &verdict, &err);
 *     // "only with 9 rows or more, residual (9x257; right at 8 rows; 4x257, plain: pass; right at hidden 8;
 *     // wrong at 13): ..."
 */
#ifndef LNBENCH_NARROW_H
#define LNBENCH_NARROW_H

#include "referee/hearing.h"

/* Says in the verdict, which is wrong, what it takes. False: the run ends. */
bool narrow_fault(hearing *of, const combination *asked, const faults_seen *seen,
                  case_verdict *verdict, error *err);

#endif
