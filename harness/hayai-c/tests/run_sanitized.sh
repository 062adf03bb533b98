#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Builds hayai and its tests with sanitizers, and runs them.
# usage: run_sanitized.sh CMAKE SOURCE BUILD C_COMPILER CXX_COMPILER BENCHMARK_DIRECTORY SANITIZERS
#   SANITIZERS: address,undefined or thread
# Long: with LNBENCH_FULL alone; exit code 77 without.
set -eu
[ -n "${LNBENCH_FULL:-}" ] || exit 77
cmake=$1 source=$2 build=$3 cc=$4 cxx=$5 benchmark=$6 sanitizers=$7
rm -f "$build/CMakeCache.txt" # another generator or compiler may have been asked for since
mkdir -p "$build"
"$cmake" -S "$source" -B "$build" -DHAYAI_SANITIZE="$sanitizers" -DHAYAI_SANITIZED_TESTS=OFF \
    -DHAYAI_EXAMPLES=OFF -DCMAKE_BUILD_TYPE=Debug \
    -DCMAKE_C_COMPILER="$cc" -DCMAKE_CXX_COMPILER="$cxx" -Dbenchmark_DIR="$benchmark" > "$build/log"
"$cmake" --build "$build" --parallel 2 > "$build/log" 2>&1 || { cat "$build/log"; exit 1; }
# A report must be an error, whatever the environment says; the timings of a test are not its point.
export ASAN_OPTIONS=detect_leaks=1:halt_on_error=1 UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1
export TSAN_OPTIONS=halt_on_error=1
cd "$build" && ctest --output-on-failure
