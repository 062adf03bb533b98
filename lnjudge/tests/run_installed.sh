#!/bin/sh
# Installs into an empty folder and builds the examples with that, by CMake and by pkg-config, and
# the programs of lnjudge/README.md. usage: run_installed.sh CMAKE BUILD SOURCE C_COMPILER CXX_COMPILER
set -eu
cmake=$1 build=$2 source=$3 cc=$4 cxx=$5
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT

"$cmake" --install "$build" --prefix "$work/prefix" >"$work/log"
"$cmake" -S "$source/examples" -B "$work/build" -DCMAKE_PREFIX_PATH="$work/prefix" \
    -DCMAKE_C_COMPILER="$cc" -DCMAKE_CXX_COMPILER="$cxx" >>"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
"$cmake" --build "$work/build" >>"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
"$work/build/unit_test" | grep '^pass'

# Builds the programs of the document without CMake; those that need a framework only if it is installed. Each passes,
# and fails with a wrong kernel.
library=$(dirname "$(find "$work/prefix" -name lnjudge.pc)")/..
export PKG_CONFIG_PATH="$library/pkgconfig" LD_LIBRARY_PATH="$library"
awk -v work="$work" '/^```/ { inside = !inside && /^```c/; programs += inside; next }
    inside { print >(work "/program" programs) }' "$source/README.md"
tail -n +2 "$source/examples/unit_test.c" | cmp - "$work/program1"
# This program is compiled once and linked with a correct kernel for one hidden size and with one that fails at once.
mkdir "$work/toy" "$work/ddof"
cat >"$work/toy/toy.h" <<'END'
#include <layernorm.h>
#ifdef __cplusplus
extern "C"
#endif
int toy(void *user, const ln_problem *problem, const ln_tensors *tensors);
END
sed 's/^{/{ return 7;/' "$source/examples/toy.h" >"$work/wrong.c"
sed 's/if (tensors->residual/& || problem->hidden != 768/' "$source/examples/toy.h" >"$work/right.c"

# check NUMBER HEADER COMPILER LANGUAGE [MODULE...]
check() {
    program=$work/program$1 header=$2 compiler=$3 language=$4
    shift 4
    if [ ! -e "/usr/include/$header" ]; then
        echo "left out: /usr/include/$header is not there"
        return
    fi
    # shellcheck disable=SC2046
    "$compiler" -I "$work/toy" -x "$language" -c -o "$work/test.o" "$program" $(pkg-config --cflags lnjudge "$@")
    for toy in right wrong; do
        # shellcheck disable=SC2046
        "$compiler" -o "$work/$toy" "$work/test.o" "$work/$toy.o" $(pkg-config --libs lnjudge "$@") -lm
    done
    "$work/right" >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
    ! "$work/wrong" >"$work/log" 2>&1 || {
        echo "with $header a kernel that fails passed"
        exit 1
    }
    grep 'returned 7' "$work/log"
}
# shellcheck disable=SC2046
for toy in right wrong; do
    "$cc" -O2 -Dstatic= -c -o "$work/$toy.o" "$work/$toy.c" $(pkg-config --cflags lnjudge)
done
sed 's/squares \/ hidden + 1e-5F/squares \/ (hidden - 1) + 1e-5F/' "$source/examples/toy.h" >"$work/ddof/toy.h"
# shellcheck disable=SC2046
"$cc" -std=c17 -I "$work/ddof" -x c -o "$work/test" "$work/program1" -x none $(pkg-config --cflags --libs lnjudge) -lm
! "$work/test" >"$work/log" || { echo "a kernel with the other divisor passed"; exit 1; }
grep 'by N - 1 (ddof=1)' "$work/log"
check 2 gtest/gtest.h "$cxx" c++ gtest_main
check 3 doctest/doctest.h "$cxx" c++
check 4 cmocka.h "$cc" c cmocka

# Only the API is visible, and the library has its version.
strange=$(nm -D --defined-only "$library/liblnjudge.so" | awk '$2 != "A" && $3 !~ /^lnjudge_.*@@LNJUDGE_0$/')
[ -z "$strange" ] || { echo "also visible: $strange"; exit 1; }
readelf -d "$library/liblnjudge.so" | grep -q 'SONAME.*liblnjudge\.so\.[0-9]*\]'
page=$(find "$work/prefix" -name lnjudge.3)
if command -v mandoc >/dev/null; then
    mandoc -T lint -W warning "$page"
fi
