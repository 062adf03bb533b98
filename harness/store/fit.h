/* Which kernels of a run can be recommended: on every judged row within a budget, rows that a search
 * found for some kernel apart; judged whole; and the same bits from call to call. Whoever recommends
 * one asks here, and takes the fastest by the stored share of the roof. */
#ifndef LNBENCH_STORE_FIT_H
#define LNBENCH_STORE_FIT_H

#include "store/store.h"

/* A kernel that stays below this on every row, and is wrong on none, can be taken where nothing else
 * is asked for: the library's class `accurate`. */
#define FIT_ROW_ULP 2.0

#define FIT_NOT_TIMED "judged, not timed"

typedef struct kernel_fit {
    char kernel[NAME_MAX_LENGTH];
    size_t judged;        /* cases, but for rows that were hunted */
    double error, hunted; /* largest row ULP of these, and of hunted rows; NaN: there is none */
    bool accurate;        /* judged, nowhere wrong, within the budget, and no other library's */
    bool is_peer;         /* another library's */
    char doubt[64];       /* why it is not taken even so; "": it can be */
} kernel_fit;

/* Of each kernel of a run; budget: row ULP. free(*fits). */
bool store_fits(result_store *store, int64_t run, double budget, kernel_fit **fits, size_t *count,
                error *err);
/* NULL: it is not among them. */
const kernel_fit *kernel_fit_of(const kernel_fit *fits, size_t count, const char *kernel);

#endif
