#!/bin/bash
# Every allocation and every I/O call of each command of commands.txt fails once (torture.c); or the
# power fails at every moment (power_loss.c), and then the same with syncs that do nothing, which
# must be found; or processes are killed at random moments (kill_soak.c).
#
#     torture_test.sh allocations|worker|calls|power|kills|files SOURCES BINARIES LIBRARIES
#
# Without LNBENCH_FULL a sample of the commands and of their calls or moments. TORTURE_MOST: how many
# of each command, instead of what gives 20,000 allocations, 5,000 calls, 10,000 kills, and all others;
# TORTURE_SEED: which, 0 if unset; TORTURE_ONLY: of this command alone. worker: the allocations of
# lnbench-worker. files: leaves what all of them need in TORTURE_FILES. exit code 77: skipped
set -u
kind=$1
sources=$2
binaries=$3
libraries=$4
# Spares the disk some thousand syncs; what power losses take is not on a disk anyway.
[ -w /dev/shm ] && export TMPDIR=/dev/shm
[ "$kind" != files ] || rm -rf "${TORTURE_FILES:?}"
# shellcheck source=harness/tests/torture/prepare.sh
. "$sources/prepare.sh"
if [ "$kind" = files ]; then
    cp -r . "$TORTURE_FILES"
    exit
fi
most=${TORTURE_MOST-}
commands=$sources/commands.txt
if [ -z "${LNBENCH_FULL-}" ]; then
    chosen='conventions|fingerprint|export_jsonl|import'
    [ "$kind" = allocations ] && chosen="$chosen|eval|run_new|help|export_json|export_tsv|export_smaller"
    [ "$kind" = worker ] && chosen='eval|run'
    [ "$kind" = power ] && chosen='eval|export_jsonl|import|run|hunt' most=${most:-24}
    [ "$kind" = kills ] && chosen='import|run|hunt|page|speed' most=${most:-2}
    grep -E "^($chosen) " "$commands" >sample.txt
    commands=sample.txt
    most=${most:-8}
fi
case $kind in
allocations) most=${most:-400} ;;
calls) most=${most:-100} ;;
kills) most=${most:-200} ;;
*) most=${most:-1000000} ;;
esac
if [ -n "${TORTURE_ONLY-}" ]; then
    grep "^$TORTURE_ONLY " "$sources/commands.txt" >only.txt
    commands=only.txt
fi
if [ "$kind" = kills ]; then
    "$binaries/kill_soak" "$commands" "$binaries/lnbench" --most "$most" --seed "${TORTURE_SEED-0}"
    exit
fi
if [ "$kind" = power ]; then
    "$binaries/power_loss" "$commands" "$binaries/lnbench" --most "$most" || exit
    for planted in files/export_jsonl folders/hunt databases/import; do
        "$binaries/power_loss" "$sources/commands.txt" "$binaries/lnbench" --lie "${planted%/*}" \
            --only "${planted#*/}" --most 20 --losses 1 >planted.log
        [ $? -eq 1 ] || {
            echo "WRONG: the planted fault $planted was not found"
            exit 1
        }
    done
    exit
fi
program=lnbench
[ "$kind" = worker ] && kind=allocations program=lnbench-worker
"$binaries/torture" "$kind" "$commands" "$binaries/lnbench" "$libraries/fail_allocation.so" \
    --most "$most" --program "$program" --seed "${TORTURE_SEED-0}"
