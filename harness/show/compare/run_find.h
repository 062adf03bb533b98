/* The run that a word on the command line means. */
#ifndef LNBENCH_RUN_FIND_H
#define LNBENCH_RUN_FIND_H

#include "store/store.h"

/* What a plugin's kernel is known by, from its row of kernels: "mine 0123456789ab", its name and the hash of its file. */
#define PLUGIN_SQL                                                                                 \
    "descriptor ->> '$.source' || ' ' || substr(descriptor ->> '$.object_hash', 1, 12)"

/* The machine of a row of runs: runs of equal ones can be compared. */
#define MACHINE_SQL                                                                                \
    "(SELECT group_concat(value, ' | ') FROM (SELECT substr(coalesce(facts.value, 'unknown'), 1, " \
    "64) AS value FROM "                                                                           \
    "json_each('[\"architecture\", \"cpu_model\", \"l1d_bytes\", \"l2_bytes\", \"l3_bytes\", "     \
    "\"cores\", "                                                                                  \
    "\"hypervisor\"]') AS fact LEFT JOIN facts ON run = runs.id AND name = fact.value ORDER BY "   \
    "fact.key))"

typedef struct found_run {
    char database
        [1100]; /* that it is in; a temporary copy of a packed one goes at the end of the program */
    int64_t run;
    char words
        [112]; /* "run 3, commit 1234567, 2026-01-01T00:00:00Z"; of a file without its number */
} found_run;

/* A run's number, "latest" (the newest run of `lnbench run`), "previous" (the newest before it on
 * the same machine that was asked for the same, whatever library it ran), the first 4 to 40 digits
 * of a commit (its latest run), or an exported file. Where there is none the program ends and says what was
 * looked for and where: 4 where there is no latest or previous, else 7. */
found_run run_find(const char *word, const char *database);

/* A store that has both; ids: their numbers in it. Runs of two files are copied into one in memory. */
result_store *runs_together(const found_run found[2], int64_t ids[2]);

#endif
