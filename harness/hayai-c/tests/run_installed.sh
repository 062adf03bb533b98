#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Installs hayai into an empty place and builds the example project against that, by CMake and by
# pkg-config. usage: run_installed.sh CMAKE BUILD SOURCE C_COMPILER CXX_COMPILER BENCHMARK_DIRECTORY
#   (of Google Benchmark's CMake package)
set -eu
cmake=$1 build=$2 source=$3 cc=$4 cxx=$5 benchmark=$6
project=$source/examples/installed
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT

"$cmake" --install "$build" --component hayai --prefix "$work/prefix" > "$work/log"
"$cmake" -S "$project" -B "$work/build" -DCMAKE_PREFIX_PATH="$work/prefix" \
    -Dbenchmark_DIR="$benchmark" -DCMAKE_C_COMPILER="$cc" -DCMAKE_CXX_COMPILER="$cxx" \
    >> "$work/log" 2>&1 || { cat "$work/log"; exit 1; }
"$cmake" --build "$work/build" >> "$work/log" || { cat "$work/log"; exit 1; }
"$work/build/uses_hayai" --list | grep -qx sum/integers
"$work/build/uses_hayai" --benchmark_min_time=0.001 -o json | grep -q '"name": "sum/integers"'

# The same without CMake.
libdir=$(dirname "$(find "$work/prefix" -name hayai.pc)")/..
export PKG_CONFIG_PATH="$libdir/pkgconfig:$benchmark/../../pkgconfig"
export LD_LIBRARY_PATH="$libdir:$benchmark/../.."
[ "$(pkg-config --modversion hayai)" = "$(sed -n 's/.*VERSION_STRING "\(.*\)"/\1/p' "$source/hayai.h")" ]
# shellcheck disable=SC2046
"$cc" -std=c17 -o "$work/by-pkg-config" "$project/uses_hayai.c" \
    $(pkg-config --cflags --libs hayai)
"$work/by-pkg-config" --list | grep -qx sum/integers

for file in include/hayai.h include/hayai_benchmark.h include/hayai_report.h include/hayai_macros.h \
    share/doc/hayai/LICENSE share/doc/hayai/CHANGELOG.md share/doc/hayai/docs/tutorial.md; do
    [ -f "$work/prefix/$file" ]
done
page=$(find "$work/prefix" -name hayai.3)
[ -n "$page" ]
if command -v man > /dev/null; then
    warnings=$(LC_ALL=C MANROFFSEQ='' man --warnings -E UTF-8 -l "$page" 2>&1 > /dev/null)
    [ -z "$warnings" ] || { echo "$warnings"; exit 1; }
fi
