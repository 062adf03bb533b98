#!/bin/bash
# Every allocation and every I/O call of each command of commands.txt fails once (torture.c).
#
#     torture_test.sh allocations|calls SOURCES BINARIES LIBRARIES
#
# Without LNBENCH_FULL a sample of the commands and of their calls. TORTURE_MOST: how many of each
# command instead of all; TORTURE_PROGRAM=lnbench-worker: in the worker instead. exit code 77: skipped
set -u
kind=$1
sources=$2
binaries=$3
libraries=$4
# shellcheck source=harness/tests/torture/prepare.sh
. "$sources/prepare.sh"
most=${TORTURE_MOST-}
commands=$sources/commands.txt
if [ -z "${LNBENCH_FULL-}" ]; then
    chosen='conventions|fingerprint|merge|export_jsonl|import'
    [ "$kind" = allocations ] && chosen="$chosen|eval|run_new"
    grep -E "^($chosen) " "$commands" >sample.txt
    commands=sample.txt
    most=${most:-8}
fi
"$binaries/torture" "$kind" "$commands" "$binaries/lnbench" "$libraries/fail_allocation.so" \
    --most "${most:-1000000}" --program "${TORTURE_PROGRAM:-lnbench}"
