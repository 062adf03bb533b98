#!/bin/sh
# Installs into an empty place and builds the examples against that, by CMake and by pkg-config.
# usage: run_installed.sh CMAKE BUILD SOURCE C_COMPILER CXX_COMPILER
set -eu
cmake=$1 build=$2 source=$3 cc=$4 cxx=$5
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT

"$cmake" --install "$build" --prefix "$work/prefix" >"$work/log"
"$cmake" -S "$source/examples" -B "$work/build" -DCMAKE_PREFIX_PATH="$work/prefix" \
    -DCMAKE_C_COMPILER="$cc" -DCMAKE_CXX_COMPILER="$cxx" >>"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
"$cmake" --build "$work/build" >>"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
"$work/build/unit_test_c" | grep '^right'
"$work/build/unit_test_cpp" | grep '^right'

# The same without CMake; and a kernel that is wrong fails.
library=$(dirname "$(find "$work/prefix" -name lnjudge.pc)")/..
export PKG_CONFIG_PATH="$library/pkgconfig" LD_LIBRARY_PATH="$library"
sed 's/squares \/ hidden + 1e-5F/squares \/ (hidden - 1) + 1e-5F/' "$source/examples/unit_test.c" >"$work/wrong.c"
# shellcheck disable=SC2046
"$cc" -std=c17 -o "$work/wrong" "$work/wrong.c" $(pkg-config --cflags --libs lnjudge) -lm
if "$work/wrong"; then
    echo "a kernel with the other divisor passed"
    exit 1
fi

# Nothing but the API is visible, and the library carries its version.
strange=$(nm -D --defined-only "$library/liblnjudge.so" | awk '$2 != "A" && $3 !~ /^lnjudge_.*@@LNJUDGE_0$/')
[ -z "$strange" ] || { echo "also visible: $strange"; exit 1; }
readelf -d "$library/liblnjudge.so" | grep -q 'SONAME.*liblnjudge\.so\.[0-9]*\]'
page=$(find "$work/prefix" -name lnjudge.3)
if command -v mandoc >/dev/null; then
    mandoc -T lint -W warning "$page"
fi
