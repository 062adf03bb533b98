#!/bin/bash
# A refused system call is never reported as a kernel's fault: the check works without it, or is missing with a reason,
# or the run ends with a message that names what was refused.
# usage: refused_test.sh LNBENCH REFUSE_CALLS PLUGIN
set -u
lnbench=$1 refuse=$2 plugin=$3
folder=$(mktemp -d) || exit 7
trap 'rm -rf "$folder"' EXIT
export LNBENCH_PEERS=0
"$refuse" getrandom true || exit 77
failed=0
try() { # CALLS CODE PATTERN
    rm -f "$folder/db"
    "$refuse" "$1" "$lnbench" run --plan quick --only accuracy --plugin "$plugin" --kernels example --conventions torch \
        --shapes 4x64 --inputs normal --db "$folder/db" --no-charts >"$folder/out" 2>&1
    local code=$?
    [ $code = "$2" ] && grep -q "$3" "$folder/out" && ! grep -q '^✗' "$folder/out" && return
    echo "without $1: exit code $code, $2 was expected, with '$3'"
    cat "$folder/out"
    failed=1
}
try getrandom,madvise,sched_setaffinity,sigaltstack,perf_event_open,close_range 0 '^✓ example: '
try timer_create 7 'the system refuses sockets, threads'
try timer_settime 7 'the system refuses sockets, threads'
try clone3 7 'the system refuses sockets, threads'
try memfd_create 7 'memory file of the worker: Operation not permitted'
try mremap 7 'memory file of [0-9]* bytes: Operation not permitted'
exit $failed
