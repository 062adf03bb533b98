#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Builds Google Benchmark from each given source tree, builds hayai with it and runs hayai's tests. Nothing is
# downloaded.
# usage: try_versions.sh [-w WORK] SOURCE_TREE ... [-- CMAKE_ARGUMENT ...]
#   WORK: where to build (default: a new directory, which is removed); its builds are kept and used again.
#   CMAKE_ARGUMENTs apply only to hayai: -DHAYAI_SANITIZE=thread,
#   -DCMAKE_C_COMPILER=clang -DCMAKE_CXX_COMPILER=clang++, -DBUILD_SHARED_LIBS=ON.
# From the environment: JOBS (2), CTEST_ARGUMENTS (such as -E shared).
set -eu
source=$(cd "$(dirname "$0")/.." && pwd)
work=''
if [ "${1:-}" = -w ]; then
    mkdir -p "$2"
    work=$(cd "$2" && pwd)
    shift 2
fi
if [ $# -eq 0 ] || [ "$1" = -- ]; then
    sed -n 's/^# usage: //p' "$0" >&2
    exit 2
fi
if [ -z "$work" ]; then
    work=$(mktemp -d)
    trap 'rm -r "$work"' EXIT
fi
trees=''
while [ $# -gt 0 ] && [ "$1" != -- ]; do
    trees="$trees$(cd "$1" && pwd)
"
    shift
done
[ $# -eq 0 ] || shift

# Prints the output of a step only if it fails.
quietly() {
    "$@" > "$work/log" 2>&1 || { cat "$work/log"; exit 1; }
}

failed=0
while read -r tree; do
    [ -n "$tree" ] || continue
    name=$(basename "$tree")
    library=$work/$name
    if [ ! -f "$library/built" ]; then
        quietly cmake -S "$tree" -B "$library/build" -DCMAKE_BUILD_TYPE=Release \
            -DBENCHMARK_ENABLE_TESTING=OFF -DBENCHMARK_ENABLE_GTEST_TESTS=OFF \
            -DBENCHMARK_ENABLE_WERROR=OFF -DCMAKE_POSITION_INDEPENDENT_CODE=ON \
            -DCMAKE_INSTALL_LIBDIR=lib -DCMAKE_INSTALL_PREFIX="$library"
        quietly cmake --build "$library/build" --parallel "${JOBS:-2}" --target install
        touch "$library/built"
    fi
    rm -rf "$library/hayai"
    quietly cmake -S "$source" -B "$library/hayai" -DHAYAI_SANITIZED_TESTS=OFF \
        -Dbenchmark_DIR="$library/lib/cmake/benchmark" "$@"
    quietly cmake --build "$library/hayai" --parallel "${JOBS:-2}"
    if (cd "$library/hayai" && ctest --output-on-failure ${CTEST_ARGUMENTS:-} > "$library/tests" 2>&1); then
        echo "$name: $(sed -n 's/^\(.* tests passed\), .*/\1/p' "$library/tests")"
    else
        cat "$library/tests"
        echo "$name: FAILED"
        failed=1
    fi
    grep -h 'warning:' "$work/log" || true
done <<TREES
$trees
TREES
exit $failed
