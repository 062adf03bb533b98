/* lnbench doctor --store: the whole file checked, what each run takes, and runs removed. */
#ifndef LNBENCH_DOCTOR_STORE_H
#define LNBENCH_DOCTOR_STORE_H

#include "base/output.h"

/* remove: "3" or "1..50", NULL: none; yes: without asking. Errors: damage, no such run (7), bad words,
 * or nobody to ask (2). */
bool doctor_store(const char *database, const char *remove, bool yes, const output_file *out,
                  error *err);

#endif
