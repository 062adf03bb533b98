#!/bin/bash
# Runs gcc's -fanalyzer and clang's static analyzer (as scan-build does) on the shipped C sources, each file once, as
# the build compiles it. Of kernels, one source for each ISA, only the scalar ones are analyzed, and only by clang:
# gcc 12 loses arrays of an unrolled loop, and calls each of them uninitialized. Fails on each warning that is not in
# analysis_known.txt. Long: only with LNBENCH_FULL. exit code 77: skipped
# usage: analysis_test.sh SOURCE_ROOT BUILD_DIRECTORY [gcc|clang [FILE_PATTERN]]
set -u
export LC_ALL=C.UTF-8 # the quotes of analysis_known.txt
root=$(cd "$1" && pwd) || exit 1
build=$(cd "$2" && pwd) || exit 1
only=${3-}
[ -n "${LNBENCH_FULL-}$only" ] || exit 77
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT

# Prints FILE COMMAND lines; a JSON string's \" and \\ are already in the shell's form.
sed -n 's/^ *"command": "\(.*\)",$/\1/p' "$build/compile_commands.json" | sed 's/\\\(.\)/\1/g' |
    awk -v root="$root/" -v pattern="${4-.}" '{ file = $NF }
        index(file, root) == 1 && file ~ /[.]c$/ && file !~ "/tests/" &&
        (file !~ "/generated/" || file ~ "_scalar[.]") && !seen[file]++ &&
        file ~ pattern { sub(/ -o [^ ]+/, ""); print file " " $0 }' >"$scratch/files"
[ -s "$scratch/files" ] || { echo "no files in $build/compile_commands.json"; exit 1; }

# analyze NAME COMPILER FLAG...: uses this compiler instead of the build's.
analyze() {
    local name=$1 compiler=$2 file command
    shift 2
    command -v "$compiler" >/dev/null || { echo "no $compiler"; return; }
    while read -r file command; do
        [ "$name" = gcc ] && [[ $file = */generated/* ]] && continue
        command=" -${command#* -}" # without the compiler's name
        (cd "$build" && eval "$compiler$command -DLNBENCH_ANALYSIS -Wno-unused-value -O1 $* -o /dev/null" 2>&1) >>"$scratch/$name"
    done <"$scratch/files"
    # "FILE: warning: text", without the line number, which changes
    grep -E 'warning: ' "$scratch/$name" | sed "s|^.*$root/||; s/:[0-9]*:[0-9]*:/:/" | sort -u >"$scratch/$name.found"
    grep -vxFf <(sed -n "s/^$name: //p" "$root/harness/tests/analysis_known.txt") \
        "$scratch/$name.found" >"$scratch/$name.new"
    echo "$name: $(wc -l <"$scratch/files") files, $(wc -l <"$scratch/$name.found") warnings," \
        "$(wc -l <"$scratch/$name.new") of them not explained"
}

[ "$only" = clang ] || analyze gcc gcc -fanalyzer -Wno-analyzer-malloc-leak -Wno-error
[ "$only" = gcc ] || analyze clang clang --analyze -Xclang -analyzer-output=text \
    -Wno-unknown-warning-option -Wno-ignored-optimization-argument -Qunused-arguments
cat "$scratch"/*.new
[ -z "$(cat "$scratch"/*.new)" ]
