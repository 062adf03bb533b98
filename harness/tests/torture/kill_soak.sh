#!/bin/bash
# SIGKILL of lnbench or its worker at random moments of the commands of commands.txt; then the
# database is whole, has what it had, and takes a further run; no process and no temporary file is
# left.
#
#     kill_soak.sh SOURCES BINARIES LIBRARIES [KILLS]
#
# KILLS: 20, or 1000 with LNBENCH_FULL. SOAK_SEED: of the moments (default: 1).
set -u
sources=$1
binaries=$2
libraries=$3
kills=${4-$([ -n "${LNBENCH_FULL-}" ] && echo 1000 || echo 20)}
# shellcheck source=harness/tests/torture/prepare.sh
. "$sources/prepare.sh"
RANDOM=${SOAK_SEED-1}
export LNBENCH_SOAK=$scratch # by which its processes are known
commands=()
while read -r name rest; do
    case $name in
    run | run_new | run_json | import | import_json | hunt | merge | export_jsonl | page | speed | replay | history | calibrate)
        commands+=("$name $rest")
        ;;
    esac
done <"$sources/commands.txt"
wrong=0
killed=0

wrong() {
    wrong=$((wrong + 1))
    echo "WRONG kill $kill of '$line' after $moment ms: $*"
}

ours() { grep -lsz "^LNBENCH_SOAK=$scratch$" /proc/[0-9]*/environ | grep -v "/$$/" | cut -d/ -f3; }
programs() { for process in $(ours); do
    case $(cat "/proc/$process/comm" 2>/dev/null) in lnbench* | gnuplot*) echo "$process" ;; esac
done; }

for ((kill = 1; kill <= kills; kill++)); do
    line=${commands[kill % ${#commands[@]}]}
    moment=$((RANDOM % 150))
    rm -rf try tmp
    mkdir try tmp
    cp base.db try/work.db
    read -ra words <<<"${line#* }"
    (cd try && exec "$lnbench" "${words[@]}" >stdout 2>stderr </dev/null) &
    parent=$!
    sleep "$(printf '0.%03d' $moment)"
    if [ $((RANDOM % 2)) -eq 0 ]; then
        kill -9 $parent 2>/dev/null && killed=$((killed + 1))
    else
        worker=$(programs | grep -v "^$parent$" | head -1)
        [ -n "$worker" ] && kill -9 "$worker" 2>/dev/null && killed=$((killed + 1))
    fi
    wait $parent 2>/dev/null
    code=$?
    case $code in
    0 | 1 | 3 | 5 | 6 | 7 | 137) ;;
    *) wrong "exit code $code: $(head -c 300 try/stderr)" ;;
    esac
    for ((i = 0; i < 50; i++)); do
        [ -z "$(programs)" ] && break
        sleep 0.1
    done
    [ -z "$(programs)" ] || wrong "a process is left: $(programs | tr '\n' ' ')"
    for database in try/*.db; do
        [ -s "$database" ] || continue
        whole=$("$binaries/run_sql" "$database" 'PRAGMA integrity_check')
        [ "$whole" = ok ] || wrong "$database: $whole"
    done
    (cd try && "$lnbench" export --db work.db --run 1 --format jsonl --out first.jsonl 2>err)
    cmp -s try/first.jsonl run.jsonl || wrong "run 1 is not what it was: $(cat try/err)"
    case $line in
    run*)
        (cd try && timeout 120 "$lnbench" "${words[@]}" --resume >stdout 2>stderr </dev/null)
        case $? in 0 | 5) ;; *) wrong "--resume: $(head -c 300 try/stderr)" ;; esac
        ;;
    esac
    [ -z "$(ls -A tmp)" ] || wrong "left over: $(ls tmp)"
    [ $((kill % 100)) -eq 0 ] && echo "$kill moments, $killed processes killed, $wrong wrong outcomes"
done 2>/dev/null
echo "$kills moments, $killed processes killed, $wrong wrong outcomes"
exit $((wrong > 0))
