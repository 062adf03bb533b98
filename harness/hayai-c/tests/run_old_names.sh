#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Each name of 0.1 warns and says what to use. usage: run_old_names.sh C_COMPILER SOURCE
set -eu
cc=$1 source=$2
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT
LC_ALL=C "$cc" -std=c17 -I"$source" -c "$source/tests/old_names.c" -o "$work/old_names.o" 2> "$work/warnings"
# Each enumerator of the list, the member, and nothing else.
[ "$(grep -c 'is deprecated: use' "$work/warnings")" -eq 23 ]
[ "$(cat "$source"/hayai*.h | grep -c 'HAYAI_DEPRECATED("')" -eq 23 ]
