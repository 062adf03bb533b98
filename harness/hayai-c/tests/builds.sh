#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Builds hayai in other ways than this build, and uses the results.
# usage: builds.sh alone|installed|shared|sanitized CMAKE BUILD SOURCE C_COMPILER CXX_COMPILER
#          BENCHMARK_DIRECTORY [LAST]
#   BENCHMARK_DIRECTORY: that of Google Benchmark's CMake package; LAST: Python, for `shared`; the sanitizers
#   (address,undefined or thread) for `sanitized`, whose BUILD is the folder to build in
set -eu
test=$1 cmake=$2 build=$3 source=$4 cc=$5 cxx=$6 benchmark=$7 last=${8:-}
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT

# Configures hayai without the libraries of its tests, and as a part of another project: neither
# has tests.
alone() {
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
add_executable(outer "$source/examples/plain.c")
target_link_libraries(outer PRIVATE hayai::hayai)
install(TARGETS outer DESTINATION bin)
CMAKE
    "$cmake" -S "$work/outer" -B "$work/build" -DCMAKE_C_COMPILER="$cc" -DCMAKE_CXX_COMPILER="$cxx" \
        -Dbenchmark_DIR="$benchmark" > "$work/log" 2>&1 || { cat "$work/log"; exit 1; }
    "$cmake" --build "$work/build" --parallel 2 > "$work/log" 2>&1 || { cat "$work/log"; exit 1; }
    "$work/build/outer" --list | grep -qx text/compare
    # No tests, no examples, and only the outer project's own files are installed.
    (cd "$work/build" && ctest -N) | grep -q 'Total Tests: 0'
    [ -z "$(find "$work/build" -name 'hayai_example*' -type f)" ]
    "$cmake" --install "$work/build" --prefix "$work/prefix" > "$work/log"
    [ "$(find "$work/prefix" -type f | wc -l)" -eq 1 ]
}

# Installs hayai into an empty folder and builds the examples with it, by CMake and by pkg-config.
installed() {
    "$cmake" --install "$build" --component hayai --prefix "$work/prefix" > "$work/log"
    "$cmake" -S "$source/examples" -B "$work/build" -DCMAKE_PREFIX_PATH="$work/prefix" \
        -Dbenchmark_DIR="$benchmark" -DCMAKE_C_COMPILER="$cc" -DCMAKE_CXX_COMPILER="$cxx" \
        >> "$work/log" 2>&1 || { cat "$work/log"; exit 1; }
    "$cmake" --build "$work/build" >> "$work/log" || { cat "$work/log"; exit 1; }
    "$work/build/hayai_example_plain" --list | grep -qx text/compare
    "$work/build/hayai_example_plain" --benchmark_min_time=0.001 -o json | grep -q '"name": "text/compare"'

    # The same without CMake.
    libdir=$(dirname "$(find "$work/prefix" -name hayai.pc)")/..
    export PKG_CONFIG_PATH="$libdir/pkgconfig:$benchmark/../../pkgconfig"
    export LD_LIBRARY_PATH="$libdir:$benchmark/../.."
    [ "$(pkg-config --modversion hayai)" = "$(sed -n 's/.*VERSION_STRING "\(.*\)"/\1/p' "$source/hayai.h")" ]
    # shellcheck disable=SC2046
    "$cc" -std=c17 -o "$work/by-pkg-config" "$source/examples/plain.c" \
        $(pkg-config --cflags --libs hayai)
    "$work/by-pkg-config" --list | grep -qx text/compare

    for file in include/hayai.h include/hayai_benchmark.h include/hayai_report.h include/hayai_macros.h \
        share/doc/hayai/LICENSE share/doc/hayai/CHANGELOG.md share/doc/hayai/docs/tutorial.md; do
        [ -f "$work/prefix/$file" ]
    done
    page=$(find "$work/prefix" -name hayai.3)
    [ -n "$page" ]
    if command -v mandoc > /dev/null; then
        mandoc -T lint -W warning "$page"
    fi
}

