#!/bin/bash
# A store of N runs like the published one, and what each command costs there (docs/lab/figures.md).
# usage: results/many_runs.sh FOLDER N...    needs 12 MB a run, GNU time, python3
set -eu
folder=$1
shift
root=$(dirname "$(readlink -f "$0")")
lnbench=${LNBENCH_COMMAND:-$root/../lnbench}
cd "$folder"
rm -f one.db
"$lnbench" import "$root"/published/*/run.db.xz --db one.db
for runs in "$@"; do
    cp one.db many.db
    python3 - "$runs" <<'END'
import sqlite3, sys
store = sqlite3.connect("many.db", isolation_level=None)
store.execute("PRAGMA synchronous = OFF")
def names(table, *without):
    return ", ".join(row[1] for row in store.execute(f"PRAGMA table_xinfo({table})") if row[6] == 0 and row[1] not in without)
most = {table: store.execute(f"SELECT max(id) FROM {table}").fetchone()[0] for table in ("cells", "cases")}
store.execute("BEGIN")
for i in range(1, int(sys.argv[1])):
    cell, case = i * most["cells"], i * most["cases"]
    for table, first, values in (("runs", "id, started, origin, ", f"{i + 1}, strftime('%Y-%m-%dT%H:%M:%SZ', started, '+{i} hours'), 'made {i}', "),
                                 ("facts", "run, ", f"{i + 1}, "), ("kernels", "run, ", f"{i + 1}, "),
                                 ("cells", "id, run, ", f"id + {cell}, {i + 1}, "), ("cases", "id, cell, ", f"id + {case}, cell + {cell}, ")):
        own = names(table, "id", "run", "cell", "origin", *(["started"] if table == "runs" else []))
        where = {"runs": "id = 1", "cases": f"id <= {most['cases']}"}.get(table, "run = 1")
        store.execute(f"INSERT INTO {table} ({first}{own}) SELECT {values}{own} FROM {table} WHERE {where}")
    for table in ("accuracies", "judgements", "timings", "repetitions", "judged_rows"):
        own = names(table, "case_id")
        store.execute(f"INSERT INTO {table} (case_id, {own}) SELECT case_id + {case}, {own} FROM {table} WHERE case_id <= {most['cases']}")
store.execute("COMMIT")
END
    echo "$runs runs, $(stat -c %s many.db) bytes"
    for command in "list runs" "history --kernels two_pass_f32_avx2" "report --run $runs --no-charts" "export --run $runs --format tsv" \
        "compare 1 $runs --format tsv" "choose --shapes 85x768 --stored" "replay --case 100" \
        "run --only accuracy --conformance no --kernels two_pass_f32_avx2 --shapes 4x64 --inputs normal --no-charts"; do
        # shellcheck disable=SC2086
        /usr/bin/time -f "%U s of a processor, %M KiB: $command" "$lnbench" $command --db many.db >/dev/null 2>time || true
        tail -1 time
    done
done
