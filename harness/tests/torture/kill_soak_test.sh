#!/bin/bash
# Kills lnbench, or one of its processes, at random moments of each command of commands.txt (kill_soak.py).
#
#     kill_soak_test.sh SOURCES BINARIES LIBRARIES
#
# Without LNBENCH_FULL it tries 2 moments of each of a few commands, with it 200 moments of each command.
# TORTURE_MOST: number of moments of each command; TORTURE_SEED: seed of the moments, 0 if unset; TORTURE_ONLY: only
# this command.
set -u
sources=$1
binaries=$2
libraries=$3
[ -w /dev/shm ] && export TMPDIR=/dev/shm # saves thousands of syncs of the disk
# shellcheck source=harness/tests/torture/prepare.sh
. "$sources/prepare.sh"
chosen='[a-z]' most=200
[ -n "${LNBENCH_FULL-}" ] || { chosen='(import|run|hunt|page|speed) ' most=2; }
[ -z "${TORTURE_ONLY-}" ] || chosen="$TORTURE_ONLY "
grep -E "^$chosen" "$sources/commands.txt" >commands.txt
python3 "$sources/kill_soak.py" commands.txt "$binaries/lnbench" "${TORTURE_MOST:-$most}" "${TORTURE_SEED-0}"