# Builds and installs the shared library, and uses it from C, from C++ and, by dlopen, from Python.
shared() {
    "$cmake" -S "$source" -B "$work/build" -DBUILD_SHARED_LIBS=ON -DHAYAI_TESTS=OFF \
        -DHAYAI_EXAMPLES=OFF -DCMAKE_C_COMPILER="$cc" -DCMAKE_CXX_COMPILER="$cxx" \
        -Dbenchmark_DIR="$benchmark" -DCMAKE_INSTALL_LIBDIR=lib -DCMAKE_BUILD_TYPE=Debug > "$work/log" 2>&1 || { cat "$work/log"; exit 1; }
    "$cmake" --build "$work/build" --parallel 2 >> "$work/log" 2>&1 || { cat "$work/log"; exit 1; }
    "$cmake" --install "$work/build" --prefix "$work/prefix" >> "$work/log"
    library=$work/prefix/lib/libhayai.so
    export LD_LIBRARY_PATH="$work/prefix/lib:$benchmark/../.."
    export PKG_CONFIG_PATH="$work/prefix/lib/pkgconfig"

    # All of the C API is visible, and nothing else.
    "$source/tests/documents.sh" functions "$cc" "$source" > "$work/declared"
    nm -D --defined-only "$library" | grep -v ' A ' | cut -d' ' -f3 | cut -d@ -f1 | LC_ALL=C sort -u > "$work/visible"
    diff "$work/declared" "$work/visible"
    [ "$(wc -l < "$work/visible")" -gt 90 ]
    nm -D --defined-only "$library" | grep -q ' hayai_suite_run@@HAYAI_0.2$'
    readelf -d "$library" | grep -q 'SONAME.*\[libhayai.so.0.2\]'

    # In C: neither the C++ library nor Google Benchmark is on the command line.
    flags=$(pkg-config --cflags --libs hayai)
    case $flags in *stdc++* | *-lc++* | *-lbenchmark*) echo "$flags"; exit 1 ;; esac
    # shellcheck disable=SC2086
    "$cc" -std=c17 -o "$work/c" "$source/examples/plain.c" $flags
    "$work/c" --list | grep -qx text/compare
    "$work/c" --benchmark_min_time=0.001 -o json | grep -q '"name": "text/compare"'

    # In C++.
    cp "$source/examples/plain.c" "$work/plain.cpp"
    # shellcheck disable=SC2086
    "$cxx" -std=c++17 -o "$work/cpp" "$work/plain.cpp" $flags
    "$work/cpp" --benchmark_min_time=0.001 -o json | grep -q '"name": "text/compare"'

    # By CMake, in a project without C++.
    "$cmake" -S "$source/examples" -B "$work/project" -DCMAKE_PREFIX_PATH="$work/prefix" \
        -DCMAKE_C_COMPILER="$cc" -DCMAKE_CXX_COMPILER=/bin/false >> "$work/log" 2>&1 || { cat "$work/log"; exit 1; }
    "$cmake" --build "$work/project" >> "$work/log" || { cat "$work/log"; exit 1; }
    "$work/project/hayai_example_plain" --list | grep -qx text/compare

    # In Python.
    if [ -n "$last" ]; then
        "$last" "$source/examples/python.py" "$library" > "$work/python"
        grep -q '^python/sum/8 ' "$work/python"
        "$last" "$source/tests/hostile.py" "$library"
    else
        echo "python3 is not here: not tried"
    fi
}

# Builds hayai and its tests with sanitizers, and runs them. Long: only with LNBENCH_FULL;
# otherwise exit code 77.
sanitized() {
    [ -n "${LNBENCH_FULL:-}" ] || exit 77
    rm -f "$build/CMakeCache.txt" # the generator or compiler may have changed
    mkdir -p "$build"
    "$cmake" -S "$source" -B "$build" -DHAYAI_SANITIZE="$last" -DHAYAI_SANITIZED_TESTS=OFF \
        -DHAYAI_EXAMPLES=OFF -DCMAKE_BUILD_TYPE=Debug \
        -DCMAKE_C_COMPILER="$cc" -DCMAKE_CXX_COMPILER="$cxx" -Dbenchmark_DIR="$benchmark" > "$build/log"
    "$cmake" --build "$build" --parallel 2 > "$build/log" 2>&1 || { cat "$build/log"; exit 1; }
    # A report must be an error, whatever the environment says; timings are not tested here.
    export ASAN_OPTIONS=detect_leaks=1:halt_on_error=1 UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1
    export TSAN_OPTIONS=halt_on_error=1
    cd "$build" && ctest --output-on-failure
}

$test
