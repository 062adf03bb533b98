#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Builds and installs the shared library, and uses it from C, from C++ and, by dlopen, from Python.
# usage: run_shared.sh CMAKE BUILD SOURCE C_COMPILER CXX_COMPILER BENCHMARK_DIRECTORY [PYTHON]
set -eu
cmake=$1 source=$3 cc=$4 cxx=$5 benchmark=$6 python=${7:-}
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT

"$cmake" -S "$source" -B "$work/build" -DBUILD_SHARED_LIBS=ON -DHAYAI_TESTS=OFF \
    -DHAYAI_EXAMPLES=OFF -DCMAKE_C_COMPILER="$cc" -DCMAKE_CXX_COMPILER="$cxx" \
    -Dbenchmark_DIR="$benchmark" -DCMAKE_INSTALL_LIBDIR=lib -DCMAKE_BUILD_TYPE=Debug > "$work/log" 2>&1 || { cat "$work/log"; exit 1; }
"$cmake" --build "$work/build" --parallel 2 >> "$work/log" 2>&1 || { cat "$work/log"; exit 1; }
"$cmake" --install "$work/build" --prefix "$work/prefix" >> "$work/log"
library=$work/prefix/lib/libhayai.so
export LD_LIBRARY_PATH="$work/prefix/lib:$benchmark/../.."
export PKG_CONFIG_PATH="$work/prefix/lib/pkgconfig"

# The C API is visible, all of it and nothing else.
"$source/tests/list_functions.sh" "$cc" "$source" > "$work/declared"
nm -D --defined-only "$library" | grep -v ' A ' | cut -d' ' -f3 | cut -d@ -f1 | LC_ALL=C sort -u > "$work/visible"
diff "$work/declared" "$work/visible"
[ "$(wc -l < "$work/visible")" -gt 90 ]
nm -D --defined-only "$library" | grep -q ' hayai_suite_run@@HAYAI_0.2$'
readelf -d "$library" | grep -q 'SONAME.*\[libhayai.so.0.2\]'

# From C: neither the C++ library nor Google Benchmark is on the command line.
flags=$(pkg-config --cflags --libs hayai)
case $flags in *stdc++* | *-lc++* | *-lbenchmark*) echo "$flags"; exit 1 ;; esac
# shellcheck disable=SC2086
"$cc" -std=c17 -o "$work/c" "$source/examples/installed/uses_hayai.c" $flags
"$work/c" --list | grep -qx sum/integers
"$work/c" --benchmark_min_time=0.001 -o json | grep -q '"name": "sum/integers"'

# From C++.
cp "$source/examples/installed/uses_hayai.c" "$work/uses_hayai.cpp"
# shellcheck disable=SC2086
"$cxx" -std=c++17 -o "$work/cpp" "$work/uses_hayai.cpp" $flags
"$work/cpp" --benchmark_min_time=0.001 -o json | grep -q '"name": "sum/integers"'

# By CMake, as C alone: a project without C++.
"$cmake" -S "$source/examples/installed" -B "$work/project" -DCMAKE_PREFIX_PATH="$work/prefix" \
    -DCMAKE_C_COMPILER="$cc" -DCMAKE_CXX_COMPILER=/bin/false >> "$work/log" 2>&1 || { cat "$work/log"; exit 1; }
"$cmake" --build "$work/project" >> "$work/log" || { cat "$work/log"; exit 1; }
"$work/project/uses_hayai" --list | grep -qx sum/integers

# From Python.
if [ -n "$python" ]; then
    "$python" "$source/examples/python.py" "$library" > "$work/python"
    grep -q '^python/sum/8 ' "$work/python"
    "$python" "$source/tests/hostile.py" "$library"
else
    echo "python3 is not here: not tried"
fi
