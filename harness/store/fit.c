/* Which kernels of a run can be recommended: one query, asked by the table, the page and choose. */
#include "store/internal.h"
#include "base/allocate.h"
#include "store/fit.h"
#include <stdlib.h>
#include <string.h>

/* ?1 run, ?2 budget in row ULP. `apart`: judged on other rows than the timed ones. */
#define OF_KERNEL(view) "FROM " view " WHERE run = ?1 AND kernel = own.kernel"
static const char fit_sql[] =
    "WITH own (kernel) AS (SELECT DISTINCT kernel FROM cells WHERE run = ?1), "
    "sums AS (SELECT own.kernel, coalesce(role, '') AS role, reproducible, "
    "(SELECT count(*) " OF_KERNEL(
        "judged") " AND NOT hunted) AS judged, "
                  "(SELECT count(*) " OF_KERNEL(
                      "judged") " AND NOT hunted AND wrong) AS wrong, "
                                "(SELECT max(error) " OF_KERNEL(
                                    "judged") " AND NOT hunted) AS error, "
                                              "(SELECT max(error) " OF_KERNEL(
                                                  "judged") " AND hunted) AS hunted, "
                                                            "(SELECT count(*) " OF_KERNEL(
                                                                "judged") " AND NOT hunted AND "
                                                                          "checked) AS checked, "
                                                                          "EXISTS (SELECT "
                                                                          "1 " OF_KERNEL(
                                                                              "judged") " AND NOT "
                                                                                        "hunted "
                                                                                        "AND NOT "
                                                                                        "EXISTS "
                                                                                        "(SELECT 1 "
                                                                                        "FROM "
                                                                                        "timings "
                                                                                        "WHERE "
                                                                                        "case_id = "
                                                                                        "judged."
                                                                                        "case_id)) "
                                                                                        "AS apart, "
                                                                                        "EXISTS "
                                                                                        "(SELECT "
                                                                                        "1"
                                                                                        " " OF_KERNEL(
                                                                                            "timed") ") AS has_time, "
                                                                                                     "EXISTS (SELECT 1 " OF_KERNEL(
                                                                                                         "lost") ") AS lost "
                                                                                                                 "FROM own LEFT JOIN kernels ON kernels.run = ?1 AND kernels.name = own.kernel) "
                                                                                                                 "SELECT kernel, judged, error, hunted, "
                                                                                                                 "judged > 0 AND wrong = 0 AND coalesce(error <= ?2, 1) AND role <> 'peer' AS accurate, role = 'peer', "
                                                                                                                 "CASE WHEN reproducible = 'none' THEN 'its bits differ from call to call' "
                                                                                                                 "WHEN NOT has_time THEN '" FIT_NOT_TIMED
                                                                                                                 "' "
                                                                                                                 "WHEN NOT apart THEN 'timed, judged on the timed rows only' "
                                                                                                                 "WHEN role IN ('library', 'plugin') AND checked = 0 THEN 'not judged beyond these rows' "
                                                                                                                 "WHEN lost OR (SELECT state <> 'complete' AND asked IS NULL FROM runs WHERE id = ?1) "
                                                                                                                 "THEN 'cases of it may be missing' ELSE '' END AS doubt FROM sums";

char *store_fit_sql(void)
{
    return allocate_copy(fit_sql, sizeof fit_sql);
}

bool store_fits(result_store *store, int64_t run, double budget, kernel_fit **fits, size_t *count,
                error *err)
{
    sqlite3_stmt *statement = store_bound(store, STATEMENT_FITS, err, "id", run, budget);
    bool row = false;
    *fits = NULL;
    *count = 0;
    bool fine = statement && store_next(store, statement, &row, err);
    while (fine && row) {
        *fits = allocate_room(*fits, *count, sizeof **fits);
        kernel_fit *fit = &(*fits)[(*count)++];
        *fit = (kernel_fit){.judged = (size_t)sqlite3_column_int64(statement, 1),
                            .error = store_real(statement, 2),
                            .hunted = store_real(statement, 3),
                            .accurate = sqlite3_column_int(statement, 4) != 0,
                            .is_peer = sqlite3_column_int(statement, 5) != 0};
        store_copy_text(statement, 0, fit->kernel, sizeof fit->kernel);
        store_copy_text(statement, 6, fit->doubt, sizeof fit->doubt);
        fine = store_next(store, statement, &row, err);
    }
    if (!fine) {
        free(*fits);
        *fits = NULL;
        *count = 0;
    }
    return fine;
}

const kernel_fit *kernel_fit_of(const kernel_fit *fits, size_t count, const char *kernel)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(fits[i].kernel, kernel) == 0)
            return &fits[i];
    return NULL;
}
