#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Tests the documentation: its names, links and snippets.
# usage: documents.sh functions C_COMPILER SOURCE   prints the functions that the headers declare
#        documents.sh reference C_COMPILER SOURCE
#        documents.sh snippets CMAKE BUILD SOURCE C_COMPILER CXX_COMPILER BENCHMARK_DIRECTORY
set -eu
test=$1
shift
LC_ALL=C
export LC_ALL

# Prints the functions that the headers declare, sorted.
functions() {
    "$1" -E -P "$2/hayai.h" | tr '\n' ' ' | tr ';' '\n' | grep -v typedef |
        grep -o '\bhayai_[a-z_0-9]*(' | tr -d '(' | sort -u
}

# docs/reference.md has one line for each public function and no others; the matrix has every
# version that the README names; every file states its license.
reference() {
    cc=$1
    cd "$2"
    functions "$cc" . > "$work/declared"
    grep '^| `hayai_' docs/reference.md | cut -d'|' -f2 | grep -o 'hayai_[a-z_0-9]*' | sort > "$work/documented"
    diff "$work/declared" "$work/documented"

    # Each header compiles alone.
    for header in hayai*.h; do
        echo "#include <$header>" | "$cc" -std=c17 -I. -Wall -Wextra -Wpedantic -Werror -fsyntax-only -xc -
    done

    # Names in the documentation exist.
    cat hayai*.h > "$work/headers"
    cat README.md docs/*.md man/hayai.3 | tr -d '\\' | grep -o '\bhayai_[a-z_0-9]*()' | tr -d '()' | sort -u |
        while read -r name; do
            grep -qw "$name" "$work/headers" || [ "$name" = hayai_benchmark_ ] || [ "$name" = hayai_state_ ] ||
                { echo "no such function: $name"; exit 1; }
        done
    grep -o '\bHAYAI_[A-Z_0-9]*' README.md docs/*.md CHANGELOG.md -h | sort -u |
        grep -v '^HAYAI_\(TESTS\|EXAMPLES\|SANITIZE\|SANITIZED_TESTS\)$' | while read -r name; do
            grep -q "$name" "$work/headers" || { echo "no such macro: $name"; exit 1; }
        done

    # Links have existing targets.
    for page in README.md docs/*.md; do
        grep -o '](\([^)#:]*\)' "$page" | cut -c3- | sort -u | while read -r link; do
            [ -z "$link" ] || [ "$link" = https ] || [ -e "$(dirname "$page")/$link" ] || { echo "$page: $link is not there"; exit 1; }
        done
    done

    grep -o 'tested\*\*: .*' README.md | grep -o '1\.[0-9]*\.[0-9]*' | while read -r version; do
        grep -q "^| $version " docs/reference.md || { echo "$version is not in the matrix"; exit 1; }
    done
    version=$(sed -n 's/.*VERSION_STRING "\(.*\)"/\1/p' hayai.h)
    grep -q "^## $version$" CHANGELOG.md
    grep -q "\"hayai $version\"" man/hayai.3
    find . -name '*.[ch]' -o -name '*.[ch]pp' -o -name '*.sh' -o -name '*.py' -o -name CMakeLists.txt |
        while read -r file; do
            head -3 "$file" | grep -q 'SPDX-License-Identifier: Apache-2.0' || { echo "$file: no license"; exit 1; }
        done
}

# Compiles and runs every snippet of the documentation: the blocks ```c and ```cpp of the pages,
# and the lines in the headers' comments that are indented by five blanks.
snippets() {
    cmake=$1 build=$2 source=$3 cc=$4 cxx=$5 benchmark=$6
    "$cmake" --install "$build" --component hayai --prefix "$work/prefix" > "$work/log"
    libdir=$(dirname "$(find "$work/prefix" -name hayai.pc)")/..
    export PKG_CONFIG_PATH="$libdir/pkgconfig:$benchmark/../../pkgconfig"
    export LD_LIBRARY_PATH="$libdir:$benchmark/../.."
    flags="$(pkg-config --cflags --libs hayai) -lm"
    cpp_flags="$(pkg-config --cflags --libs benchmark) -lm -pthread"
    cd "$work"

    # Extract: NUMBER.c, NUMBER.cpp, NUMBER.lines

    for page in "$source"/README.md "$source"/docs/*.md; do
        awk -v page="$(basename "$page" .md)" '
            /^```(c|cpp)$/ { kind = substr($0, 4); file = page "-" ++n "." kind; next }
            /^```/ { file = ""; next }
            file { print > file }' "$page"
    done
    for header in "$source"/hayai*.h; do
        awk -v page="$(basename "$header" .h)" '
            /^ \*     / { if (!file) file = page "-" ++n ".lines"; sub(/ \*\/$/, ""); print blank substr($0, 8) > file; blank = ""; next }
            /^ \*$/ && file { blank = blank "\n"; next }
            { file = ""; blank = "" }' "$header"
    done
    for file in *.lines; do
        if grep -q '^HAYAI_BENCHMARK' "$file"; then mv "$file" "${file%.lines}.c"; fi
    done
    [ "$(ls ./*.c | wc -l)" -ge 9 ] && [ "$(ls ./*.cpp | wc -l)" -ge 4 ] && [ "$(ls ./*.lines | wc -l)" -ge 6 ]

    # Compile and run

    includes='#include <hayai.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>'

    for file in *.c; do
        { echo "$includes"; cat "$file"; grep -q 'HAYAI_MAIN()\|int main' "$file" || echo 'HAYAI_MAIN()'; } > program.c
        # shellcheck disable=SC2086
        "$cc" -std=c17 -O2 -Wall -Wextra -Werror -o program program.c $flags || { echo "$file"; cat "$file"; exit 1; }
        ./program --benchmark_min_time=0.001 > out 2> errors || { cat errors; exit 1; }
    done
    for file in *.lines; do
        {
            echo "$includes"
            cat <<'PRELUDE'
#define once hayai_clobber()
static hayai_suite *suite;
static char buffers[2][64], *buffer = buffers[0];
static void refill(char *bytes) { bytes[0] = 1; }
static void copy(hayai_state *state, void *user)
{
    (void)user;
    while (hayai_state_keep_running(state))
        memcpy(buffers[0], buffers[1], sizeof buffers[0]);
}
static hayai_status snippet(hayai_state *state, void *user)
{
    (void)state, (void)user, (void)copy, (void)refill, (void)buffer;
PRELUDE
            echo '{'
            cat "$file"
            cat <<'END'
}
    return HAYAI_OK;
}
static void call(hayai_state *state, void *user)
{
    snippet(state, user);
}
int main(void)
{
    suite = hayai_suite_create();
    hayai_suite_add(suite, "call", call, NULL, NULL);
    return WITHOUT_STATE ? snippet(NULL, NULL) : hayai_suite_run(suite, NULL, NULL);
}
END
        } > program.c
        without=1
        if grep -q '(state)' "$file"; then without=0; fi
        # shellcheck disable=SC2086
        "$cc" -std=c17 -O2 -Wall -Wextra -DWITHOUT_STATE=$without -o program program.c $flags || { echo "$file"; cat "$file"; exit 1; }
        code=0
        BENCHMARK_MIN_TIME=0.01 ./program > out 2>&1 || code=$?
        # Only this line returns an error on purpose.
        if grep -q 'return hayai_fail(HAYAI_ERROR_IO' "$file"; then code=$((code - 7)); fi
        [ "$code" -eq 0 ] || { echo "$file: $code"; cat "$file" out; exit 1; }
    done
    for file in *.cpp; do
        { echo '#include <benchmark/benchmark.h>
#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>'; cat "$file"; echo 'BENCHMARK_MAIN();'; } > program.cpp
        # shellcheck disable=SC2086
        "$cxx" -std=c++17 -O2 -o program program.cpp $cpp_flags || { echo "$file"; cat "$file"; exit 1; }
        ./program --benchmark_min_time=0.01 > out 2>&1
    done
}

if [ "$test" = functions ]; then
    functions "$@"
    exit
fi
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT
$test "$@"
