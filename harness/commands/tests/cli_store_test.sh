#!/bin/bash
# shellcheck disable=SC2154 # cli_common.sh sets lnbench, binaries and libraries
# Databases that are damaged, inaccessible, or on a full disk. (store_failure_test.c tests other refusals.)
. "$(dirname "$0")/cli_common.sh" "$@"

small=(--kernels two_pass_f32_scalar --only accuracy --shapes 2x8 --conventions torch
    --inputs normal --no-charts)
accepted "a good run" 0 run --db good.db "${small[@]}"

# unusable LABEL PATTERN FILE: every command that opens a store refuses it, and leaves it unchanged.
unusable() {
    local label=$1 pattern=$2 file=$3 command
    [ -f "$file" ] && cp "$file" before
    while read -r command; do
        # shellcheck disable=SC2086
        refused "$label: $command" 7 "$pattern" $command --db "$file"
    done <<END
run ${small[*]}
list runs
export
report --out charts
import good.run.db
compare 1 1
history
choose --shapes 2x8 --stored
replay --failures
doctor --noise --time 1
END
    [ -f "$file" ] && check "$label: not touched" cmp before "$file"
    check "$label: nothing beside it" test ! -e "$file-wal" -a ! -e "$file-shm"
}
"$lnbench" export --db good.db --format db --out good.run.db
head -c 20000 good.db >cut.db
unusable "a database cut off" 'cut.db: the database is damaged' cut.db
cp good.db hurt.db
for page in 2 4 6 8; do
    head -c 64 /dev/zero | tr '\0' X | dd of=hurt.db bs=4096 seek=$page conv=notrunc status=none
done
# Opening a store does not read it: a command that reads the damaged part reports it, and doctor reads all of it.
for command in "doctor --store" "doctor --remove 1" "report --no-charts" "export"; do
    # shellcheck disable=SC2086
    refused "a damaged database: $command" 7 'hurt.db: the database is damaged' $command --db hurt.db
done
accepted "doctor --store" 0 doctor --store --db good.db
check "doctor --store: sound" has out '^good.db +sound +[0-9.]+ +1$'
"$lnbench" doctor --store --db good.db --json >out
check "doctor --store: how large it is" is "$(value schema out) $(value stores.0.bytes out)" \
    "lnbench-store-2 $(stat -c %s good.db)"
cp good.db many.db
for seed in 2 3; do "$lnbench" run --db many.db "${small[@]}" --seed $seed >out; done
accepted "doctor --remove" 0 doctor --remove 1..2 --db many.db
check "doctor --remove: said" has out '^removed 2 runs$'
check "doctor --remove: the third is left" is "$("$lnbench" list runs --json --db many.db | grep -c '"run": 3')" 1
check "doctor --remove: no row of others" is "$("$binaries/run_sql" many.db 'SELECT count(*) FROM cells WHERE run <> 3')" 0
refused "doctor --remove: no such run" 7 'many.db: has no run 9' doctor --remove 9 --db many.db
refused "doctor --remove: bad words" 2 'choose a run or a range' doctor --remove 3..x --db many.db
cp good.db view.db
"$binaries/run_sql" view.db 'PRAGMA legacy_alter_table = ON; ALTER TABLE runs RENAME TO kept;
    CREATE VIEW runs AS SELECT * FROM kept'
for command in "list runs" "report --no-charts" export history "doctor --remove 1" "run ${small[*]}"; do
    # shellcheck disable=SC2086
    refused "a view in place of a table: $command" 7 'view.db: cannot .*view' $command --db view.db
done
mkdir directory
unusable "a directory" 'directory: a directory' directory
refused "a device: run" 7 '/dev/null: not a regular file' run --db /dev/null "${small[@]}"
check "a device stays one" test -c /dev/null
check "a device has no journal" test ! -e /dev/null-journal

for command in 'list runs' export 'report --out charts'; do
    # shellcheck disable=SC2086
    refused "no database: $command" 7 'nowhere.db: no such file' $command --db nowhere.db
    check "no database: $command makes none" test ! -e nowhere.db
done
: >empty.db
refused "an empty file: export" 7 'empty.db: empty' export --db empty.db
refused "no such run" 7 'good.db: has no run 77' export --db good.db --run 77
refused "a file where a directory should be" 7 "no directory 'good.db'" \
    run --db good.db/x.db "${small[@]}"
