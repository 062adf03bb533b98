#!/bin/sh
# usage: inputs_cross.sh SOURCE-DIRECTORY COMPILER [FLAG...] [-- RUNNER...]
# Builds inputs_golden with that compiler and runs it (under the runner): it must find the same bits.
# Exit 77: skipped, with the reason on standard output.
set -u
source=$1
compiler=$2
shift 2
flags=
while [ $# -gt 0 ] && [ "$1" != -- ]; do
    flags="$flags $1"
    shift
done
[ $# -gt 0 ] && shift
for tool in "$compiler" ${1+"$1"}; do
    if ! command -v "$tool" >/dev/null 2>&1; then
        echo "skipped: $tool is not installed"
        exit 77
    fi
done
directory=$(mktemp -d) || exit 1
trap 'rm -rf "$directory"' EXIT
if ! echo 'int main(void) { return 0; }' | "$compiler" $flags -x c - -o "$directory/none" 2>/dev/null
then
    echo "skipped: $compiler$flags cannot build (its C library is missing?)"
    exit 77
fi
harness=$source/harness
echo '#include "inputs/inputs.h" // the families need no file
void input_rows_of_file(const char *a, ln_type b, size_t c, size_t d, size_t e, void *f) {}' >"$directory/no_files.c"
"$compiler" -std=c17 -D_GNU_SOURCE -ffp-contract=off $flags \
    -DLNBENCH_INSTALLED_LIBRARY='""' -DLNBENCH_INSTALLED_PEERS='""' -DLNBENCH_SOURCE_PLOTS='""' \
    -DLNBENCH_SOURCE_WORST='""' \
    -I "$harness" -I "$source/kernels/include" -I "$source/reference" \
    "$harness"/inputs/tests/inputs_golden.c "$harness"/inputs/[!t]*.c "$directory"/no_files.c \
    "$harness"/domain/case.c "$harness"/domain/metric_list.c "$harness"/domain/operation.c \
    "$harness"/domain/layernorm.c "$harness"/domain/rmsnorm.c "$harness"/domain/verdict.c \
    "$harness"/base/die.c "$harness"/base/hash.c "$harness"/base/text.c "$harness"/base/arena.c \
    "$harness"/base/program.c "$source"/reference/metrics/storage.c \
    -lm -o "$directory/golden" || exit 1
"$@" "$directory/golden"
