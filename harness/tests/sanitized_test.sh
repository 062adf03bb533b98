#!/bin/sh
# Builds everything under sanitizers, and runs its tests: the presets `sanitize` (AddressSanitizer,
# UndefinedBehaviorSanitizer) and `threads` (ThreadSanitizer). An hour: only with LNBENCH_FULL.
# exit code 77: skipped
# usage: sanitized_test.sh SOURCE_ROOT PRESET
set -u
[ -n "${LNBENCH_FULL-}" ] || exit 77
cd "$1" || exit 1
unset LNBENCH_FULL # its own long tests are this build's
cmake --preset "$2" && cmake --build --preset "$2" && ctest --preset "$2"
