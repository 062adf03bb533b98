#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# hayai where its tests' libraries are missing, and as a part of another project: no tests there.
# usage: run_alone.sh CMAKE BUILD SOURCE C_COMPILER CXX_COMPILER BENCHMARK_DIRECTORY
set -eu
cmake=$1 source=$3 cc=$4 cxx=$5 benchmark=$6
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT

# pkg-config finds nothing: one message, and no failure.
mkdir "$work/empty"
PKG_CONFIG_LIBDIR=$work/empty PKG_CONFIG_PATH='' "$cmake" -S "$source" -B "$work/alone" \
    -DCMAKE_C_COMPILER="$cc" -DCMAKE_CXX_COMPILER="$cxx" -Dbenchmark_DIR="$benchmark" \
    > "$work/log" 2>&1 || { cat "$work/log"; exit 1; }
[ "$(grep -c 'tests left out, missing: cmocka, jansson ' "$work/log")" -eq 1 ]
grep -q 'Configuring done' "$work/log"

mkdir "$work/outer"
cat > "$work/outer/CMakeLists.txt" <<CMAKE
cmake_minimum_required(VERSION 3.22)
project(outer LANGUAGES C CXX)
enable_testing()
add_subdirectory("$source" hayai)
add_executable(outer "$source/examples/installed/uses_hayai.c")
target_link_libraries(outer PRIVATE hayai::hayai)
install(TARGETS outer DESTINATION bin)
CMAKE
"$cmake" -S "$work/outer" -B "$work/build" -DCMAKE_C_COMPILER="$cc" -DCMAKE_CXX_COMPILER="$cxx" \
    -Dbenchmark_DIR="$benchmark" > "$work/log" 2>&1 || { cat "$work/log"; exit 1; }
"$cmake" --build "$work/build" --parallel 2 > "$work/log" 2>&1 || { cat "$work/log"; exit 1; }
"$work/build/outer" --list | grep -qx sum/integers
# No tests, no examples, nothing installed but the outer project's own.
(cd "$work/build" && ctest -N) | grep -q 'Total Tests: 0'
[ -z "$(find "$work/build" -name 'hayai_example*' -type f)" ]
"$cmake" --install "$work/build" --prefix "$work/prefix" > "$work/log"
[ "$(find "$work/prefix" -type f | wc -l)" -eq 1 ]