refused "a place that cannot be" 7 '/proc/nowhere' run --db /proc/nowhere/x.db "${small[@]}"
refused "export to a place that cannot be" 7 '/proc/nowhere' export --db good.db \
    --out /proc/nowhere/x
if [ "$(id -u)" -ne 0 ]; then
    mkdir locked
    chmod 555 locked
    refused "no permission" 7 'locked' run --db locked/x.db "${small[@]}"
fi
refused "charts that cannot be made" 7 '/proc/nowhere' run --db early.db --out /proc/nowhere \
    --kernels two_pass_f32_scalar --shapes 2x8 --conventions torch --inputs normal
check "charts that cannot be made: found before measuring" test ! -e early.db
refused "report into a file" 7 'good.db: is not a directory' report --db good.db --out good.db

if [ -c /dev/full ]; then
    "$lnbench" run --db said.db "${small[@]}" >/dev/full 2>err
    code=$?
    without_progress
    : >out
    check "standard output full: exit code" is "$code" 7
    check "standard output full: one line" lines err 1
    accepted "standard output full: kept" 0 list runs --db said.db
    check "standard output full: complete" has out ' complete +no +1 '
fi

# A disk that fills up: files may grow to 2000 KiB (the worker's memory file needs 1600). Stored results are kept, and
# with more space the run continues.
growing=(--db full.db --kernels "naive_f32_scalar,two_pass_f32_scalar,welford_f32_scalar,shifted_two_mean_fused_f32_scalar" --only accuracy --shapes 4x16 --no-charts)
(
    trap '' XFSZ
    ulimit -f 2000
    exec "$lnbench" run "${growing[@]}" >out 2>err
)
code=$?
without_progress
check "full disk: exit code" is "$code" 7
check "full disk: one line" lines err 1
check "full disk: which file" has err '^lnbench: full.db: .*repeat the command with --resume$'
accepted "full disk: the database can be read" 0 list runs --db full.db --json
kept=$(value 0.cases out)
check "full disk: something was kept" test "$kept" -gt 0
accepted "full disk: goes on" 0 run "${growing[@]}" --resume
accepted "full disk: the whole run" 0 list runs --db full.db --json
check "full disk: still one run" is "$(value '' out)" 1
check "full disk: complete" is "$(value 0.state out)" complete
check "full disk: more than was kept" test "$(value 0.cases out)" -gt "$kept"

# An import cannot be resumed: it is repeated.
accepted "full disk: an export" 0 export --db full.db --format db --out all.run.db
refused "an export over its own store" 2 'is the store itself' export --db full.db --out ./full.db
(
    trap '' XFSZ
    ulimit -f 200
    exec "$lnbench" import all.run.db --db new.db >out 2>err
)
check "full disk: import: exit code" is "$?" 7
check "full disk: import: what is wrong" has err '^lnbench: new.db: cannot .*was stored before is kept.(: free some space)?$'
accepted "full disk: import again" 0 import all.run.db --db new.db
rm new.db*
refused "import of nothing" 7 'none.db' import none.db --db new.db
check "import of nothing: no store is left" is "$(ls new.db* 2>/dev/null)" ""
cp good.db loose.db
"$binaries/run_sql" loose.db "PRAGMA legacy_alter_table = ON; ALTER TABLE judgements RENAME TO kept;
    CREATE TABLE judgements AS SELECT * FROM kept; UPDATE judgements SET verdict = 'no verdict'"
refused "import of a word that no store has" 7 'loose.db: its runs cannot be imported' import loose.db --db new.db
check "import of a word that no store has: no store is left" is "$(ls new.db* 2>/dev/null)" ""
refused "the same into a store that there is" 7 'loose.db: its runs cannot be imported' import loose.db --db many.db
accepted "the same into a store that there is: kept" 0 list runs --db many.db
mkfifo loose.db-journal
refused "a pipe beside a store" 7 'loose.db-journal: not a regular file' list runs --db loose.db
(
    ulimit -f 20 # SQLite creates a -shm file even for a reader
    exec "$lnbench" list runs --db full.db >out 2>err
)
check "no room beside it: exit code" is "$?" 7
check "no room beside it: what failed" has err '^lnbench: full.db: cannot write to it or beside it: '

finish
