#!/bin/sh
# Builds everything with sanitizers, and runs its tests: the presets `sanitize` (AddressSanitizer,
# UndefinedBehaviorSanitizer) and `threads` (ThreadSanitizer). Takes an hour: only with LNBENCH_FULL.
# exit code 77: skipped
# usage: sanitized_test.sh SOURCE_ROOT PRESET
set -u
[ -n "${LNBENCH_FULL-}" ] || exit 77
cd "$1" || exit 1
unset LNBENCH_FULL # the sanitized build does not repeat the long tests
cmake --preset "$2" && cmake --build --preset "$2" && ctest --preset "$2"
